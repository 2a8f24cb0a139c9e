# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion that a figure would get, shown before it is keyed: lines along its bones, frame by frame.

It is kept while Blender is open, and not in the file. Its number is stored on the figure, so that undo and redo hide
and show it.
"""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import bulk
from ..clip.clip import BodyMotion
from ..remembered import Remembered
from .motion import body_bones


class Preview(NamedTuple):
    """source, partner : the names of the figure whose motion it is, and of one that it touches, which may be empty.

    taken : the first and the last frame of the source's motion.
    frames : (F,) of the new motion. lines : (F, B, 2, 3), heads and tails in the world.
    """

    source: str
    partner: str
    taken: tuple[int, int]
    frames: list[int]
    lines: np.ndarray


_numbers = count(1)
_known: Remembered[tuple[int, int], Preview | None] = Remembered(20)  # by `session_uid` of the armature object, number


def show(
    ob: bpy.types.Object, source: str, partner: str, taken: tuple[int, int], frames: Sequence[int], posed: BodyMotion,
    scale: float,
) -> None:  # fmt: skip
    """Show on each frame how a figure's bones would be. scale : of the figure in the world; the others as above."""
    bones = body_bones(ob)
    heads, tails = (bulk.read(ob.data.bones, f"{end}_local", 3)[bones] for end in ("head", "tail"))
    starts = posed.heads[:, bones]
    ways = quaternion.rotate(posed.turns[:, bones], np.broadcast_to(scale * (tails - heads), starts.shape))
    lines = np.stack([starts, starts + ways], 2)
    ob.dqik.preview = number = next(_numbers)
    _known.keep((ob.session_uid, number), Preview(source, partner, taken, list(frames), lines))


def of(ob: bpy.types.Object) -> Preview | None:
    """What is shown of an armature object, if anything."""
    return _known.get((ob.session_uid, ob.dqik.preview))


def lines(ob: bpy.types.Object, frame: int) -> np.ndarray:
    """The lines (B, 2, 3) of a frame; none if it is not in the motion."""
    shown = of(ob)
    if shown is None or not shown.frames[0] <= frame <= shown.frames[-1]:
        return np.zeros((0, 2, 3))
    return shown.lines[max(int(np.searchsorted(shown.frames, frame, side="right")) - 1, 0)]


def hide(ob: bpy.types.Object) -> None:
    """Show nothing more of an armature object, until this is undone."""
    ob.dqik.preview = 0


def drop(ob: bpy.types.Object) -> None:
    """Show nothing more of an armature object; undo does not bring it back."""
    _known.keep((ob.session_uid, ob.dqik.preview), None)


def forget() -> None:
    """Show nothing of any figure."""
    _known.clear()
