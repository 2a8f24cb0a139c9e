# SPDX-License-Identifier: GPL-3.0-or-later
"""Mend Motion: the legs and the hips of a figure as arrays, and keys for them that plant its feet."""

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.algebra import quaternion
from ...solvers.motion import Leg, bends, find_contacts, find_holds, fine_time, plant_feet, runs, standing_heights
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.armature import Armature
from ..blender.places import converted
from ..clip import clip, ground, inside_limits, rest_legs
from ..clip.rest_legs import RestLeg
from ..figure import ends
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT
from ..keys import keyable
from ..notes import Code, Note, Refused
from ..shot import attachable

_ARM = ("arm", "forearm", "hand")
_ABOVE = 0.3  # of a leg's length over heels and balls: from there the ground of a mesh is looked for
_UNITS = [Matrix.Translation(way) for way in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]


class Limbs(NamedTuple):
    """What is mended of a figure: its bones at rest, its legs and arms, and the bone that moves its hips.

    scale : of the object in the world. feet, hands : their names.
    """

    armature: Armature
    legs: list[RestLeg]
    arms: list[RestLeg]
    hips: int
    scale: float
    feet: list[str]
    hands: list[str]


class LimbMotion(NamedTuple):
    """Over F frames: the legs and arms in the world, their rotation channels (F, 3, 4), and the hips.

    hips : (F, 3), the world place between the hip joints. location : (F, 3), the location of the hips' bone. axes : (F,
    3, 3), the world ways of its units. ground : (4, 4), where the mesh is on which the figure moves; None without one.
    All is as seen from a mesh that moves, which stays where it is on the first frame.
    """

    legs: list[Leg]
    arms: list[Leg]
    channels: list[np.ndarray]
    hips: np.ndarray
    location: np.ndarray
    axes: np.ndarray
    ground: np.ndarray | None = None

    @property
    def points(self) -> np.ndarray:
        """The places (F, 2, 2, 3) of heel and ball of both feet."""
        return np.stack([leg.points for leg in self.legs], 1)

    @property
    def length(self) -> float:
        """Of a leg."""
        return float(np.mean([leg.length for leg in self.legs]))


def figure(ob: bpy.types.Object, armature: Armature | None = None) -> Limbs:
    """The legs and hips of an armature object. Raises `Refused` if they are not known, or not moved by keys alone.

    armature : its bones, in another pose at rest if they are folded in their own (`standing`).
    """
    character = Character.of(ob, armature)
    armature, known = character.armature, character.figure
    legs = rest_legs.of(ob, character)
    if legs is None:
        loose = any(role.name == "foot" for role in known.loose.values())
        raise Refused(Note(Code.LOOSE_FEET if loose else Code.NO_FEET, repr(ob.name)))
    names = ob.pose.bones.keys()
    if not all(path for leg in legs for path in _paths(armature, leg.bones)):
        raise Refused(Note(Code.LEG_BROKEN, repr(ob.name)))
    hips = _hips(ob, armature, [leg.thigh for leg in legs])
    if ob.animation_data is None or ob.animation_data.action is None:
        raise Refused(Note("{} has no action to mend: bake its motion first", repr(ob.name)))
    keyable.check(ob, [*_turned(ob, legs), curves.bone_path(names[hips], "location")], copied=True)
    for bone in sorted({hips, *(bone for leg in legs for bone in _moved(armature, leg.bones))}):
        keyable.refuse(_reason(ob, names[bone]))
    arms = [arm for side in (LEFT, RIGHT) if (arm := _arm(ob, character, side, hips)) is not None]
    feet, hands = ([names[limb.foot] for limb in limbs] for limbs in (legs, arms))
    return Limbs(armature, legs, arms, hips, max(map(abs, ob.matrix_world.to_scale())), feet, hands)


def _arm(ob: bpy.types.Object, character: Character, side: str, hips: int) -> RestLeg | None:
    """An arm, from the head of the hand to its end; None if it is not known, or not moved by keys alone."""
    armature, bones = character.armature, rest_legs.bones_of(character, _ARM, side)
    if bones is None or hips not in armature.above(bones[0]) or not all(_paths(armature, bones)):
        return None
    if any(_reason(ob, ob.pose.bones[bone].name) is not None for bone in _moved(armature, bones)):
        return None
    length = float(np.linalg.norm(ends.of(character.body, bones[2]) - armature.heads[bones[2]]))
    found = RestLeg.of(armature, bones, np.zeros(3), length * armature.rest[bones[2], :3, 1])
    return found if keyable.of_curves(ob, _turned(ob, [found])) is None else None


def _paths(armature: Armature, bones: Sequence[int]) -> list[list[int]]:
    """The bones below each one of a limb, from the next one of it up; none where that does not hang on it."""
    both = ((upper, armature.above(lower)) for upper, lower in pairwise(bones))
    return [above[: above.index(upper)] if upper in above else [] for upper, above in both]


def _moved(armature: Armature, bones: Sequence[int]) -> set[int]:
    """The bones of a limb, and those between them."""
    return {bones[0], *(bone for path in _paths(armature, bones) for bone in path)}


def _hips(ob: bpy.types.Object, armature: Armature, thighs: Sequence[int]) -> int:
    """The lowest bone that carries both thighs and can move."""
    both = set(armature.above(thighs[0])[1:]) & set(armature.above(thighs[1])[1:])
    for bone in armature.above(thighs[0]):
        if bone in both and not ob.pose.bones[bone].bone.use_connect:
            return bone
    raise Refused(Note(Code.LEG_BROKEN, repr(ob.name)))


def _turned(ob: bpy.types.Object, limbs: Sequence[RestLeg]) -> list[str]:
    bones = [ob.pose.bones[bone] for limb in limbs for bone in limb.bones]
    return [curves.path_of(bone, rotation.PATHS[bone.rotation_mode]) for bone in bones]


def _reason(ob: bpy.types.Object, name: str) -> Note | None:
    """Why more than keys moves a bone; None if nothing else does."""
    acting = any(not one.mute and one.influence > 0.0 for one in ob.pose.bones[name].constraints)
    other = acting or name in animation.animation(ob).driven
    return attachable.hidden_by_live(ob, [name]) or (Note(Code.PLACE_NOT_OWN, repr(name)) if other else None)


def read(
    ob: bpy.types.Object, own: Limbs, frames: Sequence[int], visits: scene_state.Visits,
    mesh: bpy.types.Object | None = None,
) -> Generator[float, None, LimbMotion]:  # fmt: skip
    """Read the motion as Blender shows it; yields the progress from 0 to 1. mesh : on which the figure moves."""
    shown, *others = yield from clip.read([ob] if mesh is None else [ob, mesh], frames, visits)
    found, turned = list[Leg](), list[np.ndarray]()
    for limb in (*own.legs, *own.arms):
        posed = shown.bones(limb.bones)
        hip, knee, ankle = posed[..., :3, 3].swapaxes(0, 1)
        found.append(Leg(hip, knee, ankle, clip.turns_of(posed), *own.scale * limb.marks(own.armature)))
        turned.append(shown.rotations[:, limb.bones].astype(float))
    legs = len(own.legs)
    middle = np.mean([leg.hip for leg in found[:legs]], axis=0)
    motion = LimbMotion(found[:legs], found[legs:], turned, middle, shown.locations[:, own.hips].astype(float),
                        _axes(ob, own.hips, shown))  # fmt: skip
    return _seen_from(motion, others[0].world.astype(float)) if others else motion


def _seen_from(motion: LimbMotion, mesh: np.ndarray) -> LimbMotion:
    """A motion as seen from a mesh with matrices (F, 4, 4)."""
    first = mesh[0]
    if (mesh == first).all():
        return motion._replace(ground=first)
    turns, places = clip.turns_of(mesh), mesh[:, :3, 3]
    back = quaternion.product(turns[0], quaternion.conjugate(turns))

    def place(points: np.ndarray) -> np.ndarray:
        return first[:3, 3] + quaternion.rotate(back, points - places)

    def limb(leg: Leg) -> Leg:
        return leg._replace(hip=place(leg.hip), knee=place(leg.knee), ankle=place(leg.ankle),
                            turns=quaternion.product(back[:, None], leg.turns))  # fmt: skip

    return motion._replace(
        legs=[limb(leg) for leg in motion.legs], arms=[limb(arm) for arm in motion.arms], hips=place(motion.hips),
        axes=quaternion.to_matrix(back) @ motion.axes, ground=first,
    )  # fmt: skip


def _axes(ob: bpy.types.Object, bone: int, shown: clip.Clip) -> np.ndarray:
    """The world ways (F, 3, 3), in columns, of the units of a bone's location."""
    own, parent = ob.pose.bones[bone].bone, ob.pose.bones[bone].parent
    number, found = -1 if parent is None else ob.pose.bones.find(parent.name), list[np.ndarray]()
    for world, pose in zip(shown.world, shown.poses, strict=True):
        above = None if parent is None else Matrix(pose[number])
        ends = np.array([(Matrix(world) @ converted(own, unit, above)).translation[:] for unit in _UNITS])
        found.append((ends[1:] - ends[0]).T)
    return np.array(found)


def ground_heights(context: bpy.types.Context, motion: LimbMotion, chosen: ground.Ground) -> np.ndarray | None:
    """How high (F, 2, 2) the ground is under heels and balls; None where they are lowest.

    A mesh has the shape that it has now, and is where the motion is seen from it.
    """
    depsgraph = context.evaluated_depsgraph_get()
    return ground.heights(chosen, motion.points, _ABOVE * motion.length, depsgraph, motion.ground)


def contacts(motion: LimbMotion, rate: float, heights: np.ndarray | None = None) -> np.ndarray:
    """The times (G, 2, 2) at which heel and ball of both feet are on the ground. heights : those of the ground."""
    return find_contacts(motion.points, motion.hips, rate, motion.length, heights)


def holds(motion: LimbMotion, rate: float) -> np.ndarray:
    """The times (G, A, 2) at which wrist and knuckles of the arms hold on to the ground or a still thing."""
    if not motion.arms:
        return np.zeros((fine_time.steps(rate) * (len(motion.hips) - 1) + 1, 0, 2), dtype=bool)
    points = np.stack([arm.points for arm in motion.arms], 1)
    shoulders = np.stack([arm.hip for arm in motion.arms], 1)
    return find_holds(points, shoulders, rate, motion.length, float(motion.points[..., 2].min()))


def mended(
    ob: bpy.types.Object, own: Limbs, motion: LimbMotion, on_ground: np.ndarray, rate: float,
    heights: np.ndarray | None, held: np.ndarray,
) -> dict[tuple[str, str], np.ndarray]:  # fmt: skip
    """The channels, as of `clip.write`, that plant feet and hands; inside the limits that bones have.

    on_ground, held : (G, 2, 2) and (G, A, 2), the contacts of feet and hands (`find_contacts`). heights : (F, 2, 2) of
    the ground.
    """
    standing = list[np.ndarray]()
    if heights is not None:
        known = np.where(np.isnan(heights), motion.points[..., 2], heights)
        standing = list((known + standing_heights(motion.points, motion.length, heights)).swapaxes(0, 1))
    arms = [k for k in range(held.shape[1]) if held[:, k].any()]
    limbs = [*own.legs, *(own.arms[k] for k in arms)]
    before_them = [*motion.legs, *(motion.arms[k] for k in arms)]
    keyed = [*motion.channels[: len(own.legs)], *(motion.channels[len(own.legs) + k] for k in arms)]
    touching = [*on_ground.swapaxes(0, 1), *(held[:, k] for k in arms)]
    planted = plant_feet(before_them, touching, rate, standing)
    location = motion.location + np.linalg.solve(motion.axes, planted.hips[..., None])[..., 0]
    found = {(ob.pose.bones[own.hips].name, "location"): location}
    for limb, leg, before, turns in zip(limbs, before_them, keyed, planted.turns, strict=True):
        above = np.broadcast_to(quaternion.IDENTITY, turns[:, 0].shape)  # by which the bone above is turned further
        carried = [all(ob.pose.bones[bone].bone.use_inherit_rotation for bone in path)
                   for path in _paths(own.armature, limb.bones)]  # fmt: skip
        for row, (number, is_carried) in enumerate(zip(limb.bones, [False, *carried], strict=True)):
            bone = ob.pose.bones[number]
            turned = rotation.to_quaternion(bone.rotation_mode, before[:, row])
            above = above if is_carried else np.broadcast_to(quaternion.IDENTITY, above.shape)
            posed = quaternion.product(above, leg.turns[:, row])  # as the bone would be carried
            new = quaternion.product(turned, quaternion.relative(posed, turns[:, row]))
            new = inside_limits.projection(bone)(new)
            world = quaternion.product(posed, quaternion.relative(turned, new))
            above = quaternion.product(world, quaternion.conjugate(leg.turns[:, row]))
            after = rotation.from_quaternion(bone.rotation_mode, new, before[:, row])
            found[bone.name, rotation.PATHS[bone.rotation_mode]] = after
    return found


class LimbReport(NamedTuple):
    """Of feet or hands: how many contacts there are, and how far what is in contact moves [heights a second].

    before, after : the motion was mended; 0 without contacts. bends : the largest change of a knee or an elbow [rad].
    """

    contacts: int
    before: float
    after: float
    bends: float


class MendReport(NamedTuple):
    """What has changed between two motions. other_rate : a note about one that was likely made for another rate."""

    feet: LimbReport
    hands: LimbReport
    other_rate: Note | None = None


def report(
    own: Limbs, before: LimbMotion, after: LimbMotion, on_ground: np.ndarray, held: np.ndarray, rate: float
) -> MendReport:  # fmt: skip
    """What has changed between two motions. on_ground, held : the contacts (F, L, 2) of feet and of hands."""
    scale = rate / (own.scale * own.armature.size)
    return MendReport(
        _change(before.legs, after.legs, on_ground, 2, scale), _change(before.arms, after.arms, held, 3, scale)
    )


def _change(before: Sequence[Leg], after: Sequence[Leg], contacts: np.ndarray, size: int, scale: float) -> LimbReport:
    """What has changed between two motions of limbs. size : 2 measures moves over the ground, 3 in space."""
    if not contacts.any():
        return LimbReport(0, 0.0, 0.0, 0.0)
    count = sum(len(runs(one)) for one in contacts.reshape(len(contacts), -1).T)
    bent = max(float(np.abs(bends(a) - bends(b)).max()) for a, b in zip(before, after, strict=True))
    slid, slides = (scale * _slide(np.stack([limb.points for limb in limbs], 1)[..., :size], contacts)
                    for limbs in (before, after))  # fmt: skip
    return LimbReport(count, slid, slides, bent)


def _slide(points: np.ndarray, contacts: np.ndarray) -> float:
    """How far points (F, L, K, ...) in contact move in the mean from a frame to the next."""
    both = contacts[1:] & contacts[:-1]
    return float(np.linalg.norm(np.diff(points, axis=0), axis=-1)[both].mean()) if both.any() else 0.0
