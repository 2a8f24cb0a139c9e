# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of an armature: its action, those of its NLA, and those of the file that no other object uses."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from .. import curves

_START = 'pose.bones["'
_FITS = 0.5  # of the bones that an action moves: so many has its armature


def of(
    ob: bpy.types.Object, rigs: Sequence[bpy.types.Object], actions: Iterable[bpy.types.Action]
) -> list[bpy.types.Action]:  # fmt: skip
    """The motions of an armature object, the assigned one first; without those of which another one was made.

    Of some actions those that nothing uses count: each for the first of some armature objects that has its bones.
    """
    data = ob.animation_data
    assigned = None if data is None else data.action
    own = dict.fromkeys(_used(ob))
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
    if ob.animation_data is not None:
        actions = [ob.animation_data.action, *(strip.action for strip in _strips(ob))]
        yield from (action for action in actions if action is not None)


def _strips(ob: bpy.types.Object) -> Iterator[bpy.types.NlaStrip]:
    def inside(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.NlaStrip]:
        for strip in strips:
            yield strip
            yield from inside(strip.strips)

    data = ob.animation_data
    for track in () if data is None else data.nla_tracks:
        yield from inside(track.strips)


def _fits(ob: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an armature has most of the bones that an action moves."""
    bones = _bones(action, _slot(action) if curves.LAYERED else None)
    return bool(bones) and sum(name in ob.pose.bones for name in bones) > _FITS * len(bones)


def _bones(action: bpy.types.Action, slot: object) -> Counter[str]:
    """The bones that an action moves, each with the number of its curves."""
    paths = (curve.data_path for curve in curves.of_action(action, slot))
    return Counter(bpy.utils.unescape_identifier(path.split('"')[1]) for path in paths if path.startswith(_START))


def _slot(action: bpy.types.Action):
    """The slot that moves most bones."""
    return max(action.slots, key=lambda slot: _bones(action, slot).total(), default=None)
