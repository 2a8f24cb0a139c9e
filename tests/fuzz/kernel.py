# SPDX-License-Identifier: GPL-3.0-or-later
"""Random problems for the compiled solvers, against what must hold of every answer.

    python tests/fuzz/kernel.py --cases 20000 --seed 1     problems from seeds 1, 2, 3, ...

`make kernel-fuzz` runs it with a kernel that ends the process at undefined behaviour and outside its arrays. Problems
are solved in a process of their own, so such an end is a finding like any other.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds for one problem
SOLVERS = ROOT / "tests" / "solvers"
sys.path[:0] = [str(ROOT), str(SOLVERS)]


def solve(first: int, cases: int) -> int:
    """Solve problems in this process; one line for each, with what is wrong."""
    from wild import faults, wild

    for seed in range(first, first + cases):
        print(f"{seed} ", end="", flush=True)
        try:
            found = faults(wild(seed))
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        print("; ".join(found), flush=True)
    return 0


def main() -> int:
    """Solve problems in processes that start again where one ends. Returns 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Solve random problems with the compiled kernel.")
    parser.add_argument("--cases", type=int, default=700, help="how many problems")
    parser.add_argument("--seed", type=int, default=1, help="of the first problem")
    parser.add_argument("--in-process", action="store_true", help="solve them in this process")
    options = parser.parse_args()
    if options.in_process:
        return solve(options.seed, options.cases)
    import solvers as ik

    print(f"{options.cases} problems from seed {options.seed}; kernel: {ik.kernel()}")
    began, seed, wrong = time.monotonic(), options.seed, 0
    last = options.seed + options.cases
    while seed < last:
        lines = _lines(seed, last - seed)
        for line in lines:
            number, _, text = line.partition(" ")
            seed = int(number) + 1
            if text.strip():
                wrong += 1
                print(f"seed {number}: {text.strip()}")
        if not lines:
            sys.exit("The process that solves did not start, see above.")
    print(f"{options.cases} problems, {wrong} wrong, {time.monotonic() - began:.0f} s")
    if wrong:
        print("One again: make kernel-fuzz ARGS='--cases 1 --seed <its seed>'")
    return 1 if wrong else 0


def _lines(seed: int, cases: int) -> list[str]:
    """What a process prints for the problems up to the one that ended it, if one did."""
    command = [sys.executable, __file__, "--in-process", "--seed", str(seed), "--cases", str(cases)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            text, _ = process.communicate(timeout=PATIENCE + cases)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        ended = process.returncode
    lines = text.splitlines()
    if lines and ended:
        lines[-1] += f"the process ended with code {ended}, see above"
    return lines


if __name__ == "__main__":
    sys.exit(main())
