# SPDX-License-Identifier: GPL-3.0-or-later
"""The links of a rig in one frame: the transforms from joint to joint before the joints move.

They are computed from the start channels and from evaluated bones outside the skeleton. The evaluated pose of the
skeleton's own bones is not used, because it may hold our last answer, and a frame must not depend on other frames.
Where what is read here follows bones that the solve moves, `frame.py` has Blender evaluate the start pose before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ....solvers.algebra import dual_quaternion, quaternion
from ...blender import bulk
from ...blender.armature import matrices
from ...blender.channels import Channels
from ...skeleton.rig import Rig

_SAME = 1e-4  # scales that differ from 1 by less are taken as 1
_NO_SCALE = 2e-6  # scales of bones that differ from 1 by less are rounding, as a matrix that is put back leaves it
_ROUNDED = 5e-6  # of a turn's matrix and of the rig's size, to which measured bones are rounded


@dataclass
class Links:
    """The links of a rig in one frame.

    links : (1, J, 8). slide_scale : (T,) of the sliding bones' locations. stretch : (G,) lengths of the goals' bones,
    as factors of their rest lengths. lengths : (K,) of the bones that may stretch, before they do. distorted : scales
    or constraints act on the skeleton.
    """

    links: np.ndarray
    slide_scale: np.ndarray
    stretch: tuple[float, ...]
    lengths: np.ndarray
    distorted: bool


def read(ob: bpy.types.Object, rig: Rig, start: Channels) -> Links:
    """The links of a rig. ob : the evaluated object. start : the channels that the frame starts from."""
    if rig.is_plain and not is_scaled(ob, rig):
        plain = PlainLinks(rig, start)
        if plain.place_roots(ob):
            return Links(plain.links, np.ones(len(rig.slide_row)), (1.0,) * len(rig.goals), rig.lengths, False)
    return _posed(ob, rig, start)


class PlainLinks:
    """The links of a rig without scaled or constrained bones, as most rigs are, in frames with the same start channels.

    links : (1, J, 8); those of the roots hold once they are placed.
    """

    def __init__(self, rig: Rig, start: Channels) -> None:
        still, loose = rig.still, rig.loose_rows
        links = in_parents(rig, start.modes.quaternions(start.rotations[rig.bones[still]], rig.bones[still]))
        locations = start.locations[rig.bones[loose]]
        moved = bool(locations.any())
        if moved:
            offsets = rig.rest_offset[loose] + (rig.location_frame[loose] @ locations[..., None])[..., 0]
            links[rig.main[loose]] = dual_quaternion.from_parts(links[rig.main[loose], :4], offsets)
        self.links, self._rig = links[None], rig
        firsts = [root.first for roots in rig.root_places.values() for root in roots]
        self._rests = dict(zip(firsts, links[firsts, :4].tolist(), strict=True))
        self._start = start if moved else None
        self._placed: dict[int, int] = {}  # hashes of the matrices that the links of roots were placed by

    def place_roots(self, ob: bpy.types.Object) -> bool:
        """Place the roots' links on the evaluated bones outside the skeleton that they hang on.

        Returns False, with unusable links, if one of these bones is scaled.
        """
        rig, bones, start = self._rig, ob.pose.bones, self._start
        for parent, roots in rig.root_places.items():
            matrix = bones[parent].matrix.copy()
            matrix.freeze()
            place = hash(matrix)  # exact, whereas Blender compares matrices with room for rounding
            if self._placed.get(parent) == place:
                continue
            self._placed[parent] = place
            _, q, (x, y, z) = matrix.decompose()
            if not (abs(x - 1.0) < _SAME and abs(y - 1.0) < _SAME and abs(z - 1.0) < _SAME):
                return False
            turned = _unit(q)
            for root in roots:
                offset, rest = root.offset, self._rests[root.first]
                if start is not None and root.loose >= 0:
                    offset = offset + Vector(rig.location_frame[root.loose] @ start.locations[rig.bones[root.loose]])
                turn = _product(turned, rest) if root.turned else rest
                self.links[0, root.first] = _link(turn, matrix @ offset)
        return True


def in_parents(rig: Rig, own: np.ndarray) -> np.ndarray:
    """Links (..., J, 8) at rest, but for unsolved bones without constraints, which turn by `own` (..., S, 4)."""
    links, still = np.empty((*own.shape[:-2], *rig.rest_links.shape)), rig.still
    links[:] = rig.rest_links
    if still.size:
        turned = quaternion.product(rig.own_rest[still], own)
        links[..., rig.main[still], :] = dual_quaternion.from_parts(turned, rig.rest_offset[still])
    return links


def is_scaled(ob: bpy.types.Object, rig: Rig) -> bool:
    """Whether a bone of the skeleton of an evaluated object is scaled, other than by our last answer."""
    own = bulk.read(ob.pose.bones, "scale", 3, count=len(rig.armature.parent))
    if rig.end_bones.size:
        own[rig.end_bones] = 1.0
    if own.tobytes() == rig.no_scale:
        return False
    own = own.take(rig.bones, axis=0)
    return not bool((np.abs(own - 1.0) < _NO_SCALE).all())  # NaN is a scale too


def _posed(ob: bpy.types.Object, rig: Rig, start: Channels) -> Links:
    """The links of any rig, measured on the pose of the start channels with Blender's rules for scale."""
    world = _start_matrices(ob, rig, start)
    turned, scale = _unscaled(world)
    bones, parent = rig.bones, rig.parent
    if rig.frames is not None:  # a joint's axes are those of its bone's limits
        own = bones[rig.frame_rows]
        turned[own] = turned[own] @ quaternion.to_matrix(rig.frame_axes[rig.frame_rows])
    has_parent = parent >= 0
    offsets = world[bones, :3, 3]  # of a rooted bone: in armature space
    inner = np.flatnonzero(~rig.rooted)
    away = offsets[inner] - world[parent[inner], :3, 3]
    offsets[inner] = (away[:, None, :] @ turned[parent[inner]])[:, 0]
    rotations = rig.own_rest.copy()
    if rig.hanging:
        above = quaternion.from_matrix(turned[parent[rig.hanging]])
        rotations[rig.hanging] = quaternion.product(above, rig.own_rest[rig.hanging])
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
    slide_scale = np.ones(len(rig.slide_row))
    for k, (joint, row) in enumerate(zip(rig.slide_joint.tolist(), rig.slide_row.tolist(), strict=True)):
        # the first slide carries the offset without the location, the main joint the orientation
        slide_scale[k] = scale[parent[row]].mean() if has_parent[row] else 1.0
        moved = rig.location_frame[row] @ start.locations[bones[row]] * slide_scale[k]
        frame, own = quaternion.IDENTITY, rotations[row]
        if rig.rooted[row] and has_parent[row]:
            moved = turned[parent[row]] @ moved
            frame = quaternion.from_matrix(turned[parent[row]])
            own = own if rig.detached[row] else quaternion.product(quaternion.conjugate(frame), own)
        links[rig.main[row]] = dual_quaternion.from_parts(own, np.zeros(3))
        links[joint] = dual_quaternion.from_parts(frame, offsets[row] - moved)
    length = scale[bones[rig.goal_rows], 1]
    stretch = tuple(np.where(np.abs(length - 1.0) < _SAME, 1.0, length).tolist())
    return Links(links[None], slide_scale, stretch, rig.lengths * scale[rig.end_bones, 1], True)


def _start_matrices(ob: bpy.types.Object, rig: Rig, start: Channels) -> np.ndarray:
    """Matrices (N, 4, 4): the skeleton as Blender computes them from the start channels, others as evaluated."""
    pose = ob.pose.bones
    world = matrices(pose, "matrix")
    q = start.modes.quaternions(start.rotations[rig.bones], rig.bones)
    found = {parent: pose[parent].matrix for parent in rig.root_places}
    stretched = set(rig.end_rows.tolist())
    for row, number in enumerate(rig.bones.tolist()):
        bone = pose[number]
        above = None if rig.parent[row] < 0 else pose[int(rig.parent[row])]
        location = Vector(start.locations[number]) if rig.loose[row] else Vector()
        basis = Matrix.LocRotScale(location, Quaternion(q[row]), None if row in stretched else bone.scale)
        if above is None:
            found[number] = bone.bone.convert_local_to_pose(basis, bone.bone.matrix_local)
        else:
            parent = found[int(rig.parent[row])]
            found[number] = bone.bone.convert_local_to_pose(
                basis, bone.bone.matrix_local, parent_matrix=parent, parent_matrix_local=above.bone.matrix_local
            )
            if row in rig.local_rows:  # its constraints act in its parent's frame
                found[number] = parent @ _rounded(above.matrix.inverted_safe() @ bone.matrix, rig.armature.size)
        if row in rig.placed_rows:
            assert above is not None
            found[number].translation = found[int(rig.parent[row])] @ _rounded(
                above.matrix.inverted_safe() @ bone.matrix, rig.armature.size
            ).translation
        if row in rig.held_rows or (row in rig.local_rows and rig.detached[row]):  # whatever its parent's orientation
            place, turned = found[number].to_translation(), _rounded(bone.matrix, rig.armature.size).to_quaternion()
            found[number] = Matrix.LocRotScale(place, turned, found[number].to_scale())
        world[number] = found[number]
    return world


def _rounded(matrix: Matrix, size: float) -> Matrix:
    """A matrix without its last digits, which come from the evaluation of our last answer.

    Where goals are out of reach, a solve can magnify them by the inverse of its pull.
    """
    numbers = np.array(matrix)
    numbers[:3, 3] /= size
    numbers[:3] = np.round(numbers[:3] / _ROUNDED) * _ROUNDED
    numbers[:3, 3] *= size
    return Matrix(numbers)


def _unscaled(matrices_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (..., 3, 3) and column lengths (..., 3) of 4 x 4 matrices."""
    scale = np.sqrt((matrices_of[..., :3, :3] ** 2).sum(-2))
    return matrices_of[..., :3, :3] / np.maximum(scale, 1e-12)[..., None, :], scale


# -- single transforms in plain Python: NumPy is slower here, and mathutils has single precision -----------------------


def _unit(q: Quaternion) -> tuple[float, ...]:
    length = hypot(*q)
    return (q[0] / length, q[1] / length, q[2] / length, q[3] / length)


def _product(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """Hamilton product."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)  # fmt: skip


def _link(r: Sequence[float], place: Vector) -> tuple[float, ...]:
    """The unit dual quaternion (8,) of a rotation and a translation: `d = 1/2 t r`."""
    (w, x, y, z), (tx, ty, tz) = r, place
    return (w, x, y, z, -0.5 * (tx * x + ty * y + tz * z), 0.5 * (tx * w + ty * z - tz * y),
            0.5 * (ty * w + tz * x - tx * z), 0.5 * (tz * w + tx * y - ty * x))  # fmt: skip
