# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors that a solution reports are those of the pose that it returns: any chain, start, solver and entry point.

Chains have gaps, and starts turn slides, turn hinges off their axes and move balls along.
"""

from dataclasses import replace

import numpy as np
import pytest
from drawn import drawn
from measures import goal_errors, outside_limits
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import wxyz

import solvers as ik
from solvers.compiled import SOLVERS as COMPILED
from solvers.model.solution import Batch

PROBLEMS = 4  # of each solver
both_implementations = pytest.mark.parametrize(
    ("solver", "kernel"), [(name, False) for name in ik.SOLVERS] + [(name, True) for name in COMPILED]
)
STEPS = ("DLS", "PGS", "PINV", "SVD", "TSVD", "SDLS")


def any_pose(skeleton: ik.Skeleton, generator: np.random.Generator) -> ik.Pose:
    """A pose in which every joint turns and moves, whatever its kind."""
    count = len(skeleton)
    turns = 1.5 * generator.normal(size=(count, 3)) * generator.integers(0, 2, size=(count, 1))
    return ik.Pose(wxyz(Rotation.from_rotvec(turns)), 0.5 * generator.normal(size=(count, 3)))


def gapped(skeleton: ik.Skeleton, generator: np.random.Generator, solver: str) -> list[ik.Goal]:
    """Two to four goals whose chains leave joints out, as far as the solver can solve them."""
    goals: list[ik.Goal] = []
    for _ in range(int(generator.integers(2, 5))):
        joint, what = int(generator.integers(len(skeleton))), generator.integers(3)
        above = np.flatnonzero(skeleton.ancestors[joint])
        turns, places = what != 0 and solver != "FABRIK", what != 1 or solver in ("FABRIK", "TWO_BONE")
        goals.append(ik.Goal(
            joint, generator.normal(size=3) if places else None, generator.normal(size=4) if turns else None,
            offset=generator.normal(size=3) * generator.integers(2), priority=int(generator.integers(2)),
            chain=[int(j) for j in above if generator.integers(2)],
            pole=generator.normal(size=3) if generator.integers(4) == 0 else None,
        ))  # fmt: skip
    return goals


def problem(seed: int, solver: str) -> tuple[ik.Skeleton, list[ik.Goal], ik.Pose, ik.Options]:
    """A drawn skeleton with goals that the solver accepts, a start that no joint's kind restricts, and options."""
    for attempt in range(200):
        generator = np.random.default_rng((seed, attempt))
        told = drawn(int(generator.integers(2**31)), most=6)
        goals = gapped(told.skeleton, generator, solver)
        options = replace(told.options, iterations=int(generator.choice([0, 3, 30])))
        try:
            ik.prepare(told.skeleton, goals, solver, options)
        except ik.InvalidGoal:
            goals = goals[:1]
            try:
                ik.prepare(told.skeleton, goals, solver, options)
            except ik.InvalidGoal:
                continue
        return told.skeleton, goals, any_pose(told.skeleton, generator), options
    raise AssertionError("no problem that the solver accepts")


def assert_truthful(skeleton: ik.Skeleton, goals: list[ik.Goal], options: ik.Options, solution: ik.Solution) -> None:
    """Errors and `converged` are those of the pose, by SciPy."""
    measured = np.array([goal_errors(skeleton, solution.pose, goal) for goal in goals])
    size = 1.0 + np.abs([goal.position for goal in goals if goal.position is not None]).max(initial=skeleton.length)
    assert_allclose(solution.position_errors, measured[:, 0], rtol=1e-9, atol=1e-9 * size)
    # SciPy and the solvers measure angles near 0 and pi with half the digits
    assert_allclose(solution.rotation_errors, measured[:, 1], rtol=1e-9, atol=5e-8)
    weights = np.array([(goal.position_weight, goal.rotation_weight) for goal in goals])
    met = (measured <= (options.tolerance + 1e-9 * size, options.rotation_tolerance + 5e-8)) | (weights <= 0.0)
    assert not solution.converged or met.all()


def assert_allowed(skeleton: ik.Skeleton, goals: list[ik.Goal], pose: ik.Pose) -> None:
    """Joints that may move are inside their limits; no joint moves as its kind does not allow."""
    chains = {joint for goal in goals for joint in goal.chain}
    for joint, kind in enumerate(skeleton.kinds):
        turn, move, axis = pose.rotations[joint], pose.translations[joint], skeleton.axis[joint]
        if kind in ("fixed", "prismatic"):
            assert_allclose(np.abs(turn), [1, 0, 0, 0], atol=1e-12)
        if kind == "hinge":
            assert_allclose(np.cross(turn[1:], axis), 0, atol=1e-12)
        assert_allclose(move, axis * (move @ axis) * (kind == "prismatic"), atol=1e-12)
        if joint in chains and (skeleton.stiffness[joint] < 1.0 or skeleton.joints[joint].limits is not None):
            assert outside_limits(skeleton, pose, joint) < 1e-9


def prepared(
    skeleton: ik.Skeleton, goals: list[ik.Goal], solver: str, options: ik.Options, kernel: bool
) -> ik.Prepared:
    """A prepared solve by the kernel, if it has the solver, or by NumPy."""
    solve = ik.prepare(skeleton, goals, solver, options)
    if not kernel:
        solve.compiled = None
    return solve


def targets_of(goals: list[ik.Goal]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (G, 3) and rotations (G, 4) of goals."""
    places = [(0.0, 0.0, 0.0) if goal.position is None else goal.position for goal in goals]
    turns = [(1.0, 0.0, 0.0, 0.0) if goal.rotation is None else goal.rotation for goal in goals]
    return np.array(places), np.array(turns)


@both_implementations
def test_every_solver_reports_the_errors_of_the_pose_that_it_returns(solver: str, kernel: bool) -> None:
    """Solved afresh: a single frame, and a batch."""
    for seed in range(PROBLEMS):
        skeleton, goals, start, options = problem(seed, solver)
        solve = prepared(skeleton, goals, solver, options, kernel)
        places, turns = targets_of(goals)
        solution = solve(places, turns, start)
        assert_truthful(skeleton, goals, options, solution)
        assert_allowed(skeleton, goals, solution.pose)
        batch: Batch = solve.solve_batch(solve.targets(places[None], turns[None]), solve.start(start))
        assert_truthful(skeleton, goals, options, batch.solution(0, 0.0))


@both_implementations
def test_every_frame_of_a_motion_reports_the_errors_of_its_pose(solver: str, kernel: bool) -> None:
    """Solved from the frame before, of which the first begins at any pose, also at one given as the last answer."""
    for seed in range(PROBLEMS // 2):
        skeleton, goals, start, options = problem(seed + 1000, solver)
        solve, generator = prepared(skeleton, goals, solver, options, kernel), np.random.default_rng(seed)
        places, turns = targets_of(goals)
        motion, arrays = solve.motion(), solve.arrays()
        if seed % 2:
            motion.begin(any_pose(skeleton, generator))
        for _ in range(4):
            places = places + 0.05 * generator.normal(size=places.shape)
            arrays.ask(solve.targets_of_frame(places, turns), solve.start(start))
            motion.solve_into(arrays)
            moved = [
                goal if goal.position is None else replace(goal, position=place)
                for goal, place in zip(goals, places, strict=True)
            ]
            assert_truthful(skeleton, moved, options, arrays.solution(0, 0.0))
            assert_allowed(skeleton, goals, arrays.solution(0, 0.0).pose)


@pytest.mark.parametrize("solver", STEPS)
def test_tracking_reports_the_errors_of_its_poses(solver: str) -> None:
    """Every step of a tracker that begins at any pose."""
    for seed in range(PROBLEMS):
        skeleton, goals, start, options = problem(seed + 2000, solver)
        places, turns = targets_of(goals)
        tracker = ik.Tracker(skeleton, goals, solver, start, options)
        for dt in (0.0, 0.04, 0.04):
            solution = tracker.step(places, turns, dt)
            assert_truthful(skeleton, goals, options, solution)
            assert_allowed(skeleton, goals, solution.pose)


def arm_with_a_gap(seed: int) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """Three balls in a row, with a goal that may move the first only, and one that turns the second below it."""
    joints = [ik.Joint("a", -1, "ball", (0, 0, 0)), ik.Joint("b", 0, "ball", (0, 1, 0)),
              ik.Joint("c", 1, "ball", (0, 1, 0)), ik.Joint("hand", 2, "fixed", (0, 1, 0))]  # fmt: skip
    skeleton = ik.Skeleton(joints)
    angles = 0.5 * np.random.default_rng(seed).normal(size=9) * [1, 1, 1, 1, 1, 1, 0, 0, 0]
    reached = ik.forward(skeleton, ik.pose_from_angles(skeleton, angles))
    return skeleton, [
        ik.Goal(3, position=reached.positions[3], chain=[0]), ik.Goal(1, rotation=reached.rotations[1], chain=[1]),
    ]  # fmt: skip


@pytest.mark.parametrize("solver", ["PGS", "DLS", "SVD"])
def test_a_goal_is_met_although_another_turns_a_joint_in_the_gap_of_its_chain(solver: str) -> None:
    """Both goals are met in the pose that is returned, which one goal after the other cannot do."""
    for seed in range(3):
        skeleton, goals = arm_with_a_gap(seed)
        for kernel in (True, False):
            solution = prepared(skeleton, goals, solver, ik.Options(iterations=200), kernel)(*targets_of(goals))
            assert_truthful(skeleton, goals, ik.Options(), solution)
            assert solution.converged


@pytest.mark.parametrize("value", [np.array(1.0), np.array(3), np.array("a"), np.array(None), np.array(True)])
def test_arrays_without_an_axis_are_refused_like_any_other_value(value: np.ndarray) -> None:
    """Everywhere a list may stand, DQIK's own error says what is wrong."""
    skeleton, goals = arm_with_a_gap(0)
    for call in (
        lambda: ik.Skeleton(value), lambda: ik.solve(skeleton, value), lambda: ik.solve(skeleton, goals, value),
        lambda: ik.solve(skeleton, [ik.Goal("c", position=(0, 1, 1), chain=value)]),
        lambda: ik.solve_frames(skeleton, goals, value), lambda: ik.prepare(skeleton, goals)(value),
        lambda: ik.velocity_jacobian(value, skeleton.rest_pose(), "c"), lambda: ik.pose_from_angles(skeleton, value),
    ):  # fmt: skip
        with pytest.raises(ik.DqikError):
            call()
