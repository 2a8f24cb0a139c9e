# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes bodies apart with the compiled kernel: packs the contacts of a prepared solve, and calls it."""

from ctypes import addressof
from functools import partial
from typing import Any

import numpy as np

from ..group.apart import Apart
from ..group.stages import check
from ..model.frames import FrameArrays
from ..model.options import Options
from ..model.skeleton import Pose
from .declare import Packer
from .library import Kernel, load
from .needs import SUPPORTED, needs
from .pack import problem
from .stages import WorkingMemory, in_threads
from .structures import CONTACTS, CONVEX, POSE


def compiled_or_numpy(apart: Apart, options: Options, counts: np.ndarray, points: int) -> "CompiledApart | Apart":
    """The collision solver of a prepared solve: the kernel's where it can.

    counts : (G, 2) bool as in `Stages`. points : number of target points of all goals and obstacles.
    """
    stage, kernel = apart.stage, load()
    can = apart.gaps.count and needs(stage.skeleton, [stage], "PGS", options) <= SUPPORTED
    return CompiledApart(kernel, apart, counts, points) if kernel is not None and can else apart


class CompiledApart:
    """The contacts of a prepared solve, packed for the kernel; as `Apart`, which is `numpy`."""

    def __init__(self, kernel: Kernel, apart: Apart, counts: np.ndarray, points: int) -> None:
        self.numpy = apart
        self._push, self._measure = kernel.push_apart, kernel.overlaps
        self._packer, gaps, stage = Packer(), apart.gaps, apart.stage
        self._shape = len(counts), len(stage.skeleton), points
        packed = problem(self._packer, stage.skeleton, [stage], counts, "PGS", points, gaps.count)
        contacts = _contacts(self._packer, apart, points)
        self._addresses = addressof(packed), addressof(contacts)
        self.memory = WorkingMemory(int(kernel.contacts_work(*self._addresses)))

    def solve_into(self, arrays: FrameArrays) -> None:
        """Push bodies apart in solved frames where they overlap."""
        self._call(self._push, arrays, 0)

    def follow_into(self, arrays: FrameArrays, before: Pose) -> None:
        """Push bodies apart in one solved frame where they overlap, from the pose (1, J, ...) of the frame before."""
        packer = Packer()
        pose = packer.fill(POSE, rotations=before.rotations, translations=before.translations)
        self._call(self._push, arrays, addressof(pose))

    def overlaps(self, arrays: FrameArrays) -> np.ndarray:
        """The deepest overlaps (F,) of solved frames [length units], beyond those of the rest pose; 0 for none."""
        return self._call(self._measure, arrays)

    def _call(self, function: Any, arrays: FrameArrays, *more: int) -> np.ndarray:
        check(arrays, *self._shape)
        overlaps = np.empty(len(arrays))
        in_threads(len(arrays), partial(self._part, function, arrays, overlaps.ctypes.data, more))
        return overlaps

    def _part(
        self, function: Any, arrays: FrameArrays, overlaps: int, more: tuple[int, ...], begin: int, end: int
    ) -> None:
        memory = self.memory.address
        function(*self._addresses, arrays.address, begin, end, overlaps + 8 * begin, memory, *more)


def _contacts(packer: Packer, apart: Apart, points: int) -> Any:
    gaps, capsules = apart.gaps, apart.gaps.capsules
    bodies = [
        packer.fill(
            CONVEX, obstacle=number, corners=len(body.corners), triangles=len(body.triangles), edges=len(body.edges),
            corner=body.corners, triangle=body.triangles, edge=body.edges,
        ) for number, body in gaps.bodies
    ]  # fmt: skip
    return packer.fill(
        CONTACTS, count=gaps.count, capsules=len(capsules.joint), pairs=len(gaps.pairs), ends=len(gaps.ends),
        free=len(gaps.free), bodies=len(bodies), first_point=points - gaps.placing, joint=capsules.joint,
        above=gaps.above, start=capsules.start, end=capsules.end, radius=capsules.radius, moves=gaps.moves > 0.0,
        levers=gaps.levers,
        pair=gaps.pairs, end_of=gaps.ends, free_capsule=gaps.free, body=bodies, least=gaps.least,
        owned=apart.owned, weight=apart.weights, reluctance=apart.stage.settings.reluctance,
    )  # fmt: skip
