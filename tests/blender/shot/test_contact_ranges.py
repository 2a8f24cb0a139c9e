# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts that an armature keeps: found, changed in the list and by their bars, saved, and used by Mend Motion."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from situations import overridden, override, reopened
from test_mend_motion import FEET, HOLDS, LAST, captured, holding, steps_of

Contact = tuple[str, str, int, int]


@pytest.fixture
def clip() -> bpy.types.Object:
    return captured()


def listed(ob: bpy.types.Object) -> list[Contact]:
    """The contacts that count."""
    return [(one.bone, one.part, one.frame_start, one.frame_end) for one in ob.dqik.contacts if not one.mute]


def slides(ob: bpy.types.Object, joint: str, first: int, last: int) -> np.ndarray:
    """The steps (F,) of a joint from frame to frame, over the ground."""
    places = [rigs.head(ob, joint) for _ in rigs.visited(range(first, last + 1))]
    return np.linalg.norm(np.diff(np.array(places), axis=0)[:, :2], axis=-1)


def test_found_contacts_are_slow_and_low(clip: bpy.types.Object) -> None:
    """Each of both feet has some on heel and ball, and on them the toes' joint moves less than elsewhere."""
    before = rigs.keys(clip)
    rigs.at_frame(9)
    assert bpy.ops.dqik.contacts_find() == {"FINISHED"}
    found = listed(clip)
    assert {(bone, part) for bone, part, *_ in found} == {(foot, part) for foot in FEET for part in ("HEEL", "BALL")}
    assert len({one.name for one in clip.dqik.contacts}) == len(found)
    assert bpy.context.scene.frame_current == 9
    assert rigs.keys(clip) == before
    balls = [(first, last) for bone, part, first, last in found if (bone, part) == (FEET[0], "BALL")]
    steps = slides(clip, "LeftToeBase", 1, LAST)
    stands = np.zeros(len(steps), dtype=bool)
    for first, last in balls:
        assert 1 <= first <= last <= LAST
        stands[first - 1 : last - 1] = True
    assert np.median(steps[stands]) < 0.2 * np.median(steps[~stands])


def test_mend_motion_finds_them_and_keeps_them(clip: bpy.types.Object) -> None:
    bpy.ops.dqik.contacts_find()
    found = listed(clip)
    bpy.ops.dqik.contacts_clear()
    assert not listed(clip)
    action = clip.animation_data.action
    bpy.ops.dqik.mend_motion()
    assert listed(clip) == found
    assert clip.dqik.contacts_of == action
    assert clip.animation_data.action.dqik_original == action


def test_mend_motion_plants_the_contacts_of_the_list_only(clip: bpy.types.Object) -> None:
    """One contact that is longer than the foot stands: it stands all that time, and the other foot goes as it did."""
    bpy.ops.dqik.contacts_find()
    ball = next(one for one in listed(clip) if one[:2] == (FEET[0], "BALL"))
    bpy.ops.dqik.contacts_clear()
    first, last = ball[2], ball[3] + 2
    assert bpy.ops.dqik.contact_add(bone=FEET[0], part="BALL", frame_start=first, frame_end=last) == {"FINISHED"}
    before = slides(clip, "LeftToeBase", first, last), slides(clip, "RightToeBase", first, last)
    bpy.ops.dqik.mend_motion()
    assert listed(clip) == [(FEET[0], "BALL", first, last)]
    after = slides(clip, "LeftToeBase", first, last), slides(clip, "RightToeBase", first, last)
    assert before[0].max() > 0.01
    assert after[0].max() < 0.1 * before[0].max()
    assert np.abs(after[1] - before[1]).max() < 0.02


def test_hands_that_hold_are_listed_and_planted_as_listed(clip: bpy.types.Object) -> None:
    """Found, reported, and left alone once they are out of the list."""
    last_report = rigs.part("rig.clip.last_report")
    holding(clip)
    inside = HOLDS[0] + 4, HOLDS[1] - 4
    trembles = steps_of(clip, "LeftHand", *inside)
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    hands = [one for one in listed(clip) if one[0] not in FEET]
    assert ("LeftHand", "WRIST") in {one[:2] for one in hands} <= {("LeftHand", "WRIST"), ("LeftHand", "KNUCKLES")}
    for _, _, first, last in hands:
        assert HOLDS[0] - 1 <= first < HOLDS[0] + 5 < HOLDS[1] - 5 < last <= HOLDS[1] + 1
    assert steps_of(clip, "LeftHand", *inside).max() < 1e-5 < 1e-3 < trembles.max()
    feet, of_hands = last_report.of(clip).notes
    assert sum(note.values[0].values[0] for note in (feet, of_hands)) == len(listed(clip))
    for number in reversed(range(len(clip.dqik.contacts))):
        if clip.dqik.contacts[number].bone == "LeftHand":
            bpy.ops.dqik.contact_remove(index=number)
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    assert {one[0] for one in listed(clip)} == set(FEET)
    assert steps_of(clip, "LeftHand", *inside).max() > 0.5 * trembles.max()
    assert len(last_report.of(clip).notes) == 1


def test_a_hand_is_planted_where_the_list_has_it_alone(clip: bpy.types.Object) -> None:
    """A hand that swings is held for some frames: its wrist stands then, as the feet do on their own contacts."""
    bpy.ops.dqik.contacts_find()
    bpy.ops.dqik.contact_add(bone="RightHand", part="WRIST", frame_start=30, frame_end=33)
    found = listed(clip)
    assert steps_of(clip, "RightHand", 30, 33).min() > 5e-3
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    assert listed(clip) == found
    assert steps_of(clip, "RightHand", 30, 33).max() < 1e-4
    first, last = next(one[2:] for one in found if one[:2] == (FEET[0], "BALL"))
    assert slides(clip, "LeftToeBase", first, last).max() < 1e-3


def test_mending_again_starts_from_the_original(clip: bpy.types.Object) -> None:
    """The same contacts give the same keys; with others, what was planted before is not."""
    original = clip.animation_data.action
    bpy.ops.dqik.mend_motion()
    mended, keys = clip.animation_data.action, rigs.keys(clip)
    bpy.ops.dqik.mend_motion()
    assert rigs.keys(clip) == keys
    assert clip.animation_data.action.dqik_original == original
    assert mended.use_fake_user
    bpy.ops.dqik.mend_motion(original=False)
    assert clip.animation_data.action.dqik_original not in (original, mended)


def test_what_is_stopped_half_way_changes_nothing(clip: bpy.types.Object) -> None:
    """Mending again has assigned the original when it is stopped."""
    bpy.ops.dqik.mend_motion()
    mended, keys, found, count = clip.animation_data.action, rigs.keys(clip), listed(clip), len(bpy.data.actions)
    operator = rigs.part("operators.motion.mend_motion")
    for share in (0.2, 0.8):
        steps = operator.steps(bpy.context, clip, range(1, LAST + 1), find=True)
        while next(steps) < share:
            pass
        assert clip.animation_data.action != mended
        steps.close()
        assert clip.animation_data.action == mended
        assert (rigs.keys(clip), listed(clip), len(bpy.data.actions)) == (keys, found, count)


def test_contacts_of_another_motion_do_not_count(clip: bpy.types.Object) -> None:
    """Nor are those shown; Mend Motion finds those of this motion, and going back to the first one it finds again."""
    bpy.ops.dqik.contact_add(bone=FEET[0], part="HEEL", frame_start=2, frame_end=5)
    first = clip.animation_data.action
    assert clip.dqik.contacts_of == first
    other = first.copy()
    clip.animation_data.action = other
    bpy.ops.dqik.mend_motion()
    assert len(listed(clip)) > 5
    assert clip.dqik.contacts_of == other


def test_changes_are_undo_steps_and_are_saved(clip: bpy.types.Object, tmp_path: Path) -> None:
    bpy.ops.ed.undo_push(message="clip")
    bpy.ops.dqik.contacts_find()
    bpy.ops.ed.undo_push(message="found")
    found = listed(clip)
    bpy.ops.dqik.contact_drag(index=0, end="END", frames=-1)
    bpy.ops.ed.undo_push(message="dragged")
    bpy.ops.dqik.contact_remove(index=1)
    bpy.ops.ed.undo_push(message="removed")
    dragged = (*found[0][:3], found[0][3] - 1)
    assert listed(bpy.context.object) == [dragged, *found[2:]]
    bpy.ops.ed.undo()
    assert listed(bpy.context.object) == [dragged, *found[1:]]
    bpy.ops.ed.undo()
    assert listed(bpy.context.object) == found
    bpy.ops.ed.undo()
    assert not listed(bpy.context.object)
    bpy.ops.ed.redo()
    reopened(tmp_path / "walk.blend")
    assert listed(bpy.context.object) == found
    assert bpy.context.object.dqik.contacts_of == bpy.context.object.animation_data.action


def test_an_override_keeps_its_own_contacts(clip: bpy.types.Object, tmp_path: Path) -> None:
    """Those of the library are changed, and left out where there are fewer; all of it is saved and loaded."""
    for start in (10, 30, 50):
        bpy.ops.dqik.contact_add(bone=FEET[0], part="HEEL", frame_start=start, frame_end=start + 5)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = rigs.made_active(overridden(tmp_path / "library.blend"))
    assert [one[2] for one in listed(ob)] == [10, 30, 50]
    bpy.ops.dqik.contact_drag(index=0, end="START", frames=3)
    bpy.ops.dqik.contact_remove(index=1)
    bpy.ops.dqik.contact_add(bone=FEET[1], part="BALL", frame_start=70, frame_end=80)
    wanted = [(FEET[0], "HEEL", 13, 15), (FEET[0], "HEEL", 50, 55), (FEET[1], "BALL", 70, 80)]
    assert listed(ob) == wanted
    reopened(tmp_path / "shot.blend")
    assert listed(override()) == wanted
    rigs.made_active(override())
    bpy.ops.dqik.contacts_clear()
    assert not listed(override())


def test_an_override_is_mended_and_keeps_what_was_found(clip: bpy.types.Object, tmp_path: Path) -> None:
    """It finds what the figure of the library does; contacts of the library become others."""
    bpy.ops.dqik.contacts_find()
    found = listed(clip)
    bpy.ops.dqik.contacts_clear()
    for start in (10, 30):
        bpy.ops.dqik.contact_add(bone=FEET[0], part="HEEL", frame_start=start, frame_end=start + 5)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob, scene = rigs.made_active(overridden(tmp_path / "library.blend")), bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 30
    assert bpy.ops.dqik.mend_motion(find=True) == {"FINISHED"}
    assert listed(ob) == found
    original = ob.animation_data.action.dqik_original
    assert original.library is not None
    reopened(tmp_path / "shot.blend")
    assert listed(override()) == found
    assert override().animation_data.action.dqik_original.library is not None


def test_a_contact_is_dragged_until_the_next_one(clip: bpy.types.Object) -> None:
    """It keeps a frame of its own and one beside its neighbours; other parts are no neighbours."""
    for start, end in ((10, 20), (30, 40), (50, 60)):
        bpy.ops.dqik.contact_add(bone=FEET[0], part="HEEL", frame_start=start, frame_end=end)
    bpy.ops.dqik.contact_add(bone=FEET[0], part="BALL", frame_start=42, frame_end=45)

    def drag(end: str, frames: int) -> tuple[int, int]:
        bpy.ops.dqik.contact_drag(index=1, end=end, frames=frames)
        return listed(clip)[1][2:]

    assert drag("END", 4) == (30, 44)
    assert drag("END", 100) == (30, 48)
    assert drag("START", -100) == (22, 48)
    assert drag("START", 100) == (48, 48)
    assert drag("END", -100) == (48, 48)
    assert drag("WHOLE", 1) == (48, 48)
    assert drag("WHOLE", -100) == (22, 22)


def test_ends_in_the_list_do_not_pass_each_other(clip: bpy.types.Object) -> None:
    bpy.ops.dqik.contact_add(bone=FEET[0], part="HEEL", frame_start=10, frame_end=20)
    one = clip.dqik.contacts[0]
    one.frame_start = 25
    assert (one.frame_start, one.frame_end) == (25, 25)
    one.frame_end = 12
    assert (one.frame_start, one.frame_end) == (12, 12)


def test_a_contact_is_added_for_the_selected_foot_from_this_frame_on(clip: bpy.types.Object) -> None:
    bpy.ops.pose.select_all(action="DESELECT")
    rigs.at_frame(40)
    bpy.ops.dqik.contact_add()
    rigs.select(clip, FEET[1])
    bpy.ops.dqik.contact_add(frame_start=45, frame_end=50)
    rigs.at_frame(41)
    bpy.ops.dqik.contact_add()
    found = [(FEET[0], "BALL", 40, 49), (FEET[1], "BALL", 45, 50), (FEET[1], "BALL", 41, 43)]
    assert listed(clip) == found
    for frame in rigs.visited((41, 44, 47, 51)):
        rigs.refuses(bpy.ops.dqik.contact_add, f"'RightFoot' has a contact at or beside frame {frame} already")
    assert listed(clip) == found


def test_a_selected_finger_or_toe_is_that_of_its_hand_or_foot(clip: bpy.types.Object) -> None:
    """And heel and ball of a hand are its wrist and its knuckles."""
    rigs.at_frame(40)
    for name in ("LeftFingerBase", "RightToeBase"):
        rigs.select(clip, name)
        bpy.ops.dqik.contact_add()
    bpy.ops.dqik.contact_add(bone="LeftHand", part="HEEL", frame_start=1, frame_end=2)
    assert listed(clip) == [("LeftHand", "KNUCKLES", 40, 49), (FEET[1], "BALL", 40, 49), ("LeftHand", "WRIST", 1, 2)]


def test_an_arm_that_more_than_keys_moves_is_named(clip: bpy.types.Object) -> None:
    """Its contacts are found no more, and those of the list are refused before anything changes."""
    holding(clip)
    bpy.ops.dqik.contacts_find()
    count = len(listed(clip))
    clip.pose.bones["LeftForeArm"].constraints.new("COPY_ROTATION").target = rigs.empty((0.0, 0.0, 0.0))
    rigs.refuses(bpy.ops.dqik.mend_motion, "Contacts of 'LeftHand' cannot be planted: mute what moves its arm")
    assert clip.animation_data.action.dqik_original is None
    assert len(listed(clip)) == count
    assert bpy.ops.dqik.mend_motion(find=True) == {"FINISHED"}
    assert {one[0] for one in listed(clip)} == set(FEET)


def test_what_cannot_be_done_is_said(clip: bpy.types.Object) -> None:
    rigs.refuses(bpy.ops.dqik.contact_remove, "has no contacts")
    add = bpy.ops.dqik.contact_add
    rigs.refuses(add, "has no bone 'Paw'", bone="Paw")
    rigs.refuses(add, "'Spine' is no foot, shin, hand, hips or spine that is recognised", bone="Spine")
    rigs.refuses(add, "ends at frame 3, before it starts at 5", bone=FEET[0], frame_start=5, frame_end=3)
    add(bone=FEET[0], frame_start=LAST + 5, frame_end=LAST + 9)
    rigs.refuses(bpy.ops.dqik.contact_remove, "has 1 contact: there is none with the number 3", index=3)
    rigs.refuses(bpy.ops.dqik.mend_motion, "No foot of .* stands on these frames")
    assert len(bpy.data.actions) == 1


def test_lanes_of_hands_are_above_those_of_feet(clip: bpy.types.Object) -> None:
    """The wrist below the knuckles, as the heel below the ball."""
    bars_of = rigs.part("rig.overlay.contact_bars")
    for bone, part in (("LeftHand", "KNUCKLES"), (FEET[1], "BALL"), ("LeftHand", "WRIST"), (FEET[1], "HEEL")):
        bpy.ops.dqik.contact_add(bone=bone, part=part, frame_start=10, frame_end=19)
    edges = {one.contact[:2]: one.bottom for one in bars_of.bars(clip, float, 11.0, 100.0, 1.0)}
    assert sorted(edges, key=edges.__getitem__) == [
        (FEET[1], "HEEL"), (FEET[1], "BALL"), ("LeftHand", "WRIST"), ("LeftHand", "KNUCKLES"),
    ]  # fmt: skip


def test_a_low_timeline_has_the_lanes_around_the_active_contact(clip: bpy.types.Object) -> None:
    """As many as can be hit, inside the room that there is; with room enough, all."""
    bars_of = rigs.part("rig.overlay.contact_bars")
    feet = [(foot, part) for foot in FEET for part in ("HEEL", "BALL")]
    for bone, part in (*feet, ("LeftHand", "WRIST")):
        bpy.ops.dqik.contact_add(bone=bone, part=part, frame_start=10, frame_end=19)
    for active in range(5):
        clip.dqik.active_contact = active
        for room, most in ((3.0, 1), (9.0, 1), (29.0, 3), (200.0, 5)):
            shown = bars_of.bars(clip, float, 11.0, room, 1.0)
            assert len(shown) == most
            assert active in {bar.number for bar in shown}
            assert all(bar.top - bar.bottom >= 7.0 for bar in shown)
            assert min(bar.bottom for bar in shown) == 11.0
            assert max(bar.top for bar in shown) <= 11.0 + max(room, 7.0)


def test_bars_are_where_their_frames_are_and_ends_can_be_caught(clip: bpy.types.Object) -> None:
    """Where a frame is ten pixels wide. A short bar can still be moved as a whole."""
    bars_of = rigs.part("rig.overlay.contact_bars")
    for bone, start, end in ((FEET[1], 10, 19), (FEET[0], 12, 12)):
        bpy.ops.dqik.contact_add(bone=bone, part="BALL", frame_start=start, frame_end=end)
    right, left = bars_of.bars(clip, lambda frame: 10.0 * frame, 11.0, 20.0, 1.0)
    assert (right.left, right.right, left.left, left.right) == (95.0, 195.0, 115.0, 125.0)
    assert left.top < right.bottom, "the left foot's lane is below that of the right one, as its bones are before"
    middle = 0.5 * (right.bottom + right.top)
    caught = [bars_of.under([right, left], x, middle, 1.0) for x in (80.0, 92.0, 97.0, 150.0, 193.0, 198.0, 210.0)]
    assert caught == [None, (0, "START"), (0, "START"), (0, "WHOLE"), (0, "END"), (0, "END"), None]
    middle = 0.5 * (left.bottom + left.top)
    assert bars_of.under([right, left], 120.0, middle, 1.0) == (1, "WHOLE")
    assert bars_of.under([right, left], 150.0, middle, 1.0) is None
