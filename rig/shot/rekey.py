# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of controls and props that are written anew, so that these keep their places in the world."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import bpy
import numpy as np
from mathutils import Matrix

from .. import curves
from ..blender import rotation, scene_state
from ..blender.dependencies import Bone
from ..blender.places import owner_of, parents_of
from ..controls import controls
from ..frame import offline
from ..keys import attachments, keying
from ..notes import Code, Note, Refused
from . import attachable

NEAR = 1e-3  # frames between keys that count as one

Places = dict[Bone, Matrix]
"""The world matrices that bones and objects should have."""

Place = Callable[[Bone, float, bpy.types.Depsgraph], Matrix]
"""Gives the world matrix that an owner should have at a time, when that is evaluated."""

Span = tuple[float, float]
"""A start and an end."""

Turn = tuple[np.ndarray, np.ndarray]
"""New and old rotation channels (4,) of a key."""


def later(
    spans: Iterable[tuple[Bone, Span]], others: Iterable[tuple[Bone, float]], place: Place, context: bpy.types.Context
) -> dict[float, Places]:  # fmt: skip
    """Where owners belong at the times of their keys, after the start of their spans and before the end.

    others : further times of owners. place : gives their world matrices, at each time when that is visited.
    """
    within = [(owner, time) for owner, (start, end) in spans for time in curves.times(own_curves(owner))
              if start + NEAR < time < end - NEAR]  # fmt: skip
    by_time = dict[float, list[Bone]]()
    for owner, time in dict.fromkeys([*within, *others]):
        by_time.setdefault(time, []).append(owner)
    return visited(by_time, place, context)


def visited(by_time: Mapping[float, Sequence[Bone]], place: Place, context: bpy.types.Context) -> dict[float, Places]:
    """The places of owners at times."""
    found, owners = dict[float, Places](), [owner for some in by_time.values() for owner in some]
    if owners:
        with scene_state.restored(context.scene, context.view_layer, _main(owners)) as visits:
            for time in sorted(by_time):
                depsgraph = visits.visit(_frame(context.scene, time))
                found[time] = {owner: place(owner, time, depsgraph) for owner in by_time[time]}
    return found


def rekey(
    later: Mapping[float, Places], context: bpy.types.Context, insert: Callable[[Bone, float], None] | None = None
) -> None:  # fmt: skip
    """Key owners at places, by time. insert : keys an owner; by default its whole place."""
    context.view_layer.update()
    if not later:
        return
    owners, before = {owner for places in later.values() for owner in places}, dict[Bone, Turn]()
    with _paused(owners), scene_state.restored(context.scene, context.view_layer, _main(owners)) as visits:
        for time in sorted(later):
            visits.visit(_frame(context.scene, time))
            _put(later[time], time, context, before, insert or key)
    follow(owners, context)


def put_now(places: Places, time: float, context: bpy.types.Context) -> None:
    """Move owners to places at the present frame, of that time, and key them."""
    if places:
        with _paused(places):
            context.view_layer.update()
            _put(places, time, context, {}, key)
        follow(places, context)


def own_curves(owner: Bone) -> list[bpy.types.FCurve]:
    """The curves of an owner's location, rotation and scale."""
    return attachments.curves_of(owner_of(*owner))


def times_behind(owner: Bone, time: float) -> list[float]:
    """The times of an owner's keys after a time, also of those that are set aside."""
    return [one for one in curves.times([*own_curves(owner), *_aside_curves(owner)]) if one > time + NEAR]


def set_aside(owner: Bone, start: float, end: float) -> int:
    """Set an owner's keys between two times aside, where they move nothing; returns on how many frames there were some.

    The keys at the start go along, with the handles and values that they have: they have others meanwhile.
    """
    frames, writer = set[float](), curves.Writer(owner[0], owner[0].animation_data.action)
    both = [(curve, curves.Keys.of(curve)) for curve in own_curves(owner)]
    for _, own in both:
        frames.update(own.times[_within(own.times, start, end)].round(3).tolist())
    for curve, own in both if frames else ():
        inside = _within(own.times, start, end)
        moved = own.chosen(inside | (np.abs(own.times - start) <= NEAR))
        path, group = attachments.aside(curve.data_path), curve.group.name if curve.group else ""
        writer.write_keys(path, curve.array_index, group, moved, over=True).mute = True
        own.chosen(~inside).into(curve, stays=True)
    return len(frames)


def take_back(owner: Bone) -> None:
    """Put the keys of an owner that were set aside back, where it is not attached any more.

    Channels without keys at these frames get one there if they would have another value than they had.
    """
    ob, spans = owner[0], [(one.start - 2.0 * NEAR, one.end + 2.0 * NEAR) for one in attachments.of(*owner)]
    both = [(curve, curves.Keys.of(curve)) for curve in _aside_curves(owner)]
    free = [~np.any([_within(own.times, *span) for span in spans] or [np.zeros(len(own.times), dtype=bool)], 0)
            for _, own in both]  # fmt: skip
    if not any(one.any() for one in free):
        return
    writer, times = curves.Writer(ob, ob.animation_data.action), set[float]()
    values = list[tuple[bpy.types.FCurve, str, dict[float, float]]]()
    for (_, own), back in zip(both, free, strict=True):
        times.update(own.times[back].tolist())
    for (curve, own), back in zip(both, free, strict=True):
        path, group = curve.data_path.replace(attachments.SET_ASIDE, ""), curve.group.name if curve.group else ""
        before = {time: curve.evaluate(time) for time in sorted(times)}
        if back.any():
            writer.write_keys(path, curve.array_index, group, own.chosen(back))
        if (there := curves.find(ob, path, curve.array_index)) is not None:
            values.append((there, group, before))
        own.chosen(~back).into(curve, stays=True)
    for curve, group, before in values:
        for time, value in before.items():
            if keying.key_at(curve, time) is None and abs(curve.evaluate(time) - value) > NEAR * NEAR:
                writer.write(curve.data_path, curve.array_index, group, np.array([time]), np.array([value]))
    for path in {curve.data_path for curve, _ in both}:
        if all(curve.is_empty for curve in _aside_curves(owner) if curve.data_path == path):
            curves.remove_path(ob, path)


def _within(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """Whether (K,) times are between two others."""
    return (times > start + NEAR) & (times < end - NEAR)


def drop_repeated(owner: Bone, start: float, time: float) -> None:
    """Remove the keys of an owner at a time if they only repeat the location that it has at a start."""
    own = own_curves(owner)
    pairs = [(keying.key_at(curve, start), keying.key_at(curve, time)) for curve in own
             if curve.data_path.endswith("location")]  # fmt: skip
    if pairs and all(a is not None and b is not None and abs(a.co[1] - b.co[1]) <= NEAR * NEAR for a, b in pairs):
        curves.remove_keys(own, time, time)


def _aside_curves(owner: Bone) -> list[bpy.types.FCurve]:
    """The curves of an owner's keys that are set aside."""
    return curves.keyed(owner[0], {attachments.aside(path) for path in attachments.paths(owner_of(*owner))})


def key(owner: Bone, time: float) -> None:
    """Key the place of an owner; the scale too of an object, which what it is attached to may change."""
    held = owner_of(*owner)
    keying.key(held, time)
    if held == owner[0] or has_scale(owner):
        keying.key_path(held, "scale", time)


def has_scale(owner: Bone) -> bool:
    """Whether the scale of an owner has keys."""
    return any(curve.data_path.endswith("scale") for curve in own_curves(owner))


# -- inside ------------------------------------------------------------------------------------------------------------


def _paused(owners: Iterable[Bone]) -> AbstractContextManager[object]:
    """Live of the figure whose controls are keyed is aside meanwhile: they do not follow what it solves."""
    main = _main(owners)
    return offline.session(main) if main.type == "ARMATURE" else nullcontext()


def follow(owners: Collection[Bone], context: bpy.types.Context) -> None:
    """Show owners as their keys have them; Live, which was aside, follows."""
    if not owners:
        return
    for owner in owners:
        _take_keys(owner, context.scene.frame_current_final)
    for ob in {*(ob for ob, _ in owners), _main(owners)}:
        ob.update_tag(refresh={"OBJECT", "DATA"} if ob.type == "ARMATURE" else {"OBJECT"})
    context.view_layer.update()


def _main(owners: Iterable[Bone]) -> bpy.types.Object:
    """The armature whose control the first owner is, else that owner's object."""
    ob, bone = next(iter(owners))
    goal = attachable.goal_of((ob, bone))
    return ob if goal is None else attachable.figure_of(goal)


def _frame(scene: bpy.types.Scene, time: float) -> float:
    """The frame of a scene at which keys of a time are evaluated."""
    return time * scene.render.frame_map_new / scene.render.frame_map_old


def _put(
    places: Places, time: float, context: bpy.types.Context, before: dict[Bone, Turn],
    insert: Callable[[Bone, float], None],
) -> None:  # fmt: skip
    """Move owners to places in the world, parents first, and key them at a time.

    before : the rotation channels of each at its last key, and those that it had there; so turns go on from key to key.
    """
    for owner in sorted(places, key=lambda one: len(parents_of(*one))):
        (ob, bone), held = owner, owner_of(*owner)
        depsgraph = context.evaluated_depsgraph_get()
        matrix = attachments.before(ob, bone, places[owner], depsgraph)
        if matrix is None:
            raise Refused(Note(Code.PLACE_NOT_OWN, attachable.name_of(owner)))
        old, shown = _channels(held), ob.evaluated_get(depsgraph)
        if bone:
            controls.move(shown, bone, shown.matrix_world.inverted_safe() @ matrix, use_scale=has_scale(owner))
        else:
            held.matrix_world = matrix
        new = rotation.from_quaternion(
            held.rotation_mode, rotation.to_quaternion(held.rotation_mode, _channels(held)),
            _reference(held.rotation_mode, old, before.get(owner)),
        )  # fmt: skip
        setattr(held, rotation.PATHS[held.rotation_mode], new[: rotation.SIZES[held.rotation_mode]])
        before[owner] = new, old
        insert(owner, time)
        ob.update_tag(refresh={"OBJECT"})
        context.view_layer.update()


def _reference(mode: str, old: np.ndarray, last: Turn | None) -> np.ndarray:
    """The channels to which new ones should be near: whole turns between keys stay."""
    if last is None:
        return old
    return last[0] if mode == rotation.QUATERNION else old + last[0] - last[1]


def _channels(held: attachments.Owner) -> np.ndarray:
    """The rotation channels (4,) of a bone or an object."""
    values = getattr(held, rotation.PATHS[held.rotation_mode])
    return np.array([*values, 0.0][:4])


def _take_keys(owner: Bone, time: float) -> None:
    """Set the channels of an owner to what its keys have at a time."""
    held = owner_of(*owner)
    for curve in own_curves(owner):
        getattr(held, curve.data_path.rpartition(".")[2])[curve.array_index] = curve.evaluate(time)
