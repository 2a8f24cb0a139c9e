# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and lists: they draw, and never compute."""


def register() -> None:
    """Register the panels."""


def unregister() -> None:
    """Unregister the panels."""
