# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants the feet and hands of many captured motions from the command line.

`blender -b --command dqik_mend --input FOLDER_OR_FILE --output FOLDER --report out.json`

Each .blend file or clip of another program becomes a .blend file of the same name in the output folder, in which each
armature is mended or, with a reason in the report, as it was. The input files stay as they are. The exit code is 0 if
all was mended, 1 if any was refused or a file could not be read, and 2 for arguments that cannot be used.
"""

from argparse import Namespace
from functools import partial
from math import degrees

import bpy

from ...rig.clip.ground import LEVEL, MESH, Ground
from ...rig.notes import Note, Refused
from ..common import finished
from ..motion import mend_motion
from . import all_actions, clip_files, commands
from .command_arguments import Parser, number, text
from .result_files import shown


def _options(parser: Parser) -> None:
    all_actions.add_options(parser)
    parser.add_argument("--ground", type=number(), help="the height of a level ground; without it, feet stand where "
                        "they are lowest at about that time")
    parser.add_argument("--ground-object", type=text, metavar="NAME",
                        help="the name of the mesh in the files on which the figures move")  # fmt: skip
    parser.add_argument("--flights", action="store_true", help="bodies in the air go along the curve of gravity again, "
                        "where some of their frames have left it")  # fmt: skip


def _ground(request: Namespace) -> Ground:
    """The ground in the open file. Raises `Refused` if the object is no mesh."""
    if request.ground_object is None:
        return Ground() if request.ground is None else Ground(LEVEL, request.ground)
    ob = bpy.context.scene.objects.get(request.ground_object)
    if ob is None or ob.type != "MESH":
        raise Refused(Note("There is no mesh {} in the scene to move on", repr(request.ground_object)))
    return Ground(MESH, 0.0, ob)


def _mended(ob: bpy.types.Object, request: Namespace, start: int, end: int) -> tuple[commands.Facts, str]:
    """Mend an armature over some frames."""
    with shown([ob]):
        steps = mend_motion.steps(bpy.context, ob, range(start, end + 1), ground=_ground(request),
                                  ballistic=request.flights)  # fmt: skip
        done = finished(steps)
    feet, knees, seat, back, hands = done.limbs
    said = f": {feet.contacts} contacts, slide {feet.before:.2g} to {feet.after:.2g} heights a second"
    for name, one in (("knees", knees), ("the seat", seat), ("the back", back), ("hands", hands)):
        if one.contacts:
            said += f"; {one.contacts} of {name}, {one.before:.2g} to {one.after:.2g}"
    if done.other_rate is not None:
        said += f"; {done.other_rate}"
    facts: commands.Facts = {}
    for part, one in zip(("", "knee_", "seat_", "back_", "hand_"), done.limbs, strict=True):
        facts |= {f"{part}contacts": one.contacts, f"{part}slide_before": one.before, f"{part}slide_after": one.after}
    facts.update(knees=degrees(feet.change), elbows=degrees(hands.change), flights=done.flights,
                 flights_left=done.others,
                 likely_rate=None if done.other_rate is None else done.other_rate.values[0])  # fmt: skip
    return facts, said


_tasks = partial(all_actions.in_the_file, _mended)
COMMAND = commands.Command("mend", "mended", __doc__, clip_files.ENDINGS, _options, _tasks)
