# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to a prepared solve: goals, chains, limits, bends, the parts of a human figure."""
