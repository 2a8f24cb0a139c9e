# SPDX-License-Identifier: GPL-3.0-or-later
"""Mending many files by `blender --command dqik_mend`."""

import json
import shutil
import sys
import warnings
from pathlib import Path

import bpy
import pytest
import rigs
from build_zip import ROOT


def command(*arguments: object) -> int:
    """Run the command as Blender would."""
    module = sys.modules["bl_ext.user_default.dqik.operators.mend_command"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Blender's importer leaves its file open
        return module.mend([str(argument) for argument in arguments])


def clip(path: Path, frames: int = 90) -> None:
    """The first frames of the captured clip."""
    lines = (ROOT / "examples" / "cmu_01_01.bvh").read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    head = [f"Frames: {frames}" if line.startswith("Frames:") else line for line in lines[:first]]
    path.write_text("\n".join([*head, *lines[first : first + frames], ""]))


def test_each_file_is_mended_or_refused_with_a_reason(tmp_path: Path) -> None:
    source, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "report.json"
    source.mkdir()
    clip(source / "walk.bvh")
    rigs.arm().name = "Lamp"
    bpy.ops.wm.save_as_mainfile(filepath=str(source / "lamp.blend"))
    (source / "broken.blend").write_text("no file of Blender")
    (source / "notes.txt").write_text("stays")
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    assert command("--input", source, "--output", out, "--report", report) == 1
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
    assert command("--input", tmp_path / "walk.bvh", "--output", tmp_path / "out") == 0
    shutil.copy(tmp_path / "out" / "walk.bvh.blend", tmp_path / "again.blend")
    assert command("--input", tmp_path / "again.blend", "--output", tmp_path / "out") == 0
    assert (tmp_path / "out" / "again.blend").is_file()


def test_arguments_that_cannot_be_used_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip(tmp_path / "walk.bvh")
    for arguments, said in (
        ((), "--input"), (("--input", tmp_path / "none.bvh", "--output", tmp_path / "out"), "no .blend or .bvh file"),
        (("--input", tmp_path, "--output", tmp_path), "output folder is that of the input"),
    ):  # fmt: skip
        assert command(*arguments) == 2
        assert said in capsys.readouterr().err
    assert command("--help") == 0
    assert "--report" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["walk.bvh"]
