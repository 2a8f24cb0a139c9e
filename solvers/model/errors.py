# SPDX-License-Identifier: GPL-3.0-or-later
"""One error class per cause; each message names the thing, the value that came and what was expected."""


class DqikError(ValueError):
    """Base of everything that DQIK raises about its input."""


class InvalidSkeleton(DqikError):
    """A joint, an axis, a parent or a rest orientation that cannot be used."""


class InvalidLimits(DqikError):
    """Limits that are reversed, not finite or of the wrong kind for their joint."""


class InvalidGoal(DqikError):
    """A goal that names no joint of the skeleton, asks for nothing or asks in the wrong shape."""


class InvalidPose(DqikError):
    """A pose whose arrays have the wrong shape or hold NaN or infinity."""


class InvalidOptions(DqikError):
    """A solver option outside its range."""


class UnknownSolver(DqikError):
    """A solver's name that is not in `SOLVERS`."""
