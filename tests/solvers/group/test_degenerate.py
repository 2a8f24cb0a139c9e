# SPDX-License-Identifier: GPL-3.0-or-later
"""Degenerate cases: each has a defined answer and a test named after it."""

import numpy as np
import pytest
from measures import both_solvers, effector, goal_errors, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import arm, arm_bent, bent, chain, random_pose, wxyz

import solvers as ik


@both_solvers
def test_no_goals_leave_the_pose_as_it_is(solver: str) -> None:
    skeleton = chain(3)
    start = random_pose(skeleton, np.random.default_rng(0))
    solution = ik.solve(skeleton, [], start, solver)
    assert solution.converged
    assert turned_by(start, solution.pose).max() < 1e-7
    assert solution.position_errors.shape == (0,)


@both_solvers
@pytest.mark.parametrize("target", [{"position": (1, 0, 0)}, {"rotation": (0, 1, 0, 0)}], ids=["position", "rotation"])
@pytest.mark.parametrize("case", ["empty chain", "fixed joints", "stiff joints", "closed limits"])
def test_a_goal_that_can_move_nothing_reports_its_error(case: str, target: dict, solver: str) -> None:
    skeleton = {
        "empty chain": chain(2), "fixed joints": chain(2, kind="fixed"), "stiff joints": chain(2, stiffness=1.0),
        "closed limits": chain(2, kind="hinge", limits=ik.Range(0, 0)),
    }[case]  # fmt: skip
    goal = ik.Goal(1, chain=[] if case == "empty chain" else None, **target)
    for restarts in (0, 2):
        solution = ik.solve(skeleton, [goal], solver=solver, options=ik.Options(restarts=restarts))
        assert not solution.converged
        assert turned_by(skeleton.rest_pose(), solution.pose).max() < 1e-12
        expected = goal_errors(skeleton, skeleton.rest_pose(), goal)
        assert_allclose([solution.position_errors[0], solution.rotation_errors[0]], expected, atol=1e-12)


@both_solvers
@pytest.mark.parametrize("kind", ["prismatic", "fixed"])
def test_a_bend_that_a_joint_without_a_turn_prefers_has_no_effect(kind: str, solver: str) -> None:
    """Neither a slide nor a fixed joint below a ball is turned, and the goal is met."""
    skeleton = ik.Skeleton([
        ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("slide", 0, kind, (0, 1, 0), preferred=(0.6, 0.2, 0)),
        ik.Joint("hand", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    goal = ik.Goal(2, position=(0.9, 1.5, 0.4), offset=(0, 0.5, 0))
    solution = ik.solve(skeleton, [goal], solver=solver)
    assert_allclose(solution.pose.rotations[1], [1, 0, 0, 0], atol=1e-12)
    assert solution.converged
    assert goal_errors(skeleton, solution.pose, goal)[0] < 1e-4


@both_solvers
def test_a_goal_with_an_empty_chain_does_not_disturb_another(solver: str) -> None:
    goals = [ik.Goal(2, position=(0, 1, 0), chain=[]), ik.Goal(2, position=(0.5, 1.5, 0.5))]
    solution = ik.solve(chain(3), goals, solver=solver)
    assert solution.position_errors[1] < 1e-4


@both_solvers
@pytest.mark.parametrize("rotation", [None, (0.8, 0, 0, 0.6)])
def test_a_single_joint_looks_at_its_target(rotation: tuple | None, solver: str) -> None:
    """In a skeleton of length 0 one ball turns until its effector points at the target, or to its target rotation."""
    goal = ik.Goal(0, position=(3, 0, 0), rotation=rotation, offset=(0, 1, 0), position_weight=0.0 if rotation else 1.0)
    solution = ik.solve(chain(1), [goal], solver=solver, options=ik.Options(iterations=200))
    if rotation:
        assert solution.rotation_errors[0] < 1e-3
    else:
        assert_allclose(effector(chain(1), solution.pose, 0, (0, 1, 0)), [1, 0, 0], atol=1e-3)


@both_solvers
def test_a_zero_length_bone_in_a_chain_is_solved_over(solver: str) -> None:
    """Two joints in one place, and a skeleton whose joints are all in one place."""
    skeleton = ik.Skeleton([
        ik.Joint("a", -1, "ball", (0, 0, 0)), ik.Joint("b", 0, "ball", (0, 1, 0)),
        ik.Joint("c", 1, "ball", (0, 0, 0)), ik.Joint("d", 2, "ball", (0, 1, 0)),
    ])  # fmt: skip
    assert ik.solve(skeleton, [ik.Goal(3, position=(1, 0.5, 0))], solver=solver).converged
    point = chain(3, length=0.0)
    turn = ik.Goal(2, rotation=(0.8, 0, 0, 0.6))
    assert ik.solve(point, [turn], solver=solver).converged
    assert not ik.solve(point, [ik.Goal(2, position=(1, 0, 0))], solver=solver).converged


@both_solvers
@pytest.mark.parametrize("target", [(0, 0, 0, 1), (0, 1, 0, 0), (0, 0.6, 0, 0.8), (0, 0, -1, 0)])
def test_a_half_turn_is_made(target: tuple, solver: str) -> None:
    """A target rotation exactly opposite to the start is reached, where both directions are equally short."""
    for count in (1, 3):
        solution = ik.solve(chain(count), [ik.Goal(count - 1, rotation=target)], solver=solver)
        assert solution.converged
        assert solution.rotation_errors[0] < 1e-3


@both_solvers
def test_the_double_cover_of_a_target_is_the_same_target(solver: str) -> None:
    """`q` and `-q`, a start of either sign, and a quaternion of any length give the same answer."""
    skeleton = chain(3)
    q = wxyz(Rotation.from_rotvec([0.4, -0.9, 1.3]))
    start = random_pose(skeleton, np.random.default_rng(6))
    expected = ik.solve(skeleton, [ik.Goal(2, (1, 1, 0.5), q)], start, solver)
    negative = ik.Pose(-start.rotations, start.translations)
    for rotation, given_start in [(-q, start), (3.0 * q, start), (q, negative)]:
        found = ik.solve(skeleton, [ik.Goal(2, (1, 1, 0.5), rotation)], given_start, solver)
        assert turned_by(expected.pose, found.pose).max() < 1e-5


@both_solvers
def test_a_target_at_the_root_is_as_near_as_bones_allow(solver: str) -> None:
    """Equal bones fold flat onto their root; unequal ones come as near as the difference of their lengths."""
    options = ik.Options(iterations=300, tolerance=1e-3)
    assert ik.solve(arm(), [ik.Goal(2, position=(0, 0, 0))], arm_bent(), solver, options).position_errors[0] < 2e-2
    unequal = ik.solve(arm(1.0, 0.4), [ik.Goal(2, position=(0, 0, 0))], arm_bent(), solver, options)
    assert unequal.position_errors[0] == pytest.approx(0.6, abs=1e-2)


@both_solvers
def test_slides_of_joints_outside_the_chain_count(solver: str) -> None:
    """A rail that has moved by 2 carries the arm on it, whose goal may not move the rail."""
    skeleton = ik.Skeleton([
        ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0)),
        ik.Joint("upper", 0, "ball", (0, 0, 0)), ik.Joint("lower", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose()
    start.translations[0] = (2, 0, 0)
    goal = ik.Goal(2, position=(3, 1.2, 0), offset=(0, 1, 0), chain=[1, 2])
    solution = ik.solve(skeleton, [goal], start, solver)
    assert_allclose(solution.pose.translations[0], [2, 0, 0])
    assert_allclose(effector(skeleton, solution.pose, 2, (0, 1, 0)), [3, 1.2, 0], atol=1e-4)


@both_solvers
@pytest.mark.parametrize("weight", [1e-3, 1e3])
def test_the_weight_of_a_lone_goal_does_not_matter(weight: float, solver: str) -> None:
    """A single goal is met with any weight above 0, and not solved with weight 0."""
    goal = ik.Goal(3, position=(1, 2, 0.3), position_weight=weight)
    assert ik.solve(chain(4), [goal], bent(4), solver).converged
    nothing = ik.Goal(3, position=(1, 2, 0.3), position_weight=0.0)
    solution = ik.solve(chain(4), [nothing], bent(4), solver)
    assert solution.converged
    assert turned_by(bent(4), solution.pose).max() < 1e-6
