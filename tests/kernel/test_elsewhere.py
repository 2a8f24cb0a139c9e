# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's libraries for other systems solve there: Windows' under Wine, that for Linux on ARM under QEMU.

The same calls are made here with the library for this machine. Between systems only functions of the C library, such as
sine, differ in their last digit.
"""

from typing import NamedTuple

import golden
import numpy as np
import pytest
import questions
from elsewhere import SYSTEMS, run
from image import Image

import solvers as ik
from solvers.compiled import library
from solvers.compiled.contract import FUNCTIONS

SAME = {"goldens": 1e-8}  # [rad or length units] whose answers change little with such digits
ELSE = 1e-12
Results = dict[str, np.ndarray]


class Asked(NamedTuple):
    """A part's calls, as the driver reads them, and their results here."""

    image: Image
    packed: bytes
    here: Results


@pytest.fixture(scope="module")
def asked() -> dict[str, Asked]:
    kernel = library.load()
    if kernel is None:
        pytest.skip(f"calls are packed beside a kernel for this machine, and there is none: {ik.kernel()}")
    functions = {one.name: getattr(kernel, one.name.removeprefix("dqik_")) for one in FUNCTIONS}
    found = {}
    for name, ask in questions.PARTS.items():
        image = Image(FUNCTIONS)
        ask(image)
        found[name] = Asked(image, image.write(), image.call_here(functions))
    return found


@pytest.fixture(scope="module", params=SYSTEMS)
def there(request: pytest.FixtureRequest, asked: dict, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Each part's results on another system."""
    answers = run(request.param, {name: one.packed for name, one in asked.items()}, tmp_path_factory.mktemp("driver"))
    return {name: asked[name].image.read(answer) for name, answer in answers.items()}


@pytest.mark.parametrize("part", questions.PARTS)
def test_results_are_those_of_this_machine(part: str, there: dict[str, Results], asked: dict[str, Asked]) -> None:
    here = asked[part].here
    assert here.keys() == there[part].keys()
    apart = {name: float(np.abs(one - 1.0 * here[name]).max(initial=0.0)) for name, one in there[part].items()}
    exact, most = sum(not one for one in apart.values()), max(apart.values())
    print(f"{part}: {len(apart)} results, {exact} to the bit, all within {most:.1e}")
    assert not {name: one for name, one in apart.items() if not one <= SAME.get(part, ELSE)}


def test_golden_problems_have_the_stored_answers(there: dict[str, Results]) -> None:
    assert len(questions.ROWS) >= 45
    apart = {
        (solver, seed): np.abs(np.subtract(questions.golden_numbers(there["goldens"], solver, seed), stored)).max()
        for solver, seed, stored in questions.ROWS
    }
    assert not {which: one for which, one in apart.items() if not one <= golden.CLOSE}


def test_calls_are_of_every_function_and_do_something(asked: dict[str, Asked]) -> None:
    """What they write is not what was there: poses, pushes, steps."""
    assert set().union(*(one.image.called for one in asked.values())) == {one.name for one in FUNCTIONS}
    for one in asked.values():
        before = one.image.read(one.packed[-one.image.size :])
        changed = [name for name in before if not np.array_equal(before[name], one.here[name], equal_nan=True)]
        assert len(changed) > len(before) / 2
