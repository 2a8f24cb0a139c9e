# SPDX-License-Identifier: GPL-3.0-or-later
"""One limb from its goal to keys of its bones, or back, on some frames: nothing moves, on no frame of the scene.

On frames on which a limb is posed by its bones, the influence of its goal is 0. Keys are put at the switched frames and
beside them, and none elsewhere: there the keys of bones that had none have the pose that these start from. Where the
rest of the body would move without the goal, a trunk that it pulls for example, the goal leads it on; if that is not
enough, the body is keyed and held at the switched frames too. A figure without keys needs none: it is switched for the
whole shot.
"""

from collections.abc import Container, Generator, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.armature import Armature
from ..blender.dependencies import Dependencies, aims_of
from ..controls import goals, more_controls, selection
from ..figure.character import Character
from ..frame import commands, offline
from ..frame.read import own_answers
from ..frame.sessions import sessions
from ..keys import keyable, keying
from ..notes import Note
from ..skeleton import foot_roll, plan
from ..skeleton.foot_roll import RolledFoot
from . import holds, keys, limb_keys
from .limb_keys import GROUP, Frame

_STILL = 2e-5  # of the figure's size: what moves by less stays


class Limb(NamedTuple):
    """Bones by name: those of a goal's chain that no other goal moves, and all others that goals move."""

    own: list[str]
    others: list[str]


class Rest(NamedTuple):
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


def limb_of(ob: bpy.types.Object, number: int) -> Limb:
    """The limb of a goal; if it shares all bones with other goals, its own bone is its limb."""
    armature = Character.of(ob).armature
    chains = {
        k: _chain_of(ob, armature, goal) for k, goal in enumerate(ob.dqik.goals)
        if goal.bone in ob.pose.bones and (k == number or not goal.mute)
    }  # fmt: skip
    others = {bone for k, bones in chains.items() if k != number for bone in bones}
    own = [bone for bone in chains[number] if bone not in others] or [ob.dqik.goals[number].bone]
    toes = [(one.index, ob.pose.bones[one.foot.toes].name) for one in _rolled_feet(ob) if one.loose]
    own += [bone for k, bone in toes if k == number]
    every = dict.fromkeys([*chain(*chains.values()), *(bone for _, bone in toes)])
    return Limb(own, [bone for bone in every if bone not in own])


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
    paths = (keyable.path_of(bone, channel) for bone in bones.values() for channel in limb_keys.channels_of(bone))
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


def is_still(ob: bpy.types.Object) -> bool:
    """Whether no keys, drivers or strips move a figure or what its goals aim at: all frames show the same pose."""
    own = animation.animation(ob)
    bones = ((ob, bone.name) for bone in ob.pose.bones)
    others = {other for other, _ in Dependencies().all_behind([*aims_of(ob), *bones])} - {ob}
    animated = others and any(_has_animation(other) for other in (ob, *others))
    return not (own.bones or own.settings or own.custom or animated)


def switch_still(context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], to_ik: bool) -> float:
    """Switch the limbs of goals of a figure that `is_still`, on all frames; returns by how much the figure has moved.

    Auto Keying keys the influence, and the bones or targets that are to move now, at this frame.
    """
    before = _places(ob.evaluated_get(context.evaluated_depsgraph_get()))
    own = [ob.dqik.goals[number] for number in numbers]
    with commands.still(ob):
        depsgraph = context.evaluated_depsgraph_get()
        if to_ik:
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
    now = _places(ob.evaluated_get(context.evaluated_depsgraph_get()))
    return float(np.linalg.norm(now - before, axis=-1).max())


def switch(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], frames: Sequence[float], to_ik: bool,
    onward: bool,
) -> Generator[float, None, tuple[float, Rest | None]]:  # fmt: skip
    """Switch the limbs of goals on some frames; yields the progress.

    Needs live solving. to_ik : from bones to goals, else from goals to bones. onward : the frames after the last one
    are switched too, up to the next key of the influence. Nothing is keyed before all frames were read. Returns by how
    much the figure has moved, and the rest of the body if that is why: `keep` puts it back.
    """
    limbs = [limb_of(ob, number) for number in numbers]
    own = list(dict.fromkeys(bone for limb in limbs for bone in limb.own))
    every = list(dict.fromkeys([*own, *(bone for limb in limbs for bone in limb.others)]))
    around = {curves.frame_before(frames[0]), *frames, *([] if onward else [frames[-1] + 1])}
    keyed_whole = all(_is_keyed(ob, name) for name in every)
    halves = set() if to_ik else {frame + 0.5 for frame in frames[:-1]}
    visited = sorted(around | halves | (set() if keyed_whole else set(_span(context.scene))))
    aimed = _with_toes(ob, numbers) if to_ik else list(numbers)
    read = yield from _read(context, ob, numbers, aimed, every, visited, {*frames, *halves}, to_ik)
    before = [one for one in read if one.frame not in halves]
    starts = limb_keys.starts(context, ob, own)
    inside, near = [one for one in before if one.frame in frames], [one for one in before if one.frame in around]
    staying = [one for one in before if one.frame <= frames[-1] or not onward]
    outside = [near[0].time, *([] if onward else [near[-1].time])]
    for k, number in enumerate(numbers):
        ends = [near[0], near[1], *([] if onward else near[-1:])]
        values = [one.influences[k] for one in ends]
        values[1] = float(to_ik)
        keys.write_steps(ob, f"dqik.goals[{number}].influence", GROUP, [one.time for one in ends], values)
        if to_ik and any(one.rolls[k] for one in inside):  # the target is put where the foot is, and rolls no further
            limb_keys.key_no_roll(ob.dqik.goals[number], [one.time for one in ends], [one.rolls[k] for one in ends])
        ob.dqik.goals[number].mute &= not to_ik
    if to_ik:
        for k, owner in enumerate(goals.target_owners(ob.dqik.goals[number] for number in aimed)):
            wanted = {one.time: one.wanted[k] if one.frame in frames else one.targets[k] for one in near}
            limb_keys.key_target(owner, wanted, [one.time for one in inside], outside)
    else:
        switched = [one for one in read if one.frame in halves or one.frame in frames]
        limb_keys.key_limb(ob, own, starts, switched, outside)
    away, still = _moved(context, ob, staying), _STILL * Character.of(ob).size
    if away > still and not (to_ik or keyed_whole):
        away = _lead(context, ob, numbers, staying, still)
    free = [name for name in every if _is_free(ob, name)] if away > still else []
    body = [name for name in free if name not in own]
    return away, Rest(body, free, keyed_whole, inside, staying, outside) if body else None


def keep(context: bpy.types.Context, ob: bpy.types.Object, rest: Rest) -> float:
    """Key the rest of a body on the switched frames, and hold it there; returns by how much the figure has moved."""
    if rest.is_keyed:
        limb_keys.key_bones(ob, rest.every, rest.inside, rest.outside)
    else:
        limb_keys.hold_body(ob, rest.every, limb_keys.starts(context, ob, rest.every), rest.inside, rest.outside)
    _note_answers(context, ob, rest.inside)
    return _moved(context, ob, rest.staying)


def _is_free(ob: bpy.types.Object, name: str) -> bool:
    """Whether nothing is in the way of keys of a bone and its hold."""
    names = (*limb_keys.channels_of(ob.pose.bones[name]), holds.HOLD)
    return keyable.of_curves(ob, [curves.bone_path(name, one) for one in names]) is None


def _lead(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], before: Sequence[Frame], still: float
) -> float:  # fmt: skip
    """Let goals lead the body on without their limbs, if it moves by no more than `still` then; by how much it does."""
    for number in numbers:
        ob.dqik.goals[number].leads_body = True
    away = _moved(context, ob, before)
    for number in numbers if away > still else ():
        ob.dqik.goals[number].leads_body = False
    return away


def _span(scene: bpy.types.Scene) -> range:
    """The frames of a scene."""
    return range(scene.frame_start, scene.frame_end + 1)


def _has_animation(ob: bpy.types.Object) -> bool:
    """Whether an object has an action, drivers or strips."""
    data = ob.animation_data
    return data is not None and bool(data.action or data.drivers or data.nla_tracks)


def _key_here(context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], to_ik: bool) -> None:
    """Key, as Auto Keying does, what a switch at the present frame has changed, and what moves the limbs then."""
    time = context.scene.frame_current_final
    for number in numbers:
        keying.key_path(ob, f"dqik.goals[{number}].influence", time, GROUP, auto=True)
    limbs = [ob.pose.bones[name] for number in numbers for name in limb_of(ob, number).own]
    moving = goals.target_owners(ob.dqik.goals[number] for number in numbers) if to_ik else limbs
    for owner in dict.fromkeys(moving):
        keying.key(owner, time, "Object Transforms" if owner == owner.id_data else owner.name, auto=True)


def _is_keyed(ob: bpy.types.Object, name: str) -> bool:
    """Whether keys turn a bone and, if it may move, move it."""
    bone = ob.pose.bones[name]
    return all(keys.has_curve(bone, channel) for channel in limb_keys.channels_of(bone))


def _chain_of(ob: bpy.types.Object, armature: Armature, goal: bpy.types.PropertyGroup) -> list[str]:
    """The names of the bones that a goal moves."""
    number = armature.index[goal.bone]
    bones = plan.chain_of(goal, armature.above(number), ob.pose.bones[number].dqik_translate)
    return [ob.pose.bones[bone].name for bone in bones if armature.controls[bone]]


def _read(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], aimed: Sequence[int],
    names: Sequence[str], visited: Sequence[float], switched: Container[float], to_ik: bool,
) -> Generator[float, None, list[Frame]]:  # fmt: skip
    """What the frames show; yields the progress from 0 to 1.

    aimed : goals whose targets are read. switched : the frames that go to goals, if to_ik, or to bones.
    """
    found: list[Frame] = []
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for count, frame in enumerate(visited, 1):
            visits.visit(frame)
            depsgraph = context.evaluated_depsgraph_get()
            shown = ob.evaluated_get(depsgraph)
            own = [shown.dqik.goals[number] for number in numbers]
            influences = [0.0 if goal.mute else goal.influence for goal in own]
            bones = {name: scene_state.transform(shown.pose.bones[name]) for name in names}
            bones |= _unbent(ob, shown, numbers if frame in switched else ())
            targets, wanted = _targets(ob, aimed), []
            rolls = [foot_roll.of(ob.dqik.goals[number]) for number in numbers]
            if to_ik:
                acting = {number for number, influence, roll in zip(numbers, influences, rolls, strict=True)
                          if influence == 1.0 and not roll}  # their targets stay, also where they are missed
                switched = [number for number in aimed if number not in acting]
                wanted = _wanted(ob, aimed, switched, depsgraph)
            found.append(Frame(
                frame, context.scene.frame_current_final, bones, _places(shown), influences,
                rolls, targets, wanted,
            ))  # fmt: skip
            yield count / len(visited)
    return found


def _wanted(
    ob: bpy.types.Object, numbers: Sequence[int], switched: Sequence[int], depsgraph: bpy.types.Depsgraph
) -> list[scene_state.Transform]:  # fmt: skip
    """The transforms of targets and poles of goals with which some ask for the present pose, without rolls."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    before = [scene_state.transform(owner) for owner in owners]
    places = goals.places(ob, switched, depsgraph, rolls=False)
    following = {number for number in places if ob.dqik.goals[number].rotation_follows > 0.0}
    for some in (following, places.keys() - following):  # toes, by their turn against the foot's control as it was
        goals.put_targets(ob, {number: places[number] for number in some}, depsgraph)
    found = _targets(ob, numbers)
    for owner, transform in zip(owners, before, strict=True):
        scene_state.set_transform(owner, transform)
    return found


def _with_toes(ob: bpy.types.Object, numbers: Sequence[int]) -> list[int]:
    """The goals, and those of the toes of rolled feet, which bend against the control instead of by the roll."""
    rig = sessions.of(ob).rig.rig
    own = [] if rig is None else [
        rig.goals[one.toes].number for one in rig.rolled_feet
        if one.index in numbers and one.toes >= 0 and not one.loose
    ]  # fmt: skip
    return list(dict.fromkeys([*numbers, *own]))


def _rolled_feet(ob: bpy.types.Object) -> list[RolledFoot]:
    rig = sessions.of(ob).rig.rig
    return [] if rig is None else rig.rolled_feet


def _unbent(ob: bpy.types.Object, shown: bpy.types.Object, but: Container[int]) -> dict[str, scene_state.Transform]:
    """Toes that the roll of their foot bends, as they are without it. shown : the evaluated object. but : goals."""
    rig, found = sessions.of(ob).rig.rig, dict[str, scene_state.Transform]()
    rolls = [0.0 if number in but or goal.influence == 0.0 else foot_roll.of(ob.dqik.goals[number])
             for number, goal in enumerate(shown.dqik.goals)]  # fmt: skip
    for number, back in ({} if rig is None else rig.unbent(rolls)).items():
        bone, path = shown.pose.bones[number], rotation.PATHS[shown.pose.bones[number].rotation_mode]
        values = np.array([*getattr(bone, path), 0.0][:4])
        turned = quaternion.product(back, rotation.to_quaternion(bone.rotation_mode, values))
        channels = rotation.from_quaternion(bone.rotation_mode, turned, values)[: rotation.SIZES[bone.rotation_mode]]
        at = scene_state.TRANSFORM.index(path)
        transform = scene_state.transform(bone)
        found[bone.name] = (*transform[:at], tuple(channels.tolist()), *transform[at + 1 :])
    return found


def _targets(ob: bpy.types.Object, numbers: Sequence[int]) -> list[scene_state.Transform]:
    """The transforms of the targets and poles of goals."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    return [scene_state.transform(owner) for owner in owners]


def _places(shown: bpy.types.Object) -> np.ndarray:
    """The heads and tails (N, 3) of an evaluated object's bones, but for those of targets of its goals."""
    controls = {goal.subtarget for goal in shown.dqik.goals}
    bones = [bone for bone in shown.pose.bones if bone.name not in controls]
    return np.array([place for bone in bones for place in (bone.head, bone.tail)])


def _look_again(scene: bpy.types.Scene) -> None:
    """Solve the present frame with new keys, so that its old pose does not count as posed by hand."""
    scene_state.visit(scene, scene.frame_current + scene.frame_subframe)


def _moved(context: bpy.types.Context, ob: bpy.types.Object, before: Sequence[Frame]) -> float:
    """By how much the figure has moved at most on the frames since they were read."""
    away = 0.0
    _look_again(context.scene)
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for one in before:
            visits.visit(one.frame)
            now = _places(ob.evaluated_get(context.evaluated_depsgraph_get()))
            away = max(away, float(np.linalg.norm(now - one.places, axis=-1).max()))
    return away


def _note_answers(context: bpy.types.Context, ob: bpy.types.Object, before: Sequence[Frame]) -> None:
    """Have live solving leave the keyed poses of the frames as they are while nobody edits them."""
    digests: list[bytes] = []
    _look_again(context.scene)
    with offline.session(ob) as reading, scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for one in before:
            visits.visit(one.frame)
            asked = offline.bake_frame(reading, ob, context.evaluated_depsgraph_get()).frame_input
            if asked is not None and asked.keyed:
                goals = own_answers.of_goals(asked.prepared, asked.targets)
                digests.append(own_answers.digest(asked.posed, goals))
    own_answers.store(ob, digests)
    sessions.known.clear()


