# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferred bends of straight limbs: knees bend back, elbows bend forward.

A limb that is straight at rest can fold to either side. When a target sweeps across it, it would flip to the other
side in one frame. A base pose that is slightly bent prevents this, because the weak pull toward it prefers one side.
This file finds the two-bone limbs among the goals' chains and the axis about which each bends. NumPy only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

BEND = np.radians(20.0)  # preferred bend of the lower bone; limbs bent by more at rest keep theirs
_OWN_BEND = np.radians(4.0)  # limbs bent by more at rest bend further the same way
_FOOT_ANGLE = np.cos(np.radians(50.0))  # a bone below the limb is a foot if it is turned away by more than this
_FOOT_LENGTH = 0.2  # ... and longer than this share of the lower bone: short stubs of imported rigs point anywhere
_NEARLY = 0.9  # of the best score: of pairs that score this well the outermost is the limb
_LIMB_SHARE = 0.4  # of the chain's length: two bones that are shorter together are no limb
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
    goal_count = np.bincount([bone for chain in chains for bone in set(chain)], minlength=len(heads))
    size = float(np.ptp(np.concatenate([heads, tails]), axis=0).max()) or 1.0
    candidates = []
    for chain in chains:
        own = [bone for bone in chain if goal_count[bone] == 1]
        pair = _longest_pair(own, heads, tails, parent)
        if pair is None:
            continue
        upper, lower = pair
        trunk = len(own) < len(chain) and np.abs(0.5 * (heads[lower] + tails[lower])[0]) < _MIDDLE * size
        if trunk and len(chains) > 2:
            continue
        last = own[0] if own[0] != lower else None
        candidates.append((upper, lower, last))
    feet = [_foot(heads, tails, *candidate) for candidate in candidates]
    pointing = [foot for foot in feet if foot is not None]
    forward = np.sum(pointing, axis=0) if pointing else np.array([0.0, -1.0, 0.0])
    limbs = []
    for (upper, lower, _), foot in zip(candidates, feet, strict=True):
        limb = _bend(heads, tails, upper, lower, forward if foot is None else -foot)
        if limb is not None:
            limbs.append(limb)
    return limbs


def _longest_pair(
    own: list[int], heads: np.ndarray, tails: np.ndarray, parent: Sequence[int]
) -> tuple[int, int] | None:
    """The two neighbouring bones of a chain that are most like a limb: long, in line, and a good part of the chain.

    A long collar bone and the upper arm are as long as a limb, but not in line. Of nearly equal pairs the outermost one
    is returned.
    """
    length = np.linalg.norm(tails - heads, axis=-1)
    pairs = []
    for lower, upper in pairwise(own):
        if parent[lower] == upper:
            in_line = max(unit(tails[upper] - heads[upper]) @ unit(tails[lower] - heads[lower]), 0.0)
            pairs.append(((length[lower] + length[upper]) * in_line**2, upper, lower))
    best = max(pairs, default=None)
    if best is None or length[[*best[1:]]].sum() <= _LIMB_SHARE * length[own].sum():
        return None
    return next((upper, lower) for score, upper, lower in pairs if score >= _NEARLY * best[0])


def _foot(heads: np.ndarray, tails: np.ndarray, upper: int, lower: int, last: int | None) -> np.ndarray | None:
    """The unit direction of the foot below a limb, across the limb; None if there is no foot."""
    if last is None:
        return None
    along, foot = unit(tails[lower] - heads[upper]), tails[last] - tails[lower]
    if np.linalg.norm(foot) < _FOOT_LENGTH * np.linalg.norm(tails[lower] - heads[lower]):
        return None
    if abs(along @ unit(foot)) > _FOOT_ANGLE:
        return None
    return unit(foot - along * (along @ foot))


def _bend(heads: np.ndarray, tails: np.ndarray, upper: int, lower: int, toward: np.ndarray) -> Limb | None:
    """The limb, with the axis that moves its lower end toward a direction, or further the way it is bent at rest."""
    first, second = unit(heads[lower] - heads[upper]), unit(tails[lower] - heads[lower])
    normal = np.cross(first, second)
    bent = float(np.arctan2(np.linalg.norm(normal), first @ second))
    if bent >= BEND:
        return None
    if bent >= _OWN_BEND:
        return Limb(upper, lower, unit(normal), BEND - bent)
    axis = np.cross(second, toward)
    if np.linalg.norm(axis) < 0.2 * np.linalg.norm(toward):
        axis = np.cross(second, np.eye(3)[np.argmin(np.abs(second))])
    return Limb(upper, lower, unit(axis), BEND)


def unit(vector: np.ndarray) -> np.ndarray:
    """`v / |v|` (3,); zero where `v` is."""
    length = np.linalg.norm(vector)
    return vector / length if length > 1e-12 else np.zeros(3)
