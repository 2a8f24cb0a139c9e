# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of other libraries' solvers: our skeleton as joints of one degree of freedom, and common rules.

A solver stops as soon as every goal is within its tolerance. An angle weighs `min(1, 3 tolerance / rotation tolerance)`
of a distance. Joints that may turn fully have no limits. If a workload has restarts, a solver without its own is
started again from random poses within the limits.
"""

from abc import ABC, abstractmethod

import numpy as np
import workloads
from contest import Answer, Refused
from scipy.spatial.transform import Rotation
from skeletons import wxyz
from workload_suite import Workload

import solvers as ik

INSIDE = 0.999  # of a tolerance: an attempt stops below it, so that rounding cannot undo that a goal is met


class Tree:
    """A skeleton as joints of one degree of freedom, in order; a ball is three hinges, about X, Y and Z."""

    def __init__(self, skeleton: ik.Skeleton) -> None:
        self.names: list[str] = []
        self.skeleton, self.last = skeleton, np.zeros(len(skeleton), dtype=int)
        rows: list[tuple] = []
        for j, joint in enumerate(skeleton.joints):
            if j <= joint.parent or joint.kind == "fixed" or not np.allclose(joint.rest, (1, 0, 0, 0)):
                raise Refused("its adapter knows no fixed joints and no rest turns, and wants parents first")
            ball, offset = joint.kind == "ball", np.array(joint.offset, dtype=float)
            if ball and joint.limits is not None:
                raise Refused("its adapter knows no limits of balls")
            above = -1 if joint.parent < 0 else int(self.last[joint.parent])
            for axis in np.eye(3) if ball else skeleton.axis[j : j + 1]:
                lo, hi = (-np.inf, np.inf) if joint.limits is None else (joint.limits.lo, joint.limits.hi)
                if joint.kind == "hinge" and hi - lo >= 2 * np.pi - 1e-9:
                    lo, hi = -np.inf, np.inf
                rows.append((above, axis, offset, lo, hi, joint.kind == "prismatic"))
                above, offset = len(rows) - 1, np.zeros(3)
                self.names.append(f"j{above}")
            self.last[j] = above
        parents, axes, offsets, lo, hi, slides = zip(*rows, strict=True)
        self.parents, self.axes, self.offsets = np.array(parents), np.array(axes), np.array(offsets)
        self.lo, self.hi, self.slides = np.array(lo), np.array(hi), np.array(slides)
        self.limited = np.isfinite(self.lo)

    def __len__(self) -> int:
        return len(self.names)

    def coordinates(self, pose: ik.Pose) -> np.ndarray:
        """Angles and lengths (n,) of a pose."""
        q = np.zeros(len(self))
        for j, kind in enumerate(self.skeleton.kinds):
            turn = pose.rotations[j]
            if kind == "ball":
                q[self.last[j] - 2 : self.last[j] + 1] = Rotation.from_quat(turn, scalar_first=True).as_euler("XYZ")
            elif kind == "hinge":
                q[self.last[j]] = 2.0 * np.arctan2(turn[1:] @ self.skeleton.axis[j], turn[0])
            else:
                q[self.last[j]] = pose.translations[j] @ self.skeleton.axis[j]
        return q

    def pose(self, q: np.ndarray) -> ik.Pose:
        """The pose of coordinates (n,)."""
        if "ball" not in self.skeleton.kinds:
            return workloads.posed(self.skeleton, q)
        turns = [
            Rotation.from_euler("XYZ", q[end - 2 : end + 1])
            if kind == "ball" else Rotation.from_rotvec(q[end] * self.skeleton.axis[j])
            for j, (kind, end) in enumerate(zip(self.skeleton.kinds, self.last, strict=True))
        ]  # fmt: skip
        return ik.Pose(np.array([wxyz(turn) for turn in turns]), np.zeros((len(turns), 3)))

    def path(self, joint: int) -> list[int]:
        """The degrees of freedom from the root to a joint of the skeleton; `Refused` unless they are all there are."""
        found = [int(self.last[joint])]
        while self.parents[found[-1]] >= 0:
            found.append(int(self.parents[found[-1]]))
        if len(found) != len(self):
            raise Refused("it solves single chains only")
        return found[::-1]


class Peer(ABC):
    """A library prepared for a workload; subclasses build its model and make one attempt."""

    restarts_itself = False

    def __init__(self, workload: Workload) -> None:
        self.workload, self.tree = workload, Tree(workload.skeleton)
        self.weight = min(1.0, 3.0 * workload.tolerance / workload.rotation_tolerance)
        self._start = np.clip(self.tree.coordinates(workload.start), self.tree.lo, self.tree.hi)
        self._last = self._start
        self._turns = Rotation.from_quat(workload.rotations.reshape(-1, 4), scalar_first=True).as_matrix()
        self._turns = self._turns.reshape(*workload.rotations.shape[:2], 3, 3)
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Make the library's model; `Refused` if it cannot."""

    @abstractmethod
    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, float | None, bool]:
        """From `q` (n,) to places (G, 3) and turns (G, 3, 3): coordinates, iterations, whether all goals are met."""

    def solve(self, frame: int) -> tuple[np.ndarray, float | None]:
        """Answer a frame from the workload's start pose."""
        q, iterations, met = self._attempt(self._start, frame)
        generator = np.random.default_rng(frame)
        for _ in range(0 if met or self.restarts_itself else self.workload.restarts):
            lo, hi = np.where(self.tree.limited, (self.tree.lo, self.tree.hi), ((-np.pi,), (np.pi,)))
            again, more, met = self._attempt(generator.uniform(lo, hi), frame)
            iterations = None if iterations is None or more is None else iterations + more
            if met:
                return again, iterations
        return q, iterations

    def follow(self, frame: int) -> tuple[np.ndarray, float | None]:
        """Answer a frame from the answer to the frame before."""
        self._last, iterations, _ = self._attempt(self._last, frame)
        return self._last, iterations

    def read(self, answer: tuple[np.ndarray, float | None]) -> Answer:
        """Convert a result to an `Answer`; angles are moved into the limits by whole turns if possible."""
        return Answer(self.tree.pose(answer[0]), answer[1])

    def met(self, distances: np.ndarray, angles: np.ndarray) -> bool:
        """Whether distances and angles are within the tolerances."""
        work = self.workload
        return bool(np.all(distances <= INSIDE * work.tolerance) and np.all(angles <= INSIDE * work.rotation_tolerance))

    def _attempt(self, q: np.ndarray, frame: int) -> tuple[np.ndarray, float | None, bool]:
        return self.attempt(np.array(q), self.workload.positions[frame], self._turns[frame])
