# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics: the joints of a pose in the skeleton's frame."""

from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from .skeleton import Pose, Skeleton, check_skeleton


class World(NamedTuple):
    """Joints in the skeleton's frame: `positions` (..., J, 3) and `rotations` (..., J, 4).

    Examples
    --------
    >>> leg = ik.Skeleton([ik.Joint("hip", -1, "ball", (0, 1, 0)), ik.Joint("knee", 0, "hinge", (0, -0.5, 0))])
    >>> world = ik.forward(leg, leg.rest_pose())
    >>> world.positions.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.5, 0.0]]
    >>> world.relative(0, 1).positions.tolist()
    [0.0, -0.5, 0.0]
    """

    positions: np.ndarray
    rotations: np.ndarray

    def relative(self, a: int, b: int) -> "World":
        """Joint `b` in the frame of joint `a`: position (..., 3) and rotation (..., 4), `conj(Q_a) Q_b` (Amino).

        `a` and `b` are indices; `skeleton.index` finds them by name.
        """
        back = quaternion.conjugate(self.rotations[..., a, :])
        offset = self.positions[..., b, :] - self.positions[..., a, :]
        return World(quaternion.rotate(back, offset), quaternion.product(back, self.rotations[..., b, :]))


def forward(skeleton: Skeleton, pose: Pose) -> World:
    """Positions (J, 3) and orientations (J, 4) of all joints in the skeleton's frame.

    A pose of F frames, (F, J, 4) and (F, J, 3), gives (F, J, 3) and (F, J, 4). Raises `InvalidPose`.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> pose = ik.pose_from_angles(arm, [np.pi / 6])
    >>> ik.forward(arm, pose).positions[arm.index("hand")].round(3).tolist()
    [1.732, 1.0, 0.0]
    """
    check_skeleton(skeleton)
    rotations, translations = skeleton.check_pose(pose, batch=True)
    frames = rotations.shape[:-2]
    count = len(skeleton)
    world = skeleton.transforms(rotations.reshape(-1, count, 4), translations.reshape(-1, count, 3))
    world = world.reshape(*frames, count, 8)
    return World(dual_quaternion.translation(world), quaternion.normalize(dual_quaternion.rotation(world)))
