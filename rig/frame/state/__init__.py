# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an armature between frames. A `Session` holds the parts; each is changed by its own methods."""
