# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm of seven hinges about X, each 1 long, from the origin: its tip, and its nearest poses by SciPy."""

import numpy as np
from scipy.optimize import minimize

import solvers as ik

AT = np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1, 0.2])  # [rad] where it starts
RELUCTANCE = np.array([1, 1, 1, 1, 1, 1, 2.0])  # the joint that carries the goal is twice as reluctant


def planar_arm(limits: ik.Range | None = None, fixed_tip: bool = False, **each: object) -> ik.Skeleton:
    """The arm, perhaps with a fixed joint at its end. each : settings of the seven hinges, as `gain` or `stiffness`."""
    own = [dict(zip(each, values, strict=True)) for values in zip(*each.values(), strict=True)] or [{}] * 7
    hinges = [
        ik.Joint(f"hinge {i}", i - 1, "hinge", (0, 1.0 * (i > 0), 0), axis=(1, 0, 0), limits=limits, **settings)
        for i, settings in enumerate(own)
    ]
    return ik.Skeleton([*hinges, ik.Joint("tip", 6, "fixed", (0, 1, 0))] if fixed_tip else hinges)


def turned_about_x(skeleton: ik.Skeleton, angles: np.ndarray | float) -> ik.Pose:
    """Every joint turned about X [rad]."""
    half = 0.5 * np.broadcast_to(angles, len(skeleton))
    zero = np.zeros(len(skeleton))
    return ik.Pose(np.stack([np.cos(half), np.sin(half), zero, zero], -1), np.zeros((len(skeleton), 3)))


def angles_about_x(pose: ik.Pose) -> np.ndarray:
    """The angles (J,) [rad] of joints that turn about X."""
    return 2.0 * np.arctan2(pose.rotations[:, 1], pose.rotations[:, 0])


def tip(q: np.ndarray) -> np.ndarray:
    """Where the arm's end is, in its plane."""
    sums = np.cumsum(q)
    return np.array([np.cos(sums).sum(), np.sin(sums).sum()])


def nearest(
    weight: np.ndarray, target: np.ndarray, base: np.ndarray = AT, limits: ik.Range | None = None
) -> np.ndarray:
    """The angles that meet the target with the least `1/2 sum weight (q - base)^2`, by SciPy."""
    best = minimize(
        lambda q: 0.5 * (weight * (q - base) ** 2).sum(), AT, jac=lambda q: weight * (q - base), method="SLSQP",
        bounds=[(limits.lo, limits.hi)] * 7 if limits else None, options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda q: tip(q) - target},
    )  # fmt: skip
    assert best.success
    return best.x
