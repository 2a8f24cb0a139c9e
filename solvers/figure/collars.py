# SPDX-License-Identifier: GPL-3.0-or-later
"""Collar bones, which follow raised and forward wrists by a rule: the captured ones hardly move."""

import math
from collections.abc import Sequence

import numpy as np

from ..algebra import quaternion
from .figure import RestFigure, RestLimb

REST = -0.5  # how high the wrist is, in lengths of the arm, for a collar at rest
_UP, _FORWARD = math.radians(8.0), math.radians(8.0)  # per arm's length that a wrist is up, or forward


class Collars:
    """The collars of A arms, read as left ones.

    joints : of each, those that may be turned. lines : (A, 3) from the first joint to the shoulder. gain : (A, 3).
    shares : (A, 1) of the turn that each joint takes.
    """

    def __init__(self, figure: RestFigure, arms: Sequence[RestLimb], free: np.ndarray) -> None:
        """`free` (J,) : above 0 for the joints that may be turned."""
        collars = [figure.collars.get(limb.side, ((), limb.root)) for limb in arms]
        self.joints = [[joint for joint in joints if joint >= 0 and free[joint] > 0.0] for joints, _ in collars]
        moves = np.array([[float(bool(own))] for own in self.joints]).reshape(-1, 1)
        lines = [limb.root - place for limb, (_, place) in zip(arms, collars, strict=True)]
        self.lines = np.array(lines).reshape(-1, 3) * moves
        self.gain = moves * np.array([0.0, -_FORWARD, _UP])
        self.shares = np.array([1.0 / max(len(own), 1) for own in self.joints]).reshape(-1, 1)
        self._sizes = np.array([[limb.size] for limb in arms]).reshape(-1, 1)

    def turns(self, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From the places (F, A, 3) of wrists seen from the shoulders at rest: turns (F, A, 4) of the collars' joints.

        And of the whole collars (F, A, 4), and how far these move the shoulders (F, A, 3).
        """
        up_and_forward = np.clip(reach / self._sizes, -1.0, 1.0) - [0.0, REST, 0.0]
        turn = self.gain * up_and_forward[..., [0, 2, 1]]
        whole = quaternion.exp(turn)
        return quaternion.exp(self.shares * turn), whole, quaternion.rotate(whole, self.lines) - self.lines
