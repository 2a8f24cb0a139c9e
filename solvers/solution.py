# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve is asked with and what it answers: `Options`, `Solution`, and the batches behind them."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from .errors import InvalidOptions
from .skeleton import Pose


@dataclass(frozen=True)
class Options:
    """How hard a solve tries.

    Parameters
    ----------
    iterations : at most so many steps a frame, over all stages of the solve but not its restarts.
    tolerance : [length units] a position closer than this is met.
    rotation_tolerance : [rad] a rotation closer than this is met.
    damping : None adapts it (Levenberg-Marquardt); a number is what it starts from and the least it takes.
    restarts : further attempts where a cold solve does not converge: from the middle of the limits, then at random.
    seed : of the random restarts.
    pull : strength of the weak pull toward the start pose with its preferred bends, which picks the nearest of many
        answers and lets frames solved afresh move continuously. 0 for none; None for 1e-5 where a joint prefers a
        bend, else 0.
    warm_start : in `solve_frames`, start each frame from the one before rather than from the given pose.
    """

    iterations: int = 50
    tolerance: float = 1e-4
    rotation_tolerance: float = 1e-3
    damping: float | None = None
    restarts: int = 0
    seed: int = 0
    pull: float | None = None
    warm_start: bool = True

    def __post_init__(self) -> None:
        for name, least in [("iterations", 0), ("restarts", 0), ("seed", 0)]:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InvalidOptions(f"options.{name} = {value!r}; expected a whole number, {least} or more")
        for name in ("tolerance", "rotation_tolerance", "damping", "pull"):
            value = getattr(self, name)
            if value is None and name in ("damping", "pull"):
                continue
            if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
                raise InvalidOptions(f"options.{name} = {value!r}; expected a number, 0 or more")


@dataclass(frozen=True)
class Solution:
    """The answer of a solve.

    Attributes
    ----------
    pose : the joints' motions, inside the limits.
    position_errors : (G,) distances from the goals [length units], 0 where none was asked for.
    rotation_errors : (G,) angles from the goals [rad], the short way.
    iterations : steps taken. converged : whether every goal is met to its tolerance.
    at_limit : (J,) joints of which a coordinate lies on a limit. seconds : time it took.
    """

    pose: Pose
    position_errors: np.ndarray
    rotation_errors: np.ndarray
    iterations: int
    converged: bool
    at_limit: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Batch:
    """The answers of F frames, as arrays with a leading axis of frames; fields as in `Solution`."""

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
