# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers of other add-ons that disturb a bake, a check, a comparison or Targets to Pose in the middle."""

import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import bpy
import numpy as np
import pytest
import rigs
from situations import key_turns, steps_of

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


@contextmanager
def handler(name: str, act: Callable[[], object]) -> Generator[None]:
    """A handler that acts once, on a frame."""
    done = []

    def run(scene: bpy.types.Scene, *_: object) -> None:
        if not done and scene.frame_current == AT:
            done.append(True)
            act()

    handlers = getattr(bpy.app.handlers, name)
    handlers.append(run)
    try:
        yield
    finally:
        if run in handlers:
            handlers.remove(run)


def rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]


def remove_rig() -> None:
    bpy.data.objects.remove(rig())


def remove_data() -> None:
    bpy.data.armatures.remove(rig().data)


def remove_target() -> None:
    bpy.data.objects.remove(bpy.data.objects["Target"])


def remove_action() -> None:
    bpy.data.actions.remove(rig().animation_data.action)


def unlink_rig() -> None:
    bpy.context.scene.collection.objects.unlink(rig())


def remove_all() -> None:
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.armatures])


def rename_bones() -> None:
    rig().data.bones["b"].name = "renamed"


def other_data() -> None:
    rig().data = rig().data.copy()


def edit_mode() -> None:
    rigs.made_active(rig())
    bpy.ops.object.mode_set(mode="EDIT")


def change_frame() -> None:
    bpy.context.scene.frame_current = 2


STOPS = {
    remove_rig: "'Rig' was removed", remove_data: "'Rig' was removed", remove_target: "'Target' was removed",
    remove_action: "'RigAction.*' was removed", unlink_rig: "'Rig' was removed", remove_all: "'Rig' was removed",
    rename_bones: "the bones of 'Rig' were edited", other_data: "the bones of 'Rig' were edited",
    edit_mode: "the bones of 'Rig' were edited", change_frame: "another frame was set",
}  # fmt: skip


def bake() -> set[str]:
    return bpy.ops.dqik.bake(frame_start=1, frame_end=20)


def check() -> set[str]:
    return bpy.ops.dqik.check_range(frame_start=1, frame_end=20)


def compare() -> set[str]:
    return bpy.ops.dqik.compare_solvers(frame_start=1, frame_end=20, solvers={"PGS"})


def targets_to_pose() -> set[str]:
    return bpy.ops.dqik.targets_to_pose(use_range=True, frame_start=1, frame_end=20)


TASKS = [bake, check, compare, targets_to_pose]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("disturb", STOPS)
def test_a_disturbed_task_stops_with_a_sentence(
    disturb: Callable, task: Callable, live: bool, extension: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """What still exists is as before, nothing stays suspended, and nobody sees a traceback."""
    ob = scene_with_arm()
    ob.dqik.live = live
    rigs.update()
    bystander = bpy.data.objects["Bystander"]
    bystander.location.x = 7.0
    frame, keys, target_keys = bpy.context.scene.frame_current, rigs.keys(ob), rigs.keys(bpy.data.objects["Target"])
    actions = {action.name for action in bpy.data.actions}
    with handler("frame_change_post", disturb), pytest.raises(RuntimeError) as error:
        task()
    assert re.fullmatch(rf"Error: [^\n]*; {STOPS[disturb]} meanwhile\s*", str(error.value))
    printed = capfd.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert not sys.modules[f"{extension}.rig.frame.sessions"].sessions.suspended
    assert bpy.context.scene.frame_current == frame
    assert {action.name for action in bpy.data.actions} <= actions
    if disturb is not remove_all:
        assert bystander.location.x == 7.0
    if disturb not in (remove_all, remove_target):
        assert rigs.keys(bpy.data.objects["Target"]) == target_keys
    if disturb in (change_frame, other_data):
        assert rigs.keys(ob) == keys
        assert ob.dqik.live == live


def rename_rig() -> None:
    rig().name = "renamed"


def push_undo() -> None:
    bpy.ops.ed.undo_push(message="in the middle")


def pose_mode() -> None:
    rigs.made_active(rig())
    bpy.ops.object.mode_set(mode="POSE")


def live_off() -> None:
    rig().dqik.live = False


def copy_the_rig() -> None:
    bpy.context.scene.collection.objects.link(rig().copy())


def remove_bystander() -> None:
    bpy.data.objects.remove(bpy.data.objects["Bystander"])


def fail() -> None:
    raise ValueError("an add-on's own fault")


@pytest.mark.prints_traceback
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    "disturb", [rename_rig, push_undo, pose_mode, live_off, copy_the_rig, remove_bystander, fail]
)
def test_what_does_not_concern_the_bake_leaves_its_keys_as_they_are(disturb: Callable, live: bool) -> None:
    """The keys are those of a bake that nobody disturbs."""
    keys = []
    for act in (disturb, None):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        ob = scene_with_arm()
        ob.dqik.live = live
        rigs.update()
        if act is None:
            assert bake() == {"FINISHED"}
        else:
            with handler("frame_change_post", act):
                assert bake() == {"FINISHED"}
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


def undo() -> None:
    bpy.ops.ed.undo()


def open_file() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


BETWEEN = {
    remove_rig: "'Rig' was removed", remove_data: "'Rig' was removed", remove_scene: "'Scene' was removed",
    remove_layer: "the view layer was removed", undo: "undo was called", rename_bones: "the bones of 'Rig' were edited",
    open_file: "was removed",
}  # fmt: skip


@pytest.mark.parametrize("steps", [3, 20])
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("name", ["bake", "check_range", "compare_solvers"])
@pytest.mark.parametrize("disturb", BETWEEN)
def test_what_timers_do_between_the_steps_from_the_panel_is_noticed(
    disturb: Callable, name: str, live: bool, steps: int, extension: str
) -> None:
    """The operator ends with a sentence, also where Blender could not do that in a handler."""
    ob = scene_with_arm()
    bpy.ops.ed.undo_push(message="Arm")
    ob.dqik.live = live
    rigs.update()
    bpy.ops.ed.undo_push(message="Live")
    working, said = steps_of(name)
    for _ in range(steps):
        next(working)
    disturb()
    result = None
    while result is None:
        try:
            next(working)
        except StopIteration as end:
            result = end.value
    if disturb in (remove_rig, remove_data, remove_scene, open_file, undo) or steps < 20:
        assert result == {"CANCELLED"}
        assert len(said) == 1
        assert re.search(r"was|were", said[0][1])
    assert not sys.modules[f"{extension}.rig.frame.sessions"].sessions.suspended
