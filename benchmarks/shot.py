# SPDX-License-Identifier: GPL-3.0-or-later
"""What an edit of a shot costs: until it is seen, and until the shot is one motion again (*Start From: Shot*).

    DQIK_KERNEL=<library> python benchmarks/shot.py [--frames 250] [--figures 1] [--vertices 0] [--away 0]

Run it with a Python that has the bpy package; `DQIK_KERNEL=numpy` is without the kernel. Full bodies follow controls
that are keyed every ten frames; at one of these keys one control is moved. Prints a Markdown table: of each edit the
CPU time of the update that shows it and of all that follows until the shot is whole again, that of Blender's own
thread and of the one that solves, the longest that Blender is kept at a time, and the frames that have changed, none of
them beyond the windows of the edit. With `--away 0.4` the hands miss what they reach for on many frames; joints pop
there, and stretches that pop are solved as one with those beside them, so that an edit is felt further away.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from math import cos, sin
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEYS = 10  # frames between the keys of a control
PLACES = {"hand.L": (0.35, -0.3, 1.2), "hand.R": (-0.35, -0.3, 1.2), "hips": (0.0, 0.0, 0.9)}  # [m] of controls
REACHES = {"hand": (0.1, 0.15), "foot": (0.05, 0.04), "hips": (0.03, 0.02)}  # [m] along the ground, and up
STEP = 0.04  # [m] by which an edit moves a control
FELT = 24 + 48 + 2  # frames from those whose controls are moved within which others change: a border's room, a stretch


def main() -> None:
    """Install the extension in a profile of its own, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--figures", type=int, default=1)
    parser.add_argument("--vertices", type=int, default=0, help="of a mesh that each figure deforms")
    parser.add_argument("--away", type=float, default=0.0, help="[m] to where the hands reach further")
    parser.add_argument("--edits", type=int, default=3)
    parser.add_argument("--zip", type=Path, help="another build to measure")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), *(str(ROOT / folder) for folder in ("examples", "tests/blender", "tools"))]
    with tempfile.TemporaryDirectory() as folder:
        import build_zip

        zip_path = options.zip or build_zip.build(Path(folder) / "dist")
        for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
            del os.environ[name]
        os.environ["BLENDER_USER_RESOURCES"] = str(Path(folder) / "profile")
        Path(os.environ["BLENDER_USER_RESOURCES"]).mkdir()
        import bpy  # noqa: F401  not before: now Blender looks for its profile, and `addon_utils` can be imported
        import scene

        scene.install(zip_path.resolve())
        _measure(options)
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function


def _measure(options: argparse.Namespace) -> None:
    import bpy
    import rigs

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, options.frames
    figures = [_figure(number, options) for number in range(options.figures)]
    for ob in figures:
        ob.dqik.live, ob.dqik.start_from = True, "SHOT"
    rigs.update()
    before = _memory()
    rows = [("all of it", *_until_whole(0.0))]
    kept = (_memory() - before) / (options.frames * options.figures)
    ob = figures[0]
    for edit in range(options.edits):
        key = 1 + KEYS * round((0.3 + 0.3 * edit) % 1.0 * options.frames / KEYS)
        shown = _played(ob, options.frames)
        rigs.at_frame(key)
        began = time.process_time()
        _move(ob, key, "hand.L" if edit % 2 else "hand.R")
        times = _until_whole(time.process_time() - began)
        pairs = list(zip(shown, _played(ob, options.frames), strict=True))
        moved, changed = ([at + 1 for at, (a, b) in enumerate(pairs) if a[part] != b[part]] for part in (0, 1))
        far = [frame for frame in changed if min(abs(frame - other) for other in moved) > FELT]
        rows.append((f"an edit at frame {key}: {len(changed)} changed, {len(far)} of them too far", *times))
    print("| | seen, ms | whole, s | Blender's thread, s | the other, s | at a time, ms |\n|---|--:|--:|--:|--:|--:|")
    for title, seen, *seconds, most in rows:
        cells = [f"{1e3 * seen:.0f}", *(f"{one:.2f}" for one in seconds), f"{1e3 * most:.0f}"]
        print(f"| {title} | {' | '.join(cells)} |")
    print(f"\n{kept / 1e3:.1f} kB a frame and figure (of the process, with what the solver keeps)")


def _figure(number: int, options: argparse.Namespace):
    """A full body whose controls are keyed, beside the others."""
    import bpy
    import rigs

    ob = rigs.made_active(rigs.figure(f"Figure {number}"))
    ob.location.x = 2.0 * number
    rigs.set_up(ob, on=False)
    if options.vertices:
        count = int(options.vertices**0.5)
        points = [(0.5 * i / count, 0.0, 1.8 * k / count) for i in range(count) for k in range(count)]
        names = [bone.name for bone in ob.data.bones]
        rigs.skin(ob, rigs.mesh(points), *names[: len(names) // 2])
    bpy.context.view_layer.objects.active = ob
    for at, goal in enumerate(ob.dqik.goals):
        control = ob.pose.bones.get(goal.subtarget)
        if control is None:
            continue
        matrix = control.matrix.copy()
        along, up = REACHES.get(goal.name.split(".")[0], (0.0, 0.0))
        place = matrix.translation.copy()
        if goal.name in PLACES:
            place = type(place)(PLACES[goal.name])
            place.y -= options.away * ("hand" in goal.name)
        for frame in range(1, options.frames + KEYS, KEYS):
            way = along * sin(0.1 * frame + at), along * cos(0.13 * frame + at), up * sin(0.07 * frame + number)
            matrix.translation = place + type(place)(way)
            control.matrix = matrix
            control.keyframe_insert("location", frame=frame)
    return ob


def _until_whole(seen: float) -> Sequence[float]:
    """Do what Blender's timer does while the user waits: CPU seconds, of both threads, and the longest of a turn."""
    import bpy
    import scene

    turn = importlib.import_module(f"{scene.EXTENSION}.operators.live.shot")._go_on
    began, own, most, again = time.process_time(), 0.0, 0.0, True
    while again:
        begin = time.thread_time()
        again = turn() is not None
        took = time.thread_time() - begin
        own, most = own + took, max(most, took)
        time.sleep(0.005)
    if not all(ob.dqik.status.shot == 1.0 for ob in bpy.data.objects if ob.type == "ARMATURE"):
        raise RuntimeError("The shot is not whole.")
    both = time.process_time() - began
    return seen, both, own, both - own, most


def _move(ob, key: int, name: str) -> None:
    """Move the control of a goal at a key, as the user does with Auto Keying."""
    import rigs

    goal = next(goal for goal in ob.dqik.goals if goal.name == name)
    control = ob.pose.bones[goal.subtarget]
    control.location.z += STEP
    rigs.update()
    control.keyframe_insert("location", frame=key)
    rigs.update()


def _played(ob, last: int) -> list[tuple[bytes, bytes]]:
    """Where the controls are on each frame, and what Blender shows."""
    import rigs

    shown = []
    for frame in range(1, last + 1):
        rigs.at_frame(frame)
        controls = [tuple(map(tuple, ob.pose.bones[goal.subtarget].matrix)) for goal in ob.dqik.goals]
        shown.append((repr(controls).encode(), rigs.matrices(ob).tobytes()))
    return shown


def _memory() -> float:
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))


if __name__ == "__main__":
    main()
