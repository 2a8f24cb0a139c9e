# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the docstrings of all public names of `solvers`, and on the pages in `docs/`, run and are right."""

import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from pytest import CaptureFixture

import solvers as ik

PUBLIC = [name for name in ik.__all__ if inspect.isclass(getattr(ik, name)) or inspect.isfunction(getattr(ik, name))]
DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "scripting.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (path.name, *found) for path in sorted(DOCS.glob("*.md")) for found in BLOCK.findall(path.read_text("utf-8"))
    if "import bpy" not in found[0]  # tests/test_readme.py runs these
]  # fmt: skip


class SignlessZeros(doctest.OutputChecker):
    """Treats `-0.0` as `0.0`, because processors differ in the sign of a zero."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, re.sub(r"-(0\.0)(?!\d)", r"\1", got), optionflags)


def failures(tests: list[doctest.DocTest]) -> str:
    """The output of examples that differs from what they promise; empty if there is none."""
    runner = doctest.DocTestRunner(SignlessZeros(), verbose=False)
    report: list[str] = []
    for test in tests:
        runner.run(test, out=report.append)
    return "".join(report)


def test_only_the_tables_of_solvers_and_kinds_are_neither_classes_nor_functions() -> None:
    assert set(ik.__all__) - set(PUBLIC) == {"SOLVERS", "GOAL_KINDS"}


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_of_a_public_name_run_and_print_what_they_say(name: str) -> None:
    """Each class and each function has at least one example."""
    thing = getattr(ik, name)
    assert "Examples\n" in thing.__doc__
    tests = doctest.DocTestFinder(recurse=True).find(thing, name, globs={"ik": ik, "np": np})
    assert any(test.examples for test in tests if test.name == name)
    assert failures(tests) == ""


def test_the_page_for_scripts_runs_from_top_to_bottom() -> None:
    """Each example continues the one before."""
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 20
    assert failures([test]) == ""


@pytest.mark.parametrize(("page", "code", "printed"), BLOCKS, ids=[page for page, _, _ in BLOCKS])
def test_the_example_of_a_page_runs_as_it_is(page: str, code: str, printed: str, capsys: CaptureFixture[str]) -> None:
    """It needs nothing that it does not make, and prints what the page says."""
    exec(compile(code, page, "exec"), {})
    assert SignlessZeros().check_output(printed, capsys.readouterr().out, 0)


def test_pages_have_examples() -> None:
    assert len(BLOCKS) >= 4
