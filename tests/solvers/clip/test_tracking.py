# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracking by velocities: lag and decay by the law, limits, singular chains, the null space."""

import math
from itertools import pairwise

import numpy as np
import pytest
from measures import EXACT, UPRIGHT, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import bent, chain, wxyz

import solvers as ik
from solvers.tracking import STEPS

RATE = 30.0
SHARP = ik.Options(damping=1e-12)  # so that damped steps are exact where the chain is not singular
VELOCITY = np.array([0.3, -0.2, 0.4])
each_solver = pytest.mark.parametrize("solver", STEPS)


def gantry(limits: ik.Range | None = None) -> ik.Skeleton:
    """Slides along X, Y and Z: its Jacobian is a constant, so linear steps are exact."""
    axes = np.eye(3)
    return ik.Skeleton([
        ik.Joint(f"slide {i}", i - 1, "prismatic", (0, 0, 0), axis=axes[i], limits=limits) for i in range(3)
    ])  # fmt: skip


def followed(skeleton: ik.Skeleton, joint: int, places: np.ndarray, **settings: object) -> list[ik.Solution]:
    """Track positions (F, 3) with one joint, whose rotation is free."""
    turns = np.tile(UPRIGHT, (len(places), 1, 1))
    return ik.track(skeleton, [ik.Goal(joint, (0, 0, 0))], places[:, None], turns, rate=RATE, **settings)


def errors(solutions: list[ik.Solution]) -> np.ndarray:
    """Distances (F,) from the first goal."""
    return np.array([solution.position_errors[0] for solution in solutions])


# -- the law, exactly --------------------------------------------------------------------------------------------------


@each_solver
@pytest.mark.parametrize("gain", [2.0, 10.0, 300.0])
def test_without_feed_forward_the_lag_is_the_velocity_over_the_gain(solver: str, gain: float) -> None:
    """`e' = v - k e` from `e = 0` gives `e = v / k (1 - exp(-k t))`, in every frame, also for gains above the frame
    rate."""
    time = np.arange(60) / RATE
    solutions = followed(gantry(), 2, VELOCITY * time[:, None], solver=solver, gain=gain, options=SHARP,
                         feed_forward=False)  # fmt: skip
    lag = np.linalg.norm(VELOCITY) / gain * (1 - np.exp(-gain * time))
    assert_allclose(errors(solutions), lag, rtol=1e-6, atol=1e-8)


@each_solver
@pytest.mark.parametrize(("moving", "gain"), [(False, 4.0), (True, 4.0), (True, 300.0)])
def test_an_error_at_the_start_dies_away_exponentially(solver: str, moving: bool, gain: float) -> None:
    """`e = e0 exp(-k t)`, whether the target moves or not: with feed forward nothing lags behind."""
    time = np.arange(40) / RATE
    places = np.array([0.1, 0.2, -0.1]) + moving * VELOCITY * time[:, None]
    solutions = followed(gantry(), 2, places, solver=solver, gain=gain, options=SHARP)
    assert_allclose(errors(solutions), math.sqrt(0.06) * np.exp(-gain * time), rtol=1e-6, atol=1e-9)


@each_solver
def test_rotations_obey_the_same_law(solver: str) -> None:
    """A ball with a target of constant angular velocity: no lag with feed forward, `w / k` without; errors decay."""
    skeleton, goal = chain(1), ik.Goal(0, rotation=UPRIGHT)
    time, gain, axis = np.arange(90) / RATE, 3.0, np.array([2, -1, 2]) / 3.0
    speed, first = 1.2, 0.4  # [rad/s], [rad]; more than half a turn in all

    def angles(start: float, feed_forward: bool) -> np.ndarray:
        turns = np.array([wxyz(Rotation.from_rotvec((start + speed * t) * axis)) for t in time])
        solutions = ik.track(skeleton, [goal], np.zeros((len(time), 1, 3)), turns[:, None], solver=solver, gain=gain,
                             rate=RATE, options=SHARP, feed_forward=feed_forward)  # fmt: skip
        return np.array([solution.rotation_errors[0] for solution in solutions])

    assert angles(0.0, True).max() < 1e-6
    assert_allclose(angles(0.0, False), speed / gain * (1 - np.exp(-gain * time)), rtol=1e-5, atol=1e-7)
    assert_allclose(angles(first, True), first * np.exp(-gain * time), rtol=1e-5, atol=1e-6)


def test_an_endless_gain_takes_back_all_at_once_and_none_takes_back_nothing() -> None:
    places = np.array([0.1, 0.2, -0.1]) + VELOCITY * np.arange(5)[:, None] / RATE
    for feed_forward in (True, False):
        at_once = followed(gantry(), 2, places, gain=math.inf, options=SHARP, feed_forward=feed_forward)
        assert errors(at_once)[1:].max() < 1e-8
    kept = followed(gantry(), 2, places, gain=0.0, options=SHARP)
    assert_allclose(errors(kept), errors(kept)[0], rtol=1e-6)
    still = followed(gantry(), 2, places, gain=0.0, options=SHARP, feed_forward=False)
    assert np.abs([solution.pose.translations for solution in still]).max() < 1e-12


def test_what_is_carried_by_another_goals_joints_keeps_up_all_the_same() -> None:
    """A cart on rails and a gantry on the cart, each with a goal: the gantry compensates the motion of the cart."""
    axes = [(1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    skeleton = ik.Skeleton([ik.Joint(f"{i}", i - 1, "prismatic", (0, 0, 0), axis=axis) for i, axis in enumerate(axes)])
    goals = [ik.Goal(0, (0, 0, 0), chain=[0]), ik.Goal(3, (0, 0, 0), chain=[1, 2, 3])]
    assert len(ik.prepare(skeleton, goals).stages) == 2
    time = np.arange(30)[:, None] / RATE
    places = np.stack([(0.5, 0, 0) * time, VELOCITY * time], 1)
    solutions = ik.track(skeleton, goals, places, np.tile(UPRIGHT, (30, 2, 1)), rate=RATE, options=SHARP)
    assert max(solution.position_errors.max() for solution in solutions) < 1e-8


# -- on arms ----------------------------------------------------------------------------------------------------------


def circle(count: int, size: float = 0.5) -> np.ndarray:
    """Positions (count, 3) on a circle in front of a chain of four, passed in two seconds."""
    angle = np.pi * np.arange(count) / RATE
    return np.stack([1.0 + size * np.cos(angle), 1.5 + size * np.sin(angle), 0.3 * np.ones(count)], -1)


@each_solver
def test_limits_are_kept_and_a_target_beyond_them_is_followed_as_far_as_they_let(solver: str) -> None:
    """Slides between -0.2 and 0.2 with a target out to 0.5 and back, and an arm of limited balls on its circle."""
    skeleton = gantry(ik.Range(-0.2, 0.2))
    away = np.concatenate([np.linspace(0, 0.5, 30), np.linspace(0.5, 0, 30), np.zeros(20)])
    solutions = followed(skeleton, 2, away[:, None] * np.array([1, 0, 0]), solver=solver, options=SHARP)
    x = np.array([solution.pose.translations[0, 0] for solution in solutions])
    assert x.max() == pytest.approx(0.2, abs=1e-9)
    assert errors(solutions)[-1] < 0.01
    limits = ik.TwistSwing(twist=(-0.3, 0.3), swing_x=(-0.4, 0.5), swing_z=(-0.5, 0.4))
    arm = chain(4, limits=limits)
    posed = followed(arm, 3, circle(60, 1.5), solver=solver, pose=bent(4))
    assert max(outside_limits(arm, solution.pose, joint) for solution in posed for joint in range(4)) < EXACT
    assert any(solution.at_limit.any() for solution in posed)


@pytest.mark.parametrize("solver", ["PGS", "DLS"])
def test_a_straight_chain_does_not_blow_up(solver: str) -> None:
    """From a straight start, or stretched toward a target that passes by, no joint turns much more than the target."""
    angle = np.linspace(0, np.pi, 120)
    for reach in (2.9, 3.0, 4.0):
        places = reach * np.stack([np.sin(angle), np.cos(angle), np.zeros(120)], -1)
        solutions = followed(chain(4), 3, places, solver=solver)
        leaps = [turned_by(a.pose, b.pose).max() for a, b in pairwise(solutions)]
        assert max(leaps) < 2 * np.pi / 119
        assert errors(solutions)[-1] == pytest.approx(max(reach - 3.0, 0.0), abs=0.05)


@each_solver
def test_no_joint_turns_further_than_a_linear_step_can_see(solver: str) -> None:
    """For every solver; an undamped step has no bound where the chain is straight."""
    places = np.stack([0.2 * np.ones(60), 3.0 - np.arange(60) / 30, np.zeros(60)], -1)
    solutions = followed(chain(4), 3, places, solver=solver, gain=math.inf)
    turns = [np.linalg.norm(turned_by(a.pose, b.pose), np.inf) for a, b in pairwise(solutions)]
    assert np.isfinite(turns).all()
    assert max(turns) < math.sqrt(3.0) + 1e-6  # a radian in each degree of freedom


def test_a_rig_in_centimetres_is_tracked_like_one_in_metres() -> None:
    tracked = [
        followed(chain(4, length=unit), 3, unit * circle(30), pose=bent(4))[-1].pose.rotations for unit in (1.0, 100.0)
    ]
    assert_allclose(tracked[1], tracked[0], atol=1e-9)


# -- the null space ----------------------------------------------------------------------------------------------------


ELBOWS = (0.2, 1.0, -0.8, 1.2, 0.6, 0.5)


def folded() -> tuple[ik.Skeleton, ik.Pose]:
    """A planar arm of six limited hinges, and a pose of it."""
    skeleton = chain(6, kind="hinge", axis=(1, 0, 0), limits=ik.Range(-1.0, 1.4))
    return skeleton, ik.Pose(wxyz(Rotation.from_rotvec(np.outer(ELBOWS, (1, 0, 0)))), np.zeros((6, 3)))


@each_solver
def test_led_to_the_middle_a_still_arm_comes_to_the_nearest_pose_and_its_hand_stays(solver: str) -> None:
    """From a start on the target with any elbows it ends at the answer of a solve with the same pull."""
    skeleton, start = folded()
    place = ik.forward(skeleton, start).positions[5]
    options = ik.Options(pull=1e-5, bias="MIDDLE", tolerance=1e-6, iterations=200)
    nearest = ik.solve(skeleton, [ik.Goal(5, place)], start, options=options).pose
    assert turned_by(start, nearest).max() > 0.3
    tracked = followed(skeleton, 5, np.tile(place, (150, 1)), pose=start, solver=solver, options=options)
    assert turned_by(tracked[-1].pose, nearest).max() < 0.02
    assert errors(tracked).max() < 0.05
    assert errors(tracked)[-1] < 1e-3


@each_solver
def test_with_a_pull_an_arm_led_round_and_back_is_as_it_was_and_without_it_drifts(solver: str) -> None:
    """After three rounds of a circle and a rest the pull brings the joints back; an inverse of the Jacobian alone does
    not."""
    skeleton, start = folded()
    y, z = ik.forward(skeleton, start).positions[5, 1:]
    angle = 2 * np.pi * np.minimum(np.arange(150) / 120, 1.0) * 3
    places = np.stack([np.zeros(150), y + 0.5 * np.sin(angle), z - 0.5 * (1 - np.cos(angle))], -1)
    led, left = (
        followed(
            skeleton, 5, places, pose=start, solver=solver, options=ik.Options(pull=pull), gain=10.0, base_gain=4.0
        )
        for pull in (1e-5, 0.0)
    )
    assert max(errors(led).max(), errors(left).max()) < 0.01
    assert turned_by(start, led[-1].pose).max() < 0.005
    assert turned_by(start, left[-1].pose).max() > 0.1


# -- what it takes and gives -------------------------------------------------------------------------------------------


def test_the_first_frame_is_the_start_and_every_other_one_step() -> None:
    """The first frame is the start inside its limits; no frames give no solutions."""
    skeleton = gantry(ik.Range(-0.2, 0.2))
    start = skeleton.rest_pose()
    start.translations[0, 0] = 0.7
    solutions = followed(skeleton, 2, np.zeros((4, 3)), pose=start)
    assert solutions[0].pose.translations[0, 0] == pytest.approx(0.2)
    assert [solution.iterations for solution in solutions] == [0, 1, 1, 1]
    assert followed(skeleton, 2, np.zeros((0, 3))) == []


@pytest.mark.parametrize("solver", [name for name in ik.SOLVERS if name not in STEPS])
def test_solvers_without_a_linear_step_are_refused_and_the_others_named(solver: str) -> None:
    skeleton = chain(2, kind="ball")
    goal = ik.Goal(1, (0, 1, 0), offset=(0, 1, 0))
    with pytest.raises(ik.UnknownSolver, match=f"'{solver}'.*PGS, DLS, PINV, SVD, TSVD, SDLS"):
        ik.track(skeleton, [goal], np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1, 1)), solver=solver)


@pytest.mark.parametrize(("settings", "message"), [
    ({"gain": -1.0}, r"gain = -1\.0.*0 or more"),
    ({"gain": math.nan}, r"gain = nan"),
    ({"gain": "high"}, r"gain = 'high'"),
    ({"rate": 0.0}, r"rate = 0\.0.*above 0"),
    ({"rate": math.inf}, r"rate = inf.*finite"),
    ({"base_gain": -2}, r"base_gain = -2"),
    ({"feed_forward": "no"}, r"feed_forward = 'no'; expected True or False"),
    ({"objective": 3}, r"objective = 3; expected a function"),
])  # fmt: skip
def test_bad_gains_and_rates_are_refused_by_name(settings: dict, message: str) -> None:
    with pytest.raises(ik.InvalidOptions, match=message):
        ik.track(chain(2), [ik.Goal(1, (0, 1, 0))], np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1, 1)), **settings)
