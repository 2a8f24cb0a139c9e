# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback that goes on while options are changed in the panel of the last operation.

For each change Blender undoes the operation and calls it again, and its undo stops the playback.
"""

import bpy
from bpy.app.handlers import persistent

_stopped = list[bool]()  # whether an undo has stopped the playback, until Blender turns to the next event


@persistent
def _before_undo(*_: object) -> None:
    """Remember whether the undo stops the playback."""
    windows = bpy.context.window_manager.windows
    if any(window.screen.is_animation_playing for window in windows):
        _stopped.append(True)
        bpy.app.timers.register(_forget)


def _forget() -> None:
    """The undo was not asked for by a change of options, or that is answered."""
    _stopped.clear()


def go_on(context: bpy.types.Context) -> None:
    """Play again, if the operation that ends here was undone during playback to be called again."""
    if _stopped and context.window is not None and not context.screen.is_animation_playing:
        bpy.ops.screen.animation_play()
    _forget()


def register() -> None:
    """Install the handler."""
    bpy.app.handlers.undo_pre.append(_before_undo)


def unregister() -> None:
    """Remove the handler."""
    bpy.app.handlers.undo_pre.remove(_before_undo)
    _forget()
