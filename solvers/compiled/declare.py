# SPDX-License-Identifier: GPL-3.0-or-later
"""Declares structures and functions that Python and the compiled kernel share, and fills structures."""

import ctypes
import functools
from collections.abc import Callable
from ctypes import addressof, c_char
from typing import Any, NamedTuple

import numpy as np

NUMBERS: dict[str, tuple[Any, Any, str]] = {
    "int32": (ctypes.c_int32, np.int32, "int32_t"),
    "int64": (ctypes.c_int64, np.int64, "int64_t"),
    "uint64": (ctypes.c_uint64, np.uint64, "uint64_t"),
    "uint8": (ctypes.c_uint8, np.uint8, "uint8_t"),
    "float": (ctypes.c_float, np.float32, "float"),
    "double": (ctypes.c_double, np.float64, "double"),
    "void": (None, None, "void"),
}
"""Kinds of numbers: in ctypes, NumPy and C."""


class Field(NamedTuple):
    """A field of a structure.

    kind : `int32`, `int64`, `uint64`, `float`, `double` or a structure's name; `double[3]` for so many of them in
        place; `double[]` for the address of an array that the kernel reads, `double[]w` of one that it writes.
    """

    name: str
    kind: str
    note: str = ""


class Structure(NamedTuple):
    """A structure: its name in C, a note, its fields in order."""

    name: str
    note: str
    fields: tuple[Field, ...]


class Function(NamedTuple):
    """A function of the kernel; its arguments as fields."""

    name: str
    result: str
    arguments: tuple[Field, ...]
    note: str


STRUCTURES: list[Structure] = []
"""All that are declared, each after those that it contains."""

CLASSES: dict[str, Any] = {}
"""The structures as ctypes classes, by their names in C."""


def structure(name: str, note: str, *fields: tuple[str, ...]) -> Structure:
    """Declare a structure. fields : a kind, the names of one or more fields of that kind, a note."""
    made = Structure(name, note, tuple(Field(one, kind, text) for kind, names, text in fields for one in names.split()))
    members = [(field.name, in_ctypes(field.kind)) for field in made.fields]
    CLASSES[name] = type(name, (ctypes.Structure,), {"_fields_": members})
    STRUCTURES.append(made)
    return made


def function(name: str, result: str, note: str, *arguments: tuple[str, str]) -> Function:
    """Declare a function. arguments : a kind, the names of one or more arguments of that kind."""
    return Function(name, result, tuple(Field(one, kind) for kind, names in arguments for one in names.split()), note)


@functools.cache
def split(kind: str) -> tuple[str, str]:
    """A field's kind and the text after its opening bracket: `double[3]` gives `double`, `3]`."""
    base, _, rest = kind.partition("[")
    return base, rest


def in_ctypes(kind: str) -> Any:
    """The ctypes type of a kind."""
    base, rest = split(kind)
    if rest.startswith("]"):
        return ctypes.c_void_p
    one = CLASSES[base] if base in CLASSES else NUMBERS[base][0]
    return one * int(rest[:-1]) if rest else one


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
