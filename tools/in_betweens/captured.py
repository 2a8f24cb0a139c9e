# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured clips as the poses of `solvers.motion.in_betweens`, every frame a key; and figures from such poses."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "natural_pose"))

import poses  # pyright: ignore[reportMissingImports] - of the folder above
from package import module  # pyright: ignore[reportMissingImports]

quaternion = module("solvers.algebra.quaternion")
between = module("solvers.motion.in_betweens")
contacts_between = module("solvers.motion.foot_contacts")
motion = module("solvers.motion")

RATE = 30.0
_UPRIGHT = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])  # from Y up to Z up
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle
_TRUNK = (("hips", 0), ("spine", 0), ("spine", 1), ("spine", 2), ("neck", 0), ("neck", 1), ("head", 0))


class Body(NamedTuple):
    """A captured skeleton by its parts: the joints (P,), their parents, offsets and tails (P, 3) at rest.

    feet : (2, 2, 3), heel and ball of both feet from the ankle.
    """

    joints: np.ndarray
    parents: np.ndarray
    offsets: np.ndarray
    tails: np.ndarray
    feet: np.ndarray

    @property
    def leg(self) -> float:
        """The mean length of the legs."""
        return float(np.linalg.norm(self.offsets[[12, 13, 20, 21]], axis=-1).sum() / 2.0)

    def places(self, turns: np.ndarray, hips: np.ndarray) -> np.ndarray:
        """The places (F, P + 5, 3) of the joints, and of the ends of head, hands and toes. hips : as of `KeyPoses`."""
        found = np.zeros((len(turns), len(self.joints) + 5, 3))
        middle = self.offsets[[11, 19]].mean(0)
        found[:, 0] = hips - quaternion.rotate(turns[:, 0], np.broadcast_to(middle, hips.shape))
        for part, above in list(enumerate(self.parents.tolist()))[1:]:
            found[:, part] = found[:, above] + quaternion.rotate(turns[:, above], self.offsets[part])
        for row, part in enumerate((6, 10, 14, 18, 22)):
            found[:, len(self.joints) + row] = found[:, part] + quaternion.rotate(turns[:, part], self.tails[part])
        return found


def body_of(skeleton: poses.Skeleton) -> Body:
    """The parts of a captured skeleton, Z up."""
    names = [(*one, "") for one in _TRUNK] + [(part, 0, side) for side in "LR" for part in between.LIMB_PARTS]
    found = [[joint for joint, role in sorted(skeleton.roles.items()) if role == (name, side)][at]
             for name, at, side in names]  # fmt: skip
    parents = np.array([-1, 0, 1, 2, 3, 4, 5, 3, 7, 8, 9, 0, 11, 12, 13, 3, 15, 16, 17, 0, 19, 20, 21])
    heads = quaternion.rotate(_UPRIGHT, skeleton.heads()[found])
    offsets = heads - np.where((parents >= 0)[:, None], heads[parents], heads)
    balls = offsets[[14, 22]]
    heels = balls * [0.0, 0.0, 1.0] - _BEHIND * balls * [1.0, 1.0, 0.0]
    tails = quaternion.rotate(_UPRIGHT, skeleton.tails[found])
    return Body(np.array(found), parents, offsets, tails, np.stack([heels, balls], 1))


def key_poses(body: Body, clip: poses.Clip) -> Any:
    """The frames of a clip as `KeyPoses`."""
    turned = quaternion.product(_UPRIGHT, clip.turns[:, body.joints])
    turned = quaternion.product(turned, quaternion.conjugate(_UPRIGHT))
    hips = quaternion.rotate(_UPRIGHT, clip.root)
    hips = hips + quaternion.rotate(turned[:, 0], body.offsets[[11, 19]].mean(0))
    return of(body, np.arange(len(turned)) / RATE, turned, hips)


def of(body: Body, times: np.ndarray, turns: np.ndarray, hips: np.ndarray) -> Any:
    """`KeyPoses` of a body."""
    places = body.places(turns, hips)
    ends = [(0, 3), (3, 4), (4, 6), (6, 23)]
    for first, hand, toes in ((7, 24, 25), (15, 26, 27)):
        ends += [(first, first + 1), (first + 1, first + 2), (first + 2, first + 3), (first + 3, hand)]
        ends += [(first + 4, first + 5), (first + 5, first + 6), (first + 6, first + 7), (first + 7, toes)]
    lines = np.stack([places[:, b] - places[:, a] for a, b in [*ends, (19, 11)]], 1)
    lines /= np.maximum(np.linalg.norm(lines, axis=-1, keepdims=True), 1e-9)
    feet = np.stack([places[:, None, ankle] + quaternion.rotate(turns[:, None, ankle], body.feet[side])
                     for side, ankle in enumerate((13, 21))], 1)  # fmt: skip
    return between.KeyPoses(times, np.arange(turns.shape[1]), turns, hips, lines, feet, body.leg)


def contacts(body: Body, own: Any) -> np.ndarray:
    """The frames (F, 2, 2) on which heel and ball of both feet stand."""
    return motion.fine_time.on_frames(motion.find_contacts(own.feet, own.hips, RATE, body.leg), RATE)


def mirrored(own: Any) -> Any:
    """The poses as in a mirror."""
    flip, trunk = np.array([-1.0, 1.0, 1.0]), between.TRUNK_LINES
    half = between.LIMB_LINES
    order = [*range(trunk), *range(trunk + half, trunk + 2 * half), *range(trunk, trunk + half), trunk + 2 * half]
    lines = own.lines[:, order] * flip
    lines[:, -1] *= -1.0
    parts = [*range(7), *range(7 + half, 7 + 2 * half), *range(7, 7 + half)]
    turns = own.turns[:, parts] * [1.0, 1.0, -1.0, -1.0]
    return own._replace(turns=turns, hips=own.hips * flip, lines=lines, feet=own.feet[:, ::-1] * flip)
