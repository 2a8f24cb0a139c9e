# SPDX-License-Identifier: GPL-3.0-or-later
"""How an armature's frames follow each other: not at all, from the answer of the frame before, or with a lag."""

from typing import NamedTuple

import bpy

from ....solvers import Motion, Prepared, TrackedMotion
from ...blender import scene_state
from ..read.lengths import StretchingMotion


class Way(NamedTuple):
    """The choice of *Start From*.

    follows : whether a frame starts from the frame before. gain : [1/s] with which it lags; None without a lag.
    rate : [1/s] frames a second, where they lag. whole : whether the frames of the shot are one motion.
    """

    follows: bool
    gain: float | None = None
    rate: float = 24.0
    whole: bool = False

    @staticmethod
    def of(ob: bpy.types.Object, scene: bpy.types.Scene) -> "Way":
        """The way of an armature object in a scene."""
        start = ob.dqik.start_from
        if start == "FOLLOW":
            return Way(True, ob.dqik.gain, scene_state.rate(scene))
        return Way(start == "PREVIOUS", whole=start == "SHOT")

    def motion(self, prepared: Prepared, before: Motion | None = None) -> Motion:
        """A motion of frames that follow each other.

        before : the motion of the frames before, whose goals were others: one with a lag goes on from it.
        """
        if self.gain is None:
            return StretchingMotion(prepared)
        motion = TrackedMotion(prepared, self.gain, 1.0 / self.rate)
        if isinstance(before, TrackedMotion):
            motion.take_over(before)
        return motion

    def set_time(self, motion: Motion, frames: float) -> None:
        """Set the time of a motion's next frame, in `frames` after the one before it."""
        if isinstance(motion, TrackedMotion) and self.gain is not None:
            motion.gain, motion.seconds = self.gain, frames / self.rate
