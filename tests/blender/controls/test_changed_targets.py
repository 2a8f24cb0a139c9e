# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and goals that scripts rename, remove, exchange or tie into knots: live solving goes on, or says why not."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
from situations import NEAR, STEADY, crane, named, pose_at, reaching, turn


def posts() -> bpy.types.Object:
    """An armature of two bones that are targets."""
    bones = [rigs.Bone("post", (0.8, 0.3, 1), (0.8, 0.3, 1.2)), rigs.Bone("spare", (0.5, 0.6, 1), (0.5, 0.6, 1.2))]
    return rigs.armature(bones, "Posts")


def remove(other: bpy.types.Object) -> None:
    with rigs.edit_mode(other) as bones:
        bones.remove(bones["post"])


def exchange_data(other: bpy.types.Object) -> None:
    other.data = rigs.armature([rigs.Bone("pole", (1, 0, 1), (1, 0, 2))], "Third").data


def own_flag_renamed(ob: bpy.types.Object) -> None:
    rigs.put(ob.dqik.goals[0], target=ob, subtarget="flag")
    rigs.update()
    rigs.at_frame(4)
    ob.data.bones["flag"].name = "banner"


OF_TARGET = {
    "rename": lambda other: rigs.put(other.data.bones["post"], name="pillar"), "remove": remove,
    "exchange data": exchange_data, "remove object": lambda other: bpy.data.objects.remove(other),
    "remove data": lambda other: bpy.data.armatures.remove(other.data),
}  # fmt: skip
OF_ARMATURE = {
    "no such bone": lambda ob: rigs.put(ob.dqik.goals[0], subtarget="nobody"),
    "rename goal bone": lambda ob: rigs.put(ob.data.bones["jib"], name="arm"),
    "itself": lambda ob: rigs.put(ob.dqik.goals[0], target=ob, subtarget="jib"),
    "own flag renamed": own_flag_renamed, "goals cleared": lambda ob: ob.dqik.goals.clear(),
}  # fmt: skip
FOLLOWED = ("rename", "rename goal bone")  # goals keep renamed bones


@pytest.mark.parametrize("change", OF_TARGET | OF_ARMATURE)
def test_a_bone_target_may_change_or_go(change: str) -> None:
    """Live stays on; what cannot be reached is not said to be met; another armature goes on."""
    ob, other = crane(), posts()
    rigs.goal(ob, "jib", other, subtarget="post", chain_length=2)
    bystander, aim = crane("Bystander"), rigs.empty((0.7, -0.2, 1.1), "Aim")
    rigs.goal(bystander, "jib", aim)
    ob.dqik.live = bystander.dqik.live = True
    rigs.visit((3, 4))
    OF_TARGET[change](other) if change in OF_TARGET else OF_ARMATURE[change](ob)
    rigs.update()
    for _ in rigs.visited((5, 6, 20)):
        assert ob.dqik.live
        assert rigs.miss(bystander, "jib", aim) < NEAR
        assert ob.dqik.status.converged == (change in FOLLOWED) or change == "own flag renamed"
    bystander.location.x = 0.1
    assert rigs.miss(bystander, "jib", aim) < NEAR


# -- targets tied to each other ----------------------------------------------------------------------------------------


def hook(on: bpy.types.Object) -> bpy.types.Object:
    """An empty on the jib of an armature."""
    return rigs.child(rigs.empty((0, 0, 0), "Hook"), on, "jib")


def circle(count: int, kind: str) -> bpy.types.Object:
    """Objects of which each follows the one before."""
    empties = [rigs.empty((0.8, 0.1 * k, 1), f"Empty{k}") for k in range(count)]
    for k, ob in enumerate(empties):
        rigs.constrain(ob, kind, empties[k - 1])
    return empties[0]


def vertex_group() -> bpy.types.Object:
    ob = rigs.mesh([(0.8, 0.2, 1), (0.9, 0.2, 1), (0.8, 0.3, 1)], [(0, 1, 2)])
    ob.vertex_groups.new(name="Corner").add([0], 1.0, "ADD")
    return rigs.constrain(rigs.empty((0, 0, 0), "One"), "COPY_LOCATION", ob, subtarget="Corner").id_data


def empty_constraints() -> bpy.types.Object:
    made = rigs.empty((0.8, 0.2, 1), "One")
    for kind in ("COPY_LOCATION", "CHILD_OF", "ARMATURE", "FOLLOW_PATH", "TRACK_TO"):
        made.constraints.new(kind)
    return made


KNOTS = named(
    vertex_group, empty_constraints,
    circle_of_two=lambda: circle(2, "COPY_LOCATION"), circle_of_three=lambda: circle(3, "CHILD_OF"),
    no_such_subtarget=lambda: rigs.constrain(
        rigs.empty((0.8, 0.2, 1), "One"), "COPY_LOCATION", posts(), subtarget="nobody").id_data,
)  # fmt: skip


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("knot", KNOTS)
def test_targets_with_odd_constraints_are_no_trouble(knot: Callable, follows: bool) -> None:
    """Alone, and where another goal's target hangs on another solved armature, which sets an order."""
    first, _ = reaching()
    second = crane("Second")
    second.location = (0.4, 0.6, 0)
    if follows:
        rigs.goal(second, "jib", hook(first))
    target = knot()
    rigs.goal(second, "flag", target, chain_length=1)
    first.dqik.live = second.dqik.live = True
    rigs.update()
    for _ in rigs.visited((3, 4, 20)):
        assert first.dqik.live
        assert second.dqik.live
        assert np.isfinite(rigs.channels(second)).all()
        met = rigs.miss(second, "flag", target) < NEAR
        assert met or not second.dqik.status.converged or follows


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
    rigs.at_frame(8)
    assert turn(before, pose_at(ob, 7)) < STEADY
