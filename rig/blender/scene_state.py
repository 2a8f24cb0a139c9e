# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a scene, and unkeyed edits of the user that are kept while other frames are visited."""

from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress

import bpy

from ..notes import Code, Note
from .dependencies import aims_of

TRANSFORM = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")

_SAME_FRAME = 1e-4  # subframes are single precision

Transform = tuple[tuple[float, ...], ...]
"""The values of the transform channels of an object or a bone."""

STEPPING = frozenset({"CLOTH", "SOFT_BODY", "COLLISION", "PARTICLE_SYSTEM", "DYNAMIC_PAINT", "FLUID", "SURFACE"})
"""Modifiers that step with the frames. Simulation zones of geometry nodes step again after a change by themselves."""

_PLAIN = frozenset({"ARMATURE", "EMPTY", "CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER", "LATTICE"})
"""Types of objects whose shape costs no time."""


def times(scene: bpy.types.Scene, frames: Iterable[int]) -> list[float]:
    """The times at which a scene's frames evaluate keys: Time Stretching makes these other numbers."""
    return [frame * scene.render.frame_map_old / scene.render.frame_map_new for frame in frames]


def rate(scene: bpy.types.Scene) -> float:
    """How many frames a scene plays in a second."""
    return scene.render.fps / scene.render.fps_base


def shown_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """The first and the last frame that the timeline plays: the scene's, or those of the preview range."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def visit(scene: bpy.types.Scene, frame: float) -> None:
    """Set a scene's frame and subframe. `frame_set` takes no negative subframe, but Blender has them before frame 0."""
    whole, part = divmod(frame, 1.0)
    scene.frame_set(int(whole), subframe=part)


def look_again(scene: bpy.types.Scene) -> None:
    """Evaluate the present frame with its new keys, so that its old pose does not count as posed by hand."""
    visit(scene, scene.frame_current + scene.frame_subframe)


class Disturbed(Exception):
    """What a handler or a script has removed or changed while frames were visited, as a `note`."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note


class Visits:
    """Visits frames, and notices if a handler or a script removes or changes meanwhile what they are read from.

    Replaced targets and keys are no disturbance: scripts may set these for each frame.
    """

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, ob: bpy.types.Object) -> None:
        """`ob` : the armature, or another object, that is read."""
        self._scene, self._layer, self._ob = scene, view_layer.as_pointer(), ob
        self._shown = _shows(view_layer, ob)
        self._data, self._bones = ob.data, _bones(ob)
        aims = [aim for aim, _ in aims_of(ob)]
        owners = (owner.animation_data for owner in (ob, *aims))
        actions = [data.action for data in owners if data is not None and data.action is not None]
        things = (scene, ob, ob.data, *aims, *actions)
        self.left = set[tuple[int, str | None]]()  # objects and bones that are not put back
        self._needed = [(thing, thing.name, thing.session_uid) for thing in things if thing is not None]

    def visit(self, frame: float) -> bpy.types.Depsgraph:
        """Set the scene's frame; returns what evaluates it. Raises `Disturbed` if what is read is not as before."""
        visit(self._scene, frame)
        self.check()
        if abs(self._scene.frame_current + self._scene.frame_subframe - frame) > _SAME_FRAME:
            raise Disturbed(Note("another frame was set meanwhile"))
        return bpy.context.evaluated_depsgraph_get()

    def leave(self, ob: bpy.types.Object, bone: str | None) -> None:
        """Leave an object or its bone as its keys, which have changed, have it in the end.

        Put back to where the old keys had it, Live would take it for posed by hand.
        """
        self.left.add((ob.session_uid, bone))

    def check(self) -> None:
        """Raise `Disturbed` if what is read is not as before."""
        for thing, name, uid in self._needed:
            if not _exists(thing):
                kinds = (bpy.data.scenes, bpy.data.objects, bpy.data.armatures, bpy.data.actions)
                undone = any(one.session_uid == uid for kind in kinds for one in kind)
                raise Disturbed(Note("undo was called meanwhile") if undone else Note(Code.REMOVED, repr(name)))
        layer, ob = _layer(self._scene, self._layer), self._ob
        if layer is None:
            raise Disturbed(Note("the view layer was removed meanwhile"))
        if _shows(layer, ob) != self._shown:
            raise Disturbed(Note(Code.REMOVED, repr(ob.name)))
        if ob.mode == "EDIT" or ob.data != self._data or _bones(ob) != self._bones:
            raise Disturbed(Note("the bones of {} were edited meanwhile", repr(ob.name)))


def _bones(ob: bpy.types.Object) -> list[str]:
    return ob.data.bones.keys() if ob.type == "ARMATURE" else []


def _exists(thing: bpy.types.ID) -> bool:
    """Whether a data-block was not removed."""
    try:
        return bool(thing.session_uid)
    except ReferenceError:
        return False


def _shows(layer: bpy.types.ViewLayer, ob: bpy.types.Object) -> bool:
    return layer.objects.get(ob.name) is not None


def _layer(scene: bpy.types.Scene, pointer: int) -> bpy.types.ViewLayer | None:
    """The view layer at an address, which is safe to ask for after it was removed."""
    return next((layer for layer in scene.view_layers if layer.as_pointer() == pointer), None)


@contextmanager
def restored(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, pose_of: bpy.types.Object,
    seen: Collection[bpy.types.Object | None] = (), unsolved: Collection[bpy.types.Object] = (),
) -> Generator[Visits]:  # fmt: skip
    """Restore the scene's frame and the transforms of its objects and bones at the end, as far as these exist.

    The bones of live armatures are left to their solver, except those of `pose_of` and of `unsolved` ones. Meanwhile
    shapes that nothing depends on are hidden. seen : objects whose shapes are read. Raises `Disturbed` if what the
    frames are read from was removed or changed.
    """
    uid, layer = scene.session_uid, view_layer.as_pointer()
    frame = scene.frame_current + scene.frame_subframe
    before = dict(_transforms(scene, {pose_of, *unsolved}))
    visits = Visits(scene, view_layer, pose_of)
    try:
        with _shapes_hidden(view_layer, [pose_of, *seen]):
            yield visits
    except ReferenceError:
        visits.check()
        raise Disturbed(Note(Code.OBJECT_REMOVED)) from None
    finally:
        there = next((one for one in bpy.data.scenes if one.session_uid == uid), None)
        if there is not None:
            _restore(there, frame, {key: values for key, values in before.items() if key not in visits.left})
            (_layer(there, layer) or there.view_layers[0]).update()
    visits.check()


@contextmanager
def _shapes_hidden(layer: bpy.types.ViewLayer, seen: Collection[bpy.types.Object | None]) -> Generator[None]:
    """Hide deformed shapes, so that Blender evaluates those only on which something else depends.

    What moves by itself from frame to frame, goals' targets and what figures stand on or avoid stay shown.
    """
    kept = {*seen, *(aim for ob in layer.objects if ob.type == "ARMATURE" for aim, _ in aims_of(ob))}
    hidden = [ob for ob in layer.objects if not ob.hide_viewport and ob not in kept and _is_shaped_anew(ob)]
    selected = [ob for ob in hidden if ob.select_get(view_layer=layer)]
    for ob in hidden:
        ob.hide_viewport = True
    try:
        yield
    finally:
        for ob in hidden:
            with suppress(ReferenceError):  # it was removed
                ob.hide_viewport = False
        if selected:
            layer.update()  # what was hidden is not selected until Blender has it back
        for ob in selected:
            with suppress(ReferenceError, RuntimeError):  # it was removed, or left the view layer
                ob.select_set(True, view_layer=layer)


def _is_shaped_anew(ob: bpy.types.Object) -> bool:
    """Whether an object's shape may cost time on each frame, and comes from the present frame only."""
    if ob.type in _PLAIN or ob.rigid_body is not None or (ob.field is not None and ob.field.type != "NONE"):
        return False
    keyed = getattr(ob.data, "shape_keys", None) is not None
    return (keyed or bool(ob.modifiers)) and all(modifier.type not in STEPPING for modifier in ob.modifiers)


def _restore(scene: bpy.types.Scene, frame: float, before: dict[tuple[int, str | None], Transform]) -> None:
    """Set a scene's frame, and the transforms of the objects and bones that exist."""
    visit(scene, frame)
    objects = {ob.session_uid: ob for ob in scene.objects}
    for (uid, bone), values in before.items():
        ob = objects.get(uid)
        owner = ob if ob is None or bone is None else ob.pose and ob.pose.bones.get(bone)
        if owner is None or values == transform(owner):
            continue
        set_transform(owner, values)
        ob.update_tag(refresh={"OBJECT", "DATA"} if ob.type == "ARMATURE" else {"OBJECT"})


def _transforms(
    scene: bpy.types.Scene, pose_of: Collection[bpy.types.Object]
) -> Iterator[tuple[tuple[int, str | None], Transform]]:
    """The transform channels of objects that are not linked, and of their bones, by object and bone.

    pose_of : armatures whose bones are put back though they are live.
    """
    for ob in scene.objects:
        if ob.library is not None:
            continue
        yield (ob.session_uid, None), transform(ob)
        if ob.pose is not None and (ob in pose_of or not ob.dqik.live):
            yield from (((ob.session_uid, bone.name), transform(bone)) for bone in ob.pose.bones)


def set_transform(owner: bpy.types.Object | bpy.types.PoseBone, values: Transform) -> None:
    """Set the transform channels of an object or a bone."""
    for path, value in zip(TRANSFORM, values, strict=True):
        setattr(owner, path, value)


def transform(owner: bpy.types.Object | bpy.types.PoseBone) -> Transform:
    """The transform channels of an object or a bone."""
    return tuple(tuple(getattr(owner, path)) for path in TRANSFORM)
