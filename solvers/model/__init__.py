# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller says and gets: skeletons, goals, limits, options, solutions, errors."""
