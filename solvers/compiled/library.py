# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel: finds its library, or gives the reason why NumPy solves.

The kernel is a small C library (`kernel/` in the repository, `dqik_kernel` as a wheel). If there is none, or it does
not fit this version, NumPy solves, with the same answers. The environment variable `DQIK_KERNEL=numpy` forces NumPy,
and `DQIK_KERNEL=/path/to/library` loads another library.
"""

import ctypes
import functools
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from .contract import FUNCTIONS, layout
from .declare import in_ctypes

VERSION = "0.1.0"  # of DQIK, and of the wheel that fits it; a test compares it with blender_manifest.toml


class Kernel:
    """A loaded library, its functions without their prefix; OSError or AttributeError if it does not fit."""

    def __init__(self, path: Path) -> None:
        self.path, library = path, ctypes.CDLL(str(path))
        tell = library.dqik_layout  # first: another layout may lack the other functions
        tell.restype = ctypes.c_int32
        if tell() != layout():
            raise OSError(f"it has layout {tell()}, this version of DQIK needs {layout()}")
        for one in FUNCTIONS:
            function = getattr(library, one.name)
            function.restype, function.argtypes = in_ctypes(one.result), [in_ctypes(arg.kind) for arg in one.arguments]
            setattr(self, one.name.removeprefix("dqik_"), function)

    def __getattr__(self, name: str) -> Any:  # for type checkers
        raise AttributeError(name)


@functools.cache
def _find() -> tuple[Kernel | None, str]:
    """The kernel, or None, and the reason why NumPy solves. Searched for once."""
    setting = os.environ.get("DQIK_KERNEL", "")
    if setting.lower() == "numpy":
        return None, "DQIK_KERNEL=numpy asks for it"
    try:
        return Kernel(Path(setting) if setting else _installed()), ""
    except ModuleNotFoundError:
        return None, "no compiled kernel is installed"
    except (OSError, AttributeError, ImportError) as error:
        reason = f"the compiled kernel cannot be used: {error}"
        print(f"DQIK: {reason}. NumPy solves instead: slower, with the same answers.", file=sys.stderr)
        return None, reason


def _installed() -> Path:
    """The library of the installed wheel."""
    importlib.invalidate_caches()  # Blender may have installed it a moment ago
    wheel = importlib.import_module("dqik_kernel")
    if wheel.__version__ != VERSION:  # perhaps still the one from before an update in this session
        wheel = importlib.reload(wheel)
    if wheel.__version__ != VERSION:
        raise OSError(f"it is of version {wheel.__version__}, this is DQIK {VERSION}")
    return Path(wheel.LIBRARY)


def load() -> Kernel | None:
    """The kernel; None if NumPy solves."""
    return _find()[0]


def kernel() -> str:
    """Which implementation solves: `compiled`, or `numpy: ` and the reason.

    Examples
    --------
    >>> ik.kernel().split(":")[0] in ("compiled", "numpy")
    True
    """
    library, reason = _find()
    return "compiled" if library is not None else f"numpy: {reason}"
