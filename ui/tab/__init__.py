# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: five panels, by what an animator does."""

from ...operators.common import declared
from . import (
    attached,
    body,
    bone,
    collision,
    compare,
    contacts,
    live,
    motion,
    overlay,
    pose,
    rig,
    see,
    solver,
    status,
    tools,
)

PANELS = declared(
    live, status, pose, attached, motion, contacts, see, body, bone, collision, rig, solver, compare, overlay, tools,
)
