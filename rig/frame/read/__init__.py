# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame's question, as arrays: targets, links, the pose that it starts from."""
