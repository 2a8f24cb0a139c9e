# SPDX-License-Identifier: GPL-3.0-or-later
"""EXTENDED: the Jacobian with rows for every pair of neighbouring joints, so that it always has full rank.

    minimise  |e - J d|^2 + w^2 |E d|^2,   (J^T J + w^2 E^T E) d = J^T e

(Soch & Lorencz 2005, "Solving inverse kinematics - a new approach to the extended Jacobian technique", eq. 8-10.) `E d`
is how far the end of each pair of segments moves in the frame of the joint below which the pair hangs; its target is 0.
These rows bound the step where the chain is straight, as damping does, but spread the bend differently: neighbours turn
against each other. The method suits chains that start straight, and tails and tentacles that should keep their shape.

The paper has hinges in the plane and one fixed weight `w`. This file adds what it leaves open:

- Three dimensions and trees. Each joint makes a pair with the next one above it that may move. Each end of its segment
  (the joints below it, effectors) gives rows for its position, and the pair gives rows for its rotation, weighted like
  those of goals.
- Rank. In space a pair's rows stay 0 if its middle joint turns about the first segment and the first joint turns back.
  So the root makes a pair with the ground. Then `E` alone has as many independent rows as there are degrees of freedom,
  in any pose, by induction from the root.
- Stiffness. A stiff joint gets additional rows whose target is that it does not move.
- Convergence. `w^2` is the damping, which follows how well the linear model predicts the errors (`descent.py`).
- Limits. The active set of the other solvers (`active_set.py`).
- The pairs' steps (2.3.1): what a pair does besides 0. Springs in the joints, of the stiffness that the reluctance `D`
  gives them, turn by `d* = t D^-1 J^T e` if a force draws the effectors to their targets, with the `t` that lowers the
  objective most. The pairs are asked for `E d*` (`Options.extension` "SPRINGS").
- Baillieul's rows, from which the paper starts (eq. 6): see `self_motion.py`. They follow once the goals are met.
"""

from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from ..algebra import quaternion
from ..iterate.active_set import limited
from ..iterate.descent import Minimum, Model, Settings, damped
from ..iterate.linear_step import LEAST, ROUNDING, LinearSystem, dot, restrict
from ..methods.table import Method
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request
from ..space.tasks import ROTATION_LENGTH, Kinematics, Tasks
from ..space.unknowns import Unknowns
from .criteria import Manipulability, NearBase
from .self_motion import SelfMotion


def pair_step(
    system: LinearSystem,
    free: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    fixed: np.ndarray | None = None,
    springs: bool = False,
) -> np.ndarray:
    """The least-squares step (F, n) over the free directions, by normal equations and LU as in the paper.

    `free`, `normals` and `fixed` are as for `linear_step.free_step`. springs : whether pairs step as springs would,
    instead of keeping their shape.
    """
    jacobian, n = system.jacobian, system.space.n
    down = (system.error[:, None, :] @ jacobian)[:, 0]
    if system.gradient is not None:
        down = down - system.gradient
    assert system.metric is not None
    matrix = np.swapaxes(jacobian, -1, -2) @ jacobian
    pairs = (system.damping - system.pull)[:, None, None] * system.metric
    matrix += pairs
    if springs:
        down = down + (pairs @ sprung(system, pairs)[..., None])[..., 0]
    diagonal = matrix.reshape(len(matrix), -1)[:, :: n + 1]
    diagonal += system.pull * system.reluctance
    size = diagonal.sum(-1, keepdims=True) / max(n, 1)
    diagonal += ROUNDING * size + np.finfo(float).tiny
    if fixed is not None:
        down = down - (matrix @ fixed[..., None])[..., 0]
    if free is not None:
        # a direction that is not free gets a diagonal entry and nothing else, so that the matrix stays regular
        matrix = _both_sides(system.space, matrix, free, normals)
        rest = np.eye(n) - _both_sides(system.space, np.tile(np.eye(n), (len(matrix), 1, 1)), free, normals)
        matrix = matrix + size[..., None] * rest
        down = restrict(system.space, down[:, None], free, normals)[:, 0]
    step = np.linalg.solve(matrix, down[..., None])[..., 0]
    return step if fixed is None else step + fixed


def sprung(system: LinearSystem, pairs: np.ndarray) -> np.ndarray:
    """`d*` (F, n): how far springs in the joints turn by the best force toward the targets.

    The best force lowers `|e - J d|^2 + d^T P d` most, `P` (F, n, n) the pairs' part: where the effectors cannot come
    nearer, it ends.
    """
    turned = (system.error[:, None, :] @ system.jacobian)[:, 0] / system.reluctance
    moved = (system.jacobian @ turned[..., None])[..., 0]
    square = dot(moved, moved) + dot(turned, (pairs @ turned[..., None])[..., 0])
    return (dot(system.error, moved) / np.where(square > LEAST, square, np.inf))[:, None] * turned


step = limited(pair_step)
"""The step (F, n) of one iteration, inside the limits."""

spring_step = limited(partial(pair_step, springs=True))
"""`step` with pairs that step as springs would."""


def _both_sides(
    space: JointSpace | Unknowns, matrix: np.ndarray, free: np.ndarray, normals: np.ndarray | None
) -> np.ndarray:
    once = restrict(space, matrix, free, normals)
    return restrict(space, np.swapaxes(once, -1, -2), free, normals)


class Extension(Model):
    """The Jacobian of the error rows, with the pairs' rows as the metric of the step."""

    def __init__(self, tasks: Tasks, space: JointSpace, settings: Settings) -> None:
        super().__init__(tasks, space, settings)
        if tasks not in _pairs_of:
            _pairs_of[tasks] = Pairs(tasks, space)
        self._pairs = _pairs_of[tasks]
        plain = np.where(space.turns, 1.0, tasks.length**-2.0)
        self._stiff = np.diag(np.maximum(settings.reluctance - plain, 0.0))

    def metric(self, point: Point) -> np.ndarray:
        """`E^T E` (F, n, n), the rows of stiff joints included."""
        return self._pairs.normal_matrix(point.state, point.kinematics) + self._stiff


class Pairs:
    """The rows `E`, three for each end of each pair and three for each pair's rotation.

    A row has entries for its pair's degrees of freedom only, so the rows are stored as small blocks.

    Attributes
    ----------
    joints : (R,) second joint of the pair of each three rows; rows of positions come first.
    dofs : (R, W) degrees of freedom of each three rows. inside : (R, W) which of these exist; pairs may have fewer.
    """

    def __init__(self, tasks: Tasks, space: JointSpace) -> None:
        skeleton, self.space, self._length = tasks.skeleton, space, tasks.length
        count = len(skeleton)
        blocks = {int(space.joint[block.start]): block for block in space.blocks}
        mover = np.full(count + 1, -1, dtype=np.intp)  # the nearest joint, itself or above, that may move
        for joint in skeleton.order:
            mover[joint] = joint if joint in blocks else mover[skeleton.parent[joint]]
        above = {joint: int(mover[skeleton.parent[joint]]) for joint in blocks}
        # (joint, end of its segment, joint that carries the end); ends count joints first, then effectors
        ends = [(above[joint], joint, joint) for joint in blocks if above[joint] >= 0]
        ends += [(int(mover[j]), count + g, int(j)) for g, j in enumerate(tasks.joint) if mover[j] >= 0]
        self.joints = np.array([joint for joint, _, _ in ends] + list(blocks), dtype=np.intp)
        self._placed = len(ends)
        empty = slice(0, 0)
        columns = [[*_indices(blocks.get(above[j], empty)), *_indices(blocks[j])] for j in map(int, self.joints)]
        width = max(map(len, columns), default=1)
        self.dofs = np.array([row + [0] * (width - len(row)) for row in columns], dtype=np.intp).reshape(-1, width)
        self.inside = np.array([[k < len(row) for k in range(width)] for row in columns], dtype=bool)
        self.inside = self.inside.reshape(-1, width)
        self._joint = space.joint[self.dofs]
        self._turns = space.turns[self.dofs]
        at, point = self.dofs[: self._placed], np.array([end for _, end, _ in ends], dtype=np.intp)[:, None]
        self._lever = np.tile(point, (1, width))
        if skeleton.detached:
            levers = skeleton.levers(np.array([carrier for _, _, carrier in ends], dtype=np.intp), space.joint)
            levers = np.take_along_axis(levers, at, axis=1)
            self._lever = np.where(levers >= 0, levers, point)
        # a rotation of a detached segment does not follow from joints above it
        same = skeleton.segment[self.joints][:, None] == skeleton.segment[self._joint]
        self._rotates = ROTATION_LENGTH * (same & self._turns & self.inside)[self._placed :, :, None]
        self._slot = self.dofs[:, :, None] * space.n + self.dofs[:, None, :]

    def rows(self, state: State, kinematics: Kinematics) -> np.ndarray:
        """The rows as transposed blocks (F, R, W, 3), in the skeleton's frame, on which their squares do not depend."""
        axes = np.swapaxes(self.space.rows(self.space.axes(state, kinematics.matrices)), -1, -2)[:, self.dofs]
        points = np.concatenate([kinematics.positions, kinematics.effectors], 1)
        split = self._placed
        arms = points[:, self._lever] - kinematics.positions[:, self._joint[:split]]
        moved = np.where(self._turns[:split, :, None], quaternion.cross(axes[:, :split], arms), axes[:, :split])
        moved *= self.inside[:split, :, None] / self._length
        return np.concatenate([moved, axes[:, split:] * self._rotates], 1)

    def normal_matrix(self, state: State, kinematics: Kinematics) -> np.ndarray:
        """`E^T E` (F, n, n)."""
        rows, n = self.rows(state, kinematics), self.space.n
        local = rows @ np.swapaxes(rows, -1, -2)
        slots = self._slot.ravel()
        whole = [np.bincount(slots, part.ravel(), n * n) for part in local]
        return np.array(whole).reshape(len(rows), n, n)


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """The outer iteration with the extension that the options ask for.

    A criterion follows descents without a pull, in frames that these bring to their goals. Where there is a pull, the
    last descent is such a one.
    """
    extension = settings.options.extension
    descent = damped(spring_step if extension == "SPRINGS" else step, Extension)
    minimum = descent(tasks, space, settings, start, frames)
    if extension not in ("POSTURE", "MANIPULABILITY") or settings.pull or not space.n:
        return minimum
    minimum.point = minimum.point.copy()
    options = settings.options
    for frame in np.arange(len(start.error))[:, None]:
        one = frames.take(frame)
        criterion = (
            NearBase(space, one.base, settings.weights) if extension == "POSTURE"
            else Manipulability(tasks, space, one)
        )  # fmt: skip
        least, taken = SelfMotion(tasks, space, criterion, one).least(
            minimum.point.take(frame), options.tolerance, options.rotation_tolerance, options.iterations
        )
        minimum.point.put(frame, least)
        minimum.iterations[frame] += taken
    return minimum


_pairs_of: WeakKeyDictionary[Tasks, Pairs] = WeakKeyDictionary()  # kept here because a model lasts for one descent only


def _indices(block: slice) -> range:
    return range(block.start, block.stop)


METHOD = Method(minimise, continues=True)
