# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a shot: over ranges of frames, by keys of the targets."""
