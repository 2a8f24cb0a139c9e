# SPDX-License-Identifier: GPL-3.0-or-later
"""Mending many files by `blender --command dqik_mend`."""

import json
import shutil
from pathlib import Path

import bpy
import pytest
import rigs
from farm_files import clip, run


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


def test_arguments_that_cannot_be_used_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip(tmp_path / "walk.bvh")
    for arguments, said in (
        ((), "--output"), (("--input", tmp_path / "none.bvh", "--output", tmp_path / "out"), "no .blend or .bvh file"),
        (("--input", tmp_path, "--output", tmp_path), "output folder is that of the input"),
    ):  # fmt: skip
        assert run("dqik_mend", *arguments) == 2
        assert said in capsys.readouterr().err
    assert run("dqik_mend", "--help") == 0
    assert "--report" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["walk.bvh"]
