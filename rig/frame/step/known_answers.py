# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that were found once: frames that ask the same again are not solved again.

Prepared solves and priors are only pointed at: one that nothing else keeps is freed, and its answers are never asked
for again. So what is remembered is as large as its bytes say, also where each frame is prepared anew.

With *Pose* and *Rest* the answer of a frame depends only on what the frame asks. So playback in a loop, scrubbing,
renders and bakes after playback read and write their frames, and solve none of them. NumPy only.
"""

from threading import Lock
from typing import NamedTuple
from weakref import ref

from ....solvers import Prepared
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


class KnownAnswers:
    """The answers to the last questions, for all armatures and threads."""

    def __init__(self, most: int = MOST) -> None:
        """`most` : bytes."""
        self._most, self._bytes, self._lock = most, 0, Lock()
        self._answers: dict[Question, bytes] = {}
        self._pose = b""  # of the last question: many frames share theirs

    def __len__(self) -> int:
        return len(self._answers)

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._answers.clear()
            self._bytes = 0

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

    def answer(self, question: Question) -> bytes | None:
        """The answer to a question, for `FrameArrays.answer_again`; None if it is not known."""
        with self._lock:
            found = self._answers.pop(question, None)
            if found is not None:
                self._answers[question] = found
        return found

    def keep(self, question: Question, found: bytes) -> None:
        """Remember an answer, as of `FrameArrays.answers`."""
        with self._lock:
            if question not in self._answers:
                self._answers[question] = found
                self._bytes += _size(question, found)
            while self._bytes > self._most:
                first = next(iter(self._answers))
                self._bytes -= _size(first, self._answers.pop(first))


def _size(question: Question, found: bytes) -> int:
    return _OWN + len(question.targets) + len(question.pose) + len(found)
