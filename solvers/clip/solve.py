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
from ..group.settings import POLISH_DAMPING
from ..group.stage import Stage, frames_of, posed
from ..group.starts import with_still_slides
from ..iterate.descent import Settings, damped
from ..methods import dls
from ..model.frames import FrameArrays
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..motion.contacts import runs
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, evaluate
from . import branches
from .answers import AT_ONCE, MET_SHARE, FrameSolver, answers, frames_of_answer, missed, nearest
from .bounds import Bounds
from .keys import between, kept, keys_of, refined
from .pops import MISSED, mend
from .problem import Clip
from .smoothness import Smoothness
from .speed import Speed, forced
from .watch import Watch, unwatched, within
from .windows import WINDOW, solve_windows

ACCELERATION = 1e-4  # [1 / rad^2 per frame^4] weight at smooth = 1, beside 1 for a goal's miss of a skeleton's length
NEAR = 1e-7  # [1 / rad^2] weight of staying near the frame-by-frame answers, times a joint's weight in the pull
CALM = np.radians(3.0)  # of a step that goals force, on average: from there on a faster motion stays nearer
FASTER = 3.0  # power of the speed by which it does, because accelerations grow with speed too
POLISH_ITERATIONS = 12
ANSWERS_SHARE = 0.3  # of the time, about: solving frame by frame
FIRST_ITERATIONS = 3  # of the polish: after so many, frames that are near the exact answer are done
EXACT_SHARE = 0.01  # of the tolerances: how near each frame comes, in the end, to what the frame solver misses
GIVES = 1e-4  # [1 / rad^2] weight of staying near the motion, where goals are missed anyway
MOST_SLACK = 0.03  # [skeleton lengths] by which a frame whose goals have slack may miss them more than its own answer
_polished = damped(dls.step)


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
        pose, steps, lost = frames_of(self.start, frames), 0, np.zeros(frames, dtype=bool)
        for number, stage in enumerate(self.stages.stages):
            if stage.space.n:
                state, took, own_lost = self._solve_stage(stage, number, pose)
                pose, steps, lost = posed(stage, state, pose), steps + took, lost | own_lost
        lost[self.keys] = False
        if lost.any():
            pose = Pose(np.array(pose.rotations), np.array(pose.translations))  # frames may share their translations
            self._follow_lost(pose, np.flatnonzero(lost))
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
        """Write the frame solver's answers to `pose` in frames that are `lost`: from there, or from the keys beside."""
        frames: list[int] = lost.tolist()
        for frame in frames:
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

    def _report(self, pose: Pose, iterations: np.ndarray) -> None:
        """Write the answers of all frames."""
        for begin in range(0, len(self.arrays), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            part, targets = Pose(pose.rotations[some], pose.translations[some]), self.targets.take(some)
            points = [(stage, _point(stage, part, targets, some_of(self.links, some))) for stage in self.stages.stages]
            self.arrays.answer(some, self.stages.report(part, points, iterations[some], targets))

    def _solve_stage(self, stage: Stage, number: int, pose: Pose) -> tuple[State, int, np.ndarray]:
        """The state of a stage in all frames, its steps, and the frames (F,) that miss their goals more than an answer.

        pose : of the other joints.
        """
        shares = ANSWERS_SHARE + (1.0 - ANSWERS_SHARE) * np.array([number, number + 1]) / len(self.stages.stages)
        space, frames, keys, watch = stage.space, len(self.arrays), self.keys, within(self.watch, *shares.tolist())
        compiled = compiled_stage(self.prepared, number)
        targets, own = self.targets.of_goals(stage.indices), _state(space, pose)
        own_keys, at_keys, own_links = own.take(keys), targets.take(keys), some_of(self.links, keys)
        states, rows, costs = zip(*(
            _missed(stage, compiled, answer, at_keys, own_links) for answer in self.found
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
            smoothness = smoothness.nearer(max(float(steps.mean()) / CALM, 1.0) ** FASTER)
            clip = replace(clip, smoothness=smoothness, terms=(*clip.terms, Speed.of(smoothness, steps)))
        met = stage.tasks.within(wanted, stage.options.tolerance, stage.options.rotation_tolerance)
        if not met.all():
            clip = replace(clip, slack=(wanted != 0.0) & ~met[:, None])
        state, took = solve_windows(clip, begun, self.window, watch=watch, held=self.held)
        state = mend(clip, state, watch, self.held, self.asked) if self.bridges else state
        state, lost = _exact(stage, clip, state, keys, first, wanted, self.asked)
        self._hold(space, state)
        for answer in states if len(keys) == frames else ():
            if clip.roughness(answer) < clip.roughness(state):  # rare: it moves more smoothly
                smoother = _taken(space, state, [answer], np.zeros((1, 1)))
                exact, own_lost = _exact(stage, clip, smoother, keys, first, wanted, self.asked)
                self._hold(space, exact)
                if clip.roughness(exact) < clip.roughness(state) and not (own_lost & ~lost).any():
                    state, lost = exact, own_lost
        return state, took, lost & ~self.given

    def _hold(self, space: JointSpace, state: State) -> None:
        """Give the held frames of a state their answers, in place."""
        if self.given.any():
            held = space.state(self.held_pose, len(self.held_pose.rotations))
            state.rotations[np.ix_(self.given, space.moved)] = held.rotations[:, space.moved]
            state.x[self.given] = held.x


def some_of(links: np.ndarray, frames: np.ndarray | slice) -> np.ndarray:
    """The links of some frames, or those that all share."""
    return links if len(links) == 1 else links[frames]


def _state(space: JointSpace, pose: Pose) -> State:
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


def _missed(
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


def _exact(
    stage: Stage, clip: Clip, state: State, keys: np.ndarray, answer: State, missed_rows: np.ndarray,
    asked: tuple[int, int],
) -> tuple[State, np.ndarray]:  # fmt: skip
    """`state`, which is changed, inside the limits with each frame's goals met exactly; the frames (F,) that miss them.

    answer : (K) at the keys, from which keys are met that cannot be met from `state`. missed_rows : (F, m) that frames
        miss anyway. Those that have slack stay as `state` misses them: to miss hardly less, a frame alone would leave
        the motion. asked : the first frame for which this is done, and the one behind the last.
    """
    hard, options = stage.hard_tasks, stage.options
    settings = stage.settings._replace(
        pull=0.0, iterations=POLISH_ITERATIONS, first_damping=POLISH_DAMPING, damping=None,
        tolerance=EXACT_SHARE * options.tolerance, rotation_tolerance=EXACT_SHARE * options.rotation_tolerance,
    )  # fmt: skip
    every = np.zeros(len(state.x), dtype=bool)
    room = MISSED if clip.slack is None else np.where(clip.slack.any(-1), MOST_SLACK, MISSED)
    most = np.where(missed_rows.any(-1), (np.sqrt((missed_rows**2).sum(-1)) + room) ** 2, -1.0)
    for begin in range(*asked, AT_ONCE):
        some = slice(begin, min(begin + AT_ONCE, asked[1]))
        part = clip.part(some.start, some.stop)
        frames = Request(state.take(some), part.targets._replace(wanted=None), part.links)
        wanted = missed_rows[some, : hard.m]
        if part.slack is not None:
            wanted = np.where(part.slack[:, : hard.m], _misses(stage, frames), wanted)
        frames = replace(frames, targets=frames.targets._replace(wanted=wanted))
        point = evaluate(hard, frames.base, frames).copy()
        for own, pull in ((~wanted.any(-1), 0.0), (wanted.any(-1), GIVES)):
            at = np.flatnonzero(own)
            if at.size:
                point.put(at, _met(stage, settings._replace(pull=pull), frames.base.take(at), frames.take(at)))
        lost = np.flatnonzero(_lost(stage, point.error, wanted, most[some]))
        every[begin + lost] = True
        lost = lost[np.isin(begin + lost, keys)]
        if lost.size:
            own = answer.take(np.searchsorted(keys, begin + lost))
            again = _met(stage, settings, own, frames.take(lost))
            better = (again.error**2).sum(-1) < (point.error[lost] ** 2).sum(-1)
            point.put(lost[better], again.take(better))
            every[begin + lost] = _lost(stage, point.error[lost], wanted[lost], most[begin + lost])
        state.rotations[some], state.x[some] = point.state.rotations, point.state.x
    return state, every


def _misses(stage: Stage, frames: Request) -> np.ndarray:
    """The error rows (F, m) of frames that are brought inside the limits."""
    return evaluate(stage.hard_tasks, _inside(stage.space, frames.base), frames).error


def _inside(space: JointSpace, state: State) -> State:
    """A state brought inside the limits."""
    return space.step(state, space.project(state.x) - state.x)


def _lost(stage: Stage, error: np.ndarray, wanted: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Whether frames (F,) miss goals: by more than they are `wanted` to miss, and than costs `most`."""
    within = stage.hard_tasks.within(error, stage.options.tolerance, stage.options.rotation_tolerance)
    return ~within & (((error + wanted) ** 2).sum(-1) > most)


def _met(stage: Stage, settings: Settings, state: State, frames: Request) -> Point:
    """The point after a few damped steps toward the goals alone, from a state that is brought inside the limits."""
    space, hard, options = stage.space, stage.hard_tasks, stage.options
    inside = _inside(space, state)
    first = settings._replace(iterations=FIRST_ITERATIONS)
    point = _polished(hard, space, first, evaluate(hard, inside, frames), frames).point
    near = MET_SHARE * options.tolerance, MET_SHARE * options.rotation_tolerance
    left = np.flatnonzero(~hard.within(point.error, *near))
    if left.size:  # where a limb is straight, many steps bring a frame that is near hardly nearer
        point = point.copy()
        point.put(left, _polished(hard, space, settings, point.take(left), frames.take(left)).point)
    return point


def _point(stage: Stage, pose: Pose, targets: Targets, links: np.ndarray) -> Point:
    """The point of a stage in a pose. targets : of all goals."""
    state = stage.space.state(pose, len(pose.rotations))
    frames = Request(state, targets.of_goals(stage.indices), with_still_slides(stage, pose, links))
    return evaluate(stage.tasks, state, frames)
