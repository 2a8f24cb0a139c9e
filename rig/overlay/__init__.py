# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometry of the viewport overlay, as arrays: limits, goals and reach. `ui/overlay.py` draws it."""
