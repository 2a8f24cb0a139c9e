# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands' option to work on all motions of an armature, as a library of captured motions has them."""

from argparse import Namespace
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

import bpy

from ...rig.blender import motions
from ...rig.clip import contact_ranges, lineage
from . import commands
from .command_arguments import Parser
from .commands import Done, Task


def add_option(parser: Parser) -> None:
    """Let a command be asked for all actions."""
    parser.add_argument("--all-actions", action="store_true", help="all motions of an armature, not only the assigned "
                        "one: also those of its NLA, and those in the file that no other object uses")  # fmt: skip


@contextmanager
def in_the_file(
    path: str | None, request: Namespace, work: Callable[[bpy.types.Object, Namespace], Done]
) -> Generator[list[Task]]:
    """Open a file; the tasks for its armatures or those that were named: one each, or with the option one a motion."""
    with commands.in_the_file(path, request, lambda ob: True, "armature", work) as tasks:
        if not request.all_actions:
            yield tasks
            return
        with expanded(tasks) as each:
            yield each


def left_out(ob: bpy.types.Object) -> int:
    """Returns the number of an armature's motions beside the assigned one."""
    own = motions.of(ob, _rigs(), bpy.data.actions)
    return len(own) - (ob.animation_data is not None and ob.animation_data.action in own)


def _rigs() -> list[bpy.types.Object]:
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]


@contextmanager
def expanded(tasks: Sequence[Task]) -> Generator[list[Task]]:
    """For tasks that change the assigned action of an armature, those that change each of its motions.

    At the end, what was made of the assigned action is assigned, and the NLA plays what was made of its actions.
    """
    scene, rigs, made, found = bpy.context.scene, _rigs(), list[_Made](), list[Task]()
    for task in tasks:
        ob = scene.objects.get(task.armature)
        own = motions.of(ob, rigs, bpy.data.actions) if ob in rigs and ob.library is None else []
        if ob is None or not own:
            found.append(task)
            continue
        made.append(_Made(ob))
        found += [Task(task.armature, partial(made[-1].work, action, task), action.name) for action in own]
    yield found
    for one in made:
        one.end()


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
