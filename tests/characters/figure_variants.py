# SPDX-License-Identifier: GPL-3.0-or-later
"""What people's files have beside a plain figure with a plain motion: each as a function that changes a pair of them."""

VARIANTS = {}
