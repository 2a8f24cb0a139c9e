# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in the 3D view: dragging one changes a limit of the active bone."""

import bpy
import numpy as np
from mathutils import Matrix

from ..operators.common import armature
from ..rig.overlay import handles
from ..rig.skeleton import limits

_COLORS = ((0.85, 0.60, 1.00), (1.00, 0.45, 0.45), (0.45, 0.65, 1.00))  # twist, swing X, swing Z
_SIZE = 0.06
_ENDS = ("min", "max")
_ROUND = 12  # corners around a handle


def _sphere() -> list[tuple[float, float, float]]:
    """The triangles of a sphere of radius 1, as corners."""
    turn = np.linspace(0.0, 2.0 * np.pi, _ROUND + 1)
    rise = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _ROUND // 2 + 1)
    grid = np.array([[(np.cos(t) * np.cos(r), np.sin(t) * np.cos(r), np.sin(r)) for t in turn] for r in rise])
    low, high = grid[:-1], grid[1:]
    quads = (low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:], high[:, :-1])
    return [tuple(corner) for corner in np.stack(quads, 2).reshape(-1, 3).tolist()]


def _bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The active bone if it has limits and handles are shown."""
    overlay, bone = context.window_manager.dqik_overlay, context.active_pose_bone
    shown = overlay.show and overlay.handles and bone is not None and bone.dqik_use_limits
    return bone if shown and bone.id_data == armature(context) else None


class DQIK_GT_limit(bpy.types.Gizmo):
    """A handle of one end of one limit"""

    bl_idname = "DQIK_GT_limit"
    __slots__ = ("before", "end", "part", "shape")

    def setup(self) -> None:
        """Make the shape, which all states share."""
        if not hasattr(self, "shape"):
            self.shape = self.new_custom_shape("TRIS", _sphere())

    def draw(self, context: bpy.types.Context) -> None:
        del context
        self.draw_custom_shape(self.shape)

    def draw_select(self, context: bpy.types.Context, select_id: int) -> None:
        """Draw what the pointer can pick."""
        del context
        self.draw_custom_shape(self.shape, select_id=select_id)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begin to drag."""
        del event
        self.before = getattr(_bone(context), self._name())
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, tweak: set[str]) -> set[str]:
        """Follow the pointer; Ctrl snaps to 5 degrees."""
        bone = _bone(context)
        if bone is None:
            return {"CANCELLED"}
        region, view = context.region, context.region_data
        joint = handles.joint(_evaluated(context, bone))
        pointer = np.array([event.mouse_region_x, event.mouse_region_y], dtype=float)
        value = joint.value_at(self.part, getattr(bone, self._name()), np.array(view.perspective_matrix),
                               np.array([region.width, region.height], dtype=float), pointer)  # fmt: skip
        if "SNAP" in tweak:
            value = float(np.radians(5.0 * np.round(np.degrees(value) / 5.0)))
        other = getattr(bone, self._name(1 - self.end))
        value = min(value, other) if self.end == 0 else max(value, other)
        setattr(bone, self._name(), value)
        context.area.header_text_set(f"{bone.name}: {np.degrees(value):.1f}°")
        return {"RUNNING_MODAL"}

    def exit(self, context: bpy.types.Context, cancel: bool) -> None:
        """Keep the value, or put the old one back."""
        context.area.header_text_set(None)
        bone = _bone(context)
        if cancel and bone is not None:
            setattr(bone, self._name(), self.before)
        elif bone is not None:
            bpy.ops.ed.undo_push(message="Change Limit")

    def _name(self, end: int | None = None) -> str:
        return f"dqik_{limits.PARTS[self.part]}_{_ENDS[self.end if end is None else end]}"


class DQIK_GGT_limits(bpy.types.GizmoGroup):
    """The handles of the active bone's limits"""

    bl_idname = "DQIK_GGT_limits"
    bl_label = "Limits"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "POSE" and _bone(context) is not None

    def setup(self, context: bpy.types.Context) -> None:
        """Make a handle for each end of each limit."""
        del context
        for part, color in enumerate(_COLORS):
            for end in range(len(_ENDS)):
                handle = self.gizmos.new(DQIK_GT_limit.bl_idname)
                handle.part, handle.end = part, end
                handle.color, handle.alpha = color, 0.9
                handle.color_highlight, handle.alpha_highlight = (1.0, 1.0, 1.0), 1.0
                handle.scale_basis = _SIZE

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Put the handles where the limits are."""
        bone = _bone(context)
        if bone is None:
            return
        joint = handles.joint(_evaluated(context, bone))
        for handle in self.gizmos:
            value = (joint.lo, joint.hi)[handle.end][handle.part]
            handle.matrix_basis = Matrix.Translation(joint.places(handle.part, np.array([value]))[0])
            handle.hide = bool(joint.lo[handle.part] == joint.hi[handle.part] == 0.0)


def _evaluated(context: bpy.types.Context, bone: bpy.types.PoseBone) -> bpy.types.PoseBone:
    return bone.id_data.evaluated_get(context.evaluated_depsgraph_get()).pose.bones[bone.name]
