# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for the targets of goals, made from the motion that a figure has: Live then shows that motion.

For new goals, and on a figure that is set up for an action that has none on the controls (`key_unkeyed`).
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from math import ceil, floor
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ..blender import animation, generated_rigs, scene_state
from ..blender.dependencies import Dependencies, aims_of
from ..blender.places import owner_of
from ..controls import control_parents, controls, goals, unkeyed_action
from ..controls.control_parents import Pivot
from ..controls.unkeyed_action import body_curves, values_differ
from ..frame import commands, offline
from ..keys import keying
from ..skeleton.poles import Poles
from . import keys

_AT_FIRST = {"influence": 1.0, "mute": False}
"""What the goals of a new action start with where other actions key it."""
_ROLL = "dqik_roll"


def moves(ob: bpy.types.Object) -> bool:
    """Whether keys of different values, strips or drivers turn or move bones of an armature object's body."""
    return animation.uses_nla(ob) or _is_driven(ob) or any(values_differ(curve) for curve in body_curves(ob))


def may_move(ob: bpy.types.Object) -> bool:
    """Whether anything animates an armature object, its settings, or what its goals follow: frames may differ."""
    behind = {ob, *(other for other, _ in Dependencies().all_behind(aims_of(ob)))}
    owners = [*behind, *(other.data for other in behind if other.data is not None)]
    return any(animation.is_animated(owner) for owner in owners)


def frames(ob: bpy.types.Object, scene: bpy.types.Scene) -> range:
    """The whole frames from the first to the last key of the body; also the scene's where its motion goes on outside.

    Modifiers, extrapolated curves, strips and drivers move bones outside the keys.
    """
    found = list(body_curves(ob))
    spans = [curve.range() for curve in found if values_differ(curve)]
    goes_on = any(one.extrapolation == "LINEAR" or not all(each.mute for each in one.modifiers) for one in found)
    stretch = scene.render.frame_map_new / scene.render.frame_map_old
    starts = [floor(span[0] * stretch + 1e-4) for span in spans]
    ends = [ceil(span[1] * stretch - 1e-4) for span in spans]
    if not spans or animation.uses_nla(ob) or _is_driven(ob) or goes_on:
        starts.append(scene.frame_start)
        ends.append(scene.frame_end)
    return range(min(starts), max(ends) + 1)


Poses = dict[int, np.ndarray]
"""Matrices (N, 4, 4) of the bones of a body, in the order of their names, by frame."""


class KeyedControls(NamedTuple):
    """What takes keys from a motion: targets of goals, poles by the numbers of their goals, and pivots of controls."""

    goals: Sequence[int]
    poles: Mapping[int, str] = {}
    pivots: Sequence[control_parents.Pivot] = ()


def key(
    context: bpy.types.Context, ob: bpy.types.Object, wanted: KeyedControls, span: Sequence[int]
) -> Generator[float, None, Poses]:
    """Key controls where the motion has their bones on some frames; yields the progress from 0 to 1.

    The handles of the keys lead through where the bones are half way between two frames, so that motion blur is that of
    the motion too, and a key that is moved changes what is between its neighbours only.
    wanted : its goals are muted meanwhile, and its poles do not count, so that the motion is the one without them.
    span : the frames, one after the other. Nothing is keyed before the last frame was read. Raises `Disturbed` if what
    is read is removed meanwhile. Returns the poses of the motion.
    """
    poses = Poses()
    scene, muted = context.scene, {number: ob.dqik.goals[number].mute for number in wanted.goals}
    times: list[float] = []
    channels: list[list[scene_state.Transform]] = []
    _count(ob, wanted, dict.fromkeys(muted, True), None)
    try:
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            halves = sorted([*span, *(frame + 0.5 for frame in span[:-1])])
            for count, frame in enumerate(halves, 1):
                depsgraph = visits.visit(frame)
                if frame in span:
                    poses[int(frame)] = commands.pose_of(ob)
                _put(context, ob, wanted, depsgraph)
                times.append(scene.frame_current_final)
                channels.append([scene_state.transform(owner) for owner in _owners(ob, wanted)])
                yield count / len(halves)
    finally:
        with suppress(ReferenceError):  # the object was removed
            _count(ob, wanted, muted, ob)
    is_stepped = _is_stepped(ob)
    for owner, transforms in zip(_owners(ob, wanted), zip(*channels, strict=True), strict=True):
        for channel in keys.channels_of(owner):
            keys.write(owner, channel, np.array(times), transforms, halves=True, is_stepped=is_stepped)
    scene_state.look_again(scene)
    return poses


def differs(context: bpy.types.Context, ob: bpy.types.Object, poses: Poses) -> bool:
    """Whether a body shows other poses now on any of some frames."""
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for frame, before in poses.items():
            visits.visit(frame)
            if commands.differ(before, commands.pose_of(ob)):
                return True
    return False


def _put(
    context: bpy.types.Context, ob: bpy.types.Object, wanted: KeyedControls, depsgraph: bpy.types.Depsgraph
) -> None:  # fmt: skip
    """Put controls where the present pose has their bones, those below others after them."""
    shown = ob.evaluated_get(depsgraph)
    poles = Poles(shown, depsgraph)
    own = {pivot.name: pivot.place(shown) for pivot in wanted.pivots}
    for number, name in wanted.poles.items():
        spot = poles.for_control(ob.dqik.goals[number])
        if spot is not None:
            own[name] = Matrix.Translation(spot[1])
    targets = {number: ob.dqik.goals[number] for number in wanted.goals}
    levels = {number: _depth(ob, goal.subtarget if goal.target == ob else "") for number, goal in targets.items()}
    with offline.session(ob):  # the pose stays meanwhile
        for count, level in enumerate(sorted({*levels.values(), *(_depth(ob, name) for name in own)})):
            if count:
                context.view_layer.update()
                depsgraph = context.evaluated_depsgraph_get()
            here = [number for number in levels if levels[number] == level]
            goals.put_targets(ob, goals.places(ob, here, depsgraph), depsgraph)
            for name in (name for name in own if _depth(ob, name) == level):
                turns = name not in wanted.poles.values()
                controls.move(ob.evaluated_get(depsgraph), name, own[name], use_rotation=turns)
            ob.update_tag(refresh={"OBJECT"})


def _depth(ob: bpy.types.Object, name: str) -> int:
    return len(ob.data.bones[name].parent_recursive) if name else 0


def _owners(ob: bpy.types.Object, wanted: KeyedControls) -> list[keys.Owner]:
    """What is keyed, each once. They are not kept between frames: Blender may free bones meanwhile."""
    targets = [ob.dqik.goals[number] for number in wanted.goals]
    found = [owner_of(goal.target, goal.subtarget) for goal in targets if goal.target is not None]
    found += [ob.pose.bones[name] for name in (*wanted.poles.values(), *(pivot.name for pivot in wanted.pivots))]
    return list(dict.fromkeys(owner for owner in found if owner is not None))


def _count(
    ob: bpy.types.Object, wanted: KeyedControls, mutes: Mapping[int, bool], pole: bpy.types.Object | None
) -> None:  # fmt: skip
    """Mute goals, or let them count, and have their poles count or not."""
    for number, mute in mutes.items():
        ob.dqik.goals[number].mute = mute
    for number, name in wanted.poles.items():
        goal = ob.dqik.goals[number]
        goal.pole_target, goal.pole_subtarget = pole, name


def _is_stepped(ob: bpy.types.Object) -> bool:
    """Whether most keys of the body hold their pose until the next."""
    if animation.uses_nla(ob):
        return False
    stepped = [one.interpolation == "CONSTANT" for curve in body_curves(ob) for one in curve.keyframe_points]
    return 2 * sum(stepped) > len(stepped)


def _is_driven(ob: bpy.types.Object) -> bool:
    """Whether drivers turn or move bones; of a generated rig, its FK controls."""
    kind = generated_rigs.kind_of(ob.pose.bones.keys())
    return any(kind is None or kind.name(bone) is not None for bone in animation.animation(ob).driven)


def key_unkeyed(context: bpy.types.Context, ob: bpy.types.Object) -> Generator[float, None, range]:
    """Key all controls from the motion of the assigned action; yields the progress, returns the frames.

    Other properties that actions with keys on the controls have, rolls and influences for example, get one key, so that
    they do not keep what another action has left. Nothing is changed before all frames are read.
    """
    elsewhere = unkeyed_action.elsewhere(ob)
    led, poles = unkeyed_action.led_by(ob), unkeyed_action.poles_of(ob)
    span = frames(ob, context.scene)
    others = {bone for bone, path in elsewhere if path.startswith(("location", "rotation"))}
    others -= {*led.values(), *poles.values()}
    bones = (bone for bone in ob.data.bones if bone.name in others and controls.is_control(bone))
    pivots = [Pivot(bone.name, "" if bone.parent is None else bone.parent.name, Matrix()) for bone in bones]
    was_live, ob.dqik.live = ob.dqik.live, False  # the motion goes with the base pose, not with the last answer
    context.view_layer.update()
    rolls = {name: ob.pose.bones[name].dqik_roll for name in led.values() if (name, _ROLL) in elsewhere}
    _set_rolls(ob, dict.fromkeys(rolls, 0.0))
    try:
        yield from key(context, ob, KeyedControls(list(led), poles, pivots), span)
    except BaseException:
        with suppress(ReferenceError):  # the object was removed
            _set_rolls(ob, rolls)
            ob.dqik.live = was_live
        raise
    for name in rolls:
        keying.key_path(ob.pose.bones[name], _ROLL, span[0])
    for number, goal in enumerate(ob.dqik.goals):
        for name, value in _AT_FIRST.items():
            if ("", f"dqik.goals[{number}].{name}") in elsewhere:
                setattr(goal, name, value)
                keying.key_path(ob, f"dqik.goals[{number}].{name}", span[0])
    ob.dqik.live = was_live
    return span


def _set_rolls(ob: bpy.types.Object, rolls: dict[str, float]) -> None:
    for name, value in rolls.items():
        ob.pose.bones[name].dqik_roll = value
