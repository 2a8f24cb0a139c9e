# SPDX-License-Identifier: GPL-3.0-or-later
"""One cell of the table: an operator is pressed in a situation, and what happened is judged.

Judged by Blender's own evaluation, by what the file holds, and by what the operator said. Nothing of the extension's
internal code is used.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
import numpy as np
import rigs
from log import Log, traceback_in
from situations import HEIGHT, SITUATIONS, Stage, make, nothing

NEAR = 1e-4  # of the figure's height
TURN = 0.1  # degrees
Film = dict[float, dict[tuple[str, str], np.ndarray]]
"""The world matrices of bones and objects, by (object, bone), on some frames."""


class What(NamedTuple):
    """How a user selects, and presses."""

    select: Callable[[Stage], object]
    act: Callable[[Stage], set[str]]


@dataclass(frozen=True)
class Press:
    """A line of the table of operators. Each promise returns what does not hold, or an empty text."""

    what: What
    promise: Callable[[Stage, "Seen"], str] = lambda stage, seen: ""
    kind: str = "body"
    prepare: Callable[[Stage], object] = nothing
    hand: Callable[[Stage], object] = nothing  # what the user poses and does not key, just before
    may: Callable[[Stage, float], bool] = lambda stage, time: False  # whether a frame may change
    keeps_keys: bool = True  # whether keys on other frames stay
    room: float = 1.0  # by how much the frames that stay may differ, in the units above
    idle: bool = False  # whether the file may be as it should be already
    frees: str = ""  # an object that may go elsewhere, or a bone whose control may


@dataclass
class Seen:
    """What was seen of a cell: all frames before and after, and the current one with what the user posed."""

    before: Film
    here: dict[tuple[str, str], np.ndarray]
    after: Film = field(default_factory=dict)
    now: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)


@dataclass
class Judgement:
    """How a cell ended: refused, done, none (where this Blender has no such situation), or a fault."""

    outcome: str
    said: str = ""
    faults: list[str] = field(default_factory=list)


# -- looking -----------------------------------------------------------------------------------------------------------


def places() -> dict[tuple[str, str], np.ndarray]:
    """Where everything is in the world, at the current frame; by their channels what Blender does not evaluate."""
    found, depsgraph = {}, bpy.context.evaluated_depsgraph_get()
    evaluated = {one.original.session_uid for one in depsgraph.ids}
    for ob in bpy.context.scene.objects:
        shown = ob.evaluated_get(depsgraph)
        world = np.array(shown.matrix_world if ob.session_uid in evaluated else ob.matrix_basis)
        found[ob.name, ""] = world
        for bone in shown.pose.bones if shown.pose is not None else ():
            found[ob.name, bone.name] = world @ np.array(bone.matrix)
    return found


def film(times: list[float]) -> Film:
    """The places on some frames."""
    found = {}
    for time in times:
        rigs.at_frame(time)
        found[time] = places()
    return found


def frames(stage: Stage) -> list[float]:
    """The frames that are compared: some before, between and after the keys, and those around the current one.

    What begins at the current frame may begin after the last whole frame before it.
    """
    step, now, before = stage.take.rate / 6.0, stage.now, float(np.ceil(stage.now)) - 1.0
    times = {stage.first + round(k * step) for k in range(7)} | {now - 1.0, before, now, now + 1.0, now + 2.5}
    outside = set() if stage.repeats else {stage.first - 3.0, stage.last + 3.0}
    return sorted(time for time in times | outside if not before < time < now)


def difference(before: dict, after: dict, names: Any = None) -> tuple[float, float, str]:
    """The largest distance, as a share of the height, the largest turn [deg], and where; of what both have."""
    keys = [key for key in before if key in after and (names is None or key in names)]
    a, b = (np.array([places[key] for key in keys]).reshape(-1, 4, 4) for places in (before, after))
    if not np.isfinite(b).all():
        return np.inf, np.inf, "some bone"
    moved = np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=1) / HEIGHT
    turned = np.degrees([rigs.turn(x, y) if (x[:3, :3] != y[:3, :3]).any() else 0.0 for x, y in zip(a, b, strict=True)])
    worst = int(np.argmax(moved / NEAR + turned / TURN)) if keys else -1
    return (float(moved[worst]), float(turned[worst]), " ".join(keys[worst]).strip()) if keys else (0.0, 0.0, "")


def apart(before: dict, after: dict, room: float, words: str, names: Any = None) -> str:
    """Words where two sets of places differ by more than there is room."""
    moved, turned, name = difference(before, after, names)
    if moved <= room * NEAR and turned <= room * TURN:
        return ""
    return f"{words} {name} differs by {moved:.2g} H, {turned:.2g} degrees"


def keys_of(stage: Stage) -> dict[tuple[str, str, int], np.ndarray]:
    """Times and values of all keys of the figure and of its targets, by the curve."""
    owners = dict.fromkeys([stage.ob, *(goal.target for goal in stage.ob.dqik.goals if goal.target is not None)])
    return {
        (owner.name, *channel): np.array(points).reshape(-1, 2)
        for owner in owners for channel, points in rigs.keys(owner).items()
    }  # fmt: skip


def lost_key(stage: Stage, press: Press, before: dict, after: dict) -> str:
    """A key on a frame that stays which is gone, or has another value."""
    for channel, points in before.items():
        left = after.get(channel, np.zeros((0, 2)))
        for time, value in points:
            if press.may(stage, time):
                continue
            own = left[np.abs(left[:, 0] - time) < 1e-2]
            if not len(own) or np.abs(own[:, 1] - value).min() > 1e-4 * max(1.0, abs(value)):
                return f"the key of {channel[1]} {channel[2]} on frame {time:g} is {'another' if len(own) else 'gone'}"
    return ""


# -- what the file holds -----------------------------------------------------------------------------------------------

COLLECTIONS = ("objects", "armatures", "actions", "collections")
LEFT_OUT = {
    "rna_type", "session_uid", "is_updated", "is_updated_data", "users", "is_evaluated", "preview", "original",
    "id_data", "status", "select", "select_head", "select_tail", "select_control_point", "matrix", "matrix_world",
    "matrix_channel", "matrix_local", "matrix_basis", "head", "tail", "bound_box", "dimensions", "name_full",
    "motion_path", "bone", "children", "children_recursive", "parent_recursive", "all_objects", "adoptions",
    "active_action", "mode", "tag", "runtime", "is_runtime_data", "basename", "vector", "x_axis", "y_axis", "z_axis",
    "length", "center", "bones_active", "last_slot_identifier", "bl_rna", "error", "rotation_error", "gave_way",
    "missed", "last_report", "use_extra_user", "is_missing", "is_library_indirect", "channels",
    "collections_all", "edit_bones", "active", "is_active", "color_set", "colors", "is_tweaked", "active_strip",
    "library", "users_id", "action_slot_handle", "display_bounds_type", "bvh_tree", "frame_range", "curve_frame_range",
    "report", "report_is_fine", "override_library",
}  # fmt: skip
_ELSEWHERE = {
    bpy.types.FCurve: {"keyframe_points", "sampled_points"},
    bpy.types.Action: {"fcurves", "groups"} if hasattr(bpy.types.Action, "layers") else set(),
}
"""What is looked at in bulk, or in another place."""
_PLANS: dict[type, list[tuple[str, str, bool]]] = {}


def contents() -> dict[str, Any]:
    """All that the file holds of objects, armatures, actions and collections, by its path."""
    found: dict[str, Any] = {"frame": round(bpy.context.scene.frame_current_final, 4)}
    for name in COLLECTIONS:
        for one in getattr(bpy.data, name):
            _walk(one, f"{name}/{one.name}{' of a library' if one.library else ''}", found, 0)
    return found


def _walk(struct: Any, path: str, found: dict[str, Any], depth: int) -> None:
    if isinstance(struct, (bpy.types.ID, bpy.types.PoseBone)):
        for key in struct.keys():  # noqa: SIM118  it is no dict
            if not key.startswith("dqik") and key not in ("cycles", "_RNA_UI"):  # ours are among the properties
                found[f"{path}[{key}]"] = _plain(struct[key])
    if isinstance(struct, bpy.types.FCurve):
        points = struct.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points))
            points.foreach_get(name, values)
            found[f"{path}.{name}"] = values
        found[f"{path}.points"] = [(one.interpolation, one.handle_left_type, one.handle_right_type) for one in points]
    for name, kind, is_array in _plan(struct):
        value = getattr(struct, name)
        if kind == "POINTER":
            if value is None or isinstance(value, _BY_NAME):
                found[f"{path}.{name}"] = None if value is None else value.name
            elif depth < 8:
                _walk(value, f"{path}.{name}", found, depth + 1)
        elif kind == "COLLECTION":
            for number, one in enumerate(value):
                if isinstance(one, _BY_NAME) and not (isinstance(one, _WALKED) and depth < 2):
                    found[f"{path}.{name}[{number}]"] = one.name
                else:
                    label = one.name if isinstance(one, _WALKED) else number
                    _walk(one, f"{path}.{name}[{label}]", found, depth + 1)
        else:
            found[f"{path}.{name}"] = np.array(value).ravel() if is_array else _plain(value)


_BY_NAME = (bpy.types.ID, bpy.types.PoseBone, bpy.types.Bone, bpy.types.ActionGroup, bpy.types.BoneCollection)
_WALKED = (bpy.types.PoseBone, bpy.types.Bone)


def _plan(struct: Any) -> list[tuple[str, str, bool]]:
    """The properties of a kind of data that are looked at."""
    if type(struct) not in _PLANS:
        _PLANS[type(struct)] = [
            (one.identifier, one.type, bool(getattr(one, "is_array", False))) for one in struct.bl_rna.properties
            if one.identifier not in LEFT_OUT and one.identifier not in _ELSEWHERE.get(type(struct), ())
            and (not one.is_readonly or one.type in ("POINTER", "COLLECTION"))
        ]  # fmt: skip
    return _PLANS[type(struct)]


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return repr(value.to_list() if hasattr(value, "to_list") else value)[:200]


BASE_POSE = ("dqik_base", "dqik_has_base")
"""The base pose is adopted again after undo, with the same effect."""


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The paths whose values differ, beyond rounding."""
    return [path for path in {**before, **after} if not any(x in path for x in BASE_POSE)
            and not _alike(before.get(path, "nothing"), after.get(path, "nothing"))]  # fmt: skip


def _alike(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, np.ndarray)) and np.shape(a) == np.shape(b):
        return np.array_equal(a, b) or bool(np.allclose(a, b, rtol=1e-5, atol=3e-5, equal_nan=True))
    return np.array_equal(a, b)


# -- pressing ----------------------------------------------------------------------------------------------------------


def pressed(act: Callable[[Stage], set[str]], stage: Stage) -> tuple[bool, str]:
    """Press; whether it was done, and what it said."""
    Log.current.said()
    try:
        done, said = "FINISHED" in act(stage), ""
    except RuntimeError as error:
        done, said = False, str(error).strip()
    return done, (said + " " + " ".join(Log.current.said().split())).strip()


def judge(press: Press, situation: str) -> Judgement:
    """Press an operator in a situation."""
    if bpy.app.version < SITUATIONS[situation].since:
        return Judgement("none")
    Log.current.new()
    stage = make(press.kind, situation)
    press.prepare(stage)
    rigs.update()
    if press.frees:
        controls = {("Ann", goal.subtarget) for goal in stage.ob.dqik.goals if goal.bone == press.frees}
        stage.notes["freed"] = controls | {(press.frees, "")}
    seen = Seen(film(frames(stage)), {})
    rigs.at_frame(stage.now)
    press.what.select(stage)
    press.hand(stage)
    rigs.update()
    seen.here, keys = places(), keys_of(stage)
    before = contents()
    bpy.ops.ed.undo_push(message="before")
    done, said = pressed(press.what.act, stage)
    rigs.update()
    judgement = Judgement("done" if done else "refused", said)
    faults, after = judgement.faults, contents()
    changed = changes(before, after)
    if trace := traceback_in(said + Log.current.new()):
        faults.append(f"traceback: {trace}")
    elif not done:
        if not said or "context is incorrect" in said:
            faults.append("it refuses without a sentence")
        if changed:
            faults.append(f"it refuses and changes {len(changed)} things: {_some(changed, before, after)}")
        faults.append(apart(seen.here, places(), 1.0, "it refuses, and"))
    else:
        bpy.ops.ed.undo_push(message="after")
        if not changed and not press.idle:
            faults.append(f"it says that it is done, and nothing has changed: {said[:80]}")
        seen.now = places()
        bpy.ops.ed.undo()
        rigs.update()
        back = contents()
        was_posed = press.hand is not nothing  # Blender's undo shows keys, where a tool has changed curves
        left = [path for path in changes(before, back) if not (was_posed and path.startswith("objects/Ann.pose"))]
        if left:
            faults.append(f"undo leaves {len(left)} things: {_some(left, before, back)}")
        faults.append("" if was_posed else apart(seen.here, places(), 1.0, "after undo"))
        bpy.ops.ed.redo()
        rigs.update()
        if not was_posed and "go back to their keys" not in said:
            faults.append(apart(seen.now, places(), 1.0, "after redo"))
        seen.after = film(frames(stage))
        faults += _of_done(stage, press, seen)
        if press.keeps_keys:
            faults.append(lost_key(stage, press, keys, keys_of(stage)))
    judgement.faults = [one for one in faults if one]
    return judgement


def _of_done(stage: Stage, press: Press, seen: Seen) -> list[str]:
    """What is wrong with frames that stay, with the other figure, and with the promise."""
    faults, moved, stay = [], [], shown_places(stage, seen)
    for time, shown in seen.before.items():
        others = {key for key in shown if key[0] not in ("Ann", *_targets(stage))}
        room = 1e9 if press.may(stage, time) else press.room
        if words := apart(shown, seen.after[time], 1.0, f"on frame {time:g}", others):
            faults.append(f"what is not the figure's moves: {words}")
        if words := apart(shown, seen.after[time], room, f"on frame {time:g}", stay):
            moved.append((difference(shown, seen.after[time], stay)[:2], words))
    if moved:
        (_, worst) = max(moved, key=lambda one: one[0][0] / NEAR + one[0][1] / TURN)
        faults.append(f"{len(moved)} frames change that should stay; {worst}")
    faults.append(press.promise(stage, seen))
    return faults


def shown_places(stage: Stage, seen: Seen) -> set[tuple[str, str]]:
    """What is compared on frames that stay: everything, without controls that may go elsewhere."""
    return seen.here.keys() - stage.notes.get("freed", set())


def _targets(stage: Stage) -> set[str]:
    return {goal.target.name for goal in stage.ob.dqik.goals if goal.target is not None} | {"Cup"}


def _some(paths: list[str], before: dict[str, Any], after: dict[str, Any]) -> str:
    pairs = ((path, str(before.get(path, "nothing"))[:30], str(after.get(path, "nothing"))[:30]) for path in paths[:2])
    return "; ".join(f"{path}: {old} -> {new}" for path, old, new in pairs)
