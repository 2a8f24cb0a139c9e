# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting a foot or a hand over a range of frames: where its target has to be. Arrays only.

A planted foot stays where it is on one frame of the range. It still rolls as it did: with the toes up it turns about
its heel, with the heel up about its ball, and the point that it turns about stays. So toe, ball and heel leave the
ground in their turn, and the ankle's way has no corner. Before and after the range the planted way fades into the way
as it was.
"""

from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

FLAT = np.radians(4.0)  # rolls below it are none, those above count from here
_LEAST = 1e-9


class Foot(NamedTuple):
    """The points that a foot rolls about, in its target's frame (length units): its ball and its heel (3,)."""

    ball: np.ndarray
    heel: np.ndarray


class Motions(NamedTuple):
    """The roll of a standing foot on F frames, which takes a point of its frame to `offsets` + `turns` * point."""

    offsets: np.ndarray
    turns: np.ndarray


def way(
    places: np.ndarray, turns: np.ndarray, begin: int, end: int, fade: int, at: int, motions: Motions | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Places (F, 3) and turns (F, 4) of a target that is planted on frames `begin` to `end`, of F frames.

    places, turns : as they were. fade : frames over which the way fades, on both sides. at : the frame whose place and
    turn the target keeps. motions : how it rolls from there; else it keeps the turn.
    """
    own, kept = np.repeat(places[at][None], len(places), 0), np.repeat(turns[at][None], len(places), 0)
    if motions is not None:
        own, kept = rolled(own, kept, motions)
    share = shares(len(places), begin, end, fade)[:, None]
    apart = quaternion.log(quaternion.relative(turns, kept))
    return places + share * (own - places), quaternion.product(turns, quaternion.exp(share * apart))


def over_ball_and_heel(rolls: np.ndarray, turn: np.ndarray, foot: Foot, up: np.ndarray) -> Motions:
    """The motions of a foot that stands with a turn (4,), and rolls (F,) as a whole over points on the ground."""
    forward = quaternion.rotate(turn, foot.ball - foot.heel)
    axis = quaternion.rotate(quaternion.conjugate(turn), _axis(forward, up))
    turns = quaternion.exp(rolls[:, None] * axis)
    pivot = np.where(rolls[:, None] > 0.0, foot.ball, foot.heel)
    return Motions(pivot - quaternion.rotate(turns, pivot), turns)


def rolled(places: np.ndarray, turns: np.ndarray, motions: Motions) -> tuple[np.ndarray, np.ndarray]:
    """Places (F, 3) and turns (F, 4) to which a foot rolls from these."""
    return places + quaternion.rotate(turns, motions.offsets), quaternion.product(turns, motions.turns)


def unrolled(places: np.ndarray, turns: np.ndarray, motions: Motions) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of `rolled`."""
    turns = quaternion.product(turns, quaternion.conjugate(motions.turns))
    return places - quaternion.rotate(turns, motions.offsets), turns


def roll(turns: np.ndarray, at: int, foot: Foot, up: np.ndarray) -> np.ndarray:
    """The roll (F,) of a foot since the frame `at` [rad]: above 0 with its heel up, below 0 with its toes up."""
    forward = quaternion.rotate(turns, foot.ball - foot.heel)  # (F, 3)
    pitch = np.arcsin(np.clip(-(forward @ up) / np.linalg.norm(forward, axis=-1), -1.0, 1.0))
    rolled = pitch - pitch[at]
    return rolled - np.clip(rolled, -FLAT, FLAT)


def standing(
    places: np.ndarray, turns: np.ndarray, begin: int, end: int, at: int, foot: Foot, up: np.ndarray
) -> int:  # fmt: skip
    """The frame from `begin` to `end` on which a foot stands flat: `at`, or the flattest one if it has rolled there."""
    heights = np.sum([(places + quaternion.rotate(turns, point)) @ up for point in foot], axis=0)
    flattest = begin + int(np.argmin(heights[begin : end + 1]))
    return flattest if roll(turns, flattest, foot, up)[at] else at


def shares(frames: int, begin: int, end: int, fade: int) -> np.ndarray:
    """The share (F,) of the planted way in each frame: 1 in the range, fading smoothly to 0 in `fade` frames."""
    away = np.maximum(np.maximum(begin - np.arange(frames), np.arange(frames) - end), 0)
    share = np.clip(1.0 - away / max(fade, 1), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def still(
    points: np.ndarray, at: int, speed: float, height: float, up: np.ndarray
) -> tuple[int, int] | None:  # fmt: skip
    """The frames around `at` on which one of some points (K, F, 3) is slow and low; None if none is on the frame `at`.

    speed : [length units a frame]. height : above the lowest place of all points, at most.
    """
    high = points @ up
    low = high <= high.min() + height
    steps = (np.linalg.norm(np.diff(points, axis=1), axis=-1) <= speed) & low[:, 1:] & low[:, :-1]
    stands = np.concatenate([[False], steps.any(0), [False]])  # (F + 1,) between each frame and the one before it
    begin = end = at
    while stands[begin]:
        begin -= 1
    while stands[end + 1]:
        end += 1
    return (begin, end) if end > begin else None


def _axis(forward: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The unit axis (3,) about which a foot rolls with its heel up."""
    side = np.cross(up, forward)
    return side / max(float(np.linalg.norm(side)), _LEAST)
