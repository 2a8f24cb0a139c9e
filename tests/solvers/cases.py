# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of several arguments a test meets together."""

from collections.abc import Iterable

import pytest


def each_once(**values: Iterable[object]) -> pytest.MarkDecorator:
    """The longest list's values once each, beside the others' in turn.

    For arguments that do not act on each other, where all pairs would say no more. The combinations of the shorter
    lists come in order, all of them if the longest list is as long.
    """
    lists = {name: list(each) for name, each in values.items()}
    longest = max(lists, key=lambda name: len(lists[name]))
    columns, step = {longest: lists[longest]}, 1
    for name, each in lists.items():
        if name != longest:
            columns[name] = [each[number // step % len(each)] for number in range(len(lists[longest]))]
            step *= len(each)
    rows = list(zip(*(columns[name] for name in lists), strict=True))
    return pytest.mark.parametrize(tuple(lists), rows)
