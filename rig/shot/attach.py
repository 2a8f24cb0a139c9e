# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaches controls and props to objects and bones from a frame on, and lets them go, so that nothing moves.

On the frame of attaching, the inverse matrix of the new constraint takes in all that changes, so that no channel jumps
and the frames before stay as they are. Later keys are set aside, so that what is attached keeps its grip. On the frame
of letting go the channels jump by what the constraint has done; the key of the frame before is held up to there. Keys
behind it count again, as they were. Keys that were made meanwhile keep their place in the world: they are written anew.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from .. import curves
from ..blender.dependencies import Bone
from ..blender.places import owner_of, parents_of, world_matrix
from ..keys import attachments, keyable, keying, splits
from ..keys.attachments import Attachment
from ..notes import Code, Note, Refused
from . import attachable, keys, limb_rotation, rekey
from .rekey import NEAR, Place, Places

_SCALED = 1e-5  # relative: more than single precision loses
_CARRIED = 1e-4  # relative: what attachments take further has moved
_ROUNDS = 2  # a limb that a hand's rotation follows again settles a little differently, and carries the hand along


class Attached(NamedTuple):
    """What came of attaching.

    is_beside : whether the target is beside its keys. aside : by owner, how many frames were set aside. along : owners
    that are left to their parents.
    """

    is_beside: bool
    aside: dict[Bone, int]
    along: list[Bone]


def attach(owners: Sequence[Bone], target: Bone, context: bpy.types.Context) -> Attached:
    """Attach bones and objects to an object or a bone from the present frame on, until a later attachment begins.

    Children of others among them are left to their parents: attached too, they would be carried twice. What was
    attached to something else is let go there. A target object that was moved beside its keys is keyed where
    it is, with Auto Keying. Raises `Refused` if one cannot be attached.
    """
    depsgraph, time = context.evaluated_depsgraph_get(), context.scene.frame_current_final
    keyable.refuse(attachable.target_problem(target, depsgraph))
    for owner in owners:
        keyable.refuse(attachable.problem(owner, target))
    along = [owner for owner in owners if not parents_of(*owner).isdisjoint(owners)]
    owners = [owner for owner in owners if owner not in along]
    by = attachments.carrying(*target, depsgraph).inverted_safe()
    inverses = {owner: by @ _fixed(owner, depsgraph) for owner in owners}
    is_beside = not _key_moved(target[0], time, context.scene)
    ends = {owner: _next_start(owner, time) for owner in owners}
    turning = {owner: min(time + limb_rotation.FRAMES, ends[owner]) for owner in owners
               if limb_rotation.share(attachable.goal_of(owner), time)}  # fmt: skip
    grips = {owner: by @ _requested(owner, time, depsgraph) for owner in turning}

    def place(owner: Bone, at: float, shown: bpy.types.Depsgraph) -> Matrix:
        grips_on = at < ends[owner] - NEAR
        return attachments.carrying(*target, shown) @ grips[owner] if grips_on else _requested(owner, at, shown)

    followed = [(owner, ends[owner]) for owner in turning if ends[owner] < inf]
    later = rekey.later((), [*turning.items(), *followed], place, context)
    _begin(ends, time, context)
    aside = dict[Bone, int]()
    for owner, end in ends.items():
        for curve in rekey.own_curves(owner) if end < inf else ():
            splits.split(curve, end)
        aside[owner] = rekey.set_aside(owner, time, end)
        attachments.add(owner_of(*owner), *target, inverses[owner], time, end)
        for curve in rekey.own_curves(owner):
            _stay(curve, time, end)
        goal = attachable.goal_of(owner)
        if owner in turning:
            limb_rotation.fade(goal, time, turning[owner], 0.0, end)
            if end < inf:
                limb_rotation.key(goal, end, 0.0)
        elif goal is not None:
            limb_rotation.clear(goal, time, end)
    rekey.rekey(later, context)
    return Attached(is_beside, aside, along)


def detach(found: Sequence[Attachment], context: bpy.types.Context) -> None:
    """Let go, at the present frame, what is attached there. Raises `Refused` if one of these cannot be keyed.

    Keys that were set aside count again behind the frame.
    """
    time = context.scene.frame_current_final
    begun = [one for one in found if time - one.start < NEAR]
    if begun:
        remove(begun, context)
    found = [one for one in found if one not in begun]
    spans = {one.owner: (time, _reach(one)) for one in found}
    for owner in spans:
        keyable.refuse(attachable.problem(owner))
    shares = {owner: limb_rotation.own_share(owner) for owner in spans}
    turning = {owner: _fade_end(owner, time) for owner in spans
               if shares[owner] > 0.0 and _next_start(owner, time) > time + limb_rotation.FRAMES}  # fmt: skip
    standing = {owner: end for owner, end in turning.items() if not rekey.times_behind(owner, time)}
    later, asked = _kept(spans.items(), (), shares, context)
    depsgraph = context.evaluated_depsgraph_get()
    here = {owner: world_matrix(*owner, depsgraph).copy() for owner in spans}
    for one in found:
        owner = one.owner
        if _is_scaled(owner, here[owner], depsgraph):
            keying.key_path(owner_of(*owner), "scale", time)
        _hold(owner, time)
        attachments.end(one, time)
    rekey.put_now(here, time, context)
    for whole, some in zip((later, asked), _kept((), standing.items(), shares, context), strict=True):
        for at, places in some.items():
            whole.setdefault(at, {}).update(places)
    for one in found:
        if (owner := one.owner) in turning:
            until = -inf if one.end == inf else _reach(one) - 2.0 * NEAR
            limb_rotation.fade(attachable.goal_of(owner), time, turning[owner], shares[owner], until)
    rekey.rekey(asked, context)
    _settle(later, shares, context)
    for owner, end in standing.items():  # or a hand that is keyed elsewhere later stays there while the body leaves
        curves.remove_keys(keys.curves_of(owner_of(*owner), "location"), end, end)
    _take_back(spans, context)
    for owner in spans:
        for curve in rekey.own_curves(owner):
            splits.level(curve, time)


def remove(found: Sequence[Attachment], context: bpy.types.Context) -> None:
    """Remove attachments. Their keys stay where they are in the world, and those that were set aside count again.

    Raises `Refused` as `detach` does.
    """
    for one in found:
        keyable.refuse(attachable.problem(one.owner))
    ends = {one: _reach(one) for one in found}
    spans = [(one.owner, (one.start - 2.0 * NEAR, ends[one])) for one in found]  # an owner may have several
    shares = {owner: limb_rotation.own_share(owner) for owner, _ in spans}
    starts, jumps = {(one.owner, round(one.start, 3)) for one in found}, list[tuple[Bone, float]]()
    for one in found:  # where its key on the first frame is gone, keys behind it would lead the frames before elsewhere
        if rekey.times_behind(one.owner, one.start):
            for curve in rekey.own_curves(one.owner):
                splits.split(curve, one.start)
    for one in found:  # or the animator's motion would go through a place that only a hand's grip was for
        if shares[one.owner] > 0.0 and (faded := one.start + limb_rotation.FRAMES) < one.end - NEAR:
            rekey.drop_repeated(one.owner, one.start, faded)

    def place(owner: Bone, at: float, shown: bpy.types.Depsgraph) -> Matrix:
        if (owner, at) in starts and _carries(owner, shown):
            jumps.append((owner, at))
        return _requested(owner, at, shown)

    later, asked = _kept(spans, (), shares, context, place)
    for owner, at in jumps:  # the target has been changed since; the frames before stay
        _split(owner, at)
    for one in found:
        attachments.remove(one)
        goal = attachable.goal_of(one.owner)
        if goal is not None and shares[one.owner] > 0.0:
            limb_rotation.clear(goal, one.start, ends[one])
    rekey.rekey(asked, context)
    _settle(later, shares, context)
    _take_back(shares, context)


# -- inside ------------------------------------------------------------------------------------------------------------


def _begin(ends: Mapping[Bone, float], time: float, context: bpy.types.Context) -> None:
    """Key owners where they are, and let them go from what they are attached to; their later keys stay in the world.

    ends : up to when, of each.
    """
    held = {owner: (time, end) for owner, end in ends.items()
            if any(one.acts_at(time) for one in attachments.of(*owner))}  # fmt: skip
    shares = {owner: limb_rotation.own_share(owner) for owner in held}
    _, asked = _kept(held.items(), (), shares, context)
    for owner in ends:
        for curve in rekey.own_curves(owner):
            splits.split(curve, time)
        rekey.key(owner, time)
        for one in attachments.of(*owner):
            if one.acts_at(time):
                attachments.remove(one) if time - one.start < NEAR else attachments.end(one, time)
    if asked:
        rekey.rekey(asked, context)


def _stay(curve: bpy.types.FCurve, time: float, end: float) -> None:
    """Let a curve stay as it is at a time, where it has a key, up to its keys at an end or the animator's next ones."""
    key = keying.key_at(curve, time)
    if key is None:
        return
    if end < inf:
        key.interpolation = "CONSTANT"
    elif key.co[0] > curve.range()[0] + NEAR:
        if key.interpolation == "LINEAR" and curve.extrapolation == "LINEAR":
            key.interpolation = "BEZIER"
        splits.level(curve, time)


def _take_back(owners: Collection[Bone], context: bpy.types.Context) -> None:
    for owner in owners:
        rekey.take_back(owner)
    rekey.follow(owners, context)


def _key_moved(ob: bpy.types.Object, time: float, scene: bpy.types.Scene) -> bool:
    """Key an object where it was moved beside its keys, if Auto Keying is on; returns whether these have its place."""
    moved = keys.unkeyed(ob, time)
    if not moved or not keying.is_auto(scene) or keyable.problem(ob, moved) is not None:
        return not moved
    for path in moved:
        keying.key_path(ob, path, time, auto=True)
    return not keys.unkeyed(ob, time)


def _reach(one: Attachment) -> float:
    """The time up to which an attachment has to do with keys: the next one, or the end of what follows it."""
    others = (other.start for other in attachments.of(*one.owner) if other.start > one.start)
    return min(others, default=one.end + limb_rotation.FRAMES + 2.0 * NEAR)


def _requested(owner: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of an owner, turned as its goal asks of the bone at that time."""
    return limb_rotation.requested(owner, limb_rotation.share(attachable.goal_of(owner), time), depsgraph)


def _kept(
    spans: Iterable[tuple[Bone, rekey.Span]], others: Iterable[tuple[Bone, float]], shares: Mapping[Bone, float],
    context: bpy.types.Context, place: Place = _requested,
) -> tuple[dict[float, Places], dict[float, Places]]:  # fmt: skip
    """Places in the world at the times of keys, as of `rekey.later`, and where owners have to be to ask for them."""
    later = dict[float, Places]()

    def asking(owner: Bone, time: float, shown: bpy.types.Depsgraph) -> Matrix:
        matrix = later.setdefault(time, {})[owner] = place(owner, time, shown)
        return limb_rotation.asking(owner, matrix, shares[owner], shown)

    return later, rekey.later(spans, others, asking, context)


def _settle(wanted: Mapping[float, Places], shares: Mapping[Bone, float], context: bpy.types.Context) -> None:
    """Key the rotations of hands again that follow their limbs, which settle a little differently now."""
    again = {time: own for time, places in wanted.items() if (own := [one for one in places if shares[one] > 0.0])}

    def asking(owner: Bone, time: float, shown: bpy.types.Depsgraph) -> Matrix:
        return limb_rotation.asking(owner, wanted[time][owner], shares[owner], shown)

    for _ in range(_ROUNDS):
        rekey.rekey(rekey.visited(again, asking, context), context)


def _fixed(owner: Bone, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """What takes an owner, from where its channels put it, to where it is in the world."""
    world = world_matrix(*owner, depsgraph).copy()
    free = attachments.before(*owner, world, depsgraph)
    if free is None or not abs(free.determinant()) > 0.0:
        raise Refused(Note(Code.PLACE_NOT_OWN, attachable.name_of(owner)))
    return world @ free.inverted_safe()


def _next_start(owner: Bone, time: float) -> float:
    """When the next attachment of an owner begins after a time; infinite if none does."""
    return min((one.start for one in attachments.of(*owner) if one.start > time), default=inf)


def _fade_end(owner: Bone, time: float) -> float:
    """Up to when the rotation of a hand goes over to its own space from a time on: its next key, if it has one."""
    following, start = rekey.times_behind(owner, time), _next_start(owner, time)
    return min((one for one in following if one < start), default=time + limb_rotation.FRAMES)


def _hold(owner: Bone, time: float) -> None:
    """Key an owner at a time and one frame before, and hold what it has there up to then."""
    if not rekey.own_curves(owner):
        rekey.key(owner, time)
    _split(owner, time)


def _split(owner: Bone, time: float) -> None:
    """Put keys into the curves of an owner at a time and one frame before, and hold what is there up to then."""
    for curve in rekey.own_curves(owner):
        splits.split(curve, time)  # first, so that it has the interpolation that was there
        splits.split(curve, curves.frame_before(time)).interpolation = "CONSTANT"


def _carries(owner: Bone, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether attachments take an owner elsewhere than its channels put it."""
    world = world_matrix(*owner, depsgraph)
    free, here = attachments.before(*owner, world, depsgraph), np.array(world)
    return free is not None and bool(np.abs(np.array(free) - here).max() > _CARRIED * np.abs(here).max())


def _is_scaled(owner: Bone, world: Matrix, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the attachments of a bone, which is at a world matrix, scale it: bones below it would jump without."""
    free = attachments.before(*owner, world, depsgraph) if owner[1] else None
    return free is not None and any(abs(a / b - 1.0) > _SCALED
                                    for a, b in zip(world.to_scale(), free.to_scale(), strict=True) if b)  # fmt: skip
