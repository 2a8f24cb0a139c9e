# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the benchmarks of the solvers, live solving and baking, each next to its competitors.

    make bench                                all parts, in Blender's Python
    python benchmarks/run.py solvers          one part; `clip` and `bake` need a Python that has the bpy package
    python benchmarks/run.py comparison --peers    every solver, and those of other libraries that are installed
    python benchmarks/run.py --frames 30 --rounds 1 --out somewhere    a short run that does not change the results

Prints a table for each part and writes it to `results/<part>.csv`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
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
    "retarget": "the example clip for other figures by Retarget, and by Blender's constraints",
    "clip": "the example clip rebuilt live by Blender's two IK solvers and by DQIK",
    "stages": "where a frame's time goes on armatures of 30, 150 and 300 bones, and the first solve after enabling",
    "bake": "the example clip baked, against stepping through it and against Blender's IK and nla.bake",
}
ROUNDS = 3
SECONDS = 0.5


def main() -> int:
    """Run one part in this process, or several in a process each, so that none warms up another."""
    arguments = _arguments()
    if len(arguments.parts) == 1:
        _run(arguments.parts[0], arguments)
    settings = ["--frames", str(arguments.frames), "--rounds", str(arguments.rounds), "--out", str(arguments.out)]
    settings += ["--seconds", str(arguments.seconds), *(["--peers"] if arguments.peers else [])]
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
    parser.add_argument("--out", type=Path, default=FOLDER / "results", help="where the CSV files go")
    arguments = parser.parse_args()
    arguments.parts = list(dict.fromkeys(arguments.parts)) or list(PARTS)
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; the parts are {', '.join(PARTS)}")
    if arguments.frames and arguments.frames < 10:
        parser.error(f"--frames {arguments.frames} is too short a motion to measure: take 10 or more")
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: take 1 or more")
    if not arguments.seconds > 0.0:
        parser.error(f"--seconds {arguments.seconds}: take more than 0")
    arguments.out = arguments.out.resolve()
    return arguments


def _run(part: str, arguments: argparse.Namespace) -> None:
    """Run a part and end the process."""
    if part in ("comparison", "kernel", "seeds", "contacts", "smooth"):  # before NumPy is imported: one thread for each
        os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    sys.path[:0] = [str(ROOT), *(str(ROOT / folder) for folder in ("examples", "tests/solvers", "tools"))]
    import report

    command = f"python benchmarks/run.py {part}" + (f" --frames {arguments.frames}" if arguments.frames else "")
    if part == "comparison":
        command += (" --peers" if arguments.peers else "") + (
            f" --seconds {arguments.seconds:g}" if arguments.seconds != SECONDS else ""
        )
    machine = report.machine(command + (f" --rounds {arguments.rounds}" if arguments.rounds != ROUNDS else ""))
    print(f"\n{part}: {PARTS[part]}\n{machine}\n", flush=True)
    if part == "solvers":
        import solver_part

        result = solver_part.run(arguments.rounds)
    elif part == "kernel":
        import kernel_part

        result = kernel_part.run(arguments.rounds)
    elif part == "seeds":
        import seeds_part

        result = seeds_part.run()
    elif part == "contacts":
        import contacts_part

        result = contacts_part.run(arguments.rounds)
    elif part == "smooth":
        import smooth_part

        result = smooth_part.run(arguments.frames)
    elif part == "limits":
        import limits_part

        result = limits_part.run()
        limits_part.draw(result.rows, _pictures(arguments) / "limits.png")
    elif part == "published":
        import published_part

        result = published_part.run(_pictures(arguments))
    elif part == "comparison":
        import comparison_part
        import peers

        result = comparison_part.run(peers.installed() if arguments.peers else {}, arguments.seconds)
        pictures = _pictures(arguments)
        page = ROOT / "docs" / "choosing-a-solver.md" if pictures == ROOT / "docs" / "images" else None
        comparison_part.publish(result, pictures, page, machine)
    elif part == "planting":
        import planting_part

        result = planting_part.run(arguments.frames)
        planting_part.draw(_pictures(arguments) / "mend.png")
    elif part == "retarget":
        import retarget_part

        result = retarget_part.run(arguments.frames)
    else:
        result = _in_blender(part, arguments)
    print(result.table(), flush=True)
    result.write(arguments.out / f"{part}.csv", machine)
    os._exit(0)  # Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function


def _pictures(arguments: argparse.Namespace) -> Path:
    """The folder of the plots: the documentation, unless `--out` names another folder."""
    return ROOT / "docs" / "images" if arguments.out == FOLDER / "results" else arguments.out


def _in_blender(part: str, arguments: argparse.Namespace):
    """Build the extension and measure it in a separate Blender profile."""
    import build_zip

    with tempfile.TemporaryDirectory() as folder:
        zip_path = build_zip.build(Path(folder) / "dist")
        for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
            del os.environ[name]
        os.environ["BLENDER_USER_RESOURCES"] = str(Path(folder) / "profile")
        Path(os.environ["BLENDER_USER_RESOURCES"]).mkdir()
        if part == "stages":
            import stages_part  # not before: it imports bpy, and that is when Blender looks for its profile

            return stages_part.run(zip_path, arguments.rounds)
        import stage  # not before: it imports bpy, and that is when Blender looks for its profile

        ready = stage.build(zip_path, arguments.frames)
        if part == "clip":
            import clip_part

            return clip_part.run(ready, arguments.rounds)
        import bake_part

        return bake_part.run(ready, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
