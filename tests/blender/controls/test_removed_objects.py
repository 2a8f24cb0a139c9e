# SPDX-License-Identifier: GPL-3.0-or-later
"""Live armatures that are removed take what is remembered about them along; undo brings them back as they were."""

from typing import Any

import bpy
import numpy as np
import pytest
import rigs
from situations import turn


@pytest.fixture
def remembered() -> Any:
    """What is remembered between frames."""
    return rigs.part("rig.frame.sessions").sessions


def live_arm() -> bpy.types.Object:
    ob = rigs.bent_arm()
    rigs.reach(ob, "b", rigs.empty((1.2, -0.6, 0.4)))
    return ob


def test_removed_copies_leave_nothing(remembered: Any) -> None:
    """One session is left, that of the original, which is solved on."""
    ob = live_arm()
    for _ in range(5):
        copies = [ob.copy() for _ in range(20)]
        for copy in copies:
            bpy.context.scene.collection.objects.link(copy)
        rigs.update()
        assert {copy.session_uid for copy in copies} <= remembered.by_uid.keys()
        for copy in copies:
            bpy.data.objects.remove(copy)
        rigs.update()
    assert remembered.by_uid.keys() == {ob.session_uid}
    bpy.data.objects["Target"].location.z = 0.2
    assert rigs.miss(ob, "b", bpy.data.objects["Target"]) < 1e-3


def test_removed_copies_leave_nothing_without_a_live_one(remembered: Any) -> None:
    """The session of the last one goes too."""
    bpy.data.objects.remove(live_arm())
    rigs.update()
    assert not remembered.by_uid


def test_undo_brings_a_removed_armature_back(remembered: Any) -> None:
    """With its pose of the hand, its base pose and its solved pose, whether or not Blender knew of the hand's yet."""
    ob = live_arm()
    bpy.ops.ed.undo_push(message="Live")
    ob.pose.bones["a"].rotation_quaternion = rigs.rotation((0, 0, 1), 25)
    bpy.ops.ed.undo_push(message="Posed")  # before handlers see it, as operators do
    shown = rigs.matrices(ob)
    ob.dqik.live = False
    base = rigs.matrices(ob)
    rigs.live(ob)
    assert turn(shown, rigs.matrices(ob)) < 0.05
    bpy.data.objects.remove(ob)
    rigs.update()
    assert not remembered.by_uid
    bpy.ops.ed.undo_push(message="Removed")
    bpy.ops.ed.undo()
    ob = bpy.data.objects["Rig"]
    assert turn(shown, rigs.matrices(ob)) < 0.05
    rigs.live(ob, False)
    np.testing.assert_allclose(rigs.matrices(ob), base, atol=1e-5)


def test_an_armature_that_was_joined_to_another_and_is_still_a_target(capfd: pytest.CaptureFixture) -> None:
    """Blender keeps it outside of all scenes, without pose bones: it is not solved, and the others go on."""
    first, second, third = (rigs.bent_arm(name) for name in ("First", "Second", "Third"))
    target = rigs.empty((0.9, 0.6, 0.3))
    rigs.key_path(target, (1, 9), ((0.9, 0.6, 0.3), (0.5, 0.8, 0.6)))
    rigs.goal(first, "b", second, subtarget="b")
    rigs.goal(first, "a", target, influence=0.5)
    rigs.goal(second, "b", target)
    rigs.goal(third, "b", target)
    for ob in (first, second, third):
        ob.dqik.live = True
    rigs.at_frame(3)
    rigs.made_active(third)
    second.select_set(True)
    bpy.ops.object.join()
    for _ in rigs.visited((6, 4, 7)):
        assert rigs.miss(third, "b", target) < 1e-3
    assert first.dqik.goals[0].target.name == "Second"
    assert first.dqik.live and third.dqik.live
    printed = capfd.readouterr()
    assert "Traceback" not in printed.out + printed.err
