# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals whose target another joint carries: a linkage against its equation, hands that hold on to each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from measures import goal_errors
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, random_pose, seeds, skeletons, torso, wxyz
from standing import targets_of
from test_goals import STEP, stages_of

import solvers as ik

GROUND, CRANK, COUPLER, ROCKER = 4.0, 1.0, 3.5, 3.0
LINEAR = ["PGS", "DLS", "SVD", "SDLS", "EXTENDED", "SQP"]
EXACT = ik.Options(iterations=200, tolerance=1e-7, rotation_tolerance=1e-7)


def four_bar() -> tuple[ik.Skeleton, ik.Goal]:
    """A crank with a coupler that keeps its direction in the world, a rocker, and the goal that pins both ends."""
    turning = {"kind": "hinge", "axis": (0, 0, 1)}
    skeleton = ik.Skeleton([
        ik.Joint("crank", -1, offset=(0, 0, 0), **turning),
        ik.Joint("coupler", 0, offset=(CRANK, 0, 0), inherit_rotation=False, **turning),
        ik.Joint("rocker", -1, offset=(GROUND, 0, 0), **turning),
    ])  # fmt: skip
    pin = ik.Goal(
        "coupler", offset=(COUPLER, 0, 0), position=(ROCKER, 0, 0), target_joint="rocker", chain=["coupler", "rocker"]
    )
    return skeleton, pin


def cranked(degrees: float) -> ik.Pose:
    """The crank turned, the others as they are above the ground at 0 degrees, by the law of cosines."""
    far = GROUND - CRANK
    coupler = math.acos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
    rocker = math.pi - math.acos((ROCKER**2 + far**2 - COUPLER**2) / (2 * ROCKER * far))
    angles = np.array([math.radians(degrees), coupler, rocker])
    return ik.Pose(wxyz(Rotation.from_rotvec(angles[:, None] * [0.0, 0.0, 1.0])), np.zeros((3, 3)))


def angle(pose: ik.Pose, joint: int) -> float:
    return 2 * math.atan2(pose.rotations[joint, 3], pose.rotations[joint, 0])


@pytest.mark.parametrize("solver", LINEAR)
def test_a_four_bar_linkage_obeys_freudensteins_equation(solver: str) -> None:
    """A whole turn, each place solved by itself from the same coupler and rocker: it stays above the ground."""
    skeleton, pin = four_bar()
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    for degrees in range(0, 360, 30):
        solution = ik.solve(skeleton, [pin], cranked(degrees), solver, EXACT)
        crank, rocker = math.radians(degrees), angle(solution.pose, 2)
        assert abs(k1 * math.cos(rocker) - k2 * math.cos(crank) + k3 - math.cos(crank - rocker)) < 1e-5
        assert goal_errors(skeleton, solution.pose, pin)[0] < 1e-6
        assert math.sin(rocker) > 0.0
        assert_allclose(angle(solution.pose, 0), angle(cranked(degrees), 0), atol=1e-12)
        assert solution.converged


@pytest.mark.parametrize("solver", LINEAR)
def test_hands_hold_on_to_each_other_in_place_and_turn(solver: str) -> None:
    """One hand is led; the other is held in its frame, with a trunk that carries both: in the pose that comes out."""
    skeleton, turn = torso(), Rotation.from_rotvec([0.3, -0.2, 2.0])
    hold = ik.Goal(RIGHT, offset=(-0.05, 0, 0), position=(0.1, 0.02, 0), rotation=wxyz(turn), target_joint=LEFT)
    for place in ((0.2, 0.7, 0.4), (0.0, 0.8, 0.45), (-0.2, 0.6, 0.3)):
        lead = ik.Goal(LEFT, position=place)
        solution = ik.solve(skeleton, [lead, hold], solver=solver, options=EXACT)
        assert max(goal_errors(skeleton, solution.pose, hold)) < 1e-5
        assert goal_errors(skeleton, solution.pose, lead)[0] < 1e-5
        assert solution.converged


@pytest.mark.parametrize("priority", [0, 1, -1])
def test_a_loop_that_cannot_close_is_open_by_what_is_missing(priority: int) -> None:
    """Two bars on hinges that are too short: both point at each other. A goal for one of them shares, by priority."""
    turning = {"kind": "hinge", "axis": (0, 0, 1)}
    skeleton = ik.Skeleton([ik.Joint("one", -1, offset=(0, 0, 0), **turning),
                            ik.Joint("other", -1, offset=(3, 0, 0), **turning)])  # fmt: skip
    pin = ik.Goal("one", offset=(1, 0, 0), position=(-1.5, 0, 0), target_joint="other", priority=priority)
    bent = ik.Pose(wxyz(Rotation.from_rotvec([[0, 0, 0.5], [0, 0, 0.3]])), np.zeros((2, 3)))
    solution = ik.solve(skeleton, [pin], bent)
    assert_allclose(solution.position_errors, 0.5, atol=1e-4)
    assert not solution.converged
    up = ik.Goal("one", offset=(1, 0, 0), position=(0.0, 1.0, 0.0))
    loop, lead = ik.solve(skeleton, [pin, up], bent).position_errors
    assert (lead > loop) if priority > 0 else (lead < loop)


def test_the_gradient_of_a_turn_between_two_joints_is_that_of_differences() -> None:
    """`J^T e` is the exact slope of half the square of the error, wherever joint and target stand to each other."""

    @given(skeletons(), seeds)
    def check(skeleton: ik.Skeleton, seed: int) -> None:
        generator = np.random.default_rng(seed)
        joint, other = (int(generator.integers(len(skeleton))) for _ in range(2))
        if joint == other:
            return
        goal = ik.Goal(joint, rotation=generator.normal(size=4), target_joint=other)
        for stage in stages_of(skeleton, [goal]):
            tasks, space, n = stage.tasks, stage.space, stage.space.n
            state = space.state(random_pose(skeleton, generator))
            kinematics, targets = tasks.kinematics(state, None), targets_of([goal])
            error = tasks.errors(kinematics, targets)[0]
            same = np.zeros(2 * n, dtype=int)
            stepped = space.step(state.take(same), STEP * np.concatenate([np.eye(n), -np.eye(n)]))
            errors = tasks.errors(tasks.kinematics(stepped, None), targets.take(same))
            if np.linalg.norm(error) > 0.7:  # [weighted] near half a turn the short way changes sides
                return
            half = 0.5 * (errors * errors).sum(-1)
            slope = (half[:n] - half[n:]) / (2 * STEP)
            assert_allclose(-tasks.jacobian(state, kinematics, targets)[0].T @ error, slope, atol=1e-6)

    check()
