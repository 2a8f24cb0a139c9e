# SPDX-License-Identifier: GPL-3.0-or-later
"""The grouping of goals: which are solved together, and in which order."""

from collections.abc import Callable, Sequence

import numpy as np

from ..model.goals import Goal
from ..model.skeleton import Skeleton


def chains_of(skeleton: Skeleton, goals: Sequence[Goal]) -> np.ndarray:
    """(G, J) bool: the joints that each goal may move."""
    chains = np.zeros((len(goals), len(skeleton)), dtype=bool)
    for index, goal in enumerate(goals):
        chains[index, list(np.flatnonzero(skeleton.ancestors[goal.joint]) if goal.chain is None else goal.chain)] = True
    return chains


def stage_order(skeleton: Skeleton, chains: np.ndarray) -> list[list[list[int]]]:
    """Levels, in the order of solving, of groups of goals that do not depend on each other within a level.

    Goals whose chains share a joint are in one group. A goal whose chain hangs below another's, without sharing its
    joints, comes after it: the other moves its chain, but it does not move the other's.
    """
    groups: list[list[int]] = [[g] for g in range(len(chains)) if chains[g].any()]
    idle = [
        g for g in range(len(chains)) if not chains[g].any()
    ]  # a goal with nothing to move must not count against others
    moved = chains.astype(float)
    beside = [set(np.flatnonzero(row).tolist()) for row in moved @ moved.T]  # goals that share a joint with each
    above = [set(np.flatnonzero(row).tolist()) for row in moved @ skeleton.ancestors @ moved.T]

    def below(group: list[int], other: list[int]) -> bool:
        """Whether a joint of the chains of `group` hangs below one that `other` moves."""
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
    levels: list[list[list[int]]] = []
    while groups:
        ready = [g for g in groups if not any(h is not g and below(g, h) for h in groups)]
        if not ready:  # groups that hang below each other in a ring are solved together
            groups = ready = [sorted(g for group in groups for g in group)]
        groups = [g for g in groups if g not in ready]
        levels.append(ready)
    return [*levels, [idle]] if idle else levels
