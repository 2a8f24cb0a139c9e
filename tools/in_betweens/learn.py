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
import network
import numpy as np
from captured import between, quaternion

GAPS = 120_000  # about as many are drawn, half of them mirrored
SHORTEST, LONGEST = 5.0, 26.0  # frames of 30 a second between two keys
EVEN = 0.6  # of the gaps have as long ones on both sides
UNEVEN = 0.8  # natural logarithm of the largest ratio of the others
MISSING = 0.1  # of the outer keys are taken for missing, beside those beyond a clip's ends
HIDDEN, EPOCHS, RATE, DECAY = (256, 256), 10, 1.5e-3, 1e-3
DROPPED, NOISE = 0.1, 0.1  # of each layer is left out by chance; of the scales is added to what is told
ARMS = 0.4  # of the windows get the arms of others
NEAR = 0.01  # of the leg: distances below count by their squares
LEVER = np.array([0.3, *[0.5] * 3, *[0.2] * 3, *[0.25, 0.4, 0.28, 0.12, 0.7, 0.6, 0.2, 0.08] * 2, 4.0])
"""How far the ends of the parts are [leg], more where others hang on them, and most of the hips' place."""
LAYERS = ("first", "second", "last")
_LEVELS = np.arange(1, 8) / 8.0
_SHAPES = between.bulge_shapes(_LEVELS).astype(np.float32)
_LIMBS = len(between.PARTS) - 2 * len(between.LIMB_PARTS)
_ARMS = np.concatenate([start + np.arange(4) for start in (0, len(between.LIMB_PARTS))])  # of the limbs' parts
_SCALED = 0.05  # the least scale of what is told


class Example(NamedTuple):
    """Drawn windows of a clip.

    window : N of them. lack : (N, 7, P + 1, 3), what the spline lacks between the keys, in the figure's axes. feet :
    what tells when feet stand, of the windows that are not mirrored.
    """

    window: Any
    lack: np.ndarray
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
    missing[:, [0, 3]] |= random.random((count, 2)) < MISSING
    for outer, inner in ((0, 1), (3, 2)):
        rows[:, outer] = np.where(missing[:, outer], rows[:, inner], rows[:, outer])
    return rows, missing[:, [0, 3]].astype(float)


def lacking(own: Any, rows: np.ndarray, missing: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """What the spline lacks (N, 7, P + 1, 3) in windows."""
    turns, hips = between.spline(own, rows, missing, np.broadcast_to(_LEVELS, (len(rows), len(_LEVELS))))
    at = rows[:, 1:2] + (rows[:, 2:3] - rows[:, 1:2]) * _LEVELS
    low = np.minimum(at.astype(int), len(own.times) - 2)
    part = (at - low)[..., None]
    true = quaternion.normalize((1.0 - part[..., None]) * own.turns[low] + part[..., None] * own.turns[low + 1])
    places = (1.0 - part) * own.hips[low] + part * own.hips[low + 1]
    lack = quaternion.log(quaternion.product(true, quaternion.conjugate(turns)))
    return np.einsum("nij,nspj->nspi", axes, np.concatenate([lack, ((places - hips) / own.leg)[:, :, None]], 2))


def examples(path: Path, seed: int = 1) -> dict[str, Example]:
    """The examples by the names of clips."""
    random = np.random.default_rng(seed)
    skeletons, clips = captured.poses.load(path)
    bodies = {name: captured.body_of(skeleton) for name, skeleton in skeletons.items()}
    share = GAPS / 2.0 / sum(len(clip.turns) ** 0.5 for clip in clips)
    found = {}
    for clip in clips:
        body = bodies[clip.skeleton]
        own, windows, lack = captured.key_poses(body, clip), [], []
        each = [(poses, *drawn(poses, random, int(share * len(clip.turns) ** 0.5)))
                for poses in (own, captured.mirrored(own))]  # fmt: skip
        for poses, rows, missing in each:
            windows.append(between.window_of(poses, rows, missing))
            lack.append(lacking(poses, rows, missing, windows[-1].axes))
        feet = learn_contacts.examples(*each[0], captured.contacts(body, own))
        found[clip.name] = Example(joined(windows), np.concatenate(lack).astype(np.float32), feet)
    return found


def joined(windows: Sequence[Any]) -> Any:
    """All of some windows, in single precision."""
    return between.PoseWindow(*(np.concatenate(each).astype(np.float32) for each in zip(*windows, strict=True)))


def learnt(drawn_examples: Sequence[Example], seed: int = 0) -> network.Weights:
    """Weights from examples of clips: the mean distance of the parts' ends from the captured ones."""
    random = np.random.default_rng(seed)
    window, lack = joined([one.window for one in drawn_examples]), np.concatenate([one.lack for one in drawn_examples])

    def slopes(weights: network.Weights, rows: np.ndarray) -> network.Weights:
        some, own = between.PoseWindow(*(one[rows] for one in window)), lack[rows]
        return _slopes(weights, *_other_arms(some, own, random), random)

    return network.learnt(_begun(window, lack.shape[2] * 3 * between.BULGES, random), slopes, len(lack), EPOCHS, RATE,
                          DECAY, LAYERS, random)  # fmt: skip


def _begun(window: Any, answers: int, random: np.random.Generator) -> network.Weights:
    """Weights by chance, and mean and scale of what is told."""
    told = between.told(window)
    sizes, found = [told.shape[1], *HIDDEN, answers], {"mean": told.mean(0), "scale": told.std(0) + _SCALED}
    for name, size, count in zip(LAYERS, sizes, sizes[1:], strict=False):
        found[name] = random.normal(size=(size, count)) * np.sqrt(2.0 / size) * (0.1 if name == "last" else 1.0)
        found[f"{name}_add"] = np.zeros(count)
    return {name: array.astype(np.float32) for name, array in found.items()}


def _other_arms(window: Any, lack: np.ndarray, random: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Windows of which some have the arms of others: what arms do tells little about legs."""
    rows = np.flatnonzero(random.random(len(lack)) < ARMS)
    others, lines, lack = random.permutation(len(lack))[: len(rows), None], window.lines.copy(), lack.copy()
    for values, first in ((lines, between.TRUNK_LINES), (lack, _LIMBS)):
        values[rows[:, None], :, first + _ARMS] = values[others, :, first + _ARMS]
    return window._replace(lines=lines), lack


def _slopes(weights: network.Weights, window: Any, lack: np.ndarray, random: np.random.Generator) -> network.Weights:
    """The derivatives of the loss of some windows by the weights."""
    told, scales = between.told(window), window.movement[1][:, None, :, None] * LEVER[:, None].astype(np.float32)
    told = told + NOISE * weights["scale"] * random.standard_normal(told.shape, dtype=np.float32)
    kept = [(random.random((len(told), len(weights[name])), dtype=np.float32) > DROPPED) / np.float32(1.0 - DROPPED)
            for name in LAYERS]  # fmt: skip
    scaled, first, second, answers = between.layers(weights, told, kept)
    bulges = answers.reshape(len(lack), between.BULGES, -1, 3) * scales
    off = np.einsum("sb,nbpi->nspi", _SHAPES, bulges) - lack * LEVER[:, None].astype(np.float32)
    by_off = off / np.sqrt((off**2).sum(-1, keepdims=True) + NEAR**2) / len(lack)
    by_last = (np.einsum("sb,nspi->nbpi", _SHAPES, by_off) * scales).reshape(len(lack), -1)
    by_second = (by_last @ weights["last"].T) * (second > 0.0) * kept[2]
    by_first = (by_second @ weights["second"].T) * (first > 0.0) * kept[1]
    found = dict[str, np.ndarray]()
    for name, values, by in zip(LAYERS, (scaled, first, second), (by_first, by_second, by_last), strict=True):
        found |= {name: values.T @ by, f"{name}_add": by.sum(0)}
    return found


def main(arguments: Collection[str] | None = None) -> None:
    """Learn from all clips but those of subject 01 and `poses.UNSEEN`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("poses", type=Path)
    parser.add_argument("--out", type=Path, default=Path(between.__file__).parent, help="a folder")
    options = parser.parse_args(arguments)
    _, clips = captured.poses.load(options.poses)
    unseen = {clip.name for clip in clips if clip.is_unseen}
    found = [own for name, own in examples(options.poses).items() if name not in unseen]
    contacts = learn_contacts.learnt([one.feet for one in found])
    for name, weights, layers in (("in_betweens.npz", learnt(found), LAYERS),
                                  ("foot_contacts.npz", contacts, learn_contacts.LAYERS)):  # fmt: skip
        np.savez_compressed(options.out / name, **network.stored(weights, layers))
        print(name, (options.out / name).stat().st_size, "bytes")
    print(sum(len(own.lack) for own in found), "gaps")


if __name__ == "__main__":
    main()
