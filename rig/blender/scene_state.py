# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a scene, and unkeyed edits of the user that are kept while other frames are visited."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

import bpy

_TRANSFORM = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def times(scene: bpy.types.Scene, frames: Iterable[int]) -> list[float]:
    """The times at which a scene's frames evaluate keys: Time Stretching makes these other numbers."""
    return [frame * scene.render.frame_map_old / scene.render.frame_map_new for frame in frames]


def visit(scene: bpy.types.Scene, frame: float) -> None:
    """Set a scene's frame and subframe. `frame_set` takes no negative subframe, but Blender has them before frame 0."""
    whole, part = divmod(frame, 1.0)
    scene.frame_set(int(whole), subframe=part)


@contextmanager
def restored(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, pose_of: bpy.types.Object) -> Generator[None]:
    """Restore the scene's frame and the transforms of its objects and bones at the end.

    The bones of live armatures are left to their solver, except those of `pose_of`.
    """
    frame = scene.frame_current + scene.frame_subframe
    before = dict(_transforms(scene, pose_of))
    try:
        yield
    finally:
        visit(scene, frame)
        objects = {ob.session_uid: ob for ob in scene.objects}
        for (uid, bone), values in before.items():
            ob = objects.get(uid)
            owner = ob if ob is None or bone is None else ob.pose.bones.get(bone)
            if owner is None or values == _transform(owner):
                continue
            for path, value in zip(_TRANSFORM, values, strict=True):
                setattr(owner, path, value)
            ob.update_tag(refresh={"OBJECT", "DATA"} if ob.type == "ARMATURE" else {"OBJECT"})
        view_layer.update()


def _transforms(
    scene: bpy.types.Scene, pose_of: bpy.types.Object
) -> Iterator[tuple[tuple[int, str | None], tuple[tuple[float, ...], ...]]]:
    """The transform channels of objects that are not linked, and of their bones, by object and bone."""
    for ob in scene.objects:
        if ob.library is not None:
            continue
        yield (ob.session_uid, None), _transform(ob)
        if ob.pose is not None and (ob == pose_of or not ob.dqik.live):
            yield from (((ob.session_uid, bone.name), _transform(bone)) for bone in ob.pose.bones)


def _transform(owner: bpy.types.Object | bpy.types.PoseBone) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(getattr(owner, path)) for path in _TRANSFORM)
