# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that show a body as it is posed, and their keys."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import generated_rigs, rotation
from ..clip import clip, lineage
from ..clip.clip import BodyMotion
from . import root_motion
from .retargeted_body import Body

_FOLDED = 1e-4  # radians, and of the size: by what a bone of a folded figure turns and moves at least


class BodyChannels(NamedTuple):
    """Rotations (F, B, 4) of bones from rest, and the locations (F, 3) of some of them by number.

    Those are the bone that carries the figure, what does not hang on what it goes with, and a root that takes the way.
    of_object : the channels of the object, as of `clip.write`, if it takes the way. scales : (F, 3) of bones. posed :
    where they put the body.
    """

    bones: list[int]
    rotations: np.ndarray
    locations: dict[int, np.ndarray]
    of_object: dict[tuple[str, str], np.ndarray]
    scales: dict[int, np.ndarray]
    posed: BodyMotion


def channels(
    ob: bpy.types.Object, body: Body, posed: BodyMotion, mover: int, root: str, rate: float, carried: np.ndarray
) -> BodyChannels:  # fmt: skip
    """The channels of a posed body.

    mover : the bone that carries it. root : what takes the way over the ground, a kind of `root_motion`. rate : frames
    a second. carried : (F, 4, 4) what carries the object.
    """
    if root == root_motion.AUTO:
        return _channels(body, posed, [mover])
    way = root_motion.way(body, posed, rate)
    if root == root_motion.IN_PLACE:
        return _channels(body, root_motion.in_place(body, posed, way, mover), [mover])
    top = root_motion.root(ob, body.person, mover) if root == root_motion.BONE else None
    posed = root_motion.rooted(body, posed, way, mover, top)
    if top is not None:
        return _channels(body, posed, [top, mover])
    of_object = root_motion.object_channels(ob, body.space, carried)
    return _channels(body, posed, [mover])._replace(of_object=of_object)


def _channels(body: Body, posed: BodyMotion, movers: Sequence[int]) -> BodyChannels:
    """The channels of a posed body. movers : the bones that go somewhere, beside those that hang elsewhere."""
    armature, space, attached = body.own, body.space, body.person.attached

    def parent(bone: int) -> int:
        return attached.get(bone, int(armature.parent[bone]))

    rest = quaternion.from_matrix(armature.rest[:, :3, :3])
    unfolded, turned_up, moved_up = _unfolded(body, parent)
    turns = quaternion.product(posed.turns, unfolded)
    whole = np.broadcast_to(space.turn, (body.count, 4))

    def carried(bone: int) -> np.ndarray:
        return whole if parent(bone) < 0 else turns[:, parent(bone)]

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
        line = space.scale * quaternion.rotate(turns[:, up], armature.heads[bone] - armature.heads[up])
        return posed.heads[:, bone] - posed.heads[:, up] - line

    bones = sorted({*body.turns, *body.relative, *attached, *movers, *turned_up, *moved_up})
    turned = [quaternion.product(quaternion.conjugate(rest[bone]), quaternion.product(
        quaternion.relative(above(bone), turns[:, bone]), rest[bone])) for bone in bones]  # fmt: skip
    locations = {bone: location(bone, moved(bone)) for bone in (*movers, *attached, *body.moved, *moved_up)}
    return BodyChannels(bones, np.stack(turned, 1), locations, {}, {}, posed)


def _unfolded(body: Body, parent: Callable[[int], int]) -> tuple[np.ndarray, list[int], list[int]]:
    """The turns (N, 4) from rest to the pose in which a figure is measured, and the bones that turn and move by it.

    Only of a figure that is folded at rest there are some. parent : of a bone, -1 for none.
    """
    stands, own = body.person.armature, body.own
    turns = quaternion.product(*(quaternion.from_matrix(one) for one in (
        stands.rest[:, :3, :3], np.swapaxes(own.rest[:, :3, :3], 1, 2))))  # fmt: skip
    above = np.array([parent(bone) for bone in range(len(turns))])
    hangs = (above >= 0)[:, None]
    carried = np.where(hangs, turns[above], quaternion.IDENTITY)
    before, after = (one.heads - np.where(hangs, one.heads[above], 0.0) for one in (own, stands))
    away = np.linalg.norm(after - quaternion.rotate(carried, before), axis=-1)
    turned = np.flatnonzero(quaternion.angle(turns, carried) > _FOLDED)
    return turns, turned.tolist(), np.flatnonzero(away > _FOLDED * own.size).tolist()


def write(ob: bpy.types.Object, name: str, times: Sequence[float], answer: BodyChannels) -> int:
    """Key the answer into a new action of some name, which is assigned; the number of keys.

    Bones that are keyed, and those that carry them, lose what the old motion has left in their other channels; in a
    generated rig all that are no FK controls do.
    """
    bones = ob.pose.bones
    carrying = {one for bone in answer.bones for one in (bones[bone], *bones[bone].parent_recursive)}
    if (kind := generated_rigs.kind_of(bones.keys())) is not None:
        carrying |= {bone for bone in bones if kind.name(bone.name) is None}
    values = dict(answer.of_object)
    values |= {(bones[bone].name, "location"): location for bone, location in answer.locations.items()}
    values |= {(bones[bone].name, "scale"): scale for bone, scale in answer.scales.items()}
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
