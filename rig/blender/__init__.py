# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's data as arrays and back: channels, rotation modes, animation, dependencies."""
