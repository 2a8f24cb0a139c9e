# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a release: build every file, try it in every Blender, write the repository's index, date the changelog, tag.

    make release ARGS="0.1.0 --dry-run"    everything but the changelog and the tag
    make release ARGS="0.1.0"              at the end it prints the commands that publish: it pushes nothing itself

It stops at the first step that fails. Standard library only, and Python 3.11 or newer.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from environment import BLENDERS, CACHES, ROOT, Environment, SetupError
from progress import say
from wheels import VERSION, solvers

DIST = ROOT / "dist"
CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED = f"## [{VERSION}] - unreleased"

_SMOKE = """
import os, sys
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
older, path, kernel = sys.argv[1:4]
for path in (path, older, path):  # from scratch, and as an update
    bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "dqik"):
        bpy.ops.preferences.addon_enable(module="bl_ext.user_default.dqik")
data = bpy.data.armatures.new("Arm")
arm = bpy.data.objects.new("Arm", data)
bpy.context.scene.collection.objects.link(arm)
bpy.context.view_layer.objects.active = arm
bpy.ops.object.mode_set(mode="EDIT")
upper, lower = data.edit_bones.new("upper"), data.edit_bones.new("lower")
upper.head, upper.tail, lower.head, lower.tail = (0, 0, 0), (0, 0, 1), (0, 0, 1), (0, 0, 2)
lower.parent = upper
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.dqik.goal_add(bone="lower")
arm.dqik.goals[0].target.location = (1.0, 0.2, 0.9)
assert bpy.ops.dqik.solve() == {"FINISHED"}
assert bpy.ops.dqik.bake(frame_start=1, frame_end=3) == {"FINISHED"}
solvers = sys.modules["bl_ext.user_default.dqik.solvers"]
assert solvers.kernel().startswith(kernel), solvers.kernel()
print("smoke test passed:", solvers.kernel())
sys.stdout.flush()
os._exit(0)
"""


def main() -> None:
    """Go through the steps."""
    parser = argparse.ArgumentParser(description="Make a release.")
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="leave the changelog and the tags as they are")
    parser.add_argument("--before", type=Path, help="the zip of an older version, from which it is updated")
    parser.add_argument("--blender", nargs="+", choices=BLENDERS, default=list(BLENDERS), help="where zips are tried")
    options = parser.parse_args()
    _check(options.version, options.dry_run)
    files = _build()
    for name in options.blender:
        _try_in(BLENDERS[name], files, options.before)
    _index(files)
    if options.dry_run:
        say("Dry run: the changelog and the tags are as they were.")
        return
    _date()
    _tag()


def _check(version: str, dry_run: bool) -> None:
    """The version is that of the manifest, and nothing is left to commit."""
    say(f"1. Looking at version {version}.")
    if version != VERSION:
        sys.exit(f"The manifest has version {VERSION}: change it first, or release that.")
    if UNRELEASED not in CHANGELOG.read_text(encoding="utf-8"):
        sys.exit(f"CHANGELOG.md has no section {UNRELEASED!r}.")
    if not dry_run and _git("status", "--porcelain"):
        sys.exit("There are changes that are not committed: commit them first.")


def _build() -> list[Path]:
    """All zips and wheels, validated by Blender's own tool."""
    say("2. Building the kernels, the zips and the packages.")
    for old in [*DIST.glob("*.zip"), *DIST.glob("*.whl")]:
        old.unlink()  # what is left of other states is not released
    _run([sys.executable, "tools/tasks.py", "zip", "--", "--split"])
    files = sorted([*DIST.glob(f"*{VERSION}*.zip"), *DIST.glob(f"*{VERSION}*.whl")])
    files.append(solvers(DIST))
    for path in dict.fromkeys(files):
        say(f"   {path.name}: {path.stat().st_size / 1024:.0f} KiB")
    return list(dict.fromkeys(files))


def _try_in(blender: Environment, files: list[Path], before: Path | None) -> None:
    """Install each zip that fits this machine from scratch and over an older version, and solve and bake with it.

    before : of the older version; None for the zip itself with a lower number.
    """
    say(f"3. Trying the zips in Blender {blender.name}.")
    python = blender.ensure()
    for path, kernel in _fitting(files):
        with tempfile.TemporaryDirectory() as profile:
            script = Path(profile) / "smoke.py"
            script.write_text(_SMOKE, encoding="utf-8")
            older = before or _numbered(path, "0.0.1", Path(profile))
            environment = {**os.environ, "BLENDER_USER_RESOURCES": profile}
            environment.pop("DQIK_KERNEL", None)
            command = [str(one) for one in (python, script, older, path, kernel)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=profile)
        said = done.stdout + done.stderr
        if done.returncode or "smoke test passed" not in said or "Traceback" in said:
            sys.exit(f"{path.name} fails in Blender {blender.name}:\n{said}")
        say(f"   {path.name}: {said[said.index('smoke test passed') :].splitlines()[0]}")


def _numbered(path: Path, version: str, folder: Path) -> Path:
    """A copy of a zip whose manifest has another version."""
    copy = folder / f"dqik-{version}.zip"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith("blender_manifest.toml"):
                content = content.replace(f'\nversion = "{VERSION}"'.encode(), f'\nversion = "{version}"'.encode())
            new.writestr(entry, content)
    return copy


def _fitting(files: list[Path]) -> Iterator[tuple[Path, str]]:
    """The zips that install on this machine, with how their kernel is called."""
    import build_kernel

    here = build_kernel.local()
    for path in (path for path in files if path.suffix == ".zip"):
        rest = path.stem.removeprefix(f"dqik-{VERSION}").lstrip("-")
        if rest == "python":
            yield path, "numpy"
        elif not rest or (here is not None and rest == here.name.replace("-", "_")):
            yield path, "compiled" if here is not None else "numpy"


def _index(files: list[Path]) -> None:
    """A folder that Blender takes as a repository: one zip for each platform, and index.json."""
    say("4. Writing the repository's index.")
    folder = DIST / "repository"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in files:
        if path.suffix == ".zip" and path.stem.count("-") == 2 and not path.stem.endswith("python"):
            shutil.copy(path, folder)
    python = BLENDERS["5.2"].ensure()
    packages = next(python.parents[1].glob("lib/python*/site-packages"))
    tool = next(packages.glob("bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    _run([str(python), str(tool), "server-generate", f"--repo-dir={folder}"])
    say(f"   {folder.relative_to(ROOT)}: {len(list(folder.glob('*.zip')))} zips and index.json")


def _date() -> None:
    """Give the changelog's section its date, and commit it."""
    say("5. Dating the changelog.")
    text = CHANGELOG.read_text(encoding="utf-8")
    dated = f"## [{VERSION}] - {datetime.date.today()}"
    CHANGELOG.write_text(text.replace(UNRELEASED, dated), encoding="utf-8")
    _git("commit", "-qam", f"release: {VERSION}")


def _tag() -> None:
    """Tag the commit, and say how to publish it."""
    _git("tag", "-a", f"v{VERSION}", "-m", f"DQIK {VERSION}")
    say(f"6. Tagged v{VERSION}. To publish:")
    say(f"   git push origin main v{VERSION}")
    say("   upload dist/repository to where users get it, and the wheels in dist/ to the package index")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    os.environ.update({**CACHES, **os.environ})
    try:
        main()
    except SetupError as problem:
        sys.exit(str(problem))
