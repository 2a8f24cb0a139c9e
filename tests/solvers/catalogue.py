# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to solve, compiled and with NumPy, and problems that it accepts, drawn by hypothesis."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from drawn import Problem
from hypothesis import strategies as st
from measures import UPRIGHT
from skeletons import random_pose, skeletons

import solvers as ik
from solvers.compiled.contract import SOLVERS as COMPILED


@dataclass(frozen=True)
class Way:
    """A solver with options of its own, by the kernel or by NumPy."""

    solver: str
    options: tuple[tuple[str, object], ...] = ()
    kernel: bool = False

    def __str__(self) -> str:
        """As tests are named."""
        return " ".join([self.solver, *(str(value) for _, value in self.options), *(["compiled"] * self.kernel)])

    def prepare(self, problem: Problem) -> ik.Prepared:
        """The problem for this way."""
        prepared = ik.prepare(problem.skeleton, problem.goals, problem.solver, problem.options)
        if not self.kernel:
            prepared.compiled = None
        return prepared

    def solve(self, problem: Problem, start: ik.Pose | None = None) -> ik.Solution:
        """The answer from a start, or from the problem's own."""
        return self.prepare(problem)(*targets_of(problem.goals), start or problem.start)


VARIANTS = (
    Way("CCD", (("order", "ROOT_TO_TIP"),)), Way("CCD", (("unit_angle", 0.3),)), Way("SQP", (("objective", "DQ"),)),
    *(Way("EXTENDED", (("extension", name),)) for name in ("SPRINGS", "POSTURE", "MANIPULABILITY")),
)  # fmt: skip
WAYS = (*map(Way, ik.SOLVERS), *VARIANTS, *(Way(name, (), kernel=True) for name in COMPILED))
each_way = pytest.mark.parametrize("way", WAYS, ids=str)
EXACT_STEP = "unit_angle"  # MikuMikuDance's rule follows its steps wherever they lead


def targets_of(goals: list[ik.Goal]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (G, 3) and rotations (G, 4) of goals."""
    places = [(0.0, 0.0, 0.0) if goal.position is None else goal.position for goal in goals]
    turns = [UPRIGHT if goal.rotation is None else goal.rotation for goal in goals]
    return np.array(places, dtype=float).reshape(-1, 3), np.array(turns, dtype=float).reshape(-1, 4)


@st.composite
def problems(draw: st.DrawFn, way: Way, most_goals: int = 3) -> Problem:
    """Any skeleton that a solver accepts, with goals in and out of reach, at odds or not, from any start."""
    kinds = ("ball", "hinge", "fixed") if way.solver == "FABRIK" else ("ball", "hinge", "prismatic", "fixed")
    skeleton = _limb(draw) if way.solver == "TWO_BONE" else draw(skeletons(kinds=kinds))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    goals = []
    for _ in range(1 if way.solver == "TWO_BONE" else draw(st.integers(1, most_goals))):
        joint = len(skeleton) - 1 if way.solver == "TWO_BONE" else int(generator.integers(len(skeleton)))
        what = 0 if way.solver in ("FABRIK", "TWO_BONE") else generator.integers(3)
        above = [int(j) for j in np.flatnonzero(skeleton.ancestors[joint]) if generator.integers(3)]
        goals.append(ik.Goal(
            joint, position=generator.normal(size=3) if what != 1 else None,
            rotation=generator.normal(size=4) if what != 0 else None,
            offset=generator.normal(size=3) * generator.integers(2) * (way.solver != "TWO_BONE"),
            priority=int(generator.integers(3)),
            position_weight=generator.choice([0.5, 1.0, 2.0]), rotation_weight=generator.choice([0.5, 1.0, 2.0]),
            chain=None if way.solver == "TWO_BONE" or generator.integers(3) else above,
            pole=None if generator.integers(3) else generator.normal(size=3),
        ))  # fmt: skip
    options = ik.Options(
        iterations=draw(st.sampled_from([0, 1, 5, 50])), restarts=draw(st.sampled_from([0, 0, 3])),
        pull=draw(st.sampled_from([None, 0.0, 1e-5])), **dict(way.options),
    )  # fmt: skip
    start = random_pose(skeleton, generator, size=draw(st.sampled_from([0.0, 0.5, 2.5])))
    return Problem(skeleton, goals, start, way.solver, options)


def _limb(draw: st.DrawFn) -> ik.Skeleton:
    """Two bones as drawn, in a row: a shoulder that is a ball, any elbow, and what is carried."""
    upper, lower = (draw(skeletons(most=1, kinds=kinds)).joints[0] for kinds in (("ball",), ("ball", "hinge")))
    loose = {"stiffness": 0.0, "inherit_rotation": True}
    return ik.Skeleton([
        replace(upper, name="shoulder", **loose), replace(lower, name="elbow", parent=0, **loose),
        ik.Joint("hand", 1, "fixed", (0, 0.8, 0)),
    ])  # fmt: skip
