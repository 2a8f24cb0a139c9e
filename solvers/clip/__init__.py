# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions: all frames of a motion as one problem."""

from .follow_through import Chain, Spring, follow, follow_through

__all__ = ["Chain", "Spring", "follow", "follow_through"]
