# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of one figure for another body: hips and feet by leg length, joints by their anatomical angles.

Where the source puts ball and heel of a foot, scaled, the other body puts its own: a foot that stands in the source
stands, and rolls about the same point. The hips are as high as it takes to bend the knees as the source's are, and the
legs are bent so that the ankles are there. Last, hands that touch something are put where they touch it on the other
body (`touches`).
"""

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import two_bones
from .. import curves
from ..blender import bulk, generated_rigs, rotation, scene_state
from ..clip import clip, lineage
from ..clip.clip import BodyMotion, Space
from ..clip.person_frames import SIDES, Person
from ..clip.rest_legs import RestLeg
from ..notes import Note, Refused
from . import hand_contacts
from .retargeted_body import Body, Source, directions

_UP = np.array([0.0, 0.0, 1.0])
_STEEP = 0.5  # cosine to the ground from which on feet point nowhere along it: those of hanging figures turn over
_HINGE = np.array([0.0, 0.0, 1.0])  # of a knee, in the frame of its bones
_SCALED = 1e-3  # scales that differ by less are the same
_LOW = 10.0  # percent of the frames on which the feet may be below the ground, or nearer to each other
_DRAWN_IN = 0.9  # of the way to the middle between the hip joints: feet of narrower bodies go in by no more
_NEAR = 0.25  # of the leg: feet that are nearer to where they rest go on that ground
class BodyChannels(NamedTuple):
    """Rotations (F, B, 4) of bones from rest, and the locations (F, 3) of some of them by number.

    Those are the bone that carries the figure, and what does not hang on what it goes with.
    """

    bones: list[int]
    rotations: np.ndarray
    locations: dict[int, np.ndarray]


def read(
    people: Mapping[bpy.types.Object, Person], frames: Sequence[int], visits: scene_state.Visits
) -> Generator[float, None, list[tuple[BodyMotion, Space]]]:
    """The motions of figures as Blender shows them, and where their objects are; yields the progress from 0 to 1."""
    clips = yield from clip.read(list(people), frames, visits)
    return [(one.body(person.armature.rest), one.space()) for one, person in zip(clips, people.values(), strict=True)]


def still(shown: BodyMotion) -> bool:
    """Whether nothing moves."""
    size = np.ptp(shown.heads[0], axis=0).max()
    return bool(np.ptp(shown.heads, axis=0).max() < 1e-5 * size
                and quaternion.angle(shown.turns, shown.turns[:1]).max() < 1e-4)  # fmt: skip


def scaled(ob: bpy.types.Object) -> list[str]:
    """The names, as quoted words, of the bones and the object whose scale is animated by keys of a figure's action."""
    found = dict[str, None]()
    for curve in curves.fcurves(ob.animation_data):
        bone, _, channel = curve.data_path.rpartition(".")
        if (channel or bone) == "scale" and np.ptp(bulk.read(curve.keyframe_points, "co", 2)[:, 1]) > _SCALED:
            name = bone.partition('["')[2].removesuffix('"]')
            found[repr(bpy.utils.unescape_identifier(name) if name else ob.name)] = None
    return list(found)


def own_space(ob: bpy.types.Object, space: Space) -> Space:
    """Where an object is once it has another action: one that its own keys move stays where it is now."""
    keyed = any(not curve.data_path.startswith("pose.") for curve in curves.fcurves(ob.animation_data))
    return Space.of(ob) if keyed else space


def size(person: Person, shown: BodyMotion) -> float:
    """The scale of a figure, whatever of objects and bones scales it: by its legs."""
    lengths = [np.linalg.norm(shown.heads[:, below] - shown.heads[:, above], axis=-1)
               for leg in person.legs for above, below in ((leg.thigh, leg.shin), (leg.shin, leg.foot))]  # fmt: skip
    return float(np.median(np.sum(lengths, axis=0)) / sum(leg.length for leg in person.legs))


def placed(person: Person, motion: tuple[BodyMotion, Space, float], carriers: Sequence[bpy.types.Object]) -> Source:
    """A figure's motion, and the point of the ground from which its places are measured.

    It is below the object, or the world's origin if one of its carriers is animated. Its level is that of the feet at
    rest, or that of the object if the motion is there: captured figures rest below it.
    """
    shown, space, scale = motion
    goes = any(curve.data_path == "location" for one in carriers for curve in curves.fcurves(one.animation_data))
    place = np.zeros(3) if goes else np.median(space.place.reshape(-1, 3), axis=0)
    found = Source(person, shown, scale, place)
    low = np.min([found.points(side)[0][:, 2] for side in range(len(person.legs))], axis=0)
    low = float(np.percentile(low, _LOW))
    rest = space.level + person.floor * scale
    far = abs(low - rest) > max(_NEAR * person.leg * scale, abs(low - place[2]))
    return found._replace(start=np.array([place[0], place[1], place[2] if far else rest]))


def carriers(ob: bpy.types.Object | None) -> list[bpy.types.Object]:
    """An object and those that it hangs on."""
    return [] if ob is None else [ob, *carriers(ob.parent)]


def carrier(ob: bpy.types.Object, person: Person) -> int:
    """The bone that carries all bones of a figure and can be moved. Raises `Refused` if there is none."""
    paths = [person.armature.tree.paths[bone] for bone in person.bones]
    common = [bones[0] for bones in zip(*paths, strict=False) if len({*bones}) == 1]
    free = [bone for bone in common if not (ob.pose.bones[bone].bone.use_connect and ob.pose.bones[bone].parent)]
    if not free:
        raise Refused(Note("No bone of {} carries all the others and can be moved: disconnect its hips", repr(ob.name)))
    return free[-1]


def _hips(person: Person, shown: BodyMotion) -> np.ndarray:
    """The middle (F, 3) between the hip joints."""
    return np.mean([shown.heads[:, leg.thigh] for leg in person.legs[: len(SIDES)]], axis=0)


def transfer(
    source: Source, ob: bpy.types.Object, person: Person, space: Space, ground: np.ndarray
) -> Generator[float, None, BodyChannels]:
    """The motion for another body, with its space and the point that its places start from; yields the progress."""
    theirs, shown, scale, start = source
    body = Body(ob, person, space, directions(theirs, shown.turns))
    size = person.leg * body.space.scale / (theirs.leg * scale)
    mover = carrier(ob, person)
    shift = ground + size * (_hips(theirs, shown) - start) - _hips(person, body.posed(np.zeros((body.count, 3)), mover))
    ankles = [_ankles(source, body, side, size, ground) for side in range(len(person.legs))]
    if not person.four:
        wider = _wider(source, body, size)
        ankles = [ankle + way for ankle, way in zip(ankles, wider, strict=True)]
    shift += _UP * _higher(source, body, body.posed(shift, mover), ankles)[:, None]
    posed = body.posed(shift, mover)
    for leg, their, ankle in zip(person.legs, theirs.legs, ankles, strict=True):
        hips = posed.heads[:, leg.thigh]
        before = shown.heads[:, their.foot] - shown.heads[:, their.thigh]
        swing = quaternion.between(before, ankle - hips)  # the smallest one: the way back is its reverse
        thigh, shin = (quaternion.product(swing, body.turns[bone]) for bone in (leg.thigh, leg.shin))
        axis = quaternion.rotate(quaternion.product(shin, person.frames[leg.shin]), _HINGE)
        lines = body.space.scale * leg.upper, body.space.scale * leg.lower
        body.turns[leg.thigh], body.turns[leg.shin] = two_bones.reach(hips, thigh, shin, lines, axis, ankle)
    if not person.four:
        yield from hand_contacts.keep(source, body, shift, mover)
    return _channels(body, body.posed(shift, mover), mover, shift)


def _higher(source: Source, body: Body, posed: BodyMotion, ankles: Sequence[np.ndarray]) -> np.ndarray:
    """How much higher (F,) hips have to be so that knees are bent as the source's are."""
    heads, size = source.motion.heads, body.space.scale
    before = [_span(leg, heads[:, leg.thigh] - heads[:, leg.foot], source.scale) for leg in source.person.legs]
    spans = [_span(leg, posed.heads[:, leg.thigh] - ankle, size)
             for leg, ankle in zip(body.person.legs, ankles, strict=True)]  # fmt: skip
    return two_bones.higher(before, spans, _UP)


def _span(leg: RestLeg, line: np.ndarray, scale: float) -> two_bones.Span:
    """A leg of a figure of some scale with a line (F, 3) from ankle to hip."""
    return two_bones.Span(line, *(float(scale * np.linalg.norm(one)) for one in (leg.upper, leg.lower)))


def _ankles(source: Source, body: Body, side: int, size: float, ground: np.ndarray) -> np.ndarray:
    """Where an ankle (F, 3) has to be so that ball or heel are where the source has them, scaled.

    With its heel up, a foot keeps the ball; with its toes up the heel, as far behind the ball's place as it is long.
    """
    ahead = _ahead(source, body, side, size)
    ball, heel = (ground + size * (point - source.start) + ahead for point in source.points(side))
    forward = ball - heel
    leg, turn = body.person.legs[side], body.turns[body.person.legs[side].foot]
    own_ball, own_heel = (body.space.scale * quaternion.rotate(turn, point) for point in (leg.ball, leg.heel))
    level = _level(forward / np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 1e-12))
    lengths = (np.linalg.norm(line, axis=-1, keepdims=True) for line in (forward, own_ball - own_heel))
    longer = np.subtract(*lengths)
    return np.where(forward[:, 2:] > 0.0, heel + longer * level - own_heel, ball - own_ball)


def _wider(source: Source, body: Body, size: float) -> list[np.ndarray]:
    """How far (F, 3) each foot of another body stands further out than the source's, scaled.

    Its legs are as far apart, and at their angles, if its feet are as much further out as its hip joints are. Hips that
    are narrower draw the feet in, as far as no legs come near crossing that are apart in the source. A foot goes along
    its own level axis, turned to the left of the hips by their mean angle: so feet that stand stay where they stand.
    """
    theirs, shown, scale, _ = source
    hips = theirs.chains["hips", "", 0][0]
    left = _level(quaternion.rotate(shown.turns[:, hips], np.cross(theirs.up, theirs.forward)))
    middle, joint = _hips(theirs, shown), 0.5 * size * scale
    own = 0.5 * body.space.scale * _across(body.person) - joint * _across(theirs)
    found = list[np.ndarray]()
    for sign, leg in zip((1.0, -1.0), theirs.legs, strict=True):
        out = sign * size * ((shown.heads[:, leg.foot] - middle) * left).sum(-1)
        apart = max(own, -_DRAWN_IN * max(float(np.percentile(out, _LOW)), 0.0))
        across = _level(quaternion.rotate(shown.turns[:, leg.foot], np.cross(theirs.up, theirs.forward)))
        sine, cosine = (float(np.mean(part)) for part in (
            across[:, 0] * left[:, 1] - across[:, 1] * left[:, 0], (across * left).sum(-1)))  # fmt: skip
        turn = quaternion.exp(float(np.arctan2(sine, cosine)) * _UP)
        found.append(sign * apart * quaternion.rotate(turn, across))
    return found


def _across(person: Person) -> float:
    left, right = (person.armature.heads[leg.thigh] for leg in person.legs[: len(SIDES)])
    return float(np.linalg.norm(left - right))


def _level(directions: np.ndarray) -> np.ndarray:
    """Unit directions (F, 3) along the ground; steep ones are shorter."""
    level = directions * np.array([1.0, 1.0, 0.0])
    return level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), _STEEP)


def _ahead(source: Source, body: Body, side: int, size: float) -> np.ndarray:
    """How much further ahead (F, 3) feet in front stand than the source's, scaled: animals are not equally long."""
    theirs, shown, scale, _ = source
    if side < len(SIDES):
        return np.zeros(3)
    longer = body.space.scale * _long(body.person, side) - size * scale * _long(theirs, side)
    hips = theirs.chains["hips", "", 0][0]
    return longer * _level(quaternion.rotate(shown.turns[:, hips], theirs.forward))


def _long(person: Person, side: int) -> float:
    """How far a foot in front rests ahead of the one behind it."""
    front, hind = (person.armature.heads[leg.foot] + leg.ball for leg in (person.legs[side], person.legs[side - 2]))
    return float((front - hind) @ person.forward)


# -- keys --------------------------------------------------------------------------------------------------------------


def _channels(body: Body, posed: BodyMotion, mover: int, shift: np.ndarray) -> BodyChannels:
    """The channels of a body, posed with the bone that carries it moved by a `shift` (F, 3)."""
    armature, space, attached = body.person.armature, body.space, body.person.attached
    rest = quaternion.from_matrix(armature.rest[:, :3, :3])
    whole = np.broadcast_to(space.turn, (body.count, 4))

    def parent(bone: int) -> int:
        return attached.get(bone, int(armature.parent[bone]))

    def carried(bone: int) -> np.ndarray:
        return whole if parent(bone) < 0 else posed.turns[:, parent(bone)]

    def above(bone: int) -> np.ndarray:
        return carried(bone) if body.inherits[bone] else whole

    def location(bone: int, moved: np.ndarray) -> np.ndarray:
        axes = bone if body.in_own_axes[bone] else parent(bone)  # in which Blender counts locations
        frame = carried(bone) if axes < 0 else quaternion.product(carried(bone), rest[axes])
        return quaternion.rotate(quaternion.conjugate(frame), moved / space.scale)

    def moved(bone: int) -> np.ndarray:
        """How far (F, 3) a bone is from where its parent would carry it."""
        up = parent(bone)
        if up < 0:
            return posed.heads[:, bone] - space.place - space.scale * quaternion.rotate(whole, armature.heads[bone])
        line = space.scale * quaternion.rotate(posed.turns[:, up], armature.heads[bone] - armature.heads[up])
        return posed.heads[:, bone] - posed.heads[:, up] - line

    bones = sorted({*body.turns, *body.relative, *attached})
    turned = [quaternion.product(quaternion.conjugate(rest[bone]), quaternion.product(
        quaternion.relative(above(bone), posed.turns[:, bone]), rest[bone])) for bone in bones]  # fmt: skip
    locations = {mover: location(mover, shift)} | {bone: location(bone, moved(bone)) for bone in attached}
    return BodyChannels(bones, np.stack(turned, 1), locations)


def write(ob: bpy.types.Object, name: str, times: Sequence[float], answer: BodyChannels) -> int:
    """Key the answer into a new action of some name, which is assigned; the number of keys.

    Bones that are keyed, and those that carry them, lose what the old motion has left in their other channels; in a
    generated rig all that are no FK controls do.
    """
    bones = ob.pose.bones
    carrying = {one for bone in answer.bones for one in (bones[bone], *bones[bone].parent_recursive)}
    if (kind := generated_rigs.kind_of(bones.keys())) is not None:
        carrying |= {bone for bone in bones if kind.name(bone.name) is None}
    values = {(bones[bone].name, "location"): location for bone, location in answer.locations.items()}
    for row, bone in enumerate(answer.bones):
        mode = bones[bone].rotation_mode
        start = np.array(rotation.NO_ROTATION[mode])
        values[bones[bone].name, rotation.PATHS[mode]] = clip.continuous(mode, answer.rotations[:, row], start)
    with lineage.new_actions([ob], name=name):
        for bone in carrying:
            bone.location, bone.scale = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
            path = rotation.PATHS[bone.rotation_mode]
            setattr(bone, path, rotation.NO_ROTATION[bone.rotation_mode][:rotation.PATH_SIZES[path]])
        return clip.write(ob, values, times)
