# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions and F-curves on every supported Blender: plain ones to 4.3, slots and channelbags from 4.4 on."""

from dataclasses import dataclass

import bpy
import numpy as np

LAYERED = bpy.app.version >= (4, 4, 0)
_GROUP_NAMES = bpy.app.version >= (5, 0, 0)
_BEZIER = 2  # the number behind the enum, which foreach_set takes
_ALIGNED, _AUTO = 3, 1
_ENUM = np.uint8  # as Blender keeps a key's enums: read and written without a step per key


def bone_path(bone: str, channel: str) -> str:
    """Data path of a pose bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def fcurves(owner: bpy.types.AnimData | None) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves that the assigned action holds for this owner; empty where there are none."""
    return () if owner is None else of_action(owner.action, getattr(owner, "action_slot", None))


def of_action(action: bpy.types.Action | None, slot: object) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves of an action, where actions have slots those of one; empty where there are none."""
    bag = _bag(action, slot)
    return () if bag is None else bag.fcurves


def groups(action: bpy.types.Action | None, slot: object) -> bpy.types.bpy_prop_collection | tuple:
    """The groups of these F-curves."""
    bag = _bag(action, slot)
    return () if bag is None else bag.groups


def _bag(action: bpy.types.Action | None, slot: object) -> object:
    """What holds F-curves and groups: the action itself or, where actions have slots, a slot's channelbag."""
    if action is None or not LAYERED:
        return action
    return _channelbag(action, slot)


def _channelbag(action: bpy.types.Action, slot: object, ensure: bool = False):
    """The channelbag of a slot in the action's first keyframe strip; made with `ensure`."""
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
    """Writes baked channels into an object's action, many keys at a time; until `finish` it can be undone."""

    def __init__(self, ob: bpy.types.Object, action: bpy.types.Action) -> None:
        """Assigns `action` to `ob`, with a slot of the object's own where actions have slots."""
        owner = ob.animation_data or ob.animation_data_create()
        if owner.action is not action:
            owner.action = action
        self._written: list[tuple[bpy.types.FCurve, _Keys | None]] = []  # with the keys that it had; None: it was made
        if not LAYERED:
            self._bag = action
            return
        if owner.action_slot is None:
            unused = [slot for slot in owner.action_suitable_slots if not slot.users()]
            owner.action_slot = unused[0] if unused else action.slots.new(id_type="OBJECT", name=ob.name)
        self._bag = _channelbag(action, owner.action_slot, ensure=True)

    def write(self, path: str, index: int, group: str, frames: np.ndarray, values: np.ndarray,
              slopes: np.ndarray | None = None) -> None:  # fmt: skip
        """Put keys (K,) into a curve; keys that it has outside of `frames`' span stay.

        group : named after the bone, for a curve that is made. slopes : (K,) per frame; with them the handles make the
            curve the cubic with these slopes, without them Blender places the handles.
        """
        curve = self._bag.fcurves.find(path, index=index)
        before = None if curve is None else _Keys.of(curve)
        if curve is None:
            curve = self._made(path, index, group)
        self._written.append((curve, before))
        keys = _Keys.made(frames, values, slopes)
        (keys if before is None else before.around(keys)).into(curve)

    def finish(self) -> None:
        """Have the curves count as they are written: without modifiers, not muted."""
        for curve, _ in self._written:
            for modifier in reversed(curve.modifiers):
                curve.modifiers.remove(modifier)
            curve.mute = False
            if not LAYERED and curve.group is not None and curve.group.mute:
                for other in curve.group.channels:
                    other.mute = True
                curve.group.mute = curve.mute = False

    def undo(self) -> None:
        """Give all curves the keys back that they had, and remove those that were made."""
        for curve, before in reversed(self._written):
            if before is None:
                self._bag.fcurves.remove(curve)
            else:
                before.into(curve)

    def _made(self, path: str, index: int, group: str) -> bpy.types.FCurve:
        """A new curve in a group named after the bone."""
        curves = self._bag.fcurves
        if not LAYERED:
            return curves.new(path, index=index, action_group=group)
        if _GROUP_NAMES:
            return curves.new(path, index=index, group_name=group)
        made = curves.new(path, index=index)
        made.group = self._bag.groups.get(group) or self._bag.groups.new(group)
        return made


@dataclass
class _Keys:
    """Keyframes as arrays of K: points, handles (K, 2) and the numbers of their enums."""

    co: np.ndarray
    handle_left: np.ndarray
    handle_right: np.ndarray
    handle_left_type: np.ndarray
    handle_right_type: np.ndarray
    interpolation: np.ndarray

    @classmethod
    def made(cls, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray | None) -> "_Keys":
        co = np.stack([frames, values], -1)
        count = len(frames)
        left, right = co.copy(), co.copy()
        kind = np.full(count, _AUTO)
        if slopes is not None and count > 1:
            third = np.diff(frames) / 3.0
            before, after = np.append(third[:1], third), np.append(third, third[-1:])
            left -= np.stack([before, before * slopes], -1)
            right += np.stack([after, after * slopes], -1)
            kind = np.full(count, _ALIGNED)
        return cls(co, left, right, kind, kind.copy(), np.full(count, _BEZIER))

    @classmethod
    def of(cls, curve: bpy.types.FCurve) -> "_Keys":
        points, count = curve.keyframe_points, len(curve.keyframe_points)
        pairs, numbers = [], []
        for name in ("co", "handle_left", "handle_right"):
            buffer = np.empty(2 * count, dtype=np.float32)
            points.foreach_get(name, buffer)
            pairs.append(buffer.reshape(count, 2).astype(float))
        for name in ("handle_left_type", "handle_right_type", "interpolation"):
            buffer = np.empty(count, dtype=_ENUM)
            points.foreach_get(name, buffer)
            numbers.append(buffer)
        return cls(*pairs, *numbers)

    def around(self, new: "_Keys") -> "_Keys":
        """These keys before and after the new ones' span, with the new ones between."""
        before, after = self.co[:, 0] < new.co[0, 0] - 1e-3, self.co[:, 0] > new.co[-1, 0] + 1e-3
        return _Keys(*(
            np.concatenate([old[before], mine, old[after]])
            for old, mine in zip(vars(self).values(), vars(new).values(), strict=True)
        ))  # fmt: skip

    def into(self, curve: bpy.types.FCurve) -> None:
        """Replace the keys of a curve."""
        points = curve.keyframe_points
        points.clear()
        points.add(len(self.co))
        for name in ("handle_left_type", "handle_right_type", "interpolation"):
            points.foreach_set(name, np.ascontiguousarray(getattr(self, name), dtype=_ENUM))
        placed = (self.handle_left_type == _AUTO).all() and (self.handle_right_type == _AUTO).all()
        for name in ("co",) if placed else ("co", "handle_left", "handle_right"):
            points.foreach_set(name, np.ascontiguousarray(getattr(self, name), dtype=np.float32).ravel())
        curve.update()  # places automatic handles
