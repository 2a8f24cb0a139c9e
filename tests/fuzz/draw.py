# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing from what a file holds: bones, targets, goals, values; and the list of steps that a walk chooses from."""

from collections.abc import Callable, Sequence
from random import Random

import bpy
from vocabulary import armatures, library_of

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
ROTATION = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
SCENES = ("Scene", "Two")


class NothingToDrawError(Exception):
    """The file holds nothing that such a step could be done to."""


def require_undo() -> None:
    """No undo with rigid bodies: Blender frees their world twice and crashes, without handlers of ours too."""
    if any(scene.rigidbody_world is not None for scene in bpy.data.scenes):
        raise NothingToDrawError


class Draw:
    """A walk's random numbers, and what they choose from the file as it stands."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.made = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, of: Sequence) -> object:
        if not len(of):
            raise NothingToDrawError
        return self.random.choice(list(of))

    def some(self, of: Sequence, count: int) -> list:
        return self.random.sample(list(of), min(count, len(of)))

    def number(self, lo: float, hi: float, digits: int = 3) -> float:
        return round(self.random.uniform(lo, hi), digits)

    def vector(self, reach: float, size: int = 3) -> tuple[float, ...]:
        return tuple(self.number(-reach, reach) for _ in range(size))

    def place(self) -> tuple[float, ...]:
        """A place for a target: mostly within reach of the rigs, sometimes far from them."""
        return self.vector(2.0 if self.chance(0.9) else 30.0)

    def frame(self) -> float:
        frame = self.random.randint(1, 12)
        return frame + self.number(0.0, 0.99, 2) if self.chance(0.2) else float(frame)

    def frames(self, count: int) -> list[int]:
        return sorted(self.random.sample(range(1, 13), count))

    def new_name(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    # -- what the file holds ------------------------------------------------------------------------------------------

    def rig(self, editable: bool = True, local: bool = False) -> bpy.types.Object:
        """An armature object: one that can be edited, or one that is wholly local."""
        return self.one([
            ob for ob in armatures()
            if ob.pose is not None
            and not (editable and ob.library is not None)
            and not (local and (ob.library or ob.override_library or ob.data.library or ob.data.override_library))
        ])  # fmt: skip

    def scene_rig(self, local: bool = False) -> bpy.types.Object:
        """An armature object that can be made active."""
        there = {ob.session_uid for ob in bpy.context.view_layer.objects if not ob.hide_viewport}
        ob = self.rig(local=local)
        if ob.session_uid not in there:
            raise NothingToDrawError
        return ob

    def bone(self, ob: bpy.types.Object) -> bpy.types.PoseBone:
        return self.one(ob.pose.bones)

    def target(self) -> bpy.types.Object:
        """An empty that can be edited."""
        return self.one(sorted(
            (ob for ob in bpy.data.objects if ob.type == "EMPTY" and ob.library is None), key=lambda ob: ob.name
        ))  # fmt: skip

    def goal(self) -> tuple[bpy.types.Object, int]:
        """An armature and the number of one of its goals."""
        ob = self.rig()
        return ob, self.one(range(len(ob.dqik.goals)))

    def rotation_value(self, mode: str, reach: float = 1.5) -> tuple[str, tuple[float, ...]]:
        """The rotation channel of a mode, and a value for it."""
        path, length = ROTATION.get(mode, ("rotation_euler", 3))
        return path, self.vector(reach, length)


def named(ob: bpy.types.Object) -> str:
    """The words that look an object up."""
    library = library_of(ob)
    return f"thing({ob.name!r}, {library!r})" if library else f"thing({ob.name!r})"


def bone_named(one: bpy.types.PoseBone) -> str:
    return f"bone({one.name!r}, {named(one.id_data)})"


Step = Callable[[Draw], str]
STEPS: list[tuple[str, float, Step]] = []


def step(group: str, weight: float = 1.0) -> Callable[[Step], Step]:
    """A kind of step: a function that draws one and returns its script. Groups are left out of walks as a whole."""

    def add(function: Step) -> Step:
        STEPS.append((group, weight, function))
        return function

    return add
