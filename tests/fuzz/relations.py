# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of goals of other kinds, of coupled bones and of bodies, in Blender's evaluated pose."""

from math import pi, radians

import bpy
import numpy as np
import rigs
from goals import active_goals, is_live, obstacles, size, solved_alone, solved_bones
from mathutils import Matrix, Vector
from rigs import evaluated
from vocabulary import BrokenError

AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}
TURNED = 2e-3  # [rad] by which a coupled bone may be off
DEEP = 1e-3  # of the size, by which a body may be deeper in the floor than is reported
ONE_BY_ONE = ("CCD", "FABRIK", "TWO_BONE")  # solvers that refuse what needs more than one joint at a time


def kind_is_met(shape: bpy.types.Object, goal: bpy.types.PropertyGroup, wanted: Matrix) -> None:
    """Raise where a goal of another kind than Reach is reported as met and is not.

    shape : the evaluated armature, evenly scaled. wanted : the target, in the armature's space.
    """
    one, settings = shape.pose.bones[goal.bone], shape.original.dqik
    end, scale = one.tail if goal.use_tail else one.head, abs(shape.matrix_world.determinant()) ** (1.0 / 3.0)
    far = (wanted.translation - end).length
    room = 1.2 * settings.tolerance * size(shape) + 1e-4 * size(shape) + 2e-5 * max(far, shape.location.length / scale)
    asked = goal.distance / scale
    if goal.kind == "LOOK_AT":
        if far < 0.05 * size(shape):
            return
        own = Vector(AXES[goal.axis[-1]]) * (-1.0 if goal.axis.startswith("NEG") else 1.0)
        off = (one.matrix.to_quaternion() @ own).angle(wanted.translation - end)
        room = 1.2 * settings.rotation_tolerance + 2e-3
    elif goal.kind == "DISTANCE":
        side = goal.side if goal.side in ("WITHIN", "BEYOND") else "AT"
        off = {"AT": abs(far - asked), "WITHIN": far - max(asked, 0.0), "BEYOND": asked - far}[side]
    elif goal.kind == "PLANE":
        up = wanted.to_quaternion() @ Vector((0, 0, 1))
        over = up.dot(end - wanted.translation) - asked
        off = -over if goal.side == "ABOVE" else abs(over)
    else:
        return
    if not off <= room:
        raise BrokenError("met", f"{shape.name!r} says that its goals are met; {goal.bone!r} ({goal.kind}) misses by "
                                 f"{off:.3g}, {off / size(shape):.3g} of the size")  # fmt: skip


def angle(one: bpy.types.PoseBone, axis: str) -> float:
    """The twist of a bone's own rotation about Y [rad], or a component of its swing."""
    return radians(rigs.twist_and_swing(rigs.channel_rotation(one))["YXZ".index(axis)])


def couplings_hold(ob: bpy.types.Object) -> None:
    """Bones that goals surely move turn as their exact couplings say."""
    settings = ob.dqik
    solved = is_live(ob) and (settings.status.converged or settings.status.iterations > 0)
    if not solved or settings.status.message or settings.solver in ONE_BY_ONE:
        return
    names = solved_alone(ob)
    for one in settings.couplings:
        if one.stiffness < 1.0 or not {one.bone, one.leader} <= names:
            continue
        bone, leader = ob.pose.bones[one.bone], ob.pose.bones[one.leader]
        if any(tuple(other.dqik_limits_zero) != (1, 0, 0, 0) or tuple(other.dqik_limits_axes) != (1, 0, 0, 0)
               for other in (bone, leader)):  # fmt: skip
            continue
        wanted = one.factor * angle(leader, one.leader_axis) + one.offset
        if abs(wanted) > 3.0 or abs(angle(leader, one.leader_axis)) > 3.0 or _swung_far(bone, leader):
            continue  # near half a turn an angle may be read as one the other way round
        off = (angle(bone, one.axis) - wanted + pi) % (2.0 * pi) - pi
        if abs(off) > TURNED:
            raise BrokenError("coupled", f"{one.bone!r} of {ob.name!r} is {np.degrees(off):.3g} degrees off its "
                                         f"coupling to {one.leader!r}")  # fmt: skip


def _swung_far(*bones: bpy.types.PoseBone) -> bool:
    """Whether a bone's swing is near half a turn, where twist and swing are not determined."""
    return any(np.hypot(angle(one, "X"), angle(one, "Z")) > 3.0 for one in bones)


def floor_holds(ob: bpy.types.Object) -> None:
    """The report of overlaps is a number, and bodies are not deeper in the floor than it says.

    The body of a bone with a typed radius begins at the bone's head.
    """
    settings, status = ob.dqik, ob.dqik.status
    if not 0.0 <= status.overlap < np.inf:
        raise BrokenError("overlap", f"{ob.name!r} reports an overlap of {status.overlap}")
    counts = settings.avoid_self or settings.use_floor or any(one.object for one in settings.avoid)
    if status.overlap and not counts:
        raise BrokenError("overlap", f"{ob.name!r} avoids nothing and reports an overlap of {status.overlap:.3g}")
    if not is_live(ob) or not settings.use_floor or status.message or settings.status.iterations == 0:
        return
    if not any(True for _ in active_goals(ob)) or any(other.hide_viewport for other in obstacles(ob)):
        return
    shape = evaluated(ob)
    place = Matrix() if settings.floor is None else evaluated(settings.floor).matrix_world
    scale = abs(shape.matrix_world.determinant()) ** (1.0 / 3.0)
    if min(map(abs, shape.matrix_world.to_scale())) < 0.999 * max(map(abs, shape.matrix_world.to_scale())):
        return
    normal = place.to_3x3().inverted_safe().transposed() @ Vector((0, 0, 1))
    if normal.length < 1e-6 or scale < 1e-6:
        return
    moved = solved_bones(ob)  # the body of a bone that goals do not move may be anywhere
    for one in ob.pose.bones:
        ours = any(other.name in moved for other in (one, *one.parent_recursive)) and not _on_ground(one)
        if not ours or one.dqik_radius < 1e-3 * size(ob):
            continue
        head = shape.matrix_world @ shape.pose.bones[one.name].head
        height = normal.normalized().dot(head - place.translation) - settings.floor_height
        deep = one.dqik_radius * scale - height - status.overlap * scale
        if deep > DEEP * size(ob) * scale + 1e-5 * head.length:
            raise BrokenError("overlap", f"{one.name!r} of {ob.name!r} is {deep:.3g} deeper in the floor than is said")


def _on_ground(one: bpy.types.PoseBone) -> bool:
    """Whether a bone may be taken for a foot, whose body lies on the ground."""
    return one.dqik_role.startswith(("FOOT", "TOES")) or "foot" in one.name
