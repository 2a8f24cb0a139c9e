# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking by `blender --command dqik_bake`."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
import rigs
from mathutils import Vector
from pytest import CaptureFixture
from situations import into_collection


def command(*arguments: str) -> int:
    """Run the command as Blender would."""
    module = rigs.part("operators.commands.command_line")
    return module.bake(arguments)


def moving_arm() -> bpy.types.Object:
    """A two-bone arm whose hand has a target that moves over ten frames."""
    ob = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)], "Arm")
    target = rigs.empty((0.5, 0.5, 0.9), "Target")
    rigs.key_path(target, (1, 10), (target.location.copy(), (-0.5, 0.6, 1.1)))
    rigs.goal(ob, "b", target)
    return ob


def test_the_command_bakes_into_another_file(tmp_path: Path) -> None:
    """The written file's armature reaches its target on every frame by its keys alone."""
    moving_arm()
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    out = tmp_path / "out.blend"
    assert command("--armature", "Arm", "--start", "1", "--end", "10", "--output", str(out)) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    ob, target = bpy.data.objects["Arm"], bpy.data.objects["Target"]
    assert not ob.dqik.live
    for _ in rigs.visited((1, 4, 10)):
        assert rigs.miss(ob, "b", target) < 1e-3
        assert Vector(ob.pose.bones["a"].rotation_quaternion[1:]).length > 1e-3


OUT = "OUT"  # stands for a path that can be written
ARM = ("--armature", "Arm")
LONG = "a" * 300


@pytest.mark.parametrize(("arguments", "said"), [
    ((), "required: --output"),
    (("--armature", "Leg", "--output", OUT), "no armature 'Leg'.*'Arm'"),
    (("--armature", "Target", "--output", OUT), "no armature 'Target'.*'Arm'"),
    (("--armature", "", "--output", OUT), "--armature: it is empty"),
    (("--armature", "Arm\0", "--output", OUT), "NUL"),
    (("--armature", "Arm\udcff", "--output", OUT), "UTF-8"),
    ((*ARM, "--output", OUT, "junk"), "unrecognized.*junk"),
    ((*ARM, "--output", OUT, "--start", "one"), "--start: 'one' is not a whole number"),
    ((*ARM, "--output", OUT, "--start", "99999999999"), "--start: 99999999999 is not between"),
    ((*ARM, "--output", OUT, "--end", "-2000000"), "--end: -2000000 is not between"),
    ((*ARM, "--output", OUT, "--start", "9", "--end", "3"), "ends at frame 3, before it starts at 9"),
    ((*ARM, "--output", OUT, "--step", "0"), "--step: 0 is not between 1"),
    ((*ARM, "--output", OUT, "--reduce", "nan"), "--reduce: nan is not between 0"),
    ((*ARM, "--output", OUT, "--reduce", "-1"), "--reduce: -1 is not between 0"),
    ((*ARM, "--output", OUT, "--reduce", "few"), "--reduce: 'few' is not a number"),
    ((*ARM, "--output", ""), "--output: it is empty"),
    ((*ARM, "--output", "a\0.blend"), "NUL"),
    ((*ARM, "--output", "."), "is a folder"),
    ((*ARM, "--output", "new/"), "is a folder"),
    ((*ARM, "--output", "there/is/none.blend"), "No such file"),
    ((*ARM, "--output", "plain/x.blend"), "Not a directory|No such file"),
    ((*ARM, "--output", f"{LONG}.blend"), "too long|Invalid|No such file"),
    ((*ARM, "--output", "/".join([LONG[:200]] * 6)), "longer than 1000 bytes"),
])  # fmt: skip
def test_a_wrong_argument_is_refused_in_one_sentence_before_the_bake(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: CaptureFixture[str],
) -> None:  # fmt: skip
    """Nothing is baked, written, renamed or left behind; the exit code is 1 or 2."""
    moving_arm()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("A file where a folder should be.")
    capfd.readouterr()
    assert command(*(str(tmp_path / "out.blend") if word == OUT else word for word in arguments)) in (1, 2)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert re.fullmatch(rf"dqik_bake: .*(?:{said}).*\n", printed.err)
    assert bpy.data.objects["Arm"].animation_data is None
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A pipe is no file, and what is there stays."""
    if not hasattr(os, "mkfifo"):
        return
    moving_arm()
    os.mkfifo(tmp_path / "pipe.blend")
    assert command(*ARM, "--output", str(tmp_path / "pipe.blend")) == 1
    assert (tmp_path / "pipe.blend").is_fifo()


@pytest.mark.parametrize(("change", "said"), [
    (lambda ob: rigs.made_active(ob) and bpy.ops.object.mode_set(mode="EDIT"), "Edit Mode"),
    (lambda ob: ob.dqik.goals.clear(), "no goals"),
    (lambda ob: setattr(ob.dqik.goals[0], "target", None), "no target"),
    (lambda ob: bpy.context.scene.collection.objects.unlink(ob), "not in the open scene"),
])  # fmt: skip
def test_unbakeable_rigs_are_refused(change: Callable, said: str, tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """One sentence says why."""
    change(moving_arm())
    capfd.readouterr()
    assert command(*ARM, "--output", str(tmp_path / "out.blend")) == 1
    printed = capfd.readouterr()
    assert re.search(f"^dqik_bake: .*{said}", printed.err, re.MULTILINE)
    assert not re.search(said, printed.out)
    assert not list(tmp_path.iterdir())


HIDING = {
    "eye": lambda ob: ob.hide_set(True),
    "viewports": lambda ob: setattr(ob, "hide_viewport", True),
    "excluded": lambda ob: setattr(into_collection(ob), "exclude", True),
    "collection": lambda ob: setattr(into_collection(ob).collection, "hide_viewport", True),
}


@pytest.mark.parametrize("hide", HIDING)
@pytest.mark.parametrize("name", ["Arm", "Target"])
def test_what_is_hidden_is_baked_as_if_it_were_shown(hide: str, name: str, tmp_path: Path) -> None:
    """The keys are those of the visible scene, and what was hidden stays hidden, with nothing else in the file."""
    ob = moving_arm()
    assert command(*ARM, "--start", "1", "--end", "10", "--output", str(tmp_path / "shown.blend")) == 0
    wanted = rigs.keys(ob)
    assert wanted
    rigs.new_file()
    moving_arm()
    HIDING[hide](bpy.data.objects[name])
    assert command(*ARM, "--start", "1", "--end", "10", "--output", str(tmp_path / "out.blend")) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert rigs.keys(bpy.data.objects["Arm"]) == wanted
    assert not bpy.data.objects[name].visible_get()
    assert bpy.data.objects[name].hide_viewport == (hide == "viewports")
    assert {collection.name for collection in bpy.data.collections} <= {"Own"}


def test_the_hidden_target_of_an_armature_that_is_followed_moves(tmp_path: Path) -> None:
    """The follower's keys are those of the visible scene."""
    keys = []
    for hidden in (False, True):
        rigs.new_file()
        leader = moving_arm()
        leader.name = "Leader"
        follower = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)], "Arm")
        rigs.goal(follower, "b", leader).subtarget = "b"
        leader.dqik.live = True
        into_collection(bpy.data.objects["Target"]).exclude = hidden
        assert command(*ARM, "--start", "1", "--end", "10", "--output", str(tmp_path / "out.blend")) == 0
        keys.append(rigs.keys(follower))
    assert keys[0] == keys[1]
    turned = [value for _, value in keys[0]['pose.bones["a"].rotation_quaternion', 1]]
    assert max(turned) - min(turned) > 0.05
