# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of other kinds in Blender: what they reach by Blender's own matrices, live, baked, mirrored, saved, refused."""

from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import chain, curve_object
from mathutils import Euler, Matrix, Quaternion, Vector
from scipy.spatial import ConvexHull
from situations import reopened

AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "NEG_X": (-1, 0, 0), "NEG_Y": (0, -1, 0), "NEG_Z": (0, 0, -1)}
OTHERS = ["LOOK_AT", "DISTANCE", "PLANE", "BALANCE", "CURVE", "PARALLEL"]


def goal_of(ob: bpy.types.Object, kind: str, bone: str, target: bpy.types.Object | None, **settings: object):
    """A goal of a kind on a live armature."""
    goal = rigs.goal(ob, bone, target, kind=kind, **settings)
    rigs.live(ob)
    return goal


def test_each_kind_and_side_of_goals_has_a_number_of_its_own() -> None:
    menus = rigs.part("rig.skeleton.menus")
    kinds = rigs.part("solvers.model.kinds")
    for items, names in ((menus.KINDS, kinds.GOAL_KINDS), (menus.SIDES, kinds.SIDES)):
        assert [item[0] for item in items] == list(names)
        assert len({item[3] for item in items}) == len(items)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_an_axis_of_a_bone_points_at_its_target(axis: str, scale: float) -> None:
    ob, target = chain(), rigs.empty(Vector((3, -2, 2)) * scale)
    ob.scale = (scale,) * 3
    goal_of(ob, "LOOK_AT", "bone 3", target, axis=axis, use_tail=False)
    turn = rigs.world(ob, "bone 3")
    line = (target.location - turn.translation).normalized()
    assert (turn.to_quaternion() @ Vector(AXES[axis])).angle(line) < radians(0.1)
    assert ob.dqik.status.converged


@pytest.mark.parametrize(("side", "at", "expected"), [
    ("AT", (1, 0, 1), 0.4), ("WITHIN", (1.5, 0, 1), 0.4), ("WITHIN", (0.1, 0, 1.9), None), ("BEYOND", (0.3, 0, 2), 0.4),
    ("BEYOND", (3, 0, 2), None),
])  # fmt: skip
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_bone_keeps_a_distance_in_world_units(side: str, at: tuple, expected: float | None, scale: float) -> None:
    """None: it has room where it is, and nothing moves."""
    ob, target = chain(), rigs.empty(Vector(at) * scale)
    ob.scale = (scale,) * 3
    before = rigs.matrices(ob)
    goal_of(ob, "DISTANCE", "bone 3", target, side=side, distance=0.4 * scale)
    far = (rigs.tail(ob, "bone 3") - target.location).length
    if expected is None:
        assert np.abs(rigs.matrices(ob) - before).max() < 2e-3
    else:
        assert far == pytest.approx(0.4 * scale, abs=1e-3 * scale)
    assert ob.dqik.status.converged


@pytest.mark.parametrize("side", ["ON", "ABOVE"])
def test_a_bone_stays_on_a_slope_or_above_it(side: str) -> None:
    ob, target = chain(), rigs.empty((0.3, 0.2, 2.4))
    target.rotation_quaternion = Euler((radians(20), radians(-10), 0)).to_quaternion()
    ob.location, ob.rotation_euler = (0.1, 0.2, 0.3), (0.2, 0.1, 0.4)
    goal_of(ob, "PLANE", "bone 3", target, side=side, distance=0.05)
    up = target.matrix_world.to_3x3() @ Vector((0, 0, 1))
    assert (rigs.tail(ob, "bone 3") - target.location) @ up == pytest.approx(0.05, abs=1e-3)
    target.location.z -= 3.0
    rigs.update()
    if side == "ABOVE":
        assert (rigs.tail(ob, "bone 3") - target.location) @ up > 1.0
    assert ob.dqik.status.converged or side == "ON"


def on_curve(curve: bpy.types.Object, points: list[Vector]) -> float:
    """The largest distance of points from a curve, as Blender evaluates it finely."""
    curve.data.resolution_u = 64
    shown = rigs.evaluated(curve)
    mesh = shown.to_mesh()
    line = np.array([shown.matrix_world @ vertex.co for vertex in mesh.vertices])
    shown.to_mesh_clear()
    ends, starts = line[1:], line[:-1]
    far = []
    for point in points:
        along = ends - starts
        share = np.clip(((np.array(point) - starts) * along).sum(-1) / (along**2).sum(-1), 0, 1)
        far.append(np.linalg.norm(starts + share[:, None] * along - np.array(point), axis=-1).min())
    return max(far)


@pytest.mark.parametrize("kind", ["BEZIER", "NURBS", "POLY"])
def test_a_chain_lies_on_a_curve(kind: str) -> None:
    """Every joint, on each kind of spline, also when the curve is moved and turned."""
    ob, curve = chain(), curve_object(kind)
    goal_of(ob, "CURVE", "bone 3", curve)
    assert ob.dqik.status.converged
    joints = [rigs.tail(ob, f"bone {k}") for k in range(4)]
    assert on_curve(curve, joints) < 2e-3
    curve.rotation_euler = (0.3, 0.2, 1.0)
    assert on_curve(curve, [rigs.tail(ob, f"bone {k}") for k in range(4)]) < 2e-3


SHARES = {"hips": 0.497, "head": 0.081, "arm": 0.028, "forearm": 0.016, "hand": 0.006, "thigh": 0.1, "shin": 0.0465,
          "foot": 0.0145}  # fmt: skip
"""Winter 2009, table 4.1; the trunk is shared by the bones below, head and neck as well, by length."""
PARTS = {"spine": "hips", "chest": "hips", "collar": "hips", "neck": "head"}


def weight_of_a_figure(ob: bpy.types.Object) -> np.ndarray:
    """The centre of mass of the test figure in the world."""
    shown, whole = rigs.evaluated(ob), dict.fromkeys(SHARES, 0.0)
    bones = [(bone, bone.name.partition(".")[0]) for bone in shown.pose.bones if "." not in bone.name[:1]]
    sided = {"arm", "forearm", "hand", "thigh", "shin", "foot"}
    parts = [(bone, PARTS.get(name, name)) for bone, name in bones if PARTS.get(name, name) in SHARES]
    for bone, part in parts:
        whole[part] += bone.bone.length
    masses = [SHARES[part] * bone.bone.length / whole[part] * (2 if part in sided else 1) for bone, part in parts]
    middles = [shown.matrix_world @ (0.5 * (bone.head + bone.tail)) for bone, _ in parts]
    return np.average(np.array(middles), axis=0, weights=masses)


def test_the_weight_stays_over_the_feet() -> None:
    """Both hands far ahead: with the goal the weight is over heels and balls of the feet, without it is not."""
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    ob.dqik.natural_pose = 0.0
    for goal in ob.dqik.goals:
        goal.use_support = goal.bone.startswith("foot")
        goal.mute = goal.bone in ("hips", "head")
        if goal.bone.startswith("hand"):
            goal.use_rotation = False
            goal.target.location = (0.2 if goal.bone.endswith("L") else -0.2, -0.75, 1.0)
    rigs.live(ob)

    def outside() -> float:
        """How far the weight is outside the hull of the feet's heads and tails."""
        feet = [rigs.evaluated(ob).pose.bones[f"foot.{side}"] for side in "LR"]
        corners = np.array([end[:2] for bone in feet for end in (bone.head, bone.tail)])
        hull = ConvexHull(corners).equations
        return float((hull[:, :2] @ weight_of_a_figure(ob)[:2] + hull[:, 2]).max())

    alone = outside()
    goal_of(ob, "BALANCE", "hips", None, side="WITHIN")
    assert alone > 0.02
    assert outside() < 2e-3
    assert not [one.name for one in ob.dqik.goals if one.missed]
    for other in ob.dqik.goals:
        other.use_support = False
    rigs.update()
    assert "no goal carries weight: switch on Carries Weight" in ob.dqik.status.message


@pytest.mark.parametrize("kind", OTHERS)
def test_an_influence_of_nothing_leaves_the_bones_where_they_are(kind: str) -> None:
    """Nearly 0, because 0 switches the goal off; and half of it lies between."""
    ob = chain()
    target = curve_object("POLY") if kind == "CURVE" else rigs.empty((0.8, 0.4, 1.1))
    before = rigs.matrices(ob)
    goal = goal_of(ob, kind, "bone 3", target, distance=0.1, influence=1e-3)
    small = np.abs(rigs.matrices(ob) - before).max()
    goal.influence = 1.0
    assert small < 0.02 < np.abs(rigs.matrices(ob) - before).max()


def test_a_mirrored_goal_looks_with_the_mirrored_axis() -> None:
    """Eyes whose bones are mirror images: forward is the same axis, sideways the other way."""
    ob = rigs.armature([
        rigs.Bone("head", (0, 0, 1), (0, 0, 1.3)), rigs.Bone("eye.L", (0.05, -0.1, 1.2), (0.05, -0.2, 1.2), "head"),
        rigs.Bone("eye.R", (-0.05, -0.1, 1.2), (-0.05, -0.2, 1.2), "head"),
    ])  # fmt: skip
    target = rigs.empty((0.3, -2, 1.4))
    goal_of(ob, "LOOK_AT", "eye.L", target, axis="X", chain_length=1, use_tail=False)
    rigs.mirror_goals(ob)
    other = ob.dqik.goals[1]
    assert (other.kind, other.bone) == ("LOOK_AT", "eye.R")
    one, two = (ob.data.bones[name].matrix_local.to_3x3() for name in ("eye.L", "eye.R"))
    image = Matrix.Scale(-1, 3, (1, 0, 0)) @ one.col[0]
    sign, axis = (-1, other.axis[-1]) if other.axis.startswith("NEG") else (1, other.axis)
    assert (sign * two.col["XYZ".index(axis)]).angle(image) < 0.01


@pytest.mark.parametrize(("settings", "message"), [
    ({"kind": "LOOK_AT", "target": None}, "it has no target: choose an object"),
    ({"kind": "CURVE"}, "its target is no curve: choose a curve object"),
    ({"kind": "BALANCE", "side": "WITHIN"}, "no goal carries weight: switch on Carries Weight"),
])  # fmt: skip
def test_what_a_goal_lacks_is_said(settings: dict, message: str) -> None:
    ob = chain()
    goal = goal_of(ob, "REACH", "bone 3", rigs.empty((1, 0, 1)))
    rigs.put(goal, **settings)
    rigs.update()
    assert message in ob.dqik.status.message


@pytest.mark.parametrize("solver", ["CCD", "FABRIK", "TWO_BONE"])
def test_a_solver_that_cannot_says_which_can(solver: str) -> None:
    ob = chain()
    ob.dqik.solver = solver
    goal_of(ob, "PLANE", "bone 3", rigs.empty((1, 0, 1)))
    assert f"{solver} solves positions and rotations only" in ob.dqik.status.message
    ob.dqik.solver = "DLS"
    rigs.update()
    assert ob.dqik.status.converged


def test_a_turn_by_hand_and_all_kinds_at_once() -> None:
    """Six goals of a body with a look, a plane, a distance and the weight over a target: all met in one solve."""
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    look, floor = rigs.empty((0.3, -3, 1.6), "Look"), rigs.empty((0, 0, -0.5), "Floor")
    goal_of(ob, "LOOK_AT", "head", look, axis="Z", chain_length=2, use_tail=False, priority=-1)
    goal_of(ob, "PLANE", "hand.L", floor, side="ABOVE")
    goal_of(ob, "DISTANCE", "hand.R", floor, side="BEYOND", distance=0.2)
    rigs.live(ob)
    assert not [goal.name for goal in ob.dqik.goals if goal.missed]
    ob.rotation_mode, ob.rotation_quaternion = "QUATERNION", Quaternion((0, 0, 1), 0.4)
    rigs.update()
    assert all(np.isfinite(goal.error) for goal in ob.dqik.goals)


def test_a_bone_of_the_body_may_be_the_target() -> None:
    """One hand is led; the other keeps its distance from it, and the head looks at it: by Blender's own bones."""
    ob = rigs.figure()
    led = rigs.empty((0.4, -0.4, 1.2), "Led")
    rigs.goal(ob, "hand.L", led)
    kept = rigs.goal(ob, "hand.R", ob, subtarget="hand.L", kind="DISTANCE", distance=0.3)
    look = rigs.goal(ob, "head", ob, subtarget="hand.L", kind="LOOK_AT", axis="Z", chain_length=2, use_tail=False)
    ob.dqik.live = True
    rigs.key_path(led, (1, 4), ((0.4, -0.4, 1.2), (0.1, -0.5, 1.5)))
    shown = []
    for _ in rigs.visited(range(1, 5)):
        assert not ob.dqik.status.message
        assert rigs.miss(ob, "hand.L", led) < 1e-3
        head, target = rigs.head(ob, "head"), rigs.head(ob, "hand.L")
        assert abs((rigs.tail(ob, "hand.R") - target).length - 0.3) < 1e-3
        gaze = rigs.evaluated(ob).pose.bones["head"].matrix.to_3x3().col[2]
        assert gaze.angle((target - head).normalized()) < 2e-3
        shown.append(rigs.matrices(ob))
    rigs.at_frame(2)
    assert np.array_equal(rigs.matrices(ob), shown[1])
    look.influence = 0.0
    kept.influence = 0.5
    assert (rigs.tail(ob, "hand.R") - rigs.head(ob, "hand.L")).length > 0.3


def test_a_curve_is_followed_after_a_script_has_removed_a_goal_before_it() -> None:
    """`remove` causes no update, so the evaluated goals have their old numbers until then, and drivers set others."""
    ob, curve = chain(), curve_object("POLY")
    goal_of(ob, "DISTANCE", "bone 0", rigs.empty((0, 0, 3)), side="WITHIN", distance=9.0)
    goal_of(ob, "DISTANCE", "bone 1", rigs.empty((0, 0, 3)), side="WITHIN", distance=9.0)
    goal_of(ob, "CURVE", "bone 3", curve, influence=0.0)
    rigs.drive(ob, "dqik.goals[1].influence", "1.0")
    rigs.at_frame(2)
    ob.dqik.goals.remove(1)
    rigs.at_frame(3)
    assert not ob.dqik.status.message
    shown = rigs.matrices(ob)
    ob.dqik.solver = "PGS"  # a setting: now Blender reports an update
    assert np.abs(rigs.matrices(ob) - shown).max() < 1e-5
    assert ob.dqik.status.converged


def test_a_target_bone_that_follows_a_solved_bone_by_a_constraint_is_a_cycle() -> None:
    ob = rigs.figure()
    rigs.goal(ob, "hand.L", rigs.empty((0.4, -0.4, 1.2)))
    rigs.goal(ob, "hand.R", ob, subtarget="thigh.L", kind="DISTANCE", distance=0.3)
    rigs.constrain(ob.pose.bones["thigh.L"], "COPY_ROTATION", ob, subtarget="forearm.L")
    rigs.live(ob)
    assert "its target or pole follows bone" in ob.dqik.status.message


# -- bones that stay parallel -----------------------------------------------------------------------------------------


def angle(one: Matrix, axis: str, two: Matrix, other: str) -> float:
    """Between an axis of a matrix and one of another."""
    a, b = (m.to_quaternion() @ Vector(AXES[name]) for m, name in ((one, axis), (two, other)))
    return a.angle(b)


@pytest.mark.parametrize(("axis", "other"), [("X", "Z"), ("Y", "NEG_X"), ("NEG_Z", "Y"), ("NEG_Y", "NEG_Z")])
def test_an_axis_of_a_bone_stays_parallel_to_one_of_an_object(axis: str, other: str) -> None:
    ob, target = chain(), rigs.empty((3, -2, 2))
    ob.rotation_euler, ob.scale = (0.2, 0.1, 0.4), (0.5, 0.5, 0.5)
    goal_of(ob, "PARALLEL", "bone 3", target, axis=axis, target_axis=other)
    for turn in ((0.1, 0.2, 0.3), (1.5, -0.4, 0.2)):
        target.rotation_quaternion = Euler(turn).to_quaternion()
        rigs.update()
        assert angle(rigs.world(ob, "bone 3"), axis, target.matrix_world, other) < radians(0.1)
        assert ob.dqik.status.converged


@pytest.mark.parametrize("limited", [False, True])
def test_an_axis_stays_parallel_to_one_of_a_bone_that_is_solved(limited: bool) -> None:
    """A hand is led; the other hand lies along it, whatever frames the limits of the bones have."""
    ob = rigs.figure()
    if limited:
        rigs.select(ob, *ob.pose.bones.keys())
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
        bpy.ops.object.mode_set(mode="OBJECT")
    led = rigs.empty((0.4, -0.4, 1.2), "Led")
    rigs.goal(ob, "hand.L", led)
    kept = rigs.goal(ob, "hand.R", ob, subtarget="hand.L", kind="PARALLEL", axis="Y", target_axis="Z", use_tail=False)
    ob.dqik.live = True
    for place in ((0.4, -0.4, 1.2), (0.2, -0.5, 1.3)):
        led.location = place
        rigs.update()
        assert not ob.dqik.status.message
        assert rigs.miss(ob, "hand.L", led) < 1e-3
        if not limited:
            assert angle(rigs.world(ob, "hand.R"), "Y", rigs.world(ob, "hand.L"), "Z") < radians(0.1)
        off = angle(rigs.world(ob, "hand.R"), "Y", rigs.world(ob, "hand.L"), "Z")
        assert kept.rotation_error == pytest.approx(off, abs=2e-3)  # the panel's number is Blender's angle
    shown = rigs.matrices(ob)
    kept.influence = 0.0
    assert np.abs(rigs.matrices(ob) - shown).max() > 0.01


def test_half_the_influence_is_half_the_turn() -> None:
    ob, target = chain(), rigs.empty((0, 0, 1))
    before = angle(rigs.world(ob, "bone 3"), "X", target.matrix_world, "Z")
    goal = goal_of(ob, "PARALLEL", "bone 3", target, axis="X", target_axis="Z")
    goal.influence = 0.5
    rigs.update()
    assert angle(rigs.world(ob, "bone 3"), "X", target.matrix_world, "Z") == pytest.approx(before / 2, abs=1e-2)


def test_the_mirror_image_is_parallel_to_the_mirrored_bone(tmp_path: Path) -> None:
    ob = rigs.figure()
    rigs.goal(ob, "hand.L", ob, subtarget="thigh.L", kind="PARALLEL", axis="X", target_axis="NEG_X")
    rigs.mirror_goals(ob)
    other = ob.dqik.goals[1]
    assert (other.kind, other.bone, other.subtarget) == ("PARALLEL", "hand.R", "thigh.R")
    image = Matrix.Diagonal((-1, 1, 1))
    for axis, bone, own in ((other.axis, "hand", "X"), (other.target_axis, "thigh", "NEG_X")):
        left, right = (ob.data.bones[f"{bone}.{side}"].matrix_local.to_3x3() for side in "LR")
        wanted = image @ (left @ Vector(AXES[own]))
        assert max(AXES, key=lambda name: wanted @ (right @ Vector(AXES[name]))) == axis
    reopened(tmp_path / "parallel.blend")
    assert bpy.data.objects["Figure"].dqik.goals[0].target_axis == "NEG_X"
