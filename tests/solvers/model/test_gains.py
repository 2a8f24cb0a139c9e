# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains: how strongly each joint returns to its posture (Parent eq. 5.25-5.28), against SciPy's minimiser."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from planar_arm import AT, RELUCTANCE, angles_about_x, nearest, planar_arm, turned_about_x
from scipy.spatial.transform import Rotation
from skeletons import chain, wxyz

import solvers as ik

FOLLOW = ("PGS", "DLS", "PINV", "SVD", "TSVD", "SDLS", "ALTERNATIVE", "EXTENDED", "NEWTON", "BROYDEN", "SQP")
TARGET = np.array([4.9, 3.3])
each_solver = pytest.mark.parametrize("solver", FOLLOW)


def reached(skeleton: ik.Skeleton, solver: str, **options: object) -> np.ndarray:
    """The angles of the arm, which starts at `AT`, with its end at the target."""
    goal = ik.Goal(6, (0, *TARGET), offset=(0, 1, 0))
    wanted = ik.Options(**{"iterations": 400, "tolerance": 1e-5, "pull": 1e-6, **options})
    found = ik.solve(skeleton, [goal], turned_about_x(skeleton, AT), solver, wanted)
    assert found.converged
    return angles_about_x(found.pose)


@each_solver
@pytest.mark.parametrize("gains", [[1, 4, 0.25, 1, 0.1, 2, 1], [1, 0, 1, 20, 1, 0, 1]], ids=["unlike", "two of zero"])
def test_the_answer_is_the_nearest_pose_in_the_gains_metric_by_scipy(solver: str, gains: list[float]) -> None:
    """A joint of gain 0 goes where the others leave it."""
    expected = nearest(RELUCTANCE * gains, TARGET)
    assert np.abs(expected - nearest(RELUCTANCE, TARGET)).max() > 0.05
    assert_allclose(reached(planar_arm(gain=gains), solver), expected, atol=0.01)


@pytest.mark.parametrize("solver", ["PGS", "DLS", "PINV", "SQP"])
def test_a_joint_that_the_goal_does_not_move_goes_to_the_middle_only_with_a_gain(solver: str) -> None:
    """Two hinges at the root of no lever: the one of gain 0 stays, the other one goes to the middle of its limits."""
    limits = ik.Range(-0.2, 1.0)
    skeleton = ik.Skeleton([
        ik.Joint(f"{gain}", i - 1, "hinge", (0, 0, 0), axis=axis, limits=limits, gain=gain)
        for i, (gain, axis) in enumerate([(0.0, (0, 0, 1)), (1.0, (1, 0, 0))])
    ])  # fmt: skip
    start = ik.Pose(wxyz(Rotation.from_rotvec([(0, 0, 0.7), (0.1, 0, 0)])), np.zeros((2, 3)))
    found = ik.solve(skeleton, [ik.Goal(1, (0, 0, 0))], start, solver, ik.Options(bias="MIDDLE"))
    assert_allclose(2.0 * np.arcsin(found.pose.rotations[[0, 1], [3, 1]]), [0.7, 0.4], atol=2e-3)


@each_solver
def test_a_gain_alone_switches_the_default_pull_on(solver: str) -> None:
    """With joints of unlike gains the answer is the nearest pose, as if a pull had been asked for."""
    arm = planar_arm(gain=[1, 4, 0.25, 1, 0.1, 2, 1])
    assert_allclose(reached(arm, solver, pull=None), reached(arm, solver, pull=1e-5), atol=1e-9)


def test_a_gain_changes_nothing_without_a_pull() -> None:
    """To the last bit: there is no return that it could scale."""
    skeletons = [chain(5), ik.Skeleton([replace(joint, gain=i) for i, joint in enumerate(chain(5).joints)])]
    goal = ik.Goal(4, (1.0, 2.0, 1.5))
    for solver in ik.SOLVERS:
        if solver == "TWO_BONE":
            continue
        plain, scaled = (ik.solve(one, [goal], solver=solver, options=ik.Options(pull=0.0)) for one in skeletons)
        assert np.array_equal(plain.pose.rotations, scaled.pose.rotations)


def test_a_tracker_returns_a_joint_of_gain_one_and_leaves_one_of_gain_zero() -> None:
    """After an objective has moved both hinges away from the base pose; the goal's place does not depend on them."""
    joints = [
        ik.Joint(f"{i}", i - 1, "hinge", (0, 0, 0), axis=axis, gain=gain)
        for i, (axis, gain) in enumerate([((0, 0, 1), 0.0), ((0, 0, 1), 1.0)])
    ]
    skeleton, push = ik.Skeleton(joints), [np.full(2, -1.0)]
    goal, options = ik.Goal(1, (0, 0, 0)), ik.Options(pull=1e-5)
    tracker = ik.Tracker(
        skeleton, [goal], base_gain=2.0, options=options, objective=lambda _: push.pop() if push else np.zeros(2)
    )
    away = []
    for _ in range(2):
        tracker.step([(0, 0, 0)], dt=0.1)
        away.append(ik.angles_from_pose(skeleton, tracker.pose))
    assert away[0][0] == pytest.approx(0.1)
    assert away[1][0] == pytest.approx(away[0][0], abs=1e-9)
    assert away[1][1] == pytest.approx(away[0][1] * math.exp(-0.2), abs=1e-6)
