# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that turn faster in a solved motion than their goals make them: such frames are solved again, more slowly.

Where a limb is straight, the least step from a frame's pose to the next targets is far longer than the one of a motion
through both, and `Speed` lets joints turn as fast. The shorter one of the step to the next frame and of that back is
a better estimate. With it, the frames around are solved again from the motion that they have. The result is kept only
where no joint turns faster, none pops, the motion is about the same and no goal is missed by more, so that no motion
gets worse.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..algebra import quaternion
from ..compiled.clip import CompiledStage, PreparedStages, compiled_stage
from ..group.stage import Stage, posed
from ..group.starts import with_still_slides
from ..model.frames import ANSWERS, FrameArrays
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..motion.contacts import runs
from ..space.joint_space import State
from .bounds import Bounds
from .exact import Exact
from .minimise import minimise
from .pops import POP, pops
from .problem import Clip, Problem
from .smoothness import Smoothness
from .solve import ACCELERATION, NEAR, missed_in, nearness, point_of, state_of
from .speed import FREE, Speed, forced
from .stretches import Window
from .watch import Watch, unwatched
from .windows import REACH

OVER = np.radians(5.0)  # of a joint's step beyond what its goals force: from there on it is slowed
ROOM = 20  # frames on each side of these that are solved again
NEARS = (1.0, 1.0 / 30.0)  # times as near to the motion, one after the other, until none is so fast
AWAY = np.radians(5.0)  # of the joints from the motion, on average: what is further is another motion
MORE = np.radians(1.0)  # by which a joint may turn faster in a frame in which none is too fast
ROUNDED = 1e-3  # [rad]
SMOOTHER = 3.0  # times the weight of accelerations, so that a joint that is slowed does not pop
POPS = 1.5 * POP  # what is no pop beside joints that turn fast
LESS = 0.9  # times the squares of what is too fast: more than that is no gain


def slow_into(
    prepared: PreparedStages, arrays: FrameArrays, smooth: float = 1.0, held: tuple[int, int] = (0, 0),
    watch: Watch = unwatched,
) -> None:  # fmt: skip
    """Solve frames of a motion again in which joints turn too fast. The motion's answers stand in the arrays.

    smooth, watch : as of `solve_into`. held : frames at the beginning and at the end that stay as they are.
    """
    turns = quaternion.log(quaternion.relative(arrays.rotations[:-1], arrays.rotations[1:]))
    with np.errstate(invalid="ignore"):
        fast = np.sqrt((turns**2).sum(-1)).max(-1, initial=0.0) > FREE + OVER
    finite = prepared.numpy.finite(arrays)
    for begin, end in runs(finite):
        for first, last in _around(np.append(fast[begin : end - 1], False)):
            watch((begin + first) / len(arrays))
            own_held = max(held[0] - begin, 0), max(held[1] - (len(arrays) - end), 0)
            if window := _window(first, last, end - begin, own_held):
                _slow(prepared, arrays.part(begin + window.begin, begin + window.end), smooth, window.held)


def _window(first: int, last: int, frames: int, held: tuple[int, int]) -> Window | None:
    """Frames around those from `first` to `last`, of a number of `frames` whose ends are `held`; None if all are."""
    begin, end = max(first - REACH - 1, 0), min(last + REACH + 1, frames)
    first, last = max(first, held[0]), min(last, frames - held[1])
    return Window(begin, end, first, last, (first - begin, end - last)) if first < last else None


def _around(fast: np.ndarray) -> list[tuple[int, int]]:
    """Runs of frames near those that are fast (F,) bool."""
    return list(runs(np.convolve(fast, np.ones(2 * ROOM + 1))[ROOM : ROOM + len(fast)] > 0.5))


def _slow(prepared: PreparedStages, arrays: FrameArrays, smooth: float, held: tuple[int, int]) -> None:
    """Slow the joints of all stages in some frames, unless goals are then missed by more."""
    stages, changed = prepared.numpy, np.zeros(len(arrays), dtype=bool)
    targets, _, links, _ = stages.inputs(arrays, slice(None))
    pose = Pose(arrays.rotations.copy(), arrays.translations.copy())
    for number, stage in enumerate(stages.stages):
        if stage.space.n:
            state = state_of(stage.space, pose)
            slower = _Slower.of(stage, compiled_stage(prepared, number), pose, state, targets, links, smooth)
            own = slower.into(state, held)
            pose, changed = posed(stage, state, pose) if own.any() else pose, changed | own
    at = np.flatnonzero(changed)
    if not at.size:
        return
    points = [(stage, point_of(stage, pose, targets, links)) for stage in stages.stages]
    batch, missed = stages.report(pose, points, arrays.iterations, targets), at[~arrays.converged[at]]
    misses = [(one.position_errors[missed].sum(), one.rotation_errors[missed].sum()) for one in (arrays, batch)]
    if (arrays.converged & ~batch.converged)[at].any() or np.greater(misses[1], misses[0]).any():
        return
    for name in ANSWERS:
        getattr(arrays, name)[at] = getattr(batch, name)[at]


@dataclass(frozen=True)
class _Slower:
    """Some frames of a stage, whose joints may turn no faster than `speed` has it.

    missed : (F, m) error rows that they miss. times : as near to the motion they are solved, as of `nearness`.
    """

    stage: Stage
    clip: Clip
    missed: np.ndarray
    speed: Speed
    times: float

    @classmethod
    def of(
        cls, stage: Stage, compiled: CompiledStage | None, pose: Pose, state: State, targets: Targets,
        links: np.ndarray, smooth: float,
    ) -> "_Slower":  # fmt: skip
        """Of all frames. pose : of all joints. state : the stage's in it. targets : of all goals."""
        own, space = targets.of_goals(stage.indices), stage.space
        wanted = np.zeros((len(state.x), stage.tasks.all))
        wanted[:, : stage.tasks.m] = missed_in(stage, compiled, pose, own, links)[1]
        near, weight = NEAR * stage.settings.weights, smooth * ACCELERATION
        usual, smoothness = (
            Smoothness(space, times * weight, near, False, state, compiled) for times in (1.0, SMOOTHER)
        )
        clip = Clip(
            stage.tasks, space, smoothness, Bounds(space), own._replace(wanted=wanted),
            with_still_slides(stage, pose, links), compiled,
        )  # fmt: skip
        met = stage.tasks.within(wanted, stage.options.tolerance, stage.options.rotation_tolerance)
        if not met.all():
            clip = replace(clip, slack=(wanted != 0.0) & ~met[:, None])
        steps = np.minimum(forced(clip, state), forced(clip, state, back=True))
        return cls(stage, clip, wanted, Speed.of(usual, steps), nearness(steps))

    def into(self, state: State, held: tuple[int, int]) -> np.ndarray:
        """Slow a state, in place, where it is too fast; the frames (F,) bool that were changed."""
        changed = np.zeros(len(self.clip), dtype=bool)
        for first, last in _around(self.speed.over(state) > OVER):
            if window := _window(first, last, len(self.clip), held):
                some = slice(window.begin, window.end)
                found = self.part(window.begin, window.end).solved(state.take(some), window.held)
                if found is not None:
                    inner = slice(window.held[0], len(found.x) - window.held[1])
                    at = slice(window.first, window.last)
                    state.rotations[at], state.x[at] = found.rotations[inner], found.x[inner]
                    changed[at] = True
        return changed

    def part(self, begin: int, end: int) -> "_Slower":
        """Frames `begin` to `end`."""
        some = slice(begin, end)
        return replace(
            self, clip=self.clip.part(begin, end), missed=self.missed[some], speed=self.speed.part(some)
        )  # fmt: skip

    def solved(self, now: State, held: tuple[int, int]) -> State | None:
        """A slower motion that meets its goals exactly in the frames that are not held; None if there is none."""
        clip, best, least = self.clip, None, self._excess(now)
        for share in NEARS if self.times > 1.0 else (1.0,):
            near = clip.smoothness.about(now).nearer(max(share * self.times, 1.0))
            problem = Problem(replace(clip, smoothness=near, terms=(self.speed,)), held)
            trial, _ = minimise(problem, now)
            if self._excess(trial) < least and self._is_as_good(now, trial):
                best, least = trial, self._excess(trial)
                if self.speed.over(trial).max() <= OVER:
                    break
        if best is None:
            return None
        asked = held[0], len(clip) - held[1]
        exact = Exact(self.stage, clip, np.arange(len(clip)), now, self.missed, asked).motion(best)[0]
        return exact if self._excess(exact) < LESS * self._excess(now) and self._is_as_good(now, exact) else None

    def _excess(self, state: State) -> float:
        """The sum of the squares of what is too fast."""
        return float((self.speed.over(state) ** 2).sum())

    def _is_as_good(self, before: State, after: State) -> bool:
        """Whether no joint turns faster in a frame, none pops that did not, and the motion is about the same."""
        over = self.speed.over(before)
        if (self.speed.over(after) > np.maximum(over, np.minimum(over + MORE, OVER)) + ROUNDED).any():
            return False
        if pops(self.clip, after).max() > max(pops(self.clip, before).max(), POPS):
            return False
        turned = self.clip.smoothness.steps(before, after)
        return bool(np.sqrt((turned**2).sum(-1)).mean() <= AWAY)
