# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zip and validate it, both with Blender's own extension tool.

The tool comes with the `bpy` package, so run this with a Python that has it: `make zip` does. No git is needed.
"""

import argparse
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def manifest() -> dict[str, object]:
    """What blender_manifest.toml says."""
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def build(folder: Path) -> Path:
    """Build the zip into a folder. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    zip_path = folder / f"{manifest()['id']}-{manifest()['version']}.zip"
    _extension_tool("build", "--source-dir", str(ROOT), "--output-filepath", str(zip_path))
    return zip_path


def validate(zip_path: Path) -> None:
    """Check a zip as Blender's extension site does."""
    _extension_tool("validate", str(zip_path))


def _extension_tool(*arguments: str) -> None:
    """Run Blender's tool; where it fails, its own words are in the error."""
    done = subprocess.run([sys.executable, _extension_tool_path(), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"Blender's extension tool refused to {arguments[0]}:\n{done.stdout}{done.stderr}")


def _extension_tool_path() -> str:
    """Find blender_ext.py without importing bpy, which would start Blender."""
    spec = importlib.util.find_spec("bpy")
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for path in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return str(path)
    raise RuntimeError(f"No Blender extension tool in {sys.prefix}: the bpy package is not installed there.")


def main() -> None:
    """Build, validate and say where the zip is."""
    parser = argparse.ArgumentParser(description="Build and validate the extension's zip.")
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist")
    zip_path = build(parser.parse_args().output_dir)
    validate(zip_path)
    print(f"{zip_path} ({zip_path.stat().st_size / 1024:.0f} KiB) is built and valid.")


if __name__ == "__main__":
    main()
