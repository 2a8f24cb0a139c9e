# SPDX-License-Identifier: GPL-3.0-or-later
"""One error class per cause; each message names the parameter, its value and what was expected."""


class DqikError(ValueError):
    """Base of every error that DQIK raises about its input.

    Attributes
    ----------
    template, values : the message's words, with `{}` for each of the values, so that it can be said in another
        language. Without values the template is the message.

    Examples
    --------
    >>> try:
    ...     ik.Options(iterations=-1)
    ... except ik.DqikError as error:
    ...     print(error)
    options.iterations = -1; expected a whole number, 0 or more
    """

    def __init__(self, template: str = "", *values: object) -> None:
        super().__init__(template.format(*values) if values else template)
        self.template, self.values = template, values


class InvalidSkeleton(DqikError):
    """A joint, an axis, a parent, a rest orientation or a URDF that cannot be used.

    Examples
    --------
    >>> ik.Skeleton([])
    Traceback (most recent call last):
        ...
    solvers.model.errors.InvalidSkeleton: Skeleton: expected at least one joint, got none
    """


class InvalidLimits(DqikError):
    """Limits that are reversed, not finite, in degrees or of the wrong kind for their joint.

    Examples
    --------
    >>> ik.Range(2, 1)
    Traceback (most recent call last):
        ...
    solvers.model.errors.InvalidLimits: Range: lo = 2.0 is above hi = 1.0; exchange them
    """


class InvalidGoal(DqikError):
    """A goal that names no joint of the skeleton, has no target, or has arrays of the wrong shape.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0))])
    >>> ik.solve(arm, [ik.Goal("arm")])
    Traceback (most recent call last):
        ...
    solvers.model.errors.InvalidGoal: goal 0 (joint 'arm'): asks for nothing; give it a position, a rotation or both
    """


class InvalidPose(DqikError):
    """A pose or joint values of the wrong shape, or with NaN or infinity.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0))])
    >>> ik.pose_from_angles(arm, [0.5])
    Traceback (most recent call last):
        ...
    solvers.model.errors.InvalidPose: q: expected shape (3,) or (frames, 3), got (1,)
    """


class InvalidOptions(DqikError):
    """A solver option outside its range.

    Examples
    --------
    >>> ik.Options(tolerance=-1.0)
    Traceback (most recent call last):
        ...
    solvers.model.errors.InvalidOptions: options.tolerance = -1.0; expected a number, 0 or more
    """


class UnknownJoint(DqikError):
    """A joint's name or index that is not in the skeleton, or a name that several joints have.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> arm.index("hnad")
    Traceback (most recent call last):
        ...
    solvers.model.errors.UnknownJoint: no joint is called 'hnad'; the joints are 'hand', 'arm'
    """


class UnknownSolver(DqikError):
    """A solver's name that is not in `SOLVERS`.

    Examples
    --------
    >>> try:
    ...     ik.prepare(ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0))]), [], solver="NEWTEN")
    ... except ik.UnknownSolver as error:
    ...     print(str(error)[:60])
    solver 'NEWTEN' is not known; the solvers are NEWTON, EXTEND
    """
