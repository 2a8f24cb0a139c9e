# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of bones as narrow lists show them: without what all names of an armature begin with, as `mixamorig:`."""

from collections import Counter
from functools import lru_cache

import bpy

from ..blender.dependencies import CONTROL_PREFIX

_SEPARATORS = ":|_-. "
_SHARE = 0.9  # of the bones have the prefix: a few helpers may have other names


def short(ob: bpy.types.Object, name: str) -> str:
    """A name of a bone, a control bone or a goal without the prefix that the armature's bones have in common."""
    own = name.removeprefix(CONTROL_PREFIX)
    return own.removeprefix(_prefix(tuple(ob.data.bones.keys()))) or name


@lru_cache(maxsize=16)
def _prefix(names: tuple[str, ...]) -> str:
    """The longest beginning, up to a separator, that nearly all names share; control bones do not count."""
    own = [name for name in names if not name.startswith(CONTROL_PREFIX)]
    found = Counter(
        name[: end + 1] for name in own for end, letter in enumerate(name[:-1]) if letter in _SEPARATORS
    )
    common = [start for start, count in found.items() if count >= _SHARE * len(own) and count > 1]
    return max(common, key=len, default="")
