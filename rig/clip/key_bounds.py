# SPDX-License-Identifier: GPL-3.0-or-later
"""How bones and controls share the bounds of a motion whose keys are reduced: what one may be off by, time by time."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...solvers.clip import Keys
from ..setup import goals
from . import stances
from .stances import Legs
from .unbake import Bounds, Dense, misses

PASSES = 16
_ALONE = 0.96  # of the angle, for a joint on which nothing else depends
_LEVER = 0.5  # of the distance, for each of the joints that lead to an effector
_CONTROL = 0.3  # of both, for controls that move a chain together with others
_LESS = 0.85  # of what would just do, because all that are concerned give way on their own
_USED = 0.8  # of what others who are concerned use of their shares: who uses less does not give way
_LEAST = 0.01  # the smallest share


def share_out(ob: bpy.types.Object, every: Sequence[Dense], ends: Sequence[str], bounds: Bounds) -> None:
    """Give each owner its first share of the bounds, from how far the effectors that it carries are from it."""
    solved = [goal for goal in ob.dqik.goals if ob.dqik.live and not goal.mute]
    controls = {_key(target) for target in goals.target_owners(solved)}
    free = [name for name in ends if name not in {goal.bone for goal in solved}]
    scale = max(map(abs, ob.matrix_world.to_scale()))
    for one in every:
        one.shares[:] = _CONTROL if (one.ob.name, one.bone) in controls else _ALONE
        if one.ob == ob:
            carried = [name for name in free if not one.bone or _carries(ob, one.bone, name)]
            head = ob.data.bones[one.bone].head_local if one.bone else ob.data.bones[0].head_local
            levers = [scale * (ob.data.bones[name].tail_local - head).length for name in carried]
            if levers:
                one.shares[0] = min(_ALONE, _LEVER * bounds.distance / (bounds.angle * max(*levers, 1e-9)))
                one.shares[1] = _LEVER


def key_stances(
    ob: bpy.types.Object, every: Sequence[Dense], own: Legs, places: np.ndarray, rate: float
) -> None:  # fmt: skip
    """Have the bones and the controls of feet keyed where these begin and end to stand.

    places : (H, 6, 3) of the legs' marks, of which every other time is a frame. rate : frames a second.
    """
    for names, frames in zip(own.bones, stances.changes(own, places[::2], rate), strict=True):
        led = [goal for goal in ob.dqik.goals if not goal.mute and goal.bone == names[-1]]
        owners = {_key(target) for target in goals.target_owners(led)} | {(ob.name, name) for name in names}
        for one in every:
            if (one.ob.name, one.bone) in owners:
                one.must = {2 * frame for frame in frames}


def tighten(
    ob: bpy.types.Object, every: Sequence[Dense], keys: Sequence[Keys], times: np.ndarray, ends: Sequence[str],
    off: tuple[np.ndarray, np.ndarray], bounds: Bounds,
) -> set[int]:  # fmt: skip
    """Allow less, where joints or effectors are beyond the bounds, to what has led them there; the numbers of these.

    off : angles (H, N) and distances (H, E), as `Motion.differs` has them.
    """
    off_by = {(one.ob.name, one.bone): misses(one, bounds)(slice(None), own.shown(times))
              for one, own in zip(every, keys, strict=True)}  # fmt: skip
    used = {(one.ob.name, one.bone): (off_by[one.ob.name, one.bone] / one.shares).max(0) for one in every}
    excess = {key: np.zeros(len(times)) for key in used}
    for own, allowed, bones in ((off[0], bounds.angle, ob.pose.bones.keys()), (off[1], bounds.distance, ends)):
        beyond = own / allowed
        for column in np.flatnonzero((beyond > 1.0).any(0)).tolist():
            leading = [key for key in _leading(ob, bones[column]) if key in used]
            most = _USED * np.max([used[key] for key in leading], axis=0, initial=0.0)
            for key in leading:
                excess[key] = np.maximum(excess[key], np.where(used[key] >= most, beyond[:, column], 0.0))
    found = set[int]()
    for number, one in enumerate(every):
        padded = np.pad(excess[one.ob.name, one.bone], 1)
        around = np.max([padded[:-2], padded[1:-1], padded[2:]], axis=0)
        new = np.maximum(off_by[one.ob.name, one.bone] * _LESS / np.maximum(around, 1.0), _LEAST)
        less = (around > 1.0) & (new < one.shares)
        one.shares[less] = new[less]
        if less.any():
            found.add(number)
    return found


def _leading(ob: bpy.types.Object, name: str) -> set[tuple[str, str]]:
    """What leads a bone: itself, those that it hangs on, those with goals that hang on it, and the targets of these."""
    bone = ob.pose.bones[name]
    goal_bones = {goal.bone for goal in ob.dqik.goals}
    below = (one for one in bone.children_recursive if one.name in goal_bones)
    found = {(ob.name, one.name) for one in (bone, *bone.parent_recursive, *below)} | {(ob.name, "")}
    led = [goal for goal in ob.dqik.goals if not goal.mute and (ob.name, goal.bone) in found]
    return found | {_key(target) for target in goals.target_owners(led)}


def _carries(ob: bpy.types.Object, bone: str, name: str) -> bool:
    """Whether a bone is another one, or one that the other hangs on."""
    return bone == name or ob.data.bones[bone] in ob.data.bones[name].parent_recursive


def _key(owner: bpy.types.Object | bpy.types.PoseBone) -> tuple[str, str]:
    return owner.id_data.name, "" if owner == owner.id_data else owner.name
