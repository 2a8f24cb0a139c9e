# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose: where elbows, knees, shoulders and the spine go when targets leave that open.

A learnt prior, arrays in and arrays out. `figure` reads a skeleton by the roles of its joints, `prior` makes base
poses, `own_motion` fits them to a character's own frames.
"""

from . import own_motion
from .figure import Bone, NoFigure, RestFigure, of

__all__ = ["Bone", "NoFigure", "RestFigure", "of", "own_motion"]
