# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure.

The ranges, in `parts.PARTS`, are those of the American Academy of Orthopaedic Surgeons ("AAOS" in docs/references.md).
They are active ranges of single joints in one plane; knees, hips, ankles, trunk and neck go further where people squat,
sit on the ground or look up, as other sources have measured ("Limits of motion" there). The collar bone has about half
of Neumann's, which are those of a shrug: reaching turns it by less than 20 degrees. Ranges are given in anatomical
directions such as "forward" or "toward the midline". The axes of bones differ from rig to rig, so the ranges are
converted in the rest pose, from the figure's left, up and forward and the directions of its limbs, from joint to joint.
Limits are about a bone's own axes where these fit the joint, and else in a frame of their own (`limit_frame`). They are
simpler than real joints: an ellipse of swing, equal for both sexes and any age.
"""

from dataclasses import dataclass

import numpy as np

from ...solvers.algebra import quaternion, twist_swing
from ...solvers.rest import BEND, unit
from ..blender.limit_frame import LimitFrame
from .body import RestBody
from .parts import BendRange, JointRange, Role, TwistRange

ALIGNED = np.radians(20.0)  # a bend axis this near to the bone's X or Z axis is rounded to it
_ALONG = np.radians(5.0)  # a bone's Y axis this near to its limb is rounded to it
_DEGENERATE = 0.3  # sine of the angle to a direction below which a bone cannot bend toward it
_MARGIN = np.radians(1.0)  # the rest pose is inside the limits by this

FREE_FOOT = JointRange(BendRange("UF", 90, 170), BendRange("O", 130, 130), TwistRange("U", "I", 180, 180))
"""A foot's range in a figure without human limits. Up it is human, so that a crouch does not fold feet to the shin. But
a foot that is raised behind the body, and stays flat, is further down than any ankle allows: with a human range there,
its knee would jump to a bend the other way."""


@dataclass(frozen=True)
class Fit:
    """Limits of a bone: `lo` and `hi` of twist, swing X and swing Z [rad] in a frame.

    preferred : the bend that a straight hinge prefers, a rotation vector in the bone's own axes.
    """

    lo: np.ndarray
    hi: np.ndarray
    frame: LimitFrame
    preferred: np.ndarray


class Anatomy:
    """Converts the ranges of human joints to limits of the bones of one figure."""

    def __init__(self, body: RestBody) -> None:
        self.body = body

    def fit(self, bone: int, role: Role, joint: JointRange | None = None) -> Fit | None:
        """The limits of a bone; None if the direction of its limb is not known. joint : None for that of people."""
        body, joint, share = self.body, joint or role.part.range, self.body.share(role)
        along = body.along(bone)
        if along is None or joint is None:
            return None
        turned, rest = body.posture(role), body.armature.rest[bone, :3, :3]
        along = turned @ along
        axis, bent = self._bend(bone, along, joint, role)
        ranges = np.radians([self._range(along, motion, role.side) for motion in (joint.bend, joint.across)]) * share
        if joint.hinge:
            ranges[0] += (-bent, bent)
        across = np.cross(axis, along)
        if across @ np.cross(along, body.direction(joint.across.toward, role.side)) < 0.0:
            across = -across
        twist = np.radians(self._twist(along, joint.twist, role.side)) * share
        axes, local = _axes(turned @ rest, along, axis, across)
        swing = _signed(local, np.maximum(ranges, 0.0))
        lo, hi = 0.0 - np.array([twist[1], *swing[:, 1]]), np.array([twist[0], *swing[:, 0]])
        zero = rest.T @ body.own_posture(role) @ rest
        frame = LimitFrame(quaternion.from_matrix(axes), quaternion.from_matrix(zero))
        preferred = np.zeros(3)
        if joint.hinge and 0.0 <= bent < BEND:
            preferred = axes @ np.insert((BEND - bent) * local[0], 1, 0.0)
        lo, hi = with_rotation(frame, quaternion.IDENTITY, lo, hi)
        return Fit(np.maximum(lo, -np.pi), np.minimum(hi, np.pi), frame, preferred)

    def _bend(self, bone: int, along: np.ndarray, joint: JointRange, role: Role) -> tuple[np.ndarray, float]:
        """The unit axis of a bone's main bend, and for a hinge its angle at rest."""
        body = self.body
        if joint.hinge:
            return body.hinge(bone)
        axis = np.cross(along, body.direction(joint.bend.toward, role.side))
        if np.linalg.norm(axis) < _DEGENERATE:
            axis = np.cross(along, body.forward if abs(along @ body.forward) < 0.9 else body.up)
        return unit(axis), 0.0

    def _range(self, along: np.ndarray, motion: BendRange, side: str) -> tuple[float, float]:
        """The range in degrees from the rest pose, toward the direction and away from it."""
        if not motion.neutral:
            return motion.most, motion.least
        toward, neutral = (self.body.direction(letters, side) for letters in (motion.toward, motion.neutral))
        toward = unit(toward - neutral * (toward @ neutral))
        there = float(np.degrees(np.arctan2(along @ toward, along @ neutral)))
        return motion.most - there, motion.least + there

    def _twist(self, along: np.ndarray, twist: TwistRange, side: str) -> tuple[float, float]:
        """The range of twist in degrees, in the positive and the negative direction."""
        around = np.cross(along, self.body.direction(twist.side, side))
        positive = around @ self.body.direction(twist.toward, side) >= 0.0
        return (twist.most, twist.least) if positive else (twist.least, twist.most)


def _axes(rest: np.ndarray, along: np.ndarray, axis: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The axes (3, 3) of a bone's limits, as columns in its own axes, and the axes (2, 2) of both bends in X and Z.

    rest : the bone's axes. They are the limits' too, if Y is near to the limb and X or Z near to the bend's axis.
    """
    local = np.array([rest[:, (0, 2)].T @ axis, rest[:, (0, 2)].T @ across])
    nearest = int(np.abs(local[0]).argmax())
    off = np.arccos(np.clip(abs(local[0, nearest]), 0.0, 1.0))
    if rest[:, 1] @ along < np.cos(_ALONG) or off > ALIGNED:
        return rest.T @ np.column_stack([axis, along, np.cross(axis, along)]), np.array(
            [[1.0, 0.0], [0.0, np.sign(across @ np.cross(axis, along))]]
        )
    rounded = np.zeros((2, 2))
    rounded[0, nearest] = np.copysign(1.0, local[0, nearest])
    rounded[1, 1 - nearest] = np.copysign(1.0, local[1, 1 - nearest])
    return np.eye(3), rounded


def _signed(local: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """The reach (2, 2) about X and Z, in positive and negative direction.

    local : axes (2, 2) of the two bends, each +-X or +-Z. ranges : (2, 2) of each [rad], positive and negative.
    """
    swing = np.empty((2, 2))
    for part, both in zip(local, ranges, strict=True):
        axis = int(np.abs(part).argmax())
        swing[axis] = both if part[axis] > 0.0 else both[::-1]
    return swing


def with_rotation(
    frame: LimitFrame, q: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Limits widened so that a rotation `q` (4,) from rest is inside: figures rest and stand where people cannot."""
    x = twist_swing.coordinates(frame.motion(q))
    outside = np.abs(x) > _MARGIN
    return np.where(outside, np.minimum(lo, x - _MARGIN), lo), np.where(outside, np.maximum(hi, x + _MARGIN), hi)
