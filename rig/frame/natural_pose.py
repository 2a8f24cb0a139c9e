# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose in the frame step: a learnt prior turns the animator's pose to the one that a solve is pulled to.

Bones with keys, bones that are locked or left to constraints, and bones that no goal moves keep the animator's pose.
Held bones keep it as far as they are held. The base pose in the memory of the pose does not change.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...solvers import Pose
from ...solvers.algebra import dual_quaternion
from ..natural_pose import figure as figures
from ..natural_pose import own_motion, weights
from ..natural_pose.figure import Figure
from ..natural_pose.prior import Prior
from ..setup.build import Rig
from .read import FrameInput

NOT_HUMAN = "Natural Pose knows people only"


class NaturalPose:
    """The prior of an armature, and how much it counts in the present frame. Only its own methods change it.

    Attributes
    ----------
    amount : of the natural pose, 0 to 1. share : of what was learnt from this armature's actions in it, 0 to 1.
    prior : prepared for the rig; None where it does not know the figure. refusal : one sentence that says why it does
    not; empty if it does.
    """

    def __init__(self) -> None:
        self.amount = self.share = 0.0
        self.prior: Prior | None = None
        self.refusal = ""
        self._rig: Rig | None = None
        self._free: object = None
        self._own = ""
        self._figure: Figure | None = None
        self._hips: Hips | None = None

    def look(self, ob: bpy.types.Object, rig: Rig, free: tuple[np.ndarray, np.ndarray], edited: bool) -> None:
        """Read the settings of an evaluated object, and prepare the prior again if what it depends on has changed.

        free : (N, 4) and (N, 3) bool, channels that nothing animates; other arrays if the animation has changed.
        """
        settings = ob.dqik
        self.amount, self.share = settings.natural_pose, settings.own_motion_share
        if rig is not self._rig:
            found = NOT_HUMAN if rig.figure.not_human else figures.figure(rig, rig.figure.roles, rig.armature)
            self._figure, self.refusal = (None, found) if isinstance(found, str) else (found, "")
        elif free is self._free and not (edited and settings.own_motion != self._own):
            return
        self._rig, self._free, self._own = rig, free, settings.own_motion
        self.prior = self._hips = None
        if self._figure is not None:
            own = own_motion.from_text(self._own) if self._own else None
            self.prior = Prior(self._figure, weights.load(), freedom(rig, free), own)
            self._hips = hips(rig, self._figure, free)

    def shape(self, frame_input: FrameInput) -> None:
        """Set the start of a frame's solve from the pose that keys and base pose give."""
        posed = frame_input.posed
        if self.prior is None or self.amount == 0.0:
            frame_input.start = posed
            return
        turned = self.prior.base(posed, frame_input.targets, frame_input.links, self.amount, self.share)
        moves = self._hips is not None
        frame_input.start = (
            self._hips.at_target(frame_input, turned, self.amount) if moves else Pose(turned, posed.translations)
        )


@dataclass(frozen=True)
class Hips:
    """Hips that may move and have a goal: solves start with them at their target, where the body is seen from.

    Otherwise legs would stretch for their targets before the hips come down, and knees could end on the wrong side.

    goal : its number. joint, slides : what turns them and what moves them, slides (3,). point : the goal's offset.
    axes : of the slides. freedom : as for `freedom`.
    """

    goal: int
    joint: int
    slides: np.ndarray
    point: Vector
    axes: list[Vector]
    freedom: float

    def at_target(self, frame_input: FrameInput, turned: np.ndarray, amount: float) -> Pose:
        """The pose with rotations `turned` (1, J, 4) and the hips moved toward their target, by an amount of 0 to 1."""
        posed, targets, share = frame_input.posed, frame_input.targets, amount * self.freedom
        first = frame_input.links[0, self.slides[0]]
        before, origin = Quaternion(first[:4]), Vector(dual_quaternion.translation(first))
        rotation = Quaternion(targets.rotations[0, self.goal]).normalized()
        away = before.inverted() @ (Vector(targets.positions[0, self.goal]) - rotation @ self.point - origin)
        rest = before @ Quaternion(frame_input.links[0, self.joint, :4])
        rotations, translations = turned.copy(), posed.translations.copy()
        own = Quaternion(turned[0, self.joint])
        rotations[0, self.joint] = own.slerp(rest.inverted() @ rotation, share)
        moved = np.array([axis * axis.dot(away) for axis in self.axes])
        translations[0, self.slides] += share * (moved - translations[0, self.slides])
        return Pose(rotations, translations)


def hips(rig: Rig, figure: Figure, free: tuple[np.ndarray, np.ndarray]) -> Hips | None:
    """The hips of a figure that has a goal for them, if they are a root and may move."""
    number = figure.hips.goal
    if number < 0:
        return None
    goal = rig.prepared.goals[number]
    row = int(np.flatnonzero(rig.main == goal.joint)[0])
    place = np.flatnonzero(rig.slide_row == row)
    if not place.size or not rig.rooted[row]:
        return None
    slide, bone = int(rig.slide_joint[place[0]]), rig.bones[row]
    may = min(float(freedom(rig, free)[goal.joint]), float(free[1][bone].all()))
    axes = [Vector(axis) for axis in rig.location_frame[row].T]
    return Hips(number, int(goal.joint), np.arange(slide, slide + 3), Vector(goal.offset), axes, may)


def freedom(rig: Rig, free: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """How far (J,) the natural pose may turn each joint, from 0 to 1. free : as for `NaturalPose.look`."""
    skeleton = rig.skeleton
    found = np.zeros(len(skeleton))
    unkeyed = free[0][rig.solved_bones].all(-1)
    found[rig.solved_joints] = np.where(unkeyed, 1.0 - skeleton.hold[rig.solved_joints], 0.0)
    found[skeleton.stiffness >= 1.0] = 0.0
    return found
