# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders show what the viewport shows: a ball on the crane's jib, found in small pictures by Cycles."""

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import filmed
from live_rigs import SITUATIONS
from situations import into_collection, named, reaching

PIXELS = 16
WIDE = 4.0  # what the camera sees, in both directions
MIDDLE = (0.6, 1.0)  # x and z
NEAR = 0.12  # half a pixel


def filmed_jib(ob: bpy.types.Object) -> bpy.types.Scene:
    """A cube on the jib's tail, looked at along Y, before nothing."""
    scene = filmed(ob, "jib", 0.2, WIDE, (MIDDLE[0], -9, MIDDLE[1]), (radians(90), 0, 0))
    scene.render.resolution_x = scene.render.resolution_y = PIXELS
    scene.render.film_transparent, scene.render.image_settings.color_mode = True, "RGBA"
    return scene


def seen(path: str) -> np.ndarray:
    """Where the ball is in a picture: x and z of its middle."""
    image = bpy.data.images.load(path)
    covered = np.array(image.pixels[:]).reshape(PIXELS, PIXELS, 4)[..., 3]
    bpy.data.images.remove(image)
    assert covered.sum() > 0.5, "the ball is not in the picture"
    row, column = (np.arange(PIXELS) @ covered.sum(axis) / covered.sum() for axis in (1, 0))
    return (np.array([column, row]) + 0.5) / PIXELS * WIDE - WIDE / 2 + MIDDLE


def shown(ob: bpy.types.Object) -> np.ndarray:
    """Where the viewport has the ball."""
    place = rigs.tail(ob, "jib")
    return np.array([place.x, place.z])


def still(folder: Path, frame: int) -> np.ndarray:
    scene = bpy.context.scene
    scene.render.filepath = str(folder / f"still{frame}.png")
    bpy.ops.render.render(write_still=True)
    return seen(scene.render.filepath)


def animation(folder: Path, first: int, last: int) -> dict[int, np.ndarray]:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = first, last
    scene.render.filepath = str(folder / "film####.png")
    bpy.ops.render.render(animation=True)
    return {frame: seen(str(folder / f"film{frame:04d}.png")) for frame in range(first, last + 1)}


ANIMATED = ["plain", "a keyed bone", "a keyed influence", "previous frame"]


def animated_crane(name: str) -> bpy.types.Object:
    """A crane of the catalogue; or one whose Live is keyed."""
    ob = SITUATIONS["moving crane, plain" if name in ("keyed live", "previous frame") else f"moving crane, {name}"]()
    ob.dqik.start_from = "PREVIOUS" if name == "previous frame" else "POSE"
    if name == "keyed live":
        rigs.key_path(ob.dqik, (4, 6, 8), (True, False, True), "live")
    filmed_jib(ob)
    return ob


@pytest.mark.parametrize("name", [*ANIMATED, "keyed live"])
def test_stills_animations_and_the_viewport_agree(name: str, tmp_path: Path) -> None:
    """The ball is at one place in all three, at every frame; and the viewport is left as it was."""
    ob = animated_crane(name)
    viewport, stills = {}, {}
    for frame in rigs.visited((7, 4, 6)):
        viewport[frame] = shown(ob)
        stills[frame] = still(tmp_path, frame)
        np.testing.assert_allclose(shown(ob), viewport[frame], atol=1e-4)
    rigs.at_frame(8)
    before = rigs.matrices(ob)
    film = animation(tmp_path, 4, 7)
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-3
    for frame, place in viewport.items():
        np.testing.assert_allclose(stills[frame], place, atol=NEAR, err_msg=f"still of frame {frame}")
        np.testing.assert_allclose(film[frame], place, atol=NEAR, err_msg=f"frame {frame} of the animation")


@pytest.mark.parametrize("name", ANIMATED)
def test_motion_blur_is_of_the_solved_motion(name: str, tmp_path: Path) -> None:
    """The ball's middle in a blurred picture is the mean of where the viewport has it while the shutter is open."""
    ob, scene = animated_crane(name), bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 0.5
    expected = {}
    for frame in (5, 7):
        places = []
        for part in np.linspace(-0.25, 0.25, 9):
            rigs.at_frame(frame + float(part))
            places.append(shown(ob))
        expected[frame] = np.mean(places, axis=0)
    for frame, place in expected.items():
        rigs.at_frame(frame)
        np.testing.assert_allclose(still(tmp_path, frame), place, atol=NEAR, err_msg=f"still of frame {frame}")
    rigs.at_frame(1)
    film = animation(tmp_path, 5, 7)
    for frame, place in expected.items():
        np.testing.assert_allclose(film[frame], place, atol=NEAR, err_msg=f"frame {frame} of the animation")


def bone_as_target(load: bpy.types.Object) -> None:
    """A bone of an armature that nothing else needs."""
    leader = rigs.armature([rigs.Bone("hook", (0, 0, 0), (0, 0, 0.2))], "Leader")
    rigs.constrain(leader.pose.bones["hook"], "COPY_LOCATION", load)
    leader.hide_render = True
    rigs.put(bpy.data.objects["Crane"].dqik.goals[0], target=leader, subtarget="hook")


def target_by_keys(load: bpy.types.Object) -> None:
    rigs.key_path(load, (5, 6), (False, True), "hide_render")


@pytest.mark.parametrize("hide", named(
    bone_as_target, target_by_keys, target=lambda load: rigs.put(load, hide_render=True),
    collection_of_target=lambda load: rigs.put(into_collection(load).collection, hide_render=True),
))  # fmt: skip
def test_targets_hidden_in_renders_are_reached_there(hide: Callable, tmp_path: Path) -> None:
    """Nothing is left in the file."""
    ob, load = reaching()
    hide(load)
    filmed_jib(ob)
    ob.dqik.live = True
    viewport = {frame: shown(ob) for frame in rigs.visited((3, 16))}
    assert np.abs(viewport[3] - viewport[16]).max() > 2 * NEAR
    before = set(bpy.data.objects)
    film = animation(tmp_path, 3, 16)
    for frame, place in viewport.items():
        np.testing.assert_allclose(film[frame], place, atol=NEAR)
        rigs.at_frame(frame)
        np.testing.assert_allclose(still(tmp_path, frame), place, atol=NEAR)
    assert set(bpy.data.objects) == before
