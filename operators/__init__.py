# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools, one file for each task of an animator. They fetch, call one function and report."""

import bpy

from ..rig.blender import words
from . import playback
from .body import character, full_body, goals, limits, mirror, reach, relations
from .commands import command_line, commands, mend_command, retarget_command, shakes_command
from .common import declared
from .live import bake, compare, mend, shot, solve
from .motion import (
    contact_ranges,
    edit_range,
    in_betweens,
    mend_motion,
    overlap,
    reduce_keys,
    remove_shakes,
    retarget,
    see_motion,
)  # fmt: skip
from .pose import active_goal, attach, controls, grab, limb_switch, stay, targets

CLASSES = declared(
    goals, targets, solve, shot, bake, compare, mend, character, limits, mirror, relations, full_body, reach, stay,
    limb_switch, controls, attach, grab, overlap, reduce_keys, see_motion, edit_range, in_betweens, mend_motion,
    remove_shakes, retarget, contact_ranges,
)


def register() -> None:
    """Register the tools."""
    for cls in CLASSES:
        words.register_class(cls)
    commands.register(
        command_line.COMMAND, mend_command.COMMAND, retarget_command.COMMAND, shakes_command.COMMAND
    )
    active_goal.register()
    shot.register()
    playback.register()


def unregister() -> None:
    """Unregister the tools, in reverse."""
    see_motion.stop()
    playback.unregister()
    shot.unregister()
    active_goal.unregister()
    commands.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
