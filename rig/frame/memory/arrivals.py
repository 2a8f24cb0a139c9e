# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that have arrived on an armature's bones from other bones: by Blender's paste, join, duplicate or append.

Settings from the bone of the other side are mirrored. Holds and base poses of other figures are dropped, and the bones
get their own back; the pose that is seen stays.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ...blender import bulk, channels
from ...blender.channels import Channels
from ...controls import pasted_settings
from . import holds, stored_base
from .pose_memory import PoseMemory

_STORED = (("dqik_owner", 1, np.int32), ("dqik_switch", 3, np.float32), ("dqik_base", stored_base.SIZE, np.float32),
           ("dqik_hold_of", 1, np.int32), ("dqik_hold", 1, np.float32))  # fmt: skip


class Mirrored(NamedTuple):
    """What a mirrored paste has brought to an armature.

    switched : goals, by number, whose switch between goal and keys has come from the other side. before : their
    influences before it. whole : whether the pose of the whole body has come. pasted : the channels. shown : the bones'
    matrices (N, 16), as Blender evaluated them.
    """

    switched: list[int]
    before: dict[int, float]
    whole: bool
    pasted: Channels
    shown: np.ndarray


class Arrivals:
    """What was stored on an armature's bones when it was looked at last, so that what arrives is noticed.

    known : whether it was looked at. goals : those whose switches were noted. mirrored : what a mirrored paste has
    brought, until it is taken.
    """

    def __init__(self) -> None:
        self._contents: tuple[bytes, ...] = ()
        self._held: dict[str, float] = {}  # by the names of the bones
        self._changed = False
        self.goals: tuple = ()
        self.mirrored: Mirrored | None = None

    @property
    def known(self) -> bool:
        """Whether the armature was looked at."""
        return bool(self._contents)

    def look(self, ob: bpy.types.Object, pose: PoseMemory, depsgraph: bpy.types.Depsgraph) -> None:
        """Put right what has arrived on the bones of an original object, also on its evaluated copy."""
        if self._contents == bulk.contents(ob.pose.bones, _STORED):
            return
        self._changed = True
        switched, evaluated = pasted_settings.switched(ob), ob.evaluated_get(depsgraph)
        if switched:
            sure = pasted_settings.are_all(ob, switched)
            pose.sure = sure
            shown = bulk.read(evaluated.pose.bones, "matrix", 16)
            before_it = {number: ob.dqik.goals[number].influence for number in switched}
            self.mirrored = Mirrored(
                switched, before_it, stored_base.is_whole(ob, sure), channels.read(ob.pose.bones), shown
            )
            pose.take_mirrored(ob, evaluated)
        for one in (ob, evaluated):
            pasted_settings.mend(one)
            pasted_settings.mend_switches(one, switched)
        holds.drop_foreign(ob, np.array([self._held.get(bone.name, 0.0) for bone in ob.pose.bones]))
        pose.keep_own(ob)
        self._note(ob)

    def settle(self, ob: bpy.types.Object, pose: PoseMemory) -> None:
        """Take what an object's bones have after a solve for its own.

        A mirrored paste that has changed no pose was no edit, so the base poses that it brought along go.
        """
        if self._changed:
            self._changed = False
            pose.keep_unmirrored(ob)
        self._note(ob)

    def _note(self, ob: bpy.types.Object) -> None:
        pasted_settings.note_switches(ob)
        self._contents = bulk.contents(ob.pose.bones, _STORED)
        self._held = dict(zip(ob.pose.bones.keys(), holds.stored(ob).tolist(), strict=True))
