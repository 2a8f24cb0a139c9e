# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a clip: frame by frame first, then all frames of each stage as one problem, then each frame's goals exactly.

A goal that the frame solver misses is led to where the frame solver brings it, so that weights, priorities and goals
out of reach mean what they mean frame by frame. Long clips are solved in windows that overlap.
"""

from collections.abc import Sequence

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
    found, iterations = answers(solver, arrays, within(watch, 0.0, ANSWERS_SHARE))
    targets, start, links, _ = stages.inputs(arrays, slice(None))
    pose = frames_of(start, len(arrays))
    for number, stage in enumerate(stages.stages):
        if not stage.space.n:
            continue
        own = targets.of_goals(stage.indices)
        shares = ANSWERS_SHARE + (1.0 - ANSWERS_SHARE) * np.array([number, number + 1]) / len(stages.stages)
        own_watch = within(watch, *shares.tolist())
        compiled = compiled_stage(stage, len(stages.goals), stages.points)
        state, took = _solve_stage(stage, compiled, found, pose, own, links, smooth, corrects, window, own_watch)
        pose = posed(stage, state, pose)
        iterations += took
    for begin in range(0, len(arrays), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        points = [
            (stage, _point(stage, pose, targets.of_goals(stage.indices), links, some)) for stage in stages.stages
        ]
        part = Pose(pose.rotations[some], pose.translations[some])
        arrays.answer(some, stages.report(part, points, iterations[some], targets.take(some)))


def _solve_stage(
    stage: Stage, compiled: CompiledStage | None, found: list[Pose], pose: Pose, targets: Targets, links: np.ndarray,
    smooth: float, corrects: bool, window: int, watch: Watch,
) -> tuple[State, int]:  # fmt: skip
    """The state of a stage in all frames, and its iterations. found : answers. pose : of the other joints."""
    space, frames = stage.space, len(targets.positions)
    smoothness = Smoothness(space, smooth * ACCELERATION, NEAR * stage.settings.weights, corrects)
    limbs, serves = branches.limbs_of(coupled(stage.skeleton, stage.chains), space.moved)
    states, rows, costs = zip(*(_missed(stage, answer, targets, links) for answer in found), strict=True)
    least = nearest(np.stack(costs))
    wanted = np.zeros((frames, stage.tasks.all))
    wanted[:, : stage.tasks.m] = np.stack(rows)[least, np.arange(frames)]
    excess = np.stack(costs) - np.stack(costs)[least, np.arange(frames)]
    own = space.state(pose, frames)
    chosen = branches.choose(smoothness, limbs, states, own, np.maximum(excess, 0.0) @ serves.T.astype(float))
    begun = _taken(space, own, states, chosen[:, limbs])
    base = own if corrects else begun
    own_links = with_still_slides(stage, pose, links)
    clip = Clip(
        stage.tasks, space, smoothness, Bounds(space), base, targets._replace(wanted=wanted), own_links, compiled
    )  # fmt: skip
    first = _taken(space, own, states, least[:, None])
    rough = [smoothness.acceleration(one, base) for one in states]
    del states, own  # as large as the motion
    state, took = solve_windows(clip, begun, window, watch=watch)
    state, miss = _exact(stage, clip, mend(clip, state, watch), first)
    for answer, roughness in zip(found, rough, strict=True):
        if roughness < smoothness.acceleration(state, base):  # rare: a frame-by-frame answer moves more smoothly
            other = _taken(space, state, [_missed(stage, answer, targets, links)[0]], np.zeros((1, 1)))
            exact, own_miss = _exact(stage, clip, other, first)
            if own_miss <= miss and smoothness.acceleration(exact, base) < smoothness.acceleration(state, base):
                state = exact
    return state, took


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


def _missed(stage: Stage, answer: Pose, targets: Targets, links: np.ndarray) -> tuple[State, np.ndarray, np.ndarray]:
    """`missed`, some frames at a time."""
    parts: list[tuple[State, np.ndarray, np.ndarray]] = []
    for begin in range(0, len(targets.positions), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        pose, own_links = frames_of_answer(answer, some), links if len(links) == 1 else links[some]
        parts.append(missed(stage, pose, targets.take(some), own_links))
    states, rows, costs = zip(*parts, strict=True)
    whole = State(np.concatenate([state.rotations for state in states]), np.concatenate([state.x for state in states]))
    return whole, np.concatenate(rows), np.concatenate(costs)


def _exact(stage: Stage, clip: Clip, state: State, answer: State) -> tuple[State, float]:
    """The state inside the limits with each frame's goals met exactly, and by how much the worst row misses.

    answer : a frame-by-frame answer, from which frames are met that cannot be met from `state`.
    """
    hard, options = stage.hard_tasks, stage.options
    settings = stage.settings._replace(
        pull=0.0, iterations=POLISH_ITERATIONS, first_damping=POLISH_DAMPING, damping=None,
        tolerance=EXACT_SHARE * options.tolerance, rotation_tolerance=EXACT_SHARE * options.rotation_tolerance,
    )  # fmt: skip
    state, worst = State(state.rotations.copy(), state.x.copy()), 0.0
    for begin in range(0, len(state.x), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        part = clip.part(begin, begin + AT_ONCE)
        wanted = None if part.targets.wanted is None else part.targets.wanted[:, : hard.m]
        frames = Request(cut(state, some), part.targets._replace(wanted=wanted), part.links)
        point = _met(stage, settings, cut(state, some), frames)
        lost = np.flatnonzero(~hard.within(point.error, options.tolerance, options.rotation_tolerance))
        if lost.size:
            again = _met(stage, settings, cut(answer, some).take(lost), frames.take(lost))
            better = (again.error**2).sum(-1) < (point.error[lost] ** 2).sum(-1)
            point = point.copy()
            point.put(lost[better], again.take(better))
        state.rotations[some], state.x[some] = point.state.rotations, point.state.x
        worst = max(worst, float(np.abs(point.error).max(initial=0.0)))
    return state, worst


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
