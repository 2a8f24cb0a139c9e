# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking by `blender --command dqik_bake`."""

from pathlib import Path

import bpy
import pytest
import rigs
from mathutils import Vector
from situations import command


def moving_arm() -> bpy.types.Object:
    """A two-bone arm whose hand has a target that moves over ten frames."""
    ob = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)], "Arm")
    target = rigs.empty((0.5, 0.5, 0.9), "Target")
    target.keyframe_insert("location", frame=1)
    target.location = (-0.5, 0.6, 1.1)
    target.keyframe_insert("location", frame=10)
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
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        assert rigs.miss(ob, "b", target) < 1e-3
        assert Vector(ob.pose.bones["a"].rotation_quaternion[1:]).length > 1e-3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--armature", "Leg", "--output", "x.blend"), "no armature 'Leg'.*'Arm'"),
        (("--output", "x.blend"), "--armature"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: tuple, said: str, capfd: pytest.CaptureFixture) -> None:
    """A wrong call writes nothing, says why, and ends with an error code."""
    import re

    moving_arm()
    assert command(*arguments) != 0
    printed = capfd.readouterr()
    assert re.search(said, printed.out + printed.err)
    assert not Path("x.blend").exists()
