# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel: its contract, loading it, and handing it a prepared solve."""
