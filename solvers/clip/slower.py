# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that turn faster in a solved motion than their goals make them: such frames are solved again, more slowly.

Where a limb is straight, the least step from a frame's pose to the next targets is far longer than the one of a motion
through both, and `Speed` lets joints turn as fast. The shorter one of the step to the next frame and of that back is
a better estimate, and the median of those beside a still better one. With it, the frames around are solved again from
the motion that they have, but for those whose goals are fast themselves, as of a punch. The result is kept only where
no joint turns faster or pops, the motion is about the same, the nearer the less is gained, and goals are not missed by
more, so that no motion gets worse. Where goals and limits together force a pop, the frames around may miss their goals
by 4 % more in all.
"""

from collections.abc import Iterator
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
from ..space.point import Request, evaluate
from .bounds import Bounds
from .exact import Exact
from .minimise import minimise
from .pops import POP, pops
from .problem import Clip, Problem
from .smoothness import Smoothness
from .solve import ACCELERATION, NEAR, missed_in, nearness, point_of, some_of, state_of
from .speed import FREE, Speed, usual
from .stretches import STRETCH, Window
from .watch import Watch, unwatched
from .windows import REACH

FAST = np.radians(6.0)  # of a joint's step beyond what its goals force: from there on it is slowed
OVER = np.radians(5.0)  # until none is faster
ROOM = 20  # frames on each side of those that are too fast that are solved again
EDGE = STRETCH // 8  # frames beside held ones, which are slowed in the window on the other side
NEARS = (1.0, 1.0 / 30.0)  # times as near to the motion, one after the other, until none is so fast
AWAY = np.radians(8.0)  # of the joints from the motion, on average: what is further is another motion
WORTH = 0.6  # times what the fastest joint turns less: as far from the motion, or as far as that to take away a pop
MORE = np.radians(1.0)  # by which a joint may turn faster in another frame
CALM = 0.6  # of a pop: a joint that is slower may turn as fast, with no pop of its own
SMOOTHER = 3.0  # times the weight of accelerations, so that a joint that is slowed does not pop
POPS = 1.5 * POP  # what is no pop beside joints that turn fast
LESS = 0.9  # times the squares of what is too fast: more than that is no gain
DRAWN, GIVES = 0.3, 0.1  # as of `Exact`: frames that miss their goals are drawn toward them, as far as that is near
SPARES = 1.04  # times what frames around a pop miss: so much they may miss once they are slowed


def slow_into(
    prepared: PreparedStages, arrays: FrameArrays, smooth: float = 1.0, held: tuple[int, int] = (0, 0),
    watch: Watch = unwatched,
) -> None:  # fmt: skip
    """Solve frames of a motion again in which joints turn too fast. The motion's answers stand in the arrays.

    smooth, watch : as of `solve_into`. held : frames at the beginning and at the end that stay as they are. Joints that
        are too fast within `EDGE` frames of them are left to a window across them.
    """
    turns = quaternion.log(quaternion.relative(arrays.rotations[:-1], arrays.rotations[1:]))
    fast = np.zeros(arrays.rotations.shape[:2], dtype=bool)
    with np.errstate(invalid="ignore"):
        fast[:-1] = np.sqrt((turns**2).sum(-1)) > FREE + FAST
    first, last = (count and count + EDGE for count in held)
    fast[:first] = fast[max(len(fast) - last, 0) :] = False
    finite = prepared.numpy.finite(arrays)
    for begin, end in runs(finite):
        own_held = max(held[0] - begin, 0), max(held[1] - (len(arrays) - end), 0)
        for window in _windows(np.any(fast[begin:end], axis=-1), own_held):
            watch((begin + window.first) / len(arrays))
            some = slice(begin + window.begin, begin + window.end)
            _slow(prepared, arrays.part(some.start, some.stop), fast[some], smooth, window.held)


def _windows(fast: np.ndarray, held: tuple[int, int]) -> Iterator[Window]:
    """Windows around frames (F,) bool that are fast, of those between the `held` ones."""
    near = np.convolve(fast, np.ones(2 * ROOM + 1))[ROOM : ROOM + len(fast)] > 0.5
    for first, last in runs(near):
        begin, end = max(first - REACH - 1, 0), min(last + REACH + 1, len(fast))
        first, last = max(first, held[0]), min(last, len(fast) - held[1])
        if first < last:
            yield Window(begin, end, first, last, (first - begin, end - last))


def _slow(
    prepared: PreparedStages, arrays: FrameArrays, fast: np.ndarray, smooth: float, held: tuple[int, int]
) -> None:  # fmt: skip
    """Slow the joints of all stages in some frames. fast : (F, J) bool, joints that may be too fast."""
    stages, changed = prepared.numpy, np.zeros(len(arrays), dtype=bool)
    targets, _, links, _ = stages.inputs(arrays, slice(None))
    pose = Pose(arrays.rotations.copy(), arrays.translations.copy())
    for number, stage in enumerate(stages.stages):
        own_fast = np.any(fast[:, stage.space.moved], axis=-1)
        if own_fast.any():
            state = state_of(stage.space, pose)
            slower = _Slower.of(stage, compiled_stage(prepared, number), pose, state, targets, links, smooth)
            own = slower.into(state, own_fast, held)
            pose, changed = posed(stage, state, pose) if own.any() else pose, changed | own
    at = np.flatnonzero(changed)
    if at.size:
        pose, targets, links = Pose(pose.rotations[at], pose.translations[at]), targets.take(at), some_of(links, at)
        points = [(stage, point_of(stage, pose, targets, links)) for stage in stages.stages]
        batch = stages.report(pose, points, arrays.iterations[at], targets)
        for name in ANSWERS:
            getattr(arrays, name)[at] = getattr(batch, name)


@dataclass(frozen=True)
class _Slower:
    """Some frames of a stage, whose joints may turn no faster than `speed` has it.

    missed : (F, m) error rows that they miss. fast : (F,) bool, where joints turn faster than their goals make them.
    times : as near to the motion they are solved, as of `nearness`.
    """

    stage: Stage
    clip: Clip
    missed: np.ndarray
    speed: Speed
    fast: np.ndarray
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
        plain, smoothness = (
            Smoothness(space, times * weight, near, False, state, compiled) for times in (1.0, SMOOTHER)
        )
        clip = Clip(
            stage.tasks, space, smoothness, Bounds(space), own._replace(wanted=wanted),
            with_still_slides(stage, pose, links), compiled,
        )  # fmt: skip
        met = stage.tasks.within(wanted, stage.options.tolerance, stage.options.rotation_tolerance)
        if not met.all():
            clip = replace(clip, slack=(wanted != 0.0) & ~met[:, None])
        steps, most = usual(clip, state)
        fast = Speed.of(plain, most).over(state) > FAST
        return cls(stage, clip, wanted, Speed.of(plain, steps), fast, nearness(steps))

    def into(self, state: State, fast: np.ndarray, held: tuple[int, int]) -> np.ndarray:
        """Slow a state, in place, where it is too fast; the frames (F,) bool that were changed.

        fast : (F,) bool, the frames that count.
        """
        changed = np.zeros(len(self.clip), dtype=bool)
        for window in _windows(fast & self.fast, held):
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
            self, clip=self.clip.part(begin, end), missed=self.missed[some], speed=self.speed.part(some),
            fast=self.fast[some],
        )  # fmt: skip

    def solved(self, now: State, held: tuple[int, int]) -> State | None:
        """A slower motion that meets its goals exactly in the frames that are not held; None if there is none."""
        clip, best, least = self.clip, None, LESS * self._excess(now)
        asked = held[0], len(clip) - held[1]
        exact = Exact(self.stage, clip, np.arange(len(clip)), now, self.missed, asked, DRAWN, GIVES)
        is_pop = self.speed.over(now).max() > POP
        for share in NEARS if is_pop and self.times > 1.0 else (1.0,):
            begun = now if best is None else best
            near = clip.smoothness.about(begun).nearer(max(share * self.times, 1.0))
            trial, _ = minimise(Problem(replace(clip, smoothness=near, terms=(self.speed,)), held), begun)
            if self._is_better(now, trial, least):
                trial = exact.motion(trial)[0]
                if self._is_better(now, trial, least) and self._misses_no_more(now, trial):
                    best, least = trial, self._excess(trial)
                    if self.speed.over(trial).max() <= OVER:
                        break
        return best

    def _excess(self, state: State) -> float:
        """The sum of the squares of what is too fast."""
        return float((self.speed.over(state) ** 2).sum())

    def _is_better(self, before: State, after: State, least: float) -> bool:
        """Whether its excess is below `least`, no joint turns or pops more, and the motion is about the same."""
        over, now = self.speed.over(before), self.speed.over(after)
        slow = max(OVER, CALM * over.max()) if over.max() > POP else 0.0
        if (now**2).sum() >= least or (now > np.maximum(over + MORE, slow)).any():
            return False
        if pops(self.clip, after).max() > max(pops(self.clip, before).max(), POPS):
            return False
        turned, gain = self.clip.smoothness.steps(before, after), over.max() - now.max()
        most = min(gain if over.max() > POP else WORTH * gain, AWAY)
        return bool(np.sqrt((turned**2).sum(-1)).mean() <= most)

    def _misses_no_more(self, before: State, after: State) -> bool:
        """Whether frames that met their goals do, and the others miss places and turns by no more in all.

        Where a joint pops, that is by a little more.
        """
        (met, misses), (still_met, now) = map(self._misses, (before, after))
        if self.speed.over(before).max() > POP:
            misses = SPARES * misses
        fewer = now[:, ~still_met].sum(-1) <= misses[:, ~still_met].sum(-1)
        return bool(fewer.all() and not (met & ~still_met).any())

    def _misses(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Whether frames (F,) meet their goals, and the sums (2, F) of the distances and the angles from them."""
        hard, options = self.stage.hard_tasks, self.stage.options
        point = evaluate(hard, state, Request(state, self.clip.targets._replace(wanted=None), self.clip.links))
        met = hard.within(point.error, options.tolerance, options.rotation_tolerance)
        return met, np.stack([part.sum(-1) for part in hard.report(point.kinematics, self.clip.targets)])
