# SPDX-License-Identifier: GPL-3.0-or-later
"""What a foot rolls about, and how a roll moves it: over the ball and the tip of the toes, or over the heel.

With the heel up, the foot turns about the joint of its toes, which stay flat, up to `BEND`; beyond that, foot and toes
turn about the tip of the toes. With the toes up, both turn about the heel. A foot without toes turns about its ball.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import nearest_axis, unit
from . import ends, skin
from .body import RestBody
from .character import Character
from .parts import LEFT, RIGHT, Role
from .roles import Figure

BEND = np.radians(45.0)  # how far toes bend before the foot turns about their tip
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle
_LONGEST = 0.22  # of the leg: how far ahead of the ankle the ball of a foot may be
_USUAL, _PERSONS = 0.165, 0.076  # of the leg, or of a person's height: how far ahead it usually is
_SHORT = 0.05  # of the leg: a foot of which less is ahead of the ankle points down along its shin
_REACH, _SMALL = 0.5, 0.05  # of the leg: skin of a foot is no further from the ankle, and a sole is longer
_FEWEST = 16  # vertices from which a sole is measured
_SOLE, _THICK = 0.3, 0.03  # of the ankle's height, at least of the leg: vertices lower than this are those of the sole
_TOES = 0.3  # of the way from the ankle to the tip: the joint of the toes is further ahead
_BALL = 0.75  # of the way from the heel to the tip of a foot without toes: its ball


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


def of(ob: bpy.types.Object, own: Character, bone: int) -> Foot | None:
    """What the foot of a figure rolls about, in armature space; None for a bone that is no foot.

    Its sole is that of the mesh. Without one, the joint of its toes tells it, and the ends of its bones as far as these
    can be trusted (`ends`).
    """
    armature, figure, body = own.armature, own.figure, own.body
    role = figure.role(bone)
    if role is None or role.name != "foot":
        return None
    up, toes = _up(body, figure), body.bone("toes", role.side)
    ankle, size = armature.heads[bone], _leg(body, role.side, bone)
    joint = _ball(body, bone, size, up) if toes is None else armature.heads[toes]
    tip = joint if toes is None else ends.of(body, toes)
    low = [ankle, joint]
    if toes is not None:
        low += [armature.tails[one] for one in (bone, toes) if ends.is_known(body, one)]
    ground = min(float(point @ up) for point in low)
    heel, ball, tip = (point + (ground - point @ up) * up for point in (ankle - _BEHIND * (joint - ankle), joint, tip))
    sole = _sole(ob, own, bone, up, size)
    if sole is not None:
        known = armature.tails[bone] if toes is None else joint
        heel, ball, tip = _on_sole(sole, up, ankle, known, (heel, ball, tip))
        joint = ball if toes is None else joint
    axis = unit(quaternion.cross(up, ball - heel))
    return Foot(heel, ball, tip, ball if toes is None else joint, axis, -1 if toes is None else toes)


def _up(body: RestBody, figure: Figure) -> np.ndarray:
    """The axis (3,) of the armature along which a figure stands: that of its trunk, of an animal that of its legs.

    Figures that lean stand on level ground too.
    """
    heads, lines = body.armature.heads, list[np.ndarray]()
    for side in (LEFT, RIGHT):
        thigh, foot, loose = body.bone("thigh", side), body.bone("foot", side), figure.loose_end(Role("foot", side))
        end = next((bone for bone in (foot, loose, body.bone("shin", side)) if bone is not None), None)
        if thigh is not None and end is not None:
            lines.append(heads[thigh] - heads[end])
    return nearest_axis(body.up if body.human or not lines else np.sum(lines, axis=0))


def _forward(body: RestBody, up: np.ndarray) -> np.ndarray:
    """The level direction (3,) in which a figure goes: the trunk of an animal leads there."""
    ahead = body.forward if body.human else body.up
    return unit(ahead - up * (up @ ahead))


def _leg(body: RestBody, side: str, foot: int) -> float:
    """The length of a leg from hip to ankle; without one a share of the figure's size."""
    thigh = body.bone("thigh", side)
    return 0.5 * body.armature.tree.size if thigh is None else body.way(thigh, foot)


def _ball(body: RestBody, bone: int, leg: float, up: np.ndarray) -> np.ndarray:
    """The ball (3,) of a foot without toes: where its bone ends, unless that is further ahead than its leg allows.

    A bone that points on along its shin ends at the sole, below the ankle.
    """
    ankle, tail = body.armature.heads[bone], ends.of(body, bone)
    line = tail - ankle
    ahead = float(np.linalg.norm(line - up * (up @ line)))
    usual = _PERSONS * body.height if body.human else _USUAL * leg
    if ahead < _SHORT * leg:
        return tail + usual * _forward(body, up)
    known = ends.is_known(body, bone) and ahead <= _LONGEST * leg
    return tail if known else ankle + line * (usual / ahead)


def _sole(
    ob: bpy.types.Object, own: Character, bone: int, up: np.ndarray, leg: float
) -> np.ndarray | None:  # fmt: skip
    """The vertices (n, 3) of the sole of a foot at rest, those of its skin that are low; None without such a skin."""
    armature, points = own.armature, skin.points(ob, own)
    parts = [points[one] for one in (bone, *armature.tree.below(bone)) if one in points]
    skinned = np.concatenate(parts) if parts else np.zeros((0, 3))
    ankle = armature.heads[bone]
    near = skinned[np.linalg.norm(skinned - ankle, axis=-1) < _REACH * leg]
    if len(near) < _FEWEST:
        return None
    high = near @ up
    low = near[high < high.min() + max(_SOLE * (float(ankle @ up) - high.min()), _THICK * leg)]
    if 2 * len(low) < _FEWEST or np.ptp(low - np.outer(low @ up, up), axis=0).max() < _SMALL * leg:
        return None
    return low


def _on_sole(
    sole: np.ndarray, up: np.ndarray, ankle: np.ndarray, joint: np.ndarray,
    bare: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Heel, ball and tip (3,) on the vertices of a sole, along the line from heel to ball.

    joint : of the toes, or the tail of a foot without, which is the ball if it is on the sole, before the ankle. bare :
    the three points as the bones have them.
    """
    ahead = bare[1] - bare[0]
    ahead = unit(ahead - up * (up @ ahead))
    middle = sole.mean(axis=0) - ankle
    if not ahead.any():
        ahead = unit(middle - up * (up @ middle))
    ground, along = float((sole @ up).min()), (sole - ankle) @ ahead
    first, last = float(along.min()), float(along.max())
    base = ankle + up * (ground - ankle @ up)
    over = float((joint - ankle) @ ahead)
    if not max(first, _TOES * last) < over <= last:
        over, joint = first + _BALL * (last - first), ankle
    side = (joint - base) - ahead * ((joint - base) @ ahead)
    ball = base + ahead * over + side - up * (up @ side)
    return base + ahead * min(first, 0.0), ball, base + ahead * max(last, float((ball - base) @ ahead))


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
