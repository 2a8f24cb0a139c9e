# SPDX-License-Identifier: GPL-3.0-or-later
"""May this be keyed, and will the keys be seen? All that writes keys asks here before it changes anything.

Keys are lost on linked data, move other figures or frames where an action is shared or a curve has modifiers, and are
not seen where curves are locked or muted, drivers or the NLA decide. What is beside the keyed data paths does no harm:
locked or cyclic curves of other bones, other slots, stashed actions, strips that move something else.
"""

from collections.abc import Iterable

import bpy

from .. import curves
from ..blender import animation, rotation, unevaluated
from ..blender.places import Owner, owner_of
from ..notes import Code, Note, Refused
from . import keying, users

_GOAL = "dqik.goals["


def problem(ob: bpy.types.Object, paths: Iterable[str] = (), copied: bool = False) -> Note | None:
    """Why keys of some data paths of an object would be lost, hidden, or seen elsewhere too; None if they would not.

    copied : the keys go into a copy of the action, so it does not matter who else plays it, or in which file it is.
    """
    return of_action(ob, copied) or of_curves(ob, paths)


def check(ob: bpy.types.Object, paths: Iterable[str] = (), copied: bool = False) -> None:
    """Raise `Refused` with the `problem`, if there is one."""
    refuse(problem(ob, paths, copied))


def refuse(note: Note | None) -> None:
    """Raise `Refused` with a reason, if there is one."""
    if note is not None:
        raise Refused(note)


def of_curves(ob: bpy.types.Object, paths: Iterable[str]) -> Note | None:
    """What on some data paths of an object takes no keys, or hides them; None if nothing does."""
    data, wanted = ob.animation_data, dict.fromkeys(paths)
    if data is None:
        return None
    strips = animation.uses_nla(ob)
    own: dict[str, list[bpy.types.FCurve]] = {path: [] for path in wanted}
    for curve in curves.fcurves(data):
        own.get(curve.data_path, []).append(curve)
    driven = {curve.data_path for curve in data.drivers if not curve.mute}
    for path in wanted:
        if path in driven:
            return Note(Code.PLACE_NOT_OWN, _name(ob, path))
        for curve in own[path]:
            if (note := _of_curve(ob, curve, strips)) is not None:
                return note
        covers = data.action_extrapolation == "HOLD" and len(own[path]) >= keying.size_of(path.rpartition(".")[2])
        if strips and not covers and animation.in_nla(ob, {path}):
            return Note(Code.MOVED_BY_NLA, _name(ob, path))
    return None


def of_object(ob: bpy.types.Object) -> Note | None:
    """Why keys of an object would be lost or hidden in any action, also a new one; None if they would not."""
    if ob.library is not None:
        return Note("{} is linked, so keys would be lost: make a library override first", repr(ob.name))
    if is_system_override(ob):
        return Note(Code.SYSTEM_OVERRIDE, repr(ob.name))
    data = ob.animation_data
    if data is None:
        return None
    if data.use_tweak_mode:
        return Note("Leave the NLA tweak mode of {} first", repr(ob.name))
    if data.use_nla and any(track.is_solo for track in data.nla_tracks):
        return Note("An NLA track of {} is solo, which hides its action: switch Solo off first", repr(ob.name))
    return None


def of_settings(ob: bpy.types.Object) -> Note | None:
    """Why goals and settings of an object would be lost with the file; None if they would not."""
    if ob.library is not None:
        return Note(Code.LINKED)
    return Note(Code.SYSTEM_OVERRIDE, repr(ob.name)) if is_system_override(ob) else None


def is_system_override(ob: bpy.types.ID) -> bool:
    """Whether Blender overrides a data-block for its own needs only, and keeps no edit of it."""
    return ob.override_library is not None and ob.override_library.is_system_override


def of_action(ob: bpy.types.Object, copied: bool = False) -> Note | None:
    """Why no data path of an object can be keyed in its action; None if some can. copied : as of `problem`."""
    data = ob.animation_data
    if (note := of_object(ob)) is not None or data is None or data.action is None:
        return note
    name = repr(data.action.name)
    if not copied and data.action.library is not None:
        return Note("Action {} is linked, so keys would be lost: make it local first", name)
    if animation.uses_nla(ob) and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        return Note("Action {} is blended with the NLA, so keys would not count: set it to Replace, Influence 1, first",
                    name)
    for other in users.players(ob)[:1] if not copied else ():
        return Note("Action {} also moves {}: make it a single user first" if other else
                    "Action {} also plays in the NLA of {}: mute its track, or make the action a single user first",
                    name, repr(other or ob.name))
    return None


def of_owners(owners: Iterable[Owner], channels: Iterable[str] = ()) -> Note | None:
    """Why the location and the rotation of objects and bones cannot be keyed as Blender shows them; None if they can.

    channels : others of each, which are keyed too.
    """
    paths: dict[bpy.types.Object, list[str]] = {}
    for owner in owners:
        names = ("location", rotation.PATHS[owner.rotation_mode], *channels)
        paths.setdefault(owner.id_data, []).extend(curves.path_of(owner, name) for name in names)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    both = (stands_still(ob, depsgraph) or problem(ob, own) for ob, own in paths.items())
    return next((note for note in both if note is not None), None)


def stands_still(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Note | None:
    """Why the place of an object cannot be read, because Blender does not evaluate it; None if it does."""
    reason = unevaluated.reason(ob, unevaluated.shown(depsgraph), depsgraph.view_layer)
    return None if reason is None else Note("{} stands still {}: hide it with the eye instead", repr(ob.name), reason)


def of_goals(
    ob: bpy.types.Object, numbers: Iterable[int], settings: Iterable[str] = (), targets: bool = True, poles: bool = True
) -> Note | None:  # fmt: skip
    """Why the targets and poles of goals cannot be keyed; None if they can.

    settings : properties of these goals, such as `influence`, which are keyed too. targets, poles : whether they are.
    """
    goals, names = [ob.dqik.goals[number] for number in numbers], list(settings)
    paths = [f"{goal.path_from_id()}.{name}" for goal in goals for name in names]
    if paths and (note := problem(ob, paths)) is not None:
        return note
    both = [(goal.target, goal.subtarget, targets) for goal in goals]
    both += [(goal.pole_target, goal.pole_subtarget, poles) for goal in goals]
    owners = (owner_of(ob, bone) for ob, bone, counts in both if counts and ob is not None)
    return of_owners(dict.fromkeys(owner for owner in owners if owner is not None))


def _of_curve(ob: bpy.types.Object, curve: bpy.types.FCurve, strips: bool) -> Note | None:
    """Why keys of a curve would not be made or not be what is seen. strips : whether the NLA counts."""
    group, name = curve.group, _name(ob, curve.data_path)
    if curve.lock or (group is not None and group.lock) or animation.is_muted(curve, strips):
        return Note("Curves of {} are locked or muted: free them first", name)
    if len(curve.sampled_points):
        return Note("Curves of {} are samples, which take no keys: convert them to keyframes first", name)
    if any(not one.mute and not (one.use_influence and one.influence == 0.0) for one in curve.modifiers):
        return Note("Curves of {} have modifiers, which carry a change to other frames: bake the motion first", name)
    return None


def _name(ob: bpy.types.Object, path: str) -> str:
    """The bone, the goal or the object whose property a data path is, to be shown."""
    bone, rest = animation.split_path(ob, path)
    if not bone and rest.startswith(_GOAL):
        number = int(rest.removeprefix(_GOAL).partition("]")[0])
        return repr(ob.dqik.goals[number].name)
    return repr(bone or ob.name)
