# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets' rotations that turn with the limb above the goal's joint (`Goal.rotation_follows`).

A limb that has turned by `C` from rest, its lowest joint from the orientation `P0` to `P = C P0`, carries a target's
rotation `R` to `C^f R`, where `f` is the goal's `rotation_follows`: with 1, a hand stands to its forearm as `R` stands
to the forearm at rest; with 0, `R` is a rotation in the skeleton's frame.
"""

from collections.abc import Sequence

import numpy as np

from ..algebra import quaternion
from .goals import Goal
from .skeleton import Skeleton


class Carry:
    """The goals of a solve whose rotations follow, K of them.

    Attributes
    ----------
    goals : (K,) their numbers. follows : (K,) shares of the way, above 0 to 1.
    limbs : (K,) joints above theirs, which carry the targets. back : (K, 4) inverse orientations of these at rest.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal]) -> None:
        following = [g for g, goal in enumerate(goals) if follows(skeleton, goal)]
        self.goals = np.array(following, dtype=np.intp)
        self.follows = np.array([goals[g].rotation_follows for g in following], dtype=float)
        self.limbs = np.array([skeleton.parent[goals[g].joint] for g in following], dtype=np.intp)
        rest = np.zeros((len(following), 4))
        if following:
            of_skeleton = skeleton.transforms(skeleton.rest_pose().rotations[None], None)[0, :, :4]
            for row, g in enumerate(following):
                own = goals[g].limb_rest
                rest[row] = of_skeleton[self.limbs[row]] if own is None else own
        self.back = quaternion.conjugate(quaternion.normalize(rest))

    def turns(self, rotations: np.ndarray) -> np.ndarray:
        """Rotation vectors (F, K, 3) by which limbs have turned from rest. rotations : (F, J, 4) of the joints."""
        return quaternion.log(quaternion.product(rotations[:, self.limbs], self.back))

    def carries(self, rotations: np.ndarray) -> np.ndarray:
        """Rotations (F, K, 4) that carry the targets: `C^f`. rotations : (F, J, 4) of the joints."""
        return quaternion.exp(self.follows[:, None] * self.turns(rotations))

    def carried(self, rotations: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Targets (F, G, 4) as the limbs carry them; those of other goals stay. rotations : (F, J, 4) of the joints."""
        if not self.goals.size:
            return targets
        found = np.array(np.broadcast_to(targets, (len(rotations), *targets.shape[1:])))
        found[:, self.goals] = quaternion.product(self.carries(rotations), targets[:, self.goals])
        return found

    def uncarried(self, rotations: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """The inverse of `carried`: the targets (F, G, 4) that limbs carry to these."""
        found = carried.copy()
        back = quaternion.conjugate(self.carries(rotations))
        found[:, self.goals] = quaternion.product(back, carried[:, self.goals])
        return found

    def rates(self, rotations: np.ndarray) -> np.ndarray:
        """`B` (F, K, 3, 3): a small turn `u` of the limb turns its target by `B u`. rotations : (F, J, 4).

        `B = f J_l(f v) J_l(v)^-1` for the limb's turn `v` from rest, of angle `t` about `a`: `f` along `a`, and in the
        plane across it a turn by `(f - 1) t / 2`, times `sin(f t / 2) / sin(t / 2)`.
        """
        turn, f = self.turns(rotations), self.follows
        angle = np.sqrt(np.maximum((turn * turn).sum(-1), quaternion.LEAST))
        axis = turn / angle[..., None]
        size, by = np.sin(0.5 * f * angle) / np.sin(0.5 * angle), 0.5 * (f - 1.0) * angle
        across = (size * np.cos(by))[..., None, None]
        along = axis[..., None] * axis[..., None, :]
        return (
            across * np.eye(3) + (size * np.sin(by))[..., None, None] * quaternion.skew(axis)
            + (f[:, None, None] - across) * along
        )  # fmt: skip


def follows(skeleton: Skeleton, goal: Goal) -> bool:
    """Whether the rotation of a resolved goal follows a limb: it asks for one, and there is a joint above its own."""
    return goal.has_turn and goal.rotation_follows > 0.0 and bool(skeleton.parent[goal.joint] >= 0)
