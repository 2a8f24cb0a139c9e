# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages for scripts: the solvers, from the same sources, and the kernel beside them."""

import importlib.metadata
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import build_kernel
import numpy as np
import pytest
import wheels

pytestmark = pytest.mark.newest

ASK = """
import json, sys
import {name} as ik

bones = [("shoulder", -1, (0, 0, 0)), ("elbow", 0, (0, 1, 0)), ("hand", 1, (0, 0.8, 0))]
arm = ik.Skeleton([ik.Joint(name, above, "ball", offset=offset) for name, above, offset in bones])
found = ik.solve(arm, [ik.Goal("hand", position=(0.3, 0.9, 0.9), rotation=(1, 0, 0, 0))])
print(json.dumps([found.pose.rotations.tolist(), ik.kernel()]))
"""


def installed(tmp_path: Path, *packages: Path) -> Path:
    """Packages unpacked as an installer does."""
    place = tmp_path / "site-packages"
    for package in packages:
        with zipfile.ZipFile(package) as archive:
            archive.extractall(place)
    return place


def asked(name: str, path: Path) -> tuple[np.ndarray, str]:
    """The answer to a problem in a process of its own, without this checkout, and the kernel that it used."""
    environment = {"PYTHONPATH": str(path), "PATH": ""}
    command = [sys.executable, "-c", ASK.format(name=name)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=path, check=True)
    rotations, kernel = json.loads(done.stdout)
    return np.array(rotations), kernel


def test_the_package_solves_as_the_sources_do(tmp_path: Path) -> None:
    place = installed(tmp_path, wheels.solvers(tmp_path))
    answer, kernel = asked("dqik", place)
    expected, same = asked("solvers", wheels.ROOT)
    assert kernel.startswith("numpy") and same.startswith("numpy")
    assert np.abs(answer - expected).max() == 0.0


def test_the_package_uses_the_kernel_that_is_beside_it(tmp_path: Path) -> None:
    here = build_kernel.local()
    if here is None or not here.library.is_file():
        pytest.skip("the kernel is not built")
    place = installed(tmp_path, wheels.solvers(tmp_path), build_kernel.wheel(here, tmp_path))
    answer, kernel = asked("dqik", place)
    assert kernel == "compiled"
    assert np.abs(answer - asked("solvers", wheels.ROOT)[0]).max() < 1e-9


def test_packages_say_what_they_are_and_need(tmp_path: Path) -> None:
    """As installers read it."""
    place = installed(tmp_path, wheels.solvers(tmp_path))
    [package] = importlib.metadata.distributions(path=[str(place)])
    assert (package.metadata["Name"], package.version) == ("dqik", wheels.VERSION)
    assert package.requires == ["numpy>=1.26", f"dqik-kernel=={wheels.VERSION}; extra == 'kernel'"]
    assert package.metadata["License-Expression"] == "GPL-3.0-or-later"
    assert {str(file) for file in package.files or ()} >= {"dqik/__init__.py", "dqik/figure/weights.npz"}
    assert all((place / str(file)).is_file() for file in package.files or ())
