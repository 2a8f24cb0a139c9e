# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed poses that miss their goals stay as they were keyed, whatever the frames beside them do."""

import numpy as np

import solvers as ik
from solvers.keyed import keyed_reach


def test_a_frame_alone_is_that_of_a_batch() -> None:
    """Of one whose goal comes much nearer, beside one that gains hardly anything."""
    arms = [
        ik.Joint(f"{name} {side}", parent, "ball", (x * side, y, z))
        for side, chest in ((1, 1), (-1, 1)) for name, parent, x, y, z in (
            ("arm", chest, 0.2, 0, 0.2), ("forearm", 2 if side > 0 else 5, 0.3, 0, 0),
            ("hand", 3 if side > 0 else 6, 0.28, 0.02, 0))
    ]  # fmt: skip
    body = ik.Skeleton([ik.Joint("hips", -1, "ball", (0, 0, 0)), ik.Joint("chest", 0, "ball", (0, 0, 0.5)), *arms])
    prepared = ik.prepare(body, [ik.Goal("hand 1", (0, 0, 0)), ik.Goal("hand -1", (0, 0, 0))])
    random, frames = np.random.default_rng(3), 40
    rotations = (1.0, 0, 0, 0) + 0.3 * random.normal(size=(frames, 8, 4))
    posed = ik.Pose(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), np.zeros((frames, 8, 3)))
    poses = [ik.Pose(*(part[frame] for part in posed)) for frame in range(frames)]
    hands = np.array([ik.forward(body, pose).positions[[4, 7]] for pose in poses])
    wanted = hands + random.normal(size=(frames, 2, 3)) * np.geomspace(0.01, 1.0, frames)[:, None, None]

    def stayed(some: slice) -> np.ndarray:
        arrays = prepared.arrays(len(wanted[some]))
        arrays.positions[:], arrays.start_rotations[:] = wanted[some], posed.rotations[some]
        prepared.solve_into(arrays)
        own = ik.Pose(*(part[some] for part in posed))
        keyed_reach.stay(arrays, prepared, own, lambda again, _: prepared.solve_into(again), np.zeros(0, dtype=int))
        return arrays.rotations.copy()

    together = stayed(slice(None))
    for frame in range(frames):
        assert np.array_equal(stayed(slice(frame, frame + 1))[0], together[frame]), frame
