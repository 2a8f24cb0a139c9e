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
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    for frame, own in poses.items():
        for bone, (location, turned) in zip(ob.pose.bones, own, strict=True):
            bone.location = location
            rigs.posed(bone, turned)
            bone.keyframe_insert(rigs.ROTATION_PATHS[mode], frame=frame)
            if bone.parent is None:
                bone.keyframe_insert("location", frame=frame)
    return ob


def _film(ob: bpy.types.Object, frames: range) -> np.ndarray:
    return np.array([rigs.matrices(ob) for _ in rigs.visited(frames)])


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_keyed_poses_stay_and_all_frames_between_are_keyed(tmp_path: Path, mode: str) -> None:
    ob = _blocked(tmp_path, mode)
    action, before = ob.animation_data.action, _film(ob, WHOLE)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    after = _film(ob, WHOLE)
    rows = np.array(KEYED) - 1
    assert np.abs(after[rows] - before[rows]).max() < 1e-5
    assert np.abs(after - before).max() > 1e-2
    hips = ob.pose.bones[0]
    assert hips.parent is None
    times = [time for time, _ in rigs.keys(ob)[f'pose.bones["{hips.name}"].location', 0]]
    assert times == list(WHOLE)
    assert ob.animation_data.action != action
    assert action.use_fake_user


def test_it_starts_from_the_keys_again_and_gives_the_same(tmp_path: Path) -> None:
    ob = _blocked(tmp_path)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    once = _film(ob, WHOLE)
    assert bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97) == {"FINISHED"}
    assert np.abs(_film(ob, WHOLE) - once).max() < 1e-6
    with pytest.raises(RuntimeError, match="no frame between"):
        bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97, original=False)


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


def test_it_refuses_what_it_cannot_key(tmp_path: Path) -> None:
    ob = _blocked(tmp_path)
    with pytest.raises(RuntimeError, match="no frame between"):
        bpy.ops.dqik.in_betweens(frame_start=2, frame_end=12)
    bone = ob.pose.bones["LeftForeArm" if "LeftForeArm" in ob.pose.bones else "lradius"]
    made = bone.constraints.new("COPY_ROTATION")
    made.target = rigs.empty((0, 0, 0))
    with pytest.raises(RuntimeError, match="Constraints or drivers move"):
        bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97)
    bone.constraints.remove(made)
    ob.animation_data_clear()
    with pytest.raises(RuntimeError, match="no keyed poses"):
        bpy.ops.dqik.in_betweens(frame_start=1, frame_end=97)
