# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion paths show the solved motion."""

import bpy
import pytest
import rigs
from mathutils import Vector


@pytest.mark.parametrize("ends", ["HEADS", "TAILS"])
def test_the_path_of_a_solved_bone_is_where_it_goes(ends: str) -> None:
    """Blender's own button leaves it at one place; the frame and the pose stay as they were."""
    ob = rigs.set_up(rigs.figure())
    ob.location = (1, 2, 0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 12
    bpy.ops.object.mode_set(mode="POSE")
    control = rigs.owner_of(ob, "hand.L")
    rigs.key_path(control, (3, 12), [control.location.copy(), control.location + Vector((-0.2, -0.3, 0.2))])
    rigs.select(ob, "forearm.L")
    ob.data.bones.active = ob.data.bones["forearm.L"]
    expected = [(rigs.head if ends == "HEADS" else rigs.tail)(ob, "forearm.L").copy()
                for _ in rigs.visited(range(3, 13))]  # fmt: skip
    rigs.at_frame(5)
    before = rigs.matrices(ob)
    assert bpy.ops.dqik.motion_paths(ends=ends) == {"FINISHED"}
    points = [Vector(point.co) for point in ob.pose.bones["forearm.L"].motion_path.points]
    assert len(points) == 10
    assert max((point - place).length for point, place in zip(points, expected, strict=True)) < 1e-5
    assert (expected[0] - expected[-1]).length > 0.1
    assert scene.frame_current == 5 and rigs.turn(before, rigs.matrices(ob)) < 1e-5
    rigs.select(ob)
    rigs.refuses(bpy.ops.dqik.motion_paths, "select the bones whose motion")
