# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown while something is dragged on one frame: the body does not jump where the frame's own answer does.

The answer of a frame is a function of what it asks, and some questions that are alike have answers that are not: an
elbow may point out or down, and at some place the other one becomes the cheaper. There the body goes from the pose that
is shown to the frame's own answer, by a part of the way with each step of the drag, and with its goals met on the way.
Closed loops never open for it: where the own answer puts a linkage together in another way, it stays as it is together.
Once the drag is over, and wherever nothing is dragged, as in scripts, it shows the frame's own answer.
"""

import numpy as np

from ....solvers import FrameArrays, Pose, Prepared
from ....solvers.algebra import quaternion
from ....solvers.model import Targets
from ....solvers.space import JointSpace
from ..read import start_pose
from ..read.question import FrameInput
from .known_answers import Question

_TURN = 0.23  # [rad] by which a joint turns in a step on the way, and more by as much as what is asked turns
_MOST = 0.255  # [rad] the same once the goals are met
_SHARES = (1.0, 0.6, 0.3, 0.0)  # of the turn, that are tried until it is no larger
_NEARER = 0.1  # [rad] a pose at rest that comes nearer to the frame's own answer by less goes there without its goals
_TRIES = 4  # to find how far to go: coordinates of limited joints are no angles
_SLIDE = 2.0  # [rad per skeleton length] what a slide counts
_NEAR, _ALIKE = 0.05, 0.35  # [skeleton lengths, rad] what is asked moves and turns by less in a step of a drag


def show(frame_input: FrameInput, arrays: FrameArrays, shown: Pose, before: Question, question: Question) -> bool:
    """Take a frame's own answer, in `arrays`, back to a pose on the way from the one that is `shown`, if it is far.

    before, question : what the frame asked when that was shown, and asks now. Returns whether the pose is on the way.
    """
    prepared = frame_input.prepared
    moved, turned = _change((before, question), arrays, prepared.skeleton.length)
    own, length = Pose(arrays.rotations[0].copy(), arrays.translations[0].copy()), prepared.skeleton.length
    far, most = _away(shown, own, length), _TURN + turned
    if not (moved <= _NEAR and turned <= _ALIKE and far > most):
        return False
    answers = arrays.answers()[0]
    loops = np.array([goal.is_carried for goal in prepared.goals]) & _met(prepared, arrays)
    found = way = _part(prepared, shown, own, most)
    if frame_input.shaping is not None and not arrays.home_rotations.any():  # the answer was known before
        start_pose.complete(arrays, frame_input.rig, frame_input.shaping)
    targets = frame_input.targets._replace(positions=arrays.positions.copy())  # hips give as in its own answer
    for share in _SHARES:
        found = _solved(frame_input, arrays, targets, _part(prepared, shown, way, share * most))
        if _away(shown, found, length) <= _MOST + turned:
            break
    else:  # near the straight limb goals ask for larger turns
        if not loops.any():
            arrays.answer_again(answers)
            found = _part(prepared, shown, found, most)
    if not _met(prepared, arrays)[loops].all():
        arrays.answer_again(answers)
        return False
    if not loops.any() and moved == turned == 0.0 and _away(found, own, length) > far - _NEARER:
        arrays.answer_again(answers)
        found = way
    arrays.rotations[0], arrays.translations[0] = found
    return True


def _met(prepared: Prepared, arrays: FrameArrays) -> np.ndarray:
    """Whether (G,) goals are met by the answer in `arrays`."""
    near = arrays.position_errors[0] <= prepared.options.tolerance
    return near & (arrays.rotation_errors[0] <= prepared.options.rotation_tolerance)


def _solved(frame_input: FrameInput, arrays: FrameArrays, targets: Targets, pose: Pose) -> Pose:
    """The answer in `arrays` that is near a pose."""
    motion = frame_input.prepared.motion()
    motion.begin(pose)
    arrays.ask(targets, Pose(pose.rotations[None], pose.translations[None]), frame_input.links)
    motion.solve_into(arrays)
    return Pose(arrays.rotations[0].copy(), arrays.translations[0].copy())


def _part(prepared: Prepared, pose: Pose, other: Pose, most: float) -> Pose:
    """A pose on the way from one to another, as far as joints turn by `most` [rad], inside the limits if both are."""
    space = JointSpace(prepared.skeleton, np.ones(len(prepared.skeleton), dtype=bool))
    first, last, share, part = space.state(pose), space.state(other), 1.0, other
    for _ in range(_TRIES):
        share *= min(most / max(_away(pose, part, prepared.skeleton.length), 1e-12), 1.0)
        way = space.between(first, last, share)
        slides = space.slides(way.x)
        part = Pose(way.rotations[0], np.zeros_like(pose.translations) if slides is None else slides[0])
    still = (pose.rotations == other.rotations).all(-1, keepdims=True)  # also outside its limits
    return Pose(np.where(still, other.rotations, part.rotations), part.translations)


def _change(questions: tuple[Question, Question], arrays: FrameArrays, length: float) -> tuple[float, float]:
    """By how much of the skeleton's length targets have moved, and by how much targets or bones have turned [rad].

    Infinity where the questions differ by more than these. arrays : of the frame's shapes.
    """
    if questions[0].way != questions[1].way:
        return np.inf, np.inf
    places, turns, joints = 3 * arrays.goals, 4 * arrays.goals, 4 * arrays.joints
    moved = turned = 0.0
    for parts, count, first, last in (
        ([one.targets for one in questions], -1, places, places + turns),
        ([one.pose for one in questions], 7 * arrays.joints, 0, joints),
    ):
        old, new = (np.frombuffer(part, count=count) for part in parts)
        rotations = [one[first:last].reshape(-1, 4) for one in (old, new)]
        turned = max(turned, float(quaternion.angle(*rotations).max(initial=0.0)))
        apart = np.abs(new - old)
        apart[first:last] = 0.0
        moved = max(moved, float(apart.max(initial=0.0)))
    return moved / length, turned


def _away(pose: Pose, other: Pose, length: float) -> float:
    """The largest turn of a joint between two poses [rad]; slides count by `_SLIDE`."""
    turned = float(quaternion.angle(pose.rotations, other.rotations).max(initial=0.0))
    return max(turned, _SLIDE / length * float(np.abs(pose.translations - other.translations).max(initial=0.0)))
