# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of playback: each solved afresh, from the answer of the frame before, or known already."""

from ....solvers import FrameArrays, Motion, Pose, Prepared
from ..step import start_pose
from ..step.read import FrameInput, check_numbers
from ..view import View
from .known_answers import KnownAnswers, Question


class FollowedMotion:
    """The frames of an armature, each solved afresh or from the one before. Only its own methods change it."""

    def __init__(self, known: KnownAnswers) -> None:
        self._known = known
        self._prepared: Prepared | None = None
        self._arrays: FrameArrays
        self._motion: Motion
        self._behind = False  # whether the motion does not know the last answer
        self._scene, self._frame = 0, 0.0
        self._question: Question | None = None  # the last one
        self.followed = False  # whether the last answer depends on the frames before

    def stop(self) -> None:
        """Make the next frame be solved afresh."""
        self._prepared = None

    def solve(self, frame_input: FrameInput, view: View, follow: bool) -> FrameArrays:
        """Solve a frame, from the last frame's answer if `follow` is set and it is not keyed.

        Only the scene's next frame, or the same frame after an edit, follows; any other frame is solved afresh. The
        same frame that asks the same again keeps its answer.
        """
        prepared = frame_input.prepared
        if prepared is not self._prepared:
            self._arrays, self._motion, self._behind = prepared.arrays(), prepared.motion(), False
            self._motion.restart()
            self._prepared, self._question = prepared, None
        frame_input.ask(self._arrays)
        same_frame = view.frame == self._frame and view.scene_uid == self._scene
        next_frame = 0.0 < view.frame - self._frame <= 1.0 and view.scene_uid == self._scene
        question = self._known.question(prepared, frame_input.shaping, frame_input.keyed, self._arrays.questions()[0])
        if not follow or frame_input.keyed:
            self.followed = False
            self._solve_afresh(frame_input, question)
        elif not (same_frame and question == self._question):  # each view layer is evaluated, and updates come besides
            self.followed = next_frame or (same_frame and not view.fresh)
            self._go_on(frame_input)
        self._scene, self._frame, self._question = view.scene_uid, view.frame, question
        return self._arrays

    def _go_on(self, frame_input: FrameInput) -> None:
        """Solve the frame whose input is in the arrays as the motion's next, or its first."""
        start_pose.complete(self._arrays, frame_input.rig, frame_input.shaping)
        if not self.followed:
            self._motion.restart()
        elif self._behind:
            self._motion.begin(Pose(self._arrays.rotations[0], self._arrays.translations[0]))
        self._motion.solve_into(self._arrays)
        self._behind = False
        check_numbers(self._arrays.rotations)

    def _solve_afresh(self, frame_input: FrameInput, question: Question) -> None:
        """Solve the frame whose input is in the arrays on its own, unless its answer is known."""
        arrays = self._arrays
        found = self._known.answer(question)
        if found is not None:
            arrays.answer_again(found)
        else:
            frame_input.solve_afresh(arrays)
            check_numbers(arrays.rotations)
            self._known.keep(question, arrays.answers()[0])
        self._behind = True

    @property
    def arrays(self) -> FrameArrays:
        """The question and the answer of the last frame."""
        return self._arrays
