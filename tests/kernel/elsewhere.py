# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the kernel's libraries for other systems: Windows' under Wine, that for Linux on ARM under QEMU.

A small program, `driver.c`, is built for each of them by the compiler that builds the kernel. It loads the same file
that the wheels contain.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import build_kernel
import kernel_contract
import pytest
from environment import KERNEL, ROOT

from solvers.compiled.contract import FUNCTIONS
from solvers.compiled.declare import split

HERE = Path(__file__).parent
PLATFORMS = {platform.name: platform for platform in build_kernel.PLATFORMS}


@dataclass(frozen=True)
class System:
    """A system that runs libraries of a platform on this machine.

    packages : of Debian and Ubuntu, that it needs. prefix : the words before the driver, or None where they are not
    here. path : a file as this system names it.
    """

    platform: str
    title: str
    packages: str
    prefix: Callable[[], list[str] | None]
    path: Callable[[Path], str] = str


def _wine() -> list[str] | None:
    """Debian's package `wine64` alone puts nothing on PATH."""
    found = shutil.which("wine64") or shutil.which("wine") or shutil.which("wine64", path="/usr/lib/wine")
    return [found] if found else None


def _qemu() -> list[str] | None:
    """QEMU with the C library of an ARM system, which the library is linked with."""
    found, system = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64"), "/usr/aarch64-linux-gnu"
    return [found, "-L", system] if found and Path(system, "lib", "ld-linux-aarch64.so.1").exists() else None


def _here() -> list[str] | None:
    here = build_kernel.local()
    return [] if here is not None and here.name == "linux-x64" else None


SYSTEMS = {
    one.platform: one
    for one in (
        System("linux-x64", "Linux on x64", "", _here),
        System("windows-x64", "Wine", "wine64", _wine, lambda path: f"Z:{path}".replace("/", "\\")),
        System("linux-arm64", "QEMU", "qemu-user-static libc6-arm64-cross", _qemu),
    )
}


def built(name: str) -> Path:
    """The library of a platform; skips the test where it is not built."""
    library = PLATFORMS[name].library
    if not library.is_file():
        pytest.skip(f"the kernel for {name} is not built: make kernel")
    return library


def run(name: str, images: dict[str, bytes], folder: Path) -> dict[str, bytes]:
    """The memory of images after a platform's library has made their calls; skips the test where that cannot be."""
    system, library = SYSTEMS[name], built(name)
    prefix = system.prefix()
    if prefix is None:
        pytest.skip(f"{system.title} is not here: apt-get install {system.packages}" if system.packages else
                    "this machine is another")  # fmt: skip
    driver = _driver(name, folder)
    questions, answers = ({one: folder / f"{one}.{kind}" for one in images} for kind in ("asked", "made"))
    for one, image in images.items():
        questions[one].write_bytes(image)
    paths = [library, *(path for one in images for path in (questions[one], answers[one]))]
    _call(system, [*prefix, str(driver), *map(system.path, paths)], folder)
    return {one: path.read_bytes() for one, path in answers.items()}


def _call(system: System, command: list[str], folder: Path) -> None:
    """Run the driver. Wine is told to make no Windows of 700 MB in the folder first: its own libraries do."""
    wine = folder / "wine"
    environment = {**os.environ, "WINEPREFIX": str(wine), "WINEDEBUG": "-all", "WINEBOOTSTRAPMODE": "1"}
    if system.title == "Wine":
        wine.mkdir()
        (wine / ".update-timestamp").write_text("disable\n", encoding="utf-8")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    if wine.exists():
        subprocess.run([command[0], "wineboot", "--kill"], env=environment, capture_output=True, check=False)
        shutil.rmtree(wine, ignore_errors=True)
    assert done.returncode == 0, f"{system.title}: code {done.returncode}\n{done.stdout}{done.stderr}"


def _driver(name: str, folder: Path) -> Path:
    """The program that loads a platform's library; skips the test where there is no compiler."""
    if not KERNEL.ready:
        pytest.skip("the kernel's compiler is not here: make kernel")
    folder.joinpath("calls.h").write_text(_calls(), encoding="utf-8")
    target = PLATFORMS[name].target
    made = folder / ("driver.exe" if "windows" in target else "driver")
    caches = {f"ZIG_{kind}_CACHE_DIR": str(ROOT / "build" / "zig") for kind in ("GLOBAL", "LOCAL")}
    command = [  # -O2 -s as for the kernel, so that Zig uses the same C runtime again: another takes a minute to build
        *(str(KERNEL.python), "-m", "ziglang", "cc", "-target", target, "-mcpu=baseline", "-std=c11", "-O2", "-s"),
        *("-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{kernel_contract.FOLDER}", str(HERE / "driver.c")),
        *("-o", str(made)),
    ]
    done = subprocess.run(command, env={**os.environ, **caches}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


@cache
def _calls() -> str:
    """The driver's part that follows from the contract: the functions' names, and a call of each from its words."""
    names = ", ".join(f'"{one.name}"' for one in FUNCTIONS)
    lines = [
        '#include "contract.h"',
        f"static const char *const NAMES[] = {{{names}}};",
        "static void call_function(int64_t number, void *function, int64_t *words)",
        *("{", "switch (number) {"),
    ]
    for number, one in enumerate(FUNCTIONS):
        arguments = ", ".join(_argument(field.kind, place) for place, field in enumerate(one.arguments, 1))
        result = "" if one.result == "void" else "words[0] = "
        lines.append(f"case {number}: {result}((__typeof__({one.name}) *)function)({arguments}); break;")
    return "\n".join([*lines, "}", "}", ""])


def _argument(kind: str, place: int) -> str:
    if split(kind)[1]:
        return f"(void *)words[{place}]"
    return f"*(double *)&words[{place}]" if kind == "double" else f"words[{place}]"
