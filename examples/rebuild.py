# SPDX-License-Identifier: GPL-3.0-or-later
"""The demonstration, step by step."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import bpy
import figure
import measure
import scene

EFFECTORS = ("LeftHand", "RightHand", "Head", "LeftToeBase", "RightToeBase")
HIPS = "Hips"
SOLVERS = {
    "legacy": "Blender, legacy IK",
    "itasc": "Blender, iTaSC",
    "POSE": "DQIK, start from Pose",
    "PREVIOUS": "DQIK, start from Previous",
}
MOST_DIFFERENCE = 1e-5  # [rad] between live and baked
MOST_MISS = 1e-3  # of the figure's height, in the saved file


def run(zip_path: Path, clip: Path, out: Path, most_frames: int, scale: float) -> None:
    """Run the demonstration and print each step. Writes a picture and a scene to the folder `out`."""
    began = time.perf_counter()
    say(f"This is Blender {bpy.app.version_string} without its window, in a profile of its own.\n")
    say(f"1. Installing the extension from {_short(zip_path)}.")
    scene.install(zip_path)

    say("2. Importing the captured motion with Blender's BVH importer.")
    captured, frames = scene.import_clip(clip, most_frames, scale)
    truth = measure.record(captured, frames)
    say(f"   {len(frames)} frames at {bpy.context.scene.render.fps} a second, {len(captured.pose.bones)} bones.")

    say("3. Keeping only the hips' own motion and five goals: hands, toes and head, with rotation, as keyed empties.")
    rig = scene.solved_rig(captured, HIPS)
    chains = scene.chains(rig, EFFECTORS, HIPS)
    task = measure.Task(truth, rig, EFFECTORS, chains, scene.METRES / scale)
    targets = {bone: scene.keyed_target(captured, bone, truth, frames, 0.03 * task.height) for bone in EFFECTORS}
    captured.hide_viewport = True
    say(f"   How the other bones move is forgotten; {len(task.solved)} of them are left to the solvers.")

    say(f"4. Solving all {len(frames)} frames in order, as playback does, with each solver on the same rig.")
    motions = {"none": measure.record(rig, frames)}
    for solver, title in SOLVERS.items():
        scene.use(rig, solver, targets, chains)
        motions[solver] = measure.record(rig, frames)
        say(f"   {title}: {motions[solver].seconds.sum():.1f} s.")
        if solver in ("POSE", "PREVIOUS"):
            _check_bake(rig, frames, motions[solver])
        scene.clear(rig, HIPS)

    say("\n5. The results, against what was captured:\n")
    say(measure.table(task, motions, SOLVERS))

    say("\n6. Drawing poses, and saving a scene that is ready to play.")
    picture, blend = out / "poses.png", out / "dqik_demo.blend"
    figure.draw(task, motions, picture)
    scene.use(rig, "POSE", targets, chains)
    scene.present(captured, rig, targets, chains, task.height, truth)
    scene.save(blend)
    _check_file(blend, frames, task)
    say(f"\nDone in {time.perf_counter() - began:.0f} s. These files are left:")
    say(f"   {_short(picture)}: frames of the motion, as captured and as rebuilt")
    say(f"   {_short(blend)}: the jump under DQIK beside Blender's IK; with DQIK installed, press Play")


def say(text: str) -> None:
    """Print and flush, because Blender prints too."""
    print(text, flush=True)


def _check_bake(rig: bpy.types.Object, frames: Sequence[int], live: measure.Motion) -> None:
    """Bake with the operator, play the keys, and compare the motion with that of live solving."""
    began = time.perf_counter()
    scene.bake(rig, frames)
    seconds = time.perf_counter() - began
    difference = measure.largest_difference(live, measure.record(rig, frames))
    say(f"   Baked to keyframes in {seconds:.1f} s. Largest angle between live and baked: {difference:.1e} rad.")
    if not difference <= MOST_DIFFERENCE:
        sys.exit(f"The bake differs from live solving by {difference:.3g} rad. {MOST_DIFFERENCE:.0e} is allowed.")


def _check_file(blend: Path, frames: Sequence[int], task: measure.Task) -> None:
    """Open the saved file, go to a few frames and check that they are solved."""
    rig = scene.open_saved(blend)
    few = frames[:: len(frames) // 5]
    worst = max(scene.worst_miss(rig, frame) for frame in few)
    say(f"   Opened it again and went to {len(few)} frames: the worst miss is {1000 * task.metres * worst:.2g} mm.")
    if not worst <= MOST_MISS * task.height:
        sys.exit("The saved scene does not solve as it should when it is opened.")


def _short(path: Path) -> str:
    """A path relative to the current folder, if it is inside."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
