# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of rotations and rigid transforms."""
