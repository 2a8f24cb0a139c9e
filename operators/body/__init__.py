# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools of the character: goals, limits, couplings, collisions, the natural pose, mirror images."""
