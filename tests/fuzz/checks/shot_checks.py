# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of holds, pins, planted feet, limbs that are switched, controls, and of undo and mirrored pastes."""

from collections.abc import Callable, Sequence

import bpy
import numpy as np
import rigs
from checks import go_live
from goals import Key, active_goals, figures_behind, key_of, size, solved_alone
from mathutils import Euler, Matrix
from oracle import animated_bones, animated_paths, holds, live_is_keyed, poses, same, settle
from rigs import at_frame, evaluated, update
from shots import Object, Owner, film, is_plain, is_steady, key_times, same_film, scale_of, ways
from vocabulary import BrokenError, active, bone, choose, press, run, said, select, shown, thing

__all__ = ["check_again", "check_controls", "check_flipped", "check_from_motion", "check_hold_here", "check_limb",
           "check_paths", "check_pin", "check_plant"]  # fmt: skip

FRAMES = range(1, 13)
SWITCHES = (".influence", ".rotation_follows")


# -- holds, pins, limbs ------------------------------------------------------------------------------------------------


def body_times(ob: bpy.types.Object) -> list[float]:
    """The times of all keys of an armature and of its targets, but for those of switches, which hold no pose."""
    owners = {ob, *(goal.target for goal in ob.dqik.goals if goal.target is not None)}
    found = [curve for one in owners for curve in rigs.fcurves(one) if not curve.data_path.endswith(SWITCHES)]
    return sorted({round(point.co[0], 3) for curve in found for point in curve.keyframe_points})


def check_hold_here(ob_of: Object, name: str, path: str, value: Sequence[float], frame: float) -> None:
    """A pose that is held at its frame shows there again, and the other keyed frames stay as they were."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or not is_plain(ob) or any(figures_behind(one) for one in shown()):
        return
    go_live(ob, frame)
    if not is_steady() or ob not in shown() or name not in solved_alone(ob) or any(holds(ob).values()):
        return
    if ob.dqik.start_from != "POSE" or any(one.dqik_stiffness for one in ob.pose.bones):
        return
    others = [time for time in body_times(ob) if abs(time - frame) > 1e-2]
    own = key_times((ob.name, name))  # on keys of targets further away, handles of its keys may lead it elsewhere
    beside = {max((time for time in others if time < frame), default=0.0),
              min((time for time in others if time > frame), default=0.0)}  # fmt: skip
    times = [time for time in others if time in beside or time in own or not own]
    before = film(times)
    settle(frame)
    setattr(bone(name, ob), path, value)
    update()
    if ob.dqik.status.message or bone(name, ob).dqik_hold != 1.0:
        return
    here, met = poses(), ob.dqik.status.converged
    select(ob, [name])
    if "FINISHED" not in press("hold_here"):
        return
    update()
    if met:  # else the solve goes on from the pose that is keyed
        same("hold here", here, poses(), f"{name!r} was held at frame {frame:g}, and the pose jumps", 20.0)
    same_film("hold here", before, f"{name!r} was held at frame {frame:g}", 1.0)
    if met:
        same_film("hold here", {frame: here}, f"{name!r} was held there", 20.0)


def check_limb(ob_of: Object, name: str, to_ik: bool, first: float, last: float) -> None:
    """A limb that is switched moves nothing on any frame; its goal has the influence that it should. Or it says so.

    last : before the first frame, from that one on.
    """
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None:
        return
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    go_live(ob, first)
    if not is_steady() or ob not in shown():
        return
    goals = [k for k, goal in enumerate(ob.dqik.goals) if name in (goal.bone, goal.subtarget)]
    aims = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    if len(aims) != len(set(aims)):
        return
    onward = last < first
    # controls of a limb that goes to them go where it is; those of a figure without keys all go to the body
    settles = to_ik or not (animated_paths(ob) or body_times(ob))
    but = {key_of(ob): controls(ob)} if settles else {}
    before = film(FRAMES if not onward else [frame for frame in FRAMES if frame <= first], but=but)
    settle(first)
    was_so = any(is_on(evaluated(ob).dqik.goals[k]) == to_ik for k in goals)
    select(ob, [name])
    mine = {} if onward else {"frame_start": int(first), "frame_end": int(last)}
    if "FINISHED" not in press(f"limb_to_{'ik' if to_ik else 'fk'}", **mine) or not is_steady():
        return
    update()
    if not was_so and "moved" not in said():
        same_film("limb", before, f"The limb of {name!r} was switched at frames {first:g} to {last:g}", but=but)


def controls(ob: bpy.types.Object) -> set[str]:
    """Names of the bones that goals of an armature aim at, and of the bones below them."""
    ends = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    ends += [(goal.pole_target, goal.pole_subtarget) for goal in ob.dqik.goals]
    own = {name for target, name in ends if target == ob}
    return {one.name for one in ob.pose.bones if own & {one.name, *(above.name for above in one.parent_recursive)}}


def is_on(goal: bpy.types.PropertyGroup) -> bool:
    return goal.influence > 0.0 and not goal.mute


def bodies(of: Key | None = None, names: Sequence[str] = ()) -> dict[Key, np.ndarray]:
    """The poses without controls: that of a pinned hand, which follows its forearm no longer, turns in its place.

    of, names : an armature of which only these bones count.
    """
    found = poses()
    own = {key_of(ob): [one.name in names if key_of(ob) == of else not one.name.startswith("DQIK")
                        for one in ob.pose.bones] for ob in shown()}  # fmt: skip
    return {key: pose[np.array(own[key])] for key, pose in found.items()}


def check_pin(ob_of: Object, names: Sequence[str], frame: float, auto: bool) -> None:
    """Pinned, a body stays, and of a chain what is pinned; with Auto Keying nothing moves on the frames before, nor,
    unpinned later, on those after."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or ob not in shown():
        return
    settle(frame)
    if not is_steady():
        return
    new = not any(goal.bone in names or goal.subtarget in names for goal in ob.dqik.goals)
    first = not any(goal.pin for goal in ob.dqik.goals)  # the control of a pin that is there goes where it is needed
    times = (frame - 2.0, frame - 1.0, frame + 2.0, frame + 3.0)
    before = film(times if auto and first and is_plain(ob) else ())
    settle(frame)
    targets = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    own = len(targets) == len(set(targets)) and not any(key_of(ob) in figures_behind(one) for one in shown())
    void = any(goal.pin and goal.bone in names and 0.0 in (goal.position_weight, goal.rotation_weight)
               for goal in ob.dqik.goals)  # a step has set it so: such a pin lets its bone go
    met = ob.dqik.status.converged and not ob.dqik.status.message and own and not void
    gave_way = any(goal.gave_way for goal in ob.dqik.goals)  # with what is pinned, a wish may come nearer
    # of any chain that goals lead already, bones between pins share turns anew, since they serve more goals, and a
    # solve from its base pose does not always find the one that meets all
    between = ob.dqik.live and active_goals(ob) and "arm.L" not in ob.data.bones
    led = {goal.subtarget for goal in ob.dqik.goals}  # the control of a pin that is there goes to its bone
    only = (key_of(ob), [name for name in names if name not in led]) if between else ()
    here = bodies(*only)
    select(ob, names)
    tools, wishes = bpy.context.scene.tool_settings, bpy.context.preferences.edit
    only_available, wishes.use_keyframe_insert_available = wishes.use_keyframe_insert_available, False
    tools.use_keyframe_insert_auto = auto
    try:
        done = press("pin")
        update()
        if "FINISHED" in done and is_steady():
            words = f"{names} of {ob.name!r} were pinned at frame {frame:g}"
            now = ob_of().dqik
            if (met and (now.status.converged or not between)) or not now.live:
                # a goal that is there counts for more now; straight limbs give by 2 degrees within their tolerances
                near = new and not any(goal.gave_way for goal in now.goals)  # a wish gives by little for a new pin,
                near = near and not any(one.dqik_hold > 0.0 for one in ob_of().pose.bones)  # as bones do that are held
                same("pin", here, bodies(*only), words, 250.0 if gave_way else 15.0 if near else 100.0)
            same_film("pin", {time: poses for time, poses in before.items() if time < frame}, words)
            at_frame(frame + 2.0)
            select(ob_of(), names)
            if "FINISHED" in press("unpin"):
                same_film("pin", before, f"{words}, and let go at {frame + 2.0:g}")
    finally:
        tools.use_keyframe_insert_auto, wishes.use_keyframe_insert_available = False, only_available
    update()


# -- planting ----------------------------------------------------------------------------------------------------------


def check_plant(ob_of: Object, owner: Owner, first: int, last: int) -> None:
    """A planted target stands still on its frames; keys beyond the fade stay."""
    settle(first)
    aims = {(goal.target, goal.subtarget) for goal in ob_of().dqik.goals}
    if not is_steady() or ob_of().library is not None or (thing(owner[0]), owner[1]) not in aims:
        return
    if owner[0] == ob_of().name and owner[1] in {goal.bone for goal in ob_of().dqik.goals}:
        return  # then the target of its own goal is planted
    keys = rigs.keys(thing(owner[0]))
    leave_modes()  # in Pose Mode the selected bones are planted
    choose([owner])
    if not owner[1]:
        thing(owner[0]).select_set(True)
        bpy.context.view_layer.objects.active = ob_of()
    fade = 2
    done = press("plant", frame_start=first, frame_end=last, fade=fade, roll=False)
    if "FINISHED" not in done or not is_steady():
        return
    update()
    found = ways([owner], range(first, last + 1))
    places = np.array([places[0][:3, 3] for places in found.values()])
    away = np.abs(places - places[0]).max()
    if away > 3e-5 * scale_of(owner):
        raise BrokenError("plant", f"{owner} was planted on frames {first} to {last} and moves by {away:.3g}")
    for channel, points in rigs.keys(thing(owner[0])).items():
        outer = [p for p in keys.get(channel, ()) if not first - fade - 1e-3 <= p[0] <= last + fade + 1e-3]
        if any(point not in points for point in outer):
            raise BrokenError("plant", f"A key of {channel} outside of frames {first} to {last} was changed")


# -- controls ----------------------------------------------------------------------------------------------------------


def leave_modes() -> None:
    """Take all figures to Object Mode, in which selected objects count."""
    for other in shown():
        if other.mode != "OBJECT":
            bpy.context.view_layer.objects.active = other
            bpy.ops.object.mode_set(mode="OBJECT")


def check_controls(ob_of: Object, frame: float) -> None:
    """*Select Controls* selects just the targets; *Key Controls* keys just these, and nothing moves."""
    leave_modes()
    ob = ob_of()
    settle(frame)
    ends = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    ends += [(goal.pole_target, goal.pole_subtarget) for goal in ob.dqik.goals]
    local = [end for end in ends if end[0] is not None and end[0].library is None]
    own = {(target.name, name if target == ob else "") for target, name in local if target == ob or not target.pose}
    others = {one.name for one in ob.data.bones if one.name.startswith("DQIK")}
    if "FINISHED" not in run("select_controls", ob):
        return
    ob = ob_of()
    found = {(one.id_data.name, one.name) for one in (bpy.context.selected_pose_bones or ())}
    found |= {(one.name, "") for one in bpy.context.view_layer.objects if one.select_get() and one.mode == "OBJECT"}
    extra = {one for one in found - own if one[1] not in others}
    if extra:
        raise BrokenError("controls", f"{extra} are no controls of {ob.name!r}, and selected")
    before = {one.name: rigs.keys(one) for one in bpy.data.objects if one.library is None}
    here = poses()
    if "FINISHED" not in run("key_controls", ob):
        return
    update()
    own |= {(other.name, part) for name, part in own for other in sharing(thing(name))}
    for name, keys in before.items():
        for channel, points in rigs.keys(thing(name)).items():
            if points == keys.get(channel):
                continue
            part = channel[0].split('"')[1] if channel[0].startswith("pose.bones") else ""
            if (name, part) not in own and part not in others:
                raise BrokenError("controls", f"{channel} of {name!r} was keyed, which is no control of {ob.name!r}")
            if not any(abs(time - bpy.context.scene.frame_current_final) < 1e-2 for time, _ in points):
                raise BrokenError("controls", f"{channel} of {name!r} has no key at frame {frame:g}")
    if is_steady() and is_plain(ob) and (ob.dqik.status.converged or not ob.dqik.live):  # else digits decide its folds
        same("controls", here, poses(), f"The controls of {ob.name!r} were keyed at frame {frame:g}")


def sharing(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that play the same slot of the same action as one does: keys of one are keys of all of them."""
    def played(one: bpy.types.Object) -> tuple:
        data = one.animation_data
        return (data.action, getattr(data, "action_slot_handle", 0)) if data is not None and data.action else ()

    return [one for one in bpy.data.objects if played(ob) and played(one) == played(ob)]


def check_from_motion(name: str, turns: dict[str, dict[int, tuple]], controls: set[str], location: tuple) -> None:
    """A figure that moves: after Set Up, with more controls, Live shows its motion, also half way between frames."""
    ob = rigs.figure(name)
    ob.location = location
    for part, keys in turns.items():
        for frame, angles in keys.items():
            ob.pose.bones[part].rotation_quaternion = Euler(angles).to_quaternion()
            ob.pose.bones[part].keyframe_insert("rotation_quaternion", frame=frame)
    frames = [1.0, 2.0, 2.5, 4.0, 5.5, 6.0]
    settle(1)
    before, count = film(frames), len(ob.pose.bones)
    run("setup_full_body", ob, from_animation=True, controls=controls)
    ob = thing(name)
    ob.dqik.live = True
    update()
    now = film(frames)
    for frame in frames:
        a, b = before[frame][key_of(ob)], now[frame][key_of(ob)][:count]
        away, turned = np.abs(a - b)[:, :3, 3].max(), np.degrees(rigs.turn(a, b))
        if away > 1e-3 * size(ob) or turned > 0.5:
            raise BrokenError("motion", f"Live shows {name!r} {away:.3g} m and {turned:.3g} degrees from its motion at "
                                        f"frame {frame:g}")  # fmt: skip


def check_paths(ob_of: Object, names: Sequence[str], tails: bool) -> None:
    """Motion paths are where bones go. A bone that is hidden cannot be selected, and has none."""
    ob, scene = ob_of(), bpy.context.scene
    scene.frame_start, scene.frame_end = 2, 5
    settle(3)
    select(ob, names)
    names = [one.name for one in bpy.context.selected_pose_bones_from_active_object or ()]
    steady = is_steady()
    if "FINISHED" not in press("motion_paths", ends="TAILS" if tails else "HEADS") or not steady:
        return
    ob = ob_of()
    for frame in range(2, 6):
        at_frame(frame)
        shape = evaluated(ob)
        for name in names:
            path, one = ob.pose.bones[name].motion_path, shape.pose.bones[name]
            place = shape.matrix_world @ (one.tail if tails else one.head)
            if path is None or (place - path.points[frame - 2].co.to_3d()).length > 1e-3 * scale_of((ob.name, name)):
                raise BrokenError("paths", f"The path of {name!r} is elsewhere at frame {frame}")


# -- files, undo, mirror -----------------------------------------------------------------------------------------------


def record() -> dict[str, object]:
    """What is saved of a shot: keys, constraints, goals, holds, and channels without keys."""
    found: dict[str, object] = {}
    for ob in bpy.data.objects:
        if ob.library is not None:
            continue
        found[f"keys of {ob.name}"] = rigs.keys(ob)
        owners = [ob, *(ob.pose.bones if ob.pose is not None else ())]
        found[f"constraints of {ob.name}"] = [
            (own.name, one.name, getattr(one, "subtarget", ""), _rounded(getattr(one, "inverse_matrix", None)))
            for own in owners for one in own.constraints
        ]  # fmt: skip
        if ob.type == "ARMATURE":
            keyed = animated_bones(ob)
            found[f"holds of {ob.name}"] = {name: hold for name, hold in holds(ob).items() if name not in keyed}
            found[f"goals of {ob.name}"] = [(goal.name, goal.bone, goal.kind, goal.subtarget) for goal in ob.dqik.goals]
    return found


def _rounded(matrix: Matrix | None) -> tuple | None:
    return None if matrix is None else tuple(tuple(row) for row in matrix)


def check_again(change: Callable[[], object], frame: float) -> None:
    """Undo takes back what a change has done, redo does it again."""
    settle(frame)
    bpy.ops.ed.undo_push(message="before")
    steady, before, here = is_steady(), record(), poses()
    change()
    update()
    bpy.ops.ed.undo_push(message="after")
    after = record()
    at_frame(frame)
    there = poses()
    bpy.ops.ed.undo()
    update()
    unchanged("undo", before, here, steady, "Undo of a change to the shot")
    bpy.ops.ed.redo()
    update()
    same_record("redo", after, "Redo of a change to the shot")
    if steady and is_steady():
        at_frame(frame)
        same("redo", there, poses(), "Redo of a change to the shot")


def same_record(kind: str, before: dict[str, object], words: str, only: Sequence[str] = ()) -> None:
    """Raise where keys, constraints, goals or holds are others now. only : what counts, by its name; else all."""
    now = record()
    for name in only or before.keys() | now.keys():
        if repr(before.get(name)) != repr(now.get(name)):  # as text: a key may hold no number, which equals nothing
            raise BrokenError(kind, f"{words}: the {name} are {now.get(name)}, not {before.get(name)}"[:600])


def unchanged(kind: str, before: dict[str, object], here: dict, steady: bool, words: str) -> None:
    """What was done has changed nothing."""
    same_record(kind, before, words)
    if steady:
        same(kind, here, poses(), f"{words}, and the pose has changed")


def check_flipped(ob_of: Object, frame: float, names: Sequence[str]) -> None:
    """A pose that is pasted mirrored leaves goals, attachments and Live as they are."""
    ob = ob_of()
    settle(frame)
    active(ob)
    select(ob, names or [one.name for one in ob.pose.bones])
    was = ob.dqik.live, ob.dqik.status.message, record()
    bpy.ops.pose.copy()
    bpy.ops.pose.paste(flipped=True)
    update()
    ob = ob_of()
    if ob.dqik.live != was[0] and not live_is_keyed(ob):
        raise BrokenError("flipped", f"After a mirrored paste {ob.name!r} is live no longer: {ob.dqik.status.message}")
    same_record("flipped", was[2], "A mirrored paste", (f"constraints of {ob.name}", f"goals of {ob.name}"))
