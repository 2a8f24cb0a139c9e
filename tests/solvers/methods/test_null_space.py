# SPDX-License-Identifier: GPL-3.0-or-later
"""Null-space control: poses move toward the start or the middle of the limits, while all goals stay met."""

from functools import cache

import numpy as np
import pytest
from measures import EXACT, outside_limits, turned_by
from numpy.testing import assert_allclose
from planar_arm import AT, RELUCTANCE, angles_about_x, nearest, planar_arm, tip, turned_about_x
from skeletons import arm, chain, random_pose

import solvers as ik
from solvers.iterate.linear_step import LinearSystem
from solvers.papers import pinv, sdls, svd, transpose, tsvd

STEPS = {"PINV": pinv.step, "SVD": svd.step, "TSVD": tsvd.step, "SDLS": sdls.step, "TRANSPOSE": transpose.step}
JACOBIAN = ["PGS", "DLS", *STEPS, "ALTERNATIVE", "EXTENDED", "NEWTON", "BROYDEN", "SQP"]
LESS = ["GAUSS_SEIDEL"]  # follow the pull from the start pose, but not always to the nearest pose
BY_JOINT = ["CCD", "FABRIK", "TWO_BONE"]  # know no pull: damped steps follow them
PULL = 1e-4
LINKS, REACHES = 6, 6
LIMITS = ik.TwistSwing(twist=(-1, 1), swing_x=(-0.2, 1.2), swing_z=(-1, 1))
MIDDLE = 0.5  # [rad] the middle of the limits in X, and 0 in the others

each_solver = pytest.mark.parametrize("solver", JACOBIAN)
each_bias = pytest.mark.parametrize("bias", ["START", "MIDDLE"])


def away(pose: ik.Pose, other: ik.Pose) -> float:
    """The distance of two poses [rad]."""
    return float(np.linalg.norm(turned_by(pose, other)))


@cache
def reaches() -> tuple:
    """A chain of limited balls, a start, and targets within its reach (REACHES, 3)."""
    skeleton = chain(LINKS, limits=LIMITS)
    generator = np.random.default_rng(3)
    space = ik.prepare(skeleton, [ik.Goal(LINKS - 1, (0, 0, 0))]).stages[0].space
    poses = [space.state(random_pose(skeleton, generator, 0.4)) for _ in range(REACHES)]
    places = [ik.forward(skeleton, ik.Pose(s.rotations[0], np.zeros((LINKS, 3)))).positions[-1] for s in poses]
    return skeleton, turned_about_x(skeleton, 0.3), np.array(places)


@cache
def reach(solver: str, which: int, pull: float | None = None, bias: str = "START") -> ik.Solution:
    """Solve one of the reaches."""
    skeleton, start, places = reaches()
    options = ik.Options(iterations=400, tolerance=1e-3, pull=pull, bias=bias)
    return ik.solve(skeleton, [ik.Goal(LINKS - 1, places[which])], start, solver, options)


# -- what every Jacobian solver keeps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", LESS)
def test_the_pull_brings_poses_nearer_to_their_start_in_solvers_that_follow_it_less(solver: str) -> None:
    """Goals are met as before, and the poses are nearer on average."""
    _, start, _ = reaches()
    led, free = ([reach(solver, which, pull) for which in range(REACHES // 2)] for pull in (PULL, 0.0))
    assert all(mine.converged or not other.converged for mine, other in zip(led, free, strict=True))
    with_pull, without = (np.mean([away(found.pose, start) for found in answers]) for answers in (led, free))
    assert with_pull < without


def test_each_solver_is_in_one_of_the_lists() -> None:
    assert sorted([*JACOBIAN, *LESS, *BY_JOINT]) == sorted(ik.SOLVERS)


@pytest.mark.compiled
@pytest.mark.parametrize("solver", ["CCD", "FABRIK"])
@pytest.mark.parametrize("limits", [None, LIMITS], ids=["free", "limited"])
def test_sweeps_are_followed_by_steps_to_the_nearest_pose(solver: str, limits: ik.TwistSwing | None) -> None:
    """Where the goal is met the pose is as near to the start as PGS's, and the goal is met as precisely as before."""
    _, start, places = reaches()
    skeleton, met = chain(LINKS, limits=limits), 0
    for place in places:
        found, free, nearest = (
            ik.solve(skeleton, [ik.Goal(LINKS - 1, place)], start, name, ik.Options(iterations=400, pull=pull))
            for name, pull in ((solver, PULL), (solver, 0.0), ("PGS", PULL))
        )
        if free.converged and found.converged:
            met += 1
            assert away(found.pose, start) < 1.02 * away(nearest.pose, start)
            assert away(found.pose, start) < away(free.pose, start)
            assert max(outside_limits(skeleton, found.pose, joint) for joint in range(LINKS)) < EXACT
    assert met >= 4


@pytest.mark.parametrize("bias", ["START", "MIDDLE"])
def test_a_two_bone_limb_is_turned_about_its_line_to_the_nearest_pose(bias: str) -> None:
    """The law of cosines chooses a side for the elbow; of all sides the nearest one to the base pose is taken."""
    skeleton = arm(elbow=ik.Range(0.0, 2.4))
    start = ik.Pose(np.array([[0.9, 0.1, 0.4, -0.2], [np.cos(0.3), np.sin(0.3), 0, 0], [1, 0, 0, 0]]), np.zeros((3, 3)))
    goal = ik.Goal("hand", (0.8, 0.9, 0.5))
    base = ik.Pose(start.rotations.copy(), start.translations)
    if bias == "MIDDLE":
        base.rotations[1] = (np.cos(0.6), np.sin(0.6), 0, 0)
    found, nearest = (
        ik.solve(skeleton, [goal], start, name, ik.Options(pull=PULL, bias=bias)) for name in ("TWO_BONE", "PGS")
    )
    assert found.converged
    assert found.position_errors[0] < 1e-7
    assert away(found.pose, base) < 1.001 * away(nearest.pose, base)


def test_mikumikudances_rule_is_left_as_it_is() -> None:
    """Its loops prescribe the pose, and nothing follows them."""
    _, start, places = reaches()
    skeleton = chain(LINKS)
    led, left = (
        ik.solve(skeleton, [ik.Goal(LINKS - 1, places[0])], start, "CCD", ik.Options(pull=pull, unit_angle=0.5))
        for pull in (PULL, 0.0)
    )
    assert (led.pose.rotations == left.pose.rotations).all()


@pytest.mark.parametrize("solver", BY_JOINT)
def test_the_strength_of_the_pull_does_not_matter_to_solvers_that_turn_joint_by_joint(solver: str) -> None:
    """A weak and a strong pull give one pose, and its goal is met."""
    skeleton = arm(elbow=ik.Range(-2, 2), preferred=(0.4, 0, 0))
    goal = ik.Goal(2, ik.forward(skeleton, turned_about_x(skeleton, np.array([-0.3, 0.8, 0]))).positions[2])
    weak, strong = (ik.solve(skeleton, [goal], solver=solver, options=ik.Options(pull=p)) for p in (1e-6, 1e-1))
    assert weak.converged
    assert strong.converged
    assert_allclose(weak.pose.rotations, strong.pose.rotations, atol=1e-12)


@each_bias
@each_solver
def test_the_solvers_agree_on_the_nearest_pose(solver: str, bias: str) -> None:
    """The pull leads all solvers to nearly the same pose; limits may keep one of them at another pose nearby."""
    skeleton, start, _ = reaches()
    wished = start if bias == "START" else turned_about_x(skeleton, MIDDLE)
    ours, theirs = ([reach(name, which, PULL, bias).pose for which in range(REACHES)] for name in (solver, "PGS"))
    for mine, other in zip(ours, theirs, strict=True):
        assert away(mine, wished) < 1.1 * away(other, wished)
    assert np.median([turned_by(mine, other).max() for mine, other in zip(ours, theirs, strict=True)]) < 0.02


@each_solver
def test_a_stiffer_joint_moves_less(solver: str) -> None:
    """The third joint of a chain with three stiffnesses; the other joints make up for it."""
    moved = []
    for stiffness in (0.0, 0.5, 0.9):
        joints = [
            ik.Joint(f"joint {i}", i - 1, "ball", (0, 1.0 * (i > 0), 0), stiffness=stiffness * (i == 2))
            for i in range(LINKS)
        ]
        skeleton = ik.Skeleton(joints)
        start = turned_about_x(skeleton, 0.15)
        goal = ik.Goal(LINKS - 1, (1.0, 3.0, 1.5))
        solution = ik.solve(skeleton, [goal], start, solver, ik.Options(iterations=100, pull=PULL))
        assert solution.converged
        moved.append(turned_by(start, solution.pose)[2])
    assert moved[1] < 0.5 * moved[0]
    assert moved[2] < 0.1 * moved[0]


@each_solver
def test_a_preferred_angle_is_kept_where_there_is_freedom(solver: str) -> None:
    """For a target that the limb meets when bent as it prefers, it bends so from a straight start.

    A straight limb could also lean or, with the other sign, bend to the other side.
    """
    bend = 0.4
    for preferred in (bend, -bend):
        skeleton = arm(elbow=ik.Range(-2, 2), preferred=(preferred, 0, 0))
        bent = turned_about_x(skeleton, np.array([-0.5 * preferred, preferred, 0]))
        goal = ik.Goal(2, ik.forward(skeleton, bent).positions[2])
        for bias in ("START", "MIDDLE"):  # the middle of the limits is straight as well
            solution = ik.solve(skeleton, [goal], solver=solver, options=ik.Options(iterations=100, bias=bias))
            assert solution.converged
            angle = 2 * np.arctan2(solution.pose.rotations[1, 1], solution.pose.rotations[1, 0])
            assert angle == pytest.approx(preferred, abs=0.02)


@each_solver
def test_a_bias_without_a_pull_has_one(solver: str) -> None:
    """`bias` "MIDDLE" alone switches the default pull on."""
    wished = turned_about_x(reaches()[0], MIDDLE)
    led, free = (
        np.mean([away(reach(solver, which, None, bias).pose, wished) for which in range(REACHES)])
        for bias in ("MIDDLE", "START")
    )
    assert led < 0.98 * free


# -- against the mathematics -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_what_the_pull_adds_to_a_step_does_not_move_the_effectors(name: str) -> None:
    """`J (d_with - d_without) = 0`, and in the other directions the step goes all the way back to the base pose.

    The way back is `w` where the gradient is `pull D w`; Parent's `(I - J^+ J)` in the metric `D`, by NumPy's pinv.
    """
    skeleton = chain(5)
    space = ik.prepare(skeleton, [ik.Goal(4, position=(0, 0, 0))]).stages[0].space
    generator = np.random.default_rng(0)
    jacobian, error = generator.normal(size=(4, 6, space.n)), 0.1 * generator.normal(size=(4, 6))
    back, metric = generator.normal(size=(4, space.n)), generator.uniform(1, 4, space.n)
    nothing, x = np.zeros(4), np.zeros((4, space.n))
    plain = STEPS[name](LinearSystem(space, x, jacobian, error, None, nothing, metric, PULL))
    led = STEPS[name](LinearSystem(space, x, jacobian, error, -PULL * metric * back, nothing, metric, PULL))
    assert_allclose((jacobian @ (led - plain)[..., None])[..., 0], 0.0, atol=1e-9)
    root = np.sqrt(metric)
    for frame in range(4):
        scaled = jacobian[frame] / root
        left = root * back[frame] - np.linalg.pinv(scaled) @ (scaled @ (root * back[frame]))
        assert_allclose((led - plain)[frame], left / root, atol=1e-9)


@each_bias
@pytest.mark.parametrize("limits", [None, ik.Range(-0.3, 0.45)], ids=["free", "limited"])
@pytest.mark.parametrize("solver", ["PGS", "DLS"])
def test_the_pose_is_the_nearest_one_by_scipy(solver: str, limits: ik.Range | None, bias: str) -> None:
    """A planar arm of seven hinges, three of them stiff, meets its target with the least weighted turn.

    The joint that carries the goal is twice as reluctant as the others. Without limits, middle and start are the
    same.
    """
    stiffness = np.array([0.0, 0.5, 0.0, 0.0, 0.7, 0.3, 0.0])
    skeleton = planar_arm(limits, stiffness=stiffness.tolist())
    base = np.full(7, 0.5 * (limits.lo + limits.hi)) if limits and bias == "MIDDLE" else AT
    target = tip(np.array([-0.1, 0.2, 0.45, 0.3, 0.1, 0.4, 0.3]))
    best = nearest(RELUCTANCE / (1 - stiffness) ** 2, target, base, limits)
    options = ik.Options(iterations=200, tolerance=1e-6, pull=1e-6, bias=bias)
    goal = ik.Goal(6, (0, *target), offset=(0, 1, 0))
    pose = ik.solve(skeleton, [goal], turned_about_x(skeleton, AT), solver, options).pose
    assert_allclose(angles_about_x(pose), best, atol=2e-3)
    if limits:
        assert (np.isclose(best, limits.lo) | np.isclose(best, limits.hi)).any()
