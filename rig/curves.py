# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions and F-curves on every supported Blender: plain ones to 4.3, slots and channelbags from 4.4 on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

LAYERED = bpy.app.version >= (4, 4, 0)
_GROUP_NAMES = bpy.app.version >= (5, 0, 0)
_BEZIER = 2  # the number behind the enum, which foreach_set takes
_ALIGNED, _AUTO = 3, 1
_ENUM = np.uint8  # as Blender keeps a key's enums: read and written without a step per key
_BONE_PATH = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)')


def bone_path(bone: str, channel: str) -> str:
    """Data path of a pose bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def fcurves(owner: bpy.types.AnimData | None) -> bpy.types.bpy_prop_collection | tuple:
    """The F-curves that the assigned action holds for this owner; empty where there are none."""
    if owner is None or owner.action is None:
        return ()
    if not LAYERED:
        return owner.action.fcurves
    bag = _channelbag(owner.action, owner.action_slot)
    return () if bag is None else bag.fcurves


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


@dataclass(frozen=True)
class Animation:
    """What animates an armature.

    channels : {bone: (path, index) of each of its channels that curves or drivers set}.
    moved : bones of which curves or drivers, muted or not, set the location or the scale.
    settings : whether curves or drivers, muted or not, set any of DQIK's settings.
    """

    channels: dict[str, set[tuple[str, int]]]
    moved: set[str]
    settings: bool


def animation_key(ob: bpy.types.Object) -> tuple:
    """Changes whenever `animation(ob)` may have changed; cheap enough for every frame."""
    owner = ob.animation_data
    if owner is None:
        return ()
    action, curves = owner.action, fcurves(owner)
    muted = np.empty(len(curves), dtype=bool)
    if len(curves):
        curves.foreach_get("mute", muted)
    return (
        0 if action is None else action.session_uid,
        len(curves),
        int(muted.sum()),
        len(owner.drivers),
        len(owner.nla_tracks),
    )


def animation(ob: bpy.types.Object) -> Animation:
    """The channels of `ob` that F-curves, NLA strips or drivers set anew on every frame."""
    channels: dict[str, set[tuple[str, int]]] = {}
    moved: set[str] = set()
    settings = False
    for path, index, muted in _animated(ob):
        match = _BONE_PATH.match(path)
        if path.startswith("dqik") or (match and match[2].startswith("dqik")):
            settings = True
        if not match:
            continue
        bone = bpy.utils.unescape_identifier(match[1])
        if match[2] in ("location", "scale"):
            moved.add(bone)
        if match[2].startswith(("rotation", "location")) and not muted:
            channels.setdefault(bone, set()).add((match[2], index))
    return Animation(channels, moved, settings)


def _animated(ob: bpy.types.Object) -> Iterator[tuple[str, int, bool]]:
    """Data path and index of what is animated, and whether that is muted."""
    owner = ob.animation_data
    if owner is None:
        return
    curves = [*fcurves(owner), *owner.drivers]
    for track in owner.nla_tracks:
        for strip in track.strips:
            if strip.action is not None:
                curves += _all_curves(strip.action)
    yield from ((curve.data_path, curve.array_index, curve.mute) for curve in curves)


def _all_curves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """All F-curves of an action, whichever slot they are of."""
    if not LAYERED:
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield from bag.fcurves


def bone_values(ob: bpy.types.Object, frame: float) -> Iterator[tuple[str, str, int, float]]:
    """What the curves of the assigned action say at a frame: bone, channel, index and value."""
    for curve in fcurves(ob.animation_data):
        match = _BONE_PATH.match(curve.data_path)
        if match and not curve.mute:
            yield bpy.utils.unescape_identifier(match[1]), match[2], curve.array_index, curve.evaluate(frame)


class Writer:
    """Writes baked channels into an object's action, many keys at a time."""

    def __init__(self, ob: bpy.types.Object, action: bpy.types.Action) -> None:
        """Assigns `action` to `ob`, with a slot of the object's own where actions have slots."""
        owner = ob.animation_data or ob.animation_data_create()
        if owner.action is not action:
            owner.action = action
        self._action = action
        if not LAYERED:
            self._bag = action
            return
        if owner.action_slot is None:
            unused = [slot for slot in owner.action_suitable_slots if not slot.users()]
            owner.action_slot = unused[0] if unused else action.slots.new(id_type="OBJECT", name=ob.name)
        self._bag = _channelbag(action, owner.action_slot, ensure=True)

    def curve(self, path: str, index: int, group: str) -> bpy.types.FCurve:
        """The curve of one channel, made in a group named after the bone where there is none."""
        curves = self._bag.fcurves
        found = curves.find(path, index=index)
        if found is not None:
            return found
        if not LAYERED:
            return curves.new(path, index=index, action_group=group)
        if _GROUP_NAMES:
            return curves.new(path, index=index, group_name=group)
        made = curves.new(path, index=index)
        made.group = self._bag.groups.get(group) or self._bag.groups.new(group)
        return made

    def write(self, path: str, index: int, group: str, frames: np.ndarray, values: np.ndarray,
              slopes: np.ndarray | None = None) -> None:  # fmt: skip
        """Put keys (K,) into a curve; keys that it has outside of `frames`' span stay.

        slopes : (K,) per frame; with them the handles make the curve the cubic with these slopes, without them
            Blender places the handles.
        """
        curve = self.curve(path, index, group)
        keys = _Keys.made(frames, values, slopes)
        if len(curve.keyframe_points):
            keys = _Keys.of(curve).around(keys)
        keys.into(curve)


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
        points = curve.keyframe_points
        points.clear()
        points.add(len(self.co))
        for name in ("handle_left_type", "handle_right_type", "interpolation"):
            points.foreach_set(name, np.ascontiguousarray(getattr(self, name), dtype=_ENUM))
        placed = (self.handle_left_type == _AUTO).all() and (self.handle_right_type == _AUTO).all()
        for name in ("co",) if placed else ("co", "handle_left", "handle_right"):
            points.foreach_set(name, np.ascontiguousarray(getattr(self, name), dtype=np.float32).ravel())
        curve.update()  # places automatic handles
