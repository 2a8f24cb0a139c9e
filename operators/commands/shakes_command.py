# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes shakes out of many captured motions from the command line.

`blender -b --command dqik_remove_shakes --input FOLDER_OR_FILE --output FOLDER --report out.json`

Files are read, written and reported as by `dqik_mend`.
"""

from argparse import Namespace
from functools import partial

import bpy

from ...rig.clip import last_report
from . import all_actions, clip_files, commands
from .command_arguments import Parser


def _options(parser: Parser) -> None:
    all_actions.add_options(parser)
    parser.add_options("remove_shakes", amount="how large the shakes are taken for; 1 as they are measured",
                       step="number of frames from one to the next")  # fmt: skip
    parser.add_argument("--no-plant", action="store_true", help="do not plant feet and hands afterwards")


def _cleaned(ob: bpy.types.Object, request: Namespace, start: int, end: int) -> tuple[commands.Facts, str]:
    """Take the shakes out of an armature's motion, over some frames."""
    commands.press(COMMAND, "remove_shakes", ob, (), frame_start=start, frame_end=end, step=request.step,
                   amount=request.amount, plant=not request.no_plant)  # fmt: skip
    report = last_report.of(ob)
    return {}, "" if report is None else ": " + "; ".join(map(str, report.notes))


_tasks = partial(all_actions.in_the_file, _cleaned)
COMMAND = commands.Command("remove_shakes", "cleaned", __doc__, clip_files.ENDINGS, _options, _tasks)
