# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the natural pose on recorded clips: `python measure.py FOLDER [clip ...]`, after record.py.

Per clip: the mean difference of the solved joints from the captured pose in degrees, without the prior and with it,
where the base pose is the rest pose and where it is the clip's first frame, with frames solved afresh (POSE) and from
the frames before (PREVIOUS); and the largest step of a joint beyond the captured one (pop).
"""

import argparse
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from package import module

figure = module("solvers.figure.figure")
prior = module("solvers.compiled.figure")
frames = module("solvers.model.frames")
quaternion = module("solvers.algebra.quaternion")
Pose = module("solvers").Pose
Targets = module("solvers.model.goals").Targets


class Recording:
    """A recorded clip, with its figure and its solver."""

    def __init__(self, path: Path) -> None:
        data = pickle.loads(path.read_bytes())
        self.name, self.turned = data["name"], path.name.endswith("turned.pickle")
        self.prepared, self.links = data["rig"]["prepared"], data["links"]
        self.figure = figure.of(*data["rig"]["of"])
        self.truth, self.solved = data["truth"], data["solved"]
        count = len(self.truth)
        self.targets = Targets(data["positions"], data["rotations"], np.zeros((count, len(self.prepared.goals), 3)))
        self.translations = np.zeros((1, self.truth.shape[1], 3))
        rest = np.tile(quaternion.IDENTITY, (1, self.truth.shape[1], 1))
        self.starts = {"rest": Pose(rest, self.translations), "first": Pose(self.truth[:1], self.translations)}

    def differences(self, rotations: np.ndarray) -> np.ndarray:
        """Angles (F, S) of the solved joints from the captured pose [deg]."""
        return np.degrees(quaternion.angle(rotations[:, self.solved], self.truth[:, self.solved]))

    def solve(self, base: np.ndarray, follow: bool = False) -> Any:
        """The answers (arrays) of frames from base rotations (F or 1, J, 4), afresh or from the frames before."""
        rotations = np.broadcast_to(base, self.truth.shape)
        arrays = frames.asking(self.targets, Pose(rotations, np.zeros((*self.truth.shape[:2], 3))), self.links)
        (self.prepared.motion() if follow else self.prepared).solve_into(arrays)
        return arrays

    def pops(self, rotations: np.ndarray) -> np.ndarray:
        """By how much the largest step of a joint exceeds the captured motion's, per frame [deg]."""

        def steps(r: np.ndarray) -> np.ndarray:
            return np.degrees(quaternion.angle(r[1:, self.solved], r[:-1, self.solved])).max(-1)

        return steps(rotations) - steps(self.truth)


def row(recording: Recording, base: np.ndarray, follow: bool) -> tuple[float, float, int, float]:
    """Pose difference, largest pop, pops above 20 degrees, worst miss of a base."""
    arrays = recording.solve(base, follow)
    pops = recording.pops(arrays.rotations)
    miss = float(arrays.position_errors.max() / recording.prepared.skeleton.length)
    return float(recording.differences(arrays.rotations).mean()), float(pops.max()), int((pops > 20.0).sum()), miss


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("clips", nargs="*")
    arguments = parser.parse_args()
    print("clip | base | start | without: pose, pop, n | with: pose, pop, n | base alone | miss")
    table: dict[tuple[bool, bool, str], list[tuple[float, ...]]] = {}
    for path in sorted(arguments.folder.glob("*.pickle")):
        if arguments.clips and not any(path.name.startswith(name) for name in arguments.clips):
            continue
        recording = Recording(path)
        natural, key = prior.CompiledPrior(recording.figure), path.name.removesuffix(".pickle")
        group = next((word for word in ("lowered", "plain") if word in key), "as captured")
        for (name, start), follow in product(recording.starts.items(), (False, True)):
            base = natural.base(start, recording.targets, recording.links, 1.0)
            alone = float(recording.differences(base).mean())
            without, others = (row(recording, each, follow) for each in (start.rotations, base))
            parts = [f"{pose:5.1f} {pop:4.0f} {count:3d}" for pose, pop, count, _ in (without, others)]
            worse = "  WORSE" if others[0] > 1.03 * without[0] else ""
            print(f"{key:38s} {name:5s} {'PREVIOUS' if follow else 'POSE':8s} {parts[0]} | {parts[1]} | {alone:5.1f} | "
                  f"{without[3]:.0e} {others[3]:.0e}{worse}", flush=True)  # fmt: skip
            pops = float(others[1] > 20.0), float(others[1] > 25.0), float(others[1] > 20.0 >= without[1])
            table.setdefault((follow, recording.turned, f"{group}, {name}"), []).append((without[0], others[0], *pops))
    for (follow, turned, name), rows in sorted(table.items()):
        mean, kind = np.mean(rows, axis=0), f"{'PREVIOUS' if follow else 'POSE'} {'turned' if turned else 'placed'}"
        print(f"{kind} {name}: {mean[0]:.2f} -> {mean[1]:.2f} "
              f"({mean[1] / mean[0]:.2f}); pops above 20, above 25, new: {(mean[2:] * len(rows)).astype(int).tolist()} "
              f"of {len(rows)}")  # fmt: skip


if __name__ == "__main__":
    main()
