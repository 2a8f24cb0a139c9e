# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract with the kernel: the committed header, the hash, and how structures are filled."""

import ctypes
import re
from dataclasses import replace

import kernel_contract
import numpy as np
import pytest

from solvers.compiled import contract, declare, structures
from solvers.compiled.declare import Field
from solvers.compiled.packer import Packer
from solvers.figure import contract as figure_contract
from solvers.figure import fading
from solvers.group import attempts, solve
from solvers.iterate import descent
from solvers.model.frames import room


def test_the_committed_header_is_the_one_that_the_contract_makes() -> None:
    """If this fails: `python tools/kernel_contract.py`."""
    for source, part in kernel_contract.PARTS.items():
        assert (kernel_contract.FOLDER / part.header).read_text(encoding="utf-8") == kernel_contract.header(source)


def test_the_header_has_the_constants_of_their_owners_to_the_last_digit() -> None:
    text = "".join(map(kernel_contract.header, kernel_contract.PARTS))
    for name, value in [("GROW", descent.GROW), ("FOLLOW_JUMP", solve.FOLLOW_JUMP), ("NEARER", attempts.NEARER),
                        ("FIGURE_NEAR_POSE", fading.NEAR_POSE), ("FIGURE_POSED", fading.POSED)]:  # fmt: skip
        (found,) = re.findall(rf"^#define {name} (\S+)$", text, re.MULTILINE)
        assert float(found) == value


def test_another_constant_or_field_is_another_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    before = contract.CONTRACT.layout
    monkeypatch.setattr(descent, "GROW", 3.0000000000000004)
    assert contract.CONTRACT.layout != before
    monkeypatch.undo()
    other = structures.LINK._replace(fields=(*structures.LINK.fields, Field("more", "int32")))
    assert replace(contract.CONTRACT, structures=(*structures.STRUCTURES[:-1], other)).layout != before


def test_the_natural_pose_has_a_layout_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the prior leaves the solver's, and a change of the skeleton's structure is one for both."""
    solver, figure = contract.CONTRACT.layout, figure_contract.CONTRACT.layout
    monkeypatch.setattr(fading, "NEAR_POSE", fading.NEAR_POSE + 0.1)
    assert figure_contract.CONTRACT.layout != figure
    assert contract.CONTRACT.layout == solver
    monkeypatch.undo()
    skeleton = structures.SKELETON._replace(fields=structures.SKELETON.fields[:-1])
    assert replace(figure_contract.CONTRACT, uses=(skeleton,)).layout != figure


def test_no_source_defines_a_constant_that_the_contract_has() -> None:
    headers = {part.header for part in kernel_contract.PARTS.values()}
    constants = {name for part in kernel_contract.PARTS.values() for name in part.constants}
    for path in kernel_contract.FOLDER.rglob("*.[ch]"):
        if path.name not in headers:
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
