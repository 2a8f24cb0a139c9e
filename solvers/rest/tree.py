# SPDX-License-Identifier: GPL-3.0-or-later
"""The hierarchy of a figure's bones."""

import math
from collections.abc import Sequence

import numpy as np


class Tree:
    """Bones by number: parents, children, paths from the root, heads (N, 3) at rest, and how far each bone reaches."""

    def __init__(self, parent: Sequence[int], heads: np.ndarray) -> None:
        self.parent, self.heads = [int(above) for above in parent], np.asarray(heads, dtype=float)
        self.children: list[list[int]] = [[] for _ in self.parent]
        for bone, above in enumerate(self.parent):
            if above >= 0:
                self.children[above].append(bone)
        self.size = float(np.ptp(self.heads, axis=0).max()) or 1.0 if len(self.heads) else 1.0
        self.paths = [self._path(bone) for bone in range(len(self.parent))]
        self.reach = self._reach()

    def _path(self, bone: int) -> list[int]:
        path = [bone]
        while self.parent[path[-1]] >= 0:
            path.append(self.parent[path[-1]])
        return path[::-1]

    def depth(self, bone: int) -> int:
        """The number of ancestors."""
        return len(self.paths[bone]) - 1

    def is_above(self, bone: int, other: int) -> bool:
        """Whether a bone is an ancestor of another, or that one itself."""
        return bone in self.paths[other]

    def below(self, bone: int) -> list[int]:
        """All descendants."""
        found, left = list[int](), [*self.children[bone]]
        while left:
            found.append(left.pop())
            left += self.children[found[-1]]
        return found

    def longest(self, bone: int) -> list[int]:
        """The bones down the longest path below a bone, with it."""
        path = [bone]
        while self.children[path[-1]]:
            path.append(max(self.children[path[-1]], key=lambda one: self.distance(path[-1], one) + self.reach[one]))
        return path

    def common(self, a: int, b: int) -> int | None:
        """The nearest bone above both."""
        both = [x for x, y in zip(self.paths[a][:-1], self.paths[b][:-1], strict=False) if x == y]
        return both[-1] if both else None

    def distance(self, a: int, b: int) -> float:
        """Between two heads."""
        return math.dist(self.heads[a], self.heads[b])

    def _reach(self) -> list[float]:
        """The length of the longest path downward from each bone."""
        reach = [0.0] * len(self.parent)
        for bone in sorted(range(len(self.parent)), key=self.depth, reverse=True):
            above = self.parent[bone]
            if above >= 0:
                reach[above] = max(reach[above], reach[bone] + self.distance(above, bone))
        return reach
