# SPDX-License-Identifier: GPL-3.0-or-later
"""The best turns of single joints, against SciPy, and the limits of one joint against those of the whole pose."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation
from skeletons import random_pose, scipy_rotation, seeds, skeletons, wxyz

import solvers as ik
from solvers.iterate import aim
from solvers.space.joint_space import JointSpace


def _points(seed: int, count: int, frames: int = 4) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(seed)
    points, targets = generator.normal(size=(2, frames, count, 3))
    return points, targets, generator.uniform(0.1, 3, (frames, count))


def _left(turns: np.ndarray, points: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    turned = np.stack([scipy_rotation(turn).apply(p) for turn, p in zip(turns, points, strict=True)])
    return (weights * ((targets - turned) ** 2).sum(-1)).sum(-1)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_about_axis_is_the_best_of_all_angles(count: int) -> None:
    """SciPy's bounded search finds no angle with a lower error."""
    points, targets, weights = _points(count, count)
    axis = np.random.default_rng(7).normal(size=(4, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    left = _left(aim.about_axis(axis, points, targets, weights), points, targets, weights)
    for frame in range(4):
        one = slice(frame, frame + 1)

        def cost(angle: float, one: slice = one) -> float:
            turn = wxyz(Rotation.from_rotvec(angle * axis[one]))
            return float(_left(turn, points[one], targets[one], weights[one])[0])

        best = min(minimize_scalar(cost, bounds=(a, a + 1), method="bounded").fun for a in range(-4, 4))
        assert left[frame] == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_about_point_is_wahbas_best_turn(count: int) -> None:
    """The turn equals that of SciPy's `align_vectors`, which uses a singular value decomposition."""
    points, targets, weights = _points(10 + count, count)
    for frame, turn in enumerate(aim.about_point(points, targets, weights)):
        best, _ = Rotation.align_vectors(targets[frame], points[frame], weights[frame])
        assert (best.inv() * scipy_rotation(turn)).magnitude() < 1e-6


def test_about_point_turns_no_more_than_it_must() -> None:
    """Points on one line leave the turn about that line open, and it is 0."""
    points = np.array([[[0, 1.0, 0], [0, 2, 0], [0, -1, 0]]])
    for turn in (Rotation.identity(), Rotation.from_rotvec([0, 0, 0.7]), Rotation.from_rotvec([2.5, 0, 0])):
        found = aim.about_point(points, turn.apply(points[0])[None], np.ones((1, 3)))[0]
        assert_allclose(scipy_rotation(found).as_rotvec(), turn.as_rotvec(), atol=1e-6)


@given(skeletons(kinds=("ball", "hinge"), detached=False), seeds)
def test_one_joints_limits_are_those_of_the_pose(skeleton: ik.Skeleton, seed: int) -> None:
    """`nearest` gives each joint the motion and the coordinates that `state` gives it."""
    space = JointSpace(skeleton, np.ones(len(skeleton), dtype=bool))
    pose = random_pose(skeleton, np.random.default_rng(seed), 3.0)
    state = space.state(pose)
    for block in space.blocks:
        joint = space.joint[block.start]
        motion, x = space.nearest(block, pose.rotations[None, joint])
        assert_allclose(x, state.x[:, block], atol=1e-12)
        assert_allclose(motion, state.rotations[:, joint], atol=1e-12)
