# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators, one file for each task of an animator. They fetch, call one function and report."""

import bpy

from .body import (
    contacts,
    couplings,
    eyes,
    full_body,
    goals,
    limits,
    mirror,
    natural_pose,
    presets,
    reach,
    report_problem,
    sides,
)
from .commands import command_line, commands, mend_command, retarget_command
from .live import bake, check, compare, mend, render, solve
from .motion import (
    contact_ranges,
    edit_range,
    mend_motion,
    motion_paths,
    overlap,
    reduce_keys,
    rest_pose,
    retarget,
    see_motion,
)
from .pose import active_goal, attach, controls, grab, holds, limb_switch, pins, plant, rotation_space, targets

CLASSES = (
    *goals.CLASSES, *targets.CLASSES, *solve.CLASSES, *bake.CLASSES, *check.CLASSES, *compare.CLASSES, *limits.CLASSES,
    *presets.CLASSES, *full_body.CLASSES, *reach.CLASSES, *mend.CLASSES, *render.CLASSES, *pins.CLASSES,
    *mirror.CLASSES, *holds.CLASSES, *natural_pose.CLASSES, *rotation_space.CLASSES, *sides.CLASSES,
    *rest_pose.CLASSES, *couplings.CLASSES, *contacts.CLASSES, *plant.CLASSES, *motion_paths.CLASSES,
    *limb_switch.CLASSES, *controls.CLASSES, *attach.CLASSES, *overlap.CLASSES, *reduce_keys.CLASSES,
    *see_motion.CLASSES, *grab.CLASSES, *edit_range.CLASSES, *mend_motion.CLASSES, *retarget.CLASSES,
    *contact_ranges.CLASSES, *report_problem.CLASSES, *eyes.CLASSES,
)  # fmt: skip


def register() -> None:
    """Register the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    commands.register(command_line.COMMAND, mend_command.COMMAND, retarget_command.COMMAND)
    active_goal.register()


def unregister() -> None:
    """Unregister the operators, in reverse."""
    see_motion.stop()
    active_goal.unregister()
    commands.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
