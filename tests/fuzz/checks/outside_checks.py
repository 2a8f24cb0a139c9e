# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that are steps of a walk: what exports, simulations, scripts and operators must leave as it was."""

import gc
import sys
from collections.abc import Callable, Sequence

import bpy
import numpy as np
import oracle
from checks import Object, free_poses, go_live
from goals import Key, all_behind, chains, figures_behind, history_matters, key_of, size, solved_bones
from mathutils import Matrix
from outside import other_handlers, turns_bones
from rigs import at_frame, evaluated, update
from vocabulary import EXTENSION, BrokenError, armatures, run, said, shown

NUDGE = 1e-6  # [rad]
RESTORED = 10.0  # times the usual room: what a tool restores is rounded, and out of reach rounding counts more

__all__ = ["check_cloth", "check_hung", "check_others", "check_put_back", "check_sessions", "check_targets_to_pose"]


# -- put back ----------------------------------------------------------------------------------------------------------


def bases(frame: float) -> dict[tuple[Key, str], np.ndarray]:
    """The poses without Live of the bones of live figures that goals move and nothing animates."""
    found = {}
    for ob in shown():
        if ob.dqik.live and not oracle.live_is_keyed(ob) and ob.library is None:
            ob.dqik.live = False
            update()
            found |= {(key_of(ob), name): pose for name, pose in free_poses(ob).items() if name in chains(ob)}
            ob.dqik.live = True
            update()
    at_frame(frame)
    return found


def check_put_back(action: Callable[[], None], words: str) -> None:
    """What visits frames and puts everything back, as an export does, leaves frames, holds and poses as they were."""
    frame = bpy.context.scene.frame_current
    oracle.settle(frame)
    live = [ob for ob in shown() if ob.dqik.live]
    # exporters reset bones that nothing sets
    known = live and all(map(chains, live)) and not any(map(oracle.live_is_keyed, live))
    if history_matters() or turns_bones() or not known or _settings_stay_changed():
        return
    frames = (frame, frame + 3, frame + 1)
    if _last_digits_show(frames):
        return
    before_base, before_hold = bases(frame), {key_of(ob): oracle.holds(ob) for ob in shown()}
    if any(_holds_at_rest(ob, before_base) for ob in shown()):
        return
    if "glb" in words and any(map(_is_posed_alone, shown())):
        return  # this exporter leaves such bones at rest, with and without Live
    if any(not ob.dqik.status.converged and chains(ob) & oracle.animated_bones(ob) for ob in live):
        return  # the last digits of keys could be what shows
    before, played = _visited(frames), _played()
    action()
    update()
    if _played() != played:
        return  # exporters of some versions leave another slot
    at_frame(frame)
    for ob in shown():
        if before_hold.get(key_of(ob), oracle.holds(ob)) != oracle.holds(ob):
            raise BrokenError("put back", f"{words}: {ob.name!r} holds other bones than before")
    for number, pose in _visited(frames).items():
        oracle.same("put back", before[number], pose, f"{words}: frame {number:g} is another than before", RESTORED)
    for key, after in bases(frame).items():
        off = np.abs(before_base[key] - after).max() if key in before_base else 0.0
        if not off <= 1e-4 * (1.0 + np.abs(after).max()):
            (figure, _), name = key
            raise BrokenError("put back", f"{words}: Live off gives {name!r} of {figure!r} another pose than before, "
                                          f"by {off:.3g}")  # fmt: skip


def _settings_stay_changed() -> bool:
    """Whether an action has keys of settings that a figure's own animation does not set.

    Tools that play all actions put poses back, and leave such settings as the last of these frames had them.
    """
    keyed = {path for action in bpy.data.actions for path in oracle.action_paths(action) if "dqik" in path}
    return any(keyed - set(oracle.animated_paths(ob)) for ob in shown())


def _played() -> list[tuple[str, int]]:
    """The actions that armatures play, and their slots."""
    data = [ob.animation_data for ob in shown() if ob.animation_data is not None and ob.animation_data.action]
    return [(one.action.name, getattr(one, "action_slot_handle", 0)) for one in data]


def _last_digits_show(frames: Sequence[float]) -> bool:
    """Whether the last digits of base poses change what frames show; these are nudged to find out.

    Goals far out of reach that work against each other can do this. Then no one can tell what was put back from what
    was posed.
    """
    before = _visited(frames)
    for ob in shown():
        if ob.dqik.live and not oracle.live_is_keyed(ob) and ob.library is None:
            ob.dqik.live = False
            update()
            for one in ob.pose.bones:
                one.matrix_basis = one.matrix_basis @ Matrix.Rotation(NUDGE, 4, (0.6, 0.64, 0.48))
            update()
            ob.dqik.live = True
            update()
    after = _visited(frames)
    apart = [oracle.difference(before[frame], after[frame]) for frame in frames]
    return any(turned > oracle.ANGLE or moved > oracle.LENGTH for turned, moved, _ in apart)


def _holds_at_rest(ob: bpy.types.Object, base: dict[tuple[Key, str], np.ndarray]) -> bool:
    """Whether bones that stand at rest are held: clearing these lets them go, and putting them back shows nothing."""
    held = (name for name, hold in oracle.holds(ob).items() if hold and (key_of(ob), name) in base)
    return any(np.abs(base[key_of(ob), name] - np.eye(4)).max() < 1e-3 for name in held)


def _is_posed_alone(ob: bpy.types.Object) -> bool:
    """Whether a bone that no goal moves and nothing animates is posed."""
    others = {one.name for one in ob.pose.bones} - solved_bones(ob) - oracle.animated_bones(ob)
    return any(np.abs(np.array(ob.pose.bones[name].matrix_basis) - np.eye(4)).max() > 1e-6 for name in others)


def _visited(frames: Sequence[float]) -> dict[float, dict[Key, np.ndarray]]:
    found = {}
    for frame in frames:
        at_frame(frame)
        found[frame] = oracle.poses()
    at_frame(frames[0])
    return found


def check_cloth(name: str, ob_of: Object, bone: str) -> None:
    """A cloth's pinned vertices are where the bone that carries them is. Bones that do not deform carry none."""
    ob = ob_of()
    if oracle.live_is_keyed(ob) or ob.library is not None or other_handlers() or not go_live(ob, 1.0):
        return
    if not ob.data.bones[bone].use_deform:
        return
    for frame in (1, 2, 3):
        at_frame(frame)
        off = _pins_off(bpy.data.objects[name], ob, bone)
        if off > 2e-3 * (1.0 + size(ob) * max(map(abs, evaluated(ob).matrix_world.to_scale()))):
            raise BrokenError("cloth", f"At frame {frame} pinned vertices are {off:.3g} from where {bone!r} of "
                                       f"{ob.name!r} takes them")  # fmt: skip


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
    oracle.settle(frames[0])
    if history_matters() or any(oracle.live_is_keyed(ob) for ob in armatures()):
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
        oracle.same("others", before[frame], {key: pose[key] for key in others if key in pose},
             f"Frame {frame:g} of another figure changed with {own[0]!r}")  # fmt: skip


def check_targets_to_pose(ob_of: Object, last: int) -> None:
    """*Targets to Pose* puts every target where its bone is, or names what it leaves. last : of a range; 0 for none."""
    ob = ob_of()
    if oracle.live_is_keyed(ob) or ob.library is not None:
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
            named = goal.name in text or " more are" in text
            if (there - place).length > 1e-3 * (1.0 + place.length) and not named:
                raise BrokenError("targets to pose", f"The target of goal {goal.name!r} is {(there - place).length:.3g}"
                                                     " from its bone, and nothing was said")  # fmt: skip


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
    module = sys.modules.get(f"{EXTENSION}.rig.frame.step.session")
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
