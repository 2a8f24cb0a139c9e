# SPDX-License-Identifier: GPL-3.0-or-later
"""Rebuild a captured motion from the hips and five targets, with DQIK and with Blender's own two IK solvers.

    make demo                              builds the extension first
    python examples/demo.py --frames 60    with a Python that has the bpy package: only the start of the clip

The motion of every bone but the hips is thrown away. What is left is five empties that go where the hands, the toes
and the head went, and turn as they turned. Each solver has to find the rest, and is compared with what was captured.
"""

import argparse
import os
import shutil
import sys
import time
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
OUT = FOLDER / "out"
PROFILE = OUT / "profile"

EFFECTORS = ("LeftHand", "RightHand", "Head", "LeftToeBase", "RightToeBase")
HIPS = "Hips"
MOST_DIFFERENCE = 1e-5  # [rad] between live and baked
SOLVERS = {
    "legacy": "Blender, legacy IK",
    "itasc": "Blender, iTaSC",
    "POSE": "DQIK, start from Pose",
    "PREVIOUS": "DQIK, start from Previous",
}


def main() -> None:
    """Run the demonstration from beginning to end."""
    options = _options()
    began = time.perf_counter()
    _use_own_profile()
    import bpy

    import measure
    import scene

    print(f"This is Blender {bpy.app.version_string} without its window, in a profile of its own.\n")
    print(f"1. Installing the extension from {_short(options.zip)}.")
    scene.install(options.zip)

    print("2. Importing the captured motion with Blender's BVH importer.")
    captured, frames = scene.import_clip(FOLDER / "cmu_01_01.bvh", options.frames, options.scale)
    truth = measure.record(captured, frames)
    bones = len(captured.pose.bones)
    print(f"   {len(frames)} frames at {bpy.context.scene.render.fps} a second, {bones} bones.")

    print("3. Keeping only the hips' own motion and five goals: hands, toes and head, with rotation, as keyed empties.")
    rig = scene.solved_rig(captured, HIPS)
    chains = scene.chains(rig, EFFECTORS, HIPS)
    task = measure.Task(truth, rig, EFFECTORS, chains, scene.METRES / options.scale)
    targets = {bone: scene.keyed_target(captured, bone, truth, frames, 0.03 * task.height) for bone in EFFECTORS}
    scene.hide(captured, True)
    print(f"   {len(task.solved)} bones are left to the solvers. Everything else they must find.")

    print(f"4. Solving all {len(frames)} frames, one after the other as in playback, by each solver on the same rig.")
    motions = {"none": measure.record(rig, frames)}
    for solver, title in SOLVERS.items():
        scene.use(rig, solver, targets, chains)
        motions[solver] = measure.record(rig, frames)
        print(f"   {title}: done in {motions[solver].seconds.sum():.1f} s.")
        if solver in ("POSE", "PREVIOUS"):
            _check_bake(rig, frames, motions[solver])
        scene.clear(rig, HIPS)

    print("\n5. The result, against what was captured.\n")
    print(measure.table(task, motions, SOLVERS))

    print("\n6. Drawing poses and saving a scene that is ready to play.")
    import figure

    figure.draw(task, motions, OUT / "poses.png")
    scene.use(rig, "POSE", targets, chains)
    scene.present(captured, rig, task.height)
    blend = OUT / "dqik_demo.blend"
    scene.save(blend)
    _check_file(blend, frames, task)
    print(f"\nDone in {time.perf_counter() - began:.0f} s. It left two files:")
    print(f"   {_short(OUT / 'poses.png')}: frames of the motion, as captured and as rebuilt")
    print(f"   {_short(blend)}: the captured skeleton beside the solved one; with DQIK installed, press Play")


def _options() -> argparse.Namespace:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    built = ROOT / "dist" / f"{manifest['id']}-{manifest['version']}.zip"
    parser = argparse.ArgumentParser(description="Rebuild a captured motion from the hips and five targets.")
    parser.add_argument("--zip", type=Path, default=built, help="the built extension (default: the one in dist/)")
    parser.add_argument("--frames", type=int, default=0, help="so many frames of the clip only; 0 for all")
    parser.add_argument("--scale", type=float, default=1.0, help="import the clip so many times as large")
    options = parser.parse_args()
    if not options.zip.is_file():
        sys.exit(f"There is no {options.zip}. Build it first: make zip")
    if options.frames and options.frames < 10:
        sys.exit(f"--frames {options.frames} is too short a motion to measure: take 10 or more")
    options.zip = options.zip.resolve()
    return options


def _use_own_profile() -> None:
    """Have Blender keep its settings and the extension in a folder of ours. It looks when bpy is imported."""
    shutil.rmtree(PROFILE, ignore_errors=True)
    PROFILE.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
        del os.environ[name]
    os.environ["BLENDER_USER_RESOURCES"] = str(PROFILE)


def _check_bake(rig: object, frames: list[int], live: object) -> None:
    """Bake with the operator, play the keys back and compare with what live solving showed."""
    import measure
    import scene

    began = time.perf_counter()
    scene.bake(rig, frames)
    seconds = time.perf_counter() - began
    difference = measure.largest_difference(live, measure.record(rig, frames))
    print(f"   Baked to keyframes in {seconds:.1f} s. Largest angle between live and baked: {difference:.1e} rad.")
    if not difference <= MOST_DIFFERENCE:
        sys.exit(f"The bake differs from live solving by {difference:.3g} rad; at most {MOST_DIFFERENCE:.0e} is right.")


def _check_file(blend: Path, frames: list[int], task: object) -> None:
    """Open the saved file again, play a few frames and see that the goals are met."""
    import scene

    rig = scene.open_saved(blend)
    few = frames[:: len(frames) // 5]
    worst = max(scene.worst_miss(rig, frame) for frame in few)
    print(f"   Opened it again and went to {len(few)} frames: the worst miss is {1000 * task.metres * worst:.2g} mm.")
    if not worst < 1e-3 * task.height:
        sys.exit("The saved file does not solve as it should when it is opened.")


def _short(path: Path) -> str:
    """A path as seen from the checkout, where it is in it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


if __name__ == "__main__":
    main()
