# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame: read -> solve -> write, its report, and the fast case. A session holds what one armature needs."""
