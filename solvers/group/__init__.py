# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that share joints, solved together: where to start, restarts, frames that follow each other."""
