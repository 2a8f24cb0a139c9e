# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions and F-curves in every supported Blender: plain actions up to 4.3, slots and channelbags from 4.4 on."""

from collections.abc import Sequence
from hashlib import blake2b

import bpy
import numpy as np

LAYERED = bpy.app.version >= (4, 4, 0)
_GROUP_NAMES = bpy.app.version >= (5, 0, 0)
_CONSTANT, _BEZIER = 0, 2  # foreach_set takes the numbers of enums
_FREE, _AUTO, _ALIGNED = 0, 1, 3
SAME_FRAME = 0.01  # keys nearer to each other than this are one to Blender
_ENUM = np.uint8  # Blender's own type of a key's enums, which foreach_get and foreach_set copy at once
_PAIR = (0.0, 0.0)
_COLUMNS = {  # of a key: the type, and the usual value
    "handle_left_type": (_ENUM, _AUTO), "handle_right_type": (_ENUM, _AUTO), "interpolation": (_ENUM, _BEZIER),
    "easing": (_ENUM, 0), "type": (_ENUM, 0), "back": (np.float32, 1.70158), "amplitude": (np.float32, 0.8),
    "period": (np.float32, 4.1), "co": (np.float32, _PAIR), "handle_left": (np.float32, _PAIR),
    "handle_right": (np.float32, _PAIR),
}  # fmt: skip


def bone_path(bone: str, channel: str) -> str:
    """Data path of a pose bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def fcurves(owner: bpy.types.AnimData | None) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves of the assigned action for this owner; empty if there are none."""
    return () if owner is None else of_action(owner.action, getattr(owner, "action_slot", None))


def of_action(action: bpy.types.Action | None, slot: object) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves of an action (of one slot, from Blender 4.4 on); empty if there are none."""
    bag = _bag(action, slot)
    return () if bag is None else bag.fcurves


def digest(ob: bpy.types.Object) -> str:
    """What tells the keys of an object's action from others, on any machine: 16 hexadecimal digits."""
    found = blake2b(digest_size=8)
    for curve in sorted(fcurves(ob.animation_data), key=lambda curve: (curve.data_path, curve.array_index)):
        found.update(f"{curve.data_path} {curve.array_index} {len(curve.keyframe_points)} ".encode())
        for column in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get(column, values)
            found.update((values + 0.0).astype("<f4").tobytes())
    return found.hexdigest()


def find(ob: bpy.types.Object, path: str, index: int) -> bpy.types.FCurve | None:
    """A curve of an object's assigned action, or None."""
    owner = ob.animation_data
    bag = None if owner is None else _bag(owner.action, getattr(owner, "action_slot", None))
    return None if bag is None else bag.fcurves.find(path, index=index)


def groups(action: bpy.types.Action | None, slot: object) -> bpy.types.bpy_prop_collection | tuple:
    """The groups of these F-curves."""
    bag = _bag(action, slot)
    return () if bag is None else bag.groups


def has_bones(ob: bpy.types.Object, names: Sequence[str]) -> bool:
    """Whether an object's action has curves of bones."""
    starts = tuple(bone_path(name, "") for name in names)
    return any(curve.data_path.startswith(starts) for curve in fcurves(ob.animation_data))


def remove(ob: bpy.types.Object, starts: tuple[str, ...]):
    """Remove the curves of an object's action whose paths start so; returns their owner, or None if none has them."""
    owner = ob.animation_data
    if owner is None or owner.action is None or owner.action.library is not None:
        return None
    bag = _bag(owner.action, getattr(owner, "action_slot", None))
    for curve in [curve for curve in ([] if bag is None else bag.fcurves) if curve.data_path.startswith(starts)]:
        bag.fcurves.remove(curve)
    return bag


def remove_bones(ob: bpy.types.Object, names: Sequence[str]) -> None:
    """Remove the curves of bones from an object's action, and their groups if these become empty."""
    bag = remove(ob, tuple(bone_path(name, "") for name in names))
    for group in [group for group in ([] if bag is None else bag.groups) if group.name in names and not group.channels]:
        bag.groups.remove(group)


def before_key(curve: bpy.types.FCurve, frame: float, value: float | None, times: Sequence[float]) -> list[float]:
    """The values of a curve at some times before its key at a frame was set, which had another value, or was not there.

    value : None for a key that was not there.
    """
    keys = _Keys.of(curve)
    number = next((k for k, one in enumerate(curve.keyframe_points) if abs(one.co[0] - frame) < SAME_FRAME), None)
    if number is not None and value is None:
        curve.keyframe_points.remove(curve.keyframe_points[number])
    elif number is not None:
        point = curve.keyframe_points[number]
        point.co_ui = (point.co_ui[0], value)
        curve.update()
    values = [curve.evaluate(time) for time in times]
    if number is not None:
        keys.into(curve)
    return values


def remove_path(ob: bpy.types.Object, path: str) -> None:
    """Remove the curves of a property from an object's action."""
    owner = ob.animation_data
    bag = None if owner is None else _bag(owner.action, getattr(owner, "action_slot", None))
    for curve in [] if bag is None else [curve for curve in bag.fcurves if curve.data_path == path]:
        bag.fcurves.remove(curve)


def _bag(action: bpy.types.Action | None, slot: object) -> object:
    """The owner of F-curves and groups: the action or, from Blender 4.4 on, the channelbag of a slot."""
    if action is None or not LAYERED:
        return action
    return _channelbag(action, slot)


def _channelbag(action: bpy.types.Action, slot: object, ensure: bool = False):
    """The channelbag of a slot in the action's first keyframe strip; created if missing and `ensure` is set."""
    if slot is None:
        return None
    if not action.layers:
        if not ensure:
            return None
        action.layers.new("Layer")
    layer = action.layers[0]
    if not layer.strips:
        if not ensure:
            return None
        layer.strips.new(type="KEYFRAME")
    return layer.strips[0].channelbag(slot, ensure=True) if ensure else layer.strips[0].channelbag(slot)


class Writer:
    """Writes baked channels into an object's action, a whole curve at a time; `undo` works until `finish`."""

    def __init__(self, ob: bpy.types.Object, action: bpy.types.Action) -> None:
        """Assigns `action` to `ob`, with a slot for the object from Blender 4.4 on."""
        owner = ob.animation_data or ob.animation_data_create()
        if owner.action is not action:
            owner.action = action
        self._written: list[tuple[bpy.types.FCurve, _Keys | None]] = []  # with its old keys; None for a new curve
        if not LAYERED:
            self._bag = action
            return
        if owner.action_slot is None:
            owner.action_slot = action.slots.new(id_type="OBJECT", name=ob.name)  # what the others hold was not shown
        self._bag = _channelbag(action, owner.action_slot, ensure=True)

    def write(self, path: str, index: int, group: str, frames: np.ndarray, values: np.ndarray,
              slopes: np.ndarray | None = None, is_stepped: bool = False) -> None:  # fmt: skip
        """Write keys (K,) into a curve; its old keys before and after `frames` stay.

        group : the name of the group of a new curve, which is the bone. slopes : (K,) per frame, or (K, 2) before and
            after each key, from which the handles are set; without them Blender sets the handles. is_stepped : values
            stay until the next key.
        """
        curve = self._bag.fcurves.find(path, index=index)
        before = None if curve is None else _Keys.of(curve)
        if curve is None:
            curve = self._new_curve(path, index, group)
        self._written.append((curve, before))
        keys = _Keys.from_values(frames, values, slopes, _CONSTANT if is_stepped else _BEZIER)
        (keys if before is None else before.around(keys)).into(curve)

    def finish(self) -> None:
        """Remove modifiers and mutes of the curves, so that they evaluate to the written keys."""
        for curve, _ in self._written:
            for modifier in reversed(curve.modifiers):
                curve.modifiers.remove(modifier)
            curve.mute = False
            if not LAYERED and curve.group is not None and curve.group.mute:
                for other in curve.group.channels:
                    other.mute = True
                curve.group.mute = curve.mute = False

    def undo(self) -> None:
        """Restore the old keys of all curves, and remove new curves."""
        for curve, before in reversed(self._written):
            if before is None:
                self._bag.fcurves.remove(curve)
            else:
                before.into(curve)

    def _new_curve(self, path: str, index: int, group: str) -> bpy.types.FCurve:
        """A new curve in a group named after the bone."""
        curves = self._bag.fcurves
        if not LAYERED:
            return curves.new(path, index=index, action_group=group)
        if _GROUP_NAMES:
            return curves.new(path, index=index, group_name=group)
        curve = curves.new(path, index=index)
        curve.group = self._bag.groups.get(group) or self._bag.groups.new(group)
        return curve


class _Keys:
    """K keyframes as arrays by Blender's names: points and handles (K, 2), numbers of enums and other numbers (K,)."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        """`columns` : those of `_COLUMNS` that are not in it have Blender's own values."""
        self._columns = columns

    @classmethod
    def from_values(
        cls, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray | None, interpolation: int
    ) -> "_Keys":
        co = np.stack([frames, values], -1)
        columns = {"handle_left_type": np.full(len(frames), _AUTO), "handle_right_type": np.full(len(frames), _AUTO),
                   "interpolation": np.full(len(frames), interpolation), "co": co}  # fmt: skip
        if slopes is not None and len(frames) > 1:
            third = np.diff(frames) / 3.0
            before, after = np.append(third[:1], third), np.append(third, third[-1:])
            sides = (slopes, slopes) if slopes.ndim == 1 else slopes.T
            kinds = np.where(sides[0] == sides[1], _ALIGNED, _FREE)
            columns |= dict.fromkeys(("handle_left_type", "handle_right_type"), kinds)
            columns["handle_left"] = co - np.stack([before, before * sides[0]], -1)
            columns["handle_right"] = co + np.stack([after, after * sides[1]], -1)
        return cls(columns)

    @classmethod
    def of(cls, curve: bpy.types.FCurve) -> "_Keys":
        points, columns = curve.keyframe_points, {}
        for name, (kind, usual) in _COLUMNS.items():
            columns[name] = np.empty((len(points), *np.shape(usual)), dtype=kind)
            points.foreach_get(name, columns[name].reshape(-1))
        return cls(columns)

    def around(self, new: "_Keys") -> "_Keys":
        """The new keys, and these keys before and after them."""
        times, span = self._columns["co"][:, 0], new._columns["co"][[0, -1], 0]
        before, after = times < span[0] - 1e-3, times > span[1] + 1e-3
        columns, count = {}, len(new._columns["co"])
        for name, old in self._columns.items():
            usual = np.broadcast_to(_COLUMNS[name][1], (count, *old.shape[1:]))
            columns[name] = np.concatenate([old[before], new._columns.get(name, usual), old[after]])
        return _Keys(columns)

    def into(self, curve: bpy.types.FCurve) -> None:
        """Replace the keys of a curve."""
        points = curve.keyframe_points
        points.clear()
        points.add(len(self._columns["co"]))
        for name, values in self._columns.items():
            points.foreach_set(name, np.ascontiguousarray(values, dtype=_COLUMNS[name][0]).ravel())
        curve.update()  # sets automatic handles
