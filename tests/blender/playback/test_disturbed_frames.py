# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers of other add-ons that disturb a bake, a check, a comparison or Targets to Pose in the middle."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import product

import bpy
import numpy as np
import pytest
import rigs
from pytest import CaptureFixture
from situations import installed, key_turns, named, steps_of

AT = 6  # the frame on which it happens


def scene_with_arm() -> bpy.types.Object:
    """An arm with a keyed upper bone and a keyed target, beside a bystander with an unkeyed move."""
    ob = rigs.bent_arm()
    target = rigs.empty((1.2, -0.6, 0.4))
    rigs.key_path(target, (1, 20), ((1.2, -0.6, 0.4), (0.6, 0.9, 0.3)))
    rigs.goal(ob, "b", target)
    key_turns(ob, "a", {1: (0.1, 0.0, 0.0), 20: (-0.1, 0.2, 0.0)})
    rigs.empty((1, 2, 3), "Bystander")
    rigs.made_active(ob)
    rigs.at_frame(3)
    return ob


def disturbing(act: Callable[[], object]) -> AbstractContextManager:
    """With a handler that acts once, on a frame."""
    done = []

    def run(scene: bpy.types.Scene, *_: object) -> None:
        if not done and scene.frame_current == AT:
            done.append(True)
            act()

    return installed("frame_change_post", run)


def rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]


def in_mode(mode: str) -> None:
    rigs.made_active(rig())
    bpy.ops.object.mode_set(mode=mode)


REMOVED, EDITED = "'Rig' was removed", "the bones of 'Rig' were edited"
REMOVALS = {
    "remove_rig": (REMOVED, lambda: bpy.data.objects.remove(rig())),
    "remove_data": (REMOVED, lambda: bpy.data.armatures.remove(rig().data)),
}
RENAMED = {"rename_bones": (EDITED, lambda: rigs.put(rig().data.bones["b"], name="renamed"))}
STOPS = {
    **REMOVALS, **RENAMED,
    "remove_target": ("'Target' was removed", lambda: bpy.data.objects.remove(bpy.data.objects["Target"])),
    "remove_action": ("'RigAction.*' was removed", lambda: bpy.data.actions.remove(rig().animation_data.action)),
    "unlink_rig": (REMOVED, lambda: bpy.context.scene.collection.objects.unlink(rig())),
    "remove_all": (REMOVED, lambda: bpy.data.batch_remove([*bpy.data.objects, *bpy.data.armatures])),
    "other_data": (EDITED, lambda: rigs.put(rig(), data=rig().data.copy())),
    "edit_mode": (EDITED, lambda: in_mode("EDIT")),
    "change_frame": ("another frame was set", lambda: rigs.put(bpy.context.scene, frame_current=2)),
}  # fmt: skip
"""What disturbs a task: what is said of it, and how it is done."""
TASKS = {
    "bake": {}, "check_range": {}, "compare_solvers": {"solvers": {"PGS"}}, "targets_to_pose": {"use_range": True},
}  # fmt: skip


def work(task: str) -> set[str]:
    return getattr(bpy.ops.dqik, task)(frame_start=1, frame_end=20, **TASKS[task])


@pytest.mark.parametrize(
    ("disturb", "task", "live"), [(*pair, number % 3 == 0) for number, pair in enumerate(product(STOPS, TASKS))]
)
def test_a_disturbed_task_stops_with_words(disturb: str, task: str, live: bool, capfd: CaptureFixture[str]) -> None:
    """What still exists is as before, nothing stays suspended, and nobody sees a traceback."""
    ob = scene_with_arm()
    rigs.live(ob, live)
    bystander = bpy.data.objects["Bystander"]
    bystander.location.x = 7.0
    frame, keys, target_keys = bpy.context.scene.frame_current, rigs.keys(ob), rigs.keys(bpy.data.objects["Target"])
    actions = {action.name for action in bpy.data.actions}
    said, act = STOPS[disturb]
    with disturbing(act), pytest.raises(RuntimeError) as error:
        work(task)
    assert re.fullmatch(rf"Error: [^\n]*; {said} meanwhile\s*", str(error.value))
    printed = capfd.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert not rigs.part("rig.frame.sessions").sessions.suspended
    assert bpy.context.scene.frame_current == frame
    assert {action.name for action in bpy.data.actions} <= actions
    if disturb != "remove_all":
        assert bystander.location.x == 7.0
    if disturb not in ("remove_all", "remove_target"):
        assert rigs.keys(bpy.data.objects["Target"]) == target_keys
    if disturb in ("change_frame", "other_data"):
        assert rigs.keys(ob) == keys
        assert ob.dqik.live == live


def fail() -> None:
    raise ValueError("an add-on's own fault")


@pytest.mark.prints_traceback
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("disturb", named(
    fail, rename_rig=lambda: rigs.put(rig(), name="renamed"), pose_mode=lambda: in_mode("POSE"),
    push_undo=lambda: bpy.ops.ed.undo_push(message="in the middle"),
    live_off=lambda: rigs.put(rig().dqik, live=False),
    copy_the_rig=lambda: bpy.context.scene.collection.objects.link(rig().copy()),
    remove_bystander=lambda: bpy.data.objects.remove(bpy.data.objects["Bystander"]),
))  # fmt: skip
def test_what_does_not_concern_the_bake_leaves_its_keys_as_they_are(disturb: Callable, live: bool) -> None:
    """The keys are those of a bake that nobody disturbs."""
    keys = []
    for act in (disturb, None):
        rigs.new_file()
        ob = scene_with_arm()
        rigs.live(ob, live)
        with disturbing(act) if act else nullcontext():
            assert work("bake") == {"FINISHED"}
        keys.append({channel: np.array(points) for channel, points in rigs.keys(ob).items()})
        assert not ob.dqik.live
    assert keys[0].keys() == keys[1].keys()
    for channel, points in keys[0].items():
        np.testing.assert_allclose(points, keys[1][channel], atol=1e-5)


def remove_scene() -> None:
    bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(bpy.context.scene)


def remove_layer() -> None:
    """In a handler Blender itself crashes from this, as it does when the scene is removed there."""
    bpy.context.scene.view_layers.new("Second")
    bpy.context.scene.view_layers.remove(bpy.context.view_layer)


ENDS = {
    **REMOVALS, "remove_scene": ("'Scene' was removed", remove_scene),
    "undo": ("undo was called", lambda: bpy.ops.ed.undo()),
    "open_file": ("was removed", lambda: rigs.new_file()),
}
BETWEEN = {**ENDS, **RENAMED, "remove_layer": ("the view layer was removed", remove_layer)}


@pytest.mark.parametrize(("disturb", "name", "live", "steps"), [
    (*pair, number % 2 == 0, (3, 20)[number // 2 % 2])
    for number, pair in enumerate(product(BETWEEN, ("bake", "check_range", "compare_solvers")))
])  # fmt: skip
def test_what_timers_do_between_steps_of_the_panel_is_noticed(disturb: str, name: str, live: bool, steps: int) -> None:
    """The operator ends with a sentence, also where Blender could not do that in a handler."""
    ob = scene_with_arm()
    bpy.ops.ed.undo_push(message="Arm")
    rigs.live(ob, live)
    bpy.ops.ed.undo_push(message="Live")
    working, said = steps_of(name)
    for _ in range(steps):
        next(working)
    BETWEEN[disturb][1]()
    result = None
    while result is None:
        try:
            next(working)
        except StopIteration as end:
            result = end.value
    if disturb in ENDS or steps < 20:
        assert result == {"CANCELLED"}
        assert len(said) == 1
        assert BETWEEN[disturb][0] in said[0][1]
    assert not rigs.part("rig.frame.sessions").sessions.suspended
