# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip: what is in it, that Blender takes it, and that it leaves nothing behind."""

import ast
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import addon_utils
import bpy
import build_zip

FILES = {"LICENSE", "blender_manifest.toml", "__init__.py", "live.py", "properties.py"}
FOLDERS = {"operators", "rig", "solvers", "ui"}  # of Python modules only
BLENDER = {"addon_utils", "blf", "bmesh", "bpy", "bpy_extras", "gpu", "gpu_extras", "idprop", "mathutils", "numpy"}
PROPERTY_OWNERS = (bpy.types.Object, bpy.types.PoseBone, bpy.types.Armature, bpy.types.Scene, bpy.types.WindowManager)


def modules(zip_path: Path) -> Iterator[tuple[str, ast.Module]]:
    """Path and syntax tree of every Python file in the zip."""
    with zipfile.ZipFile(zip_path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, ast.parse(archive.read(name), name)


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Level (0 for absolute) and module name of every import, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)


def traces(module: str) -> set[str]:
    """What a registered extension has in Blender: classes, properties, handlers, keymap items."""
    classes = {name for name in dir(bpy.types) if name.startswith(("DQIK_", "Dqik"))}
    properties = {
        f"{owner.__name__}.{name}"
        for owner in PROPERTY_OWNERS
        for name in owner.bl_rna.properties.keys()  # noqa: SIM118 - not a dictionary: iterating it gives values
        if name.startswith("dqik")
    }
    handlers = {
        f"{event}: {handler.__name__}"
        for event in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, event), list)
        for handler in getattr(bpy.app.handlers, event)
        if (getattr(handler, "__module__", None) or "").startswith(module)
    }
    return classes | properties | handlers


def test_the_zip_is_named_after_the_version(extension_zip: Path) -> None:
    assert extension_zip.name == f"dqik-{build_zip.manifest()['version']}.zip"


def test_blender_finds_the_zip_valid(extension_zip: Path) -> None:
    build_zip.validate(extension_zip)


def test_the_zip_holds_what_blender_needs_and_nothing_else(extension_zip: Path) -> None:
    with zipfile.ZipFile(extension_zip) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    strangers = {name for name in names - FILES if name.split("/")[0] not in FOLDERS or not name.endswith(".py")}
    assert not strangers
    assert names >= FILES
    assert {name.split("/")[0] for name in names if "/" in name} == FOLDERS


def test_every_import_is_relative_or_comes_with_blender(extension_zip: Path) -> None:
    """Blender loads the extension as `bl_ext.<repository>.dqik`: an absolute import of its own parts would fail."""
    for name, tree in modules(extension_zip):
        for level, module in imports(tree):
            if level:
                assert level <= len(Path(name).parts), f"{name} imports from outside the extension"
            else:
                assert module.split(".")[0] in BLENDER | sys.stdlib_module_names, f"{name} imports {module}"


def test_solvers_import_numpy_and_the_standard_library_only(extension_zip: Path) -> None:
    for name, tree in modules(extension_zip):
        depth = len(Path(name).parts) - 1
        for level, module in imports(tree) if name.startswith("solvers/") else ():
            if level:
                assert level <= depth, f"{name} imports from above solvers/"
            else:
                assert module.split(".")[0] in {"numpy"} | sys.stdlib_module_names, f"{name} imports {module}"


def test_the_changelog_is_about_the_version_in_the_manifest() -> None:
    changelog = (build_zip.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[([^]]+)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == build_zip.manifest()["version"]


def test_it_runs_from_the_installed_zip_in_a_profile_of_its_own(extension: str) -> None:
    profile = Path(os.environ["BLENDER_USER_RESOURCES"])
    assert Path(bpy.utils.resource_path("USER")) == profile
    assert Path(sys.modules[extension].__file__ or "").is_relative_to(profile)


def test_it_registers_and_unregisters_cleanly_twice(extension: str) -> None:
    enabled = traces(extension)
    assert enabled
    for _ in range(2):
        addon_utils.disable(extension, default_set=True)
        assert traces(extension) == set()
        assert extension not in bpy.context.preferences.addons
        assert addon_utils.enable(extension, default_set=True) is not None
        assert traces(extension) == enabled
