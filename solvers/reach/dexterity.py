# SPDX-License-Identifier: GPL-3.0-or-later
"""The orientations that the last turning joint of a chain can give its bone, out of a set spread over all rotations.

The *dexterous* workspace holds the places that are reached in every orientation (Kumar & Waldron 1981): from every
direction and with every roll. A sampled posture shows one orientation only. So the last joint is not sampled: for each
posture of the joints above it, each rotation of the set is tested against its limits, which tells exactly which of them
it can make and where the goal's point is then.
"""

from dataclasses import dataclass

import numpy as np

from ..algebra import quaternion, rotations
from ..model.limits import FULL_TURN, Range, TwistSwing, locate
from ..model.skeleton import Joint

ROTATIONS = 128  # that are tested
NARROW = np.radians(15.0)  # limits closer together than twice this count as that wide: no sampled posture fits them


@dataclass(frozen=True)
class Wrist:
    """A joint and the point that it carries.

    point : (3,) in the joint's frame. align : (4,) from the Y axis to the joint's axis. lo, hi : (3,) limits of the
    twist about that axis and of the swings. is_free : (2,) bool, whether twist and swing have no limits.
    """

    point: np.ndarray
    align: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    is_free: np.ndarray

    @staticmethod
    def of(joint: Joint, axis: np.ndarray, point: np.ndarray) -> "Wrist":
        """The wrist that a ball or a hinge with this `axis` (3,) is."""
        free, none = (-np.pi, np.pi), (0.0, 0.0)
        if isinstance(joint.limits, TwistSwing):
            ranges = [joint.limits.twist, joint.limits.swing_x, joint.limits.swing_z]
        elif isinstance(joint.limits, Range):
            ranges = [(joint.limits.lo, joint.limits.hi), none, none]
        else:
            ranges = [free, *([none, none] if joint.kind == "hinge" else [free, free])]
        lo, hi = np.array(ranges).T
        is_free = hi - lo > FULL_TURN - 1e-9
        middle, half = 0.5 * (lo + hi), np.maximum(0.5 * (hi - lo), NARROW)
        align = quaternion.between(np.array([0.0, 1.0, 0.0]), axis)
        return Wrist(point, align, middle - half, middle + half, np.array([is_free[0], is_free[1:].all()]))

    def allowed(self, frames: np.ndarray, turned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs (K,), (K,) of frames (M, 4) and orientations (N, 4) between which the joint can turn.

        With `q = swing * twist` and `q = (w, x, y, z)` the twist about Y is that of `(w, y)`, whose length `h` is the
        cosine of half the swing, and the swing's axis lies along `(x w + z y, z w - x y) / h`.
        """
        back = _left(quaternion.conjugate(quaternion.product(frames, self.align)))
        motions = back @ quaternion.product(turned, self.align).T  # (M, 4, N)
        w, y = motions[:, 0], motions[:, 2]
        inside = np.ones(w.shape, dtype=bool)
        if not self.is_free[0]:
            middle, half = 0.25 * (self.lo[0] + self.hi[0]), 0.25 * (self.hi[0] - self.lo[0])
            along = w * np.cos(middle) + y * np.sin(middle)
            inside = along * along >= np.cos(half) ** 2 * (w * w + y * y)
        frame, number = np.nonzero(inside)
        if not self.is_free[1]:
            w, x, y, z = motions[frame, :, number].T
            h = np.maximum(np.sqrt(w * w + y * y), 1e-12)
            axis = np.stack([x * w + z * y, z * w - x * y], -1) / h[:, None]
            sine = np.sqrt((axis * axis).sum(-1))
            swing = axis * (2.0 * np.arctan2(sine, h) / np.maximum(sine, 1e-12))[:, None]
            inside = locate(swing, self.lo[1:], self.hi[1:]).level <= 1.0
            frame, number = frame[inside], number[inside]
        return frame, number


class Orientations:
    """The set of rotations, and where a wrist brings its point with each of them."""

    def __init__(self, wrist: Wrist, count: int = ROTATIONS) -> None:
        self._wrist, self._rotations = wrist, rotations.spread(count)
        self._ways = quaternion.rotate(self._rotations, np.broadcast_to(wrist.point, (count, 3)))

    def __len__(self) -> int:
        return len(self._rotations)

    def reached(self, heads: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers (K,) of rotations that postures can make, and the places (K, 3) of the point then.

        heads : (M, 3) of the joint. frames : (M, 4) its orientations while it does not turn.
        """
        posture, number = self._wrist.allowed(frames, self._rotations)
        return number, heads[posture] + self._ways[number]


def _left(q: np.ndarray) -> np.ndarray:
    """Matrices (M, 4, 4) that multiply quaternions from the left by those of `q` (M, 4)."""
    w, x, y, z = q.T
    rows = [w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]
    return np.stack([np.stack(row, -1) for row in rows], -2)
