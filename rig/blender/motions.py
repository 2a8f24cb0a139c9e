# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of an armature: its action, those of its NLA, and those of the file that no other object uses."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from .. import curves
from . import animation

_START = 'pose.bones["'
_FITS = 0.5  # of the bones that an action moves: so many has its armature


def of(
    ob: bpy.types.Object, rigs: Sequence[bpy.types.Object], actions: Iterable[bpy.types.Action]
) -> list[bpy.types.Action]:  # fmt: skip
    """The motions of an armature object, the assigned one first; without those of which another one was made.

    Of some actions those that nothing uses count: each for the first of some armature objects that has its bones.
    """
    assigned, own = curves.action_of(ob), dict.fromkeys(_used(ob))
    others = {action for other in bpy.data.objects if other != ob for action in _used(other)}
    earlier = {action.dqik_original for action in bpy.data.actions}
    for action in actions:
        if action not in others and ob == next((one for one in rigs if _fits(one, action)), None):
            own[action] = None
    return [action for action in own if action == assigned or (action not in earlier and _fits(ob, action))]


@contextmanager
def alone(ob: bpy.types.Object, action: bpy.types.Action) -> Generator[None]:
    """Assign an action to an object whose NLA is off meanwhile; what is assigned at the end stays."""
    data = ob.animation_data_create()
    uses_nla, data.use_nla = data.use_nla, False
    try:
        if data.action != action:
            data.action = action
            if curves.LAYERED and (slot := _slot(action)) is not None:
                data.action_slot = slot
        yield
    finally:
        data.use_nla = uses_nla


def play(ob: bpy.types.Object, instead: dict[bpy.types.Action, bpy.types.Action]) -> None:
    """Let the strips of an object's NLA play copies of their actions."""
    for strip in _strips(ob):
        if strip.action in instead:
            name = strip.action_slot.identifier if curves.LAYERED and strip.action_slot is not None else None
            strip.action = instead[strip.action]
            if name is not None and name in strip.action.slots:
                strip.action_slot = strip.action.slots[name]


def _used(ob: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """The actions that an object has, assigned or in its NLA."""
    actions = [curves.action_of(ob), *(strip.action for strip in _strips(ob))]
    return (action for action in actions if action is not None)


def _strips(ob: bpy.types.Object) -> Iterator[bpy.types.NlaStrip]:
    data = ob.animation_data
    for track in () if data is None else data.nla_tracks:
        yield from animation.strips_in(track.strips)


def _fits(ob: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an armature has most of the bones that an action moves."""
    bones = max(map(_bones, curves.by_slot(action)), key=Counter.total, default=())
    return bool(bones) and sum(name in ob.pose.bones for name in bones) > _FITS * len(bones)


def _bones(found: Iterable[bpy.types.FCurve]) -> Counter[str]:
    """The bones that curves move, each with the number of its curves."""
    paths = (curve.data_path for curve in found)
    return Counter(bpy.utils.unescape_identifier(path.split('"')[1]) for path in paths if path.startswith(_START))


def _slot(action: bpy.types.Action):
    """The slot that moves most bones."""
    return max(action.slots, key=lambda slot: _bones(curves.of_action(action, slot)).total(), default=None)
