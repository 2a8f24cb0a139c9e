# SPDX-License-Identifier: GPL-3.0-or-later
"""The windows of a long motion: what is solved with what."""

from hypothesis import given
from hypothesis import strategies as st

from solvers.clip import joined, stretches


@given(st.integers(-500, 500), st.integers(3, 900), st.data())
def test_stretches_that_pop_are_joined_with_those_beside_them(begin: int, frames: int, data: st.DataObject) -> None:
    """Each stretch that pops, and those beside it, are in one window, between frames that are held; others in none."""
    own = list(stretches(begin, begin + frames))
    pops = data.draw(st.lists(st.booleans(), min_size=len(own), max_size=len(own)))
    windows = list(joined(own, pops))
    for at, one in enumerate(own):
        holding = [window for window in windows if window.begin <= one.begin and one.end <= window.end]
        assert len(holding) == any(pops[max(at - 1, 0) : at + 2])
    for window in windows:
        inside = [one for one in own if window.begin <= one.begin and one.end <= window.end]
        assert len(inside) <= 5
        assert (window.begin, window.first, window.held[0]) == (inside[0].begin, inside[0].first, inside[0].held[0])
        assert (window.end, window.last, window.held[1]) == (inside[-1].end, inside[-1].last, inside[-1].held[1])
