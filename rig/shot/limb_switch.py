# SPDX-License-Identifier: GPL-3.0-or-later
"""One limb from its goal to keys of its bones, or back, on some frames: nothing moves, on no frame of the scene.

On frames on which a limb is posed by its bones, the influence of its goal is 0. Keys are put at the switched frames and
beside them, and none elsewhere: there the keys of bones that had none have the pose that these start from. Where the
rest of the body would move without the goal, a trunk that it pulls for example, the goal leads it on; if that is not
enough, the body is keyed and held at the switched frames too. A figure without keys needs none: it is switched for the
whole shot.
"""

from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import bpy
import numpy as np

from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.armature import Armature
from ..blender.dependencies import Dependencies, aims_of
from ..blender.places import Owner
from ..controls import goals, more_controls, selection
from ..figure.character import Character
from ..frame import commands, offline
from ..frame.read import own_answers
from ..frame.sessions import sessions
from ..keys import keyable, keying
from ..notes import Note, Refused
from ..skeleton import foot_roll, plan
from . import holds, keys, limb_keys
from .limb_keys import GROUP, Frame

_STILL = 2e-5  # of the figure's size: what moves by less stays
_SAME = 1e-4  # of places and in radians: a control that goes elsewhere by less stays


class LimbChain(NamedTuple):
    """Bones by name: those of a goal's chain that no other goal moves, and all others that goals move."""

    own: list[str]
    others: list[str]


class RestOfBody(NamedTuple):
    """The rest of a body that moves where limbs are switched, unless it is keyed: its bones, and with them the limbs.

    is_keyed : whether all bones had keys. inside, staying : the switched frames and those on which nothing shall move,
    as they were. outside : times beside the switched ones.
    """

    bones: list[str]
    every: list[str]
    is_keyed: bool
    inside: list[Frame]
    staying: list[Frame]
    outside: list[float]


def limb_of(ob: bpy.types.Object, number: int) -> LimbChain:
    """The limb of a goal; if it shares all bones with other goals, its own bone is its limb."""
    armature = Character.of(ob).armature
    chains = {
        k: _chain_of(ob, armature, goal) for k, goal in enumerate(ob.dqik.goals)
        if goal.bone in ob.pose.bones and (k == number or not goal.mute)
    }  # fmt: skip
    others = {bone for k, bones in chains.items() if k != number for bone in bones}
    own = [bone for bone in chains[number] if bone not in others] or [ob.dqik.goals[number].bone]
    toes = [(one.index, ob.pose.bones[one.foot.toes].name) for one in limb_keys.rolled_feet(ob) if one.loose]
    own += [bone for k, bone in toes if k == number]
    every = dict.fromkeys([*chain(*chains.values()), *(bone for _, bone in toes)])
    return LimbChain(own, [bone for bone in every if bone not in own])


def of_selection(ob: bpy.types.Object, names: Iterable[str], targets: Iterable[bpy.types.Object]) -> list[int]:
    """The goals whose bone, target or limb is selected, and those of legs that go with such a foot.

    names : of bones. targets : of objects.
    """
    names, targets, found = set(names), set(targets), []
    for number, goal in enumerate(ob.dqik.goals):
        if goal.kind != "REACH" or goal.bone not in ob.pose.bones:
            continue
        if selection.holds_goal(ob, goal, names, targets) or not names.isdisjoint(limb_of(ob, number).own):
            found.append(number)
    legs = {k for k in range(len(ob.dqik.goals)) for foot in found if k != foot and foot_roll.goes_with(ob, k, foot)}
    return sorted({*found, *legs})


def refusal(ob: bpy.types.Object, numbers: Sequence[int], to_ik: bool) -> Note | None:
    """Why the limbs of goals cannot be switched; None if they can. to_ik : to their goals."""
    note = keyable.of_action(ob) or keyable.of_goals(ob, numbers, ("influence",), targets=to_ik, poles=to_ik)
    if note is not None or to_ik:
        return note
    bones = {name: ob.pose.bones[name] for number in numbers for name in limb_of(ob, number).own}
    paths = (curves.path_of(bone, channel) for bone in bones.values() for channel in keys.posed_channels(bone))
    return keyable.problem(ob, paths)


def is_in_ik(ob: bpy.types.Object, number: int, times: Sequence[float]) -> bool:
    """Whether a limb follows its goal, as far as it reaches it, at all of these times.

    Where strips or drivers move the influence, it does not count as such.
    """
    goal, path = ob.dqik.goals[number], f"dqik.goals[{number}].influence"
    curve = curves.find(ob, path, 0)
    if goal.mute or (curve is not None and curve.mute):
        return False
    if curve is None:
        return goal.influence == 1.0 and not animation.animates(ob, path)
    return all(curve.evaluate(time) == 1.0 for time in times)


def muted(ob: bpy.types.Object, numbers: Sequence[int], times: Sequence[float]) -> Note | None:
    """Why goals cannot lead their limbs at times: their Mute is animated, so the switch cannot lift it; None if not."""
    for goal in (ob.dqik.goals[number] for number in numbers):
        path = goal.path_from_id("mute")
        curve = curves.find(ob, path, 0)
        if animation.animates(ob, path) and any(goal.mute if curve is None else curve.evaluate(time) for time in times):
            return Note("Goal {} is muted by keys: pin its bone there, or delete the keys of its Mute, first",
                        repr(goal.name))
    return None


def is_still(ob: bpy.types.Object) -> bool:
    """Whether no keys, drivers or strips move a figure or what its goals aim at: all frames show the same pose."""
    own = animation.animation(ob)
    bones = ((ob, bone.name) for bone in ob.pose.bones)
    others = {other for other, _ in Dependencies().all_behind([*aims_of(ob), *bones])} - {ob}
    datas = [other.animation_data for other in (ob, *others)] if others else []
    animated = any(data is not None and (data.action or data.drivers or data.nla_tracks) for data in datas)
    return not (own.bones or own.settings or own.custom or animated)


def switch_still(context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], to_ik: bool) -> float:
    """Switch the limbs of goals of a figure that `is_still`, on all frames; returns by how much the figure has moved.

    Auto Keying keys the influence, and the bones or targets that are to move now, at this frame.
    """
    before = limb_keys.places(ob.evaluated_get(context.evaluated_depsgraph_get()))
    own = [ob.dqik.goals[number] for number in numbers]
    with commands.still(ob):
        depsgraph = context.evaluated_depsgraph_get()
        if to_ik:
            _check_others(ob, numbers, limb_keys.targets_of(ob, numbers),
                          limb_keys.wanted_targets(ob, numbers, numbers, depsgraph))
            goals.put_targets(ob, goals.places(ob, numbers, depsgraph), depsgraph)
        elif ob.dqik.live:  # so that no other goal pulls the body to where this one has kept it from
            empties = [k for k, goal in enumerate(ob.dqik.goals)
                       if goal.own_target and goal.target not in (None, ob) and not goal.mute]  # fmt: skip
            goals.put_targets(ob, goals.places(ob, empties, depsgraph), depsgraph)
            more_controls.settle(ob)
        for goal in own:
            goal.influence = float(to_ik)
            goal.mute &= not to_ik
    context.view_layer.update()
    if keying.is_auto(context.scene):
        _key_here(context, ob, numbers, to_ik)
    now = limb_keys.places(ob.evaluated_get(context.evaluated_depsgraph_get()))
    return float(np.linalg.norm(now - before, axis=-1).max())


def switch(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], frames: Sequence[float], to_ik: bool,
    onward: bool,
) -> Generator[float, None, tuple[float, RestOfBody | None]]:  # fmt: skip
    """Switch the limbs of goals on some frames; yields the progress.

    Needs live solving. to_ik : from bones to goals, else from goals to bones. onward : the frames after the last one
    are switched too, up to the next key of the influence. Nothing is keyed before all frames were read. Returns by how
    much the figure has moved, and the rest of the body if that is why: `keep` puts it back.
    """
    own, every = _bones(ob, numbers)
    is_keyed = all(keys.has_curve(bone, channel) for bone in map(ob.pose.bones.get, every)
                   for channel in keys.posed_channels(bone))  # fmt: skip
    around = {curves.frame_before(frames[0]), *frames, *([] if onward else [frames[-1] + 1])}
    halves = set[float]() if to_ik else {frame + 0.5 for frame in frames[:-1]}
    scene = set() if is_keyed else {*range(context.scene.frame_start, context.scene.frame_end + 1)}
    aimed = limb_keys.with_toes(ob, numbers) if to_ik else list(numbers)
    read = yield from limb_keys.read(
        context, ob, numbers, aimed, every, sorted({*around, *halves, *scene}), {*frames, *halves}, to_ik
    )
    starts = limb_keys.starts(context, ob, own)
    inside, near = ([one for one in read if one.frame in some] for some in (frames, around))
    for one in inside if to_ik else ():
        _check_others(ob, aimed, one.targets, one.wanted)
    staying = [one for one in read if one.frame not in halves and (one.frame <= frames[-1] or not onward)]
    ends = [near[0], near[1], *([] if onward else near[-1:])]
    outside = [one.time for one in (ends[0], *ends[2:])]
    _key_goals(ob, numbers, ends, to_ik, inside)
    if to_ik:
        for k, owner in enumerate(goals.target_owners(ob.dqik.goals[number] for number in aimed)):
            wanted = {one.time: one.wanted[k] if one.frame in frames else one.targets[k] for one in near}
            limb_keys.key_target(owner, wanted, [one.time for one in inside], outside)
    else:
        limb_keys.key_limb(ob, own, starts, [one for one in read if one.frame in {*halves, *frames}], outside)
    away, still = limb_keys.moved(context, ob, staying), _STILL * Character.of(ob).size
    if away > still and not (to_ik or is_keyed):
        away = _lead(context, ob, numbers, staying, still)
    free = [name for name in every if _is_free(ob, name)] if away > still else []
    body = [name for name in free if name not in own]
    return away, RestOfBody(body, free, is_keyed, inside, staying, outside) if body else None


def keep(context: bpy.types.Context, ob: bpy.types.Object, rest: RestOfBody) -> float:
    """Key the rest of a body on the switched frames, and hold it there; returns by how much the figure has moved."""
    if rest.is_keyed:
        limb_keys.key_bones(ob, rest.every, rest.inside, rest.outside)
    else:
        limb_keys.hold_body(ob, rest.every, limb_keys.starts(context, ob, rest.every), rest.inside, rest.outside)
    _note_answers(context, ob, rest.inside)
    return limb_keys.moved(context, ob, rest.staying)


def _check_others(
    ob: bpy.types.Object, numbers: Sequence[int], before: Sequence[scene_state.Transform],
    wanted: Sequence[scene_state.Transform],
) -> None:
    """Raise `Refused` where targets or poles of goals go elsewhere that lead other limbs too, also of other figures."""
    bones = {(ob, ob.dqik.goals[number].bone) for number in numbers}
    leading: dict[Owner, bpy.types.PropertyGroup] = {}
    for other in bpy.data.objects:
        for goal in other.dqik.goals if other.type == "ARMATURE" else ():
            if not goal.mute and (other, goal.bone) not in bones:
                leading.update((owner, goal) for owner in goals.target_owners([goal]))
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    for owner, here, there in zip(owners, before, wanted, strict=True):
        if owner in leading and _moves(owner, here, there):
            goal = leading[owner]
            raise Refused(Note("{} would move, and also leads goal {} of {}: give this limb a control of its own first",
                               repr(owner.name), repr(goal.name), repr(goal.id_data.name)))


def _moves(owner: Owner, here: scene_state.Transform, there: scene_state.Transform) -> bool:
    """Whether two transforms of an owner show it at two places."""
    at, turn = (scene_state.TRANSFORM.index(path) for path in ("location", rotation.PATHS[owner.rotation_mode]))
    turns = [rotation.to_quaternion(owner.rotation_mode, np.array([*one[turn], 0.0][:4])) for one in (here, there)]
    away = np.abs(np.subtract(here[at], there[at])).max()
    return bool(away > _SAME or 1.0 - abs(np.dot(*turns)) > 0.5 * _SAME**2)


def _bones(ob: bpy.types.Object, numbers: Sequence[int]) -> tuple[list[str], list[str]]:
    """The own bones of the limbs of goals, and with them all others that goals move."""
    limbs = [limb_of(ob, number) for number in numbers]
    own = [bone for limb in limbs for bone in limb.own]
    return list(dict.fromkeys(own)), list(dict.fromkeys([*own, *(bone for limb in limbs for bone in limb.others)]))


def _key_goals(
    ob: bpy.types.Object, numbers: Sequence[int], ends: Sequence[Frame], to_ik: bool, inside: Sequence[Frame]
) -> None:  # fmt: skip
    """Key the influences of goals, and rolls of feet that go to them: their targets are put where the feet are.

    ends : the frame before the switched ones, the first of these, and the one after them if it stays.
    """
    times = [one.time for one in ends]
    for k, number in enumerate(numbers):
        influences = [ends[0].influences[k], float(to_ik), *(one.influences[k] for one in ends[2:])]
        keys.write_steps(ob, f"dqik.goals[{number}].influence", GROUP, times, influences)
        if to_ik and any(one.rolls[k] for one in inside):
            limb_keys.key_no_roll(ob.dqik.goals[number], times, [one.rolls[k] for one in ends])
        ob.dqik.goals[number].mute &= not to_ik


def _is_free(ob: bpy.types.Object, name: str) -> bool:
    """Whether nothing is in the way of keys of a bone and its hold."""
    names = (*keys.posed_channels(ob.pose.bones[name]), holds.HOLD)
    return keyable.of_curves(ob, [curves.bone_path(name, one) for one in names]) is None


def _lead(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], before: Sequence[Frame], still: float
) -> float:  # fmt: skip
    """Let goals lead the body on without their limbs, if it moves by no more than `still` then; by how much it does."""
    for number in numbers:
        ob.dqik.goals[number].leads_body = True
    away = limb_keys.moved(context, ob, before)
    for number in numbers if away > still else ():
        ob.dqik.goals[number].leads_body = False
    return away


def _key_here(context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], to_ik: bool) -> None:
    """Key, as Auto Keying does, what a switch at the present frame has changed, and what moves the limbs then."""
    time = context.scene.frame_current_final
    for number in numbers:
        keying.key_path(ob, f"dqik.goals[{number}].influence", time, GROUP, auto=True)
    limbs = [ob.pose.bones[name] for number in numbers for name in limb_of(ob, number).own]
    moving = goals.target_owners(ob.dqik.goals[number] for number in numbers) if to_ik else limbs
    for owner in dict.fromkeys(moving):
        keying.key(owner, time, auto=True)


def _chain_of(ob: bpy.types.Object, armature: Armature, goal: bpy.types.PropertyGroup) -> list[str]:
    number = armature.index[goal.bone]
    bones = plan.chain_of(goal, armature.above(number), ob.pose.bones[number].dqik_translate)
    return [ob.pose.bones[bone].name for bone in bones if armature.controls[bone]]


def _note_answers(context: bpy.types.Context, ob: bpy.types.Object, before: Sequence[Frame]) -> None:
    """Have live solving leave the keyed poses of the frames as they are while nobody edits them."""
    digests: list[bytes] = []
    scene_state.look_again(context.scene)
    with offline.session(ob) as reading, scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for one in before:
            asked = offline.bake_frame(reading, ob, visits.visit(one.frame)).frame_input
            if asked is not None and asked.keyed:
                digests.append(asked.digest())
    own_answers.store(ob, digests)
    sessions.known.clear()
