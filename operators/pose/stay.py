# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping parts of the body where they are: pins, holds, and feet and hands that are planted."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ...rig.controls import controls, goals, pins, selection
from ...rig.figure.short_names import called
from ...rig.frame.read.view import View
from ...rig.frame.sessions import sessions
from ...rig.frame.step import missed
from ...rig.keys import keyable, keying
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import holds, plant
from ...rig.shot import pins as shot_pins
from ..common import NotDone, Said, Tool, refuse


class DQIK_OT_pin(Tool, bpy.types.Operator):
    """Hold the selected bones, or the bones of the selected controls, where they are now, by goals of their own"""

    bl_label = "Pin"

    position: BoolProperty(name="Position", description="Hold the heads of the bones", default=True)
    rotation: BoolProperty(name="Rotation", description="Hold how the bones are turned", default=True)

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        """Add a pin for each bone that has none; move the targets of the others to the bones.

        With Auto Keying the pins are keyed, and hold from this frame on. The goals that the bones have stay, muted
        meanwhile.
        """
        names, scene = _bones(context, ob), context.scene
        if not names:
            raise Refused(Note("In Pose Mode, select the bones to hold"))
        if not (self.position or self.rotation):
            raise Refused(Note("Choose Position, Rotation or both"))
        auto, frame = keying.is_auto(scene), scene.frame_current_final
        refuse(shot_pins.refusal(ob, names, auto))
        only_available = auto and shot_pins.keys_available_only(ob)
        keyed = auto and keying.adds_curves(only_available)
        if keyed:
            shot_pins.keep_before(ob, pins.of(ob, names), frame)
        numbers = pins.pin(ob, names, self.position, self.rotation, controls.can_add(ob))
        replaced = pins.hold(ob, numbers, keyed)
        keyed = auto and shot_pins.key(ob, [*numbers, *replaced], frame, pinned=True, auto=only_available)
        _select(context, ob, {goal.subtarget: ob.dqik.goals[number].subtarget for number in numbers
                              for goal in ob.dqik.goals if goal.bone == ob.dqik.goals[number].bone})  # fmt: skip
        words = listed([called(ob, name) for name in names])
        if keyed:
            return Note("Pinned from frame {} on: {}", f"{frame:g}", words)
        return Note("Pinned on all frames: {}", words)


class DQIK_OT_unpin(Tool, bpy.types.Operator):
    """Let the selected bones, or those of the selected controls, go again: takes their pins away, and nothing else"""

    bl_label = "Unpin"
    on_goals = True

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        """Remove the pins; with Auto Keying, mute them from this frame on."""
        scene = context.scene
        names, auto, frame = _bones(context, ob), keying.is_auto(scene), scene.frame_current_final
        numbers = [number for number in pins.of(ob, names) if not (auto and ob.dqik.goals[number].mute)]
        if not numbers and not pins.of(ob, names, goals.RAISED):
            raise NotDone("WARNING", Note("None of the selected bones is pinned at this frame"))
        replaced = pins.of(ob, names, goals.REPLACED)
        if auto:
            refuse(keyable.of_goals(ob, [*numbers, *replaced], ("mute",), targets=False, poles=False))
        bones = list(dict.fromkeys(ob.dqik.goals[number].bone for number in numbers)) + pins.lower(ob, names)
        own = [ob.dqik.goals[number] for number in numbers]
        _select(context, ob, {pin.subtarget: pin.bone for pin in own} | {
            pin.subtarget: goal.subtarget for pin in own for goal in ob.dqik.goals
            if goal.bone == pin.bone and goal not in own and goal.target == ob
        })  # fmt: skip
        keyed = bool(auto and numbers)
        if keyed:
            free = pins.let_go(ob, numbers)
            keyed = shot_pins.key(ob, [*numbers, *free], frame, pinned=False, auto=shot_pins.keys_available_only(ob))
        notes = [] if keyed else shot_pins.remove(ob, numbers)
        words = listed([called(ob, name) for name in bones])
        if keyed:
            return Note("Unpinned from frame {} on: {}", f"{frame:g}", words)
        self.tell({"WARNING"} if notes else {"INFO"}, Note("Unpinned on all frames: {}", words), *notes)
        return None


def _bones(context: bpy.types.Context, ob: bpy.types.Object) -> list[str]:
    """The selected bones; for a control, the bone that it moves."""
    names: list[str] = []
    for name in selection.selected(context, ob):
        if controls.is_control(ob.data.bones[name]):
            names += [goal.bone for goal in ob.dqik.goals if goal.kind == "REACH" and goal.bone in ob.data.bones
                      and (goal.target, goal.subtarget) == (ob, name)]  # fmt: skip
        else:
            names.append(name)
    return list(dict.fromkeys(names))


def _select(context: bpy.types.Context, ob: bpy.types.Object, instead: dict[str, str]) -> None:
    """Select controls instead of others that are selected, so that what is dragged next counts."""
    own = [bone.name for bone in selection.selected_bones(context, ob)]
    names = [instead.get(name, name) if controls.is_control(ob.data.bones[name]) else name for name in own]
    if names != own and all(name in ob.data.bones for name in names):
        selection.select_only(ob, *names)


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
        return _said(self, ob, names, left)


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
            return _said(self, ob, held, left)
        count = 0 if self.here else holds.clear(ob, names)
        if not count:
            raise NotDone("WARNING", Note("None of the selected bones is held" if self.only_selected
                                          else Code.NONE_HELD))
        return Note("Cleared the holds of {} bones", count)


def _refusal(ob: bpy.types.Object) -> Note | None:
    """Returns the reason why holds cannot be keyed; None if they can."""
    if not ob.dqik.live:
        return Note("Switch Live on first: bones are held while it is on")
    return keyable.of_action(ob)


def _said(tool: Tool, ob: bpy.types.Object, names: list[str], left: list[str]) -> Said:
    """Which holds were keyed. left : those that were not."""
    done = [name for name in names if name not in left]
    if left:
        kept = Note("The holds of {} cannot be keyed: unlink their action, or leave the NLA's tweak mode",
                    listed([called(ob, name) for name in left]))
        if not done:
            raise NotDone("WARNING", kept)
        tool.tell({"WARNING"}, kept)
        return None
    if not done:
        raise NotDone("INFO")
    return Note("Keyed the holds of {}", listed([called(ob, name) for name in done]))


class DQIK_OT_plant(Tool, bpy.types.Operator):
    """Keep the selected feet or hands where they stand, over the frames on which they do"""

    bl_label = "Plant"
    on_goals = True
    stopped = Note(Code.NOTHING_KEYED)

    frame_start: IntProperty(name="Start", description="First frame. An End before it means the frames around this one "
                             "on which the foot is slow and low", default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1, options={"SKIP_SAVE"})
    fade: IntProperty(name="Fade", description="Frames before and after, over which the foot comes from and goes to "
                      "where it was; 0 takes an eighth of a second", default=0, min=0, soft_max=20)  # fmt: skip
    roll: BoolProperty(name="Roll", description="Feet roll about heel and ball as they did, instead of keeping their "
                       "rotation", default=True)  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        numbers = self._numbers(context, ob)
        if not numbers:
            raise Refused(Note("Select the controls of the feet or hands to plant"))
        refuse(keyable.of_goals(ob, numbers, poles=False))
        span = (self.frame_start, self.frame_end) if self.frame_end >= self.frame_start else None
        done, left = plant.plant(ob, numbers, span, self.fade, self.roll, context)
        if left:
            self.tell({"WARNING"}, Note(Code.TARGETS_NOT_THERE, listed([repr(name) for name in left])))
        for one in done:
            self.tell({"INFO"}, Note("Planted {} from {} to {}",
                                     called(ob, ob.dqik.goals[one.goal].bone), one.first, one.last))
        if not done:
            raise NotDone("INFO")
        for frame, error in plant.worst_misses(ob, done, context) if ob.dqik.live else ():
            self.tell({"WARNING"}, missed.at_frame(context.scene, ob, [error], frame))
        if len(done) == 1:  # to be changed in the panel that adjusts the last operation
            self.frame_start, self.frame_end = done[0].first, done[0].last

    @staticmethod
    def _numbers(context: bpy.types.Context, ob: bpy.types.Object) -> list[int]:
        """The goals of the selected bones, or of the selected objects, that hold a place."""
        names = set(selection.selected(context, ob))
        objects = set() if ob.mode == "POSE" else set(context.selected_objects)
        return [
            number for number, goal in enumerate(ob.dqik.goals)
            if goal.kind == "REACH" and goal.use_position and goal.target is not None and goal.bone in ob.pose.bones
            and selection.holds_goal(ob, goal, names, objects)
        ]  # fmt: skip
