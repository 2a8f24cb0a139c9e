# SPDX-License-Identifier: GPL-3.0-or-later
"""The packer: fills structures of the contract by the names of their fields."""

from collections.abc import Callable
from ctypes import addressof, c_char
from typing import Any

import numpy as np

from .declare import CLASSES, NUMBERS, Structure, split


class Packer:
    """Fills structures, and keeps alive the memory that they point to."""

    def __init__(self, *shared: object) -> None:
        """`shared` : kept alive too, as the packer of structures that are packed anew in part."""
        self._referents: list[Any] = list(shared)

    def fill(self, structure: Structure, **values: Any) -> Any:
        """A structure with a value for each of its fields, by name.

        An array of numbers takes any value that NumPy converts to one, an array of structures a sequence of them. Both
        take an address, or None for a null pointer. Raises TypeError for fields that are missing or unknown.
        """
        converters = _CONVERTERS.get(structure.name) or _converters(structure)
        if converters.keys() != values.keys():
            missing, unknown = sorted(converters.keys() - values.keys()), sorted(values.keys() - converters.keys())
            raise TypeError(f"{structure.name}: missing {missing}, unknown {unknown}")
        filled = CLASSES[structure.name](*[convert(self, values[name]) for name, convert in converters.items()])
        self._referents.append(filled)
        return filled

    def refill(self, structure: Structure, address: int, **values: Any) -> Any:
        """A copy of a structure that was filled, at an address, with other values for some fields."""
        converters, kind = _CONVERTERS[structure.name], CLASSES[structure.name]
        filled = kind.from_buffer_copy(kind.from_address(address))
        for name, value in values.items():
            setattr(filled, name, converters[name](self, value))
        self._referents.append(filled)
        return filled

    def structures(self, base: str, values: Any) -> int:
        """The address of a copy of some structures."""
        array = (CLASSES[base] * max(len(values), 1))(*values)
        self._referents.append(array)
        return addressof(array)

    def numbers(self, base: str, values: Any) -> int:
        """The address of a copy of some numbers."""
        numbers = np.array(values, dtype=NUMBERS[base][1], order="C")
        self._referents.append(numbers)
        return addressof(c_char.from_buffer(numbers.data)) if numbers.size else numbers.ctypes.data  # faster


def _converter(kind: str) -> Callable[[Packer, Any], Any]:
    base, rest = split(kind)
    if rest.startswith("]"):
        copy = Packer.structures if base in CLASSES else Packer.numbers
        return lambda packer, value: value if value is None or isinstance(value, int) else copy(packer, base, value)
    if rest:
        several = NUMBERS[base][0] * int(rest[:-1])
        return lambda _, value: several(*value)
    if base in CLASSES:
        return lambda _, value: value
    convert = float if base == "double" else int
    return lambda _, value: convert(value)


_CONVERTERS: dict[str, dict[str, Callable[[Packer, Any], Any]]] = {}


def _converters(structure: Structure) -> dict[str, Callable[[Packer, Any], Any]]:
    """For each field a function of the packer that makes the field from the value passed to `fill`."""
    found = _CONVERTERS[structure.name] = {one.name: _converter(one.kind) for one in structure.fields}
    return found
