# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts solved poses to the bones' channels, each in its own rotation mode, and writes them."""

import bpy
import numpy as np

from ..blender import channels
from ..blender.channels import Channels
from ..setup.build import Rig


def answer(
    rig: Rig, rotations: np.ndarray, translations: np.ndarray, start: Channels, slide_scale: np.ndarray,
    reference: Channels | None = None,
) -> Channels:  # fmt: skip
    """The channels of all bones for one solved frame: `start`, with the solved bones overwritten in place.

    Parameters
    ----------
    rotations, translations : (J, 4) and (J, 3) of the solver's pose. slide_scale : as in `FrameInput`.
    reference : channels that decide between several ways to write a rotation, the nearest wins; `start` by default.
    """
    bones = rig.solved_bones
    near = (start if reference is None else reference).rotations[bones]
    start.rotations[bones] = start.modes.channels(rotations[rig.solved_joints], bones, near)
    for k, (joint, row) in enumerate(zip(rig.slide_joint, rig.slide_row, strict=True)):
        offset = translations[joint : joint + 3].sum(0)
        start.locations[rig.bones[row]] = rig.location_frame[row].T @ offset / max(slide_scale[k], 1e-12)
    return start


def apply(ob: bpy.types.Object, new: Channels, bones: np.ndarray, now: Channels, posed: Channels) -> Channels:
    """Write some bones' channels to the original object and tag it for evaluation, if that changes anything.

    Parameters
    ----------
    bones : indices. now : the original bones' channels, updated in place. posed : the evaluated channels; in a render
        they can still have their keyed values although the original's are new.
    """
    turned, moved = _differs(now, new, bones)
    if turned or moved:
        now.rotations[bones] = new.rotations[bones]
        if moved:
            now.locations[bones] = new.locations[bones]
        channels.write(ob, now, location=moved)
    if turned or moved or any(_differs(posed, new, bones)):
        ob.update_tag(refresh={"OBJECT"})  # evaluates the pose, but neither curves nor the armature's rest pose
    return now


def _differs(one: Channels, other: Channels, bones: np.ndarray) -> tuple[bool, bool]:
    """Whether rotations and locations of some bones differ."""
    return (one.rotations[bones].tobytes() != other.rotations[bones].tobytes(),
            one.locations[bones].tobytes() != other.locations[bones].tobytes())  # fmt: skip
