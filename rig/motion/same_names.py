# SPDX-License-Identifier: GPL-3.0-or-later
"""What has no role and one name in two figures: tails, props, ears, faces; and shape keys, scale and what hides them.

Such a bone turns against the bone with a role that it hangs on as the source's does, and goes as far from its place, by
the size of the body.
"""

from collections.abc import Iterator, Mapping, Sequence

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from .. import curves
from ..clip import lineage
from ..clip.person_frames import Key, Person
from ..figure import skin
from .retargeted_body import Body, Source

_PART = "same name"
_SCALED = 1e-3  # scales that differ by less are the same
_MOVES = 1e-4  # of the leg: bones that move by less stay
_HIDES = ("hide_viewport", "hide_render")


def _names(ob: bpy.types.Object) -> dict[str, int]:
    """The numbers of bones by their names without what importers put before them."""
    return {bone.name.rpartition(":")[2]: number for number, bone in enumerate(ob.pose.bones)}


def known(source: bpy.types.Object, ob: bpy.types.Object, people: Mapping[bpy.types.Object, Person]) -> list[Person]:
    """Source and figure with chains of their bones without a role that have the same name.

    Such a bone hangs on bones of the same role in both.
    """
    both = [people[source], people[ob]]
    names = [_names(one) for one in (source, ob)]
    found = [(dict(person.chains), dict(person.bases), dict(person.frames)) for person in both]
    own = [_keys(person) for person in both]
    for name in names[0].keys() & names[1].keys():
        bones = [one[name] for one in names]
        bases = [_base(person, bone) for person, bone in zip(both, bones, strict=True)]
        free = all(bone not in person.frames and bone not in person.attached
                   for bone, person in zip(bones, both, strict=True))  # fmt: skip
        if not free or None in bases or own[0][bases[0]] != own[1][bases[1]]:
            continue
        for (chains, by_key, frames), bone, base in zip(found, bones, bases, strict=True):
            chains[_PART + name, "", 0], by_key[_PART + name, "", 0] = [bone], base
            frames[bone] = frames[base]
    return [person._replace(chains=chains, bases=bases, frames=frames)
            for person, (chains, bases, frames) in zip(both, found, strict=True)]  # fmt: skip


def _keys(person: Person) -> dict[int, tuple[str, str]]:
    """The part and side of bones that others can hang on."""
    return {bone: key[:2] for key, chain in person.chains.items() if key not in person.bases for bone in chain}


def _base(person: Person, bone: int) -> int | None:
    """The bone with a role that a bone hangs on."""
    own = _keys(person)
    return next((one for one in person.armature.above(bone)[1:] if one in own), None)


def moved(source: Source, body: Body, size: float) -> dict[int, np.ndarray]:
    """How far (F, 3) bones of the same name are from where their parents carry them, in the frames of their bases.

    size : of the body, against the source.
    """
    person, shown = source.person, source.motion
    found = dict[int, np.ndarray]()
    for key, (bone,) in _chains(person):
        above = int(person.armature.parent[bone])
        line = person.armature.heads[bone] - person.armature.heads[above]
        carried = shown.heads[:, above] + source.scale * quaternion.rotate(shown.turns[:, above], line)
        away = shown.heads[:, bone] - carried
        if np.linalg.norm(away, axis=-1).max() > _MOVES * person.leg * source.scale:
            frame = quaternion.product(shown.turns[:, person.bases[key]], person.frames[bone])
            found[body.person.chains[key][0]] = size * quaternion.rotate(quaternion.conjugate(frame), away)
    return found


def _chains(person: Person) -> Iterator[tuple[Key, list[int]]]:
    return ((key, chain) for key, chain in person.chains.items() if key[0].startswith(_PART))


def pairs(given: Person, own: Person) -> dict[int, int]:
    """The bones of a source and of a figure that stand for each other alone; without those that carry the legs."""
    legs = {bone for person in (given, own) for leg in person.legs for bone in person.armature.above(leg.foot)}
    same = ((given.chains[key], chain) for key, chain in own.chains.items() if key in given.chains)
    found = {one: other for theirs, ours in same if len(theirs) == len(ours)
             for one, other in zip(theirs, ours, strict=True)}  # fmt: skip
    return {one: other for one, other in found.items() if not legs & {one, other}}


def scales(given: Person, own: Person, shown: np.ndarray) -> dict[int, np.ndarray]:
    """The scales (F, 3) of a figure's bones, by those (F, N, 3) of a source's, along the axes that lie as theirs do."""
    found = dict[int, np.ndarray]()
    for one, other in pairs(given, own).items():
        if np.abs(shown[:, one] - 1.0).max() > _SCALED:
            theirs, ours = (quaternion.to_matrix(person.frames[bone]).T @ person.armature.rest[bone, :3, :3]
                            for person, bone in ((given, one), (own, other)))  # fmt: skip
            found[other] = shown[:, one][:, np.abs(ours.T @ theirs).argmax(1)]
    return found


# -- what is no pose ---------------------------------------------------------------------------------------------------


def key_visibility(
    source: bpy.types.Object, ob: bpy.types.Object, people: Sequence[Person], looks: Sequence[float],
    times: Sequence[float],
) -> int:  # fmt: skip
    """Key what hides the source and its bones, by its own curves at `looks`, into the action; the number of keys."""
    by_path = {name: name for name in _HIDES}
    for one, other in pairs(*people).items():
        bones = source.pose.bones[one].name, ob.pose.bones[other].name
        by_path[curves.bone_path(bones[0], "hide")] = curves.bone_path(bones[1], "hide")
    found = {by_path[curve.data_path]: curve for curve in curves.fcurves(source.animation_data)
             if curve.data_path in by_path}  # fmt: skip
    return _write(ob, found, looks, times, is_stepped=True)


def key_shapes(
    source: bpy.types.Object, ob: bpy.types.Object, name: str, looks: Sequence[float], times: Sequence[float]
) -> int:
    """Key the shape keys of a figure's meshes as curves move those of the source with their name; the number of keys.

    Each set of shape keys gets a new action. What a driver moves stays.
    """
    found, count = dict[str, bpy.types.FCurve](), 0
    for shapes in _shapes(source):
        found |= {curve.data_path: curve for curve in curves.fcurves(shapes.animation_data)}
    for shapes in _shapes(ob):
        data = shapes.animation_data
        driven = set() if data is None else {curve.data_path for curve in data.drivers}
        paths = [f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value' for block in shapes.key_blocks]
        own = {path: found[path] for path in paths if path in found and path not in driven}
        if own and shapes.library is None:
            with lineage.new_actions([shapes], name=name):
                count += _write(shapes, own, looks, times)
    return count


def _shapes(ob: bpy.types.Object) -> list[bpy.types.Key]:
    """The shape keys of an armature's meshes."""
    own = (mesh.data.shape_keys for mesh in skin.meshes(ob))
    return list(dict.fromkeys(shapes for shapes in own if shapes is not None))


def _write(
    owner: bpy.types.ID, found: Mapping[str, bpy.types.FCurve], looks: Sequence[float], times: Sequence[float],
    is_stepped: bool = False,
) -> int:  # fmt: skip
    """Write the values of curves at `looks` to paths of an owner's action at times; the number of keys."""
    if not found:
        return 0
    writer = curves.Writer.of(owner)
    for path, curve in found.items():
        values = np.array([curve.evaluate(look) for look in looks])
        writer.write(path, 0, "", np.array(times), values, is_stepped=is_stepped)
    writer.finish()
    return len(found) * len(times)
