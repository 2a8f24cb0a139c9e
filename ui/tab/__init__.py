# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: five panels, by what an animator does."""

from . import attached, body, bone, collision, compare, contacts, live, motion, overlay, pose, rig, see, solver, tools

PANELS = (
    *live.CLASSES, *pose.CLASSES, *attached.CLASSES, *motion.CLASSES, *contacts.CLASSES, *see.CLASSES, *body.CLASSES,
    *bone.CLASSES, *collision.CLASSES, *rig.CLASSES, *solver.CLASSES, *compare.CLASSES, *overlay.CLASSES,
)  # fmt: skip
CLASSES = (*PANELS, *tools.CLASSES)
