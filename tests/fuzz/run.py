# SPDX-License-Identifier: GPL-3.0-or-later
"""Random walks over what a user may do, in real Blender, against what must hold whatever a user did.

    python tests/fuzz/run.py --steps 20000 --seed 1     walks of 60 steps each, from seeds 1, 2, 3, ...
    python tests/fuzz/run.py --seed 17 --replay         one walk, printed as a script
    python tests/fuzz/run.py --script FILE              the steps of such a script once more

Needs a Python with bpy; `make fuzz` has one. Walks take place in a process of their own, so that a crash of Blender is
a finding like any other. What breaks is shrunk to the fewest steps that break it still.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from child import Child, extension_zip

HERE = Path(__file__).parent
TRIES = 150  # attempts to shrink one walk

Step = tuple[str, str]
Answer = dict


class Walker(Child):
    """The process in which walks take place."""

    def walk(self, **order: object) -> Answer:
        """Do one walk. A crash is an answer too, with the steps that the journal has."""
        answer = self.ask(order)
        if not isinstance(answer, str):
            return answer
        steps = [json.loads(line) for line in (self.folder / "journal.jsonl").read_text().splitlines()]
        return {"kind": "crash" if "ended" in answer else "hang", "text": answer, "steps": steps, "refused": []}


def signature(answer: Answer) -> str:
    """What tells one fault from another: the kind, and of a traceback what was raised where."""
    return f"{answer['kind']}: {answer['text']}" if answer["kind"] in ("traceback", "operator") else answer["kind"]


def shrink(walker: Walker, answer: Answer) -> Answer:
    """Leave out steps as long as the same still breaks; of what hangs nothing, since each try would take as long."""
    best, tries = answer, TRIES if answer["kind"] == "hang" else 0
    length = max(1, len(best["steps"]) // 2)
    while tries < TRIES:
        at, smaller = 0, False
        while at < len(best["steps"]) and tries < TRIES:
            steps = best["steps"][:at] + best["steps"][at + length :]
            tries += 1
            shorter = walker.walk(steps=steps) if steps else None
            if shorter is not None and signature(shorter) == signature(best):
                best, smaller = shorter, True
            else:
                at += length
        if length == 1 and not smaller:
            break
        length = max(1, length // 2)
    return best


def script(answer: Answer) -> str:
    """A walk's steps as they can be read, and run again with --script."""
    return "\n".join(f"# {group}\n{code}" for group, code in answer["steps"])


def steps_of(text: str) -> list[Step]:
    """The steps of a printed script."""
    parts = [part.split("\n", 1) for part in ("\n" + text.strip()).split("\n# ")[1:]]
    return [(part[0].strip(), part[1]) for part in parts if len(part) == 2]  # others are notes at the end


def drawn(arguments: argparse.Namespace) -> dict[str, object]:
    """What a walk's steps are drawn from, besides the seed."""
    return {"length": arguments.length, "only": arguments.only, "without": arguments.without}


def search(walker: Walker, arguments: argparse.Namespace) -> int:
    """Walk until the steps are done. Returns how many walks broke."""
    found: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    seed, done, began = arguments.seed, 0, time.monotonic()
    while done < arguments.steps:
        answer = walker.walk(seed=seed, **drawn(arguments))
        done += max(1, len(answer["steps"]))
        refused.update(line.split(":")[0] for line in answer["refused"])
        if answer["kind"]:
            name = signature(answer)
            found[name] += 1
            print(f"\nSeed {seed}, step {len(answer['steps'])}: {answer['kind']}: {answer['text']}", flush=True)
            if arguments.stop:
                print(f"Stopped after {done} steps: {answer['kind']} (seed {seed})", flush=True)
                return 1
            if found[name] <= arguments.shrink:
                smaller = shrink(walker, answer)
                print(f"{len(smaller['steps'])} steps are enough: {smaller['text']}\n{script(smaller)}", flush=True)
        seed += 1
    walks = seed - arguments.seed
    print(f"\n{done} steps, {walks} walks from seed {arguments.seed}, {time.monotonic() - began:.0f} s: "
          f"{sum(found.values())} broke", flush=True)  # fmt: skip
    for name, count in found.most_common():
        print(f"{count:5}  {name}")
    if arguments.verbose:
        print("Refused by Blender:", dict(refused))
    return sum(found.values())


def once(walker: Walker, arguments: argparse.Namespace) -> int:
    """One walk from a seed or from a script, printed."""
    if arguments.script:
        answer = walker.walk(steps=steps_of(Path(arguments.script).read_text()))
    else:
        answer = walker.walk(seed=arguments.seed, **drawn(arguments))
    print(script(answer))
    print("\n".join(f"# refused: {line}" for line in answer["refused"]))
    print(f"# {answer['kind']}: {answer['text']}" if answer["kind"] else "# Nothing broke.")
    return 1 if answer["kind"] else 0


def main() -> int:
    """Do what the command line says. Returns 1 where something broke."""
    parser = argparse.ArgumentParser(description="Random walks over what a user may do, in real Blender.")
    parser.add_argument("--steps", type=int, default=3000, help="steps in all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first walk")
    parser.add_argument("--length", type=int, default=60, help="steps a walk")
    parser.add_argument("--shrink", type=int, default=2, help="walks to shrink for each kind of fault")
    parser.add_argument("--only", default="", help="groups of steps to draw from, with commas")
    parser.add_argument("--without", default="", help="groups of steps to leave out, with commas")
    parser.add_argument("--stop", action="store_true", help="stop at the first fault, without shrinking its walk")
    parser.add_argument("--replay", action="store_true", help="print the walk from the seed as a script")
    parser.add_argument("--script", default="", help="do the steps of a printed script")
    parser.add_argument("--zip", type=Path, help="the extension to test; this checkout's if not given")
    parser.add_argument("--verbose", action="store_true", help="count what Blender refused")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dqik-fuzz-") as name:
        folder = Path(name)
        walker = Walker(HERE / "walker.py", arguments.zip or extension_zip(folder / "zip"), folder / "walks")
        try:
            broke = once(walker, arguments) if arguments.replay or arguments.script else search(walker, arguments)
        finally:
            walker.stop()
    return 1 if broke else 0


if __name__ == "__main__":
    sys.exit(main())
