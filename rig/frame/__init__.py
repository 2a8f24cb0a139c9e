# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame: the step, the state between frames, and which armatures are solved in which order."""
