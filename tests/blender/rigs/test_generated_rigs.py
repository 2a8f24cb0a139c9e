# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that Rigify and Auto-Rig Pro generate: goals move their FK controls, and their bodies follow."""

import subprocess
import sys
from collections.abc import Callable
from math import degrees, pi, radians
from pathlib import Path

import auto_rig_pro
import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector

GENERATE = """
import os, sys
import bpy, addon_utils
for name in sys.argv[2:]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    bpy.ops.pose.rigify_generate()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(sys.argv[1], name + ".blend"))
os._exit(0)
"""
METARIGS = ("basic_human", "basic_quadruped")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of rigs that Rigify generated.

    Another process makes them: Rigify reads `bpy.context.layer_collection`, after which Blender 4.2 takes the scene of
    that moment for the owner of `bpy.context.window`, also when it is freed, and crashes when a later test
    writes there.
    """
    folder = tmp_path_factory.mktemp("generated")
    subprocess.run(
        [sys.executable, "-c", GENERATE, str(folder), *METARIGS], check=True, capture_output=True, timeout=180
    )
    return folder


@pytest.fixture
def opened(generated: Path) -> Callable[[str], bpy.types.Object]:
    """Opens the file of a generated rig; gives the rig as the active object."""
    def opened_rig(name: str) -> bpy.types.Object:
        bpy.ops.wm.open_mainfile(filepath=str(generated / f"{name}.blend"))
        return rigs.made_active(next(
            ob for ob in bpy.data.objects if ob.type == "ARMATURE" and "MCH-torso.parent" in ob.data.bones
        ))  # fmt: skip

    return opened_rig


def body(ob: bpy.types.Object) -> dict[str, Matrix]:
    """The matrices of the bones that deform the mesh, as Blender evaluates them."""
    return {bone.name: bone.matrix.copy() for bone in rigs.evaluated(ob).pose.bones if bone.bone.use_deform}


def apart(one: dict[str, Matrix], other: dict[str, Matrix]) -> float:
    """The largest difference of two bodies in their matrices."""
    return max(float(np.abs(np.array(one[name]) - np.array(other[name])).max()) for name in one)


def size(ob: bpy.types.Object) -> float:
    """The height or length of a rig."""
    return float(np.ptp([tuple(bone.head_local) for bone in ob.data.bones if bone.use_deform], axis=0).max())


def move(ob: bpy.types.Object, control: str, by: tuple[float, float, float]) -> None:
    """Move a control bone in armature space."""
    bone = ob.pose.bones[control]
    bone.matrix = Matrix.Translation(by) @ bone.matrix
    rigs.update()


def posed(ob: bpy.types.Object) -> set[str]:
    """The bones that are not as at rest by their own channels."""
    return {bone.name for bone in ob.pose.bones if bone.matrix_basis != Matrix()}


def gap(ob: bpy.types.Object, bone: str, control: str) -> float:
    """The distance from a bone of the body to a control."""
    return (rigs.head(ob, bone) - rigs.head(ob, control)).length


def test_auto_rig_pro() -> None:
    """By its names: the pose of the IK controls stays, hands, feet and head reach their controls."""
    ob = auto_rig_pro.made()
    for name, by in (("c_hand_ik.l", (-0.2, -0.3, 0.1)), ("c_foot_ik.r", (0.0, -0.2, 0.2))):
        move(ob, name, by)
    before = body(ob)
    assert (before["hand.l"].translation - ob.data.bones["hand.l"].head_local).length > 0.3
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert all(ob.pose.bones[f"c_{end}_ik.{side}"]["ik_fk_switch"] == 1.0 for end in ("hand", "foot") for side in "lr")
    assert apart(before, body(ob)) < 1e-4
    found = {goal.bone: goal.subtarget for goal in ob.dqik.goals}
    assert found.keys() == {"c_root_master.x", "c_head.x", "c_hand_fk.l", "c_hand_fk.r", "c_foot_fk.l", "c_foot_fk.r"}
    rigs.live(ob)
    assert apart(before, body(ob)) < 1e-3
    for name, by in (("c_root_master.x", (0.02, -0.02, -0.08)), ("c_hand_fk.l", (0.1, 0.1, -0.2)),
                     ("c_foot_fk.r", (0.0, 0.1, -0.1)), ("c_head.x", (0.02, -0.05, -0.03))):  # fmt: skip
        move(ob, found[name], by)
        for bone in ("c_hand_fk.l", "c_hand_fk.r", "c_foot_fk.l", "c_foot_fk.r", "c_head.x"):
            followed = bone if bone == "c_head.x" else bone.replace("c_", "").replace("_fk", "")
            assert gap(ob, followed, found[bone]) < 2e-4


@pytest.mark.parametrize("metarig", METARIGS)
def test_the_body_follows_the_controls(opened: Callable, metarig: str) -> None:
    """Hands and feet are where their controls are, of the bones that deform the mesh too; the others stay."""
    ob = opened(metarig)
    tall, rest, before = size(ob), body(ob), posed(ob)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {bone.name for bone in ob.pose.bones if bone.get("IK_FK") == 1.0} == {
        name for name in (bone.name for bone in ob.pose.bones) if name.endswith(("_parent.L", "_parent.R"))
        and "IK_FK" in ob.pose.bones[name]
    }  # fmt: skip
    goals = {goal.bone: goal.subtarget for goal in ob.dqik.goals}
    ends = [name for name in goals if name not in ("head", "torso")]
    assert len(ends) == 4
    assert {"head", "torso"} <= goals.keys()
    rigs.live(ob)
    assert apart(rest, body(ob)) < 1e-4 * tall
    for name in ends:
        inward = -0.1 * tall if name.endswith(".L") else 0.1 * tall
        move(ob, goals[name], (0.3 * inward, -0.06 * tall, 0.07 * tall))
        for other in ends:
            assert gap(ob, "DEF-" + other.replace("_fk", ""), goals[other]) < 1e-4 * tall
            assert gap(ob, other, goals[other]) < 1e-4 * tall
        assert gap(ob, "head", goals["head"]) < 1e-4 * tall
    moved = posed(ob)
    assert not {name for name in moved - before if name.startswith(("ORG-", "MCH-", "DEF-")) or "tweak" in name}


def test_hips_and_head_move_the_trunk(opened: Callable) -> None:
    """A crouch: the torso goes down, feet and hands stay, and knees bend forward."""
    ob = opened("basic_human")
    rigs.set_up(ob)
    goals = {goal.bone: goal.subtarget for goal in ob.dqik.goals}
    before = rigs.head(ob, "DEF-spine")
    move(ob, goals["torso"], (0.0, 0.0, -0.15))
    move(ob, goals["head"], (0.0, 0.0, -0.02))
    assert (rigs.head(ob, "DEF-spine") - before).z < -0.1
    for side in "LR":
        assert gap(ob, f"DEF-foot.{side}", goals[f"foot_fk.{side}"]) < 2e-4
        assert gap(ob, f"DEF-hand.{side}", goals[f"hand_fk.{side}"]) < 2e-4
        knee, hip, ankle = (rigs.head(ob, f"DEF-{name}.{side}") for name in ("shin", "thigh", "foot"))
        assert knee.y < 0.5 * (hip.y + ankle.y) - 0.1


def test_a_bake_plays_without_the_extension(opened: Callable) -> None:
    """Keys are on the FK controls, and show on each frame what Live showed."""
    ob = opened("basic_human")
    rigs.set_up(ob)
    bone = rigs.owner_of(ob, "hand_fk.L")
    for frame, by in ((1, (0.0, 0.0, 0.0)), (5, (-0.2, -0.2, 0.1))):
        move(ob, bone.name, by)
        bone.keyframe_insert("location", frame=frame)
    live = [body(ob) for _ in rigs.visited(range(1, 6))]
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=5) == {"FINISHED"}
    ob.dqik.live = False
    controls = {goal.subtarget for goal in ob.dqik.goals}
    keyed = {curve.data_path.split('"')[1] for curve in rigs.fcurves(ob)} - controls
    assert {"upper_arm_fk.L", "forearm_fk.L", "hand_fk.L", "shoulder.L", "torso", "spine_fk.003", "neck"} <= keyed
    assert not any(name.startswith(("ORG-", "MCH-", "DEF-")) or "tweak" in name for name in keyed)
    bpy.ops.dqik.goals_clear()
    assert not ob.dqik.goals
    assert ob.pose.bones["upper_arm_parent.L"]["IK_FK"] == 1.0  # the keys need it
    for frame in rigs.visited(range(1, 6)):
        shown, after = live[frame - 1], body(ob)
        assert max((shown[name].translation - after[name].translation).length for name in shown) < 1e-5 * size(ob)
        assert apart(shown, after) < 5e-5


def same_pose(ob: bpy.types.Object, before: dict[str, Matrix]) -> None:
    """Ends and trunk are as before; limbs too, but for what IK has stretched them, which FK does not."""
    after = body(ob)
    for name in before:
        whole = name.startswith(("DEF-spine", "DEF-hand", "DEF-foot", "DEF-toe", "DEF-shoulder", "DEF-pelvis"))
        assert (before[name].translation - after[name].translation).length < (5e-4 if whole else 0.03)
        turn = before[name].to_quaternion().rotation_difference(after[name].to_quaternion()).angle
        assert min(turn, 2.0 * pi - turn) < radians(0.5 if whole else 8.0)


def test_the_pose_of_the_ik_controls_stays(opened: Callable) -> None:
    """A rig that is posed by its IK controls looks the same after Set Up, and once the goals are removed."""
    ob = opened("basic_human")
    pose_by_ik(ob)
    before = body(ob)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    same_pose(ob, before)
    rigs.live(ob)
    same_pose(ob, before)
    ob.dqik.live = False
    bpy.ops.dqik.goals_clear()
    rigs.update()
    assert all(bone["IK_FK"] == 0.0 for bone in ob.pose.bones if "IK_FK" in bone)
    assert ob.pose.bones["torso"]["neck_follow"] == 0.5
    assert apart(before, body(ob)) < 1e-5


def pose_by_ik(ob: bpy.types.Object) -> None:
    """A lean, and a hand and a foot elsewhere."""
    ob.pose.bones["torso"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(15.0))
    ob.pose.bones["chest"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(20.0))
    rigs.update()
    move(ob, "hand_ik.L", (-0.25, -0.3, 0.1))
    move(ob, "hand_ik.R", (0.1, -0.2, -0.1))
    move(ob, "foot_ik.R", (0.0, -0.2, 0.15))


def test_a_motion_of_the_ik_controls_stays(opened: Callable) -> None:
    """Keys of IK controls: the FK controls and the goals' controls get keys with which the body moves just so."""
    ob = opened("basic_human")
    hand, other, foot, torso = (ob.pose.bones[name] for name in ("hand_ik.L", "hand_ik.R", "foot_ik.R", "torso"))
    for frame, by in ((1, 0.0), (4, 1.0)):
        move(ob, "hand_ik.L", (-0.2 * by, -0.3 * by, 0.1 * by))
        move(ob, "hand_ik.R", (0.1 * by, -0.2 * by, 0.0))
        move(ob, "foot_ik.R", (0.0, -0.2 * by, 0.15 * by))
        torso.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(15.0) * by)
        for bone in (hand, other, foot, torso):
            rigs.key(bone, frame)
    shown = [body(ob) for _ in rigs.visited(range(1, 5))]
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    for live in (False, True):
        ob.dqik.live = live
        for frame in rigs.visited(range(1, 5)):
            same_pose(ob, shown[frame - 1])


def test_a_keyed_switch_is_named(opened: Callable) -> None:
    """A switch that keys would set back: a sentence that names it, and nothing changes."""
    ob = opened("basic_human")
    ob.pose.bones["thigh_parent.L"].keyframe_insert('["IK_FK"]', frame=1)
    before = body(ob)
    assert bpy.ops.dqik.setup_full_body() == {"CANCELLED"}
    assert not ob.dqik.goals
    assert all(bone["IK_FK"] == 0.0 for bone in ob.pose.bones if "IK_FK" in bone)
    assert apart(before, body(ob)) == 0.0


def test_human_limits_are_kept(opened: Callable) -> None:
    """Limits are those of the FK controls: an elbow does not bend backward, wherever the hand is dragged."""
    ob = opened("basic_human")
    bpy.ops.dqik.setup_full_body()
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    assert ob.pose.bones["forearm_fk.L"].dqik_use_limits
    assert not ob.pose.bones["ORG-forearm.L"].dqik_use_limits
    rigs.live(ob)
    hand = rigs.goal_of(ob, "hand_fk.L").subtarget
    for by in ((-0.3, 0.3, 0.0), (-0.2, -0.4, 0.4), (-0.3, 0.1, -0.4)):
        move(ob, hand, by)
        upper, lower, end = (rigs.head(ob, f"DEF-{name}.L") for name in ("upper_arm", "forearm", "hand"))
        out, on = (lower - upper).normalized(), (end - lower).normalized()
        turned = rigs.evaluated(ob).pose.bones["forearm_fk.L"].matrix_basis.to_quaternion()
        assert out.angle(on) < radians(165.0)
        assert abs(turned.to_axis_angle()[0].normalized().y * turned.angle) < radians(91.0)


def test_a_rig_of_an_unknown_tool_is_left_alone(opened: Callable) -> None:
    """Its bones follow its controls: a sentence, and nothing changes. Its FK controls take goals and are met."""
    ob = opened("basic_human")
    for bone in ob.data.bones:
        bone.name = bone.name.replace("ORG-", "BODY-").replace("MCH-", "HELP-")
    before = rigs.matrices(ob)
    for act in (bpy.ops.dqik.setup_full_body, bpy.ops.dqik.limits_preset):
        assert act() == {"CANCELLED"}
    assert not ob.dqik.goals
    assert not any(bone.dqik_use_limits for bone in ob.pose.bones)
    assert np.array_equal(before, rigs.matrices(ob))
    ob.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    target = rigs.empty(rigs.head(ob, "hand_fk.L") + Vector((-0.1, -0.15, 0.05)))
    rigs.reach(ob, "hand_fk.L", target, use_tail=False, chain_length=3)
    for bone in ("hand_fk.L", "DEF-hand.L"):
        assert (rigs.head(ob, bone) - rigs.place(target)).length < 2e-3


@pytest.mark.parametrize(("owner", "switch", "value"), [("upper_arm_parent.L", "FK_limb_follow", 1.0),
                                                        ("torso", "head_follow", 0.0)])  # fmt: skip
def test_other_switches_may_have_any_end(opened: Callable, owner: str, switch: str, value: float) -> None:
    """Arms that do not turn with shoulders, and a head that turns with the torso, reach their controls too."""
    ob = opened("basic_human")
    rigs.set_up(ob)
    ob.pose.bones[owner][switch] = value
    ob.update_tag()
    rigs.update()
    goals = {goal.bone: goal.subtarget for goal in ob.dqik.goals}
    for name, by in (("hand_fk.L", (-0.1, -0.1, 0.05)), ("torso", (0.03, 0.0, -0.05))):
        move(ob, goals[name], by)
        for bone in ("hand_fk.L", "hand_fk.R", "foot_fk.L", "foot_fk.R", "head"):
            assert gap(ob, bone, goals[bone]) < 2e-4
        assert gap(ob, "DEF-hand.L", goals["hand_fk.L"]) < 2e-4


def test_a_motion_goes_to_the_fk_controls(opened: Callable) -> None:
    """Retarget: the limbs of the body that deforms point as the source's, whatever the IK controls were doing."""
    ob = opened("basic_human")
    move(ob, "hand_ik.L", (-0.2, -0.3, 0.1))
    source = rigs.figure("Source")
    for frame, amount in ((1, 0.0), (10, 1.0)):
        for bone, line in (("arm.L", (1, -1, 1)), ("forearm.R", (-1, -2, 0)), ("thigh.R", (0.1, -0.5, -1))):
            own = source.pose.bones[bone]
            turn = own.bone.matrix_local.col[1].xyz.rotation_difference(Vector(line))
            basis = own.bone.matrix_local.to_quaternion()
            rigs.keyed(own, frame, rotation_quaternion=Quaternion().slerp(basis.inverted() @ turn @ basis, amount))
    rigs.made_active(ob)
    assert bpy.ops.dqik.retarget(source=source.name, frame_start=1, frame_end=10) == {"FINISHED"}
    assert all(bone["IK_FK"] == 1.0 for bone in ob.pose.bones if "IK_FK" in bone)
    for frame in rigs.visited((1, 6, 10)):
        for upper, lower in (("arm", "forearm"), ("forearm", "hand")):
            for side in "LR":
                own = rigs.head(source, f"{lower}.{side}") - rigs.head(source, f"{upper}.{side}")
                names = [f"DEF-{part.replace('arm', 'upper_arm') if part == 'arm' else part}.{side}"
                         for part in (upper, lower)]  # fmt: skip
                assert degrees(own.angle(rigs.head(ob, names[1]) - rigs.head(ob, names[0]))) < 1.0
        for side in "LR":
            if side == "L" or frame == 1:
                assert abs(rigs.head(ob, f"DEF-foot.{side}").z - ob.data.bones[f"DEF-foot.{side}"].head_local.z) < 0.02
