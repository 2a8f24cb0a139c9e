# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands for farms, and what they share."""
