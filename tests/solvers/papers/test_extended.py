# SPDX-License-Identifier: GPL-3.0-or-later
"""EXTENDED: the published matrix, the rows of pairs in space, their rank, and steps from a straight chain."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import planar
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from measures import effector, turned_by
from numpy.testing import assert_allclose
from scipy.linalg import lstsq, null_space
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons
from standing import pose_of
from standing import standing as problem_at

import solvers as ik
from solvers.iterate.descent import Settings
from solvers.iterate.linear_step import LinearSystem
from solvers.model.goals import Targets
from solvers.papers import extended
from solvers.space.joint_space import JointSpace
from solvers.space.point import Point
from solvers.space.tasks import ROTATION_LENGTH, Tasks

LENGTHS = np.array([90.0, 60, 90, 150, 150, 90])  # the paper's
STEP = 1e-6

# -- in space ----------------------------------------------------------------------------------------------------------


def planar_arm() -> ik.Skeleton:
    """The paper's chain as hinges about Z."""
    offsets = np.append(0.0, LENGTHS[:-1])
    return ik.Skeleton([ik.Joint(f"q{i}", i - 1, "hinge", (x, 0, 0), axis=(0, 0, 1)) for i, x in enumerate(offsets)])


@dataclass
class Standing:
    """The goals of a skeleton, and the point of a pose."""

    tasks: Tasks
    space: JointSpace
    point: Point
    pairs: extended.Pairs


def standing(skeleton: ik.Skeleton, goals: list[ik.Goal], pose: ik.Pose | None = None) -> Standing:
    """The point of a pose, or of the rest pose."""
    tasks, space, point, _ = problem_at(skeleton, goals, pose or skeleton.rest_pose())
    return Standing(tasks, space, point, extended.Pairs(tasks, space))


def dense(at: Standing) -> np.ndarray:
    """`E` (R, 3, n)."""
    pairs = at.pairs
    rows = np.zeros((len(pairs.dofs), 3, at.space.n))
    for row, block in enumerate(pairs.rows(at.point.state, at.point.kinematics)[0]):
        rows[row][:, pairs.dofs[row][pairs.inside[row]]] = block[pairs.inside[row]].T
    return rows


def test_the_rows_of_a_planar_chain_are_the_published_ones() -> None:
    """The rows of positions, turned into the frame of each pair, without those of the root's pair with the ground."""
    skeleton = planar_arm()
    angles = np.random.default_rng(2).uniform(-2, 2, 6)
    pose = skeleton.rest_pose()
    pose.rotations[:, 0], pose.rotations[:, 3] = np.cos(angles / 2), np.sin(angles / 2)
    at = standing(skeleton, [ik.Goal(5, (0, 0, 0), offset=(90, 0, 0))], pose)
    ends = dict(zip(at.pairs.joints[:6], dense(at)[:6] * skeleton.length, strict=True))  # by a pair's second joint
    expected = planar.jacobian(LENGTHS, angles)
    for i, carried in enumerate((np.cumsum(angles) - angles)[:-1]):
        turn = np.array([[np.cos(carried), np.sin(carried)], [-np.sin(carried), np.cos(carried)]])
        assert_allclose(turn @ ends[i + 1][:2], expected[[i, i + 5]], atol=1e-9)
    assert_allclose([row[2] for row in ends.values()], 0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(skeletons(most=5, limited=False), seeds)
def test_the_rows_are_the_derivatives_of_relative_transforms(skeleton: ik.Skeleton, seed: int) -> None:
    """Derivatives of the end and the rotation of a pair's second segment, in the frame that carries the pair."""
    generator = np.random.default_rng(seed)
    joint, pose = len(skeleton) - 1, random_pose(skeleton, generator)
    pose.translations[skeleton.stiffness == 1.0] = 0.0  # a solve takes the slides that it cannot move for links
    goal = ik.Goal(joint, generator.normal(size=3), offset=generator.normal(size=3))
    at = standing(skeleton, [goal], pose)
    space, state, rows = at.space, at.point.state, dense(at)
    path = [j for j in skeleton.order if j in space.joint]
    start = pose_of(space, state, pose)
    steps = STEP * np.concatenate([np.eye(space.n), -np.eye(space.n)])
    poses = [pose_of(space, space.step(state, step[None]), start) for step in steps]
    seen = [Seen(skeleton, pose, effector(skeleton, pose, joint, goal.offset)) for pose in [start, *poses]]
    for place, second in enumerate(path):
        first = path[max(place - 1, 0)]
        below = path[place + 1] if place + 1 < len(path) else None
        ends, turns = rows[at.pairs.joints == second]
        moved = [view.pair(first, second, below) for view in seen[1:]]
        frame = seen[0].carrier(first)
        # what is above turns the ends of a pair against its carrier where a joint does not inherit rotation
        counted = [first, second] if skeleton.detached else np.flatnonzero(skeleton.ancestors[second])
        for k in np.flatnonzero(np.isin(space.joint, counted)):
            (plus, turned), (minus, back) = moved[k], moved[k + space.n]
            assert_allclose(ends[:, k], frame.apply(plus - minus) / (2 * STEP * skeleton.length), atol=1e-6)
            turn = frame.apply((turned * back.inv()).as_rotvec()) / (2 * STEP)
            assert_allclose(turns[:, k], ROTATION_LENGTH * turn, atol=1e-6)


class Seen:
    """A pose by SciPy, with the effector's position."""

    def __init__(self, skeleton: ik.Skeleton, pose: ik.Pose, tip: np.ndarray) -> None:
        self.pose, self.tip, world = pose, tip, ik.forward(skeleton, pose)
        self.positions, self.turned = world.positions, scipy_rotation(world.rotations)

    def carrier(self, joint: int) -> Rotation:
        """The rotation of the frame that carries a joint."""
        return self.turned[joint] * scipy_rotation(self.pose.rotations[joint]).inv()

    def pair(self, first: int, second: int, below: int | None) -> tuple[np.ndarray, Rotation]:
        """The end and the rotation of the second joint's segment, in the frame that carries the first joint."""
        frame = self.carrier(first).inv()
        base = self.positions[first] - self.carrier(first).apply(self.pose.translations[first])
        end = self.tip if below is None else self.positions[below]
        return frame.apply(end - base), frame * self.turned[second]


@settings(max_examples=30, deadline=None)
@given(skeletons(), seeds, st.sampled_from([0.0, 1.0]))
def test_the_rows_alone_have_full_rank(skeleton: ik.Skeleton, seed: int, bent: float) -> None:
    """In any pose of any tree with detached and limited joints: straight, folded, or with all joints in one place."""
    generator = np.random.default_rng(seed)
    goals = [ik.Goal(joint, (0, 0, 0)) for joint in range(len(skeleton))]
    at = standing(skeleton, goals, random_pose(skeleton, generator, bent))
    assume(at.space.n)
    rows = np.concatenate(dense(at)) * np.where(at.space.turns, 1.0, skeleton.length)
    assert np.linalg.matrix_rank(rows, tol=1e-6) == at.space.n


def linear(at: Standing, error: np.ndarray, mu: float, reluctance: np.ndarray | None = None) -> LinearSystem:
    """The linear problem of a step for an error (m,), damped by pairs."""
    space, rest = at.space, np.tile([1.0, 0, 0, 0], (1, at.tasks.count, 1))
    targets = Targets(np.zeros((1, at.tasks.count, 3)), rest, rest[..., 1:])
    reluctance = np.ones(space.n) if reluctance is None else reluctance
    set_up = Settings(1, 0.0, 0.0, None, mu, 0.0, 0.0, reluctance, reluctance, ik.Options())
    jacobian = at.tasks.jacobian(at.point.state, at.point.kinematics, targets)
    return LinearSystem(
        space, at.point.state.x, jacobian, error[None], None, np.array([mu]), reluctance,
        metric=extended.Extension(at.tasks, space, set_up).metric(at.point),
    )  # fmt: skip


def stacked(at: Standing, system: LinearSystem) -> tuple[np.ndarray, np.ndarray]:
    """The rows of goals, pairs and stiff joints, one below the other, and their right-hand side."""
    weight = np.sqrt(system.damping[0])
    stiff = np.diag(np.sqrt(system.reluctance - 1.0))
    rows = np.concatenate([system.jacobian[0], weight * np.concatenate(dense(at)), weight * stiff])
    return rows, np.append(system.error[0], np.zeros(len(rows) - len(system.error[0])))


def test_a_step_is_the_least_squares_answer_of_all_rows() -> None:
    """It equals SciPy's, with stiff joints, with all joints free and with some held.

    Pairs that step as springs ask for `E d*`, `d*` the turns of springs by a force at the effector.
    """
    generator = np.random.default_rng(3)
    skeleton = chain(5)
    at = standing(skeleton, [ik.Goal(4, (0, 0, 0), offset=(0, 1, 0))], random_pose(skeleton, generator))
    system = linear(at, generator.normal(size=3), 0.02, generator.uniform(1, 5, 15))
    rows, wanted = stacked(at, system)
    assert_allclose(extended.pair_step(system)[0], lstsq(rows, wanted)[0], rtol=1e-6, atol=1e-9)
    free = np.arange(15) % 4 != 0
    fixed = np.where(free, 0.0, 0.1)
    found = extended.pair_step(system, free[None], None, fixed[None])[0]
    assert_allclose(found[free], lstsq(rows[:, free], wanted - rows @ fixed)[0], rtol=1e-6, atol=1e-9)
    assert_allclose(found[~free], 0.1)
    compliance = system.jacobian[0] @ np.diag(1.0 / system.reluctance) @ system.jacobian[0].T
    moved = compliance @ system.error[0]
    springs = system.jacobian[0].T @ system.error[0] / system.reluctance
    shape = rows[3:] @ springs
    wanted[3:] = shape * (system.error[0] @ moved) / (moved @ moved + shape @ shape)
    assert_allclose(extended.pair_step(system, springs=True)[0], lstsq(rows, wanted)[0], rtol=1e-6, atol=1e-9)


def test_a_step_along_an_ellipse_stays_on_its_tangent() -> None:
    """It equals SciPy's answer on the tangent."""
    skeleton = chain(3, limits=ik.TwistSwing((-1, 1), (-1, 1), (-1, 1)))
    at = standing(skeleton, [ik.Goal(2, (0, 0, 0), offset=(0, 1, 0))], random_pose(skeleton, np.random.default_rng(4)))
    system = linear(at, np.array([0.2, -0.1, 0.3]), 0.1)
    normals = np.zeros((1, 3, 2))
    normals[0, 1] = (0.6, 0.8)
    across = np.zeros(9)
    across[at.space.pairs[1]] = (0.6, 0.8)
    found = extended.pair_step(system, np.ones((1, 9), dtype=bool), normals, np.zeros((1, 9)))[0]
    rows, wanted = stacked(at, system)
    basis = null_space(across[None])
    assert_allclose(found, basis @ lstsq(rows @ basis, wanted)[0], rtol=1e-6, atol=1e-9)


def test_led_round_the_ellipse_from_straight_the_chain_follows_without_a_jump() -> None:
    """The paper's test, solved for each target: no joint turns by more than 12 degrees from one target to the next."""
    turn = 2 * np.pi * np.arange(1, 201) / 200
    places = np.stack([400 * np.cos(turn) + 230, 50 * np.sin(turn), 0 * turn], -1)[:, None]
    skeleton, goal = planar_arm(), ik.Goal(5, (0, 0, 0), offset=(90, 0, 0))
    found = ik.solve_frames(skeleton, [goal], places, None, None, "EXTENDED", ik.Options(tolerance=0.1))
    assert all(solution.converged for solution in found)
    poses = [skeleton.rest_pose(), *(solution.pose for solution in found)]
    assert max(turned_by(a, b).max() for a, b in pairwise(poses)) < np.radians(12)


def test_springs_share_a_motion_by_their_stiffness_and_meet_the_goal() -> None:
    """A joint of a stiffer spring turns less than with a soft one, and the chain bends otherwise than with pairs."""
    turned = []
    for stiffness in (0.0, 0.5, 0.9):
        joints = [ik.Joint(f"{i}", i - 1, "ball", (0, min(i, 1), 0), stiffness=stiffness * (i == 1)) for i in range(5)]
        goal, options = ik.Goal(4, position=(1.5, 2.5, 0.2)), ik.Options(extension="SPRINGS")
        found = ik.solve(ik.Skeleton(joints), [goal], solver="EXTENDED", options=options)
        assert found.converged
        turned.append(turned_by(ik.Skeleton(joints).rest_pose(), found.pose))
    assert turned[0][1] > turned[1][1] > turned[2][1]
    kept = ik.solve(ik.Skeleton(joints), [goal], solver="EXTENDED")
    assert np.abs(turned[2] - turned_by(ik.Skeleton(joints).rest_pose(), kept.pose)).max() > 1e-3
