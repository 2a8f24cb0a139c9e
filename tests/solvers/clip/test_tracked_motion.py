# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion with a lag: errors decay by the law, limits hold, and a frame depends on the one before it only."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import UPRIGHT, outside_limits
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, seeds, skeletons, wxyz

import solvers as ik

EXACT = ik.Options(tolerance=1e-9, rotation_tolerance=1e-9, iterations=200)
SOLVERS = ["PGS", "DLS", "PINV", "SVD", "TSVD", "SDLS", "CCD", "SQP"]  # the last two take the steps of PGS
each_solver = pytest.mark.parametrize("solver", SOLVERS)
gains, rates = st.floats(0.2, 40.0), st.floats(12.0, 120.0)


def rail(limits: ik.Range | None = None) -> ik.Skeleton:
    """A cart that slides along X."""
    return ik.Skeleton([ik.Joint("cart", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), limits=limits)])


def prepared(skeleton: ik.Skeleton, *goals: ik.Goal, solver: str = "PGS", **settings: object) -> ik.Prepared:
    """A prepared solve to tight tolerances."""
    return ik.prepare(skeleton, goals, solver, EXACT, **settings)


def distances(motion: ik.TrackedMotion, places: np.ndarray, links: np.ndarray | None = None) -> np.ndarray:
    """Distances (F,) from the only goal, after each of its places (F, 3). links : (F, J, 8)."""
    frame, found = motion.prepared.arrays(), []
    for index, place in enumerate(places):
        frame.positions[:] = place
        if links is not None:
            frame.links[:] = links[index]
        motion.solve_into(frame)
        found.append(frame.position_errors[0, 0])
    return np.array(found)


# -- the law ----------------------------------------------------------------------------------------------------------


@each_solver
def test_an_error_dies_away_exponentially(solver: str) -> None:
    """`e = e0 exp(-k t)`, of a slide, for every gain and frame rate."""

    @settings(max_examples=15)
    @given(gains, rates, st.floats(-3.0, 3.0))
    def check(gain: float, rate: float, far: float) -> None:
        motion = ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0)), solver=solver), gain, 1.0 / rate)
        motion.begin(rail().rest_pose())
        left = abs(far) * np.exp(-gain * np.arange(1, 13) / rate)
        assert_allclose(distances(motion, np.tile([far, 0, 0], (12, 1))), left, rtol=1e-6, atol=1e-7)

    check()


@each_solver
def test_a_rotation_dies_away_exponentially_too(solver: str) -> None:
    """A free ball turns about one axis toward its target, by the same share of the angle each second."""
    turn, gain, rate = Rotation.from_rotvec(2.2 * np.array([2, -1, 2]) / 3.0), 3.0, 24.0
    motion = ik.TrackedMotion(prepared(chain(1), ik.Goal(0, rotation=UPRIGHT), solver=solver), gain, 1.0 / rate)
    motion.begin(chain(1).rest_pose())
    frame = motion.prepared.arrays()
    frame.orientations[:] = wxyz(turn)
    for count in range(1, 40):
        motion.solve_into(frame)
        assert frame.rotation_errors[0, 0] == pytest.approx(2.2 * math.exp(-gain * count / rate), rel=1e-5)


@given(gains, rates, st.floats(0.1, 2.0))
def test_the_lag_is_the_velocity_over_the_gain(gain: float, rate: float, speed: float) -> None:
    """`e' = v - k e` from a first frame that meets the goal: `e = v / k (1 - exp(-k t))`, at any frame rate."""
    motion = ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), gain, 1.0 / rate)
    time = np.arange(20) / rate
    lag = speed / gain * (1.0 - np.exp(-gain * time))
    assert_allclose(distances(motion, speed * time[:, None] * (1, 0, 0)), lag, rtol=1e-6, atol=1e-7)


def test_frames_of_different_lengths_obey_the_same_law() -> None:
    motion = ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), 2.0, 0.1)
    motion.begin(rail().rest_pose())
    frame, time = motion.prepared.arrays(), 0.0
    frame.positions[:] = (1, 0, 0)
    for seconds in (0.1, 0.02, 0.5, 0.0, 0.3):
        motion.seconds = seconds
        time += seconds
        motion.solve_into(frame)
        assert frame.position_errors[0, 0] == pytest.approx(math.exp(-2.0 * time), rel=1e-6)


def test_a_base_that_moves_is_lagged_behind_as_a_target_that_moves_the_other_way() -> None:
    """The links carry the rail by -v t, or the target moves by v t: the same distances."""
    time = np.arange(30) / 24.0
    still, carried = (ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), 4.0, 1 / 24) for _ in range(2))
    links = np.tile(rail().links, (30, 1, 1))
    links[:, 0, 5] = -0.5 * 0.8 * time  # the dual part of a translation along X
    by_target = distances(still, 0.8 * time[:, None] * (1, 0, 0))
    by_base = distances(carried, np.zeros((30, 3)), links)
    assert_allclose(by_base, by_target, atol=1e-9)
    assert by_base[-1] == pytest.approx(0.2, rel=0.01)


def test_joints_that_the_goal_leaves_free_come_back_at_the_same_rate() -> None:
    """Two slides along X and one goal: their difference is the null space, and dies away as an error does."""
    joints = [ik.Joint(f"{k}", k - 1, "prismatic", (0, 0, 0), axis=(1, 0, 0)) for k in range(2)]
    skeleton = ik.Skeleton(joints)
    motion = ik.TrackedMotion(
        ik.prepare(skeleton, [ik.Goal("1", (0, 0, 0))], "PGS", ik.Options(pull=1e-5, tolerance=1e-6)), 3.0, 0.1
    )
    start = skeleton.rest_pose()
    start.translations[:, 0] = 0.5, -0.5
    motion.begin(start)
    for count in range(1, 11):
        assert distances(motion, np.zeros((1, 3)))[0] < 1e-5
        assert motion.pose.translations[0, 0] == pytest.approx(0.5 * math.exp(-0.3 * count), rel=0.02)


# -- limits, room, contact --------------------------------------------------------------------------------------------


@pytest.mark.compiled
@given(skeletons(), seeds)
def test_limits_hold_in_every_frame(skeleton: ik.Skeleton, seed: int) -> None:
    """Targets that jump about, in and out of reach: no joint outside its limits, no NaN, errors as reported."""
    generator = np.random.default_rng(seed)
    joints = sorted({int(generator.integers(len(skeleton))) for _ in range(2)})
    goals = [ik.Goal(joint, (0, 0, 0), UPRIGHT) for joint in joints]
    motion = ik.TrackedMotion(ik.prepare(skeleton, goals), float(generator.uniform(0.5, 30)), 1 / 24)
    frame = motion.prepared.arrays()
    frame.start_rotations[:], frame.start_translations[:] = random_pose(skeleton, generator)
    for _ in range(6):
        frame.positions[:] = 2.0 * skeleton.length * generator.normal(size=(len(goals), 3))
        frame.orientations[:] = generator.normal(size=(len(goals), 4))
        motion.solve_into(frame)
        pose = ik.Pose(frame.rotations[0], frame.translations[0])
        moved = set(np.flatnonzero(np.any([skeleton.ancestors[joint] for joint in joints], axis=0)))
        assert max(outside_limits(skeleton, pose, int(joint)) for joint in moved) < 1e-9
        found = ik.forward(skeleton, pose).positions[joints]
        assert_allclose(np.linalg.norm(found - frame.positions[0], axis=-1), frame.position_errors[0], atol=1e-9)


def test_a_limited_slide_stops_at_its_limit() -> None:
    """It lags as if there were no limit, up to it."""
    motion = ik.TrackedMotion(prepared(rail(ik.Range(-0.5, 0.5)), ik.Goal("cart", (0, 0, 0))), 2.0, 0.1)
    motion.begin(rail().rest_pose())
    left = np.exp(-0.2 * np.arange(1, 11))
    assert_allclose(distances(motion, np.tile([1.0, 0, 0], (10, 1))), np.maximum(left, 0.5), atol=1e-7)


def test_room_within_a_distance_may_be_used() -> None:
    """A goal that is met within a metre does not slow the cart that another goal moves."""
    goals = ik.Goal("cart", (0, 0, 0)), ik.Goal("cart", (0, 0, 0), kind="DISTANCE", distance=1.0, side="WITHIN")
    motion = ik.TrackedMotion(prepared(rail(), *goals), 2.0, 0.1)
    motion.begin(rail().rest_pose())
    frame = motion.prepared.arrays()
    frame.positions[0, 0] = 0.5, 0, 0
    for count in range(1, 8):
        motion.solve_into(frame)
        assert frame.position_errors[0, 0] == pytest.approx(0.5 * math.exp(-0.2 * count), rel=1e-5)


def test_bodies_are_pushed_apart_and_the_motion_goes_on_as_without() -> None:
    """A ball on a rail toward a target behind a wall at X = 0.4 stops with its side at the wall."""
    skeleton = rail()
    contacts = ik.Contacts([ik.Capsule("cart", (0, 0, 0), (0, 0, 0), 0.1)], [ik.Plane((0.4, 0, 0), (-1, 0, 0))])
    motion = ik.TrackedMotion(prepared(skeleton, ik.Goal("cart", (0, 0, 0)), contacts=contacts), 5.0, 0.1)
    motion.begin(skeleton.rest_pose())
    left = distances(motion, np.tile([1.0, 0, 0], (12, 1)))
    assert_allclose(left, np.maximum(np.exp(-0.5 * np.arange(1, 13)), 0.7), atol=1e-4)
    assert motion.pose.translations[0, 0] == pytest.approx(1.0 - math.exp(-6.0), abs=1e-6)


# -- the state of a motion --------------------------------------------------------------------------------------------


def test_a_frame_that_is_solved_again_starts_from_the_frame_before_it() -> None:
    """`back` forgets the last frame, and the first one is then solved afresh."""
    motion = ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), 3.0, 0.1)
    first = distances(motion, np.array([[0.2, 0, 0], [1.0, 0, 0]]))[1]
    motion.back()
    assert distances(motion, np.array([[1.0, 0, 0]]))[0] == first
    motion.back()
    assert distances(motion, np.array([[0.2, 0, 0]]))[0] < 1e-8
    motion.restart()
    assert motion.pose is None
    distances(motion, np.array([[0.7, 0, 0]]))
    motion.back()
    assert distances(motion, np.array([[-0.7, 0, 0]]))[0] < 1e-8


def test_a_motion_with_other_goals_goes_on_where_another_is() -> None:
    """Joints of the same name stay where they were, others begin at the start pose; so does the frame before."""
    cart, arm = rail(), ik.Skeleton([
        ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("cart", 0, "prismatic", (0, 0, 0), axis=(1, 0, 0)),
    ])  # fmt: skip
    one = ik.TrackedMotion(prepared(cart, ik.Goal("cart", (0, 0, 0))), 2.0, 0.1)
    distances(one, np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]]))
    other = ik.TrackedMotion(prepared(arm, ik.Goal("cart", (0, 0, 0))), 0.0, 0.1)
    other.take_over(one)
    frame = other.prepared.arrays()
    frame.start_rotations[0, 0] = turned = wxyz(Rotation.from_rotvec((0, 0, 0.5)))
    other.solve_into(frame)
    assert_allclose(frame.rotations[0, 0], turned, atol=1e-9)
    assert frame.translations[0, 1, 0] == pytest.approx(one.pose.translations[0, 0], abs=1e-9)
    other.take_over(one)
    other.back()
    one.back()
    other.solve_into(frame)
    assert frame.translations[0, 1, 0] == pytest.approx(one.pose.translations[0, 0], abs=1e-9)


def test_a_motion_with_the_same_goals_goes_on_as_the_other_would() -> None:
    skeleton, goal = chain(4), ik.Goal(3, (0, 0, 0))
    places = np.array([1.0, 2.0, 0.3]) + 0.1 * np.arange(8)[:, None] * (1, -2, 1)
    one = ik.TrackedMotion(prepared(skeleton, goal), 6.0, 1 / 24)
    whole = distances(one, places)
    one.restart()
    distances(one, places[:4])
    other = ik.TrackedMotion(prepared(skeleton, goal), 6.0, 1 / 24)
    other.take_over(one)
    assert_allclose(distances(other, places[4:]), whole[4:], atol=0.0)


def test_a_frame_of_no_numbers_gets_none_and_changes_nothing() -> None:
    motion = ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), 2.0, 0.1)
    motion.begin(rail().rest_pose())
    found = distances(motion, np.array([[1.0, 0, 0], [np.nan, 0, 0], [1.0, 0, 0]]))
    assert_allclose(found[[0, 2]], np.exp([-0.2, -0.4]), rtol=1e-6)
    assert np.isnan(found[1])


def test_frames_at_once_are_frames_one_by_one() -> None:
    skeleton, generator = chain(4), np.random.default_rng(5)
    places = np.array([1.0, 2.0, 0.3]) + np.cumsum(0.1 * generator.normal(size=(8, 3)), axis=0)
    one, many = (ik.TrackedMotion(prepared(skeleton, ik.Goal(3, (0, 0, 0))), 6.0, 1 / 24) for _ in range(2))
    arrays = many.prepared.arrays(8)
    arrays.positions[:, 0] = places
    many.solve_into(arrays)
    assert_allclose(distances(one, places), arrays.position_errors[:, 0], atol=0.0)


@pytest.mark.parametrize(("gain", "seconds", "message"), [
    (-1.0, 0.1, "gain = -1.0"), (math.nan, 0.1, "gain = nan"), (math.inf, 0.1, "gain = inf"),
    ("x", 0.1, "gain = 'x'"), (1.0, -0.1, "seconds = -0.1"), (1.0, math.inf, "seconds = inf"),
])  # fmt: skip
def test_bad_gains_and_times_are_refused_by_name(gain: object, seconds: object, message: str) -> None:
    with pytest.raises(ik.InvalidOptions, match=message):
        ik.TrackedMotion(prepared(rail(), ik.Goal("cart", (0, 0, 0))), gain, seconds)


def test_the_rules_of_mikumikudance_steer_the_first_frame_only() -> None:
    """CCD with a unit angle turns bones by steps of this size; what follows is a lag like any other."""
    options = ik.Options(unit_angle=0.5, tolerance=1e-6)
    motion = ik.TrackedMotion(ik.prepare(rail(), [ik.Goal("cart", (0, 0, 0))], "CCD", options), 2.0, 0.1)
    motion.begin(rail().rest_pose())
    assert_allclose(distances(motion, np.tile([1.0, 0, 0], (5, 1))), np.exp(-0.2 * np.arange(1, 6)), atol=1e-5)
