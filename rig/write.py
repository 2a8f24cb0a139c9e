# SPDX-License-Identifier: GPL-3.0-or-later
"""A solved pose as channels of the armature's bones, each in its own rotation mode."""

import numpy as np

from ..solvers import Batch, quaternion
from .build import Rig
from .channels import Channels


def answer(
    rig: Rig, batch: Batch, frame: int, base: Channels, slide_scale: np.ndarray, reference: Channels | None = None
) -> Channels:
    """The channels of all bones for one solved frame: solved bones as solved, all others as in `base`.

    reference : channels to stay near to where a rotation can be written in several ways; `base` by default.
    """
    channels = base.copy()
    q = quaternion.normalize(batch.rotations[frame, rig.solved_joints])
    channels.put(rig.solved_bones, q, (reference or base).rotations)
    for k, (joint, row) in enumerate(zip(rig.slide_joint, rig.slide_row, strict=True)):
        offset = batch.translations[frame, joint : joint + 3].sum(0)
        channels.locations[rig.bones[row]] = rig.slide_frame[k].T @ offset / max(slide_scale[k], 1e-12)
    return channels
