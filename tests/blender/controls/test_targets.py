# SPDX-License-Identifier: GPL-3.0-or-later
"""What goals may aim at: objects, bones of this and of other armatures; and what is said where they cannot."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector
from situations import into_collection, reopened

REACHED = 1e-3


def live(ob: bpy.types.Object) -> None:
    ob.dqik.live = True
    rigs.update()


# -- kinds of targets -------------------------------------------------------------------------------------------------


def plain(target: bpy.types.Object) -> None:
    """An object by itself."""
    del target


def parented(target: bpy.types.Object) -> None:
    """An object that hangs from a turned and scaled one."""
    holder = rigs.empty((1.0, -0.5, 0.2), "Holder")
    holder.rotation_quaternion, holder.scale = rigs.rotation((1, 2, 1), 50.0), (0.5, 0.5, 0.5)
    target.parent, target.location = holder, (0.3, 0.2, -0.4)


def constrained(target: bpy.types.Object) -> None:
    """An object that a Copy Location constraint moves."""
    made = target.constraints.new("COPY_LOCATION")
    made.target = rigs.empty((1.0, -0.7, 0.4), "Copied")


def child_of(target: bpy.types.Object) -> None:
    """An object that a Child Of constraint moves."""
    holder = rigs.empty((0.3, -0.2, 0.1), "Holder")
    holder.rotation_quaternion = rigs.rotation((0, 0, 1), 30.0)
    made = target.constraints.new("CHILD_OF")
    made.target = holder


def driven(target: bpy.types.Object) -> None:
    """An object that a driver moves."""
    target.driver_add("location", 0).driver.expression = "0.5 + 0.6"


@pytest.mark.parametrize("kind", [plain, parented, constrained, child_of, driven])
def test_a_target_is_where_blender_shows_it(kind: Callable) -> None:
    """The bone's tail is at the target's evaluated place, whatever puts it there."""
    ob, target = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5))
    rigs.update()
    kind(target)
    rigs.update()
    rigs.goal(ob, "b", target)
    live(ob)
    assert 0.3 < (rigs.place(target) - rigs.head(ob, "a")).length < 1.9
    assert rigs.miss(ob, "b", target) < REACHED


@pytest.mark.parametrize("name", ["Holder", "Copied"])
def test_moving_what_a_target_hangs_from_moves_the_bone(name: str) -> None:
    """An edit of an object that the target depends on is followed at once, without a change of frame."""
    ob, target = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5))
    (parented if name == "Holder" else constrained)(target)
    rigs.goal(ob, "b", target)
    live(ob)
    before = rigs.place(target)
    bpy.data.objects[name].location.z += 0.2
    rigs.update()
    assert (rigs.place(target) - before).length > 0.1
    assert rigs.miss(ob, "b", target) < REACHED


def test_a_bone_of_another_armature_is_a_target() -> None:
    """The tail goes to the other bone's evaluated head, in the world, and follows its keys."""
    other = rigs.arm(name="Other")
    other.matrix_world = rigs.facing(3) * 1.0
    other.location = (0.5, -1.2, 0.3)
    ob = rigs.bent_arm()
    for frame, degrees in ((1, 0.0), (10, 60.0)):
        other.pose.bones["a"].rotation_quaternion = rigs.rotation((1, 0, 1), degrees)
        other.pose.bones["a"].keyframe_insert("rotation_quaternion", frame=frame)
    rigs.goal(ob, "b", other, subtarget="b")
    live(ob)
    places = []
    for frame in (1, 5, 10):
        rigs.at_frame(frame)
        places.append(rigs.head(other, "b"))
        reach = min((places[-1] - rigs.head(ob, "a")).length, 2.0)
        assert abs((rigs.tail(ob, "b") - rigs.head(ob, "a")).length - reach) < REACHED
        assert reach == 2.0 or (rigs.tail(ob, "b") - places[-1]).length < REACHED
    assert (places[0] - places[2]).length > 0.3


def test_an_unsolved_bone_of_the_same_armature_is_a_target() -> None:
    """A control bone beside the chain moves the hand, when posed and when keyed."""
    ob = rigs.armature([
        rigs.Bone("a", (0, 0, 0), (1, 0, 0)),
        rigs.Bone("b", (1, 0, 0), (1.9, -0.4, 0), "a", True),
        rigs.Bone("control", (1.5, -0.5, 0.3), (1.5, -0.5, 0.5)),
    ])  # fmt: skip
    rigs.goal(ob, "b", ob, subtarget="control")
    live(ob)
    assert rigs.message(ob) == ""
    assert (rigs.tail(ob, "b") - rigs.head(ob, "control")).length < REACHED
    control = ob.pose.bones["control"]
    control.location = (-0.5, 0.1, 0.2)
    rigs.update()
    assert (rigs.tail(ob, "b") - rigs.head(ob, "control")).length < REACHED
    control.keyframe_insert("location", frame=1)
    control.location = (-0.7, 0.3, -0.2)
    control.keyframe_insert("location", frame=9)
    for frame in (9, 1, 5):
        rigs.at_frame(frame)
        assert (rigs.tail(ob, "b") - rigs.head(ob, "control")).length < REACHED


def test_a_subtarget_reaches_the_bones_head() -> None:
    """As with Blender's own IK, the target bone's head counts: both solvers agree on where that is."""
    ends = []
    for which in ("dqik", "blender"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        other, ob = rigs.chain([(1.2, -0.5, 0.3), (1.2, -0.5, 1.0)], "Other"), rigs.bent_arm()
        if which == "dqik":
            rigs.goal(ob, "b", other, subtarget="a")
            live(ob)
        else:
            rigs.blender_ik(ob, "b", other, subtarget="a")
            rigs.update()
        ends.append(rigs.tail(ob, "b"))
    assert (ends[0] - ends[1]).length < REACHED
    assert (ends[0] - Vector((1.2, -0.5, 0.3))).length < REACHED


# -- several armatures ------------------------------------------------------------------------------------------------


def moving_arm(name: str, at: tuple) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A live arm at a place of its own, whose target moves over the frames."""
    ob = rigs.bent_arm(name)
    ob.location = at
    target = rigs.empty(at, f"{name} target")
    rigs.key_path(target, (1, 20), [Vector(at) + Vector(v) for v in ((1.2, -1.0, 0.1), (0.3, -1.2, 0.9))])
    rigs.goal(ob, "b", target)
    ob.dqik.live = True
    return ob, target


def test_several_armatures_are_solved_each_for_itself() -> None:
    """Three live arms all reach their targets on every frame, as one alone does."""
    arms = [moving_arm(f"Rig {k}", (3.0 * k, k, 0.0)) for k in range(3)]
    for frame in (1, 8, 20, 13):
        rigs.at_frame(frame)
        for ob, target in arms:
            assert rigs.miss(ob, "b", target) < REACHED
    assert max(rigs.turn(rigs.matrices(arms[0][0]), rigs.matrices(ob)) for ob, _ in arms[1:]) < 1e-4
    alone = rigs.matrices(arms[2][0])
    for ob, _ in arms[:2]:
        ob.dqik.live = False
    rigs.at_frame(2)
    rigs.at_frame(13)
    assert rigs.turn(alone, rigs.matrices(arms[2][0])) < 1e-6


@pytest.mark.parametrize("inherit_scale", ["FULL", "NONE"])
def test_a_target_below_a_bone_that_keeps_its_orientation_is_followed_in_the_same_frame(inherit_scale: str) -> None:
    """A leader's bone that inherits no rotation only moves with the solved bone, and so does what hangs from it."""
    leader = rigs.chain([(0, 0, 0), (1, 0, 0), (1.5, -0.4, 0), (2, -0.4, 0.5)], "Leader")
    leader.data.bones["b"].use_inherit_rotation = False
    leader.data.bones["b"].inherit_scale = inherit_scale
    load = rigs.empty((0, 0, 0), "Load")
    rigs.key_path(load, (1, 10, 20), [(1, 1, 0.5), (-0.3, 0.4, -1), (-0.7, -0.9, 0.6)])
    rigs.goal(leader, "a", load)
    follower = rigs.arm(0.4, "Follower")
    rigs.goal(follower, "b", leader, subtarget="c", use_position=False, use_rotation=True)
    leader.dqik.live = follower.dqik.live = True
    for frame in (1, 20, 10, 11, 3):
        rigs.at_frame(frame)
        wanted, found = (rigs.evaluated(ob).pose.bones[name].matrix for ob, name in ((leader, "c"), (follower, "b")))
        assert rigs.turn(np.array(wanted), np.array(found)) < 2e-3, f"frame {frame}"


def test_a_target_on_an_unevenly_scaled_armature_is_followed_in_the_same_frame() -> None:
    """Scale on a solved bone shears what turns below it, and the follower's target goes along."""
    leader = rigs.chain([(0, 0, 0), (1, 0, 0), (1.5, -0.4, 0), (2, -0.4, 0.5)], "Leader")
    leader.pose.bones["a"].scale = (1.3, 0.8, 0.9)
    load = rigs.empty((0, 0, 0), "Load")
    rigs.key_path(load, (1, 10, 20), [(1, 1, 0.5), (-0.3, 0.4, -1), (-0.7, -0.9, 0.6)])
    rigs.goal(leader, "b", load)
    held = rigs.empty((0, 0, 0), "Held")
    held.parent, held.parent_type, held.parent_bone = leader, "BONE", "c"
    follower = rigs.arm(0.4, "Follower")
    rigs.goal(follower, "b", held)
    leader.dqik.live = follower.dqik.live = True
    for frame in (1, 20, 10, 11, 3):
        rigs.at_frame(frame)
        before = rigs.matrices(follower)
        rigs.at_frame(frame)  # now Blender has evaluated the leader's answer
        assert np.abs(rigs.matrices(follower) - before).max() < 1e-5, f"frame {frame}"


# -- what cannot be solved --------------------------------------------------------------------------------------------


def cycle_by_bone(ob: bpy.types.Object) -> None:
    """The target is a bone that the goal itself moves."""
    rigs.goal(ob, "b", ob, subtarget="a").name = "Odd"


def cycle_by_parent(ob: bpy.types.Object) -> None:
    """The target is parented to a bone that is solved."""
    held = rigs.empty((0, 0, 0), "Held")
    held.parent, held.parent_type, held.parent_bone = ob, "BONE", "a"
    rigs.goal(ob, "b", held).name = "Odd"


def cycle_by_child(ob: bpy.types.Object) -> None:
    """The target is a bone below one that is solved."""
    rigs.goal(ob, "b", ob, subtarget="below").name = "Odd"


def cycle_by_constraint(ob: bpy.types.Object) -> None:
    """The target follows a solved bone by a constraint."""
    held = rigs.empty((0, 0, 0), "Held")
    made = held.constraints.new("COPY_TRANSFORMS")
    made.target, made.subtarget = ob, "b"
    rigs.goal(ob, "b", held).name = "Odd"


def cycle_by_grandparent(ob: bpy.types.Object) -> None:
    """The target hangs from an object that is parented to a solved bone."""
    held, child = rigs.empty((0, 0, 0), "Held"), rigs.empty((0.1, 0, 0), "Child")
    held.parent, held.parent_type, held.parent_bone = ob, "BONE", "b"
    child.parent = held
    rigs.goal(ob, "b", child).name = "Odd"


def cycle_by_pole(ob: bpy.types.Object) -> None:
    """The pole is a bone that the goal itself moves."""
    made = rigs.goal(ob, "b", rigs.empty((1.3, -0.5, 0.2), "Fine too"))
    made.name, made.pole_target, made.pole_subtarget = "Odd", ob, "b"


CYCLES = [
    cycle_by_bone, cycle_by_parent, cycle_by_child, cycle_by_constraint, cycle_by_grandparent, cycle_by_pole,
]  # fmt: skip


def two_limbs() -> bpy.types.Object:
    """An arm `a`, `b` with a stub `below` on it, and a second arm `c`, `d` that has nothing to do with it."""
    return rigs.armature([
        rigs.Bone("a", (0, 0, 0), (1, 0, 0)),
        rigs.Bone("b", (1, 0, 0), (1.9, -0.4, 0), "a", True),
        rigs.Bone("below", (1.9, -0.4, 0), (2.0, -0.4, 0), "b", True),
        rigs.Bone("c", (0, 5, 0), (1, 5, 0)),
        rigs.Bone("d", (1, 5, 0), (1.9, 4.6, 0), "c", True),
    ])  # fmt: skip


@pytest.mark.parametrize("cycle", CYCLES)
def test_a_cycle_is_said_and_left_out(cycle: Callable) -> None:
    """A goal whose target follows a bone that it moves is named in the message; the pose stands still, others go on."""
    ob = two_limbs()
    cycle(ob)
    fine = rigs.empty((1.2, 4.2, 0.5), "Fine")
    rigs.goal(ob, "d", fine)
    live(ob)
    assert "Odd" in rigs.message(ob)
    assert rigs.miss(ob, "d", fine) < REACHED
    still = rigs.matrices(ob)
    for frame in (2, 3, 4, 5):
        rigs.at_frame(frame)
    assert rigs.turn(still, rigs.matrices(ob)) < 1e-6
    assert ob.dqik.live


def nothing(ob: bpy.types.Object) -> None:
    """No goal at all."""
    del ob


def no_target(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", None)


def no_bone(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "", rigs.empty((1, 0, 0)))


def missing_bone(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "elbow", rigs.empty((1, 0, 0)))


def missing_subtarget(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", rigs.arm(name="Other"), subtarget="elbow")


def missing_pole_subtarget(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", rigs.empty((1, 0, 0)), pole_target=rigs.arm(name="Other"), pole_subtarget="elbow")


def asks_for_nothing(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", rigs.empty((1, 0, 0)), use_position=False)


def own_object(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", ob)


def limits_upside_down(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", rigs.empty((1, 0, 0)))
    rigs.limit(ob.pose.bones["b"], (0, 0), (50, 10), (-5, 5))


def all_locked(ob: bpy.types.Object) -> None:
    rigs.goal(ob, "b", rigs.empty((1, 0, 0)))
    for bone in ob.pose.bones:
        bone.dqik_lock = True


WRONG: dict[Callable, str] = {
    nothing: "goal", no_target: "no target", no_bone: "no bone", missing_bone: "'elbow'",
    missing_subtarget: "'elbow'", missing_pole_subtarget: "'elbow'", asks_for_nothing: "no effect",
    own_object: "armature", limits_upside_down: "'b'", all_locked: "lock",
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_said_in_the_message(mistake: Callable) -> None:
    """Nothing is raised, and the message names what is wrong; a goal that is right is solved still."""
    ob = two_limbs()
    mistake(ob)
    rigs.made_active(ob)
    if mistake is nothing:
        assert "FINISHED" in bpy.ops.dqik.goal_add(bone="b")
        ob.dqik.goals.clear()
        ob.dqik.live = True
        rigs.at_frame(2)
        assert ob.dqik.live
        return
    live(ob)
    rigs.at_frame(2)
    assert WRONG[mistake] in rigs.message(ob)
    if mistake not in (limits_upside_down, all_locked):
        fine = rigs.empty((1.2, 4.2, 0.5), "Fine")
        rigs.goal(ob, "d", fine)
        rigs.at_frame(3)
        assert WRONG[mistake] in rigs.message(ob)
        assert rigs.miss(ob, "d", fine) < REACHED


def test_deleting_a_target_while_live_is_said() -> None:
    """The goal that lost its target is named, the other goes on, and nothing is raised."""
    ob = two_limbs()
    lost, fine = rigs.empty((1.2, -0.8, 0.3), "Lost"), rigs.empty((1.2, 4.2, 0.5), "Fine")
    rigs.goal(ob, "b", lost)
    rigs.goal(ob, "d", fine)
    live(ob)
    bpy.data.objects.remove(lost)
    rigs.update()
    fine.location.z += 0.1
    rigs.update()
    assert "no target" in rigs.message(ob)
    assert rigs.miss(ob, "d", fine) < REACHED
    rigs.at_frame(7)
    assert rigs.miss(ob, "d", fine) < REACHED


def test_deleting_a_live_armature_is_no_trouble() -> None:
    """The other armature is solved on."""
    first, _ = moving_arm("First", (0, 0, 0))
    second, target = moving_arm("Second", (3, 0, 0))
    rigs.at_frame(3)
    bpy.data.objects.remove(first)
    for frame in (4, 9):
        rigs.at_frame(frame)
        assert rigs.miss(second, "b", target) < REACHED


def test_a_renamed_target_or_armature_is_followed_on() -> None:
    """Names of objects do not matter."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    rigs.at_frame(3)
    ob.name, target.name = "Other name", "Another"
    rigs.at_frame(9)
    assert rigs.miss(ob, "b", target) < REACHED
    assert np.abs(rigs.channels(ob)[:, 4:7]).max() > 0.05


# -- what Blender does not evaluate -----------------------------------------------------------------------------------


def hidden_by_eye(target: bpy.types.Object) -> None:
    target.hide_set(True)


def in_a_collection_hidden_by_eye(target: bpy.types.Object) -> None:
    into_collection(target).hide_viewport = True


@pytest.mark.parametrize("hide", [hidden_by_eye, in_a_collection_hidden_by_eye])
def test_a_hidden_target_is_followed(hide: Callable) -> None:
    """Controls that are hidden with the eye move the bones as before, and nothing is said."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    hide(target)
    for frame in (1, 20, 9):
        rigs.at_frame(frame)
        assert rigs.miss(ob, "b", target) < REACHED
    assert (rigs.place(target) - Vector((1.2, -1.0, 0.1))).length > 0.3
    assert rigs.message(ob) == ""


def disabled(target: bpy.types.Object) -> None:
    target.hide_viewport = True


def in_a_disabled_collection(target: bpy.types.Object) -> None:
    into_collection(target).collection.hide_viewport = True


def in_an_excluded_collection(target: bpy.types.Object) -> None:
    into_collection(target).exclude = True


def in_a_collection_of_an_excluded_one(target: bpy.types.Object) -> None:
    inner = into_collection(target).collection
    outer = bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    bpy.context.scene.collection.children.unlink(inner)
    bpy.context.view_layer.layer_collection.children["Outer"].exclude = True


def in_no_collection(target: bpy.types.Object) -> None:
    bpy.context.scene.collection.objects.unlink(target)


def disabled_by_keys(target: bpy.types.Object) -> None:
    for frame, hidden in ((1, False), (5, True)):
        target.hide_viewport = hidden
        target.keyframe_insert("hide_viewport", frame=frame)


def disabled_by_a_driver(target: bpy.types.Object) -> None:
    target.driver_add("hide_viewport").driver.expression = "frame > 4"


UNSEEN = {
    disabled: "disabled in the viewport",
    in_a_disabled_collection: "disabled in the viewport",
    in_an_excluded_collection: "not in the view layer",
    in_a_collection_of_an_excluded_one: "not in the view layer",
    in_no_collection: "not in the view layer",
    disabled_by_keys: "disabled in the viewport",
    disabled_by_a_driver: "disabled in the viewport",
}


@pytest.mark.parametrize("disable", [disabled, in_a_disabled_collection, in_an_excluded_collection, in_no_collection])
@pytest.mark.parametrize("parented", [False, True])
@pytest.mark.parametrize("how", ["undo", "open"])
def test_a_target_that_blender_does_not_evaluate_is_where_its_channels_say(
    how: str, parented: bool, disable: Callable, tmp_path: Path
) -> None:
    """Also after undo and in a file that is opened, where Blender has the identity for its place."""
    ob = rigs.bent_arm("Rig")
    holder, target = rigs.empty((0.2, 0.1, 0.3), "Holder"), rigs.empty((1.0, -0.6, 0.2), "Target")
    holder.rotation_euler = (0.3, 0.5, 0.2)
    target.parent = holder if parented else None
    rigs.goal(ob, "b", target)
    target.use_fake_user = holder.use_fake_user = True
    ob.dqik.live = True
    rigs.update()
    wanted = rigs.place(target)
    assert rigs.miss(ob, "b", target) < REACHED
    disable(target)
    if parented:
        disable_again = {in_no_collection: in_no_collection, disabled: disabled}.get(disable)
        if disable_again is not None:
            disable_again(holder)
    rigs.update()
    bpy.ops.ed.undo_push(message="before")
    if how == "undo":
        rigs.made_active(ob)
        bpy.ops.dqik.goals_clear()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
    else:
        reopened(tmp_path / "hidden.blend")
    ob = bpy.data.objects["Rig"]
    rigs.update()
    rigs.at_frame(7)
    assert (rigs.tail(ob, "b") - wanted).length < REACHED


@pytest.mark.parametrize("disable", UNSEEN)
def test_a_target_that_blender_does_not_evaluate_is_said(
    disable: Callable, capfd: pytest.CaptureFixture[str]
) -> None:
    """It stands still where its keys would move it; the message says so in one line, without any other edit.

    A bake says so too.
    """
    ob, target = moving_arm("Rig", (0, 0, 0))
    rigs.at_frame(3)
    assert rigs.message(ob) == ""
    disable(target)
    rigs.update()
    rigs.at_frame(9)
    still = rigs.place(target)
    rigs.at_frame(20)
    assert (rigs.place(target) - still).length == 0.0
    assert target.name in rigs.message(ob) and UNSEEN[disable] in rigs.message(ob)
    assert len(rigs.message(ob).splitlines()) == 1
    said = rigs.message(ob)
    rigs.made_active(ob)
    bpy.ops.dqik.bake(frame_start=1, frame_end=3)
    assert f"Warning: {said}" in capfd.readouterr().out


@pytest.mark.parametrize("disable", [disabled, in_a_disabled_collection, in_an_excluded_collection])
def test_a_target_that_blender_evaluates_again_is_followed(disable: Callable) -> None:
    """The message goes with the next update."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    disable(target)
    rigs.at_frame(3)
    assert target.name in rigs.message(ob)
    target.hide_viewport = False
    for layer in bpy.context.view_layer.layer_collection.children:
        layer.collection.hide_viewport = layer.exclude = False
    rigs.update()
    assert rigs.message(ob) == ""
    rigs.at_frame(9)
    assert rigs.miss(ob, "b", target) < REACHED


def a_child(target: bpy.types.Object) -> None:
    rigs.empty((0, 0, 0), "Kid").parent = target


def a_constrained_object(target: bpy.types.Object) -> None:
    rigs.empty((0, 0, 0), "Kid").constraints.new("COPY_LOCATION").target = target


def a_constrained_object_of_a_disabled_one(target: bpy.types.Object) -> None:
    """Through another object that is disabled itself."""
    between = rigs.empty((0, 0, 0), "Between")
    a_constrained_object(between)
    between.constraints.new("COPY_LOCATION").target = target
    between.hide_viewport = True


def a_driver(target: bpy.types.Object) -> None:
    driver = rigs.empty((0, 0, 0), "Kid").driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type, driver.expression = "TRANSFORMS", variable.name
    variable.targets[0].id, variable.targets[0].transform_type = target, "LOC_X"


def a_bone_of_the_armature(target: bpy.types.Object) -> None:
    bpy.data.objects["Rig"].pose.bones["a"].constraints.new("LIMIT_ROTATION").influence = 0.0
    bpy.data.objects["Rig"].pose.bones["a"].constraints.new("COPY_SCALE").target = target
    bpy.data.objects["Rig"].pose.bones["a"].constraints[1].influence = 0.001


@pytest.mark.parametrize("disable", [disabled, in_an_excluded_collection])
@pytest.mark.parametrize(
    "depend",
    [a_child, a_constrained_object, a_constrained_object_of_a_disabled_one, a_driver, a_bone_of_the_armature],
)
def test_a_disabled_target_that_something_shown_depends_on_is_followed(depend: Callable, disable: Callable) -> None:
    """Blender evaluates it for that other object, so nothing is said of it."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    depend(target)
    disable(target)
    rigs.at_frame(9)
    before = rigs.place(target)
    rigs.at_frame(20)
    assert (rigs.place(target) - before).length > 0.3
    assert target.name not in rigs.message(ob)


# -- copies ------------------------------------------------------------------------------------------------------------


def test_a_copy_of_a_live_armature_is_live_for_itself() -> None:
    """Both reach, and switching the copy off gives it the base pose back and leaves the first as it is."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    copy = ob.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.location.x = 0.2
    for frame in (5, 9):
        rigs.at_frame(frame)
        assert rigs.miss(ob, "b", target) < REACHED
        assert rigs.miss(copy, "b", target) < REACHED
    solved = rigs.matrices(ob)
    copy.dqik.live = False
    rigs.update()
    assert rigs.local_rotation(copy, "a").angle < 1e-6
    assert rigs.turn(solved, rigs.matrices(ob)) < 1e-6


def test_a_rig_that_cannot_be_solved_is_switched_off_with_a_message_and_the_others_go_on() -> None:
    """A pose that is no number switches live off for its rig alone; mended, it can be switched on again."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    other, aim = moving_arm("Other", (3, 0, 0))
    rigs.at_frame(2)
    ob.pose.bones["a"].rotation_quaternion = (float("nan"), 0, 0, 0)
    rigs.update()
    rigs.at_frame(3)
    assert not ob.dqik.live
    assert "not a number" in rigs.message(ob)
    for frame in (4, 9):
        rigs.at_frame(frame)
        assert other.dqik.live
        assert rigs.miss(other, "b", aim) < REACHED
        assert "not a number" in rigs.message(ob)
    ob.pose.bones["a"].rotation_quaternion = (1, 0, 0, 0)
    ob.dqik.live = True
    rigs.update()
    assert rigs.message(ob) == ""
    assert rigs.miss(ob, "b", target) < REACHED


@pytest.mark.parametrize("solver", ["PGS", "DLS", "CCD"])
def test_a_pole_that_is_the_target_is_left_out_with_a_word(solver: str) -> None:
    """It says nothing about the bend; the goal counts without it, and another pole counts at once."""
    ob, target, pole = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5)), rigs.empty((1.0, 3.0, 0.0), "Pole")
    rigs.goal(ob, "b", target)
    ob.dqik.solver = solver
    live(ob)
    alone = rigs.matrices(ob)
    ob.dqik.goals[0].pole_target = target
    rigs.update()
    assert "its pole is its target" in rigs.message(ob)
    np.testing.assert_allclose(rigs.matrices(ob), alone, atol=1e-6)
    ob.dqik.goals[0].pole_target = pole
    rigs.update()
    assert rigs.message(ob) == ""
    assert rigs.elbow_angle(ob, "a", "b", pole.location) < 0.01


def test_a_moved_pole_turns_the_limb_at_once() -> None:
    """An edit of a pole's object alone is followed without a change of frame."""
    ob, target, pole = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5)), rigs.empty((1.0, 3.0, 0.0), "Pole")
    rigs.goal(ob, "b", target, pole_target=pole)
    live(ob)
    for place in ((1.0, 3.0, 0.0), (1.0, 0.0, 3.0), (1.0, -1.0, -3.0)):
        pole.location = place
        rigs.update()
        assert rigs.miss(ob, "b", target) < REACHED
        assert rigs.elbow_angle(ob, "a", "b", Vector(place)) < 0.01
