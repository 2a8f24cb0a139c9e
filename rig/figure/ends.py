# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones end, as far as that can be trusted.

Files of games have joints and no tails: importers give the last bones of limbs some length, as that of the bone above,
or a hundredth, or ten times the figure. A tail counts if it is at the head of a child, or as far from its own head as
such a part of a figure may be, on both sides. Else the end is where the part usually ends.
"""

import numpy as np

from ...solvers.rest import SMALL, unit
from .body import RestBody
from .parts import NONE, OTHER, Role

_AT_CHILD = 0.1  # of a bone's length: its tail is at the head of a child
_BEYOND = 1.5  # times the way to its furthest child: a bone with children is no longer
_PARTS = {  # a line of the figure, the share of it up to which a part is as long as its bone, and the usual share
    "hand": (("forearm", "hand"), 0.9, 0.6), "head": (("hips", "head"), 0.6, 0.3),
    "foot": (("thigh", "foot"), 0.25, 0.17), "toes": (("foot", "toes"), 0.8, 0.5),
}  # fmt: skip
_PAW = 0.45  # the same share of feet of animals, which stand on their toes
_OTHERS = 2.0, 0.5  # the same of other bones, of the way from the bone above
_LEAST = 0.02  # of that line: a shorter bone is no length


def of(body: RestBody, bone: int) -> np.ndarray:
    """The end (3,) of a bone at rest, in armature space."""
    armature, role = body.armature, body.roles.get(bone, NONE)
    head, tail, length = armature.heads[bone], armature.tails[bone], float(armature.length[bone])
    below = armature.heads[armature.tree.children[bone]] - head
    if (np.linalg.norm(below - (tail - head), axis=-1) < _AT_CHILD * length).any():
        return tail
    other = body.bone(role.name, OTHER[role.side]) if role.name in _PARTS and role.side else None
    if _tells(body, bone) and (other is None or _tells(body, other)):
        return tail
    line, _, usual = _measure(body, bone, role)
    along = body.along(bone) if bone in body.roles else None
    return head + usual * line * (unit(tail - head) if along is None else along)


def is_known(body: RestBody, bone: int) -> bool:
    """Whether a bone ends at its tail: it is no guess."""
    return np.array_equal(of(body, bone), body.armature.tails[bone])


def _tells(body: RestBody, bone: int) -> bool:
    """Whether a bone is about as long as its part may be, or nothing tells how long that is.

    Where bones do not lie along their limbs, tails of the last ones point anywhere.
    """
    armature, role = body.armature, body.roles.get(bone, NONE)
    length = float(armature.length[bone])
    away = np.linalg.norm(armature.heads[armature.tree.children[bone]] - armature.heads[bone], axis=-1)
    if away.size and away.max() > SMALL * armature.size and length <= _BEYOND * away.max() and role.name not in _PARTS:
        return True
    line, most, _ = _measure(body, bone, role)
    astray = role.name in _PARTS and not body.bones_lie_along
    return line <= SMALL * armature.size or (not astray and _LEAST * line < length <= most * line)


def _measure(body: RestBody, bone: int, role: Role) -> tuple[float, float, float]:
    """A length that a bone's goes by, the share of it that the bone may have, and the usual share."""
    armature = body.armature
    above = int(armature.parent[bone])
    if role.name in _PARTS:
        (first, last), most, usual = _PARTS[role.name]
        if role.name == "foot" and not body.human:
            most = _PAW
        start, end = (body.bone(name, role.side if Role(name).part.sided else "") for name in (first, last))
        if start is not None and end is not None:
            return body.way(start, end), most, usual
    line = 0.0 if above < 0 else float(np.linalg.norm(armature.heads[bone] - armature.heads[above]))
    return line, *_OTHERS
