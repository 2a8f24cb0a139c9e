# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of playback: each solved afresh, from the answer of the frame before, or known already."""

from ....solvers import FrameArrays, Motion, Pose, Prepared, TrackedMotion
from ...blender import views
from ..read import start_pose
from ..read.lengths import StretchingMotion
from ..read.question import FrameInput, check_numbers
from ..read.view import View
from . import dragged
from .known_answers import KnownAnswers, Question
from .start_mode import Way
from .whole_shot import WholeShot


class FollowedMotion:
    """The frames of an armature, each solved afresh or from the one before. Only its own methods change it."""

    def __init__(self, known: KnownAnswers, shot: WholeShot | None = None) -> None:
        self._known, self.shot = known, WholeShot() if shot is None else shot
        self._prepared: Prepared | None = None
        self.arrays: FrameArrays  # the question and the answer of the last frame
        self._motion: Motion
        self._behind = False  # whether the motion does not know the last answer
        self._scene, self._frame = 0, 0.0
        self._question: Question | None = None  # the last one
        self._lags = False  # whether the motion is one with a lag
        self.followed = False  # whether the last answer depends on the frames before
        self.is_on_the_way = False  # whether the last answer is on its way to the frame's own, in a drag
        self.known: bytes | None = None  # the last answer, if it is one that is remembered

    @property
    def lags(self) -> bool:
        """Whether the last answer is on its way to the targets."""
        return self._lags and self.followed

    def renewed(self) -> "FollowedMotion":
        """One that starts anew. What the frames of the shot ask is read again, and only what is other is solved."""
        self.shot.doubt()
        return FollowedMotion(self._known, self.shot)

    def stop(self) -> None:
        """Make the next frame be solved afresh."""
        self._prepared, self.is_on_the_way = None, False

    def solve(self, frame_input: FrameInput, view: View, way: Way) -> FrameArrays:
        """Solve a frame, from the last frame's answer if it `follows` in this `way` and is not keyed.

        Only the scene's next frame, or the same frame after an edit, follows; any other frame is solved afresh, but for
        one with a lag, where the motion begins. The same frame that asks the same again keeps its answer.
        """
        self._prepare(frame_input.prepared, way)
        frame_input.ask(self.arrays)
        self.known = None
        same_frame = view.frame == self._frame and view.scene_uid == self._scene
        next_frame = 0.0 < view.frame - self._frame <= 1.0 and view.scene_uid == self._scene
        question = self.question_of(frame_input, self.arrays)
        shown = None
        if same_frame and not (view.fresh or way.follows or frame_input.rig.plan.passes) and views.is_dragging():
            shown = self._shown(question)
        if way.whole and self.shot.covers(view.scene_uid, view.frame):
            if view.fresh and view.is_whole:
                self.shot.ask(view.frame, question, frame_input)
            elif view.is_whole and question != self._question and self.shot.asked_otherwise(view.frame, question):
                self.shot.doubt()  # an edit of the base pose concerns other frames too
            self.followed, self._behind = False, True
            self.known = self._answer_in_shot(frame_input, self.arrays, question, view.frame)
        elif not way.follows or frame_input.stands_alone:
            self.followed = False
            self.known = self._answer(frame_input, self.arrays, question)
            self._behind = True
        elif not (same_frame and question == self._question):  # each view layer is evaluated, and updates come besides
            if next_frame:
                way.set_time(self._motion, view.frame - self._frame)
            self.followed = self._has_before(next_frame, same_frame, view.fresh)
            if self.followed or self._lags:
                self._go_on(frame_input)
            else:
                self.known, self._behind = self._answer(frame_input, self.arrays, question), True
        self.is_on_the_way = shown is not None and dragged.show(frame_input, self.arrays, *shown, question)
        if self.is_on_the_way:
            self.followed, self.known = True, None
        self._scene, self._frame, self._question = view.scene_uid, view.frame, question
        return self.arrays

    def solve_aside(self, frame_input: FrameInput, view: View, way: Way) -> FrameArrays:
        """Solve a frame of a render on its own; the motion stays where it is."""
        arrays = frame_input.prepared.arrays()
        frame_input.ask(arrays)
        question = self.question_of(frame_input, arrays)
        if way.whole and self.shot.covers(view.scene_uid, view.frame):
            self._answer_in_shot(frame_input, arrays, question, view.frame)
        else:
            self._answer(frame_input, arrays, question)
        return arrays

    def _shown(self, question: Question) -> tuple[Pose, Question] | None:
        """What is shown before a step of a drag, and the question then; None if it asks and shows the same again."""
        if self._question is None or (question == self._question and not self.is_on_the_way):
            return None
        return Pose(self.arrays.rotations[0].copy(), self.arrays.translations[0].copy()), self._question

    def _prepare(self, prepared: Prepared, way: Way) -> None:
        """Make room and a motion for these goals and this way, if they have changed."""
        lags = way.gain is not None
        if prepared is not self._prepared:
            before = None if self._prepared is None or not self._lags else self._motion
            self.arrays, self._behind = prepared.arrays(), False
            self._motion = way.motion(prepared, before)
            self._prepared, self._question = prepared, None
        elif lags != self._lags:
            self._motion, self._behind = way.motion(prepared), True
        self._lags = lags

    def _has_before(self, next_frame: bool, same_frame: bool, fresh: bool) -> bool:
        """Whether the motion stands at the frame before this one, or at this one before an edit.

        One with a lag is taken back to the frame before it if need be: so a frame that is solved again, after an edit
        for example, shows what playback shows there. fresh : whether the frame was changed to.
        """
        if not isinstance(self._motion, TrackedMotion):
            near = next_frame or (same_frame and not fresh)
            return near and (self._behind or self._motion.pose is not None)
        if same_frame:
            self._motion.back()
            return not self._behind and self._motion.pose is not None
        return next_frame and (self._behind or self._motion.pose is not None)

    def _go_on(self, frame_input: FrameInput) -> None:
        """Solve the frame whose input is in the arrays as the motion's next, or its first."""
        start_pose.complete(self.arrays, frame_input.rig, frame_input.shaping)
        if not self.followed:
            self._motion.restart()
        elif self._behind:
            self._motion.begin(Pose(self.arrays.rotations[0], self.arrays.translations[0]))
        frame_input.follow(self._motion, self.arrays)
        self._behind = False
        check_numbers(self.arrays.rotations)

    def question_of(self, frame_input: FrameInput, arrays: FrameArrays | None = None) -> Question:
        """The question of a frame, whose input is in `arrays` already if there are any."""
        if arrays is None:
            arrays = frame_input.prepared.arrays()
            frame_input.ask(arrays)
        asked = arrays.questions()[0]
        return self._known.question(frame_input.prepared, frame_input.shaping, frame_input.keyed, asked)

    def _answer_in_shot(
        self, frame_input: FrameInput, arrays: FrameArrays, question: Question, frame: float
    ) -> bytes | None:  # fmt: skip
        """Answer a frame as one of the shot's; where that is not solved yet, from the answer beside it.

        Returns the answer if it is remembered.
        """
        found = self.shot.answer(frame, question)
        if found is not None:
            arrays.answer_again(found)
            return found
        beside = self.shot.beside(frame)
        if beside is None or len(beside) != len(arrays.answers()[0]) or frame_input.stands_alone:  # other goals
            return self._answer(frame_input, arrays, question)
        arrays.answer_again(beside)
        motion = StretchingMotion(frame_input.prepared)
        motion.begin(Pose(arrays.rotations[0].copy(), arrays.translations[0].copy()))
        start_pose.complete(arrays, frame_input.rig, frame_input.shaping)
        frame_input.follow(motion, arrays)
        check_numbers(arrays.rotations)
        return None

    def _answer(self, frame_input: FrameInput, arrays: FrameArrays, question: Question) -> bytes:
        """Solve the frame whose input is in `arrays` on its own, unless its answer is known; returns the answer."""
        found = self._known.get(question)
        if found is not None:
            arrays.answer_again(found)
        else:
            frame_input.solve_afresh(arrays)
            check_numbers(arrays.rotations)
            found = arrays.answers()[0]
            self._known.keep(question, found)
        return found
