# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made of a whole motion: Mend, Retarget, Fewer Keys, Overlap, Edit Range. Arrays in, keys out."""
