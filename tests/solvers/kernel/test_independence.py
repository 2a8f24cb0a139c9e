# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers need only NumPy and the standard library, and nothing of Blender."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_solvers_import_no_blender_and_nothing_but_numpy() -> None:
    """A fresh Python without Blender's modules solves a pose and has loaded no other package."""
    program = """
import sys
forbidden = ("bpy", "mathutils", "bmesh", "gpu", "aud", "scipy", "numba")
sys.modules.update(dict.fromkeys(forbidden))  # None: any import of them fails
import numpy.random
before = set(sys.modules)
import solvers
arm = solvers.Skeleton([solvers.Joint("a", -1, "ball", (0, 0, 0)), solvers.Joint("b", 0, "ball", (0, 1, 0))])
assert solvers.solve(arm, [solvers.Goal(1, position=(1, 0, 0))]).converged
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - set(sys.stdlib_module_names) - {"numpy", "solvers"}))
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []


def test_every_public_name_exists_and_is_listed_once() -> None:
    """`from solvers import *` imports what `__all__` lists."""
    import solvers

    assert len(set(solvers.__all__)) == len(solvers.__all__)
    assert [name for name in solvers.__all__ if not hasattr(solvers, name)] == []


def test_every_source_file_says_its_licence() -> None:
    sources = list((ROOT / "solvers").rglob("*.py"))
    assert len(sources) > 10
    first = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in sources}
    assert {name: line for name, line in first.items() if line != "# SPDX-License-Identifier: GPL-3.0-or-later"} == {}
