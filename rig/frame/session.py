# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of one armature between frames: its prepared rig, the memory of its pose, the report of its last solve.

Nothing here holds an ID or a depsgraph: objects are passed in anew each time.
"""

from .motion import FollowedMotion
from .pose_memory import PoseMemory
from .prepared_rig import PreparedRig
from .report import Report


class Session:
    """One armature's state, in the hands of its owners."""

    def __init__(self, solver: str = "", stored: bool = True, report: Report | None = None) -> None:
        """`solver` : instead of the armature's own. stored : whether its base pose is kept on the bones, too."""
        self.rig = PreparedRig(solver)
        self.pose = PoseMemory(stored)
        self.motion = FollowedMotion()
        self.report = Report() if report is None else report
