# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which only the targets, and bones outside the skeleton, have changed: the step with less to do.

Most frames of most playbacks are like this. `SteadyFrames` is made from a frame that went through the whole step. It
compares everything that could make the next frame different by contents, and if anything differs, that frame goes
through the whole step again.
"""

import bpy

from ...solvers import FrameArrays
from ...solvers.model.goals import Targets
from ..blender import channels
from ..blender.channels import Channels
from . import links, targets, write
from .pose_memory import PoseMemory
from .prepared_rig import PreparedRig
from .read import FrameInput
from .view import View


class SteadyFrames:
    """What stays the same from frame to frame on one armature in one scene, and the pose as it was written last."""

    def __init__(
        self, prepared: PreparedRig, pose: PoseMemory, frame_input: FrameInput, start: Channels, view: View
    ) -> None:
        """`frame_input`, `start` : of the frame that was solved last, to which `SteadyFrames.fit` applies."""
        assert pose.written is not None
        rig = frame_input.rig
        self._scene, self._rig, self.frame_input = view.scene_uid, rig, frame_input
        self._start, self._now = start, pose.written
        self._located = start if start.locations[rig.loose_bones].any() else None
        self._rests = links.root_rests(rig, start)
        self._contents = self._pose_contents()
        self._names = [fact.name for fact in prepared.facts]
        self._near = start.rotations.take(rig.solved_bones, axis=0).astype(float)

    @staticmethod
    def fit(prepared: PreparedRig, pose: PoseMemory, frame_input: FrameInput, view: View) -> bool:
        """Whether frames like this one can be solved with less to do."""
        rig = frame_input.rig
        return (
            view.fresh and view.in_viewport and not view.others_follow and prepared.unanimated
            and not rig.constrained_rows.size and not prepared.animates_settings and pose.bones is prepared.solved
            and frame_input.prepared is rig.prepared and min(prepared.influences) == 1.0
        )  # fmt: skip

    def read(self, prepared: PreparedRig, ob: bpy.types.Object, view: View, arrays: FrameArrays) -> bool:
        """Read the frame into `arrays`; False if it has to go through the whole step."""
        depsgraph, bones, rig = view.depsgraph, ob.pose.bones, self._rig
        if prepared.stale or depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE"):
            return False
        modes = self._now.modes
        if view.scene_uid != self._scene or channels.modes(bones, modes) is not modes:
            return False
        self._now = channels.read(bones, modes)
        if self._pose_contents() != self._contents or not prepared.is_animated_alike(ob):
            return False
        evaluated = ob.evaluated_get(depsgraph)
        if links.is_scaled(evaluated, rig):
            return False
        if ob.dqik.goals.keys() != self._names:  # Blender reports no update when goals are removed by a script
            return False
        places = targets.same(evaluated, prepared.facts, view)
        if places is None or not links.place_roots(
            evaluated, rig, self._rests, arrays.links[0], self._located
        ):
            return False
        request = Targets(arrays.positions, arrays.orientations, arrays.poles)
        targets.in_armature(evaluated.matrix_world.inverted_safe(), rig, places, request)
        return True

    def write(self, pose: PoseMemory, ob: bpy.types.Object, arrays: FrameArrays) -> None:
        """Write the answer to the original bones, if it is another one."""
        rig, now, start = self._rig, self._now, self._start
        if rig.slide_row.size:
            new = write.answer(rig, arrays.rotations[0], arrays.translations[0], start, self.frame_input.slide_scale)
            now = write.apply(ob, new, pose.rows, now, now)
        elif not write.turn(ob, now, rig.solved_bones, write.turned(rig, arrays.rotations[0], self._near, now.modes)):
            return
        pose.note_written(now)
        self._contents = self._pose_contents()

    def _pose_contents(self) -> tuple[bytes, bytes]:
        """The channels of the skeleton's bones, as they stand in Blender."""
        now, bones = self._now, self._rig.bones
        return now.rotations.take(bones, axis=0).tobytes(), now.locations.take(bones, axis=0).tobytes()
