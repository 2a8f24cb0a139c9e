# SPDX-License-Identifier: GPL-3.0-or-later
"""Write `kernel/src/contract.h`, the header that the kernel shares with `solvers/compiled/contract.py`.

Needs a Python with NumPy. `tools/build_kernel.py` runs it before it compiles.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = ROOT / "kernel" / "src" / "contract.h"


def made() -> str:
    """The header that the contract produces."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from solvers.compiled.contract import header

    return header()


def write() -> bool:
    """Write the header unless it is up to date. Returns whether it was written."""
    text = made()
    if HEADER.is_file() and HEADER.read_text(encoding="utf-8") == text:
        return False
    HEADER.write_text(text, encoding="utf-8", newline="\n")
    return True


if __name__ == "__main__":
    print(f"{HEADER}: {'written' if write() else 'up to date'}")
