# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion paths of solved bones."""

import bpy
from bpy.props import EnumProperty

from ...rig.blender import scene_state
from ...rig.clip import motion_paths, seen_motion
from ...rig.controls import selection
from ...rig.notes import Note, listed
from ..common import GoalsOperator, armature


class DQIK_OT_motion_paths(GoalsOperator, bpy.types.Operator):
    """Show where the selected bones go over the scene's frames, as they are solved. Press again after a change"""

    stores = False

    bl_idname = "dqik.motion_paths"
    bl_label = "Motion Paths"
    bl_options = {"REGISTER", "UNDO"}

    ends: EnumProperty(
        name="Of", description="Which ends of the bones",
        items=[("HEADS", "Heads", "Where the bones begin"), ("TAILS", "Tails", "Where the bones end")],
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Let Blender make the paths, and put the solved places into them."""
        ob, scene = armature(context), context.scene
        names = selection.selected(context, ob)
        if not names:
            self.tell({"ERROR"}, Note("In Pose Mode, select the bones whose motion to show"))
            return {"CANCELLED"}
        first, last = scene_state.shown_range(scene)
        settings = ob.pose.animation_visualization.motion_path
        try:
            shown = seen_motion.read(ob, range(first, last + 1), context)
            bones = [ob.pose.bones.find(name) for name in names]
            places = seen_motion.places(list(shown.values()), bones, self.ends == "TAILS")
            settings.frame_start, settings.frame_end = first, last
            bpy.ops.pose.paths_calculate(display_type="RANGE", range="MANUAL", bake_location=self.ends)
        except scene_state.Disturbed as disturbed:
            self.tell({"ERROR"}, disturbed.note)
            return {"CANCELLED"}
        if left := motion_paths.show(ob, names, first, places):
            self.tell({"WARNING"}, Note("Blender made no motion paths for {}", listed([repr(name) for name in left])))
        return {"FINISHED"}


CLASSES = (DQIK_OT_motion_paths,)
