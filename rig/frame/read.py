# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of an armature as arrays: link offsets, start pose and targets.

Positions and orientations are in armature space and are read from evaluated data. The offsets of solved bones contain
rounding errors from our own last answer, so the rest pose's offsets are used unless the measured ones clearly differ;
a frame's input then does not depend on the frames visited before.
"""

from dataclasses import dataclass
from math import hypot

import bpy
import numpy as np
from mathutils import Quaternion

from ...solvers import Pose, Prepared
from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.model.goals import Targets
from ..blender.armature import matrices
from ..blender.channels import Channels
from ..setup.build import Rig
from .targets import Place, armature_motion
from .view import View

_SAME = 1e-4  # of the rig's size: offsets that differ from the rest pose's by less are replaced by these
_FINE = 1e-7  # of the rig's size: other offsets are rounded to this, about their single precision


@dataclass
class FrameInput:
    """The input of one frame's solve.

    rig, prepared : the rig and its prepared solve. links : (1, J, 8). start : `Pose` of (1, J, ...). targets : of one
    frame. slide_scale : (T,) factor from each sliding bone's location channel to its offset.
    """

    rig: Rig
    prepared: Prepared
    links: np.ndarray
    start: Pose
    targets: Targets
    slide_scale: np.ndarray


def read(
    ob: bpy.types.Object, rig: Rig, start: Channels, posed: Channels, places: list[Place], influences: list[float],
    view: View,
) -> FrameInput:  # fmt: skip
    """Read one frame of an evaluated armature object.

    Parameters
    ----------
    start : the channels that the frame starts from. posed : those that the evaluated pose was made with, which may
        hold our last answer. places, influences : of all goals, as `targets.read` has them.
    """
    scale = np.ones(len(rig.slide_row))
    links, pose, prepared = None, _start(rig, start), rig.prepared
    if rig.simple and _hangs_as_at_rest(ob, rig, posed):
        links = _rest_links(ob, rig)
    if links is None:
        world = matrices(ob.pose.bones, "matrix")
        links, scale = _measured_links(rig, world, start, posed)
        prepared = rig.stretched(_stretch(rig, world))
    for k, (joint, row) in enumerate(zip(rig.slide_joint.tolist(), rig.slide_row.tolist(), strict=True)):
        # offset = frame @ location * scale, one slide an axis of that frame
        location = start.locations[rig.bones[row]] * scale[k]
        pose.translations[0, joint : joint + 3] = rig.location_frame[row].T * location[:, None]
    targets = _targets(ob, rig, prepared, places, influences, links, pose, view)
    return FrameInput(rig, prepared, links, pose, targets, scale)


def _start(rig: Rig, start: Channels) -> Pose:
    """The start pose (1, J, ...), slides at 0; cached until the rotation channels change."""
    turned = start.rotations[rig.solved_bones]
    contents = turned.tobytes()
    if rig.start is None or rig.start[0] != contents:
        rotations = np.tile(quaternion.IDENTITY, (1, len(rig.skeleton), 1))
        rotations[0, rig.solved_joints] = start.modes.quaternions(turned, rig.solved_bones)
        rig.start = contents, rotations
    return Pose(rig.start[1], np.zeros((1, len(rig.skeleton), 3)))


def _hangs_as_at_rest(ob: bpy.types.Object, rig: Rig, posed: Channels) -> bool:
    """Whether all bones of the skeleton are at their rest offsets and not scaled, as on most rigs."""
    if posed.locations[rig.inner_bones].any():
        return False
    scale = np.empty_like(posed.locations)
    ob.pose.bones.foreach_get("scale", scale.reshape(-1))
    return scale[rig.bones].tobytes() == rig.no_scale


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


def _rest_links(ob: bpy.types.Object, rig: Rig) -> np.ndarray | None:
    """Links (1, J, 8) of a rig whose bones are at their rest offsets; None if a bone above it is scaled."""
    links = rig.rest_links.copy()
    return links[None] if place_roots(ob, rig, links) else None


def place_roots(ob: bpy.types.Object, rig: Rig, links: np.ndarray) -> bool:
    """Write the links of the root joints, which hang from bones outside the skeleton, into links (J, 8).

    If one of these bones is scaled, nothing is written and False returned.
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
    """Hamilton product of one pair in plain Python: NumPy is slower here, and mathutils has single precision."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)  # fmt: skip


def _measured_links(rig: Rig, world: np.ndarray, start: Channels, posed: Channels) -> tuple[np.ndarray, np.ndarray]:
    """Links (1, J, 8) measured on the evaluated pose, and the scale (T,) of the sliding bones' locations.

    world : (N, 4, 4) the evaluated pose, which was made with `posed`; bones that are not solved stand as in `start`.
    """
    turned, scale = _unscaled(world)
    bones, parent = rig.bones, rig.parent
    has_parent = parent >= 0
    offsets = world[bones, :3, 3]  # of a rooted bone: in armature space
    offsets[rig.inner] = _inner_offsets(rig, world)
    rotations = rig.own_rest.copy()
    if rig.hanging:
        above = quaternion.from_matrix(turned[parent[rig.hanging]])
        rotations[rig.hanging] = quaternion.product(above, rig.own_rest[rig.hanging])
    slides = rig.slide_row.tolist()
    changed = (start.locations[bones] != posed.locations[bones]).any(-1)
    for row in {*slides, *np.flatnonzero(changed).tolist()}:
        # the slide joints carry a sliding bone's location; other bones have the location of the start pose
        location = (0.0 if row in slides else start.locations[bones[row]]) - posed.locations[bones[row]].astype(float)
        moved = rig.location_frame[row] @ location * _location_scale(scale, parent[row])
        offsets[row] += turned[parent[row]] @ moved if rig.rooted[row] and has_parent[row] else moved
    settled = [*rig.inner, *(row for row in rig.slide_row if rig.rooted[row] and not has_parent[row])]
    offsets[settled] = _settled(offsets[settled], rig.rest_offset[settled], rig.size)
    still, fixed = rig.still, rig.constrained_rows
    if still.size:
        own = start.modes.quaternions(start.rotations[bones[still]], bones[still])
        rotations[still] = quaternion.product(rotations[still], own)
    if fixed.size:
        own = quaternion.from_matrix(turned[bones[fixed]])
        follows = (~rig.rooted & ~rig.detached)[fixed]
        above = quaternion.from_matrix(turned[np.maximum(parent[fixed], 0)])
        rotations[fixed] = np.where(follows[:, None], quaternion.product(quaternion.conjugate(above), own), own)
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
    return links[None], np.array([_location_scale(scale, parent[row]) for row in slides])


def _location_scale(scale: np.ndarray, parent: int) -> float:
    """The factor from location channels of bones below `parent` to their offsets: the parent's mean scale."""
    return float(scale[parent].mean()) if parent >= 0 else 1.0


def _settled(measured: np.ndarray, rest: np.ndarray, size: float) -> np.ndarray:
    """Offsets (B, 3): the rest pose's, or the measured ones rounded to a grid where these clearly differ."""
    same = (np.abs(measured - rest) < _SAME * size).all(-1, keepdims=True)
    return np.where(same, rest, np.round(measured / (_FINE * size)) * (_FINE * size))


def _targets(
    ob: bpy.types.Object, rig: Rig, prepared: Prepared, places: list[Place], influences: list[float],
    links: np.ndarray, start: Pose, view: View,
) -> Targets:  # fmt: skip
    """The goals' targets in armature space, for one frame; influence below 1 moves them toward where the bones start.

    ob : the evaluated object.
    """
    motion = armature_motion(ob, view)
    inverse = (ob.matrix_world if motion is None else motion @ ob.matrix_world).inverted_safe()
    count = len(rig.goals)
    positions, rotations, poles = np.empty((1, count, 3)), np.empty((1, count, 4)), np.zeros((1, count, 3))
    for k, binding in enumerate(rig.goals):
        target, pole = places[binding.index]
        if target is not None:
            matrix = inverse @ target
            positions[0, k], rotations[0, k] = matrix.translation[:], matrix.to_quaternion()[:]
        if binding.pole and pole is not None:
            poles[0, k] = (inverse @ pole).translation[:]
    shares = [influences[binding.index] for binding in rig.goals]
    if min(shares, default=1.0) < 1.0:
        _ease(rig, prepared, shares, positions, rotations, links, start)
    return Targets(positions, rotations, poles)


def _ease(
    rig: Rig, prepared: Prepared, shares: list[float], positions: np.ndarray, rotations: np.ndarray,
    links: np.ndarray, start: Pose,
) -> None:  # fmt: skip
    """Move targets of goals with an influence below 1 toward where their bones start, in place."""
    world = rig.skeleton.transforms(start.rotations, start.translations, links)
    for k, (goal, share) in enumerate(zip(prepared.goals, shares, strict=True)):
        if share < 1.0:
            own = world[0, goal.joint, :4]
            began = dual_quaternion.transform(world[0, goal.joint], np.asarray(goal.offset, dtype=float))
            positions[0, k] = began + share * (positions[0, k] - began)
            turn = quaternion.log(quaternion.product(quaternion.conjugate(own), rotations[0, k]))
            rotations[0, k] = quaternion.product(own, quaternion.exp(share * turn))
