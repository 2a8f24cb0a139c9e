# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold where an animator drags a body, looks at its motion, rolls feet and keys by preferences."""

import sys
from collections.abc import Callable, Sequence

import bpy
import numpy as np
import rigs
from checks import go_live
from mathutils import Vector
from oracle import live_is_keyed, poses, same, settle
from rigs import at_frame, evaluated, update
from shot_checks import record, unchanged
from shots import Object, Owner, film, is_plain, is_steady, owner_of, same_film, scale_of, world
from vocabulary import EXTENSION, BrokenError, press, run, select, shown, thing

__all__ = ["check_available", "check_grab", "check_grab_cancelled", "check_push_down", "check_roll", "check_seen"]


def room(ob: bpy.types.Object) -> float:
    """By how much [m] a place of an armature may be off."""
    return 3e-4 * scale_of((ob.name, ""))


# -- grabbing ----------------------------------------------------------------------------------------------------------


def check_grab(ob_of: Object, name: str, away: Sequence[float], frame: float, live: bool) -> None:
    """A bone is dragged: keys stay without Auto Keying, and so does Live. Refused, nothing has changed."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or ob not in shown():
        return
    go_live(ob, frame, live)
    select(ob, [name])
    steady, before, here = is_steady(), record(), poses()
    keys = {one.name: rigs.keys(one) for one in bpy.data.objects if one.library is None}
    point = world((ob.name, name))[:3, 3]
    message = ob.dqik.status.message
    done = press("grab", bone=name, point=tuple(point), to=tuple(point + scale_of((ob.name, "")) * np.array(away)))
    update()
    ob = ob_of()
    if {one.name: rigs.keys(one) for one in bpy.data.objects if one.library is None} != keys:
        raise BrokenError("grab", f"{name!r} was dragged without Auto Keying, and keys have changed")
    if ob.dqik.live != live and not ob.dqik.status.message:
        raise BrokenError("grab", f"{name!r} was dragged, and {ob.name!r} is live no longer")
    if "FINISHED" not in done:
        unchanged("grab", before, here, steady and not message, f"Dragging {name!r} was refused")


def check_grab_cancelled(ob_of: Object, name: str, ways: Sequence[Sequence[float]], frame: float, live: bool) -> None:
    """Esc during a drag brings back the pose from before, with holds and keys."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or ob not in shown():
        return
    go_live(ob, frame, live)
    select(ob, [name])
    steady, before, here = is_steady(), record(), poses()
    message = ob.dqik.status.message
    refused = sys.modules[f"{EXTENSION}.rig.notes"].Refused
    point = Vector(world((ob.name, name))[:3, 3])
    try:
        drag = sys.modules[f"{EXTENSION}.rig.shot.grab"].Grab(ob, name, point, bpy.context)
    except refused:
        return
    try:
        for way in ways:
            drag.move(point + scale_of((ob.name, "")) * Vector(way))
    except refused:
        pass
    drag.cancel()
    update()
    unchanged("grab", before, here, steady and not message, f"A drag of {name!r} was cancelled")


# -- looking -----------------------------------------------------------------------------------------------------------


def check_seen(ob_of: Object, of: set[str], frame: float, others: Sequence[float]) -> None:
    """Ghosts and arcs: what is known of frames is what they show; reading and visiting frames changes nothing."""
    ob, scene = ob_of(), bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 8
    ob.dqik.ghosts, ob.dqik.arcs, ob.dqik.ghosts_step, ob.dqik.ghosts_of = "GHOSTS" in of, "ARCS" in of, 2, {"BONES"}
    if "MESHES" in of:
        ob.dqik.ghosts_of = {"BONES", "MESHES"}
    settle(frame)
    steady, before, here, now = is_steady(), record(), poses(), scene.frame_current_final
    done = run("see_motion", ob)
    ob = ob_of()
    if scene.frame_current_final != now:
        raise BrokenError("seen", f"Reading the motion at frame {now:g} ends at frame {scene.frame_current_final:g}")
    unchanged("seen", before, here, steady, "The motion was read")
    for other in others:  # scrubbing
        at_frame(other)
    motion = sys.modules[f"{EXTENSION}.rig.clip.seen_motion"]
    known = motion.known(ob)
    if "FINISHED" not in done or not steady or known.is_old:
        return
    for number in sorted(known.frames):
        at_frame(number)
        shape = evaluated(ob)
        heads = np.array([shape.matrix_world @ one.head for one in shape.pose.bones])
        away = np.abs(heads - known.frames[number].heads).max(initial=0.0)
        if away > room(ob):
            raise BrokenError("seen", f"The ghost of frame {number} of {ob.name!r} is {away:.3g} away from its pose")


# -- feet, keys, tracks ------------------------------------------------------------------------------------------------


def check_roll(ob_of: Object, number: int, roll: float, frame: float) -> None:
    """The roll of a goal's control leaves the control where it is; set back, the pose is as before."""
    ob = ob_of()
    settle(frame)
    goal = ob.dqik.goals[number]
    owner: Owner = (goal.target.name, goal.subtarget if goal.target.type == "ARMATURE" else "")
    control = owner_of(owner)
    if not is_steady() or any("dqik_roll" in path for path, _ in rigs.keys(thing(owner[0]))):
        return
    before, here, place = control.dqik_roll, poses(), world(owner)
    control.dqik_roll = roll
    update()
    away = np.abs(world(owner) - place).max()
    if owner[1] and goal.target == ob and away > room(ob):
        raise BrokenError("roll", f"{owner} is rolled by {roll:g}, and its control moves by {away:.3g}")
    owner_of(owner).dqik_roll = before
    update()
    same("roll", here, poses(), f"{owner} was rolled by {roll:g} and back")


def check_available(change: Callable[[], object], frame: float) -> None:
    """Auto Keying with *Only Insert Available* makes no new curves."""
    tools, wishes = bpy.context.scene.tool_settings, bpy.context.preferences.edit
    was = wishes.use_keyframe_insert_available
    settle(frame)
    before = {one.name: set(rigs.keys(one)) for one in bpy.data.objects if one.library is None}
    tools.use_keyframe_insert_auto = wishes.use_keyframe_insert_available = True
    try:
        change()
        update()
    finally:
        tools.use_keyframe_insert_auto, wishes.use_keyframe_insert_available = False, was
    for name, channels in before.items():
        new = set(rigs.keys(thing(name))) - channels
        if new:
            raise BrokenError("available", f"Auto Keying with Only Insert Available made {sorted(new)[:3]} of {name!r}")


def check_push_down(ob_of: Object) -> None:
    """An action that goes into a track shows the same on the frames that it has."""
    ob = ob_of()
    data = ob.animation_data
    if ob.library or data is None or data.action is None or not is_plain(ob) or live_is_keyed(ob):
        return
    first, last = (round(end) for end in data.action.frame_range)
    settle(first)
    if not is_steady() or last <= first or ob not in shown():
        return
    before = film(sorted({*range(first, last + 1, 3), last}))
    track = data.nla_tracks.new()
    strip = track.strips.new("Pushed", first, data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = data.action_slot  # Blender's own Push Down keeps it, a new strip takes the first
    if abs(strip.frame_end - last) > 1e-3 or strip.frame_start != first:
        return  # keys between frames: Blender itself stretches the strip
    data.action = None
    update()
    if is_steady():
        same_film("track", before, f"The action of {ob.name!r} was pushed down", 5.0)
