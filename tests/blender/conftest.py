# SPDX-License-Identifier: GPL-3.0-or-later
"""DQIK in real Blender, as a user has it: built as a zip, installed from it, enabled, in a profile of its own.

Without the bpy package nothing in this folder is collected and pytest says so. `make test` always has it.
"""

import atexit
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import build_zip
import pytest

EXTENSION = "bl_ext.user_default.dqik"

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["*.py"]
elif "bpy" in sys.modules:
    raise pytest.UsageError("bpy was imported before tests/blender could give it a profile of its own.")
else:
    # bpy reads these when it is imported. The user's own profile stays untouched.
    _profile = tempfile.mkdtemp(prefix="dqik-profile-")
    atexit.register(shutil.rmtree, _profile, ignore_errors=True)
    for _name in [name for name in os.environ if name.startswith("BLENDER_USER_")]:
        del os.environ[_name]
    os.environ["BLENDER_USER_RESOURCES"] = _profile
    import bpy  # now: importing it is also what makes addon_utils and mathutils importable


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, where it is seen."""
    if importlib.util.find_spec("bpy") is None:
        terminalreporter.write_line("tests/blender was not run: this Python has no bpy package. `make test` gets it.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test in which Blender printed a traceback: it catches what add-ons raise, prints it and carries on."""
    report = yield
    printed = "".join(text for name, text in report.sections if name.endswith(call.when))
    if report.passed and "Traceback (most recent" in printed and not item.get_closest_marker("prints_traceback"):
        report.outcome = "failed"
        report.longrepr = "Blender printed a traceback:"
    return report


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave without Python's own clean-up.

    Blender 4.2 crashes in it once an add-on has property callbacks, and 4.5 now and then waits for its own thread that
    closes files.
    """
    session = config.pluginmanager.get_plugin("session")
    status = getattr(session, "exitstatus", None) if session else None
    if status is not None:
        shutil.rmtree(_profile, ignore_errors=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status))


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as users get it, from Blender's own build tool."""
    return build_zip.build(tmp_path_factory.mktemp("zip"))


@pytest.fixture(scope="session")
def extension(extension_zip: Path) -> str:
    """The name of the installed and enabled extension's module."""
    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=str(extension_zip), repo="user_default", enable_on_install=True)
    assert EXTENSION in bpy.context.preferences.addons, "Blender could not enable the extension: its words are below."
    return EXTENSION


@pytest.fixture(autouse=True)
def empty_scene(extension: str) -> None:
    """Start each test in an empty file with the extension enabled.

    Reading the start-up file leaves the add-ons alone; `read_factory_settings` would disable them.
    """
    import addon_utils

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if extension not in bpy.context.preferences.addons:  # the test before took it away
        addon_utils.enable(extension, default_set=True)
