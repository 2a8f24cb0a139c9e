# SPDX-License-Identifier: GPL-3.0-or-later
"""Learns in-betweens: `python learn.py cmu_poses.npz [--out solvers/motion]`. README.md says what is learnt.

Needs NumPy alone, takes some minutes, and gives the same weights again.
"""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import captured
import learn_contacts
import numpy as np
from captured import between, quaternion

GAPS = 40_000  # about as many are drawn, half of them mirrored
SHORTEST, LONGEST = 5.0, 26.0  # frames of 30 a second between two keys
EVEN = 0.6  # of the gaps have as long ones on both sides
UNEVEN = 0.8  # natural logarithm of the largest ratio of the others
DROPPED = 0.06  # of the outer keys are taken for missing, beside those beyond a clip's ends
CENTRES, KEPT, RANK = 1000, 64, 96
LENGTH, RIDGE = 0.5, 5e-4  # of the Gaussians, in the mean distance of unlike lines; of the regression
STEADY = 0.15  # movement among the keys from which on gaps count
_LEVELS = np.arange(1, 8) / 8.0


class Example(NamedTuple):
    """Drawn windows of a clip.

    told : (N, n). moved : (N,), the movement of the whole. wanted : (N, outputs), what is to be answered. feet : what
    tells when feet stand, of the windows that are not mirrored.
    """

    told: np.ndarray
    moved: np.ndarray
    wanted: np.ndarray
    feet: learn_contacts.Feet


def drawn(own: Any, random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` windows (N, 4) of frames, and whether their outer keys are missing (N, 2)."""
    last = len(own.times) - 1
    span = np.exp(random.uniform(np.log(SHORTEST), np.log(LONGEST), count)).round().clip(2, last).astype(int)
    uneven = (random.random(count) > EVEN)[:, None] * random.uniform(-UNEVEN, UNEVEN, (count, 2))
    beside = (span[:, None] * np.exp(uneven)).round().clip(2).astype(int)
    first = random.integers(0, last - span + 1)
    rows = np.stack([first - beside[:, 0], first, first + span, first + span + beside[:, 1]], 1)
    missing = (rows < 0) | (rows > last)
    missing[:, [0, 3]] |= random.random((count, 2)) < DROPPED
    for outer, inner in ((0, 1), (3, 2)):
        rows[:, outer] = np.where(missing[:, outer], rows[:, inner], rows[:, outer])
    return rows, missing[:, [0, 3]].astype(float)


def answers(own: Any, rows: np.ndarray, missing: np.ndarray) -> tuple[Any, np.ndarray]:
    """The inputs of windows, and what is to be answered (N, outputs): what the spline lacks, in scale."""
    inputs = between.inputs_of(own, rows, missing)
    turns, hips = between.spline(own, rows, missing, np.broadcast_to(_LEVELS, (len(rows), len(_LEVELS))))
    at = rows[:, 1:2] + (rows[:, 2:3] - rows[:, 1:2]) * _LEVELS
    low = np.minimum(at.astype(int), len(own.times) - 2)
    part = (at - low)[..., None]
    true = quaternion.normalize((1.0 - part[..., None]) * own.turns[low] + part[..., None] * own.turns[low + 1])
    places = (1.0 - part) * own.hips[low] + part * own.hips[low + 1]
    lack = quaternion.log(quaternion.product(true, quaternion.conjugate(turns)))
    lack = np.concatenate([lack, ((places - hips) / own.leg)[:, :, None]], 2)
    bulges = np.einsum("bs,nspj,nij->nbpi", np.linalg.pinv(between.bulge_shapes(_LEVELS)), lack, inputs.axes)
    bulges = bulges / inputs.scales[:, None, :, None]
    return inputs, bulges.reshape(len(rows), -1)


def examples(path: Path, seed: int = 1) -> dict[str, Example]:
    """The examples by the names of clips."""
    random = np.random.default_rng(seed)
    skeletons, clips = captured.poses.load(path)
    bodies = {name: captured.body_of(skeleton) for name, skeleton in skeletons.items()}
    share = GAPS / 2.0 / sum(len(clip.turns) ** 0.5 for clip in clips)
    found = {}
    for clip in clips:
        body = bodies[clip.skeleton]
        own, parts = captured.key_poses(body, clip), []
        each = [(poses, *drawn(poses, random, int(share * len(clip.turns) ** 0.5)))
                for poses in (own, captured.mirrored(own))]  # fmt: skip
        for poses, rows, missing in each:
            inputs, wanted = answers(poses, rows, missing)
            parts.append((inputs.told, np.sqrt((inputs.scales**2).mean(1)), wanted))
        told = [np.concatenate(some).astype(np.float32) for some in zip(*parts, strict=True)]
        feet = learn_contacts.examples(*each[0], captured.contacts(body, own))
        found[clip.name] = Example(told[0], told[1], told[2], feet)
    return found


def learnt(drawn_examples: Sequence[Example], seed: int = 0) -> dict[str, np.ndarray]:
    """Weights from examples of clips: kernel ridge regression on some of them as centres."""
    told, moved, wanted = (np.concatenate(each) for each in zip(*(one[:3] for one in drawn_examples), strict=True))
    random = np.random.default_rng(seed)
    mean = told.mean(0)
    _, _, ways = np.linalg.svd(told[random.choice(len(told), min(len(told), 6000), replace=False)] - mean,
                               full_matrices=False)  # fmt: skip
    project = (ways[:KEPT].T / (LENGTH * np.sqrt(3.0 * 21.0))).astype(np.float32)
    inputs = (told - mean) @ project
    count = (moved**2 / (moved**2 + STEADY**2)).astype(np.float32)
    centres = inputs[random.choice(len(inputs), CENTRES, replace=False, p=count / count.sum())]
    normal, right = np.zeros((CENTRES, CENTRES)), np.zeros((CENTRES, wanted.shape[1]))
    for begin in range(0, len(inputs), 4000):
        rows = slice(begin, begin + 4000)
        near = between.kernels(inputs[rows], centres)
        counted = near * count[rows, None]
        normal += counted.T @ near
        right += counted.T @ wanted[rows]
    ridge = RIDGE * (between.kernels(centres, centres).astype(float) + 1e-3 * np.eye(CENTRES))
    maps = np.linalg.solve(normal / len(inputs) + ridge, right / len(inputs))
    near = between.kernels(inputs[::4], centres)
    _, _, main = np.linalg.svd(near.T @ near @ maps, full_matrices=False)  # a basis of what is answered
    return {"mean": mean, "project": project, "centres": centres, "first": maps @ main[:RANK].T, "last": main[:RANK]}


def stored(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Weights as they are stored: in single and half precision."""
    return {name: array.astype(np.float16 if name in ("centres", "last", "project") else np.float32)
            for name, array in weights.items()}  # fmt: skip


def main(arguments: Collection[str] | None = None) -> None:
    """Learn from all clips but those of subject 01 and `poses.UNSEEN`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("poses", type=Path)
    parser.add_argument("--out", type=Path, default=Path(between.__file__).parent, help="a folder")
    options = parser.parse_args(arguments)
    _, clips = captured.poses.load(options.poses)
    unseen = {clip.name for clip in clips if clip.is_unseen}
    found = [own for name, own in examples(options.poses).items() if name not in unseen]
    own = learn_contacts.stored(learn_contacts.learnt([one.feet for one in found]))
    for name, weights in (("in_betweens.npz", stored(learnt(found))), ("foot_contacts.npz", own)):
        np.savez_compressed(options.out / name, **weights)
        print(name, (options.out / name).stat().st_size, "bytes")
    print(sum(len(own.told) for own in found), "gaps")


if __name__ == "__main__":
    main()
