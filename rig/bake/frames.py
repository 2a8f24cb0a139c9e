# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves frames in runs, and makes their channels continuous from frame to frame."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...solvers import Batch, Prepared
from ..blender.channels import Channels
from ..frame import write
from ..frame.motion import check_numbers
from ..frame.read import FrameInput

CHUNK = 128  # frames solved at once: more take more memory and gain little time


def solve_inputs(
    inputs: Sequence[FrameInput | None], frames: Sequence[float], follow: bool, chunk: int = CHUNK
) -> Iterator[tuple[int, Batch]]:
    """Solve frames in order; yields each batch with the index of its first frame.

    inputs : None for frames on which there is nothing to solve.
    follow : start each frame from the one before if they are one apart, as live playback does with `PREVIOUS`.
    chunk : the most frames in a batch.
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
            check_numbers(arrays.rotations)
            yield first + begin, arrays.batch()


def answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batches: Sequence[tuple[int, Batch]]
) -> list[Channels]:
    """The channels of each frame, without sign flips of quaternions or whole turns of Euler angles between frames.

    starts : the channels that each frame starts from.
    """
    channels: list[Channels] = []
    batch_at = dict(batches)
    frame, batch, first = 0, None, 0
    while frame < len(inputs):
        if frame in batch_at:
            batch, first = batch_at[frame], frame
        frame_input, start = inputs[frame], starts[frame]
        before = channels[-1] if channels else start
        if frame_input is None or batch is None:
            channels.append(_continued(start, before))
        elif frame == first and start.modes.quaternions_only and not frame_input.rig.slide_joint.size:
            channels += _quaternion_answers(inputs, starts, batch, first, before)
        else:
            rotations, translations = batch.rotations[frame - first], batch.translations[frame - first]
            channels.append(write.answer(
                frame_input.rig, rotations, translations, _continued(start, before).copy(), frame_input.slide_scale,
                before,
            ))  # fmt: skip
        frame = len(channels)
    return channels


def _runs(
    inputs: Sequence[FrameInput | None], frames: Sequence[float] | None
) -> Iterator[tuple[int, list[FrameInput]]]:
    """Runs of frames that share a prepared solve, with the index of the first; a gap in `frames` ends a run."""
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
    """The inputs of a run's frames as arrays with a leading frame axis."""
    arrays = prepared.arrays(len(run))
    for frame, frame_input in enumerate(run):
        arrays.positions[frame], arrays.orientations[frame], arrays.poles[frame] = (
            part[0] for part in frame_input.targets[:3]
        )
        arrays.links[frame] = frame_input.links[0]
        arrays.start_rotations[frame], arrays.start_translations[frame] = (part[0] for part in frame_input.start)
        if frame_input.home is not None:
            arrays.home_rotations[frame] = frame_input.home[0]
    return arrays


def _continued(start: Channels, before: Channels) -> Channels:
    """The channels `start`, with the rotation values nearest to those of the frame before."""
    bones = np.arange(len(start.rotations))
    rotations = start.modes.channels(start.quaternions(), bones, before.rotations)
    return Channels(rotations, start.locations, start.modes)


def _quaternion_answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batch: Batch, first: int, before: Channels
) -> list[Channels]:
    """The channels of a batch if all bones use quaternions and none slides, each near to the frame before."""
    rig, count = inputs[first].rig, len(batch.iterations)
    q = rig.to_bones(batch.rotations[:, rig.solved_joints])
    q /= np.sqrt((q * q).sum(-1, keepdims=True))
    previous = np.concatenate([before.rotations[None, rig.solved_bones], q[:-1]])
    flips = np.where((q * previous).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    rotations = np.stack([start.rotations for start in starts[first : first + count]])
    rotations[:, rig.solved_bones] = q * np.cumprod(flips, axis=0)
    own = starts[first : first + count]
    return [Channels(turned, start.locations, start.modes) for turned, start in zip(rotations, own, strict=True)]
