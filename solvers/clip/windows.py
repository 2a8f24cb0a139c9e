# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage's frames as windows that overlap, so that time and memory grow with their number.

What happens in a frame is felt some dozen frames away, and then no more. A window begins behind two frames that are
solved, and its last frames are solved again by the next one.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..compiled.clip import CompiledStage
from ..model.goals import Targets
from ..space.joint_space import JointSpace, State
from ..space.tasks import Tasks
from .bounds import Bounds
from .minimise import minimise
from .problem import Problem
from .rows import rows_of
from .smoothness import Smoothness
from .watch import Watch, unwatched, within

WINDOW = 300  # frames
OVERLAP = 60
REACH = 2  # frames that an acceleration reaches back


@dataclass(frozen=True)
class Clip:
    """A stage's frames: what a `Problem` is made from. base, targets : of F frames. links : (F or 1, J, 8).

    compiled : the stage for the kernel.
    """

    tasks: Tasks
    space: JointSpace
    smoothness: Smoothness
    bounds: Bounds
    base: State
    targets: Targets
    links: np.ndarray | None
    compiled: CompiledStage | None

    def __len__(self) -> int:
        return len(self.base.x)

    def part(self, begin: int, end: int) -> "Clip":
        """Frames `begin` to `end`."""
        some = slice(begin, end)
        links = self.links if self.links is None or len(self.links) == 1 else self.links[some]
        return replace(self, base=cut(self.base, some), targets=self.targets.take(some), links=links)

    def problem(self, held: tuple[int, int]) -> Problem:
        """The problem of all frames, of which the first and the last ones are held."""
        wanted = np.zeros((len(self), self.tasks.all)) if self.targets.wanted is None else self.targets.wanted
        rows = rows_of(self.tasks, self.targets, self.links, self.compiled)
        return Problem(
            self.tasks, self.space, self.smoothness, self.bounds, self.base, rows, wanted, held, self.compiled
        )  # fmt: skip


def cut(state: State, some: slice) -> State:
    """Some frames of a state."""
    return State(state.rotations[some], state.x[some])


def solve_windows(
    clip: Clip, state: State, window: int = WINDOW, overlap: int = OVERLAP, watch: Watch = unwatched
) -> tuple[State, int]:  # fmt: skip
    """The state of least cost near a state, and the iterations of the window that took most."""
    state, begin, most = State(state.rotations.copy(), state.x.copy()), 0, 0
    while True:
        first, end = max(begin - REACH, 0), min(begin + window, len(clip))
        some = slice(first, end)
        problem = clip.part(first, end).problem((begin - first, 0))
        solved, took = minimise(problem, cut(state, some), within(watch, first / len(clip), end / len(clip)))
        state.rotations[some], state.x[some] = solved.rotations, solved.x
        most = max(most, took)
        if end == len(clip):
            return state, most
        begin = end - overlap
