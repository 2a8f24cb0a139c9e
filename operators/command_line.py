# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking from the command line, for render farms.

`blender -b shot.blend --command dqik_bake --armature NAME --start 1 --end 250 --output out.blend`

All arguments are checked before the bake, so that a wrong one costs no time and changes no file. The result is written
beside the file that it replaces, and replaces it only if all of it can be read again. The exit code is 0 if the file
was written, 2 for arguments that cannot be parsed, and 1 for any other error, which leaves all files as they were.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO

import bpy

from ..rig.blender import blend_file, replaced_file
from ..rig.blender.dependencies import aims_of

COMMAND = "dqik_bake"
_LAST_FRAME = 1048574  # Blender's MAXFRAME; the first frame is its negative
_LONGEST_PATH = 1000  # bytes; Blender cuts off what is longer than 1023
_registered: list[object] = []


class _Refusal(Exception):
    """The reason why nothing is baked, in one sentence."""


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{COMMAND}: {message}\n")


def bake(arguments: Sequence[str]) -> int:
    """Bake one armature of the open file, save the result as another file and return the exit code."""
    try:
        request = _parser().parse_args(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    try:
        done = _baked(request)
    except _Refusal as refusal:
        return _fail(str(refusal))
    except Exception as error:
        return _fail(f"nothing was written because of an error: {last_line(str(error)) or type(error).__name__}")
    say(done, sys.stdout)
    return 0


def _baked(request: argparse.Namespace) -> str:
    """Do what was asked; returns what was done. Raises a `_Refusal` if nothing is written."""
    scene = bpy.context.scene
    ob, name = _armature(scene, request.armature), request.armature
    start, end = _frame_range(scene, request.start, request.end)
    path = _output(request.output)
    with evaluated([ob, *_targets(scene, ob)]):
        _bake(ob, start, end, request)
    _save(path, request.output, name)
    return f"baked frames {start} to {end} of {name!r} into {path}"


def _fail(reason: str) -> int:
    say(reason, sys.stderr)
    return 1


def say(text: str, stream: TextIO, command: str = COMMAND) -> None:
    """Print a line. If nobody can read it, the exit code still says what was done."""
    with suppress(OSError, ValueError):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        line = f"{command}: {text}".encode(encoding, "backslashreplace").decode(encoding)
        print(line, file=stream, flush=True)


def last_line(text: str) -> str:
    """The last line of a text that is not empty: of a traceback, the error."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _parser() -> _Parser:
    parser = _Parser(prog=f"blender -b FILE --command {COMMAND}", description=__doc__.splitlines()[0])
    frame = _whole_number(-_LAST_FRAME, _LAST_FRAME)
    parser.add_argument("--armature", type=_text, required=True, help="name of the armature object")
    parser.add_argument("--start", type=frame, help="first frame; default: the scene's")
    parser.add_argument("--end", type=frame, help="last frame; default: the scene's")
    parser.add_argument("--step", type=_whole_number(1, _LAST_FRAME), default=1, help="number of frames between keys")
    parser.add_argument(
        "--reduce", type=_number(1e9), default=0.0, help="leave out keys within this tolerance; 0 keeps all"
    )
    parser.add_argument(
        "--smooth", type=_number(1.0), default=0.0, help="0 to 1: solve all frames as one smooth motion; 0: each alone"
    )
    parser.add_argument("--output", type=_text, required=True, help="the .blend to write")
    return parser


def _text(argument: str) -> str:
    """Parse an argument that can be a name in Blender."""
    if not argument:
        raise argparse.ArgumentTypeError("it is empty")
    if "\0" in argument:
        raise argparse.ArgumentTypeError(f"{argument!r} holds a NUL character")
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{argument!r} is not valid UTF-8") from None
    return argument


def _whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """A parser of whole numbers in a range."""

    def read(argument: str) -> int:
        try:
            value = int(argument)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{argument!r} is not a whole number") from None
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(f"{argument} is not between {lowest} and {highest}")
        return value

    return read


def _number(highest: float) -> Callable[[str], float]:
    """A parser of numbers from 0 on."""

    def read(argument: str) -> float:
        try:
            value = float(argument)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{argument!r} is not a number") from None
        if not (math.isfinite(value) and 0.0 <= value <= highest):
            raise argparse.ArgumentTypeError(f"{argument} is not between 0 and {highest:,.0f}")
        return value

    return read


def _armature(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """The scene's armature of this name, ready to be baked; a local one is preferred to a linked one."""
    every = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    uids = {ob.session_uid for ob in scene.objects}
    found = sorted(
        (ob for ob in every if ob.name == name), key=lambda ob: (ob.session_uid not in uids, ob.library is not None)
    )
    if not found:
        names = ", ".join(repr(ob.name) for ob in every) or "none"
        raise _Refusal(f"there is no armature {name!r}; this file's armatures: {names}")
    ob = found[0]
    if ob.session_uid not in uids:
        raise _Refusal(f"armature {name!r} is not in the open scene {scene.name!r}")
    if ob.mode == "EDIT":
        raise _Refusal(f"armature {name!r} is in Edit Mode: leave it, and save the file")
    if not ob.dqik.goals:
        raise _Refusal(f"armature {name!r} has no goals")
    return ob


def _frame_range(scene: bpy.types.Scene, start: int | None, end: int | None) -> tuple[int, int]:
    """The first and the last frame; the scene's by default."""
    first = scene.frame_start if start is None else start
    last = scene.frame_end if end is None else end
    if last < first:
        raise _Refusal(f"the range ends at frame {last}, before it starts at {first}")
    return first, last


def _output(name: str) -> str:
    """The path of the file to write, symbolic links followed, after a check that it can be written."""
    path = replaced_file.resolved(bpy.path.abspath(name))
    if os.path.isdir(path) or name.endswith(("/", os.sep)):
        raise _Refusal(f"cannot write {name!r}: it is a folder")
    if os.path.exists(path) and not (os.path.isfile(path) and os.access(path, os.W_OK)):
        raise _Refusal(f"cannot write {name!r}: it is not a file that can be written")
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise _Refusal(f"cannot write {name!r}: the path is longer than {_LONGEST_PATH} bytes")
    libraries = (bpy.path.abspath(library.filepath) for library in bpy.data.libraries)
    if path in map(replaced_file.resolved, libraries):
        raise _Refusal(f"cannot write {name!r}: this file links data from it")
    try:
        replaced_file.check_writable(path)
    except OSError as error:
        raise _Refusal(f"cannot write {name!r}: {error.strerror}") from None
    return path


def _targets(scene: bpy.types.Scene, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """What an armature, and the live armatures that it may follow, read of other objects: targets and obstacles."""
    armatures = [ob, *(other for other in scene.objects if other.type == "ARMATURE" and other.dqik.live)]
    return list(dict.fromkeys(target for armature in armatures for target, _ in aims_of(armature)))


@contextmanager
def evaluated(objects: Sequence[bpy.types.Object]) -> Generator[None]:
    """Make Blender evaluate objects although they are hidden or in an excluded collection."""
    left_out = [ob for ob in objects if not ob.visible_get()]
    if not left_out:
        yield
        return
    hidden = [ob for ob in left_out if ob.hide_viewport]
    collection = bpy.data.collections.new(COMMAND)
    bpy.context.scene.collection.children.link(collection)
    try:
        for ob in left_out:
            collection.objects.link(ob)
        for ob in hidden:
            ob.hide_viewport = False
        yield
    finally:
        for ob in hidden:
            with suppress(ReferenceError):  # a handler removed it
                ob.hide_viewport = True
        bpy.data.collections.remove(collection)


def _bake(ob: bpy.types.Object, start: int, end: int, request: argparse.Namespace) -> None:
    options = {"step": request.step, "reduce": request.reduce, "smooth": request.smooth}
    try:
        with bpy.context.temp_override(object=ob, active_object=ob):
            result = bpy.ops.dqik.bake(frame_start=start, frame_end=end, **options)
    except RuntimeError as error:
        raise _Refusal(_reported(error)) from None
    if result != {"FINISHED"}:
        raise _Refusal("nothing was baked")


def _save(path: str, name: str, armature: str) -> None:
    """Save a copy of the open file with the baked armature. name : of the path, for the user."""

    def look(written: str) -> None:
        if not blend_file.is_complete(written):
            raise _Refusal(f"cannot write {name!r}: what Blender wrote is not complete; is the disk full?")
        loading: Any = bpy.data.libraries.load(written)  # lists the names; loads nothing
        with loading as (found, _):
            if armature not in found.objects:
                raise _Refusal(f"cannot write {name!r}: armature {armature!r} is not in what Blender wrote")

    backups = bpy.context.preferences.filepaths.save_version
    try:
        with replaced_file.replaced(path, look, backups) as written:
            result = bpy.ops.wm.save_as_mainfile(filepath=written, copy=True)
            if result != {"FINISHED"}:
                raise _Refusal(f"cannot write {name!r}: Blender did not save it")
    except RuntimeError as error:
        raise _Refusal(f"cannot write {name!r}: Blender says {_reported(error)!r}; is the disk full?") from None
    except OSError as error:
        raise _Refusal(f"cannot write {name!r}: {error.strerror or error}") from None


def _reported(error: RuntimeError) -> str:
    """The sentence in what Blender raises for an operator that reports an error."""
    return last_line(str(error)).removeprefix("Error: ")


def register() -> None:
    """Register the command with Blender."""
    _registered.append(bpy.utils.register_cli_command(COMMAND, bake))


def unregister() -> None:
    """Unregister the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
