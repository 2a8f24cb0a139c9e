# SPDX-License-Identifier: GPL-3.0-or-later
"""Pops that are left in a clip: bridged where the goals allow it.

All answers frame by frame may change over between two ways to meet the goals, and limits can keep the clip's descent
from finding the way between them. So the frames around a pop are led from before to after it, and solved again: wider
each time, until the pop is gone.
"""

from dataclasses import replace

import numpy as np

from ..algebra import quaternion
from ..group.stages import Stages
from ..model.frames import FrameArrays
from ..model.goals import Targets
from ..space.joint_space import State
from ..space.tasks import Tasks
from .minimise import minimise
from .problem import Clip, Problem
from .smoothness import AT_ONCE
from .watch import Watch, unwatched
from .windows import REACH

POP = np.radians(10.0)  # of a joint's step beyond the mean of its neighbours
BRIDGES = (4, 12)  # frames on each side that are led across a pop
ROOM = 30  # frames on each side of these that are solved again
RISES = 1.2  # times a pop that was there before: from there on it is one more
MISSED = 1e-3  # [skeleton lengths] by which a bridge may miss the goals more
FORCED = 0.5  # of a pop: what a target's own pop is at least where the goals force it
MOST = 4  # pops that are bridged in a stage


def pops(clip: Clip, state: State) -> np.ndarray:
    """The largest differences (F,) of a joint's step to the next frame from the mean of the steps beside it [rad]."""
    off = np.zeros(len(clip))
    for begin in range(0, len(clip) - 3, AT_ONCE):
        part = state.take(slice(begin, begin + AT_ONCE + 3))
        v = clip.smoothness.steps(part.take(slice(0, -1)), part.take(slice(1, None)))
        off[begin + 1 : begin + len(v) - 1] = _off(v)
    return off


def of_targets(tasks: Tasks, targets: Targets, length: float) -> np.ndarray:
    """The same (F,) of the targets' steps [rad; places: skeleton lengths]."""
    off = np.zeros(len(targets.positions))
    if len(off) < 4:
        return off
    turning = np.unique(np.concatenate([np.zeros(0, dtype=int), *(
        kind.goals for kind in tasks.kinds if str(kind.unit) == "angle"
    )]))  # fmt: skip
    turned = quaternion.log(quaternion.relative(targets.rotations[:-1, turning], targets.rotations[1:, turning]))
    off[1:-2] = np.maximum(_off(turned), _off(np.diff(targets.positions, axis=0) / length))
    return off


def popping(stages: Stages, arrays: FrameArrays) -> bool:
    """Whether a joint pops in the answers of frames whose targets do not."""
    targets, none, least = stages.inputs(arrays, slice(None))[0], np.zeros(len(arrays)), np.zeros(len(arrays))
    if len(arrays) < 4:
        return False
    for stage in stages.stages:
        own = of_targets(stage.tasks, targets.of_goals(stage.indices), stages.skeleton.length)
        least = np.maximum(least, own)
    return bool(np.any(rises(none, turned(arrays.rotations), least)))


def turned(rotations: np.ndarray) -> np.ndarray:
    """As `pops` (F,), of rotations (F, J, 4)."""
    off = np.zeros(len(rotations))
    off[1:-2] = _off(quaternion.log(quaternion.relative(rotations[:-1], rotations[1:])))
    return off


def rises(before: np.ndarray, after: np.ndarray, targets: np.ndarray | float = 0.0) -> np.ndarray:
    """Whether (F,) joints pop that did not, or less, while the `targets` do not."""
    return (after > np.maximum(POP, RISES * before)) & (targets <= FORCED * after)


def _off(v: np.ndarray) -> np.ndarray:
    """The largest differences (F - 2,) of steps (F, K, 3) from the mean of those beside them."""
    return np.sqrt(((v[1:-1] - 0.5 * (v[2:] + v[:-2])) ** 2).sum(-1)).max(-1, initial=0.0)


def mend(
    clip: Clip, state: State, watch: Watch = unwatched, held: tuple[int, int] = (0, 0),
    asked: tuple[int, int] | None = None,
) -> State:  # fmt: skip
    """The state, which is changed, with pops bridged where that costs less and misses no goal.

    Where targets pop as well, the goals force it: no way between is smooth. held : frames at the beginning and at the
    end that stay. asked : the first frame that counts, and the one behind the last; others than those near them do not.
    """
    tried = np.zeros(len(clip), dtype=bool)
    targets = of_targets(clip.tasks, clip.targets, clip.space.skeleton.length)
    tried[: held[0]] = tried[len(clip) - held[1] :] = True
    if asked is not None:
        tried[: max(asked[0] - BRIDGES[-1], 0)] = tried[asked[1] + BRIDGES[-1] :] = True
    for _ in range(MOST):
        off = pops(clip, state)
        off[tried | (targets > FORCED * off)] = 0.0
        at = int(np.argmax(off))
        if off[at] <= POP:
            break
        tried[max(at - 2, 0) : at + 3] = True
        for width in BRIDGES:
            if _bridge(clip, state, at, width, watch, held):
                break
    return state


def _bridge(clip: Clip, state: State, at: int, width: int, watch: Watch, held: tuple[int, int]) -> bool:
    """Lead the frames around a pop across it, and solve them again; whether that was better, and `state` changed."""
    first, last = max(at - width, held[0] - 1, 0), min(at + 1 + width, len(clip) - max(held[1], 1))
    begin, end = max(first - ROOM, 0), min(last + 1 + ROOM, len(clip))
    held = (
        max(held[0] - begin, REACH if begin else 0), max(held[1] - (len(clip) - end), REACH if end < len(clip) else 0)
    )  # fmt: skip
    part, now = clip.part(begin, end), state.take(slice(begin, end))
    led = _led(clip, now, first - begin, last - begin)
    part = replace(part, smoothness=part.smoothness.about(led))
    problem = Problem(part, held)
    solved, _ = minimise(problem, led, watch)
    if problem.missed(solved) > max(problem.missed(now), MISSED):
        return False
    if part.roughness(solved) >= part.roughness(now):
        return False
    state.rotations[begin:end], state.x[begin:end] = solved.rotations, solved.x
    return pops(part, solved).max() <= POP


def _led(clip: Clip, state: State, first: int, last: int) -> State:
    """`state` with the joints that the space moves led evenly from one frame to another."""
    share, joints = np.linspace(0.0, 1.0, last - first + 1), clip.space.moved
    some = slice(first, last + 1)
    led = State(state.rotations.copy(), state.x.copy())
    begin, end = state.rotations[first, joints], state.rotations[last, joints]
    turn = quaternion.log(quaternion.relative(begin, end))
    led.rotations[some, joints] = quaternion.product(begin, quaternion.exp(share[:, None, None] * turn))
    led.x[some] = state.x[first] + share[:, None] * (state.x[last] - state.x[first])
    return clip.space.step(led, np.zeros_like(led.x))
