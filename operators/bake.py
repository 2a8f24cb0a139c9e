# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: solved frames as keyframes."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import live
from ..rig import bake
from ..solvers import DqikError
from .common import armature
from .frames import FramesOperator, Steps, read_frames, shares


class DQIK_OT_bake(FramesOperator, bpy.types.Operator):
    """Solve a range of frames and key the solved bones. Asks for the range first; Esc stops and changes nothing"""

    bl_idname = "dqik.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

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

    doing = "Baking"
    stopped = "Bake stopped; nothing was changed"

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the dialog and in the panel that adjusts the last operation."""
        self.draw_range()
        layout = self.layout
        layout.row().prop(self, "action", expand=True)
        layout.prop(self, "reduce")
        column = layout.column(heading="Bones")
        column.enabled = bool(context.selected_pose_bones) or self.only_selected
        column.prop(self, "only_selected", text="Only Selected")
        column = layout.column(heading="Afterwards")
        column.prop(self, "clear_goals")

    def _run(self, context: bpy.types.Context) -> Steps:
        """Read, solve and write."""
        scene, ob = context.scene, armature(context)
        frames = self._frames(scene)
        if not frames:
            return {"CANCELLED"}
        if ob.animation_data is not None and ob.animation_data.use_tweak_mode:
            self.report({"ERROR"}, f"Leave the NLA's tweak mode of {ob.name!r} first")
            return {"CANCELLED"}
        before, subframe = scene.frame_current, scene.frame_subframe
        batches = []
        live.begin_bake(ob)
        try:
            inputs, bases = yield from shares(read_frames(context, ob, frames), 0.0, 0.6)
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
