# SPDX-License-Identifier: GPL-3.0-or-later
"""Small rigs for the tests, and what Blender itself says about them: heads, tails and rotations as evaluated.

Nothing here knows how DQIK computes: places are Blender's, angles are worked out from its 4 x 4 matrices.
"""

import importlib
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import cos, radians, sin
from types import ModuleType

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ROTATION_MODES = ("QUATERNION", *EULER_ORDERS, "AXIS_ANGLE")
ROTATION_PATHS = {
    "QUATERNION": "rotation_quaternion",
    "AXIS_ANGLE": "rotation_axis_angle",
    **dict.fromkeys(EULER_ORDERS, "rotation_euler"),
}


@dataclass(frozen=True)
class Bone:
    """A bone in armature space; `roll` in radians, as in Edit Mode."""

    name: str
    head: Sequence[float]
    tail: Sequence[float]
    parent: str = ""
    connected: bool = False
    roll: float = 0.0


def part(name: str) -> ModuleType:
    """A module of the installed extension."""
    return importlib.import_module(f"bl_ext.user_default.dqik.{name}")


def refuses(press: Callable[..., object], words: str, **options: object) -> None:
    """An operator refuses with a sentence that has these words, a pattern."""
    import pytest  # programs that make rigs run without it

    with pytest.raises(RuntimeError, match=words):
        press(**options)


def done(press: Callable[..., object], **options: object) -> bool:
    """Whether an operator did what it is for; else it has refused with a sentence."""
    try:
        press(**options)
    except RuntimeError as error:
        assert "Traceback" not in str(error) and 0 < len(str(error).strip()) < 300
        return False
    return True


def new_file() -> None:
    """An empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


# -- making -----------------------------------------------------------------------------------------------------------


def armature(bones: Iterable[Bone], name: str = "Rig", scene: bpy.types.Scene | None = None) -> bpy.types.Object:
    """An armature object made of bones; it is the active object of its scene."""
    scene = scene or bpy.context.scene
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    scene.collection.objects.link(ob)
    return add(ob, *bones)


def add(ob: bpy.types.Object, *bones: Bone) -> bpy.types.Object:
    """More bones in an armature."""
    with edit_mode(ob) as edited:
        for bone in bones:
            made = edited.new(bone.name)
            made.head, made.tail, made.roll = bone.head, bone.tail, bone.roll
            if bone.parent:
                made.parent, made.use_connect = edited[bone.parent], bone.connected
    return ob


def reshape(ob: bpy.types.Object, way: Callable[[str, Vector], Sequence[float]]) -> bpy.types.Object:
    """Give the ends of bones at rest other places, each by the bone's name and the place that it has."""
    with edit_mode(ob) as bones:
        for bone in bones:
            bone.use_connect = False
        for bone in bones:
            bone.head, bone.tail = way(bone.name, bone.head.copy()), way(bone.name, bone.tail.copy())
    return ob


def with_root(ob: bpy.types.Object, tail: Sequence[float] = (0, 0.5, 0), roll: float = 0.0) -> bpy.types.Object:
    """A figure whose hips hang on a bone on the ground."""
    add(ob, Bone("root", (0, 0, 0), tail, roll=roll))
    with edit_mode(ob) as bones:
        bones["hips"].parent = bones["root"]
    return ob


def made_active(ob: bpy.types.Object) -> bpy.types.Object:
    """`ob` as the only selected and the active object."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob
    return ob


def pose_mode(ob: bpy.types.Object) -> bpy.types.Object:
    """`ob` as the active object, in Pose Mode."""
    made_active(ob)
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def select(ob: bpy.types.Object, *names: str, at: float | None = None) -> None:
    """Select only these bones of an armature, in Pose Mode, at a frame if one is given; the last one is active."""
    if at is not None:
        at_frame(at)
    if bpy.context.object != ob:
        made_active(ob)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    ob.data.bones.active = ob.data.bones[names[-1]] if names else None


def chain(points: Sequence, name: str = "Rig", rolls: Sequence[float] | None = None) -> bpy.types.Object:
    """Connected bones `a`, `b`, `c`, ... from point to point."""
    names = "abcdefghij"
    bones = [
        Bone(names[i], points[i], points[i + 1], names[i - 1] if i else "", True, rolls[i] if rolls else 0.0)
        for i in range(len(points) - 1)
    ]
    return armature(bones, name)


def arm(bend: float = 0.0, name: str = "Rig", rolls: tuple[float, float] = (0.0, 0.0)) -> bpy.types.Object:
    """Two bones of length 1 along +X, `a` and `b`, the second turned by `bend` [rad] towards -Y (an elbow's way)."""
    return chain([(0, 0, 0), (1, 0, 0), (1 + cos(bend), -sin(bend), 0)], name, rolls)


def bent_arm(name: str = "Rig") -> bpy.types.Object:
    """The arm with its elbow 30 degrees bent, which says by itself which way it folds."""
    return arm(radians(30.0), name)


def figure(name: str = "Figure") -> bpy.types.Object:
    """A standing figure 1.8 high, facing -Y: straight arms out along X, straight legs, feet forward, free shoulders."""
    return armature(figure_bones(), name)


def figure_bones() -> list[Bone]:
    """The bones of `figure`."""
    bones = [
        Bone("hips", (0, 0, 1.0), (0, 0, 1.15)), Bone("spine", (0, 0, 1.15), (0, 0, 1.35), "hips", True),
        Bone("chest", (0, 0, 1.35), (0, 0, 1.5), "spine", True), Bone("neck", (0, 0, 1.5), (0, 0, 1.6), "chest", True),
        Bone("head", (0, 0, 1.6), (0, 0, 1.8), "neck", True),
    ]  # fmt: skip
    for side, sign in (("L", 1), ("R", -1)):
        bones += [
            Bone(f"collar.{side}", (sign * 0.03, 0, 1.45), (sign * 0.18, 0, 1.45), "chest"),
            Bone(f"arm.{side}", (sign * 0.18, 0, 1.45), (sign * 0.48, 0, 1.45), f"collar.{side}", True),
            Bone(f"forearm.{side}", (sign * 0.48, 0, 1.45), (sign * 0.76, 0, 1.45), f"arm.{side}", True),
            Bone(f"hand.{side}", (sign * 0.76, 0, 1.45), (sign * 0.92, 0, 1.45), f"forearm.{side}", True),
            Bone(f"thigh.{side}", (sign * 0.1, 0, 0.95), (sign * 0.1, 0, 0.5), "hips"),
            Bone(f"shin.{side}", (sign * 0.1, 0, 0.5), (sign * 0.1, 0, 0.08), f"thigh.{side}", True),
            Bone(f"foot.{side}", (sign * 0.1, 0, 0.08), (sign * 0.1, -0.18, 0.02), f"shin.{side}", True),
        ]
    return bones


FIGURE_ENDS = ("hand.L", "hand.R", "head", "foot.L", "foot.R")


def hand(name: str = "Hand") -> bpy.types.Object:
    """A palm with five fingers of three bones, none of them connected to the palm."""
    bones = [Bone("palm", (0, 0, 0), (0, 0.09, 0))]
    for k, finger in enumerate(("thumb", "index", "middle", "ring", "little")):
        x, above = 0.02 * (k - 2), "palm"
        for part in range(3):
            start, end = 0.09 + 0.03 * part, 0.12 + 0.03 * part
            bones.append(Bone(f"{finger}{part}", (x, start, 0), (x, end, 0), above, part > 0))
            above = f"{finger}{part}"
    return armature(bones, name)


def empty(location: Sequence[float], name: str = "Target") -> bpy.types.Object:
    """An empty, turned by quaternion."""
    ob = bpy.data.objects.new(name, None)
    ob.location, ob.rotation_mode = location, "QUATERNION"
    bpy.context.scene.collection.objects.link(ob)
    return ob


def goal(
    ob: bpy.types.Object, bone: str, target: bpy.types.Object | None, **settings: object
) -> bpy.types.PropertyGroup:
    """A goal of the armature, as the panel would leave it."""
    made = ob.dqik.goals.add()
    put(made, name=bone, bone=bone, target=target, **settings)
    return made


def reach(ob: bpy.types.Object, bone: str, target: bpy.types.Object | None, **settings: object) -> bpy.types.Object:
    """The armature with one goal more, and live."""
    goal(ob, bone, target, **settings)
    return live(ob)


def put(owner: object, **values: object) -> None:
    """Set attributes."""
    for name, value in values.items():
        setattr(owner, name, value)


def blender_ik(ob: bpy.types.Object, bone: str, target: bpy.types.Object, **settings: object) -> bpy.types.Constraint:
    """Blender's own IK on the same bone."""
    made = ob.pose.bones[bone].constraints.new("IK")
    put(made, target=target, **settings)
    return made


def limit(bone: bpy.types.PoseBone, twist: tuple, swing_x: tuple, swing_z: tuple) -> None:
    """Our limits of a bone, in degrees."""
    for part, (lo, hi) in {"twist": twist, "swing_x": swing_x, "swing_z": swing_z}.items():
        setattr(bone, f"dqik_{part}_min", radians(lo))
        setattr(bone, f"dqik_{part}_max", radians(hi))
    bone.dqik_use_limits = True


def key_path(owner: bpy.types.bpy_struct, frames: Iterable[float], values: Iterable, path: str = "location") -> None:
    """Keys of a property of an object, a bone or a goal, one a frame."""
    for frame, value in zip(frames, values, strict=True):
        keyed(owner, frame, **{path: value})


def keyed(owner: bpy.types.bpy_struct, frame: float, **values: object) -> None:
    """Set properties of an object, a bone or a goal, and key them on a frame."""
    put(owner, **values)
    for path in values:
        owner.keyframe_insert(path, frame=frame)


def interpolate(ob: bpy.types.ID, kind: str) -> None:
    """Set how all curves of an object's action go from key to key."""
    for curve in fcurves(ob):
        for point in curve.keyframe_points:
            point.interpolation = kind
        curve.update()


def key(owner: bpy.types.Object | bpy.types.PoseBone, frame: float | None = None, **settings: object) -> None:
    """Key place and rotation of an object or a bone, by default at the present frame, as the key I does."""
    at = settings if frame is None else {"frame": frame, **settings}
    for path in ("location", ROTATION_PATHS[owner.rotation_mode]):
        owner.keyframe_insert(path, **at)


def paste_mirrored(ob: bpy.types.Object, *execution: object, at: float | None = None) -> None:
    """Copy the pose of all bones and paste it flipped, on another frame if one is given."""
    select(ob, *ob.pose.bones.keys())
    bpy.ops.pose.copy()
    if at is not None:
        at_frame(at)
    bpy.ops.pose.paste(*execution, flipped=True)
    update()


@contextmanager
def edit_mode(ob: bpy.types.Object) -> Generator[bpy.types.ArmatureEditBones]:
    """An armature's edit bones, in Edit Mode meanwhile, and in Object Mode then."""
    made_active(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    yield ob.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def live(ob: bpy.types.Object, on: bool = True, at: float | None = None) -> bpy.types.Object:
    """Switch live solving on or off, and let Blender update, or go to a frame."""
    ob.dqik.live = on
    update() if at is None else at_frame(at)
    return ob


def set_up(ob: bpy.types.Object, on: bool = True, **settings: object) -> bpy.types.Object:
    """Set Up Full Body on the active armature, and live solving on or off."""
    assert bpy.ops.dqik.setup_full_body(**settings) == {"FINISHED"}
    return live(ob, on)


def child(ob: bpy.types.Object, parent: bpy.types.Object, bone: str = "") -> bpy.types.Object:
    """Hang an object on another one, or on a bone's tail."""
    ob.parent = parent
    if bone:
        put(ob, parent_type="BONE", parent_bone=bone)
    return ob


def constrain(
    owner: bpy.types.Object | bpy.types.PoseBone, kind: str, target: bpy.types.Object | None = None, **settings: object
) -> bpy.types.Constraint:
    """A new constraint of an object or a bone."""
    made = owner.constraints.new(kind)
    put(made, **({"target": target} if target is not None else {}), **settings)
    return made


def couple(
    ob: bpy.types.Object, bone: str, leader: str, axis: str = "X", leader_axis: str = "X", **settings: object
) -> bpy.types.PropertyGroup:
    """A coupling of two bones."""
    made = ob.dqik.couplings.add()
    put(made, bone=bone, leader=leader, axis=axis, leader_axis=leader_axis, **settings)
    return made


def mirror_goals(ob: bpy.types.Object) -> None:
    """Give the other side of an armature its goals."""
    pose_mode(ob)
    assert bpy.ops.dqik.goals_mirror() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")


def drive(owner: bpy.types.bpy_struct, path: str, expression: str, index: int | None = None) -> bpy.types.Driver:
    """Drive a number by an expression."""
    driver = owner.driver_add(path, *(() if index is None else (index,))).driver
    put(driver, type="SCRIPTED", expression=expression)
    return driver


def drive_by(owner: bpy.types.bpy_struct, path: str, index: int, ob: bpy.types.Object, bone: str, channel: str) -> None:
    """Drive a number by a channel of an object or a bone, in world space."""
    driver = owner.driver_add(path, index).driver
    variable = driver.variables.new()
    variable.type, driver.type = "TRANSFORMS", "AVERAGE"
    put(variable.targets[0], id=ob, bone_target=bone, transform_type=channel, transform_space="WORLD_SPACE")


def mesh(
    points: Iterable[Sequence[float]] = ((0, 0, 0), (1, 0, 0), (0, 1, 0)), faces: Iterable[Sequence[int]] = (),
    name: str = "Mesh",
) -> bpy.types.Object:  # fmt: skip
    """A mesh object in the scene."""
    made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    made.data.from_pydata(list(points), [], list(faces))
    bpy.context.scene.collection.objects.link(made)
    return made


def skin(ob: bpy.types.Object, made: bpy.types.Object, *bones: str) -> bpy.types.Object:
    """Have bones of an armature deform a mesh, each all of it."""
    for bone in bones:
        made.vertex_groups.new(name=bone).add(range(len(made.data.vertices)), 1.0, "REPLACE")
    made.modifiers.new("Armature", "ARMATURE").object = ob
    return made


def posed(bone: bpy.types.PoseBone, q: Quaternion, keyed_at: float | None = None) -> None:
    """Turn a bone by a quaternion, through the channels of its own rotation mode, and key them if on a frame."""
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = q
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = q.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = q.to_euler(bone.rotation_mode)
    if keyed_at is not None:
        bone.keyframe_insert(ROTATION_PATHS[bone.rotation_mode], frame=keyed_at)


def rotate_by(ob: bpy.types.Object, mode: str) -> None:
    """Give all bones a rotation mode."""
    for bone in ob.pose.bones:
        bone.rotation_mode = mode


def pose(ob: bpy.types.Object, bone: str, q: Quaternion) -> None:
    """Turn a bone by hand, and let Blender update."""
    posed(ob.pose.bones[bone], q)
    update()


# -- asking Blender ---------------------------------------------------------------------------------------------------


def update() -> None:
    """What Blender does after every edit."""
    bpy.context.view_layer.update()


def at_frame(frame: float) -> None:
    """Go to a frame, or between two."""
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)


def visited(frames: Iterable[float]) -> Generator[float]:
    """Goes to frames in turn, and gives each while Blender shows it."""
    for frame in frames:
        at_frame(frame)
        yield frame


def visit(frames: Iterable[float]) -> None:
    """Go to frames in turn."""
    for frame in frames:
        at_frame(frame)


def evaluated(ob: bpy.types.Object) -> bpy.types.Object:
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())


def head(ob: bpy.types.Object, bone: str) -> Vector:
    """World position of a bone's head."""
    shown = evaluated(ob)
    return shown.matrix_world @ shown.pose.bones[bone].head


def tail(ob: bpy.types.Object, bone: str) -> Vector:
    """World position of a bone's tail."""
    shown = evaluated(ob)
    return shown.matrix_world @ shown.pose.bones[bone].tail


def world(ob: bpy.types.Object, bone: str = "") -> Matrix:
    """World matrix of a bone, or of an object."""
    shown = evaluated(ob)
    return shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world.copy()


def place(ob: bpy.types.Object) -> Vector:
    """World position of an object."""
    return evaluated(ob).matrix_world.translation.copy()


def miss(ob: bpy.types.Object, bone: str, target: bpy.types.Object) -> float:
    """Distance of a bone's tail from an object."""
    return (tail(ob, bone) - place(target)).length


def local_rotation(ob: bpy.types.Object, bone: str) -> Quaternion:
    """A bone's rotation from rest in its parent's frame, from the evaluated matrices alone."""
    shown = evaluated(ob).pose.bones[bone]
    rest, now = shown.bone.matrix_local.to_quaternion(), shown.matrix.to_quaternion()
    if shown.parent is not None:
        rest = shown.parent.bone.matrix_local.to_quaternion().inverted() @ rest
        now = shown.parent.matrix.to_quaternion().inverted() @ now
    q = (rest.inverted() @ now).normalized()
    return -q if q.w < 0.0 else q  # the same rotation, its angle the short way


def twist_and_swing(q: Quaternion) -> tuple[float, float, float]:
    """Degrees of twist about Y, then of the swing about X and Z that comes after it: `q = swing @ twist`."""
    twist = Quaternion((q.w, 0.0, q.y, 0.0))
    twist = twist.normalized() if twist.magnitude > 1e-9 else Quaternion()
    axis, angle = (q @ twist.inverted()).to_axis_angle()
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    turn = (2.0 * np.arctan2(twist.y, twist.w) + np.pi) % (2.0 * np.pi) - np.pi
    return tuple(float(np.degrees(part)) for part in (turn, angle * axis.x, angle * axis.z))


def matrices(ob: bpy.types.Object) -> np.ndarray:
    """Evaluated pose matrices (N, 4, 4) of all bones, in armature space."""
    return np.array([bone.matrix for bone in evaluated(ob).pose.bones])


def poses(ob: bpy.types.Object, frames: Iterable[float]) -> dict[float, np.ndarray]:
    """`matrices` by frame, visited in this order."""
    return {frame: matrices(ob) for frame in visited(frames)}


def shown(ob: bpy.types.Object, frames: Iterable[float]) -> np.ndarray:
    """`matrices` (F, N, 4, 4) on frames, visited in this order."""
    return np.array([matrices(ob) for _ in visited(frames)])


def finite(ob: bpy.types.Object) -> bool:
    """Whether all channels and evaluated matrices are numbers."""
    return bool(np.isfinite(channels(ob)).all() and np.isfinite(matrices(ob)).all())


def roles(ob: bpy.types.Object) -> dict[str, tuple[str, str]]:
    """The part and side for which bones are known, by name; those of loose feet too."""
    figure = part("rig.figure.character").Character.of(ob).figure
    return {ob.pose.bones[bone].name: tuple(role) for bone, role in {**figure.roles, **figure.loose}.items()}


def channels(ob: bpy.types.Object) -> np.ndarray:
    """All channels (N, 14) of the original bones, whatever their mode."""
    return np.array([
        (*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle)
        for bone in ob.pose.bones
    ])  # fmt: skip


def turn(before: np.ndarray, after: np.ndarray) -> float:
    """The largest rotation [rad] between matrices (..., 3 or more, 3 or more), of whatever scale.

    From the chord: `|A - B| = 2 sqrt(2) sin(angle / 2)`, which keeps its precision for small angles.
    """
    a, b = (m[..., :3, :3] / np.linalg.norm(m[..., :3, :3], axis=-2, keepdims=True) for m in (before, after))
    chord = np.sqrt(((a - b) ** 2).sum((-2, -1)))
    return float((2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))).max())


def local_turns(before: np.ndarray, after: np.ndarray, parents: Sequence[int]) -> np.ndarray:
    """The rotation [rad] of each bone in its parent's frame between two sets of evaluated matrices (N, 4, 4)."""

    def own(m: np.ndarray, k: int) -> np.ndarray:
        return m[k, :3, :3] if parents[k] < 0 else np.linalg.inv(m[parents[k], :3, :3]) @ m[k, :3, :3]

    return np.array([turn(own(before, k), own(after, k)) for k in range(len(before))])


def parents(ob: bpy.types.Object) -> list[int]:
    names = [bone.name for bone in ob.pose.bones]
    return [-1 if bone.parent is None else names.index(bone.parent.name) for bone in ob.pose.bones]


def elbow_angle(ob: bpy.types.Object, upper: str, lower: str, pole: Vector) -> float:
    """Degrees between the half-planes, about the line from the upper bone's head to the lower one's tail, of the elbow
    and of the pole."""
    root, middle, end = head(ob, upper), head(ob, lower), tail(ob, lower)
    line = (end - root).normalized()
    elbow, toward = middle - root, pole - root
    elbow, toward = elbow - line * elbow.dot(line), toward - line * toward.dot(line)
    return float(np.degrees(np.arctan2(elbow.cross(toward).dot(line), elbow.dot(toward))))


def goal_of(ob: bpy.types.Object, bone: str) -> bpy.types.PropertyGroup:
    """The goal of a bone."""
    return next(goal for goal in ob.dqik.goals if goal.bone == bone)


def owner_of(ob: bpy.types.Object, bone: str) -> bpy.types.PoseBone | bpy.types.Object:
    """What a bone's goal follows: its control, or an object."""
    return follows(goal_of(ob, bone))


def follows(made: bpy.types.PropertyGroup) -> bpy.types.PoseBone | bpy.types.Object | None:
    """What a goal follows: a bone, which may be gone, or an object."""
    if made.target is None or not made.subtarget:
        return made.target
    return made.target.pose.bones.get(made.subtarget)


def message(ob: bpy.types.Object) -> str:
    return ob.dqik.status.message


def rotation(axis: Sequence[float], degrees: float) -> Quaternion:
    return Quaternion(Vector(axis).normalized(), radians(degrees))


def facing(kind: int) -> Matrix:
    """Some orientations of a rig in its scene: as made, turned, and lying in none of the planes."""
    turns = (Quaternion(), rotation((0, 0, 1), 90), rotation((1, 0, 0), 90), rotation((1, 2, 3), 77))
    return turns[kind].to_matrix().to_4x4()


def fcurves(ob: bpy.types.ID) -> list[bpy.types.FCurve]:
    """The F-curves of an object's action, as Blender has them in this version."""
    data = ob.animation_data
    if data is None or data.action is None:
        return []
    if bpy.app.version < (4, 4, 0):
        return list(data.action.fcurves)
    bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags if bag.slot == data.action_slot for curve in bag.fcurves]


def keys(ob: bpy.types.ID) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """Frame and value of every key of an object, by channel."""
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in fcurves(ob)
    }


def channel_rotation(bone: bpy.types.PoseBone) -> Quaternion:
    """What the channels of a bone's own rotation mode say."""
    if bone.rotation_mode == "QUATERNION":
        return bone.rotation_quaternion.normalized()
    if bone.rotation_mode == "AXIS_ANGLE":
        angle, *axis = bone.rotation_axis_angle
        return Quaternion(axis, angle)
    return bone.rotation_euler.to_quaternion()
