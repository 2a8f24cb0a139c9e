# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Make targets do, each with its own set-up.

Standard library only, and Python 3.8 or newer, like environment.py.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from environment import BLENDERS, KERNEL, LINT, ROOT, Environment, SetupError, find_python, say


def best_blender() -> Environment:
    """The preferred Blender among those whose Python is here."""
    for blender in BLENDERS.values():
        if blender.ready or find_python(blender.pythons):
            return blender
    wanted = sorted({version for blender in BLENDERS.values() for version in blender.pythons}, reverse=True)
    raise SetupError(
        f"No usable Python {' or '.join(wanted)} was found on PATH, in pyenv or in uv (64 bit, with venv and pip), "
        f"and Blender needs one of them: 3.13 for Blender 5.2, 3.11 for 4.2 to 5.0."
    )


def run(script: str, arguments: list[str]) -> int:
    """Run one of the project's scripts in the best Blender, with the compiled kernel."""
    return _call([str(best_blender().ensure()), script, *arguments], _with_kernel())


def kernel() -> int:
    """Build the compiled kernel for all platforms."""
    return _call([str(KERNEL.ensure()), "tools/build_kernel.py"])


def check_kernel(arguments: list[str]) -> int:
    """Run the solvers' tests with a kernel that ends the process at undefined behaviour."""
    command = [str(KERNEL.ensure()), "tools/build_kernel.py", "--checked"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return abs(done.returncode)
    command = _test_command(best_blender(), arguments or ["tests/solvers"])
    return _call(command, {**os.environ, "DQIK_KERNEL": done.stdout.strip()})


def build_zip(arguments: list[str]) -> int:
    """Build the zips with the compiled kernel for all platforms, or with as many as can be built."""
    try:
        if kernel():
            say("Not every kernel could be built, see above: the zips hold those that could.")
    except SetupError as error:
        say(f"{error}\nThe zips hold no compiled kernel that is not built already: NumPy solves where there is none.")
    return _call([str(best_blender().ensure()), "tools/build_zip.py", *arguments])


def test(name: str, arguments: list[str]) -> int:
    """Run the tests in one Blender."""
    blender = BLENDERS[name] if name else best_blender()
    command, environment = _test_command(blender, arguments), _with_kernel()
    say(f"Running the tests in Blender {blender.name}.")
    return _call(command, environment)


def test_all(jobs: int, but_best: bool, arguments: list[str]) -> int:
    """Run the tests in every Blender, whether or not those before failed."""
    left_out = best_blender() if but_best else None
    blenders = [blender for blender in BLENDERS.values() if blender is not left_out]
    _with_kernel()  # once, before there are several at work
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda blender: _test_quietly(blender, arguments), blenders))
    for blender, (_, closing) in zip(blenders, results):
        say(f"Blender {blender.name}: {closing}")
    return max(code for code, _ in results)


def lint() -> int:
    """Run the linter and the type checker, the second even where the first finds something."""
    python = str(LINT.ensure())
    say("Running ruff.")
    found = _call([python, "-m", "ruff", "check", "."])
    say("Running basedpyright.")
    return _call([python, "-m", "basedpyright", "--warnings"]) or found


def _test_quietly(blender: Environment, arguments: list[str]) -> tuple[int, str]:
    """Run the tests in one Blender and print what they said in one piece. Returns the code and the closing line."""
    try:
        command = _test_command(blender, arguments)
    except SetupError as error:
        say(str(error))
        return 1, "not tested, see above"
    say(f"Running the tests in Blender {blender.name}.")
    done = subprocess.run(
        command, cwd=ROOT, env=_with_kernel(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    say(f"Blender {blender.name}:\n{done.stdout}")
    closing = re.findall(r"^.*\b(?:passed|failed|errors?|skipped|no tests ran)\b.* in [0-9.]+s\b.*$", done.stdout, re.M)
    return abs(done.returncode), closing[-1] if closing else f"pytest ended with code {done.returncode}"


def _test_command(blender: Environment, arguments: list[str]) -> list[str]:
    """Run all tests, or those in the files and folders that the arguments name."""
    named = any((ROOT / argument.split("::")[0]).exists() for argument in arguments)
    return [str(blender.ensure()), "-m", "pytest", *([] if named else ["tests"]), "-q", *arguments]


@functools.lru_cache(maxsize=None)
def _with_kernel() -> dict[str, str]:
    """The environment variables with `DQIK_KERNEL`: the library for this machine, built if need be.

    What the variable says already stays, and so does NumPy where the library cannot be built.
    """
    if os.environ.get("DQIK_KERNEL"):
        return dict(os.environ)
    try:
        command = [str(KERNEL.ensure()), "tools/build_kernel.py", "--local"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    except (SetupError, subprocess.CalledProcessError) as error:
        say(f"{error}\nThe compiled kernel could not be built. Going on without it: NumPy solves.")
        return dict(os.environ)
    return {**os.environ, "DQIK_KERNEL": done.stdout.strip()}


def _call(command: list[str], environment: dict[str, str] | None = None) -> int:
    return abs(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)


def main(words: list[str]) -> int:
    """Do what the command line says. What follows a `--` goes to pytest or to the script."""
    end = words.index("--") if "--" in words else len(words)
    words, rest = words[:end], words[end + 1 :]
    parser = argparse.ArgumentParser(description="What the Make targets do.")
    tasks = parser.add_subparsers(dest="task", required=True)
    one = tasks.add_parser("test", help="run the tests in one Blender")
    one.add_argument("--blender", default="", choices=["", *BLENDERS])
    every = tasks.add_parser("test-all", help="run the tests in all of them")
    every.add_argument("--jobs", type=int, default=1)
    every.add_argument("--but-best", action="store_true", help="leave out the one that `test` takes")
    script = tasks.add_parser("run", help="run a script in the best Blender")
    script.add_argument("script")
    tasks.add_parser("kernel", help="build the compiled kernel for all platforms")
    tasks.add_parser("kernel-check", help="run the solvers' tests with a kernel that stops at undefined behaviour")
    tasks.add_parser("zip", help="build the zips, with the kernel for all platforms")
    tasks.add_parser("lint", help="run the linter and the type checker")
    given = parser.parse_args(words)
    if given.task == "test":
        return test(given.blender, rest)
    if given.task == "test-all":
        return test_all(given.jobs, given.but_best, rest)
    if given.task == "run":
        return run(given.script, rest)
    if given.task == "kernel":
        return kernel()
    if given.task == "kernel-check":
        return check_kernel(rest)
    if given.task == "zip":
        return build_zip(rest)
    return lint()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
