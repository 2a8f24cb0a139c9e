# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one armature between frames: its prepared rig, the memory of its pose, the report of its last solve.

No ID and no depsgraph is stored here; objects are passed to every call.
"""

from .motion import FollowedMotion
from .pose_memory import PoseMemory
from .prepared_rig import PreparedRig
from .report import Report


class Session:
    """One armature's state; each part is changed by its own methods only."""

    def __init__(self, solver: str = "", stored: bool = True, report: Report | None = None) -> None:
        """`solver` replaces the armature's own. stored : whether the base pose is also stored on the bones."""
        self.rig = PreparedRig(solver)
        self.pose = PoseMemory(stored)
        self.motion = FollowedMotion()
        self.report = Report() if report is None else report
