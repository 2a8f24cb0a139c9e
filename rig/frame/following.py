# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which armatures that follow each other are solved."""


def levels(behind: dict[int, set[int]]) -> tuple[list[list[int]], dict[int, set[int]]]:
    """Sort armatures into levels, each of which follows armatures of the levels before only.

    Where armatures follow each other in a cycle, one of them is solved first. It cannot follow those of the cycle that
    are solved after it.

    Parameters
    ----------
    behind : the armatures that each armature follows; those that are not keys here are left out.

    Returns
    -------
    The levels, and for each armature that comes first in a cycle those that it follows and that come later.
    """
    left, sorted_levels, later = list(behind), list[list[int]](), dict[int, set[int]]()
    while left:
        level = [one for one in left if behind[one].isdisjoint(left)]
        if not level:
            first = next(one for one in left if _may_begin(one, behind, set(left)))
            level, later[first] = [first], behind[first] & set(left)
        left = [one for one in left if one not in level]
        sorted_levels.append(level)
    return sorted_levels, later


def _may_begin(one: int, behind: dict[int, set[int]], left: set[int]) -> bool:
    """Whether all armatures that one follows follow it too: it is in a cycle that follows nothing outside of it."""
    return all(one in _all_behind(other, behind, left) for other in _all_behind(one, behind, left))


def _all_behind(one: int, behind: dict[int, set[int]], left: set[int]) -> set[int]:
    """The armatures of `left` that one follows, also through others."""
    seen: set[int] = set()
    ahead = behind[one] & left
    while ahead:
        seen |= ahead
        ahead = set().union(*(behind[other] for other in ahead)) & left - seen
    return seen
