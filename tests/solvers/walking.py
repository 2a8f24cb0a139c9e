# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk by formulas: feet that stand and swing in turn, their legs, and what makes them slide."""

import numpy as np

from solvers.algebra import quaternion
from solvers.motion import Leg
from solvers.motion.in_betweens import PARTS, KeyPoses

UPPER, LOWER, ANKLE = 0.45, 0.42, 0.08
HEEL, BALL = np.array([0.0, -0.06, -ANKLE]), np.array([0.0, 0.14, -ANKLE])
PERIOD, STANDS, STRIDE = 1.0, 0.6, 0.9  # seconds, the share in which a foot stands, and the way of a step


def walk(
    seconds: float = 4.0, rate: float = 30.0, rolls: bool = True, rise: float = 0.0
) -> tuple[list[Leg], np.ndarray]:  # fmt: skip
    """Two legs that walk along Y, and the contacts (F, 2, 2) of heel and ball of each.

    rolls : whether the heel rises for the last quarter of a stance, while the ball stands. rise : how much higher a
    foot stands each time, on stairs.
    """
    times = np.arange(round(seconds * rate)) / rate
    height = 0.87 - 0.5 * abs(rise) + rise * times / PERIOD + 0.01 * np.sin(4.0 * np.pi * times / PERIOD)
    hips = np.stack([0.0 * times, STRIDE * times / PERIOD, height], -1)
    legs, contacts = list[Leg](), list[np.ndarray]()
    for side, start in ((0.1, 0.0), (-0.1, 0.5 * PERIOD)):
        phase, step = np.modf((times - start) / PERIOD + 10.0)
        swing = np.clip((phase - STANDS) / (1.0 - STANDS), 0.0, 1.0)
        ease = swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2)
        up = 0.12 * np.sin(np.pi * swing) ** 2
        steps = step - 10.0 + ease + 0.5 * STANDS + start / PERIOD
        ball = np.stack([side + 0.0 * steps, STRIDE * steps + BALL[1], rise * steps + up], -1)
        roll = 0.5 * np.sin(np.pi * np.clip((phase - 0.75 * STANDS) / (1.0 - 0.75 * STANDS), 0.0, 1.0)) ** 2 * rolls
        turn = quaternion.exp(roll[:, None] * np.array([-1.0, 0.0, 0.0]))
        ankle = ball - quaternion.rotate(turn, BALL)
        hip = hips + np.array([side, 0.0, 0.0])
        legs.append(_leg(hip, ankle, turn))
        stands = phase < STANDS
        contacts.append(np.stack([stands & ((phase < 0.75 * STANDS) | (not rolls)), stands], -1))
    return legs, np.stack(contacts, 1)


def key_poses(times: np.ndarray) -> KeyPoses:
    """A person who walks so, at times that are whole frames of 120 a second: the arms hang, the trunk is upright."""
    legs, _ = walk(rate=120.0)
    down, ahead, left = np.array([0.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0]), np.array([-1.0, 0.0, 0.0])
    rows = np.rint(times * 120.0).astype(int)
    count = len(rows)
    turns = np.tile(quaternion.IDENTITY, (count, len(PARTS), 1))
    lines = np.tile(-down, (count, 21, 1))
    for start, line, leg in ((7, 4, legs[1]), (15, 12, legs[0])):  # it walks along Y, so its left is at -X
        turns[:, start + 4 : start + 7], turns[:, start + 7] = leg.turns[rows], leg.turns[rows, 2]
        ends = np.stack([leg.hip, leg.knee, leg.ankle, leg.points[:, 1]], 1)[rows]
        lines[:, line] = left if start == 7 else -left
        lines[:, line + 1 : line + 4] = down
        bones = np.diff(ends, axis=1)
        lines[:, line + 4 : line + 7] = bones / np.linalg.norm(bones, axis=-1, keepdims=True)
        lines[:, line + 7] = quaternion.rotate(leg.turns[rows, 2], np.broadcast_to(ahead, (count, 3)))
    lines[:, -1] = left
    feet = np.stack([leg.points[rows] for leg in (legs[1], legs[0])], 1)
    hips = 0.5 * (legs[0].hip + legs[1].hip)[rows]
    return KeyPoses(times, np.arange(len(PARTS)), turns, hips, lines, feet, UPPER + LOWER)


def _leg(hip: np.ndarray, ankle: np.ndarray, foot: np.ndarray) -> Leg:
    """A leg that bends its knee forward; thigh and shin point down at rest."""
    line = ankle - hip
    far = np.linalg.norm(line, axis=-1)
    at_hip = np.arccos(np.clip((far**2 + UPPER**2 - LOWER**2) / (2.0 * far * UPPER), -1.0, 1.0))
    bend = np.arccos(np.clip((far**2 - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER), -1.0, 1.0))
    down = np.array([0.0, 0.0, -1.0])
    forward = np.array([1.0, 0.0, 0.0])  # turns down toward +Y
    thigh = quaternion.product(quaternion.between(down, line), quaternion.exp(at_hip[:, None] * forward))
    shin = quaternion.product(thigh, quaternion.exp(-bend[:, None] * forward))
    knee = hip + UPPER * quaternion.rotate(thigh, np.broadcast_to(down, hip.shape))
    end = knee + LOWER * quaternion.rotate(shin, np.broadcast_to(down, hip.shape))
    return Leg(hip, knee, end, np.stack([thigh, shin, foot], 1), HEEL, BALL)


def moved(leg: Leg, way: np.ndarray, turns: np.ndarray | None = None) -> Leg:
    """A leg whose hip has moved by a way (F, 3) and whose bones have other turns (F, 3, 4)."""
    turns = leg.turns if turns is None else turns
    hip = leg.hip + way
    knee = hip + _carried(leg, turns, 0, leg.knee - leg.hip)
    return leg._replace(hip=hip, knee=knee, ankle=knee + _carried(leg, turns, 1, leg.ankle - leg.knee), turns=turns)


def _carried(leg: Leg, turns: np.ndarray, bone: int, way: np.ndarray) -> np.ndarray:
    return quaternion.rotate(quaternion.product(turns[:, bone], quaternion.conjugate(leg.turns[:, bone])), way)


DRIFTS = {"drift": (0.05, 0.0), "back": (-0.06, -0.08), "slow drift": (0.0, 0.03)}  # [m/s]
SHAKES = {"noise": 0.7, "tremble": 0.3}  # [degrees]
TURN = 2.0  # degrees a second


def sliding(legs: list[Leg], kind: str, rate: float = 30.0, seed: int = 3) -> list[Leg]:
    """Legs whose way is scaled (`x0.9`), drifts, or turns, or whose thighs and shins shake."""
    random, hips = np.random.default_rng(seed), 0.5 * (legs[0].hip + legs[1].hip)
    way, seconds = np.zeros_like(hips), np.arange(len(hips)) / rate
    about = np.tile(quaternion.IDENTITY, (len(hips), 1))
    if kind.startswith("x"):
        way[:, :2] = (float(kind[1:]) - 1.0) * (hips - hips[0])[:, :2]
    if kind in DRIFTS:
        way[:, :2] = seconds[:, None] * DRIFTS[kind]
    if kind == "turn":
        about = quaternion.exp(np.radians(TURN) * seconds[:, None] * np.array([0.0, 0.0, 1.0]))
    found = list[Leg]()
    for leg in legs:
        turns, above = leg.turns.copy(), about
        for bone in range(3):
            if kind in SHAKES and bone < 2:
                shake = random.normal(size=hips.shape)
                shake[1:-1] = (shake[:-2] + shake[1:-1] + shake[2:]) / 3.0
                above = quaternion.product(above, quaternion.exp(np.radians(SHAKES[kind]) * shake / shake.std()))
            turns[:, bone] = quaternion.product(above, turns[:, bone])
        turned = quaternion.rotate(about, leg.hip - hips[0]) - (leg.hip - hips[0])
        found.append(moved(leg, way + turned, turns))
    return found


KNEE = 0.05  # how high a knee is over the ground on which it rests


def kneel(seconds: float = 4.0, rate: float = 30.0) -> tuple[list[Leg], np.ndarray]:
    """Two legs that kneel down, sway over their knees and rise, and the contacts (F, 2, 3) of heel, ball and knee.

    The toes stay on the ground, heels for the first and the last tenth of the time; knees rest for its middle half.
    """
    times = np.linspace(0.0, 1.0, round(seconds * rate))
    down = np.clip((np.minimum(times, 1.0 - times) - 0.1) / 0.15, 0.0, 1.0)
    ease = down**3 * (10.0 - 15.0 * down + 6.0 * down**2)
    roll = quaternion.exp(-1.4 * ease[:, None] * np.array([1.0, 0.0, 0.0]))
    lean = 0.2 * np.sin(6.0 * np.pi * times) - 0.3 * ease
    legs = list[Leg]()
    for side in (0.1, -0.1):
        ankle = np.array([side, BALL[1], 0.0]) - quaternion.rotate(roll, np.broadcast_to(BALL, (len(times), 3)))
        up = ANKLE + LOWER + ease * (KNEE - ANKLE - LOWER) - ankle[:, 2]
        knee = ankle + np.stack([0.0 * up, np.sqrt(np.maximum(LOWER**2 - up**2, 0.0)), up], -1)
        hip = knee + UPPER * np.stack([0.0 * lean, np.sin(lean), np.cos(lean)], -1)
        legs.append(_leg(hip, ankle, roll))
    contacts = np.stack([ease <= 0.0, ease >= 0.0, ease >= 1.0], -1)
    return legs, np.repeat(contacts[:, None], 2, axis=1)


def standing(hips: np.ndarray, side: float) -> Leg:
    """The leg of hips at places (F, 3) whose foot stands flat under the beginning of their way."""
    ankle = np.broadcast_to([side, 0.0, ANKLE], hips.shape)
    return _leg(hips + np.array([side, 0.0, 0.0]), ankle, np.tile(quaternion.IDENTITY, (len(hips), 1)))
