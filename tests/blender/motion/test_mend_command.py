# SPDX-License-Identifier: GPL-3.0-or-later
"""Mending many files by `blender --command dqik_mend`."""

import json
import re
import shutil
from pathlib import Path

import bpy
import rigs
from farm_files import clip, imported, keys, run
from situations import into_collection
from test_mend_motion import captured, holding


def test_each_file_is_mended_or_refused_with_a_reason(tmp_path: Path) -> None:
    source, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "report.json"
    source.mkdir()
    clip(source / "walk.bvh")
    rigs.arm().name = "Lamp"
    bpy.ops.wm.save_as_mainfile(filepath=str(source / "lamp.blend"))
    (source / "broken.blend").write_text("no file of Blender")
    (source / "notes.txt").write_text("stays")
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    assert run("dqik_mend", "--input", source, "--output", out, "--report", report) == 1
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before
    assert [path.name for path in out.iterdir()] == ["walk.bvh.blend"]
    found = {Path(entry["file"]).name: entry for entry in json.loads(report.read_text())}
    assert found.keys() == {"walk.bvh", "lamp.blend", "broken.blend"}
    walk = found["walk.bvh"]
    assert walk["mended"]
    assert walk["slide_after"] < 0.01 * walk["slide_before"]
    assert "no two legs" in found["lamp.blend"]["reason"]
    assert found["broken.blend"]["reason"]
    bpy.ops.wm.open_mainfile(filepath=str(out / "walk.bvh.blend"))
    assert any(action.name.endswith("DQIK") for action in bpy.data.actions)


def test_one_file_that_is_mended_gives_exit_code_0(tmp_path: Path) -> None:
    clip(tmp_path / "walk.bvh")
    assert run("dqik_mend", "--input", tmp_path / "walk.bvh", "--output", tmp_path / "out") == 0
    shutil.copy(tmp_path / "out" / "walk.bvh.blend", tmp_path / "again.blend")
    assert run("dqik_mend", "--input", tmp_path / "again.blend", "--output", tmp_path / "out") == 0
    assert (tmp_path / "out" / "again.blend").is_file()


def test_the_report_has_hands_that_hold_on(tmp_path: Path) -> None:
    """A hand that is baked to a place and trembles; hands that swing only are none."""
    holding(captured())
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "holds.blend"))
    report = tmp_path / "report.json"
    assert run("dqik_mend", "--input", tmp_path / "holds.blend", "--output", tmp_path / "out", "--report", report,
               "--start", "1", "--end", "120") == 0  # fmt: skip
    holds = json.loads(report.read_text())[0]
    assert holds["hand_contacts"] >= 1
    assert 0.0 <= holds["hand_slide_after"] < 0.01 * holds["hand_slide_before"]
    assert 0.0 < holds["elbows"] < 30.0
    clip(tmp_path / "walk.bvh")
    run("dqik_mend", "--input", tmp_path / "walk.bvh", "--output", tmp_path / "out", "--report", report)
    walk = json.loads(report.read_text())[0]
    assert [walk[key] for key in ("hand_contacts", "hand_slide_before", "hand_slide_after", "elbows")] == [0, 0, 0, 0]


def test_what_is_hidden_is_mended_as_if_it_were_shown(tmp_path: Path) -> None:
    """In an excluded collection, or not shown in viewports."""
    assert run("dqik_mend", "--input", clip(tmp_path / "walk.bvh"), "--output", tmp_path / "shown.blend") == 0
    for how in ("excluded", "hidden"):
        ob = imported(tmp_path / "walk.bvh")
        ob.hide_viewport = how == "hidden"
        if how == "excluded":
            into_collection(ob).exclude = True
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{how}.blend"))
        assert run("dqik_mend", "--input", tmp_path / f"{how}.blend", "--output", tmp_path / "out") == 0
        assert keys(tmp_path / "out" / f"{how}.blend") == keys(tmp_path / "shown.blend")


def test_a_clip_that_is_cut_or_damaged_is_not_mended(tmp_path: Path) -> None:
    """Blender would import what there is: fewer frames, or numbers that are none."""
    whole = clip(tmp_path / "whole.bvh").read_text()
    lines, folder = whole.splitlines(), tmp_path / "clips"
    folder.mkdir()
    start = next(number for number, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    broken = {
        "empty": "", "other": "no clip", "head": whole[:900], "lines": "\n".join(lines[:-30]), "middle": whole[:-3000],
        "no frames": "\n".join(lines[:start]).replace("Frames: 90", "Frames: 0"),
        "no time": whole.replace(lines[start - 1], "Frame Time: 0"),
        "word": "\n".join([*lines[:-1], lines[-1].replace(lines[-1].split()[4], "left")]),
        "nan": "\n".join([*lines[:-1], lines[-1].replace(lines[-1].split()[4], "nan")]),
    }  # fmt: skip
    for name, text in broken.items():
        (folder / f"{name}.bvh").write_text(text)
    (folder / "bytes.bvh").write_bytes(b"\xff\xfe\x00")
    (folder / "right.bvh").write_bytes(whole.replace("\n", "\r\n").encode())
    said = tmp_path / "report.json"
    assert run("dqik_mend", "--input", folder, "--output", tmp_path / "out", "--report", said, "--allow-refused") == 1
    found = {Path(entry["file"]).stem: entry for entry in json.loads(said.read_text())}
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["right.bvh.blend"]
    assert found["right"]["reason"] is None and not any(entry["refused"] for entry in found.values())
    for name, words in {
        "empty": "no .bvh file", "other": "no .bvh file", "bytes": "no .bvh file", "head": "its beginning alone",
        "lines": "should have 90 frames of .* but has 60.0: it is cut off", "middle": "cut off", "word": "not made of",
        "no frames": "no frames", "no time": "Frame Time is 0", "nan": "frame 90 has a number that is not finite",
    }.items():  # fmt: skip
        assert re.search(words, found[name]["reason"]), name
