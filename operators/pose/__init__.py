# SPDX-License-Identifier: GPL-3.0-or-later
"""Posing at a frame of a shot: grab, pin, plant, attach, IK and FK, holds, keys of controls."""
