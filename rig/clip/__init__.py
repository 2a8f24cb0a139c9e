# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions, read frame by frame: figures as they move, contacts, frame rates, what ghosts and arcs show."""
