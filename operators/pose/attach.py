# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching controls to props and to other characters, props to hands, and letting them go again."""

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import BoolProperty, StringProperty

from ...rig.blender import scene_state
from ...rig.blender.dependencies import Bone
from ...rig.controls import selection
from ...rig.keys import attachments
from ...rig.keys.attachments import Attachment
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import attach, attachable
from ..common import ArmatureOperator


class AttachOperator(ArmatureOperator):
    """Works on selected controls in Pose Mode, else on selected objects."""

    stores = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active object in Pose Mode or Object Mode; if not, sets the message."""
        ob = context.view_layer.objects.active
        if ob is None or ob.mode not in {"POSE", "OBJECT"}:
            cls.poll_message_set(Note(Code.SELECT_TO_ATTACH).words(iface_))
            return False
        return True


class DQIK_OT_attach(AttachOperator, bpy.types.Operator):
    """Attach the selected controls to an object or another character's bone from this frame on. Nothing moves"""

    bl_idname = "dqik.attach"
    bl_label = "Attach"
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="What to attach to")
    bone: StringProperty(name="Bone", description="Bone of that object, if it is an armature")
    into_hand: BoolProperty(
        name="Into Hand", description="Attach the selected objects to the active bone, or to the bone of the active "
        "control, instead", options={"SKIP_SAVE"},
    )  # fmt: skip

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Attach to what is selected beside the controls; else ask for it."""
        del event
        if not self.properties.is_property_set("object"):
            self.object, self.bone = "", ""
            if not self.into_hand and (target := _selected_target(context)) is not None:
                self.object, self.bone = target[0].name, target[1]
            elif not self.into_hand or not _props(context):
                return context.window_manager.invoke_props_dialog(self, title=self.bl_label, confirm_text=self.bl_label)
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        """The dialog, and the panel that adjusts the last operation."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop_search(self, "object", context.view_layer, "objects")
        target = context.view_layer.objects.get(self.object)
        if target is not None and target.type == "ARMATURE" and not self.into_hand:
            layout.prop_search(self, "bone", target.pose, "bones", icon="BONE_DATA")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Attach the selected controls, or objects, at the present frame."""
        named = context.view_layer.objects.get(self.object)
        if self.object and named is None:
            self.tell({"ERROR"}, Note(Code.NO_OBJECT, repr(self.object)))
            return {"CANCELLED"}
        if self.into_hand:
            target, missing = _hand(context), Code.SELECT_PROPS
            owners = [(named, "")] if named is not None else _props(context)
        else:
            target, missing = None if named is None else (named, self.bone), Code.SELECT_TO_ATTACH
            owners = [] if target is None else _owners(context, target)
        if not owners or target is None:
            self.tell({"ERROR"}, Note(missing if self.into_hand or target is not None else Code.CHOOSE_TARGET))
            return {"CANCELLED"}
        try:
            done = attach.attach(owners, target, context)
        except (Refused, scene_state.Disturbed) as stopped:
            self.tell({"ERROR"}, stopped.note)
            return {"CANCELLED"}
        if done.is_beside:
            self.tell({"WARNING"}, Note("{} was moved beside its keys: key it at this frame, or it moves back with the "
                                        "next frame", repr(target[0].name)))
        names = listed([attachable.name_of(one) for one in owners])
        self.tell({"INFO"}, Note("Attached {} to {}", names, attachable.name_of(target)))
        aside = [attachable.name_of(owner) for owner, count in done.aside.items() if count]
        if aside:
            self.tell({"INFO"}, Note("Keys of {} on up to {} later frames are set aside, and count again after Detach",
                                     listed(aside), max(done.aside.values())))
        return {"FINISHED"}


class DQIK_OT_detach(AttachOperator, bpy.types.Operator):
    """Let the selected controls and objects go from this frame on, also what the selected hands hold. Nothing moves"""

    bl_idname = "dqik.detach"
    bl_label = "Detach"
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="What is attached; by default what is selected",
                           options={"SKIP_SAVE"})  # fmt: skip
    bone: StringProperty(name="Bone", description="Bone of that object that is attached", options={"SKIP_SAVE"})
    constraint: StringProperty(name="Constraint", description="The attachment, if it has several",
                               options={"SKIP_SAVE"})  # fmt: skip
    remove: BoolProperty(name="Remove", description="Remove the attachment from all frames. Keys stay where they are",
                         options={"SKIP_SAVE"})  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Let go at the present frame, or remove."""
        time = context.scene.frame_current_final
        if self.object:
            ob = context.view_layer.objects.get(self.object)
            if ob is None:
                self.tell({"ERROR"}, Note(Code.NO_OBJECT, repr(self.object)))
                return {"CANCELLED"}
            found = [one for one in attachments.of(ob, self.bone) if self.constraint in ("", one.constraint)]
        else:
            found = _held(context)
        found = [one for one in found if self.remove or one.acts_at(time)]
        if not found:
            self.tell({"WARNING"}, Note("None of what is selected is attached at frame {}", f"{time:g}"))
            return {"CANCELLED"}
        try:
            (attach.remove if self.remove else attach.detach)(found, context)
        except (Refused, scene_state.Disturbed) as stopped:
            self.tell({"ERROR"}, stopped.note)
            return {"CANCELLED"}
        self.tell({"INFO"}, Note("Let go {}", listed([attachable.name_of((one.ob, one.bone)) for one in found])))
        return {"FINISHED"}


def _bones(context: bpy.types.Context) -> list[Bone]:
    """The selected bones of all armatures in Pose Mode, else the active one."""
    active = context.view_layer.objects.active
    found = [(bone.id_data, bone.name) for bone in getattr(context, "selected_pose_bones", None) or ()]
    if found or active is None or active.type != "ARMATURE":
        return found
    return [(active, name) for name in selection.selected(context, active)]


def _props(context: bpy.types.Context) -> list[Bone]:
    """The selected objects that are not being posed."""
    return [(ob, "") for ob in context.view_layer.objects if ob.select_get() and ob.mode != "POSE"]


def _owners(context: bpy.types.Context, target: Bone) -> list[Bone]:
    """What is to be attached to a target: what moves the selected bones, or the selected objects."""
    if any(ob.mode == "POSE" for ob in context.view_layer.objects):
        bones = [one for one in _bones(context) if one != target]
        return list(dict.fromkeys(owner for owner in (attachable.of_bone(*one) for one in bones) if owner != target))
    return [one for one in _props(context) if one[0] != target[0]]


def _selected_target(context: bpy.types.Context) -> Bone | None:
    """The one thing beside the selected controls: the active bone of another armature, or another selected object."""
    active, bones = context.view_layer.objects.active, _bones(context)
    if active is None or active.mode == "OBJECT":
        return (active, "") if active is not None and len(_props(context)) > 1 and active.select_get() else None
    if len({ob for ob, _ in bones}) > 1 and active.data.bones.active is not None:
        return active, active.data.bones.active.name
    others = _props(context)
    return others[0] if len(others) == 1 and bones else None


def _hand(context: bpy.types.Context) -> Bone | None:
    """The active bone in Pose Mode; where it is a control, the bone that it moves."""
    active = context.view_layer.objects.active
    bone = active.data.bones.active if active is not None and active.mode == "POSE" else None
    return None if bone is None else attachable.hand_of(active, bone.name)


def _held(context: bpy.types.Context) -> list[Attachment]:
    """The attachments of what is selected, and of what is attached to the selected bones."""
    bones = _bones(context)
    owners = [*(attachable.of_bone(*one) for one in bones), *_props(context)]
    found = [one for owner in dict.fromkeys(owners) for one in attachments.of(*owner)]
    hands = {*bones, *(attachable.hand_of(*one) for one in bones), *owners}
    for ob in context.view_layer.objects:
        if len(ob.constraints):
            found += (one for one in attachments.of(ob) if (one.target, one.subtarget) in hands and one not in found)
    return found


CLASSES = (DQIK_OT_attach, DQIK_OT_detach)
