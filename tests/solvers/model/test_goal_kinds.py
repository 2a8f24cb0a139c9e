# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of other kinds than places and rotations: Jacobians, accuracy, room, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import some_kind
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, seeds, skeletons, wxyz
from test_goals import check_jacobian

import solvers as ik
from solvers.space.tasks.balance import hull_edges

LINEAR = ["PGS", "DLS", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "NEWTON", "SQP"]
EXACT = ik.Options(iterations=200, tolerance=1e-7, rotation_tolerance=1e-7)


@pytest.mark.parametrize("kind", [kind for kind in ik.GOAL_KINDS if kind != "REACH"])
def test_the_jacobian_of_every_kind_is_that_of_differences(kind: str) -> None:
    """Free and limited balls, hinges, slides, detached joints; anywhere, not only where the error is small."""

    @given(skeletons(), seeds)
    def check(skeleton: ik.Skeleton, seed: int) -> None:
        generator = np.random.default_rng(seed)
        goals = [some_kind(skeleton, generator, kind) for _ in range(2)]
        check_jacobian(skeleton, goals, random_pose(skeleton, generator, size=1.5), tolerance=2e-5)

    check()


@pytest.mark.parametrize("kind", [kind for kind, own in ik.GOAL_KINDS.items() if "target_joint" in own.takes])
def test_the_jacobian_of_a_target_that_a_joint_carries_is_that_of_differences(kind: str) -> None:
    @given(skeletons(), seeds)
    def check(skeleton: ik.Skeleton, seed: int) -> None:
        generator = np.random.default_rng(seed)
        goals = []
        for _ in range(2):
            goal = some_kind(skeleton, generator, kind, chains=False)
            others = [joint for joint in range(len(skeleton)) if joint != goal.joint]
            if not others:
                return
            goals.append(replace(goal, target_joint=int(generator.choice(others)), position=generator.normal(size=3)))
        check_jacobian(skeleton, goals, random_pose(skeleton, generator, size=1.5), tolerance=2e-5)

    check()


def two_arms() -> ik.Skeleton:
    """A trunk of two joints with an arm of three on either side."""
    joints = [ik.Joint("hips", -1, "ball", (0, 0, 0)), ik.Joint("chest", 0, "ball", (0, 0.5, 0))]
    for side, sign in (("left", 1), ("right", -1)):
        arm = len(joints)
        joints += [
            ik.Joint(f"{side} arm", 1, "ball", (sign * 0.2, 0.3, 0)),
            ik.Joint(f"{side} forearm", arm, "ball", (sign * 0.4, 0, 0), preferred=(0, -sign * 0.3, 0)),
            ik.Joint(f"{side} hand", arm + 1, "fixed", (sign * 0.4, 0, 0)),
        ]
    return ik.Skeleton(joints)


@pytest.mark.parametrize("solver", ["PGS", "DLS", "EXTENDED", "SQP"])
def test_a_target_may_be_another_joint(solver: str) -> None:
    """One hand is led, the other keeps its distance from it and an axis parallel to one of its, the chest looks at it:
    in the pose that comes out."""
    skeleton = two_arms()
    for place in ((0.3, 0.9, 0.5), (-0.2, 0.8, 0.6), (0.1, 0.4, 0.4)):
        goals = [
            ik.Goal("left hand", position=place),
            ik.Goal("right hand", kind="DISTANCE", position=(0.05, 0.0, 0.0), target_joint="left hand", distance=0.3),
            ik.Goal("right hand", kind="PARALLEL", rotation=(1, 0, 0, 0), target_joint="left hand", axis=(0, 0, 2),
                    target_axis=(1, 0, -1)),
            ik.Goal("chest", kind="LOOK_AT", position=(0, 0, 0), target_joint="left hand", axis=(0, 0, 1)),
        ]  # fmt: skip
        solution = ik.solve(skeleton, goals, solver=solver, options=replace(EXACT, tolerance=1e-6))
        now = ik.forward(skeleton, solution.pose)
        hand, other, chest = (skeleton.index(name) for name in ("left hand", "right hand", "chest"))
        turn = Rotation.from_quat(now.rotations[[hand, chest, other]], scalar_first=True)
        held = now.positions[hand] + turn[0].apply([0.05, 0.0, 0.0])
        line = now.positions[hand] - now.positions[chest]
        assert np.linalg.norm(now.positions[hand] - place) < 2e-5
        assert abs(np.linalg.norm(now.positions[other] - held) - 0.3) < 2e-5
        assert np.linalg.norm(np.cross(turn[1].apply([0, 0, 1]), line / np.linalg.norm(line))) < 2e-5
        assert np.linalg.norm(turn[2].apply([0, 0, 1]) - turn[0].apply([1, 0, -1]) / np.sqrt(2)) < 2e-5
        assert solution.converged


def eye(generator: np.random.Generator) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """A chain with six joints, and a place that its third joint should reach beside the goal of another kind."""
    skeleton = chain(6, limits=ik.TwistSwing((-1, 1), (-1.5, 1.5), (-1.5, 1.5)))
    place = ik.forward(skeleton, random_pose(skeleton, generator, 0.4)).positions[3]
    return skeleton, [ik.Goal(3, position=place)]


@pytest.mark.parametrize("solver", LINEAR)
def test_every_linear_solver_meets_each_kind_beside_a_place(solver: str) -> None:
    """Measured from the pose that comes out: the angle of the gaze, distances, heights, points on a curve."""
    generator = np.random.default_rng(5)
    skeleton, places = eye(generator)
    world = ik.forward(skeleton, random_pose(skeleton, generator, 0.5))
    plane = Rotation.from_rotvec([0.2, -0.3, 0.1])
    goals = {
        "look": ik.Goal(5, kind="LOOK_AT", position=(3, 5, 4), axis=(0, 0, 1), offset=(0, 0.2, 0.1)),
        "parallel": ik.Goal(5, kind="PARALLEL", rotation=wxyz(plane), axis=(0, 1, 0), target_axis=(0, 0, 1)),
        "at": ik.Goal(5, kind="DISTANCE", position=(0.5, 4.0, 0.5), distance=0.7),
        "within": ik.Goal(5, kind="DISTANCE", position=(2.0, 4.0, 0.5), distance=0.7, side="WITHIN"),
        "beyond": ik.Goal(5, kind="DISTANCE", position=(0.1, 4.8, 0.0), distance=0.7, side="BEYOND"),
        "on": ik.Goal(5, kind="PLANE", position=(0, 0, 1), rotation=wxyz(plane), distance=0.1),
        "above": ik.Goal(5, kind="PLANE", position=(0, 0, 1), rotation=wxyz(plane), side="ABOVE"),
    }
    for name, goal in goals.items():
        solution = ik.solve(skeleton, [*places, goal], solver=solver, options=replace(EXACT, tolerance=1e-6))
        now = ik.forward(skeleton, solution.pose)
        turn = Rotation.from_quat(now.rotations[5], scalar_first=True)
        tip, place = now.positions[5] + turn.apply(goal.offset), np.zeros(3) if goal.position is None else goal.position
        away = np.linalg.norm(tip - place)
        height = plane.apply([0, 0, 1]) @ (tip - place)
        line = np.array(place) - tip
        off = {
            "look": np.linalg.norm(np.cross(turn.apply(goal.axis), line / away)), "at": abs(away - 0.7),
            "within": max(away - 0.7, 0.0), "beyond": max(0.7 - away, 0.0), "on": abs(height - 0.1),
            "above": max(-height, 0.0), "parallel": np.linalg.norm(turn.apply([0, 1, 0]) - plane.apply([0, 0, 1])),
        }[name]  # fmt: skip
        assert off < 2e-5, (name, off)
        assert np.linalg.norm(now.positions[3] - places[0].position) < 2e-5
        assert turn.apply(goal.axis) @ line > 0.0 or name != "look"
        assert solution.converged
    curve = ik.Goal(5, kind="CURVE", points=[*world.positions[1:], world.positions[5]])
    now = ik.forward(skeleton, ik.solve(skeleton, [curve], solver=solver, options=EXACT).pose)
    assert_allclose(now.positions, world.positions, atol=2e-5)


def test_the_centre_of_mass_is_over_a_place_or_an_area() -> None:
    """A figure that leans: its centre of mass, weighed here, goes over the target, or just inside a tilted area."""
    skeleton = chain(5)
    masses = [(joint, (0.0, 0.5, 0.0), float(1 + joint % 2)) for joint in range(5)]
    up = Rotation.from_rotvec([-np.pi / 2 + 0.1, 0, 0])  # the target's Z axis is nearly +Y
    start = ik.Pose(wxyz(Rotation.from_rotvec(np.tile([0.0, 0.0, 0.2], (5, 1)))), np.zeros((5, 3)))
    area = up.apply([(-0.1, -0.2, 0), (0.1, -0.2, 0), (0.1, 0.2, 0), (-0.1, 0.2, 0), (0.0, 0.0, 0)])
    for side, distance in (("AT", 0.0), ("WITHIN", 0.0), ("WITHIN", 0.05)):
        goal = ik.Goal(0, kind="BALANCE", position=(0.2, 0, 0.1), rotation=wxyz(up), masses=masses, side=side,
                       points=area, distance=distance)  # fmt: skip
        solution = ik.solve(skeleton, [goal], start, options=EXACT)
        now = ik.forward(skeleton, solution.pose)
        middles = [now.positions[j] + Rotation.from_quat(now.rotations[j], scalar_first=True).apply(centre)
                   for j, centre, _ in masses]  # fmt: skip
        flat = up.inv().apply(np.average(middles, axis=0, weights=[mass for *_, mass in masses]))[:2]
        if side == "AT":
            assert_allclose(flat, up.inv().apply(goal.position)[:2], atol=1e-6)
        else:
            room = np.array([0.1, 0.2]) - np.abs(flat)
            assert room.min() == pytest.approx(distance, abs=1e-6)  # it began outside, so it stops at the edge
        assert solution.converged


@given(seeds)
def test_the_edges_of_a_hull_are_scipys(seed: int) -> None:
    generator = np.random.default_rng(seed)
    corners = generator.normal(size=(int(generator.integers(3, 12)), 2))
    normals, heights = hull_edges(corners, 1e-12)
    hull = ConvexHull(corners).equations
    expected = hull[np.argsort(np.arctan2(hull[:, 1], hull[:, 0]))]
    order = np.argsort(np.arctan2(normals[:, 1], normals[:, 0]))
    assert_allclose(np.column_stack([normals, -heights])[order], expected, atol=1e-9)


@pytest.mark.parametrize("corners", [[(1, 2)], [(1, 2), (1, 2)], [(0, 0), (2, 2)], [(0, 0), (1, 1), (2, 2), (1, 1)]])
def test_the_hull_of_points_in_a_line_holds_the_line_alone(corners: list[tuple[float, float]]) -> None:
    normals, heights = hull_edges(np.array(corners, dtype=float), 1e-9)
    inside = normals @ np.array(corners, dtype=float).T - heights[:, None]
    assert inside.max() < 1e-12
    across = np.array([1.0, -1.0]) / np.sqrt(2)
    beside = np.array([1e-3, 1e-3])
    for point in (corners[0] + 1e-3 * across, corners[-1] + beside, corners[0] - beside):
        assert (normals @ point - heights).max() > 0.0


@pytest.mark.parametrize("solver", ["PGS", "DLS", "PINV", "SQP"])
def test_a_one_sided_goal_with_room_changes_nothing(solver: str) -> None:
    """Within, beyond, above and inside an area, each far from its bound: the answer is the one without it."""
    generator = np.random.default_rng(2)
    skeleton, places = eye(generator)
    alone = ik.solve(skeleton, places, solver=solver).pose.rotations
    for goal in (
        ik.Goal(3, kind="DISTANCE", position=(0, 0, 0), distance=50.0, side="WITHIN"),
        ik.Goal(3, kind="DISTANCE", position=(0, 0, 40), distance=5.0, side="BEYOND"),
        ik.Goal(3, kind="PLANE", position=(0, 0, -30), rotation=(1, 0, 0, 0), side="ABOVE"),
        ik.Goal(3, kind="BALANCE", position=(0, 0, 0), side="WITHIN", chain=[0, 1, 2, 3],
                points=[(-40, -40, 0), (40, -40, 0), (40, 40, 0), (-40, 40, 0)]),
    ):  # fmt: skip
        # one goal more is one row more, which changes the damping of the first step and so the last digits
        assert_allclose(ik.solve(skeleton, [*places, goal], solver=solver).pose.rotations, alone, atol=2e-3)


def test_a_motion_goes_on_with_other_kinds() -> None:
    """A tail follows a curve that moves, frame by frame, as well as each frame afresh."""
    skeleton = chain(5)
    bends = [random_pose(skeleton, np.random.default_rng(1), 0.3)]
    for step in range(1, 12):
        turned = Rotation.from_quat(bends[0].rotations, scalar_first=True).as_rotvec() * (1 + 0.05 * step)
        bends.append(ik.Pose(wxyz(Rotation.from_rotvec(turned)), np.zeros((5, 3))))
    worlds = [ik.forward(skeleton, pose).positions for pose in bends]
    points = np.array([[*world[1:], world[4]] for world in worlds])
    goals = [ik.Goal(4, kind="CURVE", points=points[0])]
    for warm in (True, False):
        options = ik.Options(warm_start=warm, tolerance=1e-6)
        frames = ik.solve_frames(skeleton, goals, None, points=points, options=options)
        assert all(frame.converged for frame in frames)
        assert_allclose(ik.forward(skeleton, frames[-1].pose).positions, worlds[-1], atol=1e-4)


@pytest.mark.parametrize("solver", ["CCD", "FABRIK", "TWO_BONE"])
def test_solvers_that_turn_joint_after_joint_refuse_what_others_solve(solver: str) -> None:
    """Other kinds of goals, targets that a joint carries, and joints that move together."""
    coupled = ik.Skeleton(chain(3).joints, couplings=[ik.Coupling(1, "X", 0)])
    for skeleton, goal, message in (
        (chain(3), ik.Goal(2, kind="LOOK_AT", position=(0, 1, 1)), "solves positions .* only; goal 0 .* LOOK_AT goal"),
        (chain(3), ik.Goal(2, (0, 1, 1), target_joint=0), "solves positions .* only; goal 0 .* closed-loop goal"),
        (coupled, ik.Goal(2, (0, 1, 1)), "cannot solve joints that move together; joint 'joint 1' is"),
    ):
        with pytest.raises(ik.InvalidGoal, match=f"{solver} {message}"):
            ik.solve(skeleton, [goal], solver=solver)


@pytest.mark.parametrize(("change", "message"), [
    ({"kind": "LOOKAT"}, "kind 'LOOKAT' is not known; the kinds are .*LOOK_AT"),
    ({"kind": "LOOK_AT", "position": None}, "a LOOK_AT goal needs position"),
    ({"kind": "LOOK_AT", "axis": (0, 0, 0)}, "axis: expected a direction"),
    ({"kind": "PARALLEL", "target_axis": (0, 0, 0)}, "target_axis: expected a direction"),
    ({"kind": "PARALLEL", "rotation": None}, "a PARALLEL goal needs rotation"),
    ({"kind": "DISTANCE", "side": "ABOVE"}, "side = 'ABOVE'; expected one of AT, WITHIN, BEYOND"),
    ({"kind": "DISTANCE", "distance": -1}, "distance = -1; expected 0 or more"),
    ({"kind": "PLANE", "distance": float("nan")}, "distance = nan; expected a finite number"),
    ({"kind": "PLANE", "rotation": None}, "a PLANE goal needs rotation"),
    ({"kind": "BALANCE", "side": "WITHIN"}, "within an area needs points"),
    ({"kind": "BALANCE", "masses": [("joint 1", (0, 0, 0), 0.0)]}, "expected a mass above 0"),
    ({"kind": "BALANCE", "masses": [("nobody", (0, 0, 0), 1.0)]}, "no joint is called 'nobody'"),
    ({"kind": "CURVE"}, "a CURVE goal needs points"),
    ({"kind": "PLANE", "target_joint": 0},
     "a PLANE goal takes no target_joint; the kinds that do are REACH, LOOK_AT, DISTANCE, PARALLEL"),
    ({"target_joint": 0, "pole": (0, 0, 1)}, "a goal with target_joint takes no pole"),
    ({"target_joint": 0, "rotation_follows": 0.5}, "a goal with target_joint takes no rotation_follows"),
    ({"kind": "LOOK_AT", "target_joint": 2}, "target_joint is the goal's own joint"),
    ({"kind": "LOOK_AT", "target_joint": "nobody"}, "target_joint: no joint is called 'nobody'"),
    ({"kind": "CURVE", "points": [(0, 0, 0)]}, "got 1 points; expected 3"),
    ({"kind": "CURVE", "points": [(0, 0)]}, "points: expected one or more points x y z"),
])  # fmt: skip
def test_what_a_kind_cannot_do_without_is_named(change: dict[str, object], message: str) -> None:
    goal = ik.Goal(2, position=(0, 1, 0), rotation=(1, 0, 0, 0))
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.prepare(chain(3), [replace(goal, **change)])


def test_points_along_a_curve_are_as_far_apart_as_asked_and_on_it() -> None:
    """On a circle, drawn finely: chords of the asked lengths; beyond a line's end, straight on."""
    angles = np.linspace(0.0, 1.5, 4000)
    circle = 3.0 * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    points = ik.along_curve(circle, [0.5, 0.2, 1.0])
    assert_allclose(np.linalg.norm(np.diff([circle[0], *points], axis=0), axis=-1), [0.5, 0.2, 1.0], atol=1e-9)
    assert_allclose(np.linalg.norm(points, axis=-1), 3.0, atol=1e-6)
    assert_allclose(ik.along_curve([(0, 0, 0), (0, 0, 1)], [0.7, 0.7]), [(0, 0, 0.7), (0, 0, 1.4)])
    with pytest.raises(ik.InvalidGoal, match="curve: expected two or more points"):
        ik.along_curve([(0, 0, 0)], [1.0])
    with pytest.raises(ik.InvalidGoal, match="lengths: expected numbers of 0 or more"):
        ik.along_curve([(0, 0, 0), (0, 0, 1)], [-1.0])
