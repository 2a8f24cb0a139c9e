# SPDX-License-Identifier: GPL-3.0-or-later
"""Holding bones at a frame, and letting them go."""

import bpy
from bpy.props import BoolProperty

from ...rig.controls import selection
from ...rig.frame.read.view import View
from ...rig.frame.sessions import sessions
from ...rig.keys import keyable, keying
from ...rig.notes import Code, Note, listed
from ...rig.shot import holds
from ..common import ArmatureOperator, GoalsOperator, armature


class DQIK_OT_hold_here(GoalsOperator, bpy.types.Operator):
    """Key the pose of the selected bones and their Hold on this frame. Poses on the keys before and after it stay"""

    bl_idname = "dqik.hold_here"
    bl_label = "Hold Here"
    bl_options = {"REGISTER", "UNDO"}

    all_held: BoolProperty(
        name="Held Bones", description="The bones whose hold has no keys, instead of the selected ones"
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Key them."""
        ob = armature(context)
        if refusal := _refusal(ob):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        context.view_layer.update()  # what was just posed
        session = sessions.of(ob)
        held = holds.on_all_frames(ob) + holds.until_next_frame(ob) if self.all_held else []
        names = held if self.all_held else selection.selected(context, ob)
        names = [name for name in names if session.rig.solved[ob.pose.bones.find(name)]]
        if not names:
            self.tell({"ERROR"}, Note(Code.NONE_HELD) if self.all_held else Note("In Pose Mode, select bones that the "
                                                                                 "goals move"))
            return {"CANCELLED"}
        with sessions.busy:
            view = View.now(context.evaluated_depsgraph_get())
            wanted, as_seen = holds.held(session, ob, names, view), holds.are_unposed(session, ob, names)
            if as_seen:
                wanted = holds.as_seen(session, ob) | {name: wanted[name] for name in names}
            if refusal := holds.refusal(ob, wanted):
                self.tell({"ERROR"}, refusal)
                return {"CANCELLED"}
            left = holds.hold_here(session, ob, wanted, view)
            if as_seen:
                context.view_layer.update()
                holds.keep_shown(ob, context.evaluated_depsgraph_get())
        ob.update_tag(refresh={"DATA"})
        return _keyed(self, names, left)


class DQIK_OT_holds_clear(ArmatureOperator, bpy.types.Operator):
    """Let bones that were posed by hand follow the goals again"""

    bl_idname = "dqik.holds_clear"
    bl_label = "Clear Holds"
    bl_options = {"REGISTER", "UNDO"}

    only_selected: BoolProperty(name="Only Selected Bones", description="Clear the holds of selected bones only")
    here: BoolProperty(
        name="This Frame Only", description="Key the holds, so that the bones are let go on this frame and held on "
        "others as before"
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear the holds."""
        ob = armature(context)
        selected = [bone.name for bone in selection.selected_bones(context, ob)]
        names = selected if self.only_selected else ob.pose.bones.keys()
        held = [name for name in names if ob.pose.bones[name].dqik_hold > 0.0]
        if refusal := (self.here and _refusal(ob)) or holds.refusal(ob, self._keyed(ob, names, held), pose=False):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        if self.here and held:
            with sessions.busy:
                view = View.now(context.evaluated_depsgraph_get())
                left = holds.let_go_here(sessions.of(ob), ob, held, view)
            ob.update_tag(refresh={"DATA"})
            return _keyed(self, held, left)
        count = 0 if self.here else holds.clear(ob, names)
        if not count:
            self.tell({"WARNING"}, Note("None of the selected bones is held") if self.only_selected
                        else Note(Code.NONE_HELD))  # fmt: skip
            return {"CANCELLED"}
        self.tell({"INFO"}, Note("Cleared the holds of {} bones", count))
        return {"FINISHED"}


    def _keyed(self, ob: bpy.types.Object, names: list[str], held: list[str]) -> list[str]:
        """The bones whose holds get keys, or other values of those that they have."""
        return held if self.here else [name for name in names if keying.curves_of(ob.pose.bones[name], holds.HOLD)]


def _refusal(ob: bpy.types.Object) -> Note | None:
    """Why holds cannot be keyed; None if they can."""
    if not ob.dqik.live:
        return Note("Switch Live on first: bones are held while it is on")
    return keyable.of_action(ob)


def _keyed(operator: ArmatureOperator, names: list[str], left: list[str]) -> set[str]:
    """Report which holds were keyed; how the operator ends."""
    done = [name for name in names if name not in left]
    if left:
        operator.tell({"WARNING"}, Note("The holds of {} cannot be keyed: unlink their action, or leave the NLA's "
                                        "tweak mode", listed([repr(name) for name in left])))
    elif done:
        operator.tell({"INFO"}, Note("Keyed the holds of {}", listed([repr(name) for name in done])))
    return {"FINISHED"} if done else {"CANCELLED"}


CLASSES = (DQIK_OT_hold_here, DQIK_OT_holds_clear)
