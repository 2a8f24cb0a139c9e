# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that are switched between goals and bones: what frames show of them, their keys, and whether anything moved."""

from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.places import Owner
from ..clip import clip
from ..controls import goals
from ..frame import offline
from ..frame.memory.holds import KEYED, POSED
from ..frame.sessions import sessions
from ..keys import keying, splits
from ..skeleton import foot_roll
from ..skeleton.foot_roll import RolledFoot
from . import holds, keys

GROUP = "DQIK"
_SETTLE = 8.0  # frames in which a body that is held at a switch goes over to being led by its goals alone


class Frame(NamedTuple):
    """What a frame shows: its number and time, bones, influences and rolls of goals, and where targets are and belong.

    On frames that keep their goals, toes that a roll bends are as without it.
    """

    frame: float
    time: float
    bones: dict[str, scene_state.Transform]
    places: np.ndarray  # (N, 3) of the bones' heads and tails
    influences: list[float]
    rolls: list[float]
    targets: list[scene_state.Transform]
    wanted: list[scene_state.Transform]


def key_bones(ob: bpy.types.Object, names: Iterable[str], inside: Sequence[Frame], outside: Sequence[float]) -> None:
    """Key bones that have keys as the frames inside show them: their rotations and, if they may move, their places.

    outside : the times before and after the frames inside, from where on their curves stay as they are; none after
    them if the frames after are switched too.
    """
    for name in names:
        bone = ob.pose.bones[name]
        _key(bone, keys.posed_channels(bone), {one.time: one.bones[name] for one in inside}, {}, outside)


def key_limb(
    ob: bpy.types.Object, names: Iterable[str], starts: Mapping[str, scene_state.Transform], inside: Sequence[Frame],
    outside: Sequence[float],
) -> None:  # fmt: skip
    """Key the bones of a limb as the frames show them. Outside of these the bones and the rest of the body stay.

    Where a bone had no keys, it starts there as before: its keys outside have the pose that it started from, and its
    hold is keyed as it is, or the new keys would hold it. starts : of `starts`. inside : the frames to key, and those
    half way between each two. outside : as in `key_bones`.
    """
    for name in names:
        bone, is_new, hold = ob.pose.bones[name], not animation.moves(ob, name), curves.bone_path(name, holds.HOLD)
        shown = {one.time: one.bones[name] for one in inside}
        _key(bone, keys.posed_channels(bone), shown, dict.fromkeys(outside, starts[name]), outside, halves=True)
        if is_new and not animation.animates(ob, hold):
            keys.write_steps(ob, hold, name, outside[:1], [bone.dqik_hold])


def key_target(
    owner: Owner, wanted: Mapping[float, scene_state.Transform], inside: Sequence[float], outside: Sequence[float]
) -> None:  # fmt: skip
    """Key a target where it is wanted at times; its keys outside stay, and one that is there already gets none.

    inside : the times to key; a channel without keys is keyed beside them too. outside : as in `key_bones`.
    """
    beside = {time: one for time, one in wanted.items() if time not in inside}
    _key(owner, keys.channels_of(owner), {time: wanted[time] for time in inside}, beside, outside)


def _key(
    owner: Owner, channels: Iterable[str], shown: Mapping[float, scene_state.Transform],
    beside: Mapping[float, scene_state.Transform], outside: Sequence[float], halves: bool = False,
) -> None:  # fmt: skip
    """Key channels that do not show this already at times; they step at both ends, as the influence of a goal does.

    beside : for channels without keys. halves : as of `keys.write`. Where the keys go on after the last one, they begin
    there without slope.
    """
    times, part, onward = list(shown), slice(None, None, 1 + halves), len(outside) == 1
    values = _continuous(owner, shown.values(), outside[0])
    for channel in channels:
        had_keys = keys.has_curve(owner, channel)
        if keys.shows(owner, channel, times[part], values[part]):  # new keys would change the ways between the old ones
            continue
        if had_keys:
            keys.make_room(owner, channel, outside)
        keys.write(owner, channel, np.array(times), values, halves=halves)
        for time, transform in () if had_keys else beside.items():
            keys.write(owner, channel, np.array([time]), [transform])
        jumps = outside if onward else [outside[0], times[-1]]
        keys.jump(owner, channel, jumps, times[-1] if onward else None)


def _continuous(owner: Owner, transforms: Iterable[scene_state.Transform], time: float) -> list[scene_state.Transform]:
    """Transforms with the rotation values nearest to those of the one before; the first to the curves' at a time."""
    mode, path, every = owner.rotation_mode, rotation.PATHS[owner.rotation_mode], list(transforms)
    at, start = scene_state.TRANSFORM.index(path), keys.values_at(owner, path, time)
    turned = np.array([[*one[at], 0.0][:4] for one in every])
    before = turned[0] if start is None else np.array([*start, 0.0][:4])
    found = clip.continuous(mode, rotation.to_quaternion(mode, turned), before)[:, : rotation.SIZES[mode]]
    return [with_channel(one, path, own) for one, own in zip(every, found, strict=True)]


def starts(context: bpy.types.Context, ob: bpy.types.Object, names: Iterable[str]) -> dict[str, scene_state.Transform]:
    """What bones start from at the present frame, before they are solved; it is the same on all frames without keys."""
    with offline.session(ob) as reading:
        start = offline.bake_frame(reading, ob, context.evaluated_depsgraph_get()).start
    found = dict[str, scene_state.Transform]()
    for name in names:
        number, mode = ob.pose.bones.find(name), ob.pose.bones[name].rotation_mode
        moved = with_channel(scene_state.transform(ob.pose.bones[name]), "location", start.locations[number])
        found[name] = with_channel(moved, rotation.PATHS[mode], start.rotations[number, : rotation.SIZES[mode]])
    return found


def hold_body(
    ob: bpy.types.Object, names: Iterable[str], starts: Mapping[str, scene_state.Transform], inside: Sequence[Frame],
    outside: Sequence[float],
) -> None:  # fmt: skip
    """Key bones and their holds as the frames inside show them; outside they start, and are held, as before.

    starts : of `starts`. outside : as in `key_bones`. Behind the last frame inside, if nothing is behind it, the pose
    and the hold go over to what they were within `_SETTLE` frames.
    """
    times, fades = [one.time for one in inside], len(outside) == 1
    around = [outside[0], times[-1] + _SETTLE if fades else outside[1]]
    for name in names:
        bone = ob.pose.bones[name]
        curve = curves.find(ob, curves.bone_path(name, holds.HOLD), 0)
        least = KEYED if ob.dqik.hold_keyed and animation.moves(ob, name) and curve is None else 0.0
        is_keyed = curve is not None and not curve.is_empty
        before = [max(curve.evaluate(time) if is_keyed else bone.dqik_hold, least) for time in around]
        poses = _continuous(bone, (one.bones[name] for one in inside), outside[0])
        for channel in keys.posed_channels(bone):
            had_keys = keys.has_curve(bone, channel)
            if had_keys:
                keys.make_room(bone, channel, outside)
            keys.write(bone, channel, np.array(times), poses)
            for time in () if had_keys else around:
                keys.write(bone, channel, np.array([time]), _continuous(bone, [starts[name]], times[0]))
            keys.jump(bone, channel, [outside[0], *times[-1:]][: len(outside)])
            if fades:
                keys.ease(bone, channel, times[-1])
        _key_hold(bone, times, around, before, fades)


def _key_hold(
    bone: bpy.types.PoseBone, times: list[float], around: list[float], before: list[float], fades: bool
) -> None:  # fmt: skip
    """Key the hold of a bone with 1 at times, and with what it is at the two times around; its other keys stay."""
    ob, path = bone.id_data, curves.bone_path(bone.name, holds.HOLD)
    if (curve := curves.find(ob, path, 0)) is not None:
        if fades:
            after = times[-1] + curves.SAME_FRAME
            around = [around[0], min([*(time for time in curves.times([curve]) if time > after), around[1]])]
            splits.split(curve, around[1])
            before = [before[0], curve.evaluate(around[1])]
        keys.make_room(bone, holds.HOLD, around)
    keys.write_steps(ob, path, bone.name, around[:1], before[:1])
    keys.write_steps(ob, path, bone.name, times, [POSED] * len(times))
    if keying.key_at(curves.find(ob, path, 0), around[1]) is None:
        keys.write_steps(ob, path, bone.name, around[1:], before[1:])
    if fades:
        keys.ease(bone, holds.HOLD, times[-1])


def key_no_roll(goal: bpy.types.PropertyGroup, times: list[float], rolls: list[float]) -> None:
    """Key the roll of a goal with 0 from the second time on, up to the last one if there are three."""
    owner = foot_roll.owner(goal)
    if owner is not None and owner.id_data.library is None:
        keys.write_steps(owner.id_data, foot_roll.path_of(owner), GROUP, times, [rolls[0], 0.0, *rolls[2:]])


def read(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], aimed: Sequence[int],
    names: Sequence[str], visited: Sequence[float], switched: Container[float], to_ik: bool,
) -> Generator[float, None, list[Frame]]:  # fmt: skip
    """What the frames show; yields the progress from 0 to 1.

    aimed : goals whose targets are read. switched : the frames that go to goals, if to_ik, or to bones.
    """
    found: list[Frame] = []
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for count, frame in enumerate(visited, 1):
            depsgraph = visits.visit(frame)
            shown = ob.evaluated_get(depsgraph)
            own = [shown.dqik.goals[number] for number in numbers]
            influences = [0.0 if goal.mute else goal.influence for goal in own]
            bones = {name: scene_state.transform(shown.pose.bones[name]) for name in names}
            bones |= _unbent(ob, shown, numbers if frame in switched else ())
            targets, wanted = targets_of(ob, aimed), []
            rolls = [foot_roll.of(ob.dqik.goals[number]) for number in numbers]
            if to_ik:
                acting = {number for number, influence, roll in zip(numbers, influences, rolls, strict=True)
                          if influence == 1.0 and not roll}  # their targets stay, also where they are missed
                wanted = wanted_targets(ob, aimed, [number for number in aimed if number not in acting], depsgraph)
            time = context.scene.frame_current_final
            found.append(Frame(frame, time, bones, places(shown), influences, rolls, targets, wanted))
            yield count / len(visited)
    return found


def wanted_targets(
    ob: bpy.types.Object, numbers: Sequence[int], switched: Sequence[int], depsgraph: bpy.types.Depsgraph
) -> list[scene_state.Transform]:  # fmt: skip
    """The transforms of targets and poles of goals with which some ask for the present pose, without rolls."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    before = [scene_state.transform(owner) for owner in owners]
    places = goals.places(ob, switched, depsgraph, rolls=False)
    following = {number for number in places if ob.dqik.goals[number].rotation_follows > 0.0}
    for some in (following, places.keys() - following):  # toes, by their turn against the foot's control as it was
        goals.put_targets(ob, {number: places[number] for number in some}, depsgraph)
    found = targets_of(ob, numbers)
    for owner, transform in zip(owners, before, strict=True):
        scene_state.set_transform(owner, transform)
    return found


def with_toes(ob: bpy.types.Object, numbers: Sequence[int]) -> list[int]:
    """The goals, and those of the toes of rolled feet, which bend against the control instead of by the roll."""
    rig = sessions.of(ob).rig.rig
    own = [] if rig is None else [
        rig.goals[one.toes].number for one in rig.rolled_feet
        if one.index in numbers and one.toes >= 0 and not one.loose
    ]  # fmt: skip
    return list(dict.fromkeys([*numbers, *own]))


def rolled_feet(ob: bpy.types.Object) -> list[RolledFoot]:
    """The feet whose roll is in use."""
    rig = sessions.of(ob).rig.rig
    return [] if rig is None else rig.rolled_feet


def _unbent(ob: bpy.types.Object, shown: bpy.types.Object, but: Container[int]) -> dict[str, scene_state.Transform]:
    """Toes that the roll of their foot bends, as they are without it. shown : the evaluated object. but : goals."""
    rig, found = sessions.of(ob).rig.rig, dict[str, scene_state.Transform]()
    rolls = [0.0 if number in but or goal.influence == 0.0 else foot_roll.of(ob.dqik.goals[number])
             for number, goal in enumerate(shown.dqik.goals)]  # fmt: skip
    for number, back in ({} if rig is None else rig.unbent(rolls)).items():
        bone, path = shown.pose.bones[number], rotation.PATHS[shown.pose.bones[number].rotation_mode]
        values = np.array([*getattr(bone, path), 0.0][:4])
        turned = quaternion.product(back, rotation.to_quaternion(bone.rotation_mode, values))
        channels = rotation.from_quaternion(bone.rotation_mode, turned, values)[: rotation.SIZES[bone.rotation_mode]]
        found[bone.name] = with_channel(scene_state.transform(bone), path, channels)
    return found


def with_channel(transform: scene_state.Transform, path: str, values: np.ndarray) -> scene_state.Transform:
    """A transform with other values of a channel."""
    at = scene_state.TRANSFORM.index(path)
    return (*transform[:at], tuple(values.tolist()), *transform[at + 1 :])


def targets_of(ob: bpy.types.Object, numbers: Sequence[int]) -> list[scene_state.Transform]:
    """The present transforms of targets and poles of goals."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    return [scene_state.transform(owner) for owner in owners]


def places(shown: bpy.types.Object) -> np.ndarray:
    """The heads and tails (N, 3) of an evaluated object's bones, but for those of targets of its goals."""
    controls = {goal.subtarget for goal in shown.dqik.goals}
    bones = [bone for bone in shown.pose.bones if bone.name not in controls]
    return np.array([place for bone in bones for place in (bone.head, bone.tail)])


def moved(context: bpy.types.Context, ob: bpy.types.Object, before: Sequence[Frame]) -> float:
    """By how much the figure has moved at most on the frames since they were read."""
    away = 0.0
    scene_state.look_again(context.scene)
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for one in before:
            now = places(ob.evaluated_get(visits.visit(one.frame)))
            away = max(away, float(np.linalg.norm(now - one.places, axis=-1).max()))
    return away
