# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of tasks: the interface of the table, shown with a kind that only this test has."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, seeds, skeletons, wxyz
from test_goals import check_jacobian, some_goals

import solvers as ik
from solvers.model import SETTINGS, SIDES
from solvers.model.goals import Targets
from solvers.model.kinds import GoalKind
from solvers.space.tasks import Columns, Kinematics, Setup, table

NORMAL = np.array([0.6, 0.0, 0.8])


class PlaneTasks:
    """Effectors of goals without a position should lie in the plane through the origin perpendicular to `NORMAL`."""

    kind, name, size, unit, one_sided = "REACH", "flat", 1, "length", None

    def __init__(self, setup: Setup) -> None:
        self.goals = np.array([g for g, goal in enumerate(setup.goals) if goal.position is None], dtype=np.intp)
        self.weights = np.full(len(self.goals), 1.0 / setup.skeleton.length)
        self.acts = setup.moves[self.goals] > 0.0
        skeleton = setup.skeleton
        self._levers = skeleton.levers(setup.joint[self.goals], setup.space.joint)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        return -(kinematics.effectors[:, self.goals] @ NORMAL)[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        axes, moments = (np.swapaxes(part, -1, -2)[:, None] for part in columns)
        effectors = kinematics.effectors[:, self.goals, None]
        points = np.where((self._levers >= 0)[..., None], kinematics.positions[:, self._levers], effectors)
        out[...] = (moments + np.cross(axes, points)) @ NORMAL * self.acts * self.weights[:, None]

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        return np.zeros((len(now.positions), len(self.goals), 1))

    def pack(self, index: int) -> dict[str, Any]:
        return {"levers": self._levers[index], "data": None}


@pytest.fixture(params=["last", "first"])
def planes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind in the table, before or after the others."""
    kinds = [*table.KINDS, PlaneTasks] if request.param == "last" else [*table.KINDS, PlaneTasks][::-1]
    monkeypatch.setattr(table, "KINDS", kinds)


def test_what_is_declared_of_kinds_of_goals_is_whole() -> None:
    """Each kind has tasks that can be eased, and settings and sides that exist."""
    tasks = {kind.kind: kind for kind in table.KINDS if kind.kind is not None}
    assert tasks.keys() == ik.GOAL_KINDS.keys()
    assert [name for name in ik.GOAL_KINDS if name != "REACH" and not hasattr(tasks[name], "ease")] == []
    for kind in ik.GOAL_KINDS.values():
        assert set(kind.sides) <= set(SIDES)
        assert set(kind.needs) <= set(kind.takes)
    assert {name for kind in ik.GOAL_KINDS.values() for name in kind.takes} <= {one.name for one in fields(ik.Goal)}
    assert SETTINGS.keys() <= {name for kind in ik.GOAL_KINDS.values() for name in kind.takes}


def test_every_kind_in_the_table_has_a_name_of_its_own_and_a_number_in_the_kernel() -> None:
    from solvers.compiled.needs import TASKS

    names = [kind.name for kind in table.KINDS]
    assert sorted(names) == sorted(TASKS) == sorted(set(names))


@pytest.mark.usefixtures("planes")
def test_the_jacobian_of_a_new_kind_passes_the_same_check() -> None:
    """Free and limited balls, hinges, slides, detached joints; beside positions, rotations and a pole."""

    @given(skeletons(), seeds)
    def check(skeleton: ik.Skeleton, seed: int) -> None:
        generator = np.random.default_rng(seed)
        check_jacobian(skeleton, some_goals(skeleton, generator), random_pose(skeleton, generator, size=1.5))

    check()


@pytest.mark.parametrize("solver", ["PGS", "DLS", "NEWTON"])
def test_goals_with_a_new_kind_are_solved(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand has its target rotation, and its effector lies in the plane."""
    monkeypatch.setattr(table, "KINDS", [*table.KINDS, PlaneTasks])
    skeleton, turn = chain(5), Rotation.from_rotvec([0.7, 0.2, -0.4])
    goals = [ik.Goal(4, rotation=wxyz(turn), offset=(0.3, 0.4, 0.5)), ik.Goal(2, position=(0.3, 1.2, 0.2))]
    prepared = ik.prepare(skeleton, goals, solver, ik.Options(tolerance=1e-5, rotation_tolerance=1e-5))
    assert prepared.compiled is None  # the kernel does not have it
    arrays = prepared.arrays()
    arrays.positions[0, 1], arrays.orientations[0, 0] = goals[1].position, goals[0].rotation
    prepared.solve_into(arrays)
    solution = arrays.solution(0, 0.0)
    assert solution.converged
    effector = ik.forward(skeleton, solution.pose).positions[4] + turn.apply(goals[0].offset)
    assert abs(effector @ NORMAL) < 1e-4
    assert np.linalg.norm(ik.forward(skeleton, solution.pose).positions[2] - goals[1].position) < 1e-4


def test_a_goal_of_a_new_kind_counts_for_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand with its target rotation has not converged if its effector cannot be in the plane."""
    goals = [ik.Goal(1, rotation=(1, 0, 0, 0), offset=(0, 0, 5), chain=[1])]
    assert ik.solve(chain(2), goals).converged
    monkeypatch.setattr(table, "KINDS", [*table.KINDS, PlaneTasks])
    assert not ik.solve(chain(2), goals).converged


class FlatTasks(PlaneTasks):
    """The same as goals of a kind of their own, which have no target."""

    kind, name = "FLAT", "flat_goal"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.goals = np.array([g for g, goal in enumerate(setup.goals) if goal.kind == "FLAT"], dtype=np.intp)
        self.weights, self.acts = np.full(len(self.goals), 1.0 / setup.skeleton.length), setup.moves[self.goals] > 0.0
        self._levers = setup.skeleton.levers(setup.joint[self.goals], setup.space.joint)


def test_a_kind_of_goal_may_have_no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line and a class: alone, and beside a place for another joint."""
    monkeypatch.setitem(ik.GOAL_KINDS, "FLAT", GoalKind((), (), (), "length", ""))
    monkeypatch.setattr(table, "KINDS", [FlatTasks, *table.KINDS])
    flat, place = ik.Goal(4, kind="FLAT", offset=(0.3, 0.4, 0.5)), (0.3, 1.2, 0.2)
    for goals in ([flat], [flat, ik.Goal(2, position=place)]):
        solution = ik.solve(chain(5), goals, options=ik.Options(tolerance=1e-6))
        world = ik.forward(chain(5), solution.pose)
        turned = Rotation.from_quat(world.rotations[4], scalar_first=True).apply(flat.offset)
        assert solution.converged
        assert abs((world.positions[4] + turned) @ NORMAL) < 1e-5
        assert len(goals) == 1 or np.linalg.norm(world.positions[2] - place) < 1e-5
