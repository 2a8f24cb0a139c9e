# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that step through frames and actions and put everything back: nothing of that is an edit by hand."""

from collections.abc import Callable, Iterable
from itertools import product
from math import degrees
from pathlib import Path

import addon_utils
import bpy
import captured
import numpy as np
import pytest
import rigs
from situations import installed

FRAMES = (1, 4, 8, 12)


def acting(start_from: str = "POSE") -> bpy.types.Object:
    """A figure with two goals, keyed targets, two actions of its own and a chest posed by hand, under Live."""
    ob = rigs.figure()
    for k, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "AXIS_ANGLE")[k % 3] if bone.name != "chest" else "QUATERNION"
        rigs.posed(bone, rigs.rotation((1, k % 3, 2), 12.0))
    for number, angle in enumerate((25.0, -30.0)):
        ob.animation_data_create().action = bpy.data.actions.new(f"Own {number}")
        for frame in (1, 12):
            bone = ob.pose.bones["neck"]
            rigs.posed(bone, rigs.rotation((0, 1, 0), angle * frame / 12), frame)
    bpy.data.actions["Own 0"].use_fake_user = True
    rigs.update()
    for end in ("hand.L", "foot.R"):
        place = 0.85 * rigs.tail(ob, end)
        target = rigs.empty(place, f"{end} target")
        rigs.key_path(target, (1, 12), (place, place + rigs.Vector((0.05, -0.1, 0.05))))
        rigs.goal(ob, end, target)
    ob.dqik.start_from = start_from
    rigs.live(ob, at=4)
    ob.pose.bones["chest"].rotation_quaternion = rigs.rotation((1, 0, 0), 15.0)
    rigs.update()
    rigs.made_active(ob)
    return ob


class State:
    """What a figure shows on some frames, its holds, and its pose after Live is switched off."""

    def __init__(self, ob: bpy.types.Object) -> None:
        now = bpy.context.scene.frame_current_final
        self.holds = [bone.dqik_hold for bone in ob.pose.bones]
        self.bases = np.array([bone.dqik_base[:7] for bone in ob.pose.bones])
        solved = [k for k, bone in enumerate(ob.pose.bones) if any(bone.dqik_base)]  # some tools leave others at rest
        self.poses = []
        for _ in rigs.visited(FRAMES):
            self.poses.append(rigs.matrices(ob)[solved])
        rigs.at_frame(now)

    def assert_kept(self, ob: bpy.types.Object) -> None:
        """The figure is as it was."""
        now = State(ob)
        assert now.holds == self.holds
        np.testing.assert_allclose(now.bases, self.bases, atol=1e-5)
        for frame, one, two in zip(FRAMES, self.poses, now.poses, strict=True):
            assert degrees(rigs.turn(one, two)) < 0.02, frame


def export_fbx(folder: Path) -> None:
    bpy.ops.export_scene.fbx(filepath=str(folder / "out.fbx"))


def export_gltf(folder: Path) -> None:
    bpy.ops.export_scene.gltf(filepath=str(folder / "out.glb"), export_animation_mode="ACTIONS")


def export_gltf_as_it_is(folder: Path) -> None:
    bpy.ops.export_scene.gltf(
        filepath=str(folder / "out.glb"), export_animation_mode="ACTIVE_ACTIONS", export_reset_pose_bones=False
    )


def export_bvh(folder: Path) -> None:
    from io_anim_bvh import export_bvh  # its operator cannot be called without a window in every version

    export_bvh.write_armature(bpy.context, str(folder / "out.bvh"), 1, 12)


def export_usd(folder: Path) -> None:
    for mode in ("VIEWPORT", "RENDER"):
        bpy.ops.wm.usd_export(filepath=str(folder / "out.usdc"), export_animation=True, evaluation_mode=mode)


def export_alembic(folder: Path) -> None:
    for mode in ("VIEWPORT", "RENDER"):
        bpy.ops.wm.alembic_export(
            filepath=str(folder / "out.abc"), start=1, end=12, evaluation_mode=mode, as_background_job=False
        )


def motion_paths(folder: Path) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.paths_calculate()
    bpy.ops.object.mode_set(mode="OBJECT")


def export_with(addon: str, export: Callable[[Path], None]) -> Callable[[Path], None]:
    def step(folder: Path) -> None:
        addon_utils.enable(addon)
        export(folder)

    step.__name__ = export.__name__
    return step


def saved_basis(ob: bpy.types.Object) -> list:
    return [bone.matrix_basis.copy() for bone in ob.pose.bones]


def restore_basis(ob: bpy.types.Object, saved: Iterable) -> None:
    for bone, matrix in zip(ob.pose.bones, saved, strict=True):
        bone.matrix_basis = matrix


def visit_cleared(ob: bpy.types.Object, frames: Iterable[int | None]) -> None:
    """Clear the pose on some frames, or where it is for None, and have it evaluated."""
    for frame in frames:
        if frame is not None:
            bpy.context.scene.frame_set(frame)
        for bone in ob.pose.bones:
            bone.matrix_basis.identity()
        bpy.context.view_layer.update()


def step_actions(folder: Path) -> None:
    """Each action over its frames, and the pose put back after each."""
    ob, scene = bpy.context.object, bpy.context.scene
    saved, action, frame = saved_basis(ob), ob.animation_data.action, scene.frame_current
    place = tuple(ob.location)  # where actions have no slots, those of the targets move the figure
    for other in list(bpy.data.actions):
        ob.animation_data.action = other
        for step in range(1, 13, 3):
            scene.frame_set(step)
        restore_basis(ob, saved)
        ob.animation_data.action, ob.location = action, place
        scene.frame_set(frame)


def measure_at_rest(folder: Path) -> None:
    """The pose cleared on some frames, evaluated, and put back."""
    ob, scene = bpy.context.object, bpy.context.scene
    saved, frame = saved_basis(ob), scene.frame_current
    visit_cleared(ob, (2, 7))
    restore_basis(ob, saved)
    scene.frame_set(frame)


def measure_and_put_back_afterwards(folder: Path) -> None:
    """The pose cleared on some frames and evaluated, and put back only where it was seen."""
    ob, scene = bpy.context.object, bpy.context.scene
    saved, frame = saved_basis(ob), scene.frame_current
    visit_cleared(ob, (2, 7))
    scene.frame_set(frame)
    restore_basis(ob, saved)


def measure_in_each_action(folder: Path) -> None:
    """The pose cleared on some frames of each action and evaluated, and put back where it was seen."""
    ob, scene = bpy.context.object, bpy.context.scene
    saved, action, frame = saved_basis(ob), ob.animation_data.action, scene.frame_current
    place = tuple(ob.location)
    for other in [action, *bpy.data.actions]:
        ob.animation_data.action = other
        visit_cleared(ob, (3, 8))
    ob.animation_data.action, ob.location = action, place
    restore_basis(ob, saved)
    scene.frame_set(frame)
    restore_basis(ob, saved)


def measure_here(folder: Path) -> None:
    """The pose cleared on this frame, evaluated, and put back."""
    ob = bpy.context.object
    saved = saved_basis(ob)
    visit_cleared(ob, (None,))
    restore_basis(ob, saved)
    bpy.context.view_layer.update()


def cleared_before_each_frame(folder: Path) -> None:
    """The pose cleared before each change of frame, as exporters of single actions do."""
    ob, scene = bpy.context.object, bpy.context.scene
    saved, frame = saved_basis(ob), scene.frame_current
    for step in (1, 2, 3, 9):
        for bone in ob.pose.bones:
            bone.matrix_basis.identity()
        scene.frame_set(step)
    restore_basis(ob, saved)
    scene.frame_set(frame)


def another_action_for_a_moment(folder: Path) -> None:
    ob = bpy.context.object
    action = ob.animation_data.action
    ob.animation_data.action = bpy.data.actions["Own 0"]
    bpy.context.view_layer.update()
    ob.animation_data.action = None
    bpy.context.view_layer.update()
    ob.animation_data.action = action
    bpy.context.view_layer.update()


def a_cancelled_drag(folder: Path) -> None:
    """A bone turned step by step, and put back as Esc does."""
    bone = bpy.context.object.pose.bones["spine"]
    path = rigs.ROTATION_PATHS[bone.rotation_mode]
    before = tuple(getattr(bone, path))
    for angle in (5.0, 12.0, 20.0, 31.0):
        rigs.posed(bone, rigs.rotation((1, 0, 0), angle))
        bpy.context.view_layer.update()
    setattr(bone, path, before)
    bpy.context.view_layer.update()


STEPS = [
    export_with("io_scene_fbx", export_fbx), export_with("io_scene_gltf2", export_gltf),
    export_with("io_scene_gltf2", export_gltf_as_it_is), export_with("io_anim_bvh", export_bvh), export_usd,
    export_alembic, motion_paths, step_actions,
    measure_at_rest, measure_and_put_back_afterwards, measure_in_each_action, measure_here,
    cleared_before_each_frame, another_action_for_a_moment, a_cancelled_drag,
]  # fmt: skip
LEAVE_OTHER_BONES_AT_REST = STEPS[1:2]


@pytest.mark.parametrize(
    ("step", "start_from"),
    [*((step, "POSE") for step in STEPS), *product(STEPS[-8:], ("PREVIOUS", "FOLLOW"))],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_what_is_put_back_was_no_edit(step: Callable[[Path], None], start_from: str, tmp_path: Path) -> None:
    """Frames, holds and base poses are as they were."""
    ob = acting(start_from)
    before, shown = State(ob), rigs.matrices(ob)
    step(tmp_path)
    assert degrees(rigs.turn(shown, rigs.matrices(ob))) < 0.02 or step in LEAVE_OTHER_BONES_AT_REST
    before.assert_kept(ob)


@pytest.mark.parametrize("step", STEPS[-8:], ids=lambda step: step.__name__)
def test_what_is_put_back_on_keyed_bones_was_no_edit(step: Callable[[Path], None], tmp_path: Path) -> None:
    """As above on a figure whose bones are all keyed, with a bone posed by hand after that."""
    ob = acting()
    for bone in ob.pose.bones:
        for frame in (2, 9):
            rigs.key(bone, frame)
    rigs.update()
    rigs.pose(ob, "spine", rigs.rotation((1, 0, 0), 25.0))
    assert ob.pose.bones["spine"].dqik_hold == 1.0
    spine = ob.pose.bones["spine"]
    spine.keyframe_insert(rigs.ROTATION_PATHS[spine.rotation_mode], frame=4)
    rigs.at_frame(4)
    before, shown = State(ob), rigs.matrices(ob)
    step(tmp_path)
    assert degrees(rigs.turn(shown, rigs.matrices(ob))) < 0.02
    before.assert_kept(ob)


@pytest.mark.parametrize("here", [0.0, 1.0])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_is_put_back_where_no_goal_counts_was_no_edit(
    step: Callable[[Path], None], here: float, tmp_path: Path
) -> None:
    """The goals' influence is keyed, and is 0 on the frame from which a tool sets out, or on those that it visits."""
    ob = acting()
    for name in ("Own 0", "Own 1"):
        ob.animation_data.action = bpy.data.actions[name]
        for goal in ob.dqik.goals:
            rigs.key_path(goal, (5, 6), (here, 1.0 - here), "influence")
    rigs.visit((6, 4))
    assert any(any(bone.dqik_base) for bone in ob.pose.bones) == bool(here)
    holds, frames = [bone.dqik_hold for bone in ob.pose.bones], (4, 9, 2)
    shown = {frame: rigs.matrices(ob) for frame in rigs.visited((*frames, 4))}
    step(tmp_path)
    rigs.update()
    assert [bone.dqik_hold for bone in ob.pose.bones] == holds
    if step not in LEAVE_OTHER_BONES_AT_REST:
        for frame in rigs.visited((*frames, 4)):
            assert degrees(rigs.turn(shown[frame], rigs.matrices(ob))) < 0.02, frame


def test_what_is_put_back_where_the_goals_alone_decide_the_pose_was_no_edit() -> None:
    """A bone whose goal sets its rotation shows the same whatever it was posed like; its hold and base come back."""
    ob = rigs.armature([rigs.Bone("arm", (0, 0, 0), (0, 0, 1))])
    target = rigs.empty((0.5, 0.4, 0.6), "Target")
    rigs.key_path(target, (1, 12), ((0.5, 0.4, 0.6), (0.2, -0.6, 0.7)))
    target.rotation_mode = "XYZ"
    rigs.key_path(target, (1, 12), ((0.3, -0.5, 0.9), (-0.4, 0.8, 0.1)), "rotation_euler")
    rigs.goal(ob, "arm", target, chain_length=1, use_rotation=True)
    rigs.live(ob, at=5)
    rigs.pose(ob, "arm", rigs.rotation((1, 0, 0), 40.0))
    before = State(ob)
    rigs.made_active(ob)
    saved = saved_basis(ob)
    for step in (1, 9):
        bpy.context.scene.frame_set(step)
        ob.pose.bones["arm"].matrix_basis.identity()
    restore_basis(ob, saved)
    bpy.context.scene.frame_set(5)
    restore_basis(ob, saved)
    rigs.update()
    before.assert_kept(ob)


def test_a_frame_that_shows_another_pose_once_those_before_it_were_read_was_not_posed() -> None:
    """A hand that is led around ends elsewhere after a jump than frame by frame."""
    ob = acting("PREVIOUS")
    hand = rigs.tail(ob, "hand.L")
    away = hand * 0.5 + rigs.Vector((0.6, 0.3, 0.9))
    rigs.key_path(bpy.data.objects["hand.L target"], (1, 6, 12), (hand, away, hand))
    for frame in (1, 12):
        rigs.at_frame(frame)
    holds, shown = [bone.dqik_hold for bone in ob.pose.bones], rigs.matrices(ob)
    for _ in rigs.visited(range(1, 13)):
        pass
    assert degrees(rigs.turn(shown, rigs.matrices(ob))) > 0.1, "both ways lead to one pose: the test says nothing"
    for frame in (1, 12):
        rigs.at_frame(frame)
    ob.dqik.ghosts = True
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    assert bpy.ops.dqik.see_motion() == {"FINISHED"}
    rigs.update()
    assert [bone.dqik_hold for bone in ob.pose.bones] == holds


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS", "FOLLOW"])
def test_a_pose_that_a_script_makes_before_a_frame_change_is_an_edit(start_from: str) -> None:
    """It becomes the base pose and is held, although nothing was evaluated in between."""
    ob = acting(start_from)
    rigs.posed(ob.pose.bones["spine"], rigs.rotation((1, 0, 0), 33.0))
    rigs.at_frame(8)
    assert ob.pose.bones["spine"].dqik_hold == 1.0
    assert degrees(rigs.local_rotation(ob, "spine").rotation_difference(rigs.rotation((1, 0, 0), 33.0)).angle) < 1.0


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("kind", ["frame_change_pre", "frame_change_post"])
def test_bones_that_a_handler_turns_at_each_frame_are_not_posed(before: bool, kind: str) -> None:
    """Another add-on's handler that turns a solved bone makes no hold and no base pose."""
    ob = acting()
    state = State(ob)

    def spring(scene: bpy.types.Scene, *_: object) -> None:
        bone = bpy.data.objects["Figure"].pose.bones["spine"]
        rigs.posed(bone, rigs.rotation((1, 0, 0), 3.0 * scene.frame_current))

    with installed(kind, spring, 0 if before else None):
        rigs.visit((5, 6, 9, 2, 4))
    state.assert_kept(ob)


@pytest.mark.parametrize("blend_type", ["REPLACE", "COMBINE", "ADD"])
def test_keys_that_go_into_a_track_or_out_of_use_with_their_action_hold_nothing(blend_type: str) -> None:
    """Keys that were added since the last answer, to an action that is not the armature's any more."""
    ob = acting()
    data, holds = ob.animation_data, [bone.dqik_hold for bone in ob.pose.bones]
    for name in ("arm.L", "thigh.R"):
        rigs.posed(ob.pose.bones[name], rigs.rotation((1, 1, 0), 40.0), 4)
    track = data.nla_tracks.new()
    track.strips.new("Strip", 1, data.action).blend_type = blend_type
    track.mute = blend_type == "ADD"
    data.action = None
    rigs.update()
    assert [bone.dqik_hold for bone in ob.pose.bones] == holds
    rigs.visit((5, 4))
    assert [bone.dqik_hold for bone in ob.pose.bones] == holds


def test_locations_of_connected_bones_are_no_edits_and_are_kept() -> None:
    """Blender leaves them out where a matrix is read, so a pose that is put back comes without them."""
    ob = acting()
    name = next(bone.name for bone in ob.pose.bones if bone.bone.use_connect and any(bone.dqik_base))
    bone = ob.pose.bones[name]
    held, shown = [one.dqik_hold for one in ob.pose.bones], rigs.matrices(ob)
    bone.location = (0.2, 0.3, -0.1)
    rigs.update()
    assert [one.dqik_hold for one in ob.pose.bones] == held
    assert degrees(rigs.turn(shown, rigs.matrices(ob))) < 0.02
    saved = saved_basis(ob)
    restore_basis(ob, saved)
    rigs.update()
    assert [one.dqik_hold for one in ob.pose.bones] == held
    assert degrees(rigs.turn(shown, rigs.matrices(ob))) < 0.02
    bone.location = (0.2, 0.3, -0.1)
    rigs.update()
    ob.dqik.live = False
    assert tuple(bone.location) == pytest.approx((0.2, 0.3, -0.1))


def test_the_pose_of_an_armature_of_very_many_bones_is_remembered() -> None:
    """Even where one pose alone takes more room than is set aside for poses."""
    put_back = rigs.part("rig.frame.memory.put_back")
    channels = rigs.part("rig.blender.channels")
    count = 40_000
    modes = channels.Modes(np.zeros(count, dtype=np.int32))
    turns = np.random.default_rng(1).normal(size=(2, count, 4)).astype(np.float32)
    places = np.zeros((count, 3), dtype=np.float32)
    one, other = (channels.Channels(turn, places, modes) for turn in turns)
    history, bones = put_back.History(), np.arange(count)
    for frame, pose in enumerate((one, other)):
        history.note_shown((1, float(frame), 0), pose, fresh=True, other=False, followed=False)
    assert history.showing((1, 1.0, 0), other, bones, bones) is not None
    assert history.showing((1, 1.0, 0), one, bones, bones) is None


def keyed_control(start_from: str, bones_keyed: bool) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A live figure, and a keyed target that was moved by hand and not keyed."""
    ob = acting(start_from)
    if bones_keyed:
        ob.dqik.live = False
        for bone in ob.pose.bones:
            for frame in (1, 12):
                bone.keyframe_insert(rigs.ROTATION_PATHS[bone.rotation_mode], frame=frame)
        ob.dqik.live = True
    rigs.at_frame(1)
    rigs.at_frame(4)
    target = ob.dqik.goals[0].target
    target.location += rigs.Vector((0.02, -0.06, 0.08))
    rigs.update()
    return ob, target


@pytest.mark.parametrize("bones_keyed", [False, True], ids=["free", "keyed"])
@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS", "FOLLOW"])
def test_a_check_keeps_a_target_that_was_moved_and_not_keyed(start_from: str, bones_keyed: bool) -> None:
    """It puts the target back after visiting frames that take it to its keys: no bone was posed by that."""
    ob, target = keyed_control(start_from, bones_keyed)
    place, shown = target.location.copy(), rigs.matrices(ob)
    bones = ob.pose.bones
    holds, bases = [bone.dqik_hold for bone in bones], [bone.dqik_base[:7] for bone in bones]
    for frames in ((1, 12), (6, 9)):
        assert bpy.ops.dqik.check_range(frame_start=frames[0], frame_end=frames[1]) == {"FINISHED"}
        rigs.update()
        assert [bone.dqik_hold for bone in bones] == holds
        np.testing.assert_allclose([bone.dqik_base[:7] for bone in bones], bases, atol=1e-5)
        assert (target.location - place).length < 1e-6
        assert degrees(rigs.turn(shown, rigs.matrices(ob))) < (0.02 if start_from == "POSE" else 1.0)


def test_keyed_bones_that_are_posed_and_cancelled_are_as_before(tmp_path: Path) -> None:
    """As Esc does in a rotation, or while a pose asset is blended in: the channels are what the keys have, again."""
    ob = rigs.set_up(captured.clip(tmp_path, range(12)))
    rigs.at_frame(5)
    before, bones = rigs.matrices(ob), [ob.pose.bones[name] for name in ("Spine1", "Neck1", "LeftArm")]
    shown = [bone.rotation_quaternion.copy() for bone in bones]
    for angle in (10.0, 25.0):
        for bone, own in zip(bones, shown, strict=True):
            bone.rotation_quaternion = own @ rigs.rotation((1, 1, 0), angle)
        rigs.update()
    assert rigs.turn(before, rigs.matrices(ob)) > np.radians(10.0)
    for bone, own in zip(bones, shown, strict=True):
        bone.rotation_quaternion = own
    rigs.update()
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-4
    assert not any(bone.dqik_hold for bone in ob.pose.bones)
