# SPDX-License-Identifier: GPL-3.0-or-later
"""Mend Motion: legs, hips and spine of a figure as arrays, and keys that plant its feet, knees, seat and back."""

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.algebra import quaternion
from ...solvers.motion import (
    FOOT_POINT,
    KNEE_POINT,
    Flights,
    Leg,
    TrunkPlaces,
    bends,
    find_backs,
    find_contacts,
    find_holds,
    find_seats,
    fine_time,
    flights,
    plant_feet,
    rested,
    runs,
    standing_heights,
)
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.armature import Armature
from ..blender.dependencies import acts
from ..blender.places import converted
from ..clip import clip, ground, rest_legs
from ..clip.contact_ranges import Touching
from ..clip.rest_legs import RestLeg
from ..figure import capsules, ends
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role
from ..keys import keyable
from ..notes import Code, Note, Refused
from ..shot import attachable

_ARM = ("arm", "forearm", "hand")
_ABOVE = 0.3  # of a leg's length over heels and balls: from there the ground of a mesh is looked for
_POINTS = FOOT_POINT, FOOT_POINT, KNEE_POINT
_UNITS = [Matrix.Translation(way) for way in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]


class Seat(NamedTuple):
    """What a figure sits on: its bone, its place (3,) in the bone's frame, and how far below the hips it is."""

    bone: int
    place: np.ndarray
    thick: float


class Back(NamedTuple):
    """What a figure lies on: its bone, its place (3,) in the bone's frame, and the bone of the spine that turns it.

    The spine is -1 if others than keys move it, or the arms do not go along.
    """

    bone: int
    place: np.ndarray
    spine: int


class Limbs(NamedTuple):
    """What is mended of a figure: its bones at rest, its legs and arms, and the bone that moves its hips.

    knees : how thick each one is, to its front. scale : of the object in the world. names : of the bones that can be in
    contact. masses : (N,), of all bones, in all 1, and centres : (N, 3), where these are in the frames of the bones.
    """

    armature: Armature
    legs: list[RestLeg]
    arms: list[RestLeg]
    hips: int
    knees: list[float]
    scale: float
    names: Touching[list[str]]
    masses: np.ndarray
    centres: np.ndarray
    seat: Seat
    back: Back | None


class GroundHeights(NamedTuple):
    """How high the ground is under heels, balls and knees (F, 2, 3), seat and back (F,), NaN where there is none."""

    legs: np.ndarray
    seat: np.ndarray
    back: np.ndarray


class SpineWay(NamedTuple):
    """Over F frames: the back (F, 3), and the bone that turns it: its joint (F, 3), its turns (F, 4), its channels."""

    back: np.ndarray
    joint: np.ndarray
    turns: np.ndarray
    channels: np.ndarray


class LimbMotion(NamedTuple):
    """Over F frames: the legs and arms in the world, their rotation channels (F, 3, 4), and the hips.

    knees : (2,), how far the ground is below the joints of knees that rest on it. hips : (F, 3), the world place
    between the hip joints. location : (F, 3), the location of the hips' bone. axes : (F, 3, 3), the world ways of its
    units. ground : (4, 4), where the mesh is on which the figure moves; None without one. All is as seen from a mesh
    that moves, which stays where it is on the first frame. weight, seat : (F, 3), the centre of mass, and
    what the figure sits on. thick : how far below the hips the ground is on which it sits. spine : None
    without a back.
    """

    legs: list[Leg]
    arms: list[Leg]
    channels: list[np.ndarray]
    knees: np.ndarray
    hips: np.ndarray
    location: np.ndarray
    axes: np.ndarray
    weight: np.ndarray
    seat: np.ndarray
    thick: float
    spine: SpineWay | None
    ground: np.ndarray | None = None

    @property
    def points(self) -> np.ndarray:
        """The places (F, 2, 2, 3) of heel and ball of both feet."""
        return np.stack([leg.points for leg in self.legs], 1)

    @property
    def lowest(self) -> np.ndarray:
        """The places (F, 2, 3, 3) of heel and ball of both legs, and of what is lowest of the knee."""
        knees = np.stack([leg.knee for leg in self.legs], 1)
        knees[..., 2] -= self.knees
        return np.concatenate([self.points, knees[:, :, None]], 2)

    @property
    def back(self) -> np.ndarray:
        """The places (F, 3) of what the figure lies on; of a figure without a back, of what it sits on."""
        return self.seat if self.spine is None else self.spine.back

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
        raise Refused(Note(Code.LOOSE_ENDS if loose else Code.NO_FEET, repr(ob.name)))
    names = ob.pose.bones.keys()
    if not all(path for leg in legs for path in _paths(armature, leg.bones)):
        raise Refused(Note(Code.LEG_BROKEN, repr(ob.name)))
    hips = _hips(ob, armature, [leg.thigh for leg in legs])
    if curves.action_of(ob) is None:
        raise Refused(Note("{} has no action to mend: bake its motion first", repr(ob.name)))
    turned = _turned(ob, [bone for leg in legs for bone in leg.bones])
    keyable.check(ob, [*turned, curves.bone_path(names[hips], "location")], copied=True)
    for bone in sorted({hips, *(bone for leg in legs for bone in _moved(armature, leg.bones))}):
        keyable.refuse(_reason(ob, names[bone]))
    arms = [arm for side in (LEFT, RIGHT) if (arm := _arm(ob, character, side, hips)) is not None]
    radii = {one.bone: one.radius for one in capsules.of(ob, character)}
    seat = _seat(character, legs, hips, float(np.mean([radii.get(leg.thigh, 0.0) for leg in legs])))
    back = _back(ob, character, hips, arms)
    touching = Touching(*([names[bone] for bone in bones] for bones in (
        [leg.foot for leg in legs], [leg.shin for leg in legs], [seat.bone], [] if back is None else [back.bone],
        [arm.foot for arm in arms])))  # fmt: skip
    knees = [radii.get(leg.shin, 0.0) for leg in legs]
    scale = max(map(abs, ob.matrix_world.to_scale()))
    return Limbs(armature, legs, arms, hips, knees, scale, touching, *_masses(character), seat, back)


def _seat(character: Character, legs: Sequence[RestLeg], hips: int, thick: float) -> Seat:
    """What a figure sits on: as thick as a thigh, below the middle of the hip joints."""
    armature, own = character.armature, character.hips
    carried = own is not None and all(own in armature.above(leg.thigh) for leg in legs)
    bone = own if carried else hips
    middle = armature.heads[[leg.thigh for leg in legs]].mean(0)
    line = middle - thick * character.body.up - armature.heads[bone]
    return Seat(bone, armature.rest[bone, :3, :3].T @ line, thick)


def _back(ob: bpy.types.Object, character: Character, hips: int, arms: Sequence[RestLeg]) -> Back | None:
    """What a figure lies on: between its shoulders, at the last bone of its spine; None without one."""
    armature, bone = character.armature, character.bones.get(Role("spine"))
    above = [] if bone is None else armature.above(bone)
    pelvis = character.hips if character.hips in above else hips
    if bone is None or pelvis not in above[1:]:
        return None
    shoulders = [own for side in (LEFT, RIGHT) if (own := character.bones.get(Role("arm", side))) is not None]
    middle = armature.heads[shoulders].mean(0) if shoulders else armature.tails[bone]
    spine = above[above.index(pelvis) - 1]
    hanging = [armature.above(end) for end in (bone, *(arm.thigh for arm in arms))]
    turns = all(spine in path and all(ob.pose.bones[own].bone.use_inherit_rotation for own in path[: path.index(spine)])
                for path in hanging)  # fmt: skip
    turns &= _reason(ob, ob.pose.bones[spine].name) is None and keyable.of_curves(ob, _turned(ob, [spine])) is None
    return Back(bone, armature.rest[bone, :3, :3].T @ (middle - armature.heads[bone]), spine if turns else -1)


def _masses(character: Character) -> tuple[np.ndarray, np.ndarray]:
    """The masses (N,) of bones, in all 1, and where (N, 3) they are in the bones' frames: in their middle."""
    armature, count = character.armature, len(character.armature.parent)
    masses, centres = np.zeros(count), np.zeros((count, 3))
    for bone, mass in character.masses.items():
        masses[bone] = mass
        centres[bone] = 0.5 * armature.rest[bone, :3, :3].T @ (ends.of(character.body, bone) - armature.heads[bone])
    return masses / masses.sum(), centres


def _arm(ob: bpy.types.Object, character: Character, side: str, hips: int) -> RestLeg | None:
    """An arm, from the head of the hand to its end; None if it is not known, or not moved by keys alone."""
    armature, bones = character.armature, rest_legs.bones_of(character, _ARM, side)
    if bones is None or hips not in armature.above(bones[0]) or not all(_paths(armature, bones)):
        return None
    if any(_reason(ob, ob.pose.bones[bone].name) is not None for bone in _moved(armature, bones)):
        return None
    length = float(np.linalg.norm(ends.of(character.body, bones[2]) - armature.heads[bones[2]]))
    found = RestLeg.of(armature, bones, np.zeros(3), length * armature.rest[bones[2], :3, 1])
    return found if keyable.of_curves(ob, _turned(ob, bones)) is None else None


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


def _turned(ob: bpy.types.Object, bones: Sequence[int]) -> list[str]:
    """The data paths of the rotations of bones."""
    own = [ob.pose.bones[bone] for bone in bones]
    return [curves.path_of(bone, rotation.PATHS[bone.rotation_mode]) for bone in own]


def _reason(ob: bpy.types.Object, name: str) -> Note | None:
    """Why more than keys moves a bone; None if nothing else does."""
    acting = any(map(acts, ob.pose.bones[name].constraints))
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
        marks = shown.unit * own.scale * limb.marks(own.armature)
        found.append(Leg(hip, knee, ankle, clip.turns_of(posed), *marks))
        turned.append(shown.rotations[:, limb.bones].astype(float))
    legs = len(own.legs)
    middle = np.mean([leg.hip for leg in found[:legs]], axis=0)
    knees = own.scale * np.array(own.knees)
    weighed = np.flatnonzero(own.masses)
    posed = shown.bones(weighed.tolist())
    middles = posed[..., :3, 3] + (posed[..., :3, :3] @ own.centres[weighed, :, None])[..., 0]
    motion = LimbMotion(found[:legs], found[legs:], turned, knees, middle, shown.locations[:, own.hips].astype(float),
                        _axes(ob, own.hips, shown), np.einsum("n,fni->fi", own.masses[weighed], middles),
                        shown.points(own.seat.bone, own.seat.place), own.scale * own.seat.thick,
                        None if own.back is None else _spine(own.back, shown))  # fmt: skip
    return _seen_from(motion, others[0].world.astype(float)) if others else motion


def _spine(own: Back, shown: clip.Clip) -> SpineWay:
    """The motion of a back; a bone that may not turn it is as one that does."""
    bone = own.bone if own.spine < 0 else own.spine
    posed = shown.bones(bone)
    return SpineWay(shown.points(own.bone, own.place), posed[:, :3, 3], clip.turns_of(posed),
                    shown.rotations[:, bone].astype(float))  # fmt: skip


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

    spine = motion.spine
    if spine is not None:
        spine = spine._replace(back=place(spine.back), joint=place(spine.joint),
                               turns=quaternion.product(back, spine.turns))  # fmt: skip
    return motion._replace(
        legs=[limb(leg) for leg in motion.legs], arms=[limb(arm) for arm in motion.arms], hips=place(motion.hips),
        axes=quaternion.to_matrix(back) @ motion.axes, weight=place(motion.weight),
        seat=place(motion.seat), spine=spine, ground=first,
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


def ground_heights(
    context: bpy.types.Context, motion: LimbMotion, chosen: ground.Ground
) -> GroundHeights | None:  # fmt: skip
    """How high the ground is; None where it is as high as feet are lowest.

    A mesh has the shape that it has now, and is where the motion is seen from it.
    """
    depsgraph, above = context.evaluated_depsgraph_get(), _ABOVE * motion.length
    found = [ground.heights(chosen, points, above, depsgraph, motion.ground)
             for points in (motion.lowest, motion.seat, motion.back)]  # fmt: skip
    return None if found[0] is None else GroundHeights(*found)


def contacts(motion: LimbMotion, rate: float, heights: GroundHeights | None = None) -> Touching[np.ndarray]:
    """The times (G, L, K) at which K parts of L limbs touch the ground, or hold on to a still thing.

    heights : those of the ground, if they are known.
    """
    of_legs, of_seat, of_back = (None, None, None) if heights is None else heights
    legs = find_contacts(motion.lowest, motion.hips, rate, motion.length, of_legs, _POINTS)
    points = motion.lowest.reshape(len(motion.hips), -1, 3)
    sits = find_seats(motion.seat, motion.weight, points, legs.reshape(len(legs), -1), rate, motion.length, of_seat)
    lies, hands = (np.zeros((len(legs), 0, count), dtype=bool) for count in (1, 2))
    if motion.spine is not None:
        lies = find_backs(motion.back, points, rate, motion.length, of_back)[:, None, None]
    if motion.arms:
        shoulders = np.stack([arm.hip for arm in motion.arms], 1)
        hands = find_holds(_hands(motion), shoulders, rate, motion.length, float(motion.points[..., 2].min()))
    return Touching(feet=legs[:, :, :2], knees=legs[:, :, 2:], seat=sits[:, None, None], back=lies, hands=hands)


def on_frames(touching: Touching[np.ndarray], rate: float) -> Touching[np.ndarray]:
    """The frames (F, L, K) of contacts at times (G, L, K) of the fine grid."""
    return Touching(*(fine_time.on_frames(one, rate) for one in touching))


def mended(
    ob: bpy.types.Object, own: Limbs, motion: LimbMotion, touching: Touching[np.ndarray], rate: float,
    heights: GroundHeights | None, gravity: float | None = None,
) -> tuple[dict[tuple[str, str], np.ndarray], Flights | None]:  # fmt: skip
    """The channels, as of `clip.write`, that plant what is in contact; inside the limits that bones have.

    touching : the times of contacts, and heights : those of the ground, as in `contacts`. gravity : in world units a
    second squared, by which the body falls in its flights; None leaves them as they are.
    """
    standing, held = list[np.ndarray](), touching.hands
    if heights is not None:
        known = np.where(np.isnan(heights.legs), motion.lowest[..., 2], heights.legs)
        known = known + standing_heights(motion.lowest, motion.length, heights.legs, _POINTS)
        known[..., 2] += motion.knees
        standing = list(known.swapaxes(0, 1))
    arms = [k for k in range(held.shape[1]) if held[:, k].any()]
    limbs = [*own.legs, *(own.arms[k] for k in arms)]
    found, (hips, turn) = dict[tuple[str, str], np.ndarray](), _rested(own, motion, touching, rate, heights)
    if turn is not None:
        turn = _key(ob.pose.bones[own.back.spine], motion.spine.channels, motion.spine.turns,
                    quaternion.product(turn, motion.spine.turns), found)  # fmt: skip
        motion = motion._replace(arms=[_turned_about(arm, motion.spine.joint, turn) for arm in motion.arms])
    before_them = [*motion.legs, *(motion.arms[k] for k in arms)]
    keyed = [*motion.channels[: len(own.legs)], *(motion.channels[len(own.legs) + k] for k in arms)]
    of_legs = np.concatenate([touching.feet, touching.knees], 2)
    times = [*of_legs.swapaxes(0, 1), *(held[:, k] for k in arms)]
    planted, in_air = plant_feet(before_them, times, rate, standing, hips=hips), None
    if gravity is not None:
        touches = np.any([one.any((1, 2)) for one in touching], axis=0)
        in_air = flights(motion.weight + planted.hips, touches, rate, gravity, motion.length)
        moved = fine_time.finer(planted.hips, fine_time.steps(rate)) + in_air.moves
        planted = plant_feet(before_them, times, rate, standing, hips=np.where(np.isnan(hips), moved, hips))
    location = motion.location + np.linalg.solve(motion.axes, planted.hips[..., None])[..., 0]
    found[ob.pose.bones[own.hips].name, "location"] = location
    for limb, leg, before, turns in zip(limbs, before_them, keyed, planted.turns, strict=True):
        above = np.broadcast_to(quaternion.IDENTITY, turns[:, 0].shape)  # by which the bone above is turned further
        carried = [all(ob.pose.bones[bone].bone.use_inherit_rotation for bone in path)
                   for path in _paths(own.armature, limb.bones)]  # fmt: skip
        for row, (number, is_carried) in enumerate(zip(limb.bones, [False, *carried], strict=True)):
            above = above if is_carried else np.broadcast_to(quaternion.IDENTITY, above.shape)
            posed = quaternion.product(above, leg.turns[:, row])  # as the bone would be carried
            further = _key(ob.pose.bones[number], before[:, row], posed, turns[:, row], found)
            above = quaternion.product(further, above)
    return found, in_air


def _key(
    bone: bpy.types.PoseBone, before: np.ndarray, posed: np.ndarray, wanted: np.ndarray,
    found: dict[tuple[str, str], np.ndarray],
) -> np.ndarray:  # fmt: skip
    """Add the channels of a bone turned as wanted (F, 4), inside its limits; the turns (F, 4) that are added to it.

    before : its channels. posed : (F, 4), its turns with these.
    """
    turned = rotation.to_quaternion(bone.rotation_mode, before)
    new = clip.inside_limits(bone, turned)(quaternion.product(turned, quaternion.relative(posed, wanted)))
    found[bone.name, rotation.PATHS[bone.rotation_mode]] = rotation.from_quaternion(bone.rotation_mode, new, before)
    world = quaternion.product(posed, quaternion.relative(turned, new))
    return quaternion.product(world, quaternion.conjugate(posed))


def _rested(
    own: Limbs, motion: LimbMotion, touching: Touching[np.ndarray], rate: float, heights: GroundHeights | None
) -> tuple[np.ndarray, np.ndarray | None]:  # fmt: skip
    """By how much (G, 3) the hips move so that seat and back rest, NaN elsewhere; the turns (F, 4) of the spine."""
    count, sits, lies = fine_time.steps(rate), touching.seat[:, 0, 0], touching.back.any((1, 2))
    turns = own.back is not None and own.back.spine >= 0 and bool((sits & lies).any())
    spine = motion.hips if motion.spine is None else motion.spine.joint
    trunk = TrunkPlaces(*(fine_time.finer(places, count) for places in (motion.seat, motion.back, spine)))
    of_seat = None if heights is None else fine_time.finer_heights(heights.seat, count)
    hips, turned = rested(trunk, fine_time.finer(motion.hips, count), sits, lies if turns else lies & ~sits,
                          rate * count, motion.length, of_seat, motion.thick)  # fmt: skip
    return hips, quaternion.exp(turned[::count]) if turns else None


def _turned_about(limb: Leg, joint: np.ndarray, turns: np.ndarray) -> Leg:
    """A limb turned (F, 4) about places (F, 3)."""
    hip, knee, ankle = (joint + quaternion.rotate(turns, place - joint) for place in (limb.hip, limb.knee, limb.ankle))
    return limb._replace(hip=hip, knee=knee, ankle=ankle, turns=quaternion.product(turns[:, None], limb.turns))


class LimbReport(NamedTuple):
    """Of a sort of limb: how many contacts there are, and how far what is in contact moves [heights a second].

    before, after : the motion was mended; 0 without contacts. change : the largest one of a knee, an elbow or the spine
    [rad], or of the hips' place [heights].
    """

    contacts: int
    before: float
    after: float
    change: float


class MendReport(NamedTuple):
    """What has changed between two motions. other_rate : a note about one that was likely made for another rate.

    flights, others : how many flights follow their curve, and how many spans without contacts do not fall. hips : how
    far hips move at most in flights [heights].
    """

    limbs: Touching[LimbReport]
    other_rate: Note | None = None
    flights: int = 0
    others: int = 0
    hips: float = 0.0

    @property
    def slides(self) -> tuple[float, float]:
        """How far all that is in contact moves in the mean, before and after [heights a second]."""
        count = sum(one.contacts for one in self.limbs)
        before, after = (sum(one.contacts * own for one, own in zip(self.limbs, every, strict=True)) / max(count, 1)
                         for every in zip(*((one.before, one.after) for one in self.limbs), strict=True))  # fmt: skip
        return before, after


def report(
    own: Limbs, before: LimbMotion, after: LimbMotion, touching: Touching[np.ndarray], rate: float,
    in_air: Flights | None,
) -> MendReport:  # fmt: skip
    """What has changed between two motions. touching : the frames (F, L, K) of contacts."""
    size, both = own.scale * own.armature.size, (before, after)
    scale, flown = rate / size, (0, 0, 0.0)
    if in_air is not None:
        flies = ~np.isnan(fine_time.on_frames(in_air.moves, rate)[:, 0])
        moved = np.linalg.norm(after.hips - before.hips, axis=-1)[flies]
        flown = in_air.found, in_air.others, float(moved.max(initial=0.0)) / size
    of_legs = _bends(before.legs, after.legs)
    of_hips = float(np.linalg.norm(after.hips - before.hips, axis=-1).max()) / size
    turned = [motion.spine.turns for motion in both if motion.spine is not None]
    of_spine = float(quaternion.angle(*turned).max()) if turned else 0.0
    return MendReport(Touching(
        feet=_change([motion.points[..., :2] for motion in both], of_legs, touching.feet, scale),
        knees=_change([motion.lowest[:, :, 2:, :2] for motion in both], of_legs, touching.knees, scale),
        seat=_change([motion.seat[:, None, None, :2] for motion in both], of_hips, touching.seat, scale),
        back=_change([motion.back[:, None, None, :2] for motion in both], of_spine, touching.back, scale),
        hands=_change([_hands(motion) for motion in both], _bends(before.arms, after.arms), touching.hands, scale),
    ), None, *flown)  # fmt: skip


def _hands(motion: LimbMotion) -> np.ndarray:
    """The places (F, A, 2, 3) of wrists and knuckles."""
    found = [arm.points for arm in motion.arms]
    return np.stack(found, 1) if found else np.zeros((len(motion.hips), 0, 2, 3))


def _bends(before: Sequence[Leg], after: Sequence[Leg]) -> float:
    """The largest change of a limb's bend [rad]."""
    return max((float(np.abs(bends(a) - bends(b)).max()) for a, b in zip(before, after, strict=True)), default=0.0)


def _change(places: Sequence[np.ndarray], change: float, contacts: np.ndarray, scale: float) -> LimbReport:
    """What has changed of places (F, L, K, ...) before and after."""
    if not contacts.any():
        return LimbReport(0, 0.0, 0.0, 0.0)
    count = sum(len(runs(one)) for one in contacts.reshape(len(contacts), -1).T)
    slid, slides = (scale * _slide(points, contacts) for points in places)
    return LimbReport(count, slid, slides, change)


def _slide(points: np.ndarray, contacts: np.ndarray) -> float:
    """How far points (F, L, K, ...) in contact move in the mean from a frame to the next."""
    both = contacts[1:] & contacts[:-1]
    return float(np.linalg.norm(np.diff(points, axis=0), axis=-1)[both].mean()) if both.any() else 0.0
