# SPDX-License-Identifier: GPL-3.0-or-later
"""The warm start of playback: solving a frame from the answer of the frame before."""

from ...solvers import FrameArrays, Prepared
from .read import FrameInput
from .view import View


class FollowedMotion:
    """The frames of an armature, each solved afresh or from the one before. Only its own methods change it."""

    def __init__(self) -> None:
        self._prepared: Prepared | None = None
        self._scene, self._frame = 0, 0.0

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
        arrays = self._arrays
        arrays.ask(frame_input.targets, frame_input.start, frame_input.links)
        next_frame = 0.0 < view.frame - self._frame <= 1.0 or (not view.fresh and view.frame == self._frame)
        if not (follow and prepared is self._prepared and view.scene_uid == self._scene and next_frame):
            self._motion.restart()
        self._motion.solve_into(arrays)
        self._prepared, self._scene, self._frame = prepared, view.scene_uid, view.frame
        return arrays
