# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of objects and bones: whether they may be written, writing them, and keeping curves as they are beside them."""
