# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves frames in runs, and makes their channels continuous from frame to frame."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue

import numpy as np

from ...solvers import Batch, Motion, Prepared
from ..blender.channels import Channels
from ..frame import write
from ..frame.motion import check_numbers
from ..frame.read import FrameInput

CHUNK = 64  # frames solved at once: more take more memory and gain little time
_BEAT = 0.05  # seconds between reports that frames are still being solved


class Solving:
    """Solves frames in a thread of their own while more are read; leaving the context stops it."""

    def __init__(self, follow: bool) -> None:
        """`follow` : as for `solve_inputs`."""
        self._frames: SimpleQueue[tuple[FrameInput | None, float] | None] = SimpleQueue()
        self._added = self._solved = 0
        self._stopped = False
        self._thread = ThreadPoolExecutor(1)
        self._batches = self._thread.submit(self._solve, follow)

    def add(self, frame_input: FrameInput | None, time: float) -> None:
        """Add the next frame, as for `solve_inputs`."""
        self._frames.put((frame_input, time))
        self._added += 1

    def batches(self) -> Generator[float, None, list[tuple[int, Batch]]]:
        """The result of `solve_inputs` for all frames; yields the progress from 0 to 1."""
        self._frames.put(None)
        while not wait([self._batches], _BEAT).done:
            yield self._solved / self._added
        return self._batches.result()

    def __enter__(self) -> "Solving":
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._frames.put(None)
        self._thread.shutdown()

    def _solve(self, follow: bool) -> list[tuple[int, Batch]]:
        batches: list[tuple[int, Batch]] = []
        for batch in solve_inputs(iter(self._frames.get, None), follow):
            batches.append(batch)
            self._solved = batch[0] + len(batch[1].iterations)
            if self._stopped:
                break
        return batches


def solve_inputs(
    inputs: Iterable[tuple[FrameInput | None, float]], follow: bool, chunk: int = CHUNK
) -> Iterator[tuple[int, Batch]]:
    """Solve frames in order; yields each batch with the index of its first frame.

    inputs : of each frame, None if there is nothing to solve, and its time.
    follow : start each frame from the one before if they are one apart, as live playback does with `PREVIOUS`.
    chunk : the most frames in a batch.
    """
    motion: Motion | None = None
    for first, part, goes_on in _parts(inputs, follow, chunk):
        prepared = part[0].prepared
        arrays = _together(prepared, part)
        if not follow:
            prepared.solve_into(arrays)
        else:
            motion = motion if goes_on and motion else prepared.motion()
            motion.solve_into(arrays)
        check_numbers(arrays.rotations)
        yield first, arrays.batch()


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


def _parts(
    inputs: Iterable[tuple[FrameInput | None, float]], follow: bool, most: int
) -> Iterator[tuple[int, list[FrameInput], bool]]:
    """Frames that are solved at once: the index of the first, their inputs, and whether they follow the part before.

    They share a prepared solve; where they follow each other, a gap in time ends a part.
    """
    part: list[FrameInput] = []
    goes_on, before, index = False, -np.inf, -1
    for index, (frame_input, time) in enumerate(inputs):
        gap = follow and time - before > 1.0
        breaks = bool(part) and (frame_input is None or frame_input.prepared is not part[0].prepared or gap)
        if part and (breaks or len(part) == most):
            yield index - len(part), part, goes_on
            part, goes_on = [], not breaks
        if frame_input is not None:
            part.append(frame_input)
        before = time
    if part:
        yield index + 1 - len(part), part, goes_on


def _together(prepared: Prepared, run: Sequence[FrameInput]):
    """The inputs of a run's frames as arrays with a leading frame axis."""
    arrays = prepared.arrays(len(run))
    for frame, frame_input in enumerate(run):
        frame_input.ask(arrays.part(frame, frame + 1))
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
