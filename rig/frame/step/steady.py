# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which only the targets, and bones outside the skeleton, have changed: the step with less to do.

Most frames of most playbacks are like this. `SteadyFrames` is made from a frame that went through the whole step. It
compares everything that could make the next frame different by contents, and if anything differs, that frame goes
through the whole step again.
"""

from functools import partial
from math import isfinite

import bpy
import numpy as np

from ....solvers import FrameArrays
from ...blender import channels
from ...blender.channels import Channels
from ...remembered import Remembered
from ..memory.pose_memory import PoseMemory
from ..memory.prepared_rig import PreparedRig
from ..read import links, targets
from ..read.question import FrameInput, Reading
from ..read.view import View
from . import write

_ROOM = 8 << 20  # bytes for the channels of known answers


class SteadyFrames:
    """What stays the same from frame to frame on one armature in one scene.

    reading : of the last steady frame, which the next one overwrites.
    """

    def __init__(self, prepared: PreparedRig, pose: PoseMemory, reading: Reading, view: View) -> None:
        """`reading` : of a frame that went through the whole step, to which `SteadyFrames.fit` applies."""
        assert reading.frame_input is not None
        self.reading, start = reading.copy(), reading.start
        self.reading.is_steady = True
        frame_input = self.reading.frame_input
        rig = frame_input.rig
        self._scene, self._bones, self._rig, self._input = view.scene_uid, pose.bones, rig, frame_input
        self._links = links.PlainLinks(rig, start)
        frame_input.links = self._links.links
        self._requests = frame_input.gather().requests  # one sum tells whether all are numbers
        self._links.links = frame_input.links
        self._names = [fact.name for fact in prepared.goals.facts]
        self._of_answers = Remembered[bytes, Channels](_ROOM, lambda known, shown: shown.nbytes)
        self._near = start.rotations.take(rig.solved_bones, axis=0).astype(float)
        self.note(reading.now)

    @staticmethod
    def fit(prepared: PreparedRig, reading: Reading, view: View) -> bool:
        """Whether the frames after this one can be read with less to do, as long as only the targets change."""
        rig, frame_input = prepared.rig, reading.frame_input
        return (
            rig is not None and frame_input is not None and frame_input.prepared is rig.prepared
            and view.in_viewport and prepared.unanimated and not prepared.animates_settings
            and rig.is_plain and not prepared.follows_itself and min(prepared.goals.influences) == 1.0
            and not any(fact.lengths or fact.is_curve for fact in prepared.goals.facts)
        )  # fmt: skip

    def read(self, prepared: PreparedRig, pose: PoseMemory, ob: bpy.types.Object, view: View) -> bool:
        """Read the frame into `reading`; False if it has to go through the whole step."""
        depsgraph, bones, rig, reading = view.depsgraph, ob.pose.bones, self._rig, self.reading
        if not (view.fresh and view.in_viewport) or prepared.stale or view.edited:
            return False
        modes = reading.now.modes
        if view.scene_uid != self._scene or pose.bones is not self._bones:
            return False
        if channels.modes(bones, modes) is not modes:
            return False
        reading.now = reading.posed = channels.read(bones, modes)
        if not reading.now.alike(self._written, rig.bones) or not prepared.is_animated_alike(ob):
            return False
        evaluated = ob.evaluated_get(depsgraph)
        if links.is_scaled(evaluated, rig):
            return False
        if ob.dqik.goals.keys() != self._names:  # Blender reports no update when a script removes goals
            return False
        places = targets.same(evaluated, prepared.goals.facts, view)
        if places is None or len(places) != rig.all_goals + rig.all_obstacles:
            return False
        if not self._links.place_roots(evaluated):
            return False
        targets.in_armature(evaluated, rig, places, self._input.targets, self._input.posed)
        return isfinite(self._requests.sum())

    def write(self, ob: bpy.types.Object, rows: np.ndarray, arrays: FrameArrays, known: bytes | None) -> Channels:
        """Write the answer to the original bones, those with the numbers `rows`, and return their channels.

        known : the answer, if it is one that is remembered.
        """
        rig, now = self._rig, self.reading.now
        if rig.slide_row.size or rig.end_bones.size:
            write.apply(ob, self._channels(arrays, known), rows, now, now)
            self.note(now)
        elif write.turn(ob, now, rig.solved_bones, self._turned(arrays, known)):
            self.note(now)
        return now

    def shown(self, frame_input: FrameInput, known: bytes) -> Channels | None:
        """The channels that an answer to an input will show; None if it is the input of other frames."""
        if frame_input.prepared is not self._input.prepared:
            return None
        found = self._of_answers.get(known)
        if found is None:
            arrays = frame_input.prepared.arrays()
            arrays.answer_again(known)
            found = self._channels(arrays, known)
        return found

    def _turned(self, arrays: FrameArrays, known: bytes | None) -> np.ndarray:
        """The rotation channels (S, 4) of the solved bones, of the answer in `arrays`."""
        if known is not None:
            return self._channels(arrays, known).rotations.take(self._rig.solved_bones, axis=0)
        return write.turned(self._rig, arrays.rotations[0], self._near, self.reading.now.modes)

    def _channels(self, arrays: FrameArrays, known: bytes | None) -> Channels:
        """The channels of the answer in `arrays`, not to be changed; those of `known` answers are remembered."""
        pose = arrays.rotations[0], arrays.translations[0]
        make = partial(write.answer, *pose, self.reading.start, self._input)
        return make() if known is None else self._of_answers.of(known, make)

    def note(self, now: Channels) -> None:
        """Note the original bones' channels as they were written last, or read if nothing was written."""
        self.reading.now = self._written = now
