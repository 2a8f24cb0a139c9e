# SPDX-License-Identifier: GPL-3.0-or-later
"""Baillieul's rows: at the answer the gradient of the criterion, projected on the null space of J, is zero."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from measures import EXACT, outside_limits
from numpy.testing import assert_allclose
from planar_arm import AT, planar_arm, tip
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons

import solvers as ik

ZERO = 1e-6  # of the projected gradient
GAINS = np.array([1, 4, 0.25, 1, 0, 2, 1])
TARGET = np.array([3.9, 3.3])
STEP = 1e-5


def planar(limits: ik.Range | None = None) -> ik.Skeleton:
    return planar_arm(limits, fixed_tip=True, gain=GAINS.tolist())


def jacobian(q: np.ndarray) -> np.ndarray:
    """Of the arm's tip in its plane (2, 7)."""
    sums = np.cumsum(q)
    segments = np.stack([-np.sin(sums), np.cos(sums)])
    return np.cumsum(segments[:, ::-1], axis=1)[:, ::-1]


def reached(skeleton: ik.Skeleton, extension: str, **options: object) -> np.ndarray:
    """The angles of the planar arm whose tip is at the target; it is met."""
    start = ik.pose_from_angles(skeleton, AT)
    wanted = ik.Options(extension=extension, iterations=100, **options)
    found = ik.solve(skeleton, [ik.Goal("tip", (0, *TARGET))], start, "EXTENDED", wanted)
    assert found.converged
    return ik.angles_from_pose(skeleton, found.pose)


def manipulability(q: np.ndarray) -> float:
    """`1/2 log det(J J^T)` of the planar arm."""
    return 0.5 * float(np.log(np.linalg.det(jacobian(q) @ jacobian(q).T)))


@pytest.mark.parametrize("pull", [0.0, 1e-5])
def test_the_gradient_of_the_distance_from_the_posture_has_no_part_in_the_null_space(pull: float) -> None:
    """The planar arm with gains; pairs alone leave a part, and with a pull a small one."""
    left = []
    for extension in ("PAIRS", "POSTURE"):
        q = reached(planar(), extension, pull=pull)
        left.append(np.abs(null_space(jacobian(q)).T @ (GAINS * (q - AT))).max())
        if extension == "POSTURE":
            assert_allclose(tip(q), TARGET, atol=1e-9)
    assert left[1] < min(ZERO, left[0])
    assert pull or left[0] > 0.01


def test_inside_limits_no_joint_that_is_free_to_move_brings_the_pose_nearer() -> None:
    """The projected gradient of the joints that are off their limits is zero, and some are on them."""
    limits = ik.Range(-0.3, 0.62)
    q = reached(planar(limits), "POSTURE")
    on = (q < limits.lo + EXACT) | (q > limits.hi - EXACT)
    assert 0 < on.sum() < 4
    gradient, rows = GAINS * (q - AT), jacobian(q)
    assert np.abs(null_space(rows[:, ~on]).T @ gradient[~on]).max() < ZERO
    forces = np.linalg.lstsq(rows[:, ~on].T, gradient[~on], rcond=None)[0]
    outward = (rows.T @ forces - gradient)[on] * np.sign(q[on] - 0.16)
    assert (outward > 0.0).all()  # the pull presses them onto their limits


def test_the_gradient_of_the_manipulability_has_no_part_in_the_null_space() -> None:
    """By finite differences of the analytic determinant; it is larger than the pairs' answer has."""
    kept, moved = (reached(planar(), extension) for extension in ("PAIRS", "MANIPULABILITY"))
    slope = np.array(
        [manipulability(moved + step) - manipulability(moved - step) for step in STEP * np.eye(7)]
    ) / (2 * STEP)  # fmt: skip
    assert np.abs(null_space(jacobian(moved)).T @ slope).max() < ZERO
    assert manipulability(moved) > manipulability(kept) + 0.01
    assert_allclose(tip(moved), TARGET, atol=1e-9)


@pytest.mark.parametrize("rotation", [False, True], ids=["position", "position and rotation"])
def test_balls_come_to_the_nearest_pose(rotation: bool) -> None:
    """A chain of balls: the distance by SciPy, its gradient by finite differences, J by `velocity_jacobian`."""
    skeleton, generator = chain(5), np.random.default_rng(2)
    start = random_pose(skeleton, generator, 0.3)
    world = ik.forward(skeleton, random_pose(skeleton, generator, 0.5))
    goal = ik.Goal(4, world.positions[4], world.rotations[4] if rotation else None)
    options = ik.Options(extension="POSTURE", iterations=200, tolerance=1e-6, rotation_tolerance=1e-6)
    found = ik.solve(skeleton, [goal], start, "EXTENDED", options)
    assert found.converged
    turns = [scipy_rotation(q) for q in found.pose.rotations]
    base = [scipy_rotation(q) for q in start.rotations]
    weights = np.array([1, 1, 1, 1, 2.0])  # the joint that carries the goal is twice as reluctant

    def distance(joint: int, turn: np.ndarray) -> float:
        away = (base[joint].inv() * turns[joint] * Rotation.from_rotvec(turn)).as_rotvec()
        return 0.5 * float(weights[joint] * away @ away)

    gradient = np.array([
        (distance(joint, step) - distance(joint, -step)) / (2 * STEP) for joint in range(5) for step in STEP * np.eye(3)
    ])  # fmt: skip
    rows = ik.velocity_jacobian(skeleton, found.pose, 4)[0 if rotation else 3 :]
    assert np.abs(null_space(rows).T @ gradient).max() < ZERO


def test_coupled_joints_are_led_together() -> None:
    """Two hinges that turn as one: the projected gradient over the unknowns is zero."""
    skeleton = ik.Skeleton(planar().joints, couplings=[ik.Coupling(2, "X", 1, "X", 0.5, 0.1)])
    q = reached(skeleton, "POSTURE")
    assert q[2] == pytest.approx(0.5 * q[1] + 0.1, abs=1e-9)
    spread = np.delete(np.eye(7), 2, axis=1)
    spread[2, 1] = 0.5
    start = AT.copy()
    start[2] = 0.5 * AT[1] + 0.1
    gradient = spread.T @ (GAINS * (q - start))
    assert np.abs(null_space(jacobian(q) @ spread).T @ gradient).max() < ZERO


def test_a_goal_with_room_is_kept_and_moves_nothing() -> None:
    """A distance that may be less: the start meets it, so the pose nearest to the start is the start."""
    skeleton = planar()
    start = ik.pose_from_angles(skeleton, AT)
    goal = ik.Goal("tip", (0, *TARGET), kind="DISTANCE", distance=9.0, side="WITHIN")
    for extension in ("POSTURE", "MANIPULABILITY"):
        options = ik.Options(extension=extension, iterations=30)
        found = ik.solve(skeleton, [goal], start, "EXTENDED", options)
        assert found.converged
        if extension == "POSTURE":
            assert_allclose(ik.angles_from_pose(skeleton, found.pose), AT, atol=1e-9)


@pytest.mark.parametrize("extension", ["SPRINGS", "POSTURE", "MANIPULABILITY"])
def test_what_a_target_out_of_reach_asks_for_is_stretched_to(extension: str) -> None:
    """As near as with pairs alone."""
    skeleton = chain(4)
    goal, start = ik.Goal(3, (5.0, 4.0, 1.0)), random_pose(skeleton, np.random.default_rng(1), 0.3)
    found, kept = (
        ik.solve(skeleton, [goal], start, "EXTENDED", ik.Options(extension=one)) for one in (extension, "PAIRS")
    )
    assert not found.converged
    assert found.position_errors[0] <= kept.position_errors[0] + 1e-3


@settings(max_examples=20, deadline=None)
@given(skeletons(), seeds)
def test_limits_hold_and_goals_are_met_as_with_pairs_alone(skeleton: ik.Skeleton, seed: int) -> None:
    """Any tree, from any start, and with frames that follow."""
    generator = np.random.default_rng(seed)
    world = ik.forward(skeleton, random_pose(skeleton, generator))
    goals = [ik.Goal(j, world.positions[j]) for j in generator.integers(len(skeleton), size=2).tolist()]
    start = random_pose(skeleton, generator, 0.5)
    kept = ik.solve(skeleton, goals, start, "EXTENDED", ik.Options())
    for extension in ("POSTURE", "MANIPULABILITY"):
        found = ik.solve(skeleton, goals, start, "EXTENDED", replace(ik.Options(), extension=extension))
        assert found.converged or not kept.converged
        moved = [j for goal in goals for j in np.flatnonzero(skeleton.ancestors[goal.joint])]
        assert max((outside_limits(skeleton, found.pose, joint) for joint in moved), default=0.0) < EXACT
