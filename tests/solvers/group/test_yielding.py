# SPDX-License-Identifier: GPL-3.0-or-later
"""With sliding hips, goals out of reach yield to the others, and stiffness and limits hold."""

from dataclasses import replace

import numpy as np
import pytest
from measures import EXACT, outside_limits, turned_by, with_kernel

import solvers as ik

HEIGHT = 1.75
LEAST = 1e-3  # of the height


def figure(stiffness: float = 0.0, head: bool = False) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """Hips that slide and turn, a spine, two arms and two legs, perhaps a head; goals for the hands, then the feet."""
    joints: list[ik.Joint] = []

    def add(name: str, parent: int, offset: tuple, kind: str = "ball", **more: object) -> int:
        joints.append(ik.Joint(name, parent, kind, offset, **more))
        return len(joints) - 1

    hips = -1
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        hips = add(f"hips {name}", hips, (0, 0, 0 if joints else 0.95), "prismatic", axis=axis, stiffness=stiffness)
    hips = add("hips", hips, (0, 0, 0), stiffness=stiffness)
    chest = hips
    for height in (0.11, 0.13, 0.1):
        chest = add(f"spine {height}", chest, (0, 0, height))
    ends = []
    for side in (1, -1):
        collar = add(f"collar {side}", chest, (0, 0.03 * side, 0.15))
        upper = add(f"upper arm {side}", collar, (0, 0.15 * side, 0))
        lower = add(f"forearm {side}", upper, (0, 0.28 * side, 0), preferred=(0, 0, -0.35 * side))
        ends.append(add(f"hand {side}", lower, (0, 0.26 * side, 0)))
    for side in (1, -1):
        thigh = add(f"thigh {side}", hips, (0, 0.09 * side, -0.05))
        shin = add(f"shin {side}", thigh, (0, 0, -0.43), preferred=(0, 0.35, 0))
        ends.append(add(f"foot {side}", shin, (0, 0, -0.42)))
    if head:
        add("head", add("neck", chest, (0, 0, 0.2)), (0, 0, 0.1))
    return ik.Skeleton(joints), [ik.Goal(end, (0, 0, 0), (1, 0, 0, 0)) for end in ends]


def at_rest(skeleton: ik.Skeleton, goals: list[ik.Goal]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (G, 3) and rotations (G, 4) of the goals' joints at rest."""
    world = ik.forward(skeleton, skeleton.rest_pose())
    ends = [goal.joint for goal in goals]
    return world.positions[ends], world.rotations[ends]


@pytest.mark.parametrize("afresh", [False, *with_kernel(True)])
@pytest.mark.parametrize("way", [(1, 0, 0), *with_kernel((0, 0, 1))])
def test_the_answer_follows_a_hand_out_of_reach_and_back(way: tuple, afresh: bool) -> None:
    """In steps of a centimetre from within reach no joint turns by 6 degrees, and the other goals stay met."""
    skeleton, goals = figure()
    positions, rotations = at_rest(skeleton, goals)
    steps = np.concatenate([np.arange(-0.2, 0.5, 0.01), np.arange(0.5, -0.2, -0.01)])
    places = np.repeat(positions[None], len(steps), 0)
    places[:, 0] += steps[:, None] * way
    options = ik.Options(tolerance=1e-4 * HEIGHT, warm_start=not afresh)
    solved = ik.solve_frames(skeleton, goals, places, np.repeat(rotations[None], len(steps), 0), options=options)
    assert max(turned_by(a.pose, b.pose).max() for a, b in zip(solved, solved[1:], strict=False)) < np.radians(6)
    assert max(solution.position_errors[1:].max() for solution in solved) < LEAST * HEIGHT


@pytest.mark.parametrize("solver", ["PGS", *with_kernel("DLS")])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("way", [(1, 0, 0), *with_kernel((0, 1, 0), (0, 0, 1))])
def test_a_frame_out_of_reach_takes_no_more_steps_than_serve_the_others(way: tuple, limited: bool, solver: str) -> None:
    """At most 32 in a motion, the median: once the others are met, the pose does not creep on. They stay met."""
    skeleton, goals = figure()
    if limited:
        swing = ik.TwistSwing((-1.5, 1.5), (-1.6, 1.6), (-1.6, 1.6))
        kinds = [(joint, swing if joint.kind == "ball" else None) for joint in skeleton.joints]
        skeleton = ik.Skeleton([replace(joint, limits=limits) for joint, limits in kinds])
    positions, rotations = at_rest(skeleton, goals)
    steps = np.arange(0.3, 0.9, 0.01)
    places = np.repeat(positions[None], len(steps), 0)
    places[:, 0] += steps[:, None] * way
    options = ik.Options(tolerance=1e-4 * HEIGHT)
    solved = ik.solve_frames(skeleton, goals, places, np.repeat(rotations[None], len(steps), 0), None, solver, options)
    missed = [solution for solution in solved if not solution.converged]
    assert len(missed) > 50
    assert np.median([solution.iterations for solution in missed]) <= 32
    assert max(solution.position_errors[1:].max() for solution in missed) < LEAST * HEIGHT


@pytest.mark.parametrize("beside", [False, True])
def test_how_far_beyond_its_reach_a_target_is_changes_nothing(beside: bool) -> None:
    """From some lengths on, alone and beside a goal that moves the arm's root; a hand that can turns as its target.

    Unless such a target is moved in, its distance outweighs its rotation, and the answer depends on the last digits.
    """
    arm = ik.Skeleton([
        ik.Joint("chest", -1, "ball", (0, 0, 0)), ik.Joint("arm", 0, "ball", (0, 0, 0.5)),
        ik.Joint("forearm", 1, "ball", (0.3, 0, 0)), ik.Joint("hand", 2, "ball", (0.28, 0, 0)),
    ])  # fmt: skip
    random = np.random.default_rng(5)
    for way, rotation in zip(random.normal(size=(5, 3)), random.normal(size=(5, 4)), strict=True):
        answers = []
        for lengths in (4.0, 40.0, 400.0):
            place = lengths * way / np.linalg.norm(way) + (0, 0, 0 if beside else 0.5)  # from the root
            goals = [ik.Goal("hand", place, rotation / np.linalg.norm(rotation), chain=["arm", "forearm", "hand"])]
            if beside:
                goals.append(ik.Goal("arm", (0.3, 0, 0.4), (1, 0, 0, 0), priority=1))
            answers.append(ik.solve(arm, goals))
        assert all(turned_by(answers[0].pose, answer.pose).max() < 1e-4 for answer in answers[1:])
        assert beside or answers[0].rotation_errors[0] < np.radians(0.1)


def test_nor_does_it_where_hips_slide() -> None:
    """A hand tens of body heights away: a change of its last digits hardly turns a joint, and the others stay met."""
    skeleton, goals = figure()
    positions, rotations = at_rest(skeleton, goals)
    random = np.random.default_rng(5)
    for way, rotation in zip(random.normal(size=(4, 3)), random.normal(size=(4, 4)), strict=True):
        rotations[0] = rotation / np.linalg.norm(rotation)
        answers = []
        for lengths in (40.0, 40.0 * (1.0 + 1e-6)):
            places = [positions[0] + lengths * way / np.linalg.norm(way), *positions[1:]]
            asked = [
                replace(goal, position=place, rotation=turn)
                for goal, place, turn in zip(goals, places, rotations, strict=True)
            ]  # fmt: skip
            answers.append(ik.solve(skeleton, asked))
        assert turned_by(*[answer.pose for answer in answers]).max() < 1e-4
        assert max(answer.position_errors[1:].max() for answer in answers) < LEAST * HEIGHT


def test_stiff_hips_slide_less_and_at_last_not_at_all() -> None:
    slid = []
    for stiffness in (0.0, 0.5, 0.9, 0.99, 1.0):
        skeleton, goals = figure(stiffness)
        positions, rotations = at_rest(skeleton, goals)
        positions[0] += [0.3 * HEIGHT, 0, 0]
        solution = ik.prepare(skeleton, goals)(positions, rotations)
        slid.append(np.linalg.norm(solution.pose.translations.sum(0)) / HEIGHT)
    assert (np.diff(slid) < 0.0).all()
    assert slid[3] < 0.05 * slid[0]
    assert slid[4] == 0.0


@pytest.mark.parametrize("solver", ["PGS", "DLS", "CCD", "SVD"])
def test_a_stiff_joint_outside_its_limits_is_brought_inside(solver: str) -> None:
    """Balls, hinges and slides, in a call and in a motion; a stiff joint without limits stays."""
    swing = ik.TwistSwing((-0.2, 0.2), (-0.3, 0.3), (-0.3, 0.3))
    skeleton = ik.Skeleton([
        ik.Joint("free", -1, "ball", (0, 0, 0)),
        ik.Joint("ball", 0, "ball", (0, 1, 0), stiffness=1, limits=swing),
        ik.Joint("hinge", 1, "hinge", (0, 1, 0), axis=(1, 0, 0), stiffness=1, limits=ik.Range(0.5, 1.0)),
        ik.Joint("slide", 2, "prismatic", (0, 1, 0), axis=(0, 1, 0), stiffness=1, limits=ik.Range(0.1, 0.2)),
        ik.Joint("stays", 3, "ball", (0, 1, 0), stiffness=1),
        ik.Joint("tip", 4, "ball", (0, 1, 0)),
    ])  # fmt: skip
    rotations = np.random.default_rng(0).normal(size=(6, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    rotations[3] = 1, 0, 0, 0
    start, goal = ik.Pose(rotations, np.zeros((6, 3))), ik.Goal(5, (1, 1, 1))
    once = ik.solve(skeleton, [goal], start, solver)
    places = np.array([[[1, 1, 1]], [[1, 1, 1.1]]], dtype=float)
    for solution in (once, *ik.solve_frames(skeleton, [goal], places, None, start, solver)):
        assert max(outside_limits(skeleton, solution.pose, joint) for joint in (1, 2, 3)) < EXACT
        assert turned_by(start, solution.pose)[4] < 1e-9
