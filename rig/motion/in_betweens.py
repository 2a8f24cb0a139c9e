# SPDX-License-Identifier: GPL-3.0-or-later
"""In-Betweens: the frames between the keyed poses of a figure, as people move, with feet that stand."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import Leg, fine_time, foot_contacts, in_betweens, plant_feet, raise_feet, runs
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.dependencies import acts
from ..clip import clip, person_frames
from ..clip.person_frames import SIDES, Person
from ..figure import ends
from ..figure.body import RestBody
from ..figure.character import Character
from ..keys import keyable
from ..notes import Code, Note, Refused
from ..shot import attachable, keys
from . import in_between_targets, retarget
from .in_between_targets import KeyedTarget, Placed, Trajectory

_WHOLE = 0.01  # frames: keys that are nearer to a whole frame are on it
_TRUNK = (("hips", (0,)), ("spine", (1, 2, 3)), ("neck", (4, 5, 6)))  # chains, and the numbers of their parts
_ARM = ("arm", "forearm", "hand")
_LEAST = 1e-12
_SAME = 1e-4  # rotation channels that differ by less are the same
_AS_KEYED = 2e-3  # [rad], and of a bone's length: nearer to its keys a bone is shown as it is keyed


class Limbed(NamedTuple):
    """A figure whose keyed poses are known: its bones and the numbers of their parts, and the bone that moves it.

    joints : pairs of points of the lines of `in_betweens.KeyPoses`, each a bone and a place in armature space at rest.
    targets : those of its goals that have keys, while Live follows them. led : the bones that goals may move then.
    """

    person: Person
    bones: list[int]
    parts: np.ndarray
    mover: int
    joints: list[tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]]
    targets: list[KeyedTarget]
    led: set[str]

    @property
    def objects(self) -> list[bpy.types.Object]:
        """The objects of the targets."""
        return list(dict.fromkeys(target.ob for target in self.targets))


class Poses(NamedTuple):
    """World turns from rest (F, N, 4) and heads (F, N, 3) of all bones."""

    turns: np.ndarray
    heads: np.ndarray


def figure(ob: bpy.types.Object) -> Limbed:
    """The parts of an armature object. Raises `Refused` if they are not known, or not moved by keys alone."""
    person = person_frames.of(ob)
    chains, body = person.chains, Character.of(ob).body
    needed = [("spine", "", 0), ("neck", "", 0), *((part, side, 0) for side in SIDES for part in _ARM)]
    if person.four or not all(key in chains for key in needed):
        raise Refused(Note("{} is no whole person: In-Betweens needs hips, spine, head, arms and legs, by their Role "
                           "in the Bone panel", repr(ob.name)))
    found = dict[int, int]()
    for name, numbers in _TRUNK:
        chain = chains[name, "", 0]
        at = np.rint(np.linspace(0, len(numbers) - 1, len(chain)) if len(chain) > 1 else [len(numbers) - 1])
        found.update({bone: numbers[int(number)] for bone, number in zip(chain, at, strict=True)})
    for side, start in zip(SIDES, (7, 15), strict=True):
        for number, part in enumerate(in_betweens.LIMB_PARTS, start):
            found.update(dict.fromkeys(chains.get((part, side, 0), [])[:1], number))
    order = sorted(found, key=person.armature.tree.depth)
    live = ob.dqik.live
    own = Limbed(person, order, np.array([found[bone] for bone in order]), retarget.carrier(ob, person),
                 _joints(person, body), in_between_targets.keyed(ob) if live else [],
                 attachable.solved_bones(ob) if live else set())  # fmt: skip
    _check(ob, own)
    return own


def _joints(person: Person, body: RestBody) -> list[tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]]:
    heads, chains = person.armature.heads, person.chains

    def head(bone: int) -> tuple[int, np.ndarray]:
        return bone, heads[bone]

    def end(bone: int) -> tuple[int, np.ndarray]:
        return bone, ends.of(body, bone)

    hips, chest = chains["hips", "", 0][0], chains["spine", "", 0][-1]
    neck, skull = chains["neck", "", 0][0], chains["neck", "", 0][-1]
    found = [(head(hips), head(chest)), (head(chest), head(neck)), (head(neck), head(skull)), (head(skull), end(skull))]
    if neck == skull:
        found[2] = found[3]
    for side, leg in zip(SIDES, person.legs, strict=True):
        bones = {part: chains[part, side, 0][0] for part in in_betweens.LIMB_PARTS if (part, side, 0) in chains}
        collar = bones.get("collar", chest)
        foot, ball = heads[bones["foot"]], (bones["foot"], heads[bones["foot"]] + leg.ball)
        toes = (head(bones["toes"]), end(bones["toes"])) if "toes" in bones else ((leg.foot, foot + leg.heel), ball)
        found += [(head(collar), head(bones["arm"])), (head(bones["arm"]), head(bones["forearm"])),
                  (head(bones["forearm"]), head(bones["hand"])), (head(bones["hand"]), end(bones["hand"])),
                  (head(bones["thigh"]), head(bones["shin"])), (head(bones["shin"]), head(bones["foot"])),
                  (head(bones["foot"]), head(bones["toes"]) if "toes" in bones else ball), toes]  # fmt: skip
    left, right = (leg.thigh for leg in person.legs)
    return [*found, (head(right), head(left))]


def _check(ob: bpy.types.Object, own: Limbed) -> None:
    """Raise `Refused` if a bone cannot be keyed, or something else than keys moves it."""
    names, driven = [ob.pose.bones[bone].name for bone in own.bones], animation.animation(ob).driven
    for name in names:
        if any(map(acts, ob.pose.bones[name].constraints)) or name in driven:
            raise Refused(Note(Code.PLACE_NOT_OWN, repr(name)))
    if Character.of(ob).figure.loose:
        raise Refused(Note(Code.LOOSE_ENDS, repr(ob.name)))
    if curves.action_of(ob) is None:
        raise Refused(Note("{} has no keyed poses: key some first", repr(ob.name)))
    for each in dict.fromkeys([ob, *own.objects]):
        keyable.check(each, _paths(each, own, ob), copied=True)


def _paths(ob: bpy.types.Object, own: Limbed, figure_ob: bpy.types.Object) -> list[str]:
    """The channels of an object, the figure's or that of targets, that get keys."""
    found = [curves.path_of(target.owner, path) for target in own.targets if target.ob == ob for path in target.paths]
    if ob != figure_ob:
        return found
    bones = [ob.pose.bones[bone] for bone in own.bones]
    turned = [curves.path_of(bone, rotation.PATHS[bone.rotation_mode]) for bone in bones]
    return [*found, *turned, curves.bone_path(ob.pose.bones[own.mover].name, "location")]


def key_frames(ob: bpy.types.Object, own: Limbed) -> list[int]:
    """The frames of keyed poses: those on which any bone or target of the figure has keys that show.

    Raises `Refused` if they lie between whole frames.
    """
    every = dict.fromkeys([ob, *own.objects])
    loose = [bone.name for bone in map(ob.pose.bones.__getitem__, own.bones) if not bone.bone.use_connect]
    moved = [curves.bone_path(name, "location") for name in loose]  # theirs stay, but make a pose too
    times = curves.times(curve for each in every for curve in curves.keyed(each, [*_paths(each, own, ob), *moved]))
    frames = [round(time) for time in times]
    if any(abs(time - frame) > _WHOLE for time, frame in zip(times, frames, strict=True)):
        raise Refused(Note("Keys of {} lie between whole frames: snap them first (Key > Snap in the Dope Sheet)",
                           repr(ob.name)))
    return frames


class InBetween(NamedTuple):
    """The channels of each object, as of `clip.write`, and how many stances there are."""

    values: dict[bpy.types.Object, dict[tuple[str, str], np.ndarray]]
    stances: int


def between(
    ob: bpy.types.Object, own: Limbed, shown: Mapping[bpy.types.Object, clip.Clip], frames: Sequence[int],
    keyed: Sequence[int], scene: bpy.types.Scene, plant: bool,
) -> InBetween:  # fmt: skip
    """The channels on whole frames from the first key to the last.

    shown : what Blender shows on these frames of the figure and of `own.objects`. keyed : which of them have keys.
    plant : whether feet stand. Raises `Refused` if goals move all bones that have keys.
    """
    rate, times = scene_state.rate(scene), scene_state.times(scene, frames)
    gaps = in_between_targets.Gaps.of(frames, keyed, times)
    body = shown[ob].body(own.person.armature.rest)
    before, rows = Poses(body.turns, body.heads), gaps.rows
    unit = shown[ob].unit * retarget.size(own.person, body)
    poses = _key_poses(own, Poses(before.turns[rows], before.heads[rows]), np.asarray(keyed) / rate, unit)
    found = in_betweens.in_betweens(poses, np.asarray(frames) / rate)
    sure, there = gaps.eased(in_betweens.trust(poses)), before.turns[:, own.bones]
    further = quaternion.log(quaternion.relative(there, found.turns))
    made = quaternion.product(there, quaternion.exp(sure[..., None] * further))
    turns = dict(zip(own.bones, made.swapaxes(0, 1), strict=True))
    shift = found.hips - _hips(own, _posed(ob, own, before, turns, np.zeros((len(frames), 3))))
    count = 0
    if plant:
        shift, count = _plant(own, partial(_posed, ob, own, before), turns, shift, poses, rows, rate, unit)
    new = _channels(ob, own, shown[ob], before, turns, shift, rows)
    if not own.led:
        return InBetween({ob: new}, count)
    new = _where_keyed(ob, new, shown[ob], gaps)
    if not (new or own.targets):
        keyable.refuse(attachable.hidden_by_live(ob, [ob.pose.bones[bone].name for bone in own.bones]))
    posed = _posed(ob, own, before, turns, shift)
    return InBetween(_with_targets(ob, own, shown, posed, unit, gaps, new), count)


def _plant(
    own: Limbed, posed: Callable[[Mapping[int, np.ndarray], np.ndarray], Poses], turns: dict[int, np.ndarray],
    shift: np.ndarray, poses: in_betweens.KeyPoses, rows: np.ndarray, rate: float, unit: float,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """Turn the legs so that feet stand and stay above the ground; the new shift of the hips, and the number of stances.

    posed : the figure with some turns and a shift. poses : at the keys, which are some rows.
    """

    def legs() -> list[Leg]:
        now = posed(turns, shift)
        return [_leg(now, leg.bones, unit * leg.heel, unit * leg.ball) for leg in own.person.legs]

    def turn(new: Sequence[np.ndarray]) -> None:
        for leg, each in zip(own.person.legs, new, strict=True):
            turns.update(zip(leg.bones, each.swapaxes(0, 1), strict=True))

    before = legs()
    odds = foot_contacts.contact_odds(poses, poses.times[0] + np.arange(len(shift)) / rate)
    stands = foot_contacts.stances(odds, np.stack([leg.points for leg in before], 1), rows, poses.leg, rate)
    stands = foot_contacts.in_reach(stands, before, rows)
    fine = fine_time.finer_mask(stands, fine_time.steps(rate))
    planted = plant_feet(before, list(fine.swapaxes(0, 1)), rate, kept=rows, hips_cost=foot_contacts.HIPS_COST)
    turn(planted.turns)
    shift = shift + planted.hips
    ground = foot_contacts.ground(poses, stands, rows)
    turn([raise_feet(leg, ground, rate, rows) for leg in legs()])
    return shift, sum(len(runs(stands[:, side].any(-1))) for side in (0, 1))


def _where_keyed(
    ob: bpy.types.Object, new: Mapping[tuple[str, str], np.ndarray], shown: clip.Clip, gaps: in_between_targets.Gaps
) -> dict[tuple[str, str], np.ndarray]:  # fmt: skip
    """The new channels of the bones that have keys, between poses that are shown as they are keyed.

    Others are moved by goals there: their curves stay as they are.
    """
    found = dict[tuple[str, str], np.ndarray]()
    for (name, path), values in new.items():
        bone = ob.pose.bones[name]
        if not keys.curves_of(bone, path):
            continue
        number, kept = ob.pose.bones.find(name), in_between_targets.values(bone, path, gaps.times)
        if path == "location":
            away = np.abs(shown.locations[:, number] - kept).max(-1) / bone.length
        else:
            away = quaternion.angle(shown.quaternions[:, number], rotation.to_quaternion(bone.rotation_mode, kept))
        changes = gaps.in_all(away[gaps.rows] < _AS_KEYED)
        if changes.any():
            found[name, path] = in_between_targets.mixed(path, values, kept, changes, gaps.rows)
    return found


def _with_targets(
    ob: bpy.types.Object, own: Limbed, shown: Mapping[bpy.types.Object, clip.Clip], posed: Poses, unit: float,
    gaps: in_between_targets.Gaps, new: dict[tuple[str, str], np.ndarray],
) -> dict[bpy.types.Object, dict[tuple[str, str], np.ndarray]]:  # fmt: skip
    """The channels of bones, and those of all targets, those first that others hang on."""
    found, moved, rest = {ob: new}, own.led | {name for name, _ in new}, own.person.armature.rest
    placed = {each: Placed(each, shown[each]) for each in own.objects if each.type == "ARMATURE"}
    for number, bone in enumerate(ob.pose.bones if ob in placed else ()):
        if bone.name in moved:
            turned = quaternion.product(posed.turns[:, number], quaternion.from_matrix(rest[number, :3, :3]))
            placed[ob].put(number, Trajectory(turned, posed.heads[:, number]))
    for target in sorted(own.targets, key=lambda one: len(one.owner.parent_recursive) if one.bone else 0):
        bone = Trajectory(posed.turns[:, target.beside], posed.heads[:, target.beside])
        own_way = in_between_targets.trajectory(target, shown[target.ob], bone, unit, gaps)
        among = placed[target.ob] if target.bone else None
        found.setdefault(target.ob, {}).update(
            in_between_targets.channels(target, shown[target.ob], own_way, among, gaps))
    return found


def _leg(poses: Poses, bones: Sequence[int], heel: np.ndarray, ball: np.ndarray) -> Leg:
    """A leg of three bones on all frames. heel, ball : (3,), in the foot's frame."""
    hip, knee, ankle = poses.heads[:, bones].swapaxes(0, 1)
    return Leg(hip, knee, ankle, poses.turns[:, bones], heel, ball)


def _hips(own: Limbed, poses: Poses) -> np.ndarray:
    """The place (F, 3) between the hip joints."""
    return poses.heads[:, [leg.thigh for leg in own.person.legs]].mean(1)


def _key_poses(own: Limbed, poses: Poses, times: np.ndarray, unit: float) -> in_betweens.KeyPoses:
    """What is told of K poses at times (K,) [s]. unit : the scale of the figure, below 0 if it is mirrored."""

    def place(point: tuple[int, np.ndarray]) -> np.ndarray:
        bone, at = point
        line = unit * (at - own.person.armature.heads[bone])
        return poses.heads[:, bone] + quaternion.rotate(poses.turns[:, bone], np.broadcast_to(line, (len(times), 3)))

    lines = np.stack([place(b) - place(a) for a, b in own.joints], 1)
    lines /= np.maximum(np.linalg.norm(lines, axis=-1, keepdims=True), _LEAST)
    feet = np.stack([np.stack([place((leg.foot, own.person.armature.heads[leg.foot] + point))
                               for point in (leg.heel, leg.ball)], 1) for leg in own.person.legs], 1)  # fmt: skip
    return in_betweens.KeyPoses(times, own.parts, poses.turns[:, own.bones], _hips(own, poses), lines, feet,
                                abs(unit) * own.person.leg, facing=float(np.sign(unit)))  # fmt: skip


def _posed(
    ob: bpy.types.Object, own: Limbed, before: Poses, turns: Mapping[int, np.ndarray], shift: np.ndarray
) -> Poses:
    """All bones if some have other world turns (F, 4), and what moves the figure is moved by `shift` (F, 3)."""
    armature = own.person.armature
    new = Poses(before.turns.copy(), before.heads.copy())
    for bone in sorted(range(len(armature.parent)), key=armature.tree.depth):
        above = int(armature.parent[bone])
        if above >= 0:
            change = quaternion.product(new.turns[:, above], quaternion.conjugate(before.turns[:, above]))
            line = before.heads[:, bone] - before.heads[:, above]
            new.heads[:, bone] = new.heads[:, above] + quaternion.rotate(change, line)
            if ob.pose.bones[bone].bone.use_inherit_rotation:
                new.turns[:, bone] = quaternion.product(change, before.turns[:, bone])
        if bone in turns:
            new.turns[:, bone] = turns[bone]
        if bone == own.mover:
            new.heads[:, bone] += shift
    return new


def _channels(
    ob: bpy.types.Object, own: Limbed, shown: clip.Clip, before: Poses, turns: Mapping[int, np.ndarray],
    shift: np.ndarray, rows: np.ndarray,
) -> dict[tuple[str, str], np.ndarray]:  # fmt: skip
    """The channels of bones with other world turns, inside their limits; on rows of keys as they are."""
    found, inside = dict[tuple[str, str], np.ndarray](), dict[int, np.ndarray]()
    for bone in own.bones:
        pose_bone = ob.pose.bones[bone]
        mode, own_before = pose_bone.rotation_mode, shown.rotations[:, bone].astype(float)
        without = _posed(ob, own, before, inside, np.zeros_like(shift)).turns[:, bone]  # as those above carry it
        turned = rotation.to_quaternion(mode, own_before)
        rest = quaternion.from_matrix(own.person.armature.rest[bone, :3, :3])
        by = quaternion.relative(quaternion.product(without, rest), quaternion.product(turns[bone], rest))
        new = clip.inside_limits(pose_bone, turned)(quaternion.product(turned, by))
        new[rows] = turned[rows]
        inside[bone] = quaternion.product(without, quaternion.product(rest, quaternion.product(
            quaternion.relative(turned, new), quaternion.conjugate(rest))))  # fmt: skip
        after = clip.continuous(mode, new, own_before[0])
        same = np.abs(after[rows] - own_before[rows]).max(-1, keepdims=True) < _SAME
        after[rows] = np.where(same, own_before[rows], after[rows])
        found[pose_bone.name, rotation.PATHS[mode]] = after
    location = shown.locations[:, own.mover].astype(float)
    axes = shown.channel_space(own.mover)[:, :3, :3]
    moved = location + np.linalg.solve(axes, shift[..., None])[..., 0]
    moved[rows] = location[rows]
    found[ob.pose.bones[own.mover].name, "location"] = moved
    return found
