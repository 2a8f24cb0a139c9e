# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the frames of a smooth bake: runs that follow each other and share a prepared solve are one motion.

Frames are solved one by one first, as for a usual bake. Of the motions that meet the goals as well, that one is taken
whose joints have small accelerations. A body whose bones are all keyed keeps its motion: its correction is smooth.
Targets that tremble are steadied before, as far as each goal's `smooth` allows.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from ...solvers import Batch, FrameArrays, Motion, Prepared
from ...solvers.algebra import quaternion
from ...solvers.clip import Watch, borders, slow_into, solve_into, stretches, unwatched
from ...solvers.model import ANSWERS, QUESTIONS
from ...solvers.motion import steady_path
from ..frame.read.question import check_numbers
from ..frame.step.known_answers import KnownAnswers
from ..frame.step.whole_shot import Asked
from ..skeleton.goal_facts import STEADY_SHARE
from ..skeleton.rig import Rig
from .frames import Run

_FEWEST = 3  # frames that have an acceleration
_TURN = 0.1  # [rad] by which a target may be turned where its goal's smooth is 1
_JUMP, _TURN_JUMP = 0.1, 0.5  # [of the figure's size], [rad]: a step that may be a jump, which is kept

Steady = Callable[[np.ndarray, float, float], np.ndarray]
"""The steadied path (F, K) of a path, a reach and the least length of a jump."""


class Stopped(Exception):
    """The solve was stopped from another thread."""


class MotionSolver:
    """Solves runs in order. `stop` may be called from another thread, and `share` read.

    share : of the work on the present motion, how much is done, 0 to 1.
    """

    def __init__(self, known: KnownAnswers, smooth: float) -> None:
        """`known` : answers that were found before. smooth : 0 to 1, in proportion to the time that it smooths over."""
        self._known, self._weight = known, smooth**4  # of squared accelerations: they grow by the time's fourth power
        self._parts: list[FrameArrays] = []
        self._last: Run | None = None
        self._first, self._stopped, self.share = 0, False, 0.0

    def solve(self, run: Run) -> list[tuple[int, Batch]]:
        """Add a run to the motion; if it begins another one, solve the one before, as of `end`."""
        last, solved = self._last, list[tuple[int, Batch]]()
        if last is None or not run.goes_on or run.prepared is not last.prepared or run.keyed != last.keyed:
            solved = self.end()
            self._first = run.first
        self._parts.append(run.in_motion(self._known))
        self._last = run
        return solved

    def end(self) -> list[tuple[int, Batch]]:
        """Solve the motion: the index of its first frame, and the answers; nothing if there is none."""
        if self._last is None:
            return []
        prepared, corrects = self._last.prepared, self._last.keyed
        arrays = _joined(prepared, self._parts)
        _steady(self._last.rig, arrays.positions, arrays.orientations, steady_path)
        self._parts.clear()
        self._last = None
        solve_motion(prepared, arrays, self._weight, corrects, self._watch)
        slow_motion(prepared, arrays, self._weight, corrects, self._watch)
        return [(self._first, arrays.batch())]

    def stop(self) -> None:
        """Stop solving."""
        self._stopped = True

    def _watch(self, share: float) -> None:
        if self._stopped:
            raise Stopped
        self.share = share


def solve_motion(
    prepared: Prepared, arrays: FrameArrays, weight: float, corrects: bool, watch: Watch = unwatched,
    held: tuple[int, int] = (0, 0), beside: tuple[int, int] = (0, 0), bridges: bool = True,
) -> None:  # fmt: skip
    """Solve frames whose own answers stand in arrays as one motion, as `solve_into` has it."""
    if len(arrays) >= _FEWEST:
        own = _Answered(prepared)
        solve_into(prepared, own, arrays, weight, corrects, watch=watch, held=held, beside=beside, bridges=bridges)
        check_numbers(arrays.rotations)
        prepared.push_apart(arrays)


def slow_motion(
    prepared: Prepared, arrays: FrameArrays, weight: float, corrects: bool, watch: Watch = unwatched,
    held: tuple[int, int] = (0, 0),
) -> None:  # fmt: skip
    """Solve frames of a motion again in which joints turn too fast, as `slow_into` has it.

    Not those of keyed bodies, which turn as they are keyed, and of bodies that others keep away.
    """
    if len(arrays) >= _FEWEST and not corrects and prepared.apart is None:
        slow_into(prepared, arrays, weight, held, watch)
        check_numbers(arrays.rotations)


class _Answered:
    """What solves frames (`solvers/clip/answers.py`) whose own answers stand in the arrays already."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared, self.contacts = prepared, prepared.contacts

    def solve_into(self, arrays: FrameArrays) -> None:
        """Leave the answers as they are."""

    def motion(self) -> Motion:
        """A motion, in which each frame is solved from the one before."""
        return self._prepared.motion()


def _joined(prepared: Prepared, parts: list[FrameArrays]) -> FrameArrays:
    """Arrays of all frames of a motion."""
    whole, begin = prepared.arrays(sum(map(len, parts))), 0
    for part in parts:
        for name in (*QUESTIONS, *ANSWERS):
            getattr(whole, name)[begin : begin + len(part)] = getattr(part, name)
        begin += len(part)
    return whole


def in_shot(
    asked: dict[int, Asked], parts: Iterable[tuple[int, int]], smooth: float, known: KnownAnswers
) -> dict[int, Asked]:  # fmt: skip
    """What the frames of a shot ask once their targets are steadied; frames without such goals ask the same.

    A target is steadied in the stretches in which the shot is solved, so that a change is felt near it alone.

    parts : the first and behind the last frame of each motion. smooth : of the shot.
    """
    steady = dict(asked)
    for begin, end in parts:
        own = [asked[frame].frame_input for frame in range(begin, end)]
        if not any(_share(own[0].rig)):
            continue
        places = np.concatenate([one.targets.positions for one in own])
        turns = np.concatenate([one.targets.rotations for one in own])
        _steady(own[0].rig, places, turns, partial(_in_stretches, begin, end, smooth))
        for at, one in enumerate(own):
            targets = one.targets._replace(positions=places[at : at + 1], rotations=turns[at : at + 1])
            changed, arrays = replace(one, targets=targets), one.prepared.arrays()
            changed.ask(arrays)
            question = known.question(one.prepared, one.shaping, one.keyed, arrays.questions()[0])
            steady[begin + at] = Asked(question, changed)
    return steady


def _steady(rig: Rig, places: np.ndarray, turns: np.ndarray, steady: Steady) -> None:
    """Steady places (F, G, 3) and turns (F, G, 4), in place."""
    size = rig.armature.size
    for number, share in enumerate(_share(rig)):
        if share > 0.0:
            places[:, number] = steady(places[:, number], share * STEADY_SHARE * size, _JUMP * size)
            own = turns[:, number]
            signs = np.where((own[1:] * own[:-1]).sum(-1) < 0.0, -1.0, 1.0)
            own[1:] *= np.cumprod(signs)[:, None]
            moved = steady(own, float(np.sin(0.5 * share * _TURN)), 0.5 * _TURN_JUMP)
            turns[:, number] = quaternion.normalize(moved)


def _share(rig: Rig) -> list[float]:
    return [goal.facts.smooth for goal in rig.goals]


def _in_stretches(
    begin: int, end: int, smooth: float, path: np.ndarray, reach: float, jump: float
) -> np.ndarray:  # fmt: skip
    """The steady path (F, K) of frames `begin` to `end`: first at the borders of stretches, then between them."""
    found = path.copy()
    for window in (*borders(begin, end, smooth), *stretches(begin, end)):
        own = path[window.begin - begin : window.end - begin].copy()
        held = window.held
        own[: held[0]] = found[window.begin - begin :][: held[0]]
        own[len(own) - held[1] :] = found[window.end - begin - held[1] : window.end - begin]
        steady = steady_path(own, reach, jump, (max(held[0], 1), max(held[1], 1)))
        first, last = window.first, window.last
        found[first - begin : last - begin] = steady[first - window.begin : last - window.begin]
    return found
