# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals whose targets follow bones that other goals move, as a hand on a weapon that the other hand holds.

Goals that share bones are solved together, so they are one group. A group follows another one if a target of it follows
a bone that the other one moves. Groups that do not follow each other in a circle can be solved in order.
"""

from collections.abc import Mapping, Sequence

Bones = set[int]


def groups(moves: Sequence[Bones]) -> list[int]:
    """The group of each goal, by the bones that the goals move."""
    found = list(range(len(moves)))
    for one, bones in enumerate(moves):
        for other in range(one):
            if found[one] != found[other] and bones & moves[other]:
                left, kept = found[one], found[other]
                found = [kept if group == left else group for group in found]
    return found


def in_circles(follows: Sequence[Bones], moves: Sequence[Bones]) -> list[int]:
    """The goals whose targets follow bones that their own groups move, also by way of other groups."""
    of, behind = groups(moves), _behind(follows, moves)
    circles = []
    for goal, bones in enumerate(follows):
        ahead = {of[other] for other, moved in enumerate(moves) if bones & moved}
        if any(group == of[goal] or of[goal] in reached(group, behind) for group in ahead):
            circles.append(goal)
    return circles


def depth(follows: Sequence[Bones], moves: Sequence[Bones]) -> int:
    """How many groups follow each other at most, less one. There are no circles."""
    behind = _behind(follows, moves)

    def of(group: int) -> int:
        return max((1 + of(other) for other in behind[group]), default=0)

    return max(map(of, behind), default=0)


def _behind(follows: Sequence[Bones], moves: Sequence[Bones]) -> dict[int, set[int]]:
    """The groups that each group follows."""
    of = groups(moves)
    behind: dict[int, set[int]] = {group: set() for group in of}
    for goal, bones in enumerate(follows):
        behind[of[goal]] |= {of[other] for other, moved in enumerate(moves) if bones & moved}
    return behind


def reached(one: int, behind: Mapping[int, set[int]]) -> set[int]:
    """All that one follows, also through others. behind : what each follows directly."""
    seen, ahead = set[int](), behind[one]
    while ahead:
        seen |= ahead
        ahead = set().union(*(behind[other] for other in ahead)) - seen
    return seen
