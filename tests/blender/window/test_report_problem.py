# SPDX-License-Identifier: GPL-3.0-or-later
"""*Report a Problem*: the file solves to the same pose, and has neither meshes nor names of the original."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector


def secret_figure(targets: str) -> bpy.types.Object:
    """A live figure with telling names, a skin, keys and a mesh as a target."""
    ob = rigs.set_up(rigs.figure("Secret hero"), False, targets=targets)
    skin = rigs.skin(ob, rigs.mesh(faces=[(0, 1, 2)], name="Secret skin"))
    goal = rigs.goal_of(ob, "hand.L")
    skin.location = rigs.head(ob, "hand.L") + Vector((-0.1, -0.2, 0.1))
    goal.target, goal.subtarget, goal.use_rotation = skin, "", False
    ob.pose.bones["chest"].rotation_mode = "XYZ"
    rigs.key_path(ob.pose.bones["chest"], (1, 20), [(angle, 0.0, 0.1) for angle in (0.0, 0.3)], "rotation_euler")
    ob.animation_data.action.name = "Secret dance"
    ob.dqik.live = True
    return ob


def places(ob: bpy.types.Object, frame: int) -> np.ndarray:
    """The heads of the body's bones in the world."""
    rigs.at_frame(frame)
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ bone.head for bone in evaluated.pose.bones])


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_the_file_shows_the_same_without_names_and_meshes(targets: str, tmp_path: Path) -> None:
    ob = secret_figure(targets)
    wanted = {frame: places(ob, frame) for frame in (1, 12, 20)}
    before = {kind: sorted(one.name for one in getattr(bpy.data, kind)) for kind in ("objects", "armatures", "actions")}
    path = tmp_path / "problem.blend"
    rigs.made_active(ob)
    assert bpy.ops.dqik.report_problem(filepath=str(path)) == {"FINISHED"}
    assert before == {kind: sorted(one.name for one in getattr(bpy.data, kind)) for kind in before}
    rigs.new_file()
    with bpy.data.libraries.load(str(path)) as (there, got):
        got.objects = there.objects
        assert not there.meshes
    for other in got.objects:
        bpy.context.scene.collection.objects.link(other)
    names = [one.name for kind in ("objects", "armatures", "actions") for one in getattr(bpy.data, kind)]
    copy = next(one for one in got.objects if one.type == "ARMATURE")
    names += [bone.name for bone in copy.data.bones] + [goal.name for goal in copy.dqik.goals]
    assert not [name for name in names if "ecret" in name or "hand" in name or "chest" in name]
    rigs.made_active(copy)
    copy.dqik.live = True
    for frame, heads in wanted.items():
        assert np.abs(places(copy, frame) - heads).max() < 1e-4


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ob = rigs.figure()
    rigs.made_active(ob)
    for path in ("", str(tmp_path), str(tmp_path / ("long" * 100))):
        rigs.refuses(bpy.ops.dqik.report_problem, "^Error: Name a file|^Error: .*cannot be written", filepath=path)
    assert len(bpy.data.objects) == 1
