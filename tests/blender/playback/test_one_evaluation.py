# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender evaluates a frame whose answer is known once, and a shape that nobody reads not at all while frames are read.

Blender counts: by the calls of a driver that reads a solved bone, and by its own report of what was evaluated.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager

import bpy
import numpy as np
import pytest
import rigs
from situations import installed
from test_playback import play, playing_figure

LAST = 6


@pytest.fixture
def evaluations() -> Generator[Callable[[bpy.types.Object, int], int]]:
    """Returns how often Blender evaluates a live figure's bone when a frame is set."""
    calls: list[float] = []

    def at(ob: bpy.types.Object, frame: int) -> int:
        if "Follower" not in bpy.data.objects:
            driver = rigs.drive(rigs.empty((0, 0, 0), "Follower"), "location", "dqik_note(x)", 0)
            variable = driver.variables.new()
            rigs.put(variable, name="x", type="TRANSFORMS")
            rigs.put(variable.targets[0], id=ob, bone_target="forearm.L")
            rigs.update()
        calls.clear()
        bpy.context.scene.frame_set(frame)
        return len(calls)

    bpy.app.driver_namespace["dqik_note"] = lambda value: calls.append(value) or value
    yield at
    del bpy.app.driver_namespace["dqik_note"]


@pytest.mark.parametrize("start_from", ["POSE", "REST", "PREVIOUS"])
def test_a_loop_evaluates_each_frame_once(evaluations: Callable, start_from: str) -> None:
    """From its second round on; and shows what a new session solves."""
    ob = playing_figure(start_from)
    first = [evaluations(ob, frame) for frame in range(1, LAST + 1)]
    shown = rigs.matrices(ob)
    again = [evaluations(ob, frame) for frame in range(1, LAST + 1)]
    assert (first, again) == ([2] * LAST, [1] * LAST)
    assert np.array_equal(rigs.matrices(ob), shown)


def test_frames_in_any_order_are_evaluated_once(evaluations: Callable) -> None:
    ob = playing_figure("POSE")
    play(1, LAST)
    for frame in (4, 2, 6, 1, 5, 3):
        assert evaluations(ob, frame) == 1
    assert evaluations(ob, LAST + 1) == 2


def test_a_frame_that_asks_otherwise_is_solved_and_evaluated_again(evaluations: Callable) -> None:
    ob = playing_figure("POSE")
    play(1, LAST)
    for curve in rigs.fcurves(bpy.data.objects["L target"]):
        for key in curve.keyframe_points:
            if round(key.co.x) == 3:
                key.co.y += 0.1
        curve.update()
    assert evaluations(ob, 3) == 2
    assert rigs.miss(ob, "hand.L", bpy.data.objects["L target"]) < 1e-4
    assert evaluations(ob, 2) == 1


def test_another_add_on_that_moves_the_target_is_heard(evaluations: Callable) -> None:
    """Its handler runs on each change of frame, so nothing is written before it."""
    ob, target = playing_figure("POSE"), bpy.data.objects["R target"]

    def moves(scene: bpy.types.Scene, *_: object) -> None:
        target.delta_location.z = 0.01 * (scene.frame_current % 3)

    with installed("frame_change_post", moves):
        for frame in 2 * [*range(1, LAST + 1)]:
            evaluations(ob, frame)
            assert rigs.miss(ob, "hand.R", target) < 1e-4


# -- shapes ------------------------------------------------------------------------------------------------------------


def skin(ob: bpy.types.Object, name: str = "Skin") -> bpy.types.Object:
    """A mesh that follows a hand, by a modifier."""
    made = rigs.skin(ob, rigs.mesh(((1, 0, 0), (0, 1, 0), (0, 0, 1)), [(0, 1, 2)], name), "hand.L")
    rigs.update()
    return made


@contextmanager
def shaped() -> Generator[set[tuple[str, int]]]:
    """The names of objects whose shapes Blender evaluates when the frame changes, and the frames, by its report."""
    found = set[tuple[str, int]]()

    def note(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        found.update((one.id.name, scene.frame_current) for one in depsgraph.updates if one.is_updated_geometry)

    with installed("frame_change_post", note, at=0):
        yield found


def bake() -> None:
    assert bpy.ops.dqik.bake(frame_start=2, frame_end=LAST) == {"FINISHED"}


def test_a_bake_evaluates_no_skin_and_leaves_it_as_it_was() -> None:
    ob = playing_figure("POSE")
    made, hidden = skin(ob), skin(ob, "Hidden")
    hidden.hide_viewport = True
    made.select_set(True)
    with shaped() as found:
        rigs.at_frame(2)
        rigs.at_frame(1)
        assert ("Skin", 2) in found
        found.clear()
        bake()
    assert {frame for name, frame in found if name == "Skin"} == {1}  # where the scene was before
    assert {frame for name, frame in found if name == "Figure"} >= {*range(2, LAST + 1)}
    assert (made.hide_viewport, hidden.hide_viewport, made.select_get()) == (False, True, True)
    rigs.at_frame(LAST)
    vertex = rigs.evaluated(made).matrix_world @ rigs.evaluated(made).data.vertices[0].co
    rest = ob.data.bones["hand.L"].matrix_local
    assert (vertex - rigs.evaluated(ob).pose.bones["hand.L"].matrix @ rest.inverted() @ made.data.vertices[0].co
            ).length < 1e-5  # fmt: skip


def test_a_bake_that_is_refused_leaves_shapes_shown() -> None:
    ob = playing_figure("POSE")
    made = skin(ob)
    for goal in ob.dqik.goals:
        goal.mute = True
    with pytest.raises(RuntimeError):
        bake()
    assert not made.hide_viewport
    assert made.visible_get()


def test_shapes_that_bones_follow_are_evaluated() -> None:
    """A target on the surface of a mesh that is deformed, by a constraint: a bake keys what Live shows."""
    ob, target = playing_figure("POSE"), bpy.data.objects["L target"]
    ground = skin(ob, "Ground")
    ground.modifiers.clear()
    rigs.key_path(ground.modifiers.new("Wave", "DISPLACE"), (1, 12), (0.0, 0.3), "strength")
    rigs.constrain(target, "SHRINKWRAP", ground)
    seen = rigs.shown(ob, range(2, LAST + 1))
    bake()
    ob.dqik.live = False
    assert np.abs(rigs.shown(ob, range(2, LAST + 1)) - seen).max() < 1e-4
    assert np.abs(seen[0] - seen[-1]).max() > 1e-2
