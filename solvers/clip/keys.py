# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a clip that are solved frame by frame before all frames are solved at once, and what lies between.

Where goals are met, every few frames are enough to find out how limbs meet them. Where they are missed, every frame is
solved, because the clip leads such goals to where the frame solver brings them.
"""

import numpy as np

from ..algebra import quaternion
from ..model.goals import Targets
from ..model.limits import FULL_TURN
from ..motion.contacts import runs
from ..space.joint_space import JointSpace, State
from ..space.tasks.setup import ROTATION_LENGTH

STRIDE = 3  # frames from one key to the next, at most
AT_ONCE = 256  # frames, whose turns are held in memory
FEW = 2  # keys in a row that are left out
FAR = 0.1  # [skeleton lengths] that a target moves from one key to the next, about


def keys_of(targets: Targets, length: float) -> np.ndarray:
    """The keys (K,) among the frames of all goals' targets, with the first and the last. length : the skeleton's."""
    count = len(targets.positions)
    moved = np.sqrt((np.diff(targets.positions, axis=0) ** 2).sum(-1)) / length
    turned = quaternion.log(quaternion.relative(targets.rotations[:-1], targets.rotations[1:]))
    moved = np.maximum(moved, ROTATION_LENGTH * np.sqrt((turned**2).sum(-1))).max(-1, initial=0.0)
    steps = np.floor(np.concatenate([[0.0], np.maximum(moved / FAR, 1.0 / STRIDE).cumsum()]) + 1e-9)
    return np.flatnonzero((np.diff(steps, prepend=-1.0) > 0.0) | (np.arange(count) == count - 1))


def refined(keys: np.ndarray, met: np.ndarray) -> np.ndarray:
    """`keys`, and all frames as far as the next key that is met. met : (K,) bool, whether a key's goals are."""
    missed = np.interp(np.arange(keys[-1] + 1, dtype=float), keys.astype(float), np.where(met, 0.0, 1.0))
    missed[keys] = 1.0
    return np.flatnonzero(missed > 0.0)


def kept(met: np.ndarray) -> np.ndarray:
    """The keys (K,) bool that are kept: not a few that no answer meets between others that are met.

    met : (K,) bool, whether a key's goals are.
    """
    keeps = np.ones(len(met), dtype=bool)
    for begin, end in runs(~met):
        keeps[begin:end] = begin == 0 or end == len(met) or end - begin > FEW
    return keeps


def between(space: JointSpace, keys: np.ndarray, state: State, own: State, corrects: bool) -> State:
    """A state of all frames that is `state` (K) at the keys and goes evenly from key to key in the space's joints.

    own : of all frames: other joints stay as they are in it. corrects : it is the correction to it that goes evenly.
    """
    whole = State(np.empty_like(own.rotations), np.empty_like(own.x))
    for begin in range(0, len(own.x), AT_ONCE):
        frames = np.arange(begin, min(begin + AT_ONCE, len(own.x)))
        part = _between(space, keys, state, own, corrects, frames)
        whole.rotations[frames], whole.x[frames] = part.rotations, part.x
    return whole


def _between(
    space: JointSpace, keys: np.ndarray, state: State, own: State, corrects: bool, frames: np.ndarray
) -> State:  # fmt: skip
    """`between` in some frames."""
    joints, base = space.moved, own.take(frames)
    before = np.clip(np.searchsorted(keys, frames, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(before + 1, len(keys) - 1)
    share = ((frames - keys[before]) / np.maximum(keys[after] - keys[before], 1))[:, None]
    ends = [(state.rotations[at][:, joints], state.x[at]) for at in (before, after)]
    if corrects:
        own_ends = [own.take(keys[at]) for at in (before, after)]
        ends = [(quaternion.relative(one.rotations[:, joints], turn), x - one.x)
                for one, (turn, x) in zip(own_ends, ends, strict=True)]  # fmt: skip
    (turn, x), (last_turn, last_x) = ends
    way = last_x - x
    wraps = space.turns & ~np.isfinite(space.lo)
    way[:, wraps] -= FULL_TURN * np.round(way[:, wraps] / FULL_TURN)
    x = x + share * way
    turning = share[..., None] * quaternion.log(quaternion.relative(turn, last_turn))
    turned = quaternion.product(turn, quaternion.exp(turning))
    base.rotations[:, joints] = quaternion.product(base.rotations[:, joints], turned) if corrects else turned
    return space.step(State(base.rotations, base.x + x if corrects else x), np.zeros_like(x))
