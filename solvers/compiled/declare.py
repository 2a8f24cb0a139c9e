# SPDX-License-Identifier: GPL-3.0-or-later
"""How a part of the contract with the kernel is declared: constants, structures, functions, and a hash of them.

A part has a C header of its own, which `tools/kernel_contract.py` writes, and a function that tells its `layout`.
"""

import ctypes
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
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
    """A structure of the contract: its name in C, a note, its fields in order."""

    name: str
    note: str
    fields: tuple[Field, ...]


def structure(name: str, note: str, *fields: tuple[str, ...]) -> Structure:
    """`fields`: a kind, the names of one or more fields of that kind, a note."""
    return Structure(
        name, note, tuple(Field(one, kind, note) for kind, names, note in fields for one in names.split())
    )  # fmt: skip


class Function(NamedTuple):
    """A function of the kernel; its arguments as fields."""

    name: str
    result: str
    arguments: tuple[Field, ...]
    note: str


def number_in_c(value: int | float | np.ndarray) -> str:
    """A constant in C: a number, or several in braces, with all their digits."""
    if isinstance(value, np.ndarray):
        return "{" + ", ".join(map(repr, value.ravel().tolist())) + "}"
    return repr(value)


CLASSES: dict[str, Any] = {}
"""The structures of all parts as ctypes classes, by their names in C."""


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


@dataclass(frozen=True)
class Part:
    """A part of the contract.

    name : in C, before `_layout`. header : its file in `kernel/src`. includes : other headers that it needs. owners :
    the modules that define constants, the prefix of their names in C, and the names. others : more constants.
    macros : lists for the C code that follow from the rest.
    uses : structures of other parts that its own contain.
    """

    name: str
    header: str
    owners: tuple[tuple[ModuleType, str, str], ...]
    structures: tuple[Structure, ...]
    functions: tuple[Function, ...]
    others: Mapping[str, int] = field(default_factory=dict[str, int])
    enumerations: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    macros: Mapping[str, str] = field(default_factory=dict[str, str])
    includes: tuple[str, ...] = ()
    uses: tuple[Structure, ...] = ()

    def define(self) -> None:
        """Make the `CLASSES` of its structures: once, by the module that declares the part."""
        for one in self.structures:
            fields = [(each.name, in_ctypes(each.kind)) for each in one.fields]
            CLASSES[one.name] = type(one.name, (ctypes.Structure,), {"_fields_": fields})

    @property
    def constants(self) -> dict[str, int | float | np.ndarray]:
        """The constants by their names in C."""
        named = [(module, prefix, name) for module, prefix, names in self.owners for name in names.split()]
        return {**{prefix + name: getattr(module, name) for module, prefix, name in named}, **self.others}

    @property
    def layout(self) -> int:
        """A hash of all but the notes: what `<name>_layout` returns in a library that was made for this part."""
        parts = [f"{name} {number_in_c(value)}" for name, value in self.constants.items()]
        parts += [f"{name} {number}" for values in self.enumerations.values() for name, number in values.items()]
        parts += [f"{one.name} {_kinds(one.fields)}" for one in (*self.uses, *self.structures)]
        parts += [f"{one.result} {one.name} {_kinds(one.arguments)}" for one in self.functions]
        return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:7], 16)


def _kinds(fields: tuple[Field, ...]) -> list[tuple[str, str]]:
    return [(one.name, one.kind) for one in fields]
