# SPDX-License-Identifier: GPL-3.0-or-later
"""Hair, tails and clothes as chains of pendulums, which hang, swing, and stay out of a body."""
