# SPDX-License-Identifier: GPL-3.0-or-later
"""Posing with goals: pins, targets put to the pose, one side mirrored to the other, the goal of the selection."""

from math import degrees, radians

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Quaternion, Vector
from pytest import MonkeyPatch
from situations import auto_keying
from test_controls import HEIGHT, STILL, contents, control, moved, places, posed, shift

EXACT = 1e-4 * HEIGHT
DANCERS = ("hips", "spine", "chest", "arm.L", "forearm.L", "arm.R", "thigh.L", "shin.L", "foot.R")


def live_figure(prepare=posed, targets: str = "BONES") -> bpy.types.Object:
    """A figure with goals, solved."""
    return rigs.set_up(prepare(rigs.figure()), targets=targets)


def key_dance(ob: bpy.types.Object) -> None:
    """Keys of hips and joints over 20 frames, straight and bent limbs among them."""
    for frame in (1, 7, 13, 20):
        for k, name in enumerate(DANCERS):
            bone = ob.pose.bones[name]
            angles = 0.5 * np.sin(frame * (0.3 + 0.1 * k) + np.arange(3) + k)
            rigs.keyed(bone, frame, rotation_quaternion=Euler(angles).to_quaternion())
        rigs.keyed(ob.pose.bones["hips"], frame, location=(0.02 * frame, 0.01 * frame, 0.05 * np.sin(frame)))
    rigs.at_frame(1)


# -- targets to pose, and back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("prepare", [lambda ob: ob, rigs.with_root])
def test_from_fk_to_ik_and_back_without_a_jump(prepare, targets: str) -> None:
    """A keyed dance becomes motion of the targets: with Live on, and baked, every frame is where it was."""
    ob = prepare(rigs.figure())
    key_dance(ob)
    bpy.ops.dqik.setup_full_body(targets=targets)
    before = {frame: places(ob) for frame in rigs.visited(range(1, 21))}
    rigs.at_frame(5)
    assert bpy.ops.dqik.targets_to_pose(frame_start=1, frame_end=20, all=True) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 5
    ob.dqik.live = True
    for frame in rigs.visited(before):
        assert moved(before[frame], places(ob)) < EXACT, frame
    bpy.ops.dqik.bake(frame_start=1, frame_end=20, clear_goals=True)
    for frame in rigs.visited(before):
        assert moved(before[frame], places(ob)) < EXACT, frame


def test_a_range_of_targets_to_pose_is_the_scenes_unless_it_is_given() -> None:
    ob = rigs.figure()
    key_dance(ob)
    bpy.ops.dqik.setup_full_body(from_animation=False)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 12
    assert bpy.ops.dqik.targets_to_pose(use_range=True) == {"FINISHED"}
    keyed = {curve.data_path: [key.co.x for key in curve.keyframe_points] for curve in rigs.fcurves(ob)}
    beside = [2, 13]  # which keep the control outside of the range where it was
    assert keyed['pose.bones["DQIK hand.L"].location'] == sorted([*range(3, 13), *beside])


@pytest.mark.parametrize("chain_length", [2, 0])
@pytest.mark.parametrize("as_bone", [False, True])
def test_poles_are_put_to_the_pose_too(as_bone: bool, chain_length: int) -> None:
    """A keyed arm whose elbow swings about keeps its pose, whatever the pole's angle; the pole stays as far away."""
    ob = rigs.figure()
    if as_bone:
        rigs.add(ob, rigs.Bone("pole", (0.5, 0.6, 1.4), (0.5, 0.7, 1.4)))
    else:
        pole = rigs.empty((0.5, 0.6, 1.4), "Pole")
    for name, rate, start in (("arm.L", (0.1, 0.2, 0.0), (0, 0, -0.1)), ("forearm.L", (0, 0, -0.1), (0, 0, -0.5))):
        turns = [Euler(Vector(start) + frame * Vector(rate)).to_quaternion() for frame in (1, 5, 9)]
        rigs.key_path(ob.pose.bones[name], (1, 5, 9), turns, "rotation_quaternion")
    goal = rigs.goal(ob, "hand.L", rigs.empty((0, 0, 0)), use_tail=False, chain_length=chain_length)
    goal.pole_target, goal.pole_subtarget = (ob, "pole") if as_bone else (pole, "")
    goal.pole_angle = 0.7
    before = {frame: places(ob) for frame in rigs.visited(range(1, 10))}
    assert bpy.ops.dqik.targets_to_pose(frame_start=1, frame_end=9, all=True) == {"FINISHED"}
    ob.dqik.live = True
    for frame, own in before.items():
        rigs.at_frame(frame)
        assert moved({name: own[name] for name in ("arm.L", "forearm.L", "hand.L")}, places(ob)) < EXACT, frame


def test_targets_of_selected_bones_only() -> None:
    """In Pose Mode the targets of the selected bones, or the selected targets, are put to the pose; others stay."""
    ob = rigs.set_up(rigs.figure(), False)
    posed(ob)
    before = rigs.head(ob, "DQIK hand.R")
    rigs.select(ob, "hand.L", "DQIK foot.L")
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    rigs.update()
    for name in ("hand.L", "foot.L"):
        assert (rigs.head(ob, f"DQIK {name}") - rigs.head(ob, name)).length < 1e-5
    assert (rigs.head(ob, "DQIK hand.R") - before).length == 0.0
    assert (before - rigs.head(ob, "hand.R")).length > 0.1


def test_targets_of_all_goals_if_no_selected_bone_has_one() -> None:
    """An arm posed without Live is selected: all targets follow, so that Live moves nothing."""
    ob = rigs.set_up(rigs.figure(), False)
    before = places(posed(ob))
    rigs.select(ob, "arm.R")
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    rigs.live(ob)
    assert moved(before, places(ob)) < STILL * HEIGHT


@pytest.mark.parametrize("only_available", [False, True])
def test_auto_keying_keys_the_targets(monkeypatch: MonkeyPatch, only_available: bool) -> None:
    """With Only Insert Available, those that have curves; a range, which the user asks for, is keyed in any case."""
    ob = rigs.set_up(rigs.figure(), False)
    auto_keying(monkeypatch, True, only_available)
    control(ob, "hand.R").keyframe_insert("location", frame=7)

    def keyed() -> set[str]:
        return {path for (path, _), points in rigs.keys(ob).items() if any(frame == 1.0 for frame, _ in points)}

    bpy.ops.dqik.targets_to_pose(all=True)
    assert 'pose.bones["DQIK hand.R"].location' in keyed()
    everything = {f'pose.bones["DQIK hand.L"].{path}' for path in ("location", "rotation_quaternion")}
    assert everything.isdisjoint(keyed()) if only_available else everything <= keyed()
    bpy.ops.dqik.targets_to_pose(all=True, frame_start=1, frame_end=2)
    assert everything <= keyed()


def test_keep_pose_switches_live_off_without_a_jump() -> None:
    """Switching Live off by itself goes back to the pose from before; Keep Pose stays, and Live on again too."""
    ob = live_figure()
    shift(ob, "hand.R", (0.2, -0.2, 0.2))
    shown = places(ob)
    assert bpy.ops.dqik.keep_pose() == {"FINISHED"}
    rigs.update()
    assert not ob.dqik.live
    assert moved(shown, places(ob)) < 1e-6
    bpy.ops.dqik.targets_to_pose(all=True)
    rigs.live(ob)
    assert moved(shown, places(ob)) < STILL * HEIGHT


def test_reset_pose_puts_figure_and_controls_to_rest() -> None:
    ob = live_figure(lambda ob: ob)
    rest = places(ob)
    shift(ob, "hand.R", (0.2, -0.2, 0.2))
    bpy.ops.dqik.reset_pose()
    rigs.update()
    assert moved(rest, places(ob)) < STILL * HEIGHT


# -- pins --------------------------------------------------------------------------------------------------------------


def test_unpin_leaves_the_file_as_it_was() -> None:
    ob = posed(rigs.figure())
    before = contents(ob)
    rigs.select(ob, "forearm.L", "shin.R")
    bpy.ops.dqik.pin(rotation=False)
    assert {(goal.use_position, goal.use_rotation) for goal in ob.dqik.goals} == {(True, False)}
    rigs.select(ob, "shin.R", "DQIK forearm.L")
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert len(ob.dqik.goals) == 0
    assert contents(ob) == before


def test_pinning_a_bone_that_has_a_goal_leaves_that_goal_and_its_target_alone() -> None:
    """A goal that was muted by hand is so after *Unpin*, too."""
    ob = rigs.set_up(rigs.figure(), False)
    posed(ob)
    goal = rigs.goal_of(ob, "hand.L")
    goal.mute = True
    rigs.select(ob, "hand.L")
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    target = rigs.head(ob, "DQIK hand.L")
    assert len(ob.dqik.goals) == 7
    assert (rigs.head(ob, "DQIK hand pin.L") - rigs.head(ob, "hand.L")).length < 1e-5
    assert (target - rigs.head(ob, "hand.L")).length > 0.05
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    rigs.update()
    goal = rigs.goal_of(ob, "hand.L")
    assert len(ob.dqik.goals) == 6 and goal.mute
    assert rigs.head(ob, "DQIK hand.L") == target


# -- mirroring ---------------------------------------------------------------------------------------------------------


SIDES = [("mano_izq", "mano_der"), ("Hand links", "Hand rechts"), ("lefthand", "righthand"), ("LHand", "RHand"),
         ("Epaule.Gauche", "Epaule.Droite"), ("HAND_LFT", "HAND_RGT"),
         ("mixamorig:LeftForeArm", "mixamorig:RightForeArm")]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SIDES)
def test_goals_are_mirrored_by_every_word_for_a_side(left: str, right: str) -> None:
    """What tells a bone's role by its name also tells its counterpart; Blender flips names of controls."""
    ob = rigs.armature([rigs.Bone("a", (0, 0, 1), (0, 0, 1.2)), rigs.Bone(left, (0.3, 0, 1.2), (0.6, 0, 1.2), "a"),
                        rigs.Bone(right, (-0.3, 0, 1.2), (-0.6, 0, 1.2), "a")])  # fmt: skip
    for own, other, side in ((left, right, "L"), (right, left, "R")):
        ob.dqik.goals.clear()
        rigs.select(ob, own)
        bpy.ops.dqik.pin()
        assert bpy.ops.dqik.goals_mirror(direction=side) == {"FINISHED"}
        assert [goal.bone for goal in ob.dqik.goals] == [own, other]
        names = {goal.subtarget for goal in ob.dqik.goals}
        assert {bpy.utils.flip_name(name) for name in names} == names


@pytest.mark.parametrize("roll", [0.0, 0.7])
def test_mirrored_limits_allow_the_mirrored_rotations(roll: float) -> None:
    """A rotation at a limit of the left arm, mirrored by Blender's own pasting, is at the limit of the right."""
    ob = rigs.figure()
    with rigs.edit_mode(ob) as bones:
        bones["arm.L"].roll, bones["arm.R"].roll = roll, -roll
    bpy.ops.object.mode_set(mode="POSE")
    rigs.limit(ob.pose.bones["arm.L"], (-20, 40), (-10, 70), (-30, 50))
    assert bpy.ops.dqik.limits_mirror() == {"FINISHED"}
    right = ob.pose.bones["arm.R"]
    ends = {
        part: [degrees(getattr(right, f"dqik_{part}_{end}")) for end in ("min", "max")]
        for part in ("twist", "swing_x", "swing_z")
    }  # before pasting, which copies custom properties as well
    for axis, part, angle in (("Y", "twist", 40), ("X", "swing_x", -10), ("Z", "swing_z", 50), ("Z", "swing_z", -30)):
        rigs.posed(ob.pose.bones["arm.L"], Quaternion([float(axis == one) for one in "XYZ"], radians(angle)))
        rigs.select(ob, "arm.L")
        bpy.ops.pose.copy()
        bpy.ops.pose.paste(flipped=True)
        found = rigs.twist_and_swing(right.rotation_quaternion)["YXZ".index(axis)]
        assert min(abs(found - end) for end in ends[part]) < 1e-3


def limit_numbers(bone: bpy.types.PoseBone) -> list[float]:
    """The limits of a bone with their axes, whose quaternion may have either sign."""
    names = [f"dqik_{part}_{end}" for part in ("twist", "swing_x", "swing_z") for end in ("min", "max")]
    axes = np.array(bone.dqik_limits_axes)
    return [*(getattr(bone, name) for name in names), *(axes * np.sign(axes[np.abs(axes).argmax()]))]


@pytest.mark.parametrize("live", [True, False])
def test_a_mirrored_paste_mirrors_limits_and_roles(live: bool) -> None:
    """Blender copies them to the other side as they are; they become mirror images, also after undo and redo."""
    ob = live_figure(lambda ob: ob)
    bpy.ops.dqik.limits_preset()
    ob.pose.bones["arm.L"].dqik_twist_min = -0.3
    ob.pose.bones["arm.L"].dqik_role, ob.pose.bones["arm.R"].dqik_role = "ARM_L", "ARM_R"
    shift(ob, "hand.L", (-0.1, -0.2, 0.2))
    ob.dqik.live = live
    elbow = rigs.head(ob, "forearm.L")
    before = {bone.name: limit_numbers(bone) for bone in ob.pose.bones}
    bpy.ops.ed.undo_push(message="Limits")
    rigs.update()
    rigs.paste_mirrored(ob)
    bpy.ops.ed.undo_push(message="Paste")

    def check() -> None:
        found = bpy.data.objects["Figure"].pose.bones
        mirrored = rigs.head(bpy.data.objects["Figure"], "forearm.R")
        assert (mirrored - Vector((-elbow.x, *elbow.yz))).length < 1e-3 * HEIGHT
        assert (found["arm.L"].dqik_role, found["arm.R"].dqik_role) == ("ARM_L", "ARM_R")
        assert found["arm.R"].dqik_twist_max == pytest.approx(0.3)
        for bone in found:
            if not bone.name.startswith("arm."):
                assert limit_numbers(bone) == pytest.approx(before[bone.name], abs=1e-4), bone.name

    check()
    bpy.ops.ed.undo()
    assert bpy.data.objects["Figure"].pose.bones["arm.L"].dqik_twist_min == pytest.approx(-0.3)
    bpy.ops.ed.redo()
    rigs.update()
    check()


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("natural_pose", [0.0, 1.0])
def test_a_mirrored_paste_of_a_body_gives_its_mirror_image(natural_pose: float, mode: str) -> None:
    """Joint by joint, also where targets are missed or one side is held, and after undo and redo."""
    ob = live_figure()
    ob.dqik.natural_pose = natural_pose
    rigs.rotate_by(ob, mode)
    shift(ob, "hand.L", (0.9, -0.3, 0.4))  # out of reach
    shift(ob, "hand.R", (0.1, -0.25, 0.2))
    shift(ob, "hips", (0.05, 0.02, -0.08))
    forearm = ob.pose.bones["forearm.R"]
    if mode == "QUATERNION":
        rigs.posed(forearm, forearm.rotation_quaternion @ rigs.rotation((0, 1, 0), 20.0))
    rigs.update()
    bpy.ops.ed.undo_push(message="Posed")
    wanted = {bpy.utils.flip_name(name): Vector((-at.x, *at.yz)) for name, at in places(ob).items()}
    held = {bpy.utils.flip_name(bone.name) for bone in ob.pose.bones if bone.dqik_hold}
    rigs.paste_mirrored(ob, "EXEC_DEFAULT", True)

    def check() -> None:
        rigs.update()
        found = bpy.data.objects["Figure"]
        assert moved(wanted, places(found)) < 1e-4
        assert {bone.name for bone in found.pose.bones if bone.dqik_hold} == held

    check()
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    check()


def pasted_mirror_image(ob: bpy.types.Object, frame: int) -> dict[str, Vector]:
    """Copy all bones, paste them mirrored at a frame; the places of the body in the mirror image of what was copied."""
    wanted = {bpy.utils.flip_name(name): Vector((-at.x, *at.yz)) for name, at in body_places(ob).items()}
    rigs.paste_mirrored(ob, "EXEC_DEFAULT", True, at=frame)
    return wanted


def body_places(ob: bpy.types.Object) -> dict[str, Vector]:
    return {name: at for name, at in places(ob).items() if not name.startswith("DQIK")}


def key_controls(ob: bpy.types.Object, *frames: int) -> None:
    for bone in ob.pose.bones:
        for frame in frames if bone.name.startswith("DQIK") else ():
            for channel in ("location", "rotation_quaternion", "dqik_roll"):
                bone.keyframe_insert(channel, frame=frame)


def influences(ob: bpy.types.Object) -> dict[str, float]:
    return {goal.bone: goal.influence for goal in ob.dqik.goals}


@pytest.mark.parametrize(("keyed", "auto", "fk"), [
    *((number % 2 == 0,) * 2 + (fk,)
      for number, fk in enumerate(((), ("hand.L",), ("hand.R",), ("foot.L",), ("hand.L", "hand.R")))),
    *((keyed, auto, ("hand.L", "foot.R")) for keyed in (False, True) for auto in (False, True)),
])  # fmt: skip
def test_mirrored_pastes_take_switched_limbs_too(keyed: bool, auto: bool, fk: tuple, monkeypatch: MonkeyPatch) -> None:
    """Limbs in FK, a rolled foot, a held trunk and a missed hand, at the frame of the copy and at another one."""
    tools = bpy.context.scene.tool_settings
    monkeypatch.setattr(tools, "use_keyframe_insert_auto", False)
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    ob = live_figure()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    if keyed:
        key_controls(ob, 1, 12)
    rigs.at_frame(4)
    shift(ob, "hand.L", (-0.2, -0.3, 0.1))
    shift(ob, "hand.R", (0.1, -0.25, -0.2))
    shift(ob, "hips", (0.05, 0.02, -0.08))
    shift(ob, "foot.L", (0.05, -0.12, 0.1))
    ob.pose.bones["DQIK foot.R"].dqik_roll = radians(20.0)
    if not keyed:
        rigs.posed(ob.pose.bones["chest"], rigs.rotation((0, 1, 0), 12.0))
    rigs.update()
    if keyed:
        key_controls(ob, 4)
    if fk:
        rigs.select(ob, *fk)
        assert bpy.ops.dqik.limb_to_fk() == {"FINISHED"}
    for name, angle in (("forearm.L", 40.0), ("arm.L", -25.0), ("forearm.R", -35.0)):
        if f"hand.{name[-1]}" in fk:
            bone = ob.pose.bones[name]
            bone.rotation_quaternion = bone.rotation_quaternion @ rigs.rotation((0.3, 0.2, 1.0), angle)
            if keyed:
                bone.keyframe_insert("rotation_quaternion", frame=4)
    rigs.update()
    tools.use_keyframe_insert_auto = auto
    for frame in (4, 8) if keyed or auto else (4,):
        rigs.at_frame(4)
        copied = influences(ob)
        wanted = pasted_mirror_image(ob, frame)
        assert moved(wanted, body_places(ob)) < 1e-3 * HEIGHT, frame
        assert influences(ob) == {bpy.utils.flip_name(name): at for name, at in copied.items()}
        assert not rigs.message(ob)
        if auto or not keyed:
            rigs.at_frame(2)
            rigs.at_frame(frame)
            assert moved(wanted, body_places(ob)) < 1e-3 * HEIGHT, frame


def test_a_mirrored_paste_is_the_copys_however_often_it_is_pasted_and_after_undo() -> None:
    """What was copied decides on which side a limb is in FK, not what the figure had when it is pasted."""
    ob = live_figure()
    rigs.select(ob, "hand.L")
    assert bpy.ops.dqik.limb_to_fk() == {"FINISHED"}
    rigs.pose(ob, "forearm.L", rigs.rotation((0.3, 0.2, 1.0), 50.0))
    bpy.ops.ed.undo_push(message="Posed")
    wanted = pasted_mirror_image(ob, 1)
    for _ in range(2):
        found = bpy.data.objects["Figure"]
        assert moved(wanted, body_places(found)) < 1e-3 * HEIGHT
        assert (influences(found)["hand.L"], influences(found)["hand.R"]) == (1.0, 0.0)
        bpy.ops.pose.paste("EXEC_DEFAULT", True, flipped=True)
        rigs.update()
    for _ in range(3):
        bpy.ops.ed.undo()
    rigs.update()
    found = bpy.data.objects["Figure"]
    assert (influences(found)["hand.L"], influences(found)["hand.R"]) == (0.0, 1.0)
    bpy.ops.ed.redo()
    rigs.update()
    assert moved(wanted, body_places(bpy.data.objects["Figure"])) < 1e-3 * HEIGHT


def test_a_mirrored_paste_that_cannot_be_the_mirror_image_says_so() -> None:
    """One hand is pinned, and no goal of the other side can take the pin over."""
    ob = live_figure()
    rigs.select(ob, "hand.L")
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    shift(ob, "hips", (0.05, 0.02, -0.2))
    rigs.update()
    assert not rigs.message(ob)
    wanted = pasted_mirror_image(ob, 1)
    assert moved(wanted, body_places(ob)) > 1e-3 * HEIGHT
    assert "not the mirror image" in rigs.message(ob)
    rigs.at_frame(2)
    assert "not the mirror image" not in rigs.message(ob)


# -- selection ---------------------------------------------------------------------------------------------------------


def test_selecting_a_target_or_a_bone_makes_its_goal_the_active_one() -> None:
    ob = live_figure()
    for name, goal in (("DQIK hand.R", "hand.R"), ("foot.L", "foot.L"), ("DQIK head", "head")):
        rigs.select(ob, name)
        ob.update_tag()
        rigs.update()
        assert ob.dqik.goals[ob.dqik.active_goal].bone == goal
        assert [bone.name for bone in bpy.context.selected_pose_bones] == [name]  # and the selection stays


def test_making_a_goal_active_selects_its_target() -> None:
    """If the control is hidden, its bone; nothing that cannot be seen is selected."""
    ob = live_figure()
    rigs.select(ob)
    number = next(k for k, goal in enumerate(ob.dqik.goals) if goal.bone == "hand.R")
    ob.dqik.active_goal = number
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["DQIK hand.R"]
    ob.data.collections_all["DQIK"].is_visible = False
    ob.dqik.active_goal = (number + 1) % 6
    assert [bone.name for bone in bpy.context.selected_pose_bones] == [ob.dqik.goals[ob.dqik.active_goal].bone]
    rigs.refuses(bpy.ops.dqik.target_select, "hidden")


def test_an_empty_that_is_selected_makes_its_goal_active() -> None:
    ob = live_figure(targets="EMPTIES")
    rigs.made_active(ob.dqik.goals[3].target)
    rigs.update()
    assert ob.dqik.active_goal == 3


def test_operators_do_not_take_bones_that_cannot_be_seen() -> None:
    """In Object Mode, or hidden: no goal for the bone that was active once."""
    ob = rigs.figure()
    rigs.select(ob, "hand.L")
    bpy.ops.object.mode_set(mode="OBJECT")
    for operator in (bpy.ops.dqik.goal_add, bpy.ops.dqik.pin):
        rigs.refuses(operator, "In Pose Mode")
    bpy.ops.object.mode_set(mode="POSE")
    collection = ob.data.collections.new("hidden")
    collection.assign(ob.data.bones["hand.L"])
    collection.is_visible = False
    rigs.refuses(bpy.ops.dqik.pin, "In Pose Mode")
    assert len(ob.dqik.goals) == 0


# -- targets and the armature object -----------------------------------------------------------------------------------


@pytest.mark.parametrize("follow", [True, False])
def test_moving_the_armature_takes_its_targets_along_or_not(follow: bool) -> None:
    ob = live_figure(targets="EMPTIES")
    before, targets = places(ob), {goal.bone: rigs.place(goal.target) for goal in ob.dqik.goals}
    ob.dqik.targets_follow = follow
    rigs.update()
    assert moved(before, places(ob)) < STILL * HEIGHT
    ob.location, ob.rotation_euler = (0.0, 0.05, 0.0), (0.0, 0.0, 0.1)
    rigs.update()
    for goal in ob.dqik.goals:
        way = ob.matrix_world @ targets[goal.bone] if follow else targets[goal.bone]
        assert (rigs.place(goal.target) - way).length < 1e-5
    ob.dqik.targets_follow = False
    assert all(goal.target.parent is None for goal in ob.dqik.goals)
