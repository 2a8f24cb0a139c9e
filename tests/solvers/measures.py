# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of the tests, independent of the code under test: errors, turns, and distances outside the limits."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation

import solvers as ik

both_solvers = pytest.mark.parametrize("solver", ["PGS", "DLS"])
EXACT = 1e-9  # what "inside the limits" means
UPRIGHT = (1.0, 0, 0, 0)


def with_kernel(*values: object) -> list:
    """Values of a parameter that .ci/run tries with the kernel alone, since NumPy takes long with so many."""
    return [pytest.param(value, marks=pytest.mark.compiled) for value in values]


def chain_of(skeleton: ik.Skeleton, goal: ik.Goal) -> np.ndarray:
    """(J,) bool: the joints that a goal may move."""
    if goal.chain is None:
        carriers = [goal.joint] if goal.target_joint is None else [goal.joint, goal.target_joint]
        return skeleton.ancestors[carriers].any(0)
    return np.isin(np.arange(len(skeleton)), goal.chain)


def goal_errors(skeleton: ik.Skeleton, pose: ik.Pose, goal: ik.Goal) -> tuple[float, float]:
    """A goal's distance and angle in a pose, by SciPy."""
    world = ik.forward(skeleton, pose)
    own = skeleton.index(goal.joint)
    turned = scipy_rotation(world.rotations[own])
    frame, origin = Rotation.identity(), np.zeros(3)
    if goal.target_joint is not None:
        joint = skeleton.index(goal.target_joint)
        frame, origin = scipy_rotation(world.rotations[joint]), world.positions[joint]
    away, turn = 0.0, 0.0
    if goal.position is not None:
        away = world.positions[own] + turned.apply(goal.offset) - origin - frame.apply(goal.position)
    if goal.rotation is not None:
        turn = (turned.inv() * frame * scipy_rotation(np.array(goal.rotation))).magnitude()
    return float(np.linalg.norm(away)), float(turn)


def turned_by(before: ik.Pose, after: ik.Pose) -> np.ndarray:
    """The angle (J,) by which each joint has turned between two poses [rad]."""
    return (scipy_rotation(before.rotations).inv() * scipy_rotation(after.rotations)).magnitude()


def degrees_of(pose: ik.Pose, joint: int = 0) -> float:
    """A hinge's angle in (-180, 180]."""
    return math.degrees(2 * math.atan2(pose.rotations[joint, 3], pose.rotations[joint, 0]))


def effector(skeleton: ik.Skeleton, pose: ik.Pose, joint: int, offset: tuple = (0, 0, 0)) -> np.ndarray:
    """World position (3,) of an effector, by SciPy."""
    world = ik.forward(skeleton, pose)
    return world.positions[joint] + scipy_rotation(world.rotations[joint]).apply(offset)


def bend_from_pole(skeleton: ik.Skeleton, pose: ik.Pose, joints: tuple[int, int, int], pole: tuple) -> float:
    """The angle about the line from root to end between the middle joint and the pole [rad]."""
    root, middle, end = ik.forward(skeleton, pose).positions[list(joints)]
    line = (end - root) / np.linalg.norm(end - root)
    flat = [point - root - line * ((point - root) @ line) for point in (middle, np.array(pole))]
    cosine = flat[0] @ flat[1] / np.linalg.norm(flat[0]) / np.linalg.norm(flat[1])
    return math.acos(np.clip(cosine, -1, 1))


def _turns_off(angle: float, lo: float, hi: float) -> float:
    """The distance of an angle from an interval, full turns disregarded."""
    if hi - lo >= 2 * np.pi - 1e-9:
        return 0.0
    return min(max(lo - a, a - hi, 0.0) for a in angle + 2 * np.pi * np.arange(-2, 3))


def _about(q: np.ndarray, axis: np.ndarray) -> float:
    """The turn about an axis that a rotation `w x y z` contains; 0 if the rest is a half turn."""
    along = q[1:] @ axis
    return 2.0 * np.arctan2(along, q[0]) if np.hypot(along, q[0]) > 1e-12 else 0.0


def outside_ellipse(swing: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> float:
    """The approximate distance of a swing (2,) outside the ellipse of limits `lo`, `hi` (2,): (level - 1) / slope."""
    square, slope = 0.0, 0.0
    for x, low, high in zip(swing, lo, hi, strict=True):
        centre = min(max(0.0, low), high)
        half = high - centre if x >= centre else centre - low
        if half <= 1e-12:
            if abs(x - centre) > 1e-9:
                return abs(x - centre)
        else:
            square += ((x - centre) / half) ** 2
            slope += ((x - centre) / half**2) ** 2
    level = np.sqrt(square)
    return float((level - 1.0) * level / np.sqrt(slope)) if level > 1.0 else 0.0


def outside_limits(skeleton: ik.Skeleton, pose: ik.Pose, joint: int) -> float:
    """How far a joint is outside the motions of its kind and its limits [rad or length units]."""
    kind, limits, axis = skeleton.kinds[joint], skeleton.joints[joint].limits, skeleton.axis[joint]
    q, slide = pose.rotations[joint], pose.translations[joint]
    if kind == "hinge":
        astray = float(np.linalg.norm(q[1:] - axis * (q[1:] @ axis)))
        return max(astray, _turns_off(_about(q, axis), limits.lo, limits.hi) if limits else 0.0)
    if kind == "prismatic":
        x = slide @ axis
        astray = float(np.linalg.norm(slide - x * axis))
        return max(astray, limits.lo - x, x - limits.hi) if limits else astray
    if kind == "fixed" or limits is None:
        return 0.0
    twist = _about(q, axis)
    swing = (scipy_rotation(q) * Rotation.from_rotvec(-twist * axis)).as_rotvec()
    # the swing's X and Z are those that the smallest turn takes along from +Y to the twist axis, about Z if opposite
    carry = np.cross([0.0, 1.0, 0.0], axis)
    carry = Rotation.from_rotvec(carry * (np.arccos(np.clip(axis[1], -1, 1)) / max(np.linalg.norm(carry), 1e-300)))
    if axis[1] < -1 + 1e-12:
        carry = Rotation.from_rotvec([0, 0, np.pi])
    lo, hi = np.transpose([limits.swing_x, limits.swing_z])
    off = 0.0 if limits.swing_free else outside_ellipse(carry.inv().apply(swing)[[0, 2]], lo, hi)
    return max(_turns_off(twist, *limits.twist), off)
