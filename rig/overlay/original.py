# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of the motion from which an armature's motion was made, at the present frame. Nothing is set or evaluated.

Of an action, its curves are read: constraints and goals are not in it, and bones without keys are as they are. Of
another figure, the present pose is moved and scaled to this one.
"""

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from .. import curves
from ..blender import bulk, originals, scene_state
from ..blender.places import converted
from ..remembered import Remembered
from .motion import body_bones

_VALUES = dict[tuple[str, int], float]


_lines: Remembered[tuple, np.ndarray] = Remembered(1)  # of an action: a view that only turns reads no curves again


def is_known(ob: bpy.types.Object) -> bool:
    """Whether it is known from what an object's motion was made."""
    return originals.of(ob) is not None or originals.source(ob) is not None


def lines(ob: bpy.types.Object, context: bpy.types.Context) -> np.ndarray:
    """Lines (B, 2, 3) from heads to tails in the world; none if nothing is known."""
    shown, source = ob.evaluated_get(context.evaluated_depsgraph_get()), originals.source(ob)
    action = originals.of(ob)
    if action is not None:
        time = scene_state.times(context.scene, [context.scene.frame_current_final])[0]
        made_from = ob.session_uid, action.session_uid, time, len(ob.pose.bones), np.array(shown.matrix_world).tobytes()
        return _lines.of(made_from, lambda: _of_action(ob, shown, action, time))
    return np.zeros((0, 2, 3)) if source is None else _of_figure(ob, shown, source, context)


def height(ob: bpy.types.Object) -> float:
    """The size of an armature at rest, in world units."""
    heads = bulk.read(ob.data.bones, "head_local", 3)
    return float(np.ptp(heads, axis=0).max()) * max(map(abs, ob.matrix_world.to_scale()))


def _of_action(
    ob: bpy.types.Object, shown: bpy.types.Object, action: bpy.types.Action, time: float
) -> np.ndarray:  # fmt: skip
    values: dict[str, _VALUES] = {}
    for curve in curves.of_action(action, _slot(ob, action)):
        if curve.data_path.startswith('pose.bones["') and not curve.mute:
            name, _, channel = curve.data_path.removeprefix('pose.bones["').rpartition('"].')
            own = values.setdefault(bpy.utils.unescape_identifier(name), {})
            own[channel, curve.array_index] = curve.evaluate(time)
    posed: dict[str, Matrix] = {}
    for bone in shown.pose.bones:
        for one in (*reversed(bone.parent_recursive), bone) if bone.name not in posed else ():
            if one.name not in posed:
                posed[one.name] = _matrix(one, values.get(one.name, {}), posed)
    bones = [shown.pose.bones[number] for number in body_bones(ob)]
    world = shown.matrix_world
    ends = [[world @ (posed[bone.name] @ Vector((0.0, length, 0.0))) for length in (0.0, bone.bone.length)]
            for bone in bones]  # fmt: skip
    return np.array(ends).reshape(-1, 2, 3)


def _slot(ob: bpy.types.Object, action: bpy.types.Action) -> object:
    """The slot of an action for an object: that of the same name as its own, else the first one."""
    own = getattr(ob.animation_data, "action_slot", None)
    slots = list(getattr(action, "slots", ()))
    same = [slot for slot in slots if own is not None and slot.identifier == own.identifier]
    return next(iter(same or slots), None)


def _matrix(bone: bpy.types.PoseBone, values: _VALUES, posed: dict[str, Matrix]) -> Matrix:
    """The matrix of a bone in armature space. posed : those of the bones that it hangs on."""

    def channel(name: str) -> list[float]:
        usual: list[float] = list(getattr(bone, name))
        return [values.get((name, index), value) for index, value in enumerate(usual)]

    mode = bone.rotation_mode
    if mode == "QUATERNION":
        turned = Quaternion(channel("rotation_quaternion")).normalized()
    elif mode == "AXIS_ANGLE":
        angle, *axis = channel("rotation_axis_angle")
        turned = Quaternion(axis, angle)
    else:
        turned = Euler(channel("rotation_euler"), mode).to_quaternion()
    own = Matrix.LocRotScale(channel("location"), turned, channel("scale"))
    return converted(bone.bone, own, bone.parent and posed[bone.parent.name])


def _of_figure(
    ob: bpy.types.Object, shown: bpy.types.Object, source: bpy.types.Object, context: bpy.types.Context
) -> np.ndarray:  # fmt: skip
    """The bones of another figure, as large as this one and where it is."""
    if context.view_layer.objects.get(source.name) is None:
        return np.zeros((0, 2, 3))
    other = source.evaluated_get(context.evaluated_depsgraph_get())
    own, found = _posed(ob, shown), _posed(source, other)
    ratio = height(ob) / max(height(source), 1e-9)
    to, start = (np.append(ends[..., :2].mean((0, 1)), one.matrix_world.translation.z)
                 for ends, one in ((own, shown), (found, other)))  # fmt: skip
    return (found - start) * ratio + to


def _posed(ob: bpy.types.Object, shown: bpy.types.Object) -> np.ndarray:
    """The lines (B, 2, 3) of an evaluated figure in the world."""
    world, body = np.array(shown.matrix_world), body_bones(ob)
    ends = np.stack([bulk.read(shown.pose.bones, end, 3)[body] for end in ("head", "tail")], 1)
    return ends @ world[:3, :3].T + world[:3, 3]
