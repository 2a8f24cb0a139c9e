# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots described in URDF, the Unified Robot Description Format of ROS (wiki.ros.org/urdf/XML).

A URDF has links, which are rigid bodies, and joints, each of which hangs a child link on a parent link. The frame of a
joint is the frame of its child link: `origin` places it on the parent, then the joint moves it along or about `axis`.
That is `Q_j = Q_parent link_j motion_j`, so a URDF joint is one `Joint`, and the root link is the skeleton's frame.
"""

import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..algebra import quaternion
from .coupling import Coupling
from .errors import InvalidLimits, InvalidSkeleton
from .limits import Range, check_radians
from .names import suggestions
from .numbers import shown, vector
from .skeleton import Joint, Skeleton

KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "prismatic", "fixed": "fixed", "floating": "ball"}
NO_LIMIT = 1e3  # [rad] a wider span is an exporter's way to write that a joint has no limits, and not degrees
XACRO = "this is xacro, a macro language for URDF; expand it first: xacro robot.urdf.xacro > robot.urdf"


@dataclass(frozen=True)
class _Element:
    """A `<joint>` of the file, checked."""

    name: str
    type: str
    parent: str
    child: str
    offset: np.ndarray  # (3,)
    rest: np.ndarray  # (4,)
    axis: np.ndarray  # (3,)
    limits: Range | None
    mimic: Coupling | None = None


def skeleton_from_urdf(source: str | Path) -> Skeleton:
    """The skeleton of a robot described in URDF.

    A `<mimic>` is left out, with a Python warning, if its leader is missing, does not move or follows the joint itself,
    or if the joint does not move.

    Joints keep their names; a link moves with the joint above it. Joints are ordered from the root link outward.
    `revolute` and `continuous` joints become hinges, `prismatic` ones slides; a `floating` joint becomes three slides,
    named like it with " x", " y" and " z" appended, and a ball of its name. A `revolute` joint whose limits span a full
    turn or more keeps them and turns freely (`Range`). Infinite limits, and spans of more than a thousand radians, are
    none. A robot of a single link becomes one fixed
    joint of that link's name; links that no joint mentions are left out. Masses, meshes and transmissions are not read.

    Parameters
    ----------
    source : the text of the file, or its path.

    Raises
    ------
    InvalidSkeleton : for a file that cannot be read, is not URDF or not one tree; for xacro; for `planar`
        joints, which are not supported.
    InvalidLimits : for a `revolute` or `prismatic` joint without limits, with reversed ones, or with degrees.

    Examples
    --------
    >>> lift = ik.skeleton_from_urdf('''
    ... <robot name="lift">
    ...   <link name="base"/> <link name="mast"/> <link name="arm"/>
    ...   <joint name="raise" type="prismatic">
    ...     <parent link="base"/> <child link="mast"/> <axis xyz="0 0 1"/> <limit lower="0" upper="0.5"/>
    ...   </joint>
    ...   <joint name="swing" type="continuous">
    ...     <parent link="mast"/> <child link="arm"/> <origin xyz="0.1 0 1"/> <axis xyz="0 0 1"/>
    ...   </joint>
    ... </robot>''')
    >>> lift.names, lift.kinds
    (('raise', 'swing'), ('prismatic', 'hinge'))
    >>> ik.forward(lift, ik.pose_from_angles(lift, [0.25, 0.0])).positions[lift.index("swing")].tolist()
    [0.1, 0.0, 1.25]
    """
    robot = _parse(source)
    links = [_attribute(element, "name", "a link") for element in _children(robot, "link")]
    elements = [_element(element) for element in _children(robot, "joint")]
    _check_names(links, elements)
    if not elements:
        if len(links) != 1:
            raise InvalidSkeleton(f"URDF: expected joints, got none between {len(links)} links")
        return Skeleton([Joint(links[0], -1, "fixed", (0.0, 0.0, 0.0))])
    joints: list[Joint] = []
    waiting = [(element, -1) for element in reversed(_below(_root(elements), elements))]
    placed = 0
    while waiting:
        element, above = waiting.pop()
        placed += 1
        joints += _joints(element, above, len(joints))
        waiting += [(below, len(joints) - 1) for below in reversed(_below(element.child, elements))]
    if placed < len(elements):
        raise InvalidSkeleton("URDF: some joints hang from each other in a circle; expected one tree")
    return Skeleton(joints, couplings=_couplings(elements))


# -- the file ---------------------------------------------------------------------------------------------------------


def _parse(source: str | Path) -> ElementTree.Element:
    """The `<robot>` element."""
    text = source if isinstance(source, str) and "<" in source else _read(source)
    text = text.lstrip("\ufeff \t\r\n")
    if "<!ENTITY" in text:
        raise InvalidSkeleton("URDF: the file declares XML entities, which are not supported")
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InvalidSkeleton(f"URDF: {XACRO if '<xacro:' in text else f'not well-formed XML: {error}'}") from None
    if any("xacro" in str(element.tag) for element in robot.iter()):
        raise InvalidSkeleton(f"URDF: {XACRO}")
    if _tag(robot) != "robot":
        raise InvalidSkeleton(f"URDF: expected <robot>, got <{_tag(robot)}>")
    return robot


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise InvalidSkeleton(f"URDF: expected text or the path of a file, got {shown(path)}: {error}") from None


def _tag(element: ElementTree.Element) -> str:
    """An element's tag without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _children(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return [child for child in element if _tag(child) == tag]


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    """The child with a tag; the first if there are several, as in other parsers."""
    return next(iter(_children(element, tag)), None)


def _attribute(element: ElementTree.Element | None, name: str, where: str) -> str:
    value = None if element is None else element.get(name)
    if value is None or not value.strip():
        raise InvalidSkeleton(f"URDF: {where} has no {name}")
    return value.strip()


def _numbers(element: ElementTree.Element | None, name: str, where: str, default: Sequence[float]) -> np.ndarray:
    """The numbers of an attribute, as many as its default has."""
    text = None if element is None else element.get(name)
    if text is None:
        return np.array(default, dtype=float)
    if "${" in text or "$(" in text:
        raise InvalidSkeleton(f"URDF: {where}: {name} = {text!r}: {XACRO}")
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.zeros(0)
    if len(values) != len(default):
        expected = "a number" if len(default) == 1 else f"{len(default)} numbers"
        raise InvalidSkeleton(f"URDF: {where}: {name} = {text!r}; expected {expected}")
    return values


# -- joints -----------------------------------------------------------------------------------------------------------


def _element(element: ElementTree.Element) -> _Element:
    """A `<joint>`, checked by itself."""
    name = _attribute(element, "name", "a joint")
    where = f"joint {name!r}"
    kind = _attribute(element, "type", where)
    if kind not in KINDS:
        names = suggestions(kind, KINDS, "{}")
        raise InvalidSkeleton(f"URDF: {where}: type {kind!r} is not supported; the types are {names}")
    parent = _attribute(_child(element, "parent"), "link", f"{where}: <parent>")
    child = _attribute(_child(element, "child"), "link", f"{where}: <child>")
    origin = _child(element, "origin")
    offset = _numbers(origin, "xyz", where, (0.0, 0.0, 0.0))
    rest = _rotation(vector(_numbers(origin, "rpy", where, (0.0, 0.0, 0.0)), 3, f"{where} rpy", InvalidSkeleton))
    axis = _numbers(_child(element, "axis"), "xyz", where, (1.0, 0.0, 0.0))
    limits = _limits(_child(element, "limit"), kind, where)
    mimic = _mimic(_child(element, "mimic"), name, where)
    return _Element(name, kind, parent, child, offset, rest, axis, limits, mimic)


def _mimic(mimic: ElementTree.Element | None, name: str, where: str) -> Coupling | None:
    """The coupling of a joint that mimics another one: `value = multiplier * other + offset`."""
    if mimic is None:
        return None
    leader = _attribute(mimic, "joint", f"{where}: <mimic>")
    factor, offset = _numbers(mimic, "multiplier", where, (1.0,))[0], _numbers(mimic, "offset", where, (0.0,))[0]
    return Coupling(name, "X", leader, "X", float(factor), float(offset))


def _rotation(rpy: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw [rad] about the parent's X, Y and Z in this order, as a quaternion."""
    roll, pitch, yaw = quaternion.exp(np.diag(rpy))
    return quaternion.product(yaw, quaternion.product(pitch, roll))


def _limits(limit: ElementTree.Element | None, kind: str, where: str) -> Range | None:
    """The limits of a `revolute` or `prismatic` joint; None for other types, and for limits that leave it free."""
    if kind not in ("revolute", "prismatic"):
        return None
    if limit is None:
        free = "; a joint that turns freely is of type continuous" if kind == "revolute" else ""
        raise InvalidLimits(f"URDF: {where}: a {kind} joint needs <limit lower= upper=>{free}")
    lower, upper = (_numbers(limit, name, where, (0.0,)).item() for name in ("lower", "upper"))
    try:
        if kind == "prismatic":
            return None if -lower == upper == np.inf else Range(lower, upper)
        if upper - lower >= NO_LIMIT:
            return None
        check_radians("limits", lower, upper)
        return Range(lower, upper)
    except InvalidLimits as error:
        raise InvalidLimits(f"URDF: {where}: {error}") from None


def _couplings(elements: list[_Element]) -> list[Coupling]:
    """The couplings of joints that mimic others, without those that cannot hold; warns about these."""
    moves = {element.name for element in elements if element.type != "fixed"}
    leaders: dict[str, str] = {}
    found: list[Coupling] = []
    for mimic in (element.mimic for element in elements if element.mimic is not None):
        above = leader = mimic.leader
        while above in leaders:
            above = leaders[above]
        if mimic.joint not in moves:
            problem = "it does not move itself"
        elif leader not in moves:
            same = any(element.name == leader for element in elements)
            problem = f"{leader!r} does not move" if same else f"no joint is called {leader!r}"
        elif above == mimic.joint:
            problem = f"{leader!r} follows it" if leader != mimic.joint else "it cannot follow itself"
        else:
            leaders[mimic.joint] = leader
            found.append(mimic)
            continue
        warnings.warn(f"URDF: joint {mimic.joint!r}: <mimic> is left out, because {problem}", stacklevel=3)
    return found


def _check_names(links: list[str], elements: list[_Element]) -> None:
    """Raise `InvalidSkeleton` for a name that is used twice, a link that does not exist, one with two parents."""
    for what, names in [("links", links), ("joints", [element.name for element in elements])]:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidSkeleton(f"URDF: several {what} are called {twice!r}; names must differ")
    owner: dict[str, str] = {}
    for element in elements:
        for link in (element.parent, element.child):
            if link not in links:
                names = suggestions(link, links)
                raise InvalidSkeleton(
                    f"URDF: joint {element.name!r}: no link is called {link!r}; the links are {names}"
                )
        if element.child in owner:
            raise InvalidSkeleton(
                f"URDF: link {element.child!r} hangs from two joints, {owner[element.child]!r} and {element.name!r}"
            )
        owner[element.child] = element.name


def _root(elements: list[_Element]) -> str:
    """The link from which all others hang."""
    children = {element.child for element in elements}
    roots = list(dict.fromkeys(element.parent for element in elements if element.parent not in children))
    if len(roots) != 1:
        got = ", ".join(map(repr, roots)) or "none: the joints hang from each other in a circle"
        raise InvalidSkeleton(f"URDF: expected one root link, got {got}")
    return roots[0]


def _below(link: str, elements: list[_Element]) -> list[_Element]:
    """The joints that hang from a link, in the order of the file."""
    return [element for element in elements if element.parent == link]


def _joints(element: _Element, above: int, first: int) -> list[Joint]:
    """The joint, or the four of a floating one, the first of which gets the index `first`."""
    offset, rest = element.offset.tolist(), element.rest.tolist()
    if element.type != "floating":
        axis = None if element.type == "fixed" else element.axis.tolist()
        return [Joint(element.name, above, KINDS[element.type], offset, rest, axis, element.limits)]
    slides = [
        Joint(f"{element.name} {letter}", first + row - 1 if row else above, "prismatic",
              (0.0, 0.0, 0.0) if row else offset, (1.0, 0.0, 0.0, 0.0) if row else rest, axis)
        for row, (letter, axis) in enumerate(zip("xyz", np.eye(3).tolist(), strict=True))
    ]  # fmt: skip
    return [*slides, Joint(element.name, first + 2, "ball", (0.0, 0.0, 0.0))]
