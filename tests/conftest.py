# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the repository's root on the path, and repeatable hypothesis runs."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
settings.register_profile(
    "repeatable", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip
settings.load_profile("repeatable")


class _RootIsNoTestPackage:
    """The root's `__init__.py` is the extension's, which only Blender can import: pytest must not."""

    @staticmethod
    def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == ROOT else None


def pytest_configure(config: pytest.Config) -> None:
    """A plugin of its own, since this file's own hooks are not asked about the folder above."""
    config.pluginmanager.register(_RootIsNoTestPackage())


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--part 1/2`: the first of two parts, for those who run each test in one of two Blenders."""
    parser.addoption("--part", default="1/1", help="run only part K/N of the files in each folder")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the files of other parts."""
    part, parts = (int(word) for word in config.getoption("--part").split("/"))
    files = sorted({item.path for item in items})
    own = {path for number, path in enumerate(files) if number % parts == part - 1}
    config.hook.pytest_deselected(items=[item for item in items if item.path not in own])
    items[:] = [item for item in items if item.path in own]
