# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved poses as channels of the armature's bones, each in its own rotation mode, and onto the bones."""

import bpy
import numpy as np

from ..blender import channels
from ..blender.channels import Channels
from ..setup.build import Rig


def answer(
    rig: Rig, rotations: np.ndarray, translations: np.ndarray, start: Channels, slide_scale: np.ndarray,
    reference: Channels | None = None,
) -> Channels:  # fmt: skip
    """The channels of all bones for one solved frame: `start`, in which the solved bones get their answer.

    Parameters
    ----------
    rotations, translations : (J, 4) and (J, 3) of the solver's pose. slide_scale : as in `FrameInput`.
    reference : channels to stay near to where a rotation can be written in several ways; `start` by default.
    """
    bones = rig.solved_bones
    near = (start if reference is None else reference).rotations[bones]
    start.rotations[bones] = start.modes.channels(rotations[rig.solved_joints], bones, near)
    for k, (joint, row) in enumerate(zip(rig.slide_joint, rig.slide_row, strict=True)):
        offset = translations[joint : joint + 3].sum(0)
        start.locations[rig.bones[row]] = rig.location_frame[row].T @ offset / max(slide_scale[k], 1e-12)
    return start


def apply(ob: bpy.types.Object, new: Channels, bones: np.ndarray, now: Channels, posed: Channels) -> Channels:
    """Write some bones' channels to the original object and have it evaluated, where that changes anything.

    Parameters
    ----------
    bones : indices. now : the original bones' channels, which get the new ones. posed : the evaluated channels: those
        of a render may still be as the keys have them, although the original's are the new ones already.
    """
    turned, moved = _differs(now, new, bones)
    if turned or moved:
        now.rotations[bones] = new.rotations[bones]
        if moved:
            now.locations[bones] = new.locations[bones]
        channels.write(ob, now, location=moved)
    if turned or moved or any(_differs(posed, new, bones)):
        ob.update_tag(refresh={"OBJECT"})  # has the pose evaluated, but neither curves nor the armature's rest pose
    return now


def _differs(one: Channels, other: Channels, bones: np.ndarray) -> tuple[bool, bool]:
    """Whether rotations and locations of some bones differ."""
    return (one.rotations[bones].tobytes() != other.rotations[bones].tobytes(),
            one.locations[bones].tobytes() != other.locations[bones].tobytes())  # fmt: skip
