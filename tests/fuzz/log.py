# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender prints: kept in a file, where tracebacks are found. It prints the errors of add-ons and carries on."""

import ctypes
import json
import os
import re
import sys
from pathlib import Path


class Log:
    """What the process prints from now on, in a file; and the outside, where answers go."""

    current: "Log | None" = None

    def __init__(self, path: Path) -> None:
        Log.current, self.path, self.told = self, path, 0
        self.answers = os.fdopen(os.dup(1), "w")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        self.read = 0

    def new(self) -> str:
        """What was printed since it was asked for last."""
        sys.stdout.flush()
        sys.stderr.flush()
        with self.path.open("rb") as file:
            file.seek(self.read)
            text = file.read()
        self.read += len(text)
        return text.decode(errors="replace")

    def said(self) -> str:
        """What was printed since this was asked for last, reports of operators too; `new` is not changed by it."""
        ctypes.CDLL(None).fflush(None)  # Blender's own prints
        sys.stdout.flush()
        with self.path.open("rb") as file:
            file.seek(self.told)
            text = file.read()
        self.told += len(text)
        return text.decode(errors="replace")

    def answer(self, **words: object) -> None:
        self.answers.write(json.dumps(words) + "\n")
        self.answers.flush()


def traceback_in(text: str) -> str:
    """The last traceback in a text in one line: its end and where it came from. Empty where there is none."""
    at = text.rfind("Traceback (most recent call last)")
    if at < 0:
        return ""
    lines = text[at:].splitlines()
    places = [line for line in lines if re.match(r"\s+File ", line)]
    error = next((line for line in lines[1:] if line[:1].strip()), "").removeprefix("Error: Python: ")
    ours = [line for line in places if "/dqik/" in line] or places
    place = re.search(r'([^/"]+)", line (\d+), in (\S+)', ours[-1]) if ours else None
    return f"{error} ({place[1]}:{place[2]}, {place[3]})" if place else error
