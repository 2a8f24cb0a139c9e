# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a .blend from its header to its end block, which shows whether all of it was written.

Blender reports no error if the disk is full while it writes a compressed file, and reads files without their end.
"""

import gzip
import os
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

_MAGIC = b"BLENDER"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SEEK_TABLE_END = b"\xb1\xea\x92\x8f"  # the last bytes of all zstd files that Blender writes
_POINTERS = {b"_": "i", b"-": "q"}  # of 4 and 8 bytes
_ENDIANS = {b"v": "<", b"V": ">"}
_PIECE = 1 << 20  # bytes that are read at once


class _Damaged(Exception):
    """The file is no .blend, or not all of one."""


def is_complete(path: str) -> bool:
    """Whether all of a .blend, compressed or not, can be read to its end block. Raises `OSError` if it is not there."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        try:
            if start == _ZSTD:
                _check_zstd(file)
            elif start[:2] == _GZIP:
                with gzip.open(file) as stream:
                    _check_blocks(stream)
            else:
                _check_blocks(file)
        except (_Damaged, EOFError, gzip.BadGzipFile, zlib.error):
            return False
    return True


def _check_zstd(file: BinaryIO) -> None:
    file.seek(-len(_SEEK_TABLE_END), os.SEEK_END)
    if file.read() != _SEEK_TABLE_END:
        raise _Damaged
    file.seek(0)
    opened, error = _zstd()
    if opened is None:
        return
    try:
        with opened(file) as stream:
            _check_blocks(stream)
    except error:
        raise _Damaged from None


def _zstd() -> tuple[Callable[[BinaryIO], Any] | None, type[Exception]]:
    """What opens a compressed file to read it, and the error of a damaged one; None where Python cannot read these."""
    try:
        import zstandard  # pyright: ignore[reportMissingImports] - Blender has it, to read its files
    except ImportError:  # but not the Blender of every Linux distribution
        try:
            from compression import zstd  # pyright: ignore[reportMissingImports] - from Python 3.14 on
        except ImportError:
            return None, EOFError
        return zstd.ZstdFile, zstd.ZstdError
    reader = zstandard.ZstdDecompressor()
    return partial(reader.stream_reader, read_across_frames=True), zstandard.ZstdError


def _check_blocks(stream: BinaryIO) -> None:
    """Read a header and blocks up to the end block, which must be the last."""
    head = _block_head(stream)
    code = b""
    while code != b"ENDB":
        code, length = head(stream)
        _skip(stream, length)
    if stream.read(1):
        raise _Damaged


def _block_head(stream: BinaryIO) -> Callable[[BinaryIO], tuple[bytes, int]]:
    """Read the file's header; returns a function that reads the code and the length of the next block."""
    magic, mark = _read(stream, 7), _read(stream, 1)
    if magic != _MAGIC:
        raise _Damaged
    if mark in _POINTERS:  # before Blender 5.0: BLENDER-v405
        endian = _ENDIANS.get(_read(stream, 1))
        _read(stream, 3)
        layout, length_at = f"4si{_POINTERS[mark].upper()}ii", 1
    else:  # BLENDER17-01v0500: the size of the header, pointers of 8 bytes, the version of the format
        rest = _read(stream, 9)
        endian = _ENDIANS.get(rest[4:5])
        layout, length_at = "4siQqq", 3
    if endian is None:
        raise _Damaged
    head = struct.Struct(endian + layout)

    def read(stream: BinaryIO) -> tuple[bytes, int]:
        values = head.unpack(_read(stream, head.size))
        if values[length_at] < 0:
            raise _Damaged
        return values[0], values[length_at]

    return read


def _read(stream: BinaryIO, count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise _Damaged
    return found


def _skip(stream: BinaryIO, count: int) -> None:
    """Read bytes and forget them: compressed files cannot be searched."""
    while count:
        found = stream.read(min(count, _PIECE))
        if not found:
            raise _Damaged
        count -= len(found)
