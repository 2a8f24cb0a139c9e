# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation of an armature's channels: F-curves, drivers and NLA strips.

Blender's rules (`animsys_evaluate_nla`, tried on every version): an F-curve counts unless it is empty, or it or its
group is muted. An NLA track counts unless it is muted, the NLA is off, or another track is solo. All its strips then
count at every frame, even muted ones, because Blender resets channels that only inactive strips animate.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import bpy
import numpy as np

from .. import curves
from . import rotation
from .channels import Modes, Which

_BONE_PATH = re.compile(r'pose\.bones\[(?:"((?:[^"\\]|\\.)*)"|(\d+))\]\.(.+)')
_CUSTOM_PATH = re.compile(r'(?:pose\.bones\["((?:[^"\\]|\\.)*)"\])?\["((?:[^"\\]|\\.)*)"\]$')

ROLL = "dqik_roll"
"""The roll of a foot's control, which is read on every frame where it is used."""

_OF_ACTION = ("action_blend_type", "action_extrapolation", "action_influence", "use_tweak_mode")
_OF_STRIP = ("frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "use_reverse",
             "blend_type", "extrapolation", "blend_in", "blend_out", "use_animated_influence")  # fmt: skip


@dataclass(frozen=True)
class Animation:
    """The animation of an armature object.

    bones : {bone: (path, index) of its animated channels}.
    driven : bones with a driven rotation or location; a driver overwrites the channel in every evaluation.
    scaled : bones whose scale is animated.
    settings : whether a setting of DQIK is animated, other than a roll. constraints : whether a constraint of a bone
        is animated.
    custom : (bone, name) of animated custom properties; the bone is empty for those of the object.
    """

    bones: dict[str, set[tuple[str, int]]]
    driven: frozenset[str]
    settings: bool
    constraints: bool
    custom: frozenset[tuple[str, str]] = frozenset()
    scaled: frozenset[str] = frozenset()


def contents(ob: bpy.types.Object, paths: bool) -> tuple:
    """Everything that `animation(ob)` depends on, as values that show a change when compared.

    paths : include what only edits change: the curves' data paths and indices, which take the longest to read, and how
        the NLA's strips are placed and blended.
    """
    data = ob.animation_data
    if data is None:
        return ()
    tracks = [
        (track.mute, track.is_solo, [_strip_contents(strip, paths) for strip in track.strips])
        for track in data.nla_tracks
    ]
    blending = [getattr(data, name) for name in _OF_ACTION] if paths else ()
    own = _action_contents(data, paths, bool(tracks))
    return own, _curve_contents(data.drivers, paths), data.use_nla, tracks, blending


def animation(ob: bpy.types.Object) -> Animation:
    """The present animation of `ob`."""
    bones: dict[str, set[tuple[str, int]]] = {}
    driven: set[str] = set()
    custom: set[tuple[str, str]] = set()
    settings = constraints = False
    for curve in _counting_curves(ob.animation_data):
        bone, path = split_path(ob, curve.data_path)
        settings |= path.startswith("dqik") and path != ROLL
        if match := _CUSTOM_PATH.match(path):
            custom.add((bpy.utils.unescape_identifier(match[1] or ""), bpy.utils.unescape_identifier(match[2])))
        if not bone:
            continue
        constraints |= path.startswith("constraints")
        bones.setdefault(bone, set()).add((path, curve.array_index))
        if curve.driver is not None and path.startswith(("rotation", "location")):
            driven.add(bone)
    scaled = frozenset(bone for bone, paths in bones.items() if any(path == "scale" for path, _ in paths))
    return Animation(bones, frozenset(driven), settings, constraints, frozenset(custom), scaled)


def split_path(ob: bpy.types.Object, path: str) -> tuple[str, str]:
    """The bone, empty if there is none, and the rest of a data path of an object; bones have a name or a number."""
    match = _BONE_PATH.match(path)
    if match is None:
        return "", path
    if match[2] is None:
        return bpy.utils.unescape_identifier(match[1]), match[3]
    bones, number = ob.pose.bones if ob.pose else (), int(match[2])
    return bones[number].name if number < len(bones) else "", match[3]


def animates(ob: bpy.types.Object, path: str) -> bool:
    """Whether curves or drivers that count animate a property of an object, by its data path."""
    data = ob.animation_data
    if data is None:
        return False
    lists = [curves.fcurves(data), data.drivers, *map(curves.fcurves, _counting_strips(data))]
    return any(curve.data_path == path and not curve.mute for curve in chain.from_iterable(lists))


def present_values(ob: bpy.types.Object) -> Iterator[tuple[str, int, object]]:
    """The properties that curves and strips which count set, with their present values."""
    data = ob.animation_data
    for curve in () if data is None else _counting_curves(data):
        if curve.driver is not None:
            continue
        try:
            value: Any = ob.path_resolve(curve.data_path)
        except ValueError:  # of something that is not there any more
            continue
        yield curve.data_path, curve.array_index, value[curve.array_index] if hasattr(value, "__len__") else value


def set_value(ob: bpy.types.Object, path: str, index: int, value: object) -> None:
    """Set a property that `present_values` yields."""
    holder, _, name = path.rpartition("[" if path.endswith("]") else ".")
    owner: Any = ob.path_resolve(holder) if holder else ob
    present: Any = ob.path_resolve(path)
    if hasattr(present, "__len__") and not isinstance(present, str):
        present[index] = value
    elif path.endswith("]"):
        owner[name[1:-2]] = value
    else:
        setattr(owner, name, value)


def uses_nla(ob: bpy.types.Object) -> bool:
    """Whether tracks of the NLA that count animate an object."""
    return ob.animation_data is not None and any(True for _ in _counting_strips(ob.animation_data))


def in_nla(ob: bpy.types.Object, paths: set[str]) -> bool:
    """Whether tracks of the NLA that count animate one of some data paths of an object."""
    strips = () if ob.animation_data is None else _counting_strips(ob.animation_data)
    return any(curve.data_path in paths for strip in strips for curve in curves.fcurves(strip))


def strips_in(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.NlaStrip]:
    """Strips, and those inside meta strips."""
    for strip in strips:
        yield strip
        yield from strips_in(strip.strips)


def is_muted(curve: bpy.types.FCurve, in_nla: bool) -> bool:
    """Whether a curve or its group is muted. From 4.4 on Blender ignores a group's mute outside the NLA."""
    muted_group = (in_nla or not curves.LAYERED) and curve.group is not None and curve.group.mute
    return curve.mute or muted_group


def is_animated(owner: bpy.types.ID) -> bool:
    """Whether curves, drivers or strips that count animate anything of an object or its data."""
    return any(True for _ in _counting_curves(owner.animation_data))


def moves(ob: bpy.types.Object, bone: str) -> bool:
    """Whether keys or drivers turn or move a bone."""
    return any(path.startswith(("location", "rotation")) for path, _ in animation(ob).bones.get(bone, ()))


def free_channels(animation: Animation, names: Sequence[str], modes: Modes) -> Which:
    """The channels of the bones that are not animated."""
    rotations, locations = np.ones((len(names), 4), dtype=bool), np.ones((len(names), 3), dtype=bool)
    for number, name in enumerate(names):
        for path, index in animation.bones.get(name, ()):
            if path == "location":
                locations[number, index] = False
            elif path == rotation.PATHS[modes.of_bone[number]]:
                rotations[number, index] = False
        if rotation.SIZES[modes.of_bone[number]] == 3:  # Euler angles leave the fourth number unused
            rotations[number, 3] = rotations[number, :3].all()
    return Which(rotations, locations)


def animated(animation: Animation, names: Sequence[str], path: str) -> np.ndarray:
    """Whether (N,) a property of the bones is animated."""
    return np.array([(path, 0) in animation.bones.get(name, ()) for name in names], dtype=bool)


def counting(ob: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The curves of an object's assigned action that count."""
    in_nla = uses_nla(ob)
    return (curve for curve in curves.fcurves(ob.animation_data) if _counts(curve, in_nla))


def _counting_curves(data: bpy.types.AnimData | None) -> Iterator[bpy.types.FCurve]:
    if data is None:
        return
    strips = list(_counting_strips(data))
    yield from (curve for curve in curves.fcurves(data) if _counts(curve, bool(strips)))
    yield from (driver for driver in data.drivers if not driver.mute)
    for strip in strips:
        yield from (curve for curve in curves.fcurves(strip) if _counts(curve, True))


def _counting_strips(data: bpy.types.AnimData) -> Iterator[bpy.types.NlaStrip]:
    solo = any(track.is_solo for track in data.nla_tracks)
    for track in data.nla_tracks if data.use_nla else ():
        if not track.mute and (track.is_solo or not solo):
            yield from strips_in(track.strips)


def _counts(curve: bpy.types.FCurve, in_nla: bool) -> bool:
    return not (curve.is_empty or is_muted(curve, in_nla))


def _strip_contents(strip: bpy.types.NlaStrip, paths: bool) -> tuple:
    inner = [_strip_contents(one, paths) for one in strip.strips]
    placing = [getattr(strip, name) for name in (_OF_STRIP if paths else ())]
    if paths and not strip.use_animated_influence:
        placing.append(strip.influence)
    return (*_action_contents(strip, paths, in_nla=True), strip.mute, inner, placing)


def _action_contents(owner: bpy.types.AnimData | bpy.types.NlaStrip, paths: bool, in_nla: bool) -> tuple:
    """The identity of an action and its slot, and the contents of its curves. in_nla : as for `is_muted`."""
    action = owner.action
    if action is None:
        return (0,)
    slot = getattr(owner, "action_slot", None)
    groups = [group.mute for group in curves.groups(owner)] if in_nla or not curves.LAYERED else ()
    return action.session_uid, getattr(slot, "handle", 0), groups, _curve_contents(curves.fcurves(owner), paths)


def _curve_contents(fcurves: Sequence[bpy.types.FCurve], paths: bool) -> tuple:
    """Flags and, on request, paths and indices of curves."""
    count = len(fcurves)
    if not count:
        return ()
    flags = np.empty((2, count), dtype=bool)
    fcurves.foreach_get("mute", flags[0])
    fcurves.foreach_get("is_empty", flags[1])
    if not paths:
        return (flags.tobytes(),)
    return flags.tobytes(), [(curve.data_path, curve.array_index) for curve in fcurves]
