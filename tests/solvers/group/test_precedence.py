# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that cannot all be met: those of higher priority are met, and the others come as near as they then can."""

import numpy as np
import pytest
from hypothesis import given, settings
from measures import both_solvers, with_kernel
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, random_pose, seeds, torso, wxyz
from test_yielding import HEIGHT, figure

import solvers as ik

LENGTH = 1.3  # of the torso with an arm, about
ALONE = 1e-3 * HEIGHT
MILLIMETRE = 1e-3


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def pulled_figure(seed: int, hips: int = -1) -> tuple[ik.Skeleton, list[ik.Goal], ik.Pose]:
    """A posed figure with goals where its hands, feet and hips are, but one hand's up to half its height away.

    hips : the priority of their goal, the feet have 1 and the hands 0.
    """
    generator = np.random.default_rng(seed)
    skeleton, _ = figure()
    pose = random_pose(skeleton, generator, 0.25)
    world = ik.forward(skeleton, pose)
    away = generator.normal(size=3)
    away *= generator.uniform(0.1, 0.5) * HEIGHT / np.linalg.norm(away)
    goals = []
    for name, priority in (("hand 1", 0), ("hand -1", 0), ("foot 1", 1), ("foot -1", 1), ("hips", hips)):
        joint = skeleton.names.index(name)
        place = world.positions[joint] + away * (name == "hand 1")
        goals.append(ik.Goal(joint, place, world.rotations[joint], priority=priority))
    return skeleton, goals, pose


@both_solvers
@settings(max_examples=20, derandomize=True)
@given(seeds)
def test_a_hand_out_of_reach_comes_nearer_and_the_others_stay(solver: str, seed: int) -> None:
    """Feet within a millimetre, the other hand within 0.1 % of the height; only the hips, which come last, follow."""
    skeleton, goals, pose = pulled_figure(seed)
    found = ik.prepare(skeleton, goals, solver, ik.Options(tolerance=1e-4 * HEIGHT))(
        np.array([goal.position for goal in goals], dtype=float), np.array([goal.rotation for goal in goals]), pose
    )
    hand, other, *feet = found.position_errors[:4]
    assert other < ALONE
    assert max(feet) < MILLIMETRE
    begun = np.linalg.norm(np.array(goals[0].position) - ik.forward(skeleton, pose).positions[goals[0].joint])
    assert hand < begun


def drawn_figure(seed: int) -> tuple[ik.Skeleton, list[ik.Goal], ik.Pose]:
    """A figure as it stands, nearly, with goals as for a full body; one target is 1 to 30 % of the height away.

    The hips' goal comes last, feet weigh most, and hands hardly turn for their targets.
    """
    generator = np.random.default_rng(seed)
    skeleton, _ = figure(head=True)
    pose = random_pose(skeleton, generator, 0.1 * (seed % 3))  # a third of them stand with straight legs and arms
    world, goals = ik.forward(skeleton, pose), []
    moved = ("hand 1", "foot 1", "hand -1", "foot -1", "head")[seed % 5]
    away = unit(generator.normal(size=3) - np.array([0.0, 0.0, "foot" in moved]))
    weights = {"hand 1": 1.0, "hand -1": 1.0, "foot 1": 3.5, "foot -1": 3.5, "head": 2.2, "hips": 0.3}
    for name, weight in weights.items():
        joint = skeleton.names.index(name)
        place = world.positions[joint] + HEIGHT * generator.uniform(0.01, 0.3) * away * (name == moved)
        turn = weight * (0.1 if "hand" in name else 1.0)
        goals.append(ik.Goal(joint, place, world.rotations[joint], position_weight=weight, rotation_weight=turn,
                             priority=-(name == "hips")))  # fmt: skip
    return skeleton, goals, pose


@both_solvers
@pytest.mark.parametrize("seed", [*range(10), *with_kernel(*range(10, 40), 89, 113)])
def test_a_target_out_of_reach_moves_no_other_goal_of_a_full_body(solver: str, seed: int) -> None:
    """By less than 0.1 % of the height, and feet by less than a millimetre, however far out of reach it is."""
    skeleton, goals, pose = drawn_figure(seed)
    found = ik.solve(skeleton, goals, pose, solver, ik.Options(tolerance=1e-4 * HEIGHT))
    placed = ik.forward(skeleton, pose).positions
    still = [g for g, goal in enumerate(goals[:5]) if np.allclose(goal.position, placed[goal.joint])]
    assert len(still) == 4
    assert found.position_errors[still].max() < ALONE
    assert max(found.position_errors[g] for g in still if "foot" in skeleton.names[goals[g].joint]) < MILLIMETRE


@pytest.mark.compiled
@both_solvers
@pytest.mark.parametrize("warm", [True, False])
def test_the_answer_follows_a_hand_out_of_reach_and_back_with_priorities(solver: str, warm: bool) -> None:
    """In steps of a centimetre: the feet and the other hand stay met, and no joint turns by 6 degrees in a step."""
    skeleton, goals, pose = pulled_figure(3)
    world = ik.forward(skeleton, pose)
    places = np.repeat(np.array([world.positions[goal.joint] for goal in goals])[None], 100, 0)
    way = np.array(goals[0].position) - places[0, 0]
    steps = 0.01 * np.concatenate([np.arange(50), np.arange(50, 0, -1)])
    places[:, 0] += steps[:, None] * way / np.linalg.norm(way)
    turns = np.repeat(np.array([goal.rotation for goal in goals])[None], 100, 0)
    options = ik.Options(tolerance=1e-4 * HEIGHT, warm_start=warm)
    solved = ik.solve_frames(skeleton, goals, places, turns, pose, solver, options)
    assert max(found.position_errors[2:4].max() for found in solved) < MILLIMETRE
    assert max(found.position_errors[1] for found in solved) < ALONE
    turned = [
        (Rotation.from_quat(a.pose.rotations, scalar_first=True).inv()
         * Rotation.from_quat(b.pose.rotations, scalar_first=True)).magnitude().max()
        for a, b in zip(solved, solved[1:], strict=False)
    ]  # fmt: skip
    assert max(turned) < np.radians(6)


@pytest.mark.parametrize(("solver", "seed"), [("PGS", 2), ("PGS", 3), ("DLS", 1), ("DLS", 5)])
def test_what_comes_later_is_as_near_as_scipy_finds(solver: str, seed: int) -> None:
    """A torso that keeps one hand in its place and turns while the other reaches out: the least distance is SciPy's."""
    generator = np.random.default_rng(seed)
    skeleton = torso()
    pose = random_pose(skeleton, generator, 0.3)
    world, away = ik.forward(skeleton, pose), generator.normal(size=3)
    places = [world.positions[LEFT], world.positions[RIGHT] + 0.8 * away / np.linalg.norm(away)]
    turn = world.rotations[LEFT]
    goals = [ik.Goal(LEFT, places[0], turn, priority=1), ik.Goal(RIGHT, places[1])]
    found = ik.solve(skeleton, goals, pose, solver, ik.Options(pull=1e-5, iterations=100))

    def posed(v: np.ndarray) -> np.ndarray:
        turned = Rotation.from_rotvec(v.reshape(-1, 3))
        rotations = wxyz(Rotation.from_quat(found.pose.rotations, scalar_first=True) * turned)
        return ik.forward(skeleton, ik.Pose(rotations, pose.translations))

    def kept(v: np.ndarray) -> np.ndarray:
        positions, rotations = posed(v)
        at = Rotation.from_quat(rotations[LEFT], scalar_first=True)
        off = (Rotation.from_quat(turn, scalar_first=True) * at.inv()).as_rotvec()
        return np.concatenate([positions[LEFT] - places[0], off])

    def far(v: np.ndarray) -> float:
        return float(((posed(v).positions[RIGHT] - places[1]) ** 2).sum())

    best = minimize(far, np.zeros(3 * len(skeleton)), method="SLSQP", constraints={"type": "eq", "fun": kept},
                    options={"maxiter": 300, "ftol": 1e-12})  # fmt: skip
    assert abs(kept(best.x)).max() < 1e-5
    assert found.position_errors[0] < 1e-3 * LENGTH
    assert found.rotation_errors[0] < np.radians(0.2)
    assert found.position_errors[1] < np.sqrt(best.fun) + 0.01 * LENGTH


@both_solvers
@pytest.mark.parametrize("seed", [3, 4, 7, 8, 10])
def test_the_hand_that_was_moved_yields_wherever_the_solve_starts(solver: str, seed: int) -> None:
    """From a start that meets the moved hand but not the other, the other is missed unless the home is known."""
    generator = np.random.default_rng(seed)
    skeleton = torso()
    home = random_pose(skeleton, generator, 0.3)
    world, away = ik.forward(skeleton, home), generator.normal(size=3)
    goals = [ik.Goal(LEFT, world.positions[LEFT]), ik.Goal(RIGHT, world.positions[RIGHT] + 1.2 * unit(away))]
    near = ik.solve(skeleton, goals[1:], home, solver, ik.Options(pull=1e-5)).pose
    prepared = ik.prepare(skeleton, goals, solver, ik.Options(pull=1e-5, iterations=100))
    targets, arrays = prepared.targets([[goal.position for goal in goals]]), prepared.arrays()
    misses = []
    for rotations in (None, home.rotations):
        arrays.ask(targets, ik.Pose(near.rotations[None], near.translations[None]), home=rotations)
        prepared.solve_into(arrays)
        misses.append(arrays.position_errors[0].copy())
    assert misses[1][0] < MILLIMETRE < misses[0][0]
    assert misses[0][1] < misses[1][1]


@both_solvers
@pytest.mark.parametrize("seed", range(20))
def test_a_far_target_moves_no_other_goal_of_a_body_that_was_posed_by_its_targets(solver: str, seed: int) -> None:
    """The base pose is at rest, all targets have moved from there; the far one is to blame, not the furthest moved."""
    generator = np.random.default_rng(seed)
    skeleton, _ = figure(head=True)
    posed = ik.forward(skeleton, random_pose(skeleton, generator, 0.35))
    far = ("hand 1", "foot 1", "hand -1", "foot -1", "head")[seed % 5]
    away = unit(generator.normal(size=3) * (1, 1, 0.2) + np.array([0.0, 0.0, -1.0 if "foot" in far else 1.0]))
    weights = {"hand 1": 1.0, "hand -1": 1.0, "foot 1": 3.5, "foot -1": 3.5, "head": 2.2, "hips": 0.3}
    goals = []
    for name, weight in weights.items():
        joint = skeleton.names.index(name)
        place = posed.positions[joint] + HEIGHT * generator.uniform(0.8, 1.5) * away * (name == far)
        goals.append(ik.Goal(joint, place, position_weight=weight, priority=-(name == "hips")))
    found = ik.solve(skeleton, goals, None, solver, ik.Options(tolerance=1e-4 * HEIGHT))
    others = [g for g, name in enumerate(weights) if name not in (far, "hips")]
    assert found.position_errors[others].max() < 0.002 * HEIGHT
