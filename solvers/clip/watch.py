# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of a long solve: what watches it is called with the share that is done, and may raise to stop it."""

from collections.abc import Callable
from typing import TypeAlias

Watch: TypeAlias = Callable[[float], None]
"""Is called often, with about what share of the work is done, 0 to 1."""


def unwatched(share: float) -> None:
    """Watch nothing."""
    del share


def within(watch: Watch, begin: float, end: float) -> Watch:
    """The watch of a part of the work, which goes from one share of the whole to another."""
    return lambda share: watch(begin + share * (end - begin))
