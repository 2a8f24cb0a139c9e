# SPDX-License-Identifier: GPL-3.0-or-later
"""Rebuild a captured motion from the hips and five targets, with DQIK and with Blender's own two IK solvers.

    make demo                              builds the extension first
    python examples/demo.py --frames 60    with a Python that has the bpy package: only the start of the clip

The motion of all bones except the hips is removed. Five empties repeat the positions and rotations of the hands, the
toes and the head. Each solver finds the other bones, and the result is compared with the captured motion.
"""

import argparse
import os
import shutil
import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent


def main() -> None:
    """Read the command line, set up a separate Blender profile, and run the demonstration."""
    options = _options()
    _use_own_profile(options.out / "profile")
    import rebuild  # only now: it imports bpy, and Blender then looks for its profile

    rebuild.run(options.zip, FOLDER / "cmu_01_01.bvh", options.out, options.frames, options.scale)
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function


def _options() -> argparse.Namespace:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    built = ROOT / "dist" / f"{manifest['id']}-{manifest['version']}.zip"
    parser = argparse.ArgumentParser(description="Rebuild a captured motion from the hips and five targets.")
    parser.add_argument("--zip", type=_path, default=built, help="the built extension (default: the one in dist/)")
    parser.add_argument("--out", type=_path, default=FOLDER / "out", help="where files go (default: examples/out)")
    parser.add_argument("--frames", type=int, default=0, help="number of frames of the clip; 0 for all")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the size of the clip")
    options = parser.parse_args()
    if not options.zip.is_file():
        sys.exit(f"There is no {options.zip}. Build it first: make zip")
    if options.frames and options.frames < 10:
        sys.exit(f"--frames {options.frames} is too short a motion to measure: take 10 or more")
    if not options.scale > 0.0:
        sys.exit(f"--scale {options.scale} is not a size: take a number above 0")
    return options


def _path(text: str) -> Path:
    return Path(text).resolve()


def _use_own_profile(profile: Path) -> None:
    """Make Blender store its settings and the extension in this folder, so that the user's profile does not change."""
    shutil.rmtree(profile, ignore_errors=True)
    profile.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
        del os.environ[name]
    os.environ["BLENDER_USER_RESOURCES"] = str(profile)


if __name__ == "__main__":
    main()
