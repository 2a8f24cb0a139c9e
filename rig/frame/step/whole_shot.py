# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a shot as one motion: what each of them asks, and what it was answered.

A shot is what the timeline plays. Each of its frames is read when it is visited, and its answer counts as long as it
asks the same. An edit may have changed what other frames ask: then they are read again, and those that ask otherwise,
and the frames near them, are solved again (`rig/bake/whole_shot.py`).
"""

from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import bpy

from ...blender import scene_state
from ...notes import Note
from ...remembered import Remembered
from ..read.question import FrameInput
from .known_answers import Question

_BETWEEN = -(1 << 40)
_MOST = 256 << 20  # bytes that the frames of a shot may take
_OWN = 2500  # bytes that a frame takes besides its numbers
_NEAR = 1e-4  # frames between times that count as one: Blender stores fractions in single precision


class Asked(NamedTuple):
    """What a frame asks, and the input that it is solved from, which nobody changes."""

    question: Question
    frame_input: FrameInput

    @property
    def size(self) -> int:
        """Bytes that it takes together with its answer, if it shares nothing."""
        return _OWN + 3 * len(self.question.targets) + 3 * len(self.question.pose)

    def sharing(self, other: "Asked | None") -> "Asked":
        """The same, which has in common with another frame what is alike: most frames have their start pose."""
        if other is None or other.question.pose != self.question.pose:
            return self
        way = other.question.way if other.question.way == self.question.way else self.question.way
        posed, links = other.frame_input.posed, other.frame_input.links
        question = self.question._replace(way=way, pose=other.question.pose)
        return Asked(question, replace(self.frame_input, posed=posed, links=links))


class SolvedWindow(NamedTuple):
    """The answers of frames that were solved at once, and whether a joint pops in them."""

    answers: list[bytes]
    pops: bool


class WholeShot:
    """The frames of one armature's shot. One thread reads and asks, another one solves and answers.

    Times are those at which a scene evaluates keys, which Time Stretching makes other numbers than those of frames.
    notes : why its frames cannot be solved as one motion. is_partial : whether windows were left that were not read
        whole, so that frames whose own question is the same may have old answers. smooth : as of `MotionSolver`.
    windows : what was solved at once, by what it asked, for `rig/bake/whole_shot.py`.
    """

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.smooth, self.is_partial = 0.0, False
        self.windows: dict[object, Remembered[tuple[object, ...], SolvedWindow]] = {}
        self._shot = (0, 0, -1, 1.0)  # a scene, the first and the last frame, and the time of a frame
        self._asked: dict[int, Asked] = {}
        self._sure = set[int]()  # frames that were read since the last edit
        self._unanswered = set[int]()  # those of them that have no answer to what they ask
        self._answers: dict[int, tuple[tuple[float, Question], bytes]] = {}  # by the smoothness too
        self._lock = Lock()

    def cover(self, scene: bpy.types.Scene, smooth: float) -> None:
        """Count the frames that a scene's timeline plays as the shot; what is known of others is forgotten."""
        shot = scene.session_uid, *scene_state.shown_range(scene), scene_state.times(scene, [1])[0]
        if (shot, smooth) == (self._shot, self.smooth):
            return
        with self._lock:
            self.smooth = smooth
            if shot != self._shot:
                self.notes = []
                same, self._shot = (shot[0], shot[3]) == (self._shot[0], self._shot[3]), shot
                for frames in (self._asked, self._answers):
                    for frame in [frame for frame in frames if not (same and shot[1] <= frame <= shot[2])]:
                        del frames[frame]
                self._sure &= set(range(shot[1], shot[2] + 1)) if same else set()
            self._unanswered.clear()
            for frame in self._sure:
                self._count(frame)

    def covers(self, scene_uid: int, time: float) -> bool:
        """Whether a time of a scene is one of the shot's."""
        return scene_uid == self._shot[0] and self._shot[1] <= time / self._shot[3] <= self._shot[2]

    def ask(self, time: float, question: Question | None, frame_input: FrameInput | None) -> None:
        """Note what the frame at a time asks, as it was read now. It keeps a copy of the input; None if nothing."""
        frame = self._frame(time)
        if not self._shot[1] <= frame <= self._shot[2]:
            return
        with self._lock:
            known = self._asked.get(frame)
            if question is None or frame_input is None or frame_input.is_apart:
                self._asked.pop(frame, None)
            elif known is None or known.question != question:
                asked = Asked(question, frame_input.copy())
                if asked.size * (self._shot[2] - self._shot[1] + 1) > _MOST:
                    self.notes = [Note("The shot is too long to be solved as one motion: set a preview range")]
                    return
                self._asked[frame] = asked.sharing(self._asked.get(frame - 1) or self._asked.get(frame + 1))
            self._sure.add(frame)
            self._count(frame)

    def asked_otherwise(self, time: float, question: Question) -> bool:
        """Whether the frame at a time was read and has asked something else."""
        own = self._asked.get(self._frame(time))
        return own is not None and own.question != question

    @property
    def is_read(self) -> bool:
        """Whether a frame was read since the last edit."""
        return bool(self._sure)

    def doubt(self) -> None:
        """An edit may have changed what any frame asks."""
        with self._lock:
            self._sure.clear()
            self._unanswered.clear()
        self.notes = []

    def unread(self) -> list[int]:
        """The frames that are to be read."""
        if self.notes:
            return []
        return [frame for frame in range(self._shot[1], self._shot[2] + 1) if frame not in self._sure]

    def asked(self) -> tuple[dict[int, Asked], set[int]]:
        """What the frames ask, by frame, in order; and those that may ask something else since an edit."""
        with self._lock:
            return dict(sorted(self._asked.items())), self._asked.keys() - self._sure

    def reply(self, frame: int, smooth: float, question: Question, found: bytes) -> None:
        """Store a frame's answer to a question, as of `FrameArrays.answers`."""
        with self._lock:
            self._answers[frame] = (smooth, question), found
            self._count(frame)

    def answer(self, time: float, question: Question) -> bytes | None:
        """The answer of the frame at a time, if it asks this; None if it is not known, or of another question."""
        return self._answer_of(self._frame(time), question)

    def expected(self, time: float) -> tuple[FrameInput, bytes] | None:
        """The input and the answer of the frame at a time, if no edit may have changed them; else None."""
        frame = self._frame(time)
        asked = self._asked.get(frame) if frame in self._sure else None
        found = None if asked is None else self.answer(time, asked.question)
        return None if asked is None or found is None else (asked.frame_input, found)

    def beside(self, time: float) -> bytes | None:
        """The last answer at a time, or of the nearest frame that has one; None if there is none."""
        at = time / self._shot[3]
        nearest = min(list(self._answers), key=lambda frame: abs(frame - at), default=None)
        return None if nearest is None else self._answers[nearest][1]

    @property
    def share(self) -> float:
        """How much of the shot has its answers, 0 to 1."""
        count = self._shot[2] - self._shot[1] + 1
        return (len(self._sure) - self.unanswered) / count if count > 0 else 0.0

    @property
    def unanswered(self) -> int:
        """How many frames that were read since the last edit have no answer; one at least where windows were left."""
        return self.is_partial + len(self._unanswered)

    def _count(self, frame: int) -> None:
        """Count a frame among those that have no answer, or no longer."""
        asked = self._asked.get(frame) if frame in self._sure else None
        if asked is not None and self._answer_of(frame, asked.question) is None:
            self._unanswered.add(frame)
        else:
            self._unanswered.discard(frame)

    def _answer_of(self, frame: int, question: Question) -> bytes | None:
        own = self._answers.get(frame)
        return own[1] if own is not None and own[0] == (self.smooth, question) else None

    def _frame(self, time: float) -> int:
        """The whole frame at a time; one that no shot has between two."""
        frame = time / self._shot[3]
        return round(frame) if abs(frame - round(frame)) < _NEAR else _BETWEEN
