# SPDX-License-Identifier: GPL-3.0-or-later
"""One stage of a solve: goals whose chains share joints, solved together, for a batch of frames.

With a pull the answer is the pose nearest to the base pose that meets the goals, and a frame solved afresh finds it
by continuation: from limbs folded to their targets, with the pull strong at first and weaker by steps, so that the
path to the answer, and the answer, follow the targets continuously. Without a pull it is one descent from the start.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import levenberg_marquardt, limb, poles
from .goals import Goal, Targets, Tasks, reach_shares
from .joint_space import JointSpace, State
from .levenberg_marquardt import Frames, Inner, Minimum, Settings
from .poles import Pole
from .skeleton import Pose, Skeleton
from .solution import Options

PULL = 1e-5
CONTINUATION = (1e3, 1e2, 1e1)  # multiples of the pull on the way to it
CONTINUATION_ITERATIONS = 8
CONTINUATION_SETTLED = 1e-2  # [rad] step at which one strength of the pull has done its work
SETTLED = 1e-3  # [rad] and the last one
TRACK_ITERATIONS = 6
TRACK_SETTLED = 2e-2
TRACK_JUMP = 0.25  # [skeleton lengths] an error that grew by more in one frame is a jump: solve it afresh
TRACK_LOST = 1e-3  # [skeleton lengths] error with which a tracked frame counts as lost
POLISH_ITERATIONS = 3
POLISH_DAMPING = 1e-8
POLISH_SHARE = 0.1  # of the tolerances, to which the pull-free steps bring the error
RESTARTS_AT_ONCE = 8

TWIST_RELUCTANCE = 2.0
SHARED_RELUCTANCE = 2.0  # joints that serve several goals: a spine moves less than an arm
EFFECTOR_RELUCTANCE = 2.0


class Stage:
    """Some goals of a skeleton with the joints they may move, prepared for solving batches of frames."""

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], indices: Sequence[int], chains: np.ndarray, inner: Inner,
        options: Options,
    ) -> None:  # fmt: skip
        """`indices`: which of all the `goals` this stage solves; `chains` (G, J) bool is of all of them."""
        self.skeleton, self.options, self._inner = skeleton, options, inner
        self.indices = np.array(indices, dtype=np.intp)
        self.goals = [goals[g] for g in indices]
        self.chains = chains[self.indices]
        self.space = JointSpace(skeleton, self.chains.any(0))
        self.limbs = limb.find_limbs(skeleton, self.goals, self.chains)
        self.poles = [pole for g in range(len(self.goals)) if (pole := self._pole(g))]
        self.tasks = Tasks(skeleton, self.goals, self.space, self.chains, self.poles)
        self._hard_tasks = Tasks(skeleton, self.goals, self.space, self.chains) if self.poles else self.tasks
        pull = (PULL if self.limbs else 0.0) if options.pull is None else options.pull
        self._settings = Settings(
            options.iterations, options.tolerance, options.rotation_tolerance, options.damping, pull or 1e-2, pull,
            SETTLED, self._reluctance(),
        )  # fmt: skip

    def solve(self, start: Pose, targets: Targets, links: np.ndarray | None) -> tuple[State, np.ndarray]:
        """Solve frames afresh from their start poses; the states, and the iterations (F,) they took."""
        base = self._base(start)
        targets = self._yielding(base, targets, links)
        minimum = self._descend(base, targets, links) if not self._settings.pull else self._continue(base, targets, links)
        state, iterations = self._polish(minimum, base, targets, links)
        given = self.space.state(start, len(start.rotations))
        return self._no_worse(state, given, targets, links), iterations

    def track(
        self, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None, residual: np.ndarray | None
    ) -> tuple[State, np.ndarray, np.ndarray]:
        """Solve one frame from the frame before it; as `solve` where the targets jumped or the track is lost.

        residual : (1, m) the error rows that the frame before ended with; None if not known.
        Returns the state, the iterations (1,) and this frame's own residual.
        """
        base, state = self._base(start), self.space.state(previous)
        targets = self._yielding(base, targets, links)
        error = self._rows(state, targets, links)
        before = np.zeros_like(error) if residual is None else residual
        if np.abs(error - before).max() > TRACK_JUMP:
            state, iterations = self.solve(start, targets, links)
            return state, iterations, self._rows(state, targets, links)
        settings = self._settings
        if settings.pull or self.poles:
            settings = replace(settings, iterations=min(settings.iterations, TRACK_ITERATIONS), settle=TRACK_SETTLED)
        else:
            settings = replace(settings, first_damping=1e-4)
        minimum = self._minimise(settings, state, base, targets, links)
        state, iterations = self._polish(minimum, base, targets, links)
        error = self._rows(state, targets, links)
        if settings.pull and np.abs(error).max() > max(TRACK_LOST, 1.1 * np.abs(before).max()):
            afresh, more = self.solve(start, targets, links)
            other = self._rows(afresh, targets, links)
            if (other * other).sum() < (error * error).sum():
                state, error = afresh, other
            iterations = iterations + more
        return state, iterations, error

    # -- inside -------------------------------------------------------------------------------------------------------

    def _reluctance(self) -> np.ndarray:
        """How unwilling each degree of freedom is to move (n,): the metric of the pull and of the damping."""
        space, skeleton = self.space, self.skeleton
        joint = np.ones(len(skeleton))
        joint[self.chains.sum(0) > 1] *= SHARED_RELUCTANCE
        joint[np.unique([goal.joint for goal in self.goals])] *= EFFECTOR_RELUCTANCE
        joint /= np.maximum(1.0 - skeleton.stiffness, 1e-3) ** 2
        return joint[space.joint] * np.where(space.twists, TWIST_RELUCTANCE, 1.0) * np.where(
            space.turns, 1.0, 1.0 / skeleton.length**2
        )

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

    def _base(self, start: Pose) -> State:
        """The pose that the pull aims at: the start, its straight limbs bent the way they prefer."""
        rotations = start.rotations
        if self._settings.pull:
            rotations = limb.bend_base(rotations, self.limbs)
        return self.space.state(Pose(rotations, start.translations), len(rotations))

    def _yielding(self, base: State, targets: Targets, links: np.ndarray | None) -> Targets:
        if len(self.goals) < 2:
            return targets
        kinematics = self.tasks.kinematics(base, links)
        return targets._replace(
            shares=reach_shares(self.skeleton, self.goals, self.space, self.chains, kinematics, targets)
        )

    def _rows(self, state: State, targets: Targets, links: np.ndarray | None) -> np.ndarray:
        """Error rows (F, m) of the goals, poles left out."""
        return self._hard_tasks.errors(self._hard_tasks.kinematics(state, links), targets)

    def _minimise(
        self, settings: Settings, state: State, base: State, targets: Targets, links: np.ndarray | None,
        tasks: Tasks | None = None,
    ) -> Minimum:  # fmt: skip
        count = len(state.rotations)
        damping = np.full(count, settings.first_damping if settings.damping is None else settings.damping)
        frames = Frames(np.arange(count), state, base, targets, links, damping)
        return levenberg_marquardt.minimise(tasks or self.tasks, self.space, self._inner, settings, frames)

    def _continue(self, base: State, targets: Targets, links: np.ndarray | None) -> Minimum:
        """The nearest answers by continuation in the pull, from limbs folded to their targets; the cheapest start wins."""
        count = len(base.rotations)
        starts = self._folded(base, targets, links)
        tries = len(starts.rotations) // count
        if tries > 1:
            repeat = np.tile(np.arange(count), tries)
            many_base, many_targets = base.take(repeat), targets.take(repeat)
            many_links = links if links is None or len(links) == 1 else links[repeat]
        else:
            many_base, many_targets, many_links = base, targets, links
        state, iterations = starts, np.zeros(count * tries, dtype=int)
        left = self._settings.iterations
        for factor in (*CONTINUATION, 1.0):
            last = factor == 1.0
            pull = factor * self._settings.pull
            settings = replace(
                self._settings, pull=pull, first_damping=pull, settle=SETTLED if last else CONTINUATION_SETTLED,
                iterations=left if last else min(CONTINUATION_ITERATIONS, left),
            )  # fmt: skip
            minimum = self._minimise(settings, state, many_base, many_targets, many_links)
            state, iterations = minimum.state, iterations + minimum.iterations
            left -= settings.iterations
        cheapest = np.argmin(minimum.cost.reshape(tries, count), axis=0) * count + np.arange(count)
        return Minimum(state.take(cheapest), iterations.reshape(tries, count).sum(0), minimum.cost[cheapest])

    def _folded(self, base: State, targets: Targets, links: np.ndarray | None) -> State:
        """Start states: the base with its limbs folded, one after the other for each swivel (S F frames)."""
        if not self.limbs and not self.poles:
            return base
        count = len(base.rotations)
        kinematics = self.tasks.kinematics(base, links)
        posed = Pose(base.rotations, np.zeros((*base.rotations.shape[:2], 3)))
        slides = self.space.slides(base.x)
        posed = posed if slides is None else posed._replace(translations=slides)
        starts = []
        for angle in limb.SWIVELS if self.limbs else limb.SWIVELS[:1]:
            rotations = limb.fold(self.limbs, self.goals, base.rotations, kinematics, targets, angle)
            state = self.space.state(posed._replace(rotations=rotations), count)
            for pole in self.poles:
                state = self._swivelled(pole, state, targets, links)
            starts.append(state)
        return State(np.concatenate([s.rotations for s in starts]), np.concatenate([s.x for s in starts]))

    def _swivelled(self, pole: Pole, state: State, targets: Targets, links: np.ndarray | None) -> State:
        """`state` with a chain turned about its line until its middle points at the pole."""
        kinematics = self.tasks.kinematics(state, links)
        at, root = kinematics.positions, pole.root
        end = kinematics.effectors[:, pole.goal] if pole.end < 0 else at[:, pole.end]
        turned = state.rotations.copy()
        turned[:, root] = poles.swivel(
            turned[:, root], kinematics.matrices[:, root], at[:, root], at[:, list(pole.middle)].mean(1), end,
            targets.poles[:, pole.goal], pole.angle,
        )  # fmt: skip
        slides = self.space.slides(state.x)
        translations = np.zeros((*turned.shape[:2], 3)) if slides is None else slides
        return self.space.state(Pose(turned, translations), len(turned))

    def _descend(self, base: State, targets: Targets, links: np.ndarray | None) -> Minimum:
        """One descent from the start, then restarts for the frames that missed; the closest attempt is kept."""
        best = self._minimise(self._settings, base, base, targets, links)
        if not self.options.restarts:
            return best
        tolerances = self.options.tolerance, self.options.rotation_tolerance
        missed = np.flatnonzero(~self.tasks.within(self._rows(best.state, targets, links), *tolerances))
        for frame in missed:
            self._restart(best, frame, targets.take([frame]), links if links is None or len(links) == 1 else links[[frame]])
        return best

    def _restart(self, best: Minimum, frame: int, targets: Targets, links: np.ndarray | None) -> None:
        """Attempts from the middle of the limits, then from random states, some at once, until one converges."""
        generator = np.random.default_rng(self.options.seed)
        left, middle = self.options.restarts, True
        while left > 0:
            tries = min(left, RESTARTS_AT_ONCE)
            start = self.space.sample(generator, tries)
            if middle:
                first = self.space.middle()
                start.rotations[0], start.x[0] = first.rotations[0], first.x[0]
            same = np.zeros(tries, dtype=np.intp)
            minimum = self._minimise(self._settings, start, start, targets.take(same), links)
            best.iterations[frame] += minimum.iterations.sum()
            cheapest = int(np.argmin(minimum.cost))
            if minimum.cost[cheapest] < best.cost[frame]:
                best.cost[frame] = minimum.cost[cheapest]
                best.state.rotations[frame] = minimum.state.rotations[cheapest]
                best.state.x[frame] = minimum.state.x[cheapest]
            rows = self._rows(best.state.take([frame]), targets, links)
            if self.tasks.within(rows, self.options.tolerance, self.options.rotation_tolerance)[0]:
                return
            left, middle = left - tries, False

    def _polish(
        self, minimum: Minimum, base: State, targets: Targets, links: np.ndarray | None
    ) -> tuple[State, np.ndarray]:
        """A few steps without pull and poles, so that they cost no accuracy."""
        if not self._settings.pull and not self.poles:
            return minimum.state, minimum.iterations
        options = self.options
        settings = replace(
            self._settings, pull=0.0, iterations=POLISH_ITERATIONS, first_damping=POLISH_DAMPING,
            tolerance=POLISH_SHARE * options.tolerance, rotation_tolerance=POLISH_SHARE * options.rotation_tolerance,
        )  # fmt: skip
        polished = self._minimise(settings, minimum.state, base, targets, links, self._hard_tasks)
        return polished.state, minimum.iterations + polished.iterations

    def _no_worse(self, state: State, given: State, targets: Targets, links: np.ndarray | None) -> State:
        """`state`, or what was given in the frames where that was closer and `state` misses the tolerances."""
        ended, began = self._rows(state, targets, links), self._rows(given, targets, links)
        missed = ~self.tasks.within(ended, self.options.tolerance, self.options.rotation_tolerance)
        worse = missed & ((ended * ended).sum(-1) > (began * began).sum(-1))
        if not worse.any():
            return state
        return State(np.where(worse[:, None, None], given.rotations, state.rotations),
                     np.where(worse[:, None], given.x, state.x))  # fmt: skip
