# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: solved frames as keyframes."""

from collections.abc import Iterator

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .. import live
from ..rig import bake
from ..solvers import DqikError
from .common import GoalsOperator, armature

_BEAT = 0.01  # seconds between the steps of a bake from the panel


class DQIK_OT_bake(GoalsOperator, bpy.types.Operator):
    """Solve a range of frames and key the solved bones. Asks for the range first; Esc stops and changes nothing"""

    bl_idname = "dqik.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    frame_start: IntProperty(name="Start", description="First frame; with End below it, the scene's range is taken",
                             default=0)  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1)
    step: IntProperty(name="Step", description="Frames from key to key", default=1, min=1)
    action: EnumProperty(
        name="Action",
        description="Where the keys go",
        items=[
            ("NEW", "New", "Key a copy of the armature's action; the old one stays in the file"),
            ("CURRENT", "Current", "Key the armature's present action; keys outside the range stay"),
        ],
        default="NEW",
    )
    only_selected: BoolProperty(name="Only Selected Bones", description="Key selected bones only")
    reduce: FloatProperty(
        name="Reduce", description="Leave out keys as long as the motion stays this close to the solved one; "
        "0 keys every frame", default=0.0, min=0.0, soft_max=0.1, precision=4,
    )  # fmt: skip
    clear_goals: BoolProperty(name="Clear Goals", description="Remove the goals afterwards")

    _asked = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: ask for the range and the rest, then bake in steps."""
        del event
        if not (self.properties.is_property_set("frame_start") or self.properties.is_property_set("frame_end")):
            self.frame_start, self.frame_end = context.scene.frame_start, context.scene.frame_end
        self._asked = True
        return context.window_manager.invoke_props_dialog(self, title="Bake", confirm_text="Bake")

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the dialog and in the panel that adjusts the last operation."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        column.prop(self, "step")
        layout.row().prop(self, "action", expand=True)
        layout.prop(self, "reduce")
        column = layout.column(heading="Bones")
        column.enabled = bool(context.selected_pose_bones) or self.only_selected
        column.prop(self, "only_selected", text="Only Selected")
        column = layout.column(heading="Afterwards")
        column.prop(self, "clear_goals")

    def _start(self, context: bpy.types.Context) -> set[str]:
        """Bake a step a beat, with a progress bar, until done or stopped with Esc."""
        self._asked = False
        self._steps = self._run(context)
        self._timer = context.window_manager.event_timer_add(_BEAT, window=context.window)
        context.window_manager.progress_begin(0, 100)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set("Baking: Esc to cancel")
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """One step a beat."""
        if event.type == "ESC":
            self._steps.close()
            self.report({"INFO"}, "Bake stopped; nothing was changed")
            return self._leave(context, {"CANCELLED"})
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            share = next(self._steps)
        except StopIteration as end:
            return self._leave(context, end.value)
        except Exception:
            self._leave(context, {"CANCELLED"})
            raise
        context.window_manager.progress_update(int(100 * share))
        context.workspace.status_text_set(f"Baking: {100 * share:.0f} %, Esc to cancel")
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """From a script: at once. From the dialog: in steps."""
        if self._asked:
            return self._start(context)
        steps = self._run(context)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender stops the operator, on quitting for one, or the dialog was left."""
        if not self._asked:
            self._steps.close()
            self._leave(context, {"CANCELLED"})

    def _leave(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return result

    def _run(self, context: bpy.types.Context) -> Iterator[float]:
        """Read, solve and write; yields the share done and returns the operator's result."""
        scene, ob = context.scene, armature(context)
        start, end = self.frame_start, self.frame_end
        if end < start:
            if (start, end) != (0, -1):
                self.report({"ERROR"}, f"The range ends at frame {end}, before it starts at {start}")
                return {"CANCELLED"}
            start, end = scene.frame_start, scene.frame_end
        if ob.animation_data is not None and ob.animation_data.use_tweak_mode:
            self.report({"ERROR"}, f"Leave the NLA's tweak mode of {ob.name!r} first")
            return {"CANCELLED"}
        frames = list(range(start, end + 1, self.step))
        before, subframe = scene.frame_current, scene.frame_subframe
        inputs, bases, batches = [], [], []
        live.begin_bake(ob)
        try:
            for index, frame in enumerate(frames):
                scene.frame_set(frame)
                rig, given, base = live.bake_frame(ob, context.evaluated_depsgraph_get())
                if base is None or (frame == frames[-1] and given is None and not any(inputs)):
                    self.report({"ERROR"}, str(rig))
                    return {"CANCELLED"}
                inputs.append(given)
                bases.append(base.copy())
                yield 0.6 * (index + 1) / len(frames)
            for batch in bake.solve_inputs(inputs, frames, ob.dqik.start_from == "PREVIOUS"):
                batches.append(batch)
                yield 0.6 + 0.35 * (batch[0] + len(batch[1].iterations)) / len(frames)
            solved = bake.answers(inputs, bases, batches)
            rigs = list({id(given.rig): given.rig for given in inputs if given}.values())
            bones = None
            if self.only_selected:
                bones = frozenset(ob.pose.bones.find(bone.name) for bone in context.selected_pose_bones or ()
                                  if bone.id_data == ob)  # fmt: skip
            keys = bake.write_keys(ob, rigs, frames, solved, bake.Options(self.action, bones, self.reduce))
        except DqikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            live.end_bake(ob)
            scene.frame_set(before, subframe=subframe)
        ob.dqik.live = False
        if self.clear_goals:
            ob.dqik.goals.clear()
        scene.frame_set(before, subframe=subframe)
        missed = sum(int((~batch.converged).sum()) for _, batch in batches)
        self.report({"INFO"}, f"Baked {len(frames)} frames, {keys} keys"
                    + (f"; goals were not all met on {missed} frames" if missed else ""))  # fmt: skip
        return {"FINISHED"}


CLASSES = (DQIK_OT_bake,)
