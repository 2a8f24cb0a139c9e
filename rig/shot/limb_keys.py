# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of limbs that are switched between their goals and their bones, and what the frames showed before."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from .. import curves
from ..blender import animation, rotation, scene_state
from ..frame import aside
from ..setup import foot_roll
from . import holds, keys

GROUP = "DQIK"


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


def channels_of(bone: bpy.types.PoseBone) -> tuple[str, ...]:
    """The channels that pose a bone: its rotation and, if it may move, its location."""
    place, turn = keys.channels_of(bone)
    return (place, turn) if bone.dqik_translate else (turn,)


def key_bones(
    ob: bpy.types.Object, names: Iterable[str], inside: Sequence[Frame], every: Sequence[Frame],
    outside: Sequence[float],
) -> None:  # fmt: skip
    """Key bones as the frames inside show them: their rotations and, of those that may move, their places.

    every : frames on which bones without keys are keyed, so that they stay as they are there too. outside : the times
    before and after the frames inside, from where on the curves of bones with keys stay as they are.
    """
    for name in names:
        bone = ob.pose.bones[name]
        for channel in channels_of(bone):
            had_keys = keys.has_curve(bone, channel)
            some = inside if had_keys else every
            times, values = [one.time for one in some], _continuous(bone, [one.bones[name] for one in some])
            if keys.shows(bone, channel, times, values):  # new keys would change the ways between the old ones
                continue
            if had_keys:
                keys.split(bone, channel, outside)
            keys.write(bone, channel, np.array(times), values)
            if had_keys:
                _step(bone, channel, times, outside)


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
        bone, is_new = ob.pose.bones[name], not animation.moves(ob, name)
        times, values = [one.time for one in inside], _continuous(bone, [one.bones[name] for one in inside])
        for channel in channels_of(bone):
            had_keys = keys.has_curve(bone, channel)
            if keys.shows(bone, channel, times[::2], values[::2]):
                continue
            if had_keys:
                keys.split(bone, channel, outside)
            keys.write(bone, channel, np.array(times), values, halves=True)
            for time in () if had_keys else outside:
                keys.write(bone, channel, np.array([time]), [starts[name]])
            _step(bone, channel, times, outside)
        if is_new and not animation.animates(ob, curves.bone_path(name, holds.HOLD)):
            keys.write_steps(ob, curves.bone_path(name, holds.HOLD), name, outside[:1], [bone.dqik_hold])


def _step(bone: bpy.types.PoseBone, channel: str, times: Sequence[float], outside: Sequence[float]) -> None:
    """Let a pose step at both ends of the keys at some times, as the influence of its goal does."""
    keys.hold(bone, channel, [outside[0], *times[-1:]][: len(outside)])


def _continuous(
    bone: bpy.types.PoseBone, transforms: Sequence[scene_state.Transform]
) -> list[scene_state.Transform]:  # fmt: skip
    """Transforms with the rotation values nearest to those of the one before."""
    mode, at = bone.rotation_mode, scene_state.TRANSFORM.index(rotation.PATHS[bone.rotation_mode])
    found, before = list[scene_state.Transform](), None
    for one in transforms:
        values = np.array([*one[at], 0.0][:4])
        before = values if before is None else before
        before = rotation.from_quaternion(mode, rotation.to_quaternion(mode, values), before)
        found.append((*one[:at], tuple(before[: rotation.SIZES[mode]].tolist()), *one[at + 1 :]))
    return found


def starts(
    context: bpy.types.Context, ob: bpy.types.Object, names: Iterable[str]
) -> dict[str, scene_state.Transform]:  # fmt: skip
    """What bones start from at the present frame, before they are solved; it is the same on all frames without keys."""
    with aside.session(ob) as reading:
        start = aside.bake_frame(reading, ob, context.evaluated_depsgraph_get()).start
    found = dict[str, scene_state.Transform]()
    for name in names:
        number, mode = ob.pose.bones.find(name), ob.pose.bones[name].rotation_mode
        channels = dict(zip(scene_state.TRANSFORM, scene_state.transform(ob.pose.bones[name]), strict=True))
        channels[rotation.PATHS[mode]] = tuple(start.rotations[number, : rotation.SIZES[mode]].tolist())
        channels["location"] = tuple(start.locations[number].tolist())
        found[name] = tuple(channels.values())
    return found


def key_no_roll(goal: bpy.types.PropertyGroup, times: list[float], rolls: list[float]) -> None:
    """Key the roll of a goal with 0 from the second time on, up to the last one if there are three."""
    owner = foot_roll.owner(goal)
    if owner is not None and owner.id_data.library is None:
        keys.write_steps(owner.id_data, foot_roll.path_of(owner), GROUP, times, [rolls[0], 0.0, *rolls[2:]])
