# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on the file: objects, scenes, view layers, undo, saving, libraries and overrides."""

import bpy
from draw import Draw, bone_named, named, require_undo, step
from vocabulary import armatures

# -- objects -----------------------------------------------------------------------------------------------------------


@step("place", 1)
def place_rig(draw: Draw) -> str:
    ob = named(draw.rig())
    return draw.one([
        f"{ob}.location = {draw.vector(2)}", f"{ob}.rotation_euler = {draw.vector(3)}",
        f"{ob}.scale = ({draw.number(0.2, 3)},) * 3", f"{ob}.scale = {draw.vector(2)}",
        f"key({ob}, 'location', {({f: draw.vector(1.5) for f in draw.frames(2)})})",
    ])  # fmt: skip


@step("objects", 0.6)
def copy_rig(draw: Draw) -> str:
    words = f"made = {named(draw.rig(local=True))}.copy()\nbpy.context.scene.collection.objects.link(made)"
    return words + ("\nmade.data = made.data.copy()" if draw.chance(0.3) else "")


@step("objects", 0.3)
def copy_and_remove(draw: Draw) -> str:
    """The number of objects stays the same."""
    return f"{copy_rig(draw)}\nbpy.data.objects.remove({named(draw.target())})"


@step("objects", 0.4)
def rename_rig(draw: Draw) -> str:
    return f"{named(draw.rig(local=True))}.name = {draw.new_name('Rig_')!r}"


@step("objects", 0.2)
def remove_rig(draw: Draw) -> str:
    draw.one([1] if len(armatures()) > 1 else [])
    return f"bpy.data.objects.remove({named(draw.rig(local=True))})"


@step("objects", 0.3)
def swap_data(draw: Draw) -> str:
    return f"{named(draw.rig(local=True))}.data = {named(draw.rig(local=True))}.data"


@step("objects", 0.5)
def hide(draw: Draw) -> str:
    ob = named(draw.rig() if draw.chance(0.5) else draw.target())
    return f"{ob}.hide_viewport = {draw.chance(0.4)}"


@step("objects", 0.4)
def parent_rig(draw: Draw) -> str:
    ob, other = draw.rig(local=True), draw.rig()
    if ob == other:
        return f"{named(ob)}.parent = None"
    words = f"{named(ob)}.parent = {named(other)}"
    if draw.chance(0.5):
        words += f"\n{named(ob)}.parent_type = 'BONE'\n{named(ob)}.parent_bone = {draw.bone(other).name!r}"
    return words


@step("objects", 0.3)
def unlink(draw: Draw) -> str:
    """Out of the scene and back, now or later."""
    ob = named(draw.rig(local=True))
    collection = "bpy.context.scene.collection.objects"
    return draw.one([f"{collection}.unlink({ob})", f"{collection}.link({ob})"])


@step("objects", 0.4)
def second_rig(draw: Draw) -> str:
    """Another rig made by a script, live before Blender has evaluated it."""
    ob = draw.rig(local=True)
    name = draw.new_name("New")
    return (
        f"made = bpy.data.objects.new({name!r}, {named(ob)}.data)\nbpy.context.scene.collection.objects.link(made)\n"
        f"make_goal(made, {draw.bone(ob).name!r}, {draw.target().name!r})\nmade.dqik.live = True"
    )


@step("objects", 0.3)
def empty_armature(draw: Draw) -> str:
    name = draw.new_name("Boneless")
    return (
        f"made = bpy.data.objects.new({name!r}, bpy.data.armatures.new({name!r}))\n"
        "bpy.context.scene.collection.objects.link(made)\n"
        f"make_goal(made, 'a', {draw.target().name!r})\nmade.dqik.live = True"
    )


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


@step("undo", 1)
def push(draw: Draw) -> str:
    del draw
    return "bpy.ops.ed.undo_push(message='step')"


@step("undo", 1)
def undo(draw: Draw) -> str:
    """As in the window, every change has been pushed before an undo, and redo comes straight after it."""
    require_undo()
    redo = "\nbpy.ops.ed.redo()" if draw.chance(0.4) else ""
    return "bpy.ops.ed.undo_push(message='step')\nbpy.ops.ed.undo()" + redo


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


@step("files", 1)
def save_and_load(draw: Draw) -> str:
    del draw
    return "save_and_load()"


@step("libraries", 0.7)
def library(draw: Draw) -> str:
    draw.one([1] if not any(ob.library for ob in bpy.data.objects) else [])
    return f"link_from_new_file({draw.new_name('library')!r}, {draw.chance(0.6)})"


@step("libraries", 0.5)
def local_beside_linked(draw: Draw) -> str:
    """A rig of this file, beside one of the same name from a library."""
    draw.one([1] if any(ob.library for ob in armatures()) else [])
    bones = [("a", (0, 0, 0), (0, 0, 1), "", False, 0.0), ("b", (0, 0, 1), (0, 0.4, 1.8), "a", True, 0.0)]
    return (
        f"make_rig('Rig', {bones})\nmake_empty('Target0', {draw.vector(1)})\n"
        "make_goal(thing('Rig'), 'b', 'Target0')\nthing('Rig').dqik.live = True"
    )


@step("libraries", 0.5)
def save_and_load_again(draw: Draw) -> str:
    del draw
    return "save_and_load('shot')"
