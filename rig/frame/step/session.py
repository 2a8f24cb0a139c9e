# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one armature between frames: its prepared rig, the memory of its pose, the report of its last solve.

No ID and no depsgraph is stored here; objects are passed to every call.
"""

from ..memory.arrivals import Arrivals
from ..memory.pose_memory import PoseMemory
from ..memory.prepared_rig import PreparedRig
from .known_answers import KnownAnswers
from .motion import FollowedMotion
from .report import SolveReport
from .steady import SteadyFrames


class Session:
    """One armature's state; each part is changed by its own methods only."""

    def __init__(self, solver: str = "", stored: bool = True, known: KnownAnswers | None = None) -> None:
        """`solver` replaces the armature's own. stored : whether the base pose is also stored on the bones.

        known : answers that were found before; its own if not given.
        """
        self.known = KnownAnswers() if known is None else known
        self.rig, self.pose, self.arrivals = PreparedRig(solver), PoseMemory(stored), Arrivals()
        self.motion = FollowedMotion(self.known)
        self.steady: SteadyFrames | None = None
        self.report = SolveReport()

    def renewed(self, report: SolveReport | None = None) -> "Session":
        """A session that remembers only what undo and redo leave as it is, with another report if there is one."""
        new = Session(known=self.known)
        new.rig, new.pose.adoptions, new.report = self.rig.renewed(), self.pose.adoptions, report or self.report
        new.motion = self.motion if self.motion.lags else self.motion.renewed()
        return new
