# SPDX-License-Identifier: GPL-3.0-or-later
"""Control bones: targets of goals as bones of the same armature, with shapes, colours and a collection of their own.

A control bone rests where the bone of its goal rests, so that mirrored pasting and the pose library work on it. It does
not deform, and has no parent, or the rig's root bone as its parent. It moves along the armature's axes: a foot that is
keyed at one place on the floor, and raised there, does not slide between the keys.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from .. import curves
from ..blender.dependencies import CONTROL_COLLECTION as COLLECTION
from ..blender.dependencies import CONTROL_PREFIX as PREFIX
from ..blender.dependencies import is_control
from ..blender.places import converted
from ..keys import users
from ..notes import Note
from . import control_shapes

BODY = "Body"
MASTER, EYES = PREFIX + "master", PREFIX + "eyes"
"""The controls that are no targets: the parent of all, and that of the eyes."""
_MADE = "dqik_made"  # a custom property that marks the bone collections as made here
_WIDTH = 2.0  # pixels of a shape's lines
PIVOT = " pivot"
LENGTH = 0.05  # of the armature's size: length of a control bone
_ALONG = 0.99  # of the distance between the sides
_COLOURS = {"L": "THEME04", "R": "THEME01", "": "THEME09"}


class Control(NamedTuple):
    """A control bone to make.

    name : without the prefix. bone : whose place at rest it takes. at_tail : at the tail instead of the head.
    parent : name of its parent, a bone or a control before it with the prefix; empty for none. turns : whether it turns
    with the parent. side : "L", "R" or "". shape : of `control_shapes`. size : of the shape, as a fraction of the
    armature's size. head : where it rests in armature space, if that is not the bone's place. shift, normal : of the
    shape in the control's frame: where it is drawn, and where its Y axis points. lock : what stays, "lock_location" or
    "lock_rotation". pivot : the bone as which its pivot stands, empty for the armature; None for no pivot.
    """

    name: str
    bone: str
    at_tail: bool = False
    parent: str = ""
    turns: bool = True
    side: str = ""
    shape: str = control_shapes.BALL
    size: float = 0.06
    head: Vector | None = None
    shift: Vector | None = None
    normal: Vector | None = None
    lock: str = ""
    pivot: str | None = None


def of(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """All control bones of an armature object, also hidden ones."""
    return [bone for bone in ob.pose.bones if is_control(bone.bone)]


def collection(ob: bpy.types.Object) -> bpy.types.BoneCollection | None:
    """The bone collection of an armature's controls."""
    return ob.data.collections_all.get(COLLECTION)


def can_add(ob: bpy.types.Object) -> bool:
    """Whether bones can be added to an armature object: neither it nor its data comes from a library."""
    layer = bpy.context.view_layer
    return (
        ob.library is None and ob.override_library is None and ob.data.library is None
        and ob.data.override_library is None and ob.name in layer.objects and ob.visible_get(view_layer=layer)
    )  # fmt: skip


def add(ob: bpy.types.Object, controls: Sequence[Control], size: float) -> list[str]:
    """Add control bones at rest and return their names. `size` is that of the armature."""
    names, pivots, parents = list[str](), list[str](), dict[str, str]()
    straight = _is_left_along_x(ob)
    with edit_mode(ob) as bones:
        for control in controls:
            pattern, made = bones[control.bone], bones.new(PREFIX + control.name)
            made.head, made.tail, made.roll = pattern.head, pattern.tail, pattern.roll
            made.length = LENGTH * size
            if control.head is not None:
                made.translate(control.head - made.head)
            elif control.at_tail:
                made.translate(pattern.tail - pattern.head)
            parents[PREFIX + control.name] = made.name
            made.parent = bones.get(parents.get(control.parent, control.parent))
            made.use_inherit_rotation = control.turns
            made.use_local_location = not straight
            made.use_deform = made.select = made.select_head = made.select_tail = False
            names.append(made.name)
            if control.pivot is not None:
                pivots.append(add_pivot(bones, made, control.pivot))
    for name, control in zip(names, controls, strict=True):
        show(ob, name, control, size)
    for pivot in pivots:
        hide_pivot(ob, pivot)
    if _body(ob) is None:  # the bones of the body get a collection too, and stay in their own
        body = ob.data.collections.new(BODY)
        body[_MADE] = True
        for bone in ob.data.bones:
            if not is_control(bone):
                body.assign(bone)
    return names


def add_pivot(bones: bpy.types.ArmatureEditBones, own: bpy.types.EditBone, root: str) -> str:
    """Hang a control that turns with no parent on a bone that does not either; returns the name of this.

    It stands as a root does, so that a master can turn it later. root : empty for the axes of the armature.
    """
    made = bones.new(own.name + PIVOT)
    stand_as(made, bones.get(root))
    made.translate(own.head - made.head)
    made.parent, made.use_inherit_rotation = own.parent, False
    own.parent, own.use_inherit_rotation = made, True
    return made.name


def stand_as(made: bpy.types.EditBone, pattern: bpy.types.EditBone | None) -> None:
    """Let a new bone, which does not deform, rest as another one does; as the armature for None."""
    made.use_deform, made.head, made.tail = False, Vector(), Vector((0.0, 1.0, 0.0))
    if pattern is not None:
        made.head, made.tail, made.roll = pattern.head, pattern.tail, pattern.roll


def hide_pivot(ob: bpy.types.Object, name: str) -> None:
    """Put a pivot among the controls, hidden."""
    gather(ob, ob.data.bones[name])
    bone = ob.pose.bones[name]
    (bone if hasattr(bone, "hide") else bone.bone).hide = True  # moved to the pose bone in Blender 5.0


def show(ob: bpy.types.Object, name: str, control: Control, size: float) -> None:
    """Give a new control bone its collection, colour, shape and locks."""
    bone, pose_bone = ob.data.bones[name], ob.pose.bones[name]
    gather(ob, bone)
    bone.color.palette = _COLOURS[control.side]
    pose_bone.custom_shape = control_shapes.shape(control.shape)
    pose_bone.use_custom_shape_bone_size = False
    pose_bone.custom_shape_scale_xyz = (control.size * size,) * 3
    pose_bone.custom_shape_wire_width = _WIDTH
    if control.shift is not None:
        pose_bone.custom_shape_translation = control.shift
    if control.normal is not None:
        pose_bone.custom_shape_rotation_euler = Vector((0, 1, 0)).rotation_difference(control.normal).to_euler()
    pose_bone.lock_scale = (True, True, True)
    if control.lock:
        setattr(pose_bone, control.lock, (True, True, True))
        pose_bone.lock_rotation_w = control.lock == "lock_rotation"


def gather(ob: bpy.types.Object, bone: bpy.types.Bone) -> None:
    """Put a control bone into the collection of the controls, and into no other one."""
    own = collection(ob)
    if own is None:
        own = ob.data.collections.new(COLLECTION)
        own[_MADE] = True
    for other in list(bone.collections):
        other.unassign(bone)
    own.assign(bone)


def _body(ob: bpy.types.Object) -> bpy.types.BoneCollection | None:
    return next((one for one in ob.data.collections_all if _MADE in one and one.name != COLLECTION), None)


def remove(ob: bpy.types.Object, names: Iterable[str]) -> list[Note]:
    """Remove control bones, their curves in the object's action, and the collection and shapes that are not used.

    Returns notes about what stays: bones of another file, and curves that something else plays.
    """
    names = [name for name in names if name in ob.data.bones and ob.data.bones[name].name.startswith(PREFIX)]
    if not names:
        return []
    if ob.data.library is not None or ob.data.override_library is not None:
        return [Note("Kept {} control bones: they belong to another file, so remove them there", len(names))]
    if any(other.data == ob.data and other.mode == "EDIT" for other in bpy.data.objects):
        return [Note("Kept {} control bones: leave Edit Mode and delete them there", len(names))]
    for other in bpy.data.objects:
        for name in names if other.data == ob.data and other.library is None else ():
            if name in other.pose.bones:
                other.pose.bones[name].custom_shape = None
    notes, players = list[Note](), users.players(ob) if curves.has_bones(ob, names) else []
    if players:
        first = players[0]
        clause = Note("{} plays them too", repr(first)) if first else Note("an NLA track plays them too")
        notes = [Note("Kept the curves of {} control bones: {}", len(names), clause)]
    else:
        curves.remove_bones(ob, names)
    with edit_mode(ob) if can_add(ob) else _edit_mode_of_data(ob.data) as bones:
        for name in names:
            bones.remove(bones[name])
    own, body = collection(ob), _body(ob)
    if own is not None and _MADE in own and not own.bones and not own.children:
        own.is_solo = False
        ob.data.collections.remove(own)
        if body is not None and not body.children:
            ob.data.collections.remove(body)
    control_shapes.remove_unused()
    return notes


def place(
    bone: bpy.types.PoseBone, matrix: Matrix, above: Matrix | None, use_rotation: bool = True, use_scale: bool = False
) -> None:  # fmt: skip
    """Pose an original bone so that its head, and if asked its orientation and scale, are those of a matrix.

    matrix : in armature space. above : that of its parent; None if it has none.
    """
    place, turn, size = matrix.decompose()
    basis = converted(bone.bone, Matrix.LocRotScale(place, turn, size if use_scale else None), above, invert=True)
    bone.location = basis.translation
    if use_rotation:
        turn_to(bone, basis)
    if use_scale:
        bone.scale = basis.to_scale()


def move(
    shown: bpy.types.Object, name: str, matrix: Matrix, use_rotation: bool = True, use_scale: bool = False
) -> None:  # fmt: skip
    """Pose a bone as `place`, below where an evaluated armature object has its parent."""
    bone = shown.original.pose.bones[name]
    above = None if bone.parent is None else shown.pose.bones[bone.parent.name].matrix
    place(bone, matrix, above, use_rotation, use_scale)


def turn_to(owner: bpy.types.PoseBone | bpy.types.Object, basis: Matrix) -> None:
    """Set the rotation channels of a bone or an object, in its own rotation mode."""
    turn = basis.to_quaternion()
    if owner.rotation_mode == "QUATERNION":
        turn.make_compatible(owner.rotation_quaternion)
        owner.rotation_quaternion = turn
    elif owner.rotation_mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        owner.rotation_axis_angle = (angle, *axis)
    else:
        owner.rotation_euler = turn.to_euler(owner.rotation_mode, owner.rotation_euler)


def _is_left_along_x(ob: bpy.types.Object) -> bool:
    """Whether the sides lie along the armature's X axis, which a mirrored paste negates; true if there are no sides."""
    bones = ob.data.bones
    ways = [bone.head_local - bones[other].head_local
            for bone in bones if (other := bpy.utils.flip_name(bone.name)) in bones and other != bone.name]  # fmt: skip
    return sum(abs(way.x) for way in ways) >= _ALONG * sum(way.length for way in ways)


@contextmanager
def edit_mode(ob: bpy.types.Object) -> Generator[bpy.types.ArmatureEditBones]:
    """The edit bones of an armature object; the active object and its mode are as before at the end."""
    objects = bpy.context.view_layer.objects
    active = objects.active
    # Blender changes no mode of an object that is disabled in viewports
    mode = "OBJECT" if active is None or active.hide_viewport else active.mode
    if active != ob:
        if mode != "OBJECT":
            _set_mode(active, "OBJECT")
        objects.active = ob
    own_mode = ob.mode
    _set_mode(ob, "EDIT")
    try:
        yield ob.data.edit_bones
    finally:
        _set_mode(ob, own_mode)
        if active != ob:
            objects.active = active
            if mode != "OBJECT":
                _set_mode(active, mode)


def _set_mode(ob: bpy.types.Object, mode: str) -> None:
    """Set the mode of the active object, also where a script runs an operator for another one."""
    with bpy.context.temp_override(object=ob, active_object=ob):
        bpy.ops.object.mode_set(mode=mode)


@contextmanager
def _edit_mode_of_data(armature: bpy.types.Armature) -> Generator[bpy.types.ArmatureEditBones]:
    """The edit bones of an armature whose objects are hidden or in no view layer, by an object made for it."""
    helper = bpy.data.objects.new(armature.name, armature)
    bpy.context.scene.collection.objects.link(helper)
    try:
        with edit_mode(helper) as bones:
            yield bones
    finally:
        bpy.data.objects.remove(helper)
