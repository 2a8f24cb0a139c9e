# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupled bones in Blender: exact by Blender's own rotations, live, baked, saved; presets, and what is said."""

from math import pi, radians

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector

EXACT = 2e-5  # [rad] of Blender's single precision


def turn(ob: bpy.types.Object, bone: str, axis: str = "X") -> float:
    """The twist or a component of the swing of a bone's own rotation."""
    q = rigs.local_rotation(ob, bone)
    return radians(rigs.twist_and_swing(q)[{"Y": 0, "X": 1, "Z": 2}[axis]])


def error(ob: bpy.types.Object, one: bpy.types.PropertyGroup) -> float:
    """How far a bone is off a coupling [rad]."""
    return turn(ob, one.bone, one.axis) - one.factor * turn(ob, one.leader, one.leader_axis) - one.offset


def off(ob: bpy.types.Object) -> float:
    """How far the bones are off their exact couplings."""
    return max(abs(error(ob, one)) for one in ob.dqik.couplings if one.stiffness == 1.0)


def chain() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Three bones up Z with a goal at the end."""
    ob = rigs.chain([(0, 0, 0), (0, 0.05, 1), (0, 0, 2), (0, 0.1, 3)])
    target = rigs.empty((0.3, 1.2, 1.8))
    rigs.goal(ob, "c", target)
    return ob, target


@pytest.mark.parametrize("solver", ["PGS", "DLS", "EXTENDED", "SQP"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_bone_turns_with_its_leader(solver: str, mode: str) -> None:
    ob, target = chain()
    rigs.rotate_by(ob, mode)
    rigs.couple(ob, "c", "b", factor=0.7, offset=0.1)
    ob.dqik.solver = solver
    ob.dqik.live = True
    for place in ((0.3, 1.2, 1.8), (0.5, -1.0, 1.5), (-0.4, 0.3, 2.5)):
        target.location = place
        rigs.update()
        assert off(ob) < EXACT
        assert rigs.miss(ob, "c", target) < 2e-3
    ob.dqik.couplings[0].factor = -0.5
    rigs.update()
    assert off(ob) < EXACT


@pytest.mark.parametrize("what", ["coupling", "limit"])
def test_what_restricts_a_body_later_counts_on_baked_frames(what: str) -> None:
    """Live leaves the poses of a bake as they are, until a coupling or a limit does not allow them."""
    ob, target = chain()
    rigs.key_path(target, (1, 4), [(0.3, 1.2, 1.8), (0.5, -1.0, 1.5)])
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=4) == {"FINISHED"}
    if what == "coupling":
        rigs.couple(ob, "c", "b", factor=-0.5, offset=0.2)
    else:
        rigs.limit(ob.pose.bones["b"], (-1, 1), (-5, 5), (-5, 5))
    ob.dqik.live = True
    for _ in rigs.visited((1, 2, 3, 4)):
        if what == "coupling":
            assert off(ob) < EXACT
        else:
            assert max(map(abs, rigs.twist_and_swing(rigs.local_rotation(ob, "b")))) < 5.01


def figure_with_distance() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A figure with control bones whose collar keeps away from a moving target, which it cannot."""
    ob, target = rigs.figure(), rigs.empty((0, 0, 0))
    rigs.key_path(target, (1, 2, 4), [(-0.2, 0.6, 0.2), (2.0, 0.6, 0.7), (-0.2, 0.6, -0.7)])
    bpy.ops.dqik.setup_full_body(targets="BONES")
    rigs.goal(ob, "collar.L", target, kind="DISTANCE", side="BEYOND", distance=2.5, chain_length=4)
    return ob, target


@pytest.mark.parametrize("pair", [("DQIK head", "thigh.R"), ("thigh.R", "DQIK head")])
def test_a_coupling_with_a_control_has_no_effect_and_says_so(pair: tuple[str, str]) -> None:
    """A control is what the animator sets: it turns with nothing, goals stay, and a bake is what Live shows."""
    ob, _ = figure_with_distance()
    rigs.couple(ob, *pair, axis="Y", leader_axis="Y")
    rigs.live(ob, at=1)
    assert "DQIK head" in rigs.message(ob)
    assert "Coupling" in rigs.message(ob)
    live = {}
    for frame in rigs.visited((1, 2, 3, 4)):
        live[frame] = rigs.matrices(ob)
        assert rigs.local_rotation(ob, "DQIK head").angle < 1e-6
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=4) == {"FINISHED"}
    for frame, shown in live.items():
        rigs.at_frame(frame)
        assert np.degrees(rigs.turn(shown, rigs.matrices(ob))) < 0.06


def test_a_goal_whose_target_is_coupled_to_its_limb_is_solved_with_it() -> None:
    """A bone that is a target of the user's own turns with the limb that reaches for it: a loop that closes."""
    ob = rigs.armature([
        rigs.Bone("a", (0, 0, 0), (0, 0.05, 1)), rigs.Bone("b", (0, 0.05, 1), (0, 0, 2), "a", True),
        rigs.Bone("aim", (1, 0, 1), (1, 0.5, 1)), rigs.Bone("tip", (1, 0.5, 1), (1, 0.6, 1), "aim", True),
    ])  # fmt: skip
    rigs.goal(ob, "b", ob, subtarget="tip", use_tail=True)
    rigs.couple(ob, "aim", "b", factor=0.5)
    rigs.live(ob)
    assert rigs.message(ob) == ""
    shown = rigs.evaluated(ob).pose.bones
    assert (shown["b"].tail - shown["tip"].head).length < 1e-4
    assert (shown["tip"].head - ob.data.bones["tip"].head_local).length > 0.05


def test_a_bone_outside_the_chain_follows_and_comes_back() -> None:
    """A neighbour without a goal follows live; after uncoupling it is where it was."""
    ob = rigs.hand()
    target = rigs.empty((0.0, 0.13, -0.05))
    rigs.goal(ob, "middle2", target, chain_length=3)
    rigs.couple(ob, "ring0", "middle0", factor=0.5)
    rigs.live(ob)
    assert abs(turn(ob, "middle0")) > 0.05
    assert off(ob) < EXACT
    assert bpy.ops.dqik.uncouple() == {"FINISHED"}
    rigs.update()
    assert abs(turn(ob, "ring0")) < 1e-6


def test_fingers_curl_together() -> None:
    ob = rigs.hand()
    for name in ("thumb", "index", "middle", "ring", "little"):
        for part in range(3):
            ob.pose.bones[f"{name}{part}"].dqik_role = "FINGER_L"
    rigs.goal(ob, "index2", rigs.empty((-0.02, 0.12, -0.06)), chain_length=3)
    assert bpy.ops.dqik.couple(preset="FINGERS") == {"FINISHED"}
    assert len(ob.dqik.couplings) == 5 * 2 + 4
    rigs.live(ob)
    assert abs(turn(ob, "index0")) > 0.1
    assert off(ob) < EXACT
    assert abs(turn(ob, "middle0")) > 0.02  # a neighbour goes along, softly
    assert turn(ob, "index0") * turn(ob, "middle0") > 0.0
    assert bpy.ops.dqik.couple(preset="FINGERS") == {"FINISHED"}
    assert len(ob.dqik.couplings) == 5 * 2 + 4  # again: the same ones


@pytest.mark.parametrize(("lean", "bend"), [(0.1, 0.02), (0.15, 0.0)])
def test_a_spine_shares_its_bend_and_collars_follow(lean: float, bend: float) -> None:
    """A head leans where it is led, or as far as stretched arms allow, coupled or not; the spine's bones bend alike."""
    ob = rigs.set_up(rigs.figure(), targets="EMPTIES")
    head = rigs.goal_of(ob, "head")
    head.target.location.x += lean
    head.target.location.z -= 0.1
    rigs.update()
    before = head.error
    assert bpy.ops.dqik.couple(preset="SPINE") == {"FINISHED"}
    assert bpy.ops.dqik.couple(preset="SHOULDERS") == {"FINISHED"}
    rigs.update()
    head = rigs.goal_of(ob, "head")
    assert off(ob) < EXACT
    assert max(abs(turn(ob, "spine", axis)) for axis in "XYZ") > bend
    assert head.error < 1.1 * before + 1e-3


def test_selected_bones_follow_the_active_one() -> None:
    ob, _ = chain()
    rigs.select(ob, "c", "b")
    assert bpy.ops.dqik.couple(preset="CUSTOM") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [(one.bone, one.leader) for one in ob.dqik.couplings] == [("c", "b")]
    rigs.live(ob)
    assert off(ob) < EXACT


def test_a_bone_that_may_turn_about_one_axis_only_is_coupled_about_others_too() -> None:
    """Its twist is 0, so the leader's is too, though the goal would have it twist; a range that has no 0 is refused."""
    ob, target = chain()
    ob.dqik.goals[0].use_rotation = True
    target.rotation_quaternion = rigs.rotation((0.1, 1.0, 0.3), 50.0)
    rigs.limit(ob.pose.bones["c"], (0, 0), (0, 0), (-50, 50))
    one = rigs.couple(ob, "c", "b", "Y", "Y", factor=-0.5)
    rigs.live(ob)
    assert abs(turn(ob, "c", "Z")) > 0.05
    assert abs(turn(ob, "c", "Y")) < EXACT
    assert abs(turn(ob, "b", "Y")) < EXACT
    assert abs(turn(ob, "a", "Y")) > 0.05
    one.leader, one.leader_axis = "a", "Z"
    one.axis, one.factor = "Z", 2.0
    rigs.update()
    assert off(ob) < EXACT
    one.axis, one.offset = "X", 0.5
    rigs.limit(ob.pose.bones["a"], (-180, 180), (-180, 180), (-5, 5))
    rigs.update()
    assert "leave no room" in ob.dqik.status.message


def test_a_missing_bone_and_bones_that_cannot_are_said() -> None:
    ob, _ = chain()
    rigs.couple(ob, "c", "nobody")
    rigs.live(ob)
    assert "Coupling of 'c': the armature has no bone 'nobody'" in ob.dqik.status.message
    assert not ob.dqik.goals[0].missed
    ob.dqik.couplings[0].leader = "b"
    rigs.couple(ob, "b", "c")
    rigs.update()
    assert "its couplings run in a circle" in ob.dqik.status.message
    ob.dqik.couplings.remove(1)
    ob.dqik.solver = "CCD"
    rigs.update()
    assert "CCD cannot solve joints that move together" in ob.dqik.status.message


def test_a_preset_says_which_bones_it_does_not_find(capfd: pytest.CaptureFixture[str]) -> None:
    ob, _ = chain()
    rigs.made_active(ob)
    for preset, bones in (("FINGERS", "fingers"), ("FOREARMS", "twist bones of forearms")):
        assert bpy.ops.dqik.couple(preset=preset) == {"CANCELLED"}
        assert f"too few bones that are recognised as {bones}" in capfd.readouterr().out
    assert not ob.dqik.couplings


# -- mirroring ---------------------------------------------------------------------------------------------------------


def mirrored_pose(ob: bpy.types.Object) -> None:
    """Pose a figure as its mirror image in the plane X = 0, from Blender's evaluated matrices."""
    mirror = Matrix.Diagonal((-1.0, 1.0, 1.0))
    shown = rigs.evaluated(ob).pose.bones
    turns = {one.name: (one.matrix @ one.bone.matrix_local.inverted()).to_3x3() for one in shown}
    wanted = {bpy.utils.flip_name(name): mirror @ turn @ mirror for name, turn in turns.items()}
    for one in ob.pose.bones:
        rest, above = one.bone.matrix_local.to_3x3(), wanted[one.parent.name] if one.parent else Matrix.Identity(3)
        one.rotation_quaternion = (rest.inverted() @ above.inverted() @ wanted[one.name] @ rest).to_quaternion()
    rigs.update()


def posed_by(twist: float, swing_x: float, swing_z: float) -> Quaternion:
    """A rotation of this twist about Y and, after it, this swing."""
    swing = Vector((swing_x, 0.0, swing_z))
    return Quaternion(swing.normalized(), swing.length) @ Quaternion((0.0, 1.0, 0.0), twist)


@pytest.mark.parametrize("rolls", [(0.0, 0.0), (0.7, -0.7), (0.7, pi / 2 - 0.7), (0.3, pi - 0.3), (-0.4, 0.4 - pi / 2)])
@pytest.mark.parametrize("source", ["L", "R"])
def test_the_mirrored_pose_keeps_to_mirrored_couplings(rolls: tuple[float, float], source: str) -> None:
    """Whatever axes the other side's bones have, as long as they are the mirrored ones or exchanged with them."""
    ob, other = rigs.figure(), "LR".replace(source, "")
    with rigs.edit_mode(ob) as bones:
        for name in ("collar", "arm", "forearm", "hand"):
            for own, roll in zip("LR", rolls, strict=True):
                bones[f"{name}.{own}"].roll += roll
    rigs.couple(ob, f"forearm.{source}", f"hand.{source}", "Y", "Y", factor=-0.5, offset=0.2)
    rigs.couple(ob, f"forearm.{source}", f"arm.{source}", "X", "Z", factor=0.6)
    rigs.couple(ob, f"collar.{source}", "chest", "Z", "X", factor=0.4, offset=-0.1)
    rigs.couple(ob, f"arm.{source}", "chest", "Z", "Y", factor=1.5, stiffness=0.3)
    assert bpy.ops.dqik.couplings_mirror(direction=source) == {"FINISHED"}
    mirrored = {one.bone for one in ob.dqik.couplings} - {f"{name}.{source}" for name in ("forearm", "collar", "arm")}
    assert mirrored == {f"{name}.{other}" for name in ("forearm", "collar", "arm")}
    assert len(ob.dqik.couplings) == 8
    chest, arm, hand = (0.3, -0.2, 0.1), (-0.4, 0.3, 0.45), (0.5, 0.1, -0.2)  # twist, swing X, swing Z
    for name, values in {
        "chest": chest, f"arm.{source}": (*arm[:2], 1.5 * chest[0]), f"hand.{source}": hand,
        f"forearm.{source}": (0.2 - 0.5 * hand[0], 0.6 * 1.5 * chest[0], 0.15),
        f"collar.{source}": (0.1, -0.05, 0.4 * chest[1] - 0.1),
    }.items():  # fmt: skip
        ob.pose.bones[name].rotation_quaternion = posed_by(*values)
    rigs.update()
    soft = [one for one in ob.dqik.couplings if one.stiffness < 1.0]
    for one in soft:
        one.stiffness = 1.0
    own, image = ([one for one in ob.dqik.couplings if one.bone.endswith(side)] for side in (source, other))
    assert max(abs(error(ob, one)) for one in own) < 1e-5
    mirrored_pose(ob)
    assert max(abs(error(ob, one)) for one in image) < 1e-5


def test_mirroring_replaces_what_the_other_side_has_and_leaves_what_joins_the_sides() -> None:
    ob = rigs.figure()
    assert bpy.ops.dqik.couplings_mirror() == {"CANCELLED"}
    rigs.couple(ob, "hand.L", "forearm.L", "Y", "Y", factor=0.5)
    rigs.couple(ob, "hand.R", "forearm.R", "Y", "Y", factor=0.9)
    rigs.couple(ob, "thigh.L", "thigh.R", "X", "X", factor=-1.0)
    rigs.couple(ob, "spine", "chest", "X", "X")
    assert bpy.ops.dqik.couplings_mirror() == {"FINISHED"}
    found = {(one.bone, one.leader): one.factor for one in ob.dqik.couplings}
    assert found == {("hand.L", "forearm.L"): 0.5, ("hand.R", "forearm.R"): pytest.approx(0.5),
                     ("thigh.L", "thigh.R"): -1.0, ("spine", "chest"): 1.0}  # fmt: skip
