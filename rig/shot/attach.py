# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaches controls and props to objects and bones from a frame on, and lets them go, so that nothing moves.

On the frame of attaching, the inverse matrix of the new constraint takes in all that changes, so that no channel jumps
and the frames before stay as they are. On the frame of letting go the channels jump by what the constraint has done;
the key of the frame before is held up to there. Later keys keep their place in the world: they are written anew.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf

import bpy
import numpy as np
from mathutils import Matrix

from .. import curves
from ..blender import attachments, keying, rotation, scene_state, splits
from ..blender.attachments import Attachment
from ..blender.dependencies import Bone
from ..blender.places import owner_of, world_matrix
from ..frame import aside
from ..notes import Code, Note, Refused
from ..setup import controls
from . import keys, limb_rotation, ties

_NEAR = 1e-3  # frames between keys that count as one
_SCALED = 1e-5  # relative: more than single precision loses
_ROUNDS = 2  # a limb that a hand's rotation follows again settles a little differently, and carries the hand along

Places = dict[Bone, Matrix]
"""The world matrices that bones and objects should have."""

Place = Callable[[Bone, float, bpy.types.Depsgraph], Matrix]
"""Gives the world matrix that an owner should have at a time, when that is evaluated."""

Turn = tuple[np.ndarray, np.ndarray]
"""New and old rotation channels (4,) of a key."""


def attach(owners: Sequence[Bone], target: Bone, context: bpy.types.Context) -> bool:
    """Attach bones and objects to an object or a bone from the present frame on, until a later attachment begins.

    What was attached to something else is let go there. A target object that was moved beside its keys is keyed where
    it is, with Auto Keying; returns whether it still is beside them. Raises `Refused` if one cannot be attached.
    """
    depsgraph, time = context.evaluated_depsgraph_get(), context.scene.frame_current_final
    _refuse(ties.target_problem(target, depsgraph))
    for owner in owners:
        _refuse(ties.problem(owner, target))
    by = attachments.carrying(*target, depsgraph).inverted_safe()
    inverses = {owner: by @ _fixed(owner, depsgraph) for owner in owners}
    is_beside = not _key_moved(target[0], time, context.scene)
    spans = {owner: (time, _next_start(owner, time)) for owner in owners}
    turning = {owner: _fade_end(owner, time) for owner in owners if limb_rotation.share(ties.goal_of(owner), time)}
    alone = {owner for owner in owners if not _has_keys(owner, time, spans[owner][1])}
    glued = {owner: by @ _requested(owner, time, depsgraph) for owner in turning if owner in alone}

    def place(owner: Bone, at: float, shown: bpy.types.Depsgraph) -> Matrix:
        if owner in glued and at < spans[owner][1] - _NEAR:
            return attachments.carrying(*target, shown) @ glued[owner]
        return _requested(owner, at, shown)

    for owner, (_, end) in spans.items():
        if time + _NEAR < end - 1.0 < inf and owner not in alone:
            _split(owner, end)
    later = _later(spans, turning, place, context)
    for at, places in _later({}, {owner: spans[owner][1] for owner in turning if spans[owner][1] < inf}, place,
                             context).items():  # fmt: skip
        later.setdefault(at, {}).update(places)
    for owner in owners:
        for curve in _curves(owner):
            splits.split(curve, time)
        _key(owner, time)
        for one in attachments.of(*owner):
            if one.acts_at(time):
                attachments.remove(one) if time - one.start < _NEAR else attachments.end(one, time)
        end = spans[owner][1]
        attachments.add(owner_of(*owner), *target, inverses[owner], time, end)
        if end < inf and owner in alone:
            for curve in _curves(owner):
                splits.split(curve, time).interpolation = "CONSTANT"
        goal = ties.goal_of(owner)
        if owner in turning:
            limb_rotation.fade(goal, time, turning[owner], 0.0, end)
            if end < inf:
                limb_rotation.key(goal, end, 0.0)
        elif goal is not None:
            limb_rotation.clear(goal, time, end)
    _rekey(later, context)
    return is_beside


def detach(found: Sequence[Attachment], context: bpy.types.Context) -> None:
    """Let go, at the present frame, what is attached there. Raises `Refused` if one of these cannot be keyed."""
    time = context.scene.frame_current_final
    begun = [one for one in found if time - one.start < _NEAR]
    if begun:
        remove(begun, context)
    found = [one for one in found if one not in begun]
    spans = {(one.ob, one.bone): (time, _reach(one)) for one in found}
    for owner in spans:
        _refuse(ties.problem(owner))
    shares = {owner: limb_rotation.own_share(owner) for owner in spans}
    turning = {owner: _fade_end(owner, time) for owner in spans
               if shares[owner] > 0.0 and _next_start(owner, time) > time + limb_rotation.FRAMES}  # fmt: skip
    standing = {owner: end for owner, end in turning.items() if not _has_keys(owner, time)}
    moving = {owner: end for owner, end in turning.items() if owner not in standing}
    later = _later(spans, moving, _requested, context)
    asked = _later(spans, moving, _asking(later, shares), context)
    depsgraph = context.evaluated_depsgraph_get()
    here = {owner: world_matrix(*owner, depsgraph).copy() for owner in spans}
    for one in found:
        owner = (one.ob, one.bone)
        if _is_scaled(owner, here[owner], depsgraph):
            keying.key_path(owner_of(*owner), "scale", time, one.bone)
        _hold(owner, time)
        attachments.end(one, time)
    _put_now(here, time, context)
    still = _later({}, standing, _requested, context)
    asked |= _later({}, standing, _asking(still, shares), context)
    for one in found:
        owner = (one.ob, one.bone)
        if owner in turning:
            until = -inf if one.end == inf else _reach(one) - 2.0 * _NEAR
            limb_rotation.fade(ties.goal_of(owner), time, turning[owner], shares[owner], until)
    _rekey(asked, context)
    _settle(later | still, shares, context)
    for owner, end in standing.items():  # or a hand that is keyed elsewhere later stays there while the body leaves
        keys.remove(owner_of(*owner), "location", end)
    for owner in spans:
        for curve in _curves(owner):
            splits.level(curve, time)


def remove(found: Sequence[Attachment], context: bpy.types.Context) -> None:
    """Remove attachments. Their keys stay where they are in the world. Raises `Refused` as `detach` does."""
    for one in found:
        _refuse(ties.problem((one.ob, one.bone)))
    spans = {(one.ob, one.bone): (one.start - 2.0 * _NEAR, _reach(one)) for one in found}
    ends = {one: _reach(one) for one in found}
    shares = {owner: limb_rotation.own_share(owner) for owner in spans}
    later = _later(spans, {}, _requested, context)
    asked = _later(spans, {}, _asking(later, shares), context)
    for one in found:
        attachments.remove(one)
        goal = ties.goal_of((one.ob, one.bone))
        if goal is not None and shares[one.ob, one.bone] > 0.0:
            limb_rotation.clear(goal, one.start, ends[one])
    _rekey(asked, context)
    _settle(later, shares, context)


# -- inside ------------------------------------------------------------------------------------------------------------


def _refuse(note: Note | None) -> None:
    if note is not None:
        raise Refused(note)


def _key_moved(ob: bpy.types.Object, time: float, scene: bpy.types.Scene) -> bool:
    """Key an object where it was moved beside its keys, if Auto Keying is on; returns whether these have its place."""
    moved = keys.unkeyed(ob, time)
    shared = ob.library is not None or (moved and ob.animation_data.action.library is not None)
    if not moved or shared or not keying.is_auto(scene):
        return not moved
    for path in moved:
        keying.key_path(ob, path, time, "Object Transforms", auto=True)
    return not keys.unkeyed(ob, time)


def _reach(one: Attachment) -> float:
    """The time up to which an attachment has to do with keys: the next one, or the end of what follows it."""
    others = (other.start for other in attachments.of(one.ob, one.bone) if other.start > one.start)
    return min(others, default=one.end + limb_rotation.FRAMES + 2.0 * _NEAR)


def _requested(owner: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of an owner, turned as its goal asks of the bone at that time."""
    return limb_rotation.requested(owner, limb_rotation.share(ties.goal_of(owner), time), depsgraph)


def _asking(wanted: Mapping[float, Places], shares: Mapping[Bone, float]) -> Place:
    """Where an owner belongs, so that its goal asks for a place in the world that is wanted at a time."""
    return lambda owner, time, shown: limb_rotation.asking(owner, wanted[time][owner], shares[owner], shown)


def _settle(wanted: Mapping[float, Places], shares: Mapping[Bone, float], context: bpy.types.Context) -> None:
    """Key the rotations of hands again that follow their limbs, which settle a little differently now."""
    times = {owner: [time for time, places in wanted.items() if owner in places] for owner in shares if shares[owner]}
    for _ in range(_ROUNDS if any(times.values()) else 0):
        found = _visited({time: [owner for owner in times if time in times[owner]] for time in wanted},
                         _asking(wanted, shares), context)  # fmt: skip
        _rekey(found, context)


def _fixed(owner: Bone, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """What takes an owner, from where its channels put it, to where it is in the world."""
    world = world_matrix(*owner, depsgraph).copy()
    free = attachments.before(*owner, world, depsgraph)
    if free is None or not abs(free.determinant()) > 0.0:
        raise Refused(Note(Code.PLACE_NOT_OWN, ties.name_of(owner)))
    return world @ free.inverted_safe()


def _times(owner: Bone) -> list[float]:
    """The times of an owner's keys."""
    return sorted({round(key.co[0], 3) for curve in _curves(owner) for key in curve.keyframe_points})


def _has_keys(owner: Bone, start: float, end: float = inf) -> bool:
    """Whether an owner has keys after a time, and before another."""
    return any(start + _NEAR < key < end - _NEAR for key in _times(owner))


def _next_start(owner: Bone, time: float) -> float:
    """When the next attachment of an owner begins after a time; infinite if none does."""
    return min((one.start for one in attachments.of(*owner) if one.start > time), default=inf)


def _fade_end(owner: Bone, time: float) -> float:
    """Up to when the rotation of a hand goes over to another space that it begins to take at a time: its next key."""
    return min((key for key in _times(owner) if time + _NEAR < key < time + limb_rotation.FRAMES),
               default=time + limb_rotation.FRAMES)  # fmt: skip


def _curves(owner: Bone) -> list[bpy.types.FCurve]:
    """The curves of an owner's location, rotation and scale."""
    wanted = attachments.paths(owner_of(*owner))
    return [curve for curve in curves.fcurves(owner[0].animation_data) if curve.data_path in wanted]


def _later(
    spans: Mapping[Bone, tuple[float, float]], others: Mapping[Bone, float], place: Place, context: bpy.types.Context
) -> dict[float, Places]:  # fmt: skip
    """Where owners belong at the times of their keys, after the start of their spans and before the end.

    others : a time more for some of them. place : gives their world matrices, at each time when that is visited.
    """
    times = dict[float, list[Bone]]()
    for owner in {**spans, **others}:
        start, end = spans.get(owner, (inf, -inf))
        own = {time for time in _times(owner) if start + _NEAR < time < end - _NEAR}
        for time in own | ({others[owner]} if owner in others else set()):
            times.setdefault(time, []).append(owner)
    return _visited(times, place, context)


def _visited(times: Mapping[float, Sequence[Bone]], place: Place, context: bpy.types.Context) -> dict[float, Places]:
    """The places of owners at times."""
    found, owners = dict[float, Places](), [owner for some in times.values() for owner in some]
    if owners:
        with scene_state.restored(context.scene, context.view_layer, _main(owners)):
            for time in sorted(times):
                scene_state.visit(context.scene, _frame(context.scene, time))
                depsgraph = context.evaluated_depsgraph_get()
                found[time] = {owner: place(owner, time, depsgraph) for owner in times[time]}
    return found


def _rekey(later: Mapping[float, Places], context: bpy.types.Context) -> None:
    """Key owners at places, by time."""
    context.view_layer.update()
    if not later:
        return
    owners, before = {owner for places in later.values() for owner in places}, dict[Bone, Turn]()
    with _paused(owners), scene_state.restored(context.scene, context.view_layer, _main(owners)):
        for time in sorted(later):
            scene_state.visit(context.scene, _frame(context.scene, time))
            _put(later[time], time, context, before)
    for owner in owners:
        _take_keys(owner, context.scene.frame_current_final)
    _follow(owners, context)


def _put_now(places: Places, time: float, context: bpy.types.Context) -> None:
    """Move owners to places at the present frame, of that time, and key them."""
    if places:
        with _paused(places):
            context.view_layer.update()
            _put(places, time, context, {})
        _follow(places, context)


def _paused(owners: Iterable[Bone]) -> AbstractContextManager[object]:
    """Live of the figure whose controls are keyed is aside meanwhile: they do not follow what it solves."""
    main = _main(owners)
    return aside.session(main) if main.type == "ARMATURE" else nullcontext()


def _follow(owners: Iterable[Bone], context: bpy.types.Context) -> None:
    """Let Live, which was aside, follow."""
    for ob in {*(ob for ob, _ in owners), _main(owners)}:
        ob.update_tag(refresh={"OBJECT", "DATA"} if ob.type == "ARMATURE" else {"OBJECT"})
    context.view_layer.update()


def _main(owners: Iterable[Bone]) -> bpy.types.Object:
    """The armature whose control the first owner is, else that owner's object."""
    ob, bone = next(iter(owners))
    goal = ties.goal_of((ob, bone))
    return ob if goal is None else ties.figure_of(goal)


def _frame(scene: bpy.types.Scene, time: float) -> float:
    """The frame of a scene at which keys of a time are evaluated."""
    return time * scene.render.frame_map_new / scene.render.frame_map_old


def _put(places: Places, time: float, context: bpy.types.Context, before: dict[Bone, Turn]) -> None:
    """Move owners to places in the world, parents first, and key them at a time.

    before : the rotation channels of each at its last key, and those that it had there; so turns go on from key to key.
    """
    for owner in sorted(places, key=_depth):
        (ob, bone), held = owner, owner_of(*owner)
        depsgraph = context.evaluated_depsgraph_get()
        matrix = attachments.before(ob, bone, places[owner], depsgraph)
        if matrix is None:
            raise Refused(Note(Code.PLACE_NOT_OWN, ties.name_of(owner)))
        old, shown = _channels(held), ob.evaluated_get(depsgraph)
        if bone:
            above = None if held.parent is None else shown.pose.bones[held.parent.name].matrix
            own = shown.matrix_world.inverted_safe() @ matrix
            controls.place(held, own, above, use_scale=_has_scale(owner))
        else:
            held.matrix_world = matrix
        new = rotation.from_quaternion(
            held.rotation_mode, rotation.to_quaternion(held.rotation_mode, _channels(held)),
            _reference(held.rotation_mode, old, before.get(owner)),
        )  # fmt: skip
        setattr(held, rotation.PATHS[held.rotation_mode], new[: rotation.SIZES[held.rotation_mode]])
        before[owner] = new, old
        _key(owner, time)
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
    for curve in _curves(owner):
        getattr(held, curve.data_path.rpartition(".")[2])[curve.array_index] = curve.evaluate(time)


def _depth(owner: Bone) -> int:
    """The number of parents above an owner."""
    held, count = owner_of(*owner), 0
    while held.parent is not None:
        held, count = held.parent, count + 1
    return count


def _hold(owner: Bone, time: float) -> None:
    """Key an owner at a time and one frame before, and hold what it has there up to then."""
    if not _curves(owner):
        _key(owner, time)
    _split(owner, time)


def _split(owner: Bone, time: float) -> None:
    """Put keys into the curves of an owner at a time and one frame before, and hold what is there up to then."""
    for curve in _curves(owner):
        splits.split(curve, time)  # first, so that it has the interpolation that was there
        splits.split(curve, time - 1.0).interpolation = "CONSTANT"


def _key(owner: Bone, time: float) -> None:
    """Key the place of an owner; the scale too of an object, which what it is attached to may change."""
    ob, bone = owner
    group = bone or "Object Transforms"
    keying.key(owner_of(ob, bone), time, group)
    if not bone or _has_scale(owner):
        keying.key_path(owner_of(ob, bone), "scale", time, group)


def _has_scale(owner: Bone) -> bool:
    """Whether the scale of an owner has keys."""
    return any(curve.data_path.endswith("scale") for curve in _curves(owner))


def _is_scaled(owner: Bone, world: Matrix, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the attachments of a bone, which is at a world matrix, scale it: bones below it would jump without."""
    free = attachments.before(*owner, world, depsgraph) if owner[1] else None
    return free is not None and any(abs(a / b - 1.0) > _SCALED
                                    for a, b in zip(world.to_scale(), free.to_scale(), strict=True) if b)  # fmt: skip
