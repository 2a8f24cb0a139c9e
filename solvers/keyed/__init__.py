# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that start from a keyed pose: where it stays although a solve would change it a little."""

from . import keyed_reach, unmoved

__all__ = ["keyed_reach", "unmoved"]
