# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands' option to work on all motions of an armature, as a library of captured motions has them."""

from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

import bpy

from ...rig.blender import motions
from ...rig.clip import contact_ranges, lineage
from ..frames import action_range
from . import commands
from .command_arguments import Parser
from .command_files import armatures
from .commands import Done, Facts, Task

Work = Callable[[bpy.types.Object, Namespace, int, int], tuple[Facts, str]]
"""Changes the assigned action of an armature, from one frame to another; returns facts and words for the report."""


def add_options(parser: Parser) -> None:
    """Let a command be asked for all actions, and told what no .bvh says."""
    parser.add_argument("--all-actions", action="store_true", help="all motions of an armature, not only the assigned "
                        "one: also those of its NLA, and those in the file that no other object uses")  # fmt: skip
    parser.add_argument("--up", choices=("Y", "Z"), default="Y",
                        help="the axis that is up in .bvh files; others tell it")  # fmt: skip


@contextmanager
def in_the_file(work: Work, path: str | None, request: Namespace) -> Generator[list[Task]]:
    """Open a file; the tasks for its armatures or those that were named: one each, or with the option one a motion.

    At the end, what was made of the assigned action is assigned, and the NLA plays what was made of its actions.
    """
    with commands.in_the_file(path, request, lambda ob: True, "armature", partial(_done, work)) as tasks:
        made, found, rigs = list[_Made](), list[Task](), armatures(bpy.context.scene)
        for task in tasks:
            ob = rigs.get(task.armature)
            own = _motions(ob) if request.all_actions and ob is not None and ob.library is None else []
            if not own:
                found.append(task)
                continue
            made.append(_Made(ob))
            found += [Task(task.armature, partial(made[-1].work, action, task), action.name) for action in own]
        yield found
        for one in made:
            one.end()


def _done(work: Work, ob: bpy.types.Object, request: Namespace) -> Done:
    """Do the work over the frames of an armature's action or those that were asked for."""
    start, end = commands.frames(request, action_range(ob, bpy.context.scene), commands.motion_range([ob]))
    others = 0 if request.all_actions else len({*_motions(ob)} - {lineage.assigned(ob)[0]})
    facts, said = work(ob, request, start, end)
    said += f"; left out without --all-actions: {others} of its motions" if others else ""
    return Done(start, end, facts | {"other_actions": others}, said)


def _motions(ob: bpy.types.Object) -> list[bpy.types.Action]:
    return motions.of(ob, list(armatures(bpy.context.scene).values()), bpy.data.actions)


class _Made:
    """The actions that were made of an armature's motions."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self._ob, self._before = ob, lineage.assigned(ob)
        self._made: dict[bpy.types.Action, bpy.types.Action] = {}
        self._contacts: dict[bpy.types.Action, tuple[list[contact_ranges.ContactRange], bpy.types.Action | None]] = {}

    def work(self, action: bpy.types.Action, task: Task) -> Done:
        """Do a task with an action assigned."""
        with motions.alone(self._ob, action):
            done = task.work()
        new = self._made[action] = self._ob.animation_data.action
        new.use_fake_user = True
        self._contacts[action] = [one for _, one in contact_ranges.shown(self._ob)], self._ob.dqik.contacts_of
        return done

    def end(self) -> None:
        """Show what was made of the motion that was shown before."""
        old, _ = self._before
        shown = old if old in self._made else next(iter(self._made), None)
        if shown is None or (old is not None and old not in self._made):
            lineage.assign(self._ob, self._before)
        else:
            with motions.alone(self._ob, self._made[shown]):
                contact_ranges.store(self._ob, *self._contacts[shown])
        motions.play(self._ob, self._made)
