# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of one armature: changes, read, solve, write. `frame.py` is the step, `steady.py` its fast case."""
