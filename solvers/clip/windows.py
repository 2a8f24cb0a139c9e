# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage's frames as windows that overlap, so that time and memory grow with their number.

What happens in a frame is felt some dozen frames away, and then no more. A window begins behind two frames that are
solved, and its last frames are solved again by the next one.
"""

from ..space.joint_space import State
from .minimise import minimise
from .problem import Clip, Problem
from .watch import Watch, unwatched, within

WINDOW = 300  # frames
OVERLAP = 60
REACH = 2  # frames that an acceleration reaches back


def solve_windows(
    clip: Clip, state: State, window: int = WINDOW, overlap: int = OVERLAP, watch: Watch = unwatched,
    held: tuple[int, int] = (0, 0),
) -> tuple[State, int]:  # fmt: skip
    """The state of least cost near a state, and the iterations of the window that took most.

    held : frames at the beginning and at the end that stay.
    """
    state, begin, most = State(state.rotations.copy(), state.x.copy()), 0, 0
    while True:
        first, end = max(begin - REACH, 0), min(begin + window, len(clip))
        some = slice(first, end)
        own_held = max(begin, held[0]) - first, max(end - (len(clip) - held[1]), 0)
        problem = Problem(clip.part(first, end), own_held)
        solved, took = minimise(problem, state.take(some), within(watch, first / len(clip), end / len(clip)))
        state.rotations[some], state.x[some] = solved.rotations, solved.x
        most = max(most, took)
        if end == len(clip):
            return state, most
        begin = end - overlap
