# SPDX-License-Identifier: GPL-3.0-or-later
"""Situations: a crane that reaches for a load, a figure whose motion takes a second, and what may be special of a file.

`CURVES` and `ACTIONS` say what may be special about what animates a figure, `SITUATIONS` in which scenes operators are
pressed: each line says how the motion is made (`Take`), and what is done to the file afterwards.
"""

import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import degrees, sin, tau
from pathlib import Path
from types import MethodType, SimpleNamespace

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Quaternion, Vector

NEAR = 2e-3  # a goal that is met misses by less
STEADY = 0.02  # [deg] by which one pose may differ when it is evaluated twice


def named(*changes: Callable, **others: Callable) -> list:
    """Values of a test's parameter with their names: functions, or what one line says."""
    return [pytest.param(one, id=name) for name, one in {**{one.__name__: one for one in changes}, **others}.items()]


@contextmanager
def installed(name: str, handler: Callable, at: int | None = None) -> Generator[None]:
    """Have a handler in one of Blender's lists, at its end or at an index."""
    handlers = getattr(bpy.app.handlers, name)
    handlers.insert(len(handlers) if at is None else at, handler)
    try:
        yield
    finally:
        if handler in handlers:
            handlers.remove(handler)


def auto_keying(monkeypatch: pytest.MonkeyPatch, on: bool, only_available: bool = False) -> None:
    """Auto Keying on or off for the test, and whether it keys curves that are there only."""
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", on)
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", only_available)


def crane(name: str = "Crane") -> bpy.types.Object:
    """A mast, a boom and a jib in one chain, and a flag on the mast that no goal moves."""
    bones = [
        rigs.Bone("mast", (0, 0, 0), (0.1, 0, 1.1)),
        rigs.Bone("boom", (0.1, 0, 1.1), (0.9, -0.3, 1.5), "mast", True),
        rigs.Bone("jib", (0.9, -0.3, 1.5), (1.5, -0.2, 1.2), "boom", True),
        rigs.Bone("flag", (0.1, 0, 1.1), (0, 0.2, 1.6), "mast"),
    ]
    return rigs.armature(bones, name)


def load(name: str = "Load") -> bpy.types.Object:
    """A target whose keys lead it along a curve within the crane's reach, over frames 1 to 30."""
    ob = rigs.empty((0, 0, 0), name)
    frames = range(1, 31)
    points = [(0.9 + 0.3 * np.sin(f / 4), 0.5 * np.cos(f / 6), 1.0 + 0.3 * np.sin(f / 7)) for f in frames]
    rigs.key_path(ob, frames, points)
    return ob


def reaching(**goal: object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A crane, its jib's goal, and the load that it reaches for."""
    ob, target = crane(), load()
    rigs.goal(ob, "jib", target, **goal)
    return ob, target


def turned(angles: Iterable[float]) -> Quaternion:
    return Euler(tuple(angles)).to_quaternion()


def key_turns(ob: bpy.types.Object, bone: str, turns: Mapping[int, tuple[float, float, float]] | None = None) -> None:
    """Key a bone's rotation: frame to Euler angles. Without any it swings over 30 frames."""
    for frame, angles in (turns or {1: (0.3, 0.1, 0.0), 15: (-0.4, 0.0, 0.3), 30: (0.2, -0.3, 0.1)}).items():
        ob.pose.bones[bone].rotation_quaternion = turned(angles)
        ob.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame, group=bone)


def curves_of(ob: bpy.types.Object, bone: str) -> list[bpy.types.FCurve]:
    return [curve for curve in rigs.fcurves(ob) if f'"{bone}"' in curve.data_path]


def steps_of(name: str, **options: object) -> tuple[Generator[float, None, set[str]], list[tuple[str, str]]]:
    """The steps of an operator, as the panel runs them between updates of the window, and what it says."""
    operator, said = getattr(bpy.types, f"DQIK_OT_{name}"), []
    usual = {
        "frame_start": 1, "frame_end": 20, "step": 1, "action": "NEW", "only_selected": False, "reduce": 0.0,
        "clear_goals": False, "smooth": 0.0, "solvers": {"PGS"}, "stopped": operator.stopped,
        "is_set": lambda *names: True, "_no_number": lambda: None,
        "tell": lambda kind, *notes: said.append((kind, "; ".join(map(str, notes)))),
    }  # fmt: skip
    running = SimpleNamespace(**(usual | options))
    for method in ("run", "work", "_frames", "_bones", "refused", "span"):
        if hasattr(operator, method):
            setattr(running, method, MethodType(getattr(operator, method), running))
    return operator.steps(running, bpy.context), said


def as_strip(ob: bpy.types.Object, first: int = 1) -> bpy.types.NlaStrip:
    """Put an object's action into a track; the strip that holds it."""
    data = ob.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", first, data.action)
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = data.action.slots[0]
    data.action = None
    return strip


def over_strip(ob: bpy.types.Object, **settings: object) -> None:
    """Put an object's action into a track, and have a copy of it above."""
    action = ob.animation_data.action
    as_strip(ob)
    rigs.put(ob.animation_data, action=action.copy(), **settings)


def tweaked(ob: bpy.types.Object, first: int = 1) -> None:
    """Put an object's action into a track, and edit it there."""
    as_strip(ob, first)
    data = ob.animation_data
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True


def into_collection(ob: bpy.types.Object, name: str = "Own") -> bpy.types.LayerCollection:
    """Move an object into a new collection of the scene alone; that one in the view layer."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for other in list(ob.users_collection):
        other.objects.unlink(ob)
    collection.objects.link(ob)
    return bpy.context.view_layer.layer_collection.children[name]


def assign(ob: bpy.types.Object, action: bpy.types.Action, slot: object = None) -> None:
    """Make an object play an action, by its first slot if no other is given."""
    data = ob.animation_data_create()
    data.action = action
    if hasattr(data, "action_slot"):
        data.action_slot = slot or action.slots[0]


def share_action(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    """Make another object play what an object plays, with the same slot."""
    data = ob.animation_data
    assign(other, data.action, getattr(data, "action_slot", None))


def twin_of(ob: bpy.types.Object) -> bpy.types.Object:
    """Another object of the same data, which plays the same action."""
    twin = bpy.data.objects.new("Twin", ob.data)
    bpy.context.scene.collection.objects.link(twin)
    share_action(ob, twin)
    return twin


def link_action(ob: bpy.types.Object, name: str = "Away") -> None:
    """Have an object's action in a library."""
    action = ob.animation_data.action
    action.name = name
    path = f"{bpy.app.tempdir}{name}.blend"
    bpy.data.libraries.write(path, {action})
    ob.animation_data.action = None
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = [name]
    assign(ob, into.actions[0])


def forget() -> None:
    """Let the extension forget what it remembers between frames, as in a new session of Blender."""
    rigs.part("live").forget()


def turn(before: np.ndarray, after: np.ndarray) -> float:
    """The largest rotation [deg] between two sets of matrices."""
    return degrees(rigs.turn(before, after))


def pose_at(ob: bpy.types.Object, frame: float) -> np.ndarray:
    rigs.at_frame(frame)
    return rigs.matrices(ob)


def history(ob: bpy.types.Object, frames: Iterable[float] = (6, 20, 13, 28, 9)) -> float:
    """By how much [deg] frames depend on what was remembered, or on the frames visited before."""
    worst = 0.0
    for frame in frames:
        here = pose_at(ob, frame)
        forget()
        worst = max(worst, turn(here, pose_at(ob, frame)))
        for _ in rigs.visited((frame + 1, 1)):
            worst = max(worst, turn(here, pose_at(ob, frame)))
    return worst


def reopened(path: Path) -> None:
    """Save the file and load it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def linked_from(path: Path, names: Iterable[str] = ("Crane", "Load"), save: bool = True) -> list[bpy.types.Object]:
    """Save the file as a library, unless it is one already; link its objects, in an empty file if it was saved."""
    if save:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        rigs.new_file()
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = list(names)
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    return list(wanted.objects)


def overridden(path: Path, editable: bool = True) -> bpy.types.Object:
    """Save the scene as a library and override all of it in an empty file; the armature.

    editable : else Blender makes overrides for its own needs only.
    """
    library(path).override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=editable)
    return override()


def library(path: Path) -> bpy.types.Collection:
    """Save the objects of the scene, in a collection, as a library; that collection, linked in an empty file."""
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for ob in list(bpy.context.scene.collection.objects):
        collection.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    rigs.new_file()
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Set"]
    return wanted.collections[0]


def override() -> bpy.types.Object:
    """The overridden armature of the file."""
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.override_library)


# -- what may be special about what animates a figure ------------------------------------------------------------------

CURVES: dict[str, Callable[[bpy.types.FCurve], object]] = {
    "locked": lambda curve: rigs.put(curve, lock=True),
    "locked_group": lambda curve: curve.group and rigs.put(curve.group, lock=True),
    "muted": lambda curve: rigs.put(curve, mute=True),
    "muted_group": lambda curve: curve.group and rigs.put(curve.group, mute=True),
    "cyclic": lambda curve: curve.modifiers.new("CYCLES"),
    "noisy": lambda curve: rigs.put(curve.modifiers.new("NOISE"), strength=0.1, scale=5.0),
    "stepped": lambda curve: rigs.put(curve.modifiers.new("STEPPED"), frame_step=4),
    "sampled": lambda curve: curve.convert_to_samples(1, 30),
    "extrapolated": lambda curve: rigs.put(curve, extrapolation="LINEAR"),
}
ACTIONS: dict[str, Callable[[bpy.types.Object], object]] = {
    "strip": as_strip, "tweaked": tweaked, "shared": twin_of, "of_library": link_action,
    "strip_outside": lambda ob: over_strip(ob, action_extrapolation="NOTHING"),  # above it, on its own frames only
    "blended": lambda ob: over_strip(ob, action_blend_type="REPLACE", action_influence=0.5),
    "solo": lambda ob: (over_strip(ob), rigs.put(ob.animation_data.nla_tracks[0], is_solo=True)),
}  # fmt: skip


def make_special(name: str, curves: Iterable[bpy.types.FCurve]) -> None:
    """Make all of some curves special."""
    for curve in curves:
        CURVES[name](curve)
        curve.update()


HEIGHT = 1.8  # of the figure
PROPS = ("Wheel", "Cup")
Point = tuple[float, float, float]


@dataclass(frozen=True)
class Take:
    """How the motion is made. keys: none, few (each third of a second) or dense. size: of the bones, at `scale`."""

    keys: str = "few"
    rate: int = 24
    rate_base: float = 1.0
    first: float = 1.0
    now: float = 0.0  # frames after the middle, for a current frame between two
    modes: Sequence[str] = ("QUATERNION",)
    size: float = 1.0
    scale: Point = (1.0, 1.0, 1.0)
    targets: str = "BONES"
    interpolation: str = "BEZIER"


@dataclass
class Stage:
    """A scene, and the frames of its motion."""

    kind: str  # "body": set up, its controls are keyed; "walker": its bones are keyed, and it has no goals
    take: Take
    repeats: bool = False  # before its first and after its last key
    notes: dict = field(default_factory=dict)

    @property
    def ob(self) -> bpy.types.Object:
        return bpy.context.scene.objects["Ann"]

    @property
    def first(self) -> float:
        return self.take.first

    @property
    def last(self) -> float:
        return self.take.first + self.take.rate

    @property
    def now(self) -> float:
        return self.take.first + self.take.rate // 2 + self.take.now

    def at(self, share: float) -> int:
        """A whole frame, by its share of the motion."""
        return round(self.take.first + share * self.take.rate)

    def times(self) -> list[float]:
        """The times of the keys."""
        count = {"none": 0, "few": 4, "dense": self.take.rate + 1}[self.take.keys]
        return [self.first + k * self.take.rate / (count - 1) for k in range(count)]

    def beside(self) -> tuple[float, float]:
        """The keys before and after the current frame: between them a new key may change the motion."""
        times = [*self.times(), *self.notes.get("keyed", ())]
        before, after = [t for t in times if t < self.now - 1e-3], [t for t in times if t > self.now + 1e-3]
        return max(before, default=-1e9), min(after, default=1e9)


# -- a figure whose motion takes a second -----------------------------------------------------------------------------


def bones(size: float) -> list[rigs.Bone]:
    """The tests' figure with toes, and hair that no goal moves."""
    made = rigs.figure_bones()
    for side, sign in (("L", 1), ("R", -1)):
        ends = (sign * 0.1, -0.18, 0.02), (sign * 0.1, -0.26, 0.02)
        made.append(rigs.Bone(f"toes.{side}", *ends, f"foot.{side}", True))
    made += [rigs.Bone("hair1", (0, 0.1, 1.75), (0, 0.15, 1.6), "head"),
             rigs.Bone("hair2", (0, 0.15, 1.6), (0, 0.16, 1.42), "hair1", True)]  # fmt: skip
    return [replace(one, head=[size * x for x in one.head], tail=[size * x for x in one.tail]) for one in made]


CONTROLS: dict[str, tuple[Point, Point]] = {  # bone: how far its control goes and turns, in a third of a second each
    "hips": ((0.05, 0.04, -0.06), (0.0, 0.15, 0.0)),
    "hand.L": ((-0.2, -0.15, -0.2), (0.2, 0.1, 0.3)),
    "hand.R": ((0.15, -0.2, -0.25), (0.0, 0.3, 0.0)),
    "foot.L": ((0.02, 0.1, 0.12), (0.2, 0.0, 0.0)),
    "foot.R": ((0.0, -0.05, 0.03), (0.0, 0.0, 0.1)),
    "head": ((0.02, 0.03, -0.04), (0.1, 0.2, 0.0)),
}
_WAY = (0.3, 1.0, 0.5, 0.8)  # of a control, at the keys; arms are stretched at 0


def stage_figure(
    stage: Stage, name: str, place: Point = (0.0, 0.0, 0.0), slot_of: bpy.types.Action | None = None
) -> None:
    """Make a figure with its motion. slot_of : an action that gets the keys in a slot of its own."""
    take = stage.take
    ob = rigs.armature(bones(take.size), name)
    ob.location, ob.scale = place, take.scale
    for number, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = take.modes[number % len(take.modes)]
    bpy.ops.object.mode_set(mode="POSE")
    if slot_of is not None:
        data = ob.animation_data_create()
        data.action = slot_of
        data.action_slot = slot_of.slots.new("OBJECT", name)
    if stage.kind == "body":
        bpy.ops.dqik.setup_full_body(targets=take.targets)
        for goal in ob.dqik.goals:
            if (owner := rigs.follows(goal)) is not None and owner != ob:
                owner.rotation_mode = take.modes[0]
        _key_controls(stage, ob)
        ob.dqik.live = True
    else:
        _key_bones(stage, ob)
    _turn_keys(stage, ob, "hair1", lambda t: (0.2 * sin(tau * t), 0.1, 0.0))
    for owner in dict.fromkeys(one.id_data for one in (ob, *filter(None, map(rigs.follows, ob.dqik.goals)))):
        rigs.interpolate(owner, take.interpolation)
    bpy.ops.object.mode_set(mode="OBJECT")


def _key_controls(stage: Stage, ob: bpy.types.Object) -> None:
    unit = stage.take.size if stage.take.targets == "BONES" else stage.take.size * stage.take.scale[1]
    for goal in ob.dqik.goals:
        owner, (way, turn) = rigs.follows(goal), CONTROLS[goal.bone]
        rest, turned = Vector(owner.location), rigs.channel_rotation(owner)
        for time in stage.times():
            share = _eased((time - stage.first) / stage.take.rate)
            owner.location = rest + unit * share * Vector(way)
            rigs.posed(owner, turned @ Euler(share * Vector(turn)).to_quaternion())
            _key(owner, time)


def _eased(share: float) -> float:
    """The way of a control at a share of the motion, straight between its places at the few keys."""
    step = min(int(share * 3.0 + 1e-6), 2)
    return _WAY[step] + (share * 3.0 - step) * (_WAY[step + 1] - _WAY[step])


def _key_bones(stage: Stage, ob: bpy.types.Object) -> None:
    """A figure that sways, so that its feet slide a little, and lifts the right one in the middle."""

    def lifted(t: float) -> float:
        return max(0.0, sin(tau * (t - 0.25)))

    for side, sign in (("L", 1.0), ("R", -1.0)):
        raised = 0.5 * (1.0 - sign)
        _turn_keys(stage, ob, f"thigh.{side}", lambda t, r=raised: (r * -0.6 * lifted(t), 0.0, 0.02 * sin(tau * t)))
        _turn_keys(stage, ob, f"shin.{side}", lambda t, r=raised: (r * 0.9 * lifted(t), 0.0, 0.0))
        _turn_keys(stage, ob, f"foot.{side}", lambda t, r=raised: (r * -0.3 * lifted(t), 0.0, 0.0))
        _turn_keys(stage, ob, f"arm.{side}", lambda t, s=sign: (0.1, 0.2 * sin(tau * t), -0.9 * s))
    _turn_keys(stage, ob, "chest", lambda t: (0.0, 0.1 * sin(tau * t), 0.0))
    hips = ob.pose.bones["hips"]
    for time in stage.times():
        t = (time - stage.first) / stage.take.rate
        hips.location = stage.take.size * Vector((0.03 * sin(tau * t), 0.0, 0.03 * t))
        hips.keyframe_insert("location", frame=time, group="hips")


def _turn_keys(stage: Stage, ob: bpy.types.Object, name: str, angles: Callable[[float], Sequence[float]]) -> None:
    for time in stage.times():
        rigs.posed(ob.pose.bones[name], Euler(angles((time - stage.first) / stage.take.rate)).to_quaternion())
        _key(ob.pose.bones[name], time, only_rotation=True)


def _key(owner: bpy.types.Object | bpy.types.PoseBone, time: float, only_rotation: bool = False) -> None:
    for path in ([] if only_rotation else ["location"]) + [rigs.ROTATION_PATHS[owner.rotation_mode]]:
        owner.keyframe_insert(path, frame=time, group=owner.name)


def props(stage: Stage) -> None:
    """Things to hold, the first of which moves."""
    unit = stage.take.size * stage.take.scale[1]
    for name, place in zip(PROPS, ((0.6, -0.5, 1.2), (-0.6, -0.4, 1.1)), strict=True):
        ob = rigs.empty([unit * x for x in place], name)
        for time in (stage.first, stage.last) if name == "Wheel" else ():
            ob.location.z = unit * (place[2] + 0.1 * (time > stage.first))
            ob.rotation_quaternion = Euler((0.0, 0.0, 0.2 * (time > stage.first))).to_quaternion()
            _key(ob, time)


# -- scenes in which operators are pressed ----------------------------------------------------------------------------


def curves(stage: Stage) -> list[bpy.types.FCurve]:
    """The figure's curves, and those of its targets."""
    owners = dict.fromkeys(one.id_data for one in (stage.ob, *filter(None, map(rigs.follows, stage.ob.dqik.goals))))
    return [curve for owner in owners for curve in rigs.fcurves(owner)]


def _on_curves(name: str, index: int | None = 2) -> Callable[[Stage], None]:
    """Make the curves of one axis special, which are some of those that a tool writes, or all."""
    return lambda stage: make_special(
        name, [curve for curve in curves(stage) if index is None or curve.array_index == index]
    )


def _additive(stage: Stage) -> None:
    as_strip(stage.ob, round(stage.first))
    ob, data = stage.ob, stage.ob.animation_data
    data.action = bpy.data.actions.new("Layer")
    for time, angle in ((stage.first, 0.0), (stage.last, 0.2)):
        rigs.posed(ob.pose.bones["head"], Euler((angle, 0.0, 0.0)).to_quaternion())
        _key(ob.pose.bones["head"], time, only_rotation=True)
    as_strip(ob, round(stage.first)).blend_type = "COMBINE"


def _other_figure(stage: Stage) -> None:
    stage_figure(stage, "Bob", (2.0 * stage.take.size * stage.take.scale[1], 0.0, 0.0))


def _shared(stage: Stage) -> None:
    _other_figure(stage)
    share_action(stage.ob, bpy.data.objects["Bob"])


def _slot(stage: Stage) -> None:
    stage_figure(stage, "Bob", (2.0 * stage.take.size * stage.take.scale[1], 0.0, 0.0), stage.ob.animation_data.action)


def _second_action(stage: Stage) -> None:
    """The figure was set up on one action; the one that is assigned turns its bones, and knows no controls."""
    data = stage.ob.animation_data
    data.action.use_fake_user = True
    data.action = bpy.data.actions.new("Second")
    for name in ("thigh.L", "shin.L", "arm.L", "forearm.L", "chest"):
        _turn_keys(stage, stage.ob, name, lambda t: (0.3 * sin(tau * t), 0.1, 0.0))


def _library_path() -> Path:
    return Path(tempfile.mkdtemp(prefix="library-")) / "library.blend"


def _linked(stage: Stage) -> None:
    for ob in library(_library_path()).objects:
        bpy.context.scene.collection.objects.link(ob)


def _override(stage: Stage) -> None:
    overridden(_library_path())


def _system_override(stage: Stage) -> None:
    _override(stage)
    for one in (*bpy.data.objects, *bpy.data.armatures, *bpy.data.collections):
        if one.override_library is not None:
            one.override_library.is_system_override = True


def targets(stage: Stage) -> list[bpy.types.Object]:
    """The objects that goals follow, and the props."""
    found = {goal.target for goal in stage.ob.dqik.goals} - {stage.ob, None}
    return [*found, *(bpy.data.objects[name] for name in PROPS)]


def _hidden(stage: Stage) -> None:
    for ob in targets(stage):
        ob.hide_viewport = True


def _excluded(stage: Stage) -> None:
    for ob in targets(stage):
        into_collection(ob, f"Away {ob.name}").exclude = True


def _auto(on: bool, only_available: bool) -> Callable[[Stage], None]:
    def changed(stage: Stage) -> None:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = on
        bpy.context.preferences.edit.use_keyframe_insert_available = only_available

    return changed


def nothing(stage: Stage) -> None:
    """Leave all as it is."""


@dataclass(frozen=True)
class Situation:
    """A line of the table."""

    take: Take = Take()
    change: Callable[[Stage], None] = nothing
    since: tuple[int, int, int] = (4, 2, 0)  # the Blender that has it first
    from_file: bool = False  # whether the figure comes from a library


SITUATIONS: dict[str, Situation] = {
    "no keys": Situation(Take(keys="none")),
    "few keys": Situation(),
    "dense keys": Situation(Take(keys="dense")),
    "constant keys": Situation(Take(interpolation="CONSTANT")),
    "locked curves": Situation(change=_on_curves("locked")),
    "locked groups": Situation(change=_on_curves("locked_group")),
    "muted curves": Situation(change=_on_curves("muted")),
    "noise": Situation(change=_on_curves("noisy")),
    "cyclic": Situation(change=_on_curves("cyclic", None)),
    "NLA strip": Situation(change=lambda stage: as_strip(stage.ob, round(stage.first))),
    "NLA additive": Situation(change=_additive),
    "tweak mode": Situation(change=lambda stage: tweaked(stage.ob, round(stage.first))),
    "shared action": Situation(change=_shared),
    "other slot": Situation(change=_slot, since=(4, 4, 0)),
    "second action": Situation(change=_second_action),
    "linked": Situation(change=_linked, from_file=True),
    "override": Situation(change=_override, from_file=True),
    "system override": Situation(change=_system_override, from_file=True),
    "hidden targets": Situation(Take(targets="EMPTIES"), _hidden),
    "excluded targets": Situation(Take(targets="EMPTIES"), _excluded),
    "auto keying": Situation(change=_auto(True, False)),
    "auto, available": Situation(change=_auto(True, True)),
    "no auto, available": Situation(change=_auto(False, True)),
    "negative frames": Situation(Take(first=-1000.0)),
    "between frames": Situation(Take(first=1.375, now=0.25)),
    "12 a second": Situation(Take(rate=12)),
    "23.976 a second": Situation(Take(rate_base=1.001, keys="dense")),
    "60 a second": Situation(Take(rate=60)),
    "two figures": Situation(change=_other_figure),
    "centimetres": Situation(Take(size=100.0, scale=(0.01, 0.01, 0.01))),
    "mirrored": Situation(Take(scale=(-1.0, 1.0, 1.0))),
    "Euler": Situation(Take(modes=("XYZ", "ZYX", "YZX"))),
    "axis-angle": Situation(Take(modes=("AXIS_ANGLE",))),
}


def make(kind: str, name: str) -> Stage:
    """Make the scene of a situation, at its current frame."""
    situation = SITUATIONS[name]
    rigs.new_file()
    _auto(False, False)(stage := Stage(kind, situation.take))
    _timeline(stage)
    stage_figure(stage, "Ann")
    if not situation.from_file:
        props(stage)
    situation.change(stage)
    stage.repeats = name == "cyclic"
    rigs.update()
    if situation.from_file:
        _timeline(stage)
        props(stage)
    rigs.made_active(stage.ob)
    rigs.update()
    rigs.at_frame(stage.now)
    return stage


def _timeline(stage: Stage) -> None:
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = stage.take.rate, stage.take.rate_base
    scene.frame_start, scene.frame_end = int(stage.first), round(stage.last)


def choose(ob: bpy.types.Object, names: Iterable[str], controls: bool = True) -> None:
    """Select bones in Pose Mode: of those with goals the controls, where these are bones.

    Objects that goals follow are selected in Object Mode, with the armature active; what is hidden cannot be selected.
    """
    owners = []
    for name in names:
        goal = next((one for one in ob.dqik.goals if one.bone == name), None) if controls else None
        owners.append(ob.pose.bones[name] if goal is None else rigs.follows(goal))
    things = [one for one in owners if isinstance(one, bpy.types.Object)]
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    rigs.made_active(ob)
    if any(one.visible_get() for one in things):
        for one in things:
            one.select_set(True)
        return
    with suppress(RuntimeError):  # Blender lets nobody pose what is linked
        bpy.ops.object.mode_set(mode="POSE")
    wanted = {one.name for one in owners if isinstance(one, bpy.types.PoseBone)} or set(names)
    for one in ob.pose.bones:
        (one if hasattr(one, "select") else one.bone).select = one.name in wanted
    ob.data.bones.active = ob.data.bones[min(wanted)]
