# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions and F-curves in every supported Blender: plain actions up to 4.3, slots and channelbags from 4.4 on."""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from hashlib import blake2b

import bpy
import numpy as np

LAYERED = bpy.app.version >= (4, 4, 0)
_GROUP_NAMES = bpy.app.version >= (5, 0, 0)
CONSTANT, LINEAR, BEZIER = 0, 1, 2  # foreach_set takes the numbers of enums
FREE, AUTO, VECTOR, ALIGNED, AUTO_CLAMPED = 0, 1, 2, 3, 4
SAME_FRAME = 0.01  # keys nearer to each other than this are one to Blender
_ENUM = np.uint8  # Blender's own type of a key's enums, which foreach_get and foreach_set copy at once
_PAIR = (0.0, 0.0)
_HANDLES = ("handle_left", "handle_right")
_TYPES = ("handle_left_type", "handle_right_type")
_MOVED = 1e-6  # relative: handles that differ by more have moved
_SAME_VALUE = 1e-5  # relative: keys whose values differ by less are the same
_FIXES = 3  # rounds in which handles that move are fixed, which can move others
_COLUMNS = {  # of a key: the type, and the usual value
    "handle_left_type": (_ENUM, AUTO_CLAMPED), "handle_right_type": (_ENUM, AUTO_CLAMPED),
    "interpolation": (_ENUM, BEZIER), "easing": (_ENUM, 0), "type": (_ENUM, 0), "back": (np.float32, 1.70158),
    "amplitude": (np.float32, 0.8), "period": (np.float32, 4.1), "co": (np.float32, _PAIR),
    "handle_left": (np.float32, _PAIR), "handle_right": (np.float32, _PAIR),
}  # fmt: skip


def bone_path(bone: str, channel: str) -> str:
    """Data path of a pose bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def path_of(owner: bpy.types.Object | bpy.types.PoseBone, name: str) -> str:
    """The data path, from the object, of a property of an object or a bone."""
    return bone_path(owner.name, name) if isinstance(owner, bpy.types.PoseBone) else name


def group_of(owner: object, path: str) -> str:
    """The name of the group that a new curve of a property gets, as Blender has it; empty for none."""
    if isinstance(owner, bpy.types.PoseBone):
        return owner.name
    return "Object Transforms" if path.startswith(("location", "rotation", "scale")) else ""


def frame_before(time: float) -> float:
    """The last whole frame before a time: up to there nothing changes that begins or ends at the time."""
    return float(np.ceil(time - SAME_FRAME)) - 1.0


def action_of(owner: bpy.types.ID) -> bpy.types.Action | None:
    """The action of an object or of other data, or None."""
    return None if owner.animation_data is None else owner.animation_data.action


def fcurves(owner: bpy.types.AnimData | bpy.types.NlaStrip | None) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves of the assigned action for this owner; empty if there are none."""
    bag = _bag_of(owner)
    return () if bag is None else bag.fcurves


def of_action(action: bpy.types.Action | None, slot: object) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves of an action (of one slot, from Blender 4.4 on); empty if there are none."""
    bag = _bag(action, slot)
    return () if bag is None else bag.fcurves


def by_slot(action: bpy.types.Action) -> list[bpy.types.bpy_prop_collection | tuple]:
    """The F-curves of each slot of an action; before Blender 4.4 all."""
    return [of_action(action, slot) for slot in (action.slots if LAYERED else (None,))]


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
    bag = _bag_of(ob.animation_data)
    return None if bag is None else bag.fcurves.find(path, index=index)


def of_path(ob: bpy.types.Object, path: str, size: int) -> dict[int, bpy.types.FCurve]:
    """The curves of a property of so many numbers in an object's assigned action, by their index."""
    bag = _bag_of(ob.animation_data)
    both = () if bag is None else ((index, bag.fcurves.find(path, index=index)) for index in range(size))
    return {index: curve for index, curve in both if curve is not None}


def keyed(ob: bpy.types.Object, paths: Container[str]) -> list[bpy.types.FCurve]:
    """The curves with keys of data paths in an object's assigned action."""
    return [curve for curve in fcurves(ob.animation_data) if curve.data_path in paths and len(curve.keyframe_points)]


def of_property(owner: bpy.types.bpy_struct, name: str) -> list[bpy.types.FCurve]:
    """The curves with keys of a property of an object, a bone, a goal or a constraint, in the assigned action."""
    return keyed(owner.id_data, [name if isinstance(owner, bpy.types.Object) else owner.path_from_id(name)])


def times(found: Iterable[bpy.types.FCurve]) -> list[float]:
    """The times of the keys of curves, in their order."""
    return sorted({round(key.co[0], 3) for curve in found for key in curve.keyframe_points})


def remove_keys(found: Iterable[bpy.types.FCurve], first: float, last: float) -> None:
    """Remove the keys of curves from a time to another."""
    for curve in found:
        for key in reversed(curve.keyframe_points):
            if first - SAME_FRAME <= key.co[0] <= last + SAME_FRAME:
                curve.keyframe_points.remove(key)


def groups(owner: bpy.types.AnimData | bpy.types.NlaStrip) -> bpy.types.bpy_prop_collection | tuple:
    """The groups of these F-curves."""
    bag = _bag_of(owner)
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
    bag = _bag_of(owner)
    for curve in [curve for curve in ([] if bag is None else bag.fcurves) if curve.data_path.startswith(starts)]:
        bag.fcurves.remove(curve)
    return bag


def remove_bones(ob: bpy.types.Object, names: Sequence[str]) -> None:
    """Remove the curves of bones from an object's action, and their groups if these become empty."""
    bag = remove(ob, tuple(bone_path(name, "") for name in names))
    for group in [group for group in ([] if bag is None else bag.groups) if group.name in names and not group.channels]:
        bag.groups.remove(group)


def number_at(curve: bpy.types.FCurve, frame: float) -> int | None:
    """The number of a curve's key at a frame, or None: the nearest, for Blender can have one on each side of it."""
    points = curve.keyframe_points
    behind = bisect_left(points, frame, key=_time)
    beside = range(max(behind - 1, 0), min(behind + 1, len(points)))
    number = min(beside, key=lambda one: abs(_time(points[one]) - frame), default=None)
    return None if number is None or abs(_time(points[number]) - frame) > SAME_FRAME else number


def before_key(curve: bpy.types.FCurve, frame: float, value: float | None, times: Sequence[float]) -> list[float]:
    """The values of a curve at some times before its key at a frame was set, which had another value, or was not there.

    value : None for a key that was not there.
    """
    keys = Keys.of(curve)
    number = number_at(curve, frame)
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
    bag = _bag_of(ob.animation_data)
    for curve in [] if bag is None else [curve for curve in bag.fcurves if curve.data_path == path]:
        bag.fcurves.remove(curve)


def _time(key: bpy.types.Keyframe) -> float:
    return key.co[0]


def _bag_of(owner: bpy.types.AnimData | bpy.types.NlaStrip | None):
    return None if owner is None else _bag(owner.action, getattr(owner, "action_slot", None))


def _bag(action: bpy.types.Action | None, slot: object) -> object:
    """The owner of F-curves and groups: the action or, from Blender 4.4 on, the channelbag of a slot."""
    return action if action is None or not LAYERED else _channelbag(action, slot)


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
        self._written: list[tuple[bpy.types.FCurve, Keys | None]] = []  # with its old keys; None for a new curve
        if not LAYERED:
            self._bag = action
            return
        if owner.action_slot is None:
            owner.action_slot = action.slots.new(id_type=ob.id_type, name=ob.name)  # what the others hold was not shown
        self._bag = _channelbag(action, owner.action_slot, ensure=True)

    @classmethod
    def of(cls, ob: bpy.types.Object) -> "Writer":
        """Writes into the assigned action, or a new one."""
        data = ob.animation_data or ob.animation_data_create()
        return cls(ob, data.action or bpy.data.actions.new(f"{ob.name}Action"))

    def write(self, path: str, index: int, group: str, frames: np.ndarray, values: np.ndarray,
              slopes: np.ndarray | None = None, is_stepped: bool = False) -> None:  # fmt: skip
        """Write keys (K,) into a curve; its old keys before and after `frames` stay, and so do their handles.

        group : the name of the group of a new curve, which is the bone. slopes : (K,) per frame, or (K, 2) before and
            after each key, from which the handles are set; without them the handles are those of new keys in Blender's
            preferences. is_stepped : values stay until the next key.
        """
        curve, before = self._opened(path, index, group)
        if is_stepped:
            interpolation = CONSTANT
        elif slopes is None and len(frames) <= 2:
            interpolation = _interpolation(before, float(frames[0]))
        else:  # a motion on all its frames: between them it goes on, whatever the user poses with
            interpolation = BEZIER
        keys = Keys.from_values(frames, values, slopes, interpolation)
        keys = keys if before is None else before.around(keys)
        keys.into(curve, (keys.times < frames[0] - 1e-3) | (keys.times > frames[-1] + 1e-3))
        if slopes is None:
            prefer(curve, float(frames[0]), float(frames[-1]))

    def write_keys(self, path: str, index: int, group: str, keys: "Keys", over: bool = False) -> bpy.types.FCurve:
        """Put keys with their handles into a curve.

        over : also in the place of its own ones that have other values at the same times; else these stay.
        """
        curve, before = self._opened(path, index, group)
        if before is not None:
            keys = keys if over else keys.chosen(~keys.are_at(before, alike=False))
            keys = keys.joined(before.chosen(~before.are_at(keys)))
        keys.into(curve, stays=True)
        return curve

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

    def _opened(self, path: str, index: int, group: str) -> tuple[bpy.types.FCurve, "Keys | None"]:
        """A curve that is written, and its old keys; None for a new one, which is in a group named after the bone."""
        curves = self._bag.fcurves
        curve = curves.find(path, index=index)
        before = None if curve is None else Keys.of(curve)
        if curve is None and not LAYERED:
            curve = curves.new(path, index=index, action_group=group)
        elif curve is None and _GROUP_NAMES:
            curve = curves.new(path, index=index, group_name=group)
        elif curve is None:
            curve = curves.new(path, index=index)
            curve.group = self._bag.groups.get(group) or self._bag.groups.new(group)
        self._written.append((curve, before))
        return curve, before


class Keys:
    """K keyframes as arrays by Blender's names: points and handles (K, 2), numbers of enums and other numbers (K,)."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        """`columns` : those of `_COLUMNS` that are not in it have Blender's own values."""
        self.columns = columns

    @property
    def times(self) -> np.ndarray:
        """(K,)."""
        return self.columns["co"][:, 0]

    @classmethod
    def from_values(
        cls, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray | None, interpolation: int
    ) -> "Keys":
        """Keys at frames (K,), with slopes as in `Writer.write`."""
        co = np.stack([frames, values], -1)
        kinds = np.full(len(frames), AUTO_CLAMPED)
        columns = {"interpolation": np.full(len(frames), interpolation), "co": co}
        if slopes is not None and len(frames) > 1:
            third = np.diff(frames) / 3.0
            before, after = np.append(third[:1], third), np.append(third, third[-1:])
            sides = (slopes, slopes) if slopes.ndim == 1 else slopes.T
            kinds = np.where(sides[0] == sides[1], ALIGNED, FREE)
            columns["handle_left"] = co - np.stack([before, before * sides[0]], -1)
            columns["handle_right"] = co + np.stack([after, after * sides[1]], -1)
        return cls(columns | dict.fromkeys(_TYPES, kinds))

    @classmethod
    def of(cls, curve: bpy.types.FCurve, names: Iterable[str] = tuple(_COLUMNS)) -> "Keys":
        """The keys of a curve. names : of the columns that are read."""
        points, columns = curve.keyframe_points, {}
        for name in names:
            kind, usual = _COLUMNS[name]
            columns[name] = np.empty((len(points), 2) if usual is _PAIR else len(points), dtype=kind)
            points.foreach_get(name, columns[name].reshape(-1))
        return cls(columns)

    def chosen(self, which: np.ndarray) -> "Keys":
        """Some of the keys, by a mask or by their numbers."""
        return Keys({name: column[which] for name, column in self.columns.items()})

    def are_at(self, other: "Keys", alike: bool = True) -> np.ndarray:
        """Whether (K,) other keys are at the same times. alike : whether those count that have the same values."""
        co, own = other.columns["co"], self.columns["co"]
        meets = np.abs(own[:, None, 0] - co[None, :, 0]) <= SAME_FRAME
        differ = np.abs(own[:, None, 1] - co[None, :, 1]) > _SAME_VALUE * np.maximum(np.abs(own[:, None, 1]), 1.0)
        return np.any(meets & (differ | alike), axis=1)

    def joined(self, other: "Keys") -> "Keys":
        """These keys and others, in the order of their times; both have all columns."""
        order = np.argsort(np.append(self.times, other.times), kind="stable")
        return Keys({
            name: np.concatenate([column, other.columns[name]])[order] for name, column in self.columns.items()
        })  # fmt: skip

    def around(self, new: "Keys") -> "Keys":
        """The new keys, and these keys before and after them."""
        first, last = new.times[[0, -1]]
        outside = (self.times < first - 1e-3) | (self.times > last + 1e-3)
        if not outside.any():
            return new
        whole = {name: new.columns.get(name, np.broadcast_to(usual, (len(new.times), *np.shape(usual))))
                 for name, (_, usual) in _COLUMNS.items()}  # fmt: skip
        return self.chosen(outside).joined(Keys(whole))

    def fixed(self, which: np.ndarray, smooth: bool = True) -> "Keys":
        """The keys with handles that stay where they are for some. smooth : those that are in line stay so."""
        kinds = np.stack([self.columns[name] for name in _TYPES])
        free = np.isin(kinds, (VECTOR, FREE)).any(0) | (not smooth)
        fixed = np.where(which, np.where(free, FREE, ALIGNED), kinds)
        return Keys(self.columns | dict(zip(_TYPES, fixed, strict=True)))

    def into(self, curve: bpy.types.FCurve, stays: np.ndarray | bool = False) -> None:
        """Replace the keys of a curve.

        stays : the keys (K,), all or none, whose handles stay as they are here, also where automatic ones would move
        with their neighbours.
        """
        points = curve.keyframe_points
        points.clear()
        points.add(len(self.times))
        self._write(curve, _COLUMNS)
        keys = self
        for attempt in range(_FIXES if np.any(stays) else 0):
            moved = stays & keys.differ_from(Keys.of(curve))
            if not moved.any():
                break
            keys = keys.fixed(moved, smooth=attempt == 0)
            keys._write(curve, (*_TYPES, *_HANDLES))

    def differ_from(self, other: "Keys") -> np.ndarray:
        """Whether (K,) handles are elsewhere than those of as many other keys."""
        scale = np.maximum(np.abs(self.columns["co"]), 1.0)
        apart = np.stack([np.abs(self.columns[name] - other.columns[name]) / scale for name in _HANDLES])
        return apart.max(axis=(0, 2), initial=0.0) > _MOVED

    def _write(self, curve: bpy.types.FCurve, names: Iterable[str]) -> None:
        for name in names:
            if name in self.columns:
                values = np.ascontiguousarray(self.columns[name], dtype=_COLUMNS[name][0])
                curve.keyframe_points.foreach_set(name, values.ravel())
        curve.update()  # sets automatic handles


def prefer(curve: bpy.types.FCurve, first: float, last: float) -> None:
    """Give the keys of a curve between two times the handles that the preferences give to new keys.

    Their handles are automatic and clamped; those that are not automatic begin where these are.
    """
    kind = _number_of("handle_left_type", bpy.context.preferences.edit.keyframe_new_handle_type)
    if kind == AUTO_CLAMPED:
        return
    keys = Keys.of(curve)
    new = (keys.times >= first - SAME_FRAME) & (keys.times <= last + SAME_FRAME)
    for name in _TYPES:
        curve.keyframe_points.foreach_set(name, np.where(new, kind, keys.columns[name]).astype(_ENUM))
    curve.update()


def _interpolation(keys: Keys | None, time: float) -> int:
    """The interpolation that Blender gives to a key at a time: that of the key before, else of the preferences."""
    if keys is None or len(keys.times) < 2:
        return _number_of("interpolation", bpy.context.preferences.edit.keyframe_new_interpolation_type)
    number = int(np.searchsorted(keys.times, time + SAME_FRAME)) - 1
    return int(keys.columns["interpolation"][max(number, 0)])


def _number_of(name: str, value: str) -> int:
    return bpy.types.Keyframe.bl_rna.properties[name].enum_items[value].value
