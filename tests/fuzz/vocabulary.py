# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of the walks: short functions over Blender's API that a walk's script calls by name.

Nothing here knows how DQIK works. Objects are looked up by name each time, since undo and loading replace them.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from math import inf, nan, pi

import bpy
import rigs
from log import Log, traceback_in
from rigs import Bone, at_frame, fcurves, update

__all__ = ["at_frame", "bpy", "inf", "nan", "pi", "update"]

EXTENSION = "bl_ext.user_default.dqik"
FOLDER = tempfile.mkdtemp(prefix="dqik-walks-")
SLOTS = bpy.app.version >= (4, 4, 0)  # actions have slots


class BrokenError(Exception):
    """Something that must hold does not. The first argument is the kind of fault, the second a sentence."""


def forget() -> None:
    """Forget all that the extension remembers between frames, as a new session of Blender would."""
    sys.modules[f"{EXTENSION}.live"].forget()


def said() -> str:
    """What Blender and its operators have printed since this was called last."""
    return "" if Log.current is None else Log.current.said()


# -- looking up --------------------------------------------------------------------------------------------------------


def thing(name: str, library: str = "") -> bpy.types.Object:
    """An object of this file, or of a linked library by the name of its file."""
    for ob in bpy.data.objects:
        if ob.name == name and library == library_of(ob):
            return ob
    raise KeyError(f"There is no object {name!r} of {library or 'this file'}")


def library_of(ob: bpy.types.ID) -> str:
    return "" if ob.library is None else os.path.basename(ob.library.filepath)


def bone(name: str, of: bpy.types.Object) -> bpy.types.PoseBone:
    return of.pose.bones[name]


def armatures() -> list[bpy.types.Object]:
    """All armature objects of the file, linked ones too, in an order that does not change."""
    return sorted((ob for ob in bpy.data.objects if ob.type == "ARMATURE"), key=lambda ob: (ob.name, library_of(ob)))


def shown() -> list[bpy.types.Object]:
    """The armature objects that the current view layer evaluates."""
    there = {ob.session_uid for ob in bpy.context.view_layer.objects}
    return [ob for ob in armatures() if ob.session_uid in there and ob.pose is not None and not ob.hide_viewport]


# -- making ------------------------------------------------------------------------------------------------------------


def make_rig(name: str, bones: Sequence, modes: Sequence[str] = ("QUATERNION",), unturned: Sequence[str] = ()) -> None:
    """An armature of (name, head, tail, parent, connected, roll); `unturned` do not inherit rotation."""
    ob = rigs.armature([Bone(*values) for values in bones], name)
    for k, one in enumerate(ob.pose.bones):
        one.rotation_mode = modes[k % len(modes)]
        one.bone.use_inherit_rotation = one.name not in unturned


def make_empty(name: str, location: Sequence[float], parent: str = "", parent_bone: str = "") -> None:
    """An empty, which hangs on an object or on one of its bones."""
    ob = rigs.empty(location, name)
    if parent:
        rigs.child(ob, thing(parent), parent_bone)


def make_goal(of: bpy.types.Object, bone: str, target: str, **settings: object) -> None:
    """A goal for a bone; `pole_target` is a name too."""
    goal = rigs.goal(of, bone, None)
    goal.target = thing(target) if target else None
    for name, value in settings.items():
        setattr(goal, name, thing(value) if name == "pole_target" else value)
    of.update_tag()


def make_curve(name: str, points: Sequence[Sequence[float]], kind: str, location: Sequence[float]) -> None:
    """A curve object of one spline."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = location
    reshape(ob, points, kind)


def reshape(of: bpy.types.Object, points: Sequence[Sequence[float]], kind: str) -> None:
    """Give a curve another spline; none without points."""
    of.data.splines.clear()
    spline = of.data.splines.new(kind)
    own = spline.bezier_points if kind == "BEZIER" else spline.points
    own.add(len(points) - 1)
    for point, place in zip(own, points, strict=True):
        point.co = place if kind == "BEZIER" else (*place, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"


def make_mesh(name: str, corners: Sequence[Sequence[float]], location: Sequence[float]) -> None:
    """A mesh object of loose corners, which counts as their convex hull."""
    rigs.mesh(corners, [tuple(range(len(corners)))] if len(corners) > 2 else [], name).location = location


def avoid(of: bpy.types.Object, name: str) -> None:
    """An obstacle of an armature."""
    one = of.dqik.avoid.add()
    one.name, one.object = name, thing(name)


def couple(of: bpy.types.Object, bone: str, leader: str, **settings: object) -> None:
    """A coupling of two bones."""
    one = of.dqik.couplings.add()
    one.name, one.bone, one.leader = bone, bone, leader
    for name, value in settings.items():
        setattr(one, name, value)


def make_figure(name: str, location: Sequence[float], limits: bool, targets: str) -> None:
    """A standing figure with the goals of Set Up Full Body, and Human Limits."""
    ob = rigs.figure(name)
    ob.location = location
    update()
    if limits:
        run("limits_preset", ob)
    run("setup_full_body", ob, targets=targets)


# -- animation ---------------------------------------------------------------------------------------------------------


def key(owner: bpy.types.bpy_struct, path: str, values: dict[float, object]) -> None:
    """Keys of a property: frame to value. The property itself keeps its value until the keys are evaluated."""
    before = getattr(owner, path)
    before = before[:] if hasattr(before, "__len__") and not isinstance(before, str) else before
    rigs.key_path(owner, values.keys(), values.values(), path)
    setattr(owner, path, before)


def curves(of: bpy.types.ID, words: str = "") -> list[bpy.types.FCurve]:
    """The F-curves of an object's action whose path holds the words."""
    return [curve for curve in fcurves(of) if words in curve.data_path]


def unkey(of: bpy.types.ID, words: str = "") -> None:
    """Remove F-curves from an object's action."""
    for curve in curves(of, words):
        if SLOTS:
            for layer in of.animation_data.action.layers:
                for strip in layer.strips:
                    bag = strip.channelbag(of.animation_data.action_slot)
                    if bag is not None and curve in bag.fcurves[:]:
                        bag.fcurves.remove(curve)
        else:
            of.animation_data.action.fcurves.remove(curve)


def drive(owner: bpy.types.bpy_struct, path: str, expressions: Sequence[str]) -> None:
    """Drivers of a property: one expression, or one a component."""
    for k, expression in enumerate(expressions):
        rigs.drive(owner, path, expression, k if len(expressions) > 1 else None)


def push_down(of: bpy.types.ID, blend: str = "REPLACE") -> None:
    """Put an object's action into a track of its own."""
    data = of.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Strip", 1, data.action)
    strip.blend_type = blend
    if SLOTS:
        strip.action_slot = data.action_slot
    data.action = None


def new_slot(of: bpy.types.ID) -> None:
    """Let an object use a new slot of its action, where actions have slots."""
    data = of.animation_data
    data.action_slot = data.action.slots.new(id_type="OBJECT", name="Other")


# -- working -----------------------------------------------------------------------------------------------------------


def active(ob: bpy.types.Object, mode: str = "OBJECT") -> None:
    """Make an object the only selected and the active one, in a mode."""
    current = bpy.context.view_layer.objects.active
    if current is not None and current.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    rigs.made_active(ob)
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode=mode)


def edit(of: bpy.types.Object, change: str) -> None:
    """Edit Mode: run a line of code in which `bones` are the edit bones."""
    active(of, "EDIT")
    try:
        exec(change, {"bones": of.data.edit_bones, "pi": pi})
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def select(of: bpy.types.Object, names: Sequence[str]) -> None:
    """Select bones, in Pose Mode."""
    active(of, "POSE")
    for one in of.pose.bones:
        (one if hasattr(one, "select") else one.bone).select = one.name in names


def run(operator: str, of: bpy.types.Object, **settings: object) -> set[str]:
    """Run one of our operators on an armature. It may refuse, with one sentence that a person can read."""
    if of.mode == "OBJECT" or bpy.context.view_layer.objects.active != of:
        active(of)
    return press(operator, **settings)


def choose(owners: Sequence[tuple[str, str]]) -> None:
    """Select bones of an armature, in Pose Mode, or objects, by their names; for objects the bone is empty."""
    name, part = owners[0]
    if part:
        select(thing(name), [one for _, one in owners])
        thing(name).data.bones.active = thing(name).data.bones[part]
    else:
        active(thing(name))
        for other, _ in owners:
            thing(other).select_set(True)


def press(operator: str, **settings: object) -> set[str]:
    """Run one of our operators on what is active and selected, as above."""
    try:
        return getattr(bpy.ops.dqik, operator)(**settings)
    except RuntimeError as error:
        text = str(error).strip()
        said = [line for line in text.splitlines() if line.strip()]
        if not said or len(text) > 400 or "Traceback" in text or "Python:" in text:
            raise BrokenError("operator", f"{operator} refused with {traceback_in(text) or text[-400:]!r}") from error
        return {"CANCELLED"}
    except TypeError:
        raise
    except Exception as error:
        raise BrokenError("operator", f"{operator} raised {error!r}") from error


# -- scenes and files --------------------------------------------------------------------------------------------------


def link_to_scene(scene: str, names: Sequence[str]) -> None:
    """Link objects into a scene, which is made if it is not there."""
    found = bpy.data.scenes.get(scene) or bpy.data.scenes.new(scene)
    for name in names:
        if found.collection.objects.get(name) is None:
            found.collection.objects.link(thing(name))


def show_scene(scene: str) -> None:
    bpy.context.window.scene = bpy.data.scenes[scene]


def save_and_load(name: str = "walk") -> None:
    path = os.path.join(FOLDER, f"{name}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def link_from_new_file(name: str, override: bool) -> None:
    """Save the scene as a library, start a new file, and link all of it there, or make library overrides of it."""
    path = os.path.join(FOLDER, f"{name}.blend")
    collection = bpy.data.collections.new("Cast")
    scene = bpy.context.scene
    scene.collection.children.link(collection)
    for ob in list(scene.objects):
        if ob.library is None and ob.name not in collection.objects:
            collection.objects.link(ob)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Cast"]
    linked = wanted.collections[0]
    if override:
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    else:
        bpy.context.scene.collection.children.link(linked)


def exclude(collection: str, excluded: bool) -> None:
    """Exclude a collection from the view layer, or include it."""
    bpy.context.view_layer.layer_collection.children[collection].exclude = excluded
