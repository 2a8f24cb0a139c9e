# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that write keys, poses or controls: how each is pressed, what it promises, which frames it may change.

`PRESSES` is the table. A promise is looked at after the press, on frames as Blender evaluates them.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import bpy
import numpy as np
import rigs
from cell import NEAR, Press, Seen, What, apart, difference, film, frames, places, shown_places
from mathutils import Euler, Vector
from situations import HEIGHT, Stage, choose, stage_figure

HELD = 10.0  # times `NEAR`: by how much what is held or planted may stray
Promise = Callable[[Stage, Seen], str]


# -- pressing ----------------------------------------------------------------------------------------------------------


def on(operator: str, *bones: str, by_control: bool = True, **settings: object) -> What:
    """How to select bones, or the controls of bones, and to press. Settings may be functions of the stage."""

    def act(stage: Stage) -> set[str]:
        found = {name: value(stage) if callable(value) else value for name, value in settings.items()}
        return getattr(bpy.ops.dqik, operator)(**found)

    return What(lambda stage: choose(stage.ob, bones, by_control), act)


def live_off(stage: Stage) -> None:
    """Switch Live off; what it showed is noted."""
    stage.notes["live"] = places()
    if stage.ob.library is None:
        stage.ob.dqik.live = False


def own(change: Callable[[Stage], object]) -> Callable[[Stage], object]:
    """Change a figure that is not linked."""
    return lambda stage: change(stage) if stage.ob.library is None else None


an_eye = own(lambda stage: rigs.put(stage.ob.pose.bones["hair1"], dqik_role="EYE_L"))  # it has keys: one is enough
limited = own(lambda stage: rigs.limit(stage.ob.pose.bones["shin.L"], (-30, 30), (-10, 120), (-30, 30)))
_ik_limits = own(lambda stage: rigs.put(stage.ob.pose.bones["shin.L"], use_ik_limit_x=True))
_blender_ik = own(lambda stage: rigs.blender_ik(stage.ob, "shin.L", bpy.data.objects["Cup"], chain_count=2))


def posed_without_live(stage: Stage) -> None:
    """An arm is posed by hand, with Live off."""
    live_off(stage)
    if stage.ob.library is None:
        posed("arm.L", (0.4, 0.2, 0.3))(stage)


def earlier(what: What, share: float = 0.25) -> Callable[[Stage], None]:
    """Press something on an earlier frame, or not, where it is refused."""

    def prepare(stage: Stage) -> None:
        stage.notes["original"] = film(frames(stage))
        rigs.at_frame(stage.at(share))
        try:
            what.select(stage)
            what.act(stage)
        except RuntimeError:
            return
        stage.notes["keyed"] = [stage.at(share)]

    return prepare


def span(start: float, end: float) -> dict[str, Callable[[Stage], int]]:
    """A range of frames, by shares of the motion."""
    return {"frame_start": lambda stage: stage.at(start), "frame_end": lambda stage: stage.at(end)}


def posed(name: str, angles: Sequence[float], controls: bool = False) -> Callable[[Stage], None]:
    """Turn a bone by hand, or move its control, without keys."""

    def hand(stage: Stage) -> None:
        if controls:
            owner = rigs.owner_of(stage.ob, name)
            owner.location += _unit(stage) * Vector(angles)
        else:
            bone = stage.ob.pose.bones[name]
            rigs.posed(bone, rigs.channel_rotation(bone) @ Euler(angles).to_quaternion())

    return hand


def _unit(stage: Stage) -> float:
    """The length of a metre in the space of the controls."""
    return stage.take.size if stage.take.targets == "BONES" else stage.take.size * stage.take.scale[1]


# -- which frames may change -------------------------------------------------------------------------------------------


def within(start: float, end: float, fade: int = 0) -> Callable[[Stage, float], bool]:
    """A range of frames, with its ends."""
    return lambda stage, time: stage.at(start) - fade - 1e-3 < time < stage.at(end) + fade + 1e-3


def between_keys(stage: Stage, time: float) -> bool:
    """From the key before the current frame to the key after it, without these."""
    before, after = stage.beside()
    return before + 1e-3 < time < after - 1e-3


def after_now(stage: Stage, time: float) -> bool:
    return time > stage.now + 1e-3


def from_now(stage: Stage, time: float) -> bool:
    return time > stage.now - 1e-3


def keyed_after_now(stage: Stage, time: float) -> bool:
    """With Auto Keying the frames after this one, else all."""
    auto = bpy.context.scene.tool_settings.use_keyframe_insert_auto
    return after_now(stage, time) if auto else all_frames(stage, time)


def all_frames(stage: Stage, time: float) -> bool:
    del stage, time
    return True


# -- promises ----------------------------------------------------------------------------------------------------------


def stands(name: str, start: float, end: float, or_else: str = "") -> Promise:
    """The head of a bone stands on a range of frames, or that of another: a foot that rolls stands on its ball."""

    def promise(stage: Stage, seen: Seen) -> str:
        times = [time for time in seen.after if stage.at(start) <= time <= stage.at(end)]
        shown = [[seen.after[time]["Ann", one][:3, 3] for time in times] for one in (name, or_else) if one]
        strayed = np.ptp(shown, axis=1).max(-1).min() / HEIGHT
        return f"{name} strays by {strayed:.2g} H" if strayed > HELD * NEAR else ""

    return promise


def held(name: str, carrier: tuple[str, str] | None = None) -> Promise:
    """From the current frame on a bone is where it was then, in the world or in what carries it; nothing has moved."""

    def promise(stage: Stage, seen: Seen) -> str:
        def place(shown: dict) -> np.ndarray:
            world = shown["Ann", name]
            return world if carrier is None else np.linalg.inv(shown[carrier]) @ world

        if words := same_here(stage, seen):
            return words
        own = place(seen.here)
        away = max(np.linalg.norm((place(seen.after[time]) - own)[:3, 3]) for time in seen.after if time >= stage.now)
        return f"{name} goes {away / HEIGHT:.2g} H away" if away > HELD * NEAR * HEIGHT else ""

    return promise


def same_here(stage: Stage, seen: Seen) -> str:
    """What was seen when it was pressed is still seen, at once and after the frame was left."""
    now, names = seen.now, shown_places(stage, seen)
    return apart(seen.here, now, 5.0, "pressed,", names) or apart(
        now, seen.after[stage.now], 5.0, "left and visited again,", names
    )  # fmt: skip


def same_motion(room: float) -> Promise:
    """All frames show the same, within so many times `NEAR`."""

    def promise(stage: Stage, seen: Seen) -> str:
        del stage
        found = (apart(shown, seen.after[time], room, f"on frame {time:g}") for time, shown in seen.before.items())
        return next(filter(None, found), "")

    return promise


def baked(start: float, end: float) -> Promise:
    """Live is off, and the whole frames of the range show what Live showed; what it did not move stays everywhere."""

    def promise(stage: Stage, seen: Seen) -> str:
        if stage.ob.dqik.live:
            return "Live is on"
        inside = [t for t in seen.before if stage.at(start) <= t <= stage.at(end) and t == round(t)]
        words = [apart(seen.before[t], seen.after[t], 10.0, f"on frame {t:g}") for t in inside]
        controls = {key for key in seen.here if key[1].startswith("DQIK")}
        words += [apart(seen.before[t], seen.after[t], 1.0, f"on frame {t:g}", controls) for t in seen.before]
        return next(filter(None, words), "")

    return promise


def goals_met(stage: Stage, seen: Seen) -> str:
    """The ends of goals are in the places where they were on the frames of the range; hands turn with their arms."""
    times = [t for t in seen.before if stage.first <= t <= stage.last and t == round(t)]
    for name in ("hand.L", "hand.R", "foot.L", "foot.R"):
        away = [np.linalg.norm((seen.before[t]["Ann", name] - seen.after[t]["Ann", name])[:3, 3]) for t in times]
        if max(away, default=0.0) > HELD * NEAR * HEIGHT:
            return f"{name} is {max(away) / HEIGHT:.2g} H away"
    return ""


def few_keys(stage: Stage, seen: Seen) -> str:
    """The figure keeps within the bounds, and has fewer keys."""
    worst = max((difference(a, seen.after[t]) for t, a in seen.before.items() if stage.first <= t <= stage.last))
    return f"{worst[2]} leaves its way by {worst[0]:.2g} H, {worst[1]:.2g} degrees" if worst[0] > 0.01 else ""


def as_live(stage: Stage, seen: Seen) -> str:
    """The current frame shows what Live showed."""
    return apart(stage.notes["live"], seen.now, 10.0, "solved,")


def goes_to(name: str) -> Promise:
    """The control of a bone is where it was moved, and the frames beside follow part of the way."""
    def promise(stage: Stage, seen: Seen) -> str:
        owner = rigs.owner_of(stage.ob, name)
        key = (owner.id_data.name, "" if owner == owner.id_data else owner.name)
        words = apart(seen.here, seen.after[stage.now], 5.0, "left and visited again,", {key})
        moved = np.linalg.norm((seen.after[stage.now][key] - seen.before[stage.now][key])[:3, 3]) / HEIGHT
        return words or ("" if moved > 1e-3 else f"{key[1] or key[0]} is not moved")

    return promise


def is_off(bone: str, after: bool = True) -> Promise:
    """The goal of a bone counts no longer on the current frame and later (or counts again), and nothing moved there."""

    def promise(stage: Stage, seen: Seen) -> str:
        number = next(k for k, goal in enumerate(stage.ob.dqik.goals) if goal.bone == bone)
        for time in (stage.now, stage.now + 1.0):
            rigs.at_frame(time)
            goal = rigs.evaluated(stage.ob).dqik.goals[number]
            if (goal.influence > 0.5 and not goal.mute) == after:
                return f"the goal of {bone} has influence {goal.influence:g} on frame {time:g}"
        return same_here(stage, seen)

    return promise


def unpinned(stage: Stage, seen: Seen) -> str:
    """The goal, its control and their keys are there.

    With Auto Keying the hand goes on from this frame; without, it moves as it did before it was pinned.
    """
    goal = next((goal for goal in stage.ob.dqik.goals if goal.bone == "hand.L"), None)
    if goal is None or rigs.follows(goal) is None:
        return "the goal of hand.L, or its control, is gone"
    if bpy.context.scene.tool_settings.use_keyframe_insert_auto:
        moved = (time for time in seen.after if time < stage.now - 1e-3)
        return next(filter(None, (apart(seen.before[t], seen.after[t], 5.0, f"on frame {t:g}") for t in moved)), "")
    original = stage.notes["original"]
    own = {key for key in seen.here if not key[1].startswith("DQIK")}
    found = (apart(original[t], seen.after[t], 10.0, f"on frame {t:g}, against the motion before it was pinned,", own)
             for t in seen.after)  # fmt: skip
    return next(filter(None, found), "")


def controls_keyed(stage: Stage, seen: Seen) -> str:
    """Every control has keys on the current frame."""
    for goal in stage.ob.dqik.goals:
        owner = rigs.follows(goal)
        path = "location" if owner == owner.id_data else owner.path_from_id("location")
        keys = rigs.keys(owner.id_data)
        if not all(any(abs(key[0] - stage.now) < 1e-2 for key in keys.get((path, k), ())) for k in range(3)):
            return f"the control of {goal.bone} has no key"
    return same_here(stage, seen)


def follows_through(stage: Stage, seen: Seen) -> str:
    """The hair has a key on each frame of the range, and moves otherwise than before."""
    keys = rigs.keys(stage.ob)
    path = f'pose.bones["hair1"].{rigs.ROTATION_PATHS[stage.ob.pose.bones["hair1"].rotation_mode]}'
    times = {round(time) for time, _ in keys.get((path, 0), ())}
    if lacking := [frame for frame in range(stage.at(0.25), stage.at(0.75) + 1) if frame not in times]:
        return f"hair1 has no key on frames {lacking[:3]}"
    return ""


def posed_to_rest(stage: Stage, seen: Seen) -> str:
    """The pose is the rest pose, and the motion is kept."""
    rigs.at_frame(stage.now)
    rest = {(name, bone): rigs.evaluated(stage.ob).matrix_world @ stage.ob.data.bones[bone].matrix_local
            for name, bone in seen.here if name == "Ann" and bone}  # fmt: skip
    found = {key: np.array(matrix) for key, matrix in rest.items()}
    return apart(found, seen.after[stage.now], 5.0, "at rest,") or same_motion(2.0)(stage, seen)


def hand_stays(stage: Stage, seen: Seen) -> str:
    """The hand is turned as before on this frame, and at its keys; the elbow may give way to it."""
    goal = rigs.goal_of(stage.ob, "hand.L")
    path = f'pose.bones["{goal.subtarget}"].location' if goal.subtarget else "location"
    keys = [time for time, _ in rigs.keys(goal.target).get((path, 0), ())]
    times = [time for time in seen.before if any(abs(time - key) < 1e-3 for key in keys)]
    pairs = [(seen.before[time], seen.after[time]) for time in times]
    if not times or stage.take.keys == "dense":
        pairs.append((seen.here, seen.now))
    return next(filter(None, (apart(a, b, 10.0, "switched,", {("Ann", "hand.L")}) for a, b in pairs)), "")


def grabbed(stage: Stage, seen: Seen) -> str:
    """The grabbed hips have gone there."""
    way = (seen.now["Ann", "hips"] - seen.here["Ann", "hips"])[:3, 3] / HEIGHT
    return "" if np.linalg.norm(way - _GRAB) < 0.02 else f"the hips have gone by {way.round(3)} H"


def goal_count(count: Callable[[int], int]) -> Promise:
    """So many goals count, of so many before: those of a library can only be muted."""

    def promise(stage: Stage, seen: Seen) -> str:
        del seen
        found = sum(not goal.mute for goal in stage.ob.dqik.goals)
        return "" if found == count(6) else f"{found} goals count"

    return promise


def target_at_bone(name: str) -> Promise:
    """The goal's target is where the pose has the bone, and nothing moves; without keys until the frame is left."""

    def promise(stage: Stage, seen: Seen) -> str:
        auto = bpy.context.scene.tool_settings.use_keyframe_insert_auto
        pressed = apart(seen.here, seen.now, 5.0, "pressed,", shown_places(stage, seen))
        if words := same_here(stage, seen) if auto else pressed:
            return words
        goal = rigs.goal_of(stage.ob, name)
        owner = rigs.follows(goal)
        key = (owner.id_data.name, "" if owner == owner.id_data else owner.name)
        away = np.linalg.norm((seen.now[key] - seen.now["Ann", name])[:3, 3]) / HEIGHT
        return f"the target of {name} is {away:.2g} H away" if away > HELD * NEAR else ""

    return promise


def feet_stand(stage: Stage, seen: Seen, ground: str = "") -> str:
    """Where the list has a contact of a foot's ball, this stands: in the world, or on an object that moves."""
    balls = [one for one in stage.ob.dqik.contacts if one.part == "BALL" and one.bone.startswith("foot")]
    for one in balls:
        times = [time for time in seen.after if one.frame_start <= time <= one.frame_end and time == round(time)]
        toes = one.bone.replace("foot", "toes")
        shown = np.array([_seen_from(seen.after[time], ground, seen.after[time]["Ann", toes]) for time in times])
        strayed = np.ptp(shown, axis=0).max() / HEIGHT if len(times) else 0.0
        if strayed > 0.01:
            return f"{one.bone} strays by {strayed:.2g} H on frames {one.frame_start} to {one.frame_end}"
    return "" if balls else "the list has no contact"


def feet_ride(stage: Stage, seen: Seen) -> str:
    """Feet stand on the mesh that moves."""
    return feet_stand(stage, seen, "Lift")


def _seen_from(shown: dict, name: str, world: np.ndarray) -> np.ndarray:
    """The place (3,) of a world matrix, as seen from an object, if there is a name."""
    return (np.linalg.inv(shown[name, ""]) @ world if name else world)[:3, 3]


def poses_stay(stage: Stage, seen: Seen) -> str:
    """On the frames of keys the figure is as it was."""
    found = (apart(seen.before[time], seen.after[time], 5.0, f"at the key on {time}")
             for time in stage.times() if time in seen.before and time in seen.after)  # fmt: skip
    return next((words for words in found if words), "")


def contacts_listed(stage: Stage, seen: Seen) -> str:
    """The list has contacts."""
    del seen
    return "" if len(stage.ob.dqik.contacts) else "the list is empty"


def moves(stage: Stage, seen: Seen) -> str:
    """The figure moves."""
    a, b = seen.after[stage.first], seen.after[sorted(seen.after)[-2]]
    return "" if difference(a, b, {("Ann", "foot.L"), ("Ann", "hips")})[0] > 1e-3 else "it stands still"


# -- preparing ---------------------------------------------------------------------------------------------------------


def _keyed_on_each_frame(stage: Stage) -> None:
    """The curves of the figure's own action have a key on each frame."""
    data = stage.ob.animation_data
    if stage.ob.library is not None or data is None or data.action is None or data.action.library is not None:
        return
    for curve in rigs.fcurves(stage.ob):
        times = [key.co[0] for key in curve.keyframe_points]
        for frame in range(int(np.ceil(min(times))), int(max(times)) + 1):
            curve.keyframe_points.insert(frame, curve.evaluate(frame), options={"FAST"})
        curve.update()


def _source(stage: Stage, *names: str) -> None:
    """Other figures with a walk, by default one, beside the one that gets it."""
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.mode != "OBJECT" else None
    for number, name in enumerate(names or ("Bob",)):
        if name not in bpy.context.scene.objects:
            stage_figure(stage, name, (2.0 + 0.6 * number, 0.0, 0.0))
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.mode != "OBJECT" else None
    rigs.made_active(stage.ob)


def _partner(stage: Stage) -> None:
    """Two sources, and a partner that has the motion of the first one, if that moves."""
    _source(stage, "Bob", "Cleo", "Dan")
    rigs.made_active(bpy.context.scene.objects["Cleo"])
    with suppress(RuntimeError):
        bpy.ops.dqik.retarget(source="Bob", frame_start=stage.at(0.0), frame_end=stage.at(1.0))
    rigs.made_active(stage.ob)


def _moving_ground(stage: Stage) -> None:
    """A mesh below the figure that goes slowly to the side."""
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.mode != "OBJECT" else None
    bpy.ops.mesh.primitive_plane_add(size=20.0 * HEIGHT)
    lift = bpy.context.object
    lift.name = "Lift"
    for share in (0.0, 1.0):
        lift.location.x = 0.01 * HEIGHT * share
        lift.keyframe_insert("location", frame=stage.at(share))
    rigs.made_active(stage.ob)


_GRAB = (0.02, -0.04, -0.03)  # H


def _grab(stage: Stage) -> set[str]:
    point = rigs.head(stage.ob, "hips")
    return bpy.ops.dqik.grab(bone="hips", point=tuple(point), to=tuple(point + HEIGHT * Vector(_GRAB)))


ALL_CONTROLS = {"CHEST", "SHOULDERS", "ELBOWS", "KNEES", "TOES", "MASTER"}
WHOLE = span(0.0, 1.0)
PART = span(0.25, 0.75)

PRESSES: dict[str, Press] = {
    # With one goal more the solve stops at a slightly different pose, for which `room` allows.
    "pin": Press(on("pin", "hand.L"), held("hand.L"), may=keyed_after_now, room=2.0, frees="hand.L"),
    "unpin": Press(on("unpin", "hand.L"), unpinned, prepare=earlier(on("pin", "hand.L")), may=all_frames),
    "unpin, not pinned": Press(on("unpin", "hand.L"), same_here),
    "plant": Press(on("plant", "foot.L", **PART, fade=2), stands("foot.L", 0.25, 0.75, "toes.L"),
                   may=within(0.25, 0.75, 2)),
    "plant a hand": Press(on("plant", "hand.R", **PART, fade=2, roll=False), stands("hand.R", 0.25, 0.75),
                          may=within(0.25, 0.75, 2)),
    "hold_here": Press(on("hold_here", "chest", by_control=False), same_here, hand=posed("chest", (0.2, 0.1, 0.15)),
                       may=between_keys),
    "hold_here, not posed": Press(on("hold_here", "forearm.R", by_control=False), same_here, may=between_keys),
    "holds_clear": Press(on("holds_clear", "chest", by_control=False), hand=posed("chest", (0.2, 0.1, 0.15)),
                         may=all_frames),
    "limb_to_fk": Press(on("limb_to_fk", "hand.L"), is_off("hand.L"), may=after_now),
    "limb_to_fk, range": Press(on("limb_to_fk", "foot.L", **PART), is_off("foot.L"), may=within(0.25, 0.75)),
    "limb_to_ik": Press(on("limb_to_ik", "hand.L"), is_off("hand.L", after=False),
                        prepare=earlier(on("limb_to_fk", "hand.L")), may=from_now, frees="hand.L"),
    "attach": Press(on("attach", "hand.L", object="Wheel"), held("hand.L", ("Wheel", "")), may=after_now),
    "attach into hand": Press(on("attach", "hand.R", object="Cup", into_hand=True), held("hand.R", ("Cup", "")),
                              frees="Cup"),
    "detach": Press(on("detach", "hand.L"), same_here, prepare=earlier(on("attach", "hand.L", object="Wheel")),
                    may=after_now),
    "targets_to_pose": Press(on("targets_to_pose", "hand.L"), target_at_bone("hand.L"),
                             prepare=posed_without_live, may=between_keys, frees="hand.L"),
    "targets_to_pose, range": Press(on("targets_to_pose", "hand.L", use_range=True, **PART), same_motion(10.0),
                                    may=within(0.25, 0.75), idle=True),
    "key_controls": Press(on("key_controls", "hips"), controls_keyed, may=between_keys, idle=True),
    "controls: chest": Press(on("setup_full_body", "hips", controls={"CHEST"})),
    "eyes": Press(on("eyes_add", "hips"), prepare=an_eye),
    "controls: all": Press(on("setup_full_body", "hips", controls=ALL_CONTROLS)),
    "grab": Press(What(lambda stage: choose(stage.ob, ["hips"], False), _grab), grabbed, may=all_frames),
    "edit_range": Press(on("edit_range", "hand.L", radius=4, stand=False), goes_to("hand.L"),
                        hand=posed("hand.L", (0.05, 0.0, 0.06), controls=True),
                        may=lambda stage, time: abs(time - stage.now) < 4.0),
    "rotation_space": Press(on("rotation_space", "hand.L", space="WORLD",
                               index=lambda stage: [g.bone for g in stage.ob.dqik.goals].index("hand.L")),
                            hand_stays, may=all_frames, keeps_keys=False),
    "overlap": Press(on("overlap", "hair1", "hair2", by_control=False, **PART), follows_through,
                     may=within(0.25, 0.75)),
    "bake": Press(on("bake", "hips", **WHOLE), baked(0.0, 1.0), may=all_frames),
    "bake, current": Press(on("bake", "hips", action="CURRENT", **WHOLE), baked(0.0, 1.0), may=all_frames),
    "bake, part": Press(on("bake", "hips", action="CURRENT", **PART), baked(0.25, 0.75), may=all_frames),
    "bake, smooth": Press(on("bake", "hips", smooth=0.3, **WHOLE), goals_met, may=all_frames),
    # `reduce` bounds each channel, and the turns of an arm add up.
    "bake, reduced": Press(on("bake", "hips", reduce=0.0005, action="CURRENT", **WHOLE), goals_met, may=all_frames),
    "unbake controls": Press(on("unbake", "hips", **WHOLE), few_keys, may=all_frames, keeps_keys=False),
    "solve": Press(on("solve", "hips"), as_live, prepare=live_off, may=all_frames, idle=True),
    "keep_pose": Press(on("keep_pose", "hips"), lambda stage, seen: apart(seen.here, seen.now, 5.0, "pressed,"),
                       may=all_frames),
    "reset_pose": Press(on("reset_pose", "hips"), may=all_frames, idle=True),
    "goal_add": Press(on("goal_add", "arm.R", by_control=False), goal_count(lambda n: n + 1), may=all_frames),
    "goal_remove": Press(on("goal_remove", "hips", index=1), goal_count(lambda n: n - 1), may=all_frames,
                         keeps_keys=False),
    "goals_clear": Press(on("goals_clear", "hips"), goal_count(lambda n: 0), may=all_frames, keeps_keys=False),
    "goals_mirror": Press(on("goals_mirror", "hips"), may=all_frames, idle=True),
    "learn_from_actions": Press(on("learn_from_actions", "hips"), may=all_frames),
    "limits_preset": Press(on("limits_preset", "hips"), may=all_frames),
    "limits_mirror": Press(on("limits_mirror", "hips"), may=all_frames, prepare=limited),
    "limits_clear": Press(on("limits_clear", "hips"), may=all_frames, prepare=limited),
    "limits_from_ik": Press(on("limits_from_ik", "hips"), may=all_frames, prepare=_ik_limits),
    # figures whose bones are keyed
    "setup_full_body": Press(on("setup_full_body", "hips"), same_motion(20.0), kind="walker", room=1e9),
    "setup_full_body, no keys": Press(on("setup_full_body", "hips", from_animation=False), kind="walker",
                                      may=all_frames),
    "goals_from_constraints": Press(on("goals_from_constraints", "hips"), kind="walker", prepare=_blender_ik,
                                    may=all_frames),
    "pose_to_rest": Press(on("pose_to_rest", "hips"), posed_to_rest, kind="walker", room=2.0, keeps_keys=False),
    "unbake": Press(on("unbake", "hips", **WHOLE), few_keys, kind="walker", may=all_frames, keeps_keys=False),
    "unbake, part": Press(on("unbake", "hips", **PART), few_keys, kind="walker", may=within(0.25, 0.75)),
    "edit_range, a bone": Press(on("edit_range", "arm.L", radius=4), kind="walker",
                                hand=posed("arm.L", (0.3, 0.0, 0.2)),
                                may=lambda stage, time: abs(time - stage.now) < 4.0),
    "mend_motion": Press(on("mend_motion", "hips", **WHOLE), feet_stand, kind="walker",
                         may=all_frames, keeps_keys=False),
    "remove_shakes": Press(on("remove_shakes", "hips", **WHOLE, plant=False), same_motion(100.0), kind="walker",
                           may=all_frames, keeps_keys=False, prepare=_keyed_on_each_frame),
    "remove_shakes, range": Press(on("remove_shakes", "hips", **PART, plant=False), same_motion(100.0), kind="walker",
                                  may=within(0.25, 0.75), keeps_keys=True, prepare=_keyed_on_each_frame),
    "mend_motion, flights": Press(on("mend_motion", "hips", ballistic=True, **WHOLE), feet_stand, kind="walker",
                                  may=all_frames, keeps_keys=False),
    "mend_motion, moving ground": Press(on("mend_motion", "hips", ground="MESH", ground_object="Lift", **WHOLE),
                                        feet_ride, kind="walker", prepare=_moving_ground, may=all_frames,
                                        keeps_keys=False),
    "in_betweens": Press(on("in_betweens", "hips", **WHOLE), poses_stay, kind="walker", may=all_frames,
                         keeps_keys=False),
    "in_betweens, controls": Press(on("in_betweens", "hips", **WHOLE), poses_stay, may=all_frames, keeps_keys=False),
    "mend_motion, range": Press(on("mend_motion", "hips", **PART), feet_stand, kind="walker",
                                may=within(0.25, 0.75), keeps_keys=True),
    "contacts_find": Press(on("contacts_find", "hips", **WHOLE), contacts_listed, kind="walker"),
    "contacts_clear": Press(on("contacts_clear", "hips"), kind="walker",
                            prepare=earlier(on("contacts_find", "hips", **WHOLE))),
    "contact_remove": Press(on("contact_remove", "hips", index=0), kind="walker",
                            prepare=earlier(on("contacts_find", "hips", **WHOLE))),
    "contact_drag": Press(on("contact_drag", "hips", index=0, end="END", frames=-1), kind="walker",
                          prepare=earlier(on("contacts_find", "hips", **WHOLE))),
    "limits_from_action": Press(on("limits_from_action", "hips"), kind="walker"),
    "contact_add": Press(on("contact_add", "foot.L", by_control=False), contacts_listed, kind="walker"),
    "retarget": Press(on("retarget", "hips", source="Bob", **WHOLE), moves, kind="walker", prepare=_source,
                      may=all_frames, keeps_keys=False),
    "retarget, partner": Press(on("retarget", "hips", source="Dan", partner="Cleo", **WHOLE), moves, kind="walker",
                               prepare=_partner, may=all_frames, keeps_keys=False),
}  # fmt: skip
