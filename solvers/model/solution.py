# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a solve: one frame's `Solution`, and the `Batch` of many frames."""

from dataclasses import dataclass

import numpy as np

from .skeleton import Pose


@dataclass(frozen=True)
class Solution:
    """The answer of a solve.

    Attributes
    ----------
    pose : the joints' motions, inside the limits.
    position_errors : (G,) distances from the goals [length units], 0 for goals without a position.
    rotation_errors : (G,) angles from the goals [rad], at most pi; 0 for goals without a rotation.
    iterations : steps taken. converged : whether every goal is met to its tolerance.
    at_limit : (J,) bool, joints with a coordinate on a limit. seconds : of the solve; a frame's share if frames were
        solved together.
    overlap : the deepest overlap of contacts [length units], beyond that of the rest pose; 0 for none.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> solution = ik.solve(arm, [ik.Goal("hand", position=(2, 0, 0))])  # out of reach
    >>> solution.converged, solution.position_errors.round(2).tolist(), solution.pose.rotations.shape
    (False, [1.0], (2, 4))
    """

    pose: Pose
    position_errors: np.ndarray
    rotation_errors: np.ndarray
    iterations: int
    converged: bool
    at_limit: np.ndarray
    seconds: float
    overlap: float = 0.0


@dataclass(frozen=True)
class Batch:
    """The answers of F frames, as arrays with a leading axis of frames; fields as in `Solution`.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> prepared = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> batch = prepared.solve_batch(prepared.targets([[(0.6, 0.8, 0)], [(0, 0, 1)]]), prepared.start(None))
    >>> batch.converged.tolist(), batch.rotations.shape
    ([True, True], (2, 2, 4))
    """

    rotations: np.ndarray  # (F, J, 4)
    translations: np.ndarray  # (F, J, 3)
    position_errors: np.ndarray  # (F, G)
    rotation_errors: np.ndarray  # (F, G)
    iterations: np.ndarray  # (F,)
    converged: np.ndarray  # (F,)
    at_limit: np.ndarray  # (F, J)

    def solution(self, frame: int, seconds: float) -> Solution:
        """One frame's answer."""
        return Solution(
            Pose(self.rotations[frame], self.translations[frame]), self.position_errors[frame],
            self.rotation_errors[frame], int(self.iterations[frame]), bool(self.converged[frame]),
            self.at_limit[frame], seconds,
        )  # fmt: skip

    def solutions(self, seconds: float) -> list[Solution]:
        """Every frame's answer; `seconds` is the time of each."""
        return [self.solution(frame, seconds) for frame in range(len(self.iterations))]
