# SPDX-License-Identifier: GPL-3.0-or-later
"""A catalogue of live rigs by name, whose motion runs over frames 1 to 12: what holds for all is asked of all.

`SITUATIONS[name]()` makes one in an empty file. Of each of them test_promises.py asks the same.
"""

from collections.abc import Callable, Iterable
from math import radians, sin

import bpy
import numpy as np
import rigs
from mathutils import Vector
from situations import as_strip, crane, key_turns, load, reaching

FRAMES = range(1, 13)
Maker = Callable[[], bpy.types.Object]
SITUATIONS: dict[str, Maker] = {}


def situation(**variants: tuple) -> Callable[[Callable], Callable]:
    """Name a maker by its function, or by each of some variants, with the arguments of these."""

    def entered(maker: Callable) -> Callable:
        name = maker.__name__.replace("_", " ")
        for variant, arguments in (variants or {"": ()}).items():
            label = f"{name}, {variant.replace('_', ' ')}" if variant else name
            SITUATIONS[label] = lambda arguments=arguments: maker(*arguments)
        return maker

    return entered


def film(ob: bpy.types.Object, frames: Iterable[float]) -> dict:
    """World matrices (N, 4, 4) of all bones but controls, by frame, visited in this order."""
    return {frame: film_here(ob) for frame in rigs.visited(frames)}


def frames_of(ob: bpy.types.Object, frames: Iterable[float]) -> np.ndarray:
    """As `film`, in one array (F, N, 4, 4)."""
    return np.array([film_here(ob) for frame in rigs.visited(frames)])


def film_here(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph | None = None) -> np.ndarray:
    """World matrices (N, 4, 4) of all bones but controls at the present frame, in the view or in a render."""
    shown = ob.evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
    return np.array([shown.matrix_world @ bone.matrix for bone in shown.pose.bones if not bone.name.startswith("DQIK")])


# -- arms --------------------------------------------------------------------------------------------------------------


def moving_arms(name: str = "Rig", frames: range = range(1, 21)) -> bpy.types.Object:
    """Two arms on a post whose targets wander, one at times out of reach; the armature is active."""
    bones = [rigs.Bone("post", (0, 0, 0), (0, 0, 1))]
    for side, sign in (("L", 1), ("R", -1)):
        bones += [
            rigs.Bone(f"upper.{side}", (0.2 * sign, 0, 1), (1.2 * sign, -0.2, 1), "post"),
            rigs.Bone(f"lower.{side}", (1.2 * sign, -0.2, 1), (2.2 * sign, 0, 1), f"upper.{side}", True),
        ]
    ob = rigs.armature(bones, name)
    for side, sign in (("L", 1), ("R", -1)):
        target = rigs.empty((0, 0, 0), f"{name} {side}")
        rigs.key_path(target, frames, [
            Vector((sign * (1.3 + 0.7 * sin(0.3 * f)), -0.9 + 0.5 * sin(0.4 * f + sign), 1.2 + 0.6 * sin(0.25 * f)))
            for f in frames
        ])  # fmt: skip
        rigs.goal(ob, f"lower.{side}", target)
    rigs.at_frame(1)
    return rigs.made_active(ob)


def sliding_post(ob: bpy.types.Object) -> None:
    """The post may move as well as turn, and stands away from its rest place."""
    ob.pose.bones["post"].dqik_translate = True
    ob.pose.bones["post"].location = (0.1, 0.2, 0.0)


def _keyed_bones(ob: bpy.types.Object) -> None:
    for frame in (1, 9, 20):
        for name, turn in (("post", rigs.rotation((0, 1, 1), 2.0 * frame)),
                           ("upper.L", rigs.rotation((0, 0, 1), -3.0 * frame))):  # fmt: skip
            rigs.keyed(ob.pose.bones[name], frame, rotation_quaternion=turn)


def _posed_bones(ob: bpy.types.Object) -> None:
    ob.pose.bones["post"].rotation_quaternion = rigs.rotation((1, 0, 0), 20.0)
    ob.pose.bones["upper.L"].rotation_quaternion = rigs.rotation((0, 1, 0), 30.0)


def _mixed_modes(ob: bpy.types.Object) -> None:
    for bone, mode in zip(ob.pose.bones, ("ZXY", "XYZ", "AXIS_ANGLE", "QUATERNION", "YZX"), strict=True):
        bone.rotation_mode = mode


def _limits_and_a_pole(ob: bpy.types.Object) -> None:
    for side in "LR":
        rigs.limit(ob.pose.bones[f"lower.{side}"], (-10, 10), (-100, 100), (-100, 100))
    ob.dqik.goals[0].pole_target = rigs.empty((1, 4, 0), "Pole")


def _keyed_goals(ob: bpy.types.Object) -> None:
    """A goal that keys mute in the middle, and another with a keyed influence and weight."""
    left, right = ob.dqik.goals
    rigs.key_path(left, (1, 7, 11), (False, True, False), "mute")
    for frame, influence in ((1, 1.0), (10, 0.0), (20, 0.8)):
        right.influence = right.position_weight = influence
        right.keyframe_insert("influence", frame=frame)


def _stretching_bone(ob: bpy.types.Object) -> None:
    rigs.key_path(ob.pose.bones["lower.L"], (1, 20), [(scale, scale, scale) for scale in (1.0, 1.4)], "scale")


@situation(
    plain=(None,), keyed_bones=(_keyed_bones,), posed_bones=(_posed_bones,), sliding_post=(sliding_post,),
    mixed_modes=(_mixed_modes,), limits_and_a_pole=(_limits_and_a_pole,), keyed_goals=(_keyed_goals,),
    a_stretching_bone=(_stretching_bone,),
)  # fmt: skip
def arms(change: Callable | None) -> bpy.types.Object:
    ob = moving_arms()
    if change is not None:
        change(ob)
    rigs.at_frame(0)
    ob.dqik.live = True
    return ob


@situation()
def arms_from_rest() -> bpy.types.Object:
    ob = moving_arms()
    ob.dqik.start_from, ob.dqik.live = "REST", True
    return ob


# -- cranes ------------------------------------------------------------------------------------------------------------


def _still(ob: bpy.types.Object) -> None:
    """Nothing moves but the keys of a bone that hold still."""
    key_turns(ob, "mast", {1: (0.5, 0, 0), 30: (0.5, 0, 0)})
    bpy.data.objects["Load"].animation_data_clear()
    bpy.data.objects["Load"].location = (0.5, 0.5, 1.6)
    rigs.key_path(bpy.data.objects["Pull"], (1, 8), [(0.2, -0.8, 1.4), (0.4, -0.6, 1.0)])


def _keyed_bone(ob: bpy.types.Object) -> None:
    key_turns(ob, "mast", {1: (0.5, 0, 0), 10: (0, -0.6, 0.3), 30: (0.4, 0.2, 0)})


def _in_tracks(ob: bpy.types.Object) -> None:
    _keyed_bone(ob)
    as_strip(ob)


def _driven(ob: bpy.types.Object, owner: Callable, path: str, expression: str) -> None:
    """Drive a number of what `owner` finds."""
    driver = owner(ob).driver_add(path, *((1,) if "quaternion" in path else ())).driver
    driver.type, driver.expression = "SCRIPTED", expression


def _keyed(ob: bpy.types.Object, owner: Callable, path: str, values: dict[int, object]) -> None:
    """Key a property of what `owner` finds."""
    rigs.key_path(owner(ob), values, values.values(), path)


def _end_alone(ob: bpy.types.Object, prepare: Callable, *arguments: object) -> None:
    """The goals move the jib and the boom; the mast below them is animated in some way."""
    for one in ob.dqik.goals:
        one.chain_length = 2
    prepare(ob, *arguments)


def _keyed_constraint(ob: bpy.types.Object) -> None:
    made = rigs.constrain(ob.pose.bones["mast"], "DAMPED_TRACK", rigs.empty((0.8, 0.6, 0.5), "Guide"))
    rigs.key_path(made, (1, 4, 8), (0.0, 0.1, 0.9), "influence")


def _driven_by_a_keyed_property(ob: bpy.types.Object) -> None:
    for frame, value in {1: 0.0, 4: 0.5, 8: -0.7}.items():
        ob["lean"] = value
        ob.keyframe_insert('["lean"]', frame=frame)
    ob.pose.bones["mast"].rotation_mode = "XYZ"
    driver = ob.pose.bones["mast"].driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path, driver.type = ob, '["lean"]', "AVERAGE"


def _mast(ob: bpy.types.Object) -> bpy.types.PoseBone:
    return ob.pose.bones["mast"]


def _goal(number: int) -> Callable:
    return lambda ob: ob.dqik.goals[number]


@situation(
    plain=(None,), a_keyed_bone=(_keyed_bone,), a_still_target=(_still,), keys_in_tracks=(_in_tracks,),
    a_driven_bone=(_driven, _mast, "rotation_quaternion", "sin(frame / 3)"),
    a_keyed_influence=(_keyed, _goal(0), "influence", {4: 0.0, 8: 1.0}),
    a_keyed_mute=(_keyed, _goal(0), "mute", {4: False, 6: True, 7: False}),
    a_keyed_weight=(_keyed, _goal(1), "position_weight", {4: 0.0, 8: 5.0}),
    a_keyed_stiffness=(_keyed, _mast, "dqik_stiffness", {4: 0.0, 8: 1.0}),
    a_driven_influence=(_driven, _goal(0), "influence", "min(1, abs(frame - 6) / 4)"),
    a_driven_stiffness=(_driven, _mast, "dqik_stiffness", "frame / 30"),
    a_keyed_bone_below_the_chain=(_end_alone, _keyed_bone),
    a_driven_bone_below_the_chain=(_end_alone, _driven_by_a_keyed_property),
    a_keyed_object=(_keyed, lambda ob: ob, "location", {1: (0, 0, 0), 4: (0.3, 0.2, -0.4), 8: (-0.3, 0.0, 0.3)}),
    a_keyed_scale=(_keyed, _mast, "scale", {1: (1, 1, 1), 4: (0.7, 0.7, 0.7), 8: (1.2, 1.2, 1.2)}),
    a_keyed_constraint=(_keyed_constraint,),
)  # fmt: skip
def moving_crane(change: Callable | None, *arguments: object) -> bpy.types.Object:
    """Its base pose is far from what the goals ask for, so that a setting makes a difference."""
    ob, _ = reaching()
    rigs.goal(ob, "jib", rigs.empty((0.2, -0.8, 1.4), "Pull"), position_weight=0.5)
    ob.pose.bones["mast"].rotation_quaternion = rigs.rotation((0, 1, 0), 40.0)
    ob.pose.bones["boom"].rotation_quaternion = rigs.rotation((1, 0, 0), -60.0)
    if change is not None:
        change(ob, *arguments)
    ob.dqik.live = True
    return rigs.made_active(ob)


# -- other goals and relations -----------------------------------------------------------------------------------------


def chain(count: int = 4) -> bpy.types.Object:
    """A chain of bones along Z, a little bent."""
    return rigs.armature([
        rigs.Bone(f"bone {k}", (0.02 * k * k, 0, 0.5 * k), (0.02 * (k + 1) ** 2, 0, 0.5 * (k + 1)),
                  f"bone {k - 1}" if k else "", k > 0) for k in range(count)
    ])  # fmt: skip


def curve_object(kind: str) -> bpy.types.Object:
    """A bent curve."""
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    points = [(0, 0, 0), (0.5, 0.2, 0.8), (1.0, 0.3, 1.2), (1.9, 0.1, 1.8)]
    if kind == "BEZIER":
        spline.bezier_points.add(len(points) - 1)
        for point, at in zip(spline.bezier_points, points, strict=True):
            point.co = at
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(len(points) - 1)
        for point, at in zip(spline.points, points, strict=True):
            point.co = (*at, 1.0)
        spline.use_endpoint_u, spline.order_u = True, 4
    ob = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


@situation(**{kind.lower(): (kind,) for kind in ("LOOK_AT", "DISTANCE", "PLANE", "BALANCE", "CURVE", "PARALLEL")})
def goal(kind: str) -> bpy.types.Object:
    ob = chain()
    target = curve_object("BEZIER") if kind == "CURVE" else rigs.empty((0.8, 0.4, 1.1))
    rigs.key_path(target, [1, 10], [(0.8, 0.4, 1.1), (-0.3, 0.5, 1.6)])
    for frame, turn in ((1, rigs.rotation((1, 1, 0), 40.0)), (10, rigs.rotation((0, 1, 1), 30.0))):
        target.rotation_mode, target.rotation_quaternion = "QUATERNION", turn
        target.keyframe_insert("rotation_quaternion", frame=frame)
    rigs.goal(ob, "bone 3", target, kind=kind, distance=0.2, axis="Z")
    ob.dqik.live = True
    return rigs.made_active(ob)


@situation(stretching=({"dqik_stretch": 0.2, "dqik_keep_volume": True}, 2.0), shortening=({"dqik_shortest": 0.5}, 0.9))
def a_limb(settings: dict, far: float) -> bpy.types.Object:
    """An arm whose elbow turns little and whose bones change their lengths, since its target is further or nearer."""
    ob = rigs.made_active(rigs.arm(radians(60.0)))
    for bone in ob.pose.bones:
        bone.bone.inherit_scale = "NONE"
        rigs.put(bone, **settings)
    rigs.limit(ob.pose.bones["b"], (0, 0), (-60, 60), (-60, 60))
    target = rigs.empty((0, 0, 0))
    rigs.key_path(target, (1, 5, 12), [(far, 0, 0), (far - 0.2, 0.1, 0.2), (far + 0.3, -0.3, 0.0)])
    rigs.goal(ob, "b", target)
    ob.dqik.live = True
    return ob


@situation()
def coupled_bones() -> bpy.types.Object:
    ob = rigs.made_active(rigs.chain([(0, 0, 0), (0, 0.05, 1), (0, 0, 2), (0, 0.1, 3)]))
    target = rigs.empty((0.3, 1.2, 1.8))
    rigs.key_path(target, [1, 10], [(0.3, 1.2, 1.8), (0.5, -1.0, 1.5)])
    rigs.goal(ob, "c", target)
    rigs.couple(ob, "c", "b", factor=0.7)
    ob.dqik.live = True
    return ob


@situation()
def a_target_on_another_armature() -> bpy.types.Object:
    """Both are live; the one that follows is made last."""
    leader = moving_arms("Leader")
    follower = rigs.made_active(rigs.bent_arm("Follower"))
    follower.location = (0.5, -2.0, 1.0)
    rigs.goal(follower, "b", leader, subtarget="lower.L")
    leader.dqik.live = follower.dqik.live = True
    return follower


def two_that_follow_each_other() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cranes: the second reaches for a hook on the first, whose flag points at one on the second."""
    one, other = crane("First"), crane("Second")
    rigs.goal(one, "jib", load())
    other.location = (0.2, 0.5, 0.0)
    for ob, bone, leader, settings in ((other, "jib", one, {}), (one, "flag", other, {"chain_length": 1})):
        hook = rigs.child(rigs.empty((0, 0, 0), f"Hook of {ob.name}"), leader, "jib")
        rigs.goal(ob, bone, hook, **settings)
    one.dqik.live = other.dqik.live = True
    return one, other


@situation(first=(0,), second=(1,))
def one_of_two_that_follow_each_other(number: int) -> bpy.types.Object:
    return rigs.made_active(two_that_follow_each_other()[number])


# -- figures -----------------------------------------------------------------------------------------------------------

MIDDLES = [((0.8, -0.2, 1.4), 0.3), ((-0.5, -0.3, 1.3), 0.1), ((0, -0.1, 1.76), 0.03), ((0.15, -0.2, 0.15), 0.1),
           ((-0.15, -0.2, 0.15), 0.1)]  # fmt: skip


def moving_figure(keyed: str = "none") -> bpy.types.Object:
    """The figure with five goals whose targets wander, the left hand's out of its reach at times; its bones without
    keys, some or all with keys."""
    ob = rigs.figure()
    for k, end in enumerate(rigs.FIGURE_ENDS):
        target = rigs.empty((0, 0, 0), f"{end} target")
        middle, wide = MIDDLES[k]
        ways = [(sin(0.5 * f + k), sin(0.3 * f), sin(0.7 * f + 2 * k)) for f in range(1, 17)]
        rigs.key_path(target, range(1, 17), [Vector(middle) + wide * Vector(way) for way in ways])
        target.rotation_quaternion = ob.pose.bones[end].matrix.to_quaternion()
        rigs.goal(ob, end, target, use_rotation=end == "hand.R")
    names = {"some": ("spine", "arm.L", "shin.R"), "all": [bone.name for bone in ob.pose.bones]}.get(keyed, ())
    if keyed == "in part":
        _key_in_part(ob)
    for k, name in enumerate(names):
        bone = ob.pose.bones[name]
        for frame in (1, 6, 12, 16):
            rigs.keyed(bone, frame, rotation_quaternion=rigs.rotation((1, k, 2), 8.0 * sin(frame + k)))
    return ob


def _key_in_part(ob: bpy.types.Object) -> None:
    """Keys that leave some of a bone's channels to us: of one axis, of the location, of another mode, and muted."""
    bones = ob.pose.bones
    for name in ("arm.L", "shin.R", "spine"):
        bones[name].rotation_mode = "XYZ"
    bones["spine"].rotation_euler = (0.1, 0.2, 0.0)
    for frame in (1, 9, 16):
        bones["spine"].rotation_euler[0] = 0.02 * frame
        bones["spine"].keyframe_insert("rotation_euler", index=0, frame=frame)
        rigs.keyed(bones["chest"], frame, location=(0.0, 0.0, 0.002 * frame))
        rigs.keyed(bones["arm.L"], frame, rotation_quaternion=rigs.rotation((0, 0, 1), 5.0 * frame))
        rigs.keyed(bones["shin.R"], frame, rotation_euler=(0.03 * frame, 0.0, 0.1))
    for curve in rigs.fcurves(ob):
        curve.mute = "shin.R" in curve.data_path


@situation(no_keys=("none",), some_bones_keyed=("some",), all_bones_keyed=("all",), keyed_in_part=("in part",))
def figure(keyed: str) -> bpy.types.Object:
    ob = rigs.made_active(moving_figure(keyed))
    ob.dqik.live = True
    return ob


@situation()
def natural_pose() -> bpy.types.Object:
    """Hands, feet and head of a figure follow moving empties, and its amount is keyed."""
    ob = rigs.figure()
    for number, name in enumerate(rigs.FIGURE_ENDS):
        rest, sign = rigs.tail(ob, name), -1.0 if name.endswith(".R") else 1.0
        way = Vector((-0.3 * sign, -0.25, -0.1)) if "hand" in name else Vector((0.0, -0.04, 0.01 * number))
        target = rigs.empty(rest, name)
        rigs.key_path(target, FRAMES, [rest + way * sin(0.2 * frame + number) for frame in FRAMES])
        rigs.goal(ob, name, target, chain_length={"hand": 6, "head": 4, "foot": 3}[name.split(".")[0]])
    rigs.key_path(ob.dqik, (1, 12), (1.0, 0.2), "natural_pose")
    ob.dqik.live = True
    return rigs.made_active(ob)


def _set_up(targets: str = "BONES", **moved: tuple) -> bpy.types.Object:
    """A live figure with a body's controls, some of which move; `hand_L=way`."""
    ob = rigs.set_up(rigs.figure(), targets=targets)
    for name, way in moved.items():
        owner = rigs.owner_of(ob, name.replace("_", "."))
        start = Vector(owner.location)
        rigs.key_path(owner, (1, 10), [start, start + Vector(way)])
    return ob


@situation(bones=("BONES",), empties=("EMPTIES",))
def a_rolled_foot(targets: str) -> bpy.types.Object:
    ob = _set_up(targets, hips=(0.0, 0.0, -0.1))
    owner = rigs.owner_of(ob, "foot.L")
    rigs.key_path(owner, (1, 4, 7, 10), [radians(angle) for angle in (-20.0, 0.0, 0.0, 40.0)], "dqik_roll")
    return ob


@situation()
def a_hand_that_comes_to_turn_with_its_forearm() -> bpy.types.Object:
    ob = _set_up(hand_L=(-0.1, -0.3, 0.2))
    goal = rigs.goal_of(ob, "hand.L")
    rigs.key_path(goal, (1, 9), (1.0, 0.0), "rotation_follows")
    return ob


@situation()
def a_hand_kept_out_of_the_chest() -> bpy.types.Object:
    ob = rigs.figure()
    for bone in ("hand.L", "hand.R", "foot.L", "foot.R"):
        rigs.goal(ob, bone, rigs.empty(rigs.tail(ob, bone), bone))
    rigs.key_path(bpy.data.objects["hand.L"], (1, 8), ((0.5, -0.4, 1.2), (-0.1, 0.05, 1.3)))
    ob.dqik.avoid_self = ob.dqik.use_floor = ob.dqik.live = True
    return rigs.made_active(ob)


@situation()
def eyes() -> bpy.types.Object:
    bones = rigs.figure_bones()
    for name, sign, roll in (("eye.L", 1, 0.3), ("eye.R", -1, 0.8)):
        at = Vector((sign * 0.032, -0.08, 1.68))
        bones.append(rigs.Bone(name, at, at + Vector((0, 0, 0.03)), "head", roll=roll))
    ob = rigs.armature(bones, "Figure")
    rigs.set_up(ob)
    assert bpy.ops.dqik.eyes_add() == {"FINISHED"}
    rigs.key_path(ob.pose.bones["DQIK eyes"], (1, 6), [(0, 0, 0), (0.15, 0, 0.1)])
    return ob
