# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverse kinematics of whole skeletons: the mathematics of DQIK, which needs NumPy only and no Blender.

Quaternions are `w x y z`. Angles are radians. Lengths are in the unit of the skeleton. The examples in the docstrings
begin with `import numpy as np` and `import solvers as ik`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .public import *  # noqa: F403


def __getattr__(name: str) -> object:
    """Import all public names when the first one is asked for, since most sessions of Blender solve nothing."""
    public = import_module(f"{__name__}.public")
    globals().update({public_name: getattr(public, public_name) for public_name in ("__all__", *public.__all__)})
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]
