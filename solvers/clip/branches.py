# SPDX-License-Identifier: GPL-3.0-or-later
"""Chooses the frame-by-frame answer of each limb in each frame: the path of least acceleration through them.

A limb can meet its goals in several ways, and each way of solving frame by frame changes over at other frames: a pop.
The path through all answers that costs least, by Viterbi's algorithm over pairs of frames, changes over where that
matters least, or not at all.
"""

from collections.abc import Sequence

import numpy as np

from ..space.joint_space import State
from .smoothness import Smoothness

PREFERS = 0.3  # of the distance from S, which counts less than a pop that it would take to be near
AT_ONCE = 128  # frames, whose combinations are held in memory


def choose(
    smoothness: Smoothness, limbs: np.ndarray, states: Sequence[State], misses: np.ndarray, at: np.ndarray
) -> np.ndarray:  # fmt: skip
    """The answer (F, L) that each limb takes in each frame.

    smoothness : also of the distance from the motion S, which answers had better be near.
    limbs : (K,) of each joint that the space moves. states : the answers, C of them, each of F frames.
    misses : (C, F, L) costs of what an answer misses. at : (F,) the frames' times, each of which stands for those to
        the next.
    """
    choices, frames, count = misses.shape
    if frames < 3:
        return np.argmin(misses, axis=0)
    own = np.eye(count)[limbs]  # (K, L)
    apart = np.stack([smoothness.distance(state) for state in states]) @ own
    misses = misses + PREFERS * np.gradient(at.astype(float))[:, None] * apart
    parts = [slice(begin, begin + AT_ONCE + 2) for begin in range(0, frames - 2, AT_ONCE)]
    accelerations = np.concatenate([
        _accelerations(smoothness.part(some), [state.take(some) for state in states], own) for some in parts
    ])  # fmt: skip
    total = misses[:, 0, :][:, None] + misses[:, 1, :]  # (C, C, L) least cost up to a pair of frames
    before = np.zeros((frames, choices, choices, count), dtype=np.intp)
    for f in range(frames - 2):
        every = total[:, :, None] + accelerations[f]
        before[f + 2] = np.argmin(every, axis=0)
        total = np.min(every, axis=0) + misses[:, f + 2]
    chosen = np.zeros((frames, count), dtype=np.intp)
    last = np.argmin(total.reshape(-1, count), axis=0)
    chosen[-2], chosen[-1] = last // choices, last % choices
    for f in range(frames - 1, 1, -1):
        chosen[f - 2] = before[f, chosen[f - 1], chosen[f], np.arange(count)]
    return chosen


def _accelerations(smoothness: Smoothness, states: Sequence[State], own: np.ndarray) -> np.ndarray:
    """Costs (F - 2, C, C, C, L) of the accelerations of limbs whose frames come from three answers.

    own : (K, L) 1 for the joints of a limb.
    """
    if smoothness.corrects:
        c = np.stack([smoothness.steps(smoothness.base, state) for state in states], axis=1)  # (F, C, K, 3)
        a = c[:-2, :, None, None] - 2.0 * c[1:-1, None, :, None] + c[2:, None, None, :]
    else:
        v = np.stack([
            np.stack([smoothness.steps(one.take(slice(0, -1)), other.take(slice(1, None))) for other in states], axis=1)
            for one in states
        ], axis=1)  # fmt: skip
        a = v[1:, None] - v[:-1, :, :, None]
    return 0.5 * smoothness.weight * ((a * a).sum(-1) @ own)


def limbs_of(chains: np.ndarray, moved: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limbs: the joints (K,) `moved` that serve the same goals; and which goals (L, G) each limb serves.

    chains : (G, J) bool, the joints that each goal moves. shared : numbers of goals whose joints are one limb, together
        with all that share a joint with them.
    """
    serves, limb = np.unique(chains[:, moved], axis=1, return_inverse=True)
    limbs = np.arange(len(serves.T), dtype=np.intp)
    for own in serves[shared]:
        limbs[np.isin(limbs, limbs[own])] = np.min(limbs[own], initial=0)
    joined = np.unique(limbs, return_inverse=True)[1].astype(np.intp)
    whole = np.zeros((len(np.unique(limbs)), len(chains)), dtype=bool)
    np.logical_or.at(whole, joined, serves.T)
    return joined[limb.reshape(-1)], whole
