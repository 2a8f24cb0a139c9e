# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that eyes look at, measured on Blender's own bones: where the face looks at rest, the eye looks there."""

from math import degrees
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector
from situations import linked_from
from test_controls import in_centimetres, posed

HEIGHT = 1.8
STILL = 1e-5  # of the height
AT = 0.1  # degrees
FRONT = Vector((0.0, -1.0, 0.0))
NAMES = [
    ("eye.L", "eye.R"), ("LeftEye", "RightEye"), ("eye_L", "eye_R"), ("l_eye", "r_eye"), ("lEye", "rEye"),
    ("J_Adj_L_FaceEye", "J_Adj_R_FaceEye"), ("ORG-eye.L", "ORG-eye.R"), ("CC_Base_L_Eye", "CC_Base_R_Eye"),
    ("mixamorig:LeftEye", "mixamorig:RightEye"), ("FACIAL_L_Eye", "FACIAL_R_Eye"), ("左目", "右目"),
    ("L_eye_JNT", "R_eye_JNT"), ("eyeball_l", "eyeball_r"), ("Auge.L", "Auge.R"), ("bone_71", "bone_72"),
]  # fmt: skip
WAYS = {"forward": (0, -1, 0), "up": (0, 0, 1), "aside": (1, 0, 0), "diverging": (0.3, -1, 0.1)}


def with_eyes(
    names: tuple[str, str] = ("eye.L", "eye.R"), way: tuple = (0, -1, 0), rolls: tuple = (0.0, 0.0), turn: float = 0.0,
) -> bpy.types.Object:  # fmt: skip
    """The figure with eyes; `way` is that of the left one's bone, mirrored for the right. It is turned about Z."""
    bones = rigs.figure_bones()
    for name, sign, roll in zip(names, (1, -1), rolls, strict=True):
        at, along = Vector((sign * 0.032, -0.08, 1.68)), Vector((sign * way[0], way[1], way[2])).normalized()
        bones.append(rigs.Bone(name, at, at + 0.03 * along, "head", roll=roll))
    about = Matrix.Rotation(turn, 3, "Z")
    return rigs.armature([
        rigs.Bone(one.name, about @ Vector(one.head), about @ Vector(one.tail), one.parent, one.connected, one.roll)
        for one in bones
    ], "Figure")  # fmt: skip


def press() -> None:
    assert bpy.ops.dqik.eyes_add() == {"FINISHED"}
    rigs.update()


def off(ob: bpy.types.Object, bone: str, front: Vector = FRONT) -> float:
    """The angle [degrees] between where an eye looks and its control. front : of the face at rest, in the armature."""
    shown = rigs.evaluated(ob)
    rest = ob.data.bones[bone].matrix_local.to_quaternion()
    own = rest.inverted() @ front
    looks = shown.matrix_world.to_3x3() @ (shown.pose.bones[bone].matrix.to_3x3() @ own)
    return degrees(looks.angle(rigs.head(ob, rigs.owner_of(ob, bone).name) - rigs.head(ob, bone)))


def moved(ob: bpy.types.Object, before: np.ndarray, size: float = HEIGHT) -> float:
    """By how much bones have moved, at their heads and a height's tenth beside them, as a share of the height."""
    names = [bone.name for bone in ob.pose.bones if not bone.name.startswith("DQIK ")]
    now = world(ob)
    corners = np.array([[0, 0, 0, 1], *(np.append(0.1 * size * axis, 1) for axis in np.eye(3))])
    return max(np.abs((now[name] - before[name]) @ corners.T)[:3].max() for name in names) / size


def world(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The matrices of all bones in the armature, without scale."""
    return {bone.name: np.array(bone.matrix.normalized()) for bone in rigs.evaluated(ob).pose.bones}


def shift(ob: bpy.types.Object, name: str, way: tuple) -> None:
    """Move a control by a way in the armature."""
    ob.pose.bones[name].matrix = Matrix.Translation(way) @ rigs.evaluated(ob).pose.bones[name].matrix
    rigs.update()


@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_any_eyes_look_at_their_controls(seed: int) -> None:
    """Any names, directions and rolls of bones, any way that figures face, posed, live, in centimetres, or not.

    Pressing moves nothing; then each control is moved, and the one of both, and the head.
    """
    draw = np.random.default_rng(seed)
    turn, names = draw.uniform(-3, 3), NAMES[seed % len(NAMES)]
    way = list(WAYS.values())[seed % 4]
    ob, size = with_eyes(names, way, tuple(draw.uniform(-3, 3, 2)), turn), 1
    if seed % 8 == 5:
        ob, size = in_centimetres(ob), 100
    front = Matrix.Rotation(turn, 3, "Z") @ FRONT
    if seed % 3:
        posed(ob)
        for name in names:
            rigs.posed(ob.pose.bones[name], Quaternion(draw.normal(size=3), draw.uniform(0, 0.4)))
        rigs.update()
    if seed % 2:
        assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    ob.dqik.live = bool(seed % 5)
    rigs.update()
    before = world(ob)
    press()
    assert moved(ob, before, size * HEIGHT) < STILL
    assert [goal.label for goal in ob.dqik.goals][-2:] == ["Left Eye", "Right Eye"]
    rigs.live(ob)
    assert max(off(ob, eye, front) for eye in names) < AT
    for name in ("DQIK eyes", rigs.owner_of(ob, names[0]).name, rigs.owner_of(ob, names[1]).name):
        shift(ob, name, size * draw.uniform(-0.15, 0.15, 3))
        assert max(off(ob, eye, front) for eye in names) < AT, name
    head = "DQIK head" if seed % 2 else "head"
    ob.pose.bones[head].rotation_quaternion = Quaternion((0, 0, 1), 0.2) @ ob.pose.bones[head].rotation_quaternion
    rigs.update()
    assert max(off(ob, eye, front) for eye in names) < AT
    assert not any(goal.missed for goal in ob.dqik.goals[-2:])


def test_controls_are_before_the_face_and_go_with_the_head() -> None:
    """Without a head's control they hang on its bone; eyes that nothing turns go on looking straight ahead."""
    for set_up, parent in ((False, "head"), (True, "DQIK head")):
        ob = with_eyes()
        if set_up:
            bpy.ops.dqik.setup_full_body()
        press()
        assert ob.data.bones["DQIK eyes"].parent.name == parent
        for side, sign in (("L", 1), ("R", -1)):
            way = rigs.head(ob, f"DQIK eye.{side}") - Vector((sign * 0.032, -0.08, 1.68))
            assert abs(way.x) < 1e-5
            assert abs(way.z) < 1e-5
            assert -0.5 < way.y < -0.2
            assert ob.data.bones[f"DQIK eye.{side}"].parent.name == "DQIK eyes"
        ob.dqik.live = True
        rigs.pose(ob, parent, Quaternion((0.3, 0.5, 0.1), 0.4))
        for name in ("eye.L", "eye.R"):
            assert off(ob, name) < AT
            assert degrees(rigs.local_rotation(ob, name).angle) < AT


def test_a_bone_that_points_up_keeps_its_place_and_needs_a_direction() -> None:
    """An axis of the bone is taken where one points to the front, else the direction that does."""
    ob = with_eyes(way=(0, 0, 1), rolls=(0.0, 0.7))
    press()
    left, right = ob.dqik.goals
    assert (left.axis, right.axis) == ("Z", "DIRECTION")
    assert (ob.data.bones["eye.R"].matrix_local.to_3x3() @ Vector(right.direction) - FRONT).length < 1e-6


def test_a_mirrored_goal_looks_the_mirrored_direction() -> None:
    ob = with_eyes(way=(0.2, 0.1, 1), rolls=(0.5, 1.3))
    press()
    ob.dqik.live = True
    ob.dqik.goals.remove(1)
    rigs.mirror_goals(ob)
    shift(ob, "DQIK eyes", (0.1, 0.0, 0.1))
    assert max(off(ob, "eye.R"), off(ob, "eye.L")) < AT


def test_a_body_that_was_dragged_stays() -> None:
    """Also where a wish has given way: it is solved as before."""
    ob = rigs.set_up(posed(with_eyes(way=(0, 0, 1), rolls=(0.4, 0.9))))
    for _ in range(3):
        shift(ob, "DQIK hand.L", (0.06, -0.02, 0.05))
    before = world(ob)
    press()
    assert moved(ob, before) < STILL


@pytest.mark.parametrize("direction", [(0, 0, 0), (float("nan"), 0, 1)])
def test_a_direction_that_is_none_is_the_bones_own(direction: tuple) -> None:
    ob = with_eyes()
    press()
    for goal in ob.dqik.goals:
        goal.axis, goal.direction = "DIRECTION", direction
    ob.dqik.live = True
    shift(ob, "DQIK eyes", (0.1, 0.0, 0.1))
    assert off(ob, "eye.L") < AT
    assert np.isfinite(rigs.matrices(ob)).all()


def test_limits_stay_and_stop_the_eye() -> None:
    ob = with_eyes()
    for name in ("eye.L", "eye.R"):
        rigs.limit(ob.pose.bones[name], (0, 0), (-10, 10), (-20, 20))
    press()
    ob.dqik.live = True
    shift(ob, "DQIK eyes", (1.0, 0.0, 0.0))
    for name in ("eye.L", "eye.R"):
        assert ob.pose.bones[name].dqik_use_limits
        assert degrees(rigs.local_rotation(ob, name).angle) == pytest.approx(20, abs=0.2)


def test_a_head_alone_and_one_eye() -> None:
    """What only has a head and eyes gets controls too, and so does a lone eye, without a control of both."""
    ob = rigs.armature([
        rigs.Bone("head", (0, 0, 1), (0, 0, 1.3)), rigs.Bone("eye.L", (0.05, -0.1, 1.2), (0.05, -0.2, 1.2), "head"),
        rigs.Bone("eye.R", (-0.05, -0.1, 1.2), (-0.05, -0.2, 1.2), "head"),
    ])  # fmt: skip
    press()
    ob.dqik.live = True
    shift(ob, "DQIK eyes", (0.1, 0.0, 0.1))
    assert max(off(ob, name) for name in ("eye.L", "eye.R")) < AT
    rigs.new_file()
    ob = rigs.made_active(with_eyes())
    ob.pose.bones["eye.R"].dqik_role = "NONE"
    press()
    assert [bone.name for bone in ob.data.bones if bone.name.startswith("DQIK ")] == ["DQIK eye.L"]
    ob.dqik.live = True
    shift(ob, "DQIK eye.L", (0.1, 0.0, 0.1))
    assert off(ob, "eye.L") < AT


def test_a_chosen_role_counts_and_others_do_not() -> None:
    """Lids, brows and targets are no eyes; the user's choice comes first."""
    ob = with_eyes(("upper_eyelid.L", "upper_eyelid.R"))
    before = len(ob.data.bones)
    assert bpy.ops.dqik.eyes_add() == {"CANCELLED"}
    assert len(ob.data.bones) == before
    ob.pose.bones["upper_eyelid.L"].dqik_role, ob.pose.bones["upper_eyelid.R"].dqik_role = "EYE_L", "EYE_R"
    press()
    assert [goal.bone for goal in ob.dqik.goals] == ["upper_eyelid.L", "upper_eyelid.R"]


@pytest.mark.parametrize("names", [
    ("eyebrow.L", "eyebrow.R"), ("eye_target.L", "eye_target.R"), ("EyeLid_L", "EyeLid_R"), ("eyelash.L", "eyelash.R"),
    ("ear.L", "ear.R"), ("cheek.L", "cheek.R"), ("eye_ctrl.L", "eye_ctrl.R"), ("EyeEnd_L", "EyeEnd_R"),
])  # fmt: skip
def test_what_is_no_eye(names: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    with_eyes(names)
    refused(capfd, "No bones of 'Figure' are known as eyes: choose Left Eye and Right Eye as the Role of its eyes")


def test_of_several_pairs_without_names_none_is_taken() -> None:
    ob = with_eyes(("a", "b"))
    for name, x in (("c", 0.03), ("d", -0.03)):
        rigs.add(ob, rigs.Bone(name, (x, -0.1, 1.72), (x, -0.12, 1.72), "head"))
    assert bpy.ops.dqik.eyes_add() == {"CANCELLED"}


# -- undo, files, removal, and other controls --------------------------------------------------------------------------


def state(ob: bpy.types.Object) -> tuple:
    channels = [tuple(map(tuple, bone.matrix_basis)) for bone in ob.pose.bones]
    places = [tuple(map(tuple, bone.matrix_local)) for bone in ob.data.bones]
    goals = [(goal.bone, goal.kind, goal.axis, goal.subtarget, tuple(goal.direction)) for goal in ob.dqik.goals]
    return ob.data.bones.keys(), channels, places, goals, sorted(one.name for one in ob.data.collections_all)


@pytest.mark.parametrize("set_up", [False, True])
def test_with_the_last_eye_goes_the_control_of_both(set_up: bool) -> None:
    ob = with_eyes()
    if set_up:
        bpy.ops.dqik.setup_full_body()
    bones = set(ob.data.bones.keys())
    press()
    count = len(ob.dqik.goals)
    assert bpy.ops.dqik.goal_remove(index=count - 1) == {"FINISHED"}
    assert "DQIK eyes" in ob.data.bones
    press()  # the one that lacks
    assert len(ob.dqik.goals) == count
    assert ob.data.bones["DQIK eye.R"].parent.name == "DQIK eyes"
    for number in (count - 1, count - 2):
        assert bpy.ops.dqik.goal_remove(index=number) == {"FINISHED"}
    assert set(ob.data.bones.keys()) == bones


@pytest.mark.parametrize("eyes_first", [False, True])
def test_a_master_carries_them_with_the_body(eyes_first: bool) -> None:
    ob = with_eyes()
    if eyes_first:
        press()
    bpy.ops.dqik.setup_full_body()
    assert bpy.ops.dqik.setup_full_body(controls={"MASTER"}) == {"FINISHED"}
    if not eyes_first:
        press()
    rigs.live(ob)
    before = {name: rigs.head(ob, name) for name in ("DQIK eye.L", "eye.L", "DQIK hand.L")}
    shift(ob, "DQIK master", (0.3, 0.2, 0.0))
    for name, place in before.items():
        assert (rigs.head(ob, name) - place - Vector((0.3, 0.2, 0.0))).length < 1e-3
    assert off(ob, "eye.L") < AT


def test_keyed_eyes_stay_on_their_keys_until_the_influence_is_raised(capfd: pytest.CaptureFixture[str]) -> None:
    ob = with_eyes()
    for frame, angle in ((1, 0.0), (10, 0.3)):
        for name in ("eye.L", "eye.R"):
            rigs.posed(ob.pose.bones[name], Quaternion((0, 0, 1), angle), frame)
    shown = []
    for press_first in (False, True):
        if press_first:
            rigs.at_frame(1)
            capfd.readouterr()
            press()
            said = capfd.readouterr().out
            assert "Left Eye, Right Eye stay on their keys" in said and said.count("raise the Influence") == 1
            ob.dqik.live = True
        shown.append([Quaternion(rigs.local_rotation(ob, name))
                      for _ in rigs.visited((1, 5, 10)) for name in ("eye.L", "eye.R")])  # fmt: skip
    assert shown[0] == shown[1]
    for goal in ob.dqik.goals:
        goal.influence = 1.0
    rigs.update()
    assert off(ob, "eye.L") < AT


def test_in_pose_mode_the_control_of_both_is_selected() -> None:
    ob = with_eyes()
    bpy.ops.object.mode_set(mode="POSE")
    press()
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["DQIK eyes"]
    assert ob.mode == "POSE"


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(capfd: pytest.CaptureFixture[str], words: str) -> None:
    """Pressing changes nothing and says one sentence with these words."""
    ob = bpy.context.object
    before = state(ob), len(bpy.data.objects)
    capfd.readouterr()
    assert bpy.ops.dqik.eyes_add() == {"CANCELLED"}
    assert words in capfd.readouterr().out
    assert (state(ob), len(bpy.data.objects)) == before


def test_eyes_that_are_there_already_and_eyes_that_follow_constraints(capfd: pytest.CaptureFixture[str]) -> None:
    ob = with_eyes()
    tie = rigs.constrain(ob.pose.bones["eye.R"], "DAMPED_TRACK", rigs.empty((0, -3, 1.7)))
    refused(capfd, "The eye 'eye.R' follows its constraint 'Damped Track': mute that, then press Eye Controls again")
    tie.mute = True
    press()
    refused(capfd, "The eyes of 'Figure' have goals already: move their targets")


def test_an_armature_that_takes_no_bones(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ob = with_eyes()
    ob.hide_viewport = True
    with bpy.context.temp_override(object=ob):
        capfd.readouterr()
        assert bpy.ops.dqik.eyes_add() == {"CANCELLED"}
        assert "No bone can be added to 'Figure', so its eyes get no controls: show it" in capfd.readouterr().out
    ob.hide_viewport = False
    (linked,) = linked_from(tmp_path / "library.blend", ["Figure"])
    rigs.made_active(linked)
    refused(capfd, "make a library override first")
    rigs.made_active(linked.override_create(remap_local_usages=True))
    refused(capfd, "No bone can be added to 'Figure', so its eyes get no controls")


def test_a_generated_rig_has_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    """Its bones named as eyes are targets before the face."""
    ob = with_eyes()
    for name in ("ORG-spine", "MCH-spine", "DEF-spine", "spine_fk"):
        rigs.add(ob, rigs.Bone(name, (0, 0, 1), (0, 0, 1.1)))
    refused(capfd, "The eyes of 'Figure' have controls of Rigify: pose these")
