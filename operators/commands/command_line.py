# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking from the command line, for render farms.

`blender -b shot.blend --command dqik_bake --armature NAME --start 1 --end 250 --output out.blend`

All arguments are checked before the bake, so that a wrong one costs no time and changes no file. The result is written
beside the file that it replaces, and replaces it only if all of it can be read again. The exit code is 0 if all was
baked, 2 for arguments that cannot be used, and 1 if anything was refused or failed, which is then as it was.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial

import bpy

from ...rig.blender.dependencies import aims_of
from ...rig.frame.step import missed
from . import commands
from .command_arguments import Parser
from .command_files import Refusal


def bake(arguments: Sequence[str]) -> int:
    """Bake armatures of the open file or of others, save the results as other files and return the exit code."""
    return commands.run(COMMAND, arguments)


def _options(parser: Parser) -> None:
    parser.add_options("bake", step="number of frames between keys",
                       reduce="leave out keys within this tolerance; 0 keeps all",
                       smooth="0 to 1: solve all frames as one smooth motion; 0: each alone")


def _baked(ob: bpy.types.Object, request: Namespace) -> commands.Done:
    """Bake an armature over the scene's frames or those that were asked for."""
    scene, targets = bpy.context.scene, _targets(bpy.context.scene, ob)
    if not ob.dqik.goals:
        raise Refusal(f"armature {ob.name!r} has no goals")
    usual = scene.frame_start, scene.frame_end
    moving = commands.motion_range([ob, *targets])
    motion = min(usual[0], moving[0]), max(usual[1], moving[1])
    start, end = commands.frames(request, usual, motion)
    commands.press(COMMAND, "bake", ob, targets, frame_start=start, frame_end=end, step=request.step,
                   reduce=request.reduce, smooth=request.smooth)
    misses = missed.summary(scene, ob)
    return commands.Done(start, end, {"missed_frames": len(ob.dqik.missed_frames)}, f": {misses}" if misses else "")


def _targets(scene: bpy.types.Scene, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the targets and obstacles of an armature, and of the live armatures that it may follow."""
    armatures = [ob, *(other for other in scene.objects if other.type == "ARMATURE" and other.dqik.live)]
    return list(dict.fromkeys(target for armature in armatures for target, _ in aims_of(armature)))


_tasks = partial(commands.in_the_file, default=lambda ob: bool(ob.dqik.goals), what="armature with goals", work=_baked)
COMMAND = commands.Command("bake", "baked", __doc__, (".blend",), _options, _tasks)
