# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs over F frames whose ankles are put to places, as near as may be to how they were. Arrays only."""

import numpy as np

from ...solvers.algebra import quaternion

_LEAST = 1e-9


def lowered(hips: np.ndarray, ankles: np.ndarray, length: np.ndarray, up: np.ndarray) -> np.ndarray:
    """How far (F,) a hip (F, 3) has to go down so that a leg stretched to some length (F,) reaches its ankle (F, 3)."""
    line = hips - ankles
    high = line @ up
    aside = (line * line).sum(-1) - high * high
    return np.maximum(high - np.sqrt(np.maximum(length * length - aside, 0.0)), 0.0)


def reach(
    hips: np.ndarray, thigh: np.ndarray, shin: np.ndarray, lines: tuple[np.ndarray, np.ndarray], axis: np.ndarray,
    ankles: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Turns (F, 4) of thigh and shin with which the ankle is at its place (F, 3).

    hips : (F, 3). thigh, shin : (F, 4) turns from rest. lines : (3,) from hip to knee and from knee to ankle at rest.
    axis : (F, 3) about which the knee bends. The knee bends on in the plane in which it is bent; a straight one about
    its axis. A place out of reach is reached for.
    """
    upper, lower = (np.linalg.norm(line) for line in lines)
    along = quaternion.rotate(thigh, lines[0] / upper)
    down = quaternion.rotate(shin, lines[1] / lower)
    wanted = ankles - hips
    distance = np.linalg.norm(wanted, axis=-1)
    cosine = (distance**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    cosine = np.clip(cosine, -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine * cosine)
    bent = down - along * (down * along).sum(-1, keepdims=True)
    ahead = _unit(np.cross(axis, along))
    missing = np.maximum(sine - np.linalg.norm(bent, axis=-1), 0.0)
    plane = _unit(bent + missing[:, None] * ahead + _LEAST * ahead)
    new = cosine[:, None] * along + sine[:, None] * plane
    shin = quaternion.product(quaternion.between(down, new), shin)
    swing = quaternion.between(_unit(upper * along + lower * new), _unit(wanted))
    return quaternion.product(swing, thigh), quaternion.product(swing, shin)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
