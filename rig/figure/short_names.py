# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of bones as panels show them: by the part of the body, as *Left Hand*; of others what tells them apart."""

from collections import Counter
from functools import lru_cache

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_

from ..blender import bulk
from ..blender.dependencies import CONTROL_PREFIX
from ..remembered import Remembered
from .character import Character
from .parts import Role

_SEPARATORS = ":|_-. "
_SHARE = 0.9  # of the bones have the prefix: a few helpers may have other names

_known: Remembered[tuple, dict[str, Role]] = Remembered(16)


def called(ob: bpy.types.Object, name: str) -> str:
    """The part of the body that a bone, a control bone or a goal is or moves, in the language of the interface.

    The short name where it is no such part, or where other bones are the same, as several of a spine.
    """
    goal = next((goal for goal in ob.dqik.goals if name == goal.subtarget and goal.target == ob), None)
    bone = name if goal is None else goal.bone
    role = role_of(ob, bone)
    if role is None or sum(other == role for other in _roles(ob).values()) > 1:
        return short(ob, bone)
    return iface_(role.label)


def role_of(ob: bpy.types.Object, bone: str) -> Role | None:
    """The role of a bone of an armature object."""
    return _roles(ob).get(bone)


def short(ob: bpy.types.Object, name: str) -> str:
    """A name of a bone, a control bone or a goal without the prefix that the armature's bones have in common."""
    own = name.removeprefix(CONTROL_PREFIX)
    return own.removeprefix(_prefix(tuple(ob.data.bones.keys()))) or name


def _roles(ob: bpy.types.Object) -> dict[str, Role]:
    """The roles by bone, found again when bones or choices are others, since panels ask at each redraw."""
    names = tuple(ob.pose.bones.keys())
    choices = bulk.read(ob.pose.bones, "dqik_role", kind=np.int32).tobytes()
    return _known.of((ob.session_uid, ob.data.session_uid, names, choices), lambda: {
        names[bone]: role for bone, role in Character.of(ob).figure.all_roles.items()
    })  # fmt: skip


@lru_cache(maxsize=16)
def _prefix(names: tuple[str, ...]) -> str:
    """The longest beginning, up to a separator, that nearly all names share; control bones do not count."""
    own = [name for name in names if not name.startswith(CONTROL_PREFIX)]
    found = Counter(
        name[: end + 1] for name in own for end, letter in enumerate(name[:-1]) if letter in _SEPARATORS
    )
    common = [start for start, count in found.items() if count >= _SHARE * len(own) and count > 1]
    return max(common, key=len, default="")
