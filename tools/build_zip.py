# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zips and validate them, both with Blender's own extension tool.

`dqik-<version>.zip` installs everywhere. It contains the compiled kernel for every platform that has one, as wheels.
Blender installs the wheel that fits; on other platforms NumPy solves. `dqik-<version>-<platform>.zip` contains one
kernel. `dqik-<version>-python.zip` contains no compiled code, as the terms of extensions.blender.org require; NumPy
solves.

The tool is part of the `bpy` package, so run this in a Python that has it, as `make zip` does.
"""

import argparse
import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator, Sequence
from pathlib import Path

import build_kernel
from build_kernel import ROOT, Platform


def manifest() -> dict[str, object]:
    """The contents of blender_manifest.toml."""
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def build(folder: Path) -> Path:
    """Build the zip that installs everywhere into a folder. Returns its path."""
    return _build(folder / f"{_name()}.zip", build_kernel.built())


def build_python(folder: Path) -> Path:
    """Build the zip without a compiled kernel into a folder. Returns its path."""
    return _build(folder / f"{_name()}-python.zip", [])


def build_split(folder: Path) -> list[Path]:
    """Build a zip for each platform that has a kernel into a folder. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    platforms = build_kernel.built()
    if not platforms:
        return []
    with _source(platforms, split=True) as source:
        _extension_tool("build", "--source-dir", source, "--output-dir", str(folder), "--split-platforms")
    return [folder / f"{_name()}-{platform.name.replace('-', '_')}.zip" for platform in platforms]


def validate(zip_path: Path) -> None:
    """Check a zip in the same way as Blender's extension site."""
    _extension_tool("validate", str(zip_path))


def _name() -> str:
    """The name that all zips begin with."""
    return f"{manifest()['id']}-{manifest()['version']}"


def _build(zip_path: Path, platforms: Sequence[Platform]) -> Path:
    """Build one zip with the kernel for some platforms. Returns its path."""
    zip_path.parent.mkdir(parents=True, exist_ok=True)
    with _source(platforms, split=False) as source:
        _extension_tool("build", "--source-dir", source, "--output-filepath", str(zip_path))
    return zip_path


@contextlib.contextmanager
def _source(platforms: Sequence[Platform], split: bool) -> Generator[str]:
    """A copy of the zip's source, with wheels that are listed in its manifest.

    The manifest in the repository lists no wheels, because a fresh checkout has none.
    """
    with tempfile.TemporaryDirectory(prefix="dqik-zip-") as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
        shutil.copytree(ROOT, folder, ignore=ignored, dirs_exist_ok=True)
        wheels = [build_kernel.wheel(platform, folder / "wheels").name for platform in platforms]
        listed = f"wheels = {json.dumps([f'./wheels/{wheel}' for wheel in wheels])}\n"
        if split:
            listed += f"platforms = {json.dumps([platform.name for platform in platforms])}\n"
        path = folder / "blender_manifest.toml"
        if wheels:  # before the first table
            path.write_text(listed + path.read_text(encoding="utf-8"), encoding="utf-8")
        yield name


def _extension_tool(*arguments: str) -> None:
    """Run Blender's tool. If it fails, the error contains its output."""
    result = subprocess.run([sys.executable, _extension_tool_path(), *arguments], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"Blender's extension tool refused to {arguments[0]}:\n{result.stdout}{result.stderr}")


def _extension_tool_path() -> str:
    """Find blender_ext.py without importing bpy, which would start Blender."""
    spec = importlib.util.find_spec("bpy")
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for path in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return str(path)
    raise RuntimeError(f"No Blender extension tool in {sys.prefix}: the bpy package is not installed there.")


def main() -> None:
    """Build and validate the zips, and print their paths."""
    parser = argparse.ArgumentParser(description="Build and validate the extension's zips.")
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist")
    parser.add_argument("--split", action="store_true", help="also build a zip for each platform")
    options = parser.parse_args()
    kernels = ", ".join(platform.name for platform in build_kernel.built()) or "none"
    zip_paths = [build(options.output_dir), build_python(options.output_dir)]
    for zip_path in [*zip_paths, *(build_split(options.output_dir) if options.split else [])]:
        validate(zip_path)
        print(f"{zip_path} ({zip_path.stat().st_size / 1024:.0f} KiB) is built and valid.")
    print(f"Platforms with a compiled kernel: {kernels}.")


if __name__ == "__main__":
    main()
