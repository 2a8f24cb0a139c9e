# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of limbs that are switched between their goals and their bones."""

from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np

from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.places import Owner
from ..clip import clip
from ..frame import offline
from ..frame.memory.holds import KEYED, POSED
from ..keys import keying, splits
from ..skeleton import foot_roll
from . import holds, keys
from .limb_frames import Frame, with_channel

GROUP = "DQIK"
_SETTLE = 8.0  # frames in which a body that is held at a switch goes over to being led by its goals alone


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
