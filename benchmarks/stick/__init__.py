# SPDX-License-Identifier: GPL-3.0-or-later
"""The measuring stick, built where it runs and called through ctypes."""

import ctypes
import os
import shutil
import subprocess
import sys
from ctypes import POINTER, Structure, byref, c_double, c_int32, c_int64, c_void_p
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from peer import Tree
from scipy.spatial.transform import Rotation
from workload_suite import Workload

SOURCE = Path(__file__).with_name("stick.c")
FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros",
    "-fassociative-math", "-fPIC", "-shared",
)  # fmt: skip
FREE = 1e9  # [rad] stands for no limit
ITERATIONS = 200


class _Stick(Structure):
    _fields_ = [
        *[(name, c_int32) for name in ("n", "goals", "rows")],
        *[(name, c_void_p) for name in ("parent", "slides", "axis", "offset", "lo", "hi", "joint", "turned", "tip")],
        ("tolerance", c_double), ("rotation_tolerance", c_double), ("iterations", c_int32), ("restarts", c_int32),
    ]  # fmt: skip


def build(folder: Path) -> ctypes.CDLL | None:
    """The library, built in a folder by the first C compiler found; None if there is none."""
    compilers = [[name] for name in (os.environ.get("CC", "cc"), "gcc", "clang") if shutil.which(name)]
    compilers += [[sys.executable, "-m", "ziglang", "cc"]] if find_spec("ziglang") else []
    for compiler in compilers:
        path = folder / "stick.so"
        if subprocess.run([*compiler, *FLAGS, str(SOURCE), "-o", str(path), "-lm"], check=False).returncode == 0:
            library = ctypes.CDLL(str(path))
            library.stick_solve.restype = None
            library.stick_solve.argtypes = [POINTER(_Stick), c_void_p, c_void_p, c_int64, c_int32, c_void_p]
            return library
    return None


class Stick:
    """A workload prepared for the stick."""

    def __init__(self, library: ctypes.CDLL, workload: Workload, restarts: int) -> None:
        self._library, self._workload, self.tree = library, workload, Tree(workload.skeleton)
        tree, goals = self.tree, workload.goals
        self._kept = {
            "parent": tree.parents.astype(np.int32), "slides": tree.slides.astype(np.int32),
            "axis": tree.axes.astype(float), "offset": tree.offsets.astype(float),
            "lo": np.maximum(tree.lo, -FREE), "hi": np.minimum(tree.hi, FREE),
            "joint": np.array([tree.last[goal.joint] for goal in goals], dtype=np.int32),
            "turned": np.array([goal.rotation is not None for goal in goals], dtype=np.int32),
            "tip": np.array([goal.offset for goal in goals], dtype=float),
        }  # fmt: skip
        rows = 3 * len(goals) + 3 * int(self._kept["turned"].sum())
        self._stick = _Stick(
            len(tree), len(goals), rows, *(array.ctypes.data for array in self._kept.values()), workload.tolerance,
            workload.rotation_tolerance, ITERATIONS, restarts,
        )  # fmt: skip
        turns = Rotation.from_quat(workload.rotations.reshape(-1, 4), scalar_first=True).as_matrix()
        turns = turns.reshape(*workload.rotations.shape[:2], 9)
        self._targets = np.ascontiguousarray(np.concatenate([workload.positions, turns], -1))

    def solve(self, q: np.ndarray) -> np.ndarray:
        """Solve all targets from coordinates `q` (F, n), which the answers overwrite. Returns the steps (F,)."""
        steps = np.zeros(len(q), dtype=np.int32)
        self._library.stick_solve(
            byref(self._stick), self._targets.ctypes.data, q.ctypes.data, len(q), int(self._workload.coherent),
            steps.ctypes.data,
        )  # fmt: skip
        return steps
