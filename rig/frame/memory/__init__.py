# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an armature between frames: the base pose, edits by hand, holds, the prepared rig."""
