# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools of a figure's sides, rest pose, eyes and own way to move, and of a file that shows a fault."""

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ...rig.controls import controls, eyes, problem_file, rest_pose, selection
from ...rig.figure import character
from ...rig.figure.short_names import called
from ...rig.frame import learning
from ...rig.frame.sessions import sessions
from ...rig.notes import Code, Note, Refused, counted, listed
from ..common import NotDone, Said, Tool, begin_posing, refuse


class DQIK_OT_swap_sides(Tool, bpy.types.Operator):
    """Take the figure's left for its right and the other way round, where its names or its shape mislead"""

    bl_label = "Swap Sides"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        count = character.swap_sides(ob)
        if not count:
            raise NotDone("WARNING", Note("No bone of {} is known as a part of a left or a right side", repr(ob.name)))
        return Note("Swapped the sides of {} bones", count)


class DQIK_OT_pose_to_rest(Tool, bpy.types.Operator):
    """Make this pose the rest pose and keep the motion, for captures that are folded or lie down at rest"""

    bl_label = "Use Pose as Rest"

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        note = super().unavailable(context, ob)
        return Note("Remove the goals first") if note is None and ob.dqik.goals else note

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        refuse(rest_pose.hindrance(ob), "WARNING")
        return Note("This pose is the rest pose now; the keys of {} bones are counted from it", rest_pose.apply(ob))


class DQIK_OT_eyes_add(Tool, bpy.types.Operator):
    """Give each eye a control to look at, in front of the face, and one control that moves both"""

    bl_label = "Eye Controls"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        refuse(eyes.refusal(ob), "WARNING")
        added = eyes.add(ob)
        parts = [counted(len(added.names), Code.ONE_CONTROL_ADDED, Code.CONTROLS_ADDED)]
        if added.keyed:
            several = "{} stay on their keys: raise the Influence of their goals to move them by their targets"
            words = Code.STAYS_ON_KEYS if len(added.keyed) == 1 else several
            parts.append(Note(words, listed([called(ob, name) for name in added.keyed])))
        parts += [Note(Code.NOT_FOUND, ", ".join(added.missing))] if added.missing else []
        if ob.mode == "POSE":
            chosen = controls.EYES if controls.EYES in added.names else added.names[-1]
            selection.select_only(ob, chosen)
            parts.append(begin_posing(ob, chosen))
        else:
            parts.append(Note(Code.BEGIN_WITH_CONTROLS))
        self.tell({"WARNING"} if added.missing or added.keyed else {"INFO"}, *parts)


class DQIK_OT_learn_from_actions(Tool, bpy.types.Operator):
    """Learn from this character's actions where its elbows, knees, shoulders and spine go. Nothing is moved or keyed"""

    bl_label = "Learn from Actions"
    on_goals = True

    actions: StringProperty(
        name="Actions",
        description="Names of the actions, with commas between them. If empty, all that turn most of the solved bones",
    )

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        names = [part.strip() for part in self.actions.split(",") if part.strip()]
        if self.actions in bpy.data.actions:  # an action may have commas in its name
            names = [self.actions]
        lesson = learning.learn(ob, context.evaluated_depsgraph_get(), names)
        if isinstance(lesson, Note):
            raise Refused(lesson)
        ob.dqik.own_motion = lesson.text
        return Note("Learnt from {} of {}", counted(lesson.frames, Code.ONE_FRAME, Code.FRAMES),
                    ", ".join(map(repr, lesson.actions)))  # fmt: skip


class DQIK_OT_report_problem(Tool, bpy.types.Operator):
    """Write a small file with this figure, its goals, targets and keys, without meshes and names, to show a fault"""

    bl_label = "Report a Problem"
    bl_options = {"REGISTER"}
    stores = False

    filepath: StringProperty(name="File", description="Where the file goes", subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.blend", options={"HIDDEN"})

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        del event
        self.filepath = self.filepath or "dqik problem.blend"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        path = Path(bpy.path.abspath(self.filepath))
        try:
            if not self.filepath or path.is_dir():
                raise Refused(Note("Name a file to write"))
            with sessions.busy:
                objects, bones = problem_file.write(ob, path.with_suffix(".blend"))
        except (OSError, RuntimeError):
            raise Refused(Note("{} cannot be written: choose another place", repr(str(path)))) from None
        return Note("{} has {} objects and {} bones, without meshes and names: look at it before you send it",
                    path.name, objects, bones)
