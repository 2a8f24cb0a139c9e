# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a clip: frame by frame first, then all frames of each stage as one problem, then each frame's goals exactly.

A goal that the frame solver misses is led to where the frame solver brings it, so that weights, priorities and goals
out of reach mean what they mean frame by frame. Long clips are solved in windows that overlap.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compiled.clip import CompiledStage, compiled_stage
from ..group.grouping import coupled
from ..group.settings import POLISH_DAMPING
from ..group.stage import Stage, frames_of, posed
from ..group.stages import Stages
from ..group.starts import with_still_slides
from ..iterate.descent import Settings, damped
from ..methods import dls
from ..model.frames import FrameArrays
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from . import branches
from .answers import AT_ONCE, FrameSolver, answers, frames_of_answer, missed, nearest
from .bounds import Bounds
from .keys import between, kept, keys_of, refined
from .pops import mend
from .smoothness import Smoothness
from .watch import Watch, unwatched, within
from .windows import WINDOW, Clip, cut, solve_windows

ACCELERATION = 1e-4  # [1 / rad^2 per frame^4] weight at smooth = 1, beside 1 for a goal's miss of a skeleton's length
NEAR = 1e-7  # [1 / rad^2] weight of staying near the frame-by-frame answers, times a joint's weight in the pull
POLISH_ITERATIONS = 12
ANSWERS_SHARE = 0.3  # of the time, about: solving frame by frame
EXACT_SHARE = 0.01  # of the tolerances: how near each frame comes, in the end, to what the frame solver misses
_polished = damped(dls.step)


def solve_into(
    stages: Stages, solver: FrameSolver, arrays: FrameArrays, smooth: float = 1.0, corrects: bool = False,
    window: int = WINDOW, watch: Watch = unwatched,
) -> None:  # fmt: skip
    """Solve the frames of `arrays` as one motion; non-finite input gives NaN output and parts the motion there.

    stages, solver : of the same prepared solve. corrects : whether the start poses are a motion to correct: then it is
        the correction that is smooth, else the motion. window : frames that are solved at once.
    watch : of the progress; it may raise to stop the solve.
    """
    finite = stages.finite(arrays)
    if not finite.all():
        arrays.answer_nothing(~finite)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], finite, [False]]).astype(int)))
    for begin, end in edges.reshape(-1, 2).tolist():
        own_watch = within(watch, begin / len(arrays), end / len(arrays))
        _solve(stages, solver, arrays.part(begin, end), smooth, corrects, window, own_watch)


def _solve(
    stages: Stages, solver: FrameSolver, arrays: FrameArrays, smooth: float, corrects: bool, window: int, watch: Watch
) -> None:  # fmt: skip
    """`solve_into` where all frames are finite."""
    every, targets = np.arange(len(arrays)), stages.inputs(arrays, slice(None))[0]
    first = every if corrects else keys_of(targets, stages.skeleton.length)  # what is to correct may move in any way
    keys = _answered(solver, arrays, first, corrects, within(watch, 0.0, 0.5 * ANSWERS_SHARE))
    if len(first) < len(arrays) and not keys.met.all():
        more = refined(keys.frames, keys.met)
        keys = _answered(solver, arrays, more, corrects, within(watch, 0.5 * ANSWERS_SHARE, ANSWERS_SHARE))
    pose, steps, lost = _solve_from(
        stages, arrays, keys.frames, keys.found, smooth, corrects, window, watch
    )  # fmt: skip
    if lost.any():
        pose = Pose(np.array(pose.rotations), np.array(pose.translations))  # all frames may share their translations
        _follow_lost(solver, arrays, keys.frames, keys.found, pose, np.flatnonzero(lost), stages.skeleton.length)
    took = np.full(len(arrays), steps)
    took[keys.frames] += keys.iterations
    _report(stages, arrays, pose, took)


class _Keys(NamedTuple):
    """Frames (K,) that are solved frame by frame, the answers at them, their iterations, and which any answer meets."""

    frames: np.ndarray
    found: list[Pose]
    iterations: np.ndarray
    met: np.ndarray


def _answered(solver: FrameSolver, arrays: FrameArrays, frames: np.ndarray, corrects: bool, watch: Watch) -> _Keys:
    """The answers at some frames; without those that the motion can pass, unless it is one to correct."""
    found, iterations, met = answers(solver, arrays.take(frames), corrects, watch)
    own = np.ones_like(met) if corrects else kept(met)
    if not own.all():
        found = [Pose(one.rotations[own], one.translations[own]) for one in found]
    return _Keys(frames[own], found, iterations[own], met[own])


def _follow_lost(
    solver: FrameSolver, arrays: FrameArrays, keys: np.ndarray, found: list[Pose], pose: Pose, lost: np.ndarray,
    length: float,
) -> None:  # fmt: skip
    """Write the frame solver's answers to `pose` in frames that are `lost`: from there, or from the keys beside them.

    found : answers at the keys. length : the skeleton's.
    """
    frames: list[int] = lost.tolist()
    for frame in frames:
        after = int(np.searchsorted(keys, frame))
        beside = [frames_of_answer(one, slice(at, at + 1)) for one in found for at in (after - 1, after)]
        least, own = float("inf"), arrays.part(frame, frame + 1)
        here = Pose(pose.rotations[frame : frame + 1].copy(), pose.translations[frame : frame + 1].copy())
        for start in (here, *beside):
            motion = solver.motion()
            motion.begin(Pose(start.rotations[0], start.translations[0]))
            motion.solve_into(own)
            errors = own.position_errors / length, own.rotation_errors
            miss = 0.0 if own.converged[0] else sum(float((one * one).sum()) for one in errors)
            if miss < least:
                least = miss
                pose.rotations[frame], pose.translations[frame] = own.rotations[0], own.translations[0]
            if own.converged[0]:
                break


def _solve_from(
    stages: Stages, arrays: FrameArrays, keys: np.ndarray, found: list[Pose], smooth: float, corrects: bool,
    window: int, watch: Watch,
) -> tuple[Pose, int, np.ndarray]:  # fmt: skip
    """The pose of all frames, the steps of all stages, and the frames (F,) that no key tells how to meet.

    found : answers at the keys.
    """
    targets, start, links, _ = stages.inputs(arrays, slice(None))
    pose, steps, lost = frames_of(start, len(arrays)), 0, np.zeros(len(arrays), dtype=bool)
    for number, stage in enumerate(stages.stages):
        if not stage.space.n:
            continue
        own = targets.of_goals(stage.indices)
        shares = ANSWERS_SHARE + (1.0 - ANSWERS_SHARE) * np.array([number, number + 1]) / len(stages.stages)
        own_watch = within(watch, *shares.tolist())
        compiled = compiled_stage(stage, len(stages.goals), stages.points)
        state, took, own_lost = _solve_stage(
            stage, compiled, keys, found, pose, own, links, smooth, corrects, window, own_watch
        )  # fmt: skip
        pose, steps, lost = posed(stage, state, pose), steps + took, lost | own_lost
    lost[keys] = False
    return pose, steps, lost


def _report(stages: Stages, arrays: FrameArrays, pose: Pose, iterations: np.ndarray) -> None:
    """Write the answers of all frames."""
    targets, _, links, _ = stages.inputs(arrays, slice(None))
    for begin in range(0, len(arrays), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        points = [
            (stage, _point(stage, pose, targets.of_goals(stage.indices), links, some)) for stage in stages.stages
        ]
        part = Pose(pose.rotations[some], pose.translations[some])
        arrays.answer(some, stages.report(part, points, iterations[some], targets.take(some)))


def _solve_stage(
    stage: Stage, compiled: CompiledStage | None, keys: np.ndarray, found: list[Pose], pose: Pose, targets: Targets,
    links: np.ndarray, smooth: float, corrects: bool, window: int, watch: Watch,
) -> tuple[State, int, np.ndarray]:  # fmt: skip
    """The state of a stage in all frames, its steps, and the frames (F,) that miss their goals more than their answer.

    found : answers at the keys. pose : of the other joints.
    """
    space, frames = stage.space, len(targets.positions)
    own, at_keys = _state(space, pose), targets.take(keys)
    smoothness = Smoothness(space, smooth * ACCELERATION, NEAR * stage.settings.weights, corrects, compiled)
    limbs, serves = branches.limbs_of(coupled(stage.skeleton, stage.chains), space.moved)
    own_links = links if len(links) == 1 else links[keys]
    states, rows, costs = zip(*(
        _missed(stage, compiled, answer, at_keys, own_links) for answer in found
    ), strict=True)  # fmt: skip
    least = nearest(np.stack(costs))
    wanted = np.zeros((frames, stage.tasks.all))
    missed_rows = np.stack(rows)[least, np.arange(len(keys))]
    for row in np.flatnonzero(missed_rows.any(0)).tolist():
        wanted[:, row] = np.interp(np.arange(frames), keys, missed_rows[:, row])
    excess = np.maximum(np.stack(costs) - np.stack(costs)[least, np.arange(len(keys))], 0.0)
    own_keys = own.take(keys)
    chosen = branches.choose(smoothness, limbs, states, own_keys, excess @ serves.T.astype(float))
    begun = between(space, keys, _taken(space, own_keys, states, chosen[:, limbs]), own, corrects)
    first = _taken(space, own_keys, states, least[:, None])
    base = own if corrects else begun
    clip = Clip(
        stage.tasks, space, smoothness, Bounds(space), base, targets._replace(wanted=wanted),
        with_still_slides(stage, pose, links), compiled,
    )  # fmt: skip
    if not corrects:
        del own  # as large as the motion
    state, took = solve_windows(clip, begun, window, watch=watch)
    state, lost = _exact(stage, clip, mend(clip, state, watch), keys, first)
    for answer in states if len(keys) == frames else ():
        if smoothness.acceleration(answer, base) < smoothness.acceleration(state, base):  # rare: it moves more smoothly
            exact, own_lost = _exact(stage, clip, _taken(space, state, [answer], np.zeros((1, 1))), keys, first)
            smoother = smoothness.acceleration(exact, base) < smoothness.acceleration(state, base)
            if smoother and not (own_lost & ~lost).any():
                state, lost = exact, own_lost
    return state, took, lost


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
        pose, own_links = frames_of_answer(answer, some), links if len(links) == 1 else links[some]
        parts.append(missed(stage, compiled, pose, targets.take(some), own_links))
    states, rows, costs = zip(*parts, strict=True)
    whole = State(np.concatenate([state.rotations for state in states]), np.concatenate([state.x for state in states]))
    return whole, np.concatenate(rows), np.concatenate(costs)


def _exact(
    stage: Stage, clip: Clip, state: State, keys: np.ndarray, answer: State
) -> tuple[State, np.ndarray]:  # fmt: skip
    """`state`, which is changed, inside the limits with each frame's goals met exactly; the frames (F,) that miss them.

    answer : (K) at the keys, from which keys are met that cannot be met from `state`.
    """
    hard, options = stage.hard_tasks, stage.options
    settings = stage.settings._replace(
        pull=0.0, iterations=POLISH_ITERATIONS, first_damping=POLISH_DAMPING, damping=None,
        tolerance=EXACT_SHARE * options.tolerance, rotation_tolerance=EXACT_SHARE * options.rotation_tolerance,
    )  # fmt: skip
    every = np.zeros(len(state.x), dtype=bool)
    for begin in range(0, len(state.x), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        part = clip.part(begin, begin + AT_ONCE)
        wanted = None if part.targets.wanted is None else part.targets.wanted[:, : hard.m]
        frames = Request(cut(state, some), part.targets._replace(wanted=wanted), part.links)
        point = _met(stage, settings, cut(state, some), frames)
        lost = np.flatnonzero(~hard.within(point.error, options.tolerance, options.rotation_tolerance))
        every[begin + lost] = True
        lost = lost[np.isin(begin + lost, keys)]
        if lost.size:
            own = answer.take(np.searchsorted(keys, begin + lost))
            again = _met(stage, settings, own, frames.take(lost))
            better = (again.error**2).sum(-1) < (point.error[lost] ** 2).sum(-1)
            point = point.copy()
            point.put(lost[better], again.take(better))
            every[begin + lost] = ~hard.within(point.error[lost], options.tolerance, options.rotation_tolerance)
        state.rotations[some], state.x[some] = point.state.rotations, point.state.x
    return state, every


def _met(stage: Stage, settings: Settings, state: State, frames: Request) -> Point:
    """The point after a few damped steps toward the goals alone, from a state that is brought inside the limits."""
    space, hard = stage.space, stage.hard_tasks
    inside = space.step(state, space.project(state.x) - state.x)
    return _polished(hard, space, settings, stand(hard, inside, frames), frames).point


def _point(stage: Stage, pose: Pose, targets: Targets, links: np.ndarray, some: slice) -> Point:
    """The point of a stage in some frames of the answer."""
    part = Pose(pose.rotations[some], pose.translations[some])
    own_links = with_still_slides(stage, part, links if len(links) == 1 else links[some])
    state = stage.space.state(part, len(part.rotations))
    return stand(stage.tasks, state, Request(state, targets.take(some), own_links))
