# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's geometry, without a window: borders of limits, goals and their misses, reach."""

from itertools import product
from math import radians
from types import ModuleType

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Matrix, Quaternion, Vector

LIMITS = {  # twist, swing X, swing Z in degrees
    "wide": ((-60, 80), (-30, 120), (-70, 40)),
    "beside rest": ((10, 50), (20, 60), (-50, -10)),
    "hinge": ((0, 0), (5, 140), (0, 0)),
    "one side shut": ((-20, 20), (0, 90), (-45, 45)),
    "free in X": ((-180, 180), (-180, 180), (-30, 30)),
}


@pytest.fixture
def overlay() -> ModuleType:
    """The module that makes the geometry."""
    return rigs.part("rig.overlay.scene")


@pytest.fixture
def model() -> ModuleType:
    """The solver's own limits."""
    return rigs.part("solvers.model.limits")


def turned_rig(mode: str = "QUATERNION", across: bool = False) -> bpy.types.Object:
    """Three bones of a limb in a turned and scaled armature, posed; if `across`, they stand square to the limb."""
    joints = [Vector((0, 0, 0)), Vector((1, 0.1, 0)), Vector((1.8, 0, 0.1)), Vector((2.4, 0, 0))]
    bones = []
    for k, name in enumerate("abc"):
        tail = joints[k] + Vector((0, 0, 0.3)) if across else joints[k + 1]
        bones.append(rigs.Bone(name, joints[k], tail, "abc"[k - 1] if k else "", False, 0.4 * k))
    ob = rigs.armature(bones)
    ob.matrix_world = Matrix.LocRotScale(Vector((1, 2, 3)), Euler((0.3, -0.5, 0.9)), Vector((2, 2, 2)))
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
        rigs.posed(bone, Euler((0.2, 0.15, -0.1)).to_quaternion())
    rigs.update()
    return ob


def motion(coordinates: np.ndarray) -> Quaternion:
    """The rotation that has some twist-swing coordinates, by mathutils: the twist first, then the swing."""
    twist, x, z = coordinates
    swing = Vector((x, 0, z))
    turn = Quaternion(swing.normalized(), swing.length) if swing.length > 0 else Quaternion()
    return turn @ Quaternion((0, 1, 0), twist)


def drawn(overlay: ModuleType, ob: bpy.types.Object, selected: str = "", **shown: bool) -> object:
    """The drawing of an armature with one bone selected."""
    return overlay.draw(seen(overlay, ob, selected, **shown))


def seen(overlay: ModuleType, ob: bpy.types.Object, selected: str = "", **shown: bool) -> object:
    """What the overlay reads."""
    bones = [ob.pose.bones[selected]] if selected else []
    return overlay.read(ob, bpy.context.evaluated_depsgraph_get(), bones, overlay.OverlayParts(**shown))


def swings(ob: bpy.types.Object, bone: str, points: np.ndarray) -> np.ndarray:
    """The swing vectors (K, 2) that point a bone at world points, from Blender's matrices alone."""
    shown = rigs.evaluated(ob)
    pose_bone = shown.pose.bones[bone]
    rest, above = ob.data.bones[bone].matrix_local, pose_bone.parent
    frame = above.matrix @ ob.data.bones[above.name].matrix_local.inverted() @ rest if above else rest
    vectors = []
    for point in points:
        local = frame.to_3x3().inverted() @ (shown.matrix_world.inverted() @ Vector(point) - pose_bone.head)
        axis, angle = Vector((0, 1, 0)).rotation_difference(local).to_axis_angle()
        vectors.append((angle * axis.x, angle * axis.z))
    return np.array(vectors)


@pytest.mark.parametrize("name", [name for name in LIMITS if name != "free in X"])
def test_the_border_is_the_limit_by_the_solvers_projection(overlay: ModuleType, model: ModuleType, name: str) -> None:
    """The solver leaves a swing just inside the drawn border alone, and moves one just outside back to it."""
    ob = turned_rig()
    bone = ob.pose.bones["b"]
    rigs.limit(bone, *LIMITS[name])
    lo = np.array([bone.dqik_swing_x_min, bone.dqik_swing_z_min])
    hi = np.array([bone.dqik_swing_x_max, bone.dqik_swing_z_max])
    segments = drawn(overlay, ob, "b", at_limit=False, goals=False).lines["swing"][0]
    border = swings(ob, "b", segments[: overlay.BORDER, 0])
    centre = np.clip(0.0, lo, hi)
    inside, outside = centre + 0.999 * (border - centre), centre + 1.001 * (border - centre)
    many = np.broadcast_to(lo, border.shape), np.broadcast_to(hi, border.shape)
    assert np.abs(model.project_swing(border, *many) - border).max() < 2e-5
    assert np.abs(model.project_swing(inside, *many) - inside).max() < 2e-5
    curved = (np.abs(border - centre) > 1e-3).all(-1)  # not along a side that is shut, where outwards is sidewards
    pushed = model.project_swing(outside, *many)
    assert (np.linalg.norm(pushed - outside, axis=-1) > 1e-5)[curved].all()
    assert (np.abs(model.locate(border, *many).level - 1.0) < 1e-3)[curved].all()
    assert curved.any() == (name != "hinge")
    assert border.min(0) == pytest.approx(lo, abs=1e-4)
    assert border.max(0) == pytest.approx(hi, abs=1e-4)


ACROSS = [*product(("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"), ("along", "across")), ("QUATERNION", "axes of its own")]


@pytest.mark.parametrize(("mode", "stands"), ACROSS)
def test_a_bone_at_its_limit_is_on_the_border_in_blender(overlay: ModuleType, mode: str, stands: str) -> None:
    """Blender poses the bone with the coordinates of the border; its tip, or the next joint, comes to lie on it.

    Axes of its own: a bone across its limb, whose limits' Y is along the limb and read zero away from rest.
    """
    ob = turned_rig(mode, stands != "along")
    bone, limits = ob.pose.bones["b"], rigs.part("solvers.space.limit_curves")
    rigs.limit(bone, *LIMITS["wide"])
    axes = zero = Quaternion()
    if stands == "axes of its own":
        rest = ob.data.bones["b"].matrix_local.to_3x3().inverted()
        limb = rest @ (ob.data.bones["c"].head_local - ob.data.bones["b"].head_local)
        axes, zero = Vector((0, 1, 0)).rotation_difference(limb), Quaternion((0.9, 0.1, -0.3, 0.2)).normalized()
        bone.dqik_limits_axes, bone.dqik_limits_zero = axes, zero

    def pose(coordinates: np.ndarray) -> None:
        rigs.posed(bone, zero @ axes @ motion(coordinates) @ axes.inverted())

    pose(np.array([0.3, 0.1, 0.2]))
    rigs.update()
    points = drawn(overlay, ob, "b", at_limit=False, goals=False).lines["swing"][0][: overlay.BORDER, 0]
    found = seen(overlay, ob, "b")
    coordinates = limits.swing_border(np.array([0.3]), found.lo[1:2], found.hi[1:2], overlay.BORDER)[0]
    for k in range(0, overlay.BORDER, 5):
        pose(coordinates[k])
        shown = rigs.tail(ob, "b") if stands == "along" else rigs.head(ob, "c")
        assert (shown - Vector(points[k])).length < 1e-4


@pytest.mark.parametrize("across", [False, True])
def test_the_arc_of_the_twist_ends_at_its_limits(overlay: ModuleType, across: bool) -> None:
    """Where a bone lies across its limb, the arc is the path of the next joint."""
    ob = turned_rig(across=across)
    bone = ob.pose.bones["b"]
    rigs.limit(bone, (-40, 70), (-30, 30), (-30, 30))
    rigs.posed(bone, motion(np.array([0.2, 0.1, -0.1])))
    rigs.update()
    drawing = drawn(overlay, ob, "b", at_limit=False, goals=False)
    arc = drawing.lines["twist"][0][:32]
    for end, degrees in ((arc[0, 0], -40), (arc[-1, 1], 70)):
        rigs.posed(bone, motion(np.array([radians(degrees), 0.1, -0.1])))
        rigs.update()
        if across:
            assert (rigs.head(ob, "c") - Vector(end)).length < 1e-4
        else:
            side = rigs.evaluated(ob).matrix_world.to_3x3() @ rigs.evaluated(ob).pose.bones["b"].x_axis
            middle = rigs.head(ob, "b").lerp(rigs.tail(ob, "b"), 0.4)
            assert (Vector(end) - middle).angle(side) < 1e-3


def test_bones_at_their_limits_are_those_that_the_solver_counts(overlay: ModuleType) -> None:
    ob = rigs.figure()
    for name in ("collar.L", "arm.L", "forearm.L", "hand.L"):
        rigs.limit(ob.pose.bones[name], (-20, 20), (-20, 30), (-10, 25))
    rigs.limit(ob.pose.bones["shin.L"], (0, 0), (0, 0), (0, 0))
    rigs.reach(ob, "hand.L", rigs.empty((-0.5, 0.6, 2.0)), chain_length=4)
    drawing = drawn(overlay, ob, limits=False, goals=False)
    assert ob.dqik.status.at_limits > 0
    assert len(drawing.lines["limit"][0]) == ob.dqik.status.at_limits


@pytest.mark.parametrize(("short_of", "count"), [(1e-5, 1), (1e-3, 1), (1e-2, 0)])
def test_the_panel_and_the_overlay_count_alike(overlay: ModuleType, short_of: float, count: int) -> None:
    """A twist that is a little short of its limit: within 2e-3 rad it is at the limit for both."""
    ob = rigs.arm(bend=0.6)
    rigs.limit(ob.pose.bones["a"], (-30, 30), (-60, 60), (-60, 60))
    rigs.pose(ob, "a", Quaternion((0, 1, 0), np.radians(30.0) - short_of))
    rigs.reach(ob, "b", rigs.empty(rigs.tail(ob, "b")))
    assert ob.dqik.status.at_limits == count
    drawing = drawn(overlay, ob, limits=False, goals=False)
    assert len(drawing.lines["limit"][0] if "limit" in drawing.lines else ()) == count


def test_a_straight_elbow_is_at_its_limit(overlay: ModuleType) -> None:
    """Its swing begins at zero, which is the border of its limits and their centre."""
    ob = rigs.figure()
    rigs.limit(ob.pose.bones["arm.L"], (-50, 50), (-60, 60), (-60, 60))
    rigs.limit(ob.pose.bones["forearm.L"], (-20, 20), (0, 0), (0, 140))
    rigs.reach(ob, "forearm.L", rigs.empty((5, 0, 1.45)), chain_length=2)
    assert ob.dqik.status.at_limits == 1
    lines = drawn(overlay, ob, limits=False, goals=False).lines["limit"][0]
    assert np.abs(lines - [[rigs.head(ob, "forearm.L"), rigs.tail(ob, "forearm.L")]]).max() < 1e-5


def test_goals_are_joined_to_their_bones_and_misses_have_their_distance(overlay: ModuleType) -> None:
    """Without the overlay a miss alone is drawn: its line, and a cross at its target, which can be far out of sight."""
    ob = turned_rig()
    near, far = rigs.empty(rigs.tail(ob, "c"), "Near"), rigs.empty((9, 9, 9), "Far")
    rigs.goal(ob, "c", near, use_tail=True)
    rigs.goal(ob, "b", far, use_tail=False)
    rigs.limit(ob.pose.bones["b"], (-20, 20), (0, 0), (0, 0))
    rigs.update()
    drawing = drawn(overlay, ob)
    assert len(drawing.misses) == 1
    place, distance, kind = drawing.misses[0]
    assert kind == "miss"
    assert (place - far.location).length < 1e-6
    assert 2.0 * distance == pytest.approx((rigs.head(ob, "b") - far.location).length, rel=1e-5)  # scaled by 2
    assert np.abs(drawing.lines["miss"][0][0] - [rigs.head(ob, "b"), far.location]).max() < 1e-5
    assert np.abs(drawing.lines["goal"][0][0] - [rigs.tail(ob, "c"), near.location]).max() < 1e-5
    drawing = overlay.draw(overlay.read(ob, bpy.context.evaluated_depsgraph_get(), (), overlay.ONLY_MISSES))
    assert drawing.lines.keys() == {"miss"}
    [lines] = drawing.lines["miss"]
    assert np.abs(lines[0] - [rigs.head(ob, "b"), far.location]).max() < 1e-5
    assert np.abs(lines[1:].mean(1) - np.array(far.location)).max() < 1e-5
    assert np.linalg.matrix_rank(lines[1:, 1] - lines[1:, 0]) == len(lines) - 1 == 3


def test_roles_are_named_on_their_bones_and_follow_a_swap_of_sides(overlay: ModuleType) -> None:
    ob = rigs.figure()
    ob.matrix_world = Matrix.LocRotScale(Vector((1, 2, 3)), Euler((0.3, -0.5, 0.9)), Vector((2, 2, 2)))
    rigs.update()

    def named(bone: str) -> tuple[str, str]:
        middle = 0.5 * (rigs.head(ob, bone) + rigs.tail(ob, bone))
        shown = drawn(overlay, ob, roles=True).roles
        here = [(text, kind) for place, text, kind in shown if (place - middle).length < 1e-5]
        return here[0] if len(here) == 1 else ("", "")

    assert not drawn(overlay, ob).roles
    assert named("forearm.L") == ("Left Forearm", "left")
    assert named("thigh.R") == ("Right Thigh", "right")
    assert named("head") == ("Head", "middle")
    before = seen(overlay, ob, roles=True).contents
    line = [rigs.head(ob, "shin.L"), rigs.tail(ob, "shin.L")]
    assert np.abs(drawn(overlay, ob, roles=True).lines["left"][0] - line).max((1, 2)).min() < 1e-5
    bpy.ops.dqik.swap_sides()
    rigs.update()
    assert named("forearm.L") == ("Right Forearm", "right")
    assert np.abs(drawn(overlay, ob, roles=True).lines["right"][0] - line).max((1, 2)).min() < 1e-5
    assert seen(overlay, ob, roles=True).contents != before


def test_bodies_are_outlined_where_blender_shows_their_bones(overlay: ModuleType) -> None:
    """Every point of an outline is as far from the bone's axis as the radius says, from head to tail."""
    ob = turned_rig()
    for bone in ob.pose.bones:
        bone.dqik_radius = 0.07
    assert "body" not in drawn(overlay, ob).lines
    ob.dqik.use_floor = True
    points = np.concatenate(drawn(overlay, ob).lines["body"]).reshape(-1, 3)
    heads, tails = (np.array([end(ob, name) for name in "abc"]) for end in (rigs.head, rigs.tail))
    line = (tails - heads)[:, None]
    share = np.clip(((points - heads[:, None]) * line).sum(-1) / (line * line).sum(-1), 0.0, 1.0)
    nearest = np.linalg.norm(points - heads[:, None] - share[..., None] * line, axis=-1).min(0)
    assert nearest.max() < 2.0 * 0.07 * 1.01, "the armature's scale is 2"
    assert np.quantile(nearest, 0.5) > 2.0 * 0.07 * 0.98


def test_the_drawing_is_made_again_only_after_a_change(overlay: ModuleType) -> None:
    ob = turned_rig()
    target = rigs.empty((1, 1, 1))
    rigs.goal(ob, "c", target)
    rigs.limit(ob.pose.bones["b"], *LIMITS["wide"])
    rigs.update()
    before = seen(overlay, ob, "b").contents
    assert seen(overlay, ob, "b").contents == before
    assert seen(overlay, ob, "a").contents != before

    def change_limit() -> None:
        ob.pose.bones["b"].dqik_swing_x_max = 0.3

    def move_target() -> None:
        target.location.x += 0.1

    def pose() -> None:
        rigs.posed(ob.pose.bones["a"], Quaternion((1, 0, 0), 0.3))

    def move_rig() -> None:
        ob.location.x += 1.0

    for change in (change_limit, move_target, pose, move_rig):
        change()
        rigs.update()
        after = seen(overlay, ob, "b").contents
        assert after != before, change.__name__
        before = after


@pytest.mark.parametrize("across", [False, True])
def test_a_handle_lies_on_its_limit_and_follows_the_pointer(across: bool) -> None:
    """At a limit's value it is where Blender puts the bone's tip; under the pointer it has the value asked for."""
    handles = rigs.part("rig.overlay.handles")
    ob = turned_rig(across=across)
    bone = ob.pose.bones["b"]
    rigs.limit(bone, (-60, 80), (-30, 100), (-70, 40))
    rigs.posed(bone, Quaternion())
    joint = handles.joint(rigs.evaluated(ob).pose.bones["b"])
    look = Matrix.Rotation(0.7, 4, (1, 0.3, 0.2)) @ Matrix.Diagonal((0.2, 0.25, 0.1, 1.0))  # of an orthographic view
    size = np.array([800.0, 600.0])
    for part, wanted in ((1, -30), (1, 100), (2, -70), (2, 40)):
        coordinates = np.zeros(3)
        coordinates[part] = radians(wanted)
        place = joint.places(part, coordinates[part : part + 1])[0]
        rigs.posed(bone, motion(coordinates))
        shown = rigs.head(ob, "c") if across else rigs.tail(ob, "b")
        assert (shown - Vector(place)).length < 1e-4
        pointer = (0.5 + 0.5 * np.array((look @ shown).xy)) * size
        value = joint.value_at(part, radians(wanted - 15), np.array(look), size, pointer)
        assert value == pytest.approx(radians(wanted), abs=handles.STEP)


# -- reach -------------------------------------------------------------------------------------------------------------


def reach_of(ob: bpy.types.Object, **settings: int) -> object:
    """The reach of the active goal, computed as the panel does."""
    rigs.made_active(ob)
    assert bpy.ops.dqik.reach_show(**settings) == {"FINISHED"}
    return ob.dqik.workspace


def two_hinges(lower: tuple[int, int] = (-180, 180)) -> bpy.types.Object:
    """Bones of length 1 and 0.4 that turn about Z: their reach is a ring in the plane, radii 0.6 and 1.4."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1.4, 0, 0)], rolls=[0.0, 0.0])
    axis = "z" if abs(ob.data.bones["a"].z_axis.z) > 0.9 else "x"
    for name, span in (("a", (-180, 180)), ("b", lower)):
        spans = dict.fromkeys(("twist", "swing_x", "swing_z"), (0, 0)) | {f"swing_{axis}": span}
        rigs.limit(ob.pose.bones[name], spans["twist"], spans["swing_x"], spans["swing_z"])
    rigs.goal(ob, "b", rigs.empty((1.2, 0.2, 0)))
    rigs.update()
    return ob


def test_the_reach_of_two_hinges_is_a_ring() -> None:
    """Its border is found on both sides, to the size of a cell."""
    points, _ = reach_of(two_hinges(), postures=40_000).points(rigs.evaluated(bpy.context.object))
    radii = np.linalg.norm(points, axis=-1)
    assert np.abs(points[:, 2]).max() < 1e-5
    assert radii.min() > 0.6 - 1e-5
    assert radii.max() < 1.4 + 1e-5
    assert radii.min() < 0.75
    assert radii.max() > 1.3


def test_limits_cut_the_reach() -> None:
    """An elbow that bends by 90 degrees at most keeps the hand at a distance of the square root of 1.16."""
    points, _ = reach_of(two_hinges((-90, 90)), postures=20_000).points(rigs.evaluated(bpy.context.object))
    assert np.linalg.norm(points, axis=-1).min() > np.sqrt(1.16) - 1e-5


def limited_arm() -> bpy.types.Object:
    ob = rigs.figure()
    rigs.limit(ob.pose.bones["arm.L"], (-60, 60), (-70, 90), (-60, 80))
    rigs.limit(ob.pose.bones["forearm.L"], (-10, 10), (-5, 5), (-5, 140))
    rigs.limit(ob.pose.bones["hand.L"], (-5, 5), (-60, 60), (-20, 20))
    target = rigs.empty((0.7, -0.3, 1.4))
    rigs.goal(ob, "hand.L", target, chain_length=3)
    rigs.update()
    return ob


def test_the_solver_reaches_every_point_of_the_shell() -> None:
    """Points of the shell are places of real postures, so the goal is met there, with restarts."""
    ob = limited_arm()
    points = reach_of(ob, postures=20_000).shell.reachable
    ik = rigs.part("solvers")
    sessions = rigs.part("rig.frame.sessions").sessions
    rigs.live(ob)
    rig = sessions.of(ob).rig.rig
    goal = rig.prepared.goals[0]
    for place in points[:: len(points) // 25]:
        request = ik.Goal(goal.joint, position=place, offset=goal.offset, chain=goal.chain)
        found = ik.solve(rig.skeleton, [request], options=ik.Options(restarts=30, tolerance=1e-3))
        assert found.position_errors.max() < 2e-3


def test_the_reach_goes_with_its_bone_and_ends_with_the_rigs_change() -> None:
    ob = limited_arm()
    reach = reach_of(ob, postures=8_000)
    assert reach.carrier == "collar.L"
    before, _ = reach.points(rigs.evaluated(ob))
    head = rigs.head(ob, "arm.L")
    rigs.posed(ob.pose.bones["chest"], Quaternion((0, 0, 1), 0.8))
    ob.location = (3, 0, 0)
    after, _ = reach.points(rigs.evaluated(ob))
    moved = rigs.head(ob, "arm.L")
    old, new = (np.linalg.norm(points - np.array(at), axis=-1) for points, at in ((before, head), (after, moved)))
    assert np.abs(old - new).max() < 1e-4
    settings = rigs.part("rig.overlay.workspace").settings
    assert settings(rigs.evaluated(ob), reach.goal) == reach.made_from
    ob.pose.bones["forearm.L"].dqik_swing_z_max = 1.0
    assert settings(rigs.evaluated(ob), reach.goal) != reach.made_from


def test_an_incomplete_goal_has_no_reach() -> None:
    ob = rigs.figure()
    rigs.goal(ob, "hand.L", None)
    rigs.made_active(ob)
    rigs.refuses(bpy.ops.dqik.reach_show, "no target")


def test_marked_frames_are_drawn_as_runs() -> None:
    marks = rigs.part("ui.marks")
    assert marks.runs([]) == []
    assert marks.runs([7, 3, 4, 5, 9]) == [(3, 5), (7, 7), (9, 9)]
