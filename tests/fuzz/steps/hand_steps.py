# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of an animator: grab the body, see motion, roll feet, key with Only Insert Available, push an action down."""

import bpy
from draw import Draw, NothingToDrawError, named, require_undo, step
from shots import Owner


def _bone(draw: Draw) -> tuple[bpy.types.Object, str]:
    ob = draw.scene_rig(local=True)
    return ob, draw.bone(ob).name


def _grab(draw: Draw) -> str:
    """Words that drag a bone from its head."""
    ob, name = _bone(draw)
    return (
        f"(select({named(ob)}, [{name!r}]), press('grab', bone={name!r}, point=world(({ob.name!r}, {name!r}))[:3, 3], "
        f"to=world(({ob.name!r}, {name!r}))[:3, 3] + {draw.way()}))"
    )


@step("grab", 2)
def check_grab_again(draw: Draw) -> str:
    """Undo and redo of a drag, with and without Auto Keying."""
    require_undo()
    auto = draw.chance(0.4)
    tools = "bpy.context.scene.tool_settings.use_keyframe_insert_auto"
    return f"{tools} = {auto}\ncheck_again(lambda: {_grab(draw)}, {draw.random.randint(1, 12)})\n{tools} = False"


@step("grab", 1)
def grab_and_key(draw: Draw) -> str:
    tools = "bpy.context.scene.tool_settings.use_keyframe_insert_auto"
    return f"at_frame({draw.random.randint(1, 12)})\n{tools} = True\n{_grab(draw)}\nupdate()\n{tools} = False"


@step("seen", 3)
def check_seen(draw: Draw) -> str:
    of = sorted({draw.one(["GHOSTS", "ARCS"]), draw.one(["GHOSTS", "ARCS", "MESHES"])})
    ob = draw.scene_rig()
    return f"check_seen(lambda: {named(ob)}, {of}, {draw.frame():g}, {draw.frames(2)})"


def _foot(draw: Draw) -> tuple[bpy.types.Object, int, Owner]:
    """A goal that may roll, and its control."""
    ob = draw.rig(local=True)
    number, goal = draw.one([
        (k, goal) for k, goal in enumerate(ob.dqik.goals)
        if goal.target is not None and goal.use_rotation and goal.kind == "REACH" and goal.rotation_follows == 0.0
        and (goal.target.type != "ARMATURE" or goal.subtarget in goal.target.pose.bones) and goal.target.library is None
    ])  # fmt: skip
    return ob, number, (goal.target.name, goal.subtarget if goal.target.type == "ARMATURE" else "")


@step("roll", 3)
def check_roll(draw: Draw) -> str:
    ob, number, _ = _foot(draw)
    return f"check_roll(lambda: {named(ob)}, {number}, {draw.number(-1.0, 1.5)}, {draw.frame():g})"


@step("roll", 2)
def set_roll(draw: Draw) -> str:
    _, _, owner = _foot(draw)
    return f"owner_of({owner}).dqik_roll = {draw.one([0.0, draw.number(-0.6, 1.4)])}"


@step("roll", 2)
def key_roll(draw: Draw) -> str:
    _, _, owner = _foot(draw)
    return f"key(owner_of({owner}), 'dqik_roll', { ({f: draw.number(-0.6, 1.2) for f in draw.frames(3)}) })"


@step("roll", 1)
def plant_rolled(draw: Draw) -> str:
    _, _, owner = _foot(draw)
    if not owner[1]:
        raise NothingToDrawError
    first = draw.random.randint(2, 8)
    return (
        f"at_frame({first})\nchoose([{owner}])\n"
        f"press('plant', frame_start={first}, frame_end={first + draw.random.randint(0, 4)}, fade=2, roll=True)"
    )


@step("available", 2)
def check_available(draw: Draw) -> str:
    """Drags, turns by Blender's operator, pastes and cleared rotations."""
    ob, name = _bone(draw)
    turn = f"bpy.ops.transform.rotate(value={draw.number(-1, 1)}, orient_axis={draw.one('XYZ')!r})"
    move = f"bpy.ops.transform.translate(value={draw.vector(0.3)})"
    paste = "(bpy.ops.pose.copy(), bpy.ops.pose.paste(flipped=True))"
    change = draw.one([turn, paste, "bpy.ops.pose.rot_clear()"])
    if not ob.data.bones[name].use_connect and draw.chance(0.3):  # Blender itself makes NaN of connected ones
        change = move
    words = _grab(draw) if draw.chance(0.3) else f"(select({named(ob)}, [{name!r}]), {change})"
    return f"check_available(lambda: {words}, {draw.random.randint(1, 12)})"


@step("available", 1)
def insert_available(draw: Draw) -> str:
    """Blender's own key with the preference."""
    ob, name = _bone(draw)
    wish = "bpy.context.preferences.edit.use_keyframe_insert_available"
    return (
        f"at_frame({draw.random.randint(1, 12)})\nselect({named(ob)}, [{name!r}])\n{wish} = True\n"
        f"try:\n    bpy.ops.anim.keyframe_insert()\nfinally:\n    {wish} = False"
    )
