# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of Blender and of other programs."""
