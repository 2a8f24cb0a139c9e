# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirroring goals, limits and couplings from one side of the body to the other."""

import bpy
from bpy.props import EnumProperty

from ...rig.controls import controls, mirror
from ...rig.notes import Note
from ..common import NotDone, Said, Tool
from .limits import LimitsTool


class MirrorTool(Tool):
    """A tool that copies from one side to the other, by the names or the roles of the bones."""

    direction: EnumProperty(
        name="Direction",
        description="The side to copy from and the side to copy to",
        items=[
            (mirror.LEFT, "Left to Right", "Copy what the left side has to the right side"),
            (mirror.RIGHT, "Right to Left", "Copy what the right side has to the left side"),
        ],
        default=mirror.LEFT,
    )

    def _said(self, things: Note, count: int, left: list[str]) -> Said:
        if not count:
            raise NotDone("WARNING", Note("There are no {} to mirror, or no bones named as the other side", things))
        mirrored = Note("Mirrored the {} of {} bones", things, count)
        if not left:
            return mirrored
        self.tell({"WARNING"}, mirrored, Note("without a mirror image: {}", ", ".join(map(repr, left))))
        return None


class DQIK_OT_goals_mirror(MirrorTool, bpy.types.Operator):
    """Copy the goals of one side of the body to the other, by the names or the roles of the bones"""

    bl_label = "Mirror Goals"
    on_goals = True

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        return self._said(Note("goals"), *mirror.mirror_goals(ob, self.direction, controls.can_add(ob)))


class DQIK_OT_limits_mirror(MirrorTool, LimitsTool, bpy.types.Operator):
    """Copy limits, stiffness, stretch, gains, locks and preferred bends of one side of the body to the other"""

    bl_label = "Mirror Limits"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        return self._said(Note("limits"), *mirror.mirror_limits(ob, self._bones(context), self.direction))


class DQIK_OT_couplings_mirror(MirrorTool, bpy.types.Operator):
    """Copy the couplings of one side of the body to the other, by the names or the roles of the bones"""

    bl_label = "Mirror Couplings"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        return self._said(Note("couplings"), *mirror.mirror_couplings(ob, self.direction))
