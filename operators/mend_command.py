# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants the feet of many captured motions from the command line.

`blender -b --command dqik_mend --input FOLDER_OR_FILE --output FOLDER --report out.json`

Each .blend and .bvh file becomes a .blend file of the same name in the output folder, in which each armature is mended
or, with a reason in the report, as it was. The input files stay as they are. The exit code is 0 if all armatures were
mended, 1 if any was refused or a file could not be read, and 2 for arguments that cannot be used.
"""

from argparse import Namespace
from contextlib import AbstractContextManager
from math import degrees

import bpy

from . import commands, mend_motion
from .command_files import evaluated


def _tasks(path: str | None, request: Namespace) -> AbstractContextManager[list[commands.Task]]:
    return commands.in_the_file(path, request, lambda ob: True, "armature", _mended)


def _mended(ob: bpy.types.Object, request: Namespace) -> commands.Done:
    """Mend an armature over the frames of its action or those that were asked for."""
    start, end = commands.frames(request, *commands.action_range(ob, bpy.context.scene))
    with evaluated([ob]):
        steps = mend_motion.steps(bpy.context, ob, range(start, end + 1))
        while True:
            try:
                next(steps)
            except StopIteration as last:
                done = last.value
                break
    said = f": {done.contacts} contacts, slide {done.before:.2g} to {done.after:.2g} heights a second"
    return commands.Done(start, end, {
        "contacts": done.contacts, "slide_before": done.before, "slide_after": done.after, "knees": degrees(done.knees),
    }, said)  # fmt: skip


COMMAND = commands.Command(
    "dqik_mend", "mended", __doc__.splitlines()[0], (".blend", ".bvh"), lambda parser: None, _tasks
)
