# SPDX-License-Identifier: GPL-3.0-or-later
"""A learnt prior of natural poses: where elbows, knees, shoulders and the spine go when targets leave that open.

NumPy only; nothing here knows Blender. `figure` reads a rig by the roles of its bones, `prior` makes base poses,
`own_motion` fits them to a character's own frames.
"""
