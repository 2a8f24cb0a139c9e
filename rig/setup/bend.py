# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way a straight limb likes to bend: knees back, elbows forward.

A limb that is straight at rest may fold to either side of a target that sweeps across it, and folds over in one
frame where the nearest side changes. The weak pull toward the base pose decides once a limb's base is slightly bent.
This finds the two-bone limbs among the goals' chains and the axis to bend each about. NumPy only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

BEND = np.radians(20.0)  # of the lower bone, where it is straighter than that at rest
_OWN_BEND = np.radians(4.0)  # a rest pose bent by more says itself which way
_FOOT_ANGLE = np.cos(np.radians(50.0))  # what follows a limb is a foot if it is turned further than this from it
_FOOT_LENGTH = 0.2  # and longer than this share of the lower bone: stubs of imported rigs point anywhere
_NEARLY = 0.9
_LIMB_SHARE = 0.4  # of the chain's length in the two bones
_MIDDLE = 0.02  # of the figure's size: bones nearer to the mirror plane belong to the trunk


@dataclass(frozen=True)
class Limb:
    """Two bones that fold: indices of `upper` and `lower`, the unit `axis` (3,) in armature space, the angle [rad]."""

    upper: int
    lower: int
    axis: np.ndarray
    angle: float


def find_limbs(
    heads: np.ndarray, tails: np.ndarray, parent: Sequence[int], chains: Sequence[Sequence[int]]
) -> list[Limb]:
    """The limbs among the chains of a figure at rest.

    Parameters
    ----------
    heads, tails : (B, 3) of the bones at rest, in armature space.
    parent : (B,) indices, -1 for none.
    chains : per goal, its bones from the effector's upward.
    """
    served = np.bincount([bone for chain in chains for bone in set(chain)], minlength=len(heads))
    size = float(np.ptp(np.concatenate([heads, tails]), axis=0).max()) or 1.0
    found = []
    for chain in chains:
        own = [bone for bone in chain if served[bone] == 1]
        pair = _longest_pair(own, heads, tails, parent)
        if pair is None:
            continue
        upper, lower = pair
        trunk = len(own) < len(chain) and np.abs(0.5 * (heads[lower] + tails[lower])[0]) < _MIDDLE * size
        if trunk and len(chains) > 2:
            continue
        last = own[0] if own[0] != lower else None
        found.append((upper, lower, last))
    feet = [_foot(heads, tails, *limb) for limb in found]
    pointing = [foot for foot in feet if foot is not None]
    forward = np.sum(pointing, axis=0) if pointing else np.array([0.0, -1.0, 0.0])
    limbs = []
    for (upper, lower, _), foot in zip(found, feet, strict=True):
        limb = _bend(heads, tails, upper, lower, forward if foot is None else -foot)
        if limb is not None:
            limbs.append(limb)
    return limbs


def _longest_pair(
    own: list[int], heads: np.ndarray, tails: np.ndarray, parent: Sequence[int]
) -> tuple[int, int] | None:
    """The two neighbours of a chain that look most like a limb: long, and in line, if they are a good part of it.

    In line, since a long collar bone makes as long a pair with the upper arm as the forearm does; the outermost of
    nearly equal ones.
    """
    length = np.linalg.norm(tails - heads, axis=-1)
    pairs = []
    for lower, upper in pairwise(own):
        if parent[lower] == upper:
            in_line = max(_unit(tails[upper] - heads[upper]) @ _unit(tails[lower] - heads[lower]), 0.0)
            pairs.append(((length[lower] + length[upper]) * in_line**2, upper, lower))
    best = max(pairs, default=None)
    if best is None or length[[*best[1:]]].sum() <= _LIMB_SHARE * length[own].sum():
        return None
    return next((upper, lower) for score, upper, lower in pairs if score >= _NEARLY * best[0])


def _foot(heads: np.ndarray, tails: np.ndarray, upper: int, lower: int, last: int | None) -> np.ndarray | None:
    """The unit direction in which what follows a limb points, if that is well off the limb's own."""
    if last is None:
        return None
    along, foot = _unit(tails[lower] - heads[upper]), tails[last] - tails[lower]
    if np.linalg.norm(foot) < _FOOT_LENGTH * np.linalg.norm(tails[lower] - heads[lower]):
        return None
    if abs(along @ _unit(foot)) > _FOOT_ANGLE:
        return None
    return _unit(foot - along * (along @ foot))


def _bend(heads: np.ndarray, tails: np.ndarray, upper: int, lower: int, toward: np.ndarray) -> Limb | None:
    """The limb with the axis that moves its lower end toward a direction, or further the way it is bent at rest."""
    first, second = _unit(heads[lower] - heads[upper]), _unit(tails[lower] - heads[lower])
    normal = np.cross(first, second)
    bent = float(np.arctan2(np.linalg.norm(normal), first @ second))
    if bent >= BEND:
        return None
    if bent >= _OWN_BEND:
        return Limb(upper, lower, _unit(normal), BEND - bent)
    axis = np.cross(second, toward)
    if np.linalg.norm(axis) < 0.2 * np.linalg.norm(toward):
        axis = np.cross(second, np.eye(3)[np.argmin(np.abs(second))])
    return Limb(upper, lower, _unit(axis), BEND)


def _unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length > 1e-12 else np.zeros(3)
