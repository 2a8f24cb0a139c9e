# SPDX-License-Identifier: GPL-3.0-or-later
"""A long motion in stretches that are solved each by itself, so that a change is felt near it and nowhere else.

First the joints are solved at the borders of the stretches: each pair of frames in a window of its own around it. Then
each stretch is solved between the borders beside it, which are held: two frames at each end, so that accelerations are
small across them as well. So a frame's answer depends on what is asked in its stretch and in the windows of its two
borders, to the last digit, in whatever order the stretches are solved.

A border was decided on by the frames near it alone, and the stretches beside it may then have to change over to another
way to meet the goals: a pop. Stretches that pop are solved once more, as one with those beside them.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .windows import REACH

STRETCH = 48  # frames from one border to the next
ROOM, LEAST_ROOM = 48, 24  # frames on each side of a border that decide on it: at smooth = 1, and at least
JOINED = 5  # stretches that are solved as one, at most
LEAST = 16  # frames from the beginning and the end of a motion to its first and its last border


class Window(NamedTuple):
    """Frames `begin` to `end` that are solved at once, of which those from `first` to `last` get their answers.

    held : frames at the beginning and at the end that have their answers already.
    """

    begin: int
    end: int
    first: int
    last: int
    held: tuple[int, int] = (0, 0)


def borders(begin: int, end: int, smooth: float) -> Iterator[Window]:
    """The windows around the borders of a motion of frames `begin` to `end`: at the same frames for any motion.

    smooth : in proportion to the time that it smooths over.
    """
    room = max(round(smooth * ROOM), LEAST_ROOM)
    for at in range(-((-begin - LEAST) // STRETCH) * STRETCH, end - LEAST, STRETCH):
        yield Window(max(at - room, begin), min(at + REACH + room, end), at, at + REACH)


def stretches(begin: int, end: int) -> Iterator[Window]:
    """The windows between the borders, which are held, and the ends of the motion."""
    ends = [border.first for border in borders(begin, end, 0.0)]
    for first, last in zip([begin, *ends], [*ends, end], strict=True):
        held = REACH if first > begin else 0, REACH if last < end else 0
        yield Window(first, last + held[1], first + held[0], last, held)


def across(begin: int, end: int) -> Iterator[Window]:
    """The windows from the middle of a stretch across a border to that of the next, once all is solved."""
    for border in borders(begin, end, 0.0):
        first, last = max(border.first - STRETCH // 2, begin), min(border.last + STRETCH // 2, end)
        held = REACH if first > begin else 0, REACH if last < end else 0
        yield Window(first, last, first + held[0], last - held[1], held)


def joined(own: Sequence[Window], pops: Sequence[bool]) -> Iterator[Window]:
    """The windows that are solved as one, of all stretches of a motion, some of which pop."""
    near = [any(pops[max(at - 1, 0) : at + 2]) for at in range(len(own))]
    for (is_near, _), group in groupby(range(len(own)), lambda at: (near[at], own[at].first // (JOINED * STRETCH))):
        if is_near:
            some = [own[at] for at in group]
            first, last = some[0], some[-1]
            yield Window(first.begin, last.end, first.first, last.last, (first.held[0], last.held[1]))
