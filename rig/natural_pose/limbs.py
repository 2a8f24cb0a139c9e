# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs as triangles: from the place of the wrist and the axis of the elbow's hinge to the frames of both bones."""

import numpy as np

from ...solvers.algebra import quaternion

STEADY = 0.5  # share of the usual hinge in the predicted one, so that it does not vanish
SOFT = 0.03  # of both lengths together, over which a limb comes to its full length without a jerk of its bend
FOLDED = 0.02  # of both lengths together, by which the end of a limb is further than when the limb is folded


def steady(hinge: np.ndarray, line: np.ndarray, usual: np.ndarray, straight: np.ndarray) -> np.ndarray:
    """Hinge axes (F, L, 3) square to unit lines (F, L, 3), not of unit length.

    Where the prediction points along the line, the usual hinge decides: `usual` (L, 3), of limbs that point to
    `straight` (L, 3), carried along the shortest arc. It fades out at the opposite direction, to which no arc is
    shortest.
    """
    cosine = 1.0 + (line * straight).sum(-1, keepdims=True)
    along = (line * usual).sum(-1, keepdims=True) / np.maximum(cosine, 1e-4)
    carried = (usual - along * (line + straight)) * np.minimum(cosine, 1.0)
    return hinge - (hinge * line).sum(-1, keepdims=True) * line + STEADY * carried


def triangles(
    reach: np.ndarray, distance: np.ndarray, hinge: np.ndarray, lengths: np.ndarray, sign: np.ndarray
) -> np.ndarray:
    """Frames (F, L, 2, 3, 3) of both bones of limbs; columns along, forward, hinge.

    reach : (F, L, 3) unit lines from root to end. distance : (F, L, 1) between them. hinge : (F, L, 3) square to them.
    lengths : (F or 1, L, 2). sign : (L, 1), 1 for limbs that bend forward about their hinge (arms), -1 for legs.
    """
    upper, lower = lengths[..., :1], lengths[..., 1:]
    whole = upper + lower
    spare = whole - distance  # softened: the bend of a stretched limb depends on it by a square root
    distance = whole - 0.5 * (spare + np.sqrt(spare * spare + (SOFT * whole) ** 2))
    distance = np.maximum(distance, np.abs(upper - lower) + FOLDED * whole)
    hinge = hinge / np.sqrt(np.maximum((hinge * hinge).sum(-1, keepdims=True), 1e-24))
    out = sign * quaternion.cross(reach, hinge)
    cosine = np.clip((distance * distance + upper * upper - lower * lower) / (2.0 * upper * distance), -1.0, 1.0)
    first = cosine * reach + np.sqrt(1.0 - cosine * cosine) * out
    second = (distance * reach - upper * first) / lower
    frames = np.empty((*reach.shape[:-1], 2, 3, 3))
    frames[..., 0, :, 0], frames[..., 1, :, 0] = first, second
    frames[..., 2] = hinge[..., None, :]
    frames[..., 0, :, 1], frames[..., 1, :, 1] = quaternion.cross(hinge, first), quaternion.cross(hinge, second)
    return frames


def beyond(tip: np.ndarray, turn: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The line from the middle joint to the effector of limbs without rotation: lengths (F, P, 1), frames (F, P, 3, 3).

    The frames, columns along the line, across it, hinge, are in the axes of the lower bone. tip : (P, 3) from wrist or
    ankle to the effector at rest, turn : (F, P, 4) of the end, both in these axes. length : (P, 1) of the lower bone.
    """
    line = quaternion.rotate(turn, tip)
    line[..., :1] += length
    distance = np.sqrt((line * line).sum(-1, keepdims=True))
    along = line / np.maximum(distance, 1e-9)
    hinge = np.array([0.0, 0.0, 1.0]) - along * along[..., 2:]
    hinge = hinge / np.sqrt(np.maximum((hinge * hinge).sum(-1, keepdims=True), 1e-24))
    return distance, np.stack([along, quaternion.cross(hinge, along), hinge], -1)
