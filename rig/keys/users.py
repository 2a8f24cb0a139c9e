# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses a target, a control bone or curves: asked before anything of the file is removed or overwritten.

Blender itself says which data-blocks point to an object. Their properties, also those of other add-ons, are then read
to find bones, which Blender refers to by name. Drivers may also name an object or a bone in a path or an expression.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import bpy

from .. import curves
from ..blender import animation
from ..blender.dependencies import Bone
from ..notes import Code, Note

HOLDERS = (bpy.types.Collection, bpy.types.Screen, bpy.types.WindowManager, bpy.types.WorkSpace)
"""What shows or sorts objects and depends on none."""

_GEOMETRY = (bpy.types.Mesh, bpy.types.Curve, bpy.types.Lattice, bpy.types.MetaBall)
"""Their collections are points and faces, which point to nothing."""

_NOT_READ = {"rna_type", "animation_data", "original", "frames", "keying_sets", "keying_sets_all"}
_OF_SCENES = {"camera", "timeline_markers"}
"""What is read of scenes, besides the properties of add-ons: reading all tool settings crashes Blender 4.2."""


class User(NamedTuple):
    """What uses something: a data-block or, if `bone` is not empty, one of an armature object's bones; and how."""

    id: bpy.types.ID
    bone: str
    how: Note


def kept(ob: bpy.types.Object, bones: Sequence[str], empties: Sequence[bpy.types.Object]) -> dict[Bone, User]:
    """The first user of each of some bones of an armature object and of some empties that must stay.

    What only others of these use is not kept, unless those are.
    """
    uses: dict[Bone, list[User]] = {(ob, name): users for name, users in of_bones(ob, bones).items()}
    uses |= {(empty, ""): of_object(empty) for empty in empties}
    found: dict[Bone, User] = {}
    count = -1
    while count != len(found):
        count = len(found)
        for thing, users in uses.items():
            counting = (user for user in users if user[:2] not in uses or user[:2] in found)
            user = None if thing in found else next(counting, None)
            if user is not None:
                found[thing] = user
    return found


def of_object(target: bpy.types.Object) -> list[User]:
    """The users of an object; those of itself do not count."""
    found: list[User] = []
    if _has_a_part(target):
        found.append(User(target.id_data, "*", Note("it does more than being a target")))
    for owner, curve in drivers():
        if owner != target and _names_object(curve.driver, target):
            found.append(_driving(owner, curve))
    for owner in bpy.data.user_map(subset={target})[target]:
        if owner == target or isinstance(owner, HOLDERS):
            continue
        own = [
            User(owner, bone, _how(owner, struct, name)) for struct, bone in _structs(owner)
            for name, value in _pointers(owner, struct) if value == target
        ]  # fmt: skip
        if not own and not isinstance(owner, bpy.types.Scene) and not any(user.id == owner for user in found):
            own = [User(owner, "", Note(Code.USES, repr(_name(owner))))]
        found += own
    return found


def of_bones(ob: bpy.types.Object, names: Sequence[str]) -> dict[str, list[User]]:
    """The users of bones of an armature object, also as bones of the other objects that share its armature."""
    found: dict[str, list[User]] = {name: [] for name in names if name in ob.data.bones}
    if not found:
        return found
    figures = [other for other in bpy.data.objects if other.data == ob.data]
    for name, users in found.items():
        users += _tied_in_armature(ob, figures, name)
        users += (user for other in figures if other != ob for user in _posed(other, name))
    for owner, curve in drivers():
        own = animation.split_path(owner, curve.data_path)[0] if owner in figures else ""
        for name, users in found.items():
            if (owner in figures and own == name) or not _names_bone(owner, curve.driver, figures, name):
                continue
            users.append(_driving(owner, curve))
    users_of = bpy.data.user_map(subset=set(figures))
    for owner in {*figures, *(owner for figure in figures for owner in users_of[figure])}:
        if isinstance(owner, HOLDERS):
            continue
        for struct, bone in _structs(owner):
            for prop, text in _strings(struct):
                if text in found and not (owner == ob and bone == text) and not _of_others(owner, struct, figures):
                    found[text].append(User(owner, bone, _how(owner, struct, prop)))
        if isinstance(owner, bpy.types.Object) and _is_deformed(owner, figures):
            for name, users in found.items():
                if ob.data.bones[name].use_deform and name in owner.vertex_groups:
                    users.append(User(owner, "", Note("{} is deformed by it", repr(owner.name))))
    return found


def players(ob: bpy.types.Object) -> list[str]:
    """Who else plays the curves of an object's action: names of data-blocks, empty for the object's own NLA tracks.

    Muted tracks of its own do not count: Blender keeps stashed actions in them.
    """
    data = ob.animation_data
    if data is None or data.action is None:
        return []
    wanted = _curves_of(data)
    found = [
        "" if owner == ob else _name(owner) for owner, other in _animated()
        if any(_curves_of(one) == wanted for one in _playing(other, owner == ob))
    ]  # fmt: skip
    for owner in bpy.data.user_map(subset={data.action})[data.action]:
        if isinstance(owner, bpy.types.Object):
            holders = [owner, *(owner.pose.bones if owner.pose else ())]
            actions = (one for holder in holders for one in holder.constraints if one.type == "ACTION")
            if any(_curves_of(one) == wanted for one in actions):
                found.append(_name(owner))
    return found


def is_sole(collection: bpy.types.Collection) -> bool:
    """Whether nothing but scenes and other collections holds a collection."""
    owners = bpy.data.user_map(subset={collection})[collection]
    texts = (_text(curve.driver) for _, curve in drivers())
    return all(isinstance(owner, (bpy.types.Scene, *HOLDERS)) for owner in owners) and not any(
        _quotes(text, collection.name) for text in texts
    )


# -- inside ------------------------------------------------------------------------------------------------------------


def _has_a_part(target: bpy.types.Object) -> bool:
    """Whether an empty shows or moves something by itself: an image, an instance, a force, a rigid body's joint."""
    force = target.field is not None and target.field.type != "NONE"
    joint = target.rigid_body_constraint is not None or target.rigid_body is not None
    return target.data is not None or target.instance_type != "NONE" or force or joint or target.asset_data is not None


def _animated() -> Iterator[tuple[bpy.types.ID, bpy.types.AnimData]]:
    """Everything in the file that has animation data; node trees inside others under the name of these."""
    for prop in bpy.data.bl_rna.properties:
        for owner in getattr(bpy.data, prop.identifier) if prop.type == "COLLECTION" else ():
            for holder in (owner, getattr(owner, "node_tree", None)):
                data = getattr(holder, "animation_data", None)
                if data is not None and (holder == owner or holder.is_embedded_data):
                    yield owner, data


def drivers() -> Iterator[tuple[bpy.types.ID, bpy.types.FCurve]]:
    """All drivers of the file, with their data-blocks."""
    for owner, data in _animated():
        yield from ((owner, curve) for curve in data.drivers)


def _playing(data: bpy.types.AnimData, own: bool) -> Iterator[bpy.types.AnimData | bpy.types.NlaStrip]:
    """What plays actions in animation data; of an object's own only its NLA tracks."""
    if not own:
        yield data
    for track in data.nla_tracks:
        if not (own and track.mute):
            yield from animation.strips_in(track.strips)


def _curves_of(player: bpy.types.bpy_struct) -> tuple:
    slot = getattr(player, "action_slot", None)
    return player.action, None if slot is None else slot.handle


def _posed(figure: bpy.types.Object, name: str) -> Iterator[User]:
    """A bone's animation, drivers and constraints in another object that shares the armature."""
    bone, data = figure.pose.bones.get(name) if figure.pose else None, figure.animation_data
    lists: list = [] if data is None else [data.drivers]
    if data is not None:
        lists += map(curves.fcurves, _playing(data, own=False))
    animated = any(animation.split_path(figure, curve.data_path)[0] == name for own in lists for curve in own)
    if animated or (bone is not None and len(bone.constraints)):
        yield User(figure, "", Note("{} animates it", repr(figure.name)))


def _tied_in_armature(ob: bpy.types.Object, figures: Sequence[bpy.types.Object], name: str) -> Iterator[User]:
    """The bones that are children of a bone, bend toward it, or are drawn at it."""
    own = ob.data.bones[name]
    for bone in ob.data.bones:
        if bone.parent == own:
            yield User(ob, bone.name, Note(Code.PARENTED, repr(bone.name)))
        elif own in (bone.bbone_custom_handle_start, bone.bbone_custom_handle_end):
            yield User(ob, bone.name, Note("{} bends toward it", repr(bone.name)))
    for figure in figures:
        for bone in figure.pose.bones if figure.pose else ():
            if bone.custom_shape_transform is not None and bone.custom_shape_transform.name == name:
                yield User(ob, bone.name, Note("{} is drawn at it", repr(bone.name)))


def _is_deformed(owner: bpy.types.Object, figures: Sequence[bpy.types.Object]) -> bool:
    if owner.parent in figures and owner.parent_type == "ARMATURE":
        return True
    return any(getattr(modifier, "object", None) in figures for modifier in owner.modifiers)


def _driving(owner: bpy.types.ID, curve: bpy.types.FCurve) -> User:
    bone = animation.split_path(owner, curve.data_path)[0] if isinstance(owner, bpy.types.Object) else ""
    return User(owner, bone, Note("a driver of {} reads it", repr(bone or _name(owner))))


def _names_object(driver: bpy.types.Driver, target: bpy.types.Object) -> bool:
    """Whether a driver reads an object, or its text names it."""
    points = any(end.id == target for variable in driver.variables for end in variable.targets)
    return points or _quotes(_text(driver), target.name)


def _names_bone(owner: bpy.types.ID, driver: bpy.types.Driver, figures: Sequence[bpy.types.Object], name: str) -> bool:
    """Whether a driver reads a bone of one of some armature objects, or its text names it."""
    for variable in driver.variables:
        for end in variable.targets:
            if end.id in figures:
                if variable.type != "SINGLE_PROP" and end.bone_target == name:
                    return True
                if animation.split_path(end.id, end.data_path)[0] == name or _quotes(end.data_path, name):
                    return True
            elif end.id == figures[0].data and _quotes(end.data_path, name):
                return True
    text = _text(driver)
    figure_named = owner in figures or any(_quotes(text, figure.name) for figure in figures)
    return figure_named and (_quotes(driver.expression, name) or (_quotes(text, name) and owner not in figures))


def _text(driver: bpy.types.Driver) -> str:
    return "\n".join([driver.expression, *(end.data_path for variable in driver.variables for end in variable.targets)])


def _quotes(text: str, name: str) -> bool:
    """Whether a name stands in quotes in a text."""
    return f'"{bpy.utils.escape_identifier(name)}"' in text or f"'{name}'" in text


def _structs(owner: bpy.types.ID) -> Iterator[tuple[bpy.types.bpy_struct, str]]:
    """A data-block and all structs inside it, each with the pose bone that it belongs to, or an empty name."""
    seen: set[tuple[int, type]] = set()
    left: list[tuple[bpy.types.bpy_struct, str]] = [(owner, "")]
    while left:
        struct, bone = left.pop()
        here = (struct.as_pointer(), type(struct))
        if here in seen:
            continue
        seen.add(here)
        if isinstance(struct, bpy.types.PoseBone):
            bone = struct.name
        yield struct, bone
        for prop in _read(owner, struct, {"POINTER", "COLLECTION"}):
            if prop.type == "COLLECTION" and isinstance(owner, _GEOMETRY):
                continue
            value = getattr(struct, prop.identifier)
            for inner in [value] if prop.type == "POINTER" else value:
                if not isinstance(inner, bpy.types.bpy_struct) or isinstance(inner, bpy.types.FCurve):
                    continue
                if inner.is_embedded_data if isinstance(inner, bpy.types.ID) else inner.id_data == struct.id_data:
                    left.append((inner, bone))


def _read(owner: bpy.types.ID, struct: bpy.types.bpy_struct, types: set[str]) -> Iterator[bpy.types.Property]:
    """The properties of some types of a struct, without those that only hold or show things."""
    found = (prop for prop in struct.bl_rna.properties if prop.type in types and prop.identifier not in _NOT_READ)
    if struct == owner and isinstance(owner, bpy.types.Scene):
        return (prop for prop in found if prop.is_runtime or prop.identifier in _OF_SCENES)
    return found


def _pointers(owner: bpy.types.ID, struct: bpy.types.bpy_struct) -> Iterator[tuple[str, object]]:
    """The data-blocks that a struct points to, by the property's name; custom properties too."""
    for prop in _read(owner, struct, {"POINTER", "COLLECTION"}):
        value = getattr(struct, prop.identifier)
        if prop.type == "POINTER":
            yield prop.identifier, value
        elif prop.fixed_type.identifier in ("ID", "Object"):
            yield from ((prop.identifier, one) for one in value)
    yield from _custom(struct)


def _strings(struct: bpy.types.bpy_struct) -> Iterator[tuple[str, object]]:
    """The strings of a struct but its own name; custom properties too."""
    for prop in struct.bl_rna.properties:
        if prop.type == "STRING" and prop.identifier not in ("name", "bl_idname"):
            yield prop.identifier, getattr(struct, prop.identifier)
    yield from ((name, value) for name, value in _custom(struct) if isinstance(value, str))


def _of_others(owner: bpy.types.ID, struct: bpy.types.bpy_struct, figures: Sequence[bpy.types.Object]) -> bool:
    """Whether a struct points to armature objects, all of them others than some: its names are those of their bones."""
    values = {value for _, value in _pointers(owner, struct) if isinstance(value, bpy.types.Object)}
    armatures = {value for value in values if value.type == "ARMATURE"}
    return bool(armatures) and armatures.isdisjoint(figures)


def _custom(struct: bpy.types.bpy_struct) -> Iterator[tuple[str, object]]:
    try:
        yield from struct.items()
    except TypeError:  # a struct without custom properties
        return


def _how(owner: bpy.types.ID, struct: bpy.types.bpy_struct, prop: str) -> Note:
    """A clause that says how a struct uses something."""
    name = _name(owner)
    if isinstance(struct, bpy.types.Object) and prop in ("parent", "parent_bone"):
        return Note(Code.PARENTED, repr(name))
    if isinstance(struct, (bpy.types.Constraint, bpy.types.ConstraintTargetBone)):
        return Note("a constraint of {} uses it", repr(name))
    if struct.bl_rna.identifier == "DqikGoal":
        return Note("goal {} of {} uses it", repr(struct.name), repr(name))
    return Note(Code.USES, repr(name))


def _name(owner: bpy.types.ID) -> str:
    """The name by which the user knows a data-block: shape keys have that of their mesh."""
    return owner.user.name if isinstance(owner, bpy.types.Key) else owner.name
