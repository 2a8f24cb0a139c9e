# SPDX-License-Identifier: GPL-3.0-or-later
"""Rolled feet: their goals' targets in armature space, and those of their toes, turned about ball, toes or heel."""

from collections.abc import Sequence

import numpy as np

from ....solvers import Pose
from ....solvers.algebra import quaternion
from ....solvers.model import Targets
from ...figure import foot
from ...figure.foot import Turn
from ...skeleton.foot_roll import RolledFoot
from ...skeleton.rig import Rig


def apply(rig: Rig, rolls: Sequence[float], targets: Targets, posed: Pose | None) -> None:
    """Roll the targets of one frame, in place.

    rolls : of all goals in the panel's list. posed : as of `FrameInput`; without it, toes without a goal of their own
    keep the targets that they have.
    """
    places, turns = targets.positions[0], targets.rotations[0]
    for one in rig.rolled_feet:
        roll, k = rolls[one.index], one.goal
        axes = quaternion.IDENTITY if rig.frames is None else rig.goal_axes[k]
        unrolled = quaternion.product(turns[k], quaternion.conjugate(axes))
        if one.toes >= 0:
            _turn_toes(rig, one, roll, unrolled, targets, posed)
        if roll != 0.0:
            moved = foot.rolled(one.foot, roll)
            for leg in one.legs:
                there = quaternion.rotate(quaternion.conjugate(unrolled), places[leg] - places[k])
                places[leg] = places[k] + quaternion.rotate(unrolled, _moved(moved, there))
            places[k] += quaternion.rotate(unrolled, moved.offset)
            turns[k] = quaternion.product(quaternion.product(unrolled, moved.turn), axes)


def _turn_toes(
    rig: Rig, one: RolledFoot, roll: float, unrolled: np.ndarray, targets: Targets, posed: Pose | None
) -> None:  # fmt: skip
    """Turn the target of toes against their foot, whose target has an orientation (4,), and move it with them."""
    places, turns, goal = targets.positions[0], targets.rotations[0], rig.prepared.goals[one.toes]
    if one.loose:
        if posed is None:
            return
        rest = quaternion.product(np.array(goal.limb_rest), rig.own_rest[rig.goal_rows[one.toes]])
        turns[one.toes] = quaternion.product(rest, posed.rotations[0, goal.joint])
    if roll == 0.0:
        return
    turns[one.toes] = quaternion.product(one.against(unrolled, roll, goal.rotation_follows), turns[one.toes])
    if goal.has_place:
        origin, motion = places[one.goal], foot.together(one.foot, roll)
        there = quaternion.rotate(quaternion.conjugate(unrolled), places[one.toes] - origin)
        places[one.toes] = origin + quaternion.rotate(unrolled, _moved(motion, there))


def _moved(motion: Turn, point: np.ndarray) -> np.ndarray:
    return motion.offset + quaternion.rotate(motion.turn, point)
