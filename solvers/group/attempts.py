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

    def near(self, best: Minimum, frame: Request, before: State) -> tuple[Minimum, bool]:
        """Attempts from starts near the pose `before`; returns also whether one of them meets the goals.

        Of the attempts with the same spread the nearest that meets them replaces `best`.
        """
        random, iterations = SplitMix64(self.options.seed), best.iterations
        many = replace(frame, base=before).repeated(NEAR_STARTS)
        for spread in NEAR_SPREADS.tolist():
            minimum = self._from(self.space.near(random, many.base, spread), many, self.nearby)
            iterations = iterations + minimum.iterations.sum()
            met = self._met(minimum.point)
            if met.any():
                far = np.where(met, self._distance(minimum.point.state, many.base), np.inf)
                chosen = np.argmax(far <= far.min() / NEARER, keepdims=True)
                nearest, took = self._approached(minimum.point.take(chosen), frame, before)
                return Minimum(nearest, iterations + took, best.cost), True
        return Minimum(best.point, iterations, best.cost), False

    def middle(self, best: Minimum, frame: Request) -> Minimum:
        """The answer from the middle of the limits if it meets the goals, else `best`; for a frame with a pull."""
        minimum = self._from(self.space.middle(frame.base), frame)
        point, took = best.point, 0
        if self._met(minimum.point)[0]:
            point, took = self._approached(minimum.point, frame, frame.base)
        return Minimum(point, best.iterations + minimum.iterations + took, best.cost)

    def restart(self, best: Minimum, frame: Request, settled: bool) -> Minimum:
        """The best of attempts from the middle of the limits, then from random states, until one converges.

        Several run at once; the first of them that converges counts, as if they had run in turn. Their number is
        bounded, and their time if the options say so.

        settled : whether the descent to `best` ran to its end.
        """
        random, left, began = SplitMix64(self.options.seed), self.options.restarts, time.perf_counter()
        seconds, point, iterations = self.options.restart_seconds, best.point, best.iterations
        best_error, first = float(_squares(point.error[:, : self.tasks.m])[0]), self.space.middle(frame.base)
        while left > 0 and (seconds is None or time.perf_counter() - began < seconds):
            tries = min(left, RESTARTS_AT_ONCE)
            many = frame.repeated(tries)
            state = self.space.sample(random, many.base.take(np.arange(len(first.x), tries)))
            state = State(np.concatenate([first.rotations, state.rotations]), np.concatenate([first.x, state.x]))
            minimum = self._from(state, many)
            error, met = _squares(minimum.point.error), self._met(minimum.point)
            chosen = int(np.argmax(met if met.any() else error <= error.min() / NEARER))
            iterations = iterations + minimum.iterations[: chosen + 1 if met.any() else tries].sum()
            if met[chosen] or error[chosen] < NEARER * best_error:
                best_error, settled, point = float(error[chosen]), False, minimum.point.take(np.array([chosen]))
                if met[chosen]:
                    return Minimum(point, iterations, best.cost)
            left, first = left - tries, first.take(np.zeros(0, dtype=np.intp))
        if not settled:
            finished = self._from(point.state, frame, self.finishing)
            point, iterations = finished.point, iterations + finished.iterations
        return Minimum(point, iterations, best.cost)

    def _from(self, state: State, frames: Request, settings: Settings | None = None) -> Minimum:
        """A descent from states, with the settings of a restart by default."""
        begin = stand(self.tasks, state, frames)
        return self.minimise(self.tasks, self.space, settings or self.descending, begin, frames)

    def _approached(self, answer: Point, frame: Request, before: State) -> tuple[Point, int]:
        """An answer brought nearer to the pose before, as far as the goals allow, and the iterations it took."""
        if self.approaching is None:
            return answer, 0
        request = replace(frame, base=before)
        pulled = self.minimise(self.tasks, self.space, self.approaching, answer, request)
        arrived = self._from(pulled.point.state, request, self.arriving)
        took = int(pulled.iterations[0] + arrived.iterations[0])
        nearer = self._distance(arrived.point.state, before) < self._distance(answer.state, before)
        return (arrived.point if self._met(arrived.point)[0] and nearer[0] else answer), took

    def _distance(self, state: State, before: State) -> np.ndarray:
        """The largest turn [rad] or slide [skeleton lengths] of any joint (S,) between two poses."""
        return self.space.sizes(self.space.difference(state, before)).max(-1, initial=0.0)

    def _met(self, point: Point) -> np.ndarray:
        return self.tasks.within(point.error, self.options.tolerance, self.options.rotation_tolerance)


def _squares(error: np.ndarray) -> np.ndarray:
    """Sums of squares (S,) of error rows (S, m)."""
    return (error * error).sum(-1)
