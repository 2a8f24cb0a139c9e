# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets to Pose says which targets do not end up at their bones, whatever keeps them from it."""

from collections.abc import Callable

import bpy
import pytest
import rigs
from situations import as_strip, link_action, named


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """Our warnings that Blender has printed since the last call."""

    def read() -> list[str]:
        return [line for line in capfd.readouterr().out.splitlines() if "targets of" in line]

    return read


def posed_arm() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A bent arm with one goal, whose target is far away, and its keyed bones."""
    ob = rigs.bent_arm()
    target = rigs.empty((3, 3, 3), "Target")
    rigs.goal(ob, "b", target, use_rotation=True)
    bone = ob.pose.bones["a"]
    rigs.key_path(bone, (1, 10), [rigs.rotation((0, 0, 1), angle) for angle in (0.0, 50.0)], "rotation_quaternion")
    rigs.made_active(ob)
    rigs.at_frame(5)
    return ob, target


def keys(target: bpy.types.Object) -> None:
    for frame, x in ((1, 3.0), (10, 4.0)):
        target.location.x = x
        rigs.key(target, frame)
    rigs.at_frame(5)


def on(change: Callable[[bpy.types.Object], object]) -> Callable[[bpy.types.Object, bpy.types.Object], object]:
    """A change of the target alone."""
    return lambda ob, target: change(target)


def in_the_nla(target: bpy.types.Object) -> None:
    keys(target)
    as_strip(target)
    rigs.at_frame(5)


def solo(target: bpy.types.Object) -> None:
    in_the_nla(target)
    target.animation_data.nla_tracks[0].is_solo = True


def locked(target: bpy.types.Object) -> None:
    keys(target)
    for curve in rigs.fcurves(target):
        curve.lock = True


def linked_action(target: bpy.types.Object) -> None:
    keys(target)
    link_action(target)
    rigs.at_frame(5)


def driven_offset(target: bpy.types.Object) -> None:
    target.delta_location = (0, 0, 0)
    rigs.drive(target, "delta_location", "1 + frame * 0.01", 2)


def below_a_moved_parent(ob: bpy.types.Object, target: bpy.types.Object) -> None:
    """Both are targets, the parent the one of the later goal."""
    target.parent = rigs.empty((0, 0, 5), "Parent")
    rigs.goal(ob, "a", target.parent, use_rotation=True)


def turned_by_its_own_keys(ob: bpy.types.Object, target: bpy.types.Object) -> None:
    keys(target)
    ob.dqik.goals[0].use_rotation = False


ALWAYS = {
    "of_two_goals": lambda ob, target: rigs.goal(ob, "a", target),
    "constrained": on(lambda target: rigs.constrain(target, "LIMIT_LOCATION", use_min_x=True, min_x=5.0)),
    "missing": lambda ob, target: rigs.put(ob.dqik.goals[0], target=None),
}
DRIVEN = {
    "driven": on(lambda target: rigs.drive(target, "location", "5.0", 0)),
    "driven_turn": on(lambda target: rigs.drive(target, "rotation_quaternion", "0.9", 1)),
}
UNTIL_THE_NEXT_FRAME = {
    "keyed": on(keys), "in_the_nla": on(in_the_nla), "solo": on(solo), "locked": on(locked),
    "linked_action": on(linked_action),
}  # fmt: skip
WITHOUT_KEYING = ALWAYS | DRIVEN | UNTIL_THE_NEXT_FRAME


def distances(ob: bpy.types.Object) -> list[float]:
    """Of the targets from the tails of their bones, as Blender shows them."""
    return [rigs.miss(ob, goal.bone, goal.target) for goal in ob.dqik.goals if goal.target]


@pytest.mark.parametrize("hinder", WITHOUT_KEYING)
def test_a_target_that_does_not_stay_at_its_bone_is_named(hinder: str, said: Callable) -> None:
    """Without Auto Keying; the report is one line."""
    ob, target = posed_arm()
    WITHOUT_KEYING[hinder](ob, target)
    bpy.ops.dqik.targets_to_pose()
    lines = said()
    assert len(lines) == 1
    assert ("'a'" if hinder == "of_two_goals" else "'b'") in lines[0]
    if hinder in UNTIL_THE_NEXT_FRAME:  # it is at its bone until the next frame
        rigs.update()
        assert distances(ob)[0] < 1e-4
        rigs.at_frame(5)
    if hinder not in ("missing", "driven_turn", "of_two_goals"):
        assert distances(ob)[0] > 0.1


def test_targets_of_other_kinds_stay_and_are_named_with_the_reason(said: Callable) -> None:
    """What a bone looks at is not at the bone, and nothing is wrong with its target."""
    ob, target = posed_arm()
    other = rigs.empty((0, 5, 1), "Seen")
    rigs.goal(ob, "a", other)
    ob.dqik.goals[1].kind = "LOOK_AT"
    bpy.ops.dqik.targets_to_pose()
    rigs.update()
    [line] = said()
    assert repr(ob.dqik.goals[1].name) in line
    assert "only those of Reach goals" in line
    assert "of its own" not in line
    assert rigs.miss(ob, "b", target) < 1e-4
    assert tuple(other.location) == (0, 5, 1)


def key_targets(over_range: bool) -> None:
    """Press it with Auto Keying, at the frame or over a range."""
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.dqik.targets_to_pose(**({"frame_start": 1, "frame_end": 6} if over_range else {}))


@pytest.mark.parametrize("over_range", [False, True])
@pytest.mark.parametrize("hinder", ALWAYS)
def test_a_target_that_keys_do_not_put_at_its_bone_is_named(hinder: str, over_range: bool, said: Callable) -> None:
    ob, target = posed_arm()
    ALWAYS[hinder](ob, target)
    key_targets(over_range)
    lines = said()
    assert len(lines) == 1
    assert ("'a'" if hinder == "of_two_goals" else "'b'") in lines[0]


@pytest.mark.parametrize("over_range", [False, True])
@pytest.mark.parametrize("prepare", named(
    below_a_moved_parent, turned_by_its_own_keys, keyless=lambda ob, target: None, keyed=on(keys),
    driven_offset=on(driven_offset),
))  # fmt: skip
def test_targets_that_stay_are_not_named(prepare: Callable, over_range: bool, said: Callable) -> None:
    """With Auto Keying the keys hold them on the frame, or on every frame of the range."""
    ob, target = posed_arm()
    prepare(ob, target)
    key_targets(over_range)
    assert not said()
    for _ in rigs.visited((1, 3, 6) if over_range else (5,)):
        assert max(distances(ob)) < 2e-3


def test_looking_where_targets_go_changes_nothing_else() -> None:
    """Unkeyed edits of keyed properties of the target and its curves are as before."""
    _, target = posed_arm()
    keys(target)
    target["mood"] = 1.0
    for path in ('["mood"]', "scale", "hide_render"):
        target.keyframe_insert(path, frame=1)
    rigs.at_frame(5)
    target["mood"], target.scale[1], target.hide_render = 0.25, 2.0, True
    before = rigs.keys(target)
    bpy.ops.dqik.targets_to_pose()
    rigs.update()
    assert (target["mood"], target.hide_render) == (0.25, True)
    assert target.scale[1] == pytest.approx(2.0, abs=1e-5)
    assert rigs.keys(target) == before


def test_a_script_gets_the_range_that_it_asks_for() -> None:
    """The frames are not replaced by the scene's, and keys outside of them stay."""
    _, target = posed_arm()
    rigs.key_path(target, (1, 20), [target.location[:], (0.3, 0.2, 0.1)])
    before = rigs.keys(target)["location", 0]
    assert bpy.ops.dqik.targets_to_pose(use_range=True, frame_start=5, frame_end=8) == {"FINISHED"}
    after = rigs.keys(target)["location", 0]
    assert [frame for frame, _ in after] == [1, 4, 5, 6, 7, 8, 9, 20]
    assert [key for key in after if key[0] in (1, 20)] == before
