# SPDX-License-Identifier: GPL-3.0-or-later
"""SQP: its two objectives and their gradients, its quadratic programs, its optima by SciPy, and Amino's arm."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from measures import EXACT, UPRIGHT, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.linalg import expm, logm
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons, vectors, wxyz
from standing import targets_of
from workload_suite import seven_joint_arm
from workloads import coordinates, targets

import solvers as ik
from solvers.group.starts import begin
from solvers.papers.objectives import Objective, screws, twist_jacobian_inverse
from solvers.papers.quadratic_program import QuadraticProgram, step
from solvers.papers.sqp import bfgs
from solvers.space.joint_space import JointSpace
from solvers.space.point import Point, Request

each_objective = pytest.mark.parametrize("objective", ["QV", "DQ"])
STEP = 1e-6


def placed(rotation: Rotation, position: np.ndarray) -> np.ndarray:
    """A transform (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation.as_matrix(), position
    return matrix


def hat(twist: np.ndarray) -> np.ndarray:
    """A twist `(v, u)` (6,) as a matrix (4, 4) of the Lie algebra."""
    x, y, z = twist[:3]
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], twist[3:]
    return matrix


def logarithm(transform: np.ndarray) -> np.ndarray:
    """The twist (6,) of a transform (4, 4), by SciPy's matrix logarithm."""
    matrix = logm(transform).real
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0], *matrix[:3, 3]])


# -- the objectives ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.0999, 0.1001, 1.0, 2.0, 3.1])
def test_the_screws_derivative_is_that_of_the_matrix_logarithm(angle: float) -> None:
    """Central differences of `log(exp(delta) exp(xi))`, on both sides of the series' threshold."""
    twist = np.array([*(angle * np.array([2.0, -1.0, 2.0]) / 3.0), 0.7, -0.4, 1.1])
    columns = [
        (logarithm(expm(hat(d)) @ expm(hat(twist))) - logarithm(expm(-hat(d)) @ expm(hat(twist)))) / 2e-5
        for d in 1e-5 * np.eye(6)
    ]
    assert_allclose(twist_jacobian_inverse(twist), np.transpose(columns), atol=1e-8)


def weighed(objective: str, act: np.ndarray, ref: np.ndarray, length: float) -> float:
    """Amino's measure of two transforms (4, 4) in units of a length, with a radian counted as a quarter of it."""
    if objective == "DQ":
        v, u = np.split(logarithm(np.linalg.inv(act) @ ref), 2)
    else:
        v, u = Rotation.from_matrix(act[:3, :3].T @ ref[:3, :3]).as_rotvec(), ref[:3, 3] - act[:3, 3]
    return float((0.25 * v) @ (0.25 * v) + (u @ u) / length**2)


@each_objective
@settings(max_examples=15)
@given(seed=seeds, turn=vectors, place=vectors)
def test_an_objective_is_aminos_by_scipy(objective: str, seed: int, turn: tuple, place: tuple) -> None:
    """Half of `f_dq` or `f_qv` of a bent chain's end and its target, in any pose."""
    skeleton, generator = chain(4), np.random.default_rng(seed)
    pose = random_pose(skeleton, generator)
    target = Rotation.from_rotvec(np.array(turn) * 1.7)
    goal = ik.Goal(3, 3.0 * np.array(place), wxyz(target), offset=(0.3, 0.2, -0.1))
    world = ik.forward(skeleton, pose)
    own = scipy_rotation(world.rotations[3])
    assume((own.inv() * target).magnitude() < 3.0)
    measure, point, frames = standing(skeleton, [goal], pose, objective)
    frames.targets = frames.targets._replace(positions=np.array([[goal.position]]))  # out of reach it would be drawn in
    point.error = measure.tasks.errors(point.kinematics, frames.targets)
    act = placed(own, world.positions[3] + own.apply(goal.offset))
    expected = weighed(objective, act, placed(target, goal.position), skeleton.length)
    assert_allclose(2.0 * measure.value(point, frames)[0], expected, rtol=1e-6, atol=1e-12)


def standing(
    skeleton: ik.Skeleton, goals: list[ik.Goal], pose: ik.Pose, objective: str, pull: float | None = None
) -> tuple[Objective, Point, Request]:
    """The objective of a solve from rest, and a pose inside the limits at which to evaluate it."""
    prepared = ik.prepare(skeleton, goals, "SQP", ik.Options(objective=objective, pull=pull))
    stage = prepared.stages[0]
    targets = targets_of(goals).of_goals(stage.indices)
    point, frames = begin(stage, prepared.start(pose), prepared.start(None), targets)
    return Objective(stage.tasks, stage.space, stage.settings), point, frames


@each_objective
@settings(max_examples=20)
@given(skeleton=skeletons(), seed=seeds, pull=st.sampled_from([0.0, 0.3]))
def test_a_gradient_is_that_of_differences(objective: str, skeleton: ik.Skeleton, seed: int, pull: float) -> None:
    """On any skeleton, with any weights, priorities and poles, in and out of reach, with and without a pull."""
    generator = np.random.default_rng(seed)
    goals = [
        ik.Goal(
            int(generator.integers(len(skeleton))), generator.normal(size=3) if what != 1 else None,
            generator.normal(size=4) if what != 0 else None, offset=generator.normal(size=3),
            position_weight=generator.choice([0.0, 0.5, 2.0]), rotation_weight=generator.choice([0.0, 0.5, 2.0]),
            priority=int(generator.integers(2)), pole=generator.normal(size=3) if generator.integers(2) else None,
        )
        for what in generator.integers(4, size=generator.integers(1, 4))
    ]  # fmt: skip
    measure, point, frames = standing(skeleton, goals, random_pose(skeleton, generator, 1.5), objective, pull)
    tasks, space = measure.tasks, measure.space
    # the logarithm, and a pole's angle, jump at a half turn
    assume((tasks.report(point.kinematics, frames.targets)[1] < 3.0).all())
    assume((np.linalg.norm(space.difference(point.state, frames.base).reshape(-1)[:, None], axis=-1) < 2.9).all())
    assume(not tasks.poles or (np.abs(point.error[:, tasks.m :]) < 0.05 * 2.9).all())

    def value(d: np.ndarray) -> float:
        state = space.step(point.state, d[None])
        kinematics = tasks.kinematics(state, frames.links)
        return measure.value(Point(state, kinematics, tasks.errors(kinematics, frames.targets)), frames)[0]

    found, _ = measure.derivatives(point, frames)
    differences = [(value(d) - value(-d)) / (2 * STEP) for d in STEP * np.eye(space.n)]
    assert_allclose(found[0], differences, rtol=1e-5, atol=1e-6 * max(1.0, value(np.zeros(space.n))))


def test_goals_with_one_part_alone_keep_their_rows() -> None:
    """Screws apply to goals with position and rotation, not to one of them alone or to a part with weight 0."""
    skeleton = chain(4)
    goals = [
        ik.Goal(3, (1, 1, 1)), ik.Goal(2, rotation=(0.6, 0.8, 0, 0)), ik.Goal(3, (1, 0, 2), UPRIGHT, rotation_weight=0),
        ik.Goal(1, (1, 0, 1), (0.6, 0, 0.8, 0)),
    ]  # fmt: skip
    measure, point, frames = standing(skeleton, goals, random_pose(skeleton, np.random.default_rng(0)), "DQ")
    error, _ = screws(measure.tasks, point.error, None, frames.targets.shares)
    changed = np.abs(error - point.error)[0].reshape(-1, 3).max(-1) > 1e-9
    # rows are the places of goals 0, 2, 3, then the orientations of goals 1, 2, 3; a screw's turn is the pose's
    assert changed.tolist() == [False, False, True, False, False, False]


# -- the Hessian and the quadratic program ----------------------------------------------------------------------------


def test_a_learnt_hessian_has_seen_the_step_and_stays_positive_definite() -> None:
    """`B d = y` if the gradient's change has enough curvature; otherwise `d B d` is a fifth of its former value."""
    generator = np.random.default_rng(0)
    root = generator.normal(size=(50, 6, 6))
    hessian = root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(6)
    d = generator.normal(size=(50, 6))
    y = (hessian @ d[..., None])[..., 0] + 15.0 * generator.normal(size=(50, 6))
    learnt = bfgs(hessian, d, y)
    assert (np.linalg.eigvalsh(learnt) > 0.0).all()
    before = np.einsum("fi,fij,fj->f", d, hessian, d)
    seen, kept = (d * y).sum(-1), np.einsum("fi,fij,fj->f", d, learnt, d)
    curved = seen > 0.2 * before
    assert 5 < curved.sum() < 45, "both cases are here"
    assert_allclose((learnt @ d[..., None])[curved, :, 0], y[curved], atol=1e-9)
    assert_allclose(kept[~curved], 0.2 * before[~curved])
    assert (bfgs(hessian, 0.0 * d, y) == hessian).all()


def program(skeleton: ik.Skeleton, frames: int, spread: float) -> QuadraticProgram:
    """Random programs, some nearly singular, at coordinates of which some are on a limit."""
    space: JointSpace = ik.prepare(skeleton, [ik.Goal(len(skeleton) - 1, position=(0, 0, 0))]).stages[0].space
    generator = np.random.default_rng(0)
    jacobian = generator.normal(size=(frames, 6, space.n))
    least = 10.0 ** generator.uniform(-6, 0, frames)
    hessian = np.swapaxes(jacobian, -1, -2) @ jacobian + least[:, None, None] * np.eye(space.n)
    x = space.project(generator.uniform(-0.5, 0.6, (frames, space.n)))
    gradient = spread * generator.normal(size=(frames, space.n))
    return QuadraticProgram(space, x, gradient, hessian, generator.choice([1.0, 2.0, 4.0], len(skeleton))[space.joint])


@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_a_program_on_a_box_is_solved_exactly(spread: float) -> None:
    """No descent direction stays inside, as at any convex minimum, and SciPy's bounded solver is no lower."""
    problem = program(chain(9, kind="hinge", axis=(1, 0, 0), limits=ik.Range(-0.3, 0.4)), 30, spread)
    d = step(problem)
    x = problem.x + d
    assert_allclose(np.clip(x + problem.descent(d), -0.3, 0.4), x, atol=1e-9)
    for frame, value in enumerate(problem.value(d)):
        root = np.linalg.cholesky(problem.hessian[frame])
        bounds = -0.3 - problem.x[frame] - 1e-12, 0.4 - problem.x[frame] + 1e-12
        other = lsq_linear(root.T, -np.linalg.solve(root, problem.gradient[frame]), bounds, "bvls", tol=1e-14).x
        assert value <= (1 - 1e-9) * (problem.gradient[frame] @ other + 0.5 * other @ problem.hessian[frame] @ other)


def test_a_program_on_swing_ellipses_is_solved_nearly() -> None:
    """Against thousands of steps of accelerated gradient projection, on hard programs with most limits active."""
    limits = ik.TwistSwing((-0.3, 0.4), (-0.3, 0.5), (-0.2, 0.4))
    problem = program(chain(4, limits=limits), 20, 3.0)
    pace = 1.0 / np.linalg.eigvalsh(problem.hessian)[:, -1:]
    best = ahead = np.zeros_like(problem.x)
    for count in range(2000):
        new = problem.inside(ahead + pace * problem.descent(ahead))
        best, ahead = new, new + count / (count + 3.0) * (new - best)
    d = step(problem)
    assert_allclose(problem.space.project(problem.x + d), problem.x + d, atol=1e-12)
    reached = problem.value(d) / problem.value(best)
    assert reached.min() > 0.95
    assert np.median(reached) > 1 - 1e-6


# -- the optimum ------------------------------------------------------------------------------------------------------

REACH = chain(6, kind="hinge", axis=(1, 0, 0), limits=ik.Range(-0.5, 0.6))
TWISTED = ik.Skeleton([replace(joint, axis=((1, 0, 0), (0, 0, 1), (0, 1, 0))[i % 3])
                       for i, joint in enumerate(REACH.joints)])  # fmt: skip


def measured(objective: str, goal: ik.Goal, q: np.ndarray) -> float:
    """Amino's measure of the twisted chain's end at angles (6,), by SciPy."""
    pose = ik.Pose(wxyz(Rotation.from_rotvec(q[:, None] * TWISTED.axis)), np.zeros((6, 3)))
    world = ik.forward(TWISTED, pose)
    own = scipy_rotation(world.rotations[5])
    act = placed(own, world.positions[5] + own.apply(goal.offset))
    return weighed(objective, act, placed(scipy_rotation(np.array(goal.rotation)), goal.position), TWISTED.length)


def test_the_optimum_is_scipys() -> None:
    """SciPy, starting from the answer, finds no better pose inside the limits; the two objectives have different
    optima."""
    apart = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        place = np.array((0, 3, 0)) + generator.uniform(-1.5, 1.5, 3)
        goal = ik.Goal(5, place, generator.normal(size=4), offset=(0, 1, 0))
        values: dict[str, float] = {}
        for objective in ("QV", "DQ"):
            options = ik.Options(iterations=200, objective=objective, restarts=8)
            pose = ik.solve(TWISTED, [goal], solver="SQP", options=options).pose
            q = 2 * np.arctan2((pose.rotations[:, 1:] * TWISTED.axis).sum(-1), pose.rotations[:, 0])
            best = minimize(
                partial(measured, objective, goal), q, method="L-BFGS-B", bounds=[(-0.5, 0.6)] * 6,
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000},
            )  # fmt: skip
            assert measured(objective, goal, q) <= best.fun * (1 + 1e-4)
            assert (np.isclose(q, -0.5) | np.isclose(q, 0.6)).any()
            values[objective] = measured("DQ", goal, q)
        apart.append(values["QV"] / values["DQ"])
    assert max(apart) > 1.005


# -- a robot's arm ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("objective", "count"), [("QV", 60), ("DQ", 20)])
def test_restarts_meet_every_target_of_a_robots_arm(objective: str, count: int) -> None:
    """99 % of reachable poses, from random ones, to a millimetre and a hundredth of a radian, inside the limits."""
    options = ik.Options(objective=objective, tolerance=1e-3, rotation_tolerance=1e-2, restarts=20)
    (skeleton, [goal]), generator = seven_joint_arm(wide=False), np.random.default_rng(3)
    places, turns = targets(skeleton, [goal], coordinates(skeleton, generator, count))
    prepared = ik.prepare(skeleton, [goal], "SQP", options)
    start = ik.pose_from_angles(skeleton, coordinates(skeleton, generator, count))
    found = prepared.solve_batch(prepared.targets(places, turns), start)
    met = 0
    for frame in range(count):
        pose = ik.Pose(found.rotations[frame], found.translations[frame])
        asked = replace(goal, position=places[frame, 0], rotation=turns[frame, 0])
        away, turn = goal_errors(skeleton, pose, asked)
        met += away < 1e-3 and turn < 1e-2
        assert max(outside_limits(skeleton, pose, joint) for joint in range(7)) <= EXACT
    assert met >= 0.99 * count


# -- promises ---------------------------------------------------------------------------------------------------------


def test_places_alone_have_one_objective() -> None:
    skeleton, goal = chain(5), ik.Goal(4, (1.5, 2.0, 1.0))
    poses = [ik.solve(skeleton, [goal], None, "SQP", ik.Options(objective=name)).pose for name in ("QV", "DQ")]
    assert turned_by(*poses).max() == 0.0
