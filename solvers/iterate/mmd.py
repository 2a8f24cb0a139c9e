# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD as MikuMikuDance does it: loop count and unit angle, so that its rigs bend here as they do there.

The IK of a PMX bone has a target, links from the effector's parent upward, a loop count, and a unit angle in radians
(four times what a PMD file calls its weight). MikuMikuDance's own code is not public; its users have found out how it
uses these. This follows babylon-mmd (`src/Runtime/ikSolver.ts`), with whose limit of an angle MMD.js agrees; saba
(`MMDIkSolver.cpp`), from which the former began, has the same limit for all links.

- Each loop visits the links from the effector upward, each for the position alone. A link turns its effector toward the
  target about their common normal, by `(k + 1) unit_angle` at most for link k = 0, 1, ...: the upper ones turn further.
- A link that bends about one axis (a knee, here a hinge) turns about that axis by the whole angle, to the side that the
  normal says, in the first half of the loops; in the second half it takes the part of the turn that is about its axis.
- Limits are applied at once. In the first half an angle past a limit is mirrored at it, if the mirrored one is inside:
  so a leg that begins straight against its stop comes off it.
- It stops when the effector is within the tolerance, or after `iterations` loops. Other than there, it also stops
  where hundreds of loops bring it no nearer (`CREEP_STEPS`).

Links are the joints of the goal's chain that may turn, but for one whose origin is the effector. Where a PMX link has
limits about several axes, a ball has its own in twist and swing, and is moved to the nearest pose inside. Every loop
serves all goals in turn, where MikuMikuDance runs all loops of one goal before the next; the result is the same unless
goals share joints. A stiffness reduces the angle by its share. MikuMikuDance begins with the keyed pose, as a solve
does with `pull = 0` and `warm_start` off; with a pull the stage folds limbs first, and takes steps of its own.
"""

import numpy as np

from ..algebra import arctan2, quaternion
from ..space.joint_space import JointSpace
from ..space.point import Point, Request, stand
from ..space.posture import Posture, Visit, visits
from ..space.tasks import Tasks
from .descent import CREEP_SHARE, CREEP_STEPS, Minimum, Settings
from .linear_step import dot

ALIGNED = 1e-8  # square of a sine: below it an effector already points at its target


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Run loops until a frame's goals are met or come no nearer, `iterations` at most."""
    unit, loops = settings.options.unit_angle or 0.0, settings.iterations
    order = links(tasks, space)
    point, iterations = start.copy(), np.zeros(len(start.error), dtype=int)
    creeps, mark = np.zeros(len(start.error), dtype=bool), np.zeros(0)
    for loop in range(loops):
        if loop and loop % CREEP_STEPS == 0:
            square = (point.error[:, : tasks.m] ** 2).sum(-1)
            if loop > CREEP_STEPS:
                creeps |= square > (1.0 - CREEP_SHARE) * mark
            mark = square
        left = ~(creeps | tasks.within(point.error, settings.tolerance, settings.rotation_tolerance))
        if not left.any():
            break
        request = frames.take(np.flatnonzero(left))
        posture = Posture(tasks, point.take(left), request)
        for visit, k in order:
            turn_link(space, posture, visit, visit.share * (k + 1) * unit, loop < loops // 2)
        point.put(left, stand(tasks, posture.state, request))
        iterations[left] += 1
    return Minimum(point, iterations, 0.5 * dot(point.error, point.error))


def links(tasks: Tasks, space: JointSpace) -> list[tuple[Visit, int]]:
    """The links of every goal in turn, from the effector upward, each with its number."""
    upward, order = visits(tasks, space)[::-1], list[tuple[Visit, int]]()
    for goal in range(tasks.count):
        k = 0
        for visit in upward:
            at = np.flatnonzero(visit.goals == goal)
            here = visit.joint == tasks.joint[goal] and not tasks.offsets[goal].any()
            if not at.size or visit.kind.slides or here:
                continue
            order.append((visit.alone(at), k))
            k += 1
    return order


def turn_link(space: JointSpace, posture: Posture, visit: Visit, most: float, early: bool) -> None:
    """Turn a link's one effector toward its target, by `most` [rad] at most; `early`: in the first half."""
    arm, end = (_unit(part[:, 0]) for part in posture.arms(visit))
    normal = quaternion.cross(arm, end)
    square = dot(normal, normal)
    turns = square > ALIGNED
    angle = np.where(turns, np.minimum(np.arccos(np.clip(dot(arm, end), -1.0, 1.0)), most), 0.0)
    motion, x = posture.state.rotations[:, None, visit.joint], posture.state.x[:, visit.block]
    # in the frame of the joint at rest, before its motion
    normal = np.swapaxes(posture.matrices[:, visit.joint], -1, -2) @ _unit(normal)[..., None]
    normal = quaternion.rotate(motion, normal[:, None, :, 0])[:, 0]
    turn = quaternion.exp(angle[:, None] * normal)
    if visit.kind.freedoms == 3:
        posture.move(space, visit, quaternion.product(turn[:, None], motion)[:, 0])
        return
    axis, lo, hi = space.skeleton.axis[visit.joint], space.lo[visit.block], space.hi[visit.block]
    if early:
        to = x + np.where((normal * axis).sum(-1) >= 0.0, angle, -angle)[:, None]
        mirrored = np.where(to < lo, 2.0 * lo - to, np.where(to > hi, 2.0 * hi - to, to))
        to = np.where((mirrored >= lo) & (mirrored <= hi), mirrored, to)
    else:
        to = x + _about(axis, turn)[:, None]
    posture.move(space, visit, quaternion.exp(axis * np.where(turns[:, None], np.clip(to, lo, hi), x)))


def _about(axis: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """The angle (F,) about an axis (3,) in a turn (F, 4): the first of three Euler angles, as MikuMikuDance has it.

    The other two axes are Y and Z after the smallest turn that brings X to `axis`.
    """
    frame = quaternion.to_matrix(quaternion.between(np.array([1.0, 0.0, 0.0]), axis))
    matrix = frame.T @ quaternion.to_matrix(turn[:, None])[:, 0] @ frame
    return arctan2(matrix[:, 2, 1], matrix[:, 2, 2])


def _unit(v: np.ndarray) -> np.ndarray:
    """`v / |v|` (F, 3); zero where `v` is."""
    return v / np.maximum(np.sqrt(dot(v, v)), 1e-300)[:, None]
