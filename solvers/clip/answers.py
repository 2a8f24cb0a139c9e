# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame-by-frame answers that a clip is solved from, and what they miss."""

from typing import Protocol

import numpy as np

from ..algebra import quaternion
from ..compiled.clip import CompiledStage
from ..group.stage import Stage
from ..group.starts import with_still_slides
from ..model.frames import FrameArrays, Motion
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from .rows import rows_of
from .watch import Watch, unwatched

AT_ONCE = 256  # frames, whose world transforms are held in memory
MET_SHARE = 0.2  # of the tolerances: an answer that is nearer counts as exact
NO_BETTER = 0.99  # times what the first answer misses: with less an answer counts as nearer


class FrameSolver(Protocol):
    """A solver of frames: `Prepared`."""

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve every frame afresh."""
        ...

    def motion(self) -> Motion:
        """A motion, in which each frame is solved from the one before."""
        ...


def answers(
    solver: FrameSolver, arrays: FrameArrays, afresh: bool, watch: Watch = unwatched, given: np.ndarray | None = None
) -> tuple[list[Pose], np.ndarray, np.ndarray]:  # fmt: skip
    """The poses (F, J, ...) of all frames: each from the one before, then each from the one after.

    On the way back, frames that miss goals take the first answer if that meets them, and it goes on from there. Where
    both miss goals, or everywhere if `afresh`, frames are solved afresh too: a third pose, elsewhere as the first. They
    are in single precision, because several poses a frame take much memory. Also the iterations (F,), and whether any
    of the answers meets the goals (F,). The outputs in `arrays` are overwritten, but for those of frames that are
    `given` (F,) bool.
    """
    given = np.zeros(len(arrays), dtype=bool) if given is None else given
    poses, iterations, met = list[Pose](), np.zeros(len(arrays), dtype=int), np.zeros(len(arrays), dtype=bool)
    for order in (range(len(arrays)), range(len(arrays) - 1, -1, -1)):
        motion = solver.motion()
        if met[order[0]]:
            motion.begin(_frame_of(poses[0], order[0]))
        for done, frame in enumerate(order):
            watch((len(poses) + done / len(arrays)) / 3.0)
            own = arrays.part(frame, frame + 1)
            if given[frame]:
                motion.begin(Pose(own.rotations[0], own.translations[0]))
                continue
            motion.solve_into(own)
            if met[frame] and not own.converged[0]:
                first = _frame_of(poses[0], frame)
                own.rotations[:], own.translations[:] = first
                motion.begin(first)
        poses.append(_copied(arrays))
        iterations += arrays.iterations
        met |= arrays.converged
    lost = np.flatnonzero((~met | afresh) & ~given)
    if lost.size:
        poses.append(Pose(poses[0].rotations.copy(), poses[0].translations.copy()))
    for begin in range(0, lost.size, AT_ONCE):
        watch((2.0 + begin / lost.size) / 3.0)
        some = lost[begin : begin + AT_ONCE]
        own = arrays.take(some)
        solver.solve_into(own)
        pose = _copied(own)
        poses[2].rotations[some], poses[2].translations[some] = pose.rotations, pose.translations
        iterations[some] += own.iterations
        met[some] |= own.converged
    return poses, iterations, met


def missed(
    stage: Stage, compiled: CompiledStage | None, pose: Pose, targets: Targets, links: np.ndarray
) -> tuple[State, np.ndarray, np.ndarray]:  # fmt: skip
    """The stage's state in an answer, the error rows (F, m) of the goals that it misses, and their costs (F, G)."""
    tasks, space = stage.hard_tasks, stage.space
    state = space.state(pose, len(targets.positions))
    rows = rows_of(stage.tasks, targets, with_still_slides(stage, pose, links), compiled).at(state)[:, : tasks.m]
    if tasks.one_sided is not None:
        rows = np.where(tasks.one_sided, np.maximum(rows, 0.0), rows)
    costs, bounds = np.zeros((len(rows), len(stage.goals))), {
        "length": stage.options.tolerance, "angle": stage.options.rotation_tolerance,
    }  # fmt: skip
    for kind, part in zip(tasks.kinds, tasks.rows, strict=True):
        own = rows[:, part].reshape(len(rows), len(kind.goals), kind.size)
        square = (own * own).sum(-1)
        met = square <= (MET_SHARE * bounds[str(kind.unit)] * kind.weights) ** 2
        own[met] = 0.0
        rows[:, part] = own.reshape(len(rows), -1)
        for task, goal in enumerate(kind.goals.tolist()):
            costs[:, goal] += 0.5 * np.where(met[:, task], 0.0, square[:, task])
    return state, rows, costs


def nearest(costs: np.ndarray) -> np.ndarray:
    """The answer (F,) that misses least, of C answers with costs (C, F, G); the first one on ties."""
    total = costs.sum(-1)
    total[0] *= NO_BETTER
    return np.argmin(total, axis=0)


def _copied(arrays: FrameArrays) -> Pose:
    return Pose(arrays.rotations.astype(np.float32), arrays.translations.astype(np.float32))


def _frame_of(answer: Pose, frame: int) -> Pose:
    """One frame of an answer: (J, 4), (J, 3)."""
    part = frames_of_answer(answer, slice(frame, frame + 1))
    return Pose(part.rotations[0], part.translations[0])


def frames_of_answer(answer: Pose, some: slice) -> Pose:
    """Some frames of an answer, in double precision."""
    rotations = quaternion.normalize(answer.rotations[some].astype(float))
    return Pose(rotations, answer.translations[some].astype(float))
