# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose in the frame step: a learnt prior turns the animator's pose to the one that a solve is pulled to.

Bones with keys, bones that are locked or left to constraints, and bones that no goal moves keep the animator's pose.
Held bones keep it as far as they are held. The base pose in the memory of the pose does not change.
"""

import bpy
import numpy as np

from ...solvers import Pose
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
        self.prior = None
        if self._figure is not None:
            own = own_motion.from_text(self._own) if self._own else None
            self.prior = Prior(self._figure, weights.load(), freedom(rig, free), own)

    def shape(self, frame_input: FrameInput) -> None:
        """Shape the start of a frame's solve, which is the animator's pose, carried along with its root."""
        posed = frame_input.posed
        if self.prior is None or self.amount == 0.0:
            return
        turned = self.prior.base(posed, frame_input.targets, frame_input.links, self.amount, self.share)
        if turned is posed.rotations:
            return
        carried = frame_input.start
        for _, joint, *_ in frame_input.rig.root_goals:
            turned[:, joint] = carried.rotations[:, joint]
        frame_input.start, frame_input.home = Pose(turned, carried.translations), carried.rotations


def freedom(rig: Rig, free: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """How far (J,) the natural pose may turn each joint, from 0 to 1. free : as for `NaturalPose.look`."""
    skeleton = rig.skeleton
    found = np.zeros(len(skeleton))
    unkeyed = free[0][rig.solved_bones].all(-1)
    found[rig.solved_joints] = np.where(unkeyed, 1.0 - skeleton.hold[rig.solved_joints], 0.0)
    found[skeleton.stiffness >= 1.0] = 0.0
    return found
