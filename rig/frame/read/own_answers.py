# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed poses that are answers to the targets of their frames: live solving leaves them as they are.

A bake keys answers. A solve from such a keyed pose starts elsewhere than the solve that found it, so it ends elsewhere
where goals are missed. A digest of the pose, the goals and the targets tells whether any was edited since. What else
shapes a solve, like stiffness or the natural pose, moves no bone that is keyed.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import bpy
import numpy as np

from ....solvers import Pose, Prepared
from ....solvers.model import Targets

_SIZE = 6  # bytes of a digest: eight characters
MOST = 20_000  # digests of one armature
_TARGETS = {"position", "rotation", "pole", "points"}  # fields of goals


def of_goals(prepared: Prepared, targets: Targets) -> bytes:
    """What tells the goals, targets and obstacles of one frame from others."""
    parts = [part for part in (targets.positions, targets.rotations, targets.poles, targets.points) if part is not None]
    places = [np.asarray(part[0] + 0.0, dtype=np.float32).tobytes() for part in parts]
    return b"".join([_settings(prepared), *places])


@lru_cache(maxsize=16)
def _settings(prepared: Prepared) -> bytes:
    """What tells the goals of a rig from others; that they have targets counts, not where these are."""
    told = [
        [getattr(goal, one.name) is None if one.name in _TARGETS else _single(getattr(goal, one.name))
         for one in fields(goal)]
        for goal in prepared.goals
    ]  # fmt: skip
    return blake2b(repr(told).encode(), digest_size=16).digest()


def _single(value: Any) -> Any:
    """A setting with its numbers in single precision, as targets are told apart."""
    if isinstance(value, float):
        return float(np.float32(value)) + 0.0
    return tuple(map(_single, value)) if isinstance(value, (tuple, list)) else value


def digest(pose: Pose, goals: bytes) -> bytes:
    """A digest of a pose (1, J, ...) of one frame and of what `of_goals` returns."""
    parts = (np.asarray(part[0] + 0.0, dtype=np.float32).tobytes() for part in pose)
    return blake2b(b"".join([*parts, goals]), digest_size=_SIZE).digest()


@lru_cache(maxsize=64)
def read(text: str) -> frozenset[bytes]:
    """The digests in a stored text; none if it is damaged."""
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return frozenset()
    return frozenset(data[at : at + _SIZE] for at in range(0, len(data) - len(data) % _SIZE, _SIZE))


def store(ob: bpy.types.Object, digests: Iterable[bytes]) -> None:
    """Store digests on an armature object, with those that it has."""
    together = list(dict.fromkeys([*digests, *sorted(read(ob.dqik.own_answers))]))
    ob.dqik.own_answers = b64encode(b"".join(together[:MOST])).decode()
