# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs and outputs of a solve: skeletons, goals, limits, options, solutions, errors."""
