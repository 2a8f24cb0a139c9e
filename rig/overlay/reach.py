# SPDX-License-Identifier: GPL-3.0-or-later
"""The reach of a goal's chain inside its joint limits, estimated from random postures.

The *reachable* workspace holds the places that the chain can bring the goal's point to; the *dexterous* workspace holds
those that it reaches from many directions (Kumar & Waldron 1981, who ask for all directions; here a share of 20 is
asked for, because no chain with limits has a place that it reaches from all). Space is divided into cells; the shell
consists of the occupied cells that have an empty neighbour.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...solvers import Goal, Pose, Skeleton
from ...solvers.algebra import SplitMix64, dual_quaternion, quaternion
from ...solvers.space import JointSpace, State

CELLS = 26  # along the longest side of the space that is searched
POSTURES = 240_000
DEXTEROUS = 0.5  # the share of directions from which a place of the dexterous workspace is reached
_CHUNK = 4_000  # postures computed at once
_SPREAD = 1.0  # [rad]: half of the postures are moved by up to this and back inside, so that many are at limits
_MARGIN = 0.1  # around the first chunk's points, as a share of their extent
_SIDES = ((0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1))


@dataclass(frozen=True)
class Shell:
    """Points (K, 3) on the border of the reachable workspace, and (D, 3) of the dexterous one."""

    reachable: np.ndarray
    dexterous: np.ndarray


class Chain:
    """The joints from a root of the skeleton to a goal's bone; those of the goal's chain that turn are sampled.

    Slides stay where they are: a bone that may move has no limits, so its reach would have no end.
    """

    def __init__(self, skeleton: Skeleton, goal: Goal, links: np.ndarray, pose: Pose, seed: int = 0) -> None:
        """The `links` (J, 8) and the `pose` are of all joints in one frame; joints outside the chain keep them."""
        path = _path(skeleton, skeleton.index(goal.joint))
        chain = set(path if goal.chain is None else map(skeleton.index, goal.chain))
        joints = [replace(skeleton.joints[joint], parent=row - 1) for row, joint in enumerate(path)]
        turns = [joint in chain and skeleton.kinds[joint] in {"ball", "hinge"} for joint in path]
        self._skeleton, self._links = Skeleton(joints), links[path][None]
        self._space = JointSpace(self._skeleton, np.array(turns))
        self._rotations, self._slides = pose.rotations[path], pose.translations[path]
        self._offset = np.asarray(goal.offset, dtype=float)
        self._random = SplitMix64(seed)
        first = turns.index(True) if True in turns else len(path) - 1
        above = [joint for joint in path[:first] if skeleton.kinds[joint] != "prismatic"]
        self.base = above[-1] if above else -1
        """The joint that carries the chain, -1 if it begins at a root."""

    def draw(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The goal's point (count, 3) and the bone's direction (count, 3) in random postures inside the limits."""
        like = State(np.tile(self._rotations, (count, 1, 1)), np.zeros((count, self._space.n)))
        state = self._space.sample(self._random, like)
        half = np.arange(count // 2)
        moved = self._space.near(self._random, state.take(half), _SPREAD)
        state.rotations[half] = moved.rotations
        slides = np.broadcast_to(self._slides, (count, *self._slides.shape))
        end = self._skeleton.transforms(state.rotations, slides, self._links)[:, -1]
        along = quaternion.rotate(end[:, :4], np.broadcast_to([0.0, 1.0, 0.0], (count, 3)))
        return dual_quaternion.transform(end, np.broadcast_to(self._offset, (count, 3))), along


def shell(
    chain: Chain, postures: int = POSTURES, cells: int = CELLS, share: float = DEXTEROUS
) -> Generator[float, None, Shell]:
    """Estimate a chain's shells from a number of postures; yields the progress from 0 to 1."""
    places, along = chain.draw(_CHUNK)
    grid, done = _Grid(places, cells), 0
    while done < postures:
        grid.add(places, along)
        done += len(places)
        yield min(1.0, done / postures)
        places, along = chain.draw(_CHUNK)
    shares = grid.shares()
    return Shell(grid.border(shares > 0.0), grid.border(shares >= share))


class _Grid:
    """Cells that remember a place that was reached in them, and the directions from which."""

    def __init__(self, places: np.ndarray, cells: int) -> None:
        lo, hi = places.min(0), places.max(0)
        margin = _MARGIN * max(float((hi - lo).max()), 1e-9)
        self._origin, self._size = lo - margin, (float((hi - lo).max()) + 2.0 * margin) / cells
        shape = np.ceil((hi - lo + 2.0 * margin) / self._size).astype(int) + 1
        self._shape = tuple(shape.tolist())
        self._places = np.zeros((*self._shape, 3))
        self._seen = np.zeros(self._shape, dtype=np.uint32)

    def add(self, places: np.ndarray, along: np.ndarray) -> None:
        """Add postures by their places (F, 3) and directions (F, 3); those outside the grid are left out."""
        cell = np.floor((places - self._origin) / self._size).astype(int)
        inside = ((cell >= 0) & (cell < self._shape)).all(-1)
        index = np.ravel_multi_index(tuple(cell[inside].T), self._shape)
        self._places.reshape(-1, 3)[index] = places[inside]
        sectors = (along[inside] @ _DIRECTIONS.T).argmax(-1).astype(np.uint32)
        np.bitwise_or.at(self._seen.reshape(-1), index, np.uint32(1) << sectors)

    def shares(self) -> np.ndarray:
        """The share of the directions from which each cell was reached, 0 for empty cells."""
        bits = (self._seen[..., None] >> np.arange(len(_DIRECTIONS), dtype=np.uint32)) & np.uint32(1)
        return bits.sum(-1) / len(_DIRECTIONS)

    def border(self, chosen: np.ndarray) -> np.ndarray:
        """A place (K, 3) of each chosen cell that has a neighbour which is not chosen."""
        padded = np.pad(chosen, 1)
        inner = np.ones_like(chosen)
        for axis, step in _SIDES:
            inner &= np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1]
        return self._places[chosen & ~inner]


def _path(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints from the root to a joint."""
    path = [joint]
    while skeleton.parent[path[-1]] >= 0:
        path.append(int(skeleton.parent[path[-1]]))
    return path[::-1]


def _dodecahedron() -> np.ndarray:
    """The 20 corners of a dodecahedron as unit vectors: directions spread evenly."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    for a in (-1.0 / golden, 1.0 / golden):
        for b in (-golden, golden):
            corners += [(0.0, a, b), (a, b, 0.0), (b, 0.0, a)]
    return np.array(corners) / np.sqrt(3.0)


_DIRECTIONS = _dodecahedron()
