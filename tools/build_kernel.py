# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the compiled kernel for every platform from this machine, each as a small wheel.

The compiler is that of Zig, from the package `ziglang`: run this with a Python that has it, as `make kernel` does. The
libraries stay in `build/kernel/`, in folders named after what they were made from: what is there is up to date.
"""

import argparse
import base64
import hashlib
import os
import platform as machine
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import kernel_contract
from environment import KERNEL, ROOT

SOURCES = ROOT / "kernel" / "src"
VERSION: str = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]

# Without vectorising the loops, most of which are of three turns, solves are 5 to 10 % faster. Nothing is fused or
# reordered, so that all platforms do the same arithmetic, but for the C libraries' sines and cosines.
_FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-fno-vectorize", "-fno-slp-vectorize"),
    *("-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-shared", "-s"),
)

# Ends the process, and says where, at whatever C leaves undefined: overflow, a shift too far, a null or odd address.
_CHECKED = (
    *("-std=c11", "-O1", "-g", "-fPIC", "-fno-math-errno", "-shared", "-fsanitize=undefined"),
    *("-fno-sanitize-trap=undefined", "-fno-sanitize-recover=undefined"),
)


@dataclass(frozen=True)
class Platform:
    """What the kernel is built for."""

    name: str  # as Blender calls it
    target: str  # as Zig does, with the oldest system that will do: that of Blender 4.2
    tag: str  # as wheels do
    suffix: str

    @property
    def library(self) -> Path:
        """Where the library is, once it is built from the present sources."""
        return ROOT / "build" / "kernel" / f"{self.name}-{self._fingerprint()}" / f"dqik_kernel-{VERSION}{self.suffix}"

    @property
    def flags(self) -> tuple[str, ...]:
        """What is told to the compiler."""
        name = (f"-Wl,-install_name,@rpath/{self.library.name}",) if self.suffix == ".dylib" else ()
        return "-target", self.target, "-mcpu=baseline", *_FLAGS, *name

    def _fingerprint(self) -> str:
        """A name for all that the library depends on."""
        digest = hashlib.sha256(repr((KERNEL.requirements, VERSION, self.target, _FLAGS)).encode())
        for path in sorted(path for path in SOURCES.rglob("*") if path.is_file()):
            digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()[:16]


PLATFORMS = (
    Platform("linux-x64", "x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64", ".so"),
    Platform("linux-arm64", "aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64", ".so"),
    Platform("windows-x64", "x86_64-windows-gnu", "win_amd64", ".dll"),
    Platform("windows-arm64", "aarch64-windows-gnu", "win_arm64", ".dll"),
    Platform("macos-arm64", "aarch64-macos.11.0", "macosx_11_0_arm64", ".dylib"),
    Platform("macos-x64", "x86_64-macos.11.0", "macosx_11_0_x86_64", ".dylib"),
)


def local() -> Platform | None:
    """The platform of this machine, if the kernel is built for it."""
    system = {"darwin": "macos"}.get(machine.system().lower(), machine.system().lower())
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        machine.machine().lower(), machine.machine().lower()
    )  # fmt: skip
    return next((platform for platform in PLATFORMS if platform.name == f"{system}-{processor}"), None)


def built() -> list[Platform]:
    """The platforms whose library is there and up to date."""
    return [platform for platform in PLATFORMS if platform.library.is_file()]


def build(platform: Platform) -> Path:
    """Build the library unless it is there. Returns its path."""
    library = platform.library
    if library.is_file():
        return library
    work = ROOT / "build" / "kernel"
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=work
    ) as folder:  # beside the place it moves to: Windows makes more than one file
        made = Path(folder) / library.name
        compile_to(made, platform.flags)
        for old in work.glob(f"{platform.name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        library.parent.mkdir(exist_ok=True)
        os.replace(made, library)
    return library


def compile_to(library: Path, flags: tuple[str, ...]) -> None:
    """Run the compiler; where it fails, its own words are in the error."""
    sources = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.c"))
    caches = {f"ZIG_{kind}_CACHE_DIR": str(ROOT / "build" / "zig") for kind in ("GLOBAL", "LOCAL")}
    command = [sys.executable, "-m", "ziglang", "cc", *flags, *sources, "-o", str(library), "-lm"]
    done = subprocess.run(
        command, cwd=SOURCES, env={**os.environ, **caches}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def wheel(platform: Platform, folder: Path) -> Path:
    """Pack a platform's built library into a wheel, the same bytes every time. Returns its path."""
    info = f"dqik_kernel-{VERSION}.dist-info"
    library = platform.library
    package = (
        f'# SPDX-License-Identifier: GPL-3.0-or-later\n"""The compiled kernel of DQIK {VERSION}."""\n\n'
        f'import os\n\n__version__ = "{VERSION}"\n'
        f'LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{library.name}")\n'
    )
    metadata = (
        f"Metadata-Version: 2.1\nName: dqik_kernel\nVersion: {VERSION}\nSummary: The compiled kernel of DQIK\n"
        "License: GPL-3.0-or-later\n"
    )
    files = {
        "dqik_kernel/__init__.py": package.encode(),
        # The version in its name lets a new one come beside an old one that Windows will not part with while in use.
        f"dqik_kernel/{library.name}": library.read_bytes(),
        f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: DQIK\nRoot-Is-Purelib: false\nTag: py3-none-{platform.tag}\n".encode()
        ),
    }
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"dqik_kernel-{VERSION}-py3-none-{platform.tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, content)
    return path


def _record(files: dict[str, bytes], itself: str) -> bytes:
    """A wheel's list of its files, with their digests and sizes."""
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for name, content in files.items()
    ]
    return "\n".join([*rows, f"{itself},,", ""]).encode()


def main() -> None:
    """Build what is asked for and say where it is."""
    parser = argparse.ArgumentParser(description="Build the compiled kernel.")
    parser.add_argument("--local", action="store_true", help="this machine's library only; prints its path")
    parser.add_argument("--checked", action="store_true", help="one that ends at undefined behaviour; prints its path")
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist", help="where the wheels go")
    options = parser.parse_args()
    kernel_contract.write()
    if options.checked:
        library = ROOT / "build" / "kernel" / "dqik_kernel-checked"
        library.parent.mkdir(parents=True, exist_ok=True)
        compile_to(library, _CHECKED)
        print(library)
        return
    if options.local:
        here = local()
        if here is None:
            sys.exit(f"The kernel is not built for {machine.system()} on {machine.machine()}.")
        print(build(here))
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build, PLATFORMS))
    for platform in PLATFORMS:
        path = wheel(platform, options.output_dir)
        print(f"{path} ({path.stat().st_size / 1024:.0f} KiB)")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as problem:
        sys.exit(str(problem))
