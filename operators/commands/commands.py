# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command: files one after another, a line for each, the report and the exit code.

A file in which an armature is refused or fails gets the reason in the report, and the next file follows. The report is
written anew after each file, so that it is there if the process ends early.
"""

import io
import json
import os
import sys
import tomllib
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout, suppress
from functools import cache, partial
from time import perf_counter
from typing import NamedTuple, TextIO

import bpy

from ... import solvers as ik
from ...rig import curves
from ...rig.blender import animation, scene_state
from ...rig.blender.files import replaced_file
from ...rig.notes import Refused
from ..frames import action_range
from . import command_files, result_files
from .command_arguments import Parser
from .command_files import Failure, Refusal

_registered: list[object] = []

Facts = dict[str, str | float | bool | None]
"""A row of the report: the facts of an armature."""


class Done(NamedTuple):
    """The result of a task: its frames, further facts for the report, and words."""

    start: int
    end: int
    facts: Facts
    said: str = ""


class Task(NamedTuple):
    """The work on one armature of the open file. It raises an exception if it leaves the armature as it was.

    action : the name of the motion, if it is one of several.
    """

    armature: str
    work: Callable[[], Done]
    action: str | None = None


class Tried(NamedTuple):
    """The outcome of a task, None for a file with none: its result, None if that was there, and its time [s].

    keys : a digest of them, the same on any machine.
    """

    task: Task | None
    result: Done | Exception | None
    seconds: float
    keys: str = ""


class Command(NamedTuple):
    """A command: `tasks` opens a file, None for the open one, and returns what to do; at its end the file is saved."""

    tool: str  # in one word: the name of the command is `dqik_` and this
    done: str  # the past participle, also a key of the report
    about: str  # its first line tells what the command does
    endings: tuple[str, ...]
    options: Callable[[Parser], None]
    tasks: Callable[[str | None, Namespace], AbstractContextManager[list[Task]]]

    @property
    def name(self) -> str:
        """Its name for Blender's command line."""
        return f"dqik_{self.tool}"


def register(*commands: Command) -> None:
    """Register commands with Blender."""
    _registered.extend(bpy.utils.register_cli_command(one.name, partial(run, one)) for one in commands)


def unregister() -> None:
    """Unregister all commands."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


def run(command: Command, arguments: Sequence[str]) -> int:
    """Do what the arguments ask, write results and report, and return the exit code."""
    parser = Parser(command.name, command.about.splitlines()[0], command.endings)
    command.options(parser)
    try:
        request = parser.parse_args(list(arguments))
        files = parser.files(request)
    except SystemExit as end:
        return int(end.code or 0)
    report: list[Facts] = []
    written = True
    for number, (path, output) in enumerate(files, 1):
        skipped = request.skip_existing and os.path.exists(bpy.path.abspath(output))
        found = [_facts(command, path, Tried(None, None, 0.0), output)] if skipped else _file(
            command, request, path, output
        )
        report += found
        place = "" if path is None else f"{number}/{len(files)} {os.path.basename(path)}: "
        for facts in found:
            if facts["skipped"]:
                say(command.name, f"{place}skipped, {output} is there", sys.stdout)
            elif facts["reason"] is None:
                say(command.name, f"{place}{facts.pop('said')}", sys.stdout)
            else:
                which = "" if facts["action"] is None else f"{facts['action']!r}: "
                say(command.name, f"{place}{which}{facts['reason']}", sys.stderr)
        written = request.report is None or _write(command, request.report, report)
    skipped, refused, left = (sum(bool(facts[kind]) for facts in report) for kind in ("skipped", "refused", "reason"))
    if len(files) > 1:
        say(command.name, f"{len(report) - left - skipped} of {len(report)} {command.done}, {skipped} skipped, "
            f"{refused} refused, {left - refused} failed", sys.stdout)  # fmt: skip
    return 0 if written and (refused if request.allow_refused else 0) == left else 1


def _file(command: Command, request: Namespace, path: str | None, output: str) -> list[Facts]:
    """Work on the armatures of one file and save it if any was changed; the facts of each."""
    found, target, began = list[Tried](), "", perf_counter()
    try:
        target = command_files.output(output)
        with command.tasks(path, request) as tasks:
            command_files.check_not_linked(target, output)
            found = [_tried(task) for task in tasks]
        done = {one.task.armature: one.result for one in found if one.task and isinstance(one.result, Done)}
        if done:
            span = min(one.start for one in done.values()), max(one.end for one in done.values())
            command_files.save(target, output, list(done), span)
    except Exception as error:
        found = [one if isinstance(one.result, Exception) else one._replace(result=error) for one in found]
        found = found or [Tried(None, error, perf_counter() - began)]
    return [_facts(command, path, one, target) for one in found]


def _facts(command: Command, path: str | None, tried: Tried, target: str) -> Facts:
    """Returns a row of the report. target : the file that has the result."""
    result, (armature, action) = tried.result, (tried.task.armature, tried.task.action) if tried.task else (None, None)
    error = result if isinstance(result, Exception) else None
    facts = {"file": path or bpy.data.filepath or None, "armature": armature, "action": action,
             command.done: isinstance(result, Done), "skipped": result is None,
             "refused": isinstance(error, Refusal | Refused), "reason": None if error is None else _reason(error),
             "output": None if error else target, "seconds": round(tried.seconds, 2),
             "blender": bpy.app.version_string, "dqik": _version(), "kernel": ik.kernel()}
    if isinstance(result, Done):
        name = f"{armature!r}" if action is None else f"{action!r} of {armature!r}"
        said = f"{command.done} frames {result.start} to {result.end} of {name} into {target}{result.said}"
        facts |= {"start": result.start, "end": result.end, **result.facts, "keys": tried.keys, "said": said}
    return facts


@cache
def _version() -> str:
    """The version of this extension."""
    with open(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "blender_manifest.toml"), "rb") as file:
        return tomllib.load(file)["version"]


def _tried(task: Task) -> Tried:
    """Does a task; returns its result, or the error that ended it."""
    began, printed = perf_counter(), io.StringIO()
    with redirect_stdout(printed):
        try:
            result: Done | Exception = task.work()
        except RuntimeError as error:  # an operator's report
            result = Refusal(command_files.reported(error))
        except Exception as error:
            result = error
    if not isinstance(result, Refusal):  # which Blender has printed, and the command says
        with suppress(OSError, ValueError):
            print(printed.getvalue(), end="")
    ob = bpy.data.objects.get(task.armature) if isinstance(result, Done) else None
    return Tried(task, result, perf_counter() - began, "" if ob is None else curves.digest(ob))


def _reason(error: Exception) -> str:
    """Returns an exception's message in one sentence."""
    if isinstance(error, Refused | scene_state.Disturbed):
        return str(error.note)
    if isinstance(error, Refusal | Failure):
        return str(error)
    return f"nothing was done because of an error: {command_files.last_line(str(error)) or type(error).__name__}"


def _write(command: Command, path: str, report: Sequence[Facts]) -> bool:
    """Write the report; whether it could be written."""
    try:
        with replaced_file.replaced(path, lambda _: None) as written, open(written, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    except OSError as error:
        say(command.name, f"cannot write {path!r}: {error.strerror}", sys.stderr)
        return False
    return True


def say(command: str, text: str, stream: TextIO) -> None:
    """Print a line. If nobody can read it, the exit code still says what was done."""
    with suppress(OSError, ValueError):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        line = f"{command}: {text}".encode(encoding, "backslashreplace").decode(encoding)
        print(line, file=stream, flush=True)


@contextmanager
def in_the_file(
    path: str | None, request: Namespace, default: Callable[[bpy.types.Object], bool], what: str,
    work: Callable[[bpy.types.Object, Namespace], Done],
) -> Generator[list[Task]]:  # fmt: skip
    """Open a file; the tasks for the armatures that were named or, without names, for those that `default` takes.

    what : these armatures, for the user.
    """
    command_files.open_file(path, getattr(request, "up", "Y"))
    scene = bpy.context.scene
    names = request.armature or [name for name, ob in command_files.armatures(scene).items() if default(ob)]
    if not names:
        raise Refusal(f"there is no {what} in the scene {scene.name!r}")

    def found(name: str) -> Done:
        return work(command_files.armature(scene, name), request)

    yield [Task(name, partial(found, name)) for name in dict.fromkeys(names)]


def press(
    command: Command, operator: str, ob: bpy.types.Object, read: Sequence[bpy.types.Object], **options: object
) -> None:
    """Use a tool on an armature, by its name in `bpy.ops.dqik`. read : other objects that it reads."""
    with result_files.shown([ob, *read]), bpy.context.temp_override(object=ob, active_object=ob):
        result = getattr(bpy.ops.dqik, operator)(**options)
    if result != {"FINISHED"}:
        raise Refusal(f"nothing was {command.done}")


def frames(request: Namespace, usual: tuple[int, int], motion: tuple[int, int]) -> tuple[int, int]:
    """The first and the last frame: those that were asked for, else the usual ones, as far as there is a motion."""
    start = usual[0] if request.start is None else request.start
    end = usual[1] if request.end is None else request.end
    if max(start, motion[0]) > min(end, motion[1]):
        asked = f"{start} to {end}" if start <= end else f"{start} on" if request.end is None else f"the first to {end}"
        raise Refusal(f"the motion has the frames {motion[0]} to {motion[1]}, so there are none from {asked}")
    return max(start, motion[0]), min(end, motion[1])


def motion_range(objects: Iterable[bpy.types.Object]) -> tuple[int, int]:
    """The frames on which objects move: those of their actions, and the scene's where a motion has no end of its own.

    Strips, drivers and modifiers of curves move them outside their keys, and an object without an action is moved by
    others.
    """
    scene, starts, ends = bpy.context.scene, list[int](), list[int]()
    for ob in objects:
        start, end = action_range(ob, scene)
        starts.append(start)
        ends.append(end)
        goes_on = any(len(curve.modifiers) or curve.extrapolation == "LINEAR"
                      for curve in curves.fcurves(ob.animation_data))  # fmt: skip
        if goes_on or animation.uses_nla(ob) or (ob.animation_data is not None and len(ob.animation_data.drivers)):
            starts.append(scene.frame_start)
            ends.append(scene.frame_end)
    return min(starts), max(ends)
