# SPDX-License-Identifier: GPL-3.0-or-later
"""Pole tasks: one row for each pole, the angle between its chain's bend and the pole; see `poles`.

They are soft: they do not count for whether goals are met.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Targets
from ..joint_space import JointSpace, State
from ..poles import Pole, angles_and_gradients, swivel, swivel_share
from .kind import Kind
from .setup import Columns, Kinematics, Setup


class PoleTasks(Kind):
    """The pole tasks of a stage; see `Kind`.

    Attributes
    ----------
    poles : all poles. swivelling : poles whose chain's root is a ball that may move.
    """

    kind, name, size, unit = "REACH", "pole", 1, None
    data = (  # the chain that a pole bends; see Pole in solvers/space/poles.py
        ("int32", "goal root end middles", ""),
        ("int32[]", "middle", "(middles)"),
        ("double", "angle", ""),
        ("int32", "swivels", "whether its root may be turned to the pole: a ball that may move"),
        ("uint8[]", "moved", "(middles + 2, n) degrees of freedom that act on root, middles, end"),
    )

    def __init__(self, setup: Setup) -> None:
        self.poles = tuple(setup.poles)
        self.goals = np.array([pole.goal for pole in self.poles], dtype=np.intp)
        self.weights = np.array([pole.weight for pole in self.poles])
        self.acts = setup.moves[self.goals] > 0.0
        self._moved: list[np.ndarray] = []  # per pole and point (root, middle joints, end): (points, n)
        self._levers: list[np.ndarray] = []
        skeleton, joint = setup.skeleton, setup.space.joint
        for pole in self.poles:
            points = np.array([pole.root, *pole.middle, setup.joint[pole.goal] if pole.end < 0 else pole.end])
            self._moved.append(setup.moves[pole.goal] * skeleton.ancestors[points][:, joint])
            self._levers.append(skeleton.levers(points, joint))
        self._detached = bool(skeleton.detached)
        self.swivelling = [pole for pole in self.poles if skeleton.balls[pole.root] and pole.root in joint]

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Faded angles (F, poles, 1) [rad] from the bends to the poles."""
        return np.stack([-self._angle(pole, kinematics, targets)[0] for pole in self.poles], -1)[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, poles, n).

        A point X with gradient g gives `g . (u x (X - p)) = u . (X x g) + (p x u) . g`; for joints above a detached
        segment, X is the segment's head.
        """
        axes, moments = (np.swapaxes(part, -1, -2) for part in columns)
        for index, (pole, moved, levers) in enumerate(zip(self.poles, self._moved, self._levers, strict=True)):
            _, gradient = self._angle(pole, kinematics, targets)
            points = _points(pole, kinematics)
            shares = [gradient[:, 0], *[gradient[:, 1] / len(pole.middle)] * len(pole.middle), gradient[:, 2]]
            row = np.zeros(axes.shape[:2])
            for point, share, acts, lever in zip(points, shares, moved, levers, strict=True):
                at = point[:, None]
                if self._detached:
                    at = np.where((lever >= 0)[:, None], kinematics.positions[:, lever], at)
                torque = quaternion.cross(at, share[:, None])
                row += acts * ((axes * torque).sum(-1) + (moments @ share[..., None])[..., 0])
            out[:, index] = pole.weight * row

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        pole = self.poles[index]
        fields = {"goal": pole.goal, "root": pole.root, "end": pole.end, "middles": len(pole.middle),
               "middle": pole.middle, "angle": pole.angle, "swivels": pole in self.swivelling,
               "moved": self._moved[index]}  # fmt: skip
        return {"levers": self._levers[index], "data": fields}

    def _angle(self, pole: Pole, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        return angles_and_gradients(*_chain(pole, kinematics), targets.poles[:, pole.goal], pole.angle)


def turned_to_pole(
    space: JointSpace, state: State, kinematics: Kinematics, targets: Targets, pole: Pole, hold: float = 0.0,
    tolerance: float = 0.0,
) -> State:  # fmt: skip
    """`state` with a chain turned about its line so that its middle points at the pole; `kinematics` are of `state`.

    pole : one whose chain's root is a ball that may move. hold : 0 to 1, how far the chain is not turned if it is
    straight and may stay so. tolerance : [length units] of its goal.
    """
    root, rotations = pole.root, state.rotations.copy()
    a, m, b = _chain(pole, kinematics)
    nearer = np.linalg.norm(kinematics.effectors[:, pole.goal] - a, axis=-1)
    nearer -= np.linalg.norm(targets.positions[:, pole.goal] - a, axis=-1)
    kept = 1.0 - swivel_share(a, m, b, np.linalg.norm(b - a, axis=-1) - nearer + tolerance)
    rotations[:, root] = swivel(
        rotations[:, root], kinematics.matrices[:, root], a, m, b, targets.poles[:, pole.goal], pole.angle,
        1.0 - hold * kept,
    )  # fmt: skip
    return space.turned(state, rotations)


def _chain(pole: Pole, kinematics: Kinematics) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Root, middle and end (F, 3) of a pole's chain."""
    a, *middle, b = _points(pole, kinematics)
    return a, sum(middle, np.zeros_like(a)) / len(middle), b


def _points(pole: Pole, kinematics: Kinematics) -> list[np.ndarray]:
    """Root, middle joints and end (F, 3) of a pole's chain."""
    positions = kinematics.positions
    end = kinematics.effectors[:, pole.goal] if pole.end < 0 else positions[:, pole.end]
    return [positions[:, pole.root], *(positions[:, j] for j in pole.middle), end]
