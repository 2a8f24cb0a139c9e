# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that were read, solved in runs, and their answers as channels that do not jump from frame to frame."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...solvers import Batch, Prepared
from ..blender.channels import Channels
from ..frame import write
from ..frame.read import FrameInput

CHUNK = 128  # frames solved at once: more costs memory and gains little


def solve_inputs(
    inputs: Sequence[FrameInput | None], frames: Sequence[float], follow: bool, chunk: int = CHUNK
) -> Iterator[tuple[int, Batch]]:
    """Solve frames that were read, in order; yields the index of a batch's first frame and the batch.

    inputs : None for frames on which there is nothing to solve.
    follow : each frame from the one before where they are one apart, as live playback does with `PREVIOUS`.
    chunk : frames solved at once at most.
    """
    for first, run in _runs(inputs, frames if follow else None):
        prepared = run[0].prepared
        motion = prepared.motion() if follow else None
        for begin in range(0, len(run), chunk):
            arrays = _together(prepared, run[begin : begin + chunk])
            if motion is None:
                prepared.solve_into(arrays)
            else:
                motion.solve_into(arrays)
            yield first + begin, arrays.batch()


def answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batches: Sequence[tuple[int, Batch]]
) -> list[Channels]:
    """The channels of each frame, continuous from frame to frame: no sign flips of quaternions, no turns of Euler.

    starts : the channels that each frame starts from.
    """
    found: list[Channels] = []
    solved = dict(batches)
    frame, batch, first = 0, None, 0
    while frame < len(inputs):
        if frame in solved:
            batch, first = solved[frame], frame
        frame_input, start = inputs[frame], starts[frame]
        before = found[-1] if found else start
        if frame_input is None or batch is None:
            found.append(_continued(start, before))
        elif frame == first and start.modes.quaternions_only and not frame_input.rig.slide_joint.size:
            found += _quaternion_answers(inputs, starts, batch, first, before)
        else:
            rotations, translations = batch.rotations[frame - first], batch.translations[frame - first]
            found.append(write.answer(
                frame_input.rig, rotations, translations, _continued(start, before).copy(), frame_input.slide_scale,
                before,
            ))  # fmt: skip
        frame = len(found)
    return found


def _runs(
    inputs: Sequence[FrameInput | None], frames: Sequence[float] | None
) -> Iterator[tuple[int, list[FrameInput]]]:
    """Runs of frames that are solved alike, with the index of their first; without gaps in `frames`, if given."""
    run: list[FrameInput] = []
    for index, frame_input in enumerate(inputs):
        gap = frames is not None and index > 0 and frames[index] - frames[index - 1] > 1.0
        if run and (frame_input is None or frame_input.prepared is not run[0].prepared or gap):
            yield index - len(run), run
            run = []
        if frame_input is not None:
            run.append(frame_input)
    if run:
        yield len(inputs) - len(run), run


def _together(prepared: Prepared, run: Sequence[FrameInput]):
    """What frames of a run ask, as arrays with a leading axis for them."""
    arrays = prepared.arrays(len(run))
    for frame, frame_input in enumerate(run):
        arrays.positions[frame], arrays.orientations[frame], arrays.poles[frame] = (
            part[0] for part in frame_input.targets[:3]
        )
        arrays.links[frame] = frame_input.links[0]
        arrays.start_rotations[frame], arrays.start_translations[frame] = (part[0] for part in frame_input.start)
    return arrays


def _continued(start: Channels, before: Channels) -> Channels:
    """Channels that stand as `start`, written near to those of the frame before."""
    bones = np.arange(len(start.rotations))
    rotations = start.modes.channels(start.quaternions(), bones, before.rotations)
    return Channels(rotations, start.locations, start.modes)


def _quaternion_answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batch: Batch, first: int, before: Channels
) -> list[Channels]:
    """The channels of a batch's frames, all of quaternions with nothing that slides, each near to the one before."""
    rig, count = inputs[first].rig, len(batch.iterations)
    q = batch.rotations[:, rig.solved_joints]
    q /= np.sqrt((q * q).sum(-1, keepdims=True))
    previous = np.concatenate([before.rotations[None, rig.solved_bones], q[:-1]])
    flips = np.where((q * previous).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    rotations = np.stack([start.rotations for start in starts[first : first + count]])
    rotations[:, rig.solved_bones] = q * np.cumprod(flips, axis=0)
    own = starts[first : first + count]
    return [Channels(turned, start.locations, start.modes) for turned, start in zip(rotations, own, strict=True)]
