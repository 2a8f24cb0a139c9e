# SPDX-License-Identifier: GPL-3.0-or-later
"""One walk: steps that are drawn from a seed and done at once, or steps that are given."""

import json
from random import Random
from typing import TextIO

import bakes
import bpy
import check_steps  # noqa: F401  they add themselves to the list
import checks
import file_steps  # noqa: F401
import hand_checks
import hand_steps  # noqa: F401
import kind_steps  # noqa: F401
import oracle
import outside
import outside_checks
import outside_steps  # noqa: F401
import relation_steps  # noqa: F401
import rig_steps  # noqa: F401
import scripts  # noqa: F401
import shot_checks
import shot_steps  # noqa: F401
import shots
import vocabulary
import whole_checks
import whole_steps  # noqa: F401
from draw import STEPS, Draw, NothingToDrawError
from log import Log, traceback_in
from oracle import Watch
from start import beginning
from vocabulary import BrokenError

ALWAYS = ("frame", "target", "check", "live", "goal")
CHECK_EVERY = 15  # steps
FOCUS = 5.0  # times the weight of steps of groups that a walk is about
THEMES = (
    ("keys", "nla", "slots", "drivers", "remembered", "mode"),
    ("hand", "pose", "remembered", "undo", "muted", "keys", "previous"),
    ("bake", "previous", "keys", "mode", "slides", "pose"),
    ("follow", "late", "objects", "constraints", "place", "untold"),
    ("edit", "limits", "scale", "mode", "slides", "pose"),
    ("paste", "join", "append", "libraries", "files", "remembered"),
    ("hang", "shared", "operators", "targets_to_pose", "handlers", "keyed_pose", "keyed_missed"),
    ("export", "script", "script_updates", "sims", "cloth", "sessions"),
    ("kinds", "keyed", "undo", "late", "follow", "bake", "setting"),
    ("couplings", "limits", "bake", "undo", "hand", "paste", "setting"),
    ("contact", "bodies", "limits", "bake", "undo", "keys", "setting"),
    ("figure", "contact", "couplings", "kinds", "bodies", "keys", "operators"),
    ("attach", "shot", "figure", "motion", "undo", "keys", "hand"),
    ("attach", "shot", "motion", "figure", "libraries", "files", "objects"),
    ("grab", "figure", "hand", "undo", "available", "shot", "keys"),
    ("grab", "seen", "roll", "figure", "motion", "pushed", "available"),
    ("whole", "seen", "motion", "figure", "pushed", "roll"),
    ("whole", "motion", "attach", "keys", "undo", "grab"),
    ("stretch", "limits", "bake", "undo", "keys", "setting"),
)  # groups that belong together
WORDS: dict[str, object] = {}
for words in (vocabulary, outside, oracle, checks, outside_checks, bakes, shots, shot_checks, hand_checks,
              whole_checks):
    WORDS |= vars(words)

Step = tuple[str, str]  # group, script


class Breaks:
    """Does steps and says which breaks what."""

    def __init__(self, log: Log, journal: TextIO) -> None:
        self.log, self.journal = log, journal
        self.watch = Watch()
        self.steps: list[Step] = []
        self.refused: list[str] = []

    def do(self, group: str, script: str) -> None:
        """Do a step and look at what it left. Raises BrokenError."""
        self.steps.append((group, script))
        self.journal.write(json.dumps((group, script)) + "\n")
        self.journal.flush()
        self.watch.before()
        try:
            exec(script, dict(WORDS))
        except BrokenError:
            raise
        except Exception as error:  # Blender refuses what the script asks for, as on linked objects
            self.refused.append(f"{type(error).__name__}: {error}: {script}")
        vocabulary.update()
        found = traceback_in(self.log.new())
        if found:
            raise BrokenError("traceback", found)
        self.watch.after(group)
        found = traceback_in(self.log.new())
        if found:
            raise BrokenError("traceback", found)


def walk(
    log: Log, journal: TextIO, seed: int = 0, length: int = 60, steps: list[Step] | None = None, only: str = "",
    without: str = "",
) -> dict[str, object]:  # fmt: skip
    """Walk `length` steps from a seed, or the given steps. Returns what broke first, if anything, and the steps."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.preferences.edit.use_keyframe_insert_available = False  # as steps leave it
    vocabulary.forget()
    doing = Breaks(log, journal)
    broken: BrokenError | None = None
    try:
        if steps is None:
            _draw(doing, seed, length, only.split(",") if only else [], without.split(","))
        else:
            for group, script in steps:
                doing.do(group, script)
    except BrokenError as error:
        broken = error
    return {
        "kind": broken.args[0] if broken else "", "text": broken.args[1] if broken else "", "steps": doing.steps,
        "refused": doing.refused,
    }  # fmt: skip


def _draw(doing: Breaks, seed: int, length: int, only: list[str], without: list[str]) -> None:
    """Draw steps one by one, each from what the file then holds."""
    draw = Draw(seed)
    for script in beginning(draw):
        doing.do("start", script)
    there = {**dict.fromkeys(ALWAYS, 1.0), **_groups(draw, only)}
    choices = [(group, weight * there[group], step) for group, weight, step in STEPS
               if group in there and group not in without]  # fmt: skip
    weights = [weight for _, weight, _ in choices]
    while len(doing.steps) < length:
        own = Random(draw.random.getrandbits(64))
        if len(doing.steps) % CHECK_EVERY == CHECK_EVERY - 1:
            doing.do("check", f"check_frame({draw.frame():g}, {draw.frame():g})")
            continue
        group, _, step = draw.random.choices(choices, weights)[0]
        kept, draw.random = draw.random, own
        try:
            script = step(draw)
        except NothingToDrawError:
            continue
        finally:
            draw.random = kept
        doing.do(group, script)


def _groups(draw: Draw, only: list[str]) -> dict[str, float]:
    """The groups that take part in a walk beside those of every walk, with what their steps' weights are multiplied by:
    few that belong together and have many steps, or many."""
    if only:
        return dict.fromkeys(only, FOCUS)
    if draw.chance(0.7):
        return dict.fromkeys(draw.some(draw.one(THEMES), draw.random.randint(2, 4)), FOCUS)
    groups = sorted({group for group, _, _ in STEPS} - set(ALWAYS))
    share = draw.one([0.15, 0.4, 0.7])
    return {group: 1.0 for group in groups if draw.chance(share)}
