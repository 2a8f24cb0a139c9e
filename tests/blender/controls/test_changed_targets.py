# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and goals that scripts rename, remove, exchange or tie into knots: live solving goes on, or says why not."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
from situations import NEAR, STEADY, crane, pose_at, reaching, turn


def posts() -> bpy.types.Object:
    """An armature of two bones that are targets."""
    bones = [rigs.Bone("post", (0.8, 0.3, 1), (0.8, 0.3, 1.2)), rigs.Bone("spare", (0.5, 0.6, 1), (0.5, 0.6, 1.2))]
    return rigs.armature(bones, "Posts")


def edit(ob: bpy.types.Object, change: Callable) -> None:
    rigs.made_active(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def rename(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    other.data.bones["post"].name = "pillar"


def remove(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    edit(other, lambda bones: bones.remove(bones["post"]))


def exchange_data(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    other.data = rigs.armature([rigs.Bone("pole", (1, 0, 1), (1, 0, 2))], "Third").data


def remove_object(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    bpy.data.objects.remove(other)


def remove_data(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    bpy.data.armatures.remove(other.data)


def no_such_bone(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.dqik.goals[0].subtarget = "nobody"


def rename_goal_bone(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.data.bones["jib"].name = "arm"


def itself(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.dqik.goals[0].target, ob.dqik.goals[0].subtarget = ob, "jib"


def own_flag_renamed(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.dqik.goals[0].target, ob.dqik.goals[0].subtarget = ob, "flag"
    rigs.update()
    rigs.at_frame(4)
    ob.data.bones["flag"].name = "banner"


def goals_cleared(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.dqik.goals.clear()


CHANGES = [rename, remove, exchange_data, remove_object, remove_data, no_such_bone, rename_goal_bone, itself,
           own_flag_renamed, goals_cleared]  # fmt: skip
FOLLOWED = (rename, rename_goal_bone)  # goals keep renamed bones


@pytest.mark.parametrize("change", CHANGES)
def test_a_bone_target_may_change_or_go(change: Callable) -> None:
    """Live stays on; what cannot be reached is not said to be met; another armature goes on."""
    ob, other = crane(), posts()
    rigs.goal(ob, "jib", other, subtarget="post", chain_length=2)
    bystander, aim = crane("Bystander"), rigs.empty((0.7, -0.2, 1.1), "Aim")
    rigs.goal(bystander, "jib", aim)
    ob.dqik.live = bystander.dqik.live = True
    for frame in (3, 4):
        rigs.at_frame(frame)
    change(ob, other)
    rigs.update()
    for frame in (5, 6, 20):
        rigs.at_frame(frame)
        assert ob.dqik.live
        assert rigs.miss(bystander, "jib", aim) < NEAR
        assert ob.dqik.status.converged == (change in FOLLOWED) or change == own_flag_renamed
    bystander.location.x = 0.1
    rigs.update()
    assert rigs.miss(bystander, "jib", aim) < NEAR


# -- targets tied to each other ----------------------------------------------------------------------------------------


def hanging(*, of: str, on: bpy.types.Object) -> bpy.types.Object:
    """An empty on the jib of an armature."""
    made = rigs.empty((0, 0, 0), of)
    made.parent, made.parent_type, made.parent_bone = on, "BONE", "jib"
    return made


def circle_of_constraints() -> bpy.types.Object:
    one, two = rigs.empty((0.8, 0.2, 1), "One"), rigs.empty((0.7, 0.2, 1), "Two")
    for ob, target in ((one, two), (two, one)):
        ob.constraints.new("COPY_LOCATION").target = target
    return one


def circle_of_three() -> bpy.types.Object:
    empties = [rigs.empty((0.8, 0.1 * k, 1), f"Empty{k}") for k in range(3)]
    for k, ob in enumerate(empties):
        ob.constraints.new("CHILD_OF").target = empties[k - 1]
    return empties[0]


def no_such_subtarget() -> bpy.types.Object:
    made = rigs.empty((0.8, 0.2, 1), "One")
    constraint = made.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = posts(), "nobody"
    return made


def vertex_group() -> bpy.types.Object:
    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata([(0.8, 0.2, 1), (0.9, 0.2, 1), (0.8, 0.3, 1)], [], [(0, 1, 2)])
    ob = bpy.data.objects.new("Mesh", mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.vertex_groups.new(name="Corner").add([0], 1.0, "ADD")
    made = rigs.empty((0, 0, 0), "One")
    constraint = made.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = ob, "Corner"
    return made


def empty_constraint() -> bpy.types.Object:
    made = rigs.empty((0.8, 0.2, 1), "One")
    for kind in ("COPY_LOCATION", "CHILD_OF", "ARMATURE", "FOLLOW_PATH", "TRACK_TO"):
        made.constraints.new(kind)
    return made


KNOTS = [circle_of_constraints, circle_of_three, no_such_subtarget, vertex_group, empty_constraint]


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("knot", KNOTS)
def test_targets_with_odd_constraints_are_no_trouble(knot: Callable, follows: bool) -> None:
    """Alone, and where another goal's target hangs on another solved armature, which sets an order."""
    first, _ = reaching()
    second = crane("Second")
    second.location = (0.4, 0.6, 0)
    if follows:
        rigs.goal(second, "jib", hanging(of="Hook", on=first))
    target = knot()
    rigs.goal(second, "flag", target, chain_length=1)
    first.dqik.live = second.dqik.live = True
    rigs.update()
    for frame in (3, 4, 20):
        rigs.at_frame(frame)
        assert first.dqik.live
        assert second.dqik.live
        assert np.isfinite(rigs.channels(second)).all()
        met = rigs.miss(second, "flag", target) < NEAR
        assert met or not second.dqik.status.converged or follows


def test_two_armatures_that_follow_each_other_stay_finite() -> None:
    """Each one's target hangs on the other's jib."""
    first, second = crane(), crane("Second")
    second.location = (0.5, 0.5, 0)
    rigs.goal(first, "flag", hanging(of="Hook2", on=second))
    rigs.goal(second, "jib", hanging(of="Hook1", on=first))
    first.dqik.live = second.dqik.live = True
    for frame in range(1, 8):
        rigs.at_frame(frame)
    for ob in (first, second):
        assert ob.dqik.live
        assert np.isfinite(rigs.channels(ob)).all()


def test_a_goal_made_and_removed_by_a_script_leaves_the_frames_as_they_were() -> None:
    """Without any operator, and without a word to the extension but what Blender passes on."""
    ob, _ = reaching()
    ob.dqik.live = True
    before = pose_at(ob, 7)
    made = ob.dqik.goals.add()
    made.bone, made.target = "flag", rigs.empty((0.2, 0.7, 1.3), "Post")
    rigs.at_frame(8)
    assert turn(before, pose_at(ob, 7)) > 1.0
    ob.dqik.goals.remove(1)
    ob.update_tag()
    rigs.at_frame(8)
    assert turn(before, pose_at(ob, 7)) < STEADY
