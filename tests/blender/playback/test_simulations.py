# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender simulates on a live armature is what it simulates on the same motion baked to keys."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
import simulated
from films import probed
from simulated import FRAMES, LAST, apart, built, played, shown
from situations import NEAR, crane, installed

SAME = 1e-4
MOVES = 0.05


def rendered(objects: list[bpy.types.Object], folder: Path) -> list[np.ndarray]:
    """What each frame of a rendered animation shows."""
    with probed(lambda depsgraph: shown(objects, depsgraph), folder) as seen:
        bpy.ops.render.render(animation=True)
    return [seen[frame] for frame in FRAMES]


@pytest.mark.parametrize("kind", simulated.KINDS)
def test_playback_simulates_the_solved_pose(kind: Callable) -> None:
    """Twice, because the second round finds the caches of the first."""
    keyed = built(kind, live=False)
    expected = played(keyed)
    assert apart([expected[0]] * LAST, expected) > MOVES or kind is simulated.particles
    live = built(kind, live=True)
    for _ in range(2):
        assert apart(played(live), expected) < SAME


@pytest.mark.parametrize("kind", [
    simulated.cloth, simulated.collider, simulated.soft_body, simulated.particles, simulated.hair,
    simulated.rigid_bodies,
])  # fmt: skip
def test_blenders_own_bakes_and_renders_of_them_have_the_solved_pose(kind: Callable, tmp_path: Path) -> None:
    found = {}
    for live in (False, True):
        objects = built(kind, live)
        bpy.context.scene.frame_set(7)
        bpy.ops.ptcache.bake_all(bake=True)
        found[live] = played(objects), rendered(objects, tmp_path)
    for keyed, live in zip(found[False], found[True], strict=True):
        assert apart(live, keyed) < SAME


def test_what_the_user_has_switched_off_stays_off_and_the_rest_stays_on() -> None:
    (mesh,) = built(simulated.cloth, live=True)
    mesh.modifiers["Cloth"].show_viewport = False
    flat = played([mesh])
    assert not rigs.evaluated(mesh).modifiers["Cloth"].show_viewport
    bpy.data.objects["Crane"].dqik.live = False
    mesh.modifiers["Cloth"].show_viewport = True
    rigs.update()
    played([mesh])
    shown_now = rigs.evaluated(mesh).modifiers["Cloth"]
    assert shown_now.show_viewport
    assert shown_now.show_render
    assert len(flat) == LAST


def test_keys_may_switch_a_simulation_on_and_off() -> None:
    found = {}
    for live in (False, True):
        (mesh,) = built(simulated.cloth, live)
        rigs.key_path(mesh.modifiers["Cloth"], (1, 6, 9), (True, False, True), "show_viewport")
        played([mesh])
        found[live] = [rigs.evaluated(mesh).modifiers["Cloth"].show_viewport for _ in rigs.visited(FRAMES)]
    assert found[True] == found[False]


@pytest.mark.prints_traceback
def test_everything_is_on_again_if_a_handler_fails_or_visits_another_frame() -> None:
    """The rigid bodies are switched off in the scene itself for a moment, which no file may have."""
    seen = []

    def visit(scene: bpy.types.Scene, _: bpy.types.Depsgraph) -> None:
        if scene.frame_current == 3 and not seen:
            seen.append(scene.frame_current)
            scene.frame_set(2)
            scene.frame_set(3)
        raise RuntimeError("from a handler of another add-on")

    built(simulated.rigid_bodies, live=True)
    with installed("frame_change_post", visit):
        for _ in rigs.visited(range(1, 6)):
            assert bpy.context.scene.rigidbody_world.enabled
    assert seen


def test_a_save_in_the_middle_of_a_change_of_frame_has_the_users_settings(tmp_path: Path) -> None:
    built(simulated.rigid_bodies, live=True)
    path = str(tmp_path / "saved.blend")

    def save(scene: bpy.types.Scene, _: object = None) -> None:
        if scene.frame_current == 4:
            bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)

    with installed("frame_change_pre", save):
        rigs.visit(FRAMES)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.context.scene.rigidbody_world.enabled


def test_the_places_where_renders_start_name_what_is_not_baked() -> None:
    from bl_ext.user_default.dqik.ui import render

    built(simulated.cloth, live=True)
    assert str(render.unbaked_simulations(bpy.context)).endswith(": 'Cloth'")
    bpy.ops.ptcache.bake_all(bake=True)
    assert not render.unbaked_simulations(bpy.context)
    bpy.ops.ptcache.free_bake_all()
    assert render.unbaked_simulations(bpy.context)
    bpy.data.objects["Crane"].dqik.live = False
    assert not render.unbaked_simulations(bpy.context)
    built(simulated.free_cloth, live=True)
    assert not render.unbaked_simulations(bpy.context)


def test_a_target_on_a_cloth_is_met_where_the_cloth_is() -> None:
    """The cloth follows one crane, and another one reaches for it: it cannot wait until both are solved."""
    (mesh,) = built(simulated.cloth, live=True)
    other = crane("Other")
    target = rigs.empty((0, 0, 0), "On the cloth")
    target.parent, target.parent_type, target.parent_vertices = mesh, "VERTEX", (6, 6, 6)
    rigs.reach(other, "jib", target)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert rigs.miss(other, "jib", target) < NEAR
