# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments inside the checkout: one for each Blender, one for the linters, one for the compiler.

Blender is installed as the `bpy` package, which runs on one Python version only. This file finds that Python, makes the
environment, installs packages with pip, and writes a stamp so that the next run starts at once.

Standard library only, and Python 3.8 or newer: it runs on any Python, before the right one is found.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_TEST_TOOLS = ("pytest>=8.4", "hypothesis>=6.100", "scipy>=1.12", "matplotlib>=3.8")

# Libraries that Blender needs and a computer without a desktop may lack, by their names in Debian and Ubuntu.
_SYSTEM_PACKAGES = (
    *("libx11-6", "libxext6", "libxfixes3", "libxi6", "libxrender1", "libxxf86vm1", "libxkbcommon0"),
    *("libsm6", "libice6", "libgl1", "libegl1", "libgomp1"),
)
_system_packages_lock = threading.Lock()


class SetupError(Exception):
    """An environment cannot be made. The message gives the reason and a remedy."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment and its packages."""

    name: str
    pythons: tuple[str, ...]  # usable versions, the best first
    requirements: tuple[str, ...]
    module: str  # imported once at the end as a test

    @property
    def folder(self) -> Path:
        """Its folder."""
        return ROOT / f".venv-{self.name}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"Blender {self.name}" if self.name in BLENDERS else self.name

    @property
    def _stamp(self) -> Path:
        return self.folder / "requirements.json"

    @property
    def ready(self) -> bool:
        """Whether it was made for these requirements and its interpreter runs."""
        try:
            same = json.loads(self._stamp.read_text(encoding="utf-8")) == list(self.requirements)
        except (OSError, ValueError):
            return False
        return same and _probe(str(self.python)) is not None

    def ensure(self) -> Path:
        """Make it unless it is ready. Returns its interpreter."""
        if self.ready:
            return self.python
        base = find_python(self.pythons)
        if base is None:
            raise SetupError(
                f"{self.title} needs Python {' or '.join(self.pythons)} (64 bit, with venv and pip), and none was "
                f"found on PATH, in pyenv or in uv. Install it, or name one: make PYTHON=/path/to/python ..."
            )
        say(f"{self.title}: making {self.folder.name} with Python {base.version} ({base.path}).")
        self._make(base)
        say(f"{self.title}: installing {', '.join(self.requirements)}. The first time this downloads a lot.")
        if self._run("-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check", *self.requirements):
            raise SetupError(f"{self.title}: pip could not install all of this, see above.")
        self._check()
        self._stamp.write_text(json.dumps(self.requirements), encoding="utf-8")
        say(f"{self.title}: ready.")
        return self.python

    def _make(self, base: Python) -> None:
        """Make the folder with pip only."""
        options = ["--clear"] if base.has_ensurepip else ["--clear", "--without-pip"]
        code = subprocess.run([base.path, "-m", "venv", *options, str(self.folder)], check=False).returncode
        if code == 0 and not base.has_ensurepip:  # Debian has ensurepip in a separate package
            command = [base.path, "-m", "pip", "--python", str(self.python), "install", "-qq", "--no-input", "pip"]
            code = subprocess.run(command, check=False).returncode
        if code:
            raise SetupError(f"{base.path} could not make the environment {self.folder.name}, see above.")

    def _run(self, *arguments: str) -> int:
        return subprocess.run([str(self.python), *arguments], cwd=ROOT, check=False).returncode

    def _check(self) -> None:
        """Import the module. If a system library is missing, install it or name it."""
        error = self._import_error()
        if error and "cannot open shared object file" in error:
            _install_system_packages(self.title, error)
            error = self._import_error()
        if error:
            raise SetupError(f"{self.title}: `import {self.module}` fails: {error}")

    def _import_error(self) -> str:
        """The last line that a failing import prints, or nothing."""
        result = subprocess.run(
            [str(self.python), "-c", f"import {self.module}"], capture_output=True, text=True, cwd=ROOT, check=False
        )
        if result.returncode == 0:
            return ""
        return (result.stderr.strip().splitlines() or [f"it ended with code {result.returncode}"])[-1]


# In order of preference: `make test` takes the first for which a Python is found.
BLENDERS = {
    environment.name: environment
    for environment in (
        Environment("5.2", ("3.13",), ("bpy==5.2.3", *_TEST_TOOLS), "bpy"),
        Environment("4.5", ("3.11",), ("bpy==4.5.15", *_TEST_TOOLS), "bpy"),
        Environment("5.0", ("3.11",), ("bpy==5.0.1", *_TEST_TOOLS), "bpy"),
        # This bpy was built for NumPy 1, although its metadata do not say so.
        Environment("4.2", ("3.11",), ("bpy==4.2.23", "numpy<2", *_TEST_TOOLS), "bpy"),
    )
}

# Exact versions: a new release of a linter must not break an old checkout. The bpy here is only type stubs.
LINT = Environment(
    "lint",
    ("3.13", "3.12", "3.11"),
    ("ruff==0.17.6", "basedpyright==1.40.2", "fake-bpy-module-latest==20261026", "numpy==2.3.5"),
    "basedpyright",
)


# The C compiler of Zig builds for every platform and needs no other compiler. An exact version, because another one may
# produce other bytes. NumPy is needed to make the kernel's header.
KERNEL = Environment("kernel", ("3.13", "3.12", "3.11"), ("ziglang==0.17.1", "numpy==2.3.5"), "ziglang")


@dataclass(frozen=True)
class Python:
    """An interpreter that runs."""

    path: str
    version: str
    has_venv: bool
    has_ensurepip: bool
    has_pip: bool

    @property
    def makes_environments(self) -> bool:
        """Whether it can make an environment with pip in it."""
        return self.has_venv and (self.has_ensurepip or self.has_pip)


def find_python(versions: tuple[str, ...]) -> Python | None:
    """The first usable interpreter of the first of these versions that has one."""
    for version in versions:
        for path in _places(version):
            python = _probe(path)
            if python and python.version == version and python.makes_environments:
                return python
    return None


def say(text: str) -> None:
    """Print and flush, because output of other programs follows."""
    print(text, flush=True)


def _places(version: str) -> list[str]:
    """Paths where an interpreter of a version may be."""
    suffix = ".exe" if os.name == "nt" else ""
    names = [f"python{version}{suffix}", f"python3{suffix}", f"python{suffix}"]
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    home = Path.home()
    patterns = [
        f"{os.environ.get('PYENV_ROOT') or home / '.pyenv'}/versions/{version}.*/bin/python{version}",
        f"{home}/.local/share/uv/python/cpython-{version}.*/bin/python{version}",
        f"/opt/homebrew/bin/python{version}",
        f"/usr/local/bin/python{version}",
        f"/Library/Frameworks/Python.framework/Versions/{version}/bin/python{version}",
        f"{os.environ.get('LOCALAPPDATA', home)}/Programs/Python/Python{version.replace('.', '')}/python.exe",
    ]
    on_path = [os.path.join(folder, name) for name in names for folder in folders]
    elsewhere = [path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True)]
    return [sys.executable, *(path for path in [*on_path, *elsewhere] if os.access(path, os.X_OK))]


@functools.lru_cache(maxsize=None)
def _probe(path: str) -> Python | None:
    """Test an interpreter by running it, because the stand-in of a version manager can exist and fail."""
    code = (
        "import json, sys; from importlib.util import find_spec; assert sys.maxsize > 2**32; print(json.dumps(["
        "sys.executable, '%d.%d' % sys.version_info[:2], *(bool(find_spec(m)) for m in ('venv', 'ensurepip', 'pip'))]))"
    )
    try:
        result = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        return Python(*json.loads(result.stdout))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _install_system_packages(title: str, error: str) -> None:
    """Install the libraries that Blender needs, if apt-get is there and we are root."""
    packages = " ".join(_SYSTEM_PACKAGES)
    apt = shutil.which("apt-get")
    if not apt or not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise SetupError(f"{title} lacks a system library: {error}. On Debian or Ubuntu: apt-get install {packages}")
    with _system_packages_lock:
        say(f"{title} lacks a system library ({error}). As we are root, apt-get installs {packages}.")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *_SYSTEM_PACKAGES]):
            if subprocess.run([apt, *command], env=environment, check=False).returncode:
                raise SetupError(f"{title}: apt-get {command[0]} failed, see above.")
