# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments inside the checkout: one for each Blender, one for the linters, one for the compiler.

Blender is installed as the `bpy` package, which runs on one Python version only. The tool uv finds or downloads that
Python, makes the environment, and installs the exact packages that `tools/locks/<name>.txt` lists. A stamp, the hash of
that file, lets the next run start at once.

Standard library only, and Python 3.8 or newer: it runs on any Python, before the right one is found.
"""

from __future__ import annotations

import ast
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from progress import amount, progress, say

ROOT = Path(__file__).resolve().parents[1]

_INTERPRETER = "Scripts/python.exe" if os.name == "nt" else "bin/python"  # in a virtual environment

_TEST_TOOLS = ("pytest>=8.4", "pytest-xdist>=3.8", "hypothesis>=6.100", "scipy>=1.12", "matplotlib>=3.8", "dukpy>=0.6")

# Libraries that Blender needs and a computer without a desktop may lack, by their names in Debian and Ubuntu.
_SYSTEM_PACKAGES = (
    *("libx11-6", "libxext6", "libxfixes3", "libxi6", "libxrender1", "libxxf86vm1", "libxkbcommon0"),
    *("libsm6", "libice6", "libgl1", "libegl1", "libgomp1"),
)
_system_packages_lock = threading.Lock()

_UV = "uv==0.13.9"  # installed in the checkout if no uv is on PATH
_UV_SIZES = (18, 40)  # megabytes: to download, and unpacked
_uv_lock = threading.Lock()
_PYTHONS = ROOT / ".venv-python"  # those that uv downloads
_PYTHON_SIZES = (35, 110)  # megabytes of one of them: to download, and unpacked

_CACHE = ROOT / ".venv-cache"
CACHES = {
    "UV_CACHE_DIR": str(_CACHE / "uv"), "PIP_CACHE_DIR": str(_CACHE / "pip"),
    "MPLCONFIGDIR": str(_CACHE / "matplotlib"), "XDG_CACHE_HOME": str(_CACHE),
}  # fmt: skip
"""Environment variables with which downloads and what programs remember stay in the checkout."""

_FROM_PIP = {
    "cert": "SSL_CERT_FILE", "client-cert": "SSL_CLIENT_CERT", "proxy": "ALL_PROXY", "index-url": "UV_DEFAULT_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
}  # fmt: skip
"""Settings of pip that uv does not read, and the environment variables that give them to uv."""


# Where Linux keeps the certificates that it trusts: Debian, Fedora, SUSE, Alpine.
_SYSTEM_CERTIFICATES = (
    *("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"),
    "/etc/ssl/cert.pem",
)


class SetupError(Exception):
    """An environment cannot be made. The message gives the reason and a remedy."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment and its packages."""

    name: str
    pythons: tuple[str, ...]  # usable versions, the best first
    requirements: tuple[str, ...]
    module: str  # imported once at the end as a test
    download: int  # megabytes that its packages are to download, on Linux x64
    size: int  # megabytes that it and its part of the cache then take

    @property
    def folder(self) -> Path:
        """Its folder."""
        return ROOT / f".venv-{self.name}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / _INTERPRETER

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"Blender {self.name}" if self.name in BLENDERS else self.name

    @property
    def lock(self) -> Path:
        """The file with the exact versions and hashes of its packages, for all platforms."""
        return ROOT / "tools" / "locks" / f"{self.name}.txt"

    @property
    def _stamp(self) -> Path:
        return self.folder / "lock.sha256"

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.lock.read_bytes()).hexdigest()

    @property
    def ready(self) -> bool:
        """Whether it was made from the present lock file and its interpreter runs."""
        try:
            same = self._stamp.read_text(encoding="utf-8") == self._digest
            return same and subprocess.run([str(self.python), "-c", ""], check=False).returncode == 0
        except OSError:
            return False

    def ensure(self) -> Path:
        """Make it unless it is ready. Returns its interpreter."""
        if self.ready:
            return self.python
        base = find_python(self.pythons) or download_python(self.title, self.pythons[0])
        say(f"{self.title}: making {self.folder.name} with {base}.")
        if self.folder.is_symlink():
            raise SetupError(f"{self.folder} is out of date and a link, so it is left alone: remove the link.")
        if _uv("venv", "--quiet", "--clear", "--python", base, str(self.folder)).returncode:
            raise SetupError(f"{self.title}: uv could not make {self.folder.name} with {base}, see above.")
        say(f"{self.title}: installing {', '.join(self.requirements)}: {amount(self.download, self.size)}.")
        packages = ["--require-hashes", "--requirements", str(self.lock)]
        start = time.monotonic()
        with progress(self.title, Path(_uv_variables()["UV_CACHE_DIR"]), self.size):
            done = _uv("pip", "install", "--quiet", "--python", str(self.python), *packages)
        if done.returncode:
            raise SetupError(f"{self.title}: uv could not install what {self.lock} lists, see above.")
        self._check()
        self._stamp.write_text(self._digest, encoding="utf-8")
        say(f"{self.title}: ready, after {time.monotonic() - start:.0f} s.")
        return self.python

    def refresh_lock(self) -> None:
        """Write the newest versions that the requirements permit into the lock file."""
        self.lock.parent.mkdir(exist_ok=True)
        options = ["--universal", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
        options += ["--quiet", "--upgrade", "--python-version", self.pythons[-1], "--output-file", str(self.lock)]
        if _uv("pip", "compile", *options, "-", text="\n".join(self.requirements)).returncode:
            raise SetupError(f"{self.title}: uv could not resolve {', '.join(self.requirements)}, see above.")
        say(f"{self.title}: wrote {self.lock.relative_to(ROOT)}.")

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
        Environment("5.2", ("3.13",), ("bpy==5.2.3", *_TEST_TOOLS), "bpy", 500, 1250),
        Environment("4.5", ("3.11",), ("bpy==4.5.15", *_TEST_TOOLS), "bpy", 470, 1180),
        Environment("5.0", ("3.11",), ("bpy==5.0.1", *_TEST_TOOLS), "bpy", 470, 1200),
        # This bpy was built for NumPy 1, although its metadata do not say so.
        Environment("4.2", ("3.11",), ("bpy==4.2.23", "numpy<2", *_TEST_TOOLS), "bpy", 450, 1240),
    )
}

# Exact versions: a new release of a linter must not break an old checkout. The bpy here is only type stubs.
LINT = Environment(
    "lint",
    ("3.13", "3.12", "3.11"),
    ("ruff==0.17.6", "basedpyright==1.40.2", "fake-bpy-module-latest==20261026", "numpy==2.3.5"),
    "basedpyright",
    110,
    410,
)


# The C compiler of Zig builds for every platform and needs no other compiler. An exact version, because another one may
# produce other bytes. NumPy is needed to make the kernel's header.
KERNEL = Environment("kernel", ("3.13", "3.12", "3.11"), ("ziglang==0.17.1", "numpy==2.3.5"), "ziglang", 120, 500)

# The manual as a site.
DOCS = Environment("docs", ("3.13", "3.12", "3.11"), ("mkdocs>=1.6,<2", "mkdocs-material>=9.6,<10"), "mkdocs", 30, 140)


def announce(environments: Iterable[Environment]) -> None:
    """Say before the first download what all of these together will take."""
    missing = [environment for environment in environments if not environment.ready]
    if missing:
        total = amount(sum(each.download for each in missing), sum(each.size for each in missing))
        names = " and ".join(each.title for each in missing)
        say(f"Setting up {names} in this folder, this once: {total}. `make clean` removes all of it.")


@functools.lru_cache(maxsize=None)
def find_python(versions: tuple[str, ...]) -> str | None:
    """An interpreter of the first of these versions that is on this computer."""
    if "{}.{}".format(*sys.version_info) == versions[0]:
        return sys.executable
    for version in versions:
        found = _uv("python", "find", "--system", "--no-python-downloads", version, capture=True)
        if found.returncode == 0:
            return found.stdout.strip()
    return None


def download_python(title: str, version: str) -> str:
    """Download an interpreter into the checkout."""
    say(f"{title}: there is no Python {version} here, so uv downloads it: {amount(*_PYTHON_SIZES)}.")
    with progress(f"Python {version}", _PYTHONS, _PYTHON_SIZES[1]):
        result = _uv("python", "install", "--no-bin", "--install-dir", str(_PYTHONS), version, capture=True)
    find_python.cache_clear()
    python = find_python((version,)) if result.returncode == 0 else None
    if python is None:
        reason = (result.stderr.strip().splitlines() or ["it gave no reason"])[-1].strip()
        raise SetupError(
            f"{title} needs Python {version}, which is not here and which uv could not download ({reason}): install "
            f"Python 3.13 for Blender 5.2 or 3.11 for Blender 4.2 to 5.0, or name one: make PYTHON=/path/to/python ..."
        )
    return python


def _uv(*arguments: str, text: str = "", capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Run uv in the checkout."""
    with _uv_lock:
        command = [_uv_path(), *arguments]
    pipe = subprocess.PIPE if capture else None
    return subprocess.run(
        command, input=text, stdout=pipe or subprocess.DEVNULL, stderr=pipe, text=True, cwd=ROOT, env=_uv_variables(),
        check=False,
    )  # fmt: skip


@functools.lru_cache(maxsize=None)
def _uv_path() -> str:
    """The uv on PATH that runs, or one in the checkout, installed with pip if necessary."""
    folder = ROOT / ".venv-uv"
    own = folder / "bin" / ("uv.exe" if os.name == "nt" else "uv")
    for path in (shutil.which("uv"), str(own)):
        if path and _runs([path, "--version"]):  # the stand-in of a version manager can exist and fail
            return path
    say(f"Installing {_UV} in {folder.name}: {amount(*_UV_SIZES)}.")
    # Made beside its place and moved there whole, because two targets may run at once.
    with tempfile.TemporaryDirectory(prefix=".venv-uv-", dir=str(ROOT)) as temporary:
        made, beside = Path(temporary) / "made", Path(temporary) / "venv"
        python = sys.executable
        if not _runs([python, "-m", "pip", "--version"]):
            if not _runs([python, "-m", "venv", str(beside)]):  # Debian has pip and ensurepip in packages of their own
                raise SetupError(f"{python} has neither pip nor venv to install uv with: install uv.")
            python = str(beside / _INTERPRETER)
        install = ["-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check", "--target", str(made)]
        if subprocess.run([python, *install, _UV], env=_pip_variables(), check=False).returncode:
            raise SetupError(f"pip could not install {_UV}, see above: install uv, or connect to a network.")
        if not own.exists():
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    return str(own)


def _pip_variables() -> dict[str, str]:
    """The environment variables for pip. Before 24.2 it trusts only authorities of its own, so not that of a proxy."""
    store = next((path for path in _SYSTEM_CERTIFICATES if Path(path).is_file()), "")
    trusted = "" if "SSL_CERT_FILE" in _pip_settings() else _named_certificates() or store
    return {**({"PIP_CERT": trusted} if trusted else {}), **os.environ, "PIP_ROOT_USER_ACTION": "ignore"}


def _named_certificates() -> str:
    """The file of certificates that a variable or pip's configuration names, or nothing."""
    given = {**_pip_settings(), **os.environ}
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    return next((given[name] for name in names if given.get(name)), "")


def _uv_variables() -> dict[str, str]:
    """The environment variables for uv: the Python that runs this comes first on PATH, pyenv's versions next.

    The folder of pyenv's stand-ins is left out: uv stops at one that fails. Certificates are the system's, which may
    have that of a proxy, unless pip or a variable names others.
    """
    pyenv = os.environ.get("PYENV_ROOT") or str(Path.home() / ".pyenv")
    patterns = (f"{_PYTHONS}/*/bin", f"{_PYTHONS}/*/", f"{pyenv}/versions/3.1[13]*/bin")
    found = [path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True)]
    folders = [path for path in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(path).name != "shims"]
    path = os.pathsep.join([os.path.dirname(sys.executable), *found, *folders])
    named = _named_certificates()
    trusted = {"UV_SYSTEM_CERTS": "1", **({"SSL_CERT_FILE": named} if named else {})}
    # A proxy may search a whole file for viruses before it hands out the first byte, and uv waits for 30 s alone.
    usual = {**CACHES, **trusted, "UV_HTTP_TIMEOUT": "180", **_pip_settings()}
    return {**usual, **os.environ, "PATH": path, "UV_PYTHON_PREFERENCE": "system"}


@functools.lru_cache(maxsize=None)
def _pip_settings() -> dict[str, str]:
    """The settings of pip's files and variables that uv needs too, as uv's variables; none if there is no pip."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    values = {
        (section, name): ast.literal_eval(value)
        for section, name, value in re.findall(r"^(\S+?)\.([\w-]+)=(.*)$", listed, re.MULTILINE)
    }  # fmt: skip
    return {
        variable: " ".join(values[section, name].split())
        for section in ("global", "install", ":env:")  # later ones count, as in pip
        for name, variable in _FROM_PIP.items() if (section, name) in values
    }  # fmt: skip


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


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
