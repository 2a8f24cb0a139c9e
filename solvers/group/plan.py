# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a stage: tables of attempts at a frame, each with a start, the descents from it, and when its end counts.

Afresh, with a pull, the answer nearest to the base pose is found by continuation: from limbs folded to their targets at
several swivels, by a pull that is strong at first and weakens step by step. While it is strong the costs show which
swivel leads to the cheapest answer, and only that one goes on. So the path to the answer, and the answer, depend
continuously on the targets. Without a pull there is one descent from the start. A few steps without the pull follow, so
that it costs no accuracy, and more without poles and holds if these keep goals from being met. Sweeps know no pull:
where they have met the goals, damped steps lead along the goals' null space toward the base pose.

A frame that misses its goals is solved again:

- from an arc, if its chain is straight and there is no pull;
- in stages: targets come from where effectors are in the base pose. A descent from the base pose to targets far away
  may end in a local minimum inside the limits: hands that reach for the floor bend a standing figure's spine as far as
  it goes, while its knees are straight. On the way there the hips sink in time. Where no joint is at a limit, and
  where the frame before missed its goals too, this has not been seen to help and is left out;
- from near poses. A finger that becomes straight, within its tolerance, may bend to the wrong side next, follow its
  target to the joint's limit, and stay there while the target moves on. A few descents from poses near the one before
  find the other side; of those that meet the goals the nearest is kept;
- from the middle of the limits, then from random poses (restarts).

Goals that cannot all be met are served in their order: the first ones are met, the others come as near as possible.
Goals that come later get smaller shares, and the descent goes on: first those of a lower priority, and where none of
these is missed, those to blame. They still pull the first goals a little off their targets. So the targets of those
that yield are then moved to about where these goals are, with still smaller shares, and a last descent meets the first
ones.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..algebra.uniform import SplitMix64
from ..iterate.descent import Minimise, Minimum, Settings, damped
from ..iterate.linear_step import dot
from ..methods import dls
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space import arc, limb
from ..space.joint_space import State
from ..space.point import Point, Request, evaluate
from ..space.yielding import YIELD_ALIKE, blame
from .stage import Stage
from .starts import arched, begin, folded, swivelled

CHOSEN_AFTER = 2  # number of pull strengths after which only the cheapest of several starts goes on
ALIKE = 0.05  # [rad] a start this near to a cheaper one after the first strength leads to the same answer
RETURN_NEARER = 0.99  # of the pull's objective: a pose that is hardly nearer to the base pose is not worth a step
FOLLOW_JUMP = (
    0.25  # [skeleton lengths] an error that grows by more in one frame is a jump, and the frame is solved afresh
)
FOLLOW_LOST = 1e-3  # [skeleton lengths] with a pull, a frame whose error is larger and has grown is solved afresh
NEAR_SPREADS = np.array(
    [0.4, 0.8]
)  # [rad, slides: skeleton lengths] largest distance of near starts from the pose before
NEAR_STARTS = 4  # per spread
RECOVER_ERROR = 0.25  # [skeleton lengths] a start with a larger error is not near its goals
RECOVER_SHARE = 0.5  # of its first error: a descent must end below it, unless the frame before met its goals
RESTARTS_AT_ONCE = 8
NEARER = 1.0 - 1e-9  # on ties, within rounding, keep the first attempt
STAGED_MISS = 5e-3  # [skeleton lengths] a frame that misses by less ends at a limit, not in a local minimum far away
STAGED_MISS_KNOWN = 1e-3  # the same where no joint slides, so that targets out of reach are known
STAGED_SHARE = 0.25  # of the sum of squared errors: the stages' answer counts if it is below this

_damped_steps = damped(dls.step)


class Work:
    """The solve of one frame: its request, and the best point so far.

    Attributes
    ----------
    first : the point that it begins at. frame : the request. best : the best point, with the goals' error rows.
    iterations : of all attempts. taken : of the last one. accepted : whether that one's end counts.
    targets : with the shares by which goals have yielded. base : the pose that restarts keep what has no limits from.
    met_before : whether the frame before met its goals; None for a frame that is solved afresh. missed_before :
        whether it is known to have missed them; for a frame that is solved afresh, too.
    settled : whether the descent to the best point ran to its end. restarted : the random starts that were tried.
    """

    def __init__(
        self, stage: Stage, pose: Pose, start: Pose, targets: Targets, links: np.ndarray | None, home: np.ndarray,
        residual: np.ndarray | None = None, follows: bool = False,
    ) -> None:  # fmt: skip
        """`home`: (1, J, 4) as `FrameArrays.home_rotations`. residual : (1, m) error rows of the frame before."""
        self.stage = stage
        self.first, self.frame = begin(stage, pose, start, targets, links)
        self.best, self.targets = self.first, self.frame.targets
        self.iterations = self.taken = self.restarted = 0
        self.accepted = False
        self.settled = follows or not stage.runs["phase"][0].abandons
        self.base = self.first.state if follows else self.frame.base
        self.met_before = (residual is not None and stage.met(replace(self.first, error=residual))) if follows else None
        self.missed_before = residual is not None and self.met_before is False
        self.random, self.restart_random = (SplitMix64(stage.options.seed) for _ in range(2))
        self.began = 0.0
        self._start, self._home = start, home

    def at(self, state: State) -> Point:
        """The point of one or more states."""
        return evaluate(self.stage.tasks, state, self.frame.repeated(len(state.x)))

    def misses(self) -> bool:
        """Whether the best point misses a goal."""
        return not self.stage.met(self.best)

    def blamed(self) -> np.ndarray:
        """The blame (1, G) of each goal if goals of its priority are missed; 0 for goals that do not yield.

        Targets were moved from the start pose, with the stage's joints as they are in `home`.
        """
        stage, start, placed = self.stage, self._start, self.stage.tasks.placed
        if self._home.any():
            start = Pose(start.rotations.copy(), start.translations)
            start.rotations[:, stage.space.moved] = self._home[:, stage.space.moved]
        effectors = stage.tasks.kinematics(stage.space.state(start), self.frame.links).effectors
        blamed, apart = np.zeros(effectors.shape[:2]), stage.yielding.apart[np.ix_(placed, placed)]
        if placed.size:
            share = blame(self.frame.targets.positions[:, placed], effectors[:, placed], apart)
            blamed[:, placed] = share * stage.yields[placed]
        return blamed


class Descent(NamedTuple):
    """One run of the iteration.

    Attributes
    ----------
    hard : over the goals alone, without poles and holds. when : whether it is needed at the point reached.
    request : what it is asked; the frame's own request by default. left : its iterations, of an attempt that has taken
        so many. choose : of several points, those that go on, and the iterations of the others that count.
    minimise : another iteration than the stage's.
    """

    settings: Settings
    hard: bool = False
    when: Callable[[Work, Point], bool] | None = None
    request: Callable[[Work, Point], Request] | None = None
    left: Callable[[Work, int], int] | None = None
    choose: Callable[[Work, Minimum], tuple[np.ndarray, int]] | None = None
    minimise: Minimise | None = None


class Attempt(NamedTuple):
    """A start and the descents from it. `when` it is made, and whether to `keep` its end; always by default.

    times : how often it is made, as long as `when` says so.
    """

    start: Callable[[Work], Point]
    descents: list[Descent]
    when: Callable[[Work], bool] | None = None
    keep: Callable[[Work, Point], bool] | None = None
    times: int = 1


class Plan:
    """The attempts of a stage: at a frame afresh, from the frame before, at one that is missed after it, in order.

    in_order_on : in order, from the frame before.
    """

    def __init__(self, stage: Stage) -> None:
        runs = stage.runs
        ends = _ends(stage)
        self.afresh = [Attempt(_start_of(stage), [*_phases(stage), *ends]), *_return(stage)]
        if stage.arcs and not stage.settings.pull:
            arcs = Attempt(_on_arcs, [Descent(runs["phase"][0]), *ends], _stuck, partial(_lower, share=1.0))
            self.afresh.append(arcs)
        if runs["staging"]:
            way = [
                Descent(settings, request=partial(_on_the_way, share=number / len(runs["staging"])))
                for number, settings in enumerate(runs["staging"], 1)
            ]
            way.append(Descent(runs["phase"][-1], when=partial(_lower, share=STAGED_SHARE)))
            self.afresh += [
                Attempt(_at_base, [*way, *ends], _far_off, partial(_lower, share=STAGED_SHARE)),
                Attempt(_in_the_middle, [Descent(runs["descending"][0], hard=True)], _far_off, _meets),
                *_nearer(stage, lambda work: work.frame.base),
            ]
        self.retries = [*_near(stage), *_restarts(stage)]
        self.afresh += self.retries
        going_on = _may_be_met if stage.continues else None
        self.following = [Attempt(_at_first, [Descent(runs["following"][0]), *ends], going_on)]
        if runs["polishing"]:
            self.following.append(Attempt(_at_best, [Descent(runs["following_missed"][0]), *ends], Work.misses))
        self.following += _return(stage)
        self.in_order = _yielding(runs["yielding"])
        self.in_order_on = _yielding([*runs["yielding"][:1], *runs["yielding_on"]])


def run(work: Work, attempts: list[Attempt]) -> None:
    """Make attempts at a frame, one after the other."""
    stage, frame, hard = work.stage, work.frame, work.stage.hard_tasks
    for attempt in (one for one in attempts for _ in _while_wanted(work, one)):
        point, others = attempt.start(work), 0
        taken = np.zeros(len(point.error), dtype=int)
        for descent in attempt.descents:
            settings = descent.settings
            if descent.when is not None and not descent.when(work, point):
                continue
            if descent.left is not None:
                settings = settings._replace(iterations=descent.left(work, int(taken[0])))
                if settings.iterations <= 0:
                    continue
            tasks = hard if descent.hard else stage.tasks
            request = (frame if descent.request is None else descent.request(work, point)).repeated(len(taken))
            point = replace(point, error=tasks.errors(point.kinematics, request.targets))
            minimum = (descent.minimise or stage.method.minimise)(tasks, stage.space, settings, point, request)
            point, taken = minimum.point, taken + minimum.iterations
            if len(taken) > 1 and descent.choose is not None:
                rows, others = descent.choose(work, minimum)
                point, taken = point.take(rows), taken[rows]
        work.taken = int(taken[0]) + others
        work.iterations += work.taken
        point = replace(point, error=hard.errors(point.kinematics, frame.targets))
        work.accepted = attempt.keep is None or attempt.keep(work, point)
        if work.accepted:
            work.best = point


def _while_wanted(work: Work, attempt: Attempt) -> Iterator[int]:
    """Counts how often an attempt is made."""
    for number in range(attempt.times):
        going, work.accepted = attempt.when is None or attempt.when(work), False
        if not going:
            return
        yield number


# -- continuation and polish -------------------------------------------------------------------------------------------


def _start_of(stage: Stage) -> Callable[[Work], Point]:
    """The start of a solve afresh: limbs folded with a pull, at several swivels in continuation."""
    if stage.settings.pull:
        swivels = limb.SWIVELS if stage.continues else limb.SWIVELS[:1]
        return lambda work: work.at(folded(stage, work.frame, swivels))
    return (lambda work: work.at(swivelled(stage, work.first.state, work.frame))) if stage.poles else _at_first


def _phases(stage: Stage) -> list[Descent]:
    return [
        Descent(settings, choose=_distinct if number < CHOSEN_AFTER else _cheapest)
        for number, settings in enumerate(stage.runs["phase"], 1)
    ]


def _distinct(work: Work, minimum: Minimum) -> tuple[np.ndarray, int]:
    """The starts that do not lead to the answer of a cheaper one; on ties the first start counts as cheaper."""
    order = np.argsort(minimum.cost, kind="stable")
    q = minimum.point.state.rotations[order][:, work.stage.space.moved]
    turns = np.abs((q[:, None] * q).sum(-1))  # (S, S, J) cosines of half the turns between them
    alike = (turns >= np.cos(0.5 * ALIKE)).all(-1)
    return np.sort(order[~np.triu(alike, 1).any(0)]), 0


def _cheapest(work: Work, minimum: Minimum) -> tuple[np.ndarray, int]:
    del work
    return np.argmin(minimum.cost, keepdims=True), 0


def _ends(stage: Stage) -> list[Descent]:
    """The last descents of an attempt."""

    def missed(work: Work, point: Point) -> bool:
        return not work.stage.met(point)

    def left(work: Work, taken: int) -> int:
        del work
        return stage.spend - taken

    polishing = stage.runs["polishing"]
    return [
        *map(Descent, polishing),
        *(Descent(settings, hard=True, when=missed) for settings in stage.runs["insisting"]),
        # solvers that take many small steps may settle before they meet the goals
        *(Descent(settings, True, missed, left=left) for settings in polishing if stage.spend),
    ]


def _return(stage: Stage) -> list[Attempt]:
    """Damped steps toward the base pose, and back to the goals, with the iterations that are left."""
    if not stage.runs["returning"]:
        return []
    pulled, arriving = stage.runs["returning"]

    def left(work: Work, taken: int = 0) -> int:
        del taken
        return min(stage.spend - arriving.iterations - work.taken, pulled.iterations)

    def can(work: Work) -> bool:
        return stage.met(work.best) and left(work) > 0

    def away(work: Work, point: Point) -> float:
        v = stage.space.difference(point.state, work.frame.base)
        return float(dot(stage.settings.weights * v, v)[0])

    def keep(work: Work, point: Point) -> bool:
        return stage.met(point) and away(work, point) < RETURN_NEARER * away(work, work.best)

    descents = [
        Descent(pulled, left=left, minimise=_damped_steps), Descent(arriving, hard=True, minimise=_damped_steps)
    ]  # fmt: skip
    return [Attempt(_at_best, descents, can, keep)]


# -- starts and conditions ---------------------------------------------------------------------------------------------


def _at_first(work: Work) -> Point:
    return work.first


def _at_best(work: Work) -> Point:
    return work.best


def _at_base(work: Work) -> Point:
    return work.at(work.frame.base)


def _in_the_middle(work: Work) -> Point:
    return work.at(work.stage.space.middle(work.frame.base))


def _on_arcs(work: Work) -> Point:
    return work.at(arched(work.stage, work.first.state, work.frame.targets, work.frame.links))


def _meets(work: Work, point: Point) -> bool:
    return work.stage.met(point)


def _lower(work: Work, point: Point, share: float) -> bool:
    """Whether a point has less than a share of the best one's sum of squared errors."""
    return work.stage.square(point) < share * work.stage.square(work.best)


def _may_be_met(work: Work) -> bool:
    """Whether a few steps may meet the goals. After a frame that missed them the longer descent is made at once."""
    return not work.missed_before


def _stuck(work: Work) -> bool:
    """Whether the chain of a missed goal is straight."""
    return work.misses() and bool(arc.stuck(work.best.kinematics, work.frame.targets, work.stage.arcs)[0])


def _far_off(work: Work) -> bool:
    """Whether goals are missed by much, at a limit but not by their reach, and no frame before has missed them, too."""
    stage, best = work.stage, work.best
    miss = STAGED_MISS_KNOWN if stage.recovers else STAGED_MISS
    if work.missed_before or not work.misses() or stage.largest_error(best) <= miss:
        return False
    return not stage.beyond_reach(best, work.frame) and bool(stage.space.at_limit(best.state.x[0]).any())


def _on_the_way(work: Work, point: Point, share: float) -> Request:
    """The frame's request with its targets at a share of their way from the base pose's effectors."""
    del point
    tasks, targets = work.stage.tasks, work.frame.targets
    base = tasks.kinematics(work.frame.base, work.frame.links)
    left = np.full((1, len(work.stage.goals)), share - 1.0)
    return replace(work.frame, targets=tasks.shifted(targets, base, targets, left))


# -- near starts and restarts ------------------------------------------------------------------------------------------


def _near(stage: Stage) -> list[Attempt]:
    """Attempts from starts near the first pose, each followed by steps back to it."""

    def before(work: Work) -> State:
        return work.first.state

    def start(work: Work, spread: float) -> Point:
        like = before(work).take(np.zeros(NEAR_STARTS, dtype=np.intp))
        return work.at(stage.space.near(work.random, like, spread))

    descent = Descent(stage.runs["nearby"][0], hard=True, request=partial(_led_to, base=before), choose=_nearest)
    return [
        attempt for spread in NEAR_SPREADS.tolist()
        for attempt in (
            Attempt(partial(start, spread=spread), [descent], _may_recover, _meets), *_nearer(stage, before)
        )
    ]  # fmt: skip


def _led_to(work: Work, point: Point, base: Callable[[Work], State]) -> Request:
    """The frame's request with another base pose of the pull."""
    del point
    return replace(work.frame, base=base(work))


def _nearer(stage: Stage, base: Callable[[Work], State]) -> list[Attempt]:
    """Bring the answer of the attempt before nearer to a pose, as far as the goals allow."""
    if not stage.runs["approaching"]:
        return []
    request = partial(_led_to, base=base)

    def found(work: Work) -> bool:
        return work.accepted

    def keep(work: Work, point: Point) -> bool:
        away, before = (_distance(stage, one.state, base(work)) for one in (point, work.best))
        return stage.met(point) and bool(away < before)

    steps = *stage.runs["approaching"], *stage.runs["arriving"]
    descents = [Descent(settings, True, request=request) for settings in steps]
    return [Attempt(_at_best, descents, found, keep)]


def _distance(stage: Stage, state: State, before: State) -> np.ndarray:
    """The largest turn [rad] or slide [skeleton lengths] of any joint (S,) between two poses."""
    return stage.space.sizes(stage.space.difference(state, before)).max(-1, initial=0.0)


def _nearest(work: Work, minimum: Minimum) -> tuple[np.ndarray, int]:
    """Of those that meet the goals the nearest to the first pose; all count."""
    before, stage, point = work.first.state, work.stage, minimum.point
    met = _which_meet(stage, point)
    like = before.take(np.zeros(len(met), dtype=np.intp))
    far = np.where(met, _distance(stage, point.state, like), np.inf)
    chosen = int(np.argmax(far <= far.min() / NEARER)) if met.any() else 0
    return np.array([chosen]), int(minimum.iterations.sum() - minimum.iterations[chosen])


def _which_meet(stage: Stage, point: Point) -> np.ndarray:
    """Which points (S,) meet the goals."""
    return stage.tasks.within(point.error, stage.options.tolerance, stage.options.rotation_tolerance)


def _may_recover(work: Work) -> bool:
    """Whether another start may meet the goals of a frame that began near them and misses them.

    It may if the frame before met its goals, or if the descent has brought them much nearer: so targets that stay out
    of reach do not make every frame slow. With a pull only the first counts: poses far from the one before would not
    follow the targets continuously.
    """
    stage = work.stage
    if not work.misses():
        return False
    if work.met_before is not None and stage.options.restarts:
        return True
    if not stage.recovers or stage.beyond_reach(work.first, work.frame):
        return False
    if stage.settings.pull or work.met_before:
        return bool(work.met_before)
    near = stage.largest_error(work.first) <= RECOVER_ERROR
    return near and stage.square(work.best) < RECOVER_SHARE**2 * stage.square(work.first)


def _restarts(stage: Stage) -> list[Attempt]:
    """Attempts from the middle of the limits, then from random states, until one converges.

    Several run at once; the first of them that converges counts, as if they had run in turn. Their number is bounded,
    and their time if the options say so.
    """
    restarts, space = stage.options.restarts, stage.space

    def start(work: Work) -> Point:
        number = work.restarted
        tries = min(restarts - number, RESTARTS_AT_ONCE)
        work.restarted += tries
        like = work.base.take(np.zeros(tries if number else tries - 1, dtype=np.intp))
        state = space.sample(work.restart_random, like)
        if not number:
            middle = space.middle(work.base)
            state = State(np.concatenate([middle.rotations, state.rotations]), np.concatenate([middle.x, state.x]))
        return work.at(state)

    def has_time(work: Work) -> bool:
        work.began = work.began or time.perf_counter()
        seconds = stage.options.restart_seconds
        return work.misses() and (seconds is None or time.perf_counter() - work.began < seconds)

    def keep(work: Work, point: Point) -> bool:
        better = stage.met(point) or _lower(work, point, NEARER)
        work.settled &= not better
        return better

    def unsettled(work: Work) -> bool:
        return work.misses() and not work.settled

    descent = Descent(stage.runs["descending"][0], hard=True, choose=_first_or_best)
    tries = Attempt(start, [descent], has_time, keep, times=-(-restarts // RESTARTS_AT_ONCE))
    finish = Attempt(_at_best, [Descent(stage.runs["finishing"][0], hard=True)], unsettled)
    return [tries, finish] if restarts else []


def _first_or_best(work: Work, minimum: Minimum) -> tuple[np.ndarray, int]:
    """The first that meets the goals, with the iterations of those before it; else the best of all."""
    met, error = _which_meet(work.stage, minimum.point), (minimum.point.error**2).sum(-1)
    chosen = int(np.argmax(met if met.any() else error <= error.min() / NEARER))
    counted = minimum.iterations[: chosen + 1 if met.any() else len(met)].sum()
    return np.array([chosen]), int(counted - minimum.iterations[chosen])


# -- precedence --------------------------------------------------------------------------------------------------------


def _yielding(runs: list[Settings]) -> list[Attempt]:
    """The attempt in the order of the goals; none if all are equal."""
    descents = [
        Descent(settings, request=partial(_in_order, first=not number)) for number, settings in enumerate(runs)
    ]
    return [Attempt(_at_best, descents, _may_yield)] if descents else []


def _may_yield(work: Work) -> bool:
    """Whether goals are missed and some of them yield to others."""
    if not work.misses():
        return False
    shares = work.stage.precedence.shares(_misses(work, work.best), work.blamed(), _full(work))
    return bool((shares > (1.0 + YIELD_ALIKE) * shares.min()).any())


def _in_order(work: Work, point: Point, first: bool) -> Request:
    """The frame's request with shares; after the first time with the targets moved, too."""
    stage, targets, precedence = work.stage, work.frame.targets, work.stage.precedence
    misses, blamed, full = _misses(work, point), work.blamed(), _full(work)
    if first:
        shares = precedence.shares(misses, blamed * precedence.spared(misses, full), full)
        # shares are raised, so that the pull stays weaker than the goals that yield
        away, factor = np.zeros(shares.shape), shares.min(-1, keepdims=True) ** -0.25
    else:
        shares = precedence.shares(misses, blamed, full)
        away, factor = shares - 1.0, shares
    work.targets = targets._replace(shares=shares)
    moved = stage.tasks.shifted(targets, point.kinematics, targets, away)
    return replace(work.frame, targets=moved._replace(shares=factor * shares))


def _misses(work: Work, point: Point) -> np.ndarray:
    return work.stage.tasks.misses(point.kinematics, work.frame.targets)


def _full(work: Work) -> np.ndarray:
    """The shares (1, G) at an error of 0."""
    shares = work.frame.targets.shares
    return np.ones((1, len(work.stage.goals))) if shares is None else shares
