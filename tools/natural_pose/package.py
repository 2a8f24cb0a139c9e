# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's modules without Blender, under a package without its __init__."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_NAME = "dqik_arrays"


def module(name: str) -> Any:
    """A module of the extension by its path from the root, such as "solvers.figure.prior"."""
    if _NAME not in sys.modules:
        package = ModuleType(_NAME)
        package.__path__ = [str(ROOT)]
        sys.modules[_NAME] = package
    return importlib.import_module(f"{_NAME}.{name}")
