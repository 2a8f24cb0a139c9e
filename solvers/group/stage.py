# SPDX-License-Identifier: GPL-3.0-or-later
"""One stage of a solve: goals whose chains share joints, solved together, for a batch of frames.

With a pull the answer is the pose nearest to the base pose that meets the goals, and a frame solved afresh finds it
by continuation: from limbs folded to their targets, with the pull strong at first and weaker by steps, so that the
path to the answer, and the answer, follow the targets continuously. Without a pull it is one descent from the start.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..iterate.descent import ANY, Minimum, Settings
from ..methods.table import Method
from ..model.goals import Goal, Targets
from ..model.options import Options
from ..model.skeleton import Pose, Skeleton
from ..space import arc, limb, poles
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from ..space.poles import Pole
from ..space.tasks import Tasks
from ..space.yielding import YIELD_ROUNDS, Yielding, blame, shares_of_missed
from .attempts import RECOVER_ERROR, RECOVER_SHARE, Attempts

PULL = 1e-5
FIRST_DAMPING = 1e-2  # without a pull
FIRST_DAMPING_GROWTH = 1.5  # its power of the degrees of freedom a row: many joints together carry a goal far
CONTINUATION = (1e3, 1e2)  # multiples of the pull on the way to it
CONTINUATION_ITERATIONS = 4
CONTINUATION_POLE_ITERATIONS = 8  # a limb may have to turn half round to its pole
CHOSEN_AFTER = 2  # strengths of the pull, after which only the cheapest of several starts is followed
ALIKE = 0.05  # [rad] nearer to a cheaper start after the first strength, a start is on its way to the same answer
CONTINUATION_SETTLED = 5e-2  # [rad] step at which one strength of the pull has done its work
SETTLED = 1e-3  # [rad] and the last one
UNSETTLED = 2e-5  # [rad] that may be left to go then
TRACK_DAMPING = 1e-4
TRACK_ITERATIONS = 6
TRACK_MISSED_ITERATIONS = 20  # more where a goal is missed, so that it does not drag others along
TRACK_SETTLED, TRACK_UNSETTLED = 5e-2, 3e-2
TRACK_JUMP = 0.25  # [skeleton lengths] an error that grew by more in one frame is a jump: solve it afresh
TRACK_LOST = 1e-3  # [skeleton lengths] error with which a tracked frame counts as lost
POLISH_ITERATIONS = 3
POLISH_DAMPING = 1e-8
INSIST_ITERATIONS = 20  # without poles, where they kept the goals from being met
POLISH_SHARE = 0.2  # of the tolerances, to which the pull-free steps bring the error
NEAR_ITERATIONS = 12
APPROACH_ITERATIONS, APPROACH_SETTLED = 10, 2e-2
YIELD_ITERATIONS = 10  # of each solve in which goals that were missed yield

SHARED_RELUCTANCE = 2.0  # joints that serve several goals: a spine moves less than an arm
EFFECTOR_RELUCTANCE = 2.0


class Phases(NamedTuple):
    """The settings of a stage's runs of the outer iteration, one after the other."""

    continues: bool
    phases: list[Settings]  # of a solve from afresh
    chosen_after: int  # phases, after which only the cheapest of several starts is followed
    tracking: Settings
    tracking_missed: Settings
    polishing: Settings | None
    insisting: Settings
    yielding: Settings | None
    spend: int  # iterations in all, where those left over are spent on goals that are missed; else 0
    reluctance: np.ndarray  # (n,)


class Stage:
    """Some goals of a skeleton with the joints they may move, prepared for solving batches of frames."""

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], indices: Sequence[int], chains: np.ndarray, method: Method,
        options: Options, parts: Sequence["Stage"] = (),
    ) -> None:  # fmt: skip
        """`indices`: which of all the `goals` this stage solves; `chains` (G, J) bool is of all of them.

        parts : the stages of its lanes, if it has more than one; see `side_by_side`.
        """
        self.skeleton, self.options, self._method = skeleton, options, method
        self._minimise = method.minimise
        self.indices = np.array(indices, dtype=np.intp)
        self.goals = [goals[g] for g in indices]
        self.chains = chains[self.indices]
        self.space = JointSpace(skeleton, np.any(self.chains, axis=0))
        self.parts = list(parts) or [self]
        lane = np.zeros(len(self.goals), dtype=np.intp)
        for number, part in enumerate(parts):
            lane[np.searchsorted(self.indices, part.indices)] = number
        self.limbs = limb.find_limbs(skeleton, self.goals, self.chains)
        if parts:  # a limb's side counts within its lane
            self.limbs = [
                replace(one, goal=int(np.flatnonzero(lane == number)[one.goal]))
                for number, part in enumerate(parts) for one in part.limbs
            ]  # fmt: skip
        plain = options.unit_angle is None  # else the start and the steps are prescribed
        self.arcs = arc.find_arcs(skeleton, self.goals, self.chains, self.space) if plain else []
        slides = np.array(skeleton.kinds) == "prismatic"
        slides[self.space.joint] = False
        self.still_slides = np.flatnonzero(slides)
        self._poles = [pole for g in range(len(self.goals)) if (pole := self._pole(g))]
        self.tasks = Tasks(skeleton, self.goals, self.space, self.chains, self._poles, lane)
        self._hard_tasks = (
            Tasks(skeleton, self.goals, self.space, self.chains, lane=lane) if self._poles else self.tasks
        )
        self.lanes = self._hard_tasks.lanes
        self._folds = np.isin(np.arange(self.lanes.count), lane[[one.goal for one in self.limbs]])
        self.yielding = Yielding(skeleton, self.goals, self.space, self.chains, lane)
        wanted = PULL if self.limbs or options.bias == "MIDDLE" else 0.0
        pull = wanted if options.pull is None else options.pull
        self._first_damping = FIRST_DAMPING * max(1.0, self.space.n / max(self.tasks.m, 1)) ** FIRST_DAMPING_GROWTH
        first = np.array([part._first_damping for part in parts]) if parts else self._first_damping
        self.settings = Settings(
            options.iterations, options.tolerance, options.rotation_tolerance, options.damping,
            pull or first, pull, SETTLED, self._reluctance(), options, UNSETTLED,
        )  # fmt: skip
        polish = min(POLISH_ITERATIONS, options.iterations)
        if pull or self._poles:
            self.settings = replace(self.settings, iterations=options.iterations - polish)
        most = TRACK_ITERATIONS if method.continues else options.iterations
        self._tracking = (
            replace(self.settings, iterations=min(options.iterations - polish, most), settle=TRACK_SETTLED,
                    unsettled=TRACK_UNSETTLED)
            if pull or self._poles else replace(self.settings, first_damping=TRACK_DAMPING)
        )  # fmt: skip
        self._tracking_missed = (
            replace(self._tracking, iterations=min(options.iterations - polish, TRACK_MISSED_ITERATIONS))
            if pull or self._poles else self._tracking
        )  # fmt: skip
        wanted = CONTINUATION_POLE_ITERATIONS if self._poles else CONTINUATION_ITERATIONS
        most = min(wanted, self.settings.iterations // (len(CONTINUATION) + 1))
        self._phases = [
            replace(self.settings, pull=factor * pull, first_damping=factor * pull, settle=CONTINUATION_SETTLED,
                    unsettled=ANY, iterations=most) for factor in CONTINUATION
        ]  # fmt: skip
        self._phases.append(replace(self.settings, iterations=self.settings.iterations - most * len(CONTINUATION)))
        self._polishing = replace(
            self.settings, pull=0.0, iterations=polish, first_damping=POLISH_DAMPING,
            tolerance=POLISH_SHARE * options.tolerance, rotation_tolerance=POLISH_SHARE * options.rotation_tolerance,
        )  # fmt: skip
        self._insisting = replace(self._polishing, iterations=INSIST_ITERATIONS, first_damping=FIRST_DAMPING)
        self.recovers = not pull and not self._poles and plain
        abandons = self.recovers and options.restarts > 0 and method.continues
        self._first = replace(self.settings, abandons=abandons)
        self.attempts = self._attempts()
        self.alone = (self.chains & (self.chains.sum(0) == 1)).any(-1)  # goals with joints of their own
        own = plain and pull > 0.0 and len(self.tasks.placed) > 1 and bool(self.alone.any())
        self.yields = any(part.yields for part in parts) if parts else own
        self._yielding = replace(
            self.settings, iterations=min(YIELD_ITERATIONS, self.settings.iterations),
            first_damping=pull or TRACK_DAMPING,
        )  # fmt: skip

    def phases(self) -> "Phases":
        """The settings of all that a solve may run, as the compiled kernel needs them."""
        polishes = self.settings.pull or self._poles
        continues = bool(self.settings.pull) and self._method.continues
        return Phases(
            continues, self._phases if continues else [self._first], CHOSEN_AFTER, self._tracking,
            self._tracking_missed, self._polishing if polishes else None, self._insisting,
            self._yielding if self.yields else None,
            0 if self._method.continues else self.options.iterations, self.settings.reluctance,
        )  # fmt: skip

    def solve(
        self, start: Pose, targets: Targets, links: np.ndarray | None, lanes: np.ndarray | None = None
    ) -> tuple[Point, np.ndarray]:
        """Solve frames afresh from their start poses: where they end, and the iterations (F,) they took.

        lanes : (F, L) as in `Request`.
        """
        given, frames = self.stand(start, start, targets, links)
        frames.lanes = lanes
        if self.settings.pull and self._method.continues:
            minimum = self._continue(frames)
        else:
            begin = given
            if self.settings.pull:
                begin = stand(self.tasks, self._folded(frames, limb.SWIVELS[:1]), frames)
            elif self._poles:
                state = given.state
                for pole in self._poles:
                    state = self._swivelled(pole, state, frames)
                begin = stand(self.tasks, state, frames)
            minimum = self._minimise(self.tasks, self.space, self._first, begin, frames)
        minimum = self._polish(minimum, frames)
        if self.arcs and not self.settings.pull:
            self._unstick(minimum, given, frames)
        if self.recovers or self.options.restarts:
            for frame, lane in np.argwhere(self._missed(minimum.point, frames)).tolist():
                part, best, before, one = self._alone(lane, frame, minimum, given, frames)
                recovers = part._recovers(before, best.point, one, met_before=False)
                met = recovers and part.attempts.near(best, 0, one, before.state)
                if not met and self.options.restarts:
                    part.attempts.restart(best, 0, one, settled=not self._first.abandons)
                self._put(minimum, frame, lane, best)
        yielding = self._let_yield(minimum, frames, start)
        return self._no_worse(minimum.point, given, yielding), minimum.iterations.sum(-1)

    def track(
        self, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None, residual: np.ndarray | None
    ) -> tuple[Point, np.ndarray]:
        """Solve one frame from the frame before it; as `solve` where the targets jumped or the track is lost.

        residual : (1, m) the error rows that the frame before ended with; None if not known.
        """
        settings, rows = self.settings, self.lanes.rows
        given, frames = self.stand(previous, start, targets, links)
        before = np.zeros((1, self.tasks.m)) if residual is None else residual[:, : self.tasks.m]
        jumped = rows.largest(np.abs(given.error[:, : self.tasks.m] - before)) > TRACK_JUMP
        if jumped.all():
            return self.solve(start, targets, links)
        if jumped.any():
            frames.lanes = ~jumped
        minimum = self._polish(self._minimise(self.tasks, self.space, self._tracking, given, frames), frames)
        if settings.pull or self._poles:
            missed = self._missed(minimum.point, frames)
            if missed.any():
                point, took = stand(self.tasks, minimum.point.state, frames), minimum.iterations
                again = replace(frames, lanes=missed)
                minimum = self._minimise(self.tasks, self.space, self._tracking_missed, point, again)
                minimum = self._polish(minimum, again)
                minimum.iterations += took
        error, afresh = rows.largest(np.abs(minimum.point.error[:, : self.tasks.m])), jumped
        if settings.pull:
            afresh = jumped | (error > np.maximum(TRACK_LOST, 1.1 * rows.largest(np.abs(before))))
        more = 0
        if afresh.any():
            point, more = self.solve(start, targets, links, afresh)
            better = jumped | (afresh & (self._squares(point.error) < self._squares(minimum.point.error)))
            minimum.point = point.where(self.lanes, better, minimum.point)
        if self.recovers or self.options.restarts:
            for _, lane in np.argwhere(self._missed(minimum.point, frames)).tolist():
                part, best, warm, one = self._alone(lane, 0, minimum, given, frames)
                own = None if residual is None else residual[:, self._rows_of(lane, residual)]
                part._retry(best, warm, one, own)
                self._put(minimum, 0, lane, best)
        self._let_yield(minimum, frames, start)
        return minimum.point, minimum.iterations.sum(-1) + more

    def _let_yield(self, minimum: Minimum, frames: Request, start: Pose) -> Targets:
        """Solve frames that miss goals again, with smaller shares for the goals to blame; the targets with the shares.

        The errors in `minimum` are those without the shares.
        """
        placed, targets = self.tasks.placed, frames.targets
        if not self.yields:
            return targets
        lanes = self._missed(minimum.point, frames) & [part.yields for part in self.parts]
        missed = np.flatnonzero(lanes.any(-1))
        if not missed.size:
            return targets
        some, point = replace(frames.take(missed), lanes=lanes[missed]), minimum.point.take(missed)
        lane = self.lanes.goals[placed]
        state = self.space.state(start, len(targets.positions)).take(missed)
        begun = self.tasks.kinematics(state, some.links).effectors[:, placed]
        blamed = (self.alone[placed] & lanes[missed][:, lane]).astype(float)
        for own in (lane == number for number in range(self.lanes.count)):
            blamed[:, own] *= blame(some.targets.positions[:, placed[own]], begun[:, own])
        full = np.ones((len(missed), len(self.goals))) if some.targets.shares is None else some.targets.shares
        request = some
        for number in range(YIELD_ROUNDS):
            shares, away = full.copy(), some.targets.positions[:, placed] - point.kinematics.effectors[:, placed]
            errors = np.sqrt((away * away).sum(-1)) / self.skeleton.length
            shares[:, placed] *= shares_of_missed(errors, blamed)
            request = replace(some, targets=some.targets._replace(shares=shares))
            begin = stand(self.tasks, point.state, request)
            found = self._minimise(self.tasks, self.space, self._yielding, begin, request)
            if number + 1 == YIELD_ROUNDS:
                found = self._polish(found, request)
            minimum.iterations[missed] += found.iterations
            point = found.point
        minimum.point = minimum.point.copy()
        minimum.point.error = minimum.point.error[:, : self.tasks.m]
        minimum.point.put(missed, stand(self._hard_tasks, point.state, some))
        shares = np.ones((len(targets.positions), len(self.goals))) if targets.shares is None else targets.shares.copy()
        shares[missed] = request.targets.shares
        return targets._replace(shares=shares)

    def _retry(self, minimum: Minimum, given: Point, frames: Request, residual: np.ndarray | None) -> None:
        """Other starts for a frame that misses its goals, from the frame before it: near ones, then the restarts."""
        met_before = residual is not None and bool(self._met(residual).all())
        begin = replace(frames, base=given.state)
        near = self.options.restarts > 0 or self._recovers(given, minimum.point, frames, met_before)
        if near and self.attempts.near(minimum, 0, begin, given.state):
            return
        if self.options.restarts:
            self.attempts.restart(minimum, 0, begin, settled=True)

    def stand(
        self, pose: Pose, start: Pose, targets: Targets, links: np.ndarray | None = None
    ) -> tuple[Point, Request]:
        """Where frames in a pose stand, and what they ask for if `start` is what the pull leads to."""
        links = self._with_still_slides(start, links)
        state = self.space.state(pose, len(targets.positions))
        kinematics = self.tasks.kinematics(state, links)
        frames = self.frames(start, targets, links, kinematics.positions)
        return Point(state, kinematics, self.tasks.errors(kinematics, frames.targets)), frames

    def frames(self, start: Pose, targets: Targets, links: np.ndarray | None, positions: np.ndarray) -> Request:
        """What the frames ask for, with targets out of reach yielding, and poles already kept by the base pose.

        positions : (F, J, 3) of the joints in any pose.
        """
        known_links = self.skeleton.links if links is None else links
        frames = Request(
            self._base(start, targets, links), self.yielding.targets(positions, known_links, targets), links
        )
        if self.settings.pull:
            for pole in self._poles:
                frames.base = self._swivelled(pole, frames.base, frames)
        return frames

    # -- inside -------------------------------------------------------------------------------------------------------

    def _with_still_slides(self, start: Pose, links: np.ndarray | None) -> np.ndarray | None:
        """Links with the slides that this stage does not move put where the start pose has them."""
        if not self.still_slides.size:
            return links
        links = np.array(self.skeleton.links[None] if links is None else links)
        count = max(len(links), len(start.translations))
        links = np.array(np.broadcast_to(links, (count, *links.shape[1:])))
        moved = dual_quaternion.from_parts(quaternion.IDENTITY, start.translations[:, self.still_slides])
        links[:, self.still_slides] = dual_quaternion.product(links[:, self.still_slides], moved)
        return links

    def _reluctance(self) -> np.ndarray:
        """How unwilling each degree of freedom is to move (n,): the metric of the pull and of the damping.

        Equal for all of a joint's, which keeps the pull's gradient simple (`JointSpace.pull_gradient`).
        """
        space, skeleton = self.space, self.skeleton
        joint = np.ones(len(skeleton))
        joint[self.chains.sum(0) > 1] *= SHARED_RELUCTANCE
        joint[np.unique([goal.joint for goal in self.goals])] *= EFFECTOR_RELUCTANCE
        joint /= np.maximum(1.0 - skeleton.stiffness, 1e-3) ** 2
        return joint[space.joint] * np.where(space.turns, 1.0, 1.0 / skeleton.length**2)

    def _pole(self, g: int) -> Pole | None:
        """The pole of a goal: on its limb where the chain has one, else on the whole chain."""
        goal, skeleton = self.goals[g], self.skeleton
        if goal.pole is None or goal.position is None:
            return None
        for part in self.limbs:
            if self.chains[g, part.lower] and self.chains[g, part.upper]:
                return Pole(g, part.upper, (part.lower,), part.end, goal.pole_angle, poles.POLE_WEIGHT)
        path = [j for j in skeleton.order if self.chains[g, j]]
        return Pole(g, path[0], tuple(path[1:]), -1, goal.pole_angle, poles.POLE_WEIGHT) if len(path) > 1 else None

    def _base(self, start: Pose, targets: Targets, links: np.ndarray | None) -> State:
        """The pose that the pull aims at: the start or the middle of the limits.

        Limbs are bent as they prefer and towards what their targets need, other straight chains to an arc that points
        at the target.
        """
        state = self.space.state(start, len(start.rotations))
        if self.settings.pull and self.options.bias == "MIDDLE":
            state = self.space.middle(state)
        if self.settings.pull and self.limbs:
            kinematics = self.tasks.kinematics(state, links)
            bent = limb.bend_base(self.limbs, state.rotations, kinematics, targets.positions)
            state = self._turned(state, bent)
        return self._arched(state, targets, links) if self.settings.pull else state

    def _arched(self, state: State, targets: Targets, links: np.ndarray | None) -> State:
        """`state` with its straight chains bent to arcs that point at their targets."""
        if not self.arcs:
            return state
        kinematics = self.tasks.kinematics(state, links)
        return self._turned(state, arc.bend(state.rotations, kinematics, targets, self.arcs, self.skeleton.axis))

    def _continue(self, frames: Request) -> Minimum:
        """The nearest answers by continuation in the pull, from limbs folded to their targets at several swivels.

        Which swivel leads to the cheapest answer shows while the pull is strong; only that one is followed further.
        """
        count, cost = len(frames.targets.positions), np.zeros((0, 0))
        state = self._folded(frames, limb.SWIVELS)
        tries = len(state.rotations) // count
        many = frames if tries == 1 else frames.take(np.tile(np.arange(count), tries))
        point, index = stand(self.tasks, state, many), np.arange(count * tries, dtype=np.intp)
        every = np.ones((len(index), self.lanes.count), dtype=bool)
        alive: np.ndarray = every if many.lanes is None else many.lanes.copy()
        alive[count:] &= self._folds
        iterations: np.ndarray = np.zeros(alive.shape, dtype=int)
        for number, settings in enumerate(self._phases):
            undecided = tries > 1 and number < CHOSEN_AFTER
            request = replace(many, lanes=alive) if undecided else many
            minimum = self._minimise(self.tasks, self.space, settings, point, request)
            point, cost, iterations = minimum.point, minimum.cost, iterations + minimum.iterations
            if not undecided:
                continue
            if number + 1 < CHOSEN_AFTER:
                alive = self._distinct(point.state, cost, index % count, alive)
                keep = np.flatnonzero(alive.any(-1))
                index, alive, iterations = index[keep], alive[keep], iterations[keep]
                point, many = point.take(keep), frames.take(index % count)
            else:
                costs = np.full((tries * count, alive.shape[1]), np.inf)
                costs[index] = np.where(alive, cost, np.inf)
                chosen = np.argmin(costs.reshape(tries, count, -1), axis=0) * count + np.arange(count)[:, None]
                rows = np.asarray(np.searchsorted(index, chosen), dtype=np.intp)
                iterations, many = np.take_along_axis(iterations, rows, axis=0), frames
                point = point.gather(self.tasks.lanes, rows)
        return Minimum(point, iterations, cost)

    def _distinct(self, state: State, cost: np.ndarray, frame: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Which starts of each `frame` (S,), lane by lane, are not on their way to the answer of a cheaper one.

        cost : (S, L). alive : (S, L) bool, the starts that count.
        """
        left = np.zeros(alive.shape, dtype=bool)
        for lane in range(self.lanes.count):
            some = np.flatnonzero(alive[:, lane])
            joints = self.space.joint[self.lanes.freedoms.of == lane]
            turned = state.rotations[some[:, None], joints]
            left[some, lane] = _distinct(turned, cost[some, lane], frame[some])
        return left

    def _folded(self, frames: Request, swivels: np.ndarray) -> State:
        """Start states: the base with its limbs folded, one after the other for each swivel (S F frames)."""
        base, targets = frames.base, frames.targets
        if not self.limbs and not self._poles:
            return base
        kinematics = self.tasks.kinematics(base, frames.links)
        starts: list[State] = []
        for angle in swivels if self.limbs else swivels[:1]:
            rotations = limb.fold(self.limbs, self.goals, base.rotations, kinematics, targets, angle)
            state = self._turned(base, rotations)
            for pole in self._poles:
                state = self._swivelled(pole, state, frames)
            starts.append(state)
        return State(np.concatenate([s.rotations for s in starts]), np.concatenate([s.x for s in starts]))

    def _unstick(self, minimum: Minimum, given: Point, frames: Request) -> None:
        """Descend again, from an arc, in frames that end with a goal missed and a chain straight."""
        lane = self.lanes.goals[[one.goal for one in self.arcs]]
        at, arcs = minimum.point.kinematics, list(zip(self.arcs, lane.tolist(), strict=True))
        straight = [
            arc.stuck(at, frames.targets, [one for one, own in arcs if own == number])
            for number in range(self.lanes.count)
        ]
        stuck = self._missed(minimum.point, frames) & np.stack(straight, -1)
        index = np.flatnonzero(stuck.any(-1))
        if not index.size:
            return
        some, before = replace(frames.take(index), lanes=stuck[index]), minimum.point.take(index)
        begin = stand(self.tasks, self._arched(given.state.take(index), some.targets, some.links), some)
        again = self._polish(self._minimise(self.tasks, self.space, self._first, begin, some), some)
        minimum.iterations[index] += again.iterations
        better = stuck[index] & (self._squares(again.point.error) < self._squares(before.error))
        minimum.point = minimum.point.copy()
        minimum.point.put(index, again.point.where(self.lanes, better, before))

    def _turned(self, state: State, rotations: np.ndarray) -> State:
        """`state` with other rotations, brought inside the limits."""
        slides = self.space.slides(state.x)
        translations = np.zeros((*rotations.shape[:2], 3)) if slides is None else slides
        return self.space.state(Pose(rotations, translations), len(rotations))

    def _swivelled(self, pole: Pole, state: State, frames: Request) -> State:
        """`state` with a chain turned about its line until its middle points at the pole."""
        kinematics = self.tasks.kinematics(state, frames.links)
        at, root = kinematics.positions, pole.root
        end = kinematics.effectors[:, pole.goal] if pole.end < 0 else at[:, pole.end]
        if self.skeleton.kinds[root] != "ball" or root not in self.space.joint:
            return state
        turned = state.rotations.copy()
        turned[:, root] = poles.swivel(
            turned[:, root], kinematics.matrices[:, root], at[:, root], at[:, list(pole.middle)].mean(1), end,
            frames.targets.poles[:, pole.goal], pole.angle,
        )  # fmt: skip
        return self._turned(state, turned)

    def _attempts(self) -> Attempts:
        """What is tried where a frame misses its goals."""
        descending = replace(
            self.settings, pull=0.0, first_damping=self._first_damping, abandons=self._method.continues
        )
        nearby = replace(
            descending, first_damping=TRACK_DAMPING, iterations=min(NEAR_ITERATIONS, self.options.iterations)
        )
        approaching = replace(
            nearby, pull=PULL, first_damping=PULL, settle=APPROACH_SETTLED, unsettled=ANY, abandons=False,
            iterations=min(APPROACH_ITERATIONS, self.options.iterations),
        )  # fmt: skip
        return Attempts(
            self._hard_tasks, self.space, self._minimise, self.options, nearby,
            approaching if self._method.continues else None,
            replace(nearby, first_damping=POLISH_DAMPING, abandons=False), descending,
            replace(descending, abandons=False),
        )  # fmt: skip

    def _recovers(self, given: Point, ended: Point, frames: Request, met_before: bool) -> bool:
        """Whether a miss of a frame (1,) that began near its goals looks like one that another start would mend.

        It does where the frame before met its goals, or where the descent has brought these much nearer: so targets
        that stay out of reach do not make every frame slow.
        """
        links = self.skeleton.links if frames.links is None else frames.links
        if not self.recovers or self.yielding.beyond(given.kinematics.positions, links, frames.targets)[0]:
            return False
        near = np.abs(given.error[:, : self.tasks.m]).max(initial=0.0) <= RECOVER_ERROR
        nearer = self._squares(ended.error) < RECOVER_SHARE**2 * self._squares(given.error)
        return bool(met_before or (near and nearer.all()))

    def _polish(self, minimum: Minimum, frames: Request) -> Minimum:
        """A few steps without the pull, so that it costs no accuracy; nor the poles, where they stand against goals."""
        if not self.settings.pull and not self._poles:
            return Minimum(minimum.point.copy(), minimum.iterations, minimum.cost)
        polished = self._minimise(self.tasks, self.space, self._polishing, minimum.point, frames)
        point, iterations = polished.point, minimum.iterations + polished.iterations
        if self._poles:
            missed = self._missed(point, frames)
            some = np.any(missed, axis=-1)
            errors = self._hard_tasks.errors(point.kinematics, frames.targets)
            point = Point(point.state, point.kinematics, errors).copy()
            if some.any():
                request = replace(frames.take(some), lanes=missed[some])
                insisted = self._minimise(self._hard_tasks, self.space, self._insisting, point.take(some), request)
                point.put(some, insisted.point)
                iterations[some] += insisted.iterations
        if self._method.continues:
            return Minimum(point, iterations, minimum.cost)
        return self._spend_the_rest(Minimum(point.copy(), iterations, minimum.cost), frames)

    def _spend_the_rest(self, minimum: Minimum, frames: Request) -> Minimum:
        """The steps that are left, without the pull, on frames that miss their goals; `minimum` is overwritten.

        Solvers that take many small steps may settle before they arrive.
        """
        left = np.where(self._met(minimum.point.error), 0, self.options.iterations - minimum.iterations)[:, 0]
        for count in map(int, np.unique(left[left > 0])):
            some, settings = left == count, replace(self._polishing, iterations=count)
            begin = minimum.point.take(some)
            arrived = self._minimise(self._hard_tasks, self.space, settings, begin, frames.take(some))
            minimum.point.put(some, arrived.point)
            minimum.iterations[some] += arrived.iterations
        return minimum

    def _met(self, error: np.ndarray) -> np.ndarray:
        """The lanes (F, L) whose goals are met with these error rows (F, m)."""
        return self.tasks.lanes_within(error, self.options.tolerance, self.options.rotation_tolerance)

    def _missed(self, point: Point, frames: Request) -> np.ndarray:
        """The lanes (F, L) to be solved whose goals are missed."""
        missed = ~self._met(point.error)
        return missed if frames.lanes is None else missed & frames.lanes

    def _squares(self, error: np.ndarray) -> np.ndarray:
        """Sums (F, L) of squares of the goals' error rows (F, m or more)."""
        error = error[:, : self.tasks.m]
        return self.lanes.rows.dot(error, error)

    def _rows_of(self, lane: int, error: np.ndarray) -> np.ndarray:
        return np.flatnonzero(self.tasks.lanes.rows.of[: error.shape[-1]] == lane)

    def _alone(
        self, lane: int, frame: int, minimum: Minimum, given: Point, frames: Request
    ) -> tuple["Stage", Minimum, Point, Request]:
        """A lane's own stage, and what of one frame is its own: where it ended, where it began, what it asks for."""
        index, goals = np.array([frame]), np.flatnonzero(self.lanes.goals == lane)
        freedoms = np.flatnonzero(self.lanes.freedoms.of == lane)

        def part(state: State) -> State:
            return State(state.rotations, state.x[:, freedoms])

        def point(whole: Point) -> Point:
            at = whole.kinematics._replace(effectors=whole.kinematics.effectors[:, goals])
            return Point(part(whole.state), at, whole.error[:, self._rows_of(lane, whole.error)])

        one = frames.take(index)
        request = Request(part(one.base), of_goals(one.targets, goals), one.links)
        best = Minimum(point(minimum.point.take(index)), minimum.iterations[index][:, [lane]], np.zeros((1, 1)))
        return self.parts[lane], best, point(given.take(index)), request

    def _put(self, minimum: Minimum, frame: int, lane: int, own: Minimum) -> None:
        """Take over what a lane's own stage has found for one frame."""
        minimum.iterations[frame, lane] = own.iterations[0, 0]
        whole, lanes, found = minimum.point, self.lanes, own.point
        whole.error = whole.error[:, : self.tasks.m]
        joints = np.flatnonzero(lanes.joints == lane)
        whole.state.rotations[frame, joints] = found.state.rotations[0, joints]
        whole.state.x[frame, lanes.freedoms.of == lane] = found.state.x[0]
        for mine, theirs in zip(whole.kinematics[:3], found.kinematics[:3], strict=True):
            mine[frame, joints] = theirs[0, joints]
        whole.kinematics.effectors[frame, lanes.goals == lane] = found.kinematics.effectors[0]
        whole.error[frame, lanes.rows.of == lane] = found.error[0, : found.error.shape[-1]]

    def _no_worse(self, ended: Point, given: Point, targets: Targets) -> Point:
        """Where it ended, or what was given in the frames where that was closer and the end misses the tolerances.

        targets : with the shares by which errors are compared.
        """
        missed = ~self._met(ended.error)
        if not missed.any():
            return ended
        mine, others = (
            self._squares(self._hard_tasks.errors(point.kinematics, targets)) for point in (ended, given)
        )
        worse = missed & (mine > others)
        if worse.any():
            ended = replace(ended, error=ended.error[:, : self.tasks.m])
            given = replace(given, error=given.error[:, : self.tasks.m])
            ended = given.where(self.lanes, worse, ended)
        return ended


def side_by_side(
    goals: Sequence[Goal], chains: np.ndarray, method: Method, stages: Sequence[Stage]
) -> list[Stage]:
    """Stages that do not depend on each other, as few with several lanes, each of stages that are solved in like steps.

    The other arguments as for `Stage`. Solvers without lanes keep the stages as they are.
    """
    alike: dict[tuple[float, bool, bool, bool, int], list[Stage]] = {}
    for number, stage in enumerate(stages):
        tasks, n = stage.tasks, stage.space.n
        unlike = -1 if method.lanes and n else number
        kind = stage.settings.pull, tasks.poles is not None, n < tasks.m, n < tasks.all, unlike
        alike.setdefault(kind, []).append(stage)
    return [
        parts[0] if len(parts) == 1 else Stage(
            parts[0].skeleton, goals, sorted(int(g) for part in parts for g in part.indices), chains, method,
            parts[0].options, parts,
        ) for parts in alike.values()
    ]  # fmt: skip


def _distinct(q: np.ndarray, cost: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Which of several starts (S,) of each `frame` (S,) are not on their way to the answer of a cheaper one.

    q : (S, n, 4) motions of the joints. cost : (S,) so far; of equal ones the first is the cheaper.
    """
    order = np.lexsort((np.arange(len(cost)), cost, frame))
    distinct = np.ones(len(cost), dtype=bool)
    for back in range(1, len(cost)):
        one, cheaper = order[back:], order[:-back]
        near = frame[one] == frame[cheaper]
        if not near.any():
            break
        near &= (np.abs((q[one] * q[cheaper]).sum(-1)) >= np.cos(0.5 * ALIKE)).all(-1)
        distinct[one[near]] = False
    return distinct


def frames_of(pose: Pose, count: int) -> Pose:
    """`pose` with a leading axis of `count` frames."""
    rotations, translations = pose
    joints = rotations.shape[-2]
    return Pose(np.broadcast_to(rotations, (count, joints, 4)), np.broadcast_to(translations, (count, joints, 3)))


def of_goals(targets: Targets, indices: np.ndarray) -> Targets:
    """The targets of some of the goals."""
    shares = None if targets.shares is None else targets.shares[:, indices]
    return Targets(targets.positions[:, indices], targets.rotations[:, indices], targets.poles[:, indices], shares)


def carried(stage: Stage, previous: Pose, pose: Pose) -> Pose:
    """`previous` where a stage moves joints itself; where others do, or none, `pose`, in which they have moved."""
    own = np.unique(stage.space.joint)
    parts = Pose(pose.rotations.copy(), pose.translations.copy())
    parts.rotations[:, own], parts.translations[:, own] = previous.rotations[:, own], previous.translations[:, own]
    return parts


def posed(stage: Stage, state: State, pose: Pose) -> Pose:
    """`pose` with what a stage's state moves."""
    slides = stage.space.slides(state.x)
    if slides is None:
        return Pose(state.rotations, pose.translations)
    sliding = np.unique(stage.space.joint[~stage.space.turns])
    translations = pose.translations.copy()
    translations[:, sliding] = slides[:, sliding]
    return Pose(state.rotations, translations)
