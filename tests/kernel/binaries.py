# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads of a library, in the format of any system, what its loader would ask: processor, system, functions, needs."""

import hashlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """What a library is for, has and needs."""

    processor: str  # x64 or arm64
    oldest: str  # the oldest system, as its format says it
    exports: frozenset[str]
    needs: frozenset[str]  # other libraries


_ELF = {62: "x64", 183: "arm64"}
_PE = {0x8664: "x64", 0xAA64: "arm64"}
_MACH_O = {0x01000007: "x64", 0x0100000C: "arm64"}


def read(data: bytes) -> Library:
    """A library of Linux, Windows or macOS."""
    if data[:4] == b"\x7fELF":
        return _read_elf(data)
    if data[:2] == b"MZ":
        return _read_pe(data)
    assert data[:4] == b"\xcf\xfa\xed\xfe", "no library that is known"
    return _read_mach_o(data)


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _read_elf(data: bytes) -> Library:
    """The sections of dynamic linking; the oldest system is the newest version of glibc that is asked for."""
    (start,), (size, count) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<2H", data, 0x3A)
    sections = [struct.unpack_from("<2I4Q2I2Q", data, start + k * size) for k in range(count)]
    by_kind = {section[1]: section for section in sections}
    symbols, dynamic = by_kind[11], by_kind[6]
    names = sections[symbols[6]][4]
    exports = set()
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, info, _, section = struct.unpack_from("<I2BH", data, at)
        if section and info >> 4 == 1:  # defined here, global
            exports.add(_text(data, names + name))
    tags = [struct.unpack_from("<2Q", data, at) for at in range(dynamic[4], dynamic[4] + dynamic[5], 16)]
    needs = {_text(data, names + value) for tag, value in tags if tag == 1}
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"\0GLIBC_([\d.]+)(?=\0)", data)}
    oldest = "glibc " + ".".join(map(str, max(versions)))
    return Library(_ELF[struct.unpack_from("<H", data, 18)[0]], oldest, frozenset(exports), frozenset(needs))


def _read_pe(data: bytes) -> Library:
    """The directories of exports and imports, whose addresses are those in memory."""
    (head,) = struct.unpack_from("<I", data, 0x3C)
    machine, count, _, _, _, optional, _ = struct.unpack_from("<2H3I2H", data, head + 4)
    start = head + 24
    assert struct.unpack_from("<H", data, start)[0] == 0x20B
    sections = [struct.unpack_from("<4I", data, start + optional + 40 * k + 8) for k in range(count)]

    def place(address: int) -> int:
        [found] = [at + address - begin for size, begin, _, at in sections if begin <= address < begin + size]
        return found

    exports, imports = (struct.unpack_from("<I", data, start + 112 + 8 * k)[0] for k in range(2))
    named, _, names = struct.unpack_from("<3I", data, place(exports) + 24)
    found = {_text(data, place(each)) for each in struct.unpack_from(f"<{named}I", data, place(names))}
    needs, at = set(), place(imports)
    while (name := struct.unpack_from("<I", data, at + 12)[0]) != 0:
        needs.add(_text(data, place(name)))
        at += 20
    major, minor = struct.unpack_from("<2H", data, start + 48)
    return Library(_PE[machine], f"subsystem {major}.{minor}", frozenset(found), frozenset(needs))


def mach_o_commands(data: bytes) -> Iterator[tuple[int, int]]:
    """The kind of each load command, and where it is."""
    (count,), at = struct.unpack_from("<I", data, 16), 32
    for _ in range(count):
        kind, size = struct.unpack_from("<2I", data, at)
        yield kind & 0x7FFFFFFF, at
        at += size


def _read_mach_o(data: bytes) -> Library:
    """Load commands: the build's version, the libraries, the tree of exports."""
    oldest, needs, exports = "", set[str](), set[str]()
    for kind, at in mach_o_commands(data):
        if kind == 0x32:
            system, version = struct.unpack_from("<2I", data, at + 8)
            oldest = f"{'macOS' if system == 1 else system} {version >> 16}.{version >> 8 & 255}"
        elif kind == 0xC:
            needs.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif kind == 0x22:
            start, size = struct.unpack_from("<2I", data, at + 40)
            exports = {name for name, _ in mach_o_exports(data[start : start + size])}
    processor = _MACH_O[struct.unpack_from("<I", data, 4)[0]]
    return Library(processor, oldest, frozenset(exports), frozenset(needs))


def mach_o_exports(tree: bytes, at: int = 0, before: str = "") -> Iterator[tuple[str, int]]:
    """Names in C, and their addresses, below a node of the tree of exports."""
    size, end = _number(tree, at)
    if size:
        _, start = _number(tree, end)  # flags
        assert before.startswith("_")  # as all names of C do there
        yield before[1:], _number(tree, start)[0]
    at = end + size
    children, at = tree[at], at + 1
    for _ in range(children):
        edge = _text(tree, at)
        node, at = _number(tree, at + len(edge) + 1)
        yield from mach_o_exports(tree, node, before + edge)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 128:
            return value, at


def signed_pages(data: bytes) -> tuple[int, int]:
    """How many pages a Mach-O library's signature has, and how many of them have the hash that it gives; 0 for none."""
    starts = [struct.unpack_from("<I", data, at + 8)[0] for kind, at in mach_o_commands(data) if kind == 0x1D]
    for start in starts:
        (count,) = struct.unpack_from(">I", data, start + 8)
        for slot, offset in (struct.unpack_from(">2I", data, start + 12 + 8 * k) for k in range(count)):
            if slot == 0:
                return _right_pages(data, start + offset)
    return 0, 0


def _right_pages(data: bytes, directory: int) -> tuple[int, int]:
    """Of a code directory with SHA-256."""
    hashes, _, _, pages, limit = struct.unpack_from(">5I", data, directory + 16)
    size, kind, _, page = struct.unpack_from(">4B", data, directory + 36)
    assert (size, kind) == (32, 2)
    right = 0
    for number in range(pages):
        begin, at = number << page, directory + hashes + size * number
        right += hashlib.sha256(data[begin : min(begin + (1 << page), limit)]).digest() == data[at : at + size]
    return pages, right
