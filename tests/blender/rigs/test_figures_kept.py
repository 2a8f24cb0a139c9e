# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure is read once and kept: what is kept is what reading it anew would give, whatever was changed."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
from situations import named


def edited(change: Callable[[bpy.types.ArmatureEditBones], object]) -> Callable[[bpy.types.Object], None]:
    def change_at_rest(ob: bpy.types.Object) -> None:
        with rigs.edit_mode(ob) as bones:
            change(bones)

    return change_at_rest


def led(ob: bpy.types.Object) -> None:
    for name in ("arm.L", "forearm.L", "arm.R", "forearm.R", "thigh.L", "thigh.R", "shin.L", "shin.R"):
        ob.pose.bones[name].constraints.new("COPY_ROTATION")


def swapped(ob: bpy.types.Object) -> None:
    rigs.made_active(ob)
    bpy.ops.dqik.swap_sides()


@pytest.mark.parametrize("change", named(
    led, swapped, renamed=lambda ob: rigs.put(ob.data.bones["hand.L"], name="tentacle"),
    chosen=lambda ob: rigs.put(ob.pose.bones["chest"], dqik_role="NONE"),
    helper=lambda ob: rigs.put(ob.data.bones["hand.L"], use_deform=False, name="DQIK hand.L"),
    target=lambda ob: rigs.goal(ob, "hand.R", ob, subtarget="hand.L"),
    moved=edited(lambda bones: rigs.put(bones["hand.L"], head=(0.76, 0, 1.55))),
    longer=edited(lambda bones: rigs.put(bones["hand.L"], length=0.24)),
    reparented=edited(lambda bones: rigs.put(bones["arm.L"], parent=bones["hips"])),
    added=edited(lambda bones: rigs.put(bones.new("tail"), tail=(0, 1, 1))),
))  # fmt: skip
def test_a_change_of_a_figure_is_seen(change: Callable[[bpy.types.Object], None]) -> None:
    figures, roles = (rigs.part(f"rig.figure.{name}") for name in ("character", "roles"))
    read = rigs.part("rig.blender.armature").Armature
    ob = rigs.figure()
    before = figures.Character.of(ob)
    assert figures.Character.of(ob) is before
    change(ob)
    found, armature = figures.Character.of(ob), read(ob)
    assert found is not before
    assert found.figure == roles.read(ob, armature)
    assert list(found.armature.index.items()) == list(armature.index.items())
    for name in ("parent", "rest", "length", "heads", "tails"):
        np.testing.assert_array_equal(getattr(found.armature, name), getattr(armature, name))
