# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on which nothing has changed but the targets and the bones that the solved ones hang from.

That is what playback and bakes are made of, on most rigs. Each such frame is read into arrays that are kept, without a
step per bone in Python. Whatever else has changed (a setting, a key, an edit, a scaled bone) sends the frame the long
way (`session.read_frame`). It is looked for where Blender says that an armature or the scene's relations have changed;
the solved bones' rotations, which anybody may write, on every frame.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..solvers.model.goals import Targets
from . import curves, read, rotation
from .build import Rig
from .read import FrameInput

if TYPE_CHECKING:
    from .session import Session


def reader(ob: bpy.types.Object, known: Session, given: FrameInput) -> Reader | None:
    """What to read the next frames with, after one that went the long way; None where that has to go on.

    given : what that frame was solved with.
    """
    rig = known.rig
    if not (
        isinstance(rig, Rig)
        and rig.simple
        and not rig.eased
        and given.prepared is rig.prepared
        and known.groups is not None
        and len(known.groups) == 1
        and known.groups[0][0] == rotation.QUATERNION
        and known.free is not None
        and known.free.unkeyed(rig.bones)
        and known.animation is not None
        and not known.animation.settings
        and rig.known_hanging is not None
        and rig.known_hanging[1]
    ):
        return None
    always = any(ob.pose.bones[bone].name in known.animation.moved for bone in rig.solved_bones.tolist())
    return Reader(ob, rig, given, always)


def edited(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether more may have changed since the last evaluation than the frame: bones, keys, drivers, what there is."""
    return depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE")


class Reader:
    """One armature's targets, and what its skeleton hangs from, read anew on every frame into arrays.

    given : what a frame that went the long way was solved with. places, aims, poles : (G, 3), (G, 4), (G, 3).
    links : (J, 8). turns : (N, 4) float32, the rotation channels of all bones. unsure : something may have changed that
    only a look at everything finds.
    """

    def __init__(self, ob: bpy.types.Object, rig: Rig, given: FrameInput, always_look: bool) -> None:
        """`always_look` : curves may change on any frame what otherwise only edits do."""
        count = len(ob.pose.bones)
        self.given, self.unsure = given, False
        self.places, self.aims, self.poles = (np.array(part[0]) for part in given.targets[:3])
        self.links = np.array(given.links[0])
        self.turns = np.empty((count, 4), dtype=np.float32)
        self._flat_turns = self.turns.reshape(-1)
        self._rig, self._rows, self._always_look = rig, rig.solved_bones, always_look
        self._rest = np.empty(16 * count, dtype=np.float32)
        self._modes = np.empty(count, dtype=np.int32)
        self._moves, self._scales = np.empty((2, count, 3), dtype=np.float32)
        self._key = self._look(ob, ob)
        ob.pose.bones.foreach_get("rotation_quaternion", self._flat_turns)
        self._left = b""
        self.leave()

    def read(
        self, ob: bpy.types.Object, known: Session, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph
    ) -> bool:
        """Read a frame; False where it has to go the long way. ob, evaluated : the object, original and evaluated."""
        rig, bones = self._rig, ob.pose.bones
        if known.stale or known.rig is not rig or self.turns.size != 4 * len(bones):
            return False
        bones.foreach_get("rotation_quaternion", self._flat_turns)
        if self.turns[self._rows].tobytes() != self._left or len(ob.dqik.goals) != rig.goal_count:
            return False
        self.unsure |= edited(depsgraph)
        if (self.unsure or self._always_look) and self._look(ob, evaluated) != self._key:
            return False
        self.unsure = False
        targets = read.places(evaluated, rig, read.Scene(depsgraph, {}))
        if targets is None or not read.place_roots(evaluated, rig, self.links):
            return False
        self.places[:], self.aims[:] = targets[0], targets[1]
        if rig.poled:
            self.poles[:] = targets[2]
        return True

    def frame(self) -> FrameInput:
        """What was read, to be kept."""
        targets = Targets(self.places[None].copy(), self.aims[None].copy(), self.poles[None].copy())
        return replace(self.given, links=self.links[None].copy(), targets=targets)

    def write(self, ob: bpy.types.Object) -> None:
        """Write `turns` to the bones."""
        ob.pose.bones.foreach_set("rotation_quaternion", self._flat_turns)
        ob.update_tag(refresh={"OBJECT"})  # has the pose evaluated, as "DATA" has, but not the armature's rest pose
        self.leave()

    def leave(self) -> None:
        """Remember the solved bones' rotations as they are."""
        self._left = self.turns[self._rows].tobytes()

    def _look(self, ob: bpy.types.Object, evaluated: bpy.types.Object) -> tuple:
        """All else that must be as it was: rest pose, rotation modes, the solved bones' other channels, animation."""
        bones, rows = ob.pose.bones, self._rows
        ob.data.bones.foreach_get("matrix_local", self._rest)
        bones.foreach_get("rotation_mode", self._modes)
        bones.foreach_get("location", self._moves.reshape(-1))
        evaluated.pose.bones.foreach_get("scale", self._scales.reshape(-1))
        return (self._rest.tobytes(), self._modes.tobytes(), self._moves[rows].tobytes(), self._scales[rows].tobytes(),
                curves.animation_key(ob))  # fmt: skip
