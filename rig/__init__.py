# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender and the solvers: the only place that knows both."""
