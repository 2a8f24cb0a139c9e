# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of the kernel with all the memory that they read and write, so that another process can make them.

The memory is what the solvers pack for the kernel in this process; which of its words are pointers is known from the
structures of the contract.
"""

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from solvers.compiled.declare import CLASSES, Function, Packer
from solvers.model.frames import ANSWERS, FrameArrays

_ALIGNED = 64  # bytes


class Image:
    """Blocks of this process's memory, and calls whose pointers lead into them."""

    def __init__(self, functions: tuple[Function, ...]) -> None:
        """`functions` : those of the driver, in its order."""
        self._functions = {one.name: (number, one) for number, one in enumerate(functions)}
        self._blocks: dict[int, tuple[Any, list[int]]] = {}  # by address: the owner, and where in it pointers are
        self._calls: list[tuple[str, tuple[int | float | None, ...], np.ndarray]] = []
        self._places: dict[int, int] = {}  # of the blocks in the image
        self.results: dict[str, np.ndarray] = {}
        """The arrays that are compared, by names of one's own."""
        self.size = 0
        """Bytes of the memory in the written image, which is its end."""

    def hold(self, *owners: Any) -> None:
        """Take memory that calls use, of packers, frames and arrays, as it is when the image is written."""
        for owner in owners:
            if isinstance(owner, FrameArrays):
                self._block(owner.addresses, list(_pointers(CLASSES["dqik_frames"])))
                for name in FrameArrays.__dataclass_fields__:
                    self._block(getattr(owner, name))
            elif isinstance(owner, np.ndarray):
                self._block(owner)
            else:
                for one in owner._referents:
                    self.hold(one) if isinstance(one, Packer) else self._block(one)

    def compare(self, label: str, owner: FrameArrays | np.ndarray) -> None:
        """Hold an array, or frames, whose answers are compared."""
        self.hold(owner)
        if isinstance(owner, FrameArrays):
            self.results.update({f"{label}: {name}": getattr(owner, name) for name in ANSWERS if name != "iterations"})
        else:
            self.results[label] = owner

    def work(self, doubles: int) -> int:
        """The address of new working memory: of no numbers, so that what was not written is not read unnoticed."""
        memory = np.full(doubles, np.nan)
        self._block(memory)
        return memory.ctypes.data

    def call(self, name: str, *arguments: int | float | None, result: str = "") -> None:
        """Add a call; `result` : the name under which its result is compared."""
        number, function = self._functions[name]
        kinds = [one.kind for one in function.arguments]
        assert len(kinds) == len(arguments)
        words = np.array([number, *[0] * len(kinds)], dtype=np.int64)
        for place, (kind, value) in enumerate(zip(kinds, arguments, strict=True), 1):
            if kind == "double":
                words.view(np.float64)[place] = value
            else:
                words[place] = value or 0
        self._block(words, [8 * place for place, kind in enumerate(kinds, 1) if "[]" in kind])
        self._calls.append((name, arguments, words))
        if result:
            self.results[result] = words[:1]

    def call_here(self, functions: Mapping[str, Callable[..., Any]]) -> dict[str, np.ndarray]:
        """Make the calls with a library in this process, in the memory that is held. Returns copies of the results."""
        for name, arguments, words in self._calls:
            found = functions[name](*arguments)
            words[0] = words[0] if found is None else found
        return {label: array.copy() for label, array in self.results.items()}

    @property
    def called(self) -> set[str]:
        """The names of the functions that are called."""
        return {name for name, *_ in self._calls}

    def write(self) -> bytes:
        """The image, for the driver."""
        starts = sorted(self._blocks)
        end = 0
        for start in starts:
            self._places[start] = end
            end += -(-len(_bytes(self._blocks[start][0])) // _ALIGNED) * _ALIGNED
        self.size = end
        memory, pointers = np.zeros(end, np.uint8), list[int]()
        for start, (owner, inside) in self._blocks.items():
            place, contents = self._places[start], np.frombuffer(_bytes(owner), np.uint8).copy()
            for offset in inside:
                word = contents[offset : offset + 8].view(np.int64)
                if word[0]:
                    word[0] = self._place(starts, int(word[0]))
                    pointers.append(place + offset)
            memory[place : place + len(contents)] = contents
        calls = [self._places[words.ctypes.data] for *_, words in self._calls]
        head = np.array([end, len(pointers), len(calls), *pointers, *calls], dtype=np.int64)
        return head.tobytes() + memory.tobytes()

    def read(self, answer: bytes) -> dict[str, np.ndarray]:
        """The results in the driver's answer."""
        starts = sorted(self._blocks)
        return {
            label: np.frombuffer(answer, one.dtype, one.size, self._place(starts, one.ctypes.data)).reshape(one.shape)
            for label, one in self.results.items()
        }

    def _block(self, owner: Any, pointers: list[int] | None = None) -> None:
        """Take an array or a structure with the places of its pointers; the structures know theirs."""
        is_array = isinstance(owner, np.ndarray)
        assert not is_array or owner.flags.c_contiguous
        start = owner.ctypes.data if is_array else ctypes.addressof(owner)
        inside = pointers if pointers is not None else [] if is_array else list(_pointers(type(owner)))
        before = self._blocks.get(start)
        if before is None or len(_bytes(owner)) > len(_bytes(before[0])):  # an empty array may begin where another does
            self._blocks[start] = owner, inside

    def _place(self, starts: list[int], address: int) -> int:
        """Where an address of this process is in the image."""
        start = starts[bisect_right(starts, address) - 1]
        if not start <= address <= start + len(_bytes(self._blocks[start][0])):
            raise KeyError(f"nothing that was held is at {address:#x}")
        return self._places[start] + address - start


def _bytes(owner: Any) -> memoryview:
    """The contents of an array or a structure."""
    if isinstance(owner, np.ndarray):
        return memoryview(owner.reshape(-1).view(np.uint8)) if owner.size else memoryview(b"")
    return memoryview(owner).cast("B")


def _pointers(kind: Any, at: int = 0) -> Iterator[int]:
    """Where a ctypes class has pointers."""
    if kind is ctypes.c_void_p:
        yield at
    elif issubclass(kind, ctypes.Array):
        for number in range(kind._length_):
            yield from _pointers(kind._type_, at + number * ctypes.sizeof(kind._type_))
    elif issubclass(kind, ctypes.Structure):
        for name, inner in kind._fields_:
            yield from _pointers(inner, at + getattr(kind, name).offset)
