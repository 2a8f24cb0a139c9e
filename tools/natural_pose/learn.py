# SPDX-License-Identifier: GPL-3.0-or-later
"""Learns the natural pose: `python learn.py cmu_poses.npz [--frames 100000] [--steps 6000] [--out weights.npz]`.

Needs NumPy alone, takes a few minutes, and gives the same weights again. README.md says where the data come from.
"""

import argparse
import time
from itertools import pairwise
from pathlib import Path

import draw
import numpy as np
import poses
from package import ROOT, module

weights = module("solvers.figure.weights")

HIDDEN, BATCH, RATE, DECAY = 64, 512, 2e-3, 3e-3
NOISE = 0.15  # of a network's inputs, in standard deviations
RIDGE = 1e-3
LEAST_SCALE = 0.02
LEAST_SPREAD = 0.01  # [rad]
_USUAL_STRAIGHT = {kind: straight for kind, (_, straight) in weights.USUAL.items()}


def scaled(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of columns; 1 for those that are always the same."""
    deviation = rows.std(0)
    return rows.mean(0), np.where(deviation < 1e-3, 1.0, np.maximum(deviation, LEAST_SCALE))


def trunk(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, scale and correlation of the trunk's rows."""
    mean, scale = scaled(rows)
    inputs = np.clip((rows - mean) / scale, -weights.CLIP, weights.CLIP)
    return {"trunk/mean": mean, "trunk/scale": scale, "trunk/correlation": inputs.T @ inputs / len(inputs)}


def limb(inputs: np.ndarray, answers: np.ndarray, steps: int, seed: int, end: int) -> dict[str, np.ndarray]:
    """A linear map and a network from features (N, 13) to answers (N, 7), of which those that are NaN do not count.

    end : which answer bends the limb's end. Its spread, and that of the middle joint's bend, are those left by the map.
    """
    mean, scale = scaled(inputs)
    told = np.clip((inputs - mean) / scale, -weights.CLIP, weights.CLIP)
    lifted = np.concatenate([told, np.ones((len(told), 1))], 1)
    linear = np.stack([_ridge(lifted, column) for column in answers.T], -1)
    layers = network(told.astype(np.float32), answers.astype(np.float32), steps, seed)
    spread = np.nanstd(answers - lifted @ linear, axis=0)[[6, end]]
    parts = {
        "mean": mean, "scale": scale, "linear": linear[:-1], "bias": linear[-1], "usual": answers[:, :3].mean(0),
        "spread": np.maximum(spread, LEAST_SPREAD),
    }  # fmt: skip
    for number, (weight, bias) in enumerate(zip(layers[::2], layers[1::2], strict=True)):
        parts[f"{number}/weight"], parts[f"{number}/bias"] = weight.astype(float), bias.astype(float)
    return parts


def _ridge(inputs: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The linear map (n,) from inputs (N, n) to answers (N,), without those that are NaN."""
    some = ~np.isnan(answers)
    inputs, answers = inputs[some], answers[some]
    return np.linalg.solve(inputs.T @ inputs + RIDGE * len(inputs) * np.eye(inputs.shape[1]), inputs.T @ answers)


def network(inputs: np.ndarray, answers: np.ndarray, steps: int, seed: int) -> list[np.ndarray]:
    """Weight and bias of each layer, SiLU between them, fitted by Adam with a falling rate (Kingma & Ba 2015)."""
    random = np.random.default_rng(seed)
    parts: list[np.ndarray] = []
    for number, (before, after) in enumerate(pairwise((inputs.shape[1], HIDDEN, HIDDEN, answers.shape[1]))):
        spread = np.sqrt((2.0 if number < 2 else 1.0) / before)
        parts += [random.normal(0.0, spread, (before, after)).astype(np.float32), np.zeros(after, np.float32)]
    first, second = ([np.zeros_like(part) for part in parts] for _ in range(2))
    for number in range(1, steps + 1):
        rows = random.integers(0, len(inputs), BATCH)
        told = inputs[rows] + random.normal(0.0, NOISE, (BATCH, inputs.shape[1])).astype(np.float32)
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * number / steps)) * min(1.0, number / 200)
        for k, slope in enumerate(slopes(parts, told, answers[rows])):
            first[k] += 0.1 * (slope - first[k])
            second[k] += 0.001 * (slope * slope - second[k])
            step = (first[k] / (1.0 - 0.9**number)) / (np.sqrt(second[k] / (1.0 - 0.999**number)) + 1e-8)
            parts[k] = (parts[k] * (1.0 - rate * DECAY) - rate * step).astype(np.float32)
    return parts


def slopes(parts: list[np.ndarray], told: np.ndarray, wanted: np.ndarray) -> list[np.ndarray]:
    """The derivatives of the mean squared error by weights and biases, by back-propagation."""
    layers, bends = [told], list[np.ndarray]()
    for weight, bias in zip(parts[:-2:2], parts[1:-2:2], strict=True):
        inner = layers[-1] @ weight + bias
        gate = 1.0 / (1.0 + np.exp(-inner))
        layers.append(inner * gate)
        bends.append(gate * (1.0 + inner * (1.0 - gate)))
    error = layers[-1] @ parts[-2] + parts[-1] - wanted
    error = np.where(np.isnan(error), np.float32(0.0), error * np.float32(2.0 / wanted.size))
    found: list[np.ndarray] = []
    for number in (2, 1, 0):
        found = [layers[number].T @ error, error.sum(0), *found]
        if number:
            error = (error @ parts[2 * number].T) * bends[number - 1]
    return found


def errors(parts: dict[str, np.ndarray], inputs: np.ndarray, answers: np.ndarray) -> str:
    """How far the answers of a limb's hinge are off, in degrees, mean of linear map and network."""
    whole = {f"x/{name}": part for name, part in parts.items()}
    whole["x/straight"] = np.ones(3)
    said = weights.LimbNetworks(whole, ["x"])(inputs[:, None])[:, 0, :3]
    cosine = (said * answers[:, :3]).sum(-1) / np.linalg.norm(said, axis=-1)
    return f"{np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).mean():.2f} degrees"


def main() -> None:
    """Learn and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "solvers" / "figure" / "weights.npz")
    arguments = parser.parse_args()
    began = time.perf_counter()
    skeletons, clips = poses.load(arguments.data)
    drawn = draw.examples(skeletons, [c for c in clips if not c.is_unseen], arguments.frames, arguments.seed)
    tests = draw.examples(skeletons, [c for c in clips if c.is_unseen], 10_000, arguments.seed + 1)
    learnt = trunk(drawn.trunk)
    for number, (name, (inputs, answers)) in enumerate(drawn.limbs.items()):
        end = 3 if name == "leg/turned" else 5
        parts = limb(inputs, answers, arguments.steps, arguments.seed + number, end)
        print(name, len(inputs), "learnt:", errors(parts, inputs[:20_000], answers[:20_000]),
              "unseen:", errors(parts, *tests.limbs[name]), f"{time.perf_counter() - began:.0f} s",
              flush=True)  # fmt: skip
        parts["straight"] = _USUAL_STRAIGHT[name.split("/")[0]]
        learnt.update({f"{name}/{part}": array for part, array in parts.items()})
    np.savez_compressed(arguments.out, **{name: array.astype(np.float16) for name, array in learnt.items()})
    print(arguments.out, arguments.out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
