# SPDX-License-Identifier: GPL-3.0-or-later
"""Steadies the targets of a motion's goals that tremble, as far as each goal's `smooth` allows."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from ...solvers import FrameArrays
from ...solvers.algebra import quaternion
from ...solvers.clip import borders, stretches
from ...solvers.motion import steady_path
from ..frame.step.known_answers import KnownAnswers
from ..frame.step.whole_shot import Asked
from ..skeleton.goal_facts import STEADY_SHARE
from ..skeleton.rig import Rig

_TURN = 0.1  # [rad] by which a target may be turned where its goal's smooth is 1
_JUMP, _TURN_JUMP = 0.1, 0.5  # [of the figure's size], [rad]: a step that may be a jump, which is kept

Steady = Callable[[np.ndarray, float, float], np.ndarray]
"""The steadied path (F, K) of a path, a reach and the least length of a jump."""


def in_arrays(rig: Rig, arrays: FrameArrays) -> None:
    """Steady the targets of a motion that is solved as one, in place."""
    _steady(rig, arrays.positions, arrays.orientations, steady_path)


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
