# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions that the kinds of a skeleton's joints allow."""

import numpy as np

from ..algebra import arctan2, quaternion
from .skeleton import Pose, Skeleton

ROUNDED = 1e-12
"""A turn whose axis is off its hinge's by less is taken as it is."""


def allowed(skeleton: Skeleton, pose: Pose) -> Pose:
    """`pose` (F, J, 4), (F, J, 3) with the nearest motions that the joints' kinds allow; limits are not applied.

    Balls and hinges do not move along, hinges turn about their axes, slides move along theirs and do not turn, and
    fixed joints do neither.
    """
    rotations, translations = pose
    if translations.any():
        along = (translations * skeleton.axis).sum(-1, keepdims=True)
        translations = along * skeleton.axis * skeleton.slides[:, None]
    if rotations[:, ~skeleton.turns, 1:].any():
        rotations = rotations.copy()
        rotations[:, ~skeleton.turns] = quaternion.IDENTITY
    if skeleton.hinges.any():
        turns, axis = rotations[:, skeleton.hinges], skeleton.axis[skeleton.hinges]
        along = (turns[..., 1:] * axis).sum(-1, keepdims=True)
        off = (np.abs(turns[..., 1:] - along * axis) > ROUNDED).any(-1, keepdims=True)
        if off.any():
            rotations = rotations.copy()
            about = quaternion.exp(2.0 * arctan2(along, turns[..., :1]) * axis)
            rotations[:, skeleton.hinges] = np.where(off, about, turns)
    return Pose(rotations, translations)
