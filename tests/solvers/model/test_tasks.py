# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of tasks: what their table declares is whole."""

from dataclasses import fields

import solvers as ik
from solvers.model import SETTINGS, SIDES
from solvers.space.tasks import table


def test_what_is_declared_of_kinds_of_goals_is_whole() -> None:
    """Each kind has tasks that can be eased, and settings and sides that exist."""
    tasks = {kind.kind: kind for kind in table.KINDS if kind.kind is not None}
    assert tasks.keys() == ik.GOAL_KINDS.keys()
    assert [name for name in ik.GOAL_KINDS if name != "REACH" and not hasattr(tasks[name], "ease")] == []
    for kind in ik.GOAL_KINDS.values():
        assert set(kind.sides) <= set(SIDES)
        assert set(kind.needs) <= set(kind.takes)
    assert {name for kind in ik.GOAL_KINDS.values() for name in kind.takes} <= {one.name for one in fields(ik.Goal)}
    assert SETTINGS.keys() <= {name for kind in ik.GOAL_KINDS.values() for name in kind.takes}


def test_every_kind_in_the_table_has_a_name_of_its_own_and_a_number_in_the_kernel() -> None:
    from solvers.compiled.needs import TASKS

    names = [kind.name for kind in table.KINDS]
    assert sorted(names) == sorted(TASKS) == sorted(set(names))
