# SPDX-License-Identifier: GPL-3.0-or-later
"""What people's files have beside a plain figure with a plain motion: each as a function that changes a pair of them.

Each takes the source, the other figure and the true roles of both; what is renamed or removed is changed there too.
"""

from collections.abc import Callable
from math import radians

import bpy
from mathutils import Matrix

Truth = dict[str, tuple[str, str] | None]
VARIANTS: dict[str, Callable[[bpy.types.Object, bpy.types.Object, tuple[Truth, Truth]], None]] = {}


def _variant(function: Callable) -> Callable:
    VARIANTS[function.__name__.strip("_").replace("_", " ")] = function
    return function


def _edited(ob: bpy.types.Object):
    for one in bpy.context.view_layer.objects:
        one.select_set(one == ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    return ob.data.edit_bones


def _done() -> None:
    bpy.ops.object.mode_set(mode="OBJECT")


def _bones(truth: Truth, *parts: str) -> list[str]:
    return [bone for bone, role in truth.items() if role is not None and role[0] in parts]


def _hung(ob) -> bpy.types.Object:
    """The empty on which an object hangs from now on."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    ob.parent = parent
    return parent


def _sent(ob) -> None:
    """Have an object go and turn by its keys."""
    for frame, x in ((1, 0.0), (100, 2.0)):
        ob.location.x, ob.rotation_euler.z = x, 0.3 * x
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)


@_variant
def _source_scaled_and_turned(source, _ob, _truths) -> None:
    source.scale, source.rotation_euler, source.location = (0.3,) * 3, (0.0, 0.0, 1.2), (1.0, 2.0, 0.5)


@_variant
def _scaled_and_turned(_source, ob, _truths) -> None:
    ob.scale, ob.rotation_euler, ob.location = (0.01,) * 3, (0.0, 0.0, -2.0), (1.0, 2.0, 0.5)


@_variant
def _lying_object(_source, ob, _truths) -> None:
    """As FBX has figures with Y up: the object turns them, and the bones lie."""
    turn = Matrix.Rotation(radians(90.0), 4, "X")
    ob.data.transform(turn.inverted())
    ob.matrix_world = turn @ ob.matrix_world


@_variant
def _source_lying(source, _ob, _truths) -> None:
    _hung(source).rotation_euler = (0.0, 0.0, 0.7)


@_variant
def _moving_object(_source, ob, _truths) -> None:
    for frame, x in ((1, 0.0), (100, 2.0)):
        ob.location.x = x
        ob.keyframe_insert("location", frame=frame)


@_variant
def _moving_source(source, _ob, _truths) -> None:
    _sent(source)


@_variant
def _moving_parent(_source, ob, _truths) -> None:
    _sent(_hung(ob))


@_variant
def _source_root_carries(source, _ob, truths) -> None:
    """The place of the hips is on a root above them."""
    hips = _bones(truths[0], "hips")[0]
    bones = _edited(source)
    root = bones.new("Carrier")
    root.head, root.tail, root.roll = bones[hips].head, bones[hips].tail, bones[hips].roll
    bones[hips].parent = root
    _done()
    for curve in _curves(source):
        if curve.data_path.endswith("location"):
            curve.data_path = curve.data_path.replace(f'"{hips}"', '"Carrier"')


@_variant
def _root_on_the_ground(_source, ob, truths) -> None:
    hips = _bones(truths[1], "hips")[0]
    bones = _edited(ob)
    top = bones[hips]
    while top.parent is not None:
        top = top.parent
    root = bones.new("Ground")
    root.tail = (0.0, 0.3 * top.length, 0.0)
    top.parent = root
    _done()


@_variant
def _euler(_source, ob, _truths) -> None:
    for number, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = ("XYZ", "ZYX", "YXZ", "AXIS_ANGLE")[number % 4]


@_variant
def _no_inherited_rotation(_source, ob, truths) -> None:
    for name in _bones(truths[1], "head", "arm", "thigh", "hand", "foot"):
        ob.data.bones[name].use_inherit_rotation = False


@_variant
def _source_no_inherited_rotation(source, _ob, truths) -> None:
    for name in _bones(truths[0], "head", "arm", "hand"):
        source.data.bones[name].use_inherit_rotation = False


@_variant
def _world_location(_source, ob, truths) -> None:
    for bone in ob.data.bones:
        bone.use_local_location = False


@_variant
def _connected(_source, ob, truths) -> None:
    bones = _edited(ob)
    for bone in bones:
        if bone.parent is not None and (bone.parent.tail - bone.head).length < 1e-4 * bone.length:
            bone.use_connect = True
    _done()


@_variant
def _left_over_pose(_source, ob, truths) -> None:
    """The figure is posed, with scales and places on bones."""
    for number, bone in enumerate(ob.pose.bones):
        bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", (1.0, 0.1 * (number % 3), 0.1, -0.05)
    for name in _bones(truths[1], "spine", "hips"):
        ob.pose.bones[name].scale, ob.pose.bones[name].location = (1.2,) * 3, (0.1, 0.0, 0.0)


@_variant
def _rests_in_a_pose(_source, ob, truths) -> None:
    """Arms hang, forearms and knees are bent a little, and legs are spread."""
    _rest(ob, truths[1], {"arm": ("Y", 55.0), "forearm": ("Z", -25.0), "thigh": ("Y", -20.0), "shin": ("X", 15.0)})


@_variant
def _rests_with_arms_forward(_source, ob, truths) -> None:
    _rest(ob, truths[1], {"arm": ("Z", -80.0)})


@_variant
def _rests_with_arms_up(_source, ob, truths) -> None:
    _rest(ob, truths[1], {"arm": ("Y", -60.0)})


def _rest(ob: bpy.types.Object, truth: Truth, turns: dict[str, tuple[str, float]]) -> None:
    bones = _edited(ob)
    space = Matrix.Rotation(0.0, 4, "Z")
    left = next(bones[b] for b in _bones(truth, "thigh") if truth[b][1] == "L").head
    right = next(bones[b] for b in _bones(truth, "thigh") if truth[b][1] == "R").head
    facing = 1.0 if left.x > right.x else -1.0
    if abs(left.x - right.x) < abs(left.y - right.y):
        raise ValueError("only for figures that face along Y")
    for part, (axis, degrees) in turns.items():
        for name in _bones(truth, part):
            sign = 1.0 if truth[name][1] == "L" else -1.0
            sign = 1.0 if axis == "X" else sign
            sign *= facing if axis in "XY" else 1.0
            top = bones[name]
            about = Matrix.Translation(top.head) @ Matrix.Rotation(radians(sign * degrees), 4, axis) @ space
            about = about @ Matrix.Translation(-top.head)
            for bone in (top, *top.children_recursive):
                bone.use_connect = False
                bone.matrix = about @ bone.matrix
    _done()


def _remove(ob, truths, names: list[str]) -> None:
    """What hangs on these bones hangs on their parents."""
    bones = _edited(ob)
    for name in names:
        for child in bones[name].children:
            child.use_connect = False
            child.parent = bones[name].parent
        bones.remove(bones[name])
        truths[1].pop(name)
    _done()


def _without(*parts: str) -> Callable:
    return lambda _source, ob, truths: _remove(ob, truths, _bones(truths[1], *parts))


VARIANTS["no neck"] = _without("neck")
VARIANTS["no toes"] = _without("toes")
VARIANTS["no collars"] = _without("collar")
VARIANTS["no head and no hands"] = _without("head", "hand")


@_variant
def _one_spine(_source, ob, truths) -> None:
    """All bones of the spine but the first are removed; what hangs on them hangs on that one."""
    _remove(ob, truths, _bones(truths[1], "spine")[1:])


@_variant
def _tiny_bones(_source, ob, truths) -> None:
    """Between each limb and its parent there is a bone of almost no length."""
    bones = _edited(ob)
    for name in _bones(truths[1], "arm", "thigh", "head", "foot"):
        tiny = bones.new(f"{name}_offset")
        tiny.head, tiny.tail = bones[name].head, bones[name].head + 1e-5 * bones[name].y_axis * bones[name].length
        tiny.parent = bones[name].parent
        bones[name].use_connect = False
        bones[name].parent = tiny
    _done()


@_variant
def _stretched_object(_source, ob, _truths) -> None:
    ob.scale = (1.0, 1.0, 1.3)


@_variant
def _mirrored_object(_source, ob, _truths) -> None:
    ob.scale = (-1.0, 1.0, 1.0)


@_variant
def _scaled_source_bones(source, _ob, truths) -> None:
    """The source's hips are scaled by a key."""
    bone = source.pose.bones[_bones(truths[0], "hips")[0]]
    bone.scale = (0.8,) * 3
    bone.keyframe_insert("scale", frame=1)


def _curves(ob: bpy.types.Object) -> list[bpy.types.FCurve]:
    data = ob.animation_data
    if not hasattr(data, "action_slot"):
        return list(data.action.fcurves)
    return [curve for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags
            for curve in bag.fcurves]  # fmt: skip
