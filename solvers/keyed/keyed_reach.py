# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that are out of reach of a pose whose bones are all keyed: the keyed pose stays as it was keyed.

An animator keys what is seen. Where a goal was missed, a solve from the keyed pose would stretch a little further
toward the target, and show another pose than was keyed. So a target that the solve gets hardly nearer to is taken for
where the keyed pose has its bone, one that it gets much nearer to for where it is, and between the two it moves
smoothly; so does its pole. What is much is a share of the miss, or a length: a body that has followed a target to the
end of its reach does not go back to its keys when the target goes on. The same holds for goals that contact keeps from
their targets. Rotations count beside places: an end that is where it was keyed, but is to turn, turns.

The first solve carries the body to its root's target, a wish perhaps that is far away, and may bring one hand nearer
while the other goes off. So goals that are no wishes are weighed by a second one, in which wishes stay. A goal that it
gets nearer to by far less than the body moves is not worth the move: hips stay where a hand gains a millimetre.
NumPy only.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.frames import FrameArrays
from ..model.skeleton import Pose
from ..space import ROTATION_LENGTH, Pole, swivel_share, swivel_vector
from .keyed_solve import KeyedSolve

Misses = tuple[np.ndarray, np.ndarray]
"""Distances and angles (F, G) by which goals are missed."""

_LITTLE, _MUCH = 0.15, 0.5  # of what a keyed pose misses a goal by, or of what the body moves, that a solve gets nearer
_SHORT, _LONG = 0.03, 0.08  # the same of the skeleton's length
_STILL = 1e-3  # [rad] a solve that turns no joint by more leaves the keyed pose, and gains nothing


def stay(
    arrays: FrameArrays, prepared: KeyedSolve, posed: Pose, solve: Callable[[FrameArrays, np.ndarray], object],
    stretching: np.ndarray,
) -> None:  # fmt: skip
    """Solve frames of a keyed pose again whose goals are missed hardly less than by the pose itself, in place.

    arrays : of F frames that were solved. posed : the keyed poses (F, J, ...). solve : completes the start poses of
    arrays for some of the frames, by their indices, and solves them. stretching : (K,) joints by which bones stretch,
    as far as in `arrays`.
    """
    away = np.maximum(arrays.position_errors, arrays.rotation_errors) > 0.0
    turned = np.abs((arrays.rotations * posed.rotations).sum(-1)).min(-1) < np.cos(0.5 * _STILL)
    turned |= np.abs(arrays.translations - posed.translations).max((-1, -2), initial=0.0) > prepared.options.tolerance
    frames = np.flatnonzero(~arrays.converged & away.any(-1) & turned)
    if not frames.size:
        return
    links = np.broadcast_to(arrays.links, (len(arrays), *arrays.links.shape[1:]))[frames]
    world = prepared.skeleton.transforms(posed.rotations[frames], posed.translations[frames], links)
    places, turns = ends(prepared, world)
    wanted, asked = arrays.positions[frames], prepared.effectors
    reaches, has_place, has_turn = asked.reaches, asked.has_place, asked.has_turn
    turns_away = turn(turns, prepared.carry.carried(world[..., :4], arrays.orientations[frames]))
    before = np.linalg.norm(wanted - places, axis=-1), np.linalg.norm(turns_away, axis=-1)
    after = arrays.position_errors[frames], arrays.rotation_errors[frames]
    share, turn_share = _shares(prepared, before, after)
    some = (np.minimum(share, turn_share) < 1.0).any(-1)  # a frame's answer must not depend on those beside it
    if not some.any():
        return
    frames, links, world, places, turns, wanted, turns_away, share, turn_share = (
        each[some] for each in (frames, links, world, places, turns, wanted, turns_away, share, turn_share)
    )
    before, own = (before[0][some], before[1][some]), Pose(posed.rotations[frames], posed.translations[frames])
    touches = prepared.contacts is not None  # what keeps bodies apart takes from one goal what another one gains
    ours = np.array([goal.priority >= 0 and not touches for goal in prepared.goals])
    if not ours.all():
        share, turn_share = np.where(ours, 1.0, share), np.where(ours, 1.0, turn_share)
    again = prepared.arrays(len(frames))
    again.links[:] = links
    for left in (0,) if touches else (1, 0) if ours.all() else (2, 1, 0):
        again.poles[:] = _poles(prepared, world, places, arrays.poles[frames], 1.0 - share)
        again.start_rotations[:], again.start_translations[:] = own
        again.start_translations[:, stretching] = arrays.start_translations[frames][:, stretching]
        again.home_rotations[:], again.points[:] = 0.0, arrays.points[frames]
        again.positions[:] = places + share[..., None] * (wanted - places)
        between = quaternion.product(turns, quaternion.exp(turn_share[..., None] * turns_away))
        again.orientations[:] = prepared.carry.uncarried(world[..., :4], between)
        solve(again, frames)
        answer = prepared.skeleton.transforms(again.rotations, again.translations, links)
        there, turned = ends(prepared, answer)
        turned = turn(turned, prepared.carry.carried(answer[..., :4], arrays.orientations[frames]))
        after = (
            np.where(reaches, np.linalg.norm(wanted - there, axis=-1) * has_place, again.position_errors),
            np.where(reaches, np.linalg.norm(turned, axis=-1) * has_turn, again.rotation_errors),
        )
        worth = _worth(prepared, before, after, np.linalg.norm(there - places, axis=-1) * has_place)
        weighed = _shares(prepared, before, after) if left == 2 else (worth, worth)
        asked_before = share, turn_share
        share, turn_share = (np.minimum(*both) for both in zip(asked_before, weighed, strict=True))
        if not left or (left == 1 and (share == asked_before[0]).all() and (turn_share == asked_before[1]).all()):
            break
    for name in ("rotations", "translations", "iterations", "at_limit"):
        getattr(arrays, name)[frames] = getattr(again, name)
    arrays.position_errors[frames], arrays.rotation_errors[frames] = after


def _shares(prepared: KeyedSolve, before: Misses, after: Misses) -> tuple[np.ndarray, np.ndarray]:
    """How much of the way to their targets goals are asked to go (F, G), and how much of the turn.

    before, after : by which the keyed pose and an answer miss the goals.
    """
    asked, options = prepared.effectors, prepared.options
    of_places = _share(before[0], after[0], options.tolerance, prepared.skeleton.length)
    of_turns = _share(before[1], after[1], options.rotation_tolerance)
    of_both = _share(_together(prepared, before), _together(prepared, after), options.tolerance)
    share = np.where(asked.has_place, of_places, np.where(asked.has_turn, of_turns, 1.0))
    return share, np.where(asked.has_place & asked.has_turn, of_both, share)


def _worth(prepared: KeyedSolve, before: Misses, after: Misses, moved: np.ndarray) -> np.ndarray:
    """Shares (F, G) as of `_shares`, from what goals gain beside how far the ends of their stage moved.

    moved : (F, G) how far the answer has each effector from where the keyed pose has it.
    """
    missed, most = _together(prepared, before), np.zeros(moved.shape)
    for stage in prepared.stages:
        most[:, stage.indices] = moved[:, stage.indices].max(-1, keepdims=True, initial=0.0)
    gained = (missed - _together(prepared, after)) / np.maximum(most, prepared.options.tolerance)
    return np.where((missed > prepared.options.tolerance) & prepared.effectors.reaches, _much(gained), 1.0)


def _together(prepared: KeyedSolve, missed: Misses) -> np.ndarray:
    """Distances and angles (F, G) as one length, of what the goals ask for."""
    asked, lever = prepared.effectors, ROTATION_LENGTH * prepared.skeleton.length
    return np.hypot(missed[0] * asked.has_place, lever * missed[1] * asked.has_turn)


def _share(before: np.ndarray, after: np.ndarray, tolerance: float, length: float = np.inf) -> np.ndarray:
    """How much of the way (F, G) to its target a goal is asked to go, from what it was missed by before and after.

    length : of the skeleton, for misses in its unit.
    """
    nearer = before - after
    far = _much(nearer / length, _SHORT, _LONG)
    return np.where(after <= tolerance, 1.0, np.maximum(_much(nearer / np.maximum(before, 1e-300)), far))


def _much(share: np.ndarray, little: float = _LITTLE, much: float = _MUCH) -> np.ndarray:
    """From 0 at little to 1 at much, smoothly."""
    part = np.clip((share - little) / (much - little), 0.0, 1.0)
    return part * part * (3.0 - 2.0 * part)


def ends(prepared: KeyedSolve, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (F, G, 3) and orientations (F, G, 4) of the goals' effectors. world : (F, J, 8)."""
    found = prepared.effectors
    joints = world[:, found.joints]
    return dual_quaternion.transform(joints, found.offsets), joints[..., :4]


def _poles(
    prepared: KeyedSolve, world: np.ndarray, places: np.ndarray, poles: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """Poles (F, G, 3) turned about the lines of their limbs toward where the pose bends, by a share (F, G) of the way.

    world : (F, J, 8). places : (F, G, 3) of the effectors.
    """
    turned = poles.copy()
    for goal, pole, root, middle, end in _limbs(prepared, world, places):
        away = -share[:, goal, None] * swivel_vector(root, middle, end, poles[:, goal], pole.angle)
        turned[:, goal] = root + quaternion.rotate(quaternion.exp(away), poles[:, goal] - root)
    return turned


def pole_angles(prepared: KeyedSolve, world: np.ndarray, places: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """How far (F, G) [rad] a solve turns limbs to their poles at first; 0 for straight ones and goals without a pole.

    world : (F, J, 8). places : (F, G, 3) of the effectors. poles : (F, G, 3).
    """
    angles = np.zeros(places.shape[:2])
    for goal, pole, root, middle, end in _limbs(prepared, world, places):
        turned = np.linalg.norm(swivel_vector(root, middle, end, poles[:, goal], pole.angle), axis=-1)
        angles[:, goal] = turned * swivel_share(root, middle, end, np.array(np.inf))
    return angles


def _limbs(
    prepared: KeyedSolve, world: np.ndarray, places: np.ndarray
) -> Iterator[tuple[int, Pole, np.ndarray, np.ndarray, np.ndarray]]:
    """The goals with a pole, each with this and the root, middle and end (F, 3) of the limb that it turns."""
    joints = dual_quaternion.translation(world)
    for stage in prepared.stages:
        for pole in stage.tasks.poles.poles if stage.tasks.poles else ():
            goal = int(stage.indices[pole.goal])
            end = places[:, goal] if pole.end < 0 else joints[:, pole.end]
            yield goal, pole, joints[:, pole.root], joints[:, list(pole.middle)].mean(1), end


def turn(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) from one orientation to another, in the frame of the one, the short way."""
    return quaternion.log(quaternion.product(quaternion.conjugate(one), quaternion.normalize(other)))
