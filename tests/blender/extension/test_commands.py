# SPDX-License-Identifier: GPL-3.0-or-later
"""What all commands share: files, armatures, range, report, lines and exit codes."""

import re
import tomllib
from pathlib import Path

import bpy
import pytest
import rigs
from build_zip import ROOT
from farm_files import MODULES, clip, keys, report, run, shot, untouched
from pytest import CaptureFixture
from situations import installed


def test_a_folder_is_worked_off_whatever_one_file_is(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """One line and one entry for each armature; what is refused, and what cannot be read, stops nothing."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    shot(folder / "a.blend")
    shot(folder / "c.blend", height=0.7)
    rigs.chain([(0, 0, 0), (0, 0, 1)], "Idle")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "d.blend"), copy=True)
    shot(folder / "e.blend", arms=0)
    (folder / "b.blend").write_text("no file of Blender")
    (folder / "notes.txt").write_text("stays")
    (folder / ".dqik-half.blend").write_text("what another machine writes just now")
    capfd.readouterr()
    with untouched(folder):
        assert run("dqik_bake", "--input", folder, "--output", out, "--report", tmp_path / "report.json") == 1
    assert sorted(path.name for path in out.iterdir()) == ["a.blend", "c.blend", "d.blend"]
    found = {Path(entry["file"]).name: entry for entry in report(tmp_path / "report.json")}
    assert list(found) == ["a.blend", "b.blend", "c.blend", "d.blend", "e.blend"]
    assert [entry["baked"] for entry in found.values()] == [True, False, True, True, False]
    assert "no armature with goals" in found["e.blend"]["reason"] and found["b.blend"]["reason"]
    assert [entry["refused"] for entry in found.values()] == [False, False, False, False, True]
    assert (found["a.blend"]["start"], found["a.blend"]["end"]) == (1, 10)
    assert found["a.blend"]["output"] == str(out / "a.blend")
    assert found["c.blend"]["keys"] == found["d.blend"]["keys"] != found["a.blend"]["keys"]
    with (ROOT / "blender_manifest.toml").open("rb") as file:
        versions = bpy.app.version_string, tomllib.load(file)["version"]
    assert {(entry["blender"], entry["dqik"]) for entry in found.values()} == {versions}
    assert all(entry["kernel"] and 0.0 <= entry["seconds"] < 60.0 for entry in found.values())
    printed = capfd.readouterr()
    lines = [line for line in printed.out.splitlines() if line.startswith("dqik_bake: ")]
    assert re.match(r"dqik_bake: 1/5 a\.blend: baked frames 1 to 10 of 'Arm' into .*a\.blend", lines[0])
    assert lines[-1] == "dqik_bake: 3 of 5 baked, 0 skipped, 1 refused, 1 failed" and len(lines) == 4
    assert [line.split(": ")[1] for line in printed.err.splitlines() if line.startswith("dqik_bake: ")] == [
        "2/5 b.blend", "5/5 e.blend"]  # fmt: skip


def test_all_armatures_with_goals_are_baked_or_those_that_are_named(tmp_path: Path) -> None:
    source, out = shot(tmp_path / "shot.blend", arms=3), tmp_path / "out.blend"
    rigs.chain([(0, 0, 0), (0, 0, 1)], "Idle")
    bpy.ops.wm.save_mainfile()
    assert run("dqik_bake", "--output", out) == 0
    every = keys(out)
    assert list(every) == ["Arm", "Arm 2", "Arm 3"]
    some = tmp_path / "some.blend"
    words = ("--armature", "Arm 3", "--armature", "Nobody", "--armature", "Arm", "--armature", "Idle")
    assert run("dqik_bake", "--input", source, *words, "--output", some, "--report", tmp_path / "report.json") == 1
    assert keys(some) == {name: every[name] for name in ("Arm", "Arm 3")}
    found = {entry["armature"]: entry["reason"] for entry in report(tmp_path / "report.json")}
    assert list(found) == ["Arm 3", "Nobody", "Arm", "Idle"]
    assert found["Arm"] is None and "there is no armature 'Nobody'" in found["Nobody"]
    assert "has no goals" in found["Idle"]


def test_files_of_one_process_are_as_those_of_a_process_each(tmp_path: Path) -> None:
    """Nothing that is remembered of one file shows in the next, in either order."""
    shots = [shot(tmp_path / f"{name}.blend", height=height) for name, height in (("a", 0.9), ("b", 0.5), ("c", 0.2))]
    alone = []
    for path in shots:
        rigs.new_file()
        assert run("dqik_bake", "--input", path, "--output", tmp_path / "alone") == 0
        alone.append(keys(tmp_path / "alone" / path.name))
    assert len({one["Arm"] for one in alone}) == 3
    for order in (shots, shots[::-1]):
        assert run("dqik_bake", "--input", *order, "--output", tmp_path / "together") == 0
        assert [keys(tmp_path / "together" / path.name) for path in shots] == alone


def test_what_is_refused_need_not_fail_the_task(tmp_path: Path) -> None:
    """On a farm, a task that fails is tried again on other machines; a broken file is a failure nonetheless."""
    source, still = shot(tmp_path / "shot.blend"), shot(tmp_path / "still.blend", arms=0)
    (tmp_path / "broken.blend").write_text("no file of Blender")
    for inputs, codes in (((source, still), (1, 0)), ((source, still, tmp_path / "broken.blend"), (1, 1))):
        words = ("--input", *inputs, "--output", tmp_path / "out")
        assert run("dqik_bake", *words) == codes[0]
        assert run("dqik_bake", *words, "--allow-refused") == codes[1]
    words = ("--input", source, "--armature", "Nobody", "--output", tmp_path / "out")
    assert (run("dqik_bake", *words), run("dqik_bake", *words, "--allow-refused")) == (1, 0)


def test_frames_that_are_asked_for_are_keyed(tmp_path: Path) -> None:
    source = shot(tmp_path / "shot.blend")
    for words, frames in ((("--start", 3), (3, 10)), (("--end", 4), (1, 4)), (("--start", 2, "--end", 5000), (2, 10))):
        out = tmp_path / "out.blend"
        assert run("dqik_bake", "--input", source, "--output", out, *words) == 0
        bpy.ops.wm.open_mainfile(filepath=str(out))
        found = {frame for values in rigs.keys(bpy.data.objects["Arm"]).values() for frame, _ in values}
        assert (min(found), max(found)) == frames
    said = tmp_path / "report.json"
    assert run("dqik_bake", "--input", source, "--output", out, "--start", 20, "--report", said) == 1
    assert "the motion has the frames 1 to 10, so there are none from 20 on" in report(said)[0]["reason"]
    walk = clip(tmp_path / "walk.bvh", 60)
    assert run("dqik_mend", "--input", walk, "--output", tmp_path / "mended", "--start", 11, "--report", said) == 0
    assert (report(said)[0]["start"], report(said)[0]["end"]) == (11, 60)
    words = ("--input", walk, "--output", tmp_path / "mended", "--report", said)
    assert run("dqik_mend", *words, "--start", -50, "--end", 5000) == 0
    assert (report(said)[0]["start"], report(said)[0]["end"]) == (1, 60)
    assert run("dqik_mend", *words, "--start", 61, "--end", 5000) == 1
    assert "the motion has the frames 1 to 60, so there are none from 61 to 5000" in report(said)[0]["reason"]


WRONG = {
    "missing": (("--input", "a.blend", "none.blend", "--output", "out"), "no .* file at 'none.blend'"),
    "nothing in it": (("--input", "empty", "--output", "out"), "no .* file at 'empty'"),
    "same folder": (("--input", "a.blend", "more/b.blend", "--output", "more"), "folder is that of the input"),
    "itself": (("--input", "a.blend", "--output", "a.blend"), "'.*a.blend' is also an input"),
    "same names": (("--input", "a.blend", "more/a.blend", "--output", "out"), "would both become"),
    "no folder": (("--input", "a.blend", "--output", "file/out"), "cannot write into"),
    "no such format": (("--input", "a.blend", "--output", "notes.txt"), "cannot be written: choose a name that ends"),
    "two formats": (("--input", "a.blend", "--output", "b.fbx", "--format", "glb"), "'b.fbx' is no .glb"),
    "format without a name": (("--output", "out", "--format", "glb"), "'out' is no .glb"),
    "several into one": (("--input", "a.blend", "more/b.blend", "--output", "b.fbx"), "2 files cannot all become"),
    "reversed": (("--input", "a.blend", "--output", "out", "--start", "5", "--end", "4"), "before it starts"),
    "report is an input": (("--input", "a.blend", "--output", "o.blend", "--report", "a.blend"), "is also an input"),
    "no such place": (("--input", "a.blend", "--output", "o.blend", "--report", "no/r.json"), "cannot write the"),
}  # fmt: skip


@pytest.mark.parametrize("command", MODULES)
@pytest.mark.parametrize("case", WRONG)
def test_arguments_that_do_not_fit_are_said_before_anything_is_read(
    case: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: CaptureFixture[str]
) -> None:
    """Exit code 2, one sentence, and no file more or less."""
    monkeypatch.chdir(tmp_path)
    for folder in ("more", "empty"):
        (tmp_path / folder).mkdir()
    for name in ("a.blend", "more/a.blend", "more/b.blend", "notes.txt", "file"):
        (tmp_path / name).write_text("never read")
    arguments, said = WRONG[case]
    capfd.readouterr()
    with untouched(tmp_path):
        assert run(command, *arguments) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert re.fullmatch(rf"{command}: .*{said}.*\n", printed.err)


def test_a_body_that_is_not_there_is_named(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    walk, body = clip(tmp_path / "walk.bvh", 30), tmp_path / "hero.blend"
    words = ("--input", walk, "--output", tmp_path / "out", "--report", tmp_path / "report.json")
    with untouched(tmp_path):
        assert run("dqik_retarget", "--body", body, *words) == 2
    assert re.fullmatch("dqik_retarget: there is no body file .*hero.blend.*\n", capfd.readouterr().err)
    body.write_text("no file of Blender")
    assert run("dqik_retarget", "--body", body, *words) == 1
    assert "the body file" in (said := report(tmp_path / "report.json")[0]["reason"]) and "hero.blend" in said


def test_results_that_are_there_are_left_out(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """So that a batch that was broken off goes on."""
    folder, out, said = tmp_path / "in", tmp_path / "out", tmp_path / "report.json"
    folder.mkdir()
    for name in "abc":
        shot(folder / f"{name}.blend")
    assert run("dqik_bake", "--input", folder / "b.blend", "--output", f"{out}/") == 0
    before = (out / "b.blend").read_bytes()
    capfd.readouterr()
    assert run("dqik_bake", "--input", folder, "--output", out, "--skip-existing", "--report", said) == 0
    assert (out / "b.blend").read_bytes() == before
    assert [(entry["baked"], entry["skipped"], entry["reason"]) for entry in report(said)] == [
        (True, False, None), (False, True, None), (True, False, None)]  # fmt: skip
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("dqik_bake: ")]
    assert "2/3 b.blend: skipped" in lines[1]
    assert lines[-1] == "dqik_bake: 2 of 3 baked, 1 skipped, 0 refused, 0 failed"


@pytest.mark.parametrize("command", MODULES)
def test_help_and_the_page_name_all_arguments(command: str, capfd: CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0
    printed = capfd.readouterr().out
    assert f"--command {command}" in printed
    options = set(re.findall(r"^ +(--[a-z-]+)", printed, re.MULTILINE))
    assert options > {"--input", "--output", "--armature", "--start", "--end", "--report"}
    page = (ROOT / "docs" / "farms.md").read_text(encoding="utf-8")
    unknown = {word for word in (command, *options) if f"`{word}" not in page}
    assert unknown == set(), "docs/farms.md says nothing of these"


def test_a_report_that_cannot_be_written_at_the_end_is_a_failure(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """A handler takes the folder away while the shot is baked."""
    shot(tmp_path / "shot.blend")
    folder = tmp_path / "reports"
    folder.mkdir()

    def take_away(*_: object) -> None:
        if folder.exists():
            folder.rmdir()

    with installed("save_pre", take_away):
        assert run("dqik_bake", "--output", tmp_path / "out.blend", "--report", folder / "report.json") == 1
    assert "cannot write" in capfd.readouterr().err
    assert (tmp_path / "out.blend").exists()
