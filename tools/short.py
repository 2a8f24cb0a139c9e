# SPDX-License-Identifier: GPL-3.0-or-later
"""Run everything that makes a table or a picture of the documents in a short form, to see that nothing breaks.

    python tools/short.py [--keep FOLDER] [WORD ...]    only the commands that contain one of the words

Run it with a Python that has the bpy package, or by `make short`. Commands that fail are named at the end.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import build_zip

ROOT = build_zip.ROOT
COMMANDS = (
    "benchmarks/run.py --short --out OUT",
    "benchmarks/pictures.py OUT",
    "benchmarks/shot.py --frames 60 --edits 1",
    "benchmarks/drags.py --only arm --every 40",
    "benchmarks/motions/mend_made.py --rates 30",
    "benchmarks/motions/in_betweens.py --frames 25 --picture OUT/in-betweens.png",
    "benchmarks/motions/shakes.py --frames 40 --picture OUT/shakes.png",
    "benchmarks/versions.py ZIP --scenes 'nothing moves'",
    "examples/gallery/make.py --only reach --frames 1 --sheet OUT",
    "benchmarks/draw_retarget.py OUT/retarget.png mixamo --moments 20",
    "tests/characters/measure.py mixamo --ways native --moves 2 --jobs 1 --pictures OUT",
    "tests/characters/ordinary_reaches.py --sheet OUT/reaches.png --natural OUT/natural.png --only up",
    "tests/characters/rebuild.py mixamo --ways native --motions walk --methods DQIK --jobs 1",
    "tests/characters/retargeted.py mixamo --pictures OUT",
    "tests/characters/strangers.py --seeds 1 --most 8",
    "tests/gui/pictures/draw_contact.py OUT/contact.png chest",
    "tests/gui/pictures/draw_couplings.py OUT/couplings.png SPINE",
)


def main() -> int:
    """Run the commands one after the other; how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--keep", type=Path, help="where what is made goes, and stays")
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        out = (options.keep or Path(folder)).resolve()
        out.mkdir(parents=True, exist_ok=True)
        for command in COMMANDS:
            if options.words and not any(word in command for word in options.words):
                continue
            began = time.monotonic()
            words = [word.replace("OUT", str(out)) for word in shlex.split(command)]
            if "ZIP" in words:
                words[words.index("ZIP")] = str(build_zip.build(Path(folder)))
            done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
            is_wrong = done.returncode != 0 or "Traceback" in done.stdout + done.stderr
            if is_wrong:
                print(done.stdout + done.stderr)
                failed.append(command)
            print(f"{'FAILED' if is_wrong else 'ok'}, {time.monotonic() - began:.0f} s: {command}", flush=True)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
