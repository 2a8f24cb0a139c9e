# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of our handlers among those of other add-ons.

A handler of another add-on may move a target after each change of frame or update. So the handlers that solve come last
in their lists, and those that prepare a change of frame come first. Blender walks a list by position: a list may only
be reordered while it is not walked.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import bpy


@dataclass
class Order:
    """Keeps handlers last in their lists. open : the lists that are about to be walked, or are being walked."""

    open: set[str] = field(default_factory=set)

    def begin(self, name: str, handler: Callable) -> None:
        """Move our handler to the end of a list that Blender walks next, unless it is walked already.

        It moves once before each walk at most, so two add-ons that both want to be last do not block each other.
        """
        if name in self.open:
            return
        self.open.add(name)
        handlers = _list(name)
        if handlers and handlers[-1] is not handler and handler in handlers:
            handlers.remove(handler)
            handlers.append(handler)

    def end(self, name: str) -> None:
        """Our handler was called: the walk is over, or is so after the few that came later."""
        self.open.discard(name)


def put_first(name: str, handler: Callable) -> None:
    """Move our handler to the start of a list that is not walked now."""
    handlers = _list(name)
    if handlers and handlers[0] is not handler and handler in handlers:
        handlers.remove(handler)
        handlers.insert(0, handler)


def others_before(name: str, handler: Callable) -> bool:
    """Whether other handlers were called before ours in a walk, and may have changed something."""
    handlers = _list(name)
    return bool(handlers) and handlers[0] is not handler


def others(name: str) -> bool:
    """Whether a list in which a handler of ours is has handlers of others too."""
    return len(_list(name)) > 1


@cache
def _list(name: str) -> list[Callable]:
    """A list of handlers. Blender never replaces it: loading a file empties it."""
    return getattr(bpy.app.handlers, name)
