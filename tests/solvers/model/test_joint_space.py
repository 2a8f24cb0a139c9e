# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint spaces: conversion between poses and coordinates, steps, differences, limits, and the pull's gradient."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from measures import outside_limits
from numpy.testing import assert_allclose
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons

import solvers as ik
from solvers.algebra.uniform import SplitMix64
from solvers.space.joint_space import JointSpace, State

LIMITS = ik.TwistSwing(twist=(-1, 2), swing_x=(-0.5, 1.5), swing_z=(-1, 0.7))


def space_of(skeleton: ik.Skeleton) -> JointSpace:
    """All degrees of freedom of a skeleton."""
    return JointSpace(skeleton, np.ones(len(skeleton), dtype=bool))


def pose_of(space: JointSpace, state: State) -> ik.Pose:
    """The first frame's pose."""
    slides = space.slides(state.x)
    return ik.Pose(state.rotations[0], np.zeros((len(state.rotations[0]), 3)) if slides is None else slides[0])


def turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles (J,) between two poses' rotations."""
    return (scipy_rotation(a).inv() * scipy_rotation(b)).magnitude()


@given(skeletons(), seeds)
def test_a_pose_inside_its_limits_stays_as_it_is(skeleton: ik.Skeleton, seed: int) -> None:
    """Conversion to a state and back, for any twist axis, range and number of turns."""
    space = space_of(skeleton)
    first = space.state(random_pose(skeleton, np.random.default_rng(seed), 2.5))
    again = space.state(pose_of(space, first))
    assert turned(first.rotations[0], again.rotations[0]).max() < 1e-7
    assert_allclose(again.x[:, ~space.turns], first.x[:, ~space.turns], atol=1e-12)


@given(skeletons(), seeds)
def test_the_difference_after_a_step_is_the_step(skeleton: ik.Skeleton, seed: int) -> None:
    """For free balls, hinges and slides along their axes; the coordinates of limited balls change by the step."""
    space = space_of(skeleton)
    assume(space.n)
    generator = np.random.default_rng(seed)
    state = space.state(random_pose(skeleton, generator, 1.0))
    d = generator.uniform(-0.5, 0.5, (1, space.n))
    stepped = space.step(state, d)
    limited = [skeleton.kinds[j] == "ball" and np.isfinite(space.lo[space.joint == j]).any() for j in space.joint]
    found = np.where(limited, stepped.x - state.x, space.difference(stepped, state))
    assert_allclose(found, d, atol=1e-9)


@given(skeletons(), seeds)
def test_the_pulls_gradient_matches_finite_differences(skeleton: ik.Skeleton, seed: int) -> None:
    """Of `1/2 v^T W v`, `v` the difference from a base pose, with weights as unequal as those of holds."""
    space = space_of(skeleton)
    assume(space.n)
    generator = np.random.default_rng(seed)
    base, state = (space.state(random_pose(skeleton, generator, 0.8)) for _ in range(2))
    weight = (1e5 ** generator.random(len(skeleton)))[space.joint]
    found = space.pull_gradient(state, space.difference(state, base), weight)[0]
    step, many = 1e-6, np.zeros(2 * space.n, dtype=int)
    stepped = space.step(state.take(many), step * np.concatenate([np.eye(space.n), -np.eye(space.n)]))
    v = space.difference(stepped, base.take(many))
    cost = 0.5 * (weight * v * v).sum(-1)
    assert_allclose(found, (cost[: space.n] - cost[space.n :]) / (2 * step), rtol=1e-5, atol=1e-3)


def test_a_hinge_is_taken_on_the_turn_that_its_limits_are_on() -> None:
    """A quaternion does not count full turns: the angle is the one nearest to the middle of the range."""
    for lo, hi, angle, expected in [(3.5, 5.0, 4.0, 4.0), (-5.0, -3.5, 4.0, -3.5), (6.0, 7.0, 0.3, 2 * math.pi + 0.3)]:
        skeleton = chain(1, kind="hinge", axis=(0, 0, 1), limits=ik.Range(lo, hi))
        pose = skeleton.rest_pose()
        pose.rotations[0] = [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]
        assert space_of(skeleton).state(pose).x[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("axis", [(0, 1, 0), (1, 0, 0), (1, -2, 3)])
def test_random_states_fill_the_limits_and_stay_inside(axis: tuple) -> None:
    """Balls, hinges and slides drawn at random are never outside, and spread over the limits."""
    skeleton = ik.Skeleton([
        ik.Joint("ball", -1, "ball", (0, 0, 0), axis=axis, limits=LIMITS), ik.Joint("free", 0, "ball", (0, 1, 0)),
        ik.Joint("hinge", 1, "hinge", (0, 1, 0), axis=axis, limits=ik.Range(0.5, 2.0)),
        ik.Joint("slide", 2, "prismatic", (0, 1, 0), axis=axis, limits=ik.Range(-0.2, 0.3)),
    ])  # fmt: skip
    space = space_of(skeleton)
    like = space.state(skeleton.rest_pose())
    states = space.sample(SplitMix64(0), like.take(np.zeros(200, dtype=int)))
    for frame in range(200):
        pose = pose_of(space, states.take(np.array([frame])))
        assert max(outside_limits(skeleton, pose, joint) for joint in range(4)) <= 1e-9
    bound = np.isfinite(space.lo)
    lo, hi = space.lo[bound], space.hi[bound]
    reached = states.x[:, bound]
    assert (reached.min(0) < lo + 0.2 * (hi - lo)).all()
    assert (reached.max(0) > hi - 0.2 * (hi - lo)).all()
    assert turned(states.rotations[0], states.rotations[1])[1] > 0.1


def test_the_middle_is_half_way_between_the_limits() -> None:
    """An interval has its middle; joints without limits do not change."""
    skeleton = ik.Skeleton([
        ik.Joint("hinge", -1, "hinge", (0, 0, 0), limits=ik.Range(0.5, 2.0)), ik.Joint("free", 0, "ball", (0, 1, 0)),
        ik.Joint("slide", 1, "prismatic", (0, 1, 0), limits=ik.Range(-0.2, 0.3)),
    ])  # fmt: skip
    space = space_of(skeleton)
    pose = random_pose(skeleton, np.random.default_rng(0))
    middle = space.middle(space.state(pose))
    assert middle.x[0, 0] == pytest.approx(1.25)
    assert middle.x[0, -1] == pytest.approx(0.05)
    assert turned(pose.rotations, middle.rotations[0])[1] < 1e-7


def test_stiff_and_fixed_joints_have_no_degrees_of_freedom() -> None:
    """Nor have joints that may not move."""
    skeleton = ik.Skeleton([
        ik.Joint("stiff", -1, "ball", (0, 0, 0), stiffness=1.0), ik.Joint("fixed", 0, "fixed", (0, 1, 0)),
        ik.Joint("held", 1, "hinge", (0, 1, 0)), ik.Joint("free", 2, "ball", (0, 1, 0)),
    ])  # fmt: skip
    space = JointSpace(skeleton, np.array([True, True, False, True]))
    assert list(space.joint) == [3, 3, 3]
