# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers of other add-ons move targets; DQIK meets them on the same frame, wherever the handlers are listed."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import probed
from situations import NEAR, installed, reaching

FRAMES = (3, 4, 9, 2, 20, 19)


def target_at(frame: float) -> tuple[float, float, float]:
    return 1.0, 0.3 * np.sin(frame), 1.1


def still() -> tuple[bpy.types.Object, bpy.types.Object]:
    """The crane, live, and its target without keys."""
    ob, target = reaching()
    target.animation_data_clear()
    ob.dqik.live = True
    return ob, target


def mover(target: bpy.types.Object) -> Callable:
    def move(scene: bpy.types.Scene, _: object = None) -> None:
        target.location = target_at(scene.frame_current)

    return move


def misses(ob: bpy.types.Object, target: bpy.types.Object, frames: Iterable[int] = FRAMES) -> Iterator[float]:
    """How far the jib is from where the target is to be, frame by frame."""
    for frame in rigs.visited(frames):
        np.testing.assert_allclose(rigs.place(target), target_at(frame), atol=1e-5)
        yield rigs.miss(ob, "jib", target)


@pytest.mark.parametrize("at", [0, None], ids=["before", "after"])
def test_a_target_moved_at_a_change_of_frame_is_met_on_that_frame(at: int | None) -> None:
    ob, target = still()
    with installed("frame_change_post", mover(target), at):
        assert max(misses(ob, target)) < NEAR


@pytest.mark.parametrize("at", [0, None], ids=["before", "after"])
def test_a_bake_and_live_agree_on_it(at: int | None) -> None:
    ob, target = still()
    with installed("frame_change_post", mover(target), at):
        live = rigs.shown(ob, range(1, 11))
        rigs.made_active(ob)
        assert bpy.ops.dqik.bake(frame_start=1, frame_end=10) == {"FINISHED"}
    assert np.degrees(rigs.turn(live, rigs.shown(ob, range(1, 11)))) < 0.02


def test_the_report_measures_the_target_where_blender_shows_it() -> None:
    """Another add-on moves the target after the solve of its frame: it puts its handler behind ours each time."""
    ob, target = still()
    move, handlers = mover(target), bpy.app.handlers.frame_change_post

    def come_last(*_: object) -> None:
        handlers.remove(move)
        handlers.append(move)

    with installed("frame_change_post", move), installed("frame_change_pre", come_last):
        for miss in misses(ob, target, FRAMES[:4]):
            assert miss > NEAR
            assert not ob.dqik.status.converged
            np.testing.assert_allclose(ob.dqik.status.error, miss, atol=1e-4)


@pytest.mark.parametrize("at", [0, None], ids=["before", "after"])
def test_renders_meet_it_too(at: int | None, tmp_path: Path) -> None:
    ob, target = still()

    def miss(depsgraph: bpy.types.Depsgraph) -> float:
        shown, aim = ob.evaluated_get(depsgraph), target.evaluated_get(depsgraph)
        tail = shown.matrix_world @ shown.pose.bones["jib"].tail
        return (tail - aim.matrix_world.translation).length

    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    with installed("frame_change_post", mover(target), at), probed(miss, tmp_path) as seen:
        bpy.ops.render.render(animation=True)
    assert list(seen) == list(range(1, 7))
    assert max(seen.values()) < NEAR


@pytest.mark.parametrize("at", [0, None], ids=["before", "after"])
def test_a_target_moved_after_an_edit_is_met_after_that_edit(at: int | None) -> None:
    """A second object, which no goal knows, is what the user moves; the handler has the target follow it."""
    ob, target = still()
    leader = rigs.empty((1.0, 0.0, 1.1), "Leader")
    rigs.update()

    def follow(*_: object) -> None:
        if target.location != leader.location:
            target.location = leader.location

    with installed("depsgraph_update_post", follow, at):
        for y in (0.2, -0.3, 0.1):
            leader.location = (1.0, y, 1.1)
            assert rigs.miss(ob, "jib", target) < NEAR


def test_handlers_that_come_and_go_during_playback() -> None:
    ob, target = still()
    rigs.at_frame(1)
    for frame in (2, 3, 4):
        with installed("frame_change_post", mover(target)):
            rigs.at_frame(frame)
            assert rigs.miss(ob, "jib", target) < NEAR
    rigs.at_frame(5)
    assert rigs.miss(ob, "jib", target) < NEAR


@pytest.mark.prints_traceback
def test_a_handler_that_fails_does_not_stop_the_solve() -> None:
    ob, target = still()
    move = mover(target)

    def fail(scene: bpy.types.Scene, _: object = None) -> None:
        move(scene)
        raise RuntimeError("from another add-on")

    with installed("frame_change_post", fail):
        assert max(misses(ob, target)) < NEAR


def test_a_handler_that_visits_another_frame() -> None:
    """Blender walks the list of handlers by position meanwhile: each one is called once, and ours as the last."""
    ob, target = still()
    move, calls = mover(target), []

    def visit(scene: bpy.types.Scene, _: object = None) -> None:
        frame = scene.frame_current
        if frame < 100:
            calls.append(frame)
            scene.frame_set(100 + frame)
            scene.frame_set(frame)
        move(scene)

    def count(scene: bpy.types.Scene, _: object = None) -> None:
        calls.append(-scene.frame_current)

    def once(scene: bpy.types.Scene, depsgraph: object = None) -> None:
        if not busy:
            busy.append(True)
            visit(scene, depsgraph)
            busy.clear()
        else:
            move(scene)

    busy: list[bool] = []
    with installed("frame_change_post", once), installed("frame_change_post", count):
        assert max(misses(ob, target)) < NEAR
    for frame in FRAMES:
        assert calls.count(frame) == 1
        assert calls.count(-frame) == 2  # in the visit back, and in the change of frame itself


def test_two_add_ons_that_both_want_to_be_last() -> None:
    """Each moves its own handler to the end once for each frame; nobody waits for the other."""
    ob, target = still()
    move, moves = mover(target), []

    def come_last(*_: object) -> None:
        moves.append(True)
        handlers.remove(move)
        handlers.append(move)

    handlers = bpy.app.handlers.frame_change_post
    with installed("frame_change_post", move):
        with installed("frame_change_pre", come_last):
            rigs.visit(FRAMES)
        assert len(moves) == len(FRAMES)
        assert max(misses(ob, target)) < NEAR


def test_our_preparation_of_a_frame_comes_first() -> None:
    """Others may pose bones there, or evaluate."""
    still()

    def other(*_: object) -> None:
        return

    with installed("frame_change_pre", other, 0):
        rigs.at_frame(2)
        assert bpy.app.handlers.frame_change_pre[0] is not other
