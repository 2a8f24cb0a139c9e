# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes solved frames as keyframes. This is the last step, so a bake that stops or fails before changes nothing."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import bpy
import numpy as np

from .. import curves
from ..blender import rotation
from ..blender.channels import Channels
from ..clip import lineage
from ..keys import keyable
from ..notes import Note, Refused
from ..skeleton.rig import Rig


@dataclass
class Options:
    """Settings of a bake: `action` NEW or CURRENT, `bones` by index (None: all solved), tolerance of key reduction."""

    action: str = "NEW"
    bones: frozenset[int] | None = None
    reduce: float = 0.0


def check(ob: bpy.types.Object, action: str, paths: Iterable[str] = ()) -> None:
    """Raise `Refused` if keys of data paths, in a NEW or the CURRENT action, would be lost, hidden or shared."""
    keyable.refuse(keyable.of_object(ob))
    if action == "CURRENT" and (note := keyable.problem(ob, paths)) is not None:
        raise Refused(Note("{}, or bake into a new action", note))


def write_keys(
    ob: bpy.types.Object, rigs: Sequence[Rig], frames: Sequence[float], solved: Sequence[Channels], options: Options
) -> int:
    """Key the bones of `ob` that any of `rigs` solved on all frames; the number of keys written."""
    keys = list(_keys(ob, rigs, np.asarray(frames, dtype=float), solved, options))
    check(ob, options.action, (key[0] for key in keys))
    is_new = options.action == "NEW" or lineage.assigned(ob)[0] is None
    with lineage.new_actions([ob]) if is_new else nullcontext():
        writer = curves.Writer(ob, ob.animation_data.action)
        try:
            for key in keys:
                writer.write(*key)
        except Exception:
            writer.undo()
            raise
        writer.finish()
    return sum(len(key[3]) for key in keys)


def _keys(ob: bpy.types.Object, rigs: Sequence[Rig], frames: np.ndarray, solved: Sequence[Channels], options: Options):
    """For each curve: path, index, group, frames (K,), values (K,), and slopes (K,) if keys are reduced."""
    rotations = np.stack([one.rotations for one in solved])  # (F, N, 4)
    locations, scales = np.stack([one.locations for one in solved]), _scales(solved)
    stretching = {int(bone) for rig in rigs for bone in rig.end_bones}
    modes, of_frame = {id(one.modes): one.modes for one in solved}, np.array([id(one.modes) for one in solved])
    sliding = {int(rig.bones[row]) for rig in rigs for row in rig.slide_row}
    for bone in sorted({int(bone) for rig in rigs for bone in rig.solved_bones}):
        if options.bones is not None and bone not in options.bones:
            continue
        name = ob.pose.bones[bone].name
        paths = {key: rotation.PATHS[one.of_bone[bone]] for key, one in modes.items()}  # several if modes are keyed
        parts = []
        for path in dict.fromkeys(paths.values()):
            own = np.isin(of_frame, [key for key, other in paths.items() if other == path])
            parts.append((path, frames[own], rotations[own, bone, : rotation.PATH_SIZES[path]]))
        if bone in sliding:
            parts.append(("location", frames, locations[:, bone]))
        if bone in stretching:
            parts.append(("scale", frames, scales[:, bone]))
        for channel, times, values in parts:
            keep, slopes = np.arange(len(times)), None
            if options.reduce > 0.0 and len(times) > 2:
                keep, slopes = reduce_keys(times, values.astype(float), options.reduce)
            for index in range(values.shape[1]):
                own = None if slopes is None else slopes[:, index]
                yield curves.bone_path(name, channel), index, name, times[keep], values[keep, index], own


def _scales(solved: Sequence[Channels]) -> np.ndarray:
    """The scales (F, N, 3) of all bones, of those that do not stretch 1."""
    scales = np.ones((len(solved), len(solved[0].rotations), 3), dtype=np.float32)
    for frame, one in enumerate(solved):
        if one.scales is not None:
            scales[frame, one.scales.bones] = one.scales.values
    return scales


def reduce_keys(frames: np.ndarray, values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the frames (K,) to key, and the channels' slopes (K, C) there.

    The segments are cubic Hermite curves with the slopes of the baked motion. A segment that misses a baked value by
    more than the tolerance is split where it misses most. All channels of a bone are keyed on the same frames.

    Parameters
    ----------
    frames : (N,) increasing. values : (N, C). tolerance : in the channels' unit, met at every baked frame.
    """
    slopes = np.gradient(values, frames, axis=0) if len(frames) > 1 else np.zeros_like(values)
    keys, segments = {0, len(frames) - 1}, [(0, len(frames) - 1)]
    while segments:
        first, last = segments.pop()
        if last - first < 2:
            continue
        miss = np.abs(_hermite(frames, values, slopes, first, last) - values[first : last + 1]).max(-1)
        worst = int(np.argmax(miss))
        if miss[worst] > tolerance:
            keys.add(first + worst)
            segments += [(first, first + worst), (first + worst, last)]
    indices = np.array(sorted(keys))
    return indices, slopes[indices]


def _hermite(frames: np.ndarray, values: np.ndarray, slopes: np.ndarray, first: int, last: int) -> np.ndarray:
    """The cubic between two keys at their frames and all between, (last - first + 1, C)."""
    span = frames[last] - frames[first]
    t = ((frames[first : last + 1] - frames[first]) / span)[:, None]
    return (
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * values[first]
        + t * (1.0 - t) ** 2 * span * slopes[first]
        + t * t * (3.0 - 2.0 * t) * values[last]
        + t * t * (t - 1.0) * span * slopes[last]
    )
