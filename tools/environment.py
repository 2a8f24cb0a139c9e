# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments inside the checkout: one for each Blender, one for the linters.

Blender comes as the `bpy` package, which runs on one Python version only. This finds that Python, makes the
environment, fills it with pip, and leaves a stamp so that the next run starts at once.

Standard library only, and Python 3.8 or newer: it runs on whatever Python is there, before the right one is found.
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

# What Blender links to and a computer without a desktop may lack, by the names of Debian and Ubuntu.
_SYSTEM_PACKAGES = (
    "libxi6 libxxf86vm1 libxfixes3 libxrender1 libgl1 libegl1 libxkbcommon0 libsm6 libice6 libx11-6 libxext6"
).split()
_system_packages_lock = threading.Lock()


class SetupError(Exception):
    """An environment cannot be made. The message says why and what would help."""


@dataclass(frozen=True)
class Environment:
    """What a virtual environment holds."""

    name: str
    pythons: tuple[str, ...]  # versions that will do, the best first
    requirements: tuple[str, ...]
    module: str  # imported once at the end, to see that it works

    @property
    def folder(self) -> Path:
        """Where it is."""
        return ROOT / f".venv-{self.name}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Blender {self.name}" if self.name in BLENDERS else self.name

    @property
    def _stamp(self) -> Path:
        return self.folder / "requirements.json"

    @property
    def ready(self) -> bool:
        """Whether it was made for these requirements and its interpreter still runs."""
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
        _make(base, self.folder)
        say(f"{self.title}: installing {', '.join(self.requirements)}. The first time this downloads a lot.")
        if self._run("-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *self.requirements):
            raise SetupError(f"{self.title}: pip could not install {', '.join(self.requirements)}; its words are above.")
        self._check()
        self._stamp.write_text(json.dumps(self.requirements), encoding="utf-8")
        say(f"{self.title}: ready.")
        return self.python

    def _run(self, *arguments: str) -> int:
        return subprocess.run([str(self.python), *arguments], cwd=ROOT, check=False).returncode

    def _check(self) -> None:
        """Import the module; if a system library is missing, get it or say which."""
        error = self._import_error()
        if error and "cannot open shared object file" in error:
            _install_system_packages(self.title, error)
            error = self._import_error()
        if error:
            raise SetupError(f"{self.title}: `import {self.module}` fails: {error}")

    def _import_error(self) -> str:
        """The last line that a failing import prints, or nothing."""
        done = subprocess.run(
            [str(self.python), "-c", f"import {self.module}"], capture_output=True, text=True, cwd=ROOT, check=False
        )
        if done.returncode == 0:
            return ""
        return (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]


# The order is that of preference: `make test` takes the first for which a Python is found.
BLENDERS = {
    environment.name: environment
    for environment in (
        Environment("5.2", ("3.13",), ("bpy==5.2.3", *_TEST_TOOLS), "bpy"),
        Environment("4.5", ("3.11",), ("bpy==4.5.15", *_TEST_TOOLS), "bpy"),
        Environment("5.0", ("3.11",), ("bpy==5.0.1", *_TEST_TOOLS), "bpy"),
        # This bpy does not say so, but it was built for NumPy 1.
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


@dataclass(frozen=True)
class Python:
    """An interpreter that was tried and runs."""

    path: str
    version: str
    modules: tuple[str, ...]  # of venv, ensurepip, pip: those it has


def find_python(versions: tuple[str, ...]) -> Python | None:
    """The first usable interpreter of the first of these versions that has one."""
    for version in versions:
        for path in _places(version):
            python = _probe(path)
            if python and python.version == version and "venv" in python.modules and python.modules != ("venv",):
                return python
    return None


def say(text: str) -> None:
    """Print at once: output of other programs follows."""
    print(text, flush=True)


def _places(version: str) -> list[str]:
    """Where an interpreter of a version may be."""
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
    """Try an interpreter by running it: a version manager's stand-in may be there and refuse."""
    code = (
        "import importlib.util as u, json, sys; assert sys.maxsize > 2**32; print(json.dumps(["
        "sys.executable, '%d.%d' % sys.version_info[:2], [m for m in ('venv', 'ensurepip', 'pip') if u.find_spec(m)]]))"
    )
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        executable, version, modules = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(executable, version, tuple(modules))


def _make(base: Python, folder: Path) -> None:
    """An empty environment with pip in it."""
    bundled = "ensurepip" in base.modules
    options = ["--clear"] if bundled else ["--clear", "--without-pip"]
    code = subprocess.run([base.path, "-m", "venv", *options, str(folder)], check=False).returncode
    if code == 0 and not bundled:  # Debian leaves ensurepip to a package of its own
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        code = subprocess.run(
            [base.path, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-input", "pip"], check=False
        ).returncode
    if code:
        raise SetupError(f"{base.path} could not make the environment {folder.name}; its words are above.")


def _install_system_packages(title: str, error: str) -> None:
    """Get the libraries that Blender links to, where that is ours to do."""
    packages = " ".join(_SYSTEM_PACKAGES)
    apt = shutil.which("apt-get")
    if not apt or not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise SetupError(f"{title} lacks a system library: {error}. On Debian or Ubuntu: apt-get install {packages}")
    with _system_packages_lock:
        say(f"{title} lacks a system library ({error}). As we are root, apt-get installs {packages}.")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *_SYSTEM_PACKAGES]):
            if subprocess.run([apt, *command], env=environment, check=False).returncode:
                raise SetupError(f"{title}: apt-get {command[0]} failed; its words are above.")
