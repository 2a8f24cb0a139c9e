# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said before and while something is downloaded: how much it is, and how far it has come.

Standard library only, and Python 3.8 or newer, like environment.py.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generator

_SLOW_LINE = 50e6 / 8 / 1e6  # megabytes in a second, for the times that are said
_INTERVAL = 10.0  # seconds without a word, at most


def say(text: str) -> None:
    """Print and flush, because output of other programs follows."""
    print(text, flush=True)


def amount(download: int, size: int) -> str:
    """The words for megabytes to download and on the disk, with the time on a slow line."""
    seconds = download / _SLOW_LINE
    duration = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    return f"{download} MB to download, {size} MB on the disk, about {duration} at 50 Mbit/s"


@contextmanager
def progress(title: str, folder: Path, expected: int) -> Generator[None, None, None]:
    """Say every few seconds how long it has taken, and how many of the expected megabytes have come into a folder."""
    start, before, ended = time.monotonic(), _megabytes(folder), threading.Event()

    def watch() -> None:
        while not ended.wait(_INTERVAL):
            come = max(0, _megabytes(folder) - before)
            say(f"{title}: {come:.0f} of about {expected} MB are here, after {time.monotonic() - start:.0f} s.")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _megabytes(folder: Path) -> float:
    """The size of all files in a folder, which other programs may change meanwhile."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(place, name)).st_size
    return size / 1e6
