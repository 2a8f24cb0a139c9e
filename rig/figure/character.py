# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure as it is read from an armature object: its bones at rest, their roles, and the directions of its body.

It is read once and kept, under all that it is read from, so that everybody may ask for it at any time.
"""

from functools import cached_property

import bpy
import numpy as np

from ..blender import bulk
from ..blender.armature import Armature, matrices
from ..blender.dependencies import control_bones
from ..remembered import Remembered
from . import recognise, roles
from .anatomy import Anatomy
from .body import RestBody
from .parts import MASSES, Role
from .roles import Figure


class Character:
    """The bones, roles and body of a figure.

    Attributes
    ----------
    armature : its bones at rest. figure : their roles. body, anatomy : made of both when they are asked for.
    bones : {role: number}; of several bones with one role the last.
    """

    def __init__(self, armature: Armature, figure: Figure) -> None:
        self.armature, self.figure = armature, figure

    @classmethod
    def of(cls, ob: bpy.types.Object, armature: Armature | None = None) -> "Character":
        """The character of an armature object. armature : its bones, if it is to be read as at rest in another pose.

        Those in another pose, of generated rigs, and of figures that lie at rest, are read anew each time: their
        constraints and poses count too.
        """
        if armature is not None:
            return cls(armature, roles.read(ob, armature))
        contents = _contents(ob)
        known = _known.get(contents)
        if known is None:
            armature = Armature(ob)
            known = cls(armature, roles.read(ob, armature))
            if armature.kind is None and not recognise.leans(armature.control_tree, known.figure.roles):
                _known.keep(contents, known)
        return known

    @property
    def size(self) -> float:
        """The size of the armature."""
        return self.armature.size

    @cached_property
    def body(self) -> RestBody:
        """The directions of the figure at rest."""
        return RestBody(self.armature, self.figure)

    @cached_property
    def anatomy(self) -> Anatomy:
        """What ranges of human joints are on its bones."""
        return Anatomy(self.body)

    @cached_property
    def bones(self) -> dict[Role, int]:
        """As above."""
        return {role: bone for bone, role in self.figure.roles.items()}

    @cached_property
    def names(self) -> list[str]:
        """The names of the bones by number."""
        return list(self.armature.index)

    @property
    def hips(self) -> int | None:
        """The bone of the hips."""
        return self.bones.get(Role("hips"))

    @property
    def root(self) -> str:
        """The name of the root bone above the hips; empty if there is none."""
        above = [] if self.hips is None else self.armature.above(self.hips)[1:]
        return self.names[above[-1]] if above else ""

    def chain_length(self, bone: int, use_tail: bool) -> int:
        """The number of bones in a chain from a bone to the hips; 0 (to the root) if the hips are the root."""
        above = self.armature.above(bone)
        if self.hips not in above or above[-1] == self.hips:
            return 0
        if bone == self.hips:
            return 1
        return above.index(self.hips) + use_tail  # the chain of a goal at the head begins with the parent

    @cached_property
    def masses(self) -> dict[int, float]:
        """The masses of bones by number, in any unit.

        Bones that share a part of the body weigh by their lengths; without such parts bones weigh as they are long.
        """
        lengths, found = self.armature.length, dict[int, float]()
        for name, share in MASSES.items():
            by_side: dict[str, list[int]] = {}
            for bone, role in self.figure.roles.items():
                if role.part.weight == name:
                    by_side.setdefault("" if role.name == "collar" else role.side, []).append(bone)
            for bones in by_side.values():
                whole = max(float(lengths[bones].sum()), 1e-12)
                found.update({bone: share * max(float(lengths[bone]) / whole, 1e-6) for bone in bones})
        return found or {bone: max(float(length), 1e-6) for bone, length in enumerate(lengths)}


_known: Remembered[tuple, Character] = Remembered(32)


def scaled_size(ob: bpy.types.Object) -> float:
    """The size of an armature object in the world."""
    return Character.of(ob).size * max(map(abs, ob.matrix_world.to_scale()))


def swap_sides(ob: bpy.types.Object) -> int:
    """Choose the mirrored role of every bone that has a side; returns their number."""
    sided = {bone: role for bone, role in Character.of(ob).figure.all_roles.items() if role.side}
    for bone, role in sided.items():
        ob.pose.bones[bone].dqik_role = role.mirrored.identifier
    return len(sided)


def _contents(ob: bpy.types.Object) -> tuple[object, ...]:
    """All that a character is read from, but for constraints of generated rigs and the pose of a figure that lies."""
    pose, bones = ob.pose.bones, ob.data.bones
    return (
        tuple(pose.keys()),
        tuple(bone.parent and bone.parent.name for bone in pose),
        tuple(bones.keys()),
        matrices(bones, "matrix_local").tobytes(),
        bulk.read(bones, "length").tobytes(),
        bulk.read(bones, "use_deform", kind=np.bool_).tobytes(),
        bulk.read(pose, "dqik_role", kind=np.int32).tobytes(),
        frozenset(control_bones(ob)),
        tuple((bone.name, one.type, one.mute) for bone in pose for one in bone.constraints),
    )
