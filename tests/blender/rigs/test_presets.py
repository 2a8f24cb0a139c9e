# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a human figure: where they let its bones go, as Blender evaluates it."""

from collections.abc import Sequence
from math import cos, degrees, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector

AXES = {"swing_x": (1, 0, 0), "swing_z": (0, 0, 1)}
LEFT, FORWARD, UP = Vector((1, 0, 0)), Vector((0, -1, 0)), Vector((0, 0, 1))


def limits(bone: bpy.types.PoseBone) -> dict[str, tuple[float, float]]:
    """Twist, swing X and swing Z in degrees."""
    return {part: (degrees(getattr(bone, f"dqik_{part}_min")), degrees(getattr(bone, f"dqik_{part}_max")))
            for part in ("twist", "swing_x", "swing_z")}  # fmt: skip


def reach(ob: bpy.types.Object, name: str, toward: Vector) -> float:
    """Degrees that a bone may swing toward a direction of the armature from rest, its Y along with one of its axes."""
    bone, best = ob.pose.bones[name], 0.0
    rest = bone.bone.matrix_local.to_quaternion()
    for part, axis in AXES.items():
        for angle in limits(bone)[part]:
            step = rest @ Quaternion(axis, np.copysign(0.01, angle)) @ Vector((0, 1, 0)) - rest @ Vector((0, 1, 0))
            if abs(angle) > 1e-3 and step.normalized().dot(toward) > 0.7:
                best = max(best, abs(angle))
    return best


def extremes(ob: bpy.types.Object, name: str) -> list[Vector]:
    """Where a bone points, as Blender evaluates it, at the ends of its swings about X and Z."""
    bone, found = ob.pose.bones[name], []
    axes, zero = (Quaternion(value).normalized() for value in (bone.dqik_limits_axes, bone.dqik_limits_zero))
    for part, axis in AXES.items():
        for angle in limits(bone)[part]:
            turn = Quaternion(axis, radians(angle))
            bone.rotation_quaternion = zero @ axes @ turn @ axes.inverted()
            rigs.update()
            found.append((rigs.tail(ob, name) - rigs.head(ob, name)).normalized())
    bone.rotation_quaternion = Quaternion()
    rigs.update()
    return found


def turned(ob: bpy.types.Object, rolls: Sequence[float], facing: Matrix) -> None:
    """Give the bones other rolls and turn the whole armature at rest."""
    with rigs.edit_mode(ob) as bones:
        for k, bone in enumerate(bones):
            bone.roll += rolls[k % len(rolls)]
    ob.data.transform(facing)
    rigs.update()


def swung(ob: bpy.types.Object, names: Sequence[str], angle: float, axis: str) -> None:
    """Turn bones in Edit Mode by degrees about an axis of the armature through the head of the first."""
    bones = [ob.data.edit_bones[name] for name in names]
    pivot, turn = bones[0].head.copy(), Matrix.Rotation(radians(angle), 4, axis)
    ends = [[pivot + turn @ (end - pivot) for end in (bone.head, bone.tail)] for bone in bones]
    for bone, (head, tail) in zip(bones, ends, strict=True):  # connected bones share an end
        bone.head, bone.tail = head, tail
        bone.align_roll((0, -1, 0))


@pytest.mark.parametrize("facing", range(4))
@pytest.mark.parametrize("rolls", [(0.0,), (90.0,), (180.0, -90.0, 10.0), (8.0, 95.0, -12.0)])
def test_limits_reach_as_far_as_people_do_whatever_the_axes(rolls: Sequence[float], facing: int) -> None:
    """The published angles toward each anatomical direction, on figures whose bones are rolled and that lie anyhow."""
    ob, facing_of = rigs.figure(), rigs.facing(facing)
    turned(ob, [radians(roll) for roll in rolls], facing_of)
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    way = facing_of.to_quaternion()
    left, forward, up = way @ LEFT, way @ FORWARD, way @ UP
    for side, out in (("L", left), ("R", -left)):
        for bone, toward, angle in (
            ("thigh", forward, 130), ("thigh", -forward, 30), ("thigh", out, 60), ("thigh", -out, 30),
            ("shin", -forward, 155), ("shin", forward, 0), ("shin", out, 0), ("shin", -out, 0),
            ("forearm", forward, 150), ("forearm", -forward, 0), ("forearm", up, 0), ("forearm", -up, 0),
            ("arm", up, 90), ("arm", -up, 135), ("arm", forward, 135), ("arm", -forward, 60),
            ("hand", -up, 80), ("hand", up, 70), ("hand", forward, 20), ("hand", -forward, 30),
            ("foot", up, 40), ("foot", -up, 50), ("collar", up, 19), ("collar", -up, 8),
        ):  # fmt: skip
            # a bone rolled by 12 degrees bends about its own axis, and each of its limits is a little the other's
            assert reach(ob, f"{bone}.{side}", toward) == pytest.approx(angle, abs=2.0), (bone, side, toward)
    for bone, angle in (("spine", 52.5), ("chest", 52.5), ("neck", 25), ("head", 25)):
        assert reach(ob, bone, forward) == pytest.approx(angle, abs=1e-3)


def test_twists_are_mirrored() -> None:
    """The thigh turns inward and outward alike on both sides, the arm 70 one way and 90 the other, mirrored."""
    ob = rigs.figure()
    bpy.ops.dqik.limits_preset()
    for part, inward, outward in (("arm", 70, 90), ("foot", 15, 35)):
        assert limits(ob.pose.bones[f"{part}.L"])["twist"] == pytest.approx((-outward, inward), abs=1e-3)
        assert limits(ob.pose.bones[f"{part}.R"])["twist"] == pytest.approx((-inward, outward), abs=1e-3)
    bone = ob.pose.bones["arm.L"]
    ob.pose.bones["forearm.L"].rotation_quaternion = Quaternion((0, 0, 1), radians(-90))
    assert (rigs.tail(ob, "forearm.L") - rigs.head(ob, "forearm.L")).normalized().dot(FORWARD) > 0.99
    bone.rotation_quaternion = Quaternion((0, 1, 0), radians(70))  # the forearm is carried down: inward
    assert (rigs.tail(ob, "forearm.L") - rigs.head(ob, "forearm.L")).normalized().dot(UP) < -0.9


@pytest.mark.parametrize("slope", [0.0, 30.0, 60.0, 85.0])
def test_an_arm_that_hangs_at_rest_may_rise_by_as_much_more(slope: float) -> None:
    """Figures at rest with their arms down have what is left: in all, the arm rises to the vertical."""
    ob = rigs.figure()
    with rigs.edit_mode(ob):
        for side, sign in (("L", 1), ("R", -1)):
            swung(ob, [f"{name}.{side}" for name in ("arm", "forearm", "hand")], sign * slope, "Y")
    bpy.ops.dqik.limits_preset()
    for side, out in (("L", LEFT), ("R", -LEFT)):
        arm = ob.data.bones[f"arm.{side}"]
        rest = (arm.tail_local - arm.head_local).normalized()
        highest = max(extremes(ob, arm.name), key=lambda along: along.dot(UP))
        assert degrees(highest.angle(UP)) == pytest.approx(0.0, abs=0.1)
        assert degrees(highest.angle(rest)) == pytest.approx(90.0 + slope, abs=0.1)
        assert reach(ob, f"forearm.{side}", FORWARD) == pytest.approx(150.0, abs=0.1)
        assert rest.dot(out) >= 0.0


def test_bent_knees_at_rest_keep_the_published_range() -> None:
    """A knee that is bent by 25 degrees at rest may straighten by those, and bend by so much less."""
    ob = rigs.figure()
    with rigs.edit_mode(ob):
        for side in "LR":
            swung(ob, [f"shin.{side}", f"foot.{side}"], 25.0, "X")
    shin = ob.data.bones["shin.L"]
    assert (shin.tail_local - shin.head_local).y > 0.1  # bent back
    bpy.ops.dqik.limits_preset()
    along = (shin.tail_local - shin.head_local).normalized()
    backward = (-FORWARD + along * FORWARD.dot(along)).normalized()
    assert reach(ob, "shin.L", backward) == pytest.approx(130.0, abs=0.1)
    assert reach(ob, "shin.L", -backward) == pytest.approx(25.0, abs=0.1)
    assert not any(ob.pose.bones["shin.L"].dqik_preferred_angle)


def test_an_elbow_that_is_posed_at_rest_opens_and_closes_about_its_own_bend() -> None:
    """A forearm that points up from an arm to the side, as in a raised hand, has not the axis of a straight arm."""
    ob = rigs.figure()
    with rigs.edit_mode(ob):
        swung(ob, ["forearm.L", "hand.L"], -80.0, "Y")
    bpy.ops.dqik.limits_preset()
    arm = (rigs.tail(ob, "arm.L") - rigs.head(ob, "arm.L")).normalized()
    bends = [degrees(arm.angle(way)) for way in extremes(ob, "forearm.L")]
    assert min(bends) < 3.0
    assert max(bends) == pytest.approx(150.0, abs=3.0)


def test_knees_and_elbows_prefer_to_bend_their_way() -> None:
    """Turned by the preferred angle, shins go back and forearms forward."""
    ob = rigs.figure()
    bpy.ops.dqik.limits_preset()
    for side in "LR":
        for name, toward in (("shin", -FORWARD), ("forearm", FORWARD)):
            bone = ob.pose.bones[f"{name}.{side}"]
            vector = Vector(bone.dqik_preferred_angle)
            assert degrees(vector.length) == pytest.approx(20.0, abs=1e-3)
            bone.rotation_quaternion = Quaternion(vector.normalized(), vector.length)
            along = rigs.tail(ob, bone.name) - rigs.head(ob, bone.name)
            assert along.normalized().dot(toward) == pytest.approx(np.sin(radians(20.0)), abs=1e-3)


def test_only_selected_bones_and_nothing_to_recognise() -> None:
    """The others' limits stay; on bones with other names nothing is done."""
    ob = rigs.figure()
    rigs.select(ob, "shin.L")
    assert bpy.ops.dqik.limits_preset(only_selected=True) == {"FINISHED"}
    assert [bone.name for bone in ob.pose.bones if bone.dqik_use_limits] == ["shin.L"]
    bpy.ops.object.mode_set(mode="OBJECT")
    other = rigs.made_active(rigs.arm(name="Other"))
    assert bpy.ops.dqik.limits_preset() == {"CANCELLED"}
    assert not any(bone.dqik_use_limits for bone in other.pose.bones)


@pytest.mark.parametrize(("bend", "least", "most"), [(2.0, 0.0, 1.0), (9.0, 1.0, 25.0), (25.0, 54.0, 56.0)])
def test_a_slight_bend_at_rest_does_not_tell_where_an_elbow_bends(bend: float, least: float, most: float) -> None:
    """Elbows that are off the line of their arms by a bend whose axis is 55 degrees from that of a straight arm."""
    ob, tilt = rigs.figure(), radians(55.0)
    bpy.ops.object.mode_set(mode="EDIT")
    arm, hand = ob.data.edit_bones["arm.L"], ob.data.edit_bones["hand.L"]
    first, second = arm.length, (hand.head - arm.tail).length
    # a small offset of the elbow turns each of both bones by about the offset over its length
    away = radians(bend) / (1.0 / first + 1.0 / second)
    arm.tail += away * Vector((0.0, cos(tilt), sin(tilt)))
    bpy.ops.object.mode_set(mode="POSE")
    body = rigs.part("rig.figure.character").Character.of(ob).body
    axis, bent = body.hinge(ob.pose.bones.find("forearm.L"))
    assert least <= degrees(Vector(axis).angle(Vector((0.0, 0.0, -1.0)))) <= most
    assert degrees(bent) == pytest.approx(bend if bend > 4.0 else 0.0, abs=0.6)
