# SPDX-License-Identifier: GPL-3.0-or-later
"""Objectives for the null space of the goals, which a `Tracker` follows without moving its effectors.

    d = J^+ e + (I - J^+ J) z        z = -gradient dt

(Parent eq. 5.25-5.28; Liegeois 1977.) An objective is any function `Pose -> gradient (n,)`, one number per joint value
in the order of `column_joints`: an angle's for a hinge, a length's for a slide, and for a ball the turns about its own
X, Y and Z. (Parent's 5.27 prints the square, which is the objective and not its gradient.)
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..algebra import quaternion
from ..model.angles import column_axes, column_joints
from ..model.errors import InvalidOptions
from ..model.numbers import array, shown
from ..model.skeleton import Pose, Skeleton

Objective = Callable[[Pose], np.ndarray]
"""The gradient (n,), at a pose, of a function to be minimised."""


def toward_posture(skeleton: Skeleton, posture: Pose, gains: ArrayLike = 1.0) -> Objective:
    """The objective `1/2 sum k (q - q_posture)^2`: each joint moves toward a posture at its own rate.

    Parameters
    ----------
    gains : [1/s] one number, or one per joint value (n,). In a step of `dt` a joint that the goals leave free moves by
        the share `k dt` of the remaining way; keep that below 1.

    Returns
    -------
    A function `Pose -> gradient (n,)` for `Tracker` or `track`.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))])
    >>> objective = ik.toward_posture(arm, ik.pose_from_angles(arm, [0.2]), gains=3.0)
    >>> objective(ik.pose_from_angles(arm, [0.7])).round(6).tolist()
    [1.5]
    """
    joints, axes = column_joints(skeleton), column_axes(skeleton)
    centre = skeleton.check_pose(posture)
    try:
        rates = np.broadcast_to(array(gains), joints.shape)
    except ValueError:
        raise InvalidOptions(f"gains: expected a number, or {len(joints)} of them, got {shown(gains)}") from None
    if not (np.isfinite(rates) & (rates >= 0.0)).all():
        raise InvalidOptions(f"gains: expected finite numbers, 0 or more, got {shown(gains)}")
    slides = skeleton.slides[:, None]

    def gradient(pose: Pose) -> np.ndarray:
        turned = quaternion.log(quaternion.relative(centre.rotations, pose.rotations))
        away = np.where(slides, pose.translations - centre.translations, turned)
        return rates * (away[joints] * axes).sum(-1)

    return gradient
