# SPDX-License-Identifier: GPL-3.0-or-later
"""Control bones: the targets of Set Up Full Body as bones of the same armature."""

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Matrix, Vector
from situations import linked_from

HEIGHT = 1.8
STILL = 5e-4  # of the height, by which Live may move a figure that nobody touched
MET = 2e-3
BENDS = {
    "hips": (5, 5, 0), "spine": (10, 10, 0), "chest": (5, 10, 4), "head": (0, 20, 5), "arm.L": (0, 0, -70),
    "arm.R": (0, 0, 70), "forearm.L": (10, 0, -40), "hand.L": (10, 0, -20), "thigh.L": (-40, 0, 0),
    "shin.L": (60, 0, 0), "thigh.R": (-10, 5, 0), "shin.R": (25, 0, 0), "foot.L": (-10, 0, 0),
}  # fmt: skip


def posed(ob: bpy.types.Object) -> bpy.types.Object:
    """A lunge with one straight arm."""
    for name, angles in BENDS.items():
        rigs.posed(ob.pose.bones[name], Euler([radians(angle) for angle in angles]).to_quaternion())
    ob.pose.bones["hips"].location = (0.05, 0.02, -0.1)
    rigs.update()
    return ob


def in_centimetres(ob: bpy.types.Object) -> bpy.types.Object:
    """The figure as FBX brings it: 100 times as large in an object of 1 %, turned and moved."""
    rigs.reshape(ob, lambda _, at: 100 * at)
    ob.matrix_world = Matrix.LocRotScale((5, 3, 1), Euler((0.3, 0.2, 2.1)), (0.01, 0.01, 0.01))
    rigs.update()
    return ob


def control(ob: bpy.types.Object, bone: str) -> bpy.types.PoseBone:
    """The control bone of a bone's goal."""
    goal = rigs.goal_of(ob, bone)
    assert goal.target == ob
    return ob.pose.bones[goal.subtarget]


def shift(ob: bpy.types.Object, bone: str, way: tuple[float, float, float]) -> None:
    """Move the control of a bone by a way in the world."""
    own = control(ob, bone)
    rigs.update()
    own.matrix = ob.matrix_world.inverted() @ Matrix.Translation(way) @ ob.matrix_world @ own.matrix
    rigs.update()


def places(ob: bpy.types.Object) -> dict[str, Vector]:
    """World positions of the heads of the figure's own bones."""
    return {bone.name: rigs.head(ob, bone.name) for bone in ob.pose.bones if bone.bone.use_deform}


def moved(before: dict[str, Vector], after: dict[str, Vector]) -> float:
    return max((before[name] - after[name]).length for name in before)


def contents(ob: bpy.types.Object) -> tuple:
    """What Set Up may change, to find it as it was."""
    return (
        [bone.name for bone in ob.data.bones], [one.name for one in ob.data.collections_all],
        sorted(other.name for other in bpy.data.objects), sorted(mesh.name for mesh in bpy.data.meshes),
        sorted(one.name for one in bpy.data.collections), rigs.channels(ob).tolist(),
        [(bone.dqik_translate, bone.dqik_stiffness, bone.dqik_use_limits) for bone in ob.pose.bones],
    )  # fmt: skip


def test_controls_stand_at_rest_where_their_bones_do_and_do_not_deform() -> None:
    """They have shapes, colours and a collection of their own, and names that Blender mirrors."""
    ob = rigs.figure()
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert ob.mode == "POSE"
    names = {"DQIK hand.L", "DQIK hand.R", "DQIK foot.L", "DQIK foot.R", "DQIK head", "DQIK hips"}
    assert {bone.name for bone in ob.data.collections_all["DQIK"].bones} == {*names, "DQIK head pivot"}
    for goal in ob.dqik.goals:
        bone, own = ob.data.bones[goal.subtarget], ob.data.bones[goal.bone]
        assert np.allclose(bone.matrix_local, own.matrix_local, atol=1e-5)
        assert not bone.use_deform
        assert bone.color.palette != "DEFAULT"
        assert ob.pose.bones[bone.name].custom_shape is not None
        assert bpy.utils.flip_name(bone.name) in names


@pytest.mark.parametrize("prepare", [
    lambda ob: ob, posed, rigs.with_root, lambda ob: posed(rigs.with_root(ob)), in_centimetres,
    lambda ob: posed(in_centimetres(ob)),
])  # fmt: skip
@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_a_figure_that_nobody_touched_stands_still(prepare, targets: str) -> None:
    """In any pose, on any rig, Set Up and Live move nothing."""
    ob = prepare(rigs.figure())
    before = places(ob)
    bpy.ops.dqik.setup_full_body(targets=targets)
    rigs.update()
    assert moved(before, places(ob)) < 1e-6 * HEIGHT
    rigs.live(ob)
    assert moved(before, places(ob)) < STILL * HEIGHT
    assert ob.dqik.status.converged


def one_by_one(ob: bpy.types.Object) -> None:
    while ob.dqik.goals:
        assert bpy.ops.dqik.goal_remove() == {"FINISHED"}


def all_at_once(ob: bpy.types.Object) -> None:
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not ob.dqik.goals


@pytest.mark.parametrize("remove", [one_by_one, all_at_once])
def test_removing_the_goals_leaves_the_file_as_it_was(remove: Callable[[bpy.types.Object], None]) -> None:
    """Also when the controls have keys: their curves go with them, other curves stay."""
    ob = posed(rigs.figure())
    rigs.update()
    ob.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=1)
    before = contents(ob)
    bpy.ops.dqik.setup_full_body()
    control(ob, "hand.L").keyframe_insert("location", frame=1)
    remove(ob)
    assert contents(ob) == before
    assert {curve.data_path for curve in rigs.fcurves(ob)} == {'pose.bones["chest"].rotation_quaternion'}


def test_removing_empties_leaves_the_file_as_it_was() -> None:
    """Empties and their collection go too; an empty that another goal uses stays."""
    ob = rigs.figure()
    before = contents(ob)
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    rigs.goal(ob, "chest", ob.dqik.goals[0].target)
    shared = ob.dqik.goals[0].target.name
    for _ in range(6):
        bpy.ops.dqik.goal_remove(index=0)
    assert [name for name in contents(ob)[2] if name not in before[2]] == [shared]
    bpy.data.objects.remove(bpy.data.objects[shared])
    bpy.data.collections.remove(bpy.data.collections["Figure targets"])
    bpy.ops.dqik.goal_remove(index=0)
    assert contents(ob) == before


def test_an_empty_of_add_goal_goes_when_another_target_is_chosen() -> None:
    """But one that has keys stays, and one that another goal or a copy of the figure uses until that lets it go."""
    ob, own = rigs.figure(), rigs.empty((0, 0, 1))
    for bone in ("hand.L", "hand.R", "head"):
        bpy.ops.dqik.goal_add(bone=bone)
    first, keyed, shared = (goal.target.name for goal in ob.dqik.goals)
    bpy.data.objects[keyed].keyframe_insert("location", frame=1)
    copy = ob.copy()
    bpy.context.collection.objects.link(copy)
    copy.dqik.goals[0].target = copy.dqik.goals[1].target = own
    assert first in bpy.data.objects
    for goal in ob.dqik.goals:
        goal.target = own
    assert [name for name in (first, keyed, shared) if name in bpy.data.objects] == [keyed, shared]
    copy.dqik.goals[2].target = None
    assert shared not in bpy.data.objects


def test_settings_that_the_user_changed_since_stay() -> None:
    """Only what Set Up made goes back."""
    ob = rigs.figure()
    ob.pose.bones["collar.L"].dqik_stiffness = 0.25
    bpy.ops.dqik.setup_full_body()
    assert ob.pose.bones["collar.L"].dqik_stiffness == 0.25
    ob.pose.bones["collar.R"].dqik_stiffness = 0.5
    while ob.dqik.goals:
        bpy.ops.dqik.goal_remove()
    assert [ob.pose.bones[name].dqik_stiffness for name in ("collar.L", "collar.R", "spine")] == [0.25, 0.5, 0.0]


def test_a_second_press_changes_nothing() -> None:
    ob = rigs.set_up(posed(rigs.figure()), False)
    before = contents(ob), [goal.subtarget for goal in ob.dqik.goals]
    bpy.ops.dqik.setup_full_body()
    assert (contents(ob), [goal.subtarget for goal in ob.dqik.goals]) == before


def test_a_linked_armature_gets_empties(tmp_path: Path) -> None:
    """Bones cannot be added to data that two files share; here the data is an override's."""
    rigs.figure()
    (linked,) = linked_from(tmp_path / "figure.blend", ["Figure"])
    ob = rigs.made_active(linked.override_create(remap_local_usages=True))
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {goal.target.type for goal in ob.dqik.goals} == {"EMPTY"}


@pytest.mark.parametrize("way", [(-0.3, -0.9, 0.0), (-0.4, -0.2, 0.9), (0.3, -0.6, -0.6), (-1.5, -0.6, 0.2),
                                 (-0.5, -0.3, -1.2)])  # fmt: skip
def test_a_hand_out_of_reach_lifts_no_foot_and_turns_its_collar_no_further(way: tuple[float, float, float]) -> None:
    """Feet stay within a millimetre, the other hand and the head within a thousandth of the height.

    The collar's limits are those that Set Up made. A collar bone that stands beyond them stays as it is.
    """
    ob = rigs.figure()
    rigs.posed(ob.pose.bones["collar.R"], Euler((0.0, 0.0, radians(-40.0))).to_quaternion())
    rigs.update()
    rigs.set_up(ob)
    assert rigs.local_rotation(ob, "collar.R").angle == pytest.approx(radians(40.0), abs=1e-3)
    before = places(ob)
    shift(ob, "hand.L", way)
    after = places(ob)
    assert (after["hand.L"] - before["hand.L"]).length > 0.2
    for name, most in {"foot.L": 1e-3, "foot.R": 1e-3, "hand.R": 1e-3 * HEIGHT, "head": 1e-3 * HEIGHT}.items():
        assert (after[name] - before[name]).length < most, name
    assert radians(5.0) < rigs.local_rotation(ob, "collar.L").angle < radians(20.5)


@pytest.mark.parametrize("way", [(-0.5, -0.35, 0.35), (-0.6, -0.4, 0.0), (-0.35, -0.35, -0.35), (-0.2, 0.2, -0.3)])
def test_the_collar_turns_little_in_ordinary_reaches(way: tuple[float, float, float]) -> None:
    """Up, across, to a table and behind: the hand arrives and the collar turns by at most 20 degrees."""
    ob = rigs.set_up(rigs.figure())
    shift(ob, "hand.L", way)
    assert (rigs.head(ob, "hand.L") - rigs.head(ob, "DQIK hand.L")).length < MET
    assert rigs.local_rotation(ob, "collar.L").angle < radians(20.0)


def test_limits_of_the_user_and_keyed_collars_are_left_alone() -> None:
    ob = rigs.figure()
    left, right = (ob.pose.bones[f"collar.{side}"] for side in "LR")
    rigs.limit(left, (-30, 30), (-50, 50), (-50, 50))
    right.keyframe_insert("rotation_quaternion", frame=1)
    bpy.ops.dqik.setup_full_body()
    assert left.dqik_swing_x_max == pytest.approx(radians(50.0))
    assert not right.dqik_use_limits
    while ob.dqik.goals:
        bpy.ops.dqik.goal_remove()
    assert left.dqik_use_limits


def test_keyed_hips_stay_on_their_keys() -> None:
    """Set Up leaves them where their curves put them, on other frames too; the hands still reach."""
    ob = rigs.figure()
    hips = ob.pose.bones["hips"]
    rigs.key_path(hips, (1, 10), [(0.0, height, 0.0) for height in (0.0, -0.12)])
    rigs.at_frame(1)
    bpy.ops.dqik.setup_full_body()
    for goal in ob.dqik.goals:
        goal.mute = goal.bone not in ("hips", "foot.L", "foot.R")
    ob.dqik.live = True
    for frame in rigs.visited((1, 4, 7, 10)):
        wanted = [curve.evaluate(frame) for curve in rigs.fcurves(ob) if curve.data_path.endswith('["hips"].location')]
        assert (rigs.evaluated(ob).pose.bones["hips"].location - Vector(wanted)).length < 2e-3
        assert (rigs.head(ob, "foot.L") - rigs.head(ob, "DQIK foot.L")).length < MET


def test_a_goal_of_the_user_that_moves_the_root_leaves_it_to_the_controls() -> None:
    """A chain to the root would make every control follow a solved bone: the root is left out."""
    ob = rigs.set_up(rigs.with_root(rigs.figure()), False)
    rigs.reach(ob, "chest", rigs.empty((0, 0.1, 1.3)), chain_length=0)
    assert "follows" not in ob.dqik.status.message
    assert rigs.local_rotation(ob, "root").angle < 1e-6


@pytest.mark.parametrize("way", [(0.1, 0.0, 0.0), (1.5, -2.0, 0.3)])
@pytest.mark.parametrize("natural_pose", [0.0, 1.0])
def test_a_body_whose_controls_are_dragged_together_goes_along_exactly(natural_pose: float, way: tuple) -> None:
    ob = rigs.set_up(posed(rigs.figure()), False)
    ob.dqik.live, ob.dqik.natural_pose = True, natural_pose
    rigs.update()
    before = places(ob)
    for goal in ob.dqik.goals:
        if control(ob, goal.bone).parent is None:
            shift(ob, goal.bone, way)
    assert max((place - before[name] - Vector(way)).length for name, place in places(ob).items()) < 2e-6


@pytest.mark.parametrize("prepare", [lambda ob: ob, rigs.with_root, in_centimetres])
def test_a_foot_that_is_keyed_at_one_place_does_not_slide(prepare) -> None:
    """It comes from behind, is set down on its heel, and stays while it becomes flat."""
    ob = rigs.set_up(prepare(rigs.figure()), False)
    own = control(ob, "foot.L")
    turned = ob.matrix_world.to_3x3().normalized()
    up, back = turned @ Vector((0, 0, 0.01)), turned @ Vector((0, 0.3, 0))
    for frame, way, angle in ((1, back + 9 * up, 0.4), (9, up, -0.2), (17, Vector(), 0.0)):
        own.matrix_basis = Matrix()
        shift(ob, "foot.L", way)
        own.rotation_quaternion = Euler((angle, 0, 0)).to_quaternion()
        rigs.key(own, frame)
    at = [turned.transposed() @ rigs.head(ob, own.name) for _ in rigs.visited(range(9, 18))]
    assert max((one - at[0]).xy.length for one in at) < 1e-5


def test_targets_put_to_a_pose_stand_exactly_there_also_the_head_that_hangs_on_the_hips() -> None:
    """Its control hangs on that of the hips by a bone between them: Live moves nothing afterwards."""
    ob = rigs.set_up(rigs.figure(), False)
    rigs.posed(ob.pose.bones["hips"], Euler([0.002, 0.001, 0.002]).to_quaternion())
    rigs.posed(ob.pose.bones["arm.R"], Euler([0.1, 0.0, 0.6]).to_quaternion())
    ob.pose.bones["hips"].location = (0.0008, -0.0006, -0.0006)
    rigs.update()
    before = places(ob)
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    rigs.live(ob)
    assert moved(before, places(ob)) < 1e-6 * HEIGHT


def test_a_range_of_targets_put_to_a_pose_stands_exactly_there() -> None:
    """On each frame of a motion that moves and turns the hips, and that is the pose at rest on the first one."""
    ob = rigs.set_up(rigs.figure(), False)
    hips, frames = ob.pose.bones["hips"], range(1, 7)
    for frame in frames:
        hips.location = (0.02 * (frame - 1), -0.03 * (frame - 1), 0.0)
        rigs.posed(hips, Euler([0.05 * (frame - 1), 0.0, 0.0]).to_quaternion())
        rigs.key(hips, frame)
    motion = [places(ob) for _ in rigs.visited(frames)]
    assert bpy.ops.dqik.targets_to_pose(use_range=True, frame_start=1, frame_end=6) == {"FINISHED"}
    ob.dqik.live = True
    for frame, before in zip(frames, motion, strict=True):
        rigs.at_frame(frame)
        assert moved(before, places(ob)) < 1e-6 * HEIGHT
