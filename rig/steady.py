# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which nothing has changed but the targets and the bones that the solved ones hang from.

That is what playback is made of, on most rigs. Each such frame is read into arrays that are kept, solved by the
compiled kernel and written, without a step per bone in Python. Whatever else has changed (a setting, a key, an edit, a
scaled bone) is seen by comparing bytes, and the frame goes the long way (`session.solve_frame`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..solvers import Pose, Prepared
from ..solvers.kernel import Twin
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
    """Arrays of one armature, filled anew on every frame."""

    def __init__(
        self, ob: bpy.types.Object, known: Session, rig: Rig, prepared: Prepared, twin: Twin, links: np.ndarray
    ) -> None:
        count, rows = len(ob.pose.bones), rig.solved_bones
        self._rig, self._prepared, self._twin, self._rows = rig, prepared, twin, rows
        self._rest = np.empty(16 * count, dtype=np.float32)
        self._modes = np.empty(count, dtype=np.int32)
        self._turns = np.empty((count, 4), dtype=np.float32)
        self._moves, self._scales = np.empty((2, count, 3), dtype=np.float32)
        self._animation_key, self._goal_count = known.animation_key, rig.goal_count
        self._key = self._read(ob, ob)
        arrays = twin.one.arrays
        self._places, self._aims, self._poles = arrays["places"][0], arrays["turns"][0], arrays["poles"][0]
        self._rotations = np.array(rig.known_start[1][0]) if rig.known_start else links[0, :, :4]
        self._links = np.array(links[0])
        self._answer = arrays["out_rotations"][0]
        self._previous = Pose(np.empty_like(self._answer), np.zeros_like(arrays["out_translations"][0]))
        base = known.base.rotations[rows] if known.base is not None else self._turns[rows]
        self._reference = base
        self._written = self._turns[rows].tobytes()
        self._asked, self._unchanged = b"", 0

    def solve(self, ob: bpy.types.Object, known: Session, depsgraph: bpy.types.Depsgraph, frame: float) -> bool:
        """Solve a frame and write the answer to the original bones; False where it has to go the long way.

        ob : the original object.
        """
        began = time.perf_counter()
        settings, rig, evaluated = ob.dqik, self._rig, ob.evaluated_get(depsgraph)
        if (
            known.stale
            or known.rig is not rig
            or len(settings.goals) != self._goal_count
            or self._read(ob, evaluated) != self._key
            or curves.animation_key(ob) != self._animation_key
            or any(settings.goals[goal.index].target is None for goal in rig.goals)
            or not read.roots_unscaled(evaluated, rig)
        ):
            return False
        targets = read.places(evaluated, rig, read.Scene(depsgraph, {}))
        read.place_roots(evaluated, rig, self._links)
        self._places[:], self._aims[:] = targets[0], targets[1]
        if rig.poled:
            self._poles[:] = targets[2]
        asked = b"".join((self._places, self._aims, self._poles, self._links))
        step_on = known.frame is not None and 0.0 < frame - known.frame <= 1.0
        follow = step_on and settings.start_from == "PREVIOUS" and known.previous is not None
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
        self._write(ob, known, self._answer[rig.solved_joints])
        known.report_later(self._twin, time.perf_counter() - began)
        return True

    def _read(self, ob: bpy.types.Object, evaluated: bpy.types.Object) -> tuple[bytes, ...]:
        """All that must be as it was: rest pose, rotation modes, and the solved bones' channels as we left them."""
        bones, rows = ob.pose.bones, self._rows
        if 4 * len(bones) != self._turns.size:
            return ()
        ob.data.bones.foreach_get("matrix_local", self._rest)
        bones.foreach_get("rotation_mode", self._modes)
        bones.foreach_get("rotation_quaternion", self._turns.reshape(-1))
        bones.foreach_get("location", self._moves.reshape(-1))
        evaluated.pose.bones.foreach_get("scale", self._scales.reshape(-1))
        return (self._rest.tobytes(), self._modes.tobytes(), self._turns[rows].tobytes(), self._moves[rows].tobytes(),
                self._scales[rows].tobytes())  # fmt: skip

    def _write(self, ob: bpy.types.Object, known: Session, q: np.ndarray) -> None:
        """Write unit quaternions (S, 4) of the solved bones, unless they have them already."""
        q *= np.where((q * self._reference).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
        self._turns[self._rows] = q
        turns = self._turns[self._rows]
        packed = turns.tobytes()
        if packed == self._key[2]:
            return
        ob.pose.bones.foreach_set("rotation_quaternion", self._turns.reshape(-1))
        ob.update_tag(refresh={"DATA"})
        self._key = (*self._key[:2], packed, *self._key[3:])
        if known.written is not None:
            known.written.rotations[self._rows] = turns
        known.written_raw = None
