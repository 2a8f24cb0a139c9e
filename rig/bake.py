# SPDX-License-Identifier: GPL-3.0-or-later
"""A solved frame range as keyframes: read the frames, solve them in batches, write the curves in bulk.

Reading and solving leave no trace, so a bake that is stopped or fails before its last step has changed nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers import Batch, Pose
from ..solvers.goals import Targets
from . import curves, rotation
from .build import Rig
from .channels import Channels
from .read import FrameInput
from .reduce import reduce_keys
from .write import answer

CHUNK = 32  # frames solved at once: more costs memory and gains little


@dataclass
class Options:
    """What to bake: `action` NEW or CURRENT, bones by index (None: all solved), and the tolerance of key reduction."""

    action: str = "NEW"
    bones: frozenset[int] | None = None
    reduce: float = 0.0


def solve_inputs(
    rig: Rig, inputs: Sequence[FrameInput], frames: Sequence[float], follow: bool
) -> Iterator[tuple[int, Batch]]:
    """Solve read frames, in order; yields the index of a batch's first frame and the batch.

    follow : each frame from the one before where they are one apart, as live playback does with `PREVIOUS`.
    """
    if not follow:
        for first in range(0, len(inputs), CHUNK):
            part = inputs[first : first + CHUNK]
            start = Pose(*(np.concatenate(arrays) for arrays in zip(*(given.start for given in part), strict=True)))
            targets = Targets(
                *(np.concatenate(arrays) for arrays in zip(*(given.targets[:3] for given in part), strict=True))
            )
            yield first, rig.prepared.solve_batch(targets, start, np.concatenate([given.links for given in part]))
        return
    batch, tracked = None, False
    for index, given in enumerate(inputs):
        if batch is not None and frames[index] - frames[index - 1] <= 1.0:
            previous = Pose(batch.rotations[0], batch.translations[0])
            batch = rig.prepared.track(previous, given.targets, given.start, given.links, first=not tracked)
            tracked = True
        else:
            batch, tracked = rig.prepared.solve_batch(given.targets, given.start, given.links), False
        yield index, batch


def answers(
    rig: Rig, inputs: Sequence[FrameInput], bases: Sequence[Channels], batches: Sequence[tuple[int, Batch]]
) -> list[Channels]:
    """The channels of each frame, continuous from frame to frame: no sign flips of quaternions, no turns of Euler."""
    found: list[Channels] = []
    for first, batch in batches:
        for k in range(len(batch.iterations)):
            frame = first + k
            base = bases[frame]
            reference = base if not found else found[-1]
            found.append(answer(rig, batch, k, base, inputs[frame].slide_scale, reference))
    return found


def write_keys(
    ob: bpy.types.Object, rig: Rig, frames: Sequence[float], solved: Sequence[Channels], options: Options
) -> int:
    """Key the solved bones of `ob` on all frames; the number of keys written."""
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
        return _write(curves.Writer(ob, action), ob, rig, np.asarray(frames, dtype=float), solved, options)
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
    rig: Rig,
    frames: np.ndarray,
    solved: Sequence[Channels],
    options: Options,
) -> int:
    rotations = np.stack([one.rotations for one in solved])  # (F, N, 4)
    locations = np.stack([one.locations for one in solved])
    modes = solved[0].modes()
    sliding = {int(rig.bones[row]) for row in rig.slide_row}
    keys = 0
    for bone in map(int, rig.solved_bones):
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
