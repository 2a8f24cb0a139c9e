# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which nothing has changed but the targets and the bones that the solved ones hang from.

That is what playback is made of, on most rigs. Each such frame is read into arrays that are kept, solved by the
compiled kernel and written, without a step per bone in Python. Whatever else has changed (a setting, a key, an edit, a
scaled bone) sends the frame the long way (`session.solve_frame`). It is looked for where Blender says that an armature
or the scene's relations have changed; the solved bones' rotations, which anybody may write, on every frame.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..solvers import Pose, Prepared
from ..solvers.kernel import AnswerChannels, Twin
from . import curves, read, rotation
from .build import Rig

if TYPE_CHECKING:
    from .session import Session

HOLD_AFTER = 2  # as in solvers.solve: frames in a row that ask for the same, after which the answer stays


def steady(ob: bpy.types.Object, known: Session, links: np.ndarray) -> Steady | None:
    """What to solve the next frames with, after one that went the long way; None where that has to go on.

    links : (1, J, 8) of that frame.
    """
    rig = known.rig
    if not (
        isinstance(rig, Rig)
        and rig.simple
        and not rig.eased
        and known.prepared is rig.prepared
        and rig.prepared.twin is not None
        and known.groups is not None
        and len(known.groups) == 1
        and known.groups[0][0] == rotation.QUATERNION
        and known.free is not None
        and known.free.unkeyed(rig.bones)
        and known.animation is not None
        and not known.animation.settings
        and known.base is not None
        and known.written is not None
        and rig.known_hanging is not None
        and rig.known_hanging[1]
        and rig.known_start is not None
    ):
        return None
    return Steady(ob, known, rig, rig.prepared, rig.prepared.twin, links)


class Steady:
    """Arrays of one armature, filled anew on every frame.

    unsure : something may have changed that only a look at everything finds.
    """

    def __init__(
        self, ob: bpy.types.Object, known: Session, rig: Rig, prepared: Prepared, twin: Twin, links: np.ndarray
    ) -> None:
        count, rows = len(ob.pose.bones), rig.solved_bones
        self.unsure = False
        self._rig, self._prepared, self._twin, self._rows = rig, prepared, twin, rows
        self._rest = np.empty(16 * count, dtype=np.float32)
        self._modes = np.empty(count, dtype=np.int32)
        self._turns = np.empty((count, 4), dtype=np.float32)
        self._moves, self._scales = np.empty((2, count, 3), dtype=np.float32)
        self._flat_turns = self._turns.reshape(-1)
        self._key = self._look(ob, ob)
        self._always_look = known.animation is None or any(
            ob.pose.bones[row].name in known.animation.moved for row in rows.tolist()
        )
        arrays = twin.one.arrays
        self._places, self._aims, self._poles = arrays["places"][0], arrays["turns"][0], arrays["poles"][0]
        self._rotations = np.array(rig.known_start[1][0]) if rig.known_start else links[0, :, :4]
        self._links = np.array(links[0])
        self._answer = arrays["out_rotations"][0]
        self._previous = Pose(np.empty_like(self._answer), np.zeros_like(arrays["out_translations"][0]))
        base = known.base.rotations[rows] if known.base is not None else self._turns[rows]
        self._channels = AnswerChannels(rig.solved_joints, rows, base, self._turns)
        ob.pose.bones.foreach_get("rotation_quaternion", self._flat_turns)
        self._left = self._turns[rows].tobytes()
        self._asked, self._unchanged = b"", 0

    def read(
        self, ob: bpy.types.Object, known: Session, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph
    ) -> bool:
        """Read the targets, and what the skeleton hangs from; False where the frame has to go the long way.

        ob, evaluated : the object, original and evaluated.
        """
        rig, bones = self._rig, ob.pose.bones
        if known.stale or known.rig is not rig or self._turns.size != 4 * len(bones):
            return False
        bones.foreach_get("rotation_quaternion", self._flat_turns)
        if self._turns[self._rows].tobytes() != self._left or len(ob.dqik.goals) != rig.goal_count:
            return False
        self.unsure |= depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE")
        if (self.unsure or self._always_look) and self._look(ob, evaluated) != self._key:
            return False
        self.unsure = False
        targets = read.places(evaluated, rig, read.Scene(depsgraph, {}))
        if targets is None or not read.place_roots(evaluated, rig, self._links):
            return False
        self._places[:], self._aims[:] = targets[0], targets[1]
        if rig.poled:
            self._poles[:] = targets[2]
        return True

    def solve(self, ob: bpy.types.Object, known: Session, depsgraph: bpy.types.Depsgraph, frame: float) -> bool:
        """Solve a frame and write the answer to the original bones; False where it has to go the long way.

        ob : the original object.
        """
        began = time.perf_counter()
        if not self.read(ob, known, ob.evaluated_get(depsgraph), depsgraph):
            return False
        asked = b"".join((self._places, self._aims, self._poles, self._links))
        step_on = known.frame is not None and 0.0 < frame - known.frame <= 1.0
        follow = step_on and known.previous is not None and ob.dqik.start_from == "PREVIOUS"
        self._unchanged = self._unchanged + 1 if asked == self._asked else 0
        self._asked, known.frame = asked, frame
        if self._unchanged and (not follow or self._unchanged >= HOLD_AFTER) and known.tracked == follow:
            return True
        arrays = self._twin.one.arrays
        arrays["links"][0], arrays["rotations"][0] = self._links, self._rotations
        arrays["translations"][0] = 0.0
        self._prepared.forget()
        if follow and known.previous is not None:
            self._twin.follow_one(known.previous, first=not known.tracked)
        else:
            self._twin.solve_one()
        known.tracked = follow
        self._previous.rotations[:] = self._answer
        known.previous = self._previous
        self._write(ob, known)
        known.report_later(self._twin, time.perf_counter() - began)
        return True

    def _look(self, ob: bpy.types.Object, evaluated: bpy.types.Object) -> tuple:
        """All else that must be as it was: rest pose, rotation modes, the solved bones' other channels, animation."""
        bones, rows = ob.pose.bones, self._rows
        ob.data.bones.foreach_get("matrix_local", self._rest)
        bones.foreach_get("rotation_mode", self._modes)
        bones.foreach_get("location", self._moves.reshape(-1))
        evaluated.pose.bones.foreach_get("scale", self._scales.reshape(-1))
        return (self._rest.tobytes(), self._modes.tobytes(), self._moves[rows].tobytes(), self._scales[rows].tobytes(),
                curves.animation_key(ob))  # fmt: skip

    def _write(self, ob: bpy.types.Object, known: Session) -> None:
        """Write the answer to the solved bones, unless they have it already."""
        if not self._twin.write(self._channels):
            return
        ob.pose.bones.foreach_set("rotation_quaternion", self._flat_turns)
        ob.update_tag(refresh={"OBJECT"})  # has the pose evaluated, as "DATA" has, but not the armature's rest pose
        turns = self._turns[self._rows]
        self._left = turns.tobytes()
        if known.written is not None:
            known.written.rotations[self._rows] = turns
        known.written_raw = None
