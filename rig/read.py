# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of an armature as arrays: where its joints hang, where they start, what the goals ask for.

Positions and orientations are in armature space. Everything is read from evaluated data; what depends on our own last
answer (the offsets of solved bones) is measured against the rest pose and used only where the two really differ, so
that a frame's input does not depend on the frames visited before.
"""

from dataclasses import dataclass
from math import hypot

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ..solvers import InvalidGoal, Pose, Prepared
from ..solvers.algebra import dual_quaternion, quaternion
from ..solvers.model.goals import Targets
from .armature import matrices
from .build import Rig
from .channels import Channels

_SAME = 1e-4  # of the rig's size: offsets nearer to the rest pose's are the rest pose's
_FINE = 1e-7  # of the rig's size: others are rounded to it, no coarser than they are measured
_GRID = 1e-5  # of a bone's length: its stretch is rounded to it


@dataclass
class FrameInput:
    """What one frame's solve needs.

    rig, prepared : what to solve it with. links : (1, J, 8). start : `Pose` of (1, J, ...). targets : of one frame.
    slide_scale : (T,) by which each sliding bone's location is larger than its channel.
    """

    rig: Rig
    prepared: Prepared
    links: np.ndarray
    start: Pose
    targets: Targets
    slide_scale: np.ndarray


def read(
    ob: bpy.types.Object, rig: Rig, base: Channels, posed: Channels, depsgraph: bpy.types.Depsgraph,
    solved: "dict[int, SolvedPose] | None" = None,
) -> FrameInput:  # fmt: skip
    """Read one frame of an evaluated armature object.

    Parameters
    ----------
    ob : the evaluated object. base : the channels that the frame starts from.
    posed : the channels that the evaluated pose was made with (which hold our last answer).
    solved : by session_uid, the armatures that were solved for this frame but are not evaluated again yet.
    """
    scale = np.ones(len(rig.slide_row))
    links, start, prepared = None, _start(rig, base), rig.prepared
    if rig.simple and _hangs_as_at_rest(ob, rig):
        links = _rest_links(ob, rig)
    if links is None:
        world = matrices(ob.pose.bones, "matrix")
        links, scale = _measured_links(rig, world, base.quaternions()[rig.bones], posed)
        prepared = rig.stretched(_stretch(rig, world))
    for k, (joint, row) in enumerate(zip(rig.slide_joint, rig.slide_row, strict=True)):
        # offset = frame @ location * scale, one slide an axis of that frame
        location = base.locations[rig.bones[row]] * scale[k]
        start.translations[0, joint : joint + 3] = rig.slide_frame[k].T * location[:, None]
    targets = _targets(ob, rig, prepared, Scene(depsgraph, solved or {}), links, start)
    return FrameInput(rig, prepared, links, start, targets, scale)


def unseen(ob: bpy.types.Object, rig: Rig, depsgraph: bpy.types.Depsgraph) -> list[str]:
    """Sentences about targets that Blender leaves out of the scene's evaluation, so that their motion is not seen.

    ob : the original object.
    """
    wanted: dict[bpy.types.Object, str] = {}
    for binding in rig.goals:
        goal = ob.dqik.goals[binding.index]
        wanted.update((aim, goal.name) for aim in (goal.target, goal.pole_target) if aim is not None)
    shown = {evaluated.original.session_uid for evaluated in depsgraph.ids}
    return [
        f"Goal {name!r}: {aim.name!r} is disabled in the viewport and stands still; hide it with the eye instead"
        for aim, name in wanted.items()
        if aim.session_uid not in shown
    ]


def _start(rig: Rig, base: Channels) -> Pose:
    """The start pose (1, J, ...), slides at 0; kept while the base stays as it is."""
    if rig.known_start is not None and np.array_equal(rig.known_start[0], base.rotations):
        rotations = rig.known_start[1]
    else:
        rotations = np.tile(quaternion.IDENTITY, (1, len(rig.skeleton), 1))
        rotations[0, rig.main[rig.solved]] = base.quaternions()[rig.solved_bones]
        rig.known_start = base.rotations.copy(), rotations
    return Pose(rotations, np.zeros((1, len(rig.skeleton), 3)))


def _unscaled(matrices_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (..., 3, 3) and column lengths (..., 3) of 4 x 4 matrices."""
    scale = np.sqrt((matrices_of[..., :3, :3] ** 2).sum(-2))
    return matrices_of[..., :3, :3] / np.maximum(scale, 1e-12)[..., None, :], scale


def _stretch(rig: Rig, world: np.ndarray) -> tuple[float, ...]:
    """How much longer than at rest the goals' own bones are (G,), which moves their tails."""
    length = np.sqrt((world[rig.bones[rig.goal_rows], :3, 1] ** 2).sum(-1))
    return tuple(np.where(np.abs(length - 1.0) < _SAME, 1.0, np.round(length, 6)).tolist())


def _inner_offsets(rig: Rig, world: np.ndarray) -> np.ndarray:
    """Heads of the inner bones in their parents' turned frames, as evaluated."""
    above = world[rig.parent[rig.inner]]
    turned, _ = _unscaled(above)
    away = world[rig.bones[rig.inner], :3, 3] - above[:, :3, 3]
    return (away[:, None, :] @ turned)[:, 0]


def _hangs_as_at_rest(ob: bpy.types.Object, rig: Rig) -> bool:
    """Whether no bone of the skeleton is moved off its parent or scaled, as on most rigs."""
    bones = ob.pose.bones
    buffer = np.empty(3 * len(bones), dtype=np.float32)
    packed = []
    for path in ("location", "scale"):
        bones.foreach_get(path, buffer)
        packed.append(buffer.tobytes())
    if rig.known_hanging is None or rig.known_hanging[0] != packed:
        moved, scaled = (np.frombuffer(part, dtype=np.float32).reshape(-1, 3) for part in packed)
        rests = not moved[rig.bones[rig.inner]].any() and not (scaled[rig.bones] != 1.0).any()
        rig.known_hanging = packed, rests
    return rig.known_hanging[1]


def _rest_links(ob: bpy.types.Object, rig: Rig) -> np.ndarray | None:
    """Links (1, J, 8) of a rig whose bones all hang where they do at rest: only the roots are to be placed."""
    links = rig.rest_links.copy()
    return links[None] if place_roots(ob, rig, links) else None


def place_roots(ob: bpy.types.Object, rig: Rig, links: np.ndarray) -> bool:
    """Put the joints that hang from bones outside the skeleton where those are, into links (J, 8).

    False, and nothing done, where one of these bones is scaled.
    """
    bones, turned = ob.pose.bones, {}
    for bone in rig.root_parents:
        _, q, (x, y, z) = bones[bone].matrix.decompose()
        if not (abs(x - 1.0) < _SAME and abs(y - 1.0) < _SAME and abs(z - 1.0) < _SAME):
            return False
        turned[bone] = _unit(q)
    for joint, bone, above, rest in rig.root_places:
        w, x, y, z = rest if above < 0 else _product(turned[above], rest)
        tx, ty, tz = bones[bone].head
        links[joint] = (
            w, x, y, z, -0.5 * (tx * x + ty * y + tz * z), 0.5 * (tx * w + ty * z - tz * y),
            0.5 * (ty * w + tz * x - tx * z), 0.5 * (tz * w + tx * y - ty * x),
        )  # fmt: skip
    return True


def _unit(q: Quaternion) -> tuple[float, ...]:
    length = hypot(*q)
    return (q[0] / length, q[1] / length, q[2] / length, q[3] / length)


def _product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    """Hamilton product of one pair: for so few NumPy costs more than the arithmetic, and mathutils loses digits."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)  # fmt: skip


def _measured_links(rig: Rig, world: np.ndarray, start_q: np.ndarray, posed: Channels) -> tuple[np.ndarray, np.ndarray]:
    """Links (1, J, 8) as this frame has them, and the scale (T,) of the sliding bones' locations."""
    turned, scale = _unscaled(world)
    bones, parent = rig.bones, rig.parent
    has_parent = parent >= 0
    offsets = world[bones, :3, 3]  # of a rooted bone: in armature space
    offsets[rig.inner] = _inner_offsets(rig, world)
    rotations = rig.own_rest.copy()
    if rig.hanging:
        above = quaternion.from_matrix(turned[parent[rig.hanging]])
        rotations[rig.hanging] = quaternion.product(above, rig.own_rest[rig.hanging])
    slide_scale = np.ones(len(rig.slide_row))
    for k, row in enumerate(rig.slide_row):
        if has_parent[row]:
            slide_scale[k] = scale[parent[row]].mean()
        moved = rig.slide_frame[k] @ posed.locations[bones[row]] * slide_scale[k]
        if rig.rooted[row] and has_parent[row]:
            moved = turned[parent[row]] @ moved
        offsets[row] -= moved
    settled = [*rig.inner, *(row for row in rig.slide_row if rig.rooted[row] and not has_parent[row])]
    offsets[settled] = _settled(offsets[settled], rig.rest_offset[settled], rig.size)
    still, held = rig.still, rig.held_rows
    rotations[still] = quaternion.product(rotations[still], start_q[still])
    if held.size:
        own = quaternion.from_matrix(turned[bones[held]])
        follows = (~rig.rooted & ~rig.detached)[held]
        above = quaternion.from_matrix(turned[np.maximum(parent[held], 0)])
        rotations[held] = np.where(follows[:, None], quaternion.product(quaternion.conjugate(above), own), own)
    links = np.tile(dual_quaternion.IDENTITY, (len(rig.skeleton), 1))
    links[rig.main] = dual_quaternion.from_parts(rotations, offsets)
    for joint, row in zip(rig.slide_joint, rig.slide_row, strict=True):
        # the first slide carries the offset, the main joint the orientation
        frame, own = quaternion.IDENTITY, rotations[row]
        if rig.rooted[row] and has_parent[row]:
            frame = quaternion.from_matrix(turned[parent[row]])
            own = quaternion.product(quaternion.conjugate(frame), own)
        links[rig.main[row]] = dual_quaternion.from_parts(own, np.zeros(3))
        links[joint] = dual_quaternion.from_parts(frame, offsets[row])
    return links[None], slide_scale


def _settled(measured: np.ndarray, rest: np.ndarray, size: float) -> np.ndarray:
    """Offsets (B, 3): the rest pose's where the measured ones do not differ, else the measured ones on a grid."""
    same = (np.abs(measured - rest) < _SAME * size).all(-1, keepdims=True)
    return np.where(same, rest, np.round(measured / (_FINE * size)) * (_FINE * size))


@dataclass
class SolvedPose:
    """An armature solved for this frame, for targets that follow its bones: evaluated object, rig, answer (J, 8)."""

    ob: bpy.types.Object
    rig: Rig
    world: np.ndarray

    def correction(self, bone: bpy.types.PoseBone | None) -> Matrix | None:
        """The armature-space motion from where an evaluated bone stands to where the answer puts it."""
        while bone is not None:
            row = np.flatnonzero(self.rig.bones == self.ob.pose.bones.find(bone.name))
            if row.size:
                at = self.world[self.rig.main[row[0]]]
                place = Matrix.LocRotScale(dual_quaternion.translation(at), Quaternion(at[:4]), bone.matrix.to_scale())
                return place @ bone.matrix.inverted_safe()
            bone = bone.parent
        return None


@dataclass
class Scene:
    """Where targets are looked up: the depsgraph, and armatures whose answers it does not know yet."""

    depsgraph: bpy.types.Depsgraph
    solved: dict[int, SolvedPose]


def _targets(
    ob: bpy.types.Object, rig: Rig, prepared: Prepared, scene: Scene, links: np.ndarray, start: Pose
) -> Targets:
    """What the goals ask for this frame, in armature space; influence below 1 asks for less of the way."""
    found = places(ob, rig, scene)
    if found is None:
        raise InvalidGoal("A goal's target is gone: choose another one")
    positions, rotations, poles = (np.array([part]) for part in found)
    if rig.eased:
        _ease(rig, prepared, positions, rotations, links, start)
    return Targets(positions, rotations, poles)


def places(ob: bpy.types.Object, rig: Rig, scene: Scene) -> tuple[list, list, list] | None:
    """Where the targets are in armature space, how they are turned, and where the poles are: a triple or four a goal.

    None where a target is gone. ob : the evaluated object.
    """
    motion = _motion(ob, scene) if scene.solved else None
    inverse = (ob.matrix_world if motion is None else motion @ ob.matrix_world).inverted_safe()
    goals, own, nowhere = list(ob.dqik.goals), ob.original, (0.0, 0.0, 0.0)
    positions, turns, ends = [], [], []
    for binding in rig.goals:
        goal = goals[binding.index]
        target = goal.target
        if target is None:
            return None
        matrix = target_matrix(target, goal.subtarget, ob, own, inverse, scene)
        positions.append(matrix.translation[:])
        turns.append(matrix.to_quaternion()[:])
        pole = goal.pole_target if binding.pole else None
        ends.append(nowhere if pole is None else target_matrix(
            pole, goal.pole_subtarget, ob, own, inverse, scene
        ).translation[:])  # fmt: skip
    return positions, turns, ends


def target_matrix(
    target: bpy.types.Object, subtarget: str, ob: bpy.types.Object, own: bpy.types.Object, inverse: Matrix, scene: Scene
) -> Matrix:
    """A target's evaluated matrix in the armature space of the evaluated object `ob`, whose original is `own`."""
    if target == own:
        return ob.pose.bones[subtarget].matrix
    evaluated = target.evaluated_get(scene.depsgraph)
    matrix, name = evaluated.matrix_world, ""
    if subtarget and evaluated.type == "ARMATURE":
        matrix, name = matrix @ evaluated.pose.bones[subtarget].matrix, subtarget
    motion = _motion(evaluated, scene, name) if scene.solved else None
    return inverse @ (matrix if motion is None else motion @ matrix)


def _motion(ob: bpy.types.Object, scene: Scene, bone: str = "") -> Matrix | None:
    """How an evaluated object, or a bone of it, moves in the world with armatures that are solved for this frame.

    Followed are parents, and constraints that carry the object along; None where nothing moves.
    """
    if not scene.solved:
        return None
    motions: list[Matrix] = []
    for constraint in ob.constraints:
        carried = _carried(constraint, scene) if not constraint.mute and constraint.influence == 1.0 else None
        motions = motions if carried is None else [carried]
    if ob.parent is not None and not motions:
        above = _motion(ob.parent, scene, ob.parent_bone if ob.parent_type == "BONE" else "")
        motions += [] if above is None else [above]
    known = scene.solved.get(ob.original.session_uid) if bone else None
    if known is not None:
        correction = known.correction(known.ob.pose.bones.get(bone))
        if correction is not None:
            place = known.ob.matrix_world
            motions.append(place @ correction @ place.inverted_safe())
    motion: Matrix | None = None
    for step in motions:
        motion = step if motion is None else motion @ step
    return motion


def _carried(constraint: bpy.types.Constraint, scene: Scene) -> Matrix | None:
    """How a constraint moves its owner in the world with armatures that are solved for this frame."""
    if constraint.type not in {"CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION"} or constraint.target is None:
        return None
    target, bone = constraint.target, constraint.subtarget
    motion = _motion(target, scene, bone if target.type == "ARMATURE" else "")
    if motion is None or constraint.type != "COPY_LOCATION":
        return motion
    place = target.matrix_world @ target.pose.bones[bone].head if bone else target.matrix_world.translation
    return Matrix.Translation(motion @ place - place)


def _ease(
    rig: Rig, prepared: Prepared, positions: np.ndarray, rotations: np.ndarray, links: np.ndarray, start: Pose
) -> None:
    """Move targets of goals with an influence below 1 toward where their bones start, in place."""
    world = rig.skeleton.transforms(start.rotations, start.translations, links)
    for k, binding in enumerate(rig.goals):
        goal = prepared.goals[k]
        began = dual_quaternion.transform(world[0, goal.joint], np.asarray(goal.offset, dtype=float))
        share = binding.influence
        positions[0, k] = began + share * (positions[0, k] - began)
        own = world[0, goal.joint, :4]
        turn = quaternion.log(quaternion.product(quaternion.conjugate(own), rotations[0, k]))
        rotations[0, k] = quaternion.product(own, quaternion.exp(share * turn))
