# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracker, step by step: equal to `track`, with time steps of any length, and with objectives in the null space."""

import math

import numpy as np
import pytest
from measures import EXACT, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import bent, chain, scipy_rotation

import solvers as ik
from solvers.tracking import STEPS

each_solver = pytest.mark.parametrize("solver", STEPS)
EXACTLY = ik.Options(damping=1e-12)  # so that damped steps are exact where the chain is not singular
AXES = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
BENT = np.array([0.3, -0.8, 0.5, 1.1, -0.4, 0.7])


def robot(limits: ik.Range | None = None) -> ik.Skeleton:
    """Six hinges about different axes and a fixed hand: a position leaves three degrees of freedom."""
    joints = [ik.Joint(f"hinge {i}", i - 1, "hinge", (0, 0.4 * (i > 0), 0.1 * i), axis=axis, limits=limits)
              for i, axis in enumerate(AXES)]  # fmt: skip
    return ik.Skeleton([*joints, ik.Joint("hand", 5, "fixed", (0.1, 0.3, 0))])


def hand(skeleton: ik.Skeleton, pose: ik.Pose) -> np.ndarray:
    """Position (3,) of the hand."""
    return ik.forward(skeleton, pose).positions[skeleton.index("hand")]


def tracker_from(skeleton: ik.Skeleton, start: ik.Pose, **settings: object) -> ik.Tracker:
    """A tracker of the hand's position."""
    return ik.Tracker(skeleton, [ik.Goal("hand", (0, 0, 0))], pose=start, **settings)


# -- as `track` -------------------------------------------------------------------------------------------------------


@each_solver
def test_track_is_a_loop_over_a_tracker(solver: str) -> None:
    """A step with `dt = 0` first, then one per frame: the same poses to the last digit."""
    skeleton, rate = chain(4), 30.0
    time = np.arange(20)[:, None] / rate
    places = (np.array([1.0, 2.0, 0.3]) + time * (0.5, -0.4, 0.2))[:, None]
    goal = ik.Goal(3, (0, 0, 0))
    frames = ik.track(skeleton, [goal], places, pose=bent(4), solver=solver, rate=rate)
    tracker = ik.Tracker(skeleton, [goal], solver, bent(4))
    for frame, solution in enumerate(frames):
        own = tracker.step(places[frame], dt=1 / rate if frame else 0.0)
        assert (own.pose.rotations == solution.pose.rotations).all()
        assert (tracker.pose.rotations == own.pose.rotations).all()
        assert own.iterations == solution.iterations == min(frame, 1)


@each_solver
def test_steps_of_different_lengths_keep_up_with_a_target_that_moves_evenly(solver: str) -> None:
    """Slides along X, Y and Z, whose Jacobian is constant: no lag for any lengths of the steps."""
    axes = np.eye(3)
    skeleton = ik.Skeleton([ik.Joint(f"{i}", i - 1, "prismatic", (0, 0, 0), axis=axes[i]) for i in range(3)])
    tracker = ik.Tracker(skeleton, [ik.Goal("2", (0, 0, 0))], solver, options=EXACTLY)
    tracker.step([(0, 0, 0)], dt=0.0)
    now = 0.0
    for dt in (0.01, 0.2, 0.05, 1.0, 0.001):
        now += dt
        assert tracker.step([(0.3 * now, -0.2 * now, 0.4 * now)], dt=dt).position_errors[0] < 1e-9


def test_the_targets_of_the_first_step_count_as_still() -> None:
    """A first step with `dt > 0` removes its share of the error; one with `dt = 0` keeps the start."""
    skeleton = ik.Skeleton([ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), limits=ik.Range(-1, 1))])
    goal = ik.Goal("rail", (0, 0, 0))
    moved = ik.Tracker(skeleton, [goal], "PINV", gain=3.0).step([(0.5, 0, 0)], dt=0.1)
    assert moved.position_errors[0] == pytest.approx(0.5 * math.exp(-0.3))
    outside = ik.pose_from_angles(skeleton, [1.5])
    tracker = ik.Tracker(skeleton, [goal], "PINV", outside, gain=3.0)
    assert_allclose(tracker.pose.translations, outside.translations)
    assert_allclose(tracker.step([(0.5, 0, 0)], dt=0.0).pose.translations, [(1, 0, 0)])


@each_solver
def test_a_goal_with_room_leaves_another_its_way(solver: str) -> None:
    """A cart within a metre of a place is no slower for that, and stops at the metre."""
    skeleton = ik.Skeleton([ik.Joint("cart", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0))])
    goals = [ik.Goal("cart", (0, 0, 0), position_weight=1e-3),
             ik.Goal("cart", (0, 0, 0), kind="DISTANCE", distance=1.0, side="WITHIN")]  # fmt: skip
    tracker = ik.Tracker(skeleton, goals, solver, options=EXACTLY, gain=2.0)
    near = [tracker.step([(0.5, 0, 0), (0, 0, 0)], dt=0.1).position_errors[0] for _ in range(5)]
    assert_allclose(near, 0.5 * np.exp(-0.2 * np.arange(1, 6)), rtol=1e-4)
    for _ in range(30):
        far = tracker.step([(3, 0, 0), (0, 0, 0)], dt=0.1)
    assert far.position_errors == pytest.approx([2.0, 0.0], abs=0.01)


# -- the null space ---------------------------------------------------------------------------------------------------


def test_a_step_is_the_pseudo_inverses_and_the_objectives_share_of_the_null_space() -> None:
    """`d = J^+ v dt + (I - J^+ J) z` with `z = -gradient dt`, by NumPy's pseudo-inverse."""
    skeleton, dt = robot(), 1e-2
    start = ik.pose_from_angles(skeleton, BENT)
    gradient = np.array([0.4, -0.3, 0.8, 0.1, -0.6, 0.5])
    place, velocity = hand(skeleton, start), np.array([0.2, -0.1, 0.3])
    tracker = tracker_from(skeleton, start, solver="PINV", objective=lambda pose: gradient)
    tracker.step([place], dt=0.0)
    tracker.step([place + dt * velocity], dt=dt)
    jacobian = ik.velocity_jacobian(skeleton, start, "hand")[3:]
    inverse = np.linalg.pinv(jacobian)
    expected = inverse @ velocity * dt - (np.eye(6) - inverse @ jacobian) @ gradient * dt
    assert_allclose(ik.angles_from_pose(skeleton, tracker.pose) - BENT, expected, atol=1e-12)


def test_an_objective_sees_the_pose_of_the_last_step() -> None:
    """It is called once per step, and not for steps with `dt = 0`."""
    seen: list[np.ndarray] = []
    skeleton = robot()

    def objective(pose: ik.Pose) -> list[float]:
        seen.append(ik.angles_from_pose(skeleton, pose))
        return [0.5] * 6

    tracker = tracker_from(skeleton, ik.pose_from_angles(skeleton, BENT), objective=objective)
    place = hand(skeleton, tracker.pose)
    tracker.step([place], dt=0.0)
    after = [ik.angles_from_pose(skeleton, tracker.step([place], dt=0.1).pose) for _ in range(2)]
    assert_allclose(seen, [BENT, after[0]], atol=1e-12)


def test_limits_hold_whatever_the_objective_wants() -> None:
    limits = ik.TwistSwing(twist=(-0.3, 0.3), swing_x=(-0.4, 0.5), swing_z=(-0.5, 0.4))
    skeleton = chain(5, limits=limits)
    tracker = ik.Tracker(skeleton, [ik.Goal(4, (0, 0, 0))], pose=bent(5), objective=lambda pose: np.full(15, -9.0))
    for _ in range(60):
        solution = tracker.step([(0.8, 3.5, 0.4)], dt=1 / 30)
    assert solution.at_limit.any()
    assert max(outside_limits(skeleton, solution.pose, joint) for joint in range(5)) < EXACT


# -- postures ---------------------------------------------------------------------------------------------------------


@each_solver
def test_an_arm_of_balls_comes_to_the_posture_that_its_goal_leaves_free(solver: str) -> None:
    """From another pose with its hand in the same place the arm ends in the posture itself."""
    skeleton = chain(4)
    posture = ik.pose_from_angles(skeleton, np.random.default_rng(4).uniform(-0.5, 0.5, 12))
    place = ik.forward(skeleton, posture).positions[3]
    start = ik.solve(skeleton, [ik.Goal(3, place)], bent(4), options=ik.Options(tolerance=1e-8)).pose
    objective = ik.toward_posture(skeleton, posture, gains=2.0)
    tracker = ik.Tracker(skeleton, [ik.Goal(3, (0, 0, 0))], solver, start, objective=objective)
    assert turned_by(start, posture)[:3].max() > 0.2
    for _ in range(200):
        solution = tracker.step([place], dt=1 / 30)
    assert turned_by(solution.pose, posture).max() < 0.01
    assert solution.position_errors[0] < 1e-3


def test_the_gradient_of_a_posture_is_that_of_its_squared_distance() -> None:
    """By differences of `1/2 sum k |q - q_posture|^2` for small turns of the joints in their own frames."""
    skeleton = ik.Skeleton([ik.Joint("shoulder", -1, "ball", (0, 0, 0)), ik.Joint("rail", 0, "prismatic", (0, 1, 0)),
                            ik.Joint("elbow", 1, "hinge", (0, 0, 0), axis=(1, 2, 2))])  # fmt: skip
    posture = ik.pose_from_angles(skeleton, [0.4, -0.2, 0.3, 0.2, -0.5])
    pose = ik.pose_from_angles(skeleton, [-0.3, 0.5, 0.9, -0.4, 0.8])
    gains = np.array([2.0, 2.0, 2.0, 3.0, 0.5])

    def cost(step: np.ndarray) -> float:
        turns = np.array([step[:3], (0, 0, 0), step[4] * skeleton.axis[2]])
        turned = scipy_rotation(pose.rotations) * Rotation.from_rotvec(turns)
        angles = (scipy_rotation(posture.rotations).inv() * turned).magnitude()
        rail = pose.translations[1, 1] + step[3] - posture.translations[1, 1]
        return 0.5 * (2.0 * angles[0] ** 2 + 3.0 * rail**2 + 0.5 * angles[2] ** 2)

    expected = [(cost(step) - cost(-step)) / 2e-6 for step in 1e-6 * np.eye(5)]
    assert_allclose(ik.toward_posture(skeleton, posture, gains)(pose), expected, atol=1e-6)


def test_what_the_caller_writes_to_poses_does_not_move_the_tracker() -> None:
    """Neither the pose nor that of a step is an array of the tracker, and an objective may write to its argument."""

    def careless(pose: ik.Pose) -> np.ndarray:
        pose.rotations[:] = 0.0
        return np.zeros(9)

    def followed(write: bool) -> ik.Pose:
        tracker = ik.Tracker(chain(3), [ik.Goal(2, (0.5, 1.5, 0))], objective=careless if write else None)
        for frame in range(3):
            places = (tracker.pose.rotations, tracker.step([(0.5, 1.5, 0.01 * frame)]).pose.rotations)
            for place in places if write else ():
                place[:] = 0.5
        return tracker.pose

    assert_allclose(followed(write=True).rotations, followed(write=False).rotations, atol=1e-12)


def test_the_start_of_a_prepared_solve_is_the_callers() -> None:
    """Writing to it does not change the rest pose from which other solves start."""
    prepared = ik.prepare(chain(3), [ik.Goal(2, (0.5, 1.5, 0))])
    expected = prepared([(0.5, 1.5, 0.2)]).pose.rotations
    prepared.start(None).rotations[:] = 0.5
    assert_allclose(prepared([(0.5, 1.5, 0.2)]).pose.rotations, expected, atol=1e-12)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dt", "message"), [
    (-0.1, "dt = -0.1; expected a number, 0 or more"), (math.nan, "dt = nan"), ("1", "dt = '1'"),
    (math.inf, "dt = inf; expected a finite number"),
])  # fmt: skip
def test_bad_time_steps_are_refused(dt: object, message: str) -> None:
    with pytest.raises(ik.InvalidOptions, match=message):
        ik.Tracker(chain(2), [ik.Goal(1, (0, 1, 0))]).step([(0, 1, 0)], dt=dt)


@pytest.mark.parametrize(("gradient", "message"), [
    (np.zeros(5), r"objective: expected 6 finite numbers, got \[0.0, 0.0, 0.0, 0.0, 0.0\]"),
    ([0, 0, 0, 0, 0, math.nan], "objective: expected 6 finite numbers, got .*nan"),
    (None, "objective: expected 6 numbers, got None"),
    ("up", "objective: expected 6 numbers, got 'up'"),
])  # fmt: skip
def test_an_objective_that_returns_no_gradient_is_refused(gradient: object, message: str) -> None:
    tracker = ik.Tracker(chain(2), [ik.Goal(1, (0, 1, 0))], objective=lambda pose: gradient)
    with pytest.raises(ik.InvalidOptions, match=message):
        tracker.step([(0, 1, 0)])


@pytest.mark.parametrize("gains", [-1.0, math.nan, [1.0, 2.0], "high"])
def test_bad_gains_of_a_posture_are_refused(gains: object) -> None:
    with pytest.raises(ik.InvalidOptions, match="gains: expected"):
        ik.toward_posture(chain(2), chain(2).rest_pose(), gains)


def test_a_tracker_refuses_what_track_refuses() -> None:
    with pytest.raises(ik.InvalidOptions, match=r"gain = -1\.0"):
        ik.Tracker(chain(2), [ik.Goal(1, (0, 1, 0))], gain=-1.0)
    with pytest.raises(ik.UnknownSolver, match="'CCD' has no linear step to track with"):
        ik.Tracker(chain(2), [ik.Goal(1, (0, 1, 0))], solver="ccd")
    with pytest.raises(ik.InvalidGoal, match=r"positions: expected shape \(1, 3\), got \(2, 3\)"):
        ik.Tracker(chain(2), [ik.Goal(1, (0, 1, 0))]).step([(0, 1, 0), (0, 1, 0)])
