# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs of captured clips, their contacts, and the clips mended, as `mend_rates.py` measures them.

The data are those of tools/natural_pose.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools" / "natural_pose"), str(ROOT / "tests" / "solvers")]

from poses import Clip, Skeleton  # noqa: E402
from poses import load as load  # noqa: E402
from walking import moved  # noqa: E402

from solvers.algebra import quaternion  # noqa: E402
from solvers.motion import Leg, find_contacts, fine_time, plant_feet  # noqa: E402

RATE = 30.0  # of the data
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from Y up to Z up
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle


def legs_of(skeleton: Skeleton, clip: Clip) -> list[Leg]:
    """The two legs of a clip, Z up."""
    places = np.zeros((*clip.turns.shape[:2], 3))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent < 0:
            places[:, joint] = clip.root
            continue
        way = np.broadcast_to(skeleton.offsets[joint], clip.root.shape)
        places[:, joint] = places[:, parent] + quaternion.rotate(clip.turns[:, parent], way)
    places, turns = places @ _UP.T, quaternion.product(quaternion.from_matrix(_UP), clip.turns)
    legs = list[Leg]()
    for side in "LR":
        joints = [skeleton.joint(name, side) for name in ("thigh", "shin", "foot")]
        ball = skeleton.offsets[skeleton.joint("toes", side)]
        drop = ball * (0.0, 1.0, 0.0)
        heel = drop - _BEHIND * (ball - drop)
        legs.append(Leg(*(places[:, joint] for joint in joints), turns[:, joints], heel, ball))
    return legs


def middle(legs: list[Leg]) -> np.ndarray:
    """Between the hip joints (F, 3)."""
    return 0.5 * (legs[0].hip + legs[1].hip)


def points(legs: list[Leg]) -> np.ndarray:
    """The heels and balls (F, 2, 2, 3) of both feet."""
    return np.stack([leg.points for leg in legs], 1)


def times(legs: list[Leg], rate: float = RATE) -> np.ndarray:
    """The contacts (G, 2, 2) on the fine grid."""
    return find_contacts(points(legs), middle(legs), rate, float(np.mean([leg.length for leg in legs])))


def contacts(legs: list[Leg], rate: float = RATE) -> np.ndarray:
    """The contacts (F, 2, 2) of the frames."""
    return fine_time.on_frames(times(legs, rate), rate)


def mended(legs: list[Leg], rate: float = RATE) -> list[Leg]:
    """The legs with their feet planted."""
    found = times(legs, rate)
    planted = plant_feet(legs, [found[:, 0], found[:, 1]], rate)
    return [moved(leg, planted.hips, turns) for leg, turns in zip(legs, planted.turns, strict=True)]


def slide(legs: list[Leg], on_ground: np.ndarray, rate: float) -> float:
    """In the mean while on the ground [mm a second]."""
    steps = np.linalg.norm(np.diff(points(legs)[..., :2], axis=0), axis=-1)
    both = on_ground[1:] & on_ground[:-1]
    return 1e3 * rate * float(steps[both].sum() / max(both.sum(), 1))
