# SPDX-License-Identifier: GPL-3.0-or-later
"""Mend Motion: the legs and the hips of a figure as arrays, and keys for them that plant its feet."""

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.algebra import quaternion
from ...solvers.clip import Leg, bends, find_contacts, plant_feet, runs, standing_heights
from .. import curves
from ..blender import animation, channels, rotation, scene_state
from ..blender.armature import Armature
from ..figure import foot, roles
from ..figure.parts import LEFT, RIGHT, Role
from ..notes import Code, Note, Refused
from ..shot import ties
from . import ground, inside_limits

PARTS = ("thigh", "shin", "foot")
_ABOVE = 0.3  # of a leg's length over heels and balls: from there the ground of a mesh is looked for
_UNITS = [Matrix.Translation(way) for way in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]


class Limb(NamedTuple):
    """A leg: the names of thigh, shin and foot, whether each is turned by the one above, and heel and ball (3,).

    Heel and ball are in the foot's frame, in world units.
    """

    names: list[str]
    carried: list[bool]
    heel: np.ndarray
    ball: np.ndarray


class Figure(NamedTuple):
    """What is mended of a figure: its legs, the bone that moves its hips, and its height in world units."""

    legs: list[Limb]
    hips: str
    height: float


class Motion(NamedTuple):
    """Over F frames: the legs in the world, their rotation channels (F, 3, 4), and the hips.

    hips : (F, 3), the world place between the hip joints. location : (F, 3), the location of the hips' bone. axes : (F,
    3, 3), the world ways of its units.
    """

    legs: list[Leg]
    channels: list[np.ndarray]
    hips: np.ndarray
    location: np.ndarray
    axes: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """The places (F, 2, 2, 3) of heel and ball of both feet."""
        return np.stack([leg.points for leg in self.legs], 1)

    @property
    def length(self) -> float:
        """Of a leg."""
        return float(np.mean([leg.length for leg in self.legs]))


class Keys(NamedTuple):
    """New channels: rotations (F, 3, 4) of the bones of each leg, and locations (F, 3) of the hips."""

    rotations: list[np.ndarray]
    location: np.ndarray


def figure(ob: bpy.types.Object) -> Figure:
    """The legs and hips of an armature object. Raises `Refused` if they are not known, or not moved by keys alone."""
    armature = Armature(ob)
    known = roles.of(ob, armature)
    scale = max(map(abs, ob.matrix_world.to_scale()))
    bones = {role: bone for bone, role in sorted(known.roles.items(), reverse=True)}
    found = [[bones[role] for role in (Role(part, side) for part in PARTS) if role in bones] for side in (LEFT, RIGHT)]
    if any(len(leg) < len(PARTS) for leg in found):
        raise Refused(Note(Code.NO_FEET, repr(ob.name)))
    names = ob.pose.bones.keys()
    legs, moved = list[Limb](), set[int]()
    for leg in found:
        paths = [_between(armature, upper, lower) for upper, lower in pairwise(leg)]
        if not all(paths):
            raise Refused(Note(Code.LEG_BROKEN, repr(ob.name)))
        own = foot.of(armature, known, leg[2])
        if own is None:
            raise Refused(Note(Code.NO_FEET, repr(ob.name)))
        own = own.seen_from(armature.rest[leg[2], :3, :3], armature.heads[leg[2]])
        carried = [all(ob.data.bones[names[bone]].use_inherit_rotation for bone in path) for path in paths]
        legs.append(Limb([names[bone] for bone in leg], [False, *carried], scale * own.heel, scale * own.ball))
        moved |= {bone for path in paths for bone in path} | {leg[0]}
    hips = _hips(ob, armature, [leg[0] for leg in found])
    _check(ob, [names[bone] for bone in sorted(moved | {hips})])
    return Figure(legs, names[hips], scale * armature.size)


def _between(armature: Armature, upper: int, lower: int) -> list[int]:
    """The bones below one down to another; none if that does not hang on it."""
    above = armature.above(lower)
    return above[: above.index(upper)] if upper in above else []


def _hips(ob: bpy.types.Object, armature: Armature, thighs: Sequence[int]) -> int:
    """The lowest bone that carries both thighs and can move."""
    both = set(armature.above(thighs[0])[1:]) & set(armature.above(thighs[1])[1:])
    for bone in armature.above(thighs[0]):
        if bone in both and not ob.pose.bones[bone].bone.use_connect:
            return bone
    raise Refused(Note(Code.LEG_BROKEN, repr(ob.name)))


def _check(ob: bpy.types.Object, names: Sequence[str]) -> None:
    """Raise `Refused` if more than keys of the assigned action moves some bones."""
    data = ob.animation_data
    if data is None or data.action is None:
        raise Refused(Note(Code.NOTHING_TO_MEND, repr(ob.name)))
    if animation.uses_nla(ob) and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        raise Refused(Note(Code.ACTION_BLENDED, repr(data.action.name)))
    solved = ties.solved_bones(ob) if ob.dqik.live else set[str]()
    driven = animation.animation(ob).driven
    for name in names:
        if name in solved:
            raise Refused(Note(Code.OVERLAP_SOLVED, repr(name)))
        constraints = ob.pose.bones[name].constraints
        if name in driven or any(not one.mute and one.influence > 0.0 for one in constraints):
            raise Refused(Note(Code.PLACE_NOT_OWN, repr(name)))


def read(
    context: bpy.types.Context, ob: bpy.types.Object, own: Figure, frames: Sequence[int], visits: scene_state.Visits
) -> Generator[float, None, Motion]:  # fmt: skip
    """Read the motion as Blender shows it; yields the progress from 0 to 1."""
    numbers = [ob.pose.bones.find(name) for leg in own.legs for name in leg.names]
    hips = ob.pose.bones.find(own.hips)
    heads, turns, turned, location, axes = (list[object]() for _ in range(5))
    for count, frame in enumerate(frames, 1):
        visits.visit(frame)
        shown = ob.evaluated_get(context.evaluated_depsgraph_get())
        matrices = [shown.matrix_world @ shown.pose.bones[bone].matrix for bone in numbers]
        heads.append([matrix.translation[:] for matrix in matrices])
        turns.append([matrix.to_quaternion()[:] for matrix in matrices])
        values = channels.read(shown.pose.bones)
        turned.append(values.rotations[numbers])
        location.append(values.locations[hips])
        axes.append(_axes(shown, shown.pose.bones[hips]))
        yield count / len(frames)
    places = np.array(heads, dtype=float).reshape(-1, 2, 3, 3)
    turns_of = np.array(turns, dtype=float).reshape(-1, 2, 3, 4)
    keyed = np.array(turned, dtype=float).reshape(-1, 2, 3, 4)
    legs = [Leg(places[:, k, 0], places[:, k, 1], places[:, k, 2], turns_of[:, k], limb.heel, limb.ball)
            for k, limb in enumerate(own.legs)]  # fmt: skip
    return Motion(legs, [keyed[:, 0], keyed[:, 1]], places[:, :, 0].mean(1), np.array(location, dtype=float),
                  np.array(axes))  # fmt: skip


def _axes(shown: bpy.types.Object, bone: bpy.types.PoseBone) -> np.ndarray:
    """The world ways (3, 3), in columns, of the units of a bone's location."""
    rest, above = bone.bone.matrix_local, {}
    if bone.parent is not None:
        above = {"parent_matrix": bone.parent.matrix, "parent_matrix_local": bone.parent.bone.matrix_local}
    ends = [shown.matrix_world @ bone.bone.convert_local_to_pose(unit, rest, **above) for unit in _UNITS]
    places = np.array([end.translation[:] for end in ends])
    return (places[1:] - places[0]).T


def ground_heights(context: bpy.types.Context, motion: Motion, chosen: ground.Ground) -> np.ndarray | None:
    """How high (F, 2, 2) the ground is under heels and balls, on the present frame; None where they are lowest."""
    return ground.heights(chosen, motion.points, _ABOVE * motion.length, context.evaluated_depsgraph_get())


def contacts(motion: Motion, rate: float, heights: np.ndarray | None = None) -> np.ndarray:
    """The frames (F, 2, 2) on which heel and ball of both feet are on the ground. heights : those of the ground."""
    return find_contacts(motion.points, motion.hips, rate, motion.length, heights)


def mended(
    ob: bpy.types.Object, own: Figure, motion: Motion, on_ground: np.ndarray, rate: float,
    heights: np.ndarray | None = None,
) -> Keys:  # fmt: skip
    """The channels that plant the feet; inside the limits that bones have. heights : (F, 2, 2) of the ground."""
    standing = None
    if heights is not None:
        known = np.where(np.isnan(heights), motion.points[..., 2], heights)
        standing = list((known + standing_heights(motion.points, motion.length, heights)).swapaxes(0, 1))
    planted = plant_feet(motion.legs, [on_ground[:, 0], on_ground[:, 1]], rate, standing)
    location = motion.location + np.linalg.solve(motion.axes, planted.hips[..., None])[..., 0]
    rotations = list[np.ndarray]()
    for limb, leg, before, turns in zip(own.legs, motion.legs, motion.channels, planted.turns, strict=True):
        after = np.empty_like(before)
        above = np.broadcast_to(quaternion.IDENTITY, turns[:, 0].shape)  # by which the bone above is turned further
        for row, (name, carried) in enumerate(zip(limb.names, limb.carried, strict=True)):
            bone = ob.pose.bones[name]
            turned = rotation.to_quaternion(bone.rotation_mode, before[:, row])
            above = above if carried else np.broadcast_to(quaternion.IDENTITY, above.shape)
            posed = quaternion.product(above, leg.turns[:, row])  # as the bone would be carried
            new = quaternion.product(turned, quaternion.relative(posed, turns[:, row]))
            new = inside_limits.projection(bone)(new)
            world = quaternion.product(posed, quaternion.relative(turned, new))
            above = quaternion.product(world, quaternion.conjugate(leg.turns[:, row]))
            after[:, row] = rotation.from_quaternion(bone.rotation_mode, new, before[:, row])
        rotations.append(after)
    return Keys(rotations, location)


def key(ob: bpy.types.Object, own: Figure, times: Sequence[float], keys: Keys) -> None:
    """Key legs and hips in the assigned action."""
    writer = curves.Writer(ob, ob.animation_data.action)
    at = np.array(times)
    for index in range(3):
        writer.write(curves.bone_path(own.hips, "location"), index, own.hips, at, keys.location[:, index])
    for limb, rotations in zip(own.legs, keys.rotations, strict=True):
        for row, name in enumerate(limb.names):
            path = rotation.PATHS[ob.pose.bones[name].rotation_mode]
            for index in range(rotation.PATH_SIZES[path]):
                writer.write(curves.bone_path(name, path), index, name, at, rotations[:, row, index])
    writer.finish()


class Report(NamedTuple):
    """contacts : how many. before, after : the slide of what is on the ground [heights a second]. knees : [rad]."""

    contacts: int
    before: float
    after: float
    knees: float


def report(own: Figure, before: Motion, after: Motion, on_ground: np.ndarray, rate: float) -> Report:
    """What has changed between two motions."""
    count = sum(len(runs(one)) for one in on_ground.reshape(len(on_ground), -1).T)
    knees = max(float(np.abs(bends(a) - bends(b)).max()) for a, b in zip(before.legs, after.legs, strict=True))
    slid, slides = (_slide(motion, on_ground) * rate / own.height for motion in (before, after))
    return Report(count, slid, slides, knees)


def _slide(motion: Motion, on_ground: np.ndarray) -> float:
    """How far points on the ground move in the mean from a frame to the next."""
    steps = np.linalg.norm(np.diff(motion.points[..., :2], axis=0), axis=-1)
    return float(steps[on_ground[1:] & on_ground[:-1]].mean())
