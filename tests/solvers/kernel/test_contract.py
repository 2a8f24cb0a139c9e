# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract with the kernel: the committed header, the hash, and how structures are filled."""

import ctypes
import re

import kernel_contract
import numpy as np
import pytest

from solvers.compiled import contract, declare, structures
from solvers.compiled.declare import Field, Packer
from solvers.figure import fading
from solvers.group import plan
from solvers.iterate import descent
from solvers.model.frames import room


def test_the_committed_header_is_the_one_that_the_contract_makes() -> None:
    """If this fails: `python tools/kernel_contract.py`."""
    assert kernel_contract.HEADER.read_text(encoding="utf-8") == kernel_contract.header()


def test_the_header_has_the_constants_of_their_owners_to_the_last_digit() -> None:
    text = kernel_contract.header()
    for name, value in [("GROW", descent.GROW), ("FOLLOW_JUMP", plan.FOLLOW_JUMP), ("NEARER", plan.NEARER),
                        ("FIGURE_NEAR_POSE", fading.NEAR_POSE), ("FIGURE_POSED", fading.POSED)]:  # fmt: skip
        (found,) = re.findall(rf"^#define {name} (\S+)$", text, re.MULTILINE)
        assert float(found) == value


def test_another_constant_or_field_is_another_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    before = contract.layout()
    for module, name, value in ((descent, "GROW", 3.0000000000000004), (fading, "NEAR_POSE", 1.4)):
        with monkeypatch.context() as context:
            context.setattr(module, name, value)
            assert contract.layout() != before
    other = structures.LINK._replace(fields=(*structures.LINK.fields, Field("more", "int32")))
    monkeypatch.setattr(contract, "STRUCTURES", [*contract.STRUCTURES[:-1], other])
    assert contract.layout() != before


def test_no_source_defines_a_constant_that_the_contract_has() -> None:
    constants = contract.constants().keys()
    for path in kernel_contract.FOLDER.rglob("*.[ch]"):
        if path != kernel_contract.HEADER:
            defined = set(re.findall(r"^#define (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
            assert not defined & constants, path.name


def test_a_structure_is_filled_by_name_and_nothing_else() -> None:
    filled = Packer().fill(structures.LINK, visit=1, goal=2, lever=-1, most=0.5)
    assert (filled.visit, filled.goal, filled.lever, filled.most) == (1, 2, -1, 0.5)
    with pytest.raises(TypeError, match=r"dqik_link: missing \['most'\], unknown \['least'\]"):
        Packer().fill(structures.LINK, visit=1, goal=2, lever=-1, least=0.5)


def test_arrays_of_numbers_and_structures_are_copied_and_kept() -> None:
    packer = Packer()
    links = [packer.fill(structures.LINK, visit=i, goal=0, lever=0, most=0.0) for i in range(3)]
    sweep = packer.fill(structures.SWEEP, visits=0, links=3, by_links=True, visit=None, link=links)
    del links
    read = ctypes.cast(sweep.link, ctypes.POINTER(declare.CLASSES["dqik_link"]))
    assert [read[i].visit for i in range(3)] == [0, 1, 2]
    assert sweep.visit is None


def test_the_frames_structure_is_the_table_of_addresses() -> None:
    arrays = room(3, 2, 4, shared=True)
    frames = declare.CLASSES["dqik_frames"].from_address(arrays.address)
    assert ctypes.sizeof(frames) == arrays.addresses.nbytes
    assert frames.orientations == arrays.orientations.ctypes.data
    assert frames.orientations_step == 2 * 4 * 8
    assert frames.links_step == 0
    assert frames.at_limit == arrays.at_limit.ctypes.data
    assert frames.converged_step == np.dtype(bool).itemsize
