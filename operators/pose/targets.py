# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting the targets of goals, putting them where the bones are, and choosing what their rotation turns with."""

from contextlib import suppress

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ...rig import curves
from ...rig.blender import animation, rotation, scene_state
from ...rig.blender.places import owner_of
from ...rig.controls import goals, placing, rotation_space, selection
from ...rig.frame import offline
from ...rig.keys import keyable, keying, splits
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import limb_rotation
from ..common import OneGoalTool, Said, Tool, refuse


class DQIK_OT_target_select(OneGoalTool, bpy.types.Operator):
    """Select the target of the goal, to move it. Leaves Pose Mode, unless the target is a bone"""

    bl_label = "Select Target"
    stores = False

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        goal = ob.dqik.goals[self.goal(ob)]
        target = goal.target
        if target == ob and context.mode == "POSE" and goal.subtarget in ob.pose.bones:
            self._select_bone(ob, goal.subtarget)
            return
        if target is None:
            raise Refused(Note("Goal {} has no target: choose an object", repr(goal.name)))
        if not target.visible_get(view_layer=context.view_layer):
            raise Refused(Note("{} is hidden or not in this view layer: show it first", repr(target.name)))
        is_bone = target.type == "ARMATURE" and goal.subtarget in target.pose.bones
        if is_bone:
            refuse(keyable.of_settings(target), "WARNING")  # it cannot be posed
        if context.view_layer.objects.active is not None and context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.view_layer.objects:
            other.select_set(other == target)
        context.view_layer.objects.active = target
        if is_bone:
            bpy.ops.object.mode_set(mode="POSE")
            self._select_bone(target, goal.subtarget)

    @staticmethod
    def _select_bone(ob: bpy.types.Object, name: str) -> None:
        if not selection.is_visible(ob, name):
            raise Refused(Note(Code.BONE_HIDDEN, repr(name)))
        selection.select_only(ob, name)


def _range_switched(self: bpy.types.OperatorProperties, context: bpy.types.Context) -> None:
    """The range was ticked in the panel that adjusts the last operation: the scene's, to begin with, or none."""
    del context
    self.frame_start, self.frame_end = 0, -1


class DQIK_OT_targets_to_pose(Tool, bpy.types.Operator):
    """Put the targets and poles of the selected bones, or all if none of these has a goal, where the pose has them"""

    bl_label = "Targets to Pose"
    on_goals = True
    stopped = Note(Code.NOTHING_KEYED)

    # Before the frames: Blender sets a script's values in this order, and switching the range resets the frames.
    use_range: BoolProperty(name="Key a Range", description="Key the targets where the bones are on every frame of a "
                            "range, instead of moving them on this frame", update=_range_switched,
                            options={"SKIP_SAVE"})  # fmt: skip
    frame_start: IntProperty(name="Start", description="First frame of a range to key. An End before it means the "
                             "current frame only, or with Key a Range the scene's", default=0,
                             options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1, options={"SKIP_SAVE"})
    all: BoolProperty(name="All", description="Move the targets of all goals, not only those of selected bones")

    def draw(self, context: bpy.types.Context) -> None:
        del context
        self.column("use_range")
        self.column("frame_start", "frame_end").active = self.frame_end >= self.frame_start
        self.column("all")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        """Move the targets, and key them if there is a range or Auto Keying is on."""
        scene = context.scene
        names = set() if self.all else set(selection.selected(context, ob))
        numbers = [
            number for number, goal in enumerate(ob.dqik.goals)
            if selection.holds_goal(ob, goal, names)
        ] or list(range(len(ob.dqik.goals)))  # fmt: skip
        if self.use_range and self.frame_end < self.frame_start:
            self.frame_start, self.frame_end = scene.frame_start, scene.frame_end
        over_range = self.frame_end >= self.frame_start
        keyed = over_range or keying.is_auto(scene)
        reaching = [number for number in numbers if goals.belongs_at_bone(ob.dqik.goals[number])]
        refuse(keyable.of_goals(ob, reaching) if keyed else _stuck(context, ob, reaching))
        stay, back = (self._over_range if over_range else self._on_frame)(context, ob, numbers)
        parts: list[Note] = []
        others = set(numbers) - set(reaching)
        if others:
            parts.append(Note("The targets of {} stay: only those of Reach goals without Close Loop belong at their "
                              "bones", _named(ob, others)))
        if stay - others:
            parts.append(Note(Code.TARGETS_NOT_THERE, _named(ob, stay - others)))
        if back - stay:
            names = _named(ob, back - stay)
            parts.append(Note("The keys of the targets of {} have no effect: unmute and unlock their curves and "
                              "groups, and mute the NLA above them", names) if keyed else
                         Note("The targets of {} go back to their keys: switch Auto Keying on, or key them", names))
        if parts:
            self.tell({"WARNING"}, *parts)

    @staticmethod
    def _on_frame(context: bpy.types.Context, ob: bpy.types.Object, numbers: list[int]) -> tuple[set[int], set[int]]:
        """Move the targets on this frame; the goals whose targets stay, and those that their animation moves back."""
        scene = context.scene
        wanted = goals.places(ob, numbers, context.evaluated_depsgraph_get())
        with offline.session(ob):
            stay = placing.put(ob, wanted, context) | (set(numbers) - wanted.keys())
            keyed = keying.is_auto(scene) and goals.key_targets(ob, numbers, scene.frame_current_final, auto=True)
            back = placing.goes_back(ob, wanted, context, keyed)
        for target in {goal.target for goal in ob.dqik.goals if goal.target is not None} | {ob}:
            target.update_tag(refresh={"OBJECT"})  # so that Live, which was aside, follows
        return stay, back

    def _over_range(
        self, context: bpy.types.Context, ob: bpy.types.Object, numbers: list[int]
    ) -> tuple[set[int], set[int]]:
        """Read the bones on all frames, key the targets, and look where these are; returns as `_on_frame` does."""
        scene, back = context.scene, set[int]()
        frames = range(self.frame_start, self.frame_end + 1)
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            wanted = [goals.places(ob, numbers, visits.visit(frame)) for frame in frames]
        for owner in goals.target_owners(ob.dqik.goals[number] for number in set(numbers) & wanted[0].keys()):
            for path in ("location", rotation.PATHS[owner.rotation_mode]):
                splits.keep_outside(owner, path, scene_state.times(scene, frames))
        with offline.session(ob), scene_state.restored(scene, context.view_layer, ob) as visits:
            visits.visit(frames[0])
            goals.put_targets(ob, wanted[0], context.evaluated_depsgraph_get())
            context.view_layer.update()
            in_rounds = bool(placing.off(ob, wanted[0], context.evaluated_depsgraph_get()))
            stay, put = placing.put(ob, wanted[0], context) | (set(numbers) - wanted[0].keys()), []
            for frame, places in zip(frames, wanted, strict=True):
                visits.visit(frame)
                if in_rounds:
                    placing.put(ob, places, context)
                else:
                    goals.put_targets(ob, places, context.evaluated_depsgraph_get())
                owners = goals.target_owners(ob.dqik.goals)
                put.append((scene.frame_current_final, [(one, scene_state.transform(one)) for one in owners]))
            for (time, transforms), places in zip(put, wanted, strict=True):  # no handler runs meanwhile
                for owner, values in transforms:
                    scene_state.set_transform(owner, values)
                goals.key_targets(ob, places, time)
        for number in set(numbers) & wanted[0].keys():
            goal = ob.dqik.goals[number]
            if goal.influence < 2.0 * goals.KEYED_INFLUENCE:
                goal.influence = 1.0  # the target has the keys now
        looking = scene_state.restored(scene, context.view_layer, ob)
        with suppress(scene_state.Disturbed), offline.session(ob), looking as visits:  # the keys are written already
            for frame, places in zip(frames, wanted, strict=True):
                back |= placing.off(ob, places, visits.visit(frame))
            back |= placing.goes_back(ob, wanted[-1], context, keyed=True)
        scene_state.look_again(scene)
        return stay, back


def _stuck(context: bpy.types.Context, ob: bpy.types.Object, numbers: list[int]) -> Note | None:
    """Returns the reason why none of the goals' targets can be moved; None if one can."""
    depsgraph = context.evaluated_depsgraph_get()
    targets = dict.fromkeys(ob.dqik.goals[number].target for number in numbers)
    notes = [keyable.of_settings(target) or keyable.stands_still(target, depsgraph) for target in targets if target]
    return notes[0] if notes and all(notes) else None


def _named(ob: bpy.types.Object, numbers: set[int]) -> Note | str:
    """The names of goals."""
    return listed([repr(ob.dqik.goals[number].name) for number in sorted(numbers)])


_ROUNDS = 3  # the limb may turn a little in the new space, and would carry the bone along


class DQIK_OT_rotation_space(OneGoalTool, bpy.types.Operator):
    """Choose what the rotation of the goal's target turns with, and turn target and keys so that nothing moves"""

    bl_label = "Rotation Space"

    space: EnumProperty(
        name="Space",
        description="What the rotation of the target turns with",
        items=[
            ("FOREARM", "Forearm", "Turn the target with the bone above, as a hand with its forearm"),
            ("WORLD", "World", "Keep the rotation of the target as it is in the world"),
        ],
    )

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        """Set how far the rotation follows, and turn the target to where it belongs."""
        scene, number = context.scene, self.goal(ob)
        auto = keying.is_auto(scene)
        goal, follows = ob.dqik.goals[number], float(self.space == "FOREARM")
        if auto:
            refuse(keyable.of_goals(ob, [number], ("rotation_follows",)))
        shown = _evaluated(context, ob)
        if goal.bone not in shown.pose.bones:
            raise Refused(Note(Code.HAS_NO_BONE, repr(ob.name), repr(goal.bone)))
        refuse(keyable.of_settings(ob) or self._refusal(ob, number, auto))
        if goal.target is not None and self._has_keys(ob, goal):
            limb_rotation.switch_space(ob, goal, follows, context)
            rotation_space.show_control(ob, goal)
            return
        stay: set[int] = set()
        end = goals.end_of(shown, goal.bone, goal.use_tail)
        for _ in range(_ROUNDS):
            target = rotation_space.target_for(shown, goal, follows, end)
            place = goals.Place(shown.matrix_world @ target, pole=None)
            goal.rotation_follows = follows
            with offline.session(ob):
                stay = placing.put(ob, {number: place}, context)
            for one in {goal.target, ob} - {None}:
                one.update_tag(refresh={"OBJECT"})  # so that Live, which was aside, follows
            shown = _evaluated(context, ob)
        rotation_space.show_control(ob, goal)
        if auto:
            goals.key_targets(ob, [number], scene.frame_current_final, auto=True)
            keying.key_path(ob, goal.path_from_id("rotation_follows"), scene.frame_current_final, auto=True)
        if stay:
            self.tell({"WARNING"}, Note("The target of {} cannot be turned: constraints or another file set its place",
                                        repr(goal.name)))

    @staticmethod
    def _refusal(ob: bpy.types.Object, number: int, auto: bool) -> Note | None:
        """Returns the reason why the target's rotation, which is animated or gets keys, takes none; None if it does."""
        goal = ob.dqik.goals[number]
        owner = None if goal.target is None else owner_of(goal.target, goal.subtarget)
        if owner is None:
            return None
        path = curves.path_of(owner, rotation.PATHS[owner.rotation_mode])
        keyed = auto or animation.animates(owner.id_data, path) or limb_rotation.key_times(goal)
        return keyable.of_goals(ob, [number], poles=False) if keyed else None

    @staticmethod
    def _has_keys(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> bool:
        """Whether the target's rotation has keys, and the share by which it follows has none."""
        owner = owner_of(goal.target, goal.subtarget)
        share = goal.path_from_id("rotation_follows")
        return owner is not None and bool(limb_rotation.key_times(goal)) and not animation.animates(ob, share)


def _evaluated(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object:
    return ob.evaluated_get(context.evaluated_depsgraph_get())
