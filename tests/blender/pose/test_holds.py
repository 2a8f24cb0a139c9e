# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds: bones posed by hand or keyed stay as they are, as far as the goals permit."""

from math import cos, degrees, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from planted import TURNED, assert_planted, off, planted_figure


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
@pytest.mark.parametrize("solver", ["PGS", "DLS"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_bone_posed_by_hand_stays_as_posed(start_from: str, solver: str, mode: str) -> None:
    """A chest turned far stays within a degree, at once and on other frames, and hands and feet stay planted."""
    ob = planted_figure(start_from=start_from, solver=solver)
    ob.pose.bones["chest"].rotation_mode = mode
    rigs.update()
    rigs.pose(ob, "chest", TURNED)
    assert ob.pose.bones["chest"].dqik_hold == 1.0
    assert off(ob, "chest") < 1.0
    assert_planted(ob)
    for _ in rigs.visited((2, 3, 9)):
        assert off(ob, "chest") < 1.0
        assert_planted(ob)
    assert [bone.name for bone in ob.pose.bones if bone.dqik_hold] == ["chest"]


@pytest.mark.parametrize("moved", [(0.0, 0.0, 0.0), (0.12, -0.2, 0.1)])
def test_a_bone_posed_by_hand_stays_as_it_is_seen(moved: tuple) -> None:
    """The spine and the hips do not turn a chest back, whether or not the goals have turned them before."""
    ob = planted_figure()
    bpy.data.objects["forearm.L"].location += rigs.Vector(moved)
    rigs.update()
    for step in (TURNED, rigs.rotation((1, 0, 0), 10.0), rigs.rotation((0, 0, 1), -15.0)):
        pose = rigs.evaluated(ob).pose.bones
        seen, wanted = pose["spine"].matrix.to_quaternion(), pose["chest"].matrix.to_quaternion() @ step
        rigs.posed(ob.pose.bones["chest"], rigs.local_rotation(ob, "chest") @ step)
        pose = rigs.evaluated(ob).pose.bones
        assert degrees(pose["chest"].matrix.to_quaternion().rotation_difference(wanted).angle) < 1.0
        assert degrees(pose["spine"].matrix.to_quaternion().rotation_difference(seen).angle) < 1.0
        assert_planted(ob)


def test_a_forearm_posed_by_hand_does_not_hold_the_trunk() -> None:
    """Bones that serve one goal alone are held by themselves."""
    ob = planted_figure()
    rigs.posed(ob.pose.bones["forearm.R"], rigs.local_rotation(ob, "forearm.R") @ rigs.rotation((0, 1, 0), 20.0))
    before = rigs.matrices(ob)
    bpy.data.objects["forearm.L"].location += rigs.Vector((0.25, -0.35, 0.1))
    rigs.update()
    assert_planted(ob)
    spine = ob.pose.bones.find("spine")
    assert rigs.turn(before[spine : spine + 1], rigs.matrices(ob)[spine : spine + 1]) > radians(2.0)


def test_a_bone_posed_after_a_mirrored_paste_that_changed_nothing_is_held() -> None:
    """The figure is its own mirror image: the paste brings the other side's base poses along, and no pose."""
    ob = planted_figure()
    before = rigs.matrices(ob)
    rigs.paste_mirrored(ob)
    assert np.abs(rigs.matrices(ob) - before).max() < 1e-6
    rigs.pose(ob, "chest", TURNED)
    assert ob.pose.bones["chest"].dqik_hold == 1.0
    assert off(ob, "chest") < 1.0


def test_hips_moved_by_hand_stay_where_they_are() -> None:
    """A bone that may move is held in its place, too."""
    ob = planted_figure()
    ob.pose.bones["hips"].location = (0.06, -0.1, 0.05)
    rigs.update()
    assert ob.pose.bones["hips"].dqik_hold == 1.0
    np.testing.assert_allclose(ob.pose.bones["hips"].location, (0.06, -0.1, 0.05), atol=2e-3)
    assert_planted(ob)


def test_a_location_that_no_goal_moves_makes_no_hold() -> None:
    """A solved bone that only turns in the solve is not held when it is moved by hand."""
    ob = planted_figure()
    ob.pose.bones["collar.L"].location = (0.01, 0.0, 0.01)
    rigs.update()
    assert ob.pose.bones["collar.L"].dqik_hold == 0.0


def test_clearing_the_rotation_clears_the_hold_and_keeps_the_base_pose_of_the_bones_above() -> None:
    """Alt R takes the hold away, and the bone follows the goals again, however these pull its spine meanwhile."""
    ob = planted_figure()
    before, bones = rigs.matrices(ob), ob.pose.bones
    rigs.select(ob, "chest")
    for pulled in (False, True):
        rigs.pose(ob, "chest", TURNED)
        bpy.data.objects["forearm.L"].location += pulled * rigs.Vector((0.2, -0.4, 0.2))
        rigs.update()
        spine = tuple(bones["spine"].dqik_base[:7])
        bpy.ops.pose.rot_clear()
        rigs.update()
        assert bones["chest"].dqik_hold == 0.0
        assert tuple(bones["spine"].dqik_base[:7]) == spine
        assert pulled or rigs.turn(before, rigs.matrices(ob)) < radians(0.5)


def test_clear_holds_lets_bones_go() -> None:
    """The operator clears the holds of all bones, and says when there are none; *Reset Pose* does, too."""
    ob = rigs.made_active(planted_figure())
    rigs.pose(ob, "chest", TURNED)
    held = off(ob, "chest")
    assert bpy.ops.dqik.holds_clear() == {"FINISHED"}
    rigs.update()
    assert ob.pose.bones["chest"].dqik_hold == 0.0
    assert off(ob, "chest") > held + 5.0
    assert bpy.ops.dqik.holds_clear() == {"CANCELLED"}
    rigs.pose(ob, "chest", TURNED)
    assert bpy.ops.dqik.reset_pose() == {"FINISHED"}
    assert not any(bone.dqik_hold for bone in ob.pose.bones)


def test_a_bone_keyed_under_live_comes_back_as_it_was_keyed() -> None:
    """A key of what is seen is what is seen when the frame comes back, with the goals met."""
    ob = planted_figure()
    chest, hand = ob.pose.bones["chest"], bpy.data.objects["forearm.L"]
    rigs.key_path(hand, (10, 20), (hand.location.copy(), hand.location + rigs.Vector((0.05, -0.1, 0.1))))
    rigs.at_frame(10)
    rigs.posed(chest, TURNED)
    seen = rigs.local_rotation(ob, "chest")
    chest.keyframe_insert("rotation_quaternion", frame=10)
    rigs.update()
    assert off(ob, "chest", seen) < 0.1
    rigs.keyed(chest, 20, rotation_quaternion=rigs.rotation((0, 1, 0), -20.0))
    for _ in rigs.visited((20, 14, 1, 10)):
        assert_planted(ob)
    assert off(ob, "chest", seen) < 0.1


def test_a_whole_pose_keyed_under_live_comes_back() -> None:
    """With every bone keyed as seen, a bone posed by hand among them, the frame comes back."""
    ob = planted_figure()
    rigs.at_frame(10)
    rigs.posed(ob.pose.bones["chest"], TURNED)
    seen = rigs.matrices(ob)
    for frame, turned in ((10, False), (20, True)):
        for bone in ob.pose.bones:
            if turned:
                bone.rotation_quaternion = rigs.rotation((1, 2, 0), 5.0) @ bone.rotation_quaternion
            rigs.key(bone, frame)
    for _ in rigs.visited((20, 15, 10)):
        assert_planted(ob)
    assert rigs.turn(seen, rigs.matrices(ob)) < radians(0.1)


def random_limbs(kind: str, generator: np.random.Generator) -> tuple[list[rigs.Bone], rigs.Vector]:
    """A pair of legs or arms that are bent a little at rest, below one bone, and where the knee of the left points.

    Axes, rolls, lengths, the bend and half of the names are drawn.
    """
    turn = rigs.rotation(generator.normal(size=3), generator.uniform(0.0, 180.0)) if generator.random() < 0.7 else None
    upper, lower, wide, half = (float(generator.uniform(*ends)) for ends in (
        (0.6, 1.4), (0.6, 1.4), (0.1, 0.3), (0.5 * radians(0.2), 0.5 * radians(5.0))
    ))  # fmt: skip
    names = {"leg": ("hips", "thigh", "shin", "foot"), "arm": ("chest", "upper_arm", "forearm", "hand")}[kind]
    names = names if generator.random() < 0.5 else ("base", "a", "b", "c")
    middle = 3.0 if kind == "leg" else 2.0

    def at(*place: float) -> rigs.Vector:
        return rigs.Vector(place) if turn is None else turn @ rigs.Vector(place)

    bones = [rigs.Bone(names[0], at(0, 0, middle), at(0, 0, middle + 0.3), roll=generator.uniform(-3, 3))]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        if kind == "leg":
            along, points, end = rigs.Vector((0, 0, -1)), rigs.Vector((0, -1, 0)), rigs.Vector((0, -0.25, -0.1))
        else:
            along, points, end = rigs.Vector((sign, 0, 0)), rigs.Vector((0, 1, 0)), rigs.Vector((0.2 * sign, 0, 0))
        joints = [rigs.Vector((wide * sign, 0, middle - 0.1))]
        joints.append(joints[0] + upper * (cos(half) * along + sin(half) * points))
        joints.append(joints[1] + lower * (cos(half) * along - sin(half) * points))
        joints.append(joints[2] + end)
        for k in range(3):
            parent = f"{names[k]}.{side}" if k else names[0]
            bones.append(rigs.Bone(f"{names[k + 1]}.{side}", at(*joints[k]), at(*joints[k + 1]), parent, k > 0,
                                   generator.uniform(-3, 3)))  # fmt: skip
    return bones, at(*((0, -1, 0) if kind == "leg" else (0, 1, 0)))


@pytest.mark.parametrize("kind", ["leg", "arm"])
@pytest.mark.parametrize("seed", range(12))
def test_a_keyed_limb_that_is_almost_straight_folds_in_the_plane_that_its_rest_shows(kind: str, seed: int) -> None:
    """Whichever of its bones are keyed, roughly at rest: the bone above it does not turn so that it folds sideways."""
    generator = np.random.default_rng(seed)
    bones, forward = random_limbs(kind, generator)
    amount, noise = generator.uniform(0.03, 0.5), generator.uniform(0.0, 1.0) * (seed % 2)
    turns = [rigs.rotation(generator.normal(size=3), noise) for _ in range(4)]
    for keyed in ((1,), (1, 2, 3), (0, 1, 2, 3)):
        ob = rigs.armature(bones)
        for number in keyed:
            rigs.posed(ob.pose.bones[number], turns[number], 1)
        rigs.update()
        _, upper, lower, end = (bone.name for bone in list(ob.pose.bones)[:4])
        target = rigs.empty(rigs.head(ob, end))
        rigs.reach(ob, end, target, use_tail=False, chain_length=3)
        target.location = target.location.lerp(rigs.head(ob, upper), amount)
        assert (rigs.head(ob, end) - rigs.place(target)).length < 1e-3
        line = (rigs.head(ob, end) - rigs.head(ob, upper)).normalized()
        knee, wanted = (v - line * v.dot(line) for v in (rigs.head(ob, lower) - rigs.head(ob, upper), forward))
        assert degrees(knee.angle(wanted)) < 25.0, keyed


def key_all(ob: bpy.types.Object, frame: int) -> None:
    for bone in ob.pose.bones:
        rigs.key(bone, frame)


@pytest.mark.parametrize(("natural_pose", "start_from", "limits", "away"), [
    (0.0, "POSE", False, (1.2, -1.4, 0.6)), (0.0, "POSE", True, (1.6, 0.2, 0.5)),
    (1.0, "POSE", False, (0.9, 1.4, -0.3)), (1.0, "POSE", True, (1.2, -1.4, 0.6)),
    (1.0, "PREVIOUS", False, (1.6, 0.2, 0.5)), (1.0, "PREVIOUS", True, (0.9, 1.4, -0.3)),
])  # fmt: skip
def test_poses_keyed_with_missed_goals_return(natural_pose: float, start_from: str, limits: bool, away: tuple) -> None:
    """What the animator keyed is what is shown, between the keys nothing jumps, and a bake shows the same."""
    ob = planted_figure(natural_pose=natural_pose, start_from=start_from)
    if start_from == "PREVIOUS":
        for k, bone in enumerate(ob.pose.bones):
            bone.rotation_mode = ("XYZ", "AXIS_ANGLE", "ZYX")[k % 3]
    rigs.made_active(ob)
    if limits:
        bpy.ops.dqik.limits_preset()
    hand = bpy.data.objects["forearm.L"]
    rigs.key_path(hand, (10, 20), (hand.location + rigs.Vector(away), hand.location + 1.1 * rigs.Vector(away)))
    seen = {}
    for frame in rigs.visited((10, 20)):
        assert rigs.miss(ob, "forearm.L", hand) > 0.05
        seen[frame] = rigs.matrices(ob)
    for frame in (10, 20):
        for bone, matrix in zip(ob.pose.bones, seen[frame], strict=True):
            above = seen[frame][ob.pose.bones.find(bone.parent.name)] if bone.parent else None
            own = rigs.Matrix(matrix)
            rest = bone.bone.matrix_local
            if above is None:
                bone.matrix_basis = bone.bone.convert_local_to_pose(own, rest, invert=True)
            else:
                bone.matrix_basis = bone.bone.convert_local_to_pose(
                    own, rest, parent_matrix=rigs.Matrix(above), parent_matrix_local=bone.parent.bone.matrix_local,
                    invert=True,
                )  # fmt: skip
        key_all(ob, frame)
    shown = {frame: rigs.matrices(ob) for frame in rigs.visited((20, *range(9, 22)))}
    for frame in (10, 20):
        assert degrees(rigs.turn(seen[frame], shown[frame])) < 0.05
    for frame in range(9, 21) if start_from == "POSE" else ():  # angles between keys of other modes go their own way
        assert degrees(rigs.turn(shown[frame], shown[frame + 1])) < (20.0 if limits else 12.0)
    bpy.ops.dqik.bake(frame_start=9, frame_end=21)
    for frame in rigs.visited((9, 10, 14, 20)):
        assert degrees(rigs.turn(shown[frame], rigs.matrices(ob))) < 0.05


def test_a_keyed_body_follows_a_target_as_far_as_it_goes_and_stays_there() -> None:
    """However far beyond its reach the target is led on, the body does not go back to its keys."""
    ob = planted_figure()
    rigs.made_active(ob)
    key_all(ob, 1)
    hand = bpy.data.objects["forearm.L"]
    began, at = hand.location.copy(), rigs.tail(ob, "forearm.L")
    way, gone = rigs.Vector((0.6, -0.7, 0.4)).normalized(), [0.0]
    for distance in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2):
        hand.location = began + distance * way
        rigs.update()
        gone.append((rigs.tail(ob, "forearm.L") - at).dot(way))
    assert gone[2] > 0.15
    assert np.diff(gone).min() > -0.01, gone


@pytest.mark.parametrize("keep", [True, False])
def test_keyed_bones_are_held_unless_the_user_says_otherwise(keep: bool) -> None:
    """A chest keyed before Live goes on stays as it is keyed; with Keep Keyed Poses off it gives way."""
    ob = planted_figure(live=False, hold_keyed=keep)
    chest = ob.pose.bones["chest"]
    rigs.posed(chest, TURNED, 1)
    rigs.live(ob, at=2)
    assert_planted(ob)
    assert (off(ob, "chest") < 1.0) == keep


def test_a_bone_posed_by_hand_stays_before_keyed_bones() -> None:
    """On a figure with every bone keyed a bone posed by hand stays as posed."""
    ob = planted_figure()
    for bone in ob.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
    rigs.at_frame(1)
    rigs.pose(ob, "chest", TURNED)
    assert off(ob, "chest") < 1.0
    assert_planted(ob)


def test_a_keyed_bone_that_its_goal_takes_straight_back_is_not_held_on_other_frames() -> None:
    """Nothing of the edit is seen, and it was not keyed, though the pose that is seen is that of its keys."""
    ob = rigs.pose_mode(rigs.figure())
    hips = ob.pose.bones["hips"]
    for frame in (1, 10, 20):
        for bone in ob.pose.bones:
            rigs.keyed(bone, frame, rotation_quaternion=(1.0, 0.0, 0.0, 0.0), location=(0.0, 0.0, 0.0))
        rigs.keyed(hips, frame, location=(0.0, -0.05, 0.01 * frame))
    assert bpy.ops.dqik.setup_full_body(frame_start=1, frame_end=20) == {"FINISHED"}
    rigs.live(ob, at=10)
    before = rigs.head(ob, "hips")
    hips.location.y -= 0.1
    rigs.update()
    assert (rigs.head(ob, "hips") - before).length < 1e-3
    for _ in rigs.visited((11, 10)):
        assert hips.dqik_hold == 0.0


def test_a_hold_can_be_keyed() -> None:
    """With its hold keyed a bone is let go and held again."""
    ob = planted_figure()
    chest = ob.pose.bones["chest"]
    rigs.posed(chest, TURNED)
    rigs.update()
    rigs.key_path(chest, (1, 11, 21), (1.0, 0.0, 1.0), "dqik_hold")
    found = {}
    for frame in rigs.visited((1, 11, 21)):
        found[frame] = off(ob, "chest")
        assert_planted(ob)
    assert max(found[1], found[21]) < 1.0 < 5.0 < found[11]


def test_redo_of_a_pose_without_keys_shows_it_until_the_frame_is_visited_again() -> None:
    """Scrubbing gives a keyed bone its keys back. Undone and redone it is posed again, and held as long as it is."""
    ob = planted_figure()
    chest = ob.pose.bones["chest"]
    for frame in (1, 20):
        chest.keyframe_insert("rotation_quaternion", frame=frame)
    rigs.at_frame(10)
    plain = rigs.matrices(ob)
    bpy.ops.ed.undo_push(message="Keyed")
    bpy.data.actions.new("Pose")  # as Blender does for a pose asset
    rigs.posed(chest, TURNED)
    posed = rigs.matrices(ob)
    assert rigs.turn(plain, posed) > 0.1
    bpy.ops.ed.undo_push(message="Posed")
    rigs.at_frame(10)
    assert rigs.turn(plain, rigs.matrices(ob)) < 1e-3
    for way, shown, hold in ((bpy.ops.ed.undo, plain, 0.0), (bpy.ops.ed.redo, posed, 1.0)):
        way()
        ob = bpy.data.objects["Figure"]
        assert rigs.turn(shown, rigs.matrices(ob)) < 1e-3
        assert ob.pose.bones["chest"].dqik_hold == hold
    rigs.at_frame(10)
    assert ob.pose.bones["chest"].dqik_hold == 0.0
    assert rigs.turn(plain, rigs.matrices(ob)) < 1e-3


def test_undo_and_redo_of_an_edit_that_is_adopted_after_its_undo_step() -> None:
    """Blender stores the step of an operator that works at once, as Alt R, before a handler adopts what it did."""
    ob = planted_figure()
    rigs.pose(ob, "chest", TURNED)
    rigs.select(ob, "chest")

    def state() -> tuple[np.ndarray, float]:
        rigs.update()
        found = bpy.data.objects["Figure"]
        return np.array([bone.head for bone in rigs.evaluated(found).pose.bones]), found.pose.bones["chest"].dqik_hold

    bpy.ops.ed.undo_push(message="Posed")
    posed = state()
    bpy.ops.pose.rot_clear("EXEC_DEFAULT", True)  # with an undo step of its own
    cleared = state()
    assert (posed[1], cleared[1]) == (1.0, 0.0)
    assert np.abs(cleared[0] - posed[0]).max() > 1e-2
    bpy.data.objects["forearm.L"].location.z += 0.05
    rigs.update()
    bpy.ops.ed.undo_push(message="Target moved")
    for step, expected in ((bpy.ops.ed.undo, cleared), (bpy.ops.ed.undo, posed), (bpy.ops.ed.redo, cleared)):
        step()
        found = state()
        assert found[1] == expected[1]
        assert np.abs(found[0] - expected[0]).max() < 1e-4


def test_redo_brings_back_bones_that_are_held_with_a_posed_bone() -> None:
    """Pasting a chest holds the spine as it is seen, also when a redo loads the step from before it was adopted."""
    ob = planted_figure()
    rigs.posed(ob.pose.bones["chest"], TURNED)
    rigs.select(ob, "chest")
    bpy.ops.pose.copy()
    bpy.ops.pose.rot_clear()
    bpy.data.objects["forearm.L"].location += rigs.Vector((0.2, -0.4, 0.2))
    rigs.update()
    spine = np.array(ob.pose.bones["spine"].dqik_base[:7])
    bpy.ops.ed.undo_push(message="Target moved")

    def state() -> tuple[np.ndarray, np.ndarray]:
        rigs.update()
        found = bpy.data.objects["Figure"]
        return rigs.matrices(found), np.array([bone.dqik_base[:7] for bone in found.pose.bones])

    before = state()
    bpy.ops.pose.paste("EXEC_DEFAULT", True)  # with an undo step of its own
    posed = state()
    assert np.abs(spine - bpy.data.objects["Figure"].pose.bones["spine"].dqik_base[:7]).max() > 1e-3
    bpy.data.objects["forearm.R"].location.z += 0.05
    rigs.update()
    bpy.ops.ed.undo_push(message="Other target moved")
    for step, expected in ((bpy.ops.ed.undo, posed), (bpy.ops.ed.undo, before), (bpy.ops.ed.redo, posed)):
        step()
        for found, wanted in zip(state(), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_a_bone_of_a_larger_gain_turns_less() -> None:
    """A reach of the hand: a spine of gain 100 stays nearer to its pose than one of gain 1, and that than one of 0."""
    ob, names, turns = planted_figure(), ("spine", "chest"), []
    before = [rigs.local_rotation(ob, name) for name in names]
    bpy.data.objects["forearm.L"].location += rigs.Vector((0.1, -0.3, 0.2))
    for gain in (0.0, 1.0, 100.0):
        for name in names:
            ob.pose.bones[name].dqik_gain = gain
        rigs.update()
        assert_planted(ob)
        turns.append(sum(off(ob, name, start) for name, start in zip(names, before, strict=True)))
    assert 0.0 < turns[2] < 0.2 * turns[1]
    assert turns[1] < turns[0]
