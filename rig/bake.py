# SPDX-License-Identifier: GPL-3.0-or-later
"""A solved frame range as keyframes: read the frames, solve them in batches, write the curves in bulk.

Reading and solving leave no trace, so a bake that is stopped or fails before its last step has changed nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers import Batch, Pose
from ..solvers.model.frames import asking
from ..solvers.model.goals import Targets
from . import curves, rotation
from .build import Rig
from .channels import Channels
from .read import FrameInput
from .reduce import reduce_keys
from .write import answer, turned_answers

CHUNK = 128  # frames solved at once: more costs memory and gains little


@dataclass
class Options:
    """What to bake: `action` NEW or CURRENT, bones by index (None: all solved), and the tolerance of key reduction."""

    action: str = "NEW"
    bones: frozenset[int] | None = None
    reduce: float = 0.0


def solve_inputs(
    inputs: Sequence[FrameInput | None], frames: Sequence[float], follow: bool, chunk: int = CHUNK
) -> Iterator[tuple[int, Batch]]:
    """Solve read frames, in order; yields the index of a batch's first frame and the batch.

    inputs : None for frames where keys leave nothing to solve.
    follow : each frame from the one before where they are one apart, as live playback does with `PREVIOUS`.
    chunk : frames solved at once at most.
    """
    for first, part in _alike(inputs, frames if follow else None):
        prepared = part[0].prepared
        if follow:
            motion = prepared.motion()
            for begin in range(0, len(part), chunk):
                arrays = asking(*_together(part[begin : begin + chunk]))
                motion.solve_into(arrays)
                yield first + begin, arrays.batch()
            continue
        for begin in range(0, len(part), chunk):
            yield first + begin, prepared.solve_batch(*_together(part[begin : begin + chunk]))


def _alike(
    inputs: Sequence[FrameInput | None], frames: Sequence[float] | None
) -> Iterator[tuple[int, list[FrameInput]]]:
    """Runs of frames that are solved alike, with the index of their first; without gaps in `frames`, if given."""
    part: list[FrameInput] = []
    for index, given in enumerate(inputs):
        gap = frames is not None and index > 0 and frames[index] - frames[index - 1] > 1.0
        if part and (given is None or given.prepared is not part[0].prepared or gap):
            yield index - len(part), part
            part = []
        if given is not None:
            part.append(given)
    if part:
        yield len(inputs) - len(part), part


def _together(part: Sequence[FrameInput]) -> tuple[Targets, Pose, np.ndarray]:
    """What frames ask for, where they start, and their links, as arrays with a leading axis for them."""
    start = part[0].start
    if any(given.start is not start for given in part):
        start = Pose(*(np.concatenate(arrays) for arrays in zip(*(given.start for given in part), strict=True)))
    asked = zip(*(given.targets[:3] for given in part), strict=True)
    return Targets(*map(np.concatenate, asked)), start, np.concatenate([given.links for given in part])


def answers(
    inputs: Sequence[FrameInput | None], bases: Sequence[Channels], batches: Sequence[tuple[int, Batch]]
) -> list[Channels]:
    """The channels of each frame, continuous from frame to frame: no sign flips of quaternions, no turns of Euler."""
    found: list[Channels] = []
    solved = dict(batches)
    frame, batch, first = 0, None, 0
    while frame < len(inputs):
        if frame in solved:
            batch, first = solved[frame], frame
        given, base = inputs[frame], bases[frame]
        reference = found[-1] if found else base
        if given is None or batch is None:
            unsolved = base.copy()
            unsolved.put(np.arange(len(base.rotations)), base.quaternions(), reference.rotations)
            found.append(unsolved)
        elif frame == first and _are_alike(given.rig, bases[first : first + len(batch.iterations)]):
            found += turned_answers(given.rig, batch, base, reference)
        else:
            found.append(answer(given.rig, batch, frame - first, base, given.slide_scale, reference))
        frame = len(found)
    return found


def _are_alike(rig: Rig, bases: Sequence[Channels]) -> bool:
    """Whether frames start from one base, whose bones have quaternions, and nothing slides."""
    plain = len(bases[0].groups) == 1 and bases[0].groups[0][0] == rotation.QUATERNION and not len(rig.slide_joint)
    return plain and all(base is bases[0] for base in bases)


def write_keys(
    ob: bpy.types.Object, rigs: Sequence[Rig], frames: Sequence[float], solved: Sequence[Channels], options: Options
) -> int:
    """Key the bones of `ob` that any of `rigs` solved on all frames; the number of keys written."""
    old = ob.animation_data.action if ob.animation_data else None
    if options.action == "NEW" or old is None:
        action = old.copy() if old else bpy.data.actions.new(f"{ob.name} DQIK")
        if old:
            action.name = f"{old.name} DQIK"
            old.use_fake_user = True  # so that what was there before stays in the file
    else:
        action = old
    slot = getattr(ob.animation_data, "action_slot", None)
    try:
        return _write(curves.Writer(ob, action), ob, rigs, np.asarray(frames, dtype=float), solved, options)
    except Exception:
        if action is not old:
            ob.animation_data.action = old
            if slot is not None:
                ob.animation_data.action_slot = slot
            bpy.data.actions.remove(action)
        raise


def _write(
    writer: curves.Writer,
    ob: bpy.types.Object,
    rigs: Sequence[Rig],
    frames: np.ndarray,
    solved: Sequence[Channels],
    options: Options,
) -> int:
    rotations = np.stack([one.rotations for one in solved])  # (F, N, 4)
    locations = np.stack([one.locations for one in solved])
    modes = solved[0].modes()
    sliding = {int(rig.bones[row]) for rig in rigs for row in rig.slide_row}
    keys = 0
    for bone in sorted({int(bone) for rig in rigs for bone in rig.solved_bones}):
        if options.bones is not None and bone not in options.bones:
            continue
        name, mode = ob.pose.bones[bone].name, modes[bone]
        parts = [(rotation.PATHS[mode], rotations[:, bone, : rotation.SIZES[mode]])]
        if bone in sliding:
            parts.append(("location", locations[:, bone]))
        for path, values in parts:
            keep, slopes = np.arange(len(frames)), None
            if options.reduce > 0.0 and len(frames) > 2:
                keep, slopes = reduce_keys(frames, values, options.reduce)
            for index in range(values.shape[1]):
                writer.write(
                    curves.bone_path(name, path), index, name, frames[keep], values[keep, index],
                    None if slopes is None else slopes[:, index],
                )  # fmt: skip
            keys += values.shape[1] * len(keep)
    return keys
