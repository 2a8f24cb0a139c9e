# SPDX-License-Identifier: GPL-3.0-or-later
"""Live solving of one armature frame after frame: read, solved by the compiled kernel and written in arrays that stay.

For frames that a `steady.Reader` reads; the others go the long way (`session.solve_frame`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..solvers import Pose
from ..solvers.compiled.channels import AnswerChannels
from ..solvers.group.stages import HOLD_AFTER
from . import steady
from .channels import Channels
from .read import FrameInput

if TYPE_CHECKING:
    from .session import Session

def playback(ob: bpy.types.Object, known: Session, given: FrameInput) -> Playback | None:
    """What to solve the next frames with, after one that went the long way; None where that has to go on.

    given : what that frame was solved with.
    """
    if given.prepared.compiled is None or known.prepared is not given.prepared or known.base is None:
        return None
    reader = steady.reader(ob, known, given)
    return None if reader is None else Playback(reader, known.base)


class Playback:
    """Solves what a `steady.Reader` reads."""

    def __init__(self, reader: steady.Reader, base: Channels) -> None:
        rig, prepared = reader.given.rig, reader.given.prepared
        self.reader, self._rig, self._arrays = reader, rig, prepared.arrays()
        self._answer = self._arrays.rotations[0]
        self._previous = Pose(np.empty_like(self._answer), np.zeros_like(self._arrays.translations[0]))
        near = base.rotations[rig.solved_bones]
        library = prepared.compiled.library
        self._channels = AnswerChannels(library, rig.solved_joints, rig.solved_bones, near, reader.turns)
        self._asked, self._unchanged = b"", 0

    def solve(self, ob: bpy.types.Object, known: Session, depsgraph: bpy.types.Depsgraph, frame: float) -> bool:
        """Solve a frame and write the answer to the original bones; False where it has to go the long way.

        ob : the original object.
        """
        began = time.perf_counter()
        now = self.reader
        if not now.read(ob, known, ob.evaluated_get(depsgraph), depsgraph):
            return False
        asked = b"".join((now.places, now.aims, now.poles, now.links))
        step_on = known.frame is not None and 0.0 < frame - known.frame <= 1.0
        follow = step_on and known.previous is not None and ob.dqik.start_from == "PREVIOUS"
        self._unchanged = self._unchanged + 1 if asked == self._asked else 0
        self._asked, known.frame = asked, frame
        if self._unchanged and (not follow or self._unchanged >= HOLD_AFTER) and known.tracked == follow:
            return True
        one, start = self._arrays, now.given.start
        one.positions[0], one.orientations[0], one.poles[0], one.links[0] = now.places, now.aims, now.poles, now.links
        one.start_rotations[0], one.start_translations[0] = start.rotations[0], start.translations[0]
        known.solve(now.given.prepared, one, follow)
        self._previous.rotations[:] = self._answer
        known.previous = self._previous
        self._write(ob, known)
        known.report_later(one, time.perf_counter() - began)
        return True

    def _write(self, ob: bpy.types.Object, known: Session) -> None:
        """Write the answer to the solved bones, unless they have it already."""
        if not self._channels.write(self._answer):
            return
        self.reader.write(ob)
        if known.written is not None:
            rows = self._rig.solved_bones
            known.written.rotations[rows] = self.reader.turns[rows]
        known.written_raw = None
