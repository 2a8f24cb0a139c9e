# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a file beside the one that it replaces, and replaces that only after a look at what was written.

If anything fails, what was there stays as it was, and nothing else is left behind.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress

_PREFIX, _SUFFIX = ".dqik-", ".blend"  # of the names of files that are being written, where they have no ending
_TRAILS = ("", "@", "1", ".old")  # what Blender and this file append to such a name


def resolved(path: str) -> str:
    """The absolute path of the file that a path names, symbolic links followed."""
    return os.path.realpath(path)


def check_writable(path: str) -> None:
    """Raise `OSError` with the reason if `replaced` cannot write here. Leaves nothing behind."""
    try:
        with open(path, "xb"):
            pass
        os.remove(path)
    except FileExistsError:
        with open(path, "ab"):
            pass
    os.remove(_reserved(path))


@contextmanager
def replaced(path: str, look: Callable[[str], None], backups: int = 0) -> Generator[str]:
    """The name of a new file to write in the folder of `path`; at the end it replaces the file at `path`.

    Relative paths inside the file are the same, because the folder is.

    Parameters
    ----------
    look : gets the name of the written file; raises an exception if it must not replace the other.
    backups : number of earlier files to keep, as `path` with 1, 2, ... appended, as Blender's Save Versions does.
    """
    temporary = _reserved(path)
    os.remove(temporary)  # Blender would keep it as a backup
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())  # some disks report only now that they are full
        look(temporary)
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        _move([*_backups(path, temporary, backups), (temporary, path)])
    finally:
        for trail in _TRAILS:
            with suppress(OSError):
                os.remove(temporary + trail)


def _reserved(path: str) -> str:
    """The name of a new, empty file in the folder of `path`, with its ending, by which exporters know what to write."""
    suffix = os.path.splitext(path)[1] or _SUFFIX
    handle, name = tempfile.mkstemp(suffix, _PREFIX, os.path.dirname(path))
    os.close(handle)
    return name


def _backups(path: str, temporary: str, count: int) -> Iterator[tuple[str, str]]:
    """The moves, old name and new name, that make room at `path` and keep `count` earlier files."""
    names = [path, *(f"{path}{number + 1}" for number in range(count)), f"{temporary}.old"]
    there = [os.path.lexists(name) for name in names[:-1]]
    if not count or not there[0]:
        return
    filled = len(there) if all(there) else there.index(False)
    for number in reversed(range(filled)):
        if os.path.isdir(names[number]):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), names[number])
        yield names[number], names[number + 1]


def _move(moves: list[tuple[str, str]]) -> None:
    """Move files in order; if one cannot be moved, move the others back and raise the `OSError`."""
    done: list[tuple[str, str]] = []
    try:
        for old, new in moves:
            os.replace(old, new)
            done.append((old, new))
    except OSError:
        for old, new in reversed(done):
            os.replace(new, old)
        raise
