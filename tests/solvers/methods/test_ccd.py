# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD: each visit makes the best turn of its joint, sweeps converge, and MikuMikuDance's rule is followed exactly."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import EXACT, chain_of, degrees_of, effector, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from skeletons import bent, chain, pointed, pointer, pointing, random_pose, scipy_rotation, seeds, skeletons, wxyz
from standing import pose_of, standing

import solvers as ik
from solvers.methods import ccd
from solvers.space.posture import Posture, visits
from solvers.space.tasks import ROTATION_LENGTH

ORDERS = ("TIP_TO_ROOT", "ROOT_TO_TIP")


def objective(skeleton: ik.Skeleton, pose: ik.Pose, goals: list[ik.Goal]) -> float:
    """The quantity that a visit minimises, weighted squares of distances and of chords, by SciPy."""
    total = 0.0
    for goal in goals:
        distance, angle = goal_errors(skeleton, pose, goal)
        total += (goal.position_weight * distance / skeleton.length) ** 2
        total += (goal.rotation_weight * ROTATION_LENGTH * 2.0 * math.sin(0.5 * angle)) ** 2
    return total


def solve(skeleton: ik.Skeleton, goals: list[ik.Goal], start: ik.Pose | None = None, **options) -> ik.Solution:
    """Solve by CCD without a pull."""
    return ik.solve(skeleton, goals, start, "CCD", ik.Options(**{"pull": 0.0, "tolerance": 1e-6, **options}))


# -- one joint --------------------------------------------------------------------------------------------------------


def star(kind: str, generator: np.random.Generator, limits=None, axis=(1, 2, -2)) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """One joint that moves, with three fixed joints below it whose goals cannot all be met."""
    joints = [ik.Joint("centre", -1, kind, (0, 0, 0), axis=axis, limits=limits)]
    joints += [ik.Joint(f"ray {i}", 0, "fixed", generator.normal(size=3)) for i in range(3)]
    goals = [
        ik.Goal(1, generator.normal(size=3), offset=generator.normal(size=3), position_weight=2.0),
        ik.Goal(2, generator.normal(size=3), generator.normal(size=4), rotation_weight=1.5),
        ik.Goal(3, rotation=generator.normal(size=4)),
    ]
    return ik.Skeleton(joints), goals


def in_limits(skeleton: ik.Skeleton, turn: np.ndarray) -> ik.Pose:
    """The pose of the star with its centre turned by a rotation vector."""
    pose = skeleton.rest_pose()
    pose.rotations[0] = wxyz(Rotation.from_rotvec(turn))
    return pose


@pytest.mark.parametrize("seed", range(3))
def test_a_free_ball_takes_its_best_turn_in_one_visit(seed: int) -> None:
    """SciPy's optimum over all rotations, from several starts."""
    generator = np.random.default_rng(seed)
    skeleton, goals = star("ball", generator)
    best = min(
        minimize(lambda v: objective(skeleton, in_limits(skeleton, v), goals), start, tol=1e-12).fun
        for start in generator.normal(size=(4, 3))
    )
    found = objective(skeleton, one_visit(skeleton, goals), goals)
    assert found == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("limits", [None, ik.Range(-0.4, 0.3), ik.Range(2.0, 5.0), ik.Range(0.7, 0.7)])
def test_a_hinge_takes_its_best_turn_in_one_visit(limits: ik.Range | None) -> None:
    """The angle is the best of a fine grid over the interval."""
    for seed in range(2):
        skeleton, goals = star("hinge", np.random.default_rng(seed), limits)
        lo, hi = (-math.pi, math.pi) if limits is None else (limits.lo, limits.hi)
        grid = [objective(skeleton, in_limits(skeleton, a * skeleton.axis[0]), goals) for a in np.linspace(lo, hi, 100)]
        pose = one_visit(skeleton, goals)
        found = objective(skeleton, pose, goals)
        assert min(grid) * 0.99 <= found <= min(grid) + 1e-12
        assert outside_limits(skeleton, pose, 0) < EXACT


@pytest.mark.parametrize("limits", [None, ik.Range(-0.1, 0.2)])
def test_a_slide_takes_the_weighted_mean_of_what_its_goals_miss(limits: ik.Range | None) -> None:
    """Compared with a value worked out by hand, also at its limit."""
    skeleton, goals = star("prismatic", np.random.default_rng(3), limits)
    axis, misses, weights = skeleton.axis[0], [], []
    for goal in goals[:2]:
        misses.append(
            (np.array(goal.position) - effector(skeleton, skeleton.rest_pose(), goal.joint, goal.offset)) @ axis
        )
        weights.append(goal.position_weight**2)
    mean = float(np.average(misses, weights=weights))
    expected = mean if limits is None else float(np.clip(mean, limits.lo, limits.hi))
    assert_allclose(one_visit(skeleton, goals).translations[0], expected * axis, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_limited_ball_ends_at_its_best_turn_inside(seed: int) -> None:
    """SciPy finds no better twist and swing inside box and ellipse, for goals well outside of them."""
    generator = np.random.default_rng(seed)
    lo, hi = np.array([-0.4, -0.6, -0.5]), np.array([0.5, 0.3, 0.7])
    skeleton, goals = star("ball", generator, ik.TwistSwing(*zip(lo, hi, strict=True)), axis=None)
    there = in_limits(skeleton, generator.normal(size=3))
    goals = [
        ik.Goal(goal.joint, effector(skeleton, there, goal.joint, goal.offset) + generator.normal(0, 0.2, 3),
                ik.forward(skeleton, there).rotations[goal.joint], goal.offset)
        for goal in goals
    ]  # fmt: skip

    def turned(x: np.ndarray) -> float:
        swing, twist = Rotation.from_rotvec([x[1], 0, x[2]]), Rotation.from_rotvec([0, x[0], 0])
        return objective(skeleton, in_limits(skeleton, (swing * twist).as_rotvec()), goals)

    def inside(x: np.ndarray) -> float:
        half = np.where(x[1:] > 0, hi[1:], -lo[1:])
        return 1.0 - float(((x[1:] / half) ** 2).sum())

    best = min(
        minimize(turned, start, method="SLSQP", bounds=list(zip(lo, hi, strict=True)), options={"ftol": 1e-12},
                 constraints={"type": "ineq", "fun": inside}).fun
        for start in generator.uniform(0.5 * lo, 0.5 * hi, (6, 3))
    )  # fmt: skip
    pose = one_visit(skeleton, goals, times=25)
    assert outside_limits(skeleton, pose, 0) < EXACT
    assert objective(skeleton, pose, goals) <= best * (1 + 1e-5)
    assert objective(skeleton, one_visit(skeleton, goals), goals) <= best * 1.02


def test_a_stiffness_takes_its_share_off_a_turn() -> None:
    """With a stiffness of 0.75 a ball, a hinge and a slide move a quarter of the way."""
    for kind, wanted in [("ball", pointing(40)), ("hinge", pointing(40)), ("prismatic", (1, 0, 0.8))]:
        joint = ik.Joint("joint", -1, kind, (0, 0, 0), axis=(0, 0, 1), stiffness=0.75)
        pose = solve(ik.Skeleton([joint]), [ik.Goal(0, wanted, offset=(1, 0, 0))], iterations=1).pose
        if kind == "prismatic":
            assert_allclose(pose.translations[0], (0, 0, 0.2), atol=1e-12)
        else:
            assert degrees_of(pose) == pytest.approx(10, abs=1e-6)


def test_a_hinge_that_gains_nothing_stays() -> None:
    """It stays if its effector lies on its axis, exactly or up to rounding."""
    for off in (0.0, 1e-16):
        goal = ik.Goal(0, (0, 1, 1), offset=(off, 0, 1))
        assert turned_by(pointed(0), solve(pointer(None), [goal], pointed(0)).pose)[0] == 0.0


def test_a_joint_that_is_where_its_goal_is_has_no_side_to_turn_to() -> None:
    """With an arm so short that only rounding gives it a direction a ball and a hinge stay; with a longer arm they
    turn."""
    for kind in ("ball", "hinge"):
        for off, turns in [(1e-17, False), (1e-3, True)]:
            joints = [ik.Joint("centre", -1, kind, (0, 0, 0), axis=(0, 0, 1)), ik.Joint("away", 0, "fixed", (0, 0, 1))]
            start = ik.Skeleton(joints).rest_pose()
            pose = solve(ik.Skeleton(joints), [ik.Goal(0, (0, 1, 0), offset=(off, 0, 0))], start, iterations=1).pose
            assert (turned_by(start, pose)[0] > 1.0) == turns


@pytest.mark.parametrize("seed", [2, 7, 10])
def test_rounding_does_not_choose_where_limited_balls_end(seed: int) -> None:
    """Goals outside the limits, changed in their last digits, give the same pose; a flat minimum loses half of them."""
    generator, start = np.random.default_rng(seed), bent(2)
    skeleton = chain(2, limits=ik.TwistSwing((-0.4, 0.5), (-0.6, 0.3), (-0.5, 0.7)))
    place, turn, other = generator.normal(size=(2, 3))[0], *generator.normal(size=(2, 4))
    poses = [
        solve(skeleton, [ik.Goal(1, place * digits, turn, (0.2, 0.5, 0.1)), ik.Goal(0, rotation=other)], start).pose
        for digits in (1.0, 1.0 + 1e-15, 1.0 + 2e-15)
    ]
    assert max(turned_by(poses[0], pose).max() for pose in poses[1:]) < 1e-6


# -- every visit ------------------------------------------------------------------------------------------------------


def one_visit(skeleton: ik.Skeleton, goals: list[ik.Goal], times: int = 1) -> ik.Pose:
    """The pose after one or several visits of the only joint that moves."""
    start = skeleton.rest_pose()
    tasks, space, point, frames = standing(skeleton, goals, start)
    posture, (visit,) = Posture(tasks, point, frames), visits(tasks, space)
    for _ in range(times):
        ccd.serve(space, posture, visit)
    return pose_of(space, posture.state, start)


@st.composite
def served(draw: st.DrawFn) -> tuple[ik.Skeleton, list[ik.Goal], ik.Pose]:
    """Any tree with goals of every kind, and a start."""
    skeleton, generator = draw(skeletons(most=7)), np.random.default_rng(draw(seeds))
    goals = []
    for _ in range(draw(st.integers(1, 3))):
        joint, what = int(generator.integers(len(skeleton))), generator.integers(3)
        above = [int(j) for j in np.flatnonzero(skeleton.ancestors[joint]) if generator.integers(4)]
        goals.append(ik.Goal(
            joint, generator.normal(size=3) if what != 1 else None, generator.normal(size=4) if what else None,
            offset=generator.normal(size=3) * generator.integers(2), chain=above if generator.integers(2) else None,
            position_weight=generator.choice([0.5, 2.0]), rotation_weight=generator.choice([0.5, 2.0]),
        ))  # fmt: skip
    start = random_pose(skeleton, generator)
    return skeleton, goals, ik.Pose(start.rotations, np.zeros_like(start.translations))


@settings(max_examples=20)
@given(served())
def test_no_visit_takes_its_goals_further_from_their_targets(problem: tuple) -> None:
    """Holds for all joints, limits and trees; the stored positions are those of the pose."""
    skeleton, goals, start = problem
    tasks, space, point, frames = standing(skeleton, goals, start)
    posture, pose = Posture(tasks, point, frames), pose_of(space, point.state, start)
    for visit in visits(tasks, space):
        own = [goal for goal in goals if chain_of(skeleton, goal)[visit.joint]]
        before = objective(skeleton, pose, own)
        ccd.serve(space, posture, visit)
        pose = pose_of(space, posture.state, start)
        assert objective(skeleton, pose, own) <= before + 1e-12 * max(before, 1.0)
        assert outside_limits(skeleton, pose, visit.joint) < EXACT
    world = ik.forward(skeleton, pose)
    assert_allclose(posture.points[0, : len(skeleton)], world.positions, atol=1e-12)
    for goal, point in zip(goals, posture.points[0, len(skeleton) :], strict=True):
        assert_allclose(point, effector(skeleton, pose, goal.joint, goal.offset), atol=1e-12)
    assert_allclose(posture.matrices[0], scipy_rotation(world.rotations).as_matrix(), atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_a_sweep_visits_the_joints_in_the_order_asked_for(order: str) -> None:
    """Three hinges in the plane, compared with complex numbers."""
    skeleton, target = chain(4, "hinge", axis=(0, 0, 1)), 1.4 + 1.1j
    turns = np.zeros(3)
    for j in (2, 1, 0) if order == "TIP_TO_ROOT" else (0, 1, 2):
        links = 1j * np.exp(1j * np.cumsum(turns))
        places = np.concatenate([[0], np.cumsum(links)])
        turns[j] += np.angle((target - places[j]) / (places[3] - places[j]))
    goal = ik.Goal(3, (target.real, target.imag, 0), chain=[0, 1, 2])
    pose = solve(skeleton, [goal], iterations=1, order=order).pose
    assert_allclose([math.radians(degrees_of(pose, j)) for j in range(3)], turns, atol=1e-12)


# -- MikuMikuDance ----------------------------------------------------------------------------------------------------

KNEE = (math.radians(0.5), math.pi)


def leg(upper: float = 1.0, lower: float = 0.9) -> ik.Skeleton:
    """A leg that hangs down, with a knee that bends about X only, and an ankle."""
    return ik.Skeleton([
        ik.Joint("hip", -1, "ball", (0, 0, 0)),
        ik.Joint("knee", 0, "hinge", (0, -upper, 0), axis=(1, 0, 0), limits=ik.Range(*KNEE)),
        ik.Joint("ankle", 1, "ball", (0, -lower, 0)),
    ])  # fmt: skip


def mmd_leg(target: np.ndarray, unit: float, loops: int, upper: float = 1.0, lower: float = 0.9) -> tuple:
    """Hip and knee of a straight leg after MikuMikuDance's loops, written with scalars; and the number of loops."""
    hip, knee, taken = Rotation.identity(), KNEE[0], 0
    for loop in range(loops):
        for k in (0, 1):
            below = Rotation.from_euler("x", knee).apply((0, -lower, 0))
            ankle = hip.apply(np.array([0, -upper, 0]) + below)
            if k == 0 and np.linalg.norm(ankle - target) <= 1e-4:
                return hip, knee, taken
            origin = hip.apply((0, -upper, 0)) if k == 0 else np.zeros(3)
            arm_, aim = ankle - origin, target - origin
            arm_, aim = arm_ / np.linalg.norm(arm_), aim / np.linalg.norm(aim)
            normal = np.cross(arm_, aim)
            if normal @ normal < 1e-8:
                continue
            angle = min((k + 1) * unit, math.acos(np.clip(arm_ @ aim, -1, 1)))
            if k == 1:
                hip = Rotation.from_rotvec(angle * normal / np.linalg.norm(normal)) * hip
                continue
            normal = hip.inv().apply(normal)
            if loop < loops // 2:
                knee += math.copysign(angle, normal[0])
                if knee < KNEE[0]:
                    knee = 2 * KNEE[0] - knee
                elif knee > KNEE[1]:
                    knee = 2 * KNEE[1] - knee
            else:
                turned = Rotation.from_rotvec(angle * normal / np.linalg.norm(normal)) * Rotation.from_euler("x", knee)
                knee = float(np.clip(turned.as_euler("ZYX")[2], *KNEE))
        taken += 1
    return hip, knee, taken


@pytest.mark.parametrize(("unit", "loops"), [(2.0, 1), (2.0, 40), (0.5, 15), (0.03, 20), (0.1, 9)])
@pytest.mark.parametrize("target", [(0.1, -1.2, 0.3), (-0.4, -0.9, -0.5), (0.0, -1.5, 0.2), (0.5, -2.5, 0.4)])
def test_mmds_rule_is_followed_step_for_step(unit: float, loops: int, target: tuple) -> None:
    """A leg with a knee equals the same rule written with scalars, in every joint and the number of loops."""
    hip, knee, taken = mmd_leg(np.array(target), unit, loops)
    start = leg().rest_pose()
    start.rotations[1] = wxyz(Rotation.from_euler("x", KNEE[0]))
    options = ik.Options(iterations=loops, unit_angle=unit, pull=0.0, tolerance=1e-4)
    goal = ik.Goal(2, target)
    solution = ik.solve(leg(), [goal], start, "CCD", options)
    assert solution.iterations == taken
    ankle = hip.apply(np.array([0, -1, 0]) + Rotation.from_euler("x", knee).apply((0, -0.9, 0)))
    if np.linalg.norm(ankle - target) > goal_errors(leg(), start, goal)[0]:
        hip, knee = Rotation.identity(), KNEE[0]  # no solve ends further away than it began
    expected = Rotation.concatenate([hip, Rotation.from_euler("x", knee)])
    assert (scipy_rotation(solution.pose.rotations[:2]).inv() * expected).magnitude().max() < 1e-7


def test_a_link_further_up_may_turn_further() -> None:
    """In one loop the links, counted from below, turn by one, two and three unit angles; a foot that is in place is no
    link."""
    unit = math.radians(3)
    goal = ik.Goal(3, (3, 0.5, 0))
    solution = ik.solve(chain(4), [goal], None, "CCD", ik.Options(iterations=1, unit_angle=unit, pull=0.0))
    assert_allclose(turned_by(chain(4).rest_pose(), solution.pose), np.radians([9, 6, 3, 0]), atol=1e-9)
    below = ik.Goal(3, (3, 0.5, 0), offset=(0, 1, 0), chain=[3, 2])
    solution = ik.solve(chain(4), [below], None, "CCD", ik.Options(iterations=1, unit_angle=unit, pull=0.0))
    assert_allclose(turned_by(chain(4).rest_pose(), solution.pose), np.radians([0, 0, 6, 3]), atol=1e-9)
