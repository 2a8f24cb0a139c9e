# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a dense motion: cubics from key to key that stay within bounds."""
