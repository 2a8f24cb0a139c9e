# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the loops of the gallery into docs/images/gallery, and write down from which version they are.

    python examples/gallery/make.py [--only reach staff] [--sheet FOLDER [--frames 12]]

Needs a Python with the bpy package; a loop takes two to four minutes. --sheet draws some frames of each side by side
instead, to be looked at.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "characters"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gui"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gui" / "pictures"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import loops
import measure
import stage
from build_zip import manifest

PLACE = Path(__file__).resolve().parents[2] / "docs" / "images" / "gallery"
LIST = PLACE / "made.json"


def main() -> None:
    """Make the loops that are asked for."""
    parser = argparse.ArgumentParser(description="Render the loops of the gallery.")
    parser.add_argument("--only", nargs="+", choices=loops.LOOPS, default=list(loops.LOOPS))
    parser.add_argument("--sheet", type=Path, help="a folder for sheets of frames")
    parser.add_argument("--frames", type=int, default=12, help="so many on a sheet")
    options = parser.parse_args()
    measure.load()
    made = json.loads(LIST.read_text()) if LIST.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            motion = loops.LOOPS[name]()
            if options.sheet:
                stage.sheet(motion, options.sheet / f"{name}.png", Path(folder), options.frames)
                continue
            stage.film(motion, PLACE / f"{name}.webp", Path(folder))
            made[name] = str(manifest()["version"])
            LIST.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
            print(f"{name}: {(PLACE / name).with_suffix('.webp').stat().st_size / 1024:.0f} KiB", flush=True)
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2 crashes in its own clean-up


if __name__ == "__main__":
    main()
