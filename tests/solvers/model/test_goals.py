# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals: what they refuse, their errors, and every row of their Jacobian against finite differences."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, seeds, skeletons, wxyz
from standing import targets_of

import solvers as ik
from solvers.group.stage import Stage
from solvers.model.goals import own_points, resolve_goals

STEP = 1e-6

# -- the one finite-difference check ----------------------------------------------------------------------------------


def stages_of(skeleton: ik.Skeleton, goals: list[ik.Goal]) -> list[Stage]:
    """The stages into which a solve groups the goals, without those that can move nothing."""
    return [stage for stage in ik.prepare(skeleton, goals).stages if stage.space.n]


def uncarried(skeleton: ik.Skeleton, goals: list[ik.Goal], world: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Targets (1, G, 4) that joints with orientations `world` (1, J, 4) carry to the `present` ones (1, G, 4)."""
    rest, found = ik.forward(skeleton, skeleton.rest_pose()).rotations, present.copy()
    for g, goal in enumerate(goals):
        limb = skeleton.parent[goal.joint]
        if goal.rotation_follows and limb >= 0:
            now, before = (Rotation.from_quat(part[limb], scalar_first=True) for part in (world[0], rest))
            found[0, g] = wxyz((now * before.inv()) ** -goal.rotation_follows * from_wxyz(present[0, g]))
        if goal.target_joint is not None:
            found[0, g] = wxyz(from_wxyz(world[0, goal.target_joint]).inv() * from_wxyz(present[0, g]))
    return found


def from_wxyz(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q, scalar_first=True)


def check_jacobian(skeleton: ik.Skeleton, goals: list[ik.Goal], pose: ik.Pose, tolerance: float = 1e-6) -> int:
    """Assert that `e(state + d) ~ e - J d` for every row and degree of freedom; returns the number of compared entries.

    Rotation rows are linear only at an error of 0 (Gauss-Newton), so each target rotation is the present one, carried
    by the limb above where it follows. A goal's rows are 0 for joints outside its chain, even if these move the goal.
    """
    compared, points = 0, own_points(resolve_goals(skeleton, goals))
    for stage in stages_of(skeleton, goals):
        tasks, space, n = stage.tasks, stage.space, stage.space.n
        state = space.state(pose)
        kinematics = tasks.kinematics(state, None)
        present = kinematics.rotations[:, [goal.joint for goal in stage.goals]]
        targets = targets_of(stage.goals)._replace(
            rotations=uncarried(skeleton, stage.goals, kinematics.rotations, present), points=points[None]
        )
        jacobian = tasks.jacobian(state, kinematics, targets)[0]

        both_ways = np.concatenate([np.eye(n), -np.eye(n)])
        same = np.zeros(2 * n, dtype=int)
        stepped = space.step(state.take(same), STEP * both_ways)
        errors = tasks.signed_errors(tasks.kinematics(stepped, None), targets.take(same))
        expected = (errors[n:] - errors[:n]).T / (2 * STEP)

        owners = np.concatenate([np.repeat(kind.goals, kind.size) for kind in tasks.kinds])
        for row, owner in enumerate(owners):
            goal = stage.goals[owner]
            free = stage.chains[owner] if goal.chain is None else np.isin(range(len(skeleton)), goal.chain)
            expected[row] *= free[space.joint]
        acts = np.concatenate([np.repeat(kind.acts, kind.size, axis=0) for kind in tasks.kinds])
        assert not jacobian[~acts].any()  # the kernel does not even look there
        assert jacobian.shape == expected.shape
        assert_allclose(jacobian, expected, atol=tolerance * max(1.0, np.abs(expected).max()))
        compared += jacobian.size
    return compared


def some_goals(skeleton: ik.Skeleton, generator: np.random.Generator) -> list[ik.Goal]:
    """One to three goals with any targets, weights, priorities and chains."""
    goals = []
    for _ in range(generator.integers(1, 4)):
        joint = int(generator.integers(len(skeleton)))
        above = np.flatnonzero(skeleton.ancestors[joint])
        what = generator.integers(3)
        goals.append(ik.Goal(
            joint, position=generator.normal(size=3) if what != 1 else None,
            rotation=generator.normal(size=4) if what != 0 else None, offset=generator.normal(size=3),
            position_weight=generator.uniform(0.1, 2), rotation_weight=generator.uniform(0.1, 2),
            priority=int(generator.integers(3)),
            chain=None if generator.integers(2) else [int(j) for j in above if generator.integers(3)],
            rotation_follows=float(generator.choice([0.0, 0.0, 0.3, 1.0])),
        ))  # fmt: skip
    return goals


@given(skeletons(), seeds)
def test_jacobian_of_any_skeleton_and_goals(skeleton: ik.Skeleton, seed: int) -> None:
    """Limited and free balls with any twist axis, hinges, slides, detached joints, and chains of some of the joints."""
    generator = np.random.default_rng(seed)
    goals = some_goals(skeleton, generator)
    assume(check_jacobian(skeleton, goals, random_pose(skeleton, generator, size=1.5)) > 0)


LIMITS = ik.TwistSwing(twist=(-1, 2), swing_x=(-0.5, 1.5), swing_z=(-1, 0.7))


def limb(detached: bool = False, limits: ik.TwistSwing | None = None) -> ik.Skeleton:
    """Hips, then a three-joint leg, its knee bent the way it prefers."""
    return ik.Skeleton([
        ik.Joint("hips", -1, "ball", (0, 1, 0)),
        ik.Joint("thigh", 0, "ball", (0.2, -0.1, 0), limits=limits, inherit_rotation=not detached),
        ik.Joint("shin", 1, "hinge", (0, -0.5, 0), axis=(1, 0, 0), preferred=(0.3, 0, 0)),
        ik.Joint("foot", 2, "ball", (0, -0.4, 0)),
    ])  # fmt: skip


POLED = [ik.Goal(4, (1, 2, 1), offset=(0, 1, 0), pole=(2, 1, 0)), ik.Goal(2, (0, 1, 1), pole=(0, 0, 3))]
LEG = [ik.Goal(3, position=(0.3, 0.3, 0.2), offset=(0, -0.1, 0.1), pole=(0.9, 0.3, -1.0))]


@pytest.mark.parametrize(("skeleton", "goals"), [(chain(5), POLED), (limb(detached=True), LEG)],
                         ids=["the mean of a chain's middle joints", "a detached leg"])  # fmt: skip
def test_jacobian_of_a_pole(skeleton: ik.Skeleton, goals: list[ik.Goal]) -> None:
    for seed in range(5):
        assert check_jacobian(skeleton, goals, random_pose(skeleton, np.random.default_rng(seed), 0.8), 1e-5) > 0


@pytest.mark.parametrize("limits", [None, LIMITS], ids=["free", "limited"])
@pytest.mark.parametrize("chain_", [None, [1, 2, 3], [1, 2]], ids=["whole", "leg", "two bones"])
def test_jacobian_of_a_pole_on_a_limb(limits: ik.TwistSwing | None, chain_: list | None) -> None:
    """A knee with a pole, at some angle or opposite to it, with a pole angle."""
    skeleton = limb(limits=limits)
    for seed, pole in enumerate([(0.2, 0.5, 1.0), (0.9, 0.3, -1.0), (-0.7, 0.6, 0.2), (0.2, 3.0, 0.4)]):
        goal = ik.Goal(3, position=(0.3, 0.3, 0.2), offset=(0, -0.1, 0.1), chain=chain_, pole=pole, pole_angle=0.4)
        pose = random_pose(skeleton, np.random.default_rng(seed), size=0.8)
        columns = stages_of(skeleton, [goal])[0].space.n
        assert check_jacobian(skeleton, [goal], pose, 1e-5) == 4 * columns


def test_jacobian_of_a_pole_with_a_straight_limb_is_finite() -> None:
    """On a straight limb the angle is undefined: neither the error nor its gradient is NaN."""
    skeleton = chain(3)
    goal = ik.Goal(2, position=(0, 1.5, 0), pole=(0, 1, 1))
    (stage,) = stages_of(skeleton, [goal])
    state = stage.space.state(skeleton.rest_pose())
    kinematics = stage.tasks.kinematics(state, None)
    assert np.isfinite(stage.tasks.jacobian(state, kinematics, targets_of([goal]))).all()
    assert stage.tasks.errors(kinematics, targets_of([goal]))[0, 3] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-9, math.pi - 1e-6, math.pi])
def test_jacobian_at_rest_and_at_a_half_turn(size: float) -> None:
    """At rest, and where a limited ball has swung or twisted by half a turn."""
    wide = ik.TwistSwing(twist=(-4, 4), swing_x=(-4, 4), swing_z=(-4, 4))
    for limits in (wide, ik.TwistSwing(twist=(-3.15, 3.1), swing_x=(-3.2, 3.2), swing_z=(-3.2, 3.2)), None):
        skeleton = chain(2, limits=limits)
        goal = ik.Goal(1, position=(1, 0, 0), rotation=(1, 0, 0, 0), offset=(0.2, 0.7, 0.1))
        for direction in np.eye(3):
            pose = skeleton.rest_pose()
            pose.rotations[0] = wxyz(Rotation.from_rotvec(size * direction))
            assert check_jacobian(skeleton, [goal], pose) == 6 * 6


# -- errors -----------------------------------------------------------------------------------------------------------


# -- parts ------------------------------------------------------------------------------------------------------------


# -- what goals refuse ------------------------------------------------------------------------------------------------

HERE = (0, 1, 0)


@pytest.mark.parametrize(("goal", "message"), [
    (lambda: ik.Goal(3, HERE), r"goal 0: joint = 3.*0 to 2"),
    (lambda: ik.Goal("jiont 2", HERE), r"goal 0: no joint is called 'jiont 2'; the joints are 'joint 2', 'joint"),
    (lambda: ik.Goal(1), r"goal 0.*'joint 1'.*asks for nothing"),
    (lambda: ik.Goal(1, (0, 1)), r"'joint 1'.*position.*3 numbers.*\(2,\)"),
    (lambda: ik.Goal(1, (0, math.nan, 0)), r"'joint 1'.*position.*finite.*nan"),
    (lambda: ik.Goal(1, "up"), r"'joint 1'.*position.*3 numbers.*'up'"),
    (lambda: ik.Goal(1, rotation=(1, 0, 0)), r"'joint 1'.*rotation.*4 numbers.*\(3,\)"),
    (lambda: ik.Goal(1, rotation=(0, 0, 0, 0)), r"'joint 1'.*rotation.*quaternion"),
    (lambda: ik.Goal(1, HERE, offset=(0, 0)), r"'joint 1'.*offset.*3 numbers"),
    (lambda: ik.Goal(1, HERE, pole=(0, 0)), r"'joint 1'.*pole.*3 numbers"),
    (lambda: ik.Goal(1, HERE, pole=(1, 0, 0), pole_angle=math.nan), r"'joint 1'.*pole_angle.*nan"),
    (lambda: ik.Goal(1, HERE, position_weight=-1), r"'joint 1'.*position_weight = -1.*0 or more"),
    (lambda: ik.Goal(1, HERE, rotation_weight=math.nan), r"'joint 1'.*rotation_weight = nan"),
    (lambda: ik.Goal(1, HERE, position_weight="much"), r"'joint 1'.*position_weight = 'much'"),
    (lambda: ik.Goal(1, ("0", "1", "0")), r"'joint 1'\) position: expected 3 numbers, got \('0', '1', '0'\)"),
    (lambda: ik.Goal(1, HERE, priority=True), r"'joint 1'.*priority = True; expected a whole number"),
    (lambda: ik.Goal(1, HERE, priority=10**30), r"'joint 1'.*priority = 1000"),
    (lambda: ik.Goal(1, HERE, chain=[0, 2]), r"'joint 1'.*chain.*2.*neither"),
    (lambda: ik.Goal("joint 1", HERE, chain=["joint 2"]), r"'joint 1'.*chain holds 'joint 2'.*neither"),
    (lambda: ik.Goal(1, HERE, chain="joint 1"), r"chain = 'joint 1'; expected a list of joints"),
    *((lambda share=share: ik.Goal(1, rotation=(1, 0, 0, 0), rotation_follows=share),
       r"'joint 1'.*rotation_follows.*expected 0 to 1") for share in (-0.1, 1.1, math.nan, "all")),
    (lambda: ik.Goal(1, HERE, priority="first"), r"'joint 1'.*priority.*'first'"),
    (lambda: "hand", r"goal 0.*Goal.*'hand'"),
])  # fmt: skip
def test_bad_goals_are_refused_by_name(goal, message: str) -> None:
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.solve(chain(3), [goal()])


def test_a_bad_goal_among_good_ones_is_named_by_its_place() -> None:
    with pytest.raises(ik.InvalidGoal, match=r"goal 2.*'joint 1'.*position"):
        ik.solve(chain(3), [ik.Goal(2, HERE), ik.Goal(1, rotation=(1, 0, 0, 0)), ik.Goal(1, (0, 1))])
