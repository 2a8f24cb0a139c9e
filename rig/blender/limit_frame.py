# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame in which a bone's limits are measured: own axes, and the rotation of the bone at which they read zero.

By default limits are about the bone's own axes and read zero at rest. A bone that lies across its limb, as imported
ones often do, has a frame whose Y axis runs along the limb. With `F` the frame's axes in the bone's, `N` its zero and
`q` the bone's rotation from rest, the limits hold for `m = (N F)^-1 q F`. The solver's joint is the bone described in
that frame: at rest it is turned by `N F` against its parent, and it moves by `m`. NumPy only.
"""

from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from . import bulk

SAME = 1e-6  # components of quaternions that differ by less are equal


@dataclass(frozen=True)
class LimitFrame:
    """One bone's frame: unit quaternions (4,) of `axes` (F) and of `zero` (N), both in the bone's own axes at rest."""

    axes: np.ndarray
    zero: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """`N F` (4,)."""
        return quaternion.product(self.zero, self.axes)

    @cached_property
    def is_own(self) -> bool:
        """Whether these are the bone's own axes and zero is at rest."""
        return bool(np.abs(np.stack([self.axes, self.zero]) - quaternion.IDENTITY).max() < SAME)

    def turned(self, turn: np.ndarray) -> "LimitFrame":
        """The frame that allows `turn q turn^-1` where this one allows a rotation `q`. turn : (4,)."""
        zero = quaternion.product(quaternion.product(turn, self.zero), quaternion.conjugate(turn))
        return LimitFrame(quaternion.product(turn, self.axes), zero)

    def motion(self, q: np.ndarray) -> np.ndarray:
        """`m` (..., 4) of rotations `q` (..., 4) from rest."""
        return motions(q, self.start, self.axes)


OWN = LimitFrame(quaternion.IDENTITY, quaternion.IDENTITY)


def of(bone: bpy.types.PoseBone) -> LimitFrame:
    """The frame of a bone's limits; its own axes if it has no limits or the properties hold no rotation."""
    if not bone.dqik_use_limits:
        return OWN
    parts = [np.array(value, dtype=float) for value in (bone.dqik_limits_axes, bone.dqik_limits_zero)]
    if min(np.linalg.norm(part) for part in parts) < SAME:
        return OWN
    return LimitFrame(*(quaternion.normalize(part) for part in parts))


def read(bones: bpy.types.bpy_prop_collection) -> tuple[np.ndarray, np.ndarray]:
    """`start` and `axes` (N, 4) of the limits of all bones, read in bulk; rotations that have no length are none."""
    axes = quaternion.normalize(bulk.read(bones, "dqik_limits_axes", 4).astype(float))
    zero = quaternion.normalize(bulk.read(bones, "dqik_limits_zero", 4).astype(float))
    return quaternion.product(zero, axes), axes


def motions(q: np.ndarray, start: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Motions (..., S, 4) in the frames of bones with rotations `q` (..., S, 4) from rest: `start^-1 q axes`."""
    return quaternion.product(quaternion.product(quaternion.conjugate(start), q), axes)


def to_rotations(start: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Matrices (S, 4, 4) of the inverse of `motions`, which turn rows `m` (..., S, 4) into `start m axes^-1`."""
    return quaternion.both_sides(start, quaternion.conjugate(axes))
