# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of what is done to a whole motion: mended, retargeted, reduced, edited, overlapped, baked smoothly."""

from collections.abc import Callable, Sequence
from math import sin

import bpy
import numpy as np
import rigs
from checks import go_live, misses
from goals import figures_behind, finite, key_of, size
from mathutils import Euler
from oracle import live_is_keyed, outside_limits, poses, same, settle
from rigs import at_frame, evaluated, update
from shot_checks import record, unchanged
from shots import Film, Object, film, is_plain, is_steady, same_film
from vocabulary import BrokenError, bone, forget, press, run, said, select, shown, thing

__all__ = ["check_edit_range", "check_fewer_keys", "check_in_betweens", "check_looks", "check_mend", "check_overlap",
           "check_retarget", "check_shakes", "check_shot", "check_smooth_bake", "make_walker"]  # fmt: skip

LAST = 12


def make_walker(name: str, location: Sequence[float], scale: float, sway: float, every: int = 1) -> None:
    """A figure that steps on the spot and sways, with a key on each frame, or on some of them."""
    ob = rigs.figure(name)
    ob.location, ob.scale = location, (scale,) * 3
    for frame in range(1, LAST + 1, every):
        swing = sin(2.0 * np.pi * frame / LAST)
        angles = {"thigh.L": (0.5 * swing, 0, 0), "thigh.R": (-0.5 * swing, 0, 0), "spine": (0, sway * swing, 0.1),
                  "shin.L": (-0.3 - 0.3 * swing, 0, 0), "shin.R": (-0.3 + 0.3 * swing, 0, 0)}  # fmt: skip
        for part, angle in angles.items():
            ob.pose.bones[part].rotation_quaternion = Euler(angle).to_quaternion()
            ob.pose.bones[part].keyframe_insert("rotation_quaternion", frame=frame)
        ob.pose.bones["hips"].location = (0.0, 0.02 * abs(swing), 0.2 * sway * swing)
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)


def is_ready(ob: bpy.types.Object) -> bool:
    """Whether a whole motion of an armature can be looked at, and nobody else has a part in it."""
    others = any(key_of(ob) in figures_behind(one) for one in shown()) or figures_behind(ob)
    return ob in shown() and ob.library is None and not live_is_keyed(ob) and is_plain(ob) and not others


def action_of(ob: bpy.types.Object) -> bpy.types.Action | None:
    return None if ob.animation_data is None else ob.animation_data.action


def old_stays(action: bpy.types.Action | None, keys: dict, ob: bpy.types.Object, words: str) -> None:
    """The action from before is in the file with its keys, and the object has another one."""
    if action is None:
        return
    if action_of(ob) == action:
        raise BrokenError("whole", f"{words}: {action.name!r} was changed instead of a copy")
    if not action.users or not (action.use_fake_user or action.library):  # a linked one stays where it is
        raise BrokenError("whole", f"{words}: {action.name!r} has no fake user")
    if keys_of(ob, action) != keys:
        raise BrokenError("whole", f"{words}: the keys of {action.name!r} have changed")
    update()


def keys_of(ob: bpy.types.Object, action: bpy.types.Action) -> dict:
    """The keys that an object would have with another action."""
    own, slot = action_of(ob), getattr(ob.animation_data, "action_slot", None)
    ob.animation_data.action = action
    found = rigs.keys(ob)
    ob.animation_data.action = own
    if slot is not None:
        ob.animation_data.action_slot = slot
    return found


def refused(before: dict[str, object], here: dict, steady: bool, words: str) -> None:
    """What is refused has changed nothing."""
    unchanged("whole", before, here, steady, f"{words} was refused")


def frame_is(now: float, words: str) -> None:
    if bpy.context.scene.frame_current_final != now:
        raise BrokenError("whole", f"{words} at frame {now:g} ends at {bpy.context.scene.frame_current_final:g}")


def after(
    ob_of: Object, done: set[str], frame: float, words: str, before: dict[str, object], here: dict, steady: bool
) -> bpy.types.Object | None:  # fmt: skip
    """The object once a tool was pressed, at the frame at which it was; None where it refused, and changed nothing."""
    update()
    frame_is(frame, words)
    if "FINISHED" in done:
        return ob_of()
    refused(before, here, steady, words)
    return None


def check_mend(ob_of: Object, first: int, last: int, **options: object) -> None:
    """Mended: a copy of the action has changed, or of the one that was mended before if wanted, in the range only."""
    ob = ob_of()
    settle(first)
    steady, before, here, action, keys = is_steady() and is_ready(ob), record(), poses(), action_of(ob), rigs.keys(ob)
    done = run("mend_motion", ob, frame_start=first, frame_end=last, **options)
    ob = after(ob_of, done, first, "Mend Motion", before, here, steady)
    if ob is None:
        return
    old_stays(action, keys, ob, "Mend Motion")
    begun = keys_before(ob, action, "MEND") if options["original"] else {}
    outer_stay(begun or keys, ob, first, last, "Mend Motion")


def outer_stay(before: dict, ob: bpy.types.Object, first: int, last: int, words: str) -> None:
    """The keys from before a tool that are outside its range are still there."""
    for channel, points in rigs.keys(ob).items():
        outer = [point for point in before.get(channel, ()) if not first - 1e-3 <= point[0] <= last + 1e-3]
        if any(not any(np.allclose(point, one, atol=1e-7) for one in points) for point in outer):
            raise BrokenError("whole", f"{words} of frames {first} to {last} changed a key of {channel} outside")


def keys_before(ob: bpy.types.Object, action: bpy.types.Action | None, made_by: str) -> dict:
    """The keys of the action from which a tool has made one, from which it starts again; none if it was not."""
    if action is None or action.dqik_made_by != made_by or action.dqik_original is None:
        return {}
    return keys_of(ob, action.dqik_original)


def check_shakes(ob_of: Object, first: int, last: int, amount: float, plant: bool, names: Sequence[str]) -> None:
    """Shakes are removed in a copy of the action, in the range only. names : selected bones, none for all."""
    ob = ob_of()
    settle(first)
    steady, before, here, action, keys = is_steady() and is_ready(ob), record(), poses(), action_of(ob), rigs.keys(ob)
    select(ob, names)
    done = press("remove_shakes", frame_start=first, frame_end=last, amount=amount, plant=plant,
                 only_selected=bool(names))  # fmt: skip
    ob = after(ob_of, done, first, "Remove Shakes", before, here, steady)
    if ob is None:
        return
    begun = keys_before(ob, action, "SHAKES") or keys
    if action_of(ob) != action:  # its targets alone may have shaken
        old_stays(action, keys, ob, "Remove Shakes")
        outer_stay(begun, ob, first, last, "Remove Shakes")
    for (path, index), points in rigs.keys(ob).items():
        if names and points != begun.get((path, index)) and not any(f'bones["{name}"]' in path for name in names):
            raise BrokenError("whole", f"Remove Shakes of {names} has changed the keys of {path}")


def check_looks(ob_of: Object, look: Callable[[], object], frame: float, words: str) -> None:
    """What looks at a motion, or lists what it finds, changes neither keys nor poses."""
    ob = ob_of()
    settle(frame)
    steady, before, here = is_steady() and is_ready(ob), record(), poses()
    look()
    update()
    frame_is(frame, words)
    unchanged("whole", before, here, steady, f"{words} was pressed")


def check_shot(ob_of: Object, frames: Sequence[int]) -> None:
    """A shot that is solved shows the same in any order of frames, and solved again by a new session."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or ob not in shown():
        return
    scene, was = bpy.context.scene, ob.dqik.start_from
    scene.frame_start, scene.frame_end = 1, LAST
    ob.dqik.start_from = "SHOT"
    go_live(ob, frames[0])
    done = run("solve_shot", ob)
    frame_is(frames[0], "Solve Shot")
    if "FINISHED" in done and is_steady():
        before = film(frames)
        same_film("order", {frame: before[frame] for frame in reversed(before)}, "A solved shot")
        forget()
        at_frame(frames[0])
        if "FINISHED" not in run("solve_shot", ob):
            raise BrokenError("fresh", "A shot that was solved is refused in a new session")
        same_film("fresh", before, "A solved shot")
    ob.dqik.start_from = was
    update()


def check_retarget(ob_of: Object, source: str, first: int, last: int, **options: object) -> None:
    """Retargeted: the source stays as it is; the old action stays. A preview keys nothing."""
    ob = ob_of()
    settle(first)
    ready = is_steady() and is_ready(ob) and is_ready(thing(source))
    partner = thing(options["partner"]) if options.get("partner") and options.get("both_give") else None
    before, here, action, keys = record(), poses(), action_of(ob), rigs.keys(ob)
    frames: Film = film(range(first, last + 1)) if ready else {}
    settle(first)
    done = run("retarget", ob, source=source, frame_start=first, frame_end=last, **options)
    update()
    ob = ob_of()
    frame_is(first, "Retarget")
    if "FINISHED" not in done or options.get("preview"):
        refused(before, here, ready, "A preview of Retarget" if "FINISHED" in done else "Retarget")
        return
    if ob.dqik.live:
        raise BrokenError("whole", f"{ob.name!r} is live after Retarget")
    if ob.name != source:
        old_stays(action, keys, ob, "Retarget")
    for other in ("keys", "constraints", "holds", "goals"):
        what = f"{other} of {source}"
        if before.get(what) != record().get(what):
            raise BrokenError("whole", f"Retarget has changed the {what}")
    given = {key_of(one) for one in (ob, partner) if one is not None}
    others = {frame: {key: pose for key, pose in now.items() if key not in given} for frame, now in frames.items()}
    same_film("whole", others, f"{ob.name!r} got the motion of {source!r}")


def check_in_betweens(ob_of: Object, first: int, last: int, plant: bool) -> None:
    """The old action stays, and so does what is shown on the frames with keys and outside the range.

    Where in-betweens were made before, they are made of the keyed poses again: then only the old action is compared.
    Keys of goals and controls do not count, which make no poses while Live is off, nor places of connected bones.
    """
    ob = ob_of()
    settle(first)
    ready = is_steady() and is_ready(ob) and not ob.dqik.live
    before, here, action, keys = record(), poses(), action_of(ob), rigs.keys(ob)
    controls = {name for goal in ob.dqik.goals for name in (goal.subtarget, goal.pole_subtarget) if name}
    still = {bone.path_from_id("location") for bone in ob.pose.bones if bone.bone.use_connect}
    of_body = [points for (path, _), points in keys.items() if path.startswith("pose.bones") and path not in still
               and not any(f'bones["{name}"]' in path for name in controls)]  # fmt: skip
    again = bool(keys_before(ob, action, "IN_BETWEENS"))
    frames: Film = film({time for points in of_body for time, _ in points}) if ready and not again else {}
    settle(first)
    done = run("in_betweens", ob, frame_start=first, frame_end=last, plant=plant)
    ob = after(ob_of, done, first, "In-Betweens", before, here, ready)
    if ob is None:
        return
    old_stays(action, keys, ob, "In-Betweens")
    if is_steady():
        same_film("whole", frames, f"In-Betweens of {ob.name!r} on frames {first} to {last}", 5.0)


def has_spins(keys: dict) -> bool:
    """Whether a bone spins between two frames, where keys of its quaternion have opposite signs: fewer keys do not."""
    for (path, index), points in keys.items():
        if path.endswith("rotation_quaternion") and index == 0:
            parts = [dict(keys.get((path, part), ())) for part in range(4)]
            times = sorted(set(dict(points)).intersection(*parts[1:]))
            values = np.array([[part[time] for part in parts] for time in times])
            if len(values) > 1 and ((values[1:] * values[:-1]).sum(-1) < 0.0).any():
                return True
    return False


def check_fewer_keys(ob_of: Object, first: int, last: int, angle: float, selected: Sequence[str]) -> None:
    """Fewer keys: none outside the range is lost, there are not more, and joints turn by no more than said."""
    ob = ob_of()
    settle(first)
    ready = is_steady() and is_ready(ob)
    before, here, action, keys = record(), poses(), action_of(ob), rigs.keys(ob)
    step = 1.0 if has_spins(keys) else 0.5
    times = np.arange(first, last + 0.25, step).tolist()
    frames: Film = film(times) if ready else {}
    settle(first)
    select(ob, selected)
    said()
    done = press("unbake", frame_start=first, frame_end=last, angle=angle, distance=0.01, only_selected=bool(selected))
    words = said()
    ob = after(ob_of, done, first, "Fewer Keys", before, here, ready)
    if ob is None:
        return
    now = rigs.keys(ob)
    if now != keys:
        old_stays(action, keys, ob, "Fewer Keys")
    for channel, points in keys.items():
        outer = [point for point in points if not first - 1e-3 <= point[0] <= last + 1e-3]
        signs = (1.0, -1.0) if channel[0].endswith("rotation_quaternion") else (1.0,)  # both are one rotation
        own = [(time, sign * value) for time, value in now.get(channel, ()) for sign in signs]
        if any(not any(np.allclose(point, one, atol=1e-4) for one in own) for point in outer):
            raise BrokenError("whole", f"Fewer Keys of frames {first} to {last} changed a key of {channel} outside")
    if "Warning" in words or not is_steady():
        return
    above = rigs.parents(ob)
    for frame, shown_before in frames.items():
        at_frame(frame)
        turns = rigs.local_turns(shown_before[key_of(ob)], rigs.matrices(ob), above)
        if np.max(turns) > 1.02 * angle + 1e-3:
            raise BrokenError("whole", f"Fewer Keys within {np.degrees(angle):.3g} degrees turns a joint by "
                                       f"{np.degrees(np.max(turns)):.3g} at frame {frame:g}")  # fmt: skip


def check_edit_range(ob_of: Object, names: Sequence[str], turn: Sequence[float], frame: int, radius: int) -> None:
    """What was moved stays on this frame; beyond the radius nothing changes."""
    ob = ob_of()
    settle(frame)
    ready = is_steady() and is_ready(ob)
    for name in names:  # one without keys stays as it is posed, on all frames; keys of another mode do not show
        ready &= bone(name, ob).rotation_mode == "QUATERNION"
        ready &= sum(f'bones["{name}"].rotation_quaternion' in path for path, _ in rigs.keys(ob)) == 4
    outer = [one for one in (*range(1, LAST + 1), LAST + 4) if abs(one - frame) > radius - 1e-3]
    before: Film = film(outer) if ready else {}
    settle(frame)
    for name in names:
        one = bone(name, ob)
        one.rotation_mode = "QUATERNION"
        one.rotation_quaternion = Euler(turn).to_quaternion() @ one.rotation_quaternion
    update()
    here, holds = poses(), {one.name: one.dqik_hold for one in ob.pose.bones}
    select(ob, names)
    if "FINISHED" not in press("edit_range", radius=radius, stand=False):
        return
    update()
    ob = ob_of()
    frame_is(frame, "Edit Range")
    if not ready or any(one.dqik_hold != holds[one.name] or one.dqik_hold for one in ob.pose.bones):
        return
    solved = {one.name for one in ob.pose.bones if ob.dqik.live}
    if not solved.intersection(names):
        same("whole", here, poses(), f"{names} were edited at frame {frame}, and the pose there changes", 5.0)
    same_film("whole", before, f"{names} were edited at frame {frame} within {radius} frames", 5.0)


def allows_nothing(one: bpy.types.PoseBone) -> bool:
    """Whether a limit of a bone begins beyond its end: no pose is inside it."""
    return any(getattr(one, f"dqik_{part}_min") > getattr(one, f"dqik_{part}_max")
               for part in ("twist", "swing_x", "swing_z"))  # fmt: skip


def check_overlap(ob_of: Object, names: Sequence[str], first: int, last: int, amount: float, loop: str) -> None:
    """Only the selected bones get keys; with an amount of 0 nothing moves but what was outside its limits."""
    ob = ob_of()
    settle(first)
    ready = is_steady() and is_ready(ob)
    before, here, keys = record(), poses(), rigs.keys(ob)
    frames: Film = film(range(first, last + 1), met=True) if ready else {}
    inside = True
    for frame in frames if amount == 0.0 else ():
        at_frame(frame)
        chosen = [one for one in evaluated(ob).pose.bones if one.name in names and one.dqik_use_limits]
        inside &= not any(outside_limits(one) > 0.0 or allows_nothing(one) for one in chosen)
    settle(first)
    select(ob, names)
    done = press("overlap", frame_start=first, frame_end=last, amount=amount, loop=loop)
    ob = after(ob_of, done, first, "Overlap", before, here, ready)
    if ob is None:
        return
    for (path, index), points in rigs.keys(ob).items():
        if points != keys.get((path, index)) and not any(f'bones["{name}"]' in path for name in names):
            raise BrokenError("whole", f"Overlap of {names} has changed the keys of {path}")
    if amount == 0.0 and inside and is_steady():
        same_film("whole", frames, f"Overlap of {names} by nothing", 20.0)


def check_smooth_bake(ob_of: Object, first: int, last: int, smooth: float) -> None:
    """A smooth bake meets the goals that Live meets, on each frame; the old action stays."""
    ob = ob_of()
    if live_is_keyed(ob) or ob.library is not None or ob not in shown():
        return
    go_live(ob, first)
    ready = is_steady() and is_ready(ob) and not ob.dqik.status.message
    before, here, action, keys = record(), poses(), action_of(ob), rigs.keys(ob)
    met = {}
    for frame in range(first, last + 1) if ready else ():
        at_frame(frame)
        met[frame] = misses(ob) if ob.dqik.status.converged and not ob.dqik.status.message else None
    settle(first)
    done = run("bake", ob, frame_start=first, frame_end=last, smooth=smooth, action="NEW")
    update()
    ob = ob_of()
    if "FINISHED" not in done:
        refused(before, here, ready, "A smooth bake")
        return
    if ob.dqik.live:
        raise BrokenError("whole", f"{ob.name!r} is live after a smooth bake")
    if ready and not len(ob.animation_data.nla_tracks):
        old_stays(action, keys, ob, "A smooth bake")
    wishes = any(goal.priority < 0 or goal.kind != "REACH" or goal.influence < 1.0 or goal.rotation_follows
                 for goal in ob.dqik.goals)  # fmt: skip
    for frame, away in met.items():
        if away is None or wishes:
            continue
        at_frame(frame)
        if not all(finite(one.matrix) for one in ob.pose.bones):
            raise BrokenError("nan", f"A smooth bake of {ob.name!r} has a pose that is no number at frame {frame}")
        more = misses(ob) - away
        if more.size and more.max() > 5e-3 * max(1.0, size(ob)):
            raise BrokenError("whole", f"A smooth bake misses a goal by {more.max():.3g} more at frame {frame}")
