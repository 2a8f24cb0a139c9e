# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose: the body poses itself as far as goals, keys, holds and locks leave it open."""

from math import cos, radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion, Vector
from situations import reopened

FRAMES = range(1, 25)
ENDS = ("hand.L", "hand.R", "head", "foot.L", "foot.R")


def acting_figure(live: bool = True, **settings: object) -> bpy.types.Object:
    """A figure whose hands, feet and head follow moving empties: it reaches forward, lifts a foot and nods."""
    ob = rigs.figure()
    rigs.rotate_by(ob, "QUATERNION")
    for name in ENDS:
        rest, sign = rigs.tail(ob, name), 1.0 if name.endswith("L") else -1.0
        target = rigs.empty(rest, name)
        rigs.key_path(target, FRAMES, [rest + way(name.split(".")[0], sign, frame / FRAMES[-1]) for frame in FRAMES])
        rigs.goal(ob, name, target, chain_length={"hand": 6, "head": 4, "foot": 3}[name.split(".")[0]])
    for name, value in settings.items():
        setattr(ob.dqik, name, value)
    ob.dqik.live = live
    rigs.at_frame(FRAMES[0])
    return rigs.made_active(ob)


def way(end: str, sign: float, share: float) -> Vector:
    """How far an end has gone from its place at rest."""
    swing = sin(6.0 * share + (0.0 if sign > 0.0 else 2.0))
    if end == "hand":
        return Vector((-sign * 0.55 * share, -0.35 * share + 0.06 * swing, -0.25 * share + 0.1 * swing))
    if end == "foot":
        return Vector((0.0, -0.15 * swing * share, 0.1 + 0.1 * cos(6.0 * share))) * share
    return Vector((0.0, -0.04 * share, -0.01 * share))


def furthest(one: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> float:
    """The largest turn [rad] of a bone between the same frames."""
    return max(rigs.turn(one[frame], other[frame]) for frame in one)


def off(ob: bpy.types.Object, name: str, wanted) -> float:
    """The angle [rad] by which the evaluated bone is turned from a rotation."""
    return rigs.local_rotation(ob, name).rotation_difference(wanted).angle


# -- what it does -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS", "REST"])
def test_goals_are_met_as_without(start_from: str) -> None:
    """Goals that are within reach are met with it."""
    ob = acting_figure(start_from=start_from)
    for frame in rigs.visited(FRAMES):
        for name in ENDS:
            assert rigs.miss(ob, name, bpy.data.objects[name]) < 5e-4, (frame, name)


def test_the_amount_can_be_keyed() -> None:
    """Frames show the amount that is keyed there, in between it blends, and each frame is as with that amount alone."""
    ob = acting_figure()
    poses = {}
    for amount in (1.0, 0.5, 0.0):
        ob.dqik.natural_pose = amount
        poses[amount] = rigs.poses(ob, FRAMES)
    rigs.key_path(ob.dqik, (5, 15), (0.0, 1.0), "natural_pose")
    rigs.interpolate(ob, "LINEAR")
    shown = rigs.poses(ob, [20, 4, 10, 15, 5, 16])
    expected = {20: 1.0, 15: 1.0, 16: 1.0, 10: 0.5, 4: 0.0, 5: 0.0}
    for frame, amount in expected.items():
        assert rigs.turn(shown[frame], poses[amount][frame]) < 1e-5, frame
    away = [rigs.turn(poses[amount][20], poses[0.0][20]) for amount in (0.5, 1.0)]
    assert 0.0 < away[0] < away[1]


# -- who stands above it ----------------------------------------------------------------------------------------------


def test_keyed_and_locked_bones_keep_their_pose() -> None:
    """A chest that is keyed stays on its keys, as firmly as without; a locked bone does not move at all."""
    chest, arm = rigs.rotation((0.2, 1.0, 0.1), 20.0), rigs.rotation((0.0, 0.3, 1.0), -30.0)
    turns = {}
    for amount in (0.0, 1.0):
        rigs.new_file()
        ob = acting_figure(live=False, natural_pose=amount)
        rigs.posed(ob.pose.bones["chest"], chest, 1)
        rigs.posed(ob.pose.bones["arm.R"], arm)
        ob.pose.bones["arm.R"].dqik_lock = True
        rigs.live(ob, at=12)
        turns[amount] = off(ob, "chest", chest)
        assert off(ob, "arm.R", arm) < 1e-5
    assert turns[1.0] < turns[0.0] + radians(1.0)


def test_a_bone_posed_by_hand_keeps_its_pose() -> None:
    """An upper arm that the user turns stays as it is turned as far as the goal permits, as without natural pose."""
    posed = rigs.rotation((0.0, 0.3, 1.0), -60.0)
    turns = {}
    for amount in (0.0, 1.0):
        rigs.new_file()
        ob = acting_figure(natural_pose=amount)
        rigs.at_frame(12)
        rigs.pose(ob, "arm.L", posed)
        assert ob.pose.bones["arm.L"].dqik_hold == 1.0
        turns[amount] = off(ob, "arm.L", posed)
    assert turns[1.0] < turns[0.0] + radians(1.0)


def test_a_pole_says_where_the_elbow_points() -> None:
    """With a pole behind and above the figure the elbow points there, with the natural pose as without."""
    ob = acting_figure(live=False)
    pole = rigs.empty((0.6, 1.0, 2.4), "Pole")
    ob.dqik.goals["hand.L"].chain_length, ob.dqik.goals["hand.L"].pole_target = 3, pole
    rigs.live(ob, at=20)
    shoulder, elbow, end = rigs.head(ob, "arm.L"), rigs.head(ob, "forearm.L"), rigs.tail(ob, "hand.L")
    line = (end - shoulder).normalized()
    across = [point - shoulder - line * (point - shoulder).dot(line) for point in (elbow, rigs.place(pole))]
    assert across[0].angle(across[1]) < radians(3.0)


@pytest.mark.parametrize("amount", [0.0, 1.0])
@pytest.mark.parametrize("sideways", [-0.06, 0.06])
def test_a_head_out_of_reach_leaves_hands_and_feet_alone(amount: float, sideways: float) -> None:
    """The head is pulled away from a hand that stretches out at rest: the others stay within 0.1 % of the height."""
    ob = rigs.made_active(rigs.figure())
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    ob.dqik.natural_pose, ob.dqik.live = amount, True
    height = rigs.head(ob, "head").z
    target = rigs.goal_of(ob, "head").target
    before = {name: rigs.head(ob, name) for name in ENDS if name != "head"}
    target.location.x += sideways * height
    assert rigs.miss(ob, "head", target) > 0.01 * height
    assert max((rigs.head(ob, name) - place).length for name, place in before.items()) < 1e-3 * height


# -- which figures it knows -------------------------------------------------------------------------------------------


def test_a_role_that_the_user_takes_away_is_seen_at_once() -> None:
    """Without arms and legs nothing is known, and the panel can say so; with them again it is as before."""
    ob = acting_figure()
    rigs.at_frame(20)
    before = rigs.matrices(ob)
    limbs = [f"{part}.{side}" for part in ("arm", "forearm", "thigh", "shin") for side in "LR"]
    assert not ob.dqik.natural_pose_refusal
    for name in limbs:
        ob.pose.bones[name].dqik_role = "NONE"
    rigs.update()
    assert ob.dqik.natural_pose_refusal
    assert rigs.turn(before, rigs.matrices(ob)) > radians(1.0)
    for name in limbs:
        ob.pose.bones[name].dqik_role = "AUTO"
    rigs.update()
    assert not ob.dqik.natural_pose_refusal
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-5


# -- a character's own way --------------------------------------------------------------------------------------------

LEARNT, UNSEEN = range(1, 61), range(61, 91)


def own_way(frame: int) -> dict[str, Quaternion]:
    """How a character of its own moves: with high elbows, a turned chest and knees out."""
    turns: dict[str, Quaternion] = {"chest": rigs.rotation((0, 1, 0), 12.0 * sin(0.23 * frame))}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        swing, bend = sin(0.31 * frame + sign), sin(0.17 * frame - sign)
        out = rigs.rotation((0, 1, 0), 25.0 * sign)
        turns[f"arm.{side}"] = out @ rigs.rotation((0, 0, 1), -sign * (40.0 + 15.0 * swing))
        turns[f"forearm.{side}"] = rigs.rotation((0, 0, 1), -sign * (70.0 + 25.0 * bend))
        turns[f"thigh.{side}"] = out @ rigs.rotation((1, 0, 0), 25.0 + 10.0 * swing)
        turns[f"shin.{side}"] = rigs.rotation((1, 0, 0), -45.0 - 15.0 * swing)
    return turns


def character() -> bpy.types.Object:
    """A figure with an action of its own way over `LEARNT`, and targets where that way has its ends over `UNSEEN`."""
    ob = rigs.figure()
    rigs.rotate_by(ob, "QUATERNION")
    for frame in LEARNT:
        for name, turn in own_way(frame).items():
            rigs.posed(ob.pose.bones[name], turn)
        for bone in ob.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    ob.animation_data.action.name = "Own way"
    ob.animation_data.action.use_fake_user = True
    ob.animation_data_clear()
    targets = {name: rigs.empty((0, 0, 0), name) for name in ENDS}
    for frame in UNSEEN:
        for name, turn in own_way(frame).items():
            rigs.posed(ob.pose.bones[name], turn)
        rigs.update()
        for name, target in targets.items():
            rigs.keyed(target, frame, location=rigs.tail(ob, name))
    for bone in ob.pose.bones:
        bone.matrix_basis.identity()
    for name, target in targets.items():
        rigs.goal(ob, name, target, chain_length={"hand": 6, "head": 4, "foot": 3}[name.split(".")[0]])
    rigs.live(ob, at=UNSEEN[0])
    return rigs.made_active(ob)


def away(ob: bpy.types.Object) -> float:
    """The mean angle [degrees] of the moving bones from the character's own way, over frames it has not learnt from."""
    found = []
    for frame in rigs.visited(UNSEEN):
        found += [np.degrees(off(ob, name, turn)) for name, turn in own_way(frame).items()]
    return float(np.mean(np.minimum(found, 360.0 - np.array(found))))


@pytest.mark.parametrize("actions", ["", "Own way"])
def test_learning_brings_it_nearer_to_the_characters_own_way(actions: str) -> None:
    """By a quarter at least, on frames that were not learnt from; the share says how much of it."""
    ob = character()
    shipped = away(ob)
    assert bpy.ops.dqik.learn_from_actions(actions=actions) == {"FINISHED"}
    learnt = away(ob)
    assert learnt < 0.75 * shipped
    ob.dqik.own_motion_share = 0.0
    assert abs(away(ob) - shipped) < 0.01
    ob.dqik.own_motion_share = 0.5
    assert learnt < away(ob) < shipped


def test_an_action_teaches_as_much_while_it_plays() -> None:
    """Keys keep bones from the natural pose, but not from learning; and a key on one bone leaves the others theirs."""
    ob = character()
    ob.animation_data_create().action = bpy.data.actions["Own way"]
    rigs.at_frame(LEARNT[3])
    assert bpy.ops.dqik.learn_from_actions() == {"FINISHED"}
    playing = ob.dqik.own_motion
    ob.animation_data_clear()
    rigs.at_frame(UNSEEN[0])
    shipped = (setattr(ob.dqik, "own_motion_share", 0.0), away(ob))[1]
    ob.dqik.own_motion_share = 1.0
    assert away(ob) < 0.75 * shipped
    assert bpy.ops.dqik.learn_from_actions() == {"FINISHED"}
    assert len(ob.dqik.own_motion) == len(playing)
    ob.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=UNSEEN[0])
    poses = [(setattr(ob.dqik, "own_motion_share", share), rigs.poses(ob, [75]))[1] for share in (0.0, 1.0)]
    assert furthest(*poses) > radians(2.0)


def test_what_was_learnt_survives_saving_copying_and_undo(tmp_path: Path) -> None:
    """A saved file, a copy of the object, and undo and redo show the same frames."""
    ob = character()
    shipped = rigs.poses(ob, [75])
    bpy.ops.ed.undo_push(message="Set up")
    bpy.ops.dqik.learn_from_actions()
    learnt = rigs.poses(ob, [75])
    assert furthest(shipped, learnt) > radians(2.0)
    bpy.ops.ed.undo_push(message="Learnt")
    bpy.ops.ed.undo()
    assert furthest(shipped, rigs.poses(bpy.data.objects["Figure"], [75])) < 1e-5
    bpy.ops.ed.redo()
    ob = bpy.data.objects["Figure"]
    assert furthest(learnt, rigs.poses(ob, [75])) < 1e-5
    reopened(tmp_path / "learnt.blend")
    ob = bpy.data.objects["Figure"]
    assert furthest(learnt, rigs.poses(ob, [75])) < 1e-5
    copy = ob.copy()
    bpy.context.scene.collection.objects.link(copy)
    ob.dqik.live = False
    assert furthest(learnt, rigs.poses(copy, [75])) < 1e-5


@pytest.mark.parametrize(
    ("actions", "words"), [("Nowhere", "no action 'Nowhere'"), ("Other", "turns none"), ("", "No action turns most")]
)
def test_learning_says_why_it_cannot(actions: str, words: str) -> None:
    """An action that is not there, that is of something else, or none at all."""
    ob = character()
    bpy.data.actions.remove(bpy.data.actions["Own way"])
    other = rigs.empty((0, 0, 0), "Other")
    other.keyframe_insert("location", frame=1)
    other.animation_data.action.name = "Other"
    rigs.refuses(bpy.ops.dqik.learn_from_actions, words, actions=actions)
    assert not ob.dqik.own_motion


def test_what_was_learnt_for_another_rig_is_left_out() -> None:
    """After a change of the goals that makes it unfit, frames are as with what is shipped."""
    ob = character()
    bpy.ops.dqik.learn_from_actions()
    for share in (1.0, 0.0):
        ob.dqik.own_motion_share = share
        ob.dqik.goals["hand.R"].mute = True
        rigs.at_frame(70)
        if share:
            poses = rigs.poses(ob, [75, 80])
    assert furthest(poses, rigs.poses(ob, [75, 80])) < 1e-6


def test_a_file_from_before_the_natural_pose_keeps_what_was_set(tmp_path: Path) -> None:
    """Where nothing was set it opens without it, as tests/blender/bake/test_landed_files.py sees; one of today with."""
    acting_figure()
    reopened(tmp_path / "figure.blend")
    ob = bpy.data.objects["Figure"]
    assert ob.dqik.natural_pose == 1.0
    ob.dqik.natural_pose = 0.7
    ob.dqik.property_unset("version")  # as if an earlier version had made the goals
    reopened(tmp_path / "figure.blend")
    assert bpy.data.objects["Figure"].dqik.natural_pose == pytest.approx(0.7)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_was_used_on_a_figure_without_goals_set_up_gives_the_natural_pose(seed: int, tmp_path: Path) -> None:
    """Settings at random, and tools for motions; then saved and opened, appended, or undone and redone."""
    random = np.random.default_rng(seed)
    ob = rigs.made_active(rigs.figure())
    rigs.key_path(ob.pose.bones["thigh.L"], (1, 24),
                  [Quaternion((1, 0, 0), turn) for turn in (-0.4, 0.4)], "rotation_quaternion")  # fmt: skip
    free = [one for one in ob.dqik.bl_rna.properties if one.type in ("BOOLEAN", "FLOAT", "INT") and not one.is_readonly]
    free = [one.identifier for one in free if one.identifier not in ("natural_pose", "version", "live")]
    for name in random.choice(free, size=5, replace=False).tolist():
        setattr(ob.dqik, name, getattr(ob.dqik, name))
    for tool in random.permutation(["contacts_find", "mend_motion"])[: random.integers(1, 3)].tolist():
        getattr(bpy.ops.dqik, tool)(frame_start=1, frame_end=24)
    if seed % 3 == 2:
        for message in ("one", "two"):
            bpy.ops.ed.undo_push(message=message)
        bpy.ops.ed.undo()
        bpy.ops.ed.redo()
    else:
        path = str(tmp_path / "figure.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        if seed % 3:
            rigs.new_file()
            with bpy.data.libraries.load(path, link=False) as (_, wanted):
                wanted.objects = ["Figure"]
            bpy.context.scene.collection.objects.link(wanted.objects[0])
        else:
            bpy.ops.wm.open_mainfile(filepath=path)
    rigs.update()
    ob = rigs.made_active(bpy.data.objects["Figure"])
    assert bpy.ops.dqik.setup_full_body(from_animation=False) == {"FINISHED"}
    assert ob.dqik.natural_pose == 1.0
