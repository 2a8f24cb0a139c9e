# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the calls of the extension's own functions, and the files they stand in, for a few everyday actions.

    DQIK_KERNEL=<library> python benchmarks/calls.py     in a Python that has the bpy package

A count does not depend on the machine or its load. It says how much of the extension must be read to follow an action.
Prints a Markdown table.
"""

import dis
import functools
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
FRAMES = 60
BENT = 0.2  # [rad] by which a bone is posed
PACKAGE = "/extensions/user_default/dqik/"
SETS: dict[str, set[str]] = {
    "*Set Up* of a full body with its eight controls": set(),
    "*Set Up* with all further controls": {"CHEST", "SHOULDERS", "ELBOWS", "KNEES", "MASTER"},
}
_LINEAR_ALGEBRA = ("numpy/linalg/", "numpy/_core/einsumfunc")
_LENGTHS = {"norm", "_norm_dispatcher"}


class Calls:
    """What was called of the extension's files.

    count : calls of functions that have a name; a generator counts once. files : where they stand. edit_modes : visits
    of Edit Mode. depth : the most functions of `solvers/` from an entry point to NumPy's linear algebra, lengths of
    vectors apart.
    """

    def __init__(self, is_editing: Callable[[], bool]) -> None:
        self.count = self.edit_modes = self.depth = 0
        self.files: Counter[str] = Counter()
        self._is_editing, self._edits = is_editing, False

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        """Count one event of `sys.setprofile`."""
        del argument
        if event != "call":
            return
        code, path = frame.f_code, _own(frame)
        if path:
            if not code.co_name.startswith("<") and frame.f_lasti <= _beginning(code):
                self.count += 1
                self.files[path] += 1
            before, self._edits = self._edits, self._is_editing()
            self.edit_modes += self._edits > before
        elif any(part in code.co_filename for part in _LINEAR_ALGEBRA) and code.co_name not in _LENGTHS:
            caller = frame.f_back
            if caller is not None and caller.f_code.co_name not in _LENGTHS:
                self.depth = max(self.depth, _depth(caller))


def _own(frame: FrameType) -> str:
    """The path of a frame's file in the extension; empty for a file elsewhere."""
    return frame.f_code.co_filename.replace(os.sep, "/").partition(PACKAGE)[2]


def _depth(frame: FrameType | None) -> int:
    """The functions of the solvers among a frame and those that called it."""
    depth = 0
    while frame is not None:
        depth += _own(frame).startswith("solvers/")
        frame = frame.f_back
    return depth


@functools.cache
def _beginning(code: CodeType) -> int:
    """The instruction at which a function begins; a generator goes on from a later one."""
    return next(one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")


def counted(action: Callable[[], object], is_editing: Callable[[], bool] = lambda: False) -> Calls:
    """The calls that an action makes, in this thread and in those that it starts."""
    calls = Calls(is_editing)
    threading.setprofile(calls.note)
    sys.setprofile(calls.note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def main() -> None:
    """Install the extension in a profile of its own, and count."""
    sys.path[:0] = [str(ROOT), *(str(ROOT / folder) for folder in ("examples", "tests/blender", "tools"))]
    with tempfile.TemporaryDirectory() as folder:
        import build_zip

        zip_path = build_zip.build(Path(folder) / "dist")
        for name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
            del os.environ[name]
        os.environ["BLENDER_USER_RESOURCES"] = str(Path(folder) / "profile")
        Path(os.environ["BLENDER_USER_RESOURCES"]).mkdir()
        import bpy  # noqa: F401  not before: now Blender looks for its profile, and `addon_utils` can be imported
        import scene

        scene.install(zip_path)
        rows = list(_rows())
    print("| action | calls | files | visits of Edit Mode | layers to linear algebra |\n|---|--:|--:|--:|--:|")
    for action, calls in rows:
        print(f"| {action} | {calls.count:,} | {len(calls.files)} | {calls.edit_modes or '-'} | {calls.depth or '-'} |")
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function


def _rows() -> Iterator[tuple[str, Calls]]:
    import bpy
    import rigs

    def is_editing() -> bool:
        return bpy.context.object is not None and bpy.context.object.mode == "EDIT"

    for words, controls in SETS.items():
        rigs.figure()
        yield words, counted(functools.partial(bpy.ops.dqik.setup_full_body, controls=controls), is_editing)
        for ob in list(bpy.data.objects):
            bpy.data.objects.remove(ob)
        rigs.update()
    ob = rigs.figure()
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    target = next(goal.target for goal in ob.dqik.goals if goal.bone == "hand.L")
    place = target.location.copy()
    way = [(place.x - 0.004 * frame, place.y - 0.003 * frame, place.z) for frame in range(FRAMES)]
    rigs.key_path(target, range(1, FRAMES + 1), way)
    ob.dqik.live = True
    for frame in (1, 2, 3):
        rigs.at_frame(frame)
    yield "a frame of playback, full body", counted(lambda: rigs.at_frame(4))

    def pose(bone: str) -> None:
        ob.pose.bones[bone].rotation_quaternion = (1.0, BENT, 0.0, 0.0)
        rigs.update()

    pose("arm.R")
    yield "posing one bone under Live", counted(lambda: pose("forearm.R"))
    yield "drawing the report", counted(lambda: ob.dqik.status.converged)
    ends = {"frame_start": 1, "frame_end": FRAMES}
    yield f"a bake of {FRAMES} frames", counted(lambda: bpy.ops.dqik.bake(**ends, smooth=0.0))
    ob.dqik.live = True
    rigs.at_frame(1)
    yield f"a smooth bake of {FRAMES} frames", counted(lambda: bpy.ops.dqik.bake(**ends, smooth=0.5))
    yield "one solve of nine joints and two goals with NumPy", _numpy_solve()


def _numpy_solve() -> Calls:
    import importlib

    import scene

    ik = importlib.import_module(f"{scene.EXTENSION}.solvers")
    spine = [ik.Joint(f"spine {k}", k - 1, "ball", (0, 0.2, 0)) for k in range(3)]
    limbs = [
        ik.Joint(f"{side} {k}", 2 if k == 0 else 2 + start + k, "ball", (0.3 * sign, 0, 0))
        for side, start, sign in (("left", 0, 1), ("right", 3, -1)) for k in range(3)
    ]  # fmt: skip
    skeleton = ik.Skeleton([*spine, *limbs])
    goals = [ik.Goal("left 2", position=(0.5, 0.6, 0.3)), ik.Goal("right 2", position=(-0.4, 0.7, 0.2))]
    os.environ["DQIK_KERNEL"] = "numpy"
    sys.modules[f"{scene.EXTENSION}.solvers.compiled.library"]._find.cache_clear()
    ik.solve(skeleton, goals)
    return counted(lambda: ik.solve(skeleton, goals))


if __name__ == "__main__":
    main()
