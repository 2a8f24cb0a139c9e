# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the compiled kernel for every platform from this machine, each as a small wheel.

The compiler is that of Zig, from the package `ziglang`: run this with a Python that has it, as `make kernel` does. The
libraries stay in `build/kernel/`, in folders named after a hash of their sources, so an existing one is up to date.
"""

import argparse
import hashlib
import os
import platform as machine
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import kernel_contract
import wheels
from environment import KERNEL, ROOT
from wheels import VERSION

SOURCES = ROOT / "kernel" / "src"
_ZIG = (sys.executable, "-m", "ziglang", "cc")
_README = f"""# dqik-kernel

The compiled kernel of DQIK: a small C library, which the package `dqik` and the Blender
extension load if it is there, in the same version ({VERSION}). Alone it does nothing. GPL-3.0-or-later.
"""

# Most loops are over three numbers; without vectorisation solves are 5 to 10 % faster. No operations are fused or
# reordered, so that all platforms do the same arithmetic, except for functions of the C library such as sin.
_FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-fno-vectorize", "-fno-slp-vectorize"),
    *("-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-shared", "-s"),
)

# Stops at undefined behaviour and prints the place: overflow, a shift too far, a null or misaligned address, a number
# too large for its type.
_CHECKED = (
    *("-std=c11", "-O1", "-g", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-shared"),
    *("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"),
)
_CHECKED_BY_ZIG = ("-fno-sanitize-trap=undefined",)
_CHECKED_BY_GCC = ("-fsanitize=address", "-fno-omit-frame-pointer")


@dataclass(frozen=True)
class Platform:
    """A platform that the kernel is built for."""

    name: str  # in Blender
    target: str  # in Zig, with the oldest system that Blender 4.2 supports
    tag: str  # in wheels
    suffix: str

    @property
    def library(self) -> Path:
        """The path of the library that is built from the present sources."""
        return ROOT / "build" / "kernel" / f"{self.name}-{self._fingerprint()}" / f"dqik_kernel-{VERSION}{self.suffix}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The arguments of the compiler."""
        name = (f"-Wl,-install_name,@rpath/{self.library.name}",) if self.suffix == ".dylib" else ()
        return "-target", self.target, "-mcpu=baseline", *_FLAGS, *name

    def _fingerprint(self) -> str:
        """A hash of everything that the library depends on."""
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
    """The platforms whose library is built and up to date."""
    return [platform for platform in PLATFORMS if platform.library.is_file()]


def build(platform: Platform) -> Path:
    """Build the library unless it exists. Returns its path."""
    library = platform.library
    if library.is_file():
        return library
    work = ROOT / "build" / "kernel"
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=work
    ) as folder:  # a folder, because Windows makes several files; on the same disk, so that it can be moved
        made = Path(folder) / library.name
        compile_to(made, platform.flags)
        for old in work.glob(f"{platform.name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        library.parent.mkdir(exist_ok=True)
        os.replace(made, library)
    return library


def build_checked() -> tuple[Path, Path | None]:
    """Build a library that ends the process where it does something undefined, and prints the place.

    With a GCC that has the address sanitizer, which Zig lacks, it does so also where it reads or writes outside its
    arrays. The second path is then that sanitizer's library, which a process must load before all others.
    """
    folder = ROOT / "build" / "kernel"
    folder.mkdir(parents=True, exist_ok=True)
    for compiler in filter(shutil.which, (os.environ.get("CC", ""), "gcc", "cc")):
        asked = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
        sanitizer = Path(asked.stdout.strip())
        if asked.returncode == 0 and sanitizer.is_absolute() and sanitizer.is_file():
            library = folder / "dqik_kernel-checked-addresses"
            compile_to(library, (*_CHECKED, *_CHECKED_BY_GCC), (compiler,))
            return library, sanitizer.resolve()
    library = folder / "dqik_kernel-checked"
    compile_to(library, (*_CHECKED, *_CHECKED_BY_ZIG))
    return library, None


def compile_to(library: Path, flags: tuple[str, ...], compiler: tuple[str, ...] = _ZIG) -> None:
    """Run the compiler. If it fails, the error contains its output."""
    sources = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.c"))
    caches = {f"ZIG_{kind}_CACHE_DIR": str(ROOT / "build" / "zig") for kind in ("GLOBAL", "LOCAL")}
    command = [*compiler, *flags, *sources, "-o", str(library), "-lm"]
    result = subprocess.run(
        command, cwd=SOURCES, env={**os.environ, **caches}, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{result.stdout}{result.stderr}")


def wheel(platform: Platform, folder: Path) -> Path:
    """Pack a platform's library into a wheel. Returns its path."""
    library = platform.library
    package = (
        f'# SPDX-License-Identifier: GPL-3.0-or-later\n"""The compiled kernel of DQIK {VERSION}."""\n\n'
        f'import os\n\n__version__ = "{VERSION}"\n'
        f'LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{library.name}")\n'
    )
    files = {
        "dqik_kernel/__init__.py": package.encode(),
        # The version in the name allows an update while Windows still uses, and so does not delete, the old library.
        f"dqik_kernel/{library.name}": library.read_bytes(),
    }
    tag = f"py3-none-{platform.tag}"
    path = folder / f"dqik_kernel-{VERSION}-{tag}.whl"
    return wheels.pack(path, "dqik-kernel", files, tag, "The compiled kernel of DQIK", _README)


def main() -> None:
    """Build the requested libraries and wheels, and print their paths."""
    parser = argparse.ArgumentParser(description="Build the compiled kernel.")
    parser.add_argument("--local", action="store_true", help="this machine's library only; prints its path")
    checked = "one that ends at mistakes; prints its path, and that of the library to load before it"
    parser.add_argument("--checked", action="store_true", help=checked)
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist", help="where the wheels go")
    options = parser.parse_args()
    kernel_contract.write()
    if options.checked:
        print(*filter(None, build_checked()), sep="\n")
        return
    if options.local:
        here = local()
        if here is None:
            sys.exit(f"The kernel is not built for {machine.system()} on {machine.machine()}.")
        print(build(here))
        return
    missing = [platform for platform in PLATFORMS if not platform.library.is_file()]
    if missing:
        print(f"Compiling the kernel for {len(missing)} platforms, which takes about a minute.", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for platform, _ in zip(missing, pool.map(build, missing), strict=True):
            print(f"{platform.name}: compiled.", flush=True)
    for platform in PLATFORMS:
        path = wheel(platform, options.output_dir)
        print(f"{path} ({path.stat().st_size / 1024:.0f} KiB)")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as problem:
        sys.exit(str(problem))
