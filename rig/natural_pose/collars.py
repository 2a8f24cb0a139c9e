# SPDX-License-Identifier: GPL-3.0-or-later
"""Collar bones, which follow raised and forward wrists by a rule: the captured ones hardly move."""

from collections.abc import Sequence

import numpy as np

from .figure import Figure, Limb
from .view import TURNED, products
from .weights import clipped

REST = -0.5  # how high the wrist is, in lengths of the arm, for a collar at rest
_REST = np.array([0.0, REST, 0.0])
_UP, _FORWARD = np.radians(8.0), np.radians(8.0)  # per arm's length that a wrist is up, or forward
_AXES = [1, 2, 1]  # of a wrist's place, that turn a collar about its axes


class Collars:
    """The collars of A arms, read as left ones.

    joints : of each, those that may be turned. lines : (A, 3) from the first joint to the shoulder. gain : (A, 3).
    shares : (A, 1) of the turn that each joint takes.
    """

    def __init__(self, figure: Figure, arms: Sequence[Limb], free: np.ndarray) -> None:
        """`free` (J,) : above 0 for the joints that may be turned."""
        collars = [figure.collars.get(limb.side, ((), limb.root)) for limb in arms]
        self.joints = [[joint for joint in joints if joint >= 0 and free[joint] > 0.0] for joints, _ in collars]
        moves = np.array([[float(bool(own))] for own in self.joints]).reshape(-1, 1)
        lines = [limb.root - place for limb, (_, place) in zip(arms, collars, strict=True)]
        self.lines = np.array(lines).reshape(-1, 3) * moves
        self.gain = moves * np.array([0.0, -_FORWARD, _UP])
        self.shares = np.array([1.0 / max(len(own), 1) for own in self.joints]).reshape(-1, 1)
        self._sizes = np.array([[limb.size] for limb in arms]).reshape(-1, 1)
        lines = self.lines[:, None, :, None]
        self._moved = (TURNED @ lines)[..., 0] - np.eye(4).reshape(1, 16, 1) * lines[..., 0]

    def turns(self, reach: np.ndarray) -> np.ndarray:
        """Rotation vectors (F, A, 3) from the places (F, A, 3) of wrists seen from the shoulders at rest."""
        return (clipped(reach / self._sizes, 1.0) - _REST).take(_AXES, -1) * self.gain

    def moved(self, turns: np.ndarray) -> np.ndarray:
        """How far shoulders (F, A, 3) are moved by collars' turns (F, A, 4)."""
        return (products(turns, turns)[..., None, :] @ self._moved)[..., 0, :]
