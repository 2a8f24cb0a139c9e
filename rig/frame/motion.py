# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of playback: each solved afresh, from the answer of the frame before, or known already."""

from ...solvers import FrameArrays, Motion, Prepared
from . import keyed_reach, start_pose
from .known_answers import KnownAnswers
from .read import FrameInput, check_numbers
from .view import View


class FollowedMotion:
    """The frames of an armature, each solved afresh or from the one before. Only its own methods change it."""

    def __init__(self, known: KnownAnswers) -> None:
        self._known = known
        self._prepared: Prepared | None = None
        self._arrays: FrameArrays
        self._motion: Motion
        self._scene, self._frame = 0, 0.0
        self.followed = False  # whether the last answer depends on the frames before

    def stop(self) -> None:
        """Make the next frame be solved afresh."""
        self._prepared = None

    def solve(self, frame_input: FrameInput, view: View, follow: bool) -> FrameArrays:
        """Solve a frame, from the last frame's answer if `follow` is set.

        Only the scene's next frame, or the same frame after an edit, follows; any other frame is solved afresh.
        """
        prepared = frame_input.prepared
        if prepared is not self._prepared:
            self._arrays, self._motion = prepared.arrays(), prepared.motion()
            self._motion.restart()
            self._prepared = prepared
        frame_input.ask(self._arrays)
        next_frame = 0.0 < view.frame - self._frame <= 1.0 or (not view.fresh and view.frame == self._frame)
        self.followed = follow and view.scene_uid == self._scene and next_frame
        if follow:
            self._solve(frame_input, follow)
        else:
            question = self._known.question(prepared, frame_input.shaping, frame_input.keyed, self._arrays)
            if not self._known.answer(question, self._arrays):
                self._solve(frame_input, follow)
                self._known.keep(question, self._arrays)
        self._scene, self._frame = view.scene_uid, view.frame
        return self._arrays

    def _solve(self, frame_input: FrameInput, follow: bool) -> None:
        """Solve the frame whose input is in the arrays. follow : as in `solve`."""
        start_pose.complete(self._arrays, frame_input.rig, frame_input.shaping)
        if not self.followed:
            self._motion.restart()
        self._motion.solve_into(self._arrays)
        if frame_input.keyed and not follow:
            keyed_reach.stay(self._arrays, frame_input.prepared, frame_input.posed, frame_input.solve_afresh)
        check_numbers(self._arrays.rotations)

    @property
    def arrays(self) -> FrameArrays:
        """The question and the answer of the last frame."""
        return self._arrays
