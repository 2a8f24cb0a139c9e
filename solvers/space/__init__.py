# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom, and the goals' errors and Jacobians over them, with poles and limbs."""
