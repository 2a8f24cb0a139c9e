# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that is the answer already stays exactly as it is. NumPy only.

A solve from such a pose ends at it up to about a ten-thousandth of a radian, because it weighs the goals against the
pull to the pose. A captured motion to which the targets were keyed would tremble by that much, and a body whose targets
are all moved as one would not go along as one.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ..algebra import quaternion
from ..model.frames import FrameArrays
from ..model.goals import Goal, Targets
from ..model.skeleton import Pose
from ..space import SINGLE, JointSpace
from . import keyed_reach
from .keyed_solve import KeyedSolve

_ROUNDING = 0.01  # of the tolerances: more than Blender's single precision loses near the origin, less than shows
_NEAR = 1e-3  # radians: solves from such poses end nearer
_STRAIGHT = 0.05  # radians: but within their tolerances straight limbs may bend by this, and do
_ALLOWED = 1e-3  # radians: keys of an answer are as near to its limits


def keep(arrays: FrameArrays, prepared: KeyedSolve, posed: Pose) -> None:
    """Make the answers of solved frames the poses (F, J, ...) that they nearly are, where these meet all goals."""
    if not arrays.converged.any():
        return
    cosines = np.abs((arrays.rotations * posed.rotations).sum(-1)).min(-1)
    if cosines.max() <= np.cos(0.5 * _STRAIGHT):  # most frames: the answer is another pose
        return
    asked = prepared.effectors
    if not (asked.looks | asked.reaches).all() or prepared.skeleton.couplings or prepared.contacts:
        return
    slid = np.abs(arrays.translations - posed.translations).max((-1, -2), initial=0.0)
    tolerance = prepared.options.tolerance
    inside = (slid < tolerance) & ~arrays.at_limit.any(-1)
    frames = np.flatnonzero(inside & (cosines > np.cos(0.5 * _STRAIGHT)))
    if not frames.size:
        return
    links = np.broadcast_to(arrays.links, (len(arrays), *arrays.links.shape[1:]))[frames]
    world = prepared.skeleton.transforms(posed.rotations[frames], posed.translations[frames], links)
    places, turns = keyed_reach.ends(prepared, world)
    turned = prepared.carry.carried(world[..., :4], arrays.orientations[frames])
    away = np.linalg.norm(arrays.positions[frames] - places, axis=-1)
    nearest = np.clip(SINGLE * np.linalg.norm(places, axis=-1), _ROUNDING * tolerance, tolerance)
    off = np.linalg.norm(keyed_reach.turn(turns, turned), axis=-1) / prepared.options.rotation_tolerance
    off *= asked.has_turn
    for k, goal in enumerate(prepared.goals):
        if asked.looks[k]:
            off[:, k] = _aside(goal, arrays.positions[frames, k] - places[:, k], turns[:, k])
            off[:, k] /= prepared.options.rotation_tolerance
    poles = keyed_reach.pole_angles(prepared, world, places, arrays.poles[frames])
    near = (cosines[frames] > np.cos(0.5 * _NEAR)) | (poles < _NEAR).all(-1)
    met = ((away < nearest) | ~asked.has_place) & (off < _ROUNDING)
    frames = frames[met.all(-1) & near]
    arrays.rotations[frames], arrays.translations[frames] = posed.rotations[frames], posed.translations[frames]


def _aside(goal: Goal, lines: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """The sines (F,) of the angles from where a goal looks to the lines (F, 3) to its target; 1 behind it.

    turns : (F, 4) orientations of its joint.
    """
    axis = quaternion.rotate(turns, np.array(goal.axis, dtype=float))
    lines = lines / np.maximum(np.linalg.norm(lines, axis=-1, keepdims=True), 1e-300)
    sines = np.linalg.norm(quaternion.cross(axis, lines), axis=-1)
    return np.where((axis * lines).sum(-1) > 0.0, sines, 1.0)


def keep_own(
    arrays: FrameArrays, prepared: KeyedSolve, posed: Pose, is_own: Callable[[Pose, Targets], bool],
    bent: Sequence[int] = (),
) -> None:  # fmt: skip
    """Make the answers of solved frames the poses (F, J, ...) that are known to be answers to their goals.

    Poses that limits or couplings do not allow, which came later, are solved.
    is_own : whether a pose (1, J, ...) is known to be the answer to the targets of one frame.
    bent : joints of toes that the roll of their foot bends from how they are posed; they stay as solved.
    """
    for frame in range(len(arrays)):
        one = slice(frame, frame + 1)
        pose = Pose(posed.rotations[one], posed.translations[one])
        wanted = Targets(
            arrays.positions[one], arrays.orientations[one], arrays.poles[one], points=arrays.points[one]
        )  # fmt: skip
        if not is_own(pose, wanted) or not _is_allowed(prepared, pose):
            continue
        pose.rotations[:, bent] = arrays.rotations[one][:, bent]
        links = arrays.links if len(arrays.links) == 1 else arrays.links[one]
        world = prepared.skeleton.transforms(*pose, links)
        places, turns = keyed_reach.ends(prepared, world)
        turned = prepared.carry.carried(world[..., :4], wanted.rotations)
        away, off = wanted.positions - places, keyed_reach.turn(turns, turned)
        arrays.rotations[one], arrays.translations[one] = pose
        for k, goal in enumerate(prepared.goals):
            if goal.reaches:
                arrays.position_errors[frame, k] = np.linalg.norm(away[0, k]) * goal.has_place
                arrays.rotation_errors[frame, k] = np.linalg.norm(off[0, k]) * goal.has_turn


def _is_allowed(prepared: KeyedSolve, pose: Pose) -> bool:
    """Whether a pose (1, J, ...) is inside the limits and the exact couplings of the joints that goals move."""
    space = _space(prepared)
    if space is None:
        return True
    state = space.state(pose)
    cosines = np.abs((state.rotations * pose.rotations).sum(-1))[:, space.moved]
    return bool((cosines > np.cos(0.5 * _ALLOWED)).all())


@lru_cache(maxsize=16)
def _space(prepared: KeyedSolve) -> JointSpace | None:
    """The freedoms of the joints that goals move; None if nothing restricts them."""
    skeleton = prepared.skeleton
    moved = np.zeros(len(skeleton), dtype=bool)
    moved[[joint for goal in prepared.goals for joint in goal.chain or ()]] = True
    moved[[joint for one in skeleton.couplings for joint in (one.joint, one.leader)]] = True
    space = JointSpace(skeleton, moved)
    return space if space.n and (space.limited or space.unknowns is not None) else None
