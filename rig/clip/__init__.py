# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a whole motion, read frame by frame and keyed at the end."""
