# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that share joints, solved together: starts, continuation, restarts, and frames of a motion."""
