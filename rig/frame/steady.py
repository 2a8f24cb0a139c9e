# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which only the targets, and bones outside the skeleton, have changed: the step with less to do.

Most frames of most playbacks are like this. `SteadyFrames` is made from a frame that went through the whole step. It
compares everything that could make the next frame different by contents, and if anything differs, that frame goes
through the whole step again.
"""

import bpy
import numpy as np

from ...solvers import FrameArrays
from . import links, targets
from .pose_memory import PoseMemory
from .prepared_rig import PreparedRig
from .read import FrameInput
from .view import View


class SteadyFrames:
    """What stays the same from frame to frame on one armature in one scene, and buffers for what does not."""

    def __init__(
        self, prepared: PreparedRig, pose: PoseMemory, ob: bpy.types.Object, frame_input: FrameInput, view: View
    ) -> None:
        """`frame_input` : of the frame that was solved last, to which `SteadyFrames.fit` applies."""
        count, rig, base = len(ob.pose.bones), frame_input.rig, pose.base
        assert base is not None
        self._scene, self._rig, self.frame_input = view.scene_uid, rig, frame_input
        self._turns = np.empty((count, 4), dtype=np.float32)
        self._locations, self._scale = np.empty((2, count, 3), dtype=np.float32)
        self._modes = np.empty(count, dtype=np.int32)
        self._mode_numbers = b"" if prepared.modes is None else prepared.modes.numbers
        self._moved = base if base.locations[rig.loose_bones].any() else None
        self._near = base.rotations[rig.solved_bones].astype(float)
        written = pose.written
        self._written = b"" if written is None else written.rotations[rig.solved_bones].tobytes()
        self._unmoved = b"" if written is None else written.locations[rig.solved_bones].tobytes()
        self._names = [fact[:2] for fact in prepared.facts]

    @staticmethod
    def fit(
        prepared: PreparedRig, pose: PoseMemory, ob: bpy.types.Object, frame_input: FrameInput, view: View
    ) -> bool:
        """Whether frames like this one can be solved with less to do."""
        rig, modes = frame_input.rig, prepared.modes
        return (
            ob.library is None and view.fresh and view.in_viewport and not view.others_follow and prepared.unanimated
            and modes is not None and modes.quaternions_only
            and not (rig.still.size or rig.constrained_rows.size or rig.slide_row.size)
            and frame_input.prepared is rig.prepared and min(prepared.influences) == 1.0
            and not prepared.animates_settings and pose.bones is prepared.solved
        )  # fmt: skip

    def read(self, prepared: PreparedRig, ob: bpy.types.Object, view: View, arrays: FrameArrays) -> bool:
        """Read the frame into `arrays`; False if it has to go through the whole step."""
        depsgraph, bones, rig = view.depsgraph, ob.pose.bones, self._rig
        if prepared.stale or depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE"):
            return False
        if view.scene_uid != self._scene or len(bones) != len(self._modes):
            return False
        bones.foreach_get("rotation_quaternion", self._turns.reshape(-1))
        bones.foreach_get("location", self._locations.reshape(-1))
        bones.foreach_get("rotation_mode", self._modes)
        rows = rig.solved_bones
        if self._turns[rows].tobytes() != self._written or self._locations[rows].tobytes() != self._unmoved:
            return False
        if self._modes.tobytes() != self._mode_numbers or not prepared.is_animated_alike(ob):
            return False
        evaluated = ob.evaluated_get(depsgraph)
        evaluated.pose.bones.foreach_get("scale", self._scale.reshape(-1))
        if self._scale[rig.bones].tobytes() != rig.no_scale:
            return False
        goals = ob.dqik.goals
        if [(goal.name, goal.bone) for goal in goals] != self._names:
            return False
        places = targets.same(evaluated, prepared.facts, view)
        if places is None or not links.place_roots(evaluated, rig, rig.rest_links, arrays.links[0], self._moved):
            return False
        targets.in_armature(evaluated.matrix_world.inverted_safe(), rig, places, arrays)
        return True

    def write(self, pose: PoseMemory, ob: bpy.types.Object, arrays: FrameArrays) -> None:
        """Write the answer to the original bones, if it is another one."""
        rig = self._rig
        q = arrays.rotations[0].take(rig.solved_joints, axis=0)
        q *= np.copysign(1.0, np.einsum("ij,ij->i", q, self._near))[:, None]
        turned = q.astype(np.float32)
        contents = turned.tobytes()
        if contents == self._written:
            return
        self._written = contents
        self._turns[rig.solved_bones] = turned
        ob.pose.bones.foreach_set("rotation_quaternion", self._turns.reshape(-1))
        ob.update_tag(refresh={"OBJECT"})
        pose.note_rotations(rig.solved_bones, turned)
