# SPDX-License-Identifier: GPL-3.0-or-later
"""The warm start of playback: solving a frame from the answer of the frame before."""

from ...solvers import FrameArrays, Motion, Prepared
from . import keyed_reach, start_pose
from .read import FrameInput, check_numbers
from .view import View


class FollowedMotion:
    """The frames of an armature, each solved afresh or from the one before. Only its own methods change it."""

    def __init__(self) -> None:
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
        start_pose.complete(self._arrays, frame_input.rig, frame_input.shaping)
        next_frame = 0.0 < view.frame - self._frame <= 1.0 or (not view.fresh and view.frame == self._frame)
        self.followed = follow and view.scene_uid == self._scene and next_frame
        if not self.followed:
            self._motion.restart()
        self._motion.solve_into(self._arrays)
        if frame_input.keyed and not follow:
            keyed_reach.stay(self._arrays, prepared, frame_input.posed, frame_input.solve_afresh)
        check_numbers(self._arrays.rotations)
        self._scene, self._frame = view.scene_uid, view.frame
        return self._arrays

    @property
    def arrays(self) -> FrameArrays:
        """The question and the answer of the last frame."""
        return self._arrays
