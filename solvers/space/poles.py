# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles: the direction in which the middle of a chain bends, as a soft task among the others.

A pole's error is the dihedral angle, about the line from the chain's root `a` to its end `b`, from the plane of the
pole `P` to the plane of the middle `m`. It is one more error row of the solve, so limits hold with it, and any number
of goals may have a pole. (Blender turns the whole chain after its solve instead, past its limits, and drops the pole if
there are two goals.)

The angle is undefined on a straight limb, so the row fades out with the middle's distance `rho` from the line: `e = -w
phi rho / sqrt(rho^2 + s^2)`. All gradients are exact; derivations are our own.
"""

from dataclasses import dataclass

import numpy as np

from ..algebra import quaternion

POLE_WEIGHT = 0.05  # [skeleton lengths / rad]
FADE = 0.005  # of the limb's length: s. With a larger one the solve could meet a pole by straightening the limb
ON_LINE = 1e-9  # of the limb's length, and of the pole's distance: what is shorter has no direction
STRAIGHT_LIMB = 3e-6  # of its length: single precision may put its middle as far from the line, to any side
UNBENT, BENT_LIMB = 7.5e-3, 1.5e-2  # of its length, middle off the line: tolerances bend straight limbs by the first
SINGLE = 1e-6  # of how far from the origin points are: by so much single precision may move them


@dataclass(frozen=True)
class Pole:
    """A pole and its chain: goal, root joint, middle joints, end joint (-1: the goal's effector), angle, weight."""

    goal: int
    root: int
    middle: tuple[int, ...]
    end: int
    angle: float
    weight: float


def angles_and_gradients(
    a: np.ndarray, m: np.ndarray, b: np.ndarray, pole: np.ndarray, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Faded pole angles (F,) [rad] and their gradients (F, 3, 3) by the points `a`, `m`, `b`.

    Parameters
    ----------
    a, m, b, pole : (F, 3) root, middle, end and pole. offset : [rad] angle from the pole at which the middle should be.
    """
    line = b - a
    length = np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12)
    d = line / length
    u, p = m - a, pole - a
    along = (u * d).sum(-1, keepdims=True)
    u_off, p_off = u - d * along, p - d * (p * d).sum(-1, keepdims=True)
    rho = np.maximum(np.linalg.norm(u_off, axis=-1, keepdims=True), 1e-12)
    pole_rho = np.maximum(np.linalg.norm(p_off, axis=-1, keepdims=True), 1e-12)
    turned = (d * quaternion.cross(p_off, u_off)).sum(-1, keepdims=True)
    phi = np.arctan2(turned, (p_off * u_off).sum(-1, keepdims=True))
    phi = np.remainder(phi - offset + np.pi, 2.0 * np.pi) - np.pi
    # a dihedral angle's gradients: by m and P perpendicular to their planes, by b from the balance of moments about a
    by_m = quaternion.cross(d, u_off) / rho**2
    by_pole = -quaternion.cross(d, p_off) / pole_rho**2
    moment = quaternion.cross(u, by_m) + quaternion.cross(p, by_pole)
    by_b = -quaternion.cross(moment, line) / length**2
    by_a = -(by_m + by_pole + by_b)
    # distance from the line relative to the limb's size, which changes if the middle is a mean of joints
    w = m - b
    upper, lower = np.linalg.norm(u, axis=-1, keepdims=True), np.linalg.norm(w, axis=-1, keepdims=True)
    fade = np.maximum(0.5 * FADE * (upper + lower), 1e-12)
    root = np.sqrt(rho * rho + fade * fade)
    sided = _has_side(length, rho, pole_rho, upper + lower, np.linalg.norm(p, axis=-1, keepdims=True))
    phi, faded = np.where(sided, phi, 0.0), np.where(sided, rho / root, 0.0)
    slope, growth = fade * fade / root**3, -0.5 * FADE * rho * fade / root**3
    out = u_off / rho
    share = along / length
    spread = np.stack([-(1.0 - share) * out, out, -share * out], -2)
    u, w = u / np.maximum(upper, 1e-12), w / np.maximum(lower, 1e-12)
    longer = np.stack([-u, u + w, -w], -2)
    gradient = faded[..., None] * np.stack([by_a, by_m, by_b], -2)
    gradient += (phi * slope)[..., None] * spread + (phi * growth)[..., None] * longer
    return (phi * faded)[:, 0], gradient


def swivel(
    rotation: np.ndarray,
    matrix: np.ndarray,
    a: np.ndarray,
    m: np.ndarray,
    b: np.ndarray,
    pole: np.ndarray,
    offset: float,
    share: np.ndarray,
) -> np.ndarray:
    """A root joint's motion (F, 4), turned about the line from `a` to `b` so that the middle `m` points at the pole.

    rotation (F, 4) and matrix (F, 3, 3): the root joint's motion and world orientation. share : (F,) of the turn.
    """
    turn = share[:, None] * swivel_vector(a, m, b, pole, offset)
    vector = (np.swapaxes(matrix, -1, -2) @ turn[..., None])[..., 0]
    return quaternion.product(rotation, quaternion.exp(vector))


def swivel_share(a: np.ndarray, m: np.ndarray, b: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """The share (F,) of its turn to the pole that a held limb gets before a solve: 0 if it is straight and may stay so.

    Within its goal's tolerance a straight limb bends to any side, and would roll by which one it happens to be.

    distance : (F,) the longest that its line may be at the target.
    """
    whole = np.maximum(np.linalg.norm(m - a, axis=-1) + np.linalg.norm(m - b, axis=-1), 1e-12)
    line = np.clip(np.minimum(np.linalg.norm(b - a, axis=-1), distance) / whole, 0.0, 1.0)
    return np.clip((0.5 * np.sqrt(1.0 - line * line) - UNBENT) / (BENT_LIMB - UNBENT), 0.0, 1.0)


def swivel_vector(a: np.ndarray, m: np.ndarray, b: np.ndarray, pole: np.ndarray, offset: float) -> np.ndarray:
    """The rotation vector (F, 3), along the line from `a` to `b`, that brings the middle `m` to the pole.

    Zero if the middle or the pole is on the line, where the angle would be rounding only. That of single precision
    counts too: else straight limbs would roll by what it happens to be.
    """
    length = np.linalg.norm(b - a, axis=-1)
    line = (b - a) / np.maximum(length, 1e-12)[:, None]
    u, p = m - a, pole - a
    across = (p * u).sum(-1) - (p * line).sum(-1) * (u * line).sum(-1)
    phi = np.arctan2((line * quaternion.cross(p, u)).sum(-1), across) - offset
    off, pole_off = (np.linalg.norm(quaternion.cross(line, v), axis=-1) for v in (u, p))
    whole = np.linalg.norm(u, axis=-1) + np.linalg.norm(m - b, axis=-1)
    sided = _has_side(length, off, pole_off, whole, np.linalg.norm(p, axis=-1))
    sided &= off > np.maximum(STRAIGHT_LIMB * whole, SINGLE * np.linalg.norm(m, axis=-1))
    return -np.where(sided, phi, 0.0)[:, None] * line


def _has_side(
    length: np.ndarray, off: np.ndarray, pole_off: np.ndarray, whole: np.ndarray, far: np.ndarray
) -> np.ndarray:
    """Whether the angle between middle and pole is more than rounding.

    length : of the line. off, pole_off : distances of middle and pole from it. whole : length of the limb. far :
    distance of the pole from the root.
    """
    thin = np.minimum(length, off) <= ON_LINE * whole
    return ~(thin | (pole_off <= ON_LINE * far) | (whole <= ON_LINE * far))
