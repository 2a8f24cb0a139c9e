# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlap: keys for bones that follow the motion of what they hang on, such as tails, hair and ears."""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...solvers.algebra import quaternion
from ...solvers.motion import Bodies, Chain, Spring, following, keep_out
from .. import curves
from ..blender import rotation, scene_state
from ..clip import clip
from ..figure import capsules
from ..figure.character import Character
from ..keys import keyable
from ..shot import attachable

_SHORT = 0.1  # of a bone's length
_BESIDE = 0.5  # radians from a bone's own direction
_SAME = 1e-4  # of a bone's length, or radians: ends of a motion that differ by less close it


class Read(NamedTuple):
    """What the bones do over F frames: their world motion, their rotation channels (F, B, 4), and the body's limbs."""

    chain: Chain
    rotations: np.ndarray
    bodies: Bodies


def in_order(ob: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """Bones by their names, each after those that it hangs on."""
    return sorted(names, key=lambda name: len(ob.pose.bones[name].parent_recursive))


def check(ob: bpy.types.Object, names: Sequence[str]) -> None:
    """Raise `Refused` if the rotations of bones cannot be keyed, or Live moves them."""
    keyable.refuse(attachable.hidden_by_live(ob, names))
    bones = [ob.pose.bones[name] for name in names]
    keyable.check(ob, [curves.path_of(bone, rotation.PATHS[bone.rotation_mode]) for bone in bones])


def read(
    ob: bpy.types.Object, names: Sequence[str], frames: Sequence[int], visits: scene_state.Visits
) -> Generator[float, None, Read]:
    """Read the motion of bones, which are `in_order`, as Live shows it; yields the progress from 0 to 1.

    Raises `Refused` if it is not numbers.
    """
    bones = [ob.pose.bones.find(name) for name in names]
    [shown] = yield from clip.read([ob], frames, visits)
    posed, tips = shown.bones(bones), _tips(ob, names)
    tails = np.stack([shown.points(bone, tip) for bone, tip in zip(bones, tips, strict=True)], 1)
    row = {name: number for number, name in enumerate(names)}
    parents = [next((row[one.name] for one in ob.pose.bones[name].parent_recursive if one.name in row), -1)
               for name in names]  # fmt: skip
    carried = [ob.data.bones[name].use_inherit_rotation for name in names]
    chain = Chain(np.array(parents), clip.turns_of(posed), posed[..., :3, 3], tails, np.array(carried))
    return Read(chain, shown.rotations[:, bones], _bodies(ob, names, tips, shown))


def _bodies(ob: bpy.types.Object, names: Sequence[str], tips: Sequence[Vector], shown: clip.Clip) -> Bodies:
    """The body of the other bones; what is nearer to it at rest than its surface may come as near."""
    own = [ob.data.bones[name] for name in names]
    hanging = {ob.pose.bones.find(one.name) for bone in own for one in (bone, *bone.children_recursive)}
    character, scale = Character.of(ob), shown.space().scale
    found = [one for one in capsules.of(ob, character) if one.bone not in hanging]
    ends = np.array([(one.start, one.end) for one in found]).reshape(-1, 2, 3)
    carriers = [one.bone for one in found]
    placed = shown.bones(carriers) @ np.linalg.inv(character.armature.rest[carriers])
    heads = np.array([bone.head_local for bone in own])
    ways = np.array([bone.matrix_local @ tip for bone, tip in zip(own, tips, strict=True)]) - heads
    near = np.linalg.norm(keep_out.offsets(keep_out.places(heads, ways), ends), axis=-1)
    room = scale * np.minimum(near, [one.radius for one in found])
    return Bodies(ends @ placed[..., :3, :3].swapaxes(-1, -2) + placed[..., None, :3, 3], room)


def _tips(ob: bpy.types.Object, names: Sequence[str]) -> list[Vector]:
    """Where bones, which are `in_order`, end, in their own axes: where those of them begin that hang on them.

    Imported bones may point elsewhere. The last ones of these go on as the one that they hang on does.
    """
    found, off = dict[str, Vector](), set[str]()
    for name in names:
        bone = ob.data.bones[name]
        tip = tail = Vector((0.0, bone.length, 0.0))
        below = [bone.matrix_local.inverted() @ child.head_local for child in bone.children if child.name in names]
        above = bone.parent
        if below:
            tip = sum(below, Vector()) / len(below)
        elif above is not None and above.name in off:
            tip = bone.matrix_local.to_3x3().inverted() @ (bone.head_local - above.head_local)
        if tip.length < _SHORT * bone.length:  # what hangs on it begins where it does
            tip = tail
        if tip.angle(tail) > _BESIDE:
            off.add(name)
        found[name] = tip
    return [found[name] for name in names]


def closes(chain: Chain) -> bool:
    """Whether the bones end as they begin, but for a way that all of them go."""
    turn = quaternion.log(quaternion.relative(chain.turns[0], chain.turns[-1]))
    way = chain.tails[-1] - chain.tails[0]
    length = np.linalg.norm(chain.tails[0] - chain.heads[0], axis=-1).max()
    return bool(np.abs(turn).max() < _SAME and np.abs(way - way[0]).max() < _SAME * length)


def follow(
    ob: bpy.types.Object, names: Sequence[str], own: Read, spring: Spring, rate: float, loop: bool, amount: float,
    keeps_out: bool,
) -> Generator[float, None, dict[tuple[str, str], np.ndarray]]:  # fmt: skip
    """Rotation channels (F, 4), as of `clip.write`, of bones that follow their own motion; inside their limits.

    keeps_out : whether they stay out of the body. Yields the progress from 0 to 1.
    """
    modes = [ob.pose.bones[name].rotation_mode for name in names]
    turned = np.stack([rotation.to_quaternion(mode, own.rotations[:, row].astype(float))
                       for row, mode in enumerate(modes)], 1)  # fmt: skip
    inside = [clip.inside_limits(ob.pose.bones[name], turned[:, row]) for row, name in enumerate(names)]

    def within(row: int, extra: np.ndarray) -> np.ndarray:
        before = turned[:, row]
        return quaternion.relative(before, inside[row](quaternion.product(before, extra)))

    bodies = own.bodies if keeps_out and own.bodies.room.size else None
    extra = yield from following(own.chain, spring, rate, loop, amount, within, bodies)
    after = quaternion.product(turned, extra)
    return {(name, rotation.PATHS[mode]): clip.continuous(mode, after[:, row], own.rotations[0, row].astype(float))
            for row, (name, mode) in enumerate(zip(names, modes, strict=True))}  # fmt: skip
