# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds at a frame: a pose made by hand is keyed with its *Hold*, and the blocked poses beside it stay as they were.

At the frame, the bone has its pose and its hold. On the keys before and after it, of the figure and its targets, it has
the pose and the hold that it had there before. The bones above that are held with it are keyed with it.

What is keyed of a bone that was posed by hand is the pose that the hand gave it, not what the goals have made of that:
so the frame starts from the same pose as before the keys, and shows the same.
"""

from collections.abc import Iterable
from typing import NamedTuple

import bpy
import numpy as np

from .. import curves
from ..blender import animation, bulk, channels, rotation
from ..blender.dependencies import aims_of
from ..frame import offline
from ..frame.memory import holds
from ..frame.memory.adoptions import ByHand, Held, KeyedHolds
from ..frame.memory.put_back import State
from ..frame.read import own_answers
from ..frame.read.view import View
from ..frame.sessions import sessions
from ..frame.step.session import Session
from ..keys import attachments, keyable, keying
from ..notes import Code, Note
from . import keys

HOLD = "dqik_hold"
_NO_POSE = (".influence", ".rotation_follows")  # keys of these, which attaching makes, are no blocked poses
SAME_VALUE = 1e-6  # keys that differ by less are the same


class Here(NamedTuple):
    """The frame at which bones are held, and its neighbours with poses."""

    frame: float
    beside: tuple[float, ...]


def on_all_frames(ob: bpy.types.Object) -> list[str]:
    """The names of the bones of an original object that are held on all frames: neither holds nor poses have keys."""
    return _held_without_keys(ob)[0]


def until_next_frame(ob: bpy.types.Object) -> list[str]:
    """The names of the bones that are held until the frame changes: then their keys bring back another pose."""
    return _held_without_keys(ob)[1]


def _held_without_keys(ob: bpy.types.Object) -> tuple[list[str], list[str]]:
    """The bones whose holds have no keys: those whose poses have none either, and the others."""
    held = [bone for bone in ob.pose.bones if bone.dqik_hold > 0.0]
    animated = animation.animation(ob).bones if held else {}
    found: tuple[list[str], list[str]] = ([], [])
    for bone in held:
        own = animated.get(bone.name, set())
        if (HOLD, 0) not in own:
            moves = any(path in (rotation.PATHS[bone.rotation_mode], "location") for path, _ in own)
            found[moves].append(bone.name)
    return found


def refusal(ob: bpy.types.Object, names: Iterable[str], pose: bool = True) -> Note | None:
    """Why holds of bones cannot be keyed; None if they can. pose : with their poses."""
    paths = [path for name in names for path in _paths(ob.pose.bones[name], pose)]
    note = keyable.problem(ob, paths) if paths else None
    if not paths or note is not None:
        return note
    for owner in dict.fromkeys([ob, *(target for target, _ in aims_of(ob))]):
        if pose and animation.uses_nla(owner) and not len(curves.fcurves(owner.animation_data)):
            return Note(Code.MOVED_BY_NLA, repr(owner.name))  # the poses beside the frame are not known
    return None


def hold_here(
    session: Session, ob: bpy.types.Object, wanted: Held, view: View, kept: Iterable[str] = (), pose: bool = True
) -> list[str]:  # fmt: skip
    """Key the poses of bones and their holds at the view's frame.

    wanted : the bones, with their holds and what there was before they were posed.
    kept : those whose keys at this frame stay as they are. pose : key poses too, not only holds.
    Returns the names of bones that were not keyed: they belong to another file, their curves are locked for example,
    or the NLA refuses keys.
    """
    here, left = at_frame(ob, view), list[str]()
    for name, one in wanted.items():
        bone = ob.pose.bones[name]
        if keyable.of_curves(ob, _paths(bone, pose)) is not None:
            left.append(name)
            continue
        try:
            _key_hold(bone, one, here, ob.dqik.hold_keyed)
            if pose:
                _key_pose(bone, one, here, keep=name in kept)
        except RuntimeError:
            left.append(name)
    session.pose.posed.clear()
    session.pose.note_own_keys(ob, [_number(ob.pose.bones[name]) for name in wanted], view)
    session.rig.look(ob, ob.evaluated_get(view.depsgraph), view)  # so that these keys count as no change by others
    session.rig.newly_keyed.clear()
    return left


def notice(session: Session, ob: bpy.types.Object, view: View) -> bool:
    """Key the holds of bones at the view's frame if they were posed by hand and have been keyed there since.

    Returns whether there were any.

    Where Blender's preferences allow no new curves, an edit of a keyed bone leaves it held as by its keys.
    """
    pose, prepared = session.pose, session.rig
    if not prepared.reanimated or ob.library is not None or pose.base is None:
        return False
    found = _newly_keyed(session, ob, view)
    count, place = ob.dqik.adoptions, view.place
    again = {name: one for name, one in pose.adoptions.keyed(count, place).items() if name in ob.pose.bones}
    posed = {name: one for name, one in again.items() if not one.above}  # which undo and redo lack
    posed = {name: one for name, one in posed.items() if _is_newly_keyed(ob.pose.bones[name], one, view.frame)}
    found |= posed
    auto = keying.is_auto(view.depsgraph.scene) and not keying.adds_curves(auto=True)
    asked = found.keys() - posed.keys()  # the others were keyed before, and undo and redo took their keys
    for name in [name for name in asked if auto and not _may_key(session, ob.pose.bones[name])]:
        bone, one = ob.pose.bones[name], found.pop(name)
        holds.put(bone, float(one.before.holds[_number(bone)]))
        pose.posed.pop(_number(bone), None)
        pose.let_go(ob, _loose_above(session, bone), one.before)
    for name, one in found.items():
        if one.hold == 0.0:
            pose.let_go(ob, _loose_above(session, ob.pose.bones[name]), one.before)
    if found:
        above = {name: one for name, one in again.items() if one.above} if posed else {}
        wanted = with_above(session, ob, found, view) | above
        hold_here(session, ob, wanted, view, kept=found)
        pose.adoptions.note(count, KeyedHolds(place, wanted))
        ob.dqik.adoptions = count + 1
    return bool(found)


def are_unposed(session: Session, ob: bpy.types.Object, names: Iterable[str]) -> bool:
    """Whether nobody has posed any of some bones: what is to be held of them is what the goals make of them."""
    numbers = [_number(ob.pose.bones[name]) for name in names]
    return not session.pose.posed and not any(ob.pose.bones[number].dqik_hold for number in numbers)


def as_seen(session: Session, ob: bpy.types.Object) -> Held:
    """All solved bones, to stay at the view's frame as they are seen: their poses count there as keyed ones do.

    With a bone that is held as the goals have made it, the others would find another way from their base pose.
    """
    state, bones = session.pose.state(ob), [ob.pose.bones[number] for number in np.flatnonzero(session.rig.solved)]
    return Held({bone.name: ByHand(holds.KEYED, state, start=_seen(bone)) for bone in bones})


def keep_shown(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Have live solving leave the pose that is keyed at the present frame as it is, while nobody edits it."""
    with offline.session(ob) as reading:
        asked = offline.bake_frame(reading, ob, depsgraph).frame_input
        if asked is not None:
            own_answers.store(ob, [asked.digest()])
    sessions.known.clear()


def let_go_here(session: Session, ob: bpy.types.Object, names: Iterable[str], view: View) -> list[str]:
    """Key the holds of bones with 0 at the view's frame; on the keys beside it they are as before.

    Returns the names of bones that were not keyed.
    """
    present = State(channels.read(ob.pose.bones), holds.stored(ob))
    for name in names:
        holds.put(ob.pose.bones[name], 0.0)
    return hold_here(session, ob, dict.fromkeys(names, ByHand(0.0, present)), view, pose=False)


def held(session: Session, ob: bpy.types.Object, names: Iterable[str], view: View) -> Held:
    """Bones to hold at the view's frame, with those above; the ones that are not held yet as they are seen."""
    pose, found = session.pose, Held()
    for name in names:
        bone = ob.pose.bones[name]
        number, hold, state = _number(bone), bone.dqik_hold or holds.POSED, pose.state(ob)
        if number in pose.posed:
            one = pose.posed[number]
            found[name] = one._replace(hold=hold, start=one.start or _start(session, bone, view))
        elif keying.is_keyed(bone, view.frame):
            base = state.base.copy()
            base.put(channels.read(ob.pose.bones), np.array([number]))
            found[name] = ByHand(hold, state._replace(base=base), had_key=True)
        elif bone.dqik_hold > 0.0:
            found[name] = ByHand(hold, pose.before_posed(ob, number), start=_start(session, bone, view))
        else:
            found[name] = ByHand(hold, state)
    return with_above(session, ob, found, view)


def clear(ob: bpy.types.Object, names: Iterable[str]) -> int:
    """Let bones go on all frames: keys of their holds become 0. Returns how many were held."""
    count = 0
    for name in names:
        bone, keyed = ob.pose.bones[name], False
        for curve in keying.curves_of(bone, HOLD).values():
            for key in curve.keyframe_points:
                keyed |= key.co[1] != 0.0
                key.co[1] = 0.0
            curve.update()
        count += holds.put(bone, 0.0) or keyed
    if (action := curves.action_of(ob)) is not None:
        action.update_tag()
    return count


# -- inside ------------------------------------------------------------------------------------------------------------


def _paths(bone: bpy.types.PoseBone, pose: bool) -> list[str]:
    """The data paths that are keyed where a bone is held. pose : with its pose."""
    return [curves.path_of(bone, name) for name in (HOLD, *(keys.posed_channels(bone) if pose else ()))]


def at_frame(ob: bpy.types.Object, view: View) -> Here:
    """The view's frame, and the keyed poses of the figure and its targets beside it."""
    frame, times = view.frame, set[float]()
    for owner in {ob, *(target for target, _ in aims_of(ob))}:
        attached = attachments.frames_before(owner)
        for curve in curves.fcurves(owner.animation_data):
            if curve.data_path.endswith(_NO_POSE) or attachments.SET_ASIDE in curve.data_path:
                continue
            keyed = bulk.read(curve.keyframe_points, "co", 2)[:, 0].tolist()
            times.update(set(keyed) - attached.get(curve.data_path, set()))
    before = [time for time in times if time < frame - curves.SAME_FRAME]
    after = [time for time in times if time > frame + curves.SAME_FRAME]
    beside = (*([max(before)] if before else ()), *([min(after)] if after else ()))
    return Here(frame, beside)


def with_above(session: Session, ob: bpy.types.Object, wanted: Held, view: View) -> Held:
    """Bones to hold, and those that are held with them."""
    found = Held()
    for name, one in wanted.items():
        for number in _loose_above(session, ob.pose.bones[name]) if one.hold > 0.0 else ():
            above = ob.pose.bones[number]
            start = _seen(above) if one.start is None else _start(session, above, view)
            found[above.name] = ByHand(0.0, one.before, start=start, above=True)
    return found | wanted


def _loose_above(session: Session, bone: bpy.types.PoseBone) -> list[int]:
    """The bones that are held with another one, have no keys of their own, and are not held themselves."""
    prepared, bones = session.rig, bone.id_data.pose.bones
    above = [] if prepared.rig is None else prepared.rig.held_with.get(_number(bone), [])
    loose = prepared.own_holds | prepared.free.rotations.all(-1)
    return [number for number in above if loose[number] and bones[number].dqik_hold == 0.0]


def _newly_keyed(session: Session, ob: bpy.types.Object, view: View) -> Held:
    """The held bones that have been keyed at the view's frame, and all bones that were keyed with a posed one.

    Where other bones were keyed too, all of them stay as they are seen.
    """
    pose, prepared = session.pose, session.rig
    keyed = {number for number in prepared.newly_keyed if prepared.solved[number]} - pose.posed.keys()
    held = {number for number in keyed if ob.pose.bones[number].dqik_hold > 0.0}
    wanted = dict(pose.posed) | {n: ByHand(ob.pose.bones[n].dqik_hold, pose.before_posed(ob, n)) for n in held}
    wanted = {n: one for n, one in wanted.items() if _is_newly_keyed(ob.pose.bones[n], one, view.frame)}
    before = next((one.before for number, one in wanted.items() if number in pose.posed), None)
    if before is not None:
        loose = {n for n in keyed - held if keying.is_keyed(ob.pose.bones[n], view.frame)}
        if not loose:
            moved = {n: one for n, one in wanted.items() if n in pose.posed and one.hold > 0.0 and one.start is None}
            wanted |= {n: one._replace(start=_start(session, ob.pose.bones[n], view)) for n, one in moved.items()}
        wanted |= dict.fromkeys(loose, ByHand(holds.KEYED if ob.dqik.hold_keyed else 0.0, before))
    return {ob.pose.bones[number].name: one for number, one in wanted.items()}


def _start(session: Session, bone: bpy.types.PoseBone, view: View) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The rotation and the location channels from which a bone that was posed by hand, or one above it, starts."""
    number, size = _number(bone), rotation.SIZES[bone.rotation_mode]
    start = session.pose.started(bone.id_data, number, session.rig.free, view)
    return tuple(start.rotations[number][:size].tolist()), tuple(start.locations[number].tolist())


def _seen(bone: bpy.types.PoseBone) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(getattr(bone, rotation.PATHS[bone.rotation_mode])), tuple(bone.location)


def _is_newly_keyed(bone: bpy.types.PoseBone, one: ByHand, frame: float) -> bool:
    """Whether a bone has a key at a frame, and it is another one than before it was posed."""
    if not one.had_key:
        return keying.is_keyed(bone, frame)
    base, number = one.before.base, _number(bone)
    if len(base.rotations) <= number or base.modes.of_bone[number] != bone.rotation_mode:
        return False
    for path, before in ((rotation.PATHS[bone.rotation_mode], base.rotations), ("location", base.locations)):
        for index, curve in keying.curves_of(bone, path).items():
            key = keying.key_at(curve, frame)
            if key is not None and abs(key.co[1] - before[number, index]) > SAME_VALUE:
                return True
    return False


def _may_key(session: Session, bone: bpy.types.PoseBone) -> bool:
    """Whether Auto Keying, which makes no new curves, may key a hold: it has a curve, or the bone just got one."""
    return _number(bone) in session.rig.newly_keyed or bool(keying.curves_of(bone, HOLD))


def _key_hold(bone: bpy.types.PoseBone, one: ByHand, here: Here, hold_keyed: bool) -> None:
    """Key a bone's hold; beside the frame it is as before, and not below what keys hold where the bone had any."""
    before = float(one.before.holds[_number(bone)])
    had_key = any(keying.key_at(curve, here.frame) is not None for curve in keying.curves_of(bone, HOLD).values())
    found = [curve for path in (rotation.PATHS[bone.rotation_mode], "location")
             for curve in keying.curves_of(bone, path).values()]  # fmt: skip
    if not had_key and hold_keyed and (one.had_key or any(keying.has_others(curve, here.frame) for curve in found)):
        before = max(before, holds.KEYED)
    holds.put(bone, one.hold)
    _key(bone, HOLD, [before], here, had_key=had_key)


def _key_pose(bone: bpy.types.PoseBone, one: ByHand, here: Here, keep: bool) -> None:
    """Key a bone's pose; beside the frame it is as before. keep : keys that are there stay, unless it has a start."""
    mode, number, base = bone.rotation_mode, _number(bone), one.before.base
    turn, place = one.start or (None, None)
    before = base.rotations[number][: rotation.SIZES[mode]].tolist()
    _key(bone, rotation.PATHS[mode], before, here, keep, one.had_key, is_new=not one.above, own=turn)
    if bone.dqik_translate and not one.above:
        _key(bone, "location", base.locations[number].tolist(), here, keep, one.had_key, own=place)


def _key(
    bone: bpy.types.PoseBone, path: str, before: list[float], here: Here, keep: bool = False, had_key: bool = False,
    is_new: bool = True, own: tuple[float, ...] | None = None,
) -> None:  # fmt: skip
    """Key a property at the frame, and where its keys are lacking beside it, key its values from before there.

    is_new : a key that is at the frame belongs to the new pose. own : the values at the frame; None for what is seen.
    """
    found = keying.curves_of(bone, path)
    values = {index: keying.beside(found.get(index), value, here.frame, here.beside, had_key, is_new)
              for index, value in enumerate(before)}  # fmt: skip
    there = [index for index, curve in found.items() if keying.key_at(curve, here.frame) is not None]
    if not (keep and len(there) == len(before)):
        keying.key_path(bone, path, here.frame)
    for index, curve in keying.curves_of(bone, path).items():
        for time, value in [*values[index], *([] if own is None else [(here.frame, own[index])])]:
            curve.keyframe_points.insert(time, value)


def _number(bone: bpy.types.PoseBone) -> int:
    return bone.id_data.pose.bones.find(bone.name)
