# SPDX-License-Identifier: GPL-3.0-or-later
"""The grouping of goals: which are solved together, and in which order."""

from collections.abc import Callable, Sequence

import numpy as np

from ..model.coupling import together
from ..model.goals import Goal
from ..model.skeleton import Skeleton


def chains_of(skeleton: Skeleton, goals: Sequence[Goal]) -> np.ndarray:
    """(G, J) bool: the joints that each goal may move."""
    chains = np.zeros((len(goals), len(skeleton)), dtype=bool)
    for index, goal in enumerate(goals):
        every = np.any(skeleton.ancestors[carriers(goal)], axis=0)
        chain = np.flatnonzero(every) if goal.chain is None else goal.chain
        chains[index, list(chain)] = True
    return chains


def coupled(skeleton: Skeleton, chains: np.ndarray) -> np.ndarray:
    """Chains (G, J) with the joints that are coupled to theirs, and so move along."""
    return chains if not skeleton.couplings else (chains.astype(float) @ together(skeleton)) > 0.0


def carriers(goal: Goal) -> list[int]:
    """The joints that carry what a resolved goal measures: its own and its target's, or all with mass."""
    if goal.weighs:
        return [part[0] for part in goal.masses or ()]
    return [goal.joint] if goal.target_joint is None else [goal.joint, goal.target_joint]


def dependences(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> np.ndarray:
    """(G, J) bool: the joints whose motion each goal feels, in its effector or in the place of its chain.

    These are all joints above the effector, not only those of the goal's chain, which may have gaps. A joint that only
    turns does not move an effector at its origin.
    """
    felt = (chains.astype(float) @ skeleton.ancestors) > 0.0
    for row, goal in zip(felt, goals, strict=True):
        carrier = np.any(skeleton.ancestors[carriers(goal)], axis=0)
        still = goal.has_place and not goal.has_turn and not any(goal.offset) and not skeleton.slides[goal.joint]
        carrier[goal.joint] &= not still
        row |= carrier
    return felt


def stage_order(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> list[list[int]]:
    """Groups of goals in the order of solving.

    Goals whose chains share a joint are in one group, and so are goals that move each other's effectors. A goal that
    another moves, but that does not move the other's effector, comes after it.
    """
    groups: list[list[int]] = [[g] for g in range(len(chains)) if chains[g].any()]
    idle = [
        g for g in range(len(chains)) if not chains[g].any()
    ]  # a goal with nothing to move must not count against others
    moved = chains.astype(float)
    beside = [set(np.flatnonzero(row).tolist()) for row in moved @ moved.T]  # goals that share a joint with each
    felt = dependences(skeleton, goals, chains).astype(float)
    above = [set(np.flatnonzero(row).tolist()) for row in felt @ moved.T]  # goals that move each

    def below(group: list[int], other: list[int]) -> bool:
        """Whether `other` moves the chain or the effector of a goal of `group`."""
        return any(not above[goal].isdisjoint(other) for goal in group)

    def share(group: list[int], other: list[int]) -> bool:
        return any(not beside[goal].isdisjoint(other) for goal in group)

    def merge(together: Callable[[list[int], list[int]], bool]) -> None:
        i = 0
        while i < len(groups):
            partner = next((j for j in range(i + 1, len(groups)) if together(groups[i], groups[j])), None)
            if partner is None:
                i += 1
            else:
                groups[i], i = sorted(groups[i] + groups.pop(partner)), 0

    merge(lambda a, b: share(a, b) or (below(a, b) and below(b, a)))
    ordered: list[list[int]] = []
    while groups:
        ready = [g for g in groups if not any(h is not g and below(g, h) for h in groups)]
        if not ready:  # groups that hang below each other in a ring are solved together
            groups = ready = [sorted(g for group in groups for g in group)]
        groups = [g for g in groups if g not in ready]
        ordered += ready
    return [*ordered, idle] if idle else ordered
