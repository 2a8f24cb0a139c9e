# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs of the kinds of tasks: their setup, and the kinematics that errors and Jacobians read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...model.goals import Goal
from ...model.skeleton import Skeleton
from ..joint_space import JointSpace
from ..poles import Pole

ROTATION_LENGTH = 0.25  # [skeleton lengths / rad]
PRIORITY_STEP = 6.0  # weight of one priority over the next lower: more makes descents slow
PRIORITY_SPAN = 1000.0  # largest weight of the highest over the lowest: beyond it the squares lose their digits


class Setup(NamedTuple):
    """The G goals of a stage, and the n degrees of freedom that may move."""

    skeleton: Skeleton
    goals: Sequence[Goal]
    space: JointSpace
    poles: Sequence[Pole]
    joint: np.ndarray  # (G,) joint that carries each effector
    moves: np.ndarray  # (G, n) 1 where a degree of freedom belongs to the goal's chain
    scale: np.ndarray  # (G,) weight of each goal's priority


class Kinematics(NamedTuple):
    """A state's world transforms, as errors and Jacobians read them."""

    matrices: np.ndarray  # (F, J, 3, 3)
    positions: np.ndarray  # (F, J, 3)
    rotations: np.ndarray  # (F, J, 4)
    effectors: np.ndarray  # (F, G, 3)


class Columns(NamedTuple):
    """The velocities of the degrees of freedom, as twists about the origin: `v(x) = moments + axes x x`."""

    axes: np.ndarray  # (F, 3, n) u, 0 for slides
    moments: np.ndarray  # (F, 3, n) p x u, the direction for slides


def priority_weights(priorities: Sequence[int]) -> np.ndarray:
    """Row weights (G,) of goals of these priorities: `PRIORITY_STEP` per level, `PRIORITY_SPAN` in all at most."""
    levels = sorted(set(priorities))
    step = min(PRIORITY_STEP, PRIORITY_SPAN ** (1.0 / max(len(levels) - 1, 1)))
    return np.array([step ** levels.index(priority) for priority in priorities])
