# SPDX-License-Identifier: GPL-3.0-or-later
"""What frames show of limbs that are switched between goals and bones, and whether anything has moved since."""

from collections.abc import Container, Generator, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import rotation, scene_state
from ..controls import goals
from ..frame.sessions import sessions
from ..skeleton import foot_roll
from ..skeleton.foot_roll import RolledFoot


class Frame(NamedTuple):
    """What a frame shows: its number and time, bones, influences and rolls of goals, and where targets are and belong.

    On frames that keep their goals, toes that a roll bends are as without it.
    """

    frame: float
    time: float
    bones: dict[str, scene_state.Transform]
    places: np.ndarray  # (N, 3) of the bones' heads and tails
    influences: list[float]
    rolls: list[float]
    targets: list[scene_state.Transform]
    wanted: list[scene_state.Transform]


def read(
    context: bpy.types.Context, ob: bpy.types.Object, numbers: Sequence[int], aimed: Sequence[int],
    names: Sequence[str], visited: Sequence[float], switched: Container[float], to_ik: bool,
) -> Generator[float, None, list[Frame]]:  # fmt: skip
    """What the frames show; yields the progress from 0 to 1.

    aimed : goals whose targets are read. switched : the frames that go to goals, if to_ik, or to bones.
    """
    found: list[Frame] = []
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for count, frame in enumerate(visited, 1):
            depsgraph = visits.visit(frame)
            shown = ob.evaluated_get(depsgraph)
            own = [shown.dqik.goals[number] for number in numbers]
            influences = [0.0 if goal.mute else goal.influence for goal in own]
            bones = {name: scene_state.transform(shown.pose.bones[name]) for name in names}
            bones |= _unbent(ob, shown, numbers if frame in switched else ())
            targets, wanted = targets_of(ob, aimed), []
            rolls = [foot_roll.of(ob.dqik.goals[number]) for number in numbers]
            if to_ik:
                acting = {number for number, influence, roll in zip(numbers, influences, rolls, strict=True)
                          if influence == 1.0 and not roll}  # their targets stay, also where they are missed
                wanted = wanted_targets(ob, aimed, [number for number in aimed if number not in acting], depsgraph)
            time = context.scene.frame_current_final
            found.append(Frame(frame, time, bones, places(shown), influences, rolls, targets, wanted))
            yield count / len(visited)
    return found


def wanted_targets(
    ob: bpy.types.Object, numbers: Sequence[int], switched: Sequence[int], depsgraph: bpy.types.Depsgraph
) -> list[scene_state.Transform]:  # fmt: skip
    """The transforms of targets and poles of goals with which some ask for the present pose, without rolls."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    before = [scene_state.transform(owner) for owner in owners]
    places = goals.places(ob, switched, depsgraph, rolls=False)
    following = {number for number in places if ob.dqik.goals[number].rotation_follows > 0.0}
    for some in (following, places.keys() - following):  # toes, by their turn against the foot's control as it was
        goals.put_targets(ob, {number: places[number] for number in some}, depsgraph)
    found = targets_of(ob, numbers)
    for owner, transform in zip(owners, before, strict=True):
        scene_state.set_transform(owner, transform)
    return found


def with_toes(ob: bpy.types.Object, numbers: Sequence[int]) -> list[int]:
    """The goals, and those of the toes of rolled feet, which bend against the control instead of by the roll."""
    rig = sessions.of(ob).rig.rig
    own = [] if rig is None else [
        rig.goals[one.toes].number for one in rig.rolled_feet
        if one.index in numbers and one.toes >= 0 and not one.loose
    ]  # fmt: skip
    return list(dict.fromkeys([*numbers, *own]))


def rolled_feet(ob: bpy.types.Object) -> list[RolledFoot]:
    """The feet whose roll is in use."""
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
        found[bone.name] = with_channel(scene_state.transform(bone), path, channels)
    return found


def with_channel(transform: scene_state.Transform, path: str, values: np.ndarray) -> scene_state.Transform:
    """A transform with other values of a channel."""
    at = scene_state.TRANSFORM.index(path)
    return (*transform[:at], tuple(values.tolist()), *transform[at + 1 :])


def targets_of(ob: bpy.types.Object, numbers: Sequence[int]) -> list[scene_state.Transform]:
    """The present transforms of targets and poles of goals."""
    owners = goals.target_owners(ob.dqik.goals[number] for number in numbers)
    return [scene_state.transform(owner) for owner in owners]


def places(shown: bpy.types.Object) -> np.ndarray:
    """The heads and tails (N, 3) of an evaluated object's bones, but for those of targets of its goals."""
    controls = {goal.subtarget for goal in shown.dqik.goals}
    bones = [bone for bone in shown.pose.bones if bone.name not in controls]
    return np.array([place for bone in bones for place in (bone.head, bone.tail)])


def moved(context: bpy.types.Context, ob: bpy.types.Object, before: Sequence[Frame]) -> float:
    """By how much the figure has moved at most on the frames since they were read."""
    away = 0.0
    scene_state.look_again(context.scene)
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for one in before:
            now = places(ob.evaluated_get(visits.visit(one.frame)))
            away = max(away, float(np.linalg.norm(now - one.places, axis=-1).max()))
    return away
