# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of one armature: changes, read, solve, write."""
