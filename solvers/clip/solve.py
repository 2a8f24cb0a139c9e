# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a clip: frame by frame first, then all frames of each stage as one problem, then each frame's goals exactly.

A goal that the frame solver misses is led to about where the frame solver brings it, so that weights, priorities and
goals out of reach mean what they mean frame by frame. Long clips are solved in windows that overlap.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..compiled.clip import CompiledStage, PreparedStages, compiled_stage
from ..group.grouping import coupled
from ..group.stage import Stage, frames_of, posed
from ..group.starts import with_still_slides
from ..model.frames import FrameArrays
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..motion.contacts import runs
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, evaluate
from . import branches
from .answers import AT_ONCE, FrameSolver, answers, frames_of_answer, missed, nearest
from .bounds import Bounds
from .exact import MOST_MISSED, Exact
from .keys import between, kept, keys_of, refined
from .pops import mend, rises, turned
from .problem import Clip
from .smoothness import Smoothness
from .speed import Speed, forced
from .watch import Watch, unwatched, within
from .windows import WINDOW, solve_windows

ACCELERATION = 1e-4  # [1 / rad^2 per frame^4] weight at smooth = 1, beside 1 for a goal's miss of a skeleton's length
NEAR = 1e-7  # [1 / rad^2] weight of staying near the frame-by-frame answers, times a joint's weight in the pull
CALM = np.radians(3.0)  # of a step that goals force, on average: from there on a faster motion stays nearer
FASTER = 3.0  # power of the speed by which it does, because accelerations grow with speed too
ANSWERS_SHARE = 0.3  # of the time, about: solving frame by frame


def solve_into(
    prepared: PreparedStages, solver: FrameSolver, arrays: FrameArrays, smooth: float = 1.0, corrects: bool = False,
    window: int = WINDOW, watch: Watch = unwatched, held: tuple[int, int] = (0, 0), beside: tuple[int, int] = (0, 0),
    bridges: bool = True,
) -> None:  # fmt: skip
    """Solve the frames of `arrays` as one motion; non-finite input gives NaN output and parts the motion there.

    solver : of frames of the prepared solve. corrects : whether the start poses are a motion to correct: then it is
        the correction that is smooth, else the motion. window : frames that are solved at once.
    watch : of the progress; it may raise to stop the solve. held : how many frames at the beginning and at the end have
        their answers in `arrays` already: the motion goes on from those and leads to these. beside : how many are
        there only for the sake of the others, whose answers are exact. bridges : whether pops that are left are led
        across, as of `pops.mend`.
    """
    finite = prepared.numpy.finite(arrays)
    if not finite.all():
        arrays.answer_nothing(~finite)
    for begin, end in runs(finite):
        own_watch = within(watch, begin / len(arrays), end / len(arrays))
        own_held, own_beside = (
            (max(ends[0] - begin, 0), max(ends[1] - (len(arrays) - end), 0)) for ends in (held, beside)
        )
        if sum(own_held) < end - begin:
            part = arrays.part(begin, end)
            _Solve(prepared, solver, part, smooth, corrects, window, own_watch, own_held, own_beside, bridges).run()


class _Solve:
    """One solve of frames that are all finite.

    keys : (K,) frames that are solved frame by frame. found : the answers at them. iterations, met : (K,) their
    iterations, and whether any answer meets the goals.
    """

    def __init__(
        self, prepared: PreparedStages, solver: FrameSolver, arrays: FrameArrays, smooth: float, corrects: bool,
        window: int, watch: Watch, held: tuple[int, int], beside: tuple[int, int], bridges: bool,
    ) -> None:  # fmt: skip
        self.prepared, self.solver, self.arrays, self.watch, self.held = prepared, solver, arrays, watch, held
        self.asked = beside[0], len(arrays) - beside[1]
        self.stages = stages = prepared.numpy
        self.smooth, self.corrects, self.window, self.length = smooth, corrects, window, stages.skeleton.length
        self.bridges = bridges
        self.targets, self.start, self.links, _ = stages.inputs(arrays, slice(None))
        self.given = np.ones(len(arrays), dtype=bool)  # frames that are held
        self.given[held[0] : len(arrays) - held[1]] = False
        self.held_pose = Pose(arrays.rotations[self.given], arrays.translations[self.given])
        self.found: list[Pose] = []
        self.keys = self.iterations = self.met = np.zeros(0, dtype=int)

    def run(self) -> None:
        """Solve the frames, and write their answers."""
        frames = len(self.arrays)
        every, half = np.arange(frames), 0.5 * ANSWERS_SHARE
        first = every if self.corrects else keys_of(self.targets, self.length)  # what is to correct may move in any way
        self._answer(np.union1d(first, np.flatnonzero(self.given)), within(self.watch, 0.0, half))
        if len(first) < frames and not self.met.all():
            self._answer(refined(self.keys, self.met), within(self.watch, half, ANSWERS_SHARE))
        pose, steps, lost = frames_of(self.start, frames), 0, np.zeros(frames)
        for number, stage in enumerate(self.stages.stages):
            if stage.space.n:
                state, took, own_lost = self._solve_stage(stage, number, pose)
                pose, steps, lost = posed(stage, state, pose), steps + took, np.maximum(lost, own_lost)
        lost[self.keys] = 0.0
        if lost.any():
            pose = Pose(np.array(pose.rotations), np.array(pose.translations))  # frames may share their translations
            self._follow_lost(pose, lost)
        iterations = np.full(frames, steps)
        iterations[self.keys] += self.iterations
        self._report(pose, iterations)

    def _answer(self, frames: np.ndarray, watch: Watch) -> None:
        """Find the answers at some frames; without those that the motion can pass, unless it is one to correct."""
        given = self.given[frames]
        found, iterations, met = answers(self.solver, self.arrays.take(frames), watch, given, self.corrects)
        own = np.ones_like(met) if self.corrects else kept(met) | given
        if not own.all():
            found = [Pose(one.rotations[own], one.translations[own]) for one in found]
        self.keys, self.found, self.iterations, self.met = frames[own], found, iterations[own], met[own]

    def _follow_lost(self, pose: Pose, lost: np.ndarray) -> None:
        """Write the frame solver's answers to `pose` in frames that are `lost`: from there, or from the keys beside.

        lost : (F,) [skeleton lengths] what they miss. A frame that misses little stays where its answer would pop.
        """
        frames: list[int] = np.flatnonzero(lost).tolist()
        for frame in frames:
            some = slice(max(frame - 2, 0), frame + 3)
            before = pose.rotations[some].copy()
            after = int(np.searchsorted(self.keys, frame))
            beside = [frames_of_answer(one, slice(at, at + 1)) for one in self.found for at in (after - 1, after)]
            least, own = float("inf"), self.arrays.part(frame, frame + 1)
            here = Pose(pose.rotations[frame : frame + 1].copy(), pose.translations[frame : frame + 1].copy())
            for start in (here, *beside):
                motion = self.solver.motion()
                motion.begin(Pose(start.rotations[0], start.translations[0]))
                motion.solve_into(own)
                errors = own.position_errors / self.length, own.rotation_errors
                miss = 0.0 if own.converged[0] else sum(float((one * one).sum()) for one in errors)
                if miss < least:
                    least = miss
                    pose.rotations[frame], pose.translations[frame] = own.rotations[0], own.translations[0]
                if own.converged[0]:
                    break
            if lost[frame] <= MOST_MISSED and rises(turned(before), turned(pose.rotations[some])).any():
                pose.rotations[frame], pose.translations[frame] = here.rotations[0], here.translations[0]

    def _report(self, pose: Pose, iterations: np.ndarray) -> None:
        """Write the answers of all frames."""
        for begin in range(0, len(self.arrays), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            part, targets = Pose(pose.rotations[some], pose.translations[some]), self.targets.take(some)
            links = some_of(self.links, some)
            points = [(stage, point_of(stage, part, targets, links)) for stage in self.stages.stages]
            self.arrays.answer(some, self.stages.report(part, points, iterations[some], targets))

    def _solve_stage(self, stage: Stage, number: int, pose: Pose) -> tuple[State, int, np.ndarray]:
        """The state of a stage in all frames, its steps, and what frames miss (F,) that miss more than an answer.

        pose : of the other joints.
        """
        shares = ANSWERS_SHARE + (1.0 - ANSWERS_SHARE) * np.array([number, number + 1]) / len(self.stages.stages)
        space, frames, keys, watch = stage.space, len(self.arrays), self.keys, within(self.watch, *shares.tolist())
        compiled = compiled_stage(self.prepared, number)
        targets, own = self.targets.of_goals(stage.indices), state_of(space, pose)
        own_keys, at_keys, own_links = own.take(keys), targets.take(keys), some_of(self.links, keys)
        states, rows, costs = zip(*(
            missed_in(stage, compiled, answer, at_keys, own_links) for answer in self.found
        ), strict=True)  # fmt: skip
        least, at = nearest(np.stack(costs)), np.arange(len(keys))
        unmet = np.stack(costs)[least, at]
        near = NEAR * stage.settings.weights
        alone = own_keys if self.corrects else _taken(space, own_keys, states[:1], np.zeros((1, 1)))
        smoothness = Smoothness(space, self.smooth * ACCELERATION, near, self.corrects, alone, compiled)
        shared = np.flatnonzero((unmet > 0.0).any(axis=0)) if not self.corrects else np.zeros(0, dtype=int)
        limbs, serves = branches.limbs_of(coupled(stage.skeleton, stage.chains), space.moved, shared)
        misses = np.stack(costs) @ serves.T.astype(float)
        chosen = branches.choose(smoothness, limbs, states, np.maximum(misses - misses[least, at], 0.0), keys)
        goals, wanted = stage.tasks.goal_of_row, np.zeros((frames, stage.tasks.all))
        missed_rows = np.stack(rows)[chosen[:, serves.argmax(0)[goals]], at[:, None], np.arange(stage.tasks.m)]
        missed_rows[unmet[:, goals] == 0.0] = 0.0
        for row in np.flatnonzero(missed_rows.any(0)).tolist():
            wanted[:, row] = np.interp(np.arange(frames), keys, missed_rows[:, row])
        begun = between(space, keys, _taken(space, own_keys, states, chosen[:, limbs]), own, self.corrects)
        self._hold(space, begun)
        first = _taken(space, own_keys, states, chosen[:, limbs])
        smoothness = smoothness.about(own if self.corrects else begun)
        clip = Clip(
            stage.tasks, space, smoothness, Bounds(space), targets._replace(wanted=wanted),
            with_still_slides(stage, pose, self.links), compiled,
        )  # fmt: skip
        del own  # as large as the motion
        if not self.corrects:
            steps = forced(clip, begun)
            smoothness = smoothness.nearer(nearness(steps))
            clip = replace(clip, smoothness=smoothness, terms=(*clip.terms, Speed.of(smoothness, steps)))
        met = stage.tasks.within(wanted, stage.options.tolerance, stage.options.rotation_tolerance)
        if not met.all():
            clip = replace(clip, slack=(wanted != 0.0) & ~met[:, None])
        state, took = solve_windows(clip, begun, self.window, watch=watch, held=self.held)
        state = mend(clip, state, watch, self.held, self.asked) if self.bridges else state
        exact = Exact(stage, clip, keys, first, wanted, self.asked)
        state, lost = exact.motion(state)
        self._hold(space, state)
        for answer in states if len(keys) == frames else ():
            if clip.roughness(answer) < clip.roughness(state):  # rare: it moves more smoothly
                smoother, own_lost = exact.motion(_taken(space, state, [answer], np.zeros((1, 1))))
                self._hold(space, smoother)
                if clip.roughness(smoother) < clip.roughness(state) and not ((own_lost > 0.0) & (lost == 0.0)).any():
                    state, lost = smoother, own_lost
        return state, took, np.where(self.given, 0.0, lost)

    def _hold(self, space: JointSpace, state: State) -> None:
        """Give the held frames of a state their answers, in place."""
        if self.given.any():
            held = space.state(self.held_pose, len(self.held_pose.rotations))
            state.rotations[np.ix_(self.given, space.moved)] = held.rotations[:, space.moved]
            state.x[self.given] = held.x


def nearness(steps: np.ndarray) -> float:
    """Times as near to the motion that it begins with a motion stays whose goals force steps (F,)."""
    return max(float(steps.mean()) / CALM, 1.0) ** FASTER


def some_of(links: np.ndarray, frames: np.ndarray | slice) -> np.ndarray:
    """The links of some frames, or those that all share."""
    return links if len(links) == 1 else links[frames]


def state_of(space: JointSpace, pose: Pose) -> State:
    """The state of a pose of all frames, some frames at a time."""
    frames = len(pose.rotations)
    parts = [
        space.state(Pose(pose.rotations[begin:end], pose.translations[begin:end]), end - begin)
        for begin in range(0, frames, AT_ONCE) if (end := min(begin + AT_ONCE, frames))
    ]  # fmt: skip
    return State(np.concatenate([part.rotations for part in parts]), np.concatenate([part.x for part in parts]))


def _taken(space: JointSpace, own: State, states: Sequence[State], which: np.ndarray) -> State:
    """`own` with the joints that the space moves from the states `which` (F or 1, K or 1); other joints stay."""
    taken, joint = State(own.rotations.copy(), own.x.copy()), np.searchsorted(space.moved, space.joint)
    which = np.broadcast_to(which, (len(own.x), len(space.moved)))
    for number, one in enumerate(states):
        takes = which == number
        taken.rotations[:, space.moved] = np.where(
            takes[..., None], one.rotations[:, space.moved], taken.rotations[:, space.moved]
        )
        taken.x = np.where(takes[:, joint], one.x, taken.x)
    return taken


def missed_in(
    stage: Stage, compiled: CompiledStage | None, answer: Pose, targets: Targets, links: np.ndarray
) -> tuple[State, np.ndarray, np.ndarray]:  # fmt: skip
    """`missed`, some frames at a time."""
    parts: list[tuple[State, np.ndarray, np.ndarray]] = []
    for begin in range(0, len(targets.positions), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        pose = frames_of_answer(answer, some)
        parts.append(missed(stage, compiled, pose, targets.take(some), some_of(links, some)))
    states, rows, costs = zip(*parts, strict=True)
    whole = State(np.concatenate([state.rotations for state in states]), np.concatenate([state.x for state in states]))
    return whole, np.concatenate(rows), np.concatenate(costs)


def point_of(stage: Stage, pose: Pose, targets: Targets, links: np.ndarray) -> Point:
    """The point of a stage in a pose. targets : of all goals."""
    state = stage.space.state(pose, len(pose.rotations))
    frames = Request(state, targets.of_goals(stage.indices), with_still_slides(stage, pose, links))
    return evaluate(stage.tasks, state, frames)
