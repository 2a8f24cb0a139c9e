# SPDX-License-Identifier: GPL-3.0-or-later
"""Holding bones at a frame, and letting them go."""

import bpy
from bpy.props import BoolProperty

from ...rig.controls import selection
from ...rig.frame.read.view import View
from ...rig.frame.sessions import sessions
from ...rig.keys import keyable, keying
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import holds
from ..common import NotDone, Said, Tool, refuse


class DQIK_OT_hold_here(Tool, bpy.types.Operator):
    """Key the pose of the selected bones and their Hold on this frame. Poses on the keys before and after it stay"""

    bl_label = "Hold Here"
    on_goals = True

    all_held: BoolProperty(
        name="Held Bones", description="The bones whose hold has no keys, instead of the selected ones"
    )

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        refuse(_refusal(ob))
        context.view_layer.update()  # what was just posed
        session = sessions.of(ob)
        held = holds.on_all_frames(ob) + holds.until_next_frame(ob) if self.all_held else []
        names = held if self.all_held else selection.selected(context, ob)
        names = [name for name in names if session.rig.solved[ob.pose.bones.find(name)]]
        if not names:
            raise Refused(Note(Code.NONE_HELD if self.all_held else "In Pose Mode, select bones that the goals move"))
        with sessions.busy:
            view = View.now(context.evaluated_depsgraph_get())
            wanted, as_seen = holds.held(session, ob, names, view), holds.are_unposed(session, ob, names)
            if as_seen:
                wanted = holds.as_seen(session, ob) | {name: wanted[name] for name in names}
            refuse(holds.refusal(ob, wanted))
            left = holds.hold_here(session, ob, wanted, view)
            if as_seen:
                context.view_layer.update()
                holds.keep_shown(ob, context.evaluated_depsgraph_get())
        ob.update_tag(refresh={"DATA"})
        return _said(self, names, left)


class DQIK_OT_holds_clear(Tool, bpy.types.Operator):
    """Let bones that were posed by hand follow the goals again"""

    bl_label = "Clear Holds"

    only_selected: BoolProperty(name="Only Selected Bones", description="Clear the holds of selected bones only")
    here: BoolProperty(
        name="This Frame Only", description="Key the holds, so that the bones are let go on this frame and held on "
        "others as before"
    )  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        selected = [bone.name for bone in selection.selected_bones(context, ob)]
        names = selected if self.only_selected else ob.pose.bones.keys()
        held = [name for name in names if ob.pose.bones[name].dqik_hold > 0.0]
        if self.here:
            refuse(_refusal(ob))
        # the bones whose holds get keys, or other values of those that they have
        keyed = held if self.here else [
            name for name in names if keying.curves_of(ob.pose.bones[name], holds.HOLD)
        ]
        refuse(holds.refusal(ob, keyed, pose=False))
        if self.here and held:
            with sessions.busy:
                view = View.now(context.evaluated_depsgraph_get())
                left = holds.let_go_here(sessions.of(ob), ob, held, view)
            ob.update_tag(refresh={"DATA"})
            return _said(self, held, left)
        count = 0 if self.here else holds.clear(ob, names)
        if not count:
            raise NotDone("WARNING", Note("None of the selected bones is held" if self.only_selected
                                          else Code.NONE_HELD))
        return Note("Cleared the holds of {} bones", count)


def _refusal(ob: bpy.types.Object) -> Note | None:
    """Why holds cannot be keyed; None if they can."""
    if not ob.dqik.live:
        return Note("Switch Live on first: bones are held while it is on")
    return keyable.of_action(ob)


def _said(tool: Tool, names: list[str], left: list[str]) -> Said:
    """Which holds were keyed. left : those that were not."""
    done = [name for name in names if name not in left]
    if left:
        kept = Note("The holds of {} cannot be keyed: unlink their action, or leave the NLA's tweak mode",
                    listed([repr(name) for name in left]))
        if not done:
            raise NotDone("WARNING", kept)
        tool.tell({"WARNING"}, kept)
        return None
    if not done:
        raise NotDone("INFO")
    return Note("Keyed the holds of {}", listed([repr(name) for name in done]))
