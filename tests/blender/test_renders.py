# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders show what the viewport shows: a ball on the crane's jib, found in small pictures by Cycles."""

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from situations import crane, key_turns, load, reaching

PIXELS = 16
WIDE = 4.0  # what the camera sees, in both directions
MIDDLE = (0.6, 1.0)  # x and z
NEAR = 0.12  # half a pixel


def filmed(ob: bpy.types.Object) -> bpy.types.Scene:
    """Hang the ball on the jib's tail and look at it along Y, before nothing."""
    mesh = bpy.data.meshes.new("Ball")
    corners = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.2, 0.2)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    ball = bpy.data.objects.new("Ball", mesh)
    ball.parent, ball.parent_type, ball.parent_bone = ob, "BONE", "jib"
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", WIDE
    camera.location, camera.rotation_euler = (MIDDLE[0], -9, MIDDLE[1]), (radians(90), 0, 0)
    scene = bpy.context.scene
    for made in (ball, camera):
        scene.collection.objects.link(made)
    scene.camera, scene.render.engine = camera, "CYCLES"
    scene.render.resolution_x = scene.render.resolution_y = PIXELS
    scene.cycles.samples, scene.cycles.device, scene.cycles.use_denoising = 16, "CPU", False
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
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


# -- what is animated --------------------------------------------------------------------------------------------------


def plain(ob: bpy.types.Object) -> None:
    pass


def keyed_bone(ob: bpy.types.Object) -> None:
    key_turns(ob, "mast", {1: (0.5, 0, 0), 10: (0, -0.6, 0.3), 30: (0.4, 0.2, 0)})


def keyed_bone_and_still_target(ob: bpy.types.Object) -> None:
    """Nothing moves but the keys of a bone that hold still."""
    key_turns(ob, "mast", {1: (0.5, 0, 0), 30: (0.5, 0, 0)})
    bpy.data.objects["Load"].animation_data_clear()
    bpy.data.objects["Load"].location = (0.5, 0.5, 1.6)


def driven_bone(ob: bpy.types.Object) -> None:
    driver = ob.pose.bones["mast"].driver_add("rotation_quaternion", 1).driver
    driver.type, driver.expression = "SCRIPTED", "sin(frame / 3)"


def in_tracks(ob: bpy.types.Object) -> None:
    keyed_bone(ob)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("Strip", 1, data.action)
    data.action = None


def keyed_setting(owner: Callable, name: str, values: dict) -> Callable:
    def prepare(ob: bpy.types.Object) -> None:
        for frame, value in values.items():
            setattr(owner(ob), name, value)
            owner(ob).keyframe_insert(name, frame=frame)

    prepare.__name__ = f"keyed {name}"
    return prepare


def driven_influence(ob: bpy.types.Object) -> None:
    driver = ob.driver_add("dqik.goals[0].influence").driver
    driver.type, driver.expression = "SCRIPTED", "min(1, abs(frame - 6) / 4)"


def only_the_end_is_solved(prepare: Callable) -> Callable:
    """The goals move the jib and the boom; the mast below them is animated in some way."""

    def prepare_base(ob: bpy.types.Object) -> None:
        for goal in ob.dqik.goals:
            goal.chain_length = 2
        prepare(ob)

    prepare_base.__name__ = f"{prepare.__name__} below the chain"
    return prepare_base


def keyed_object(ob: bpy.types.Object) -> None:
    rigs.key_path(ob, (1, 4, 8), [(0, 0, 0), (0.3, 0.2, -0.4), (-0.3, 0.0, 0.3)])


def keyed_scale(ob: bpy.types.Object) -> None:
    bone = ob.pose.bones["mast"]
    for frame, scale in {1: 1.0, 4: 0.7, 8: 1.2}.items():
        bone.scale = (scale, scale, scale)
        bone.keyframe_insert("scale", frame=frame)


def keyed_constraint(ob: bpy.types.Object) -> None:
    made = ob.pose.bones["mast"].constraints.new("DAMPED_TRACK")
    made.target = rigs.empty((0.8, 0.6, 0.5), "Guide")
    for frame, influence in {1: 0.0, 4: 0.1, 8: 0.9}.items():
        made.influence = influence
        made.keyframe_insert("influence", frame=frame)


def driven_by_a_keyed_property(ob: bpy.types.Object) -> None:
    for frame, value in {1: 0.0, 4: 0.5, 8: -0.7}.items():
        ob["lean"] = value
        ob.keyframe_insert('["lean"]', frame=frame)
    ob.pose.bones["mast"].rotation_mode = "XYZ"
    driver = ob.pose.bones["mast"].driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path, driver.type = ob, '["lean"]', "AVERAGE"


def bent(ob: bpy.types.Object) -> None:
    """A base pose far from what the goals ask for, so that a setting makes a difference."""
    ob.pose.bones["mast"].rotation_quaternion = rigs.rotation((0, 1, 0), 40.0)
    ob.pose.bones["boom"].rotation_quaternion = rigs.rotation((1, 0, 0), -60.0)


ANIMATED = [
    plain, keyed_bone, keyed_bone_and_still_target, driven_bone, in_tracks,
    keyed_setting(lambda ob: ob.dqik.goals[0], "influence", {4: 0.0, 8: 1.0}),
    keyed_setting(lambda ob: ob.dqik.goals[0], "mute", {4: False, 6: True, 7: False}),
    keyed_setting(lambda ob: ob.dqik.goals[1], "position_weight", {4: 0.0, 8: 5.0}),
    keyed_setting(lambda ob: ob.dqik, "live", {4: True, 6: False, 8: True}),
    keyed_setting(lambda ob: ob.pose.bones["mast"], "dqik_stiffness", {4: 0.0, 8: 1.0}),
    driven_influence, only_the_end_is_solved(keyed_bone), keyed_object, keyed_scale, keyed_constraint,
    only_the_end_is_solved(driven_by_a_keyed_property),
]  # fmt: skip


@pytest.mark.parametrize("prepare", ANIMATED, ids=[prepare.__name__ for prepare in ANIMATED])
def test_stills_animations_and_the_viewport_agree(prepare: Callable, tmp_path: Path) -> None:
    """The ball is at one place in all three, at every frame; and the viewport is left as it was."""
    ob, _ = reaching()
    bent(ob)
    rigs.goal(ob, "jib", rigs.empty((0.2, -0.8, 1.4), "Pull"), position_weight=0.5)
    prepare(ob)
    filmed(ob)
    ob.dqik.live = True
    viewport, stills = {}, {}
    for frame in (7, 4, 6):
        rigs.at_frame(frame)
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


@pytest.mark.parametrize("prepare", [plain, keyed_bone, ANIMATED[5]], ids=["plain", "keyed bone", "keyed influence"])
def test_motion_blur_is_of_the_solved_motion(prepare: Callable, tmp_path: Path) -> None:
    """The ball's middle in a blurred picture is the mean of where the viewport has it while the shutter is open."""
    ob, _ = reaching()
    bent(ob)
    prepare(ob)
    scene = filmed(ob)
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 0.5
    ob.dqik.live = True
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


def test_an_armature_that_follows_another_is_rendered_in_its_place(tmp_path: Path) -> None:
    """The ball is on the second crane, whose target hangs on the first one, which has a keyed bone."""
    first = crane("First")
    rigs.goal(first, "jib", load())
    key_turns(first, "mast")
    second = crane("Second")
    second.location = (0.2, 0.6, 0)
    hook = rigs.empty((0, 0, 0), "Hook")
    hook.parent, hook.parent_type, hook.parent_bone = first, "BONE", "jib"
    rigs.goal(second, "jib", hook)
    filmed(second)
    first.dqik.live = second.dqik.live = True
    viewport = {}
    for frame in (4, 6):
        rigs.at_frame(frame)
        viewport[frame] = shown(second)
        np.testing.assert_allclose(still(tmp_path, frame), viewport[frame], atol=NEAR)
    film = animation(tmp_path, 4, 6)
    for frame, place in viewport.items():
        np.testing.assert_allclose(film[frame], place, atol=NEAR)


def target(hidden: bool) -> None:
    bpy.data.objects["Load"].hide_render = hidden


def collection_of_target(hidden: bool) -> None:
    scene, controls = bpy.context.scene, bpy.data.collections.new("Controls")
    scene.collection.children.link(controls)
    controls.objects.link(bpy.data.objects["Load"])
    scene.collection.objects.unlink(bpy.data.objects["Load"])
    controls.hide_render = hidden


def bone_as_target(hidden: bool) -> None:
    """A bone of an armature that nothing else needs."""
    leader = rigs.armature([rigs.Bone("hook", (0, 0, 0), (0, 0, 0.2))], "Leader")
    made = leader.pose.bones["hook"].constraints.new("COPY_LOCATION")
    made.target, leader.hide_render = bpy.data.objects["Load"], hidden
    goal = bpy.data.objects["Crane"].dqik.goals[0]
    goal.target, goal.subtarget = leader, "hook"


def target_by_keys(hidden: bool) -> None:
    load = bpy.data.objects["Load"]
    for frame, value in {5: False, 6: hidden}.items():
        load.hide_render = value
        load.keyframe_insert("hide_render", frame=frame)


@pytest.mark.parametrize("hide", [target, collection_of_target, bone_as_target, target_by_keys])
def test_targets_hidden_in_renders_are_reached_there(hide: Callable, tmp_path: Path) -> None:
    """Nothing is left in the file."""
    ob, _ = reaching()
    hide(True)
    filmed(ob)
    ob.dqik.live = True
    viewport = {}
    for frame in (3, 16):
        rigs.at_frame(frame)
        viewport[frame] = shown(ob)
    assert np.abs(viewport[3] - viewport[16]).max() > 2 * NEAR
    before = set(bpy.data.objects)
    film = animation(tmp_path, 3, 16)
    for frame, place in viewport.items():
        np.testing.assert_allclose(film[frame], place, atol=NEAR)
        rigs.at_frame(frame)
        np.testing.assert_allclose(still(tmp_path, frame), place, atol=NEAR)
    assert set(bpy.data.objects) == before
