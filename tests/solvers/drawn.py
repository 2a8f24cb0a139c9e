# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems drawn from a seed, with every feature of skeletons, goals and options, in numbers without special values."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation
from skeletons import random_pose, wxyz

import solvers as ik
from solvers.algebra import dual_quaternion, quaternion
from solvers.model.goals import Targets


@dataclass
class Problem:
    """A problem to solve."""

    skeleton: ik.Skeleton
    goals: list[ik.Goal]
    start: ik.Pose
    solver: str
    options: ik.Options

    def solve(self, start: ik.Pose | None = None) -> ik.Solution:
        """The answer from `start`, or from the problem's own start."""
        return ik.solve(self.skeleton, self.goals, start or self.start, self.solver, self.options)


def _interval(generator: np.random.Generator, most: float) -> tuple[float, float]:
    """An interval around zero, one beside it, or a single value."""
    lo, hi = np.sort(generator.uniform(-most, most, 2))
    kind = generator.integers(5)
    if kind == 0:
        return float(lo), float(lo)
    if kind == 1:
        return float(abs(lo)), float(abs(lo) + abs(hi))
    if kind == 2:
        return -float(abs(lo) + abs(hi)), -float(abs(hi))
    return -float(abs(lo)), float(abs(hi))


def _limits(generator: np.random.Generator, kind: str) -> object:
    if kind == "fixed" or generator.integers(3) == 0:
        return None
    full = (-np.pi, np.pi)
    if kind == "ball":
        twist = full if generator.integers(4) == 0 else _interval(generator, 1.4)
        swings = [_interval(generator, 1.2) for _ in range(2)]
        return ik.TwistSwing(twist, *([full, full] if generator.integers(5) == 0 else swings))
    if kind == "hinge" and generator.integers(5) == 0:
        return ik.Range(*full)
    return ik.Range(*_interval(generator, 1.4 if kind == "hinge" else 0.4))


def _skeleton(generator: np.random.Generator, most: int) -> ik.Skeleton:
    count = int(generator.integers(1, most + 1))
    place = generator.permutation(count) if generator.integers(4) == 0 else np.arange(count)
    joints: list[ik.Joint | None] = [None] * count
    branching, limited, limbs = generator.integers(3), generator.integers(4), generator.integers(2)
    kinds = ["ball"] if generator.integers(2) else ["ball", "ball", "hinge", "hinge", "prismatic", "fixed"]
    for step in range(count):
        above = int(generator.integers(max(step - 1 - branching, 0), step)) if step else -1
        if step and branching == 2 and generator.integers(6) == 0:
            above = -1
        kind = str(generator.choice(kinds))
        joints[place[step]] = ik.Joint(
            f"joint {place[step]}", int(place[above]) if above >= 0 else -1, kind,
            generator.normal(size=3) * 0.4 * (generator.integers(8) > 0),
            rest=wxyz(Rotation.from_rotvec(generator.normal(size=3) * generator.integers(2))),
            axis=generator.normal(size=3) if generator.integers(2) else None,
            limits=_limits(generator, kind) if limited else None,
            stiffness=float(generator.choice([0.0, 0.0, 0.0, 0.4, 1.0])),
            preferred=0.2 * generator.normal(size=3) if limbs and generator.integers(2) else None,
            inherit_rotation=kind == "prismatic" or above < 0 or generator.integers(8) > 0,
        )  # fmt: skip
    return ik.Skeleton(joints)


def _goals(generator: np.random.Generator, skeleton: ik.Skeleton) -> list[ik.Goal]:
    reached = ik.forward(skeleton, random_pose(skeleton, generator))
    far = 3.0 if generator.integers(3) == 0 else 1.0
    goals = []
    for _ in range(int(generator.integers(1, 5))):
        joint, what, offset = int(generator.integers(len(skeleton))), generator.integers(3), np.zeros(3)
        if generator.integers(2):
            offset = 0.3 * generator.normal(size=3)
        place = reached.positions[joint] + Rotation.from_quat(reached.rotations[joint], scalar_first=True).apply(offset)
        above = np.flatnonzero(skeleton.ancestors[joint])
        goals.append(ik.Goal(
            joint, None if what == 1 else far * place, None if what == 0 else reached.rotations[joint], offset,
            float(generator.choice([1.0, 1.0, 1.0, 0.3, 3.0, 0.0])), float(generator.choice([1.0, 1.0, 0.3, 3.0, 0.0])),
            int(generator.choice([0, 0, 0, 1, 5])),
            None if generator.integers(3) else [int(j) for j in above if generator.integers(3)],
            generator.normal(size=3) if generator.integers(4) == 0 else None, float(generator.normal()),
            float(generator.choice([0.0, 0.0, 0.0, 0.4, 1.0])),
        ))  # fmt: skip
    return goals


def drawn(seed: int, most: int = 8) -> Problem:
    """A problem on up to `most` joints."""
    generator = np.random.default_rng(seed)
    skeleton = _skeleton(generator, most)
    options = ik.Options(
        pull=[None, None, 0.0, 1e-5, 1e-3][generator.integers(5)], bias=str(generator.choice(["START", "MIDDLE"])),
        damping=[None, None, None, 0.0, 1e-2][generator.integers(5)], seed=int(generator.integers(2**40)),
    )  # fmt: skip
    start = random_pose(skeleton, generator, float(generator.choice([0.1, 0.7, 2.5])))
    goals = _goals(generator, skeleton)
    return Problem(skeleton, goals, start, str(generator.choice(["PGS", "DLS"])), options)


def moving(problem: Problem, frames: int, seed: int, speed: float = 0.02) -> tuple[Targets, np.ndarray]:
    """Targets of frames that drift from the goals' own targets, and changing links for each frame."""
    generator = np.random.default_rng(seed)
    goals, links = problem.goals, problem.skeleton.links
    steps = generator.normal(size=(frames, len(goals), 3)).cumsum(0) * speed
    turns = generator.normal(size=(frames, len(goals), 3)).cumsum(0) * speed
    places = np.array([np.zeros(3) if goal.position is None else goal.position for goal in goals]) + steps
    rotations = np.array([[1.0, 0, 0, 0] if goal.rotation is None else goal.rotation for goal in goals])
    poles = np.array([np.zeros(3) if goal.pole is None else goal.pole for goal in goals]) + steps
    given = np.tile(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), (frames, 1, 1))
    turned = quaternion.product(quaternion.exp(turns), given)
    drift = generator.normal(size=(2, frames, len(links), 3)).cumsum(1) * 0.1 * speed
    motion = wxyz(Rotation.from_rotvec(drift[0].reshape(-1, 3))).reshape(frames, -1, 4)
    return Targets(places, turned, poles), dual_quaternion.product(links, dual_quaternion.from_parts(motion, drift[1]))
