# SPDX-License-Identifier: GPL-3.0-or-later
"""In-betweens in Blender: keyed poses stay, feet stand between the keys, and the keyed action stays in the file."""

from pathlib import Path

import bpy
import captured
import numpy as np
import pytest
import rigs

STEP = 12
KEYED = range(1, 98, STEP)
WHOLE = range(1, 98)


def _blocked(folder: Path, mode: str = "QUATERNION") -> bpy.types.Object:
    """A captured climber with keys on every twelfth frame alone, in a rotation mode."""
    ob = captured.clip(folder, range(0, 4 * 97, 4))
    poses = {frame: [(bone.location.copy(), bone.rotation_quaternion.copy()) for bone in ob.pose.bones]
             for frame in rigs.visited(KEYED)}  # fmt: skip
    ob.animation_data_clear()
    rigs.rotate_by(ob, mode)
    for frame, own in poses.items():
        for bone, (location, turned) in zip(ob.pose.bones, own, strict=True):
            bone.location = location
            rigs.posed(bone, turned, frame)
            if bone.parent is None:
                bone.keyframe_insert("location", frame=frame)
    return ob


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_keyed_poses_stay_and_all_frames_between_are_keyed(tmp_path: Path, mode: str) -> None:
    ob = _blocked(tmp_path, mode)
    action, before = ob.animation_data.action, rigs.shown(ob, WHOLE)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    after = rigs.shown(ob, WHOLE)
    rows = np.array(KEYED) - 1
    assert np.abs(after[rows] - before[rows]).max() < 1e-5
    assert np.abs(after - before).max() > 1e-2
    hips = ob.pose.bones[0]
    assert hips.parent is None
    times = [time for time, _ in rigs.keys(ob)[f'pose.bones["{hips.name}"].location', 0]]
    assert times == list(WHOLE)
    assert ob.animation_data.action != action
    assert action.use_fake_user


def test_a_place_that_is_keyed_alone_makes_a_keyed_pose(tmp_path: Path) -> None:
    """Pressed again it starts from the keys and gives the same."""
    ob = _blocked(tmp_path)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["LeftUpLeg"].use_connect = False
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.at_frame(KEYED[2] + 5)
    ob.pose.bones["LeftUpLeg"].keyframe_insert("location")
    before = rigs.matrices(ob)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    rigs.at_frame(KEYED[2] + 5)
    assert np.abs(rigs.matrices(ob) - before).max() < 1e-5
    once = rigs.shown(ob, WHOLE)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    assert np.abs(rigs.shown(ob, WHOLE) - once).max() < 1e-6
    rigs.refuses(bpy.ops.dqik.in_betweens, "no frame between", frame_start=1, frame_end=97, original=False)


def test_feet_stand_between_keys_at_which_they_stand(tmp_path: Path) -> None:
    """Before and after two keys with the same pose the figure moves; between them the lower foot does not."""
    ob = _blocked(tmp_path)
    rigs.at_frame(KEYED[3])
    for bone in ob.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=KEYED[4])
        if bone.parent is None:
            bone.keyframe_insert("location", frame=KEYED[4])
    rigs.at_frame(KEYED[3])
    low = min(("LeftFoot", "RightFoot"), key=lambda name: rigs.tail(ob, name).z)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    places = np.array([rigs.tail(ob, low)[:] for _ in rigs.visited(range(KEYED[3], KEYED[4] + 1))])
    assert np.ptp(places, axis=0).max() < 2e-3 * ob.dimensions.z


SHORT = range(1, 26)


def _controlled(folder: Path, **settings: object) -> bpy.types.Object:
    """The climber led by controls alone while Live solves, with keys on every twelfth frame."""
    ob = captured.clip(folder, range(0, 4 * len(SHORT), 4))
    body = ob.pose.bones.keys()
    rigs.set_up(ob, on=False, from_animation=True, **settings)
    for one in [ob, *{goal.target for goal in ob.dqik.goals} - {ob}]:
        for curve in rigs.fcurves(one):
            is_body = any(f'["{name}"]' in curve.data_path for name in body)
            kept = [] if is_body else [key.co[:] for key in curve.keyframe_points if key.co[0] in SHORT[::STEP]]
            curve.keyframe_points.clear()
            for time, value in kept:
                curve.keyframe_points.insert(time, value)
    for name in body:
        ob.pose.bones[name].matrix_basis.identity()
    return rigs.live(ob)


def test_controls_go_along_with_the_body_and_keyed_poses_stay(tmp_path: Path) -> None:
    """A foot whose control has equal keys stands. Bones that goals move get no keys."""
    ob = _controlled(tmp_path)
    foot, hand = (rigs.owner_of(ob, name) for name in ("LeftFoot", "RightHand"))
    for path in ("location", rigs.ROTATION_PATHS[foot.rotation_mode]):
        rigs.at_frame(1)
        foot.keyframe_insert(path, frame=1 + STEP)
    before = rigs.shown(ob, SHORT)
    rigs.at_frame(1)
    stood = np.array(rigs.world(ob, foot.name))
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=SHORT[-1]) == {"FINISHED"}
    after = rigs.shown(ob, SHORT)
    assert np.abs(after[::STEP] - before[::STEP]).max() < 1e-6 * ob.dimensions.z
    assert np.abs(after - before).max() > 1e-2 * ob.dimensions.z
    for _ in rigs.visited(range(1, 2 + STEP)):
        assert np.abs(np.array(rigs.world(ob, foot.name)) - stood).max() < 1e-6 * ob.dimensions.z
    paths = {path for path, _ in rigs.keys(ob)}
    assert f'pose.bones["{hand.name}"].location' in paths
    for name in ("LeftFoot", "RightUpLeg"):
        assert not rigs.keys(ob).get((f'pose.bones["{name}"].rotation_quaternion', 0))


def test_empties_get_the_places_that_controls_get(tmp_path: Path) -> None:
    """The old actions of all of them stay in the file."""
    ob = _controlled(tmp_path)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=SHORT[-1]) == {"FINISHED"}
    bones = ["LeftFoot", "RightHand", "Head"]
    wanted = [[rigs.world(ob, name).translation[:] for name in bones] for _ in rigs.visited(SHORT)]
    rigs.new_file()
    ob = _controlled(tmp_path, targets="EMPTIES")
    own = rigs.owner_of(ob, "RightHand")
    action = own.animation_data.action
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=SHORT[-1]) == {"FINISHED"}
    found = [[rigs.world(ob, name).translation[:] for name in bones] for _ in rigs.visited(SHORT)]
    np.testing.assert_allclose(found, wanted, atol=2e-3 * ob.dimensions.z)
    assert own.animation_data.action != action
    assert action.use_fake_user


def test_a_limb_in_fk_gets_keys_for_its_bones(tmp_path: Path) -> None:
    """Its poses stay too, and between them its bones turn as those of a figure without goals do."""
    ob = _controlled(tmp_path)
    rigs.goal_of(ob, "RightHand").influence = 0.0
    arm = ob.pose.bones["RightArm"]
    for frame, angle in zip(SHORT[::STEP], (0.0, 0.8, 0.3), strict=True):
        rigs.keyed(arm, frame, rotation_quaternion=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))
    before = rigs.shown(ob, SHORT)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=SHORT[-1]) == {"FINISHED"}
    after = rigs.shown(ob, SHORT)
    assert np.abs(after[::STEP] - before[::STEP]).max() < 1e-6 * ob.dimensions.z
    assert len(rigs.keys(ob)['pose.bones["RightArm"].rotation_quaternion', 0]) == len(SHORT)
    row = ob.pose.bones.find("RightArm")
    assert np.abs(after[:, row] - before[:, row]).max() > 1e-2


def test_a_pinned_foot_stays_while_keyed_arms_get_frames_between(tmp_path: Path) -> None:
    """The hips stay, too. The bones of the leg, which the pin moves, keep their keys."""
    ob = _blocked(tmp_path)
    rigs.at_frame(1)
    hips = ob.pose.bones[0]
    for frame in KEYED:
        hips.keyframe_insert("location", frame=frame)
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    rigs.select(ob, "LeftFoot")
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    rigs.live(ob)
    before, leg_keys = rigs.shown(ob, SHORT), len(rigs.keys(ob)['pose.bones["LeftUpLeg"].rotation_quaternion', 0])
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=SHORT[-1]) == {"FINISHED"}
    after, foot = rigs.shown(ob, SHORT), ob.pose.bones.find("LeftFoot")
    assert np.abs(after[::STEP] - before[::STEP]).max() < 1e-5 * ob.dimensions.z
    assert np.ptp(after[:, foot, :3, 3], axis=0).max() < 1e-3 * ob.dimensions.z
    keyed = rigs.keys(ob)
    assert {time for time, _ in keyed['pose.bones["RightArm"].rotation_quaternion', 0]} >= set(SHORT)
    assert len(keyed['pose.bones["LeftUpLeg"].rotation_quaternion', 0]) == leg_keys


def test_it_refuses_what_it_cannot_key(tmp_path: Path) -> None:
    ob = _blocked(tmp_path)
    rigs.refuses(bpy.ops.dqik.in_betweens, "no frame between", frame_start=2, frame_end=12)
    bone = ob.pose.bones["LeftForeArm" if "LeftForeArm" in ob.pose.bones else "lradius"]
    made = rigs.constrain(bone, "COPY_ROTATION", rigs.empty((0, 0, 0)))
    rigs.refuses(bpy.ops.dqik.in_betweens, "Constraints or drivers move", frame_start=1, frame_end=97)
    bone.constraints.remove(made)
    ob.animation_data_clear()
    rigs.refuses(bpy.ops.dqik.in_betweens, "no keyed poses", frame_start=1, frame_end=97)
    foot = ob.pose.bones["LeftFoot"].name
    with rigs.edit_mode(ob) as bones:
        bones[foot].use_connect, bones[foot].parent = False, bones["Hips"]
    rigs.refuses(bpy.ops.dqik.in_betweens, "bones of their own", frame_start=1, frame_end=97)
