# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes in which operators are pressed: a figure whose motion takes a second, and what is special about its file.

`SITUATIONS` is the table. Each line says how the motion is made (`Take`), and what is done to the file afterwards.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import sin, tau
from pathlib import Path

import bpy
import rigs
from mathutils import Euler, Vector

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


# -- figures -----------------------------------------------------------------------------------------------------------


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


def figure(stage: Stage, name: str, place: Point = (0.0, 0.0, 0.0), slot_of: bpy.types.Action | None = None) -> None:
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
            if (owner := owner_of(goal)) is not None and owner != ob:
                owner.rotation_mode = take.modes[0]
        _key_controls(stage, ob)
        ob.dqik.live = True
    else:
        _key_bones(stage, ob)
    _turn_keys(stage, ob, "hair1", lambda t: (0.2 * sin(tau * t), 0.1, 0.0))
    for owner in dict.fromkeys(one.id_data for one in (ob, *filter(None, map(owner_of, ob.dqik.goals)))):
        for curve in rigs.fcurves(owner):
            for key in curve.keyframe_points:
                key.interpolation = take.interpolation
    bpy.ops.object.mode_set(mode="OBJECT")


def owner_of(goal: bpy.types.PropertyGroup) -> bpy.types.Object | bpy.types.PoseBone | None:
    """What a goal follows: a control bone or an object."""
    if goal.target is None or not goal.subtarget:
        return goal.target
    return goal.target.pose.bones.get(goal.subtarget)


def _key_controls(stage: Stage, ob: bpy.types.Object) -> None:
    unit = stage.take.size if stage.take.targets == "BONES" else stage.take.size * stage.take.scale[1]
    for goal in ob.dqik.goals:
        owner, (way, turn) = owner_of(goal), CONTROLS[goal.bone]
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


# -- what is special ---------------------------------------------------------------------------------------------------


def curves(stage: Stage) -> list[bpy.types.FCurve]:
    """The figure's curves, and those of its targets."""
    owners = dict.fromkeys(one.id_data for one in (stage.ob, *filter(None, map(owner_of, stage.ob.dqik.goals))))
    return [curve for owner in owners for curve in rigs.fcurves(owner)]


def _on_curves(change: Callable[[bpy.types.FCurve], object], index: int | None = 2) -> Callable[[Stage], None]:
    """Change the curves of one axis, which are some of those that a tool writes, or of all."""

    def changed(stage: Stage) -> None:
        for curve in curves(stage):
            if index is None or curve.array_index == index:
                change(curve)
                curve.update()

    return changed


def _noise(curve: bpy.types.FCurve) -> None:
    noise = curve.modifiers.new("NOISE")
    noise.strength, noise.scale = 0.05, 5.0


def _strip(stage: Stage) -> None:
    data = stage.ob.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", round(stage.first), data.action)
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = data.action.slots[0]
    data.action = None


def _additive(stage: Stage) -> None:
    _strip(stage)
    ob, data = stage.ob, stage.ob.animation_data
    layer = bpy.data.actions.new("Layer")
    data.action = layer
    for time, angle in ((stage.first, 0.0), (stage.last, 0.2)):
        rigs.posed(ob.pose.bones["head"], Euler((angle, 0.0, 0.0)).to_quaternion())
        _key(ob.pose.bones["head"], time, only_rotation=True)
    slot = getattr(data, "action_slot", None)
    data.action = None
    strip = data.nla_tracks.new().strips.new("Layer", round(stage.first), layer)
    strip.blend_type = "COMBINE"
    if slot is not None and strip.action_slot is None:
        strip.action_slot = layer.slots[0]


def _tweak(stage: Stage) -> None:
    _strip(stage)
    data = stage.ob.animation_data
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True


def _other_figure(stage: Stage) -> None:
    figure(stage, "Bob", (2.0 * stage.take.size * stage.take.scale[1], 0.0, 0.0))


def _shared(stage: Stage) -> None:
    _other_figure(stage)
    own, data = stage.ob.animation_data, bpy.data.objects["Bob"].animation_data
    data.action = own.action
    if hasattr(data, "action_slot"):
        data.action_slot = own.action_slot


def _slot(stage: Stage) -> None:
    figure(stage, "Bob", (2.0 * stage.take.size * stage.take.scale[1], 0.0, 0.0), stage.ob.animation_data.action)


def _second_action(stage: Stage) -> None:
    """The figure was set up on one action; the one that is assigned turns its bones, and knows no controls."""
    data = stage.ob.animation_data
    data.action.use_fake_user = True
    data.action = bpy.data.actions.new("Second")
    for name in ("thigh.L", "shin.L", "arm.L", "forearm.L", "chest"):
        _turn_keys(stage, stage.ob, name, lambda t: (0.3 * sin(tau * t), 0.1, 0.0))


def _library(stage: Stage) -> None:
    """Link the figure, and its targets, from a file."""
    names = [ob.name for ob in bpy.context.scene.objects]
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for name in names:
        collection.objects.link(bpy.data.objects[name])
        bpy.context.scene.collection.objects.unlink(bpy.data.objects[name])
    path = Path(tempfile.mkdtemp(prefix="library-")) / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Set"]
    del stage


def _linked(stage: Stage) -> None:
    _library(stage)
    for ob in bpy.data.collections["Set"].objects:
        bpy.context.scene.collection.objects.link(ob)


def _override(stage: Stage) -> None:
    _library(stage)
    bpy.data.collections["Set"].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=True
    )  # fmt: skip


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
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    for ob in targets(stage):
        for other in list(ob.users_collection):
            other.objects.unlink(ob)
        collection.objects.link(ob)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


def _auto(on: bool, only_available: bool) -> Callable[[Stage], None]:
    def changed(stage: Stage) -> None:
        del stage
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = on
        bpy.context.preferences.edit.use_keyframe_insert_available = only_available

    return changed


def nothing(stage: Stage) -> None:
    del stage


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
    "locked curves": Situation(change=_on_curves(lambda one: setattr(one, "lock", True))),
    "locked groups": Situation(change=_on_curves(lambda one: setattr(one.group, "lock", True))),
    "muted curves": Situation(change=_on_curves(lambda one: setattr(one, "mute", True))),
    "noise": Situation(change=_on_curves(_noise)),
    "cyclic": Situation(change=_on_curves(lambda one: one.modifiers.new("CYCLES"), None)),
    "NLA strip": Situation(change=_strip),
    "NLA additive": Situation(change=_additive),
    "tweak mode": Situation(change=_tweak),
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
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    _auto(False, False)(stage := Stage(kind, situation.take))
    _timeline(stage)
    figure(stage, "Ann")
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
        owners.append(ob.pose.bones[name] if goal is None else owner_of(goal))
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
