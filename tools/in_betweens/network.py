# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning of networks: Adam (Kingma & Ba 2015) with decay of the weights."""

from collections.abc import Callable, Collection

import numpy as np

BATCH = 256
WARM = 100  # steps in which the rate rises
MEAN, SQUARE = 0.9, 0.999  # of Adam

Weights = dict[str, np.ndarray]


def learnt(
    weights: Weights, slopes: Callable[[Weights, np.ndarray], Weights], count: int, epochs: int, rate: float,
    decay: float, layers: Collection[str], random: np.random.Generator,
) -> Weights:  # fmt: skip
    """Weights after epochs over `count` examples.

    slopes : the derivatives of the loss of some examples (their rows) by those weights that are learnt. rate : the
    largest step. decay : what the weights of layers lose in it.
    """
    weights, moments = dict(weights), dict[str, list[np.ndarray]]()
    whole = count // BATCH * BATCH
    batches = np.concatenate([random.permutation(count)[:whole] for _ in range(epochs)]).reshape(-1, BATCH)
    for step, rows in enumerate(batches, 1):
        now = rate * min(1.0, step / WARM) * 0.5 * (1.0 + np.cos(np.pi * step / len(batches)))
        for name, slope in slopes(weights, rows).items():
            mean, square = moments.setdefault(name, [np.zeros_like(slope), np.zeros_like(slope)])
            mean += (1.0 - MEAN) * (slope - mean)
            square += (1.0 - SQUARE) * (slope**2 - square)
            way = mean / (1.0 - MEAN**step) / (np.sqrt(square / (1.0 - SQUARE**step)) + 1e-8)
            weights[name] = (weights[name] - now * (way + decay * (name in layers) * weights[name])).astype(np.float32)
    return weights


def stored(weights: Weights, layers: Collection[str]) -> Weights:
    """Weights as they are stored: the layers in half precision."""
    return {name: array.astype(np.float16) if name in layers else array for name, array in weights.items()}
