# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose made by hand has its place in time: keyed, it is held on its frame, and blocked poses beside it stay."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import film_here, frames_of
from mathutils import Euler
from planted import TURNED, off, planted_figure
from situations import auto_keying, overridden, reopened
from test_controls import control
from test_pins import moving, same
from test_posing import live_figure

BLOCKED = (1, 57, 115, 150, 180)
CHEST = 'pose.bones["chest"].'


def figure() -> bpy.types.Object:
    """The active figure of the test, which undo and loading replace."""
    return bpy.data.objects["Figure"]


def blocked(kind: str = "EMPTIES") -> bpy.types.Object:
    """A live figure whose targets, empties or control bones, are keyed on all blocked frames."""
    if kind == "EMPTIES":
        ob = planted_figure()
        rigs.made_active(ob)
        rest = bpy.data.objects["forearm.L"].location.copy()
        ways = [rest + rigs.Vector(way) for way in
                ((0, 0, 0), (0.1, -0.2, 0.1), (0.05, -0.1, 0.2), (0, -0.2, 0), (0.1, -0.1, 0))]  # fmt: skip
        rigs.key_path(bpy.data.objects["forearm.L"], BLOCKED, ways)
    else:
        ob = live_figure()
        for number, frame in enumerate(BLOCKED):
            hand = control(ob, "hand.L")
            hand.location = (0.03 * number, -0.04 * number, 0.05)
            rigs.key(hand, frame)
    rigs.select(ob, "chest")
    return ob


def poses(frames: tuple[int, ...] = BLOCKED) -> dict[int, np.ndarray]:
    """What the figure shows on frames, which are visited in turn."""
    return {frame: rigs.matrices(figure()).copy() for frame in rigs.visited(frames)}


def assert_kept(before: dict[int, np.ndarray], *but: int) -> None:
    """All frames but some show bit for bit what they showed."""
    for frame, pose in poses(tuple(set(before) - set(but))).items():
        assert np.abs(pose - before[frame]).max() == 0.0, frame


def turn_chest(rotation=TURNED, at: float | None = None) -> None:
    """Turn the chest, on a frame if one is given."""
    if at is not None:
        rigs.at_frame(at)
    rigs.posed(figure().pose.bones["chest"], rotation)
    rigs.update()


def key_chest(frame: float) -> None:
    key_bone("chest", frame)


def key_bone(name: str, frame: float) -> None:
    """As the key I does: the channel, and then Blender's own update."""
    bone = figure().pose.bones[name]
    bone.keyframe_insert(rigs.ROTATION_PATHS[bone.rotation_mode], frame=frame)
    rigs.update()


def hold_keys() -> dict[float, float]:
    return dict(rigs.keys(figure()).get((CHEST + "dqik_hold", 0), []))


@pytest.mark.parametrize("kind", ["EMPTIES", "BONES"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_keyed_pose_leaves_the_blocked_poses_beside_it(kind: str, mode: str) -> None:
    """Chest posed and keyed on a blocked frame: all others are bit for bit as they were; this one shows it again."""
    ob = blocked(kind)
    ob.pose.bones["chest"].rotation_mode = mode
    before = poses()
    turn_chest(at=115)
    seen = rigs.matrices(ob).copy()
    assert np.abs(seen - before[115]).max() > 0.05
    key_chest(115)
    assert hold_keys() == {57.0: 0.0, 115.0: 1.0, 150.0: 0.0}
    assert np.abs(rigs.matrices(ob) - seen).max() == 0.0
    assert_kept(before, 115)
    rigs.at_frame(115)
    assert np.degrees(rigs.turn(seen, rigs.matrices(ob))) < 0.3
    assert off(ob, "chest") < 1.0


@pytest.mark.parametrize("frame", [150, 130, 57])
def test_a_pose_that_is_not_keyed_is_gone_on_any_other_frame(frame: float) -> None:
    """Where the hold is keyed elsewhere too: the first frame that is shown after it is as it was before."""
    ob = blocked()
    turn_chest(at=115)
    key_chest(115)
    before = poses((57, 100, 115, 130, 150))
    turn_chest(rigs.rotation((0, 0, 1), 40.0), at=frame)
    assert np.abs(rigs.matrices(ob) - before[frame]).max() > 0.05
    for other in (100, 115):
        rigs.at_frame(other)
        assert np.abs(rigs.matrices(ob) - before[other]).max() < 1e-6, other
        assert other != 115 or ob.pose.bones["chest"].dqik_hold == 1.0
        turn_chest(rigs.rotation((0, 0, 1), 40.0), at=frame)
    rigs.at_frame(1)
    assert_kept(before)


@pytest.mark.parametrize(("press", "frames"), [
    (key_chest, (115, 100, 170, 200)), (key_chest, (57, 115, 57)),
    (lambda frame: bpy.ops.dqik.hold_here(), (57, 115, 57)),
])  # fmt: skip
def test_poses_on_several_frames_leave_each_other_alone(press: Callable, frames: tuple[int, ...]) -> None:
    """Between blocked frames, beside them and after; on one again: what was blocked, or posed before, stays."""
    blocked()
    before = poses()
    for number, frame in enumerate(frames):
        turn_chest(rigs.rotation(((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0))[number], 25.0), at=frame)
        press(frame)
        assert_kept(before, frame)
        before |= poses((frame,))
    assert {frame for frame, hold in hold_keys().items() if hold == 1.0} == set(frames)
    assert hold_keys().get(150.0, 0.0) == 0.0


def test_a_pose_of_another_bone_keys_the_chest_nowhere() -> None:
    """On a frame on which the chest is keyed at rest, and let go, beside the one on which it is held."""
    ob = blocked()
    turn_chest(at=57)
    bpy.ops.dqik.hold_here()
    before = poses()
    rigs.select(ob, "arm.R", at=115)
    rigs.pose(ob, "arm.R", TURNED)
    bpy.ops.dqik.hold_here()
    rigs.update()
    assert_kept(before, 115)


@pytest.mark.parametrize(("path", "keyed"), [
    *((path, {1: 10.0, 180: -20.0}) for path in ("rotation_quaternion", "location")),
    ("rotation_quaternion", {115: 10.0}),
])  # fmt: skip
def test_a_pose_on_a_bone_with_keys_of_its_own(path: str, keyed: dict[int, float]) -> None:
    """Keys of the chest far away, or here: on blocked frames it stays as the curves had it, held as by keys."""
    ob = blocked()
    if path == "location":
        ob.dqik.natural_pose = 0.0  # this shapes bones whose rotations have no keys, and no others
    for frame, angle in keyed.items():
        if path != "location":
            ob.pose.bones["chest"].rotation_quaternion = rigs.rotation((0, 1, 0), angle)
        ob.pose.bones["chest"].keyframe_insert(path, frame=frame)
    before = poses()
    turn_chest(at=115)
    key_chest(115)
    assert hold_keys() == {57.0: 0.5, 115.0: 1.0, 150.0: 0.5}
    assert_kept(before, 115)
    turn_chest(rigs.rotation((1, 0, 0), -20.0), at=115)
    key_chest(115)
    assert_kept(before, 115)


def test_a_pose_that_is_not_keyed_is_held_on_all_frames_until_it_is() -> None:
    """Hold Here confines it later, too, from another frame and for the bones that the panel names."""
    ob = blocked()
    before = poses()
    turn_chest(at=115)
    rigs.at_frame(57)
    assert np.abs(rigs.matrices(ob) - before[57]).max() > 0.05
    rigs.select(ob, "arm.L", at=115)
    assert bpy.ops.dqik.hold_here(all_held=True) == {"FINISHED"}
    assert hold_keys() == {57.0: 0.0, 115.0: 1.0, 150.0: 0.0}
    assert_kept(before, 115)
    assert bpy.ops.dqik.hold_here.poll()
    rigs.refuses(bpy.ops.dqik.hold_here, "None of the bones is held", all_held=True)


@pytest.mark.parametrize("press", [key_bone, lambda name, frame: bpy.ops.dqik.hold_here()])
@pytest.mark.parametrize("name", ["forearm.L", "chest"])
def test_a_pose_that_gave_way_comes_back(press, name: str) -> None:
    """The hand is out of reach, so what was posed gives way; keyed, the whole figure stands there as it stood."""
    ob = blocked("BONES")
    hand = control(ob, "hand.L")
    rigs.keyed(hand, 115, location=(0.4, -0.3, 0.6))
    rigs.select(ob, name, at=115)
    rigs.posed(ob.pose.bones[name], rigs.rotation((1, 1, 0), 40.0))
    seen = rigs.matrices(ob).copy()
    press(name, 115)
    assert np.degrees(rigs.turn(seen, rigs.matrices(ob))) < 0.01
    rigs.at_frame(57)
    rigs.at_frame(115)
    assert np.degrees(rigs.turn(seen, rigs.matrices(ob))) < 0.01


def test_hold_here_holds_selected_bones_as_they_are_seen() -> None:
    """Bones that nobody posed, without a change of what is seen anywhere; not without Live, nor the targets."""
    ob = blocked("BONES")
    before = poses()
    rigs.at_frame(57)
    assert bpy.ops.dqik.hold_here() == {"FINISHED"}
    assert hold_keys() == {1.0: 0.0, 57.0: 1.0, 115.0: 0.0}
    assert_kept(before, 57)
    rigs.at_frame(57)
    assert np.degrees(rigs.turn(before[57], rigs.matrices(ob))) < 2.0  # it is held now, which the goals feel
    rigs.select(ob, "DQIK hand.L")
    rigs.refuses(bpy.ops.dqik.hold_here, "that the goals move")
    ob.dqik.live = False
    rigs.refuses(bpy.ops.dqik.hold_here, "Switch Live on")


def test_blender_s_own_auto_keying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotated by Blender's operator, with its own undo step: one undo takes pose and hold back, a redo brings both."""
    auto_keying(monkeypatch, True, False)
    blocked()
    before = poses()
    rigs.at_frame(115)
    bpy.ops.ed.undo_push(message="Blocked")
    bpy.ops.transform.rotate("EXEC_DEFAULT", True, value=0.6, orient_axis="Z")
    rigs.update()
    keyed = rigs.keys(figure())
    assert hold_keys() == {57.0: 0.0, 115.0: 1.0, 150.0: 0.0}
    bpy.ops.ed.undo()
    rigs.update()
    assert rigs.keys(figure()) == {}
    assert_kept(before)
    rigs.at_frame(115)
    bpy.ops.ed.redo()
    rigs.update()
    again = rigs.keys(figure())
    assert again.keys() == keyed.keys()
    assert all(np.abs(np.subtract(again[channel], keyed[channel])).max() < 1e-6 for channel in keyed)
    assert_kept(before, 115)


def test_a_hold_without_keys_in_a_file_gets_none_by_looking(tmp_path: Path) -> None:
    """A bone that is held and keyed as earlier versions did: no update, undo or change of action keys its hold."""
    ob = blocked()
    rigs.at_frame(57)
    ob.dqik.live = False
    chest = ob.pose.bones["chest"]
    rigs.posed(chest, TURNED, 57)
    chest.dqik_hold = 1.0
    rigs.live(ob)
    reopened(tmp_path / "earlier.blend")
    rigs.update()
    data = figure().animation_data
    action = data.action
    data.action = None
    rigs.update()
    data.action = action
    rigs.update()
    bpy.ops.ed.undo_push(message="Looked")
    bpy.data.objects["forearm.R"].location.z += 0.02
    bpy.data.objects["forearm.R"].keyframe_insert("location", frame=57)
    rigs.update()
    assert hold_keys() == {}


@pytest.mark.parametrize("keyed", [True, False])
def test_clearing_with_auto_keying_lets_go_on_this_frame(keyed: bool) -> None:
    """Alt R keys the hold with 0; other frames are as before the bone was posed."""
    ob = blocked()
    before = poses()
    turn_chest(at=115)
    if keyed:
        key_chest(115)
    poses()
    rigs.at_frame(115)
    bpy.ops.pose.rot_clear()
    key_chest(115)  # in the same step, as Auto Keying does
    assert ob.pose.bones["chest"].dqik_hold == 0.0
    assert hold_keys()[115.0] == 0.0
    assert_kept(before, 115)
    rigs.at_frame(115)
    assert off(ob, "chest") > 5.0


@pytest.mark.parametrize("flipped", [False, True])
def test_a_paste_with_auto_keying_has_its_place_in_time(flipped: bool) -> None:
    """Of several bones at once, as a pose asset is, and mirrored: other frames stay as they were."""
    ob = blocked()
    before = poses()
    rigs.at_frame(115)
    chest = ob.pose.bones["chest"]
    earlier = chest.rotation_quaternion.copy()
    turn_chest(rigs.rotation((0, 1, 0), 25.0))
    rigs.select(ob, *(bone.name for bone in ob.pose.bones))
    bpy.ops.pose.copy()
    turn_chest(earlier)  # put back
    assert_kept(before)
    rigs.at_frame(115)
    bpy.ops.pose.paste(flipped=flipped)
    for bone in ob.pose.bones:
        rigs.key(bone, 115)
    rigs.update()
    assert hold_keys()[115.0] == 1.0
    assert_kept(before, 115)


def test_only_insert_available_makes_no_curve_for_a_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keyed bone that Auto Keying keys is held as by its key, so other frames stay; a bone without keys by hand."""
    auto_keying(monkeypatch, True, True)
    ob = blocked()
    for frame in BLOCKED:
        ob.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=frame)
    before = poses()
    turn_chest(rigs.rotation((1, 0, 0), 12.0), at=115)
    key_chest(115)
    assert hold_keys() == {}
    assert ob.pose.bones["chest"].dqik_hold == 0.0
    assert_kept(before, 115)


def test_letting_go_on_this_frame_or_on_all() -> None:
    """The press in the panel, for a hold without keys and for one with them."""
    ob = blocked()
    turn_chest(at=115)
    held = poses()
    rigs.at_frame(115)
    assert bpy.ops.dqik.holds_clear(here=True) == {"FINISHED"}
    rigs.update()
    assert off(ob, "chest") > 5.0
    assert hold_keys() == {57.0: 1.0, 115.0: 0.0, 150.0: 1.0}
    assert_kept(held, 115)
    rigs.at_frame(57)
    assert bpy.ops.dqik.holds_clear() == {"FINISHED"}
    assert set(hold_keys().values()) == {0.0}
    for _ in rigs.visited(BLOCKED):
        assert off(ob, "chest") > 5.0


def test_an_override_holds_at_a_frame(tmp_path: Path) -> None:
    """Its poses and holds are keyed in the shot's own action."""
    blocked()
    bpy.ops.object.mode_set(mode="OBJECT")
    own = overridden(tmp_path / "figure.blend")
    assert own.dqik.live
    frames = (1, 57, 115, 150)
    shown = {frame: rigs.matrices(own).copy() for frame in rigs.visited(frames)}
    rigs.at_frame(115)
    rigs.pose(own, "chest", TURNED)
    own.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=115)
    rigs.update()
    assert dict(rigs.keys(own)[CHEST + "dqik_hold", 0])[115.0] == 1.0
    for frame in rigs.visited((1, 57, 150)):
        assert np.abs(rigs.matrices(own) - shown[frame]).max() == 0.0


@pytest.mark.parametrize("seed", range(10))
def test_what_is_held_as_it_is_seen_stays_as_it_is(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """*Hold Here* on bones that nobody posed: at once, after other frames, and saved and opened; so do keyed frames."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", bool(seed % 2))
    random = np.random.default_rng(seed)
    ob = moving(random, 3)
    keyed = sorted({point[0] for points in rigs.keys(ob).values() for point in points})
    frame = float(random.choice([one for one in range(2, 40) if one not in keyed]))
    early, late = [one for one in keyed if one < frame], [one for one in keyed if one > frame]
    beside = [max(early, default=1.0), min(late, default=40.0)]
    before = frames_of(ob, [frame, *beside])
    rigs.at_frame(frame)
    bones = ["chest", "spine", "hips", "arm.L", "forearm.R", "head", "shin.L"]
    rigs.select(ob, *random.choice(bones, 2, replace=False).tolist())
    assert bpy.ops.dqik.hold_here() == {"FINISHED"}
    rigs.update()
    assert same(film_here(ob)[None], before[:1])
    assert same(frames_of(ob, [frame, *beside]), before)
    path = bpy.app.tempdir + "held.blend"
    reopened(path)
    assert same(frames_of(bpy.data.objects["Figure"], [*beside, frame])[2:], before[:1])


def test_the_panel_says_how_long_a_pose_is_held() -> None:
    """Without keys on all frames; with keys until the frame changes, which brings these back."""
    holds = rigs.part("rig.shot.holds")
    ob = moving(np.random.default_rng(1), 2)
    turns = [Euler((angle, 0.0, 0.0)).to_quaternion() for angle in (0.0, 0.1)]
    rigs.key_path(ob.pose.bones["chest"], (1, 40), turns, "rotation_quaternion")
    rigs.at_frame(10)
    for name in ("chest", "arm.L"):
        bone = ob.pose.bones[name]
        rigs.posed(bone, Euler((0.0, 0.3, 0.0)).to_quaternion() @ bone.matrix_basis.to_quaternion())
    rigs.update()
    assert holds.until_next_frame(ob) == ["chest"]
    assert holds.on_all_frames(ob) == ["arm.L"]
    rigs.at_frame(11)
    assert (holds.until_next_frame(ob), holds.on_all_frames(ob)) == ([], ["arm.L"])
