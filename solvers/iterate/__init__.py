# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iterations, and the problem that each iteration solves."""
