# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: five panels, by what an animator does."""

from ...operators.common import declared
from . import body, live, motion, overlay, pose, rig, solver, status, tools

PANELS = declared(live, status, pose, motion, body, rig, solver, overlay, tools)
