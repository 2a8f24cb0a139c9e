# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving, baking, checking, comparing, and the buttons of warnings."""
