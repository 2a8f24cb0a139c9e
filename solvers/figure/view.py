# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as they are seen from the figure's hips, whatever the rig's axes, place and size."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.skeleton import Pose, Skeleton
from .figure import RestFigure

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

    def __init__(self, figure: RestFigure) -> None:
        heads = () if figure.head is None else (figure.head,)
        parts = [(limb.goal, limb.turned, limb.effector) for limb in figure.limbs]
        parts += [(head.goal, head.turned, head.joint) for head in heads]
        self._figure, self._hips = figure, figure.hips
        self.goals = np.array([goal for goal, _, _ in parts])
        self.joints = np.array([joint for _, _, joint in parts])
        self.offsets = np.array([figure.goals[goal].offset for goal, _, _ in parts], dtype=float)
        self._placed = rows([k for k, (_, turned, _) in enumerate(parts) if not turned])
        self._turns = any(turned for _, turned, _ in parts)
        self.from_rest = quaternion.product(quaternion.conjugate(figure.rest[self.joints]), figure.axes)
        self.hips_from_rest = quaternion.product(quaternion.conjugate(figure.hips.rotation), figure.axes)
        self.inverse = quaternion.conjugate(figure.hips.rotation)
        # the middle of the hip joints in canonical axes, from the joint of the hips, and from the point of its goal
        self._centre = quaternion.rotate(quaternion.conjugate(figure.axes), figure.hips.offset)
        self._centre_from_goal = self._centre - quaternion.rotate(
            quaternion.conjugate(self.hips_from_rest), figure.hips.point
        )
        # from the hips' matrix to that of the canonical axes, and from products of their turn with targets' to turns
        self._axes = quaternion.to_matrix(self.hips_from_rest)
        relative = quaternion.relative(np.eye(4)[:, None], np.eye(4)).reshape(16, 4)
        turned = quaternion.product(relative, self.from_rest[:, None])
        self._relative = quaternion.product(quaternion.conjugate(self.hips_from_rest), turned)  # (E, 16, 4)
        if figure.hips.joint >= 0:
            self._chain, self._skeleton = _chain(figure.skeleton, figure.hips.joint)

    def of_targets(self, positions: np.ndarray, rotations: np.ndarray, start: Pose, links: np.ndarray) -> View:
        """The targets (F, G, 3) and (F, G, 4); `start` and `links` tell where hips are that have no goal."""
        goal, goals = self._hips.goal, self.goals
        if goal >= 0 or self._turns:
            rotations = quaternion.normalize(rotations)
        if goal >= 0:
            turned = rotations[:, goal]
            hips = turned, quaternion.to_matrix(turned), positions[:, goal], self._centre_from_goal
        else:
            own = self._hips_of(start, links)
            hips = own[:, :4], *dual_quaternion.placement(own), self._centre
        return self._seen(*hips, positions.take(goals, 1), rotations.take(goals, 1))

    def of_pose(self, world: np.ndarray, links: np.ndarray) -> View:
        """Where the effectors are in a pose, of which `world` (F, J, 8) are the joints' transforms."""
        hips = self._hips
        own = links[:, hips.link] if hips.link >= 0 else world[:, self.hips_joint]
        at = world[:, self.joints]
        places = dual_quaternion.transform(at, self.offsets)
        return self._seen(own[:, :4], *dual_quaternion.placement(own), self._centre, places, at[..., :4])

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

    def _hips_of(self, start: Pose, links: np.ndarray) -> np.ndarray:
        """The transform (F, 8) of what carries the hips, without a goal."""
        if self._hips.link >= 0:
            return links[:, self._hips.link]
        rotations, slides, links = (part.take(self._chain, 1) for part in (*start, links))
        if len(rotations) < len(links):
            rotations = rotations.repeat(len(links), 0)
        return self._skeleton.transforms(rotations, slides if slides.any() else None, links)[:, -1]

    def _seen(
        self, hips: np.ndarray, matrix: np.ndarray, place: np.ndarray, centre: np.ndarray, positions: np.ndarray,
        rotations: np.ndarray,
    ) -> View:  # fmt: skip
        """The view of effectors in armature space, from hips that are turned by (F, 4) and placed at (F, 3).

        matrix : (F, 3, 3) of the hips' turn. centre : (3,) from their place to the middle of the hip joints, in
        canonical axes.
        """
        places = (positions - place[:, None]) @ (matrix @ self._axes) - centre
        if self._turns:
            turns = (products(hips[:, None], rotations)[..., None, :] @ self._relative)[..., 0, :]
        else:
            turns = np.empty((*places.shape[:-1], 4))
        turns[:, self._placed] = quaternion.IDENTITY
        return View(places, turns)


def _chain(skeleton: Skeleton, joint: int) -> tuple[np.ndarray, Skeleton]:
    """The joints from the root to one of them, and a skeleton of these alone; none for joint -1."""
    chain: list[int] = []
    while joint >= 0:
        chain.insert(0, joint)
        joint = int(skeleton.parent[joint])
    joints = [replace(skeleton.joints[own], parent=above) for above, own in enumerate(chain, -1)]
    return np.array(chain, dtype=np.intp), Skeleton(joints)


def rows(indices: Sequence[int] | np.ndarray) -> np.ndarray | slice:
    """Indices as a slice if they follow each other: NumPy takes it in less time."""
    indices = np.array(indices, dtype=np.intp)
    if (np.diff(indices) == 1).all():
        first = int(indices[0]) if indices.size else 0
        return slice(first, first + indices.size)
    return indices


_ROW, _COLUMN = np.arange(16) // 4, np.arange(16) % 4


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All products (..., 16) of a number of quaternions (..., 4) with one of others, on which many maps are linear."""
    return a.take(_ROW, -1) * b.take(_COLUMN, -1)  # of few quaternions faster than by broadcasting
