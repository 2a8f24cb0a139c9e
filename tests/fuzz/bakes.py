# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of a bake, as a step of a walk: its frames, what lies between them, and the keys around them."""

from collections.abc import Callable, Sequence
from math import degrees, pi

import bpy
import numpy as np
import rigs
from goals import figures_behind, follows_previous, history_matters, key_of, solved_alone
from oracle import animated_bones, live_is_keyed, poses, same
from outside import other_handlers, turns_bones
from rigs import at_frame, update
from vocabulary import BrokenError, armatures, run, shown

__all__ = ["check_bake"]

Object = Callable[[], bpy.types.Object]

Curves = dict[tuple[str, int], list[tuple[float, float]]]


def check_bake(ob_of: Object, action: str, end: int) -> None:
    """A bake's frames are those that live solving shows in playback; between them nothing spins; other keys stay."""
    ob = ob_of()
    if any(live_is_keyed(one) for one in armatures()) or turns_bones():
        return
    ob.dqik.live = True
    update()
    at_frame(1)
    at_frame(2)
    alone = not any(follows_previous(one) for one in shown() if one != ob)
    if not alone or history_matters(previous=False):
        return
    live, names = {}, solved_alone(ob) - animated_bones(ob)
    chained = any(goal.target == ob and goal.subtarget in names for goal in ob.dqik.goals)
    at_frame(1)
    for frame in range(1, end + 1):
        at_frame(frame)
        if chained and not ob.dqik.status.converged:
            return  # where a goal is missed that another follows, the last digits of its bone decide
        live[frame] = {key_of(ob): poses().get(key_of(ob))}
        names &= solved_alone(ob)
    keys = rigs.keys(ob)
    if live[1][key_of(ob)] is None or "FINISHED" not in run("bake", ob, frame_start=1, frame_end=end, action=action):
        return
    ob = ob_of()
    if ob.dqik.live:
        raise BrokenError("bake", f"{ob.name!r} is live after a bake")
    if not len(ob.animation_data.nla_tracks):  # otherwise the old action may have become a track
        _others_stay(keys, rigs.keys(ob), end)
    bones, baked, turned = sorted(names), {}, {}
    for frame in range(1, end + 1):
        at_frame(frame)
        baked[frame], turned[frame] = poses()[key_of(ob)], rotations(ob, bones)
        same("bake", live[frame], {key_of(ob): baked[frame]}, f"Baked frame {frame} is not the live one", 3.0)
    continuous(turned, bones)
    if not (figures_behind(ob) or other_handlers()):
        between(ob_of, baked, bones)


def _others_stay(before: Curves, after: Curves, end: int) -> None:
    """The keys outside the baked range, of which the curves are given before and after."""
    for channel, points in before.items():
        kept = after.get(channel, [])
        for frame, value in points:
            if 1 - 1e-3 <= frame <= end + 1e-3:
                continue
            if not any(abs(frame - x) < 1e-3 and abs(value - y) < 1e-5 * (1.0 + abs(value)) for x, y in kept):
                raise BrokenError("bake", f"The key of {channel} at frame {frame:g} is gone after a bake of frames 1 "
                                          f"to {end}")  # fmt: skip


def continuous(frames: dict[float, list[tuple[str, np.ndarray]]], names: Sequence[str]) -> None:
    """Baked rotations go on from frame to frame: no quaternion changes sign, no angle jumps by more than half a turn.

    frames : rotation mode and channel of each bone of `names`.
    """
    numbers = sorted(frames)
    for first, last in zip(numbers[:-1], numbers[1:], strict=True):
        for name, (mode, a), (other, b) in zip(names, frames[first], frames[last], strict=True):
            if mode != other:
                continue
            if mode == "QUATERNION" and float(a @ b) < -1e-3:
                raise BrokenError("bake", f"The baked quaternion of {name!r} changes sign after frame {first:g}")
            jump = np.abs(b - a).max() if mode not in ("QUATERNION", "AXIS_ANGLE") else 0.0
            if jump > pi + 1e-3:
                raise BrokenError("bake", f"A baked angle of {name!r} jumps by {degrees(jump):.0f} degrees after frame "
                                          f"{first:g}")  # fmt: skip


def rotations(ob: bpy.types.Object, names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """The rotation mode and the channel of bones."""
    return [
        (one.rotation_mode, np.array(getattr(one, rigs.ROTATION_PATHS[one.rotation_mode])))
        for one in (ob.pose.bones[name] for name in names)
    ]


def between(ob_of: Object, shown_at: dict[float, np.ndarray], names: Sequence[str]) -> None:
    """Between two baked frames bones are between what they are there: no more than half the turns around, and a little.

    shown_at : evaluated matrices (N, 4, 4) of the baked frames. Only bones that turn little, in quaternions: Blender's
    automatic handles carry a jump on to the frames around it.
    """
    ob = ob_of()
    above, index = rigs.parents(ob), {one.name: k for k, one in enumerate(ob.pose.bones)}
    slow = [index[name] for name in names if ob.pose.bones[name].rotation_mode == "QUATERNION"]
    numbers = sorted(shown_at)
    each = [rigs.local_turns(shown_at[a], shown_at[b], above) for a, b in zip(numbers[:-1], numbers[1:], strict=True)]
    calm = np.degrees(np.max(each, axis=0)) < 40.0
    for k in range(1, len(numbers) - 2):
        around = [shown_at[number] for number in numbers[k - 1 : k + 3]]
        turns = [rigs.local_turns(a, b, above) for a, b in zip(around[:-1], around[1:], strict=True)]
        most = np.degrees(np.max(turns, axis=0))
        at_frame(numbers[k] + 0.5)
        half = np.degrees(rigs.local_turns(around[1], rigs.matrices(ob_of()), above))
        wrong = [number for number in slow if calm[number] and not half[number] <= 1.5 * most[number] + 2.0]
        if wrong:
            raise BrokenError("bake", f"Half a frame after {numbers[k]:g}, {ob.pose.bones[wrong[0]].name!r} is turned "
                                      f"by {half[wrong[0]]:.3g} degrees")  # fmt: skip
