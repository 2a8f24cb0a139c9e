# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on the file: objects, scenes, view layers, undo, saving, libraries and overrides."""

import bpy
from draw import Draw, bone_named, named, require_undo, step
from vocabulary import armatures

# -- objects -----------------------------------------------------------------------------------------------------------


@step("objects", 0.4)
def parent_rig(draw: Draw) -> str:
    ob, other = draw.rig(local=True), draw.rig()
    if ob == other:
        return f"{named(ob)}.parent = None"
    words = f"{named(ob)}.parent = {named(other)}"
    if draw.chance(0.5):
        words += f"\n{named(ob)}.parent_type = 'BONE'\n{named(ob)}.parent_bone = {draw.bone(other).name!r}"
    return words


# -- scenes ------------------------------------------------------------------------------------------------------------


@step("scenes", 1)
def second_scene(draw: Draw) -> str:
    names = sorted(ob.name for ob in bpy.context.scene.objects if ob.library is None)
    return f"link_to_scene('Two', {names if draw.chance(0.8) else draw.some(names, 2)})"


@step("scenes", 1)
def switch_scene(draw: Draw) -> str:
    return f"show_scene({draw.one(sorted(scene.name for scene in bpy.data.scenes))!r})"


def _other_scene(draw: Draw) -> str:
    return draw.one(sorted(scene.name for scene in bpy.data.scenes if scene != bpy.context.scene))


@step("scenes", 1)
def frame_elsewhere(draw: Draw) -> str:
    return f"bpy.data.scenes[{_other_scene(draw)!r}].frame_set({draw.random.randint(1, 12)})"


@step("scenes", 1.5)
def check_scenes(draw: Draw) -> str:
    return f"check_scenes({_other_scene(draw)!r}, {draw.frame():g}, {draw.random.randint(1, 12)})"


@step("scenes", 0.4)
def view_layer(draw: Draw) -> str:
    words = "bpy.context.window.view_layer"
    if len(bpy.context.scene.view_layers) < 2:
        return f"{words} = bpy.context.scene.view_layers.new('Second')"
    return f"{words} = bpy.context.scene.view_layers[{draw.random.randrange(2)}]"


# -- undo and files ----------------------------------------------------------------------------------------------------


@step("undo", 2)
def check_undo(draw: Draw) -> str:
    require_undo()
    ob = draw.rig(local=True)
    one = draw.bone(ob)
    path, value = draw.rotation_value(one.rotation_mode)
    change = draw.one([
        f"setattr({bone_named(one)}, {path!r}, {value})", f"setattr({named(ob)}.dqik, 'live', {not ob.dqik.live})",
        f"setattr({bone_named(one)}, 'dqik_lock', {not one.dqik_lock})", f"at_frame({draw.frame():g})",
        f"setattr({named(draw.target())}, 'location', {draw.vector(2)})", f"run('solve', {named(ob)})",
        f"run('reset_pose', {named(ob)})", f"run('bake', {named(ob)}, frame_start=1, frame_end=3)",
        f"{named(ob)}.dqik.goals.clear()",
    ])  # fmt: skip
    return f"check_undo(lambda: {change})"


@step("libraries", 0.5)
def local_beside_linked(draw: Draw) -> str:
    """A rig of this file, beside one of the same name from a library."""
    draw.one([1] if any(ob.library for ob in armatures()) else [])
    bones = [("a", (0, 0, 0), (0, 0, 1), "", False, 0.0), ("b", (0, 0, 1), (0, 0.4, 1.8), "a", True, 0.0)]
    return (
        f"make_rig('Rig', {bones})\nmake_empty('Target0', {draw.vector(1)})\n"
        "make_goal(thing('Rig'), 'b', 'Target0')\nthing('Rig').dqik.live = True"
    )
