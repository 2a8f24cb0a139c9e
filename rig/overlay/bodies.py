# SPDX-License-Identifier: GPL-3.0-or-later
"""The outlines of the bodies of bones, as lines. NumPy only."""

import numpy as np

from ..figure.capsules import BoneCapsule

_TURNS = 24  # points of a circle


def outlines(capsules: list[BoneCapsule], rest: np.ndarray, world: np.ndarray) -> np.ndarray:
    """Closed curves (C, 4, 25, 3): of each body a circle about each end, and its outline in two planes.

    rest, world : (N, 4, 4) matrices of all bones at rest and in the present pose, both in armature space.
    """
    return np.array([_outline(one, world[one.bone] @ np.linalg.inv(rest[one.bone])) for one in capsules])


def _outline(capsule: BoneCapsule, moved: np.ndarray) -> np.ndarray:
    line = capsule.end - capsule.start
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    beside = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    beside /= np.linalg.norm(beside)
    across = np.cross(along, beside)
    turn = np.linspace(0.0, 2.0 * np.pi, _TURNS + 1)[:, None]
    co, si, r = np.cos(turn), np.sin(turn), capsule.radius
    circles = [end + r * (co * beside + si * across) for end in (capsule.start, capsule.end)]
    at = np.where(si >= 0.0, 1.0, 0.0) * line  # the upper half of a circle lies at the end, the lower at the start
    planes = [capsule.start + at + r * (co * side + si * along) for side in (beside, across)]
    return np.stack([*circles, *planes]) @ moved[:3, :3].T + moved[:3, 3]
