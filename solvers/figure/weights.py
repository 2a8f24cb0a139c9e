# SPDX-License-Identifier: GPL-3.0-or-later
"""Learnt weights as arrays, and their evaluation for the limbs and the trunk of one figure.

Learnt from captured motion: the data used in this project was obtained from mocap.cs.cmu.edu. The database was created
with funding from NSF EIA-0196217.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ..algebra import by_row

Weights = dict[str, np.ndarray]
"""By name. `trunk/`: mean (n,), scale (n,), correlation (n, n) of all that is told about the five effectors, then of
the chest's turn. For arm and leg, turned and placed: mean, scale, linear, 0..2/weight, 0..2/bias, usual, straight, and
spread (2,): what is not known about the bends of the middle joint and of the end [rad]."""

EFFECTORS = (("arm", "L"), ("arm", "R"), ("leg", "L"), ("leg", "R"), ("head", ""))
TURNED, PLACED = 9, 6  # numbers that tell of an effector with a rotation, and of one without
INPUTS, OUTPUTS = 13, 7  # of a limb's network
CLIP = 4.0  # standard deviations beyond which features tell no more
_RIDGE = 1e-2
USUAL = {
    "arm": (np.array([-0.78, -0.16, -0.06]), np.array([0.8, -0.3, 0.5])),
    "leg": (np.array([-0.98, 0.01, -0.03]), np.array([0.0, -1.0, 0.3])),
}
"""The mean hinge of an elbow in the chest's axes and of a knee in the hips', and where such limbs point.

The opposite direction, in which hinges are least certain, leads from the shoulder into the trunk.
"""


@cache
def load() -> Weights:
    """The weights that come with the extension."""
    path = Path(__file__).with_name("weights.npz")
    if not path.exists():
        return constant()
    with np.load(path) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def constant() -> Weights:
    """Weights without anything learnt: elbows and knees point where they mostly do, and the spine stays straight."""
    count = len(EFFECTORS) * (TURNED + PLACED) + 3
    weights = {"trunk/mean": np.zeros(count), "trunk/scale": np.ones(count), "trunk/correlation": np.eye(count)}
    for kind, (usual, straight) in USUAL.items():
        for way in ("turned", "placed"):
            sizes = (INPUTS, 1, 1, OUTPUTS)
            parts = {
                "mean": np.zeros(INPUTS), "scale": np.ones(INPUTS), "usual": usual, "straight": straight,
                "linear": np.zeros((INPUTS, OUTPUTS)), "bias": np.concatenate([usual, np.zeros(OUTPUTS - 3)]),
                "spread": np.ones(2),
            }  # fmt: skip
            for layer in range(3):
                parts[f"{layer}/weight"] = np.zeros((sizes[layer], sizes[layer + 1]))
                parts[f"{layer}/bias"] = np.zeros(sizes[layer + 1])
            weights.update({f"{kind}/{way}/{name}": part for name, part in parts.items()})
    return weights


class LimbNetworks:
    """The networks of L limbs, evaluated together: the mean of a linear map and of two layers of SiLU."""

    def __init__(self, weights: Weights, names: Sequence[str]) -> None:
        """`names` : of each limb's network, such as "arm/turned"."""

        def stack(part: str) -> np.ndarray:
            return np.stack([weights[f"{name}/{part}"] for name in names])

        self.scale = 1.0 / stack("scale")
        self.shift = -stack("mean") * self.scale
        self.first, self.second = stack("0/weight"), stack("1/weight")
        self.first_bias, self.second_bias = stack("0/bias"), stack("1/bias")
        self.last = np.concatenate([0.5 * stack("2/weight"), 0.5 * stack("linear")], 1)
        self.last_bias = 0.5 * (stack("2/bias") + stack("bias"))
        straight, usual = stack("straight"), stack("usual")
        self.straight = straight / np.linalg.norm(straight, axis=-1, keepdims=True)
        usual = usual - (usual * self.straight).sum(-1, keepdims=True) * self.straight
        self.usual = usual / np.linalg.norm(usual, axis=-1, keepdims=True)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Outputs (F, L, 7) of features (F, L, 13)."""
        inputs = clipped(features * self.scale + self.shift, CLIP)
        hidden = _silu(by_row(inputs, self.first) + self.first_bias)
        hidden = _silu(by_row(hidden, self.second) + self.second_bias)
        return by_row(np.concatenate([hidden, inputs], -1), self.last) + self.last_bias


def clipped(x: np.ndarray, most: float) -> np.ndarray:
    """Numbers in -most..most; on few of them in half the time of `numpy.clip`."""
    return np.minimum(np.maximum(x, -most), most)


def _silu(x: np.ndarray) -> np.ndarray:
    return x / (1.0 + np.exp(-x))


class Trunk:
    """The chest's turn from what is told of some of the effectors: a conditional mean of a normal distribution."""

    def __init__(self, weights: Weights, effectors: Sequence[int], turned: Sequence[bool]) -> None:
        """`effectors` : numbers in `EFFECTORS`. turned : whether each has a rotation."""
        each = TURNED + PLACED
        rows = np.concatenate([
            np.arange(TURNED) + each * number if has else np.arange(PLACED) + each * number + TURNED
            for number, has in zip(effectors, turned, strict=True)
        ])  # fmt: skip
        chest = np.arange(3) + each * len(EFFECTORS)
        mean, scale, correlation = (weights[f"trunk/{name}"] for name in ("mean", "scale", "correlation"))
        own = correlation[np.ix_(rows, rows)] + _RIDGE * np.eye(len(rows))
        self.scale, self.shift = 1.0 / scale[rows], -mean[rows] / scale[rows]
        self.map = np.linalg.solve(own, correlation[np.ix_(rows, chest)]) * scale[chest]
        self.mean = mean[chest]
