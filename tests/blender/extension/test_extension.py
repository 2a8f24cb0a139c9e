# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip: what is in it, that Blender takes it, and that it leaves nothing behind."""

import ast
import io
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import addon_utils
import bpy
import build_kernel
import build_zip
import numpy as np
import pytest

WEIGHTS = {"solvers/figure/weights.npz", "solvers/motion/foot_contacts.npz", "solvers/motion/in_betweens.npz"}
LANGUAGES = {f"ui/languages/{path.name}" for path in (build_kernel.ROOT / "ui/languages").glob("*.po")}
FILES = LANGUAGES | {"LICENSE", "blender_manifest.toml", "__init__.py", "live.py"} | WEIGHTS
FOLDERS = {"operators", "properties", "rig", "solvers", "ui"}  # of Python modules, but for the weights
WHEELS = {
    f"wheels/dqik_kernel-{build_kernel.VERSION}-py3-none-{platform.tag}.whl" for platform in build_kernel.PLATFORMS
}
BLENDER = {
    "addon_utils", "blf", "bmesh", "bpy", "bpy_extras", "gpu", "gpu_extras", "idprop", "mathutils", "numpy",
    "rna_keymap_ui", "zstandard",
    "pxr",  # of USD, tried: from Blender 4.4 on, and not in the bpy packages of all
    "compression",  # Python's own from 3.14 on, tried where a distribution's Blender has no zstandard
}  # fmt: skip
COMPILED = (".whl", ".so", ".dll", ".dylib", ".pyd", ".pyc", ".a", ".lib", ".o", ".exe")
# Installs, solves and uninstalls twice in a profile of its own. The process leaves without Python's own clean-up, in
# which Blender 4.2 crashes once an add-on has property callbacks.
INSTALL = """
import os, sys
from pathlib import Path
import bpy
Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
for _ in range(2):
    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    ik = sys.modules["bl_ext.user_default.dqik.solvers"]
    arm = ik.Skeleton([ik.Joint("arm", -1, "ball", offset=(0, 0, 0)), ik.Joint("hand", 0, "ball", offset=(0, 1, 0))])
    found = ik.solve(arm, [ik.Goal(joint=1, position=(1, 0, 0))])
    print("solved:", ik.kernel(), found.converged)
    if ik.kernel() == "compiled":
        import dqik_kernel
        print("from:", dqik_kernel.LIBRARY)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.dqik.goal_add(bone=rig.pose.bones[0].name)
    rig.dqik.goals[0].target.location = (1, 0, 0)
    bpy.ops.dqik.solve()
    bpy.context.view_layer.update()
    print("posed:", [round(value, 3) + 0.0 for value in rig.pose.bones[0].tail], rig.dqik.implementation)
    repositories = [repository.module for repository in bpy.context.preferences.extensions.repos]
    bpy.ops.extensions.package_uninstall(repo_index=repositories.index("user_default"), pkg_id="dqik")
    extensions = Path(bpy.utils.user_resource("EXTENSIONS"))
    print("left:", [str(path) for path in extensions.rglob("*") if "dqik" in path.name])
sys.stdout.flush()
os._exit(0)
"""
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


def installed_twice(zip_path: Path, profile: Path) -> list[str]:
    """What INSTALL prints in a Blender of its own."""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile), "DQIK_KERNEL": ""}
    command = [sys.executable, "-c", INSTALL, str(zip_path)]
    done = subprocess.run(command, env=environment, cwd=profile, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "DQIK:" not in done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="session")
def python_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip without a compiled kernel."""
    return build_zip.build_python(tmp_path_factory.mktemp("python"))


def test_the_zip_is_named_after_the_version(extension_zip: Path) -> None:
    assert extension_zip.name == f"dqik-{build_zip.manifest()['version']}.zip"


def test_blender_finds_the_zip_valid(extension_zip: Path) -> None:
    build_zip.validate(extension_zip)


def test_the_zip_holds_what_blender_needs_and_nothing_else(extension_zip: Path) -> None:
    with zipfile.ZipFile(extension_zip) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    names -= WHEELS
    strangers = {name for name in names - FILES if name.split("/")[0] not in FOLDERS or not name.endswith(".py")}
    assert not strangers
    assert names >= FILES
    assert {name.split("/")[0] for name in names if "/" in name} == FOLDERS


def test_the_python_only_zip_holds_the_same_without_the_wheels(extension_zip: Path, python_zip: Path) -> None:
    """Python modules, the manifest, the licence and arrays of numbers; nothing compiled, by its name or its bytes."""
    assert python_zip.name == f"dqik-{build_zip.manifest()['version']}-python.zip"
    build_zip.validate(python_zip)
    with zipfile.ZipFile(python_zip) as archive, zipfile.ZipFile(extension_zip) as full:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        assert names == {name for name in full.namelist() if not name.endswith("/")} - WHEELS
        assert not [name for name in names if name.endswith(COMPILED)]
        for name in names - WEIGHTS:
            archive.read(name).decode("utf-8")  # raises on what is no text
        for name in WEIGHTS:
            with np.load(io.BytesIO(archive.read(name)), allow_pickle=False) as arrays:
                assert all(np.isfinite(array).all() for array in arrays.values())
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    listed = {**manifest, **manifest.get("build", {}).get("generated", {})}
    assert not {"wheels", "platforms"} & listed.keys()


@pytest.mark.newest
def test_the_manifest_in_a_zip_lists_the_wheels_in_it(extension_zip: Path, tmp_path: Path) -> None:
    """All wheels in the zip that installs everywhere, and one in each zip for a platform, which names it."""
    for path in [extension_zip, *build_zip.build_split(tmp_path)]:
        with zipfile.ZipFile(path) as archive:
            wheels = sorted(f"./{name}" for name in archive.namelist() if name.endswith(".whl"))
            manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        listed = {**manifest, **manifest["build"].get("generated", {})}
        assert sorted(listed.get("wheels", [])) == wheels
        if path == extension_zip:
            assert len(wheels) == len(build_kernel.built())
            assert "platforms" not in listed
        else:
            assert len(wheels) == len(listed["platforms"]) == 1
            assert path.stem.endswith(listed["platforms"][0].replace("-", "_"))
            build_zip.validate(path)


@pytest.mark.skipif(
    build_kernel.local() not in build_kernel.built(), reason="no kernel is built for this machine: make kernel does"
)
def test_the_kernel_comes_and_goes_with_the_extension(extension_zip: Path, tmp_path: Path) -> None:
    """On a fresh profile the first solve uses it, from where Blender puts wheels; twice in a row in one session."""
    said = installed_twice(extension_zip, tmp_path)
    wanted = ["solved: compiled True", "posed: [1.0, 0.0, 0.0] Compiled kernel", "left: []"]
    assert [line for line in said if line.startswith(("solved:", "posed:", "left:"))] == wanted * 2
    places = [Path(line.removeprefix("from: ")) for line in said if line.startswith("from: ")]
    assert len(places) == 2
    assert all(place.is_relative_to(tmp_path / "extensions" / ".local") for place in places)


def test_the_python_only_zip_solves_with_numpy_and_says_why(python_zip: Path, tmp_path: Path) -> None:
    """Installed on a fresh profile it poses a bone; the panel's "Runs In" says that no kernel is installed."""
    said = installed_twice(python_zip, tmp_path)
    reason = "no compiled kernel is installed"
    wanted = [f"solved: numpy: {reason} True", f"posed: [1.0, 0.0, 0.0] NumPy: {reason}", "left: []"]
    assert [line for line in said if line.startswith(("solved:", "posed:", "left:"))] == wanted * 2


@pytest.mark.newest
def test_every_import_is_relative_or_comes_with_blender(extension_zip: Path) -> None:
    """Blender loads the extension as `bl_ext.<repository>.dqik`: an absolute import of its own parts would fail.

    The solvers import nothing from above them, and NumPy alone.
    """
    for name, tree in modules(extension_zip):
        solver = name.startswith("solvers/")
        for level, module in imports(tree):
            if level:
                assert level <= len(Path(name).parts) - solver, f"{name} imports from above its own parts"
            else:
                there = ({"numpy"} if solver else BLENDER) | sys.stdlib_module_names
                assert module.split(".")[0] in there, f"{name} imports {module}"


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
