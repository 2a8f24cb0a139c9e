# SPDX-License-Identifier: GPL-3.0-or-later
"""The packer: fills structures of the contract by the names of their fields."""

from ctypes import addressof
from typing import Any

import numpy as np

from .contract import CLASSES, NUMBERS, Structure, split


class Packer:
    """Fills structures, and keeps alive the memory that they point to."""

    def __init__(self) -> None:
        self._referents: list[Any] = []

    def fill(self, structure: Structure, **values: Any) -> Any:
        """A structure with a value for each of its fields, by name.

        An array of numbers takes any value that NumPy converts to one, an array of structures a sequence of them. Both
        take an address, or None for a null pointer. Raises TypeError for fields that are missing or unknown.
        """
        names = {field.name for field in structure.fields}
        if names != set(values):
            missing, unknown = sorted(names - set(values)), sorted(set(values) - names)
            raise TypeError(f"{structure.name}: missing {missing}, unknown {unknown}")
        filled = CLASSES[structure.name](**{
            field.name: self._value(field.kind, values[field.name]) for field in structure.fields
        })  # fmt: skip
        self._referents.append(filled)
        return filled

    def _value(self, kind: str, value: Any) -> Any:
        base, rest = split(kind)
        if rest.startswith("]"):
            return value if value is None or isinstance(value, int) else self._array(base, value)
        if rest:
            return (NUMBERS[base][0] * int(rest[:-1]))(*value)
        return value if base in CLASSES else {"double": float}.get(base, int)(value)

    def _array(self, base: str, values: Any) -> int:
        """The address of a copy of some numbers or structures."""
        if base in CLASSES:
            array = (CLASSES[base] * max(len(values), 1))(*values)
            self._referents.append(array)
            return addressof(array)
        numbers = np.array(values, dtype=NUMBERS[base][1], order="C")
        self._referents.append(numbers)
        return numbers.ctypes.data
