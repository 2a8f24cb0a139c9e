# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs as people have them, from many programs and through FBX and glTF: roles, and the same anatomy for all."""

import contextlib
import io
import itertools
from math import degrees, radians

import addon_utils
import bpy
import numpy as np
import poses
import pytest
import rigs
from conventions import BY_NAME, CHARACTERS, Character
from mathutils import Matrix, Quaternion, Vector
from metarigs import METARIGS, Metarig
from names import NAMINGS

import build

NAMES = [character.name for character in CHARACTERS]
WAYS = ("native", "fbx", "fbx auto", "gltf")
BONES_ACROSS = ("vroid", "unreal", "arms up", "arms down", "smpl", "no names in centimetres")

NEEDS_NAMES = ("mmd", "biped", "legs that end in IK bones", "arms without hands")
"""Each limb twice, arms below the neck, limbs without their ends."""


def made(name: str | Character, way: str) -> bpy.types.Object:
    """A character, as built or as it comes back from a file."""
    with contextlib.redirect_stdout(io.StringIO()):
        ob = build.native(BY_NAME[name] if isinstance(name, str) else name)
        ob = ob if way == "native" else build.through(ob, way)
    return rigs.made_active(ob)


@pytest.mark.parametrize("name", NAMES)
def test_each_bone_is_known_for_what_it_is(name: str) -> None:
    """The roles are those written by hand; of human figures, and no others, bones with a role have human limits."""
    character = BY_NAME[name]
    ob = made(name, "native")
    found, truth = rigs.roles(ob), build.truth(character)
    assert {bone: found.get(bone) for bone in truth} == truth
    if not character.human:
        assert bpy.ops.dqik.limits_preset() == {"CANCELLED"}
        assert rigs.part("rig.figure.character").Character.of(ob).figure.not_human
        assert not any(bone.dqik_use_limits for bone in ob.pose.bones)
    else:
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
        assert not [bone.name for bone in ob.pose.bones if bone.dqik_use_limits and truth.get(bone.name, ()) is None]


@pytest.mark.parametrize("character", NAMINGS, ids=lambda character: character.name)
def test_one_body_is_known_under_many_names(character: Character) -> None:
    """All bones, by their names, or by the shape of the figure where these say nothing."""
    found, truth = rigs.roles(made(character, "native")), build.truth(character)
    assert {bone: found.get(bone) for bone in truth} == truth


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NEEDS_NAMES])
def test_limbs_hips_and_head_are_known_by_shape_alone(name: str) -> None:
    """With numbers for names, where the skeleton tells hands from wings, heads from hair and left from right."""
    figures = rigs.part("rig.figure.character").Character
    ob = made(name, "native")
    truth = list(map(build.truth(BY_NAME[name]).get, [bone.name for bone in ob.data.bones]))
    for number, bone in enumerate(ob.data.bones):
        bone.name = f"{number:03}"
    found = figures.of(ob).figure.roles
    parts = {"hips", "head", *(part for bones in poses.LIMBS.values() for part in bones)}
    for number, role in enumerate(truth):
        if role is not None and role[0] in parts:
            assert found.get(number) == role, number


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("name", BONES_ACROSS)
def test_imported_bones_are_known_too(name: str, way: str) -> None:
    """Importers turn bones, change their lengths and scale the object; roles stay the same."""
    found, truth = rigs.roles(made(name, way)), build.truth(BY_NAME[name])
    assert {bone: found.get(bone) for bone in truth} == truth


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BONES_ACROSS)
def test_knees_and_elbows_bend_as_people_do(name: str, way: str) -> None:
    """At the ends of their limits, whatever the bones' axes: back by 155 and forward by 150 degrees, never sideways."""
    ob = made(name, way)
    bpy.ops.dqik.limits_preset()
    for limb in poses.limbs(BY_NAME[name], build.truth(BY_NAME[name]), ob):
        bent = [measured_bend(ob, limb, part, end) for part in ("swing_x", "swing_z") for end in ("min", "max")]
        assert max(angle for angle, _ in bent) == pytest.approx(150.0 if limb.kind == "arm" else 155.0, abs=0.5)
        assert min(angle for angle, _ in bent) == pytest.approx(0.0, abs=0.5)
        assert max(abs(side) for _, side in bent) < 8.0  # limbs are not quite straight at rest


def measured_bend(ob: bpy.types.Object, limb: poses.Limb, part: str, end: str) -> tuple[float, float]:
    """The bend of a limb, measured on joints, with its lower bone at the end of one limit."""
    bone = ob.pose.bones[limb.bones[1]]
    axes = Quaternion(bone.dqik_limits_axes).normalized()
    turn = Quaternion((1, 0, 0) if part == "swing_x" else (0, 0, 1), getattr(bone, f"dqik_{part}_{end}"))
    bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", axes @ turn @ axes.inverted()
    bent = poses.bend(rigs.evaluated(ob), limb)
    bone.rotation_quaternion = Quaternion()
    rigs.update()
    return bent


@pytest.mark.parametrize("way", ["native", "fbx"])
@pytest.mark.parametrize("name", BONES_ACROSS)
def test_limbs_follow_targets_inside_the_limits(name: str, way: str) -> None:
    """Poses that people can take are met, with knees and elbows bent their way and every bone inside its limits."""
    ob = made(name, way)
    truth = build.truth(BY_NAME[name])
    limbs, random = poses.limbs(BY_NAME[name], truth, ob), np.random.default_rng(3)
    targets = [poses.reach(ob, limb, random) for limb in limbs]
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    bpy.ops.dqik.limits_preset()
    size = float(np.ptp([tuple(ob.matrix_world @ bone.head_local) for bone in ob.data.bones], axis=0).max())
    ob.dqik.live = True
    goals = {goal.bone: goal for goal in ob.dqik.goals}
    for limb, matrix in zip(limbs, targets, strict=True):
        goals[limb.bones[2]].target.matrix_world = matrix
    rigs.update()
    for limb, matrix in zip(limbs, targets, strict=True):
        assert (rigs.head(ob, limb.bones[2]) - matrix.translation).length < 2e-3 * size, limb
        bent, side = poses.bend(rigs.evaluated(ob), limb)
        assert bent > -8.0
        assert abs(side) < 30.0
    for bone in ob.pose.bones:
        if bone.dqik_use_limits:
            assert inside(ob, bone), bone.name


def inside(ob: bpy.types.Object, bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is inside its limits, from its evaluated matrices and the limits' own axes."""
    axes, zero = (Quaternion(value).normalized() for value in (bone.dqik_limits_axes, bone.dqik_limits_zero))
    own = (zero @ axes).inverted() @ rigs.local_rotation(ob, bone.name) @ axes
    angles = rigs.twist_and_swing(own)
    return all(
        degrees(getattr(bone, f"dqik_{part}_min")) - 0.1 <= angle <= degrees(getattr(bone, f"dqik_{part}_max")) + 0.1
        for part, angle in zip(("twist", "swing_x", "swing_z"), angles, strict=True)
    )


def test_a_limit_has_one_meaning_in_any_axes() -> None:
    """A bone with its own limits, and one whose axes were turned and the limits' turned back, solve to one pose."""
    places = []
    for turned in (Quaternion(), Quaternion((0.3, -0.5, 0.7, 0.4)).normalized()):
        ob = rigs.chain([(0, 0, 0), (1, 0, 0), (2, 0.1, 0), (2.5, 0.1, 0.1)])
        with rigs.edit_mode(ob) as bones:
            for bone in bones:
                bone.use_connect = False
            for bone in bones:
                matrix = bone.matrix @ turned.to_matrix().to_4x4()
                bone.matrix = matrix
        for name, twist, swing_x, swing_z in (("a", (-20, 30), (-40, 50), (-10, 60)), ("b", (0, 0), (0, 0), (-5, 120))):
            rigs.limit(ob.pose.bones[name], twist, swing_x, swing_z)
            ob.pose.bones[name].dqik_limits_axes = turned.inverted()
        target = rigs.empty((0.9, 1.2, 0.4))
        goal = rigs.goal(ob, "c", target, use_tail=False)
        assert not goal.use_rotation
        rigs.live(ob)
        places.append([rigs.head(ob, name) for name in "abc"])
        assert inside(ob, ob.pose.bones["a"])
    assert (places[0][2] - places[1][2]).length < 1e-4
    assert (places[0][1] - places[1][1]).length < 1e-3
    assert (places[0][1] - Vector((1, 0, 0))).length > 0.1


def test_the_user_corrects_a_role() -> None:
    """A role that is chosen goes from the bone that was taken for it to the chosen one; None takes a bone out."""
    ob = made("unity", "native")
    ob.pose.bones["Chest"].dqik_role = "NONE"
    ob.pose.bones["Lower arm.L"].dqik_role = "HAND_L"
    found = rigs.roles(ob)
    assert found["Lower arm.L"] == ("hand", "L")
    assert not {"Chest", "Hand.L"} & found.keys()


def test_a_foot_that_points_down_at_rest_and_arms_that_hang_do_not_move() -> None:
    """Limits contain the rest pose: nothing has to move before a target does."""
    ob = made("arms down", "fbx")
    bpy.ops.dqik.limits_preset()
    for bone in ob.pose.bones:
        if bone.dqik_use_limits:
            bone.matrix_basis = Matrix()
    rigs.update()
    assert all(inside(ob, bone) for bone in ob.pose.bones if bone.dqik_use_limits)
    foot = ob.pose.bones["Foot Left"]
    assert Quaternion(foot.dqik_limits_zero).angle > radians(40.0)


@pytest.fixture(scope="module")
def rigify() -> None:
    """Blender's add-on for generated rigs."""
    addon_utils.enable("rigify", default_set=True)


@pytest.mark.usefixtures("rigify")
def test_fins_are_no_limbs() -> None:
    """A shark's bones have no roles of arms and legs."""
    ob = next(metarig for metarig in METARIGS if metarig.name == "rigify shark").add()
    assert not {part for part, _ in rigs.roles(ob).values()} & {one for bones in poses.LIMBS.values() for one in bones}


@pytest.mark.usefixtures("rigify")
@pytest.mark.parametrize("metarig", [one for one in METARIGS if "arm" in one.roles], ids=lambda one: one.name)
def test_metarigs_get_goals_for_all_limbs(metarig: Metarig) -> None:
    """Both hands, both feet and the head, also of animals, which have no human limits."""
    ob = metarig.add()
    found = rigs.roles(ob)
    assert {bone: found.get(bone) for bone in metarig.truth()} == metarig.truth()
    assert set(found.values()) >= {("head", ""), ("hips", "")}
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    assert len(ob.dqik.goals) >= 5
    assert (bpy.ops.dqik.limits_preset() == {"FINISHED"}) == metarig.human


def test_an_ik_constraint_is_taken_over_for_good() -> None:
    """Drivers and keys do not switch it on again, and the driver of its influence drives the goal's."""
    ob = rigs.bent_arm()
    ob["switch"], ob["pole"] = 0.25, 0
    target = rigs.empty((1.2, -0.8, 0.3))
    first, second = (rigs.blender_ik(ob, "b", target) for _ in range(2))
    second.mute = True
    for path, name in ((first.path_from_id("influence"), "switch"), (first.path_from_id("mute"), "pole"),
                       (second.path_from_id("mute"), "pole")):  # fmt: skip
        driver = ob.driver_add(path).driver
        driver.expression = "x" if name == "switch" or "IK.001" not in path else "1 - x"
        variable = driver.variables.new()
        variable.name, variable.targets[0].id, variable.targets[0].data_path = "x", ob, f'["{name}"]'
    rigs.update()
    assert bpy.ops.dqik.goals_from_constraints() == {"FINISHED"}
    for switch, pole in ((0.25, 0), (0.75, 1), (0.5, 0)):
        ob["switch"], ob["pole"] = switch, pole
        ob.update_tag()
        rigs.update()
        assert all(constraint.mute for constraint in rigs.evaluated(ob).pose.bones["b"].constraints)
        assert rigs.evaluated(ob).dqik.goals[0].influence == pytest.approx(switch)
    assert len(ob.dqik.goals) == 1


def test_legs_that_end_at_their_shins_have_goals_there() -> None:
    """The feet of such rigs hang on IK controls: shins have goals at their ends, which go along with those of the feet.

    Knees go forward.
    """
    ob = made("legs that end in IK bones", "native")
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    goals = {goal.bone: goal for goal in ob.dqik.goals}
    assert {"shin.L", "shin.R", "foot.L", "foot.R", "hand.L", "hand.R", "head"} <= goals.keys()
    assert goals["shin.L"].use_tail
    rigs.live(ob)
    goals["foot.L"].target.location.z += 0.3
    assert rigs.miss(ob, "shin.L", goals["shin.L"].target) < 2e-3
    assert (rigs.head(ob, "foot.L") - rigs.place(goals["foot.L"].target)).length < 2e-3
    assert rigs.head(ob, "shin.L").y < rigs.head(ob, "thigh.L").y - 0.1


@pytest.mark.parametrize("name", [*BONES_ACROSS, "mixamo", "unity", "rokoko", "palms", "toon", "gorilla"])
def test_sides_named_from_the_viewers_side_are_told_by_toes_and_knees(name: str) -> None:
    """Names on the wrong sides change nothing; the press that swaps sides does, and a second one puts them back."""
    figures, character = rigs.part("rig.figure.character").Character, BY_NAME[name]
    ob = made(name, "native")
    before = figures.of(ob).figure.roles
    rows = build.lines(character)
    pairs = [(one.name, two.name) for one, two in itertools.pairwise(rows) if one.side == "L" and two.side == "R"]
    assert len(pairs) > 5
    for number, (one, two) in enumerate(pairs):
        ob.data.bones[one].name, ob.data.bones[two].name = f"one {number}", f"two {number}"
        ob.data.bones[f"one {number}"].name, ob.data.bones[f"two {number}"].name = two, one
    assert figures.of(ob).figure.roles == before
    assert bpy.ops.dqik.swap_sides() == {"FINISHED"}
    assert figures.of(ob).figure.roles == {bone: role.mirrored for bone, role in before.items()}
    assert bpy.ops.dqik.swap_sides() == {"FINISHED"}
    assert figures.of(ob).figure.roles == before


def test_the_letter_of_a_ring_finger_or_of_the_rear_is_no_side() -> None:
    side_of = rigs.part("rig.figure.bone_names").side_of
    sides = {"PalmR.L": "L", "PalmR.R": "R", "FingerR1_L": "L", "r_toe.L": "L", "eyes_R_L_ctrl": "", "both.L.R": ""}
    assert {name: side_of(name) for name in sides} == sides


def test_arms_that_end_at_their_forearms_have_goals_there() -> None:
    ob = made("arms without hands", "native")
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    goals = {goal.bone: goal for goal in ob.dqik.goals}
    assert {"forearm.L", "forearm.R", "foot.L", "foot.R", "head", "hips"} == goals.keys()
    own = goals["forearm.L"]
    assert (own.use_tail, own.use_rotation, own.rotation_follows) == (True, False, 0.0)
    ob.dqik.live = True
    own.target.location += Vector((-0.2, -0.3, 0.1))
    assert rigs.miss(ob, "forearm.L", own.target) < 2e-3


@pytest.mark.parametrize("names", [
    ("Leg_front_upper.{}", "Leg_front_lower.{}", "Leg_back_upper.{}", "Leg_back_lower.{}"),
    ("claw_arm.{}", "claw_forearm.{}", "joint1.{}", "joint2.{}"),
])  # fmt: skip
def test_human_limits_are_not_for_animals(names: tuple[str, ...]) -> None:
    """A stag whose rest is drawn upright, by its names; a crab by its many limbs."""
    crab = names[0].startswith("claw")
    bones = [("hips", (0, 0, 1), (0, 0, 1.2), None), ("spine", (0, 0, 1.2), (0, 0, 1.5), "hips")]
    for sign, letter in ((1, "L"), (-1, "R")):
        upper, lower, thigh, shin = (name.format(letter) for name in names)
        bones += [(upper, (0.15 * sign, 0, 1.5), (0.45 * sign, 0, 1.45), "spine")]
        bones += [(lower, (0.45 * sign, 0, 1.45), (0.7 * sign, 0, 1.4), upper)]
        for pair in range(3 if crab else 1):
            at = 0.1 * pair
            first, second = (f"{part.split('.')[0]}_{pair}.{letter}" for part in (thigh, shin))
            bones += [(first, (0.1 * sign, at, 1), (0.5 * sign, at, 0.8), "hips")]
            bones += [(second, (0.5 * sign, at, 0.8), (0.6 * sign, at, 0.1), first)]
    ob = rigs.armature([rigs.Bone(name, head, tail, parent or "") for name, head, tail, parent in bones])
    assert bpy.ops.dqik.limits_preset() == {"CANCELLED"}
    assert not any(bone.dqik_use_limits for bone in ob.pose.bones)


def test_a_goal_at_the_end_of_a_shin_is_a_legs() -> None:
    """With a chain of two bones as well: the knee goes forward, not back as an elbow would."""
    ob = made("motion builder", "fbx")
    target = rigs.empty(rigs.tail(ob, "LeftKnee") + Vector((0, 0, 0.3)))
    rigs.reach(ob, "LeftKnee", target, chain_length=2, use_tail=True)
    assert rigs.miss(ob, "LeftKnee", target) < 2e-3
    assert rigs.head(ob, "LeftKnee").y < rigs.head(ob, "LeftHip").y - 0.1


@pytest.mark.parametrize("name", ["vroid", "arms down"])
def test_limits_in_axes_of_their_own_are_mirrored(name: str) -> None:
    """Mirrored from one side, a knee and an elbow of the other bend as Human Limits has them bend."""
    ob = made(name, "fbx")
    bpy.ops.dqik.limits_preset()
    limbs = poses.limbs(BY_NAME[name], build.truth(BY_NAME[name]), ob)
    right = [limb for limb in limbs if limb.side == "R"]
    wanted = [sorted(measured_bend(ob, limb, part, end)[0] for part in ("swing_x", "swing_z") for end in ("min", "max"))
              for limb in right]  # fmt: skip
    for limb in right:
        ob.pose.bones[limb.bones[1]].dqik_use_limits = False
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.limits_mirror() == {"FINISHED"}
    for limb, angles in zip(right, wanted, strict=True):
        bone = ob.pose.bones[limb.bones[1]]
        assert bone.dqik_use_limits
        bent = [measured_bend(ob, limb, part, end) for part in ("swing_x", "swing_z") for end in ("min", "max")]
        assert sorted(angle for angle, _ in bent) == pytest.approx(angles, abs=1.0)
        assert max(abs(side) for _, side in bent) < 8.0


@pytest.mark.parametrize("name", ["german", "spanish", "no names in centimetres"])
def test_goals_and_limits_are_mirrored_by_roles_where_names_say_no_side(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each bone of a limb has what its counterpart has, also bones of which a side has several; controls do not
    count."""
    ob = made(name, "native")
    count = len(ob.data.bones)
    truth = build.truth(BY_NAME[name])
    pairs = {left: right for left, right in zip(truth, list(truth)[1:], strict=False)
             if truth[left] is not None and truth[left][1] == "L"}  # fmt: skip
    bpy.ops.dqik.setup_full_body()
    hands = {truth[goal.bone]: goal for goal in ob.dqik.goals if truth[goal.bone][0] == "hand"}
    hands["hand", "L"].position_weight = 2.5
    for left, right in pairs.items():
        ob.pose.bones[left].dqik_stiffness, ob.pose.bones[right].dqik_stiffness = 0.3, 0.0
        ob.pose.bones[left].dqik_gain = 4.0
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.goals_mirror() == {"FINISHED"}
    assert hands["hand", "R"].position_weight == 2.5
    assert len(ob.dqik.goals) == 6
    assert bpy.ops.dqik.limits_mirror() == {"FINISHED"}
    assert all(ob.pose.bones[right].dqik_stiffness == pytest.approx(0.3) for right in pairs.values())
    assert all(ob.pose.bones[right].dqik_gain == 4.0 for right in pairs.values())
    capfd.readouterr()
    bpy.ops.dqik.limits_preset()
    assert f" of {count} bones" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["mixamo", "sleepwalker"])
def test_the_natural_pose_knows_elbows_unless_arms_point_forward(name: str) -> None:
    """Moved hands turn the upper arms other than without it, but not where nothing tells the hinges of the elbows."""
    ob, truth = made(name, "native"), build.truth(BY_NAME[name])
    hand, upper = (next(bone for bone, role in truth.items() if role == (part, "L")) for part in ("hand", "arm"))
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    target = rigs.goal_of(ob, hand).target
    chest = rigs.head(ob, next(bone for bone, role in truth.items() if role == ("neck", "")))
    ob.dqik.live = True
    target.location = target.location.lerp(chest, 0.5)
    turned = []
    for amount in (0.0, 1.0):
        ob.dqik.natural_pose = amount
        rigs.update()
        turned.append(rigs.local_rotation(ob, upper))
    angle = degrees(turned[0].rotation_difference(turned[1]).angle)
    assert angle > 5.0 if name == "mixamo" else angle < 5.0


def test_a_head_that_carries_the_arms_is_a_head() -> None:
    """As that of a crab, whose claws hang on it."""
    bones = [rigs.Bone("Hips", (0, 0, 1), (0, 0, 1.2)), rigs.Bone("Spine", (0, 0, 1.2), (0, 0, 1.4), "Hips"),
             rigs.Bone("Head", (0, 0, 1.4), (0, 0, 1.8), "Spine")]  # fmt: skip
    for side, x in (("L", 1.0), ("R", -1.0)):
        bones += [
            rigs.Bone(f"Thigh.{side}", (0.1 * x, 0, 1), (0.1 * x, -0.02, 0.5), "Hips"),
            rigs.Bone(f"Shin.{side}", (0.1 * x, -0.02, 0.5), (0.1 * x, 0, 0.1), f"Thigh.{side}"),
            rigs.Bone(f"Foot.{side}", (0.1 * x, 0, 0.1), (0.1 * x, -0.2, 0), f"Shin.{side}"),
            rigs.Bone(f"UpperArm.{side}", (0.2 * x, 0, 1.5), (0.5 * x, 0, 1.5), "Head"),
            rigs.Bone(f"Forearm.{side}", (0.5 * x, 0, 1.5), (0.8 * x, 0, 1.5), f"UpperArm.{side}"),
            rigs.Bone(f"Hand.{side}", (0.8 * x, 0, 1.5), (0.9 * x, 0, 1.5), f"Forearm.{side}"),
        ]
    ob = rigs.armature(bones)
    found = rigs.roles(ob)
    assert [found[name][0] for name in ("Head", "Spine", "Hips")] == ["head", "spine", "hips"]
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    assert "Head" in {goal.bone for goal in ob.dqik.goals}
