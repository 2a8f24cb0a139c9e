# SPDX-License-Identifier: GPL-3.0-or-later
"""What keyed poses are compared by: the goals, the skeleton and the stages of a prepared solve."""

from collections.abc import Sequence
from typing import Protocol

from ..group.stage import Stage
from ..model.carry import Carry
from ..model.contacts import Contacts
from ..model.frames import FrameArrays
from ..model.goals import Effectors, Goal
from ..model.options import Options
from ..model.skeleton import Skeleton


class KeyedSolve(Protocol):
    """A prepared solve, as `Prepared` is."""

    skeleton: Skeleton
    goals: list[Goal]
    options: Options
    contacts: Contacts | None
    carry: Carry

    @property
    def effectors(self) -> Effectors:
        """The goals as arrays."""
        ...

    @property
    def stages(self) -> Sequence[Stage]:
        """The goals that share no joint with others."""
        ...

    def arrays(self, count: int = 1) -> FrameArrays:
        """Room for the questions and answers of frames."""
        ...
