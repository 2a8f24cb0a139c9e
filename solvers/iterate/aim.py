# SPDX-License-Identifier: GPL-3.0-or-later
"""The best turn of one joint toward its targets, for the solvers that turn one joint after the other.

Each function minimises `sum_p w_p |t_p - R r_p|^2` over the turns `R` that the joint can make; `r_p` and `t_p` are
points and their targets seen from the joint. A ball joint with one point makes the smallest turn from `r` to `t`; with
several points this is Wahba's problem, solved by Davenport's q-method; a hinge's angle is an `atan2`.
"""

import numpy as np

from ..algebra import quaternion
from ..space.joint_space import JointSpace
from ..space.posture import Posture, Visit

STAY = 1e-9  # weight of the present orientation against the points': decides what the points leave open


def about_axis(axis: np.ndarray, points: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The best turn (F, 4) about unit axes (F, 3). points, targets : (F, P, 3). weights : (F, P)."""
    k, w = axis[:, None], weights
    level = (points * targets).sum(-1) - (points * k).sum(-1) * (targets * k).sum(-1)
    size = np.sqrt((points * points).sum(-1) * (targets * targets).sum(-1))
    cosine = (w * (level + STAY * size)).sum(-1)
    angle = np.arctan2((w * (k * quaternion.cross(points, targets)).sum(-1)).sum(-1), cosine)
    return quaternion.exp(angle[:, None] * axis)


def about_point(points: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The best turn (F, 4), and of equally good ones the smallest. points, targets : (F, P, 3). weights : (F, P).

    The quaternion is the eigenvector of the largest eigenvalue of Davenport's matrix, made of
    `B = sum_p w_p t_p r_p^T`. The identity is added to B with a small weight, like an observation of the present
    orientation.
    """
    if points.shape[1] == 1:
        return quaternion.between(points[:, 0], targets[:, 0])
    size = np.sqrt((points * points).sum(-1) * (targets * targets).sum(-1))
    stay = STAY * (weights * size).sum(-1) + np.finfo(float).tiny
    b = np.swapaxes(targets * weights[..., None], -1, -2) @ points + stay[:, None, None] * np.eye(3)
    trace = b[:, 0, 0] + b[:, 1, 1] + b[:, 2, 2]
    matrix = np.empty((len(b), 4, 4))
    matrix[:, 0, 0] = trace
    matrix[:, 0, 1:] = matrix[:, 1:, 0] = (weights[..., None] * quaternion.cross(points, targets)).sum(1)
    matrix[:, 1:, 1:] = b + np.swapaxes(b, -1, -2) - trace[:, None, None] * np.eye(3)
    _, vectors = np.linalg.eigh(matrix)
    best = vectors[:, :, -1]
    return np.where(best[:, :1] < 0.0, -best, best)


def turn(space: JointSpace, posture: Posture, visit: Visit, by: np.ndarray, share: float = 1.0) -> None:
    """Turn a joint by a share of a turn (F, 4) in the skeleton's frame, as far as its kind and its limits allow."""
    vector = share * quaternion.log(by)[..., None]
    local = quaternion.exp((np.swapaxes(posture.matrices[:, visit.joint], -1, -2) @ vector)[..., 0])
    motion = posture.state.rotations[:, visit.joint]
    posture.move(space, visit, quaternion.product(motion[:, None], local[:, None])[:, 0])
