# SPDX-License-Identifier: GPL-3.0-or-later
"""The character: roles of bones, names, limbs, left, up and forward, ranges of joints, masses."""
