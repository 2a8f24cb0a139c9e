# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK against the paper's formulas on points, against geometry, and against other solvers' optima."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import effector, goal_errors
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, arm, chain, random_pose, seeds, torso, wxyz

import solvers as ik

TIP = (0, 1, 0)


def solve(skeleton: ik.Skeleton, goals: list[ik.Goal], pose: ik.Pose | None = None, **options: object) -> ik.Solution:
    """Solve by FABRIK."""
    return ik.solve(skeleton, goals, pose, "FABRIK", ik.Options(**options))


def tip(count: int, position: tuple | np.ndarray, **settings: object) -> ik.Goal:
    """The goal at the end of a chain's last bone."""
    return ik.Goal(count - 1, position=position, offset=TIP, **settings)


def points(skeleton: ik.Skeleton, pose: ik.Pose) -> np.ndarray:
    """A chain's joints and its tip."""
    return np.vstack([ik.forward(skeleton, pose).positions, effector(skeleton, pose, len(skeleton) - 1, TIP)])


def published(p: np.ndarray, target: np.ndarray) -> np.ndarray:
    """One iteration of the paper's algorithm 1 on points (N, 3), written out."""
    p, root = p.copy(), p[0].copy()
    d = np.linalg.norm(np.diff(p, axis=0), axis=-1)
    p[-1] = target
    for i in range(len(p) - 2, -1, -1):
        share = d[i] / np.linalg.norm(p[i + 1] - p[i])
        p[i] = (1 - share) * p[i + 1] + share * p[i]
    p[0] = root
    for i in range(len(p) - 1):
        share = d[i] / np.linalg.norm(p[i + 1] - p[i])
        p[i + 1] = (1 - share) * p[i] + share * p[i + 1]
    return p


# -- free chains -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sweeps", [1, 2, 5])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_on_a_free_chain_its_joints_are_the_papers_points(count: int, sweeps: int) -> None:
    """After any number of iterations they are where algorithm 1 puts them."""
    skeleton, generator = chain(count), np.random.default_rng(count)
    start = random_pose(skeleton, generator)
    target = np.array([0.4, 0.3, -0.2]) * count
    expected = points(skeleton, start)
    for _ in range(sweeps):
        expected = published(expected, target)
    found = solve(skeleton, [tip(count, target)], start, iterations=sweeps, tolerance=0.0)
    assert_allclose(points(skeleton, found.pose), expected, atol=1e-9)


@given(st.integers(2, 8), st.floats(1.0, 30.0), seeds)
def test_a_free_chain_points_straight_at_what_it_cannot_reach(count: int, share: float, seed: int) -> None:
    """After one sweep every joint is on the line to the target."""
    skeleton, generator = chain(count), np.random.default_rng(seed)
    direction = generator.normal(size=3)
    direction /= np.linalg.norm(direction)
    solution = solve(skeleton, [tip(count, share * count * direction)], random_pose(skeleton, generator))
    assert_allclose(points(skeleton, solution.pose), np.arange(count + 1)[:, None] * direction, atol=1e-6)
    assert solution.iterations <= 2


@pytest.mark.parametrize("kind", ["ball", "hinge"])
@pytest.mark.parametrize("along", [0.7, -0.4, 0.2])
def test_a_straight_chain_bends_for_a_target_on_its_line(kind: str, along: float) -> None:
    """Every point of the paper's chain would stay on the line for ever."""
    skeleton = chain(4, kind, axis=(1, 0, 0) if kind == "hinge" else None)
    target = np.array([0, 4 * along, 0])
    on_the_line = published(points(skeleton, skeleton.rest_pose()), target)
    assert_allclose(on_the_line[:, [0, 2]], 0, atol=1e-12)
    assert solve(skeleton, [tip(4, target)], iterations=100).converged


def test_joints_turn_no_more_than_their_bones() -> None:
    """Each joint makes the smallest turn, without a twist about its bone."""
    skeleton = chain(3)
    pose = solve(skeleton, [tip(3, (1.2, 1.5, 0.9))]).pose
    for q in pose.rotations:
        assert abs(Rotation.from_quat(q, scalar_first=True).as_rotvec()[1]) < 0.05


# -- trees -------------------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seeds)
def test_a_tree_reaches_several_goals(seed: int) -> None:
    """Both hands meet targets from some pose of the torso, and the shoulders keep their places on the chest."""
    skeleton, generator = torso(), np.random.default_rng(seed)
    wanted = ik.forward(skeleton, random_pose(skeleton, generator, 0.5)).positions
    goals = [ik.Goal(hand, position=wanted[hand]) for hand in (LEFT, RIGHT)]
    solution = solve(skeleton, goals, tolerance=1e-3, iterations=200)
    assert solution.converged
    found = ik.forward(skeleton, solution.pose)
    chest = Rotation.from_quat(found.rotations[1], scalar_first=True)
    for joint, offset in [(2, (0.2, 0.1, 0)), (5, (-0.2, 0.1, 0))]:
        assert_allclose(found.positions[joint], found.positions[1] + chest.apply(offset), atol=1e-12)


def test_goals_that_cannot_both_be_met_share_what_is_left_by_their_weights() -> None:
    """One bone with two effectors turns to SciPy's minimum of the weighted squares."""
    skeleton = chain(1, "hinge", axis=(0, 0, 1))
    goals = [
        ik.Goal(0, position=(0.9, 0, 0), offset=TIP, position_weight=2.0),
        ik.Goal(0, position=(0, 0.5, 0), offset=(0.2, 0.5, 0)),
    ]

    def cost(angle: np.ndarray) -> float:
        turn = Rotation.from_rotvec([0, 0, angle[0]])
        away = [goal.position_weight * (turn.apply(goal.offset) - goal.position) for goal in goals]
        return float((np.array(away) ** 2).sum())

    best = minimize(cost, [-0.5]).x[0]
    pose = solve(skeleton, goals).pose
    assert 2 * np.arctan2(pose.rotations[0, 3], pose.rotations[0, 0]) == pytest.approx(best, abs=1e-5)


def test_links_bend_and_vanish_and_do_not_inherit_rotation() -> None:
    """A fixed link, joints in one place, a shoulder off its bone and a detached hand: all goals are met."""
    turn = wxyz(Rotation.from_rotvec([0.4, 0.2, -0.3]))
    skeleton = ik.Skeleton([
        ik.Joint("x", -1, "hinge", (0, 0, 0), axis=(1, 0, 0)),
        ik.Joint("y", 0, "hinge", (0, 0, 0), axis=(0, 1, 0)),
        ik.Joint("z", 1, "hinge", (0, 0, 0), axis=(0, 0, 1)),
        ik.Joint("link", 2, "fixed", (0.1, 0.5, 0), rest=turn),
        ik.Joint("middle", 3, "ball", (0, 0.5, 0.2)),
        ik.Joint("carried", 4, "fixed", (0, 0.3, 0), rest=turn, inherit_rotation=False),
        ik.Joint("hand", 5, "ball", (0.2, 0.3, 0), inherit_rotation=False),
    ])  # fmt: skip
    generator = np.random.default_rng(5)
    for _ in range(10):
        goal = ik.Goal(6, offset=(0, 0.2, 0.1), position=(0, 0, 0))
        wanted = effector(skeleton, random_pose(skeleton, generator, 0.7), 6, goal.offset)
        goal = ik.Goal(6, offset=goal.offset, position=wanted)
        solution = solve(skeleton, [goal], iterations=200, tolerance=1e-3)
        assert goal_errors(skeleton, solution.pose, goal)[0] <= 1e-3


# -- hinges and limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_ball_above_a_hinge_twists_until_the_hinge_can_reach(seed: int) -> None:
    """An arm of a ball and a hinge meets targets on every side."""
    direction = np.random.default_rng(seed).normal(size=3)
    target = (0.6 + 0.15 * seed) * direction / np.linalg.norm(direction)
    assert solve(arm(), [ik.Goal(2, position=target)]).converged


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_of_limited_hinges_reaches_as_near_as_pgs_does(seed: int) -> None:
    """Hinges with perpendicular axes and limits of 1.5 rad to each side meet targets from inside the limits."""
    skeleton = ik.Skeleton([
        ik.Joint(f"joint {i}", i - 1, "hinge", (0, 1.0 if i else 0, 0), axis=((1, 0, 0), (0, 0, 1))[i % 2],
                 limits=ik.Range(-1.5, 1.5)) for i in range(8)
    ])  # fmt: skip
    wanted = effector(skeleton, random_pose(skeleton, np.random.default_rng(seed)), 7, TIP)
    goals = [tip(8, wanted)]
    assert ik.solve(skeleton, goals).converged
    assert solve(skeleton, goals, tolerance=8e-3).converged


# -- what it cannot do -------------------------------------------------------------------------------------------------


def test_what_it_cannot_do_it_says() -> None:
    with pytest.raises(
        ik.InvalidGoal, match=r"goal 1 \(joint 'joint 2'\) asks for a rotation: .* leave the rotation out"
    ):
        solve(chain(3), [tip(3, (1, 1, 1)), ik.Goal(2, rotation=(1, 0, 0, 0))])
    rail = ik.Joint("rail", -1, "prismatic", (0, 0, 0))
    skeleton = ik.Skeleton([rail, ik.Joint("arm", 0, "ball", (0, 0, 0))])
    with pytest.raises(ik.InvalidGoal, match=r"goal 0 \(joint 'arm'\) has the slide 'rail' in its chain: take PGS"):
        solve(skeleton, [ik.Goal(1, position=(1, 1, 0), offset=TIP)])
    assert solve(skeleton, [ik.Goal(1, position=(1, 0, 0), offset=TIP, chain=[1])]).converged
