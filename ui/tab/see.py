# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what is shown of a motion: ghosts, arcs and motion paths."""

import bpy

from ...operators.common import armature
from ...rig.clip import seen_motion
from .common import ArmatureSidebar, paragraph, settled


class DQIK_PT_see_motion(ArmatureSidebar, bpy.types.Panel):
    """What 3D views show of the frames around the present one"""

    bl_label = "See Motion"
    bl_parent_id = "DQIK_PT_motion"
    on_goals, in_pose_mode = True, True

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        layout, settings = settled(context, self.layout), ob.dqik
        layout.prop(settings, "ghosts")
        if settings.ghosts:
            layout.row().prop(settings, "ghosts_of")
            column = layout.column(align=True)
            for name in ("before", "after", "step"):
                column.prop(settings, f"ghosts_{name}")
        layout.prop(settings, "arcs")
        if seen_motion.is_asked(ob):
            _state(context, layout, ob)
        layout.operator("dqik.motion_paths")


def _state(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Whether what is shown is up to date, with a button that reads the motion."""
    known = seen_motion.known(ob)
    if known.failed:
        paragraph(context, layout, "Another add-on or a script changes the frames while they are read", "ERROR")
    elif known.is_old:
        paragraph(context, layout, "The motion has changed", "INFO")
    elif not seen_motion.missing(ob, context.scene)[0]:
        return
    layout.operator("dqik.see_motion", icon="FILE_REFRESH")
