# SPDX-License-Identifier: GPL-3.0-or-later
"""What goals may aim at: objects, bones of this and of other armatures; and what is said where they cannot."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector
from situations import into_collection, named, reopened

REACHED = 1e-3


# -- kinds of targets -------------------------------------------------------------------------------------------------


def parented(target: bpy.types.Object) -> None:
    """An object that hangs from a turned and scaled one."""
    holder = rigs.empty((1.0, -0.5, 0.2), "Holder")
    holder.rotation_quaternion, holder.scale = rigs.rotation((1, 2, 1), 50.0), (0.5, 0.5, 0.5)
    target.parent, target.location = holder, (0.3, 0.2, -0.4)


def constrained(target: bpy.types.Object) -> None:
    """An object that a Copy Location constraint moves."""
    rigs.constrain(target, "COPY_LOCATION", rigs.empty((1.0, -0.7, 0.4), "Copied"))


def child_of(target: bpy.types.Object) -> None:
    """An object that a Child Of constraint moves."""
    holder = rigs.empty((0.3, -0.2, 0.1), "Holder")
    holder.rotation_quaternion = rigs.rotation((0, 0, 1), 30.0)
    rigs.constrain(target, "CHILD_OF", holder)


@pytest.mark.parametrize("kind", named(
    parented, constrained, child_of, driven=lambda target: rigs.drive(target, "location", "0.5 + 0.6", 0),
    plain=lambda target: None,
))  # fmt: skip
def test_a_target_is_where_blender_shows_it(kind: Callable) -> None:
    """The bone's tail is at the target's evaluated place, whatever puts it there, and also at once if that is moved."""
    ob, target = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5))
    rigs.update()
    kind(target)
    rigs.update()
    rigs.reach(ob, "b", target)
    before = rigs.place(target)
    assert 0.3 < (before - rigs.head(ob, "a")).length < 1.9
    assert rigs.miss(ob, "b", target) < REACHED
    for holder in [other for other in bpy.data.objects if other.name in ("Holder", "Copied")]:
        holder.location.z += 0.2
        assert (rigs.place(target) - before).length > 0.1
        assert rigs.miss(ob, "b", target) < REACHED


def test_a_bone_of_another_armature_is_a_target() -> None:
    """The tail goes to the other bone's evaluated head, in the world, and follows its keys."""
    other = rigs.arm(name="Other")
    other.matrix_world = rigs.facing(3) * 1.0
    other.location = (0.5, -1.2, 0.3)
    ob = rigs.bent_arm()
    rigs.key_path(other.pose.bones["a"], (1, 10), [rigs.rotation((1, 0, 1), a) for a in (0, 60)], "rotation_quaternion")
    rigs.reach(ob, "b", other, subtarget="b")
    places = []
    for _ in rigs.visited((1, 5, 10)):
        places.append(rigs.head(other, "b"))
        reach = min((places[-1] - rigs.head(ob, "a")).length, 2.0)
        assert abs((rigs.tail(ob, "b") - rigs.head(ob, "a")).length - reach) < REACHED
        assert reach == 2.0 or (rigs.tail(ob, "b") - places[-1]).length < REACHED
    assert (places[0] - places[2]).length > 0.3


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


def moving_chain(bone: str) -> bpy.types.Object:
    """A chain of which one bone follows a moving load."""
    leader, load = rigs.chain([(0, 0, 0), (1, 0, 0), (1.5, -0.4, 0), (2, -0.4, 0.5)], "Leader"), rigs.empty((0, 0, 0))
    rigs.key_path(load, (1, 10, 20), [(1, 1, 0.5), (-0.3, 0.4, -1), (-0.7, -0.9, 0.6)])
    rigs.goal(leader, bone, load)
    return leader


@pytest.mark.parametrize("inherit_scale", ["FULL", "NONE"])
def test_a_target_below_a_bone_that_keeps_its_orientation_is_followed_in_the_same_frame(inherit_scale: str) -> None:
    """A leader's bone that inherits no rotation only moves with the solved bone, and so does what hangs from it."""
    leader = moving_chain("a")
    leader.data.bones["b"].use_inherit_rotation = False
    leader.data.bones["b"].inherit_scale = inherit_scale
    follower = rigs.arm(0.4, "Follower")
    rigs.goal(follower, "b", leader, subtarget="c", use_position=False, use_rotation=True)
    leader.dqik.live = follower.dqik.live = True
    for frame in rigs.visited((1, 20, 10, 11, 3)):
        wanted, found = (rigs.evaluated(ob).pose.bones[name].matrix for ob, name in ((leader, "c"), (follower, "b")))
        assert rigs.turn(np.array(wanted), np.array(found)) < 2e-3, f"frame {frame}"


def test_a_target_on_an_unevenly_scaled_armature_is_followed_in_the_same_frame() -> None:
    """Scale on a solved bone shears what turns below it, and the follower's target goes along."""
    leader = moving_chain("b")
    leader.pose.bones["a"].scale = (1.3, 0.8, 0.9)
    follower = rigs.arm(0.4, "Follower")
    rigs.goal(follower, "b", held(leader, "c"))
    leader.dqik.live = follower.dqik.live = True
    for frame in rigs.visited((1, 20, 10, 11, 3)):
        before = rigs.matrices(follower)
        rigs.at_frame(frame)  # now Blender has evaluated the leader's answer
        assert np.abs(rigs.matrices(follower) - before).max() < 1e-5, f"frame {frame}"


# -- what cannot be solved --------------------------------------------------------------------------------------------


def held(ob: bpy.types.Object, bone: str) -> bpy.types.Object:
    """An empty that a bone holds."""
    return rigs.child(rigs.empty((0, 0, 0), "Held"), ob, bone)


CYCLES = {
    "a bone that it moves": lambda ob: rigs.goal(ob, "b", ob, subtarget="a"),
    "an object that such a bone holds": lambda ob: rigs.goal(ob, "b", held(ob, "a")),
    "a bone below one that it moves": lambda ob: rigs.goal(ob, "b", ob, subtarget="below"),
    "an object that such a bone moves by a constraint": lambda ob: rigs.goal(
        ob, "b", rigs.constrain(rigs.empty((0, 0, 0)), "COPY_TRANSFORMS", ob, subtarget="b").id_data),
    "an object that hangs from one that such a bone holds": lambda ob: rigs.goal(
        ob, "b", rigs.child(rigs.empty((0.1, 0, 0), "Child"), held(ob, "b"))),
    "a pole that it moves": lambda ob: rigs.goal(
        ob, "b", rigs.empty((1.3, -0.5, 0.2), "Fine too"), pole_target=ob, pole_subtarget="b"),
}  # fmt: skip
"""What the target of a goal may be that follows a bone which the goal moves."""


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
def test_a_cycle_is_said_and_left_out(cycle: str) -> None:
    """A goal whose target follows a bone that it moves is named in the message; the pose stands still, others go on."""
    ob = two_limbs()
    CYCLES[cycle](ob).name = "Odd"
    fine = rigs.empty((1.2, 4.2, 0.5), "Fine")
    rigs.reach(ob, "d", fine)
    assert "Odd" in rigs.message(ob)
    assert rigs.miss(ob, "d", fine) < REACHED
    still = rigs.matrices(ob)
    rigs.visit((2, 3, 4, 5))
    assert rigs.turn(still, rigs.matrices(ob)) < 1e-6
    assert ob.dqik.live


def near() -> bpy.types.Object:
    return rigs.empty((1, 0, 0))


WRONG = {
    "no target": ("no target", lambda ob: rigs.goal(ob, "b", None)),
    "no bone": ("no bone", lambda ob: rigs.goal(ob, "", near())),
    "missing bone": ("'elbow'", lambda ob: rigs.goal(ob, "elbow", near())),
    "missing subtarget": ("'elbow'", lambda ob: rigs.goal(ob, "b", rigs.arm(name="Other"), subtarget="elbow")),
    "missing subtarget of the pole": ("'elbow'", lambda ob: rigs.goal(
        ob, "b", near(), pole_target=rigs.arm(name="Other"), pole_subtarget="elbow")),
    "asks for nothing": ("no effect", lambda ob: rigs.goal(ob, "b", near(), use_position=False)),
    "own object": ("armature", lambda ob: rigs.goal(ob, "b", ob)),
    "limits upside down": ("'b'", lambda ob: rigs.limit(
        rigs.goal(ob, "b", near()).id_data.pose.bones["b"], (0, 0), (50, 10), (-5, 5))),
    "all locked": ("lock", lambda ob: [
        rigs.goal(ob, "b", near()), *(rigs.put(bone, dqik_lock=True) for bone in ob.pose.bones)]),
}  # fmt: skip
"""Mistakes: a word of what is said of each, and how it is made."""


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_said_in_the_message(mistake: str) -> None:
    """Nothing is raised, and the message names what is wrong; a goal that is right is solved still."""
    ob = two_limbs()
    word, make = WRONG[mistake]
    make(ob)
    rigs.made_active(ob)
    rigs.live(ob, at=2)
    assert word in rigs.message(ob)
    if mistake not in ("limits upside down", "all locked"):
        fine = rigs.empty((1.2, 4.2, 0.5), "Fine")
        rigs.goal(ob, "d", fine)
        rigs.at_frame(3)
        assert word in rigs.message(ob)
        assert rigs.miss(ob, "d", fine) < REACHED


# -- what Blender does not evaluate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hide", named(
    hidden_by_eye=lambda target: target.hide_set(True),
    in_a_collection_hidden_by_eye=lambda target: rigs.put(into_collection(target), hide_viewport=True),
))  # fmt: skip
def test_a_hidden_target_is_followed(hide: Callable) -> None:
    """Controls that are hidden with the eye move the bones as before, and nothing is said."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    hide(target)
    for _ in rigs.visited((1, 20, 9)):
        assert rigs.miss(ob, "b", target) < REACHED
    assert (rigs.place(target) - Vector((1.2, -1.0, 0.1))).length > 0.3
    assert rigs.message(ob) == ""


def in_a_collection_of_an_excluded_one(target: bpy.types.Object) -> None:
    inner = into_collection(target).collection
    outer = bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    bpy.context.scene.collection.children.unlink(inner)
    bpy.context.view_layer.layer_collection.children["Outer"].exclude = True


def disabled_by_keys(target: bpy.types.Object) -> None:
    rigs.key_path(target, (1, 5), (False, True), "hide_viewport")


DISABLED, AWAY = "disabled in the viewport", "not in the view layer"
UNSEEN = {
    "disabled": (DISABLED, lambda target: rigs.put(target, hide_viewport=True)),
    "in a disabled collection": (DISABLED, lambda target: rigs.put(
        into_collection(target).collection, hide_viewport=True)),
    "in an excluded collection": (AWAY, lambda target: rigs.put(into_collection(target), exclude=True)),
    "in a collection of an excluded one": (AWAY, in_a_collection_of_an_excluded_one),
    "in no collection": (AWAY, lambda target: bpy.context.scene.collection.objects.unlink(target)),
    "disabled by keys": (DISABLED, disabled_by_keys),
    "disabled by a driver": (DISABLED, lambda target: rigs.drive(target, "hide_viewport", "frame > 4")),
}  # fmt: skip
"""What Blender does not evaluate: the words that are said of it, and how it is made so."""


@pytest.mark.parametrize(
    "disable", ["disabled", "in a disabled collection", "in an excluded collection", "in no collection"]
)
@pytest.mark.parametrize("parented", [False, True])
@pytest.mark.parametrize("how", ["undo", "open"])
def test_a_target_not_evaluated_is_where_channels_say(how: str, parented: bool, disable: str, tmp_path: Path) -> None:
    """Also after undo and in a file that is opened, where Blender has the identity for its place."""
    ob = rigs.bent_arm("Rig")
    holder, target = rigs.empty((0.2, 0.1, 0.3), "Holder"), rigs.empty((1.0, -0.6, 0.2), "Target")
    holder.rotation_euler = (0.3, 0.5, 0.2)
    target.parent = holder if parented else None
    rigs.goal(ob, "b", target)
    target.use_fake_user = holder.use_fake_user = True
    rigs.live(ob)
    wanted = rigs.place(target)
    assert rigs.miss(ob, "b", target) < REACHED
    UNSEEN[disable][1](target)
    if parented and disable in ("disabled", "in no collection"):
        UNSEEN[disable][1](holder)
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
def test_a_target_that_blender_does_not_evaluate_is_said(disable: str, capfd: pytest.CaptureFixture[str]) -> None:
    """It stands still where its keys would move it; the message says so in one line, without any other edit.

    A bake says so too.
    """
    ob, target = moving_arm("Rig", (0, 0, 0))
    rigs.at_frame(3)
    assert rigs.message(ob) == ""
    words, make = UNSEEN[disable]
    make(target)
    rigs.update()
    rigs.at_frame(9)
    still = rigs.place(target)
    rigs.at_frame(20)
    assert (rigs.place(target) - still).length == 0.0
    said = rigs.message(ob)
    assert target.name in said and words in said and len(said.splitlines()) == 1
    rigs.made_active(ob)
    bpy.ops.dqik.bake(frame_start=1, frame_end=3)
    assert f"Warning: {said}" in capfd.readouterr().out


@pytest.mark.parametrize("disable", ["disabled", "in a disabled collection", "in an excluded collection"])
def test_a_target_that_blender_evaluates_again_is_followed(disable: str) -> None:
    """The message goes with the next update."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    UNSEEN[disable][1](target)
    rigs.at_frame(3)
    assert target.name in rigs.message(ob)
    target.hide_viewport = False
    for layer in bpy.context.view_layer.layer_collection.children:
        layer.collection.hide_viewport = layer.exclude = False
    rigs.update()
    assert rigs.message(ob) == ""
    rigs.at_frame(9)
    assert rigs.miss(ob, "b", target) < REACHED


def copying(target: bpy.types.Object) -> bpy.types.Object:
    return rigs.constrain(rigs.empty((0, 0, 0), "Kid"), "COPY_LOCATION", target).id_data


def a_driver(target: bpy.types.Object) -> None:
    rigs.drive_by(rigs.empty((0, 0, 0), "Kid"), "location", 0, target, "", "LOC_X")


def a_bone_of_the_armature(target: bpy.types.Object) -> None:
    bone = bpy.data.objects["Rig"].pose.bones["a"]
    rigs.constrain(bone, "LIMIT_ROTATION", influence=0.0)
    rigs.constrain(bone, "COPY_SCALE", target, influence=0.001)


@pytest.mark.parametrize("disable", ["disabled", "in an excluded collection"])
@pytest.mark.parametrize("depend", named(
    copying, a_driver, a_bone_of_the_armature, a_child=lambda target: rigs.child(rigs.empty((0, 0, 0), "Kid"), target),
    copying_a_disabled_one_that_copies=lambda target: rigs.put(copying(copying(target)).constraints[0].target,
                                                               hide_viewport=True),
))  # fmt: skip
def test_a_disabled_target_that_something_shown_depends_on_is_followed(depend: Callable, disable: str) -> None:
    """Blender evaluates it for that other object, so nothing is said of it."""
    ob, target = moving_arm("Rig", (0, 0, 0))
    depend(target)
    UNSEEN[disable][1](target)
    rigs.at_frame(9)
    before = rigs.place(target)
    rigs.at_frame(20)
    assert (rigs.place(target) - before).length > 0.3
    assert target.name not in rigs.message(ob)


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
    for _ in rigs.visited((4, 9)):
        assert other.dqik.live
        assert rigs.miss(other, "b", aim) < REACHED
        assert "not a number" in rigs.message(ob)
    ob.pose.bones["a"].rotation_quaternion = (1, 0, 0, 0)
    rigs.live(ob)
    assert rigs.message(ob) == ""
    assert rigs.miss(ob, "b", target) < REACHED


@pytest.mark.parametrize("solver", ["PGS", "DLS", "CCD"])
def test_a_pole_that_is_the_target_is_left_out_with_a_word(solver: str) -> None:
    """It says nothing about the bend; the goal counts without it, and another pole counts at once."""
    ob, target, pole = rigs.bent_arm(), rigs.empty((1.1, -0.6, 0.5)), rigs.empty((1.0, 3.0, 0.0), "Pole")
    rigs.goal(ob, "b", target)
    ob.dqik.solver = solver
    rigs.live(ob)
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
    rigs.reach(ob, "b", target, pole_target=pole)
    for place in ((1.0, 3.0, 0.0), (1.0, 0.0, 3.0), (1.0, -1.0, -3.0)):
        pole.location = place
        assert rigs.miss(ob, "b", target) < REACHED
        assert rigs.elbow_angle(ob, "a", "b", Vector(place)) < 0.01


def test_a_connected_bone_is_a_target_that_cannot_be_moved() -> None:
    """Its head stays at its parent's tail, so *Plant* and *Targets to Pose* name the goal, and key and turn nothing."""
    ob = two_limbs()
    rigs.goal(ob, "b", ob, subtarget="d", use_rotation=True).name = "Odd"
    ob.pose.bones["c"].rotation_mode = "XYZ"
    rigs.key_path(ob.pose.bones["c"], (1, 10), ((0, 0, 0), (0, 0, 0.6)), "rotation_euler")
    rigs.select(ob, "d", at=4)
    keys, still = rigs.keys(ob), ob.pose.bones["d"].matrix_basis.copy()
    assert bpy.ops.dqik.plant(frame_start=3, frame_end=6) == {"CANCELLED"}
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    assert rigs.keys(ob) == keys
    assert ob.pose.bones["d"].matrix_basis == still
