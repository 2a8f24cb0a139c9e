# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as they are seen from the figure's hips, whatever the rig's axes, place and size."""

from typing import NamedTuple

import numpy as np

from ...solvers import Pose
from ...solvers.algebra import dual_quaternion, quaternion
from .figure import Figure

TURNED = quaternion.MATRIX.reshape(16, 3, 3)
"""Times a line (3, 1): that line, turned, from all products of two of a turn's numbers."""


class View(NamedTuple):
    """Effectors from the hips, in canonical axes (left, up, forward), in F frames.

    places : (F, E, 3) from the middle of the hip joints. turns : (F, E, 4) away from rest; the identity for effectors
    without rotation. E counts the figure's limbs, then the head if it has a goal.
    """

    places: np.ndarray
    turns: np.ndarray


class Viewer:
    """Reads targets and poses of one figure."""

    def __init__(self, figure: Figure) -> None:
        heads = () if figure.head is None else (figure.head,)
        parts = [(limb.goal, limb.turned, limb.effector) for limb in figure.limbs]
        parts += [(head.goal, head.turned, head.joint) for head in heads]
        self._figure, self._hips = figure, figure.hips
        self.goals = np.array([goal for goal, _, _ in parts])
        self.joints = np.array([joint for _, _, joint in parts])
        self.offsets = np.array([figure.goals[goal].offset for goal in self.goals], dtype=float)
        self._placed = np.flatnonzero([not turned for _, turned, _ in parts])
        self.from_rest = quaternion.product(quaternion.conjugate(figure.rest[self.joints]), figure.axes)
        self.hips_from_rest = quaternion.product(quaternion.conjugate(figure.hips.rotation), figure.axes)
        self.inverse = quaternion.conjugate(figure.hips.rotation)
        self._centre = quaternion.rotate(quaternion.conjugate(figure.axes), figure.hips.offset)
        # from products of the hips' turn with itself to the matrix of the canonical axes, with targets' to turns
        matrices = TURNED @ quaternion.to_matrix(self.hips_from_rest)
        relative = quaternion.relative(np.eye(4)[:, None], np.eye(4)).reshape(16, 4)
        turned = quaternion.product(relative, self.from_rest[:, None])
        self._matrix = matrices.reshape(16, 9)
        self._relative = quaternion.product(quaternion.conjugate(self.hips_from_rest), turned)  # (E, 16, 4)

    def of_targets(self, positions: np.ndarray, rotations: np.ndarray, start: Pose, links: np.ndarray) -> View:
        """The targets (F, G, 3) and (F, G, 4); `start` and `links` tell where hips are that have no goal."""
        hips, rotations = self._hips, quaternion.normalize(rotations)
        if hips.goal >= 0:
            turned = rotations[:, hips.goal]
            place = positions[:, hips.goal] - quaternion.rotate(turned, hips.point)
        else:
            turned, place = self._hips_of(start, links)
        goals = self.goals
        return self._seen(turned, place, positions.take(goals, 1), rotations.take(goals, 1))

    def of_pose(self, world: np.ndarray, links: np.ndarray) -> View:
        """Where the effectors are in a pose, of which `world` (F, J, 8) are the joints' transforms."""
        hips = self._hips
        own = links[:, hips.link] if hips.link >= 0 else world[:, self.hips_joint]
        at = world[:, self.joints]
        return self._seen(
            own[:, :4], dual_quaternion.translation(own), dual_quaternion.transform(at, self.offsets), at[..., :4]
        )

    def turns(self, world: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """Turns (F, n, 4) of joints in a pose, from canonical axes to armature space."""
        from_rest = quaternion.product(quaternion.conjugate(self._figure.rest[joints]), self._figure.axes)
        return quaternion.product(world[:, joints, :4], from_rest)

    def chest(self, world: np.ndarray, links: np.ndarray) -> np.ndarray:
        """The chest's turn (F, 4) against the hips, away from rest and in canonical axes, in a pose."""
        hips, last = self._hips, self._figure.spine[-1]
        own = (links[:, hips.link] if hips.link >= 0 else world[:, self.hips_joint])[:, :4]
        back = quaternion.conjugate(quaternion.product(own, self.hips_from_rest))
        return quaternion.product(back, self.turns(world, np.array([last]))[:, 0])

    @property
    def hips_joint(self) -> int:
        """The joint of the hips, for figures whose hips are in the skeleton."""
        hips = self._hips
        return hips.joint if hips.joint >= 0 else int(self._figure.goals[hips.goal].joint)

    def _hips_of(self, start: Pose, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (F, 4) and place (F, 3) of what carries the hips, without a goal."""
        if self._hips.link >= 0:
            own = links[:, self._hips.link]
        else:
            rotations = np.broadcast_to(start.rotations, (max(len(start.rotations), len(links)), *links.shape[1:2], 4))
            own = self._figure.skeleton.transforms(rotations, start.translations, links)[:, self._hips.joint]
        return own[:, :4], dual_quaternion.translation(own)

    def _seen(self, hips: np.ndarray, place: np.ndarray, positions: np.ndarray, rotations: np.ndarray) -> View:
        """The view from hips that are turned to (F, 4) and placed at (F, 3) of effectors in armature space."""
        turned = (products(hips, hips) @ self._matrix).reshape(-1, 3, 3)
        places = (positions - place[:, None]) @ turned - self._centre
        if self._placed.size == len(self.goals):
            turns = np.empty((*places.shape[:-1], 4))
        else:
            turns = (products(hips[:, None], rotations)[..., None, :] @ self._relative)[..., 0, :]
        if self._placed.size:
            turns[:, self._placed] = quaternion.IDENTITY
        return View(places, turns)


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All products (..., 16) of a number of quaternions (..., 4) with one of others, on which many maps are linear."""
    both = a[..., :, None] * b[..., None, :]
    return both.reshape(*both.shape[:-2], 16)
