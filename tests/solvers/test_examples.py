# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the docstrings of all that `solvers` makes public run and print what they say."""

import doctest
import inspect

import numpy as np
import pytest

import solvers as ik

PUBLIC = [name for name in ik.__all__ if inspect.isclass(getattr(ik, name)) or inspect.isfunction(getattr(ik, name))]


def test_nothing_public_but_the_table_of_solvers_is_without_a_docstring_of_its_own() -> None:
    """`SOLVERS` is a dictionary."""
    assert set(ik.__all__) - set(PUBLIC) == {"SOLVERS"}


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_of_a_public_name_run_and_print_what_they_say(name: str) -> None:
    """Each class and each function has at least one, methods of a class where they like."""
    thing = getattr(ik, name)
    assert "Examples\n" in thing.__doc__
    tests = doctest.DocTestFinder(recurse=True).find(thing, name, globs={"ik": ik, "np": np})
    assert any(test.examples for test in tests if test.name == name)
    runner = doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for test in tests:
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
