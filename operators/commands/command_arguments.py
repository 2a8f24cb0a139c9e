# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands' arguments: options, files to read, and the file of each result."""

import argparse
import math
import os
from collections.abc import Callable, Sequence
from typing import NoReturn

import bpy

from ...rig.blender.files import replaced_file
from . import result_files

_LAST_FRAME = 1048574  # Blender's MAXFRAME; the first frame is its negative
_LARGEST = 1e9  # value of an option that has no bound


class Parser(argparse.ArgumentParser):
    """A parser of what all commands have, which reports an error in one sentence, without the usage."""

    def __init__(self, command: str, about: str, endings: Sequence[str]) -> None:
        """`endings` : of the files that the command reads."""
        super().__init__(prog=f"blender -b [FILE] --command {command}", description=about)
        self._command, self._endings = command, tuple(endings)
        kinds = _either(endings)
        self.add_argument("--input", type=text, nargs="+", action="extend", metavar="PATH",
                          help=f"{kinds} files, or folders of them; default: the open file")
        self.add_argument("--output", type=text, required=True, metavar="PATH",
                          help="the file to write; with --input the folder of the results, made if it is missing, or "
                          "for one file also the result itself")
        self.add_argument("--format", choices=[one[1:] for one in result_files.ENDINGS],
                          help="the kind of the results; default: as --output ends, or blend")
        self.add_argument("--skip-existing", action="store_true",
                          help="leave out files whose result is there already")
        self.add_argument("--armature", type=text, action="append", metavar="NAME",
                          help="an armature object; may be given several times")
        for name, words in (("--start", "first frame"), ("--end", "last frame")):
            self.add_argument(name, type=number(-_LAST_FRAME, _LAST_FRAME, whole=True), help=words)
        self.add_argument("--report", type=text, metavar="FILE.json",
                          help="the .json to write: what was done to each armature, or why not")
        self.add_argument("--allow-refused", action="store_true",
                          help="exit code 0 also if something was refused; still 1 if anything failed")

    def add_options(self, operator: str, **words: str) -> None:
        """Options of a tool that the command has too, with its defaults and ranges. words : the help of each."""
        properties = getattr(bpy.ops.dqik, operator).get_rna_type().properties
        for name, text in words.items():
            own = properties[name]
            whole = own.type == "INT"
            most = min(own.hard_max, _LAST_FRAME if whole else _LARGEST)
            self.add_argument(f"--{name}", type=number(own.hard_min, most, whole), default=own.default, help=text)

    def error(self, message: str) -> NoReturn:
        """Print a sentence and leave with exit code 2."""
        self.exit(2, f"{self._command}: {message}\n")

    def files(self, request: argparse.Namespace) -> list[tuple[str | None, str]]:
        """The files to read, None for the open one, each with that to write; reports arguments that do not fit.

        request : the arguments; its report becomes an absolute path.
        """
        if request.start is not None and request.end is not None and request.end < request.start:
            self.error(f"the range ends at frame {request.end}, before it starts at {request.start}")
        self._check_format(request)
        for path in _body(request):
            if not os.path.isfile(path):
                self.error(f"there is no body file {request.body!r}")
        if request.input is None:
            output = replaced_file.resolved(bpy.path.abspath(request.output))
            if bpy.data.filepath and output == replaced_file.resolved(bpy.data.filepath):
                self.error("the output is the open file: choose another, so that it stays")
            found: list[tuple[str | None, str]] = [(None, request.output)]
        else:
            found = list(self._with_outputs(request))
        if request.report is not None:
            self._check_report(request, [path for path, _ in found if path is not None])
        return found

    def _check_format(self, request: argparse.Namespace) -> None:
        """Refuse a name of a file that cannot be written; the format becomes an ending."""
        ending = "" if request.output.endswith(("/", os.sep)) else result_files.ending_of(request.output)
        if ending and ending not in result_files.ENDINGS:
            self.error(f"the output {request.output!r} cannot be written: choose a name that ends in "
                       f"{_either(result_files.ENDINGS)}, or end the name of a folder with /")
        if ending and request.format is not None and ending != f".{request.format}":
            self.error(f"the output {request.output!r} is no .{request.format}: choose one of --format and its ending")
        if request.input is None and not ending and request.format not in (None, "blend"):
            self.error(f"the output {request.output!r} is no .{request.format}: let its name end so")
        request.format = f".{request.format}" if request.format else ending or result_files.BLEND
        if request.format != result_files.BLEND and getattr(request, "all_actions", False):
            self.error(f"--all-actions writes .blend files, a {request.format} holds one motion: leave one of them out")

    def _with_outputs(self, request: argparse.Namespace) -> list[tuple[str, str]]:
        paths, folder = self._paths(request.input), os.path.abspath(request.output)
        read = {replaced_file.resolved(path): path for path in [*paths, *_body(request)]}
        is_file = bool(result_files.ending_of(folder)) and not request.output.endswith(("/", os.sep))
        if is_file and len(paths) > 1:
            self.error(f"{len(paths)} files cannot all become {request.output!r}: give a folder")
        if is_file:
            outputs = [folder]
            self._make(os.path.dirname(folder))
        else:
            if os.path.realpath(folder) in {os.path.dirname(path) for path in read}:
                self.error("the output folder is that of the input: choose another, so that the files there stay")
            outputs = [os.path.join(folder, result_files.name_of(path, request.format)) for path in paths]
            self._make(folder)
        by_output: dict[str, str] = {}
        for path, output in zip(paths, outputs, strict=True):
            if replaced_file.resolved(output) in read:
                self.error(f"the output {output!r} is also an input: choose another, so that it stays")
            other = by_output.setdefault(os.path.normcase(output), path)
            if other != path:
                self.error(f"{other!r} and {path!r} would both become {output!r}: give them one after the other")
        return list(zip(paths, outputs, strict=True))

    def _paths(self, given: Sequence[str]) -> list[str]:
        """The files that were named and those of the named folders, each once."""
        found: dict[str, str] = {}
        for name in given:
            path = os.path.abspath(name)
            inside = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
            files = [os.path.join(path, one) if one else path for one in inside if not one.startswith(".")]
            files = [file for file in files if file.lower().endswith(self._endings) and os.path.isfile(file)]
            if not files:
                self.error(f"there is no {_either(self._endings)} file at {name!r}")
            found |= {os.path.realpath(file): file for file in files}
        return list(found.values())

    def _make(self, folder: str) -> None:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            self.error(f"cannot write into {folder!r}: {error.strerror}")

    def _check_report(self, request: argparse.Namespace, paths: Sequence[str]) -> None:
        name, request.report = request.report, replaced_file.resolved(request.report)
        if request.report in map(replaced_file.resolved, [*paths, *_body(request), *filter(None, [bpy.data.filepath])]):
            self.error(f"the report {name!r} is also an input: choose another, so that it stays")
        try:
            replaced_file.check_writable(request.report)
        except OSError as error:
            self.error(f"cannot write the report {name!r}: {error.strerror}")


def _either(endings: Sequence[str]) -> str:
    """Endings in words: .blend, .bvh or .fbx."""
    *first, last = endings
    return f"{', '.join(first)} or {last}" if first else last


def _body(request: argparse.Namespace) -> list[str]:
    """The file of the figure that the retarget command reads beside its inputs."""
    body = getattr(request, "body", None)
    return [] if body is None else [os.path.abspath(body)]


def text(argument: str) -> str:
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


def number(lowest: float | None = None, highest: float = 0.0, whole: bool = False) -> Callable[[str], float]:
    """A parser of finite numbers, or of those in a range."""

    def read(argument: str) -> float:
        try:
            value = int(argument) if whole else float(argument)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{argument!r} is not a {'whole ' if whole else ''}number") from None
        if lowest is None and not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"{argument!r} is not a number")
        if lowest is not None and not lowest <= value <= highest:
            span = f"{lowest} and {highest}" if whole else f"{lowest:.0f} and {highest:,.0f}"
            raise argparse.ArgumentTypeError(f"{argument} is not between {span}")
        return value

    return read
