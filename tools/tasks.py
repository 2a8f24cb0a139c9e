# SPDX-License-Identifier: GPL-3.0-or-later
"""The Make targets; each sets up what it needs.

Standard library only, and Python 3.8 or newer, like environment.py.
"""

from __future__ import annotations

import argparse
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import (
    BLENDERS,
    CACHES,
    DOCS,
    KERNEL,
    LINT,
    ROOT,
    Environment,
    SetupError,
    announce,
    download_python,
    find_python,
)
from progress import say

MADE = (".venv-*", "build", "dist", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".hypothesis", "examples/out")
"""What the targets leave in the checkout, beside Python's own caches."""


@functools.lru_cache(maxsize=None)
def best_blender() -> Environment:
    """The preferred Blender that is set up or whose Python is here, or can be downloaded while none is set up."""
    blenders = list(BLENDERS.values())
    present = next((blender for blender in blenders if blender.ready or find_python(blender.pythons)), None)
    if present and (present is blenders[0] or present.ready):
        return present
    try:
        download_python(blenders[0].title, blenders[0].pythons[0])
    except SetupError as error:
        if present is None:
            raise
        say(f"{error}\nBlender {present.name} takes its place.")
        return present
    return blenders[0]


def run(script: str, arguments: list[str]) -> int:
    """Run one of the project's scripts in the best Blender, with the compiled kernel."""
    blender = best_blender()
    _announce(blender)
    return _call([str(blender.ensure()), script, *arguments], _with_kernel())


def demo(arguments: list[str]) -> int:
    """Build the extension, and run the main job on the example clip."""
    return run("tools/build_zip.py", []) or run("examples/demo.py", arguments)


def clean() -> int:
    """Remove what the targets made. Of an environment that is a link, only the link."""
    found = [path for pattern in MADE for path in ROOT.glob(pattern)]
    for folder, names, _ in os.walk(ROOT):
        if "__pycache__" in names:
            found.append(Path(folder) / "__pycache__")
        names[:] = [name for name in names if name not in (".git", "__pycache__") and not name.startswith(".venv-")]
    for path in found:
        if path.name != "__pycache__":
            say(f"Removing {path.relative_to(ROOT)}.")
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
    return 0


def kernel() -> int:
    """Build the compiled kernel for all platforms."""
    return _call([str(KERNEL.ensure()), "tools/build_kernel.py"])


def check_kernel(arguments: list[str]) -> int:
    """Run the solvers' tests with a kernel that stops at mistakes."""
    checked = _with_checked_kernel()
    return _call(_test_command(best_blender(), arguments or ["tests/solvers"]), checked) if checked else 1


def fuzz_kernel(arguments: list[str]) -> int:
    """Solve random problems with a kernel that stops at mistakes."""
    checked = _with_checked_kernel()
    return _call([str(best_blender().ensure()), "tests/fuzz/kernel.py", *arguments], checked) if checked else 1


def build_zip(arguments: list[str]) -> int:
    """Build the zips with all compiled kernels that can be built."""
    try:
        if kernel():
            say("Some kernels could not be built, see above. The zips contain the others.")
    except SetupError as error:
        say(f"{error}\nThe zips contain only kernels that were built before. NumPy solves where there is none.")
    return _call([str(best_blender().ensure()), "tools/build_zip.py", *arguments])


def test(name: str, arguments: list[str]) -> int:
    """Run the tests in one Blender."""
    blender = BLENDERS[name] if name else best_blender()
    _announce(blender)
    command, environment = _test_command(blender, arguments), _with_kernel()
    say(f"Running the tests in Blender {blender.name}.")
    return _call(command, environment)


def test_all(arguments: list[str]) -> int:
    """Run the tests in every Blender, even after a failure."""
    _announce(*BLENDERS.values())
    return max(test(name, arguments) for name in BLENDERS)


def lint() -> int:
    """Run the linter and the type checker, both in any case."""
    python = str(LINT.ensure())
    say("Running ruff.")
    found = _call([python, "-m", "ruff", "check", "."])
    say("Running basedpyright.")
    return _call([python, "-m", "basedpyright", "--warnings"]) or found


def docs() -> int:
    """Build the manual of this version as a site in build/site. A broken link fails."""
    return _call([str(DOCS.ensure()), "tools/manual.py"], {**os.environ, "NO_MKDOCS_2_WARNING": "1"})


def refresh_locks() -> int:
    """Write the newest permitted versions into the lock files of all environments."""
    for environment in (*BLENDERS.values(), LINT, KERNEL, DOCS):
        environment.refresh_lock()
    return 0


def _announce(*blenders: Environment) -> None:
    """Say what these Blenders and the compiler will take, unless somebody brings the kernel."""
    announce([*blenders] if os.environ.get("DQIK_KERNEL") else [*blenders, KERNEL])


def _test_command(blender: Environment, arguments: list[str]) -> list[str]:
    """Run all tests, a Blender on each processor, or those in the files and folders that the arguments name."""
    named = any((ROOT / argument.split("::")[0]).exists() for argument in arguments)
    words = [] if named else ["tests", "-n", "auto", "--dist", "worksteal"]
    return [str(blender.ensure()), "-m", "pytest", *words, "-q", *arguments]


@functools.lru_cache(maxsize=None)
def _with_kernel() -> dict[str, str]:
    """The environment variables with `DQIK_KERNEL`: the library for this machine, built if necessary.

    A variable that is set already stays. If the library cannot be built, the variable is not set, and NumPy solves.
    """
    if os.environ.get("DQIK_KERNEL"):
        return dict(os.environ)
    try:
        command = [str(KERNEL.ensure()), "tools/build_kernel.py", "--local"]
        result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    except (SetupError, subprocess.CalledProcessError) as error:
        say(f"{error}\nThe compiled kernel could not be built, so NumPy solves.")
        return dict(os.environ)
    return {**os.environ, "DQIK_KERNEL": result.stdout.strip()}


def _with_checked_kernel() -> dict[str, str]:
    """The environment variables of a process whose kernel stops at mistakes; none if it could not be built."""
    command = [str(KERNEL.ensure()), "tools/build_kernel.py", "--checked"]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        return {}
    kernel, *sanitizer = result.stdout.split("\n")[:-1]
    if not sanitizer:
        say("There is no GCC with an address sanitizer here: checking for undefined behaviour alone.")
        return {**os.environ, "DQIK_KERNEL": kernel}
    # Each of Python's objects gets memory of its own, so that the end of each is watched. Python never frees all of it.
    address = {"LD_PRELOAD": sanitizer[0], "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    return {**os.environ, "DQIK_KERNEL": kernel, **address}


def _call(command: list[str], environment: dict[str, str] | None = None) -> int:
    """Run a command, and remove the temporary files that it leaves: Blender as a module removes none of its own."""
    temporary = tempfile.mkdtemp(prefix="dqik-")
    place = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
    try:
        variables = {**(environment or os.environ), **place}
        return abs(subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def main(words: list[str]) -> int:
    """Run the task on the command line. Arguments after `--` go to pytest or to the script."""
    end = words.index("--") if "--" in words else len(words)
    words, rest = words[:end], words[end + 1 :]
    parser = argparse.ArgumentParser(description="What the Make targets do.")
    tasks = parser.add_subparsers(dest="task", required=True)
    tasks.add_parser("demo", help="run the main job on the example clip")
    one = tasks.add_parser("test", help="run the tests in one Blender")
    one.add_argument("--blender", default="", choices=["", *BLENDERS])
    tasks.add_parser("test-all", help="run the tests in all of them")
    script = tasks.add_parser("run", help="run a script in the best Blender")
    script.add_argument("script")
    tasks.add_parser("kernel", help="build the compiled kernel for all platforms")
    tasks.add_parser("kernel-check", help="run the solvers' tests with a kernel that stops at mistakes")
    tasks.add_parser("kernel-fuzz", help="solve random problems with a kernel that stops at mistakes")
    tasks.add_parser("zip", help="build the zips, with the kernel for all platforms")
    tasks.add_parser("lint", help="run the linter and the type checker")
    tasks.add_parser("docs", help="build the manual as a site in build/site")
    tasks.add_parser("locks", help="refresh the lock files")
    tasks.add_parser("clean", help="remove what the other tasks made, environments included")
    options = parser.parse_args(words)
    if options.task == "demo":
        return demo(rest)
    if options.task == "clean":
        return clean()
    if options.task == "test":
        return test(options.blender, rest)
    if options.task == "test-all":
        return test_all(rest)
    if options.task == "run":
        return run(options.script, rest)
    if options.task == "kernel":
        return kernel()
    if options.task == "kernel-check":
        return check_kernel(rest)
    if options.task == "kernel-fuzz":
        return fuzz_kernel(rest)
    if options.task == "docs":
        return docs()
    if options.task == "locks":
        return refresh_locks()
    if options.task == "zip":
        return build_zip(rest)
    return lint()


if __name__ == "__main__":
    # What is said for uv, pip or matplotlib alone counts; what is said for all of a desktop's programs does not.
    os.environ.update({**CACHES, **os.environ, "XDG_CACHE_HOME": CACHES["XDG_CACHE_HOME"]})
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
