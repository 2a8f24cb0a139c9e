# SPDX-License-Identifier: GPL-3.0-or-later
"""Many motions for a figure by `blender --command dqik_retarget`."""

from pathlib import Path

import bpy
import pytest
import rigs
from farm_files import clip, imported, keys, report, run, untouched
from situations import linked_from


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a body, hero.blend, and a folder of clips: two .bvh and one .blend with the first one's motion."""
    (tmp_path / "clips").mkdir()
    clip(tmp_path / "clips" / "jump.bvh", 20, 100)
    clip(tmp_path / "clips" / "walk.bvh", 30)
    imported(tmp_path / "clips" / "walk.bvh").name = "Hero"  # as the body is called
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clips" / "stage.blend"))
    rigs.new_file()
    rigs.figure("Hero")
    rigs.empty((0, 0, 0), "Prop")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    return tmp_path


def blocks() -> set[tuple[str, str]]:
    """The kind and the name of all data-blocks of the open file."""
    kinds = {kind.identifier for kind in bpy.data.bl_rna.properties if kind.type == "COLLECTION"} - {"all_ids"}
    return {(kind, one.name) for kind in kinds for one in getattr(bpy.data, kind)}


def test_the_body_gets_the_motion_of_each_clip_and_nothing_else(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "hero.blend"))
    before = blocks()
    words = ("--body", folder / "hero.blend", "--output", folder / "out", "--report", folder / "report.json")
    with untouched(folder / "clips"):
        assert run("dqik_retarget", "--input", folder / "clips", *words) == 0
    found = {Path(entry["file"]).name: entry for entry in report(folder / "report.json")}
    assert list(found) == ["jump.bvh", "stage.blend", "walk.bvh"]
    assert all(entry["retargeted"] and entry["armature"] == "Hero" for entry in found.values())
    assert (found["walk.bvh"]["start"], found["walk.bvh"]["end"]) == (1, 30)
    made = {name: keys(folder / "out" / f"{name}.blend") for name in ("jump.bvh", "walk.bvh")}
    assert made["jump.bvh"] != made["walk.bvh"] == keys(folder / "out" / "stage.blend")
    assert {kind for kind, _ in blocks() - before} == {"actions"} and len(blocks() - before) == 1
    assert before <= blocks()
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (1, 30)
    assert round(scene.render.fps / scene.render.fps_base) == 30


def test_the_keys_are_those_of_the_button(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "clips" / "stage.blend"))
    rigs.figure("Body")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "both.blend"))
    with untouched(folder):
        assert run("dqik_retarget", "--source", "Hero", "--output", folder / "no" / "x.blend") == 1
    assert run("dqik_retarget", "--source", "Hero", "--output", folder / "one.blend") == 0
    words = ("--armature", "Body", "--output", folder / "two.blend")
    assert run("dqik_retarget", "--input", folder / "both.blend", *words) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "both.blend"))
    rigs.made_active(bpy.data.objects["Body"])
    assert bpy.ops.dqik.retarget(source="Hero", frame_start=1, frame_end=30) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "button.blend"))
    assert keys(folder / "one.blend") == keys(folder / "two.blend") == keys(folder / "button.blend")


def test_a_clip_may_have_its_figure_from_a_library(folder: Path) -> None:
    """The result does not depend on the library."""
    rigs.new_file()
    linked_from(folder / "clips" / "stage.blend", ["Hero"], save=False)
    scene = bpy.context.scene
    scene.frame_end, scene.render.fps = 30, 30  # as in the file of the library: feet stand for a time
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "linked.blend"))
    words = ("--body", folder / "hero.blend", "--output", folder / "out")
    assert run("dqik_retarget", "--input", folder / "linked.blend", folder / "clips" / "stage.blend", *words) == 0
    assert keys(folder / "out" / "linked.blend") == keys(folder / "out" / "stage.blend")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out" / "linked.blend"))
    assert not bpy.data.libraries and len(bpy.data.actions) == 1


def test_what_cannot_be_retargeted_has_a_reason(folder: Path) -> None:
    rigs.new_file()
    rigs.figure("Still")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "clips" / "still.blend"))
    rigs.figure("Other")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "clips" / "two.blend"))
    (folder / "clips" / "broken.bvh").write_text("no motion")
    words = ("--body", folder / "hero.blend", "--output", folder / "out", "--report", folder / "report.json")
    assert run("dqik_retarget", "--input", folder / "clips", *words) == 1
    found = {Path(entry["file"]).name: entry["reason"] for entry in report(folder / "report.json")}
    assert "does not move" in found["still.blend"]
    assert "choose the armature that has the motion by --source; there are: 'Still', 'Other'" in found["two.blend"]
    assert "no .bvh file" in found["broken.bvh"]
    assert [name for name, reason in found.items() if reason is None] == ["jump.bvh", "stage.blend", "walk.bvh"]


def test_a_folder_gets_the_options_that_the_body_keeps(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "hero.blend"))
    bpy.data.objects["Hero"].dqik.retarget.root = "OBJECT"
    bpy.data.objects["Hero"].dqik.retarget.own_speed = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "going.blend"))
    words = ("--body", folder / "going.blend", "--output", folder / "out", "--report", folder / "report.json")
    assert run("dqik_retarget", "--input", folder / "clips" / "walk.bvh", *words) == 0
    (entry,) = report(folder / "report.json")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out" / "walk.bvh.blend"))
    hero = bpy.data.objects["Hero"]
    assert "location" in {curve.data_path for curve in rigs.fcurves(hero)}
    ends = round(hero.animation_data.action.frame_range[1])
    assert ends != 30, "the clip is of another size"
    assert entry["end"] == ends
