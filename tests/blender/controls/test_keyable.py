# SPDX-License-Identifier: GPL-3.0-or-later
"""All that writes keys refuses, in one sentence and before it begins, where these would be lost, hidden or shared."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import pytest
import rigs
import situations
from live_rigs import frames_of
from mathutils import Vector
from pytest import CaptureFixture
from test_shot_life import assert_alike, contents, film, off, shot

LAYERED = bpy.app.version >= (4, 4, 0)
FRAME = 10
FRAMES = (1, 6, 10, 14, 20, 30)
SETTINGS = ("influence", "mute", "rotation_follows")


class Tool(NamedTuple):
    """A press on selected bones, and the bone whose keys it writes."""

    selected: str
    press: Callable[[], set[str]]
    bone: str


def edited() -> set[str]:
    """Auto Keying would key what is moved at once in a window, but not from a script."""
    bone = bpy.context.object.pose.bones["DQIK hand.L"]
    bone.location.x += 0.05
    return bpy.ops.dqik.edit_range(radius=4)


def grabbed(bone: str) -> set[str]:
    ob = bpy.context.object
    point = rigs.head(ob, bone)
    return bpy.ops.dqik.grab(bone=bone, point=point, to=point + Vector((0.0, 0.0, 0.03)))


def rotated() -> set[str]:
    ob = bpy.context.object
    number = ob.dqik.goals.find("hand.L")
    space = "WORLD" if ob.dqik.goals[number].rotation_follows else "FOREARM"
    return bpy.ops.dqik.rotation_space(index=number, space=space)


TOOLS = {
    "plant": Tool("DQIK foot.L", lambda: bpy.ops.dqik.plant(frame_start=8, frame_end=14), "DQIK foot.L"),
    "hold here": Tool("chest", lambda: bpy.ops.dqik.hold_here(), "chest"),
    "pin": Tool("DQIK hand.L", lambda: bpy.ops.dqik.pin(), "DQIK hand.L"),
    "to fk": Tool("DQIK hand.L", lambda: bpy.ops.dqik.limb_to_fk(frame_start=9, frame_end=12), "forearm.L"),
    "to ik": Tool("DQIK hand.L", lambda: bpy.ops.dqik.limb_to_ik(frame_start=9, frame_end=12), "DQIK hand.L"),
    "targets": Tool("hand.L", lambda: bpy.ops.dqik.targets_to_pose(frame_start=8, frame_end=12), "DQIK hand.L"),
    "attach": Tool("DQIK hand.L", lambda: bpy.ops.dqik.attach(object="Box"), "DQIK hand.L"),
    "edit range": Tool("DQIK hand.L", edited, "DQIK hand.L"),
    "overlap": Tool("DQIK hand.L", lambda: bpy.ops.dqik.overlap(frame_start=1, frame_end=20), "DQIK hand.L"),
    "grab": Tool("DQIK hand.L", lambda: grabbed("hand.L"), "DQIK hand.L"),
    "rotation space": Tool("DQIK hand.L", rotated, "DQIK hand.L"),
    "keep pose": Tool("DQIK hand.L", lambda: bpy.ops.dqik.keep_pose(), "forearm.L"),
    "bake": Tool("DQIK hand.L", lambda: bpy.ops.dqik.bake(frame_start=8, frame_end=12, action="CURRENT"), "forearm.L"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def keys_make_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)


def keyed_shot(tool: str, targets: str = "BONES") -> bpy.types.Object:
    """A live shot with Auto Keying on, in which all that the tools key has curves; the tool's bone is selected."""
    ob = shot(targets)
    for goal in ob.dqik.goals:
        if tool == "to ik" and goal.bone == "hand.L":
            goal.influence = 0.0
        for name in SETTINGS:
            ob.keyframe_insert(f"{goal.path_from_id()}.{name}", frame=1)
    for bone in ob.pose.bones:
        if bone.name in ("chest", "arm.L", "forearm.L", "hand.L"):
            bone.keyframe_insert("rotation_quaternion", frame=1, group=bone.name)
    for name in ("hand.L", "foot.L"):
        own = rigs.owner_of(ob, name)
        own.keyframe_insert(rigs.ROTATION_PATHS[own.rotation_mode], frame=1, group=own.name)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    ready(ob, tool)
    return ob


def ready(ob: bpy.types.Object, tool: str) -> None:
    """Select what the tool works on, at the frame at which it is pressed."""
    rigs.made_active(ob)
    name = TOOLS[tool].selected
    rigs.select(ob, name if name in ob.pose.bones else name.removeprefix("DQIK "), at=FRAME)


def refused(ob: bpy.types.Object, tool: str, said: str) -> None:
    """The tool says why not, in one sentence, and nothing changes."""
    before, shown = contents(), film(ob, FRAMES)
    ready(ob, tool)
    with pytest.raises(RuntimeError, match=said) as raised:
        TOOLS[tool].press()
    assert str(raised.value).strip().count("\n") == 0
    ready(ob, tool)
    assert off(film(ob, FRAMES), shown) < 3e-5
    ready(ob, tool)
    after = contents()
    for one in (before, after):  # Live has solved meanwhile
        for name in [name for name in one if name.startswith("channels")]:
            del one[name]
    assert_alike(before, after)


# -- obstacles ---------------------------------------------------------------------------------------------------------


def own_curves(ob: bpy.types.Object, bone: str) -> list[bpy.types.FCurve]:
    found = situations.curves_of(ob, bone)
    assert found
    return found


def last_of_each_channel(ob: bpy.types.Object, bone: str) -> Iterable[bpy.types.FCurve]:
    return {curve.data_path: curve for curve in own_curves(ob, bone)}.values()


def strip_in_the_way(ob: bpy.types.Object) -> None:
    """The action on top has other keys only."""
    situations.as_strip(ob)
    ob.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)


def hinder(ob: bpy.types.Object, name: str, bone: str) -> None:
    """Put an obstacle in the way of the keys of a bone."""
    if name == "driven":
        own = ob.pose.bones[bone]
        rigs.drive(own, rigs.ROTATION_PATHS[own.rotation_mode], "0.02", 1)
    elif name in OF_ACTION:
        {**situations.ACTIONS, "strip_in_the_way": strip_in_the_way}[name](ob)
    elif name in ("one_locked", "noisy"):
        situations.make_special(name.removeprefix("one_"), last_of_each_channel(ob, bone))
    else:
        situations.make_special(name, own_curves(ob, bone))


OBSTACLES = {
    **dict.fromkeys(("locked", "one_locked", "locked_group", "muted"), "are locked or muted"),
    "cyclic": "have modifiers", "noisy": "have modifiers", "sampled": "are samples",
    **dict.fromkeys(("strip", "strip_in_the_way", "strip_outside"), "The NLA moves"),
    "blended": "is blended with the NLA", "tweaked": "tweak mode", "solo": "is solo", "shared": "also moves 'Twin'",
    "of_library": "make it local first", "driven": "Constraints or drivers move",
}  # fmt: skip
"""What is in the way of keys: in `CURVES`, `ACTIONS` or here, and what is said."""
OF_ACTION = ("strip", "strip_in_the_way", "strip_outside", "blended", "tweaked", "solo", "shared", "of_library")


@pytest.mark.parametrize(
    ("obstacle", "tool"),
    [*((one, "plant") for one in OBSTACLES), *(("locked", tool) for tool in TOOLS if tool not in ("plant", "pin"))],
)
def test_keys_that_would_be_lost_or_hidden_are_refused(obstacle: str, tool: str) -> None:
    ob = keyed_shot(tool)
    hinder(ob, obstacle, TOOLS[tool].bone)
    rigs.at_frame(FRAME)
    refused(ob, tool, OBSTACLES[obstacle])


@pytest.mark.parametrize("obstacle", [one for one in OBSTACLES if one not in OF_ACTION])
def test_a_pin_has_a_control_of_its_own_and_holds_whatever_is_on_that_of_its_bone(obstacle: str) -> None:
    """From its frame on, and not before."""
    ob = keyed_shot("pin")
    hinder(ob, obstacle, TOOLS["pin"].bone)
    ob.animation_data.action.update_tag()  # Blender evaluates new modifiers and samples only then
    before = frames_of(ob, early := (1, 6, FRAME - 0.5))
    ready(ob, "pin")
    place = rigs.head(ob, "hand.L")
    assert TOOLS["pin"].press() == {"FINISHED"}
    for _ in rigs.visited((FRAME, 14, 20, 30)):
        assert (rigs.head(ob, "hand.L") - place).length < 2e-3
    assert np.abs(frames_of(ob, early) - before)[..., :3, 3].max() < 3e-5


@pytest.mark.parametrize("obstacle", ["locked", "locked_group", "muted", "cyclic", "noisy", "sampled", "driven"])
def test_what_is_beside_the_keys_does_no_harm(obstacle: str) -> None:
    """*Plant* keys none of the right hand's control."""
    ob = keyed_shot("plant")
    hinder(ob, obstacle, "DQIK hand.R")
    ready(ob, "plant")
    before = {key: points for key, points in rigs.keys(ob).items() if "DQIK hand.R" in key[0]}
    assert TOOLS["plant"].press() == {"FINISHED"}
    assert {key: points for key, points in rigs.keys(ob).items() if key in before} == before


def muted_track(ob: bpy.types.Object) -> None:
    """A stashed action."""
    action = ob.animation_data.action
    situations.as_strip(ob)
    ob.animation_data.nla_tracks[0].mute = True
    ob.animation_data.action = action


def other_strip(ob: bpy.types.Object) -> None:
    """A strip that moves the head, below the action."""
    data, head = ob.animation_data, ob.pose.bones["head"]
    action, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    head.keyframe_insert("rotation_quaternion", frame=1)
    situations.as_strip(ob)
    data.action = action
    if slot is not None:
        data.action_slot = slot


def other_slot(ob: bpy.types.Object) -> None:
    if LAYERED:
        other = rigs.empty((0, 0, 0), "Other")
        other.animation_data_create().action = ob.animation_data.action
        other.animation_data.action_slot = ob.animation_data.action.slots.new(id_type="OBJECT", name="Other")


def muted_drivers(ob: bpy.types.Object) -> None:
    for bone in ob.pose.bones:
        for channel in ("location", rigs.ROTATION_PATHS[bone.rotation_mode]):
            for driver in bone.driver_add(channel):
                driver.mute = True


HARMLESS = {
    "muted_track": muted_track, "other_strip": other_strip, "other_slot": other_slot, "muted_drivers": muted_drivers,
    "covered_strip": situations.over_strip,  # which moves the same, below an action that replaces all of it
    "muted_modifiers": lambda ob: [
        rigs.put(curve.modifiers.new("NOISE"), mute=True) for curve in rigs.fcurves(ob)],
    # from Blender 4.4 on it plays no part outside the NLA
    "groups_muted": lambda ob: situations.make_special("muted_group", rigs.fcurves(ob) if LAYERED else ()),
}  # fmt: skip


@pytest.mark.parametrize("harmless", HARMLESS)
def test_what_hides_no_keys_does_no_harm(harmless: str) -> None:
    ob = keyed_shot("plant")
    HARMLESS[harmless](ob)
    ready(ob, "plant")
    assert TOOLS["plant"].press() == {"FINISHED"}


def test_a_hold_is_refused_where_strips_alone_have_the_poses_beside_it() -> None:
    """The chest itself has no keys there, but nothing says on which frames its pose has to be as before."""
    ob = shot()
    situations.as_strip(ob)
    ready(ob, "hold here")
    rigs.pose(ob, "chest", rigs.rotation((1, 0, 0), 15.0))
    rigs.refuses(bpy.ops.dqik.hold_here, "The NLA moves 'Figure'")
    assert not rigs.fcurves(ob)


AWAY = situations.named(disabled=lambda target: rigs.put(target, hide_viewport=True),
             excluded=lambda target: rigs.put(situations.into_collection(target), exclude=True))  # fmt: skip


@pytest.mark.parametrize(("tool", "auto"), [
    ("plant", True), ("to ik", True), ("targets", True), ("grab", True), ("grab", False),
])  # fmt: skip
@pytest.mark.parametrize("away", AWAY)
def test_targets_that_blender_does_not_evaluate_are_refused(away: Callable, tool: str, auto: bool) -> None:
    ob = keyed_shot(tool, "EMPTIES")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    away(rigs.owner_of(ob, "foot.L" if tool == "plant" else "hand.L"))
    rigs.at_frame(FRAME)
    refused(ob, tool, "stands still .*: hide it with the eye instead")


def test_a_target_hidden_with_the_eye_is_keyed() -> None:
    ob = keyed_shot("plant", "EMPTIES")
    rigs.owner_of(ob, "foot.L").hide_set(True)
    ready(ob, "plant")
    assert TOOLS["plant"].press() == {"FINISHED"}


def linked(path: Path, kind: str) -> bpy.types.Object:
    """The shot of this file as another file has it linked: plain, or overridden by Blender alone, or by the user."""
    if kind == "linked":
        ob, _ = situations.linked_from(path, ("Figure", "Box"))
    else:
        ob = situations.overridden(path)
        ob.override_library.is_system_override = kind == "system"
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    if ob.animation_data is not None:
        ob.animation_data.action = None
    return ob


@pytest.mark.parametrize("tool", ["hold here", "targets"])
@pytest.mark.parametrize(("kind", "said"), [("linked", "make a library override"), ("system", "make it editable")])
def test_linked_figures_and_those_that_blender_overrides_for_itself_are_refused(
    kind: str, said: str, tool: str, tmp_path: Path, capfd: CaptureFixture[str]
) -> None:
    """Blender lets nobody go to Pose Mode with them."""
    keyed_shot(tool)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = linked(tmp_path / "library.blend", kind)
    rigs.made_active(ob)
    rigs.at_frame(FRAME)
    goals = [(goal.name, goal.bone, goal.mute, goal.influence) for goal in ob.dqik.goals]
    capfd.readouterr()
    assert TOOLS[tool].press() == {"CANCELLED"}
    assert said in capfd.readouterr().out
    assert [(goal.name, goal.bone, goal.mute, goal.influence) for goal in ob.dqik.goals] == goals
    assert not rigs.fcurves(ob)


@pytest.mark.parametrize("tool", ["plant", "targets"])
def test_an_editable_override_is_keyed(tool: str, tmp_path: Path) -> None:
    keyed_shot(tool)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = linked(tmp_path / "library.blend", "override")
    ob.dqik.live = True
    ready(ob, tool)
    assert TOOLS[tool].press() == {"FINISHED"}
    assert rigs.fcurves(ob)


# -- whole motions, and controls ---------------------------------------------------------------------------------------


def captured() -> bpy.types.Object:
    """A figure with a key a frame on thighs, shins, feet, hips and arms, whose feet slide."""
    ob = rigs.figure()
    for frame in range(1, 31):
        rigs.keyed(ob.pose.bones["hips"], frame, location=(0.0, 0.0, 0.0005 * frame))
        for name, angle in (("thigh", 10.0), ("shin", -20.0), ("foot", 10.0), ("arm", 15.0)):
            for side in "LR":
                bone = ob.pose.bones[f"{name}.{side}"]
                rigs.posed(bone, rigs.rotation((1, 0, 0), angle + 0.1 * frame))
                bone.keyframe_insert("rotation_quaternion", frame=frame, group=bone.name)
    rigs.made_active(ob)
    rigs.at_frame(FRAME)
    return ob


WHOLE = {
    "mend": lambda: bpy.ops.dqik.mend_motion(frame_start=1, frame_end=30),
    "unbake": lambda: bpy.ops.dqik.unbake(frame_start=1, frame_end=30),
}
OF_COPIES = ["locked", "one_locked", "locked_group", "cyclic", "noisy", "blended", "tweaked", "solo"]


@pytest.mark.parametrize("tool", WHOLE)
@pytest.mark.parametrize("obstacle", OF_COPIES)
def test_whole_motions_are_refused_where_new_keys_would_be_hidden(obstacle: str, tool: str) -> None:
    """These tools work in a copy of the action: who plays it, and from which file it comes, is not in the way."""
    ob = captured()
    hinder(ob, obstacle, "shin.L")
    rigs.at_frame(FRAME)
    before, shown = contents(), film(ob, FRAMES)
    rigs.refuses(WHOLE[tool], "NLA|solo" if obstacle == "solo" else OBSTACLES[obstacle])
    assert off(film(ob, FRAMES), shown) < 1e-6
    rigs.at_frame(FRAME)
    assert_alike(before, contents())


@pytest.mark.parametrize("obstacle", ["locked", "muted", "cyclic"])
def test_key_controls_keys_the_others_and_says_why_one_cannot_be(obstacle: str, capfd: CaptureFixture[str]) -> None:
    ob = keyed_shot("plant")
    hinder(ob, obstacle, "DQIK hand.L")
    before = rigs.keys(ob)
    capfd.readouterr()
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "'DQIK hand.L' cannot be keyed" in said
    assert OBSTACLES[obstacle] in said
    after = rigs.keys(ob)
    assert {key: after[key] for key in before if "DQIK hand.L" in key[0]} == {
        key: points for key, points in before.items() if "DQIK hand.L" in key[0]}  # fmt: skip
    assert any(len(after[key]) > len(points) for key, points in before.items() if "DQIK hand.R" in key[0])


def test_a_bake_above_strips_leaves_the_frames_outside_to_them() -> None:
    """Where no action was assigned: on its frames the baked pose shows, before and after the strips' motion."""
    ob = shot()
    situations.as_strip(ob)
    rigs.at_frame(1)
    inside, outside = range(8, 13), (1, 4, 7, 13, 20, 30)
    live = film(ob, inside)
    ob.dqik.live = False
    strips = film(ob, outside)
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=8, frame_end=12) == {"FINISHED"}
    assert off(film(ob, inside), live) < 1e-4
    assert off(film(ob, outside), strips) < 1e-4


@pytest.mark.parametrize("away", AWAY)
def test_nothing_is_attached_to_what_blender_does_not_evaluate(away: Callable) -> None:
    ob = keyed_shot("attach")
    away(bpy.data.objects["Box"])
    ready(ob, "attach")
    before = contents()
    rigs.refuses(TOOLS["attach"].press, "stands still|no object 'Box'")
    assert_alike(before, contents())
