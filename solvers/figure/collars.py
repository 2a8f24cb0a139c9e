# SPDX-License-Identifier: GPL-3.0-or-later
"""Collar bones, which follow raised and forward wrists by a rule: the captured ones hardly move.

Collar by collar in plain numbers, as limbs are.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
        self._collars = [
            _Collar(limb.size, (gain[1], gain[2]), share, tuple(line))
            for limb, gain, share, line in zip(
                arms, self.gain.tolist(), self.shares[:, 0].tolist(), self.lines.tolist(), strict=True)
        ]  # fmt: skip

    def turns(self, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From the places (F, A, 3) of wrists seen from the shoulders at rest: turns (F, A, 4) of the collars' joints.

        And of the whole collars (F, A, 4), and how far these move the shoulders (F, A, 3).
        """
        found = np.array([
            [collar.turned(*place) for collar, place in zip(self._collars, frame, strict=True)]
            for frame in reach.tolist()
        ])  # fmt: skip
        found = found.reshape(len(reach), len(self._collars), 11)
        return found[..., :4], found[..., 4:8], found[..., 8:]


class _Collar(NamedTuple):
    """One of `Collars`. size : of the arm. gain : of wrists that are forward, and of those that are up."""

    size: float
    gain: tuple[float, float]
    share: float
    line: tuple[float, float, float]

    def turned(self, _: float, up: float, forward: float) -> tuple[float, ...]:
        """`Collars.turns` of one place (3,)."""
        y = self.gain[0] * min(max(forward / self.size, -1.0), 1.0)
        z = self.gain[1] * (min(max(up / self.size, -1.0), 1.0) - REST)
        angle = math.hypot(y, z)
        if angle > 0.0:
            y, z = y / angle, z / angle
        half, own_half, line = 0.5 * angle, 0.5 * self.share * angle, self.line
        cosine, sine, own_sine = math.cos(half), math.sin(half), math.sin(own_half)
        across = y * line[2] - z * line[1], z * line[0], -y * line[0]  # the axis times the line
        moved = 2.0 * sine * cosine, 2.0 * sine * sine  # sine, and what the cosine lacks to 1
        return (
            math.cos(own_half), 0.0, own_sine * y, own_sine * z,
            cosine, 0.0, sine * y, sine * z,
            moved[0] * across[0] + moved[1] * (y * across[2] - z * across[1]),
            moved[0] * across[1] + moved[1] * z * across[0],
            moved[0] * across[2] - moved[1] * y * across[0],
        )  # fmt: skip
