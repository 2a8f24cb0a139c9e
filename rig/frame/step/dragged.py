# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown while something is dragged on one frame: the body does not jump where the frame's own answer does.

The answer of a frame is a function of what it asks, and some questions that are alike have answers that are not: an
elbow may point out or down, and at some place the other one becomes the cheaper. There the body goes from the pose that
is shown to the frame's own answer, by a part of the way with each step of the drag, and with its goals met on the way.
Once it has arrived, and on every other frame, it shows the frame's own answer.
"""

import numpy as np

from ....solvers import FrameArrays, Pose, Prepared
from ....solvers.algebra import quaternion
from ....solvers.model import Targets
from ....solvers.space import JointSpace
from ..read.question import FrameInput

_TURN = 0.21  # [rad] by which a joint turns in a step on the way, and more by as much as what is asked turns
_MOST = 0.25  # [rad] a step that the goals make larger is taken without them
_TRIES = 4  # to find how far to go: coordinates of limited joints are no angles
_SLIDE = 2.0  # [rad per skeleton length] what a slide counts
_NEAR, _ALIKE = 0.05, 0.35  # [skeleton lengths, rad] what is asked moves and turns by less in a step of a drag


class Dragged:
    """The pose that is shown on a frame while something is dragged. Only its own methods change it.

    is_on_the_way : whether it is not yet the frame's own answer.
    """

    def __init__(self) -> None:
        self.is_on_the_way = False
        self._asked: tuple[Targets, Pose] | None = None
        self._shown: Pose

    def forget(self) -> None:
        """What is shown next is the frame's own answer."""
        self.is_on_the_way, self._asked = False, None

    def show(self, frame_input: FrameInput, arrays: FrameArrays, edited: bool) -> None:
        """Take a frame's own answer, which is in `arrays`, back to one on the way if it is too far, in place.

        edited : whether it is the frame that was shown last, after an edit.
        """
        asked = frame_input.targets.copy(), Pose(*(part.copy() for part in frame_input.posed))
        self.is_on_the_way = False
        if edited and self._asked is not None:
            moved, turned = _change(self._asked, asked, frame_input.prepared.skeleton.length)
            if moved <= _NEAR and turned <= _ALIKE:
                self._go(frame_input, arrays, turned)
        self._asked, self._shown = asked, Pose(arrays.rotations[0].copy(), arrays.translations[0].copy())

    def _go(self, frame_input: FrameInput, arrays: FrameArrays, turned: float) -> None:
        """Go from the pose that is shown toward the answer in `arrays`, in place. turned : as of `_change`."""
        prepared, own = frame_input.prepared, Pose(arrays.rotations[0].copy(), arrays.translations[0].copy())
        length = prepared.skeleton.length
        far, most = _away(self._shown, own, length), _TURN + turned
        if far <= most:
            return
        self.is_on_the_way = True
        part = _part(prepared, self._shown, own, most)
        answers = arrays.answers()[0]
        motion = prepared.motion()
        motion.begin(part)
        arrays.ask(frame_input.targets, Pose(part.rotations[None], part.translations[None]), frame_input.links)
        motion.solve_into(arrays)
        found = Pose(arrays.rotations[0], arrays.translations[0])
        if not (_away(self._shown, found, length) <= _MOST + turned and _away(found, own, length) < far):
            arrays.answer_again(answers)
            arrays.rotations[0], arrays.translations[0] = part


def _part(prepared: Prepared, pose: Pose, other: Pose, most: float) -> Pose:
    """A pose on the way from one to another, as far as joints turn by `most` [rad], inside the limits if both are."""
    space = JointSpace(prepared.skeleton, np.ones(len(prepared.skeleton), dtype=bool))
    first, last, share, part = space.state(pose), space.state(other), 1.0, other
    for _ in range(_TRIES):
        share *= min(most / max(_away(pose, part, prepared.skeleton.length), most), 1.0)
        way = space.between(first, last, share)
        slides = space.slides(way.x)
        part = Pose(way.rotations[0], np.zeros_like(pose.translations) if slides is None else slides[0])
    return part


def _change(before: tuple[Targets, Pose], after: tuple[Targets, Pose], length: float) -> tuple[float, float]:
    """By how much of the skeleton's length targets have moved, and by how much targets or bones have turned [rad]."""
    (old, posed), (new, now) = before, after
    if old.positions.shape != new.positions.shape or posed.rotations.shape != now.rotations.shape:
        return np.inf, np.inf
    places = [(old.positions, new.positions), (old.poles, new.poles), (posed.translations, now.translations)]
    if old.points is not None and new.points is not None:
        places.append((old.points, new.points))
    turns = (old.rotations, new.rotations), (posed.rotations, now.rotations)
    moved = max(float(np.abs(b - a).max(initial=0.0)) for a, b in places) / length
    return moved, max(float(quaternion.angle(a, b).max(initial=0.0)) for a, b in turns)


def _away(pose: Pose, other: Pose, length: float) -> float:
    """The largest turn of a joint between two poses [rad]; slides count by `_SLIDE`."""
    turned = float(quaternion.angle(pose.rotations, other.rotations).max(initial=0.0))
    return max(turned, _SLIDE / length * float(np.abs(pose.translations - other.translations).max(initial=0.0)))
