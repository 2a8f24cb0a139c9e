# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove Shakes in Blender, on a captured clip to which shakes were added: nearer to it, and only what it says."""

from pathlib import Path

import bpy
import captured
import numpy as np
import pytest
import rigs
from farm_files import clip, report, run
from mathutils import Quaternion

FRAMES = range(1, 61)
FEET = ("LeftFoot", "RightFoot")
SIZE = np.radians(1.0)  # of the noise along an axis
MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE")


def _shaking(folder: Path, mode: str = "QUATERNION") -> tuple[bpy.types.Object, np.ndarray, np.ndarray]:
    """A captured figure whose bones shake, with what it showed before, and now (F, N, 4, 4)."""
    ob, rng = captured.clip(folder, range(len(FRAMES))), np.random.default_rng(2)
    clean = rigs.shown(ob, FRAMES)
    poses = [[(bone.location.copy(), bone.rotation_quaternion.copy()) for bone in ob.pose.bones]
             for _ in rigs.visited(FRAMES)]  # fmt: skip
    rigs.rotate_by(ob, mode)
    for frame, own in zip(FRAMES, poses, strict=True):
        for bone, (location, turned) in zip(ob.pose.bones, own, strict=True):
            by = SIZE * rng.normal(size=3)
            rigs.posed(bone, turned @ Quaternion(by / np.linalg.norm(by), np.linalg.norm(by)), frame)
            if bone.parent is None:
                rigs.keyed(bone, frame, location=np.array(location) + 0.002 * rng.normal(size=3))
    return ob, clean, rigs.shown(ob, FRAMES)


def _off(found: np.ndarray, clean: np.ndarray) -> float:
    """How far the joints are from where they were, in the mean."""
    return float(np.linalg.norm((found - clean)[..., :3, 3], axis=-1).mean())


@pytest.mark.parametrize("mode", MODES)
def test_it_comes_nearer_to_the_clip_without_shakes(tmp_path: Path, mode: str) -> None:
    """In all modes of rotations; the motion is as calm as the clip, and the shaking action stays in the file."""
    ob, clean, before = _shaking(tmp_path, mode)
    action = ob.animation_data.action
    assert bpy.ops.dqik.remove_shakes(frame_start=1, frame_end=len(FRAMES), plant=False) == {"FINISHED"}
    after = rigs.shown(ob, FRAMES)
    assert _off(after, clean) < 0.75 * _off(before, clean)
    shakes = [np.linalg.norm(np.diff(one[..., :3, 3], 3, axis=0), axis=-1).mean() for one in (clean, before, after)]
    assert shakes[2] < 0.25 * shakes[1]
    assert shakes[2] < 1.5 * shakes[0]
    assert ob.animation_data.action != action
    assert action.use_fake_user
    times = {time for own in rigs.keys(ob).values() for time, _ in own}
    assert times == set(FRAMES)


def test_pressed_again_it_starts_from_the_shaking_motion(tmp_path: Path) -> None:
    """So that Amount can be tried; with nothing taken for shakes, nothing changes. Names of actions stay short."""
    ob, _, before = _shaking(tmp_path)
    whole = {"frame_start": 1, "frame_end": len(FRAMES), "plant": False}
    films = list[np.ndarray]()
    for amount in (1.0, 2.0, 1.0):
        assert bpy.ops.dqik.remove_shakes(amount=amount, **whole) == {"FINISHED"}
        films.append(rigs.shown(ob, FRAMES))
    assert np.abs(films[2] - films[0]).max() < 1e-6
    assert np.abs(films[1] - films[0]).max() > 1e-3
    assert bpy.ops.dqik.remove_shakes(amount=0.0, **whole) == {"FINISHED"}
    assert np.abs(rigs.shown(ob, FRAMES) - before).max() < 1e-5
    assert bpy.ops.dqik.remove_shakes(original=False, **whole) == {"FINISHED"}
    assert {one.name.partition(" DQIK")[2] for one in bpy.data.actions} == {"", ".001", ".002", ".003", ".004"}


def test_a_part_of_the_frames_and_of_the_bones(tmp_path: Path) -> None:
    ob, _, before = _shaking(tmp_path)
    kept = rigs.keys(ob)
    rigs.select(ob, "LeftArm", "LeftForeArm")
    assert bpy.ops.dqik.remove_shakes(frame_start=20, frame_end=40, only_selected=True) == {"FINISHED"}
    now = rigs.keys(ob)
    for path, own in kept.items():
        changed = [time for (time, value), (_, other) in zip(own, now[path], strict=True) if abs(value - other) > 1e-6]
        assert not changed or ("Arm" in path[0] and "Left" in path[0] and min(changed) >= 20 and max(changed) <= 40)
    after = rigs.shown(ob, FRAMES)
    assert np.abs(after[:19] - before[:19]).max() < 1e-6
    assert np.abs(after[19:40] - before[19:40]).max() > 1e-3


def test_feet_that_stand_are_planted(tmp_path: Path) -> None:
    """They move less than in the shaking motion and, on their contacts, hardly."""
    ob, clean, before = _shaking(tmp_path)
    assert bpy.ops.dqik.remove_shakes(frame_start=1, frame_end=len(FRAMES)) == {"FINISHED"}
    after = rigs.shown(ob, FRAMES)
    feet = [ob.pose.bones.find(foot) for foot in FEET]
    steps = [np.linalg.norm(np.diff(one[:, feet][..., :3, 3], axis=0), axis=-1) for one in (clean, before, after)]
    stands = steps[0] < np.quantile(steps[0], 0.2)
    assert steps[2][stands].mean() < 0.5 * steps[1][stands].mean()


def test_nothing_is_done_where_nothing_shakes(tmp_path: Path) -> None:
    """Whether nothing is taken for shakes, or the motion is even: the action stays, and no new one is made."""
    ob, _, _ = _shaking(tmp_path)
    words = "Nothing was changed: the motion of 'clip' does not shake"
    options = {"frame_start": 1, "frame_end": len(FRAMES), "plant": False}
    rigs.refuses(bpy.ops.dqik.remove_shakes, words, amount=0.0, **options)
    for curve in rigs.fcurves(ob):
        for key in curve.keyframe_points:
            key.co[1] = 0.01 * np.sin(key.co[0] / 30)
    actions, keys = set(bpy.data.actions), rigs.keys(ob)
    rigs.refuses(bpy.ops.dqik.remove_shakes, words, **options)
    assert (set(bpy.data.actions), rigs.keys(ob)) == (actions, keys)


def test_few_keys_are_refused(tmp_path: Path) -> None:
    """Keys far from each other are no shakes, and a few frames tell nothing."""
    ob = captured.clip(tmp_path, range(len(FRAMES)))
    rigs.refuses(bpy.ops.dqik.remove_shakes, "at least 8 frames", frame_start=1, frame_end=51, step=10)
    for curve in rigs.fcurves(ob):
        for key in reversed(curve.keyframe_points):
            if key.co[0] % 6:
                curve.keyframe_points.remove(key)
    action = ob.animation_data.action
    words = f"no key|has a key on each frame from 1 to {len(FRAMES)}"
    rigs.refuses(bpy.ops.dqik.remove_shakes, words, frame_start=1, frame_end=len(FRAMES))
    assert ob.animation_data.action == action


def test_clips_are_cleaned_from_the_command_line(tmp_path: Path) -> None:
    """A clip becomes a file with both motions, and one without dense keys is refused."""
    words = ("--output", tmp_path / "out", "--report", tmp_path / "report.json", "--no-plant")
    rigs.key(rigs.arm().pose.bones[0], 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "still.blend"))
    inputs = clip(tmp_path / "walk.bvh", 40), tmp_path / "still.blend"
    assert run("dqik_remove_shakes", "--input", *inputs, *words, "--amount", 2) == 1
    found = {Path(entry["file"]).name: entry for entry in report(tmp_path / "report.json")}
    assert found["walk.bvh"]["cleaned"] and not found["still.blend"]["cleaned"]
    assert "has a key on each frame" in found["still.blend"]["reason"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "walk.bvh.blend"))
    [ob] = [one for one in bpy.data.objects if one.type == "ARMATURE"]
    assert ob.animation_data.action.dqik_original is not None
