# SPDX-License-Identifier: GPL-3.0-or-later
"""The hierarchy of an armature's bones. NumPy only."""

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
        self.size = float(np.ptp(self.heads, axis=0).max(initial=0.0)) or 1.0
        self.paths = [self._path(bone) for bone in range(len(self.parent))]
        self.longest, self.reach = self._measure()

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
        found, left = [], list(self.children[bone])
        while left:
            found.append(left.pop())
            left += self.children[found[-1]]
        return found

    def common(self, a: int, b: int) -> int | None:
        """The nearest bone above both."""
        both = [x for x, y in zip(self.paths[a][:-1], self.paths[b][:-1], strict=False) if x == y]
        return both[-1] if both else None

    def distance(self, a: int, b: int) -> float:
        """Between two heads."""
        return math.dist(self.heads[a], self.heads[b])

    def _measure(self) -> tuple[list[int], list[float]]:
        """For each bone, the child on the longest path downward, -1 for none, and that path's length."""
        longest, reach = [-1] * len(self.parent), [0.0] * len(self.parent)
        for bone in sorted(range(len(self.parent)), key=self.depth, reverse=True):
            above = self.parent[bone]
            if above >= 0 and (length := reach[bone] + self.distance(above, bone)) > reach[above]:
                longest[above], reach[above] = bone, length
        return longest, reach

    def farthest(self, bone: int) -> list[int]:
        """The longest path of bones from a bone downward, by the sum of its segments."""
        path = [bone]
        while self.longest[path[-1]] >= 0:
            path.append(self.longest[path[-1]])
        return path
