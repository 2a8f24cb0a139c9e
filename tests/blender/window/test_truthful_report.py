# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the report says that all goals are met, Blender's evaluated pose meets them, whatever else moves the bones."""

from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
import rigs
from situations import NEAR, crane, key_turns, linked_from, load, named, pose_at, reaching, turned


def told_truly(ob: bpy.types.Object, target: bpy.types.Object, bone: str = "jib") -> bool:
    """Whether a bone reaches its target in Blender's evaluation wherever the report says so."""
    return rigs.miss(ob, bone, target) < NEAR or not ob.dqik.status.converged


def in_edit_mode(ob: bpy.types.Object, change: Callable) -> None:
    with rigs.edit_mode(ob) as bones:
        change(bones)
    rigs.update()


def longer(bones: bpy.types.ArmatureEditBones) -> None:
    bones["jib"].length *= 2.0  # its direction stays the same to the last bit


def loose(bones: bpy.types.ArmatureEditBones) -> None:
    bones["jib"].use_connect = False
    bones["jib"].head.z += 0.3


def moved_root(bones: bpy.types.ArmatureEditBones) -> None:
    bones["mast"].head.x += 0.4


def split(bones: bpy.types.ArmatureEditBones) -> None:
    """A new bone between the boom and the jib."""
    made = bones.new("middle")
    made.head, made.tail, made.parent = bones["boom"].tail, bones["jib"].head + bones["jib"].vector / 2, bones["boom"]
    bones["jib"].head, bones["jib"].parent = made.tail, made


@pytest.mark.parametrize("change", named(
    longer, loose, moved_root, split, unparented=lambda bones: rigs.put(bones["jib"], parent=None),
    renamed=lambda bones: rigs.put(bones["boom"], name="beam"),
))  # fmt: skip
def test_bones_edited_while_live_are_seen(change: Callable, request: pytest.FixtureRequest) -> None:
    """After Edit Mode the goal is met again on the bones as they are now; where it cannot be, the report says so."""
    ob, target = reaching()
    ob.dqik.live = True
    for _ in rigs.visited((3, 4)):
        assert ob.dqik.status.converged
    in_edit_mode(ob, change)
    assert told_truly(ob, target)
    for _ in rigs.visited((5, 6, 20)):
        assert told_truly(ob, target)
    assert "unparented" in request.node.name or ob.dqik.status.converged


def test_bones_symmetrized_while_live_are_no_trouble(capfd: pytest.CaptureFixture) -> None:
    """Blender copies a pose bone's settings to the new side while the armature is still in Edit Mode."""
    bones = [
        rigs.Bone("mast", (0, 0, 0), (0, 0, 1)),
        rigs.Bone("arm.L", (0.2, 0, 1), (0.9, -0.1, 1.2), "mast"),
        rigs.Bone("hand.L", (0.9, -0.1, 1.2), (1.5, 0, 1), "arm.L", True),
    ]
    ob, target = rigs.armature(bones, "Crane"), load()
    rigs.goal(ob, "hand.L", target, chain_length=2)
    rigs.live(ob, at=3)

    def symmetrize(edited: bpy.types.ArmatureEditBones) -> None:
        for bone in edited:
            bone.select = bone.select_head = bone.select_tail = bone.name != "mast"
        bpy.ops.armature.symmetrize()

    in_edit_mode(ob, symmetrize)
    rigs.at_frame(4)
    assert "hand.R" in ob.pose.bones
    assert rigs.miss(ob, "hand.L", target) < NEAR
    assert "Traceback" not in "".join(capfd.readouterr())


# -- what else moves the bones -----------------------------------------------------------------------------------------


def slide_of_a_connected_bone(ob: bpy.types.Object) -> None:
    """Blender ignores the location of a connected bone."""
    ob.pose.bones["boom"].dqik_translate = True
    for bone in ("mast", "jib"):
        ob.pose.bones[bone].dqik_lock = True


def constrained(kind: str, **settings: object) -> Callable:
    def add(ob: bpy.types.Object) -> None:
        guide = None if kind.startswith("LIMIT") else rigs.empty((0.3, 0.8, 0.4), "Guide")
        rigs.constrain(ob.pose.bones["boom"], kind, guide, **settings)

    return add


def blenders_ik(ob: bpy.types.Object, stretch: float = 0.0) -> None:
    for bone in ob.pose.bones:
        bone.ik_stretch = stretch
    rigs.blender_ik(ob, "jib", rigs.empty((0.2, 0.9, 0.6), "Lure"), chain_count=2)


MEDDLING = named(
    slide_of_a_connected_bone, blenders_ik, stretched_ik=lambda ob: blenders_ik(ob, 0.5),
    **{kind: constrained(kind) for kind in ("COPY_ROTATION", "DAMPED_TRACK", "STRETCH_TO", "COPY_LOCATION")},
    half_a_copy=constrained("COPY_ROTATION", influence=0.5),
    limits=constrained("LIMIT_ROTATION", use_limit_x=True, max_x=0.1, owner_space="LOCAL"),
    uneven_scale=lambda ob: rigs.put(ob.pose.bones["mast"], scale=(0.6, 1.3, 1.6)),
    scaled_end=lambda ob: rigs.put(ob.pose.bones["jib"], scale=(1.0, 0.5, 2.0)),
    uneven_object=lambda ob: rigs.put(ob, scale=(0.7, 1.2, 1.5)),
    driven_bone=lambda ob: rigs.drive(ob.pose.bones["boom"], "rotation_quaternion", "sin(frame)", 1),
    locked_channels=lambda ob: rigs.put(ob.pose.bones["boom"], lock_rotation=(True, True, True)),
)


@pytest.mark.parametrize("while_live", [False, True])
@pytest.mark.parametrize("meddle", MEDDLING)
def test_what_else_moves_the_bones_is_in_the_report(meddle: Callable, while_live: bool) -> None:
    """Constraints, scale, drivers and settings on the chain: met is what Blender shows to be met."""
    ob, target = reaching()
    ob.pose.bones["boom"].rotation_quaternion = turned((0.1, 0.0, 0.2))
    ob.dqik.live = while_live
    rigs.at_frame(2)
    meddle(ob)
    rigs.live(ob)
    assert told_truly(ob, target)
    for _ in rigs.visited((3, 4, 5, 20, 11)):
        assert told_truly(ob, target)


# -- settings changed after a drag -------------------------------------------------------------------------------------


def limit(ob: bpy.types.Object) -> None:
    for name in ("mast", "boom", "jib"):
        rigs.limit(ob.pose.bones[name], (-2, 2), (-2, 2), (-2, 2))


SETTINGS = named(
    limit, lock=lambda ob: rigs.put(ob.pose.bones["boom"], dqik_lock=True),
    stiffen=lambda ob: [rigs.put(bone, dqik_stiffness=1.0) for bone in ob.pose.bones],
    shorten=lambda ob: rigs.put(ob.dqik.goals[0], chain_length=1),
    other_bone=lambda ob: rigs.put(ob.dqik.goals[0], bone="flag"),
    head_instead=lambda ob: rigs.put(ob.dqik.goals[0], use_tail=False),
    rotation_only=lambda ob: rigs.put(ob.dqik.goals[0], use_rotation=True, use_position=False),
    two_steps=lambda ob: rigs.put(ob.dqik, iterations=2, solver="TRANSPOSE"),
)


@pytest.mark.parametrize("frame_after", [False, True])
@pytest.mark.parametrize("change", SETTINGS)
def test_a_setting_changed_after_a_drag_is_in_the_report(change: Callable, frame_after: bool) -> None:
    """The report is of the settings as they are, not of those with which the target was dragged."""
    ob, target = reaching()
    target.animation_data_clear()
    rigs.live(ob)
    for place in ((0.9, 0.3, 1.2), (0.6, 0.6, 0.9), (0.2, 0.9, 0.7)):
        target.location = place
        rigs.update()
        assert ob.dqik.status.converged
    change(ob)
    rigs.update()
    if frame_after:
        rigs.at_frame(7)
    shown = rigs.evaluated(ob)
    goal, end = ob.dqik.goals[0], shown.pose.bones[ob.dqik.goals[0].bone]
    place = shown.matrix_world @ (end.tail if goal.use_tail else end.head)
    if goal.use_position:
        assert (place - rigs.place(target)).length < NEAR or not ob.dqik.status.converged
    if goal.use_rotation:
        q = (shown.matrix_world @ end.matrix).to_quaternion()
        off = q.rotation_difference(rigs.evaluated(target).matrix_world.to_quaternion()).angle
        assert off < NEAR or not ob.dqik.status.converged


@pytest.mark.parametrize("by_keys", [False, True])
def test_live_off_clears_the_report(by_keys: bool) -> None:
    """No goal is met by bones that have gone back to the pose from before."""
    ob, _ = reaching()
    if by_keys:
        rigs.key_path(ob.dqik, (1, 10), (True, False), "live")
    rigs.live(ob, at=9)
    assert ob.dqik.status.converged
    rigs.at_frame(10) if by_keys else rigs.live(ob, False)
    assert not ob.dqik.status.converged


@pytest.mark.parametrize("hide", ["rest", "unlinked"])
def test_an_armature_that_is_not_solved_does_not_say_that_it_is(hide: str) -> None:
    """In rest position, or with the goals removed by a script, there is nothing that was met."""
    ob, target = reaching()
    rigs.live(ob, at=5)
    if hide == "rest":
        ob.data.pose_position = "REST"
    else:
        ob.dqik.goals[0].target = None
    rigs.update()
    rigs.at_frame(6)
    assert told_truly(ob, target)


def test_a_linked_armature_says_what_blender_shows(tmp_path: Path) -> None:
    """Linked without an override: either it is solved, or it says that it is not."""
    ob, _ = reaching()
    rigs.live(ob, at=5)
    ob, target = linked_from(tmp_path / "library.blend")
    for _ in rigs.visited((9, 20, 21, 22)):
        assert told_truly(ob, target)


def test_keyed_bones_beside_a_goal_out_of_reach_are_not_said_to_meet_it() -> None:
    """A target that leaves the crane's reach is missed, and is met again when it comes back."""
    ob, target = crane(), load()
    rigs.goal(ob, "jib", target)
    key_turns(ob, "boom")
    rigs.keyed(target, 10, location=(9, 0, 0))
    ob.dqik.live = True
    pose_at(ob, 10)
    assert not ob.dqik.status.converged
    assert ob.dqik.status.error > 5.0
    pose_at(ob, 5)
    assert ob.dqik.status.converged
    assert rigs.miss(ob, "jib", target) < NEAR
