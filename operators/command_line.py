# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking from the command line, for render farms.

`blender -b shot.blend --command dqik_bake --armature NAME --start 1 --end 250 --output out.blend`
"""

import argparse
from collections.abc import Sequence

import bpy

COMMAND = "dqik_bake"
_registered: list[object] = []


def bake(arguments: Sequence[str]) -> int:
    """Bake one armature of the open file and save it; the exit code."""
    parser = argparse.ArgumentParser(prog=f"blender -b FILE --command {COMMAND}", description=__doc__.splitlines()[0])
    parser.add_argument("--armature", required=True, help="name of the armature object")
    parser.add_argument("--start", type=int, help="first frame; default: the scene's")
    parser.add_argument("--end", type=int, help="last frame; default: the scene's")
    parser.add_argument("--step", type=int, default=1, help="frames from key to key")
    parser.add_argument("--reduce", type=float, default=0.0, help="leave out keys within this tolerance; 0 keeps all")
    parser.add_argument("--output", required=True, help="the .blend to write")
    try:
        asked = parser.parse_args(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    ob, scene = bpy.data.objects.get(asked.armature), bpy.context.scene
    if ob is None or ob.type != "ARMATURE":
        names = ", ".join(repr(one.name) for one in bpy.data.objects if one.type == "ARMATURE") or "none"
        print(f"{COMMAND}: there is no armature {asked.armature!r}; this file's armatures: {names}")
        return 1
    if scene.objects.get(ob.name) is None:
        print(f"{COMMAND}: armature {ob.name!r} is not in the scene {scene.name!r}, which is open")
        return 1
    start = scene.frame_start if asked.start is None else asked.start
    end = scene.frame_end if asked.end is None else asked.end
    try:
        with bpy.context.temp_override(object=ob, active_object=ob):
            result = bpy.ops.dqik.bake(frame_start=start, frame_end=end, step=asked.step, reduce=asked.reduce)
    except RuntimeError as error:
        print(f"{COMMAND}: {error}")
        return 1
    if result != {"FINISHED"}:
        print(f"{COMMAND}: nothing was baked")
        return 1
    bpy.ops.wm.save_as_mainfile(filepath=asked.output, copy=True)
    print(f"{COMMAND}: baked frames {start} to {end} of {ob.name!r} into {asked.output}")
    return 0


def register() -> None:
    """Make the command known to Blender."""
    _registered.append(bpy.utils.register_cli_command(COMMAND, bake))


def unregister() -> None:
    """Take the command away again."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
