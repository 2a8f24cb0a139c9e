# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed poses that are answers to the targets of their frames: live solving leaves them as they are.

A bake keys answers. A solve from such a keyed pose starts elsewhere than the solve that found it, so it ends elsewhere
where goals are missed. A digest of the pose and the targets tells whether either was edited since.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import bpy
import numpy as np

from ....solvers import Pose
from ....solvers.model import Targets

_SIZE = 6  # bytes of a digest: eight characters
MOST = 20_000  # digests of one armature


def of_targets(targets: Targets) -> bytes:
    """What tells the targets and obstacles of one frame from others."""
    parts = (targets.positions, targets.rotations, targets.poles, targets.points)
    return b"".join(np.asarray(part[0] + 0.0, dtype=np.float32).tobytes() for part in parts if part is not None)


def digest(pose: Pose, targets: bytes) -> bytes:
    """A digest of a pose (1, J, ...) of one frame and of what `of_targets` returns."""
    parts = (np.asarray(part[0] + 0.0, dtype=np.float32).tobytes() for part in pose)
    return blake2b(b"".join([*parts, targets]), digest_size=_SIZE).digest()


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
