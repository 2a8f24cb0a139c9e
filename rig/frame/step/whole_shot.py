# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a shot as one motion: what each of them asks, and what it was answered.

A shot is what the timeline plays. Each of its frames is read when it is visited, and its answer counts as long as it
asks the same. An edit may have changed what other frames ask: then they are read again, and those that ask otherwise,
and the frames near them, are solved again (`rig/bake/whole_shot.py`).
"""

from threading import Lock
from typing import NamedTuple

import bpy

from ...blender import scene_state
from ..read.question import FrameInput
from .known_answers import Question

_BETWEEN = -(1 << 40)
_NEAR = 1e-4  # frames between times that count as one: Blender stores fractions in single precision


class Asked(NamedTuple):
    """What a frame asks, and the input that it is solved from, which nobody changes."""

    question: Question
    frame_input: FrameInput


class WholeShot:
    """The frames of one armature's shot. One thread reads and asks, another one solves and answers.

    Times are those at which a scene evaluates keys, which Time Stretching makes other numbers than those of frames.
    smooth : as of `MotionSolver`. windows : what was solved at once, by what it asked, for `rig/bake/whole_shot.py`.
    """

    def __init__(self) -> None:
        self.smooth = 0.0
        self.windows: dict[object, dict[tuple[object, ...], list[bytes]]] = {}
        self._shot = (0, 0, -1, 1.0)  # a scene, the first and the last frame, and the time of a frame
        self._asked: dict[int, Asked] = {}
        self._sure = set[int]()  # frames that were read since the last edit
        self._answers: dict[int, tuple[tuple[float, Question], bytes]] = {}  # by the smoothness too
        self._lock = Lock()

    def cover(self, scene: bpy.types.Scene, smooth: float) -> None:
        """Count the frames that a scene's timeline plays as the shot; what is known of others is forgotten."""
        shot = scene.session_uid, *scene_state.shown_range(scene), scene_state.times(scene, [1])[0]
        self.smooth = smooth
        if shot == self._shot:
            return
        with self._lock:
            same, self._shot = (shot[0], shot[3]) == (self._shot[0], self._shot[3]), shot
            for frames in (self._asked, self._answers):
                for frame in [frame for frame in frames if not (same and shot[1] <= frame <= shot[2])]:
                    del frames[frame]
        self._sure &= set(range(shot[1], shot[2] + 1)) if same else set()

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
                self._asked[frame] = Asked(question, frame_input.copy())
            self._sure.add(frame)

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
        self._sure.clear()

    def unread(self) -> list[int]:
        """The frames that are to be read."""
        return [frame for frame in range(self._shot[1], self._shot[2] + 1) if frame not in self._sure]

    def asked(self) -> dict[int, Asked]:
        """What the frames ask, by frame, in order."""
        with self._lock:
            return dict(sorted(self._asked.items()))

    def reply(self, frame: int, smooth: float, question: Question, found: bytes) -> None:
        """Store a frame's answer to a question, as of `FrameArrays.answers`."""
        with self._lock:
            self._answers[frame] = (smooth, question), found

    def answer(self, time: float, question: Question) -> bytes | None:
        """The answer of the frame at a time, if it asks this; None if it is not known, or of another question."""
        own = self._answers.get(self._frame(time))
        return own[1] if own is not None and own[0] == (self.smooth, question) else None

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
        count, asked = self._shot[2] - self._shot[1] + 1, self._asked
        done = sum(
            frame not in asked or self.answer(frame * self._shot[3], asked[frame].question) is not None
            for frame in self._sure
        )
        return done / count if count > 0 else 0.0

    def _frame(self, time: float) -> int:
        """The whole frame at a time; one that no shot has between two."""
        frame = time / self._shot[3]
        return round(frame) if abs(frame - round(frame)) < _NEAR else _BETWEEN
