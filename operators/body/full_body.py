# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting up goals for a whole figure."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import partial

import bpy
from bpy.app.translations import pgettext_tip as tip_
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ... import live
from ...rig.blender import scene_state
from ...rig.controls import controls, full_body, goals, more_controls, selection, switches, unkeyed_action
from ...rig.figure import roles
from ...rig.figure.character import Character
from ...rig.frame import commands, offline
from ...rig.keys import keyable
from ...rig.notes import Code, Note, Refused, counted
from ...rig.shot import from_animation, to_fk
from ..common import NotDone, Said, Steps, Tool, armature, begin_posing, live_on, refuse
from ..pose.controls import key_from_motion

CONTROLS = [
    ("CHEST", "Chest", "Bends the spine, and carries the head: the body leans with it"),
    ("SHOULDERS", "Shoulders", "Turn the collar bones"),
    ("ELBOWS", "Elbows", "Poles, which the elbows point at"),
    ("KNEES", "Knees", "Poles, which the knees point at"),
    ("TOES", "Toes", "Turn the toes"),
    ("MASTER", "Master", "Carries all other controls, and with them the figure"),
]


class DQIK_OT_setup_full_body(Tool, bpy.types.Operator):
    """Add goals for hands, feet, head and hips of a human figure, and let its hips move"""

    bl_label = "Set Up Full Body"

    targets: EnumProperty(
        name="Targets",
        description="What the body follows",
        items=[
            ("BONES", "Bones", "Control bones of the same armature, to pose and key them with the body. "
             "Where the armature cannot be edited, empties"),
            ("EMPTIES", "Empties", "Empties in a collection of their own"),
        ],
        default="BONES",
    )  # fmt: skip
    use_rotation: BoolProperty(
        name="Rotation", description="Turn hands, feet and head with their targets", default=True
    )
    from_animation: BoolProperty(
        name="Key from Motion", description="Where the body moves, key the targets from its motion, on every frame. "
        "Live shows the same motion then, and follows what you change of the targets", default=True,
    )  # fmt: skip
    frame_start: IntProperty(name="Start", description="First frame to key. Start 0 and End -1 take the frames on "
                             "which the body has keys", default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame to key", default=-1, options={"SKIP_SAVE"})

    controls: EnumProperty(
        name="Controls",
        description="More controls than hands, feet, head and hips. On a body that is set up, only they are added",
        items=CONTROLS,
        options={"ENUM_FLAG"},
        default=set(),
    )  # fmt: skip

    doing = Note(Code.KEYING_CONTROLS)
    _in_window = False

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """The tooltip: for one more control its own."""
        del context
        chosen = properties.controls
        words = next((words for name, _, words in CONTROLS if chosen == {name}), "")
        return tip_(words or cls.__doc__ or "")

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: if the body moves, show the dialog, then work in steps."""
        self._in_window = True
        ob = armature(context)
        adds_only = self.controls and full_body.is_set_up(ob)
        if adds_only or not from_animation.moves(ob) or Character.of(ob).figure.controlled:
            return self.execute(context)
        if not self.is_set("frame_start", "frame_end"):
            frames = from_animation.frames(ob, context.scene)
            self.frame_start, self.frame_end = frames[0], frames[-1]
        return self.dialog(context)

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        self.column("targets")
        self.column("use_rotation")
        if ob is not None and from_animation.moves(ob):
            self.column("from_animation")
            self.column("frame_start", "frame_end").active = self.from_animation

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        if self.controls and full_body.is_set_up(ob):
            return (yield from self._add_to_body(context, ob))
        if self.from_animation and not self.controls and unkeyed_action.note(ob) is not None:
            return (yield from key_from_motion(context, ob))
        figure = Character.of(ob).figure
        refuse(figure.controlled, "WARNING")
        as_bones = self.targets == "BONES" and controls.can_add(ob)
        in_motion, refusal = self.from_animation and from_animation.moves(ob), None
        if in_motion and as_bones and (refusal := keyable.of_action(ob)):
            in_motion = False
        frames = self._frames(ob, context.scene) if in_motion else range(0)
        if in_motion and not frames:
            raise Refused(Note(Code.RANGE_REVERSED, frames.stop - 1, frames.start))
        switched = len(switches.others(ob))
        if switched:
            refuse(switches.refusal(ob) or (refusal if as_bones else None)
                   or (to_fk.refusal(ob, figure.roles) if frames else None), "WARNING")
            yield from to_fk.switch(context, ob, figure.roles, frames)
        first = len(ob.dqik.goals)
        with live.at_once(ob):
            result = full_body.set_up(ob, context.scene, self.use_rotation, as_bones, in_motion)
        if not result.new_goals and not result.old_goals:
            raise NotDone("WARNING", Note("No bone of {} is named as a hand, a foot or a head: name them as Rigify, "
                                          "Mixamo or VRM does, or use Add Goal", repr(ob.name)))
        count, last, added = len(result.new_goals), len(ob.dqik.goals), None
        if self.controls and controls.can_add(ob):
            added = self._add(ob, in_motion=bool(count and frames))
        if count and frames:
            yield from self._key(context, ob, range(first, last), added, frames)
        return self._report(ob, figure, result, as_bones, frames, refusal, added, switched)

    def _add_to_body(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        """Add controls to a body that is set up. It stays as it is, on all frames.

        On a body that moves by its own keys they are keyed from its motion. Where that would not show the same motion,
        or other things move the body, they lead nothing yet.
        """
        if not controls.can_add(ob):
            return self._tell_added(ob, None, [])
        if not more_controls.lacks(ob, self.controls):
            return self._tell_added(ob, self._made(ob), [])
        in_motion = self.from_animation and from_animation.moves(ob)
        refusal = keyable.of_action(ob) if in_motion else None
        frames = self._frames(ob, context.scene) if in_motion and refusal is None else range(0)
        if not frames and (self.controls == {"MASTER"} or from_animation.may_move(ob)):
            added = self._made(ob)
        else:
            added = self._add(ob, in_motion=bool(frames))
        if frames and (added.goals or added.poles):
            with live_on(ob):  # what is changed of its controls counts
                before = yield from self._key(context, ob, [], added, frames)
                if from_animation.differs(context, ob, before):
                    added.lead(ob, leads=False)
        return self._tell_added(ob, added, [] if refusal is None else [Note(Code.CONTROLS_NOT_KEYED), refusal])

    def _add(self, ob: bpy.types.Object, in_motion: bool) -> more_controls.Added:
        """Add the chosen controls. Where they would move the body, they lead nothing."""
        if in_motion:
            with offline.session(ob):  # until they are keyed they would bend the body
                return self._made(ob, in_motion)
        added = self._made(ob)
        if (added.goals or added.poles) and commands.moves_by(ob, partial(self._lead, ob, added)):
            added.lead(ob, leads=False)
        return added

    def _made(self, ob: bpy.types.Object, in_motion: bool = False) -> more_controls.Added:
        with live.at_once(ob):
            return more_controls.add(ob, self.controls, in_motion)

    @staticmethod
    def _lead(ob: bpy.types.Object, added: more_controls.Added) -> None:
        added.lead(ob)
        if ob.dqik.live:
            more_controls.settle(ob)

    @staticmethod
    def _key(
        context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], added: more_controls.Added | None,
        frames: range,
    ) -> Generator[float, None, from_animation.Poses]:  # fmt: skip
        """Key the targets of new goals, and new controls, from the motion; if it is stopped, remove them.

        Returns the poses of the motion.
        """
        added = added or more_controls.Added()
        numbers = [*numbers, *added.goals]
        try:
            return (yield from from_animation.key(
                context, ob, from_animation.KeyedControls(numbers, added.poles, added.pivots), frames
            ))  # fmt: skip
        except (GeneratorExit, scene_state.Disturbed, ReferenceError):
            with suppress(ReferenceError):  # the object itself may be gone
                for number in added.poles:
                    ob.dqik.goals[number].pole_target, ob.dqik.goals[number].pole_subtarget = None, ""
                goals.remove(ob, numbers)
                controls.remove(ob, added.poles.values())
            raise

    def _frames(self, ob: bpy.types.Object, scene: bpy.types.Scene) -> range:
        """The frames to key; none if the range ends before it starts."""
        frames = from_animation.frames(ob, scene)
        start, end = self.span(frames[0], frames[-1])
        return range(start, end + 1)

    def _report(
        self, ob: bpy.types.Object, figure: roles.Figure, result: full_body.SetUp, as_bones: bool, frames: range,
        refusal: Note | None, added: more_controls.Added | None, switched: int,
    ) -> Said:
        """Say what was added, and what was not.

        frames : that were keyed. refusal : why none could be. added : further controls. switched : how many
        switches were set to FK.
        """
        count = len(result.new_goals)
        parts = [Note("Added goals for {} bones", count) if count else Note("Added no goals")]
        if result.taken:
            taken = ", ".join(f"{words} {name!r}" for words, name in result.taken.items())
            taken += "".join(f", further limb {name!r}" for name in result.further)
            parts.append(Note("taken for {}", taken))
        if switched:
            parts.append(Note("goals move the FK controls now, and {} switches are set to FK", switched))
        if count and self.targets == "BONES" and not as_bones:
            parts.append(Note("this armature's bones cannot be edited, so their targets are empties"))
        if count and frames:
            parts.append(Note(Code.KEYED_FROM_MOTION, frames[0], frames[-1]))
        if result.old_goals:
            parts.append(Note("{} bones had goals already", len(result.old_goals)))
        connected = goals.is_connected(ob, result.hips)
        if connected:
            parts.append(Note(Code.CANNOT_SLIDE, repr(result.hips)))
        elif result.hips:
            parts.append(Note(Code.STAYS_ON_KEYS if result.keyed_hips else Code.MAY_MOVE, repr(result.hips)))
        if figure.folded:
            parts.insert(0, roles.FOLDED)
        armatures = [one for one in bpy.context.selected_objects if one.type == "ARMATURE" and one != ob]
        if armatures:
            parts.append(Note("of the selected armatures only {}, the active one, was set up: press again with another "
                              "one active", repr(ob.name)))
        if result.missing:
            parts.append(Note(Code.NOT_FOUND, ', '.join(result.missing)))
        if refusal is not None and count:
            parts += [Note(Code.CONTROLS_NOT_KEYED), refusal]
        if self.controls:
            return self._tell_added(ob, added, parts)
        begin = [_begin_posing(ob, figure)] if self._in_window and as_bones and count else []
        if result.missing or figure.folded or armatures or connected or (refusal is not None and count):
            self.tell({"WARNING"}, *parts, *begin)
            return None
        self.tell({"INFO"}, *parts)
        return begin  # a line of its own: Blender shows the last one, and leaves out the middle of long ones

    def _tell_added(self, ob: bpy.types.Object, added: more_controls.Added | None, parts: list[Note]) -> Said:
        """Say which controls were added; None if the armature can have none. parts : what there is to say already."""
        if added is None:
            own, warns = [Note("More controls are bones, and no bone can be added to {}", repr(ob.name))], True
        else:
            own, warns = self._added(added), bool(added.missing)
        own, kind = own or [Note("No control was added: those are there already")], "WARNING" if warns else "INFO"
        if not parts and (added is None or not added.names):
            raise NotDone(kind, *own)
        self.tell({kind}, *parts, *own)

    @staticmethod
    def _added(added: more_controls.Added) -> list[Note]:
        own = [counted(len(added.names), Code.ONE_CONTROL_ADDED, Code.CONTROLS_ADDED)] if added.names else []
        if not added.leads and (added.goals or added.poles):
            own.append(Note("they lead nothing yet, so that the body stays as it is: raise the Influence of their "
                            "goals, or switch Use Pole on, where they should"))
        return own + ([Note(Code.NOT_FOUND, ", ".join(added.missing))] if added.missing else [])


def _begin_posing(ob: bpy.types.Object, figure: roles.Figure) -> Note:
    """Go to Pose Mode and select the control of a hand, or of another part; returns what to do next."""
    if ob.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    own = [goal for goal in ob.dqik.goals if goal.target == ob and selection.is_visible(ob, goal.subtarget)]
    hands = [goal for goal in own if (role := figure.role(ob.pose.bones.find(goal.bone))) and role.name == "hand"]
    for goal in (hands or own)[:1]:
        selection.select_only(ob, goal.subtarget)
        return begin_posing(ob, goal.subtarget)
    return Note(Code.BEGIN_WITH_CONTROLS)
