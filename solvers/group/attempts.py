# SPDX-License-Identifier: GPL-3.0-or-later
"""Further attempts at frames that miss their goals: from near poses, the middle of the limits, or random poses.

A descent from one pose may end in a local minimum. A finger that becomes straight, within its tolerance, may bend to
the wrong side next, follow its target to the joint's limit, and stay there while the target moves on. A few descents
from poses near the one before find the other side; of those that meet the goals the nearest is kept.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.uniform import SplitMix64
from ..iterate.descent import ANY, Minimise, Minimum, Settings
from ..model.options import Options
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks
from .settings import FOLLOW_DAMPING, POLISH_DAMPING, PULL

NEAR_SPREADS = np.array(
    [0.4, 0.8]
)  # [rad, slides: skeleton lengths] largest distance of near starts from the pose before
NEAR_STARTS = 4  # per spread
NEAR_ITERATIONS = 12
APPROACH_ITERATIONS, APPROACH_SETTLED = 10, 2e-2
RECOVER_ERROR = 0.25  # [skeleton lengths] a start with a larger error is not near its goals
RECOVER_SHARE = 0.5  # of its first error: a descent must end below it, unless the frame before met its goals
RESTARTS_AT_ONCE = 8
NEARER = 1.0 - 1e-9  # on ties, within rounding, keep the first attempt


@dataclass(frozen=True)
class Attempts:
    """Descents from other starts, without poles (`tasks` has none) and, except `approaching`, without the pull.

    Attributes
    ----------
    nearby, descending : settings of a descent from a near start, and from a restart.
    approaching : of a descent with a pull to the pose before; None for solvers without continuation. arriving : of the
        descent after it, without the pull.
    finishing : of the best attempt's last descent if none meets the goals.
    """

    tasks: Tasks
    space: JointSpace
    minimise: Minimise
    options: Options
    nearby: Settings
    approaching: Settings | None
    arriving: Settings
    descending: Settings
    finishing: Settings

    @classmethod
    def of(
        cls, tasks: Tasks, space: JointSpace, minimise: Minimise, settings: Settings, first_damping: float,
        precise: bool,
    ) -> "Attempts":  # fmt: skip
        """The attempts of a stage with these `settings`; `precise`: whether its solver supports continuation."""
        options = settings.options
        descending = settings._replace(pull=0.0, first_damping=first_damping, abandons=precise)
        nearby = descending._replace(first_damping=FOLLOW_DAMPING, iterations=min(NEAR_ITERATIONS, options.iterations))
        approaching = nearby._replace(
            pull=PULL, first_damping=PULL, settle=APPROACH_SETTLED, unsettled=ANY, abandons=False,
            weights=settings.reluctance, iterations=min(APPROACH_ITERATIONS, options.iterations),
        )  # fmt: skip
        return cls(
            tasks, space, minimise, options, nearby, approaching if precise else None,
            nearby._replace(first_damping=POLISH_DAMPING, abandons=False), descending,
            descending._replace(abandons=False),
        )  # fmt: skip

    def near(self, best: Minimum, frame: int, one: Request, before: State) -> bool:
        """Attempts from starts near the pose `before` of one frame; returns whether one meets the goals.

        Of the attempts with the same spread the nearest that meets them replaces the frame in `best`.
        """
        random, index = SplitMix64(self.options.seed), np.array([frame])
        many = one.take(np.zeros(NEAR_STARTS, dtype=np.intp))
        many.base = before.take(np.zeros(NEAR_STARTS, dtype=np.intp))
        for spread in NEAR_SPREADS.tolist():
            state = self.space.near(random, many.base, spread)
            minimum = self.minimise(self.tasks, self.space, self.nearby, stand(self.tasks, state, many), many)
            best.iterations[frame] += minimum.iterations.sum()
            met = self._met(minimum.point)
            if met.any():
                far = np.where(met, self._distance(minimum.point.state, many.base), np.inf)
                chosen = int(np.argmax(far <= far.min() / NEARER))
                nearest, took = self._approached(minimum.point.take(np.array([chosen])), one, before)
                best.iterations[frame] += took
                best.point.error = best.point.error[:, : self.tasks.m]
                best.point.put(index, nearest)
                return True
        return False

    def middle(self, best: Minimum, frame: int, one: Request) -> None:
        """One attempt from the middle of the limits, at a frame solved with a pull; `best` changes if it is met."""
        state = self.space.middle(one.base)
        minimum = self.minimise(self.tasks, self.space, self.descending, stand(self.tasks, state, one), one)
        best.iterations[frame] += minimum.iterations.sum()
        if not self._met(minimum.point)[0]:
            return
        nearest, took = self._approached(minimum.point, one, one.base)
        best.iterations[frame] += took
        best.point.error = best.point.error[:, : self.tasks.m]
        best.point.put(np.array([frame]), nearest)

    def restart(self, best: Minimum, frame: int, one: Request, settled: bool) -> None:
        """Attempts from the middle of the limits, then from random states, until one converges; `best` keeps the best.

        Several run in one batch; the first of them that converges counts, as if they had run in turn. Their number is
        bounded, and their time if the options say so.

        settled : whether the descent to the frame in `best` ran to its end.
        """
        random, left, middle, began = SplitMix64(self.options.seed), self.options.restarts, True, time.perf_counter()
        index, seconds, rows = np.array([frame]), self.options.restart_seconds, self.tasks.m
        best_error = float(_squares(best.point.error[frame : frame + 1, :rows])[0])
        best.point.error = best.point.error[:, :rows]
        while left > 0 and (seconds is None or time.perf_counter() - began < seconds):
            tries = min(left, RESTARTS_AT_ONCE)
            many = one.take(np.zeros(tries, dtype=np.intp))
            state = self.space.sample(random, many.base.take(np.arange(middle, tries)))
            if middle:
                first = self.space.middle(one.base)
                state = State(np.concatenate([first.rotations, state.rotations]), np.concatenate([first.x, state.x]))
            minimum = self.minimise(self.tasks, self.space, self.descending, stand(self.tasks, state, many), many)
            error, met = _squares(minimum.point.error), self._met(minimum.point)
            chosen = int(np.argmax(met if met.any() else error <= error.min() / NEARER))
            best.iterations[frame] += minimum.iterations[: chosen + 1 if met.any() else tries].sum()
            if met[chosen] or error[chosen] < NEARER * best_error:
                best_error, settled = float(error[chosen]), False
                best.point.put(index, minimum.point.take(np.array([chosen])))
                if met[chosen]:
                    return
            left, middle = left - tries, False
        if not settled:
            begin = stand(self.tasks, best.point.state.take(index), one)
            finished = self.minimise(self.tasks, self.space, self.finishing, begin, one)
            best.iterations[frame] += finished.iterations.sum()
            best.point.put(index, finished.point)

    def _approached(self, answer: Point, one: Request, before: State) -> tuple[Point, int]:
        """An answer (1,) brought nearer to the pose before, as far as the goals allow, and the iterations it took."""
        if self.approaching is None:
            return answer, 0
        request = replace(one, base=before)
        pulled = self.minimise(self.tasks, self.space, self.approaching, answer, request)
        begin = stand(self.tasks, pulled.point.state, request)
        arrived = self.minimise(self.tasks, self.space, self.arriving, begin, request)
        took = int(pulled.iterations.sum() + arrived.iterations.sum())
        nearer = self._distance(arrived.point.state, before) < self._distance(answer.state, before)
        return (arrived.point if self._met(arrived.point)[0] and nearer[0] else answer), took

    def _distance(self, state: State, before: State) -> np.ndarray:
        """The largest turn [rad] or slide [skeleton lengths] of any joint (F,) between two poses."""
        return self.space.sizes(self.space.difference(state, before)).max(-1, initial=0.0)

    def _met(self, point: Point) -> np.ndarray:
        return self.tasks.within(point.error, self.options.tolerance, self.options.rotation_tolerance)


def _squares(error: np.ndarray) -> np.ndarray:
    """Sums of squares (F,) of error rows (F, m)."""
    return (error * error).sum(-1)
