# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares work among processes that have Blender each."""

import contextlib
import io
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import bpy


def each(work: Callable, tasks: Sequence[tuple], start: Callable[[], None], count: int) -> Iterator:
    """The results of `work(*task)` for all tasks, in their order, from `count` processes that call `start` first."""
    context = multiprocessing.get_context("spawn")  # bpy does not survive a fork
    scripts = str(Path(bpy.__file__).parents[2])  # processes inherit the path, where bpy's own hides bpy
    sys.path[:] = [path for path in sys.path if not path.startswith(scripts)]
    with ProcessPoolExecutor(count, context, initializer=start) as pool:
        futures = [pool.submit(quietly, work, *task) for task in tasks]
        for future in futures:
            yield future.result()


def quietly(work: Callable, *arguments: object) -> object:
    """The result of `work`, without what operators print."""
    with contextlib.redirect_stdout(io.StringIO()):
        return work(*arguments)


def usual() -> int:
    """The number of processes that suits this machine."""
    return os.cpu_count() or 1
