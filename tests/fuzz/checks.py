# SPDX-License-Identifier: GPL-3.0-or-later
"""More checks that are steps of a walk: what is remembered between frames, files and figures, and put back."""

import gc
import sys
from collections.abc import Callable, Sequence

import bpy
import numpy as np
import rigs
import vocabulary
from goals import (
    Key,
    active_goals,
    all_behind,
    chains,
    drives,
    figures_behind,
    follows_previous,
    history_matters,
    key_of,
    solved_alone,
)
from mathutils import Matrix
from oracle import all_channels, animated_bones, holds, live_is_keyed, poses, same, settle
from outside import muted_curves, other_handlers, turns_bones
from rigs import at_frame, evaluated, update
from vocabulary import EXTENSION, BrokenError, armatures, forget, run, said, save_and_load, shown

__all__ = ["check_at_once", "check_cleared", "check_cloth", "check_hand", "check_hung", "check_kept", "check_keyed_pose",
           "check_muted", "check_off_here", "check_others", "check_previous", "check_put_back", "check_sessions",
           "check_targets_to_pose"]  # fmt: skip

Object = Callable[[], bpy.types.Object]
"""An object, looked up each time: undo and loading replace it."""


def _live(ob: bpy.types.Object, frame: float) -> bool:
    """Switch Live on and go to a frame; False where poses depend on what happened before."""
    ob.dqik.live = True
    update()
    settle(frame)
    return not history_matters()


def _free_channels(ob: bpy.types.Object) -> np.ndarray:
    """Every channel (n, 17) of the bones that nothing animates."""
    animated = animated_bones(ob)
    return all_channels(ob)[[one.name not in animated for one in ob.pose.bones]]


# -- what is remembered ------------------------------------------------------------------------------------------------


def check_off_here(ob_of: Object, frame: float, way: str) -> None:
    """Live off gives at once the pose that this frame has without Live, also in a new session of Blender."""
    ob = ob_of()
    if live_is_keyed(ob) or not _live(ob, frame):
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
    if live_is_keyed(ob) or ob.library is not None:
        return
    ob.dqik.live = False
    update()
    settle(frame)
    before = _free_poses(ob)
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
    now = holds(ob)
    if any(now.get(name, hold) != hold for name, hold in kept.items()):
        raise BrokenError("kept", f"{ob.name!r} holds other bones after {way}")
    ob.dqik.live = False
    update()
    after = _free_poses(ob)
    for name in before.keys() & after.keys():
        off = np.abs(after[name] - before[name]).max()
        if not off <= 1e-4 * (1.0 + np.abs(before[name]).max()):
            raise BrokenError("kept", f"After {way}, Live off gives {name!r} of {ob.name!r} back {off:.3g} off")
    ob.dqik.live = True


def _free_poses(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The matrices from rest of the bones that nothing animates."""
    animated = animated_bones(ob)
    return {one.name: np.array(one.matrix_basis) for one in ob.pose.bones if one.name not in animated}


def check_hand(ob_of: Object, name: str, path: str, value: Sequence[float], frame: float) -> None:
    """A bone that is posed by hand under Live is held, and shows that pose where no goal moves it any more."""
    ob = ob_of()
    if live_is_keyed(ob) or turns_bones() or not _live(ob, frame):
        return
    one = ob.pose.bones[name]
    if name not in solved_alone(ob) or name in animated_bones(ob) or ob.library is not None:
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
    if live_is_keyed(ob) or turns_bones() or ob.library is not None or not _live(ob, frame):
        return
    one = ob.pose.bones[name]
    if name not in solved_alone(ob) or name in animated_bones(ob):
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
    if live_is_keyed(ob) or drives(ob) or not _live(ob, frame):
        return
    muted = [goal.mute for goal in ob.dqik.goals]
    for goal in ob.dqik.goals:
        goal.mute = True
    update()
    at_frame(frame)
    here, counts = poses(), any(True for _ in active_goals(ob))  # a key may have unmuted one
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
    if not any(follows_previous(other) for other in shown() if other != ob) and not history_matters(previous=False):
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
    if drives(target) or (target.animation_data is not None and target.animation_data.action is not None):
        return
    if live_is_keyed(ob) or other_handlers() or not _live(ob, frame):
        return
    target.location = place
    update()
    here = poses()
    at_frame(frame)
    same("late", poses(), here, f"What {target.name!r} moves shows another pose at the next change of frame")


def check_keyed_pose(ob_of: Object, frame: float, missed: bool) -> None:
    """A whole pose that is keyed as it is seen under Live comes back as it was seen.

    missed : also where a goal is missed.
    """
    ob = ob_of()
    if live_is_keyed(ob) or drives(ob) or ob.library is not None or not _live(ob, frame):
        return
    data = ob.animation_data
    if data is not None and (len(data.nla_tracks) or muted_curves(ob) or data.action_blend_type != "REPLACE"
                             or data.action_influence < 1.0):  # fmt: skip
        return
    if any(goal.influence < 1.0 for goal, _ in active_goals(ob)) or ob.dqik.start_from != "POSE":
        return
    if any(curve.modifiers for curve in rigs.fcurves(ob)) or ob.dqik.status.message or other_handlers():
        return
    if not (missed or ob.dqik.status.converged) or any(key_of(ob) in figures_behind(other) for other in shown()):
        return
    here = poses()
    for one in ob.pose.bones:
        one.keyframe_insert(rigs.ROTATION_PATHS[one.rotation_mode], frame=frame)
        one.keyframe_insert("location", frame=frame)
    update()
    at_frame(frame + 3.0)
    at_frame(frame)
    same("keyed pose", here, poses(), f"A pose that was keyed at frame {frame:g} comes back as another", 3.0)


# -- put back ----------------------------------------------------------------------------------------------------------


def bases(frame: float) -> dict[Key, np.ndarray]:
    """The channels without Live of the bones that nothing animates, of all live figures."""
    found = {}
    for ob in shown():
        if ob.dqik.live and not live_is_keyed(ob) and ob.library is None:
            ob.dqik.live = False
            update()
            found[key_of(ob)] = _free_channels(ob)
            ob.dqik.live = True
            update()
    at_frame(frame)
    return found


def check_put_back(action: Callable[[], None], words: str) -> None:
    """What visits frames and puts everything back, as an export does, leaves frames, holds and poses as they were."""
    frame = bpy.context.scene.frame_current
    settle(frame)
    if history_matters() or turns_bones() or not any(ob.dqik.live for ob in shown()):
        return
    before_base, before_hold = bases(frame), {key_of(ob): holds(ob) for ob in shown()}
    frames = (frame, frame + 3, frame + 1)
    before = _visited(frames)
    action()
    update()
    at_frame(frame)
    for ob in shown():
        if before_hold.get(key_of(ob), holds(ob)) != holds(ob):
            raise BrokenError("put back", f"{words}: {ob.name!r} holds other bones than before")
    for number, pose in _visited(frames).items():
        same("put back", before[number], pose, f"{words}: frame {number:g} is another than before")
    for key, after in bases(frame).items():
        was = before_base.get(key)
        if was is not None and was.shape == after.shape and was.size and not np.abs(was - after).max() <= 1e-5:
            raise BrokenError("put back", f"{words}: Live off gives {key[0]!r} another pose than before, by "
                                          f"{np.abs(was - after).max():.3g}")  # fmt: skip


def _visited(frames: Sequence[float]) -> dict[float, dict[Key, np.ndarray]]:
    found = {}
    for frame in frames:
        at_frame(frame)
        found[frame] = poses()
    at_frame(frames[0])
    return found


def check_cloth(name: str, ob_of: Object, bone: str) -> None:
    """A cloth's pinned vertices are where the bone that carries them is."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or other_handlers() or not _live(ob, 1.0):
        return
    for frame in (1, 2, 3):
        at_frame(frame)
        off = _pins_off(bpy.data.objects[name], ob, bone)
        if off > 2e-3 * (1.0 + max(ob.dimensions)):
            raise BrokenError("cloth", f"At frame {frame} pinned vertices are {off:.3g} from where {bone!r} of {ob.name!r} "
                                       "takes them")  # fmt: skip


def _pins_off(cloth: bpy.types.Object, ob: bpy.types.Object, bone: str) -> float:
    """The distance of the pinned vertices from where a bone takes them."""
    shape, mesh = evaluated(ob), evaluated(cloth)
    one = shape.pose.bones[bone]
    carried = shape.matrix_world @ one.matrix @ one.bone.matrix_local.inverted() @ shape.matrix_world.inverted_safe()
    return max(
        (mesh.matrix_world @ mesh.data.vertices[k].co - carried @ cloth.matrix_world @ cloth.data.vertices[k].co).length
        for k in range(3)
    )


# -- others ------------------------------------------------------------------------------------------------------------


def check_hung(change: Callable[[], object]) -> None:
    """What a user has hung on the target of a goal stays where it is when the goal is removed."""
    update()
    before = {ob.name: evaluated(ob).matrix_world.copy() for ob in bpy.context.view_layer.objects
              if ob.name.startswith("Hung") and not _follows_solved(ob)}  # fmt: skip
    change()
    update()
    for name, was in before.items():
        ob = bpy.context.view_layer.objects.get(name)
        if ob is None:
            raise BrokenError("hung", f"{name!r} was removed with a goal")
        now = evaluated(ob).matrix_world
        if _off(was, now) > 1e-4:
            raise BrokenError("hung", f"{name!r} hangs on the target of a goal; it moved by {_off(was, now):.3g} when "
                                      "the goal was removed")  # fmt: skip


def _off(one: Matrix, other: Matrix) -> float:
    return float(np.abs(np.array(one) - np.array(other)).max())


def _follows_solved(ob: bpy.types.Object) -> bool:
    """Whether an object follows a bone that goals may move."""
    nodes = all_behind(ob)
    if ob.animation_data is not None:
        for curve in ob.animation_data.drivers:
            for target in (target for variable in curve.driver.variables for target in variable.targets):
                if target.id is not None:
                    nodes |= {(key_of(target.id), target.bone_target)} | all_behind(target.id, target.bone_target)
    moved = {(key_of(other), name) for other in armatures() if other.pose for name in chains(other)}
    return not moved.isdisjoint(nodes)


def check_others(ob_of: Object, change: Callable[[], object], frames: Sequence[float]) -> None:
    """Figures that do not follow one stay as they are when that one is edited, baked or cleared."""
    settle(frames[0])
    if history_matters() or any(live_is_keyed(ob) for ob in armatures()):
        return
    own = key_of(ob_of())
    others = [key_of(ob) for ob in shown() if key_of(ob) != own and own not in figures_behind(ob)]
    if not others:
        return
    before = {frame: {key: pose[key] for key in others if key in pose} for frame, pose in _visited(frames).items()}
    said()
    change()
    update()
    words = said()
    if any(name in words for name, _ in others):
        return  # the operator said so
    for frame, pose in _visited(frames).items():
        same("others", before[frame], {key: pose[key] for key in others if key in pose},
             f"Frame {frame:g} of another figure changed with {own[0]!r}")  # fmt: skip


def check_targets_to_pose(ob_of: Object, last: int) -> None:
    """*Targets to Pose* puts every target where its bone is, or names what it leaves. last : of a range; 0 for none."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None:
        return
    ob.dqik.live = False
    update()
    frame = bpy.context.scene.frame_current
    frames = list(range(frame, frame + last)) or [frame]
    places = {}
    for number in frames:
        at_frame(number)
        places[number] = _ends(ob)
    at_frame(frame)
    said()
    words = {"frame_start": frames[0], "frame_end": frames[-1]} if last else {}
    if "FINISHED" not in run("targets_to_pose", ob, all=True, **words):
        return
    text = said()
    for number in frames:
        if last:
            at_frame(number)
        else:
            update()
        for k, place in places[number].items():
            goal = ob.dqik.goals[k]
            there = evaluated(goal.target).matrix_world.translation
            if (there - place).length > 1e-3 * (1.0 + place.length) and goal.name not in text:
                raise BrokenError("targets to pose", f"The target of goal {goal.name!r} is {(there - place).length:.3g} "
                                                     "from its bone, and nothing was said")  # fmt: skip


def _ends(ob: bpy.types.Object) -> dict[int, object]:
    """The places in the world of the ends of goals that have objects as targets, by number."""
    shape, found = evaluated(ob), {}
    for k, goal in enumerate(ob.dqik.goals):
        there = goal.target is not None and not goal.subtarget and goal.target.type != "ARMATURE"
        if there and goal.bone in ob.pose.bones and not goal.target.hide_viewport:
            one = shape.pose.bones[goal.bone]
            found[k] = (shape.matrix_world @ (one.tail if goal.use_tail else one.head)).copy()
    return found


def check_sessions(ob_of: Object, count: int) -> None:
    """Figures that were deleted leave nothing behind."""
    module = sys.modules.get(f"{EXTENSION}.rig.frame.session")
    if module is None:
        return
    ob = ob_of()
    for _ in range(count):
        made = ob.copy()
        bpy.context.scene.collection.objects.link(made)
        made.dqik.live = True
        update()
        bpy.data.objects.remove(made)
    update()
    at_frame(bpy.context.scene.frame_current + 1)
    update()
    gc.collect()
    left = sum(type(one) is module.Session for one in gc.get_objects())
    if left > len(armatures()) + count // 2:
        raise BrokenError("left behind", f"{count} figures were made and deleted; {left} sessions are left")
