# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that are renamed keep their goals, poles, couplings and contacts, as they keep Blender's constraints."""

from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
import rigs
from mathutils import Matrix
from situations import reopened


def rig() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A figure with a goal that has a target of another figure's bone, a pole, a coupling and a contact."""
    ob, other = rigs.figure("Anna"), rigs.figure("Ben")
    other.location.x = 0.5
    goal = rigs.goal(ob, "hand.L", rigs.empty((0.5, -0.4, 1.3), "Aim"), chain_length=3)
    goal.pole_target, goal.pole_subtarget = ob, "shin.L"
    held = rigs.goal(ob, "hand.R", other, chain_length=3)
    held.subtarget = "head"
    rigs.couple(ob, "foot.L", "foot.R")
    contact = ob.dqik.contacts.add()
    contact.bone = "foot.R"
    rigs.constrain(ob.pose.bones["hand.L"], "COPY_LOCATION", ob, subtarget="hand.R", influence=0.0, mute=True)
    ob.dqik.live = True
    rigs.made_active(ob)
    rigs.at_frame(2)
    return ob, other


def named(ob: bpy.types.Object) -> list[str]:
    left, right = ob.dqik.goals[0], ob.dqik.goals[1]
    one, contact = ob.dqik.couplings[0], ob.dqik.contacts[0]
    return [left.bone, left.pole_subtarget, right.bone, right.subtarget, one.bone, one.leader, contact.bone]


NAMED = ["hand.L", "shin.L", "hand.R", "head", "foot.L", "foot.R", "foot.R"]


def by_script(ob: bpy.types.Object, names: dict[str, str]) -> None:
    for old, new in names.items():
        ob.data.bones[old].name = new


def in_edit_mode(ob: bpy.types.Object, names: dict[str, str]) -> None:
    with rigs.edit_mode(ob) as bones:
        for old, new in names.items():
            bones[old].name = new


def in_steps(ob: bpy.types.Object, names: dict[str, str]) -> None:
    for old, new in names.items():
        by_script(ob, {old: new})
        rigs.update()


WAYS = [by_script, in_edit_mode, in_steps]
Way = Callable[[bpy.types.Object, dict[str, str]], None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("live", [True, False])
def test_all_that_names_a_bone_follows_its_name(way: Way, live: bool) -> None:
    ob, other = rig()
    ob.dqik.live = live
    before = rigs.matrices(ob)
    new = {name: f"Rig:{name}.x" for name in ("hand.L", "hand.R", "foot.L", "foot.R", "shin.L")}
    way(ob, new)
    way(other, {"head": "skull"})
    rigs.update()
    rigs.at_frame(2)
    assert named(ob) == [new.get(name, "skull") for name in NAMED]
    assert ob.pose.bones[new["hand.L"]].constraints[0].subtarget == new["hand.R"]
    assert abs(rigs.matrices(ob) - before).max() < 1e-4
    rigs.live(ob)
    assert rigs.miss(ob, new["hand.L"], bpy.data.objects["Aim"]) < 2e-3
    assert not ob.dqik.status.message


@pytest.mark.parametrize("way", [by_script, in_edit_mode])
def test_names_that_are_swapped_are_told_apart(way: Way) -> None:
    ob, _ = rig()
    way(ob, {"hand.L": "x", "hand.R": "hand.L", "x": "hand.R"})
    rigs.update()
    rigs.at_frame(3)
    assert named(ob)[:3] == ["hand.R", "shin.L", "hand.L"]
    assert rigs.miss(ob, "hand.R", bpy.data.objects["Aim"]) < 2e-3


def test_a_bone_in_place_of_a_removed_one_is_taken_for_it_and_no_other_is() -> None:
    """As a constraint's target would be."""
    ob, _ = rig()
    with rigs.edit_mode(ob) as bones:
        place = bones["hand.L"].head.copy(), bones["hand.L"].tail.copy(), bones["hand.L"].parent
        bones.remove(bones["hand.L"])
        for name in ("unlike", "hand.L"):
            one = bones.new(name)
            one.head, one.tail, one.parent = place
        bones.remove(bones["hand.R"])
        other = bones.new("palm")
        other.head, other.tail = (1, 0, 0), (1, 0, 1)
    rigs.update()
    assert named(ob) == NAMED
    by_script(ob, {"hand.L": "left"})
    rigs.update()
    assert named(ob)[0] == "left"


def test_a_bone_that_the_user_chooses_is_not_changed_back() -> None:
    ob, _ = rig()
    ob.dqik.goals[0].bone = "forearm.L"
    rigs.update()
    assert named(ob)[0] == "forearm.L"
    by_script(ob, {"hand.L": "x", "forearm.L": "y"})
    ob.dqik.goals[0].bone = "x"
    rigs.update()
    assert named(ob)[0] == "x"


def test_copies_of_a_bone_are_not_taken_for_it() -> None:
    ob, _ = rig()
    with rigs.edit_mode(ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == "hand.L"
        bpy.ops.armature.duplicate()
    rigs.update()
    assert named(ob) == NAMED
    by_script(ob, {"hand.L": "first"})
    rigs.update()
    assert named(ob)[0] == "first"


@pytest.mark.parametrize("live", [True, False])
def test_undo_redo_and_files_keep_names_and_goals_together(live: bool, tmp_path: Path) -> None:
    ob, _ = rig()
    rigs.live(ob, live)
    bpy.ops.ed.undo_push(message="before")
    by_script(ob, {"hand.L": "left"})
    bpy.ops.ed.undo_push(message="renamed")  # Blender's step comes before the goals follow
    rigs.update()
    assert named(ob)[0] == "left"
    ob.location.y += 0.1
    bpy.ops.ed.undo_push(message="moved")
    for step, name in ((bpy.ops.ed.undo, "left"), (bpy.ops.ed.undo, "hand.L"), (bpy.ops.ed.redo, "left"),
                       (bpy.ops.ed.redo, "left"), (bpy.ops.ed.undo, "left")):  # fmt: skip
        step()
        ob = bpy.data.objects["Anna"]
        assert named(ob)[0] == name
        assert name in ob.pose.bones
    by_script(ob, {"left": "hand"})
    reopened(tmp_path / "renamed.blend")
    assert named(bpy.data.objects["Anna"])[0] == "hand"


def test_a_control_that_is_renamed_stays_the_target() -> None:
    ob = rigs.made_active(rigs.figure())
    bpy.ops.object.mode_set(mode="POSE")
    rigs.set_up(ob, controls={"ELBOWS"})
    goal = rigs.goal_of(ob, "hand.L")
    by_script(ob, {goal.subtarget: "IK hand L", goal.pole_subtarget: "elbow target"})
    rigs.update()
    assert (goal.subtarget, goal.pole_subtarget) == ("IK hand L", "elbow target")
    control = ob.pose.bones["IK hand L"]
    control.matrix = Matrix.Translation((-0.15, -0.15, -0.1)) @ control.matrix
    place = rigs.evaluated(ob).pose.bones
    assert (place["hand.L"].head - place["IK hand L"].head).length < 2e-3
