# SPDX-License-Identifier: GPL-3.0-or-later
"""Learns when feet stand between keys; `learn.py` calls it. README.md says what is learnt."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import network
import numpy as np
from captured import contacts_between

SHARES = np.linspace(0.0, 1.0, 9)  # of the time between two keys, at which contacts are learnt
EPOCHS, RATE, DECAY = 3, 2e-3, 1e-3
DROPPED = 0.1  # of what is told of keys is left out by chance
_SCALED = 0.05  # the least scale of what is told
LAYERS = ("keys", "at", "second", "last")


class Feet(NamedTuple):
    """What is told of the keys (N, 1, 2, n) and of times (N, S, 2, m) of windows, and the contacts (N, S, 2, 2)."""

    keys: np.ndarray
    at: np.ndarray
    stands: np.ndarray


def examples(own: Any, rows: np.ndarray, missing: np.ndarray, stands: np.ndarray) -> Feet:
    """Of windows (N, 4) of frames, with the contacts (F, 2, 2) of all frames."""
    span = rows[:, 2:3] - rows[:, 1:2]
    frames = np.rint(rows[:, 1:2] + span * SHARES).astype(int)
    keys, at = contacts_between.told(own, rows, missing, (frames - rows[:, 1:2]) / span)
    return Feet(*(one.astype(np.float32) for one in (keys, at, stands[frames])))


def learnt(parts: Sequence[Feet], seed: int = 0) -> dict[str, np.ndarray]:
    """Weights from examples of clips, by a logistic loss."""
    every = Feet(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    random = np.random.default_rng(seed)
    return network.learnt(
        _begun(every, random), lambda weights, rows: _slopes(weights, Feet(*(one[rows] for one in every)), random),
        len(every.keys), EPOCHS, RATE, DECAY, LAYERS, random)  # fmt: skip


def _begun(every: Feet, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights by chance, and means and scales of what is told."""
    found, (first, second) = dict[str, np.ndarray](), contacts_between.HIDDEN
    for name, values in (("keys", every.keys), ("at", every.at)):
        flat = values.reshape(-1, values.shape[-1])
        found[f"{name}_mean"], found[f"{name}_scale"] = flat.mean(0), flat.std(0) + _SCALED
    told = every.keys.shape[-1] + every.at.shape[-1]
    for name, size, count in (("keys", every.keys.shape[-1], first), ("at", every.at.shape[-1], first)):
        found[name] = random.normal(size=(size, count)) / np.sqrt(told)
    found["second"] = random.normal(size=(first, second)) * np.sqrt(2.0 / first)
    found["last"] = random.normal(size=(second, 2)) / np.sqrt(second)
    found |= {"first_add": np.zeros(first), "second_add": np.zeros(second), "last_add": np.zeros(2)}
    return {name: array.astype(np.float32) for name, array in found.items()}


def _slopes(weights: dict[str, np.ndarray], some: Feet, random: np.random.Generator) -> dict[str, np.ndarray]:
    """The derivatives of the loss of some examples by the weights; what is left out counts as in the mean."""
    kept = random.random(some.keys.shape, dtype=np.float32) >= DROPPED
    keys = np.where(kept, some.keys, weights["keys_mean"])
    keys, at, first, second, odds = contacts_between.layers(weights, keys, some.at)
    by_odds = 4.0 * (1.0 / (1.0 + np.exp(-odds)) - some.stands) / odds.size
    by_second = (by_odds @ weights["last"].T) * (second > 0.0)
    by_first = (by_second @ weights["second"].T) * (first > 0.0)

    def product(values: np.ndarray, by: np.ndarray) -> np.ndarray:
        return values.reshape(-1, values.shape[-1]).T @ by.reshape(-1, by.shape[-1])

    found = {"keys": product(keys, by_first.sum(1, keepdims=True)), "at": product(at, by_first),
             "second": product(first, by_second), "last": product(second, by_odds)}  # fmt: skip
    for name, by in (("first", by_first), ("second", by_second), ("last", by_odds)):
        found[f"{name}_add"] = by.sum((0, 1, 2))
    return found
