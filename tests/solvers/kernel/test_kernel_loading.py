# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel is found, or refused with one message; the answers are the same either way.

Each case runs in its own process, because a process searches for the kernel once.
"""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import build_kernel
import build_zip
import pytest

from solvers.compiled.contract import layout
from solvers.compiled.library import VERSION

SOLVE = """
import solvers as ik
arm = ik.Skeleton([
    ik.Joint("upper", -1, "ball", offset=(0, 0, 0), limits=ik.TwistSwing(swing_x=(-2, 2), swing_z=(-1, 2))),
    ik.Joint("lower", 0, "hinge", offset=(0, 1, 0), axis=(1, 0, 0), limits=ik.Range(0.1, 2.6)),
    ik.Joint("hand", 1, "ball", offset=(0, 0.8, 0)),
])
hand = ik.Goal(joint=2, position=(0.3, 0.9, 0.9))
found = [ik.solve(arm, [hand], solver=solver) for solver in ("PGS", "DLS", "PGS")]
print(ik.kernel())
print([value for one in found for value in one.pose.rotations.ravel().tolist()])
"""
LIBRARIES = [platform for platform in build_kernel.PLATFORMS if platform.library.is_file()]
needs_library = pytest.mark.skipif(
    build_kernel.local() not in LIBRARIES, reason="there is no library for this machine: make kernel builds it"
)


def solved(folder: Path | None = None, kernel: str = "") -> tuple[str, list[float], str]:
    """The kernel that a fresh process uses, its answer, and its stderr.

    folder : added to its import path. kernel : its DQIK_KERNEL.
    """
    path = [str(part) for part in (build_kernel.ROOT, folder) if part]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "DQIK_KERNEL": kernel}
    done = subprocess.run([sys.executable, "-c", SOLVE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name, numbers = done.stdout.splitlines()
    return name, [float(number) for number in numbers.strip("[]").split(",")], done.stderr


def installed(folder: Path, version: str, library: str) -> Path:
    """A folder with a package `dqik_kernel` to import."""
    package = folder / "dqik_kernel"
    package.mkdir()
    (package / "__init__.py").write_text(f"__version__ = {version!r}\nLIBRARY = {library!r}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def numpy_finds() -> list[float]:
    """NumPy's answer."""
    name, found, said = solved(kernel="numpy")
    assert name == "numpy: DQIK_KERNEL=numpy asks for it"
    assert said == ""
    return found


def refused(answer: tuple[str, list[float], str], reason: str, numpy_finds: list[float]) -> None:
    """Assert one message that names the reason, and NumPy's answer."""
    name, found, said = answer
    assert name.startswith("numpy: the compiled kernel cannot be used: ")
    assert reason in name
    assert said.count("\n") == 1
    assert said.startswith(f"DQIK: {name.removeprefix('numpy: ')}. NumPy solves instead")
    assert found == numpy_finds


def test_the_kernels_version_is_the_manifests() -> None:
    assert build_zip.manifest()["version"] == VERSION


def test_no_wheel_is_no_trouble(numpy_finds: list[float]) -> None:
    name, found, said = solved()
    assert name == "numpy: no compiled kernel is installed"
    assert (found, said) == (numpy_finds, "")


def test_a_wheel_of_another_version_is_refused(tmp_path: Path, numpy_finds: list[float]) -> None:
    here = build_kernel.local()
    library = str(here.library) if here in LIBRARIES else "none"  # it is refused before it is opened
    refused(solved(installed(tmp_path, "0.0.1", library)), f"version 0.0.1, this is DQIK {VERSION}", numpy_finds)


@pytest.mark.parametrize("content", [
    None, b"", b"a text, and no library\n", b"\x7fELF\x02\x01\x01" + bytes(57),
], ids=["missing", "empty", "text", "cut off"])  # fmt: skip
def test_a_missing_or_broken_library_is_refused(tmp_path: Path, content: bytes | None, numpy_finds: list) -> None:
    library = tmp_path / "library.so"
    if content is not None:
        library.write_bytes(content)
    refused(solved(installed(tmp_path, VERSION, str(library))), str(library), numpy_finds)


def test_a_library_of_something_else_is_refused(numpy_finds: list[float]) -> None:
    import _ctypes

    refused(solved(kernel=_ctypes.__file__), "dqik_layout", numpy_finds)


@needs_library
def test_a_library_made_for_another_contract_is_refused(tmp_path: Path, numpy_finds: list[float]) -> None:
    here = build_kernel.local()
    assert here is not None
    other = with_layout(here.library, tmp_path, layout())
    reason = f"it has layout {layout() ^ 1}, this version of DQIK needs {layout()}"
    refused(solved(kernel=str(other)), reason, numpy_finds)


def with_layout(library: Path, folder: Path, ours: int) -> Path:
    """A copy of a library in which the layout has another last digit, changed in its machine code."""
    content, number = library.read_bytes(), ours.to_bytes(4, "little")
    assert content.count(number) >= 1
    other = folder / library.name
    other.write_bytes(content.replace(number, (ours ^ 1).to_bytes(4, "little")))
    return other


@needs_library
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a library that this system cannot load")
def test_a_library_for_another_platform_is_refused(numpy_finds: list[float]) -> None:
    others = [platform for platform in LIBRARIES if platform != build_kernel.local()]
    if not others:
        pytest.skip("only the library for this machine is built: make kernel builds all")
    for other in others:
        refused(solved(kernel=str(other.library)), str(other.library), numpy_finds)


@needs_library
def test_the_wheel_is_found_by_its_version_and_answers_as_numpy(tmp_path: Path, numpy_finds: list[float]) -> None:
    here = build_kernel.local()
    assert here is not None
    with zipfile.ZipFile(build_kernel.wheel(here, tmp_path)) as archive:
        archive.extractall(tmp_path / "site-packages")
    name, found, said = solved(tmp_path / "site-packages")
    assert (name, said) == ("compiled", "")
    assert found == pytest.approx(numpy_finds, abs=1e-9)


@pytest.mark.parametrize("platform", LIBRARIES, ids=lambda platform: platform.name)
def test_a_wheel_lists_its_files_with_their_digests(platform: build_kernel.Platform, tmp_path: Path) -> None:
    path = build_kernel.wheel(platform, tmp_path)
    assert path.name == f"dqik_kernel-{VERSION}-py3-none-{platform.tag}.whl"
    with zipfile.ZipFile(path) as archive:
        record = archive.read(f"dqik_kernel-{VERSION}.dist-info/RECORD").decode().splitlines()
        rows = {name: (digest, size) for name, digest, size in (line.split(",") for line in record)}
        assert set(rows) == set(archive.namelist())
        for name, (digest, size) in rows.items():
            if name.endswith("/RECORD"):
                assert (digest, size) == ("", "")
                continue
            content = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={expected}", str(len(content)))
