# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls attached to props and to other characters, props put in hands, and let go: nothing moves at either end."""

from collections.abc import Callable, Iterable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector
from pytest import CaptureFixture, MonkeyPatch
from situations import auto_keying, linked_from, twin_of
from test_controls import in_centimetres, posed

EXACT = 1e-5  # m
BEGIN, END, FADED = 10, 22, 18  # FADED: from here on a hand turns with what it is attached to alone
BEFORE, KEYED = (1, 6, 9, 10), (14, 24)
SCENES = {
    "moving": ("XYZ", "BONES", lambda ob: ob), "scaled": ("AXIS_ANGLE", "BONES", rigs.with_root),
    "turning": ("QUATERNION", "EMPTIES", lambda ob: ob), "growing": ("ZYX", "BONES", in_centimetres),
}  # fmt: skip


def prop(kind: str = "turning", at: Matrix | None = None) -> bpy.types.Object:
    """A prop in front of a figure, whose place, and by kind turn and scale, have keys."""
    ob = rigs.empty((0, 0, 0), "Box")
    ob.rotation_mode, ob.scale = "XYZ", (0.5, 2.0, 3.0) if kind == "scaled" else (1, 1, 1)
    holder = rigs.empty((0, 0, 0), "Holder")
    holder.matrix_world = at or Matrix()
    ob.parent = holder
    for frame in (1, 8, 16, 30):
        ob.location = (0.35 + 0.002 * frame, -0.3 + 0.002 * frame, 1.1 + 0.003 * frame)
        if kind != "moving":
            ob.rotation_euler = (0.01 * frame, 0.005 * frame, -0.008 * frame)
        if kind == "growing":
            ob.scale = (1.0 + 0.01 * frame,) * 3
        for path in ("location", "rotation_euler", "scale"):
            ob.keyframe_insert(path, frame=frame)
    return ob


def live(name: str = "Figure", prepare=lambda ob: ob, targets: str = "BONES") -> bpy.types.Object:
    ob = rigs.set_up(posed(prepare(rigs.figure(name))), targets=targets)
    rigs.made_active(ob)
    return ob


def key_waves(owner: bpy.types.Object | bpy.types.PoseBone, size: float, frames: Iterable[int]) -> None:
    """Keys of a control's location, to and fro."""
    start = np.array(owner.location)
    for number, frame in enumerate(frames):
        rigs.keyed(owner, frame, location=start + size * np.array([0.05, 0.03, -0.04]) * (-1) ** number)


Place = tuple[bpy.types.Object] | tuple[bpy.types.Object, str]


def hand_of(ob: bpy.types.Object) -> tuple[bpy.types.PoseBone | bpy.types.Object, Place]:
    """The control of the left hand, which gets selected, and what `world` takes for it."""
    own = rigs.owner_of(ob, "hand.L")
    bone = isinstance(own, bpy.types.PoseBone)
    rigs.select(ob, own.name if bone else "hand.L")
    return own, (ob, own.name) if bone else (own,)


def world(ob: bpy.types.Object, bone: str = "") -> np.ndarray:
    return np.array(rigs.world(ob, bone))


def film(ob: bpy.types.Object, frames: Iterable[int]) -> dict[int, np.ndarray]:
    """World places of the heads and tails of a figure's bones on frames."""
    found = {}
    for frame in rigs.visited(frames):
        names = [bone.name for bone in ob.pose.bones if bone.bone.use_deform]
        found[frame] = np.array([(rigs.head(ob, name), rigs.tail(ob, name)) for name in names])
    return found


def off(ob: bpy.types.Object, before: dict[int, np.ndarray]) -> float:
    """By how much [m] a figure is elsewhere than in a film."""
    return max(float(np.abs(now - before[frame]).max()) for frame, now in film(ob, before).items())


def between(target: tuple, owner: tuple, frames: Iterable[int]) -> float:
    """By how much [m] the place of one thing changes in another's space."""
    found = [np.linalg.inv(world(*target)) @ world(*owner) for _ in rigs.visited(frames)]
    return float(np.abs(np.array(found) - found[0])[:, :3, 3].max())


def worlds(frames: Iterable[int], *things: tuple) -> dict[int, np.ndarray]:
    """World matrices (N, 4, 4) of things on frames."""
    return {frame: np.array([world(*thing) for thing in things]) for frame in rigs.visited(frames)}


def moved(before: dict[int, np.ndarray], *things: tuple) -> float:
    """The largest difference of the world matrices of things from those on frames before."""
    return max(float(np.abs(now - before[frame])[:, :3].max()) for frame, now in worlds(before, *things).items())


def attach(frame: int = BEGIN, **where: object) -> None:
    rigs.at_frame(frame)
    assert bpy.ops.dqik.attach(**where) == {"FINISHED"}


def detach(frame: int = END, **what: object) -> None:
    rigs.at_frame(frame)
    assert bpy.ops.dqik.detach(**what) == {"FINISHED"}


@pytest.mark.parametrize("kind", SCENES)
def test_nothing_moves_at_either_end(kind: str) -> None:
    """Of the whole body, on all frames before, on both frames, and on keys of the hand's control after both."""
    mode, targets, prepare = SCENES[kind]
    ob = live("Figure", prepare, targets)
    box = prop(kind, ob.matrix_world @ Matrix.Scale(1.0 / ob.matrix_world.to_scale().x, 4))
    own, place = hand_of(ob)
    own.rotation_mode = mode
    key_waves(own, 1.0 if targets == "EMPTIES" else 1.0 / ob.matrix_world.to_scale().x, (1, *KEYED))
    if kind == "moving":
        rigs.key_path(ob, (1, 30), [(0.0, 0.0, 0.0), (0.1, -0.2, 0.05)])
        ob.rotation_euler.z = 0.4
        ob.keyframe_insert("rotation_euler", frame=12)
    before = film(ob, BEFORE)
    hand = {frame: rigs.tail(ob, "hand.L") for frame in rigs.visited(KEYED)}
    attach(object="Box")
    assert off(ob, before) < EXACT
    if kind != "moving":
        assert between((box,), place, (BEGIN, *KEYED, 30)) < EXACT
    attached = film(ob, (*BEFORE, 13, 17, END - 1, END))
    detach()
    assert off(ob, attached) < EXACT
    rigs.at_frame(KEYED[1])
    assert (rigs.tail(ob, "hand.L") - hand[KEYED[1]]).length < 10 * EXACT


@pytest.mark.parametrize("kind", ["scaled", "turning", "of another"])
def test_a_whole_body_that_is_attached_and_let_go_stays(kind: str) -> None:
    """To a scaled prop, one that turns, and another character's hand. The hips carry the head's control."""
    mode, targets, prepare = SCENES.get(kind, SCENES["moving"])
    if kind == "of another":
        other = live("Other")
        other.location, other.rotation_euler = (0.6, -0.8, 0.0), (0.0, 0.0, 2.0)
        key_waves(rigs.owner_of(other, "hand.L"), 1.0, (1, 12, 30))
        bpy.ops.object.mode_set(mode="OBJECT")
    ob = live("Figure", prepare, targets)
    size = ob.matrix_world.to_scale().x
    prop("scaled" if kind == "of another" else kind, ob.matrix_world @ Matrix.Scale(1.0 / size, 4))
    for bone, way in (("hips", (0.02, 0.05, -0.08)), ("hand.L", (-0.2, -0.1, 0.1)), ("hand.R", (0.1, -0.2, -0.2))):
        own = rigs.owner_of(ob, bone)
        own.rotation_mode = mode
        own.location = np.array(own.location) + np.array(way) / (1.0 if targets == "EMPTIES" else size)
    rigs.update()
    rigs.select(ob, *(goal.subtarget or goal.bone for goal in ob.dqik.goals if goal.bone != "head"))
    before = film(ob, [1, BEGIN])
    attach(**({"object": "Other", "bone": "hand.L"} if kind == "of another" else {"object": "Box"}))
    assert off(ob, before) < EXACT
    attached = film(ob, [BEGIN, END - 1, END])
    detach()
    assert off(ob, attached) < EXACT


def test_a_hand_without_keys_goes_along_with_the_prop_and_stays_where_it_is_let_go() -> None:
    """Its place at once, its turn within some frames."""
    ob, box = live(), prop()
    own, place = hand_of(ob)
    own.location += Vector((-0.1, -0.1, 0.0))
    attach(object="Box")
    assert between((box,), place, range(BEGIN, 31, 5)) < EXACT
    assert between((box,), (ob, "hand.L"), range(BEGIN, FADED, 2)) < 2e-3
    detach()
    stays = world(ob, "hand.L")
    for _ in rigs.visited((END + 8, 40)):
        assert np.abs(world(ob, "hand.L") - stays)[:3, 3].max() < 2e-4
    assert ob.dqik.goals["hand.L"].rotation_follows == 1.0


def test_of_two_props_of_one_name_this_files_own_one_counts_unless_its_file_is_named(tmp_path: Path) -> None:
    """And not another of that name, linked from a library and in the scene before it."""
    prop("moving")
    (linked,) = linked_from(tmp_path / "props.blend", ["Box"])
    ob, box = live(), rigs.empty((0.4, -0.3, 1.2), "Box")
    own, _ = hand_of(ob)
    rigs.key_path(box, (BEGIN, 30), [(0.4, -0.3, 1.2), (0.3, -0.4, 1.3)])
    attach(object="Box")
    assert between((box,), (ob, own.name), range(BEGIN, 31, 5)) < EXACT
    attach(object="Box [props.blend]")
    assert ob.pose.bones[own.name].constraints[-1].target == linked


def test_a_key_stays_on_the_frame_where_another_hand_that_was_let_go_with_it_has_settled() -> None:
    ob, _ = live(), prop()
    hands = [rigs.owner_of(ob, f"hand.{side}") for side in "LR"]
    rigs.select(ob, *(own.name for own in hands))
    attach(object="Box")
    settled = END + FADED - BEGIN
    rigs.at_frame(settled)
    hands[1].location.z += 0.05
    hands[1].keyframe_insert("location", frame=settled)
    rigs.at_frame(settled)
    made = world(ob, hands[1].name)
    detach()
    rigs.at_frame(settled)
    assert np.abs(world(ob, hands[1].name) - made)[:3, 3].max() < 10 * EXACT


def test_both_hands_at_once_and_one_after_the_other() -> None:
    """Two controls to one prop; then one of them on to another prop."""
    ob, box = live(), prop()
    other = rigs.empty((0.2, -0.4, 1.0), "Rail")
    rigs.key_path(other, (1, 30), [(0.2, -0.4, 1.0), (0.25, -0.35, 1.1)])
    hands = [rigs.owner_of(ob, f"hand.{side}").name for side in "LR"]
    rigs.select(ob, *hands)
    before = film(ob, (5, BEGIN))
    attach(object="Box")
    assert off(ob, before) < EXACT
    for name in hands:
        assert between((box,), (ob, name), (BEGIN, 15, 30)) < EXACT
    rigs.select(ob, hands[0])
    before = film(ob, (5, BEGIN, END - 1, END))
    attach(END, object="Rail")
    assert off(ob, before) < EXACT
    assert between((other,), (ob, hands[0]), (END, 26, 30)) < EXACT
    assert between((box,), (ob, hands[1]), (END, 26, 30)) < EXACT
    before = film(ob, (5, END, 28))
    detach(28)
    assert off(ob, before) < EXACT


@pytest.mark.parametrize(("behind", "targets"), [((), "BONES"), ((12, 15, 19, 26, 40), "BONES"), ((), "EMPTIES")])
def test_a_grip_lasts_until_detach_and_the_keys_behind_it_count_again(behind: tuple[int, ...], targets: str) -> None:
    """Whatever was blocked before it was attached; after Detach the curves are as they were from the next key on."""
    ob, box = live(targets=targets), prop()
    own, place = hand_of(ob)
    key_waves(own, 2.0, (1, 6, *behind))
    for frame in (1, 15, 26):
        own.keyframe_insert(rigs.ROTATION_PATHS[own.rotation_mode], frame=frame)
    later = worlds(range(27, 45, 3), place)
    before = film(ob, (1, 4, 7, BEGIN))
    attach(object="Box")
    assert off(ob, before) < EXACT
    assert between((box,), place, range(BEGIN, 45, 3)) < EXACT
    assert between((box,), (ob, "hand.L"), range(FADED, 36, 3)) < 2e-4
    held = film(ob, (BEGIN, 15, END - 1, END))
    detach()
    assert off(ob, held | before) < EXACT
    assert not behind or moved(later, place) < EXACT
    ways = [world(*place)[:3, 3] for frame in rigs.visited(range(END, 27))]
    assert np.linalg.norm(np.diff(ways, axis=0), axis=-1).max() < 0.25  # it goes there without a leap


@pytest.mark.parametrize("handles", ["AUTO_CLAMPED", "AUTO", "VECTOR", "FREE"])
def test_attached_and_let_go_on_one_frame_is_as_before(handles: str) -> None:
    """The control's curves keep their shape up to the attachment, whatever their handles, and then on all frames."""
    ob, _ = live(), prop()
    own, _ = hand_of(ob)
    key_waves(own, 2.0, (1, 6, 15, 18, 30))
    times = np.arange(0.0, 40.0, 0.25)
    for curve in rigs.fcurves(ob):
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = handles
            if handles == "FREE":
                point.handle_right = (point.co[0] + 18.0, point.co[1] + 0.1)
        curve.update()
    shape = {curve.array_index: [curve.evaluate(time) for time in times] for curve in rigs.fcurves(ob)}
    for press, until in ((attach, BEGIN), (detach, 40)):
        press(BEGIN, **({"object": "Box"} if press == attach else {}))
        for curve in (one for one in rigs.fcurves(ob) if one.data_path == own.path_from_id("location")):
            now = np.array([curve.evaluate(time) for time in times]) - shape[curve.array_index]
            assert np.abs(now[times < until]).max() < EXACT
    assert not own.constraints
    assert not [curve.data_path for curve in rigs.fcurves(ob) if "set_aside" in curve.data_path]


def test_a_key_that_was_made_while_attached_keeps_its_place_when_it_is_let_go() -> None:
    """It moves the control against the prop meanwhile, and stays before an older key of the same frame."""
    ob, _ = live(), prop()
    own, _ = hand_of(ob)
    key_waves(own, 1.0, (1, 6, 26, 34))
    at_last = world(ob, own.name) if rigs.at_frame(34) is None else None
    attach(object="Box")
    rigs.at_frame(26)
    own.location.z += 0.05
    own.keyframe_insert("location", frame=26)
    made = world(ob, own.name)
    detach()
    rigs.at_frame(26)
    assert np.abs(world(ob, own.name) - made)[:3, 3].max() < 10 * EXACT
    rigs.at_frame(34)
    assert np.abs(world(ob, own.name) - at_last)[:3, 3].max() < EXACT


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_a_second_attachment_on_a_frame_takes_the_place_of_the_first(targets: str) -> None:
    """The hand goes with the rail alone, and Detach leaves nothing of either."""
    ob, _ = live(targets=targets), prop()
    rail = rigs.empty((0.3, -0.4, 1.2), "Rail")
    rigs.key_path(rail, (1, 40), [(0.3, -0.4, 1.2), (0.1, -0.5, 1.3)])
    own, place = hand_of(ob)
    before = film(ob, (1, 5, BEGIN))
    attach(object="Box")
    attach(object="Rail")
    assert [one.target for one in own.constraints] == [rail]
    assert off(ob, before) < EXACT
    assert between((rail,), place, range(BEGIN, 40, 3)) < EXACT
    detach(BEGIN)
    assert not own.constraints
    assert off(ob, before) < EXACT


@pytest.mark.parametrize("turns", [0.0, 9.0])
def test_keys_of_bodies_that_were_made_while_attached_keep_their_places_and_turns(turns: float) -> None:
    """Hips that go round, with the head that hangs on them, are keyed on a thing that turns, and let go.

    Both turn about the same axis, evenly from key to key, so that the hips' turn between keys is known too.
    """
    ob, post = live(), rigs.empty((0.0, 0.0, 1.0), "Post")
    post.rotation_mode = "XYZ"
    for frame, angle in ((BEGIN, 0.0), (14, 3.0), (18, 3.4)):
        post.location, post.rotation_euler = (0.002 * (frame - BEGIN), 0.0, 1.0), (0.0, 0.0, angle)
        rigs.key(post, frame)
    names = [rigs.owner_of(ob, bone).name for bone in ("hips", "head")]
    assert rigs.owner_of(ob, "hips") in rigs.owner_of(ob, "head").parent_recursive
    for name in names:
        ob.pose.bones[name].rotation_mode = "XYZ"
    for name in names:  # each by itself, so that the head is not left to the hips
        rigs.select(ob, name)
        attach(object="Post")
    for number, frame in enumerate((14, 18)):
        rigs.at_frame(frame)
        for name in names:
            own = ob.pose.bones[name]
            own.location = own.location + Vector((0.02, -0.01, 0.03))
            own.rotation_euler.y += number * turns
            rigs.key(own, frame)
    for curve in [*rigs.fcurves(ob), *rigs.fcurves(post)]:
        for key in curve.keyframe_points:
            if "influence" not in curve.data_path:
                key.interpolation = "LINEAR"
        curve.update()
    frames = (14.0, 14.5, 15.0, 16.0, 17.0, 17.5, 18.0)
    owners = [(ob, name) for name in names]
    before = worlds(frames, *owners)
    rigs.select(ob, *names)
    detach(BEGIN)
    assert not any(ob.pose.bones[name].constraints for name in names)
    assert moved({frame: before[frame] for frame in (14.0, 18.0)}, *owners) < 10 * EXACT
    for frame, after in worlds(frames, *owners).items():
        assert rigs.turn(after[0], before[frame][0]) < 0.05


def test_children_are_carried_once() -> None:
    """A cup on a tray goes along as rigidly as the tray; a head's control stays with that of the hips."""
    ob, box = live(), prop()
    tray, cup = rigs.empty((0.1, 0.0, 1.0), "Tray"), rigs.empty((0.1, 0.1, 1.1), "Cup")
    cup.parent = tray
    hips, head = (rigs.owner_of(ob, bone) for bone in ("hips", "head"))
    rigs.select(ob, hips.name, head.name)
    attach(object="Box")
    assert hips.constraints and not head.constraints
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.made_active(tray)
    cup.select_set(True)
    attach(object="Box")
    for held in ((tray,), (cup,), (ob, hips.name)):
        assert between((box,), held, range(BEGIN, 30, 4)) < EXACT


def test_changes_of_mind_leave_the_frames_before_alone() -> None:
    """Let go late, then earlier; attached again while the hand's rotation still goes over."""
    ob, _ = live(), prop()
    rail = rigs.empty((0.2, -0.4, 1.0), "Rail")
    rigs.select(ob, rigs.owner_of(ob, "hand.L").name)
    attach(object="Box")
    before = film(ob, (9, BEGIN, 15, END))
    detach(28)
    detach(END)
    assert off(ob, before) < EXACT
    before = film(ob, (BEGIN, END - 1, END, 24, 25))
    attach(25, object="Rail")
    assert off(ob, before) < EXACT
    assert between((rail,), (ob, "hand.L"), (33, 36, 40)) < 2e-4
    assert ob.dqik.goals["hand.L"].rotation_follows == 0.0


@pytest.mark.parametrize(
    ("keyed", "targets"), [((), "BONES"), ((1, 5, 14, 40), "BONES"), ((1, 15), "BONES"), ((1, 5, 14, 40), "EMPTIES")]
)
def test_an_attachment_before_a_later_one_lasts_until_that_begins(keyed: tuple[int, ...], targets: str) -> None:
    """What is before the one stays, and what is after the beginning of the other; keys between count when let go."""
    ob, box = live(targets=targets), prop()
    rail = rigs.empty((0.3, -0.4, 1.2), "Rail")
    rigs.key_path(rail, (1, 40), [(0.3, -0.4, 1.2), (0.1, -0.5, 1.3)])
    own, place = hand_of(ob)
    key_waves(own, 0.5, keyed)
    attach(20, object="Rail")
    before, start = film(ob, (1, 7, BEGIN, 28, 30, 36)), film(ob, [20])
    key = next((frame for frame in keyed if BEGIN < frame < 20), BEGIN)
    rigs.at_frame(key)
    at_key = world(*place)[:3, 3].copy()
    attach(BEGIN, object="Box")
    assert off(ob, before) < EXACT
    assert off(ob, start) < (0.01 if keyed else EXACT)  # a hand whose rotation went over before settles differently
    assert between((box,), place, (BEGIN, 12, 15, 19)) < EXACT
    if not keyed:
        assert between((box,), (ob, "hand.L"), (18, 19)) < 2e-4
        assert between((rail,), place, (20, 25, 30, 36)) < EXACT
    before = film(ob, (1, 7, BEGIN, 13, 20, 28, 36))
    detach(13)
    assert off(ob, before) < EXACT
    rigs.at_frame(key)
    assert key == BEGIN or np.abs(world(*place)[:3, 3] - at_key).max() < EXACT


def dance(ob: bpy.types.Object) -> None:
    """Keys of a figure's hand and hips."""
    for bone in ("hand.R", "hips"):
        key_waves(rigs.owner_of(ob, bone), 1.0, (1, 12, 20, 30))


def test_a_hand_on_another_characters_hand() -> None:
    """Both are live: the one that leads is solved first, on frames in any order; test_shot_life bakes and opens it."""
    leader = live("Leader")
    leader.location = (0.9, -0.4, 0.0)
    dance(leader)
    ob = live()
    own, _ = hand_of(ob)
    before = film(ob, (5, BEGIN))
    attach(object="Leader", bone="hand.R")
    assert off(ob, before) < EXACT
    order = (28, 11, END, 15, BEGIN)
    assert between((leader, "hand.R"), (ob, own.name), order) < EXACT
    before = film(ob, (5, BEGIN, END - 1, END))
    detach()
    assert off(ob, before) < EXACT


@pytest.mark.parametrize("kind", ["moving", "scaled", "growing"])
def test_a_prop_is_taken_up_and_passed_on(kind: str) -> None:
    """By a control of a live hand, then by the other hand's bone; its scale stays; let go, it stays where it is."""
    ob, box = live(), prop(kind)
    for curve in rigs.fcurves(box):
        while curve.keyframe_points[-1].co[0] > BEGIN:
            curve.keyframe_points.remove(curve.keyframe_points[-1])
    for side in "LR":
        key_waves(rigs.owner_of(ob, f"hand.{side}"), 1.0, (1, 12, 20, 30))
    box.select_set(True)
    places = worlds((4, BEGIN), (box,))
    rigs.select(ob, rigs.owner_of(ob, "hand.L").name)
    attach(into_hand=True)
    assert between((ob, "hand.L"), (box,), (BEGIN, 15, 12)) < EXACT
    rigs.select(ob, "hand.R", at=16)
    places |= worlds((16,), (box,))
    attach(16, into_hand=True)
    assert between((ob, "hand.R"), (box,), (16, 21, 19)) < EXACT
    places |= worlds((END,), (box,))
    detach()
    assert moved(places, (box,)) < EXACT


def test_removing_it_keeps_the_keys_where_they_are() -> None:
    ob, _ = live(), prop()
    own, _ = hand_of(ob)
    key_waves(own, 1.0, (1, *KEYED))
    free = film(ob, (1, 5, BEGIN, *KEYED))
    keyed = {frame: free.pop(frame) for frame in KEYED}
    attach(object="Box")
    detach()
    assert bpy.ops.dqik.detach(object=ob.name, bone=own.name, remove=True) == {"FINISHED"}
    assert not own.constraints
    assert off(ob, free) < EXACT
    hand = ob.pose.bones.find("hand.L")
    now = film(ob, keyed)
    assert all(np.abs(now[frame] - keyed[frame])[hand].max() < 10 * EXACT for frame in KEYED)
    assert not any("constraints" in path for path, _ in rigs.keys(ob))
    attach(BEGIN, object="Box")
    detach(BEGIN)
    assert not own.constraints
    assert off(ob, {5: free[5], BEGIN: free[BEGIN]}) < EXACT


def test_targets_to_pose_moves_an_attached_control() -> None:
    ob, _ = live(), prop()
    own, _ = hand_of(ob)
    attach(object="Box")
    rigs.at_frame(20)
    ob.dqik.live = False
    rigs.posed(ob.pose.bones["arm.L"], rigs.rotation((0, 0, 1), 20))
    wanted = rigs.head(ob, "hand.L")
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    assert (rigs.head(ob, own.name) - wanted).length < EXACT


def active_ball(frames: Iterable[int] = (), places: Iterable = ()) -> bpy.types.Object:
    """The active object, which has keys."""
    ball = rigs.empty((0.3, 0.2, 1.0), "Ball")
    rigs.key_path(ball, frames, places)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rigs.made_active(ball)


def test_keys_of_a_prop_that_was_in_several_hands_stay_when_all_attachments_are_removed() -> None:
    """Each of its own keys is where it was before, and each that was made is where it was in the world."""
    ob = live()
    ob.location.x = 0.3
    rigs.key_path(ob, (1, 24), ((0, 0, 0.05), (0, 0, 1.2)), "rotation_euler")
    ball = active_ball((1, 6, 12, 18, 24), [(0.1 * k, 0.2, 1.0 + 0.1 * k) for k in range(5)])
    before = worlds((1, 6, 12, 18, 24), (ball,))
    for frame, bone in ((16, "head"), (4, "chest")):
        attach(frame, object=ob.name, bone=bone)
    before |= worlds((4, 16), (ball,))
    rigs.at_frame(10)
    assert bpy.ops.dqik.detach(remove=True) == {"FINISHED"}
    assert not len(ball.constraints)
    assert moved(before, (ball,)) < EXACT


def test_a_prop_stays_in_its_next_hand_when_the_attachment_before_is_removed() -> None:
    """A prop has the same location where both attachments begin, and another one between them."""
    ob = live()
    rigs.key_path(ob, (1, 24), ((0.05, 0, 0), (1.2, 0, 0)))
    ball = active_ball()
    for frame, bone in ((12, "head"), (5, "chest")):
        attach(frame, object=ob.name, bone=bone)
    rigs.key_path(ball, (8,), [(0.1, 0.1, 1.1)])
    before = worlds((1, 4, 8, 12, 20), (ball,))
    detach(5)
    assert len(ball.constraints) == 1
    assert moved(before, (ball,)) < EXACT


def test_frames_before_an_attachment_stay_when_it_is_removed_after_its_target_was_moved() -> None:
    ob = live()
    ball = active_ball((1, 12), [(0.3, 0.2, 1.0), (0.5, 0.2, 1.4)])
    last = worlds((12,), (ball,))
    attach(8, object=ob.name, bone="head")
    ob.location.x += 1.0
    before = worlds(range(1, 9), (ball,)) | last
    assert before[8][0, 0, 3] - before[7][0, 0, 3] > 0.9
    assert bpy.ops.dqik.detach(remove=True) == {"FINISHED"}
    assert moved(before, (ball,)) < EXACT


def test_frames_before_an_attachment_stay_when_its_first_key_is_gone_and_another_one_behind_it() -> None:
    """As *Fewer Keys* leaves it where the frame of attaching is within its range."""
    ob = live()
    own, _ = hand_of(ob)
    key_waves(own, 1.0, (1, 6))
    prop()
    attach(object="Box")
    for curve in rigs.fcurves(ob):
        if own.name in curve.data_path and "influence" not in curve.data_path:
            curve.keyframe_points.insert(BEGIN + 4, curve.evaluate(BEGIN + 4))
            curve.keyframe_points.remove(next(key for key in curve.keyframe_points if key.co[0] == BEGIN))
    before = film(ob, BEFORE)
    detach(BEGIN)
    assert off(ob, before) < EXACT


def follower(ob: bpy.types.Object) -> None:
    """A partner whose hand follows this one's."""
    other = live("Other")
    rigs.constrain(rigs.owner_of(other, "hand.R"), "COPY_LOCATION", ob, subtarget="hand.R")
    rigs.select(ob, rigs.owner_of(ob, "hand.L").name)


def solved_on_another_frame(ob: bpy.types.Object) -> None:
    """The goals are muted at this frame, and by keys they count at others."""
    for goal in ob.dqik.goals:
        rigs.key_path(goal, (BEGIN, BEGIN + 10), (True, False), "mute")
    rigs.at_frame(BEGIN)
    assert all(goal.mute for goal in ob.dqik.goals)


def lead_control(ob: bpy.types.Object, box: bpy.types.Object) -> None:
    """A goal moves the control of a goal that is muted."""
    control = ob.pose.bones.find("DQIK hand.L")
    was = rigs.matrices(ob)[control]
    rigs.goal_of(ob, "hand.L").mute = True
    rigs.goal(ob, "DQIK hand.L", box, kind="LOOK_AT", chain_length=1)
    rigs.update()
    assert np.abs(rigs.matrices(ob)[control] - was).max() > 0.1


def without_size(box: bpy.types.Object) -> None:
    box.animation_data_clear()
    box.scale = (0, 0, 0)
    rigs.update()


BOX, HEAD = {"object": "Box"}, {"object": "Figure", "bone": "head"}
REFUSED: dict[str, tuple[str, Callable[[bpy.types.Object, bpy.types.Object], object], dict]] = {
    "held by its own hand": ("'DQIK hand.L' cannot be attached to 'Box', which follows it",
                             lambda ob, box: rigs.child(box, ob, "hand.R"), BOX),
    "its own head": ("'DQIK hand.L' cannot be attached to 'head', which follows it", lambda ob, box: None, HEAD),
    "a partner who follows": ("cannot be attached to 'hand.L', which follows it", lambda ob, box: follower(ob),
                              {"object": "Other", "bone": "hand.L"}),
    "a bone that another frame solves": ("'DQIK hand.L' cannot be attached to 'head', which follows it",
                                         lambda ob, box: solved_on_another_frame(ob), HEAD),
    "no such object": ("There is no object 'Nothing'", lambda ob, box: None, {"object": "Nothing"}),
    "no object for the hand": ("Choose the object to put in the hand", lambda ob, box: rigs.select(ob, "hand.L"),
                               {"into_hand": True}),
    "no such bone": ("'Figure' has no bone 'wing'", lambda ob, box: None, {"object": "Figure", "bone": "wing"}),
    "without size": ("'Box' has no size", lambda ob, box: without_size(box), BOX),
    "a constrained control": ("Constraints or drivers move 'DQIK hand.L'",
                              lambda ob, box: rigs.constrain(rigs.owner_of(ob, "hand.L"), "LIMIT_DISTANCE", box), BOX),
    "an action of two": ("also moves 'Twin'", lambda ob, box: (dance(ob), twin_of(ob)), BOX),
    "a connected bone": ("'forearm.L' cannot slide while connected",
                         lambda ob, box: (ob.dqik.goals.clear(), rigs.select(ob, "forearm.L")), BOX),
    "a control that another goal moves, its own is muted": ("Goals move bone 'DQIK hand.L'",
                                                            lambda ob, box: lead_control(ob, box), BOX),
    "a solved bone": ("Goals move bone 'forearm.L'", lambda ob, box: rigs.select(ob, "forearm.L"), BOX),
}  # fmt: skip
"""What is said, what is special, and to what is attached."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_attached_is_said_and_changes_nothing(case: str) -> None:
    ob, box = live(), prop()
    rigs.select(ob, rigs.owner_of(ob, "hand.L").name)
    said, prepare, where = REFUSED[case]
    prepare(ob, box)
    keys, constraints = rigs.keys(ob), sum(len(bone.constraints) for bone in ob.pose.bones)
    rigs.refuses(bpy.ops.dqik.attach, said, **where)
    assert rigs.keys(ob) == keys
    assert sum(len(bone.constraints) for bone in ob.pose.bones) == constraints


def test_a_removed_goal_takes_its_keys_along() -> None:
    """The keys of later goals stay theirs."""
    ob = live()
    for value, name in ((0.2, "hand.L"), (0.4, "hand.R"), (0.6, "head")):
        goal = ob.dqik.goals[name]
        rigs.keyed(goal, 1, influence=value)
    ob.dqik.active_goal = ob.dqik.goals.find("hand.L")
    assert bpy.ops.dqik.goal_remove() == {"FINISHED"}
    rigs.at_frame(5)
    assert ob.dqik.goals["hand.R"].influence == pytest.approx(0.4)
    assert ob.dqik.goals["head"].influence == pytest.approx(0.6)
    assert len([path for path, _ in rigs.keys(ob) if path.endswith("influence")]) == 2


@pytest.mark.parametrize("auto", [True, False])
def test_a_prop_moved_beside_its_keys(auto: bool, monkeypatch: MonkeyPatch, capfd: CaptureFixture[str]) -> None:
    """With Auto Keying it is keyed where it is and the hand stays with it; else a line says that it moves back."""
    auto_keying(monkeypatch, auto, False)
    ob, box = live(), prop("moving")
    rigs.select(ob, rigs.owner_of(ob, "hand.L").name, at=BEGIN)
    keyed = world(box)[:3, 3]
    box.location.z += 0.45
    moved, hand = world(box)[:3, 3], rigs.tail(ob, "hand.L")
    capfd.readouterr()
    assert bpy.ops.dqik.attach(object="Box") == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Attached Left Hand to Box" in said  # as the panel calls both
    assert ("moved beside its keys" in said) == (not auto)
    rigs.at_frame(BEGIN + 1)
    rigs.at_frame(BEGIN)
    assert np.abs(world(box)[:3, 3] - (moved if auto else keyed)).max() < EXACT
    if auto:
        assert (rigs.tail(ob, "hand.L") - hand).length < 10 * EXACT
    frames = [frame for frame, _ in rigs.keys(box)["location", 2]]
    assert frames == ([1, 8, BEGIN, 16, 30] if auto else [1, 8, 16, 30])
    capfd.readouterr()
    attach(BEGIN + 1, object="Box")
    assert "moved beside its keys" not in capfd.readouterr().out
