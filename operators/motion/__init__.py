# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions: see, mend, retarget, fewer keys, overlap, edit with the neighbours."""
