# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion in the 3D view: ghosts of frames around the present one, and arcs of controls and bones."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from .. import curves
from ..blender import dependencies, places, scene_state
from ..clip import seen_motion
from ..clip.seen_motion import Mesh
from ..controls import selection
from ..shot import keys


@dataclass(frozen=True, eq=False)
class Ghost:
    """An armature at another frame. away : frames from the present one, negative before it.

    bones : (B, 2, 3) lines from heads to tails. meshes : none if only bones are shown.
    """

    frame: int
    away: int
    bones: np.ndarray
    meshes: tuple[Mesh, ...]


@dataclass(frozen=True, eq=False)
class Arc:
    """The path of a control or a bone.

    frames, places : (F,), (F, 3). is_keyed, is_missed : (F,), whether it has a key there, and whether its goal is
    missed. reached : (F, 3) where the goal's bone is; the places themselves where there is no goal.
    """

    name: str
    frames: np.ndarray
    places: np.ndarray
    is_keyed: np.ndarray
    is_missed: np.ndarray
    reached: np.ndarray


def ghosts(ob: bpy.types.Object, scene: bpy.types.Scene) -> list[Ghost]:
    """The ghosts that are known so far, the farthest first, so that nearer ones are drawn over them."""
    known, of = seen_motion.known(ob).frames, ob.dqik.ghosts_of
    frames = [frame for frame in seen_motion.ghost_frames(ob, scene) if frame in known]
    body = body_bones(ob) if "BONES" in of else []
    found = []
    for frame in reversed(frames):
        shown = known[frame]
        if len(shown.heads) == len(ob.pose.bones):
            bones = np.stack([shown.heads[body], shown.tails[body]], 1) if body else np.zeros((0, 2, 3))
            meshes = shown.meshes or () if "MESH" in of else ()
            found.append(Ghost(frame, frame - scene.frame_current, bones, meshes))
    return found


def body_bones(ob: bpy.types.Object) -> list[int]:
    """The numbers of the bones that deform, or of all if none does, without control bones."""
    controls = dependencies.control_bones(ob)
    own = [number for number, bone in enumerate(ob.pose.bones) if bone.name not in controls]
    return [number for number in own if ob.data.bones[number].use_deform] or own


def arcs(
    ob: bpy.types.Object, scene: bpy.types.Scene, bones: Sequence[str], objects: Sequence[bpy.types.Object]
) -> list[Arc]:  # fmt: skip
    """The arcs of bones, by name, and of objects that are targets, over the range that plays.

    There are none before all its frames are known, or after a change, until it is known again.
    """
    known = seen_motion.known(ob)
    first, last = scene_state.shown_range(scene)
    frames = list(range(first, last + 1))
    if not ob.dqik.arcs or known.is_old or not known.frames.keys() >= set(frames):
        return []
    shown = [known.frames[frame] for frame in frames]
    if any(len(one.heads) != len(ob.pose.bones) or len(one.targets) != len(ob.dqik.goals) for one in shown):
        return []
    found = [_arc(ob, scene, name, selection.goal_of_bone(ob, name), frames, shown) for name in bones]
    goals = ((one, selection.goal_of_object(ob, one)) for one in objects if one != ob)
    return found + [_arc(ob, scene, "", goal, frames, shown) for _, goal in goals if goal >= 0]


def _arc(
    ob: bpy.types.Object, scene: bpy.types.Scene, bone: str, number: int, frames: Sequence[int],
    shown: Sequence[seen_motion.SeenFrame],
) -> Arc:  # fmt: skip
    """The arc of a bone, or if it has no name, of a goal's target."""
    goal = ob.dqik.goals[number] if number >= 0 else None
    end = ob.pose.bones.find(goal.bone if goal is not None else bone)
    reached = seen_motion.places(shown, [end], goal is not None and goal.use_tail)[0]
    way = reached
    if not bone:
        way = np.array([one.targets[number] for one in shown])
    elif goal is None or goal.bone != bone:
        way = seen_motion.places(shown, [ob.pose.bones.find(bone)], False)[0]
    owner = places.owner_of(ob, bone) if bone else goal.target
    times = set(curves.times(keys.curves_of(owner)))
    is_keyed = np.array([round(time, 3) in times for time in scene_state.times(scene, frames)])
    is_missed = np.array([number in one.missed for one in shown])
    return Arc(bone or goal.target.name, np.array(frames), way, is_keyed, is_missed, reached)
