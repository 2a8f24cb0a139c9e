# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays for the inputs and outputs of many frames, and the motion that solves each frame from the one before."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np

from .goals import Targets
from .skeleton import Pose
from .solution import Batch, Solution

QUESTIONS: dict[str, tuple[str | int, ...]] = {
    "positions": ("G", 3),
    "orientations": ("G", 4),
    "poles": ("G", 3),
    "points": ("P", 3),
    "start_rotations": ("J", 4),
    "start_translations": ("J", 3),
    "links": ("J", 8),
    "home_rotations": ("J", 4),
}
"""Shapes of each frame's inputs, for G goals with P points and J joints. All are doubles."""

_TARGETS = tuple(QUESTIONS)[:4]

ANSWERS: dict[str, tuple[str | int, ...]] = {
    "rotations": ("J", 4),
    "translations": ("J", 3),
    "position_errors": ("G",),
    "rotation_errors": ("G",),
    "iterations": (),
    "converged": (),
    "at_limit": ("J",),
}
"""Shapes of each frame's outputs."""

DTYPES: dict[str, type[np.generic]] = {"iterations": np.int32, "converged": np.bool_, "at_limit": np.bool_}
"""Types of the arrays that do not hold doubles."""

_ARRAYS = tuple(
    (name, shape, np.dtype(DTYPES.get(name, np.float64)), name in QUESTIONS)
    for name, shape in {**QUESTIONS, **ANSWERS}.items()
)


@dataclass(frozen=True, eq=False)
class FrameArrays:
    """Inputs (`QUESTIONS`) and outputs (`ANSWERS`) of F frames, in C-contiguous arrays.

    Write the inputs into the arrays, solve, read the outputs from the arrays. An input's leading axis is F, or 1 if all
    frames share it. An array is never replaced by another one, because the kernel keeps its address.

    Attributes
    ----------
    positions : (F, G, 3) targets of the effectors, in the skeleton's frame [length units].
    orientations : (F, G, 4) target orientations `w x y z`, of any length but 0.
    poles : (F, G, 3) points toward which the chains bend, used for goals with a pole.
    points : (F, P, 3) further target points of goals of other kinds, one goal after the other.
    start_rotations, start_translations : (F, J, 4), (F, J, 3) start pose of a solve, to which the pull leads.
    links : (F, J, 8) unit dual quaternions from parent to joint, as `Skeleton.links`.
    home_rotations : (F, J, 4) the pose that the targets were moved from: of goals that cannot all be met, those yield
        whose targets have moved furthest. Zeros where it is the start pose.
    rotations, translations : (F, J, 4), (F, J, 3) the solved pose; NaN in frames whose inputs are not finite.
    position_errors, rotation_errors : (F, G) distances [length units] and angles [rad] from the goals, 0 if the goal
        has none.
    iterations : (F,) int32 steps taken. converged : (F,) bool, whether all goals are met to their tolerances.
    at_limit : (F, J) bool, joints with a coordinate on a limit.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> prepared = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> arrays = prepared.arrays(2)
    >>> arrays.positions[:] = [[(0.6, 0.8, 0)], [(0, 0, 1)]]
    >>> prepared.solve_into(arrays)
    >>> arrays.converged.tolist(), arrays.rotations.shape
    ([True, True], (2, 2, 4))
    """

    positions: np.ndarray
    orientations: np.ndarray
    poles: np.ndarray
    points: np.ndarray
    start_rotations: np.ndarray
    start_translations: np.ndarray
    links: np.ndarray
    home_rotations: np.ndarray
    rotations: np.ndarray
    translations: np.ndarray
    position_errors: np.ndarray
    rotation_errors: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    at_limit: np.ndarray

    def __post_init__(self) -> None:
        frames = len(self.iterations)
        shapes = _shapes(self.goals, self.joints, self.target_points)
        for (name, _, dtype, is_question), inner in zip(_ARRAYS, shapes, strict=True):
            array: np.ndarray = getattr(self, name)
            if array.shape[1:] != inner or not (len(array) == frames or (is_question and len(array) == 1)):
                raise ValueError(f"{name}: expected shape {(frames, *inner)}, got {array.shape}")
            if array.dtype != dtype or not array.flags.c_contiguous:
                raise ValueError(f"{name}: expected a C-contiguous array of {dtype}, got one of {array.dtype}")

    def __len__(self) -> int:
        return len(self.iterations)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrameArrays, tuple(getattr(self, name) for name, *_ in _ARRAYS)

    @cached_property
    def goals(self) -> int:
        """G."""
        return self.positions.shape[1]

    @cached_property
    def target_points(self) -> int:
        """P."""
        return self.points.shape[1]

    @cached_property
    def joints(self) -> int:
        """J."""
        return self.rotations.shape[1]

    @cached_property
    def addresses(self) -> np.ndarray:
        """(15, 2) int64: the address of each array, in this class's order, and its bytes from one frame to the next."""
        arrays = [getattr(self, name) for name, *_ in _ARRAYS]
        shared = [is_question and len(array) == 1 for array, (*_, is_question) in zip(arrays, _ARRAYS, strict=True)]
        rows = [(array.ctypes.data, 0 if one else array.strides[0]) for array, one in zip(arrays, shared, strict=True)]
        return np.array(rows, dtype=np.int64)

    @cached_property
    def address(self) -> int:
        """The address of `addresses`."""
        return self.addresses.ctypes.data

    @cached_property
    def _memory(self) -> np.ndarray | None:
        """(B,) uint8: the memory of one frame, array after array in this class's order; None if it is elsewhere."""
        arrays = [getattr(self, name) for name, *_ in _ARRAYS]
        whole = arrays[0].base
        if len(self) != 1 or whole is None or any(array.base is not whole for array in arrays):
            return None
        return whole if whole.nbytes == sum(array.nbytes for array in arrays) else None  # not part of more frames

    @cached_property
    def _ends(self) -> tuple[int, int, int]:
        """The ends in `_memory` of the targets, of the start pose and links, and of all inputs."""
        sizes = [dtype.itemsize * prod(inner) for (_, _, dtype, _), inner
                 in zip(_ARRAYS, _shapes(self.goals, self.joints, self.target_points), strict=True)]  # fmt: skip
        targets, inputs = len(_TARGETS), len(QUESTIONS)
        return sum(sizes[:targets]), sum(sizes[: inputs - 1]), sum(sizes[:inputs])

    def questions(self) -> list[tuple[bytes, bytes]]:
        """Each frame's inputs but `home_rotations`: the bytes of the targets, and of the start pose and links."""
        if self._memory is not None:
            targets, pose, _ = self._ends
            return [(self._memory[:targets].tobytes(), self._memory[targets:pose].tobytes())]
        targets, names = list(_TARGETS), list(QUESTIONS)
        return list(zip(self._bytes(targets), self._bytes(names[len(targets) : -1]), strict=True))

    def answers(self) -> list[bytes]:
        """The bytes of each frame's outputs, for `answer_again`."""
        if self._memory is not None:
            return [self._memory[self._ends[2] :].tobytes()]
        return self._bytes(list(ANSWERS))

    def answer_again(self, outputs: bytes, frame: int = 0) -> None:
        """Copy a frame's outputs, which `answers` gave for arrays of the same shapes, into the arrays."""
        if self._memory is not None:
            self._memory[self._ends[2] :] = np.frombuffer(outputs, np.uint8)
            return
        begin = 0
        for name in ANSWERS:
            own = getattr(self, name)[frame : frame + 1]
            own[:] = np.frombuffer(outputs, own.dtype, own.size, begin).reshape(own.shape)
            begin += own.nbytes

    def _bytes(self, names: list[str]) -> list[bytes]:
        """The bytes of some arrays, for each frame one after the other."""
        parts = [getattr(self, name) for name in names]
        rows = [part.reshape(len(part), prod(part.shape[1:])).view(np.uint8) for part in parts]
        together = np.concatenate([np.broadcast_to(row, (len(self), row.shape[1])) for row in rows], axis=1)
        return [row.tobytes() for row in together]

    def part(self, begin: int, end: int) -> "FrameArrays":
        """Frames `begin` to `end`, in the same memory."""
        part = object.__new__(FrameArrays)  # the arrays were checked when the whole was made
        for name, _, _, is_question in _ARRAYS:
            array = getattr(self, name)
            part.__dict__[name] = array if is_question and len(array) == 1 else array[begin:end]
        return part

    def take(self, frames: np.ndarray) -> "FrameArrays":
        """A copy of some frames."""
        parts = [(getattr(self, name), is_question) for name, _, _, is_question in _ARRAYS]
        return FrameArrays(*(
            array if is_question and len(array) == 1 else np.ascontiguousarray(array[frames])
            for array, is_question in parts
        ))  # fmt: skip

    def ask(
        self, targets: Targets, start: Pose, links: np.ndarray | None = None, home: np.ndarray | None = None,
        frames: slice = slice(None),
    ) -> None:  # fmt: skip
        """Copy inputs, whose leading axis is F or 1, into the arrays of all or some frames.

        links : None keeps the present links. home : `home_rotations`, None where it is the start pose.
        """
        self.positions[frames], self.orientations[frames], self.poles[frames] = targets[:3]
        if targets.points is not None:
            self.points[frames] = targets.points
        self.start_rotations[frames], self.start_translations[frames] = start
        self.home_rotations[frames] = 0.0 if home is None else home
        if links is not None:
            self.links[frames] = links

    def ask_again(self, other: "FrameArrays") -> None:
        """Copy one frame's inputs, all at once, from arrays of the same shapes. Both are in a memory of their own."""
        assert self._memory is not None and other._memory is not None
        self._memory[: self._ends[2]] = other._memory[: self._ends[2]]

    @cached_property
    def requests(self) -> np.ndarray:
        """All numbers (n,) of one frame's targets, for arrays in a memory of their own, as `Prepared.arrays` gives."""
        assert self._memory is not None
        return self._memory[: self._ends[0]].view(np.float64)

    def answer(self, frames: np.ndarray | slice, batch: Batch) -> None:
        """Copy the outputs of some frames into the arrays."""
        for name in ANSWERS:
            getattr(self, name)[frames] = getattr(batch, name)

    def answer_nothing(self, frames: np.ndarray | slice) -> None:
        """Set the outputs of some frames to NaN, and to 0 or False those that are not doubles."""
        for name in ANSWERS:
            getattr(self, name)[frames] = np.nan if name not in DTYPES else 0

    def copy_from(self, other: "FrameArrays") -> None:
        """Copy inputs and outputs from other arrays of the same shapes."""
        for name, *_ in _ARRAYS:
            getattr(self, name)[:] = getattr(other, name)

    def batch(self) -> Batch:
        """A copy of the outputs."""
        return Batch(
            self.rotations.copy(), self.translations.copy(), self.position_errors.copy(), self.rotation_errors.copy(),
            self.iterations.astype(int), self.converged.copy(), self.at_limit.copy(),
        )  # fmt: skip

    def solution(self, frame: int, seconds: float) -> Solution:
        """A copy of one frame's outputs."""
        return Solution(
            Pose(self.rotations[frame].copy(), self.translations[frame].copy()), self.position_errors[frame].copy(),
            self.rotation_errors[frame].copy(), int(self.iterations[frame]), bool(self.converged[frame]),
            self.at_limit[frame].copy(), seconds,
        )  # fmt: skip


def room(frames: int, goals: int, joints: int, shared: bool = False, points: int = 0) -> FrameArrays:
    """Arrays of zeros; `shared`: whether all frames share one start pose and its links. points : P."""
    shared_names = ("start_rotations", "start_translations", "links", "home_rotations") if shared else ()
    shapes = [(1 if name in shared_names else frames, *shape)
              for (name, *_), shape in zip(_ARRAYS, _shapes(goals, joints, points), strict=True)]  # fmt: skip
    ends = np.cumsum([dtype.itemsize * prod(shape) for (_, _, dtype, _), shape in zip(_ARRAYS, shapes, strict=True)])
    whole, begin, arrays = np.zeros(ends[-1], np.uint8), 0, list[np.ndarray]()
    for (_, _, dtype, _), shape, end in zip(_ARRAYS, shapes, ends.tolist(), strict=True):
        arrays.append(whole[begin:end].view(dtype).reshape(shape))  # larger types come first, so all are aligned
        begin = end
    return FrameArrays(*arrays)


def asking(targets: Targets, start: Pose, links: np.ndarray) -> FrameArrays:
    """Arrays with these inputs, which are not copied if they are contiguous.

    targets : of F frames. start, links : with a leading axis of F or 1; links also without one.
    """
    frames, goals = targets.positions.shape[:2]
    joints, count = start.rotations.shape[1], len(QUESTIONS)
    points = np.zeros((frames, 0, 3)) if targets.points is None else targets.points
    arrays = (*targets[:3], points, *start, links.reshape(-1, joints, 8), np.zeros((1, joints, 4)))
    sizes = zip(_ARRAYS[count:], _shapes(goals, joints, points.shape[1])[count:], strict=True)
    return FrameArrays(
        *(np.ascontiguousarray(array, np.float64) for array in arrays),
        *(np.zeros((frames, *shape), dtype) for (_, _, dtype, _), shape in sizes),
    )


@lru_cache(maxsize=64)
def _shapes(goals: int, joints: int, points: int) -> list[tuple[int, ...]]:
    """The shape of each array for one frame."""
    sizes = {"G": goals, "J": joints, "P": points}
    return [tuple(sizes[size] if isinstance(size, str) else size for size in shape) for _, shape, _, _ in _ARRAYS]


class Motion(Protocol):
    """The state of one motion, in which each frame is solved from the one before. For one thread at a time.

    It holds the last inputs and outputs, the last frame's residual, and the number of frames with unchanged inputs.
    After some frames with the same inputs (`HOLD_AFTER`) the answer is repeated, so that a pose stretched toward a
    target out of reach does not move. A frame with non-finite inputs gets NaN and does not change the motion.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> prepared = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> motion, frame = prepared.motion(), prepared.arrays()
    >>> for place in [(0.6, 0.8, 0), (0.64, 0.7684, 0)]:
    ...     frame.positions[:] = place
    ...     motion.solve_into(frame)
    >>> bool(frame.converged[0])
    True
    """

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve the frames in order: the first one afresh, each other one from the one before it."""
        ...

    def begin(self, pose: Pose) -> None:
        """Start again: the next frame is solved from this pose, as if it were the last answer."""
        ...

    def restart(self) -> None:
        """Start again: the next frame is solved afresh."""
        ...

    @property
    def pose(self) -> Pose | None:
        """A copy of the pose that the next frame starts from; None if it is solved afresh."""
        ...
