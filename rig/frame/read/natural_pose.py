# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose in the frame step: a learnt prior turns the animator's pose to the one that a solve is pulled to.

Bones with keys, bones that are locked or left to constraints, and bones that no goal moves keep the animator's pose.
Held bones keep it as far as they are held. The base pose in the memory of the pose does not change.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ....solvers import Pose
from ....solvers.compiled import CompiledPrior
from ....solvers.figure import RestFigure, own_motion
from ....solvers.model import Targets
from ...notes import Note
from ...skeleton import natural_figure
from ...skeleton.rig import Rig


class Shaping(NamedTuple):
    """A prior and how much it counts: its amount, also (F,), and the share of what was learnt in it, both 0 to 1."""

    prior: CompiledPrior
    amount: float | np.ndarray
    share: float

    def shape(self, posed: Pose, links: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, J, 4) of the starts of F frames but for their roots, and where the targets are, (F, G, 3).

        posed : the animator's poses. Where there is nothing to shape, the arrays are those that were given.
        """
        return self.prior.shaped(posed, targets, links, self.amount, self.share)


class NaturalPose:
    """The prior of an armature, prepared for its rig. Only its own methods change it.

    Attributes
    ----------
    prior : None where it does not know the figure. refusal : why it does not; None if it does.
    notes : about what is left out of it.
    """

    def __init__(self) -> None:
        self.prior: CompiledPrior | None = None
        self.refusal: Note | None = None
        self.notes: list[Note] = []
        self._rig: Rig | None = None
        self._unkeyed = b""
        self._own = ""
        self._figure: RestFigure | None = None

    def look(self, ob: bpy.types.Object, rig: Rig, by_keys: np.ndarray, edited: bool) -> Shaping | None:
        """Read the settings of an evaluated object: how its natural pose shapes the present frame, None for not at all.

        Prepares the prior again if what it depends on has changed. by_keys : (N,) as `holds.by_keys` has it.
        """
        settings, unkeyed = ob.dqik, 1.0 - by_keys[rig.solved_bones]
        other = rig is not self._rig or unkeyed.tobytes() != self._unkeyed
        if other or (edited and settings.own_motion != self._own):
            self._prepare(settings.own_motion, rig, unkeyed)
        amount, share = settings.natural_pose, settings.own_motion_share
        if self.prior is None or not amount > 0.0:  # a script can store NaN, which is not above 0
            return None
        return Shaping(self.prior, amount, share if share > 0.0 else 0.0)

    def whole(self) -> CompiledPrior | None:
        """The prior without its own motion, as it is where no bone has keys or is held; None as `prior`."""
        if self._figure is None or self._rig is None:
            return None
        return CompiledPrior(self._figure, freedom=turnable(self._rig).astype(float))

    def _prepare(self, learnt: str, rig: Rig, unkeyed: np.ndarray) -> None:
        """Prepare the prior for a rig. learnt : of this armature's actions, as text. unkeyed : as for `freedom`."""
        same = self._rig is not None and rig.plan is self._rig.plan
        if not same:
            found = natural_figure.figure(rig)
            self._figure, self.refusal = (None, found) if isinstance(found, Note) else (found, None)
        same &= learnt == self._own
        self._rig, self._unkeyed, self._own = rig, unkeyed.tobytes(), learnt
        if same and self.prior is not None:
            self.prior = self.prior.with_freedom(freedom(rig, unkeyed))
            return
        self.prior, self.notes = None, []
        if self._figure is not None:
            own = own_motion.from_text(learnt) if learnt else None
            if learnt and own is None:
                self.notes = [Note("What was learnt from actions is damaged and left out: run Learn from "
                                   "Actions again")]
            self.prior = CompiledPrior(self._figure, freedom=freedom(rig, unkeyed), own=own)


def freedom(rig: Rig, unkeyed: np.ndarray) -> np.ndarray:
    """How far (J,) the natural pose may turn each joint, 0 to 1. unkeyed : (S,) how far keys do not decide on these."""
    skeleton = rig.skeleton
    found = np.zeros(len(skeleton))
    found[rig.solved_joints] = unkeyed * (1.0 - skeleton.hold[rig.solved_joints])
    return np.where(turnable(rig), found, 0.0)


def turnable(rig: Rig) -> np.ndarray:
    """Whether (J,) the natural pose may turn each joint if it has no keys and is not held."""
    solved = np.zeros(len(rig.skeleton), dtype=bool)
    solved[rig.solved_joints] = True
    return solved & (rig.skeleton.stiffness < 1.0)
