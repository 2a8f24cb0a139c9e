# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing from what a file holds: bones, targets, goals, values; and the list of steps that a walk chooses from."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import bpy
import vocabulary
from vocabulary import armatures, library_of

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
ROTATION = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}


class NothingToDrawError(Exception):
    """The file holds nothing that such a step could be done to."""


def require_undo() -> None:
    """No undo where Blender crashes, without handlers of ours too.

    It frees the world of rigid bodies twice, and with a second view layer, a frame after undo and redo can crash.
    """
    if any(scene.rigidbody_world is not None or len(scene.view_layers) > 1 for scene in bpy.data.scenes):
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

    def whole(self, lo: int, hi: int) -> int:
        return self.random.randint(lo, hi)

    def numbers(self, lo: float, hi: float) -> tuple[float, ...]:
        return tuple(self.number(lo, hi) for _ in range(3))

    def need(self, condition: object) -> str:
        """No words, where something holds."""
        return self.one([""] if condition else [])

    @staticmethod
    def undoable() -> str:
        """No words, where undo works."""
        require_undo()
        return ""

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

    def places(self, least: int, most: int) -> dict[int, tuple[float, ...]]:
        """Places by frame."""
        return {frame: self.place() for frame in self.frames(self.whole(least, most))}

    def switches(self, count: int) -> dict[int, bool]:
        return {frame: self.chance(0.5) for frame in self.frames(count)}

    def levels(self, count: int) -> dict[int, float]:
        return {frame: self.one([0.0, 0.5, 1.0]) for frame in self.frames(count)}

    def way(self) -> tuple[float, ...]:
        """How far something is dragged."""
        return self.vector(self.one([0.02, 0.2, 1.0]))

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

    def bones(self, ob: bpy.types.Object, most: int) -> list[str]:
        """Names of some bones."""
        return [one.name for one in self.some(ob.pose.bones, self.whole(1, most))]

    def figure(self) -> bpy.types.Object:
        """A human figure that is wholly local."""
        ob = self.scene_rig(local=True)
        self.need("arm.L" in ob.data.bones)
        return ob

    def obstacle(self) -> bpy.types.Object:
        """A mesh that is no shape of a control."""
        meshes = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.library is None]
        return bpy.data.objects[self.one(sorted(ob.name for ob in meshes if not ob.name.startswith("DQIK")))]

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


class Row(NamedTuple):
    """A goal or a coupling: its armature, the list that it is in, and its number."""

    ob: bpy.types.Object
    rows: str
    number: int

    def __str__(self) -> str:
        """The words that look it up."""
        return f"{named(self.ob)}.dqik.{self.rows}[{self.number}]"


def _row(draw: Draw, rows: str, local: bool = False) -> Row:
    ob = draw.rig(local=local)
    return Row(ob, rows, draw.one(range(len(getattr(ob.dqik, rows)))))


THINGS: dict[str, Callable[[Draw, dict], object]] = {
    "rig": lambda draw, _: draw.rig(), "local": lambda draw, _: draw.rig(local=True),
    "active": lambda draw, _: draw.scene_rig(), "own": lambda draw, _: draw.scene_rig(local=True),
    "bone": lambda draw, holes: draw.bone(holes["rig"]), "target": lambda draw, _: draw.target(),
    "turn": lambda draw, holes: draw.rotation_value(holes["bone"].rotation_mode),  # its channel, and a value for it
    "local_bone": lambda draw, holes: draw.bone(holes["local"]),
    "local_turn": lambda draw, holes: draw.rotation_value(holes["local_bone"].rotation_mode),
    "loose": lambda draw, holes: draw.one([one for one in holes["rig"].pose.bones if not one.bone.use_connect]),
    "goal": lambda draw, _: _row(draw, "goals"), "own_goal": lambda draw, _: _row(draw, "goals", local=True),
    "coupling": lambda draw, _: _row(draw, "couplings"), "figure": lambda draw, _: draw.figure(),
    "obstacle": lambda draw, _: draw.obstacle(), "draw": lambda draw, _: draw,
}  # fmt: skip


class Holes(dict):
    """The names that stand in the holes of a script: things, each drawn once, and what `Draw` draws anew each time."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def __missing__(self, name: str) -> object:
        if name in THINGS:
            self[name] = THINGS[name](self.draw, self)
            return self[name]
        if hasattr(Draw, name):
            return getattr(self.draw, name)
        raise KeyError(name)


def filled(draw: Draw, script: str, words: dict[str, object]) -> str:
    """A script whose holes are filled. words : more names that may stand in them."""
    holes, known = Holes(draw), {**vars(vocabulary), **words, "driven": driven, "linked": linked}

    def drawn(hole: re.Match) -> str:
        expression, quoted, _ = hole[1].partition("!r")
        value = eval(expression, known, holes)
        if isinstance(value, bpy.types.PoseBone):
            return bone_named(value)
        return named(value) if isinstance(value, bpy.types.Object) else repr(value) if quoted else str(value)

    return re.sub(r"\{([^{}]+)\}", drawn, script)


def driven(ob: bpy.types.Object) -> bool:
    return ob.animation_data is not None and len(ob.animation_data.drivers) > 0


def linked() -> list[bool]:
    return [ob.library is not None for ob in bpy.data.objects]


Step = Callable[[Draw], str]
STEPS: list[tuple[str, float, Step]] = []


def step(group: str, weight: float = 1.0) -> Callable[[Step], Step]:
    """A kind of step: a function that draws one and returns its script. Groups are left out of walks as a whole."""

    def add(function: Step) -> Step:
        STEPS.append((group, weight, function))
        return function

    return add
