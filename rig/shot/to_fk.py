# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated rigs switched from their IK controls to FK, in the pose, or in the motion, that they have."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.rest import LIMBS
from .. import curves
from ..blender import scene_state
from ..controls import switches
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role
from ..keys import keyable
from ..notes import Note
from . import keys

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_PARTS = {*LIMBS["arm"][1:4], *LIMBS["leg"][1:], "neck", "head"}


def refusal(ob: bpy.types.Object, figure: Mapping[int, Role]) -> Note | None:
    """Why the FK controls of a generated rig cannot be keyed; None if they can. figure : its roles."""
    bones = [ob.pose.bones[name] for name in _sources(ob, figure)]
    return keyable.problem(ob, [curves.path_of(bone, keys.channels_of(bone)[1]) for bone in bones])


def switch(
    context: bpy.types.Context, ob: bpy.types.Object, figure: Mapping[int, Role], frames: Sequence[int]
) -> Generator[float]:
    """Set the switches of a generated rig to FK, with its FK controls where the body is; yields the progress.

    figure : its roles. frames : on which the FK controls are keyed so; none : only the present pose is kept.
    Raises `Disturbed`, with the switches as before, if what is read is removed meanwhile.
    """
    sources, limbs = _sources(ob, figure), _limbs(ob, figure)
    if not frames:
        wanted = _wanted(ob, sources, limbs, context.evaluated_depsgraph_get())
        switches.to_fk(ob)
        switches.turn(ob, wanted)
        return
    count, seen, times = 2 * len(frames), list[dict[str, Matrix]](), list[float]()
    turned: dict[str, list[scene_state.Transform]] = {name: [] for name in sources}
    try:
        with scene_state.restored(context.scene, context.view_layer, ob) as visits:
            for done, frame in enumerate(frames, 1):
                seen.append(_wanted(ob, sources, limbs, visits.visit(frame)))
                yield done / count
            switches.to_fk(ob)
            for done, (frame, wanted) in enumerate(zip(frames, seen, strict=True), len(frames) + 1):
                visits.visit(frame)
                switches.turn(ob, wanted)
                times.append(context.scene.frame_current_final)
                for name, transforms in turned.items():
                    transforms.append(scene_state.transform(ob.pose.bones[name]))
                yield done / count
    except (GeneratorExit, scene_state.Disturbed, ReferenceError):
        with suppress(ReferenceError):  # the object itself may be gone
            switches.restore(ob)
        raise
    for name, transforms in turned.items():
        bone = ob.pose.bones[name]
        keys.write(bone, keys.channels_of(bone)[1], np.array(times), transforms)
    scene_state.look_again(context.scene)


def _sources(ob: bpy.types.Object, figure: Mapping[int, Role]) -> dict[str, tuple[str, str]]:
    """For FK controls: the bone of the body that follows, and the bone, of those that go along, that it copies.

    A neck and a head, which follow other bones' turns in part, are such bones themselves.
    """
    armature = Character.of(ob).armature
    names = list(armature.index)
    own = {bone for bone, role in figure.items() if role.name in _PARTS}
    found = {names[bone]: (names[bone], names[bone]) for bone in own if figure[bone].name in ("neck", "head")}
    for bone in ob.pose.bones:
        copies = [c for c in bone.constraints if c.type in _COPYING and c.target == ob and not c.mute]
        if armature.controls[armature.index[bone.name]] or len(copies) < 2:
            continue
        for constraint in copies:
            led = armature.index.get(constraint.subtarget, -1)
            above = next((one for one in armature.above(led) if armature.controls[one]), -1) if led >= 0 else -1
            if above in own and names[above] not in found:
                found[names[above]] = bone.name, constraint.subtarget
    return found


def _limbs(ob: bpy.types.Object, figure: Mapping[int, Role]) -> list[tuple[str, str, str]]:
    """The FK controls of arms and legs: upper, lower and end bone."""
    bones = {role: ob.pose.bones[bone].name for bone, role in figure.items()}
    triples = [[bones.get(Role(part, side), "") for part in parts[1:4]] for parts in LIMBS.values()
               for side in (LEFT, RIGHT)]  # fmt: skip
    return [(upper, lower, end) for upper, lower, end in triples if upper and lower and end]


def _wanted(
    ob: bpy.types.Object, sources: dict[str, tuple[str, str]], limbs: list[tuple[str, str, str]],
    depsgraph: bpy.types.Depsgraph,
) -> dict[str, Matrix]:  # fmt: skip
    """Where FK controls belong for the body to stay where it is.

    IK controls may stretch a limb. FK controls do not: its end stays in its place, and it is bent a little less.
    """
    pose = ob.evaluated_get(depsgraph).pose.bones
    found = {
        name: pose[body].matrix @ pose[copied].matrix.inverted_safe() @ pose[name].matrix
        for name, (body, copied) in sources.items()
    }
    for upper, lower, end in limbs:
        if {upper, lower, end} <= found.keys():
            a, b = ((pose[one].head - pose[other].head).length for one, other in ((lower, upper), (end, lower)))
            _fit(found, upper, lower, end, a, b)
    return found


def _fit(found: dict[str, Matrix], upper: str, lower: str, end: str, a: float, b: float) -> None:
    """Turn the two bones of a limb, of the lengths `a` and `b`, in its plane so that its end is in its place."""
    first, joint, last = (found[name].translation for name in (upper, lower, end))
    line = last - first
    reach = min(max(line.length, abs(a - b)), a + b)
    along = line.normalized()
    across = (joint - first) - along * (joint - first).dot(along)
    if not (reach and across.length):
        return
    share = (reach * reach + a * a - b * b) / (2.0 * reach)
    bent = first + along * share + across.normalized() * max(a * a - share * share, 0.0) ** 0.5
    for name, old, new in ((upper, joint - first, bent - first), (lower, last - joint, last - bent)):
        found[name] = old.rotation_difference(new).to_matrix().to_4x4() @ found[name]
