# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that are steps of a walk: what is remembered between frames and files, and shows at once."""

from collections.abc import Callable, Sequence

import bpy
import goals
import numpy as np
import rigs
import vocabulary
from mathutils import Matrix
from oracle import animated_bones, animated_paths, holds, live_is_keyed, poses, same, settle
from outside import muted_curves, other_handlers, turns_bones
from rigs import at_frame, evaluated, update
from vocabulary import BrokenError, forget, save_and_load, shown

__all__ = ["check_at_once", "check_cleared", "check_hand", "check_kept", "check_keyed_pose", "check_muted",
           "check_off_here", "check_previous"]  # fmt: skip

HARDLY, SHORT = 0.14, 0.02  # of a miss, and of the size: so far a solve may get nearer, and the keyed pose stays

Object = Callable[[], bpy.types.Object]
"""An object, looked up each time: undo and loading replace it."""


def go_live(ob: bpy.types.Object, frame: float, on: bool = True) -> bool:
    """Switch Live on or off and go to a frame; False where poses depend on what happened before."""
    ob.dqik.live = on
    update()
    settle(frame)
    return not goals.history_matters()


# -- what is remembered ------------------------------------------------------------------------------------------------


def check_off_here(ob_of: Object, frame: float, way: str) -> None:
    """Live off gives at once the pose that this frame has without Live, also in a new session of Blender."""
    ob = ob_of()
    if live_is_keyed(ob) or turns_bones() or not go_live(ob, frame):
        return
    if way == "forget":
        forget()
    elif way == "load":
        save_and_load()
    ob_of().dqik.live = False
    update()
    here = poses()
    at_frame(frame)
    same("off here", here, poses(), f"Live off at frame {frame:g} shows another pose than the frame has")
    ob_of().dqik.live = True


def check_kept(ob_of: Object, frame: float, way: str) -> None:
    """The pose before Live, and the holds, survive what a file goes through while Live is on.

    way : "forget" for a new session of Blender, "load" for saving and loading, "undo" for undo of something else, or a
    line of code that edits bones or their rotation modes.
    """
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or turns_bones():
        return
    go_live(ob, frame, False)
    before = free_poses(ob)
    ob.dqik.live = True
    update()
    at_frame(frame + 1.0)
    kept = holds(ob)
    if way == "load":
        save_and_load()
    elif way == "undo":
        bpy.ops.ed.undo_push(message="before")
        bpy.data.objects.new("Unrelated", None)
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        update()
    else:
        if way != "forget":
            exec(way, {**vars(vocabulary)})
            update()
        forget()
    at_frame(frame)
    ob = ob_of()
    now, paths = holds(ob), set(animated_paths(ob))  # holds that are keyed are others on other frames
    other = {name: (hold, now[name]) for name, hold in kept.items()
             if now.get(name, hold) != hold and f'pose.bones["{name}"].dqik_hold' not in paths}  # fmt: skip
    if other:
        raise BrokenError("kept", f"{ob.name!r} holds other bones after {way}: {other}")
    ob.dqik.live = False
    update()
    after = free_poses(ob)
    for name in before.keys() & after.keys():
        off = np.abs(after[name] - before[name]).max()
        if not off <= 1e-4 * (1.0 + np.abs(before[name]).max()):
            raise BrokenError("kept", f"After {way}, Live off gives {name!r} of {ob.name!r} back {off:.3g} off")
    ob.dqik.live = True


def free_poses(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The matrices from rest of the bones that nothing animates."""
    animated = animated_bones(ob)
    poses = {one.name: np.array(one.matrix_basis) for one in ob.pose.bones if one.name not in animated}
    for name, pose in poses.items():
        pose[:3, 3] = ob.pose.bones[name].location  # Blender leaves out that of connected bones
    return poses


def check_hand(ob_of: Object, name: str, path: str, value: Sequence[float], frame: float) -> None:
    """A bone that is posed by hand under Live is held, and shows that pose where no goal moves it any more."""
    ob = ob_of()
    if live_is_keyed(ob) or turns_bones() or ob not in shown() or not go_live(ob, frame):
        return
    one = ob.pose.bones[name]
    if name not in goals.solved_alone(ob) or name in animated_bones(ob) or ob.library is not None:
        return
    shown_before = np.array(getattr(one, path))
    if np.abs(shown_before - value).max() < 1e-3 or not any(value):
        return
    setattr(one, path, value)
    update()
    if ob.dqik.status.message:
        return  # posed outside its limits, for example
    if one.dqik_hold != 1.0:
        raise BrokenError("hand", f"{name!r} of {ob.name!r} was posed by hand and has hold {one.dqik_hold:g}")
    at_frame(frame + 2.0)
    at_frame(frame)
    ob.dqik.live = False
    update()
    off = np.abs(np.array(getattr(ob.pose.bones[name], path)) - np.array(value, dtype=np.float32)).max()
    if off > 1e-6:
        raise BrokenError("hand", f"{name!r} of {ob.name!r} was posed by hand under Live; Live off shows it {off:.3g} "
                                  "off")  # fmt: skip
    ob.dqik.live = True


def check_cleared(ob_of: Object, name: str, frame: float) -> None:
    """A solved bone that is put to rest by hand is held no more."""
    ob = ob_of()
    if live_is_keyed(ob) or turns_bones() or ob.library is not None or not go_live(ob, frame):
        return
    one = ob.pose.bones[name]
    if name not in goals.solved_alone(ob) or name in animated_bones(ob):
        return
    path = rigs.ROTATION_PATHS[one.rotation_mode]
    rest = {"QUATERNION": (1, 0, 0, 0), "AXIS_ANGLE": (0, 0, 1, 0)}.get(one.rotation_mode, (0, 0, 0))
    if np.abs(np.array(getattr(one, path)) - rest).max() < 1e-3:
        return
    setattr(one, path, rest)
    update()
    if one.dqik_hold != 0.0 and not ob.dqik.status.message:
        raise BrokenError("hand", f"{name!r} of {ob.name!r} was cleared and has hold {one.dqik_hold:g}")


def check_muted(ob_of: Object, frame: float) -> None:
    """With all goals muted a figure stands as with Live off."""
    ob = ob_of()
    if live_is_keyed(ob) or goals.drives(ob) or not go_live(ob, frame):
        return
    muted = [goal.mute for goal in ob.dqik.goals]
    for goal in ob.dqik.goals:
        goal.mute = True
    update()
    at_frame(frame)
    here, counts = poses(), any(True for _ in goals.active_goals(ob))  # a key may have unmuted one
    ob.dqik.live = False
    update()
    at_frame(frame)
    if not counts:
        same("muted", here, poses(), "With all goals muted the pose is not the one of Live off")
    for goal, was in zip(ob.dqik.goals, muted, strict=True):
        goal.mute = was
    ob.dqik.live = True


def check_previous(ob_of: Object, frame: float, jump: float) -> None:
    """*Previous Frame* after a jump is what *Pose* gives."""
    ob = ob_of()
    if live_is_keyed(ob):
        return
    ob.dqik.start_from = "PREVIOUS"
    others = (other for other in shown() if other != ob)
    if not any(map(goals.follows_previous, others)) and not goals.history_matters(previous=False):
        ob.dqik.live = True
        update()
        at_frame(frame + jump - 1.0)
        at_frame(frame + jump)
        at_frame(frame)
        here = poses()
        ob.dqik.start_from = "POSE"
        update()
        at_frame(frame)
        same("previous", poses(), here, f"A jump from frame {frame + jump:g} to {frame:g} with Previous Frame is not "
                                        "what Pose gives")  # fmt: skip
    ob.dqik.start_from = "POSE"


def check_at_once(ob_of: Object, target_of: Object, place: Sequence[float], frame: float) -> None:
    """What a moved target does shows at once, not at the next frame only."""
    ob, target = ob_of(), target_of()
    if goals.drives(target) or (target.animation_data is not None and target.animation_data.action is not None):
        return
    if live_is_keyed(ob) or other_handlers() or not go_live(ob, frame):
        return
    target.location = place
    update()
    here = poses()
    at_frame(frame)
    same("late", poses(), here, f"What {target.name!r} moves shows another pose at the next change of frame")


def misses(ob: bpy.types.Object) -> np.ndarray:
    """By how much goals are missed, in Blender's evaluation: distances, and turns [rad]."""
    shape, found = evaluated(ob), list[float]()
    for goal, matrix in goals.active_goals(ob):
        one, wanted = shape.pose.bones[goal.bone], shape.matrix_world.inverted_safe() @ matrix
        found.append(((one.tail if goal.use_tail else one.head) - wanted.translation).length * goal.use_position)
        found.append(rigs.turn(np.array(one.matrix)[None], np.array(wanted)[None]) * goal.use_rotation)
    return np.array(found)


def _is_at_root(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, target: Matrix) -> bool:
    """Whether a goal's target lies where its chain begins."""
    shape = evaluated(ob)
    root = shape.matrix_world @ shape.pose.bones[goals.chain(ob, goal)[-1].name].head
    return (root - target.translation).length < 1e-2 * goals.size(ob) * max(map(abs, shape.matrix_world.to_scale()))


def check_keyed_pose(ob_of: Object, frame: float, missed: bool) -> None:
    """A whole pose that is keyed as it is seen under Live comes back as it was seen.

    missed : also where a goal is missed.
    """
    ob = ob_of()
    if live_is_keyed(ob) or goals.drives(ob) or ob.library is not None or not go_live(ob, frame):
        return
    data = ob.animation_data
    if data is not None and (len(data.nla_tracks) or muted_curves(ob) or data.action_blend_type != "REPLACE"
                             or data.action_influence < 1.0):  # fmt: skip
        return
    if any(goal.influence < 1.0 for goal, _ in goals.active_goals(ob)) or ob.dqik.start_from != "POSE":
        return
    if any(curve.modifiers for curve in rigs.fcurves(ob)) or ob.dqik.status.message or other_handlers():
        return
    behind = any(goals.key_of(ob) in goals.figures_behind(other) for other in shown())
    if behind or not (missed or ob.dqik.status.converged):
        return
    if any(other != ob and other.animation_data and other.animation_data.action == data.action for other in shown()):
        return  # its keys would move them too
    if ob.dqik.status.overlap > 0.0:
        return  # a body that is still in something is pushed on from where its keys have it (docs/contact.md)
    if any(goal.pole_target is not None and _is_at_root(ob, goal, matrix) for goal, matrix in goals.active_goals(ob)):
        return  # the last digits decide to which side of the pole's line such a limb is folded
    here, seen = poses(), misses(ob)
    for one in ob.pose.bones:
        one.keyframe_insert(rigs.ROTATION_PATHS[one.rotation_mode], frame=frame)
        one.keyframe_insert("location", frame=frame)
    update()
    at_frame(frame + 3.0)
    at_frame(frame)
    again = poses()
    ob.dqik.hold_keyed = False
    update()
    at_frame(frame)
    nearer = seen - misses(ob)
    ob.dqik.hold_keyed = True
    update()
    if (nearer < HARDLY * seen + 1e-3).all() and (nearer[::2] < SHORT * goals.size(ob)).all():
        # within their tolerances straight limbs give by a third of a degree
        same("keyed pose", here, again, f"A pose that was keyed at frame {frame:g} comes back as another", 8.0)
