# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes shakes out of many captured motions from the command line.

`blender -b --command dqik_remove_shakes --input FOLDER_OR_FILE --output FOLDER --report out.json`

Files are read, written and reported as by `dqik_mend`.
"""

from argparse import Namespace
from contextlib import AbstractContextManager

import bpy

from ...rig.clip import last_report
from ..frames import action_range
from . import all_actions, clip_files, commands
from .command_arguments import Parser


def _options(parser: Parser) -> None:
    all_actions.add_option(parser)
    clip_files.add_option(parser)
    parser.add_options("remove_shakes", amount="how large the shakes are taken for; 1 as they are measured",
                       step="number of frames from one to the next")  # fmt: skip
    parser.add_argument("--no-plant", action="store_true", help="do not plant feet and hands afterwards")


def _tasks(path: str | None, request: Namespace) -> AbstractContextManager[list[commands.Task]]:
    return all_actions.in_the_file(path, request, _cleaned)


def _cleaned(ob: bpy.types.Object, request: Namespace) -> commands.Done:
    """Take the shakes out of an armature's motion, over the frames of its action or those that were asked for."""
    start, end = commands.frames(request, action_range(ob, bpy.context.scene), commands.motion_range([ob]))
    others = 0 if request.all_actions else all_actions.left_out(ob)
    commands.press(COMMAND, "remove_shakes", ob, (), frame_start=start, frame_end=end, step=request.step,
                   amount=request.amount, plant=not request.no_plant)  # fmt: skip
    report = last_report.of(ob)
    said = "" if report is None else ": " + "; ".join(map(str, report.notes))
    if others:
        said += f"; left out without --all-actions: {others} of its motions"
    return commands.Done(start, end, {"other_actions": others}, said)


COMMAND = commands.Command(
    "remove_shakes", "cleaned", __doc__.splitlines()[0], (".blend", *clip_files.ENDINGS), _options, _tasks
)
