# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which goals are met, with SciPy alone, independently of the solvers' own code and reports."""

from collections.abc import Sequence
from dataclasses import dataclass

import measures
import numpy as np
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation
from workload_suite import Workload

import solvers as ik

ROUNDING = 1.0 + 1e-6
LIMIT_SLACK = 1e-6  # [rad or length units] an answer further outside the limits does not count
SURE = 1.96  # standard deviations: 95 %


@dataclass(frozen=True)
class Verdict:
    """Of F answers: distances and angles (F, G) from the goals, how far (F,) the worst joint is outside its limits."""

    distances: np.ndarray
    angles: np.ndarray
    outside: np.ndarray
    met: np.ndarray  # (F,) bool: every goal within its tolerance, every joint within its limits


def judged(workload: Workload, poses: Sequence[ik.Pose], frames: Sequence[int]) -> Verdict:
    """Judge the answers to some frames of a workload."""
    skeleton, goals = workload.skeleton, workload.goals
    positions, rotations = forward(skeleton, poses)
    distances, angles = np.zeros((2, len(poses), len(goals)))
    for g, goal in enumerate(goals):
        turned = scipy_rotation(rotations[:, goal.joint])
        if goal.position is not None:
            place = positions[:, goal.joint] + turned.apply(goal.offset)
            distances[:, g] = np.linalg.norm(place - workload.positions[frames, g], axis=-1)
        if goal.rotation is not None:
            angles[:, g] = (turned.inv() * scipy_rotation(workload.rotations[frames, g])).magnitude()
    outside = np.array([max(measures.outside_limits(skeleton, p, j) for j in range(len(skeleton))) for p in poses])
    near = (distances <= ROUNDING * workload.tolerance) & (angles <= ROUNDING * workload.rotation_tolerance)
    return Verdict(distances, angles, outside, near.all(-1) & (outside <= LIMIT_SLACK))


def forward(skeleton: ik.Skeleton, poses: Sequence[ik.Pose]) -> tuple[np.ndarray, np.ndarray]:
    """World positions (F, J, 3) and rotations (F, J, 4) of joints that all follow their parents."""
    positions, rotations = np.zeros((len(poses), len(skeleton), 3)), np.zeros((len(poses), len(skeleton), 4))
    for j in skeleton.order:
        joint = skeleton.joints[j]
        moved = scipy_rotation(np.array([pose.rotations[j] for pose in poses]))
        slid = np.array([pose.translations[j] for pose in poses])
        rest, parent = scipy_rotation(np.array(joint.rest, dtype=float)), joint.parent
        above = Rotation.identity() if parent < 0 else scipy_rotation(rotations[:, parent])
        base = np.zeros(3) if parent < 0 else positions[:, parent]
        positions[:, j] = base + above.apply(np.array(joint.offset, dtype=float) + rest.apply(slid))
        rotations[:, j] = (above * rest * moved).as_quat(scalar_first=True)
    return positions, rotations


def joint_steps(rotations: np.ndarray) -> np.ndarray:
    """The angles (F - 1, J) by which each joint of a motion (F, J, 4) turns from frame to frame [rad]."""
    before, after = (scipy_rotation(part.reshape(-1, 4)) for part in (rotations[:-1], rotations[1:]))
    return (before.inv() * after).magnitude().reshape(len(rotations) - 1, -1)


def likely_share(met: int, of: int) -> tuple[float, float]:
    """Wilson's interval, which contains the true share in 95 of 100 such samples."""
    share, square = met / of, SURE**2 / of
    middle, half = share + 0.5 * square, SURE * np.sqrt(share * (1.0 - share) / of + square / (4.0 * of))
    return max((middle - half) / (1.0 + square), 0.0), min((middle + half) / (1.0 + square), 1.0)
