# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations that turn with the limb above the goal (`Goal.rotation_follows`), against SciPy's rotations."""

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation
from skeletons import random_pose, seeds, skeletons, wxyz
from test_goals import from_wxyz, uncarried

import solvers as ik

LIMITS = ik.TwistSwing(twist=(-0.6, 0.6), swing_x=(-0.7, 0.7), swing_z=(-0.5, 0.5))
ARM = ik.Skeleton([
    ik.Joint("collar", -1, "ball", (0, 1.4, 0), stiffness=0.5),
    ik.Joint("upper", 0, "ball", (0, 0.2, 0)),
    ik.Joint("lower", 1, "ball", (0, 0.3, 0.02), rest=wxyz(Rotation.from_rotvec([0.2, 0.3, -0.1]))),
    ik.Joint("hand", 2, "ball", (0, 0.28, 0), limits=LIMITS),
])  # fmt: skip
NEAR = 1e-4


def asked(seed: int, follows: float, turn: float = 0.4) -> tuple[ik.Goal, np.ndarray]:
    """A place that the arm can reach and a small turn of the hand; the rotation of the hand from the forearm at 1."""
    generator = np.random.default_rng(seed)
    place = ik.forward(ARM, random_pose(ARM, generator)).positions[3]
    rest = ik.forward(ARM, ARM.rest_pose()).rotations
    by = Rotation.from_rotvec(turn * generator.uniform(-1, 1, 3))
    wanted = by * from_wxyz(rest[3])
    goal = ik.Goal("hand", place, wxyz(wanted), rotation_follows=follows)
    return goal, wxyz(from_wxyz(rest[2]).inv() * wanted)


def angle(one: np.ndarray, other: np.ndarray) -> float:
    return float((from_wxyz(one).inv() * from_wxyz(other)).magnitude())


@pytest.mark.parametrize("solver", ["PGS", "DLS", "CCD", "NEWTON", "SQP", "EXTENDED", "SDLS", "BROYDEN"])
def test_the_hand_stands_to_its_forearm_as_its_target_does_at_rest(solver: str) -> None:
    options = ik.Options(tolerance=NEAR, rotation_tolerance=NEAR, iterations=300)
    for seed in range(6):
        goal, local = asked(seed, 1.0)
        found = ik.solve(ARM, [goal], solver=solver, options=options)
        world = ik.forward(ARM, found.pose).rotations
        assert angle(world[3], wxyz(from_wxyz(world[2]) * from_wxyz(local))) < NEAR
        alone = ik.solve(ARM, [ik.Goal("hand", goal.position)], solver=solver, options=options)
        assert found.position_errors[0] < max(NEAR, 1.01 * alone.position_errors[0])  # its place costs nothing


def test_two_bone_turns_the_hand_with_its_forearm() -> None:
    """The hand's tip is the effector, so its turn decides where the forearm ends."""
    for seed in range(6):
        goal, local = asked(seed, 1.0)
        chain, tip = ["upper", "lower", "hand"], (0, 0.1, 0)
        limb = ik.Goal("hand", goal.position, goal.rotation, tip, chain=chain, rotation_follows=1.0)
        found = ik.solve(ARM, [limb], solver="TWO_BONE", options=ik.Options(tolerance=1e-6))
        world = ik.forward(ARM, found.pose).rotations
        assert angle(world[3], wxyz(from_wxyz(world[2]) * from_wxyz(local))) < NEAR
        again = ik.solve(ARM, [limb], options=ik.Options(tolerance=1e-6))
        assert found.converged == again.converged


@given(skeletons(), seeds)
def test_a_pose_meets_the_target_that_its_limb_carries_there(skeleton: ik.Skeleton, seed: int) -> None:
    """In between too: the target is turned by the limb's own turn from rest to the power of `rotation_follows`."""
    generator = np.random.default_rng(seed)
    joint, follows, still = int(generator.integers(len(skeleton))), float(generator.uniform()), ik.Options(iterations=0)
    start = random_pose(skeleton, generator, size=1.2)
    pose = ik.solve(skeleton, [ik.Goal(joint, (0, 0, 0))], start, options=still).pose  # inside the limits
    world = ik.forward(skeleton, pose)
    goal = ik.Goal(joint, world.positions[joint], world.rotations[joint], rotation_follows=follows)
    target = uncarried(skeleton, [goal], world.rotations[None], world.rotations[None, [joint]])[0, 0]
    turn = ik.Goal(joint, world.positions[joint], target, rotation_follows=follows)
    found = ik.solve(skeleton, [turn], pose, options=still)
    assert found.rotation_errors[0] < 1e-9


def test_a_hand_whose_rotation_follows_keeps_its_place_where_the_world_rotation_breaks_it() -> None:
    """All the way round, a wrist that bends by 40 degrees can only keep a rotation that goes with the forearm."""
    missed = {0.0: 0, 1.0: 0}
    for seed in range(20):
        for follows in missed:
            goal, _ = asked(seed, follows)
            missed[follows] += not ik.solve(ARM, [goal]).converged
    assert missed[1.0] == 0
    assert missed[0.0] > 0


def test_a_joint_without_one_above_keeps_its_rotation_in_the_skeletons_frame() -> None:
    turn = wxyz(Rotation.from_rotvec([0.3, 0.5, -0.2]))
    found = ik.solve(ARM, [ik.Goal("collar", rotation=turn, rotation_follows=1.0)])
    assert angle(found.pose.rotations[0], turn) < NEAR
