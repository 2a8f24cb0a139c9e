# SPDX-License-Identifier: GPL-3.0-or-later
"""Putting bones back to rest."""

import bpy
import numpy as np

from ..blender import channels
from ..setup.rig import Rig
from .state import holds


def put_to_rest(ob: bpy.types.Object, rig: Rig | None) -> None:
    """Put the bones that a rig solves, or all bones if there is none, to rest; they are not held there."""
    moved = np.arange(len(ob.pose.bones)) if rig is None else rig.solved_bones
    slid = moved if rig is None else rig.bones[rig.slide_row]
    now = channels.read(ob.pose.bones)
    now.rotations[moved] = now.modes.at_rest(moved)
    now.locations[slid] = 0.0
    channels.write(ob, now)
    holds.clear(ob.pose.bones[bone] for bone in moved.tolist())
