# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of bones and goals -> a prepared solve: plan, build, limits, couplings, obstacles."""
