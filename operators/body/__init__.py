# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character is: goals, limits, couplings, collisions, the natural pose, mirror images."""
