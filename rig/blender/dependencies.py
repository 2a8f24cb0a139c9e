# SPDX-License-Identifier: GPL-3.0-or-later
"""The dependencies of a target's place: bones that it is, is parented to, is constrained to or is driven by."""

from collections.abc import Iterable, Iterator

import bpy

from ...solvers import GOAL_KINDS
from . import animation

Bone = tuple[bpy.types.Object, str]
"""An armature object and the name of one of its bones; the name is empty for an object alone."""

CONTROL_PREFIX = "DQIK "
"""What the names of control bones begin with, unless they were renamed."""

CONTROL_COLLECTION = "DQIK"
"""The bone collection of control bones, unless they were moved to another one."""

_PLACE = ("location", "rotation", "scale", "delta", "matrix", "head", "tail", "constraints")
"""What the data paths of an object's or a bone's place, or of what sets it, begin with."""

_ON_SURFACES = {"SHRINKWRAP", "FOLLOW_PATH", "CLAMP_TO"}


class Dependencies:
    """What the places of objects and bones depend on, each read once. Do not store it: it holds Blender's objects."""

    def __init__(self) -> None:
        self._direct: dict[Bone, list[Bone]] = {}
        self._drivers: dict[bpy.types.Object, dict[str, list[bpy.types.Driver]]] = {}
        self._by_path: dict[bpy.types.ID, dict[str, list[bpy.types.Driver]]] = {}

    def bones_behind(self, target: bpy.types.Object, subtarget: str = "") -> set[Bone]:
        """All bones, with their ancestors, that the place of an object or of one of its bones depends on."""
        return {(ob, name) for ob, name in self.all_behind([(target, subtarget)]) if name}

    def all_behind(self, places: Iterable[Bone]) -> set[Bone]:
        """Some objects and bones, and all that their places depend on."""
        seen, left = set[Bone](), list(places)
        while left:
            here = left.pop()
            if here not in seen:
                seen.add(here)
                left += self.direct(*here)
        return seen

    def bones_behind_goal(self, goal: bpy.types.PropertyGroup) -> set[Bone]:
        """All bones that the places of a goal's target and pole depend on."""
        return {(ob, name) for ob, name in self.all_behind(aims(goal)) if name}

    def bones_behind_bone(self, ob: bpy.types.Object, name: str) -> set[Bone]:
        """All bones that the constraints and drivers of a bone depend on."""
        return set().union(*(self.bones_behind(*other) for other in self._tied_to(ob, name)))

    def armatures_behind_goals(self, ob: bpy.types.Object) -> set[int]:
        """`session_uid` of the other armatures that an armature's targets, poles, floor and obstacles follow."""
        return _others_of(ob, set().union(*(self.bones_behind(*aim) for aim in aims_of(ob))))

    def armatures_behind_pose(self, ob: bpy.types.Object) -> set[int]:
        """`session_uid` of the other armatures that the place, settings, constrained and driven bones of one follow."""
        bones = (bone.name for bone in ob.pose.bones if bone.constraints or bone.name in self._drivers_of(ob))
        settings = (other for driver in _setting(ob) for other in self._driving(driver))
        behind = [self.bones_behind(ob), *(self.bones_behind_bone(ob, name) for name in bones)]
        return _others_of(ob, set().union(*behind, *(self.bones_behind(*other) for other in settings)))

    def direct(self, ob: bpy.types.Object, name: str) -> list[Bone]:
        """The direct dependencies of the place of an object or a bone."""
        if (ob, name) not in self._direct:
            self._direct[ob, name] = [*self._parents(ob, name), *self._tied_to(ob, name)]
        return self._direct[ob, name]

    def _tied_to(self, ob: bpy.types.Object, name: str) -> Iterator[Bone]:
        """The direct dependencies of an object or a bone by constraints and drivers."""
        owner = ob.pose.bones.get(name) if name and ob.pose else ob
        for constraint in () if owner is None else owner.constraints:
            if not constraint.mute:
                yield from self._targets(constraint)
        for driver in self._drivers_of(ob).get(name, ()):
            yield from self._driving(driver)

    def _driving(self, driver: bpy.types.Driver) -> Iterator[Bone]:
        """The objects and bones whose places a driver reads, also through other driven properties."""
        seen, left = set[tuple[bpy.types.ID, str]](), [driver]
        while left:
            for variable in left.pop().variables:
                for target in variable.targets:
                    owner, path = target.id, target.data_path
                    if isinstance(owner, bpy.types.Object):
                        bone, own = animation.split_path(owner, path)
                        bone = bone if variable.type == "SINGLE_PROP" else target.bone_target
                        if variable.type != "SINGLE_PROP" or own.startswith(_PLACE):
                            yield owner, bone
                            continue
                    if owner is not None and (owner, path) not in seen:
                        seen.add((owner, path))
                        left += self._drivers_at(owner, path)

    def _drivers_at(self, owner: bpy.types.ID, path: str) -> list[bpy.types.Driver]:
        """The drivers of a property, by its owner and data path; the path of an array's element ends with its index."""
        if owner not in self._by_path:
            found = self._by_path[owner] = {}
            for curve in _drivers(owner):
                for name in (curve.data_path, f"{curve.data_path}[{curve.array_index}]"):
                    found.setdefault(name, []).append(curve.driver)
        return self._by_path[owner].get(path, [])

    def _parents(self, ob: bpy.types.Object, name: str) -> Iterator[Bone]:
        """What an object or a bone is parented to."""
        bone = ob.pose.bones.get(name) if name and ob.pose else None
        if bone is not None:
            yield ob, ""
            if bone.parent is not None:
                yield ob, bone.parent.name
        elif ob.parent is not None:
            yield ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""
            if ob.parent_type not in {"OBJECT", "BONE"}:
                yield from self._shaping(ob.parent)

    def _targets(self, constraint: bpy.types.Constraint) -> Iterator[Bone]:
        """The target objects and bones of a constraint."""
        for holder in (constraint, *getattr(constraint, "targets", ())):
            for end in ("target", "pole_target"):
                target = getattr(holder, end, None)
                if target is not None:
                    name = getattr(holder, end.replace("target", "subtarget"), "")
                    yield target, name if target.type == "ARMATURE" else ""
                    if target.type != "ARMATURE" and (name or constraint.type in _ON_SURFACES):
                        yield from self._shaping(target)

    def _shaping(self, ob: bpy.types.Object) -> Iterator[Bone]:
        """What the shape of an object depends on by its modifiers, of armatures all bones, and by drivers."""
        for modifier in ob.modifiers:
            for name, prop in modifier.bl_rna.properties.items():
                other = getattr(modifier, name) if prop.type == "POINTER" else None
                if isinstance(other, bpy.types.Object):
                    yield other, ""
                    yield from ((other, bone.name) for bone in (other.pose.bones if other.pose else ()))
        for owner in (ob, ob.data, getattr(ob.data, "shape_keys", None)):
            for curve in _drivers(owner):
                yield from self._driving(curve.driver)

    def _drivers_of(self, ob: bpy.types.Object) -> dict[str, list[bpy.types.Driver]]:
        """The drivers of an object's own place, under an empty name, and of its bones' places, by bone."""
        if ob not in self._drivers:
            found = self._drivers[ob] = {}
            for curve in _drivers(ob):
                bone, path = animation.split_path(ob, curve.data_path)
                if path.startswith(_PLACE):
                    found.setdefault(bone, []).append(curve.driver)
        return self._drivers[ob]


def objects_behind(ob: bpy.types.Object) -> set[bpy.types.Object]:
    """The objects that an object or one of its bones is parented, constrained or driven to."""
    names = ["", *(bone.name for bone in (ob.pose.bones if ob.pose else ()))]
    dependencies = Dependencies()
    return {other for name in names for other, _ in dependencies.direct(ob, name)} - {ob}


def acts(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint has an effect: not if it is muted, has no influence, is invalid or lacks its target."""
    if constraint.mute or constraint.influence <= 0.0 or not constraint.is_valid:
        return False
    needs_target = constraint.type != "PIVOT" and not getattr(constraint, "use_eval_time", False)
    return not needs_target or getattr(constraint, "target", constraint) is not None


def aims(goal: bpy.types.PropertyGroup) -> Iterator[Bone]:
    """The target and the pole of a goal, if it has them."""
    for target, subtarget in ((goal.target, goal.subtarget), (goal.pole_target, goal.pole_subtarget)):
        if target is not None:
            yield target, subtarget if target.type == "ARMATURE" else ""


def is_control(bone: bpy.types.Bone) -> bool:
    """Whether a bone is a control bone: by its name or by its collection, since users rename bones and sort them."""
    if bone.use_deform:
        return False
    return bone.name.startswith(CONTROL_PREFIX) or any(one.name == CONTROL_COLLECTION for one in bone.collections)


def control_bones(ob: bpy.types.Object) -> set[str]:
    """Names of the bones of an armature object that are no parts of its body: control bones, and targets or poles."""
    own = ob.original
    found = {bone.name for bone in own.data.bones if not bone.use_deform and is_control(bone)}
    return found | aimed_bones(own, own.dqik.goals)


def aimed_bones(own: bpy.types.Object, goals: Iterable[bpy.types.PropertyGroup]) -> set[str]:
    """Names of the bones of an original armature object that are targets or poles of some of its goals.

    A bone of the body may be the target of a goal whose kind takes one, as the head that a hand keeps away from. Such
    a one is left out.
    """
    found = set[str]()
    for goal in goals:
        takes_bone = goal.close_loop if goal.kind == "REACH" else "target_joint" in GOAL_KINDS[goal.kind].takes
        for target, name in aims(goal):
            bone = own.data.bones.get(name) if target == own else None
            if bone is not None and not (takes_bone and bone.use_deform):
                found.add(name)
    return found


def obstacles(ob: bpy.types.Object) -> list[bpy.types.Object | None]:
    """The floor of an armature object, None where it is the world's, and then the objects that it avoids."""
    settings = ob.dqik
    floor = [settings.floor] if settings.use_floor else []
    return [*floor, *(one.object for one in settings.avoid)]


def aims_of(ob: bpy.types.Object) -> Iterator[Bone]:
    """All that a solve of an armature reads of other objects: targets and poles of its goals, floor and obstacles."""
    for goal in ob.dqik.goals:
        yield from aims(goal)
    yield from ((other, "") for other in obstacles(ob) if other is not None)


def _others_of(ob: bpy.types.Object, bones: set[Bone]) -> set[int]:
    return {other.original.session_uid for other, _ in bones} - {ob.original.session_uid}


def _drivers(owner: bpy.types.ID | None) -> Iterator[bpy.types.FCurve]:
    """The curves of an ID's drivers that are not muted."""
    data = getattr(owner, "animation_data", None)
    yield from (curve for curve in (data.drivers if data else ()) if not curve.mute)


def _setting(ob: bpy.types.Object) -> Iterator[bpy.types.Driver]:
    """The drivers of an armature's settings and of its bones'."""
    paths = ((animation.split_path(ob, curve.data_path)[1], curve.driver) for curve in _drivers(ob))
    yield from (driver for path, driver in paths if driver is not None and path.startswith("dqik"))
