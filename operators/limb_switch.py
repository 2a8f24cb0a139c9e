# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching limbs between their goals and keys of their bones."""

import bpy
from bpy.props import IntProperty

from ..rig.blender.armature import Armature
from ..rig.notes import Code, Note
from ..rig.setup import selection
from ..rig.shot import from_animation, limb_switch
from .common import GoalsOperator, armature
from .frames import SteppedOperator, Steps

_JUMP = 1e-4  # of the figure's size


class _LimbSwitch(SteppedOperator, GoalsOperator):
    """Switches the limbs of the selected bones and targets at the current frame, or over a range."""

    bl_options = {"REGISTER", "UNDO"}

    frame_start: IntProperty(name="Start", description="First frame of a range. An End before it means from the "
                             "current frame on", default=0)  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1)

    doing = Note(Code.SWITCHING)
    to_ik = False

    def draw(self, context: bpy.types.Context) -> None:
        """The panel that adjusts the last operation."""
        del context
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def _run(self, context: bpy.types.Context) -> Steps:
        """Read the frames, key, and look whether anything moved."""
        ob, scene = armature(context), context.scene
        objects = getattr(context, "selected_objects", None) or ()
        numbers = limb_switch.of_selection(ob, selection.selected(context, ob), objects)
        refusal = from_animation.refusal(ob) if numbers else Note(Code.SELECT_LIMB)
        if refusal is not None:
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        onward = self.frame_end < self.frame_start
        frames = [scene.frame_current + scene.frame_subframe] if onward else range(self.frame_start, self.frame_end + 1)
        was_live, ob.dqik.live = ob.dqik.live, True
        try:
            away = yield from limb_switch.switch(context, ob, numbers, frames, self.to_ik, onward)
        finally:
            if not was_live:
                ob.dqik.live = False
        if away > _JUMP * Armature(ob).size:
            self.tell({"WARNING"}, Note(Code.LIMB_MOVED, f"{away:.4g}"))
        return {"FINISHED"}


class DQIK_OT_limb_to_fk(_LimbSwitch, bpy.types.Operator):
    """Pose the limbs of the selected controls or bones by their own keys, from this frame on; the pose stays"""

    bl_idname = "dqik.limb_to_fk"
    bl_label = "Limb to FK"


class DQIK_OT_limb_to_ik(_LimbSwitch, bpy.types.Operator):
    """Let the limbs of the selected controls or bones follow their controls, from this frame on; the pose stays"""

    bl_idname = "dqik.limb_to_ik"
    bl_label = "Limb to IK"
    to_ik = True


CLASSES = (DQIK_OT_limb_to_fk, DQIK_OT_limb_to_ik)
