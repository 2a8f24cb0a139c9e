# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point of whole clips: `solve_clip`."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .api import prepare, solutions_of, solve_frames
from .clip import slow_into, solve_into
from .model.contacts import Contacts
from .model.errors import InvalidOptions, InvalidPose
from .model.goals import Goal
from .model.numbers import number, shown
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Solution


def solve_clip(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: ArrayLike | None,
    rotations: ArrayLike | None = None,
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
    smooth: float = 1.0,
    reference: Pose | None = None,
    points: ArrayLike | None = None,
    contacts: Contacts | None = None,
) -> list[Solution]:
    """Solve all frames of a motion as one problem: one solution a frame.

    Goals and limits hold as exactly as in `solve_frames`. Of the motions that meet them, it finds one whose joints have
    small accelerations: a limb does not pop from one way to meet its goals to another unless the goals force it to.
    A goal that the frame solver cannot meet goes where the frame solver brings it. Where limits leave a goal no way but
    a pop, it is missed instead, by up to 0.03 skeleton lengths.

    Parameters
    ----------
    smooth : weight of the accelerations, 1 for a natural amount; 0 gives `solve_frames` to the bit.
    reference : `Pose` of (F, J, 4) and (F, J, 3), a motion to correct. It takes the place of `pose`: each frame stays
        near its own pose, and it is the correction's acceleration that is small, so that the motion keeps its accents.
    contacts : bodies that nothing passes through, as for `solve_frames`. Goals that these keep away are led to where
        they bring them frame by frame; bodies that still overlap in the smooth motion are pushed apart in each frame.

    Other parameters, and errors, as for `solve_frames`.

    Notes
    -----
    Minimises, by Levenberg-Marquardt steps over all frames, goals as stiff springs, squared accelerations of the
    joints, a robust distance from the motion that it begins with or the reference, and one-sided limits; then solves
    each frame's goals exactly, and slows joints that turn faster than their goals make them. It begins with
    frame-by-frame answers, every few frames where the goals can be met. Steps follow from a block-banded Cholesky
    factorisation. Long motions are solved in windows of 300 frames that overlap, so that time and memory grow with
    the number of frames; where windows begin changes joints by less than 0.001 rad.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> places = [[(0.5, 1.0, 0.3 + 0.1 * frame)] for frame in range(5)]
    >>> frames = ik.solve_clip(arm, [ik.Goal("hand", position=(0, 0, 0))], places)
    >>> [frame.converged for frame in frames]
    [True, True, True, True, True]
    """
    weight = number(smooth)
    if not 0.0 <= weight < np.inf:
        raise InvalidOptions(f"smooth = {shown(smooth)}; expected a finite number, 0 or more")
    if not weight:
        return solve_frames(skeleton, goals, positions, rotations, pose, solver, options, points, contacts)
    prepared = prepare(skeleton, goals, solver, options, contacts)
    targets, start = prepared.targets(positions, rotations, points=points), prepared.start(pose)
    count = len(targets.positions)
    if reference is not None:
        start = skeleton.check_pose(reference, batch=True)
        if start.rotations.shape != (count, len(skeleton), 4):
            expected = (count, len(skeleton), 4)
            raise InvalidPose(f"reference.rotations: expected shape {expected}, got {start.rotations.shape}")
    if not count:
        return []
    began = time.perf_counter()
    arrays = prepared.arrays(count, shared=reference is None)
    arrays.ask(targets, start)
    solve_into(prepared, prepared, arrays, weight, reference is not None)
    if reference is None and contacts is None:
        slow_into(prepared, arrays, weight)
    prepared.push_apart(arrays)
    return solutions_of(prepared, arrays, time.perf_counter() - began)
