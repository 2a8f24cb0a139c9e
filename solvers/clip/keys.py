# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a clip that are solved frame by frame before all frames are solved at once, and what lies between.

Where goals are met, every few frames are enough to find out how limbs meet them. Where they are missed, every frame is
solved, because the clip leads such goals to where the frame solver brings them.
"""

import numpy as np

from ..algebra import quaternion
from ..model.goals import Targets
from ..model.limits import FULL_TURN
from ..space.joint_space import JointSpace, State
from ..space.tasks.setup import ROTATION_LENGTH

STRIDE = 3  # frames from one key to the next, at most
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


def between(space: JointSpace, keys: np.ndarray, state: State, own: State, corrects: bool) -> State:
    """A state of all frames that is `state` (K) at the keys and goes evenly from key to key in the space's joints.

    own : of all frames: other joints stay as they are in it. corrects : it is the correction to it that goes evenly.
    """
    frames, joints = np.arange(len(own.x)), space.moved
    before = np.clip(np.searchsorted(keys, frames, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(before + 1, len(keys) - 1)
    share = ((frames - keys[before]) / np.maximum(keys[after] - keys[before], 1))[:, None]
    rotations, x, at = own.rotations.copy(), state.x, state.rotations[:, joints]
    if corrects:
        x = x - own.x[keys]
        at = quaternion.relative(own.rotations[keys[:, None], joints], at)
    way = x[after] - x[before]
    wraps = space.turns & ~np.isfinite(space.lo)
    way[:, wraps] -= FULL_TURN * np.round(way[:, wraps] / FULL_TURN)
    x = x[before] + share * way
    turn = quaternion.log(quaternion.relative(at[before], at[after]))
    turned = quaternion.product(at[before], quaternion.exp(share[..., None] * turn))
    rotations[:, joints] = quaternion.product(rotations[:, joints], turned) if corrects else turned
    return space.step(State(rotations, own.x + x if corrects else x), np.zeros_like(own.x))
