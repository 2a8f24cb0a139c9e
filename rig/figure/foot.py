# SPDX-License-Identifier: GPL-3.0-or-later
"""What a foot rolls about, and how a roll moves it: over the ball and the tip of the toes, or over the heel.

With the heel up, the foot turns about the joint of its toes, which stay flat, up to `BEND`; beyond that, foot and toes
turn about the tip of the toes. With the toes up, both turn about the heel. A foot without toes turns about its ball.
"""

from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion
from ..blender.armature import Armature
from .body import RestBody
from .directions import unit
from .roles import Figure

BEND = np.radians(45.0)  # how far toes bend before the foot turns about their tip
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle


class Foot(NamedTuple):
    """What a foot rolls about at rest: points (3,), and the unit axis (3,) about which its heel rises.

    heel, ball, tip : on the ground; the tip is that of the toes. joint : of the toes; the ball where there are none.
    toes : the bone of the toes, or -1.
    """

    heel: np.ndarray
    ball: np.ndarray
    tip: np.ndarray
    joint: np.ndarray
    axis: np.ndarray
    toes: int

    def seen_from(self, axes: np.ndarray, origin: np.ndarray) -> "Foot":
        """In a frame with some axes, the columns of (3, 3), at an origin (3,)."""
        heel, ball, tip, joint = (axes.T @ (point - origin) for point in self[:4])
        return Foot(heel, ball, tip, joint, axes.T @ self.axis, self.toes)


class Turn(NamedTuple):
    """A motion that takes a point to `offset` + `turn` * point."""

    offset: np.ndarray
    turn: np.ndarray

    def after(self, other: "Turn") -> "Turn":
        """First the other one, then this."""
        moved = self.offset + quaternion.rotate(self.turn, other.offset)
        return Turn(moved, quaternion.product(self.turn, other.turn))


def of(armature: Armature, figure: Figure, bone: int) -> Foot | None:
    """What the foot of a figure rolls about, in armature space; None for a bone that is no foot."""
    role = figure.roles.get(bone)
    if role is None or role.name != "foot":
        return None
    body = RestBody(armature, figure)
    up, toes = _axis(body.up), body.bone("toes", role.side)
    ankle = armature.heads[bone]
    joint = armature.tails[bone] if toes is None else armature.heads[toes]
    tip = joint if toes is None else armature.tails[toes]
    ends = [part[one] for part in (armature.heads, armature.tails) for one in (bone, *([] if toes is None else [toes]))]
    ground = min(float(end @ up) for end in ends)
    heel, ball, tip = (point + (ground - point @ up) * up for point in (ankle - _BEHIND * (joint - ankle), joint, tip))
    axis = unit(quaternion.cross(up, ball - heel))
    return Foot(heel, ball, tip, ball if toes is None else joint, axis, -1 if toes is None else toes)


def angles(foot: Foot, roll: float) -> tuple[float, float]:
    """A roll's angle over the joint of the toes, which bends them, and that of foot and toes together [rad]."""
    bend = min(max(roll, 0.0), BEND if foot.toes >= 0 else np.inf)
    return bend, roll - bend


def together(foot: Foot, roll: float) -> Turn:
    """How a roll moves the toes, and the foot with them: about their tip or the heel, in the foot's frame."""
    return _about(foot.tip if roll > 0.0 else foot.heel, foot.axis, angles(foot, roll)[1])


def rolled(foot: Foot, roll: float) -> Turn:
    """How a roll moves the foot, in its frame."""
    return together(foot, roll).after(_about(foot.joint, foot.axis, angles(foot, roll)[0]))


def _about(point: np.ndarray, axis: np.ndarray, angle: float) -> Turn:
    turn = quaternion.exp(angle * axis)
    return Turn(point - quaternion.rotate(turn, point), turn)


def _axis(up: np.ndarray) -> np.ndarray:
    """The axis (3,) of the armature that is nearest to a direction: figures that lean stand on level ground too."""
    number = int(np.abs(up).argmax())
    return np.eye(3)[number] * np.sign(up[number])
