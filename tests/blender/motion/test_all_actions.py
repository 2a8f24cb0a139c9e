# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries of motions: `dqik_mend --all-actions` works on each motion of an armature as if it had that alone."""

from pathlib import Path

import bpy
import rigs
from farm_files import clip, imported, report, run


def library(path: Path, clips: list[Path]) -> Path:
    """A .blend in which one armature has the motions of several clips: assigned, in a strip, and with no user."""
    actions = []
    for one in clips:
        ob = imported(one)
        ob.name = ob.data.name = "Captured"
        ob.animation_data.action.name = one.stem
        bpy.ops.wm.save_as_mainfile(filepath=str(path.with_name(f"{one.stem}.blend")))
        actions.append(one.stem)
    for stem in actions[:-1]:
        with bpy.data.libraries.load(str(path.with_name(f"{stem}.blend"))) as (_, wanted):
            wanted.actions = [stem]
        bpy.data.actions[stem].use_fake_user = True
    track = ob.animation_data.nla_tracks.new()
    track.strips.new(actions[0], 100, bpy.data.actions[actions[0]])
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_all_motions_of_a_library_are_mended_as_each_alone(tmp_path: Path) -> None:
    clips = [clip(tmp_path / f"{name}.bvh", frames, first) for name, frames, first in (
        ("walk", 60, 0), ("turn", 50, 60), ("stop", 40, 110))]  # fmt: skip
    source, out, said = library(tmp_path / "library.blend", clips), tmp_path / "out", tmp_path / "report.json"
    rigs.arm().name = "Lamp"
    bpy.ops.wm.save_mainfile()
    words = ("--armature", "Captured", "--output", out)
    alone = {}
    for one in clips:
        assert run("dqik_mend", "--input", tmp_path / f"{one.stem}.blend", *words, "--report", said) == 0
        (entry,) = report(said)
        alone[one.stem] = (entry["keys"], entry["contacts"], entry["start"], entry["end"])
    assert run("dqik_mend", "--input", source, *words, "--report", said) == 0
    assert [(entry["keys"], entry["action"], entry["other_actions"]) for entry in report(said)] == [
        (alone["stop"][0], None, 2)]  # fmt: skip
    assert run("dqik_mend", "--input", source, *words, "--all-actions", "--report", said) == 0
    found = report(said)
    assert [entry["action"] for entry in found] == ["stop", "walk", "turn"]  # the assigned one, its NLA, the others
    for entry in found:
        assert (entry["keys"], entry["contacts"], entry["start"], entry["end"]) == alone[entry["action"]]
    bpy.ops.wm.open_mainfile(filepath=str(out / "library.blend"))
    data = bpy.data.objects["Captured"].animation_data
    assert data.action.name == "stop DQIK" and data.use_nla
    assert [strip.action.name for strip in data.nla_tracks[0].strips] == ["walk DQIK"]
    assert sorted(action.name for action in bpy.data.actions) == [
        "stop", "stop DQIK", "turn", "turn DQIK", "walk", "walk DQIK"]  # fmt: skip
    assert {one.bone for one in bpy.data.objects["Captured"].dqik.contacts}
    again = ("--input", out / "library.blend", *words[:2], "--output", tmp_path / "again", "--all-actions")
    assert run("dqik_mend", *again, "--report", said) == 0
    assert sorted(entry["keys"] for entry in report(said)) == sorted(keys for keys, *_ in alone.values())


def test_motions_that_are_not_the_armatures_are_left_alone(tmp_path: Path) -> None:
    """One of another figure, and one that moves no bones."""
    ob = imported(clip(tmp_path / "walk.bvh", 40))
    ob.name = "Captured"
    still = ob.animation_data.action.copy()
    still.name = "jump"
    other = ob.copy()
    other.name = "Other"
    bpy.context.scene.collection.objects.link(other)
    other.animation_data.action.name = "walk"
    other.animation_data.action = other.animation_data.action.copy()
    other.animation_data.action.name = "of another"
    lamp = rigs.empty((0, 0, 0), "Lamp")
    lamp.keyframe_insert("location", frame=1)
    still.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    said = tmp_path / "report.json"
    words = ("--input", tmp_path / "library.blend", "--output", tmp_path / "out.blend", "--all-actions")
    assert run("dqik_mend", *words, "--report", said) == 0
    assert {(entry["armature"], entry["action"]) for entry in report(said)} == {
        ("Captured", "walk"), ("Captured", "jump"), ("Other", "of another")}  # fmt: skip


def test_a_figure_gets_all_motions_of_a_library(tmp_path: Path) -> None:
    """Each is what it would get from that alone; its own motions are none of the library's."""
    clips = [clip(tmp_path / "walk.bvh", 40), clip(tmp_path / "turn.bvh", 30, 60)]
    source, said = library(tmp_path / "library.blend", clips), tmp_path / "report.json"
    ob = imported(clips[0])  # with the names of bones of the library's
    ob.name = "Hero"
    ob.animation_data.action.name, ob.animation_data.action.use_fake_user = "of its own", True
    ob.animation_data.action = None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    words = ("--body", tmp_path / "hero.blend", "--output", tmp_path / "out.blend", "--report", said, "--input")
    alone = {}
    for one in clips:
        assert run("dqik_retarget", *words, tmp_path / f"{one.stem}.blend") == 0
        alone[one.stem] = report(said)[0]["keys"]
    assert run("dqik_retarget", *words, source, "--all-actions") == 0
    assert {entry["action"]: entry["keys"] for entry in report(said)} == alone
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert sorted(action.name for action in bpy.data.actions) == ["of its own", "turn Hero", "walk Hero"]
    assert bpy.data.objects["Hero"].animation_data.action.name == "turn Hero"
    assert [ob.name for ob in bpy.data.objects if ob.type == "ARMATURE"] == ["Hero"]
