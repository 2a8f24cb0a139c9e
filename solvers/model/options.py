# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a solve."""

from dataclasses import dataclass

import numpy as np

from .errors import InvalidOptions
from .numbers import LARGEST, is_flag, is_whole, number, shown

BIASES = ("START", "MIDDLE")
OBJECTIVES = ("QV", "DQ")
EXTENSIONS = ("PAIRS", "SPRINGS", "POSTURE", "MANIPULABILITY")
ORDERS = ("TIP_TO_ROOT", "ROOT_TO_TIP")


@dataclass(frozen=True)
class Options:
    """Options of a solve.

    Parameters
    ----------
    iterations : upper bound of the steps per frame, over all stages of the solve, but without its restarts and
        the further attempts at goals that are missed.
    tolerance : [length units] a position closer than this is met.
    rotation_tolerance : [rad] a rotation closer than this is met.
    damping : None adapts it (Levenberg-Marquardt); a number is its first value and lower bound.
    restarts : further attempts if a frame does not converge: from the middle of the limits, then from random poses; in
        a motion first from poses near the frame before. Without a pull, a frame of a motion that misses its goals
        makes a few near attempts even with 0, since mostly one joint is on the wrong side of straight.
    restart_seconds : a frame begins no attempt once its restarts have taken so long; None bounds them by their number
        only. With a time the number of attempts depends on the machine.
    seed : of the random restarts.
    pull : strength of the weak pull toward the start pose with its preferred bends, which picks the nearest of many
        answers and makes frames that are solved afresh move continuously. 0 for none; None for 1e-5 if a joint prefers
        a bend or is held (`Joint.hold`), or `bias` is "MIDDLE", else 0. `PINV`, `SVD`, `TSVD`, `SDLS`, `TRANSPOSE` and
        `ALTERNATIVE` follow it in the null space of the goals, where its strength hardly matters. `CCD`, `FABRIK` and
        `TWO_BONE` start from the pose that it leads to, and where they meet the goals, damped steps follow in the null
        space, of any strength and as far as `iterations` are left. `GAUSS_SEIDEL` may stop on the way.
    bias : the pose to which the pull leads: "START", the start pose; "MIDDLE", the middle of a joint's limits, and the
        start for joints without limits. Preferred bends count in both. Stiffness decides how far each joint moves.
    objective : what SQP minimises for a goal with both a position and a rotation: "QV" the two errors side by side,
        "DQ" the screw that leads to the target, the dual quaternion's logarithm (Amino).
    extension : the rows by which EXTENDED extends the Jacobian. "PAIRS": of pairs of neighbouring joints, which keep
        their shape; "SPRINGS": of pairs, which give way as springs would whose end is drawn to the goal, stiff joints
        less. "POSTURE" and "MANIPULABILITY" follow "PAIRS" by Baillieul's rows once the goals are met: of the poses
        that meet them they lead to the nearest to the base pose (as `bias` and the joints' gains have it), or to one
        from which the effectors move best in all directions.
    order : in which CCD visits the joints: "TIP_TO_ROOT" or "ROOT_TO_TIP".
    unit_angle : [rad] makes CCD follow MikuMikuDance's rule, with positions only and `iterations` as its loop count:
        the k-th link turns by at most k times this in one visit. None: each joint turns as far as is best. To start
        from the given pose like MikuMikuDance, set `pull` to 0 and `warm_start` off.
    warm_start : in `solve_frames`, start each frame from the answer of the one before instead of from `pose`.

    Examples
    --------
    >>> precise = ik.Options(tolerance=1e-6, iterations=100, restarts=5)
    >>> precise.tolerance, precise.damping
    (1e-06, None)
    """

    iterations: int = 50
    tolerance: float = 1e-4
    rotation_tolerance: float = 1e-3
    damping: float | None = None
    restarts: int = 0
    restart_seconds: float | None = None
    seed: int = 0
    pull: float | None = None
    bias: str = "START"
    objective: str = "QV"
    order: str = "TIP_TO_ROOT"
    unit_angle: float | None = None
    warm_start: bool = True
    extension: str = "PAIRS"

    def __post_init__(self) -> None:
        for name, most in [("iterations", LARGEST), ("restarts", LARGEST), ("seed", None)]:
            value = getattr(self, name)
            if not is_whole(value, 0, most):
                expected = f"at most {most}" if is_whole(value, 0, None) else "a whole number, 0 or more"
                raise InvalidOptions(f"options.{name} = {shown(value)}; expected {expected}")
            object.__setattr__(self, name, int(value))
        for name in ("tolerance", "rotation_tolerance", "damping", "pull", "restart_seconds"):
            value = getattr(self, name)
            if value is None and name in ("damping", "pull", "restart_seconds"):
                continue
            if not 0.0 <= number(value) < np.inf:
                raise InvalidOptions(f"options.{name} = {shown(value)}; expected a number, 0 or more")
        angle = self.unit_angle
        if angle is not None and not 0.0 < number(angle) < np.inf:
            raise InvalidOptions(f"options.unit_angle = {shown(angle)}; expected a number above 0 [rad], or None")
        if not is_flag(self.warm_start):
            raise InvalidOptions(f"options.warm_start = {shown(self.warm_start)}; expected True or False")
        for name, choices in [
            ("bias", BIASES), ("objective", OBJECTIVES), ("order", ORDERS), ("extension", EXTENSIONS),
        ]:
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise InvalidOptions(f"options.{name} = {shown(value)}; expected {' or '.join(map(repr, choices))}")
