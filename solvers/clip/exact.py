# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip's smooth motion with each frame inside its limits and its goals met exactly.

Soft limits give by some degrees where the goals would otherwise force a pop. Brought inside, such a frame can meet its
goals only far from the frames beside it. So frames that pop once they are exact are met again with a pull toward the
smooth motion, and miss their goals by a little instead.
"""

from dataclasses import replace

import numpy as np

from ..group.settings import POLISH_DAMPING
from ..group.stage import Stage
from ..iterate.descent import Settings, damped
from ..methods import dls
from ..motion.contacts import runs
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, evaluate
from .answers import AT_ONCE, MET_SHARE
from .pops import MISSED, POP, of_targets, pops, rises
from .problem import Clip

POLISH_ITERATIONS = 12
FIRST_ITERATIONS = 3  # of the polish: after so many, frames that are near the exact answer are done
EXACT_SHARE = 0.01  # of the tolerances: how near each frame comes, in the end, to what the frame solver misses
GIVES = 1e-4  # [1 / rad^2] weight of staying near the motion, where goals are missed anyway
CALMS = (1e-3, 1e-2, 1e-1)  # [1 / rad^2] of frames that pop, until they do not
STRAYS = POP / 3.0  # [rad] of a joint from the smooth motion: two frames that stray as far make a pop
MOST_MISSED = 0.03  # [skeleton lengths] by which a frame may miss goals more than its own answer, to stay in the motion
_polished = damped(dls.step)


class Exact:
    """Meets the goals of a clip's frames from motions that nearly meet them.

    keys, answer : frames whose own answers (K) are known, from which they are met if they cannot be from the motion.
    missed_rows : (F, m) what frames miss anyway. Those that have slack stay as the motion misses them: to miss hardly
        less, a frame alone would leave it. asked : the first frame that is met, and the one behind the last.
    drawn, gives : the share of what frames with slack miss that they are to miss less, and the weight [1 / rad^2] of
        staying near the motion where goals are missed anyway.
    """

    def __init__(
        self, stage: Stage, clip: Clip, keys: np.ndarray, answer: State, missed_rows: np.ndarray,
        asked: tuple[int, int], drawn: float = 0.0, gives: float = GIVES,
    ) -> None:  # fmt: skip
        self._stage, self._clip, self._keys, self._answer = stage, clip, keys, answer
        self._missed_rows, self._asked, options = missed_rows, asked, stage.options
        self._left, self._gives = 1.0 - drawn, gives
        self._settings = stage.settings._replace(
            pull=0.0, iterations=POLISH_ITERATIONS, first_damping=POLISH_DAMPING, damping=None,
            tolerance=EXACT_SHARE * options.tolerance, rotation_tolerance=EXACT_SHARE * options.rotation_tolerance,
        )  # fmt: skip
        room = MISSED if clip.slack is None else np.where(clip.slack.any(-1), MOST_MISSED, MISSED)
        self._most = np.where(missed_rows.any(-1), (np.sqrt((missed_rows**2).sum(-1)) + room) ** 2, -1.0)

    def motion(self, smooth: State) -> tuple[State, np.ndarray]:
        """The exact motion near a smooth one, and what frames miss (F,) [skeleton lengths] that are lost; else 0."""
        state, lost = _copied(smooth), np.zeros(len(smooth.x))
        for begin in range(*self._asked, AT_ONCE):
            at = np.arange(begin, min(begin + AT_ONCE, self._asked[1]))
            frames, wanted = self._request(smooth, at)
            point = evaluate(self._stage.hard_tasks, frames.base, frames).copy()
            for own, pull in ((~wanted.any(-1), 0.0), (wanted.any(-1), self._gives)):
                some = np.flatnonzero(own)
                if some.size:
                    point.put(some, self._met(frames.base.take(some), frames.take(some), pull))
            misses = self._lost(point.error, wanted, at)
            again = np.flatnonzero((misses > 0.0) & np.isin(at, self._keys))
            if again.size:
                own = self._met(self._answer.take(np.searchsorted(self._keys, at[again])), frames.take(again))
                better = (own.error**2).sum(-1) < (point.error[again] ** 2).sum(-1)
                point.put(again[better], own.take(better))
                misses[again] = self._lost(point.error[again], wanted[again], at[again])
            state.rotations[at], state.x[at], lost[at] = point.state.rotations, point.state.x, misses
        return self._calmed(smooth, state, lost), lost

    def _calmed(self, smooth: State, exact: State, lost: np.ndarray) -> State:
        """The exact motion with frames that pop nearer to the smooth one, where that helps: they are `lost` no more."""
        clip = self._clip
        if not clip.space.limited:
            return exact
        before, least = pops(clip, smooth), of_targets(clip.tasks, clip.targets, clip.space.skeleton.length)
        first = off = pops(clip, exact)
        state, own_lost, beside = _copied(exact), lost.copy(), np.zeros(len(off), dtype=bool)
        for pull in CALMS:
            popping = rises(before, off, least)
            popping[1:] |= popping[:-1]  # a frame's pop is between it and the next
            at = np.flatnonzero(popping[slice(*self._asked)]) + self._asked[0]
            if at.size:
                strays = clip.smoothness.steps(smooth.take(at), state.take(at))
                at = at[np.sqrt((strays**2).sum(-1)).max(-1, initial=0.0) > STRAYS]
            if not at.size:
                break
            frames, _ = self._request(smooth, at)
            point = self._met(frames.base, frames, pull)
            calm = (point.error**2).sum(-1) <= MOST_MISSED**2
            at, point = at[calm], point.take(calm)
            state.rotations[at], state.x[at], lost[at] = point.state.rotations, point.state.x, 0.0
            for near in range(-2, 2):  # frames whose pops the frame counts in
                beside[np.clip(at + near, 0, len(off) - 1)] = True
            off = pops(clip, state)
        for some in (slice(*ends) for ends in runs(beside)):
            if off[some].max() >= first[some].max():
                state.rotations[some], state.x[some], lost[some] = exact.rotations[some], exact.x[some], own_lost[some]
        return state

    def _request(self, smooth: State, at: np.ndarray) -> tuple[Request, np.ndarray]:
        """What some frames ask near the smooth motion, and the error rows (F, m) that they are to have."""
        clip, hard = self._clip, self._stage.hard_tasks
        frames = Request(smooth, clip.targets._replace(wanted=None), clip.links).take(at)
        wanted = self._missed_rows[at, : hard.m]
        if clip.slack is not None:
            inside = _inside(self._stage.space, frames.base)
            own = self._left * evaluate(hard, inside, frames).error
            wanted = np.where(clip.slack[at, : hard.m], own, wanted)
        return replace(frames, targets=frames.targets._replace(wanted=wanted)), wanted

    def _lost(self, error: np.ndarray, wanted: np.ndarray, at: np.ndarray) -> np.ndarray:
        """What frames (F,) miss that miss goals by more than they are `wanted` to miss, and than is allowed."""
        hard, options, square = self._stage.hard_tasks, self._stage.options, ((error + wanted) ** 2).sum(-1)
        within = hard.within(error, options.tolerance, options.rotation_tolerance)
        return np.where(~within & (square > self._most[at]), np.sqrt(square), 0.0)

    def _met(self, state: State, frames: Request, pull: float = 0.0) -> Point:
        """The point after a few damped steps toward the goals alone, from a state that is brought inside the limits."""
        space, hard, options = self._stage.space, self._stage.hard_tasks, self._stage.options
        settings: Settings = self._settings._replace(pull=pull)
        first = settings._replace(iterations=FIRST_ITERATIONS)
        point = _polished(hard, space, first, evaluate(hard, _inside(space, state), frames), frames).point
        near = MET_SHARE * options.tolerance, MET_SHARE * options.rotation_tolerance
        left = np.flatnonzero(~hard.within(point.error, *near))
        if left.size:  # where a limb is straight, many steps bring a frame that is near hardly nearer
            point = point.copy()
            point.put(left, _polished(hard, space, settings, point.take(left), frames.take(left)).point)
        return point


def _copied(state: State) -> State:
    return State(state.rotations.copy(), state.x.copy())


def _inside(space: JointSpace, state: State) -> State:
    """A state brought inside the limits."""
    return space.step(state, space.project(state.x) - state.x)
