# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of goals solved side by side with NumPy: each has the answer that it has alone."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem, drawn, moving

import solvers as ik
from solvers.model.frames import asking

SAME = 1e-7  # [rad or length units]


def beside(seeds: list[int], solver: str, options: ik.Options) -> Problem:
    """Drawn problems side by side on one skeleton, under a root that none of them moves."""
    joints, goals = [ik.Joint("root", -1, "fixed", (0, 0, 0))], list[ik.Goal]()
    rotations, translations = [np.array([[1.0, 0, 0, 0]])], [np.zeros((1, 3))]
    for part, seed in enumerate(seeds):
        problem, first = drawn(seed, most=5), len(joints)
        own = problem.skeleton
        for joint in own.joints:
            at = 0 if joint.parent < 0 else joint.parent + first
            joints.append(replace(joint, name=f"{part} {joint.name}", parent=at))
        for goal in problem.goals:
            chain = np.flatnonzero(own.ancestors[goal.joint]) if goal.chain is None else np.array(goal.chain, dtype=int)
            goals.append(replace(goal, joint=goal.joint + first, chain=(chain + first).tolist()))
        rotations.append(problem.start.rotations)
        translations.append(problem.start.translations)
    start = ik.Pose(np.concatenate(rotations), np.concatenate(translations))
    return Problem(ik.Skeleton(joints), goals, start, solver, options)


def both(problem: Problem) -> tuple[ik.Prepared, ik.Prepared]:
    """The problem prepared for NumPy with lanes, and with each group on its own."""
    together, alone = (ik.Prepared(problem.skeleton, problem.goals, problem.solver, problem.options) for _ in range(2))
    together.compiled = alone.compiled = None
    alone.numpy.joined = alone.stages
    return together, alone


def answers(prepared: ik.Prepared, problem: Problem, frames: int, seed: int, follows: bool) -> np.ndarray:
    """All numbers of the answers to drifting targets; q and -q count as equal."""
    start = ik.Pose(problem.start.rotations[None], problem.start.translations[None])
    arrays = asking(moving(problem, frames, seed)[0], start, problem.skeleton.links)
    (prepared.motion() if follows else prepared).solve_into(arrays)
    batch = arrays.batch()
    turns = batch.rotations * np.where(batch.rotations[..., :1] < 0.0, -1.0, 1.0)
    parts = turns, batch.translations, batch.position_errors, batch.rotation_errors
    return np.concatenate([part.reshape(frames, -1) for part in parts], -1)


@pytest.mark.parametrize("solver", ["PGS", "DLS"])
@pytest.mark.parametrize(
    ("options", "follows"),
    [
        (ik.Options(iterations=20), False), (ik.Options(iterations=20, pull=0.0), True),
        (ik.Options(iterations=20, pull=1e-3), True), (ik.Options(iterations=8, restarts=2), False),
        (ik.Options(iterations=20, bias="MIDDLE"), True),
    ],
)  # fmt: skip
def test_lanes_end_where_their_goals_end_alone(solver: str, options: ik.Options, follows: bool) -> None:
    """Limits, slides, poles, priorities and targets out of reach, except where rounding decides."""
    same, lanes = [], 0
    for seed in range(2):
        problem = beside([3 * seed, 3 * seed + 1, 3 * seed + 2], solver, options)
        together, alone = both(problem)
        lanes += max(len(stage.parts) for stage in together.numpy.joined) > 1
        found, expected = (answers(one, problem, 2, seed, follows) for one in (together, alone))
        same.append(np.abs(found - expected).max() < SAME)
    assert lanes >= 2
    assert same.count(False) <= 1


def test_lanes_of_a_figure_take_as_many_steps_as_alone() -> None:
    """Arms that share a spine, and two legs, all with limbs: one stage of three lanes."""
    joints = [ik.Joint("hips", -1, "ball", (0, 0, 1)), ik.Joint("chest", 0, "ball", (0, 0, 0.4))]
    goals = []
    for name, parent, side, down in (("arm", 1, 1, 0), ("arm", 1, -1, 0), ("leg", 0, 1, 1), ("leg", 0, -1, 1)):
        first, bone = len(joints), np.array([0, 0, -0.4]) if down else np.array([0.3 * side, 0, 0])
        bend = (0.3, 0, 0) if down else (0, 0, 0.3 * side)
        joints.append(ik.Joint(f"{name} {side} upper", parent, "ball", (0.15 * side, 0, 0.1 - 0.2 * down)))
        joints.append(ik.Joint(f"{name} {side} lower", first, "ball", bone, preferred=bend))
        joints.append(ik.Joint(f"{name} {side} end", first + 1, "ball", bone))
        chain = [*range(first, first + 3)] if down else [1, *range(first, first + 3)]
        at = np.array([0.15 * side, 0.1, 0.35]) if down else np.array([0.45 * side, -0.2, 1.4])
        goals.append(ik.Goal(first + 2, at, chain=chain))
    skeleton = ik.Skeleton(joints)
    problem = Problem(skeleton, goals, skeleton.rest_pose(), "PGS", ik.Options())
    together, alone = both(problem)
    assert [len(stage.parts) for stage in together.numpy.joined] == [3]
    assert len(together.stages) == 3
    for follows in (False, True):
        found, expected = (answers(one, problem, 20, 1, follows) for one in (together, alone))
        np.testing.assert_allclose(found, expected, atol=1e-8)
    places = np.array([goal.position for goal in goals])
    assert together(places).iterations == alone(places).iterations
