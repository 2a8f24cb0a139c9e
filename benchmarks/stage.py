# SPDX-License-Identifier: GPL-3.0-or-later
"""The example clip in Blender, ready for any of the solvers, set up by the demonstration's own modules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy
import measure
import numpy as np
import rebuild
import scene

CLIP = Path(rebuild.__file__).with_name("cmu_01_01.bvh")
LEGACY, ITASC = "legacy", "itasc"


@dataclass(frozen=True)
class Stage:
    """The rig, whose hips alone are animated, its task, and the frames."""

    task: measure.Task
    targets: Mapping[str, bpy.types.Object]
    frames: Sequence[int]

    def use(self, solver: str, rotation: bool = True) -> None:
        """Set a solver up, with or without the targets' rotation."""
        rig = self.task.rig
        scene.use(rig, solver, self.targets, self.task.chains)
        for bone in rig.pose.bones:
            for constraint in bone.constraints:
                constraint.use_rotation = rotation
        for goal in rig.dqik.goals:
            goal.use_rotation = rotation

    def clear(self) -> None:
        """Remove the solver's set-up, and go back to the first frame, where the next solver is set up."""
        scene.clear(self.task.rig, rebuild.HIPS)
        bpy.context.scene.frame_set(self.frames[0])

    def record(self) -> measure.Motion:
        """Play all frames and record the pose and the time of each."""
        return measure.record(self.task.rig, self.frames)

    def misses(self, motion: measure.Motion) -> np.ndarray:
        """Distances (F, G) from the targets, as shares of the figure's height."""
        return measure.misses(self.task, motion) / self.task.height


def build(zip_path: Path, most_frames: int) -> Stage:
    """Install the extension and import the clip; its first `most_frames` frames, or all if that is 0."""
    scene.install(zip_path)
    captured, frames = scene.import_clip(CLIP, most_frames, 1.0)
    truth = measure.record(captured, frames)
    rig = scene.solved_rig(captured, rebuild.HIPS)
    chains = scene.chains(rig, rebuild.EFFECTORS, rebuild.HIPS)
    task = measure.Task(truth, rig, rebuild.EFFECTORS, chains, scene.METRES)
    targets = {bone: scene.keyed_target(captured, bone, truth, frames, 1.0) for bone in rebuild.EFFECTORS}
    captured.hide_viewport = True
    return Stage(task, targets, frames)
