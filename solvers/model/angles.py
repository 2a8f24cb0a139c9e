# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat joint values: one number per degree of freedom, joints in the skeleton's order.

A hinge has its angle [rad], a slide its length, a ball the three numbers of its rotation vector [rad], a fixed joint
none. The columns of the Jacobians are in the same order.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..algebra import arctan2, quaternion
from .errors import InvalidPose
from .limits import FULL_TURN, Range
from .numbers import array, shown
from .skeleton import Pose, Skeleton, check_skeleton


def column_joints(skeleton: Skeleton) -> np.ndarray:
    """The joint (n,) that each joint value, and each column of a Jacobian, belongs to.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("shoulder", -1, "ball", (0, 0, 0)), ik.Joint("elbow", 0, "hinge", (0, 1, 0))])
    >>> ik.column_joints(arm).tolist()
    [0, 0, 0, 1]
    """
    check_skeleton(skeleton)
    return np.repeat(np.arange(len(skeleton)), skeleton.freedoms)


def column_axes(skeleton: Skeleton) -> np.ndarray:
    """Each joint value's axis (n, 3) in its joint's own frame; a ball has X, Y and Z."""
    axes = [np.eye(3) if skeleton.balls[joint] else skeleton.axis[joint : joint + 1]
            for joint in np.flatnonzero(skeleton.freedoms)]  # fmt: skip
    return np.concatenate(axes) if axes else np.zeros((0, 3))


def pose_from_angles(skeleton: Skeleton, q: ArrayLike) -> Pose:
    """The pose of flat joint values.

    Parameters
    ----------
    q : (n,) or (F, n), joints in the skeleton's order: an angle [rad] for a hinge, a length for a slide, a rotation
        vector of three numbers [rad] for a ball, none for a fixed joint.

    Returns
    -------
    `Pose` of (J, 4) and (J, 3), or of (F, J, 4) and (F, J, 3). Limits are not applied.

    Raises
    ------
    InvalidPose : for numbers that are not finite, or not n a frame.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> pose = ik.pose_from_angles(arm, [0, 0, 0.5, 1.2])
    >>> ik.angles_from_pose(arm, pose).round(3).tolist()
    [0.0, 0.0, 0.5, 1.2]
    """
    joints, axes = column_joints(skeleton), column_axes(skeleton)
    try:
        values = array(q)
    except ValueError:
        raise InvalidPose(f"q: expected numbers of shape ({len(joints)},), got {shown(q)}") from None
    if values.ndim not in (1, 2) or values.shape[-1] != len(joints):
        raise InvalidPose(f"q: expected shape ({len(joints)},) or (frames, {len(joints)}), got {values.shape}")
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = tuple(bad[0])
        raise InvalidPose(f"q[{where[-1]}], of joint {skeleton.names[joints[where[-1]]]!r}: got {values[where]}")
    owns = joints == np.arange(len(skeleton))[:, None]  # (J, n)
    moved = owns.astype(float) @ (values[..., None] * axes)
    slides = skeleton.slides[:, None]
    return Pose(quaternion.exp(np.where(slides, 0.0, moved)), np.where(slides, moved, 0.0))


def angles_from_pose(skeleton: Skeleton, pose: Pose) -> np.ndarray:
    """The flat joint values (n,) or (F, n) of a pose: the inverse of `pose_from_angles`.

    A ball's rotation vector has a length of pi at most. A hinge's angle is in (-pi, pi]; with limits, full turns are
    added that bring it nearest to their middle. Motions that a joint cannot make are left out: a hinge's turn about
    another axis, a ball's translation.

    Raises
    ------
    InvalidPose : for arrays of another shape, or not finite.

    Examples
    --------
    >>> door = ik.Skeleton([ik.Joint("hinge", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))])
    >>> ik.angles_from_pose(door, ik.Pose([(0.8, 0, 0, 0.6)], [(0, 0, 0)])).round(4).tolist()
    [1.287]
    """
    joints, axes = column_joints(skeleton), column_axes(skeleton)
    rotations, translations = skeleton.check_pose(pose, batch=True)
    vectors = np.where(skeleton.slides[:, None], translations, quaternion.log(rotations))
    values = (vectors[..., joints, :] * axes).sum(-1)
    for column in np.flatnonzero(skeleton.hinges[joints]):
        joint, axis = joints[column], axes[column]
        angle = 2.0 * arctan2(rotations[..., joint, 1:] @ axis, rotations[..., joint, 0])
        limits = skeleton.joints[joint].limits
        middle = 0.5 * (limits.lo + limits.hi) if isinstance(limits, Range) else 0.0
        values[..., column] = angle + FULL_TURN * np.round((middle - angle) / FULL_TURN)
    return values
