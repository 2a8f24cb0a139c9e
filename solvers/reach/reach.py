# SPDX-License-Identifier: GPL-3.0-or-later
"""The reach of a goal's chain inside its joint limits, estimated from random postures.

The *reachable* workspace holds the places that the chain can bring the goal's point to; the *dexterous* workspace holds
those that it reaches in many orientations (Kumar & Waldron 1981, who ask for all; here a share is asked for, because no
chain with limits has a place that it reaches in all). Space is divided into cells; the shell consists of the occupied
cells that have an empty neighbour.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..algebra import SplitMix64, dual_quaternion, quaternion
from ..model.goals import Goal
from ..model.skeleton import Pose, Skeleton
from ..space.joint_space import JointSpace, State
from .dexterity import ROTATIONS, Orientations, Wrist

CELLS = 26  # along the longest side of the space that is searched
POSTURES = 240_000
DEXTEROUS = 0.5  # the share of all orientations in which a place of the dexterous workspace is reached
_CHUNK = 4_000  # postures computed at once
_SPREAD = 1.0  # [rad]: half of the postures are moved by up to this and back inside, so that many are at limits
_MARGIN = 0.1  # around the first chunk's points, as a share of their extent
_SIDES = ((0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1))


@dataclass(frozen=True)
class Shell:
    """Points (K, 3) on the border of the reachable workspace, and (D, 3) of the dexterous one."""

    reachable: np.ndarray
    dexterous: np.ndarray


class Postures(NamedTuple):
    """F random postures: the goal's point (F, 3), and the last turning joint's heads (F, 3) and frames (F, 4)."""

    places: np.ndarray
    heads: np.ndarray
    frames: np.ndarray


class SampledChain:
    """The joints from a root of the skeleton to a goal's bone; those of the goal's chain that turn are sampled.

    Slides stay where they are: a bone that may move has no limits, so its reach would have no end.
    """

    def __init__(self, skeleton: Skeleton, goal: Goal, links: np.ndarray, pose: Pose) -> None:
        """The `links` (J, 8) and the `pose` are of all joints in one frame; joints outside the chain keep them."""
        path = skeleton.path(skeleton.index(goal.joint))
        chain = set(path if goal.chain is None else map(skeleton.index, goal.chain))
        joints = [replace(skeleton.joints[joint], parent=row - 1) for row, joint in enumerate(path)]
        turns = [joint in chain and bool(skeleton.turns[joint]) for joint in path]
        self._skeleton, self._links = Skeleton(joints), links[path][None]
        self._space = JointSpace(self._skeleton, np.array(turns))
        self._rotations, self._slides = pose.rotations[path], pose.translations[path]
        self._offset = np.asarray(goal.offset, dtype=float)
        self._random = SplitMix64(0)
        first = turns.index(True) if True in turns else len(path) - 1
        self._last = len(path) - 1 - turns[::-1].index(True) if True in turns else -1
        above = [joint for joint in path[:first] if not skeleton.slides[joint]]
        self.base = above[-1] if above else -1
        """The joint that carries the chain, -1 if it begins at a root."""

    def wrist(self) -> Wrist | None:
        """The last joint that turns, with the goal's point as it carries it; None if no joint turns."""
        if self._last < 0:
            return None
        slides, skeleton = self._slides[None], self._skeleton
        world = skeleton.transforms(self._rotations[None], slides, self._links)[0]
        point = dual_quaternion.transform(world[-1], self._offset) - dual_quaternion.translation(world[self._last])
        own = quaternion.rotate(quaternion.conjugate(world[self._last, :4]), point)
        return Wrist.of(skeleton.joints[self._last], skeleton.axis[self._last], own)

    def draw(self, count: int) -> Postures:
        """Random postures inside the limits."""
        like = State(np.tile(self._rotations, (count, 1, 1)), np.zeros((count, self._space.n)))
        state = self._space.sample(self._random, like)
        half = np.arange(count // 2)
        moved = self._space.near(self._random, state.take(half), _SPREAD)
        state.rotations[half] = moved.rotations
        slides = np.broadcast_to(self._slides, (count, *self._slides.shape))
        world = self._skeleton.transforms(state.rotations, slides, self._links)
        last, own = world[:, self._last], state.rotations[:, self._last]
        places = dual_quaternion.transform(world[:, -1], np.broadcast_to(self._offset, (count, 3)))
        frames = quaternion.product(last[:, :4], quaternion.conjugate(own))
        return Postures(places, dual_quaternion.translation(last), frames)


def shell(
    chain: SampledChain, postures: int, cells: int = CELLS, share: float = DEXTEROUS
) -> Generator[float, None, Shell]:
    """Estimate a chain's shells from a number of postures; yields the progress from 0 to 1.

    share : of all orientations, in which a place of the dexterous workspace is reached.
    """
    wrist, drawn = chain.wrist(), chain.draw(_CHUNK)
    orientations = None if wrist is None else Orientations(wrist)
    grid, done = Grid(drawn.places, cells, ROTATIONS), 0
    while done < postures:
        grid.add(drawn.places)
        if orientations is not None:
            grid.turn(*orientations.reached(drawn.heads, drawn.frames))
        done += len(drawn.places)
        yield min(1.0, done / postures)
        drawn = chain.draw(_CHUNK)
    return Shell(grid.border(grid.occupied), grid.border(grid.occupied & (grid.shares() >= share)))


class Grid:
    """Cells that remember a place that was reached in them, and in which of T orientations it was.

    origin, size : the first cell's corner (3,), and a cell's side [length units].
    """

    def __init__(self, places: np.ndarray, cells: int, turns: int) -> None:
        lo, hi = places.min(0), places.max(0)
        margin = _MARGIN * max(float((hi - lo).max()), 1e-9)
        self.origin, self.size = lo - margin, (float((hi - lo).max()) + 2.0 * margin) / cells
        shape = np.ceil((hi - lo + 2.0 * margin) / self.size).astype(int) + 1
        self._shape = tuple(shape.tolist())
        self._places = np.zeros((*self._shape, 3))
        self._turned = np.zeros((*self._shape, turns), dtype=bool)
        self.occupied = np.zeros(self._shape, dtype=bool)
        """Whether a place was reached in each cell."""

    def add(self, places: np.ndarray) -> None:
        """Add places (F, 3) that were reached; those outside the grid are left out."""
        index, inside = self._cells(places)
        self._places.reshape(-1, 3)[index] = places[inside]
        self.occupied.reshape(-1)[index] = True

    def turn(self, numbers: np.ndarray, places: np.ndarray) -> None:
        """Note the numbers (K,) of orientations in which places (K, 3) were reached."""
        index, inside = self._cells(places)
        self._turned.reshape(-1)[index * self._turned.shape[-1] + numbers[inside]] = True

    def _cells(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells of those places (F, 3) that are inside the grid, and which (F,) these are."""
        cell = np.floor((places - self.origin) / self.size).astype(int)
        inside = ((cell >= 0) & (cell < self._shape)).all(-1)
        return np.asarray(np.ravel_multi_index(tuple(cell[inside].T), self._shape)), inside

    def shares(self) -> np.ndarray:
        """The share of the orientations in which each cell was reached."""
        return self._turned.mean(-1)

    def border(self, chosen: np.ndarray) -> np.ndarray:
        """A place (K, 3) of each chosen cell that has a neighbour which is not chosen."""
        padded = np.pad(chosen, 1)
        inner = np.ones_like(chosen)
        for axis, step in _SIDES:
            inner &= np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1]
        return self._places[chosen & ~inner]
