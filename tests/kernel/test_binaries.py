# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's libraries for all platforms are such as their systems load, and have what Python asks of them."""

import pytest
from binaries import read, signed_pages
from elsewhere import PLATFORMS, built
from environment import ROOT

from solvers.compiled.contract import FUNCTIONS

C_LIBRARIES = {
    "linux": {"libc.so.6", "libm.so.6", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"},
    "windows": {"KERNEL32.dll"},  # and those of the C runtime, which Windows 10 has
    "macos": {"/usr/lib/libSystem.B.dylib"},
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_library_is_for_its_platform(name: str) -> None:
    """The processor, the oldest system, and nothing beside the C library that would have to be there.

    It names no folder of the builder.
    """
    content, (system, processor) = built(name).read_bytes(), name.split("-")
    library = read(content)
    assert str(ROOT).encode() not in content
    assert library.processor == processor
    if system == "linux":
        assert tuple(map(int, library.oldest.removeprefix("glibc ").split("."))) <= (2, 28)
    elif system == "macos":
        assert library.oldest == "macOS 11.0"
    else:
        assert float(library.oldest.removeprefix("subsystem ")) <= 10.0
    others = library.needs - C_LIBRARIES[system]
    assert all(system == "windows" and one.startswith("api-ms-win-crt-") for one in others), others


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_library_exports_every_function_of_the_contract(name: str) -> None:
    """Those that `ctypes` binds, and nothing else but what the linker for macOS adds."""
    extra = {"_mh_dylib_header", "__dso_handle"} if name.startswith("macos") else set()
    assert len(FUNCTIONS) >= 15
    assert read(built(name).read_bytes()).exports - extra == {one.name for one in FUNCTIONS}


def test_the_library_for_macs_on_arm_is_signed() -> None:
    """No other code is loaded there; a signature without a certificate is enough."""
    pages, right = signed_pages(built("macos-arm64").read_bytes())
    assert pages > 5
    assert right == pages
