# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions: all frames of a motion as one problem."""

from .fewer_keys import Keys, Miss, few_keys
from .follow_through import Chain, Spring, follow, follow_through
from .solve import solve_into

__all__ = ["Chain", "Keys", "Miss", "Spring", "few_keys", "follow", "follow_through", "solve_into"]
