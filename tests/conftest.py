# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the repository's root on the path, repeatable hypothesis runs, and how long they will take."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
# Tests of one room take figures and checks from those of others; of the same name, those of the solvers are meant.
sys.path += [
    str(folder) for place in ("solvers", "blender") for folder in sorted((ROOT / "tests" / place).glob("[a-z]*/"))
]
EXAMPLES = 10 if os.environ.get("DQIK_KERNEL") == "numpy" else 25  # the second pass looks for what NumPy alone breaks
settings.register_profile(
    "repeatable", max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip
settings.load_profile("repeatable")


class _RootIsNoTestPackage:
    """The root's `__init__.py` is the extension's, which only Blender can import: pytest must not."""

    @staticmethod
    def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == ROOT else None


def pytest_configure(config: pytest.Config) -> None:
    """Plugins of their own: this file's own hooks are not asked about the folder above."""
    config.pluginmanager.register(_RootIsNoTestPackage())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Times())
        config.pluginmanager.register(_Processors())


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--part 1/2`: the first of two parts, for those who run each file in one of several Blenders."""
    parser.addoption("--part", default="1/1", help="run only part K/N of the files in each folder")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of other parts, without importing them."""
    part, parts = (int(word) for word in config.getoption("--part").split("/"))
    if parts == 1 or not collection_path.name.startswith("test_"):
        return None
    number = sorted((ROOT / "tests").rglob("test_*.py")).index(collection_path)  # all on the disk
    return number % parts != part - 1 or None


PAPERS = {path.stem.upper() for path in (ROOT / "solvers" / "papers").glob("*.py")}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The solvers of the papers have no compiled code: with the kernel they do what they do without."""
    for item in items:
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if PAPERS.intersection(value for one in given if isinstance(value := getattr(one, "solver", one), str)):
            item.add_marker("compiled")


_TIMES = "dqik/seconds"  # in pytest's cache: of each test, as it took last on this machine
_USUAL = 0.1  # seconds of a test that has not run here yet


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str:
    """Say how many tests there are, and how long they take by what they took last."""
    return _expected(config, [item.nodeid for item in items], 1)


class _Processors:
    """Says the same where each of several processes collects all tests and runs a part of them (pytest-xdist)."""

    said = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        if not self.said:
            self.said = True
            print(_expected(node.config, ids, node.config.getoption("numprocesses") or 1))


def _expected(config: pytest.Config, names: list[str], processes: int) -> str:
    known = _known(config)
    seconds = sum(known.get(name, _USUAL) for name in names) / processes
    measured = sum(name in known for name in names)
    about = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    return f"{len(names):,} tests, about {about} ({measured:,} of them timed here before)"


def _known(config: pytest.Config) -> dict[str, float]:
    return config.cache.get(_TIMES, {}) if hasattr(config, "cache") else {}


class _Times:
    """Adds up what each test takes, with what is set up for it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = round(self.seconds.get(report.nodeid, 0.0) + report.duration, 3)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.seconds and hasattr(session.config, "cache"):
            session.config.cache.set(_TIMES, {**_known(session.config), **self.seconds})
