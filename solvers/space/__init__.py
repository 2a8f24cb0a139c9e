# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom, and what the goals ask of them: errors, Jacobians, poles, limbs."""
