# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard a solve tries."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from .errors import InvalidOptions

BIASES = ("START", "MIDDLE")
OBJECTIVES = ("QV", "DQ")
ORDERS = ("TIP_TO_ROOT", "ROOT_TO_TIP")


@dataclass(frozen=True)
class Options:
    """How hard a solve tries.

    Parameters
    ----------
    iterations : at most so many steps a frame, over all stages of the solve but not its restarts.
    tolerance : [length units] a position closer than this is met.
    rotation_tolerance : [rad] a rotation closer than this is met.
    damping : None adapts it (Levenberg-Marquardt); a number is what it starts from and the least it takes.
    restarts : further attempts where a frame does not converge: from the middle of the limits, then at random; in a
        motion also from poses near the frame before, first of all. Without a pull, a few near ones are made in any case
        where a frame that follows another is missed, since it mostly has a joint on the wrong side of straight.
    restart_seconds : no more attempts begin in a frame once its restarts have taken so long; None: their number alone
        bounds them. How many there are then depends on the machine.
    seed : of the random restarts.
    pull : strength of the weak pull toward the start pose with its preferred bends, which picks the nearest of many
        answers and lets frames solved afresh move continuously. 0 for none; None for 1e-5 where a joint prefers a
        bend or is held (`Joint.hold`), or `bias` is "MIDDLE", else 0.
    bias : where the pull leads: "START", to the start pose; "MIDDLE", to the middle of a joint's limits where it has
        some, to the start elsewhere. Joints that prefer a bend have it either way. How much of the way each joint
        goes is a matter of its stiffness.
    objective : what SQP minimises where a goal asks for both a position and a rotation: "QV" their errors side by side,
        "DQ" the screw that leads to the target, the dual quaternion's logarithm (Amino).
    order : in which CCD visits the joints: "TIP_TO_ROOT" or "ROOT_TO_TIP".
    unit_angle : [rad] asks CCD to follow MikuMikuDance's rule, position by position, with `iterations` for its loop
        count: the k-th link turns by k times this at most in one visit. None: each joint turns as far as is best. Its
        start is the pose that is given with `pull` 0, and with `warm_start` off.
    warm_start : in `solve_frames`, start each frame from the one before rather than from the given pose.

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

    def __post_init__(self) -> None:
        for name, least in [("iterations", 0), ("restarts", 0), ("seed", 0)]:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InvalidOptions(f"options.{name} = {value!r}; expected a whole number, {least} or more")
        for name in ("tolerance", "rotation_tolerance", "damping", "pull", "restart_seconds"):
            value = getattr(self, name)
            if value is None and name in ("damping", "pull", "restart_seconds"):
                continue
            if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
                raise InvalidOptions(f"options.{name} = {value!r}; expected a number, 0 or more")
        angle = self.unit_angle
        if angle is not None and (not isinstance(angle, Real) or not 0.0 < float(angle) < np.inf):
            raise InvalidOptions(f"options.unit_angle = {angle!r}; expected a number above 0 [rad], or None")
        for name, choices in [("bias", BIASES), ("objective", OBJECTIVES), ("order", ORDERS)]:
            if getattr(self, name) not in choices:
                raise InvalidOptions(
                    f"options.{name} = {getattr(self, name)!r}; expected {' or '.join(map(repr, choices))}"
                )
