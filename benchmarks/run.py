# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the benchmarks of the solvers, live solving and baking, each next to its competitors.

    make bench                                all parts, in Blender's Python
    python benchmarks/run.py solvers          one part; `clip` and `bake` need a Python that has the bpy package
    python benchmarks/run.py comparison --peers    every solver, and those of other libraries that are installed
    python benchmarks/run.py --frames 30 --rounds 1 --out somewhere    a quick run that does not change the results
    python benchmarks/run.py --short --out somewhere    all parts in a minute: that none breaks

Prints a table for each part and writes it to `results/<part>.csv`.
"""

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
PARTS = {
    "solvers": "PGS and DLS on a hand and a body, without Blender",
    "published": "what the sources printed, repeated",
    "limits": "ways to hold a limit, on an arm, a hand and a body",
    "comparison": "every solver on an arm, a hand, a planar chain, a body and chains of up to 400 balls",
    "kernel": "PGS and DLS as users call them beside a measuring stick in C, on an arm, a hand, a body and chains",
    "seeds": "hands and bodies followed over 32 seeds, and cold targets of as many beside the stick",
    "contacts": "hands led through the body, a floor and obstacles: overlaps, jumps and times",
    "smooth": "whole clips solved at once, beside the same motions solved frame by frame",
    "planting": "feet of the example clip planted by Mend Motion, by goals frame by frame and by Blender's IK",
    "retarget": "the example clip for twelve figures by Retarget, and by Blender's constraints",
    "touch": "two people who touch, for figures of other sizes, by Retarget alone and with a partner",
    "stretch": "limbs led out past full reach, by Blender's IK Stretch and by Stretch",
    "fewer": "captured motions of a body of 65 bones by Fewer Keys, beside the time of nla.bake",
    "clip": "the example clip rebuilt live by Blender's two IK solvers and by DQIK",
    "stages": "where a frame's time goes on armatures of 30, 150 and 300 bones, and the first solve after enabling",
    "bake": "the example clip baked, against stepping through it and against Blender's IK and nla.bake",
}
ROUNDS = 3
SECONDS = 0.5
ONE_THREAD = ("comparison", "kernel", "seeds", "contacts", "smooth")
IN_BLENDER = ("stretch", "clip", "stages", "bake")  # they install the extension's zip
SHORT: dict[str, dict[str, object]] = {
    "comparison_part": {"TURN": 0.01, "MORE": 1.0, "PATIENCE": 0.01},
    "contacts_part": {"MOTIONS": 1, "FRAMES": 20},
    "fewer_part": {"EDITED": ("LeftArm",)},
    "kernel_part": {"COUNT": {"A": 5, "B": 5, "D": 5}, "FRAMES": 20, "STEPS": 10, "SIZES": (10,)},
    "limits_part": {"FIGURES": {"arm": (1e-3, 2, 1)}, "STEPS": 3},
    "planting_part": {"STRETCHED": (0.9,)},
    "published": {
        "STEPS": (50, 20), "ARM_TARGETS": 20, "ARM_RESTARTS": (0, 2), "HAND_STEPS": 8, "UNREACHABLE": 2,
        "UNREACHABLE_FRAMES": 5, "RIVALS": 1,
    },
    "retarget_part": {"FIGURES": ("adult",)},
    "seeds_part": {"SEEDS": 1, "FRAMES": 20, "STEPS": 10, "COLD": 3},
    "smooth_part": {"DRAWN": 2, "FRAMES": 20},
    "solvers_part": {"STEPS": 5, "COLD": {"hand": 3, "body": 3}, "RESTARTS": 2},
    "stages_part": {"SIZES": (30,), "FRAMES": 20},
    "stretch_part": {"STEP": 0.1, "STEPS": 1},
    "touch_part": {"FIGURES": (("mixamo", "vroid"),), "SHOWN": ("high five",)},
    "workload_suite": {
        "COLD": {"A wide": 3, "A tight": 3, "B places": 3, "B poses": 3, "D body": 2}, "FRAMES": 10, "STEPS": 5,
        "RESTARTS": 1, "SIZES": (10,), "BALL_TARGETS": 2,
    },
}  # fmt: skip
"""What is smaller in a short run, which only shows that nothing breaks: constants of modules."""


def main() -> int:
    """Run one part in this process, or several in a process each, so that none warms up another."""
    arguments = _arguments()
    if len(arguments.parts) == 1:
        _run(arguments.parts[0], arguments)
    settings = ["--frames", str(arguments.frames), "--rounds", str(arguments.rounds), "--out", str(arguments.out)]
    settings += ["--seconds", str(arguments.seconds)]
    settings += ["--clips", *arguments.clips] if arguments.clips else []
    settings += [f"--{name}" for name in ("peers", "short") if getattr(arguments, name)]
    script = str(Path(__file__).resolve())
    commands = [[sys.executable, script, part, *settings] for part in arguments.parts]
    return max(abs(subprocess.run(command, check=False).returncode) for command in commands)


def _arguments() -> argparse.Namespace:
    listed = "; ".join(f"{part}: {what}" for part, what in PARTS.items())
    parser = argparse.ArgumentParser(description="Measure DQIK beside what it is compared with.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{listed} (default: all)")
    parser.add_argument("--frames", type=int, default=0, help="so many frames of the clip only; 0 for all")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"go round so many times (default: {ROUNDS})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each solver and workload in the comparison")
    parser.add_argument("--peers", action="store_true", help="compare with the solvers of other libraries too")
    parser.add_argument("--clips", nargs="+", default=[], metavar="CLIP", help="of the parts fewer and retarget: BVH "
                        "files, or clips of a file of arrays as FILE.npz:NAME (default: the example clip)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=FOLDER / "results", help="where the CSV files go")
    parser.add_argument("--short", action="store_true", help="a few seconds of each part, to see that nothing breaks")
    arguments = parser.parse_args()
    arguments.parts = list(dict.fromkeys(arguments.parts)) or list(PARTS)
    if arguments.short:
        arguments.frames, arguments.rounds, arguments.seconds = 10, 1, 0.01
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; the parts are {', '.join(PARTS)}")
    if arguments.short and arguments.out == FOLDER / "results":
        parser.error("a short run measures nothing: say with --out where its tables and pictures go")
    if arguments.frames and arguments.frames < 10:
        parser.error(f"--frames {arguments.frames} is too short a motion to measure: take 10 or more")
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: take 1 or more")
    if not arguments.seconds > 0.0:
        parser.error(f"--seconds {arguments.seconds}: take more than 0")
    arguments.out = arguments.out.resolve()
    is_documented = arguments.out == FOLDER / "results"
    arguments.pictures = ROOT / "docs" / "images" if is_documented else arguments.out
    arguments.page = ROOT / "docs" / "choosing-a-solver.md" if is_documented else None
    return arguments


def _run(part: str, arguments: argparse.Namespace) -> None:
    """Run a part and end the process."""
    if part in ONE_THREAD:  # before NumPy is imported
        os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    folders = (".", "benchmarks/parts", "examples", "tests/solvers", "tools")
    sys.path[:0] = [str(ROOT / folder) for folder in folders]
    import report

    command = f"python benchmarks/run.py {part}" + (f" --frames {arguments.frames}" if arguments.frames else "")
    if part == "comparison":
        command += (" --peers" if arguments.peers else "") + (
            f" --seconds {arguments.seconds:g}" if arguments.seconds != SECONDS else ""
        )
    command += f" --clips {' '.join(Path(clip).name for clip in arguments.clips)}" if arguments.clips else ""
    machine = report.machine(command + (f" --rounds {arguments.rounds}" if arguments.rounds != ROUNDS else ""))
    print(f"\n{part}: {PARTS[part]}\n{machine}\n", flush=True)
    arguments.machine = machine
    with _installable(arguments) if part in IN_BLENDER else contextlib.nullcontext():
        module = importlib.import_module(f"{part}_part")
        for name, smaller in SHORT.items() if arguments.short else ():
            if name in sys.modules:
                vars(sys.modules[name]).update(smaller)
        result = module.run(arguments)
    print(result.table(), flush=True)
    result.write(arguments.out / f"{part}.csv", machine)
    os._exit(0)  # Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function


@contextlib.contextmanager
def _installable(arguments: argparse.Namespace) -> Iterator[None]:
    """Build the extension's zip, and a Blender profile of its own, before bpy is imported and looks for one."""
    import build_zip

    with tempfile.TemporaryDirectory() as folder:
        arguments.zip = build_zip.build(Path(folder) / "dist")
        for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
            del os.environ[name]
        os.environ["BLENDER_USER_RESOURCES"] = str(Path(folder) / "profile")
        Path(os.environ["BLENDER_USER_RESOURCES"]).mkdir()
        yield


if __name__ == "__main__":
    sys.exit(main())
