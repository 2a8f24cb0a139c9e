# SPDX-License-Identifier: GPL-3.0-or-later
"""The two bones of a chain that fold, and the axis about which they do, by the shape of the figure alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from .directions import unit
from .tree import Tree

BEND = np.radians(20.0)  # preferred bend of the lower bone; limbs bent by more at rest keep theirs
_OWN_BEND = np.radians(4.0)  # limbs bent by more at rest bend further the same way, whatever their feet say
_SLIGHT_BEND = np.radians(0.1)  # the same for limbs without feet: only what is bent by less is straight
_FOOT_ANGLE = np.cos(np.radians(50.0))  # a bone below the limb is a foot if it is turned away by more than this
_FOOT_LENGTH = 0.2  # ... and longer than this share of the lower bone: short stubs of imported rigs point anywhere
_NEARLY = 0.9  # of the best score: of pairs that score this well the outermost is the limb
_MOST_ALIKE = 2  # pairs of a limb's chain that score nearly as well as the best
_LIMB_SHARE = 0.4  # of the chain's length: two bones that are shorter together are no limb
_MIDDLE = 0.02  # of the figure's size: bones nearer to the mirror plane belong to the trunk


class GoalChain(NamedTuple):
    """The bones of a goal's chain, upward. The goal is for the tail or the head of a bone, `effector`."""

    bones: Sequence[int]
    effector: int
    to_tail: bool


@dataclass(frozen=True)
class FoldingLimb:
    """Two bones that fold: indices of `upper` and `lower`, the unit `axis` (3,) in armature space, the angle [rad]."""

    upper: int
    lower: int
    axis: np.ndarray
    angle: float


def folding_limbs(
    tree: Tree, tails: np.ndarray, size: float, chains: Sequence[GoalChain], others: Sequence[GoalChain]
) -> list[FoldingLimb]:
    """The limbs of some chains, `others` of all, by the lengths and directions of their bones.

    tails : (N, 3). size : of the figure.
    """
    heads, parent = tree.heads, tree.parent
    goal_count = np.bincount([bone for chain in chains for bone in set(chain.bones)], minlength=len(heads))
    candidates = list[tuple[np.ndarray, int, int, int | None]]()
    for chain in others:
        ends = _ends(tree, tails, [chain.effector, *chain.bones])
        own = [bone for bone in chain.bones if goal_count[bone] == 1]
        limb = own[1:] if not chain.to_tail and len(own) > 2 and own[0] == chain.effector else own
        pair = _longest_pair(limb, heads, ends, parent)
        if pair is None:
            continue
        upper, lower = pair
        middle = np.abs(0.5 * (heads[lower] + ends[lower])[0]) < _MIDDLE * size
        if len(own) < len(chain.bones) and middle and len(chains) > 2:
            continue
        candidates.append((ends, upper, lower, _last(chain, own[0], lower, parent)))
    feet = [_foot(heads, *candidate) for candidate in candidates]
    pointing = [foot for foot in feet if foot is not None]
    forward = np.sum(pointing, axis=0) if pointing else np.array([0.0, -1.0, 0.0])
    bent = [_bend(heads, ends, upper, lower, forward, foot)
            for (ends, upper, lower, _), foot in zip(candidates, feet, strict=True)]  # fmt: skip
    return [limb for limb in bent if limb is not None]


def _ends(tree: Tree, tails: np.ndarray, chain: Sequence[int]) -> np.ndarray:
    """Where the bones (B, 3) of a chain end: at the head of the one below; the first, which has none, at its tail."""
    ends = tails.copy()
    for below, bone in pairwise(chain):
        if below != bone:
            ends[bone] = tree.heads[below]
    return ends


def _longest_pair(
    own: list[int], heads: np.ndarray, tails: np.ndarray, parent: Sequence[int]
) -> tuple[int, int] | None:
    """The two neighbouring bones of a chain that are most like a limb: long, in line, and a good part of the chain.

    A long collar bone and the upper arm are as long as a limb, but not in line. Of nearly equal pairs the outermost one
    is returned; a chain of many such pairs is a tail or a rope, which may bend anywhere.
    """
    length = np.linalg.norm(tails - heads, axis=-1)
    pairs = list[tuple[float, int, int]]()
    for lower, upper in pairwise(own):
        if parent[lower] == upper:
            in_line = max(unit(tails[upper] - heads[upper]) @ unit(tails[lower] - heads[lower]), 0.0)
            pairs.append(((length[lower] + length[upper]) * in_line**2, upper, lower))
    best = max(pairs, default=None)
    if best is None or length[[*best[1:]]].sum() <= _LIMB_SHARE * length[own].sum():
        return None
    alike = [(upper, lower) for score, upper, lower in pairs if score >= _NEARLY * best[0]]
    return alike[0] if len(alike) <= _MOST_ALIKE else None


def _last(chain: GoalChain, first: int, lower: int, parent: Sequence[int]) -> int | None:
    """The bone below a limb: `first` of its chain, or the one whose head the limb leads; None if there is none."""
    if first != lower:
        return first
    return chain.effector if chain.effector != lower and parent[chain.effector] == lower else None


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


def _bend(
    heads: np.ndarray, tails: np.ndarray, upper: int, lower: int, forward: np.ndarray, foot: np.ndarray | None
) -> FoldingLimb | None:  # fmt: skip
    """The limb, with the axis that bends it further the way it is bent at rest.

    A straight limb moves its lower end away from its foot, or forward if it has none.
    """
    first, second = unit(heads[lower] - heads[upper]), unit(tails[lower] - heads[lower])
    normal = quaternion.cross(first, second)
    bent = float(np.arctan2(np.linalg.norm(normal), first @ second))
    if bent >= BEND:
        return None
    if bent >= (_SLIGHT_BEND if foot is None else _OWN_BEND):
        return FoldingLimb(upper, lower, unit(normal), BEND - bent)
    toward = forward if foot is None else -foot
    axis = quaternion.cross(second, toward)
    if np.linalg.norm(axis) < 0.2 * np.linalg.norm(toward):
        axis = quaternion.cross(second, np.eye(3)[np.argmin(np.abs(second))])
    return FoldingLimb(upper, lower, unit(axis), BEND)
