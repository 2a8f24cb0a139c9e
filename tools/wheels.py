# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack wheels, with the same bytes every time, and the package of the solvers for scripts.

    python tools/wheels.py      writes dist/dqik-<version>-py3-none-any.whl, which `pip install` takes

The kernel's wheels are packed by build_kernel.py. Standard library only.
"""

import base64
import hashlib
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION: str = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
_CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Intended Audience :: Developers",
    "Programming Language :: Python :: 3",
    "Topic :: Multimedia :: Graphics :: 3D Modeling",
    "Topic :: Scientific/Engineering",
)
_SUMMARY = "Inverse kinematics of whole skeletons, inside the limits of their joints"
_README = f"""# dqik

The solvers of DQIK, the Blender extension, for scripts: many goals at once, joints inside their limits, whole motions.
They need NumPy only. With the package `dqik-kernel` ({VERSION} too) they run compiled.

```python
import dqik as ik

arm = ik.Skeleton([
    ik.Joint("shoulder", -1, "ball", offset=(0, 0, 0), limits=ik.TwistSwing(swing_x=(-2, 2), swing_z=(-1, 2))),
    ik.Joint("elbow", 0, "hinge", offset=(0, 1, 0), axis=(1, 0, 0), limits=ik.Range(0.1, 2.6)),
    ik.Joint("hand", 1, "ball", offset=(0, 0.8, 0)),
])
solution = ik.solve(arm, [ik.Goal("hand", position=(0.3, 0.9, 0.9))])
print(solution.converged)
```

The docstrings of all public names have examples. GPL-3.0-or-later.
"""


def pack(
    path: Path, name: str, files: dict[str, bytes], tag: str, summary: str, readme: str, needs: Sequence[str] = (),
    extras: Sequence[tuple[str, str]] = (),
) -> Path:  # fmt: skip
    """Write a wheel. files : by their place in site-packages. needs : requirements. extras : (name, requirement)."""
    info = f"{name.replace('-', '_')}-{VERSION}.dist-info"
    lines = [
        "Metadata-Version: 2.4", f"Name: {name}", f"Version: {VERSION}", f"Summary: {summary}",
        "License-Expression: GPL-3.0-or-later", "License-File: LICENSE", "Requires-Python: >=3.11",
        *(f"Classifier: {one}" for one in _CLASSIFIERS), *(f"Requires-Dist: {one}" for one in needs),
    ]  # fmt: skip
    for extra, requirement in extras:
        lines += [f"Provides-Extra: {extra}", f"Requires-Dist: {requirement}; extra == '{extra}'"]
    lines += ["Description-Content-Type: text/markdown", "", readme]
    pure = "true" if tag.endswith("any") else "false"
    files = {
        **files,
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{info}/METADATA": "\n".join(lines).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: DQIK\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode(),
    }
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            entry = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, content)
    return path


def solvers(folder: Path) -> Path:
    """The package of the solvers, from `solvers/` as it is. Returns its path."""
    source = ROOT / "solvers"
    files = {
        f"dqik/{path.relative_to(source).as_posix()}": path.read_bytes()
        for path in sorted(source.rglob("*")) if path.suffix in (".py", ".npz")
    }  # fmt: skip
    files["dqik/py.typed"] = b""
    return pack(
        folder / f"dqik-{VERSION}-py3-none-any.whl", "dqik", files, "py3-none-any", _SUMMARY, _README,
        ["numpy>=1.26"], [("kernel", f"dqik-kernel=={VERSION}")],
    )  # fmt: skip


def _record(files: dict[str, bytes], itself: str) -> bytes:
    """A wheel's list of its files, with their digests and sizes."""
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for name, content in files.items()
    ]
    return "\n".join([*rows, f"{itself},,", ""]).encode()


if __name__ == "__main__":
    print(solvers(ROOT / "dist"))
