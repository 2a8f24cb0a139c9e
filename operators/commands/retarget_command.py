# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a figure the motions of many others from the command line.

`blender -b --command dqik_retarget --body hero.blend --input CLIPS --output FOLDER --report out.json`

For each clip the output folder gets a copy of the body's file, in which its figure has the clip's
motion as a new action, at the clip's rate. Without `--body` both figures are in the same file. The exit code is 0 if
all motions were carried over, 1 if any was refused or a file could not be read, and 2 for arguments that cannot be
used.
"""

import os
import tempfile
from argparse import Namespace
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import bpy

from ...rig.blender import motions
from ...rig.clip import last_report, lineage
from ..frames import action_range
from . import all_actions, clip_files, command_files, commands
from .command_arguments import Parser, text
from .command_files import Failure, Refusal


def _options(parser: Parser) -> None:
    all_actions.add_options(parser)
    parser.add_argument("--body", type=text, metavar="FILE.blend", help="the file of the figure that gets the motions; "
                        "default: it is in the file of the motion")  # fmt: skip
    parser.add_argument("--source", type=text, metavar="NAME", help="the armature that has the motion; default: the "
                        "only one in its file")  # fmt: skip
    parser.add_argument("--partner", type=text, metavar="NAME", help="a figure that has the motion of another source "
                        "by Retarget: hands touch it where those of the sources touch each other")  # fmt: skip


@contextmanager
def _tasks(path: str | None, request: Namespace) -> Generator[list[commands.Task]]:
    if request.body is None:
        command_files.open_file(path, request.up)
        there = command_files.armatures(bpy.context.scene)
        source = _source({name: ob for name, ob in there.items() if name not in (request.armature or ())}, request)
        with _carried(source, request, [name for name in there if name != source.name], bpy.data.actions) as tasks:
            yield tasks
        return
    with tempfile.TemporaryDirectory(prefix="dqik-") as folder:
        clip = _as_blend(path, os.path.join(folder, "clip.blend"), request.up)
        try:
            command_files.open_file(os.path.abspath(request.body))
        except Failure as error:
            raise Failure(f"the body file {request.body!r}: {error}") from None
        bodies, before = command_files.armatures(bpy.context.scene), _everything()
        brought, scene = _bring(clip, request.all_actions)
        source = _source(brought, request)
        if source.library is not None:
            source = source.make_local()  # under a name of its own
        bpy.context.scene.collection.objects.link(source)
        _take_times(scene, *commands.frames(request, *_ranges(source, scene)))
        came = [action for action in bpy.data.actions if action not in before]
        with _carried(source, request, list(bodies), came) as tasks:
            there = {*bpy.data.actions}
            yield tasks
        bpy.data.batch_remove(_everything() - before - ({*bpy.data.actions} - there))


@contextmanager
def _carried(
    source: bpy.types.Object, request: Namespace, bodies: Sequence[str], actions: Iterable[bpy.types.Action]
) -> Generator[list[commands.Task]]:  # fmt: skip
    """Yields the tasks that give bodies, or the armatures that were named, the motion of a source.

    actions : those that can be a motion of the source, if all are asked for. At the end, bodies have the first one.
    """
    first: dict[str, tuple] = {}
    names = request.armature or bodies
    if not names:
        raise Refusal("there is no armature that could get the motion")

    def work(name: str) -> commands.Done:
        ob = command_files.armature(bpy.context.scene, name)
        start, end = commands.frames(request, *_ranges(source, bpy.context.scene))
        commands.press(COMMAND, "retarget", ob, [source], source=source.name, partner=request.partner or "",
                       frame_start=start, frame_end=end)  # fmt: skip
        said = "".join(f"; {note}" for note in last_report.of(ob).notes[1:])
        return commands.Done(*action_range(ob, bpy.context.scene), {"source": source.name}, said)

    def one_of_many(name: str, action: bpy.types.Action, before: tuple) -> commands.Done:
        ob = command_files.armature(bpy.context.scene, name)
        if ob.animation_data is not None:
            lineage.assign(ob, before)  # what comes from one motion is not made of another one
        with motions.alone(source, action):
            done = work(name)
        ob.animation_data.action.use_fake_user = True
        first.setdefault(name, lineage.assigned(ob))
        return done

    every = motions.of(source, [source], actions) if request.all_actions else []
    there = bpy.context.scene.objects
    yield [
        commands.Task(name, partial(one_of_many, name, action, lineage.assigned(there.get(name))), action.name)
        for name in dict.fromkeys(names) for action in every
    ] or [commands.Task(name, partial(work, name)) for name in dict.fromkeys(names)]  # fmt: skip
    for name, action in first.items():
        lineage.assign(there[name], action)


def _ranges(source: bpy.types.Object, scene: bpy.types.Scene) -> tuple[tuple[int, int], tuple[int, int]]:
    """The frames of a source's action, those of its scene without one, and those on which it moves."""
    usual, moving = action_range(source, scene), commands.motion_range([source])
    return usual, (min(usual[0], moving[0]), max(usual[1], moving[1]))


def _source(there: Mapping[str, bpy.types.Object], request: Namespace) -> bpy.types.Object:
    """The armature that has the motion, of those of its file by their names there."""
    names = ", ".join(map(repr, there)) or "none"
    if request.source is not None:
        if request.source not in there:
            raise Refusal(f"there is no armature {request.source!r} with a motion; there are: {names}")
        return there[request.source]
    if len(there) != 1:
        raise Refusal(f"choose the armature that has the motion by --source; there are: {names}")
    return next(iter(there.values()))


def _as_blend(path: str | None, made: str, up: str) -> str:
    """A .blend with what a clip, or the open file, has; it is made if there is none."""
    if path is not None and path.lower().endswith(".blend"):
        return path
    command_files.open_file(path, up)
    bpy.ops.wm.save_as_mainfile(filepath=made, copy=True)
    return made


def _bring(clip: str, all_actions: bool) -> tuple[dict[str, bpy.types.Object], bpy.types.Scene]:
    """The armatures of a .blend by their names there, brought into the open file, and the scene that has them.

    all_actions : bring also the actions that nothing uses.
    """
    try:
        loading: Any = bpy.data.libraries.load(clip)
        with loading as (there, wanted):
            names = list(there.objects)
            wanted.objects, wanted.scenes = list(names), list(there.scenes)
            wanted.actions = list(there.actions) if all_actions else []
    except OSError:
        raise Failure("Blender cannot read it") from None
    linked = [ob for scene in wanted.scenes for ob in scene.objects if ob.library is not None]
    every = [*((ob.name, ob) for ob in linked), *zip(names, wanted.objects, strict=True)]
    armatures = {name: ob for name, ob in every if ob is not None and ob.type == "ARMATURE"}
    having = [scene for scene in wanted.scenes if {*scene.objects} & {*armatures.values()}]
    return armatures, (having or wanted.scenes)[0]


def _take_times(scene: bpy.types.Scene, start: int, end: int) -> None:
    """Give the open scene a range, and the rate of another scene."""
    own = bpy.context.scene
    own.render.fps, own.render.fps_base = scene.render.fps, scene.render.fps_base
    own.frame_start, own.frame_end = start, end
    own.frame_set(start)


def _everything() -> set[bpy.types.ID]:
    """All data-blocks of the open file."""
    kinds = {kind.identifier for kind in bpy.data.bl_rna.properties if kind.type == "COLLECTION"} - {"all_ids"}
    return {one for kind in kinds for one in getattr(bpy.data, kind)}


COMMAND = commands.Command("retarget", "retargeted", __doc__, clip_files.ENDINGS, _options, _tasks)
