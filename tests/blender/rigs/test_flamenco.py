# SPDX-License-Identifier: GPL-3.0-or-later
"""The job type for Flamenco: compiled as its manager does, with an engine for the oldest JavaScript, and run."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
import rigs
from build_zip import ROOT
from farm_files import clip, keys, report, run, shot, snapshot, untouched

dukpy = pytest.importorskip("dukpy", reason="tools/locks lists this JavaScript engine")

SCRIPT = (ROOT / "docs" / "flamenco" / "dqik.js").read_text(encoding="utf-8")
MANAGER = """
var author = {
    Task: function (name, type) {
        if (!name.trim() || !type.trim()) { throw "a task needs a name and a type"; }
        return {name: name, type: type, commands: [], dependencies: [],
                addCommand: function (command) { this.commands.push(command); },
                addDependency: function (task) { this.dependencies.push(task.name); }};
    },
    Command: function (name, parameters) { return {name: name, parameters: parameters}; }
};
var path = {
    basename: function (name) { return name.replace(/^.*[\\\\/\\\\\\\\]/, ""); },
    dirname: function (name) { return name.replace(/[\\\\/\\\\\\\\][^\\\\/\\\\\\\\]*$/, ""); },
    join: function (folder, name) { return (folder + "/" + name).replace(/\\\\/g, "/"); }
};
"""


def script(call: str, **values: object) -> Any:
    """What a call answers after the script was read, in strict mode as Flamenco does."""
    return dukpy.evaljs(["'use strict';", MANAGER, SCRIPT, call], **values)


def settings(blend: Path, **chosen: object) -> dict[str, Any]:
    """The settings of a job as the add-on sends them: defaults, what was chosen, and what its expressions find."""
    known = script("JOB_TYPE")["settings"]
    values = {one["key"]: chosen.get(one["key"], one.get("default", "")) for one in known}
    assert chosen.keys() <= values.keys()
    names = {"Path": Path, "abspath": lambda name: Path(bpy.path.abspath(str(name))), "bpy": bpy,
             "settings": SimpleNamespace(**values)}  # fmt: skip
    for one in known:
        if one.get("visible") == "web" and "eval" in one:
            values[one["key"]] = eval(one["eval"], {}, names)
    return values | {"blendfile": str(blend)}


def compiled(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks of a job."""
    call = """var tasks = [];
    compileJob({settings: dukpy.values, addTask: function (task) { tasks.push(task); }});
    tasks"""
    return script(call, values=values)


def words(task: dict[str, Any]) -> tuple[str, list[str]]:
    """The command of DQIK that a worker runs for a task, and its arguments."""
    (command,) = task["commands"]
    given = command["parameters"]
    assert command["name"] == "blender-render" and task["type"] == "blender"
    assert (given["exe"], given["exeArgs"], given["argsBefore"]) == ("{blender}", "{blenderArgs}", [])
    assert given["blendfile"] == "" and all(isinstance(word, str) for word in given["args"])
    assert given["args"][0] == "--command"
    return given["args"][1], given["args"][2:]


def test_settings_are_those_that_flamenco_knows() -> None:
    known = {"key", "type", "subtype", "choices", "propargs", "description", "label", "default", "eval", "evalInfo",
             "visible", "required", "editable"}  # fmt: skip
    found = script("JOB_TYPE")
    assert found["label"] == "DQIK" and found["description"]
    for one in found["settings"]:
        assert one.keys() <= known and one["type"] in {"string", "int32", "float", "bool"}
        assert one.get("visible", "visible") in {"visible", "hidden", "submission", "web"}
        assert one.get("default", "") in one.get("choices", [one.get("default", "")])


@pytest.mark.parametrize("smooth", [0.0, 1.0])
def test_shots_that_a_farm_bakes_are_as_those_baked_in_one_go(smooth: float, tmp_path: Path) -> None:
    """A task for each shot, which waits for no other: in any order, the keys are the same, and reports say so."""
    shots, farm, alone = tmp_path / "shots", tmp_path / "farm", tmp_path / "alone"
    shots.mkdir()
    for number in range(3):
        shot(shots / f"shot {number}.blend", arms=1 + number % 2, height=0.9 - 0.3 * number)
    clip(shots / "walk.bvh", 2)
    tasks = compiled(settings(shots / "shot 0.blend", folder=str(shots), output=str(farm), smooth=smooth))
    assert [task["name"] for task in tasks] == [f"bake shot {number}.blend" for number in range(3)]
    assert not any(task["dependencies"] for task in tasks)
    with untouched(shots):
        for task in reversed(tasks):
            rigs.new_file()
            command, arguments = words(task)
            assert run(command, *arguments) == 0
        together = ("--input", shots, "--output", alone, "--smooth", smooth, "--report", tmp_path / "alone.json")
        assert run("dqik_bake", *together) == 0
    names = sorted(path.name for path in shots.glob("*.blend"))
    assert sorted(path.name for path in farm.iterdir()) == sorted([*names, *(f"{name}.json" for name in names)])
    assert [keys(farm / name) for name in names] == [keys(alone / name) for name in names]
    reported = [entry["keys"] for name in names for entry in report(farm / f"{name}.json")]
    assert reported == [entry["keys"] for entry in report(tmp_path / "alone.json")] and len({*reported}) == 4


def test_clips_that_a_farm_mends_and_retargets_are_as_those_of_one_go(tmp_path: Path) -> None:
    clips, hero = tmp_path / "clips", shot(tmp_path / "hero.blend", arms=0)
    clips.mkdir()
    rigs.figure("Hero")
    bpy.ops.wm.save_mainfile()
    clip(clips / "a.bvh", 60)
    clip(clips / "b.bvh", 50, 60)
    for work, extra in (("Mend", ()), ("Retarget", ("--body", hero))):
        command, farm, alone = f"dqik_{work.lower()}", tmp_path / f"{work} farm", tmp_path / work
        chosen = {"work": work, "folder": str(clips), "output": str(farm), "frames": "3-40", "all_actions": True}
        tasks = [words(task) for task in compiled(settings(hero, **chosen))]
        assert [name for name, _ in tasks] == [command, command]
        with untouched(clips):
            assert [run(command, *arguments) for _, arguments in tasks] == [0, 0]
            words_of_all = ("--input", clips, *extra, "--start", 3, "--end", 40, "--output", alone)
            assert run(command, *words_of_all) == 0
        found = [[keys(folder / f"{name}.bvh.blend") for name in "ab"] for folder in (farm, alone)]
        assert found[0] == found[1] and found[0][0] != found[0][1]


def test_what_was_submitted_is_baked_without_a_folder(tmp_path: Path) -> None:
    source = shot(tmp_path / "shot.blend", arms=2)
    chosen = {"output": str(tmp_path / "out"), "armatures": "Arm 2, Nobody", "frames": " 2-5 "}
    (task,) = compiled(settings(source, **chosen))
    command, arguments = words(task)
    assert run(command, *arguments) == 0
    assert [entry["refused"] for entry in report(tmp_path / "out" / "shot.blend.json")] == [False, True]
    assert list(keys(tmp_path / "out" / "shot.blend")) == ["Arm 2"]
    (task,) = compiled(settings(source, strict=True, **chosen))
    assert run(command, *words(task)[1]) == 1


def test_files_that_flamenco_saves_to_submit_them_are_no_shots(tmp_path: Path) -> None:
    """The open file is submitted as a copy, which lies beside it for a while; results have the names of the shots."""
    for name in ("a.blend", "a.flamenco.blend", "b.bvh", "c.FBX", "d.glb", "e.usdc", "f.txt", ".dqik-x.blend"):
        (tmp_path / name).write_text("never read")
    chosen = {"folder": str(tmp_path), "output": str(tmp_path / "out")}
    for work, names in (("Bake", ["a.blend"]), ("Mend", ["a.blend", "b.bvh", "c.FBX", "d.glb", "e.usdc"])):
        tasks = compiled(settings(tmp_path / "a.blend", work=work, **chosen))
        assert [task["name"] for task in tasks] == [f"{work.lower()} {name}" for name in names]
    for stored in ("/storage/job 1/a.flamenco.blend", "{jobs}/job 1/a.flamenco.blend"):
        (task,) = compiled(settings(Path(stored), output=str(tmp_path / "out")))
        _, arguments = words(task)
        assert arguments[:6] == ["--input", stored, "--output", str(tmp_path / "out" / "a.blend"), "--report",
                                 str(tmp_path / "out" / "a.blend.json")]  # fmt: skip
    (task,) = compiled(settings(Path("dummy-for-job-check.blend"), output=str(tmp_path / "out")))  # before it is stored
    assert task["name"] == "bake dummy-for-job-check.blend"


def test_folders_of_windows(tmp_path: Path) -> None:
    """Each path is a word of its own from its beginning on: there Flamenco puts the path of another system."""
    there = {"folder_path": r"S:\shots", "output_path": r"S:\out", "names": "a.blend\nb c.bvh"}
    tasks = compiled(settings(tmp_path / "a.blend") | there | {"work": "Mend"})
    assert [words(task)[1][:6] for task in tasks] == [
        ["--input", f"S:/shots/{name}", "--output", f"S:/out/{result}", "--report", f"S:/out/{name}.json"]
        for name, result in (("a.blend", "a.blend"), ("b c.bvh", "b c.bvh.blend"))]  # fmt: skip
    with pytest.raises(dukpy.JSRuntimeError, match="folder of their own"):
        compiled(settings(tmp_path / "a.blend") | there | {"output_path": "S:/shots/"})


@pytest.mark.parametrize(("chosen", "said"), [
    ({"output": ""}, "Choose the folder for the results"),
    ({"folder": "empty"}, "no file to work on"),
    ({"folder": "nowhere"}, "no file to work on"),
    ({"folder": "twice", "work": "Mend"}, "walk.bvh and walk.bvh.blend would both become walk.bvh.blend"),
    ({"work": "Retarget"}, "Choose the folder of the motions"),
    ({"frames": "1,5"}, "range as 1-250"),
    ({"output": "shots/"}, "folder of their own"),
    ({"folder": "shots", "output": "shots"}, "folder of their own"),
])  # fmt: skip
def test_jobs_that_cannot_be_are_refused_when_they_are_submitted(chosen: dict, said: str, tmp_path: Path) -> None:
    for folder in ("shots", "empty", "twice"):
        (tmp_path / folder).mkdir()
    for name in ("shots/a.blend", "twice/walk.bvh", "twice/walk.bvh.blend"):
        (tmp_path / name).write_text("never read")
    before = snapshot(tmp_path)
    at = {key: value if key in ("work", "frames") or not value else str(tmp_path / value)
          for key, value in ({"output": "out"} | chosen).items()}  # fmt: skip
    with pytest.raises(dukpy.JSRuntimeError, match=said):
        compiled(settings(tmp_path / "shots" / "a.blend", **at))
    assert snapshot(tmp_path) == before
