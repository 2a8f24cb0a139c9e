# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching controls to props and to other characters, props to hands, and letting them go again."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ...rig.blender.dependencies import Bone
from ...rig.controls import selection
from ...rig.keys import attachments
from ...rig.keys.attachments import Attachment
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import attach, attachable
from ..common import NotDone, Said, Tool, chosen_object, name_of, object_named


class AttachTool(Tool):
    """A tool that works on selected controls in Pose Mode, else on selected objects."""

    stores = False

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        ob = context.view_layer.objects.active
        return Note(Code.SELECT_TO_ATTACH) if ob is None or ob.mode not in {"POSE", "OBJECT"} else None


class DQIK_OT_attach(AttachTool, bpy.types.Operator):
    """Attach the selected controls to an object or another character's bone from this frame on. Nothing moves"""

    bl_label = "Attach"

    object: StringProperty(name="Object", description="What to attach to")
    bone: StringProperty(name="Bone", description="Bone of that object, if it is an armature")
    into_hand: BoolProperty(
        name="Into Hand", description="Attach the selected objects to the active bone, or to the bone of the active "
        "control, instead", options={"SKIP_SAVE"},
    )  # fmt: skip

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Attach to what is selected beside the controls; else ask for it."""
        if not self.is_set("object"):
            self.object, self.bone = "", ""
            if not self.into_hand and (target := _selected_target(context)) is not None:
                self.object, self.bone = name_of(context, target[0]), target[1]
            elif not self.into_hand or not _props(context):
                return self.dialog(context, "Put in Hand..." if self.into_hand else "")
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        self.column().prop_search(self, "object", context.view_layer, "objects")
        target = object_named(context, self.object)
        if target is not None and target.type == "ARMATURE" and not self.into_hand:
            self.layout.prop_search(self, "bone", target.pose, "bones", icon="BONE_DATA")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        named = chosen_object(context, self.object)
        if self.into_hand:
            target = _hand(context)
            owners = [(named, "")] if named is not None else _props(context)
            if target is None:
                raise Refused(Note("Select the objects to put in the hand, and the hand's bone or control in Pose "
                                   "Mode"))
            if not owners:
                raise Refused(Note("Choose the object to put in the hand"))
        elif named is None:
            raise Refused(Note("Choose the object to attach to"))
        else:
            target = named, self.bone
            owners = _owners(context, target)
            if not owners:
                raise Refused(Note(Code.SELECT_TO_ATTACH))
        done = attach.attach(owners, target, context)
        if done.is_beside:
            self.tell({"WARNING"}, Note("{} was moved beside its keys: key it at this frame, or it moves back with the "
                                        "next frame", repr(target[0].name)))
        names = listed([attachable.called_of(one) for one in owners if one not in done.along])
        self.tell({"INFO"}, Note("Attached {} to {}", names, attachable.called_of(target)))
        if done.along:
            self.tell({"INFO"}, Note("What is a child of these goes along with them: {}",
                                     listed([attachable.called_of(one) for one in done.along])))
        aside = [attachable.called_of(owner) for owner, count in done.aside.items() if count]
        if aside:
            self.tell({"INFO"}, Note("Keys of {} on up to {} later frames are set aside, and count again after Detach",
                                     listed(aside), max(done.aside.values())))


class DQIK_OT_detach(AttachTool, bpy.types.Operator):
    """Let the selected controls and objects go from this frame on, also what the selected hands hold. Nothing moves"""

    bl_label = "Detach"

    object: StringProperty(name="Object", description="What is attached; by default what is selected",
                           options={"SKIP_SAVE"})  # fmt: skip
    bone: StringProperty(name="Bone", description="Bone of that object that is attached", options={"SKIP_SAVE"})
    constraint: StringProperty(name="Constraint", description="The attachment, if it has several",
                               options={"SKIP_SAVE"})  # fmt: skip
    remove: BoolProperty(name="Remove", description="Remove the attachment from all frames. Keys stay where they are",
                         options={"SKIP_SAVE"})  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        time = context.scene.frame_current_final
        if self.object:
            named = chosen_object(context, self.object)
            found = [one for one in attachments.of(named, self.bone) if self.constraint in ("", one.constraint)]
        else:
            found = _held(context)
        found = [one for one in found if self.remove or one.acts_at(time)]
        if not found:
            raise NotDone("WARNING", Note("None of what is selected is attached at frame {}", f"{time:g}"))
        (attach.remove if self.remove else attach.detach)(found, context)
        return Note("Let go {}", listed([attachable.called_of((one.ob, one.bone)) for one in found]))


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
    """Returns the movers of the selected bones, or the selected objects, but for the target itself."""
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
