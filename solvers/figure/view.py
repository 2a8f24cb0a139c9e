# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as they are seen from the figure's hips, whatever the rig's axes, place and size."""

from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Targets
from ..model.skeleton import Pose
from .figure import RestFigure

BACK, FURTHEST_BACK = 0.5, 0.36
"""How far people's hips go back for a head that is lowered: at first, for how far they go down, and at most, in lengths
of the trunk from the hip joints to the head.

Captured people with both feet on the ground (CMU but for subject 01), whose heads are lowered straight down by up to a
fifth of their height, have their hips lower by 0.9 of it. However low they go and however far forward they lean, their
hips are at most 0.13 heights further back than when they stand: further back they would fall. Their hands tell hardly
more.
"""
STEEP = 3.0  # bounds how fast hips begin to go where a head comes near from a trunk's length beside their way
FURTHEST = 1.25  # how far hips go at most, for how much a head is lowered


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
        self._feet = np.array([limb.kind == "leg" for limb in figure.limbs] + [False] * len(heads))
        self._placed = np.flatnonzero([not turned for _, turned, _ in parts])
        self.from_rest = quaternion.product(quaternion.conjugate(figure.rest[self.joints]), figure.axes)
        self.hips_from_rest = quaternion.product(quaternion.conjugate(figure.hips.rotation), figure.axes)
        self.inverse = quaternion.conjugate(figure.hips.rotation)
        # the middle of the hip joints in canonical axes, from the joint of the hips, and from the point of its goal
        self._centre = quaternion.rotate(quaternion.conjugate(figure.axes), figure.hips.offset)
        self._centre_from_goal = self._centre - quaternion.rotate(
            quaternion.conjugate(self.hips_from_rest), figure.hips.point
        )

    def of_targets(self, positions: np.ndarray, rotations: np.ndarray, start: Pose, links: np.ndarray) -> View:
        """The targets (F, G, 3) and (F, G, 4); `start` and `links` tell where hips are that have no goal."""
        goal, rotations = self._hips.goal, quaternion.normalize(rotations)
        if goal >= 0:
            hips = rotations[:, goal], positions[:, goal], self._centre_from_goal
        else:
            own = self._hips_of(start, links)
            hips = own[:, :4], dual_quaternion.translation(own), self._centre
        return self._seen(*hips, positions[:, self.goals], rotations[:, self.goals])

    def way_of_hips(self, view: View, posed: View) -> np.ndarray:
        """How far hips go (F, 3) for a head that is lower than in another view, in their axes.

        They go down and back until the trunk has its length again, back ever less the lower the head is. A head is
        lowered toward the feet: where the hips themselves are raised toward it, they stay.
        """
        head, before = view.places[:, -1], posed.places[:, -1]
        lowered = np.maximum(self._height(posed) - self._height(view), 0.0)
        length = np.maximum(np.sqrt((before * before).sum(-1)), quaternion.LEAST)
        back = BACK / np.hypot(1.0, BACK * lowered / (FURTHEST_BACK * length))
        way = np.stack([np.zeros_like(back), -np.ones_like(back), -back], -1) / np.hypot(1.0, back)[:, None]
        along = (head * way).sum(-1)
        beside = np.sqrt(np.maximum((head * head).sum(-1) - along * along, 0.0))
        room = np.maximum(length - beside, 0.0)
        far = along + np.minimum(np.sqrt(room * (length + beside)), STEEP * room)
        return np.clip(far, 0.0, FURTHEST * lowered)[:, None] * way

    def _height(self, view: View) -> np.ndarray:
        """How much higher (F,) the head is than the lower foot, or than the hips if no foot has a goal."""
        low = view.places[:, self._feet, 1].min(-1) if self._feet.any() else 0.0
        return view.places[:, -1, 1] - low

    def moved(self, targets: Targets, way: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """The targets' positions (F, G, 3), those of hips moved by a way (F, 3) and effectors' by `ways` (F, E, 3).

        Ways are in the axes of the hips.
        """
        positions, hips = targets.positions.copy(), quaternion.normalize(targets.rotations[:, self._hips.goal])
        turn = quaternion.product(hips, self.hips_from_rest)
        positions[:, self._hips.goal] += quaternion.rotate(turn, way)
        positions[:, self.goals] += quaternion.rotate(turn[:, None], ways)
        return positions

    def of_pose(self, world: np.ndarray, links: np.ndarray) -> View:
        """The effectors in a pose. world : (F, J, 8) transforms of its joints."""
        hips = self._hips
        own = links[:, hips.link] if hips.link >= 0 else world[:, self.hips_joint]
        at = world[:, self.joints]
        places = dual_quaternion.transform(at, self.offsets)
        return self._seen(own[:, :4], dual_quaternion.translation(own), self._centre, places, at[..., :4])

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
        rotations, slides = start
        if len(rotations) < len(links):
            rotations = rotations.repeat(len(links), 0)
        return self._figure.skeleton.transforms(rotations, slides if slides.any() else None, links)[:, self._hips.joint]

    def _seen(
        self, hips: np.ndarray, place: np.ndarray, centre: np.ndarray, positions: np.ndarray, rotations: np.ndarray
    ) -> View:
        """The view of effectors in armature space, from hips that are turned by (F, 4) and placed at (F, 3).

        centre : (3,) from their place to the middle of the hip joints, in canonical axes.
        """
        back = quaternion.conjugate(quaternion.product(hips, self.hips_from_rest))[:, None]
        places = quaternion.rotate(back, positions - place[:, None]) - centre
        turns = quaternion.product(quaternion.product(back, rotations), self.from_rest)
        turns[:, self._placed] = quaternion.IDENTITY
        return View(places, turns)
