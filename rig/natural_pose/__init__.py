# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose of a figure: where elbows, knees, shoulders and spine go when goals leave them open."""
