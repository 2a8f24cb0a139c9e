# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of attachments in a shot, and ways to compare shots.

The checks do these things themselves, with the same buttons as an animator, and compare films of before and after.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import bpy
import numpy as np
import rigs
from goals import Key, follows_itself, history_matters, is_live, key_of, size
from oracle import LENGTH, poses, same, settle
from outside import other_handlers, turns_bones
from rigs import at_frame, evaluated, update
from vocabulary import BrokenError, bone, choose, press, shown, thing

__all__ = ["check_attach", "check_detach"]

NAME = "DQIK Attach"

Object = Callable[[], bpy.types.Object]
Owner = tuple[str, str]
"""An object, or a bone of it, by name; the bone is empty for the object."""
Film = dict[float, dict[Key, np.ndarray]]


# -- looking -----------------------------------------------------------------------------------------------------------


def is_steady() -> bool:
    """Whether a frame shows the same each time, so that it can be compared."""
    return not (history_matters() or turns_bones() or other_handlers())


def film(frames: Iterable[float], met: bool = False, but: Mapping[Key, Container[str]] | None = None) -> Film:
    """The poses on some frames.

    but : bones of armatures that do not count.
    met : only of figures that meet their goals, those that give way too: elsewhere the last digits of a target can
        decide how a limb folds.
    """
    found: Film = {}
    for frame in frames:
        at_frame(frame)
        live = [ob for ob in shown() if met and is_live(ob)]
        missing = {key_of(ob) for ob in live
                   if not ob.dqik.status.converged or any(goal.gave_way for goal in ob.dqik.goals)}  # fmt: skip
        found[frame] = {key: pose for key, pose in poses(but).items() if key not in missing}
    return found


def same_film(kind: str, before: Film, words: str, times: float = 3.0, but: Mapping | None = None) -> None:
    """Raise where a frame of a film shows something else now. but : as of `film`."""
    for frame, now in film(before, but=but).items():
        same(kind, before[frame], now, f"{words}, frame {frame:g}", times)


def owner_of(owner: Owner) -> bpy.types.Object | bpy.types.PoseBone:
    """The object or the bone."""
    return bone(owner[1], thing(owner[0])) if owner[1] else thing(owner[0])


def world(owner: Owner) -> np.ndarray:
    """The evaluated world matrix of an object or a bone."""
    shape = evaluated(thing(owner[0]))
    return np.array(shape.matrix_world @ shape.pose.bones[owner[1]].matrix if owner[1] else shape.matrix_world)


def ways(owners: Sequence[Owner], frames: Iterable[float]) -> dict[float, list[np.ndarray]]:
    """The world matrices of owners on some frames."""
    found = {}
    for frame in frames:
        at_frame(frame)
        found[frame] = [world(owner) for owner in owners]
    return found


def own_curves(owner: Owner) -> list[bpy.types.FCurve]:
    """The curves of an owner's location, rotation and scale."""
    held = owner_of(owner)
    start = f"{held.path_from_id()}." if owner[1] else ""
    paths = {start + name for name in ("location", rigs.ROTATION_PATHS[held.rotation_mode], "scale")}
    return [curve for curve in rigs.fcurves(thing(owner[0])) if curve.data_path in paths]


def key_times(owner: Owner) -> set[float]:
    return {round(point.co[0], 3) for curve in own_curves(owner) for point in curve.keyframe_points}


def is_calm(owner: Owner) -> bool:
    """Whether nothing but its keys moves an owner after them: no modifier, slope, driver, track, body that falls, or
    other carrier."""
    held, ob = owner_of(owner), thing(owner[0])
    data = ob.animation_data
    wild = any(curve.modifiers or curve.extrapolation == "LINEAR" for curve in own_curves(owner))
    tracks = data is not None and (len(data.nla_tracks) or len(data.drivers))
    carried = held.parent or (owner[1] and (ob.parent or ob.constraints or own_curves((ob.name, ""))))
    falls = ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE" and not ob.rigid_body.kinematic
    return not (wild or tracks or carried or falls)


def is_plain(ob: bpy.types.Object) -> bool:
    """Whether an armature is moved by the keys of its own action alone, and nobody shares them."""
    data = ob.animation_data
    if data is None:
        return True
    moved = len(data.drivers) or len(data.nla_tracks) or data.action_blend_type != "REPLACE"
    moved = moved or data.action_influence < 1.0
    found = rigs.fcurves(ob)
    wild = any(curve.modifiers or curve.mute or curve.lock for curve in found)
    wild = wild or any(curve.group and (curve.group.mute or curve.group.lock) for curve in found)
    users = [one for one in shown() if one.animation_data and one.animation_data.action == data.action]
    return not (moved or wild or (data.action and len(users) > 1))


def scale_of(owner: Owner) -> float:
    """What tolerances refer to: the largest of the figures, as it stands in the world."""
    del owner
    sizes = [size(ob) * max(map(abs, ob.matrix_world.to_scale())) for ob in shown() if len(ob.data.bones)]
    far = [max(map(abs, ob.matrix_world.translation)) for ob in bpy.context.view_layer.objects]
    return max([1e-3, *sizes, *(0.1 * one for one in far)])


def attachments(owner: Owner) -> int:
    return sum(one.name.startswith(NAME) for one in owner_of(owner).constraints)


# -- attaching ---------------------------------------------------------------------------------------------------------


def check_attach(owners: Sequence[Owner], target: Owner, frame: float, into_hand: bool = False) -> None:
    """Attached, nothing moves on that frame and before; later keys stay in the world; what has none goes along.
    Children of others are carried by their parents.

    into_hand : the owner is an object, and the target a bone.
    """
    settle(frame)
    cyclic, before = follows_itself(), film((frame - 3.0, frame - 1.0, frame), met=True)
    owners = [owner for owner in map(leader_of, owners) if owner != target]
    later = {owner: ways([owner], sorted(x for x in key_times(owner) if x > frame + 1e-3)) for owner in owners}
    follows = {owner: share_of(owner) for owner in owners}
    settle(frame)
    if into_hand:
        choose([target])
        done = press("attach", object=owners[0][0], into_hand=True)
        aim = hand_of(target)
    else:
        choose(owners)
        done = press("attach", object=target[0], bone=target[1])
        aim = target
    if "FINISHED" not in done:
        return
    update()
    if not cyclic and follows_itself():
        raise BrokenError("attach", f"{owners} follow themselves by {target}")
    if not is_steady() or not all(is_plain(thing(name)) for name, _ in owners):
        return
    same_film("attach", before, f"{owners} were attached to {target} at frame {frame:g}")
    room = 3.0 * LENGTH * scale_of(target)
    for owner in owners:
        if not follows[owner] and parents_of(owner).isdisjoint(owners):
            keys_stay("attach", later[owner], owner, f"attached at frame {frame:g}", room)
        if not later[owner] and is_calm(owner):
            goes_along(owner, aim, (frame, frame + 1.0, frame + 2.5, frame + 5.0), room)


def keys_stay(kind: str, later: dict[float, list[np.ndarray]], owner: Owner, words: str, room: float) -> None:
    """At its later keys, an owner that was tied or untied is where it was. words : what was done."""
    for time, [place] in later.items():
        at_frame(time)
        away = np.abs(world(owner) - place)[:3, 3].max()
        if away > room:
            raise BrokenError(kind, f"{owner} was {words}; its key of frame {time:g} is {away:.3g} away")


def goes_along(owner: Owner, target: Owner, frames: Sequence[float], room: float) -> None:
    """Raise where an owner's place in a target's space changes."""
    found = []
    for frame in frames:
        at_frame(frame)
        if not abs(np.linalg.det(world(target)[:3, :3])) > 1e-6:
            return
        found.append(np.linalg.inv(world(target)) @ world(owner))
    away = np.abs(np.array(found) - found[0])[:, :3, 3].max() * np.abs(world(target)[:3, :3]).max()
    if away > room:
        raise BrokenError("attach", f"{owner} is attached to {target} and goes {away:.3g} away from it")


def parents_of(owner: Owner) -> set[Owner]:
    """All parents of a bone in its armature."""
    return {(owner[0], one.name) for one in owner_of(owner).parent_recursive} if owner[1] else set()


def share_of(owner: Owner) -> float:
    """How far the rotation of an owner's goal follows its limb, at most: attached, it follows less and less."""
    ob = thing(owner[0])
    goals = [(one, goal) for one in shown() for goal in one.dqik.goals
             if goal.target == ob and goal.subtarget == owner[1]]  # fmt: skip
    keyed = [value for one, goal in goals for _, value in
             rigs.keys(one).get((goal.path_from_id("rotation_follows"), 0), ())]  # fmt: skip
    return max([goal.rotation_follows for _, goal in goals] + keyed, default=0.0)


def leader_of(owner: Owner) -> Owner:
    """What the buttons take a bone for: the target of its goal if it has one, also a control that is led itself."""
    for goal in thing(owner[0]).dqik.goals if owner[1] else ():
        if goal.bone == owner[1] and goal.kind == "REACH" and goal.target is not None:
            return goal.target.name, goal.subtarget if goal.target.type == "ARMATURE" else ""
    return owner


def hand_of(target: Owner) -> Owner:
    """The bone that a control moves, or the bone itself."""
    ob = thing(target[0])
    for goal in ob.dqik.goals:
        if goal.target == ob and goal.subtarget == target[1] and goal.kind == "REACH":
            return target[0], goal.bone
    return target


def check_detach(owners: Sequence[Owner], frame: float, remove: bool) -> None:
    """Let go, nothing moves on that frame and before, nor afterwards; removed, keys stay where they are."""
    settle(frame)
    before, owners = film((frame - 3.0, frame - 1.0, frame), met=True), [*map(leader_of, owners)]
    times = {owner: sorted(x for x in key_times(owner) if remove or x > frame + 1e-3) for owner in owners}
    later = {owner: ways([owner], times[owner]) for owner in owners}
    steady, follows = is_steady(), {owner: share_of(owner) for owner in owners}
    steady = steady and all(is_plain(thing(name)) for name, _ in owners)
    settle(frame)
    choose(owners)
    if "FINISHED" not in press("detach", remove=remove) or not steady or not is_steady():
        return
    update()
    if not remove:
        same_film("detach", before, f"{owners} were let go at frame {frame:g}")
    room = 3.0 * LENGTH * scale_of(owners[0])
    for owner in owners:
        if not follows[owner]:
            keys_stay("detach", later[owner], owner, f"let go at frame {frame:g}", room)
        if not remove and not later[owner] and is_calm(owner) and attachments(owner) == 1:
            at_frame(frame)
            here = world(owner)
            at_frame(frame + 5.0)
            away = np.abs(world(owner) - here)[:3, 3].max()
            if away > room:
                raise BrokenError("detach", f"{owner} was let go at frame {frame:g} and moves {away:.3g} afterwards")
