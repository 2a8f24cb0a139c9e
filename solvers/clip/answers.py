# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame-by-frame answers that a clip is solved from, and what they miss."""

from typing import Protocol

import numpy as np

from ..algebra import quaternion
from ..compiled.clip import CompiledStage
from ..group.stage import Stage
from ..group.starts import with_still_slides
from ..model.contacts import Contacts
from ..model.frames import FrameArrays, Motion
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from .rows import rows_of
from .watch import Watch, unwatched

POP = np.radians(5.0)  # of a joint's step beyond the mean of those beside it, from one key to the next
SAME = 1e-3  # of quaternions that are the same answer
AT_ONCE = 256  # frames, whose world transforms are held in memory
MET_SHARE = 0.2  # of the tolerances: an answer that is nearer counts as exact
NO_BETTER = 0.25  # times what the first answer costs: with less an answer counts as nearer


class FrameSolver(Protocol):
    """A solver of frames: `Prepared`."""

    contacts: Contacts | None

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve every frame afresh."""
        ...

    def motion(self) -> Motion:
        """A motion, in which each frame is solved from the one before."""
        ...


def answers(
    solver: FrameSolver, arrays: FrameArrays, watch: Watch = unwatched, given: np.ndarray | None = None,
    corrects: bool = False,
) -> tuple[list[Pose], np.ndarray, np.ndarray]:  # fmt: skip
    """Three poses (F, J, ...) of all frames: each solved afresh, each from the one before, each from the one after.

    The last two are as the first but from where it pops, as long as they stay apart from it; on the way back it is the
    second one where only that meets the goals. They are in single precision, because several poses a frame take much
    memory. Also the iterations (F,), and whether any of the answers meets the goals (F,). The outputs in `arrays` are
    overwritten, but for those of frames that are `given` (F,) bool.

    corrects : whether the start poses are a motion to correct. Then what is solved from the frame before comes first,
        in all frames: the correction of a frame alone may be another way around what is in the way. Where nothing can
        be, a frame that misses its goals stays as it is alone.
    """
    alone_stays = corrects and solver.contacts is None
    given = np.zeros(len(arrays), dtype=bool) if given is None else given
    first, iterations, met = _copied(arrays), np.zeros(len(arrays), dtype=int), np.zeros(len(arrays), dtype=bool)
    alone = np.flatnonzero(~given)
    for begin in range(0, alone.size, AT_ONCE):
        watch(begin / (2.0 * alone.size))
        some = alone[begin : begin + AT_ONCE]
        own = arrays.take(some)
        solver.solve_into(own)
        first.rotations[some], first.translations[some] = own.rotations, own.translations
        iterations[some], met[some] = own.iterations, own.converged
    pops, poses, best = _pops(first), [first], Pose(first.rotations.copy(), first.translations.copy())
    for backward in (False, True):
        order = range(len(arrays) - 1, -1, -1) if backward else range(len(arrays))
        pose, motion = Pose(best.rotations.copy(), best.translations.copy()), solver.motion()
        apart, before, earlier = False, -1, met.copy()
        for done, frame in enumerate(order):
            watch(0.5 + (len(poses) - 1 + done / len(arrays)) / 4.0)
            begins = done > 0 and (corrects or bool(pops[min(frame, before)]))
            if begins and not apart:
                motion.begin(_frame_of(best, before))
            before, apart = frame, (apart or begins) and not given[frame]
            if apart:
                own = arrays.part(frame, frame + 1)
                motion.solve_into(own)
                iterations[frame] += own.iterations[0]
                met[frame] |= own.converged[0]
                if (alone_stays or earlier[frame]) and not own.converged[0]:
                    motion.begin(_frame_of(best, frame))
                    continue
                pose.rotations[frame], pose.translations[frame] = own.rotations[0], own.translations[0]
                apart = bool(np.abs(own.rotations[0] - best.rotations[frame]).max() > SAME)
        poses.append(pose)
        found = met & ~earlier
        best.rotations[found], best.translations[found] = pose.rotations[found], pose.translations[found]
    return [*poses[1:], first] if corrects else poses, iterations, met


def _pops(pose: Pose) -> np.ndarray:
    """Between which frames (F - 1,) bool and the next a joint's step is far from those beside it, or very long."""
    turns = quaternion.log(quaternion.relative(pose.rotations[:-1].astype(float), pose.rotations[1:].astype(float)))
    steps = np.pad(turns, ((1, 1), (0, 0), (0, 0)), mode="edge") if len(turns) else np.zeros((2, 1, 3))
    off = steps[1:-1] - 0.5 * (steps[:-2] + steps[2:])
    return np.sqrt((off * off).sum(-1)).max(-1, initial=0.0) > POP


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
