# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved poses as channels of the armature's bones, each in its own rotation mode."""

import numpy as np

from ..solvers import Batch
from ..solvers.algebra import quaternion
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


def turned_answers(rig: Rig, batch: Batch, base: Channels, reference: Channels) -> list[Channels]:
    """The channels of frames that start from one base of quaternions, each near to the one before it.

    The first is near `reference`. Nothing slides.
    """
    q = quaternion.normalize(batch.rotations[:, rig.solved_joints])
    before = np.concatenate([reference.rotations[None, rig.solved_bones], q[:-1]])
    flips = np.where((q * before).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    rotations = np.repeat(base.rotations[None], len(q), axis=0)
    rotations[:, rig.solved_bones] = q * np.cumprod(flips, axis=0)
    return [Channels(turned, base.locations, base.groups) for turned in rotations]
