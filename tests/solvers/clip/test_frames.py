# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepared solves and motions: the same answers as single solves, warm starts, and poses that hold still."""

from itertools import pairwise

import numpy as np
import pytest
from measures import UPRIGHT, bend_from_pole, both_solvers, effector, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, arm, bent, chain, random_pose, torso, wxyz

import solvers as ik

NARROW = ik.TwistSwing(twist=(-0.5, 0.5), swing_x=(-1, 1), swing_z=(-1, 1))


def walk(frames: int = 12) -> tuple[ik.Skeleton, list[ik.Goal], np.ndarray, np.ndarray]:
    """A limited torso whose hands move: skeleton, goals, positions (F, 2, 3), rotations (F, 2, 4)."""
    skeleton = torso()
    goals = [ik.Goal(LEFT, (0, 0, 0), UPRIGHT), ik.Goal(RIGHT, (0, 0, 0))]
    t = np.linspace(0, 1, frames)
    positions = np.stack([
        np.stack([0.6 - 0.2 * t, 0.7 + 0.1 * t, 0.2 + 0.2 * t], -1),
        np.stack([-0.6 + 0.0 * t, 0.7 - 0.3 * t, 0.1 + 0.3 * t], -1),
    ], 1)  # fmt: skip
    rotations = np.tile(UPRIGHT, (frames, 2, 1))
    rotations[:, 0] = wxyz(Rotation.from_rotvec(np.stack([0 * t, 0.4 * t, 0.2 * t], -1)))
    return skeleton, goals, positions, rotations


def at(goals: list[ik.Goal], positions: np.ndarray, rotations: np.ndarray) -> list[ik.Goal]:
    """The goals with one frame's targets."""
    return [ik.Goal(goal.joint, position, goal.rotation and tuple(rotation))
            for goal, position, rotation in zip(goals, positions, rotations, strict=True)]  # fmt: skip


@both_solvers
def test_prepare_starts_at_rest_unless_told_otherwise(solver: str) -> None:
    """Also after a call with another start."""
    skeleton, goals, positions, rotations = walk()
    prepared = ik.prepare(skeleton, goals, solver, ik.Options())
    prepared(positions[0], rotations[0], random_pose(skeleton, np.random.default_rng(0)))
    found = prepared(positions[0], rotations[0])
    expected = ik.solve(skeleton, at(goals, positions[0], rotations[0]), skeleton.rest_pose(), solver)
    assert (found.pose.rotations == expected.pose.rotations).all()


@both_solvers
def test_links_of_a_posed_rig_stand_in_for_the_skeletons_own(solver: str) -> None:
    """With bones that stretch from frame to frame, each frame's foot meets its target with that frame's bones."""
    skeleton = chain(4)
    goals = [ik.Goal(3, (0, 0, 0))]
    prepared = ik.prepare(skeleton, goals, solver, ik.Options())
    stretched = [chain(4, length=length) for length in (0.8, 1.0, 1.3)]
    positions = np.array([[(0.9, 1.5, 0.4)], [(1.1, 2.0, 0.5)], [(1.5, 2.6, 0.5)]])
    targets = prepared.targets(positions, np.tile(UPRIGHT, (3, 1, 1)))
    start = prepared.start(bent(4))
    batch = prepared.solve_batch(targets, start, np.stack([longer.links for longer in stretched]))
    for frame in range(3):
        pose = ik.Pose(batch.rotations[frame], batch.translations[frame])
        assert_allclose(effector(stretched[frame], pose, 3), positions[frame, 0], atol=1e-4)


@both_solvers
def test_poles_may_move_from_frame_to_frame(solver: str) -> None:
    """Each frame's elbow points at that frame's pole, not at the goal's own."""
    skeleton = chain(3)
    prepared = ik.prepare(skeleton, [ik.Goal(2, (0, 0, 0), pole=(0, 1, 5))], solver, ik.Options())
    poles = np.array([[(5.0, 1, 0)], [(0.0, 1, -5)], [(-3.0, 1, 3)]])
    targets = prepared.targets(np.tile((0.0, 1.6, 0), (3, 1, 1)), np.tile(UPRIGHT, (3, 1, 1)), poles)
    batch = prepared.solve_batch(targets, prepared.start(bent(3)))
    for frame in range(3):
        pose = ik.Pose(batch.rotations[frame], batch.translations[frame])
        assert bend_from_pole(skeleton, pose, (0, 1, 2), poles[frame, 0]) < np.radians(2)


@pytest.mark.parametrize("poles", [np.full((1, 1, 3), np.nan), np.zeros((1, 2, 3)), np.zeros((2, 1, 3)), np.zeros(3)])
def test_bad_poles_of_frames_are_refused(poles: np.ndarray) -> None:
    prepared = ik.prepare(chain(3), [ik.Goal(2, (0, 0, 0), pole=(0, 1, 5))], "PGS", ik.Options())
    with pytest.raises(ik.InvalidGoal, match="poles"):
        prepared.targets(np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1, 1)), poles)


@both_solvers
def test_frames_with_a_warm_start_follow_on_from_each_other(solver: str) -> None:
    """The first frame is a solve of its own, the others take fewer steps, and all goals are met."""
    skeleton, goals, positions, rotations = walk(30)
    warm = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)
    first = ik.solve(skeleton, at(goals, positions[0], rotations[0]), solver=solver)
    assert (warm[0].pose.rotations == first.pose.rotations).all()
    assert all(frame.converged for frame in warm)
    cold = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver, options=ik.Options(warm_start=False))
    assert sum(f.iterations for f in warm[1:]) < sum(f.iterations for f in cold[1:])
    steps = [turned_by(a.pose, b.pose).max() for a, b in pairwise(warm)]
    assert max(steps) < 0.15


@both_solvers
@pytest.mark.parametrize("warm_start", [True, False])
def test_no_frames_have_no_answers(warm_start: bool, solver: str) -> None:
    skeleton, goals, positions, rotations = walk()
    assert ik.solve_frames(skeleton, goals, positions[:0], rotations[:0], solver=solver,
                           options=ik.Options(warm_start=warm_start)) == []  # fmt: skip


STILL = {
    "arm": (arm(), [ik.Goal(2, position=(1, 2.5, 1))]),
    "long chain": (chain(8), [ik.Goal(7, position=(3, -9, 2), rotation=(0.8, 0.6, 0, 0))]),
    "limited chain": (chain(4, limits=NARROW), [ik.Goal(3, position=(3, -4, 2), rotation=(0.6, 0.8, 0, 0))]),
    "two goals at odds": (chain(4, limits=NARROW), [ik.Goal(3, position=(3, -2, 2)), ik.Goal(2, position=(-3, 1, 0))]),
    "pole": (chain(3), [ik.Goal(2, position=(1, -9, 2), pole=(0, 0, 3))]),
    "knee": (
        arm(shoulder=NARROW, elbow=ik.Range(0.01, 2.6), preferred=(0.35, 0, 0)),
        [ik.Goal(2, position=(1, -3, 1))],
    ),
}


@both_solvers
@pytest.mark.parametrize("which", STILL)
def test_an_unreachable_target_held_still_holds_the_pose_still(which: str, solver: str) -> None:
    """In 200 frames with the same target no joint turns by 1e-3 rad in a frame after the third."""
    skeleton, goals = STILL[which]
    positions = np.tile([goal.position for goal in goals], (200, 1, 1))
    rotations = np.tile([goal.rotation or UPRIGHT for goal in goals], (200, 1, 1))
    frames = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)
    assert not any(frame.converged for frame in frames)
    steps = [turned_by(a.pose, b.pose).max() for a, b in pairwise(frames[2:])]
    assert max(steps) < 1e-3


def sweep(path: str) -> np.ndarray:
    """Targets (80, 3) of a foot: across below a straight leg, or out of its reach and back."""
    t = np.linspace(0, 1, 80)
    across = np.stack([2 * t - 1, 0 * t - 1.5, 0 * t], -1)
    out_and_back = np.stack([0 * t, -1.2 - 1.2 * np.sin(np.pi * t), 0 * t + 0.1], -1)
    return {"across": across, "out and back": out_and_back}[path]


@both_solvers
@pytest.mark.parametrize("warm_start", [True, False], ids=["tracked", "afresh"])
@pytest.mark.parametrize(("path", "most"), [("across", 4.0), ("out and back", 25.0)])
def test_a_smooth_sweep_flips_no_bone(path: str, most: float, warm_start: bool, solver: str) -> None:
    """A straight leg that prefers a bend: no joint jumps, not even where the target leaves the reach and comes back.

    (Near full stretch the knee's angle is proportional to the root of the missing length: 17 degrees for the first 2
    %.)
    """
    skeleton = ik.Skeleton([
        ik.Joint("hip", -1, "ball", (0, 0, 0)),
        ik.Joint("knee", 0, "hinge", (0, -1, 0), axis=(1, 0, 0), preferred=(0.35, 0, 0), limits=ik.Range(0.0, 2.6)),
        ik.Joint("foot", 1, "ball", (0, -1, 0)),
    ])  # fmt: skip
    positions = sweep(path)[:, None]
    options = ik.Options(warm_start=warm_start)
    frames = ik.solve_frames(
        skeleton, [ik.Goal(2, (0, 0, 0))], positions, np.tile(UPRIGHT, (80, 1, 1)), None, solver, options
    )
    steps = [turned_by(a.pose, b.pose).max() for a, b in pairwise(frames)]
    assert np.degrees(max(steps)) < most
    reach = np.linalg.norm(positions[:, 0], axis=1)
    assert all(frame.converged for frame, far in zip(frames, reach, strict=True) if far < 1.99)


# -- targets without rotations, or without positions -------------------------------------------------------------------


def reach() -> tuple[ik.Skeleton, list[ik.Goal], np.ndarray]:
    """An arm whose hand moves: skeleton, goals, positions (5, 1, 3)."""
    t = np.linspace(0, 1, 5)
    return arm(), [ik.Goal("hand", (0, 0, 0))], np.stack([0.5 + 0.2 * t, 1.0 + 0 * t, 0.6 - 0.2 * t], -1)[:, None]


@both_solvers
def test_goals_without_rotations_need_none(solver: str) -> None:
    """In a motion, a prepared call and tracking: the same answers as with rotations that no goal uses."""
    skeleton, goals, positions = reach()
    unused = np.tile(UPRIGHT, (5, 1, 1))
    prepared = ik.prepare(skeleton, goals, solver)
    for found, expected in [
        (ik.solve_frames(skeleton, goals, positions, solver=solver),
         ik.solve_frames(skeleton, goals, positions, unused, solver=solver)),
        (ik.track(skeleton, goals, positions, solver=solver),
         ik.track(skeleton, goals, positions, unused, solver=solver)),
        ([prepared(frame) for frame in positions], [prepared(frame, unused[0]) for frame in positions]),
    ]:  # fmt: skip
        for one, other in zip(found, expected, strict=True):
            assert (one.pose.rotations == other.pose.rotations).all()


@both_solvers
def test_targets_may_be_plain_lists(solver: str) -> None:
    skeleton, goals, positions = reach()
    found = ik.solve_frames(skeleton, goals, positions.tolist(), solver=solver)
    expected = ik.solve_frames(skeleton, goals, positions, solver=solver)
    assert (found[-1].pose.rotations == expected[-1].pose.rotations).all()
    prepared = ik.prepare(skeleton, goals, solver)
    assert (prepared([(0, 1, 1)]).pose.rotations == prepared(np.array([[0.0, 1, 1]])).pose.rotations).all()
    rest = skeleton.rest_pose()
    lists = ik.Pose(rest.rotations.tolist(), rest.translations.tolist())
    assert (prepared([(0, 1, 1)], pose=lists).pose.rotations == prepared([(0, 1, 1)]).pose.rotations).all()


def test_goals_without_positions_need_none() -> None:
    rotations = wxyz(Rotation.from_rotvec([[0, 0, 0.1], [0, 0, 0.3]]))[:, None]
    frames = ik.solve_frames(chain(2), [ik.Goal(1, rotation=UPRIGHT)], None, rotations)
    assert all(frame.converged for frame in frames)
    assert ik.prepare(chain(2), [ik.Goal(1, rotation=UPRIGHT)])(None, rotations[0]).converged


@pytest.mark.parametrize(("positions", "rotations", "message"), [
    (np.zeros((1, 2, 3)), None, r"goal 1 \(joint 'elbow'\) asks for a rotation: rotations are required"),
    (None, np.ones((1, 2, 4)), r"goal 0 \(joint 'hand'\) asks for a position: positions are required"),
    ([[(0, 0), (0, 0)]], np.ones((1, 2, 4)), r"positions: expected shape \(frames, 2, 3\), got \(1, 2, 2\)"),
    ([[(0, 0, 0), (0, 0)]], np.ones((1, 2, 4)), r"positions: expected numbers of shape \(frames, 2, 3\)"),
    ("up", np.ones((1, 2, 4)), r"positions: expected numbers of shape"),
    (np.zeros((1, 2, 3)), np.ones((2, 2, 4)), r"positions of 1 frames but rotations of 2"),
    (np.full((1, 2, 3), np.nan), np.ones((1, 2, 4)), r"positions of goal 0, frame 0: got \[nan"),
])  # fmt: skip
def test_targets_that_goals_ask_for_are_required(positions: object, rotations: object, message: str) -> None:
    goals = [ik.Goal("hand", (0, 0, 0)), ik.Goal("elbow", rotation=UPRIGHT)]
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.solve_frames(arm(), goals, positions, rotations)
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.track(arm(), goals, positions, rotations)


def test_without_goals_there_is_nothing_to_take_frames_from() -> None:
    with pytest.raises(ik.InvalidGoal, match="positions and rotations: got None for both"):
        ik.solve_frames(arm(), [], None)


@both_solvers
@pytest.mark.parametrize("zero", [(0, 0, 0, 0), (0, 1e-9, 0, 0)])
def test_a_zero_quaternion_is_refused_by_goal_and_frame(zero: tuple, solver: str) -> None:
    """In a motion and in a prepared call; allowed for a goal without a rotation."""
    skeleton = arm()
    goals = [ik.Goal("hand", (0, 0, 0)), ik.Goal("elbow", rotation=UPRIGHT)]
    rotations = np.tile(UPRIGHT, (4, 2, 1)).astype(float)
    rotations[2, 1] = zero
    message = r"rotations of goal 1 \(joint 'elbow'\), frame 2: expected a quaternion w x y z, got \[0.0, "
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.solve_frames(skeleton, goals, np.zeros((4, 2, 3)), rotations, solver=solver)
    prepared = ik.prepare(skeleton, goals, solver)
    with pytest.raises(ik.InvalidGoal, match=r"rotations of goal 1 \(joint 'elbow'\), frame 0"):
        prepared(np.zeros((2, 3)), rotations[2])
    rotations[:, 0], rotations[2, 1] = zero, UPRIGHT
    positions = np.tile((0.5, 1.0, 0.6), (4, 2, 1))
    first = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)[0]
    assert (first.pose.rotations == prepared(positions[0], rotations[0]).pose.rotations).all()


@both_solvers
def test_a_half_turn_is_no_zero_quaternion(solver: str) -> None:
    found = ik.prepare(chain(1), [ik.Goal(0, rotation=UPRIGHT)], solver)(None, np.array([[0.0, 0.8, 0, 0.6]]))
    assert np.isfinite(found.pose.rotations).all()
