# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved poses as channels of the armature's bones, each in its own rotation mode, and onto the bones."""

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import channels
from ..blender.channels import Channels
from ..setup.build import Rig


def answer(
    rig: Rig, rotations: np.ndarray, translations: np.ndarray, start: Channels, slide_scale: np.ndarray,
    reference: Channels | None = None,
) -> Channels:  # fmt: skip
    """The channels of all bones for one solved frame: solved bones as solved, all others as in `start`.

    Parameters
    ----------
    rotations, translations : (J, 4) and (J, 3) of the solver's pose. slide_scale : as in `FrameInput`.
    reference : channels to stay near to where a rotation can be written in several ways; `start` by default.
    """
    found = start.copy()
    bones, near = rig.solved_bones, start if reference is None else reference
    q = quaternion.normalize(rotations[rig.solved_joints])
    found.rotations[bones] = start.modes.channels(q, bones, near.rotations[bones])
    for k, (joint, row) in enumerate(zip(rig.slide_joint, rig.slide_row, strict=True)):
        offset = translations[joint : joint + 3].sum(0)
        found.locations[rig.bones[row]] = rig.location_frame[row].T @ offset / max(slide_scale[k], 1e-12)
    return found


def apply(ob: bpy.types.Object, new: Channels, bones: np.ndarray, now: Channels, posed: Channels) -> Channels:
    """Write some bones' channels to the original object and have it evaluated, where that changes anything.

    Parameters
    ----------
    bones : (N,) bool. now : the original bones' channels, which get the new ones. posed : the evaluated channels: those
        of a render may still be as the keys have them, although the original's are the new ones already.
    """
    turned, moved = new.rotations[bones], new.locations[bones]
    rotated = now.rotations[bones].tobytes() != turned.tobytes()
    shifted = now.locations[bones].tobytes() != moved.tobytes()
    if rotated or shifted:
        now.rotations[bones], now.locations[bones] = turned, moved
        channels.write(ob, now, location=shifted)
    behind = posed.rotations[bones].tobytes() != turned.tobytes() or posed.locations[bones].tobytes() != moved.tobytes()
    if rotated or shifted or behind:
        ob.update_tag(refresh={"OBJECT"})  # has the pose evaluated, but neither curves nor the armature's rest pose
    return now
