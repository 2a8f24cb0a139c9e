# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed poses that miss their goals stay as they were keyed, whatever the frames beside them do."""

import numpy as np
from measures import UPRIGHT, turned_by
from skeletons import bent, chain

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


def test_an_answer_that_misses_goals_of_two_kinds_stays() -> None:
    """Keyed as seen: a solve leaves it, so neither goal is given up for the other."""
    goals = [ik.Goal(3, position=(0.5, 2.0, 5.0)),
             ik.Goal(3, kind="PLANE", position=(0, 0, 0), rotation=UPRIGHT, distance=1.0, chain=[1, 2, 3])]  # fmt: skip
    prepared, seen = ik.prepare(chain(4), goals), bent(4)
    arrays = prepared.arrays()
    arrays.positions[:] = [goal.position for goal in goals]
    for _ in range(3):
        posed = ik.Pose(seen.rotations[None], seen.translations[None])
        arrays.start_rotations[:] = seen.rotations
        prepared.solve_into(arrays)
        seen = ik.Pose(arrays.rotations[0].copy(), arrays.translations[0].copy())
    keyed_reach.stay(arrays, prepared, posed, lambda again, _: prepared.solve_into(again), np.zeros(0, dtype=int))
    assert not arrays.converged.any()
    assert np.degrees(turned_by(ik.Pose(posed.rotations[0], posed.translations[0]),
                                ik.Pose(arrays.rotations[0], arrays.translations[0]))).max() < 0.06  # fmt: skip
