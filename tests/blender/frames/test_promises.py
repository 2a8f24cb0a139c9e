# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every live rig: files, frames in any order, undo, renders, overrides and bakes all show the same."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import probed
from live_rigs import SITUATIONS, film, film_here
from situations import forget, overridden, override, reopened

LOOKED_AT = (1, 5, 6.75, 8, 11, 12)
SAME = 1e-5  # [m, rad] by which one pose may differ that is solved twice


def apart(one: dict[float, np.ndarray], other: dict[float, np.ndarray]) -> float:
    """The largest way [m] or turn [rad] of a bone between the same frames."""
    frames = one.keys() & other.keys()
    return max(
        max(float(np.abs(one[k] - other[k])[:, :3, 3].max()), rigs.turn(one[k], other[k])) for k in frames
    )  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_files_undo_and_frames_in_any_order_show_the_same(name: str, tmp_path: Path) -> None:
    """Forwards, backwards, in jumps, by way of sub-frames; in a new session; where an edit is undone.

    Also where Live was off meanwhile.
    """
    ob = SITUATIONS[name]()
    own = ob.name
    shown = film(ob, LOOKED_AT)
    assert apart({0: shown[1]}, {0: shown[8]}) > 5e-3, "nothing moves"
    rigs.at_frame(8)
    bpy.ops.ed.undo_push(message="before")
    for target in {goal.target for goal in ob.dqik.goals} - {ob, None}:
        target.delta_location.z += 0.1
    ob.dqik.goals[0].influence = 0.5
    rigs.update()
    bpy.ops.ed.undo_push(message="edited")
    bpy.ops.ed.undo()
    ob = bpy.data.objects[own]
    ob.dqik.goals[0].priority += 1  # solve again
    ob.dqik.goals[0].priority -= 1
    rigs.update()
    assert apart({8: film_here(ob)}, shown) < SAME
    assert apart(film(ob, (8,)), shown) < SAME
    reopened(tmp_path / "shot.blend")
    ob = bpy.data.objects[own]
    assert apart(film(ob, LOOKED_AT[::-1]), shown) < SAME
    forget()
    assert apart(film(ob, (8, 1, 7.75, 8.25, 12, 5, 11)), shown) < SAME
    rigs.live(ob, False, at=7)
    ob.dqik.live = True
    assert apart(film(ob, (8, 1)), shown) < SAME


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_bake_shows_the_same_without_goals(name: str) -> None:
    """Live is off then; on again, it starts from the keys."""
    ob = SITUATIONS[name]()
    frames = (1, 5, 8, 12)
    shown = film(ob, frames)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=12) == {"FINISHED"}
    assert not ob.dqik.live
    assert apart(film(ob, frames), shown) < SAME
    for goal in ob.dqik.goals:
        goal.mute = True
    assert apart(film(ob, frames), shown) < SAME


@pytest.mark.parametrize("name", SITUATIONS)
def test_renders_show_the_same_and_leave_the_pose(name: str, tmp_path: Path) -> None:
    """Stills in any order, and an animation."""
    ob, scene = SITUATIONS[name](), bpy.context.scene
    shown = film(ob, (1, 5, 11, 12, 8))
    with probed(lambda depsgraph: film_here(ob, depsgraph), tmp_path) as seen:
        for _ in rigs.visited((12, 5)):
            bpy.ops.render.render()
        scene.frame_start, scene.frame_end = 11, 12
        rigs.at_frame(8)
        bpy.ops.render.render(animation=True)
    assert scene.frame_current == 8
    assert apart({8: film_here(ob)}, shown) < SAME
    assert seen.keys() == {5, 11, 12}
    assert apart(seen, shown) < SAME


OVERRIDDEN = ["arms, plain", "goal, look at", "coupled bones", "natural pose", "a rolled foot, bones", "eyes"]


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_an_override_shows_the_same_and_is_saved(name: str, tmp_path: Path) -> None:
    shown = film(SITUATIONS[name](), (1, 8, 12))
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = overridden(tmp_path / "library.blend")
    ob.dqik.live = True
    assert apart(film(ob, (12, 1, 8)), shown) < SAME
    reopened(tmp_path / "shot.blend")
    assert override().dqik.live
    assert apart(film(override(), (8, 12, 1)), shown) < SAME
