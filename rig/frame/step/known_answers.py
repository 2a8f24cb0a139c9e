# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that were found once: frames that ask the same again are not solved again.

Prepared solves and priors are only pointed at: one that nothing else keeps is freed, and its answers are never asked
for again. So what is remembered is as large as its bytes say, also where each frame is prepared anew.

With *Pose* and *Rest* the answer of a frame depends only on what the frame asks. So playback in a loop, scrubbing,
renders and bakes after playback read and write their frames, and solve none of them. NumPy only.
"""

from typing import NamedTuple
from weakref import ref

from ....solvers import Prepared
from ...remembered import Remembered
from ..read.natural_pose import Shaping

MOST = 64 << 20  # bytes; those that were not asked for longest go first
_OWN = 600  # bytes that an answer takes besides its numbers


class Question(NamedTuple):
    """What one frame asks. Everything that its answer depends on is in it: objects by weak reference, numbers by bytes.

    way : the prepared solve, how the natural pose shapes its start, and whether its bones are all keyed.
    targets : positions, orientations and poles. pose : the start pose, before it is shaped, and the links.
    """

    way: tuple[object, ...]
    targets: bytes
    pose: bytes


class KnownAnswers(Remembered[Question, bytes]):
    """The answers to the last questions, as of `FrameArrays.answers`, for all armatures and threads."""

    def __init__(self, most: int = MOST) -> None:
        """`most` : bytes."""
        super().__init__(most, lambda asked, found: _OWN + len(asked.targets) + len(asked.pose) + len(found))
        self._pose = b""  # of the last question: many frames share theirs

    def question(
        self, prepared: Prepared, shaping: Shaping | None, keyed: bool, inputs: tuple[bytes, bytes]
    ) -> Question:
        """What a frame asks.

        inputs : as of `FrameArrays.questions`, with the animator's start pose. Other arguments as in `FrameInput`.
        """
        way: tuple[object, ...] = (ref(prepared), keyed)
        if shaping is not None:
            way = (*way, ref(shaping.prior), *shaping[1:])
        targets, pose = inputs
        if pose == self._pose:
            pose = self._pose  # one object, whose hash Python has kept
        self._pose = pose
        return Question(way, targets, pose)
