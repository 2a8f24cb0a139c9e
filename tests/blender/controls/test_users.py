# SPDX-License-Identifier: GPL-3.0-or-later
"""What goals leave in the file when they are removed: everything that something else depends on.

Places of dependents, as Blender evaluates them, are compared before and after on several frames.
"""

from collections.abc import Callable

import bpy
import pytest
import rigs
from situations import into_collection, named, reopened, share_action
from test_controls import all_at_once, one_by_one

FRAMES = (1, 6, 12)
LAYERED = bpy.app.version >= (4, 4, 0)
NAME = "DQIK hand.L"


def keyed(owner: bpy.types.Object | bpy.types.PoseBone, way: float = 0.5) -> None:
    """A move in keys, and a turn."""
    owner.rotation_mode = "XYZ"
    start = owner.location.copy()
    rigs.key_path(owner, (1, 12), (start, (start.x + way, start.y, start.z + way)))
    rigs.key_path(owner, (1, 12), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.7)), "rotation_euler")


def follow(owner: bpy.types.bpy_struct, path: str, index: int | None, target: bpy.types.ID, **settings: object) -> None:
    """Drive a number by where a target is along X in the world, or by what the settings say."""
    variable = rigs.drive(owner, path, "v", index).variables.new()
    rigs.put(variable, name="v", type="SINGLE_PROP" if "data_path" in settings else "TRANSFORMS")
    if settings.pop("of_scene", False):
        variable.targets[0].id_type = "SCENE"
    rigs.put(variable.targets[0], id=target, **settings)


# -- dependents of an object or a bone: each returns what Blender shows of it ------------------------------------------

Shown = Callable[[], list[float]]


def prop() -> bpy.types.Object:
    return rigs.empty((1, 2, 3), "Prop")


def matrix_of(ob: bpy.types.Object, bone: str = "") -> Shown:
    def matrix() -> list[float]:
        shown = rigs.evaluated(ob)
        return [value for row in (shown.pose.bones[bone].matrix if bone else shown.matrix_world) for value in row]

    return matrix


def corners_of(ob: bpy.types.Object) -> Shown:
    return lambda: [value for vertex in rigs.evaluated(ob).data.vertices for value in vertex.co]


def bones_of(ob: bpy.types.Object) -> Shown:
    return lambda: rigs.matrices(ob).ravel().tolist()


def parented(target: bpy.types.Object, bone: str) -> Shown:
    return matrix_of(rigs.child(prop(), target, bone))


def constrained(target: bpy.types.Object, bone: str) -> Shown:
    return matrix_of(rigs.constrain(prop(), "COPY_TRANSFORMS", target, subtarget=bone).id_data)


def in_armature_constraint(target: bpy.types.Object, bone: str) -> Shown:
    ob = prop()
    other = rigs.armature([rigs.Bone("x", (0, 0, 0), (0, 0, 1))], "Other") if not bone else target
    rigs.put(ob.constraints.new("ARMATURE").targets.new(), target=other, subtarget=bone or "x")
    if not bone:
        rigs.constrain(other, "COPY_LOCATION", target)
    return matrix_of(ob)


def a_bone_of_another_figure(target: bpy.types.Object, bone: str) -> Shown:
    other = rigs.armature([rigs.Bone("x", (0, 0, 0), (0, 0, 1))], "Other")
    rigs.constrain(other.pose.bones["x"], "DAMPED_TRACK", target, subtarget=bone)
    return bones_of(other)


def driven(target: bpy.types.Object, bone: str) -> Shown:
    ob = prop()
    follow(ob, "location", 2, target, bone_target=bone, transform_type="LOC_X")
    return matrix_of(ob)


def driven_by_path(target: bpy.types.Object, bone: str) -> Shown:
    ob = prop()
    follow(ob, "location", 2, target, data_path=f'pose.bones["{bone}"].location[0]' if bone else "location[0]")
    return matrix_of(ob)


def shape_key(target: bpy.types.Object, bone: str) -> Shown:
    ob = rigs.mesh()
    ob.shape_key_add(name="Basis")
    follow(ob.shape_key_add(name="up"), "value", None, target, bone_target=bone, transform_type="LOC_X")
    return lambda: [rigs.evaluated(ob).data.shape_keys.key_blocks["up"].value]


def material(target: bpy.types.Object, bone: str) -> Shown:
    made = bpy.data.materials.new("Glow")
    if bpy.app.version < (5, 0, 0):
        made.use_nodes = True
    value = made.node_tree.nodes.new("ShaderNodeValue").outputs[0]
    follow(value, "default_value", None, target, bone_target=bone, transform_type="LOC_X")
    rigs.mesh().data.materials.append(made)
    return lambda: [made.node_tree.nodes["Value"].outputs[0].default_value]


def scene_gravity(target: bpy.types.Object, bone: str) -> Shown:
    scene = bpy.context.scene
    follow(scene, "gravity", 0, target, bone_target=bone, transform_type="LOC_X")
    return lambda: [scene.gravity[0]]


def hooked(target: bpy.types.Object, bone: str) -> Shown:
    ob = rigs.mesh()
    made = ob.modifiers.new("Hook", "HOOK")
    rigs.put(made, object=target, subtarget=bone)
    made.vertex_indices_set([0, 1, 2])
    return corners_of(ob)


def pole_of_another(target: bpy.types.Object, bone: str) -> Shown:
    other = rigs.bent_arm("Other")
    rigs.goal(other, "b", rigs.empty((1.2, -0.4, 0.3), "Its aim"), pole_target=target, pole_subtarget=bone)
    other.dqik.live = True
    return bones_of(other)


def camera_focus(target: bpy.types.Object, bone: str) -> Shown:
    focus = bpy.data.cameras.new("Camera").dof
    rigs.put(focus, focus_object=target, focus_subtarget=bone)
    return lambda: [focus.focus_object is not None, focus.focus_subtarget == bone]


DEPENDENTS = [
    parented, constrained, in_armature_constraint, a_bone_of_another_figure, driven, driven_by_path, shape_key,
    material, scene_gravity, hooked, pole_of_another, camera_focus,
]  # fmt: skip


def child_bone(ob: bpy.types.Object, name: str) -> Shown:
    rigs.add(ob, rigs.Bone("prop", (1, 0, 1), (1, 0, 1.2), name))
    return matrix_of(ob, "prop")


def drawn_at(ob: bpy.types.Object, name: str) -> Shown:
    ob.pose.bones["hand.R"].custom_shape_transform = ob.pose.bones[name]
    return lambda: [ob.pose.bones["hand.R"].custom_shape_transform is not None]


def bent_toward(ob: bpy.types.Object, name: str) -> Shown:
    rigs.put(ob.data.bones["forearm.L"], bbone_segments=4, bbone_handle_type_end="ABSOLUTE",
             bbone_custom_handle_end=ob.data.bones[name])  # fmt: skip

    def segments() -> list[float]:
        shown = rigs.evaluated(ob).pose.bones["forearm.L"]
        return [value for k in range(4) for row in shown.bbone_segment_matrix(k) for value in row]

    return segments


def own_bone(ob: bpy.types.Object, name: str) -> Shown:
    rigs.constrain(ob.pose.bones["hand.R"], "COPY_ROTATION", ob, subtarget=name)
    return matrix_of(ob, "hand.R")


def deformed(ob: bpy.types.Object, name: str) -> Shown:
    ob.data.bones[name].use_deform = True
    return corners_of(rigs.skin(ob, rigs.mesh(), name))


def shared_armature(ob: bpy.types.Object, name: str) -> Shown:
    other = bpy.data.objects.new("Copy", ob.data)
    bpy.context.scene.collection.objects.link(other)
    rigs.update()
    keyed(other.pose.bones[name], 0.3)
    return matrix_of(other, name)


def expression(ob: bpy.types.Object, name: str) -> Shown:
    made = prop()
    path = f'objects["{ob.name}"].pose.bones["{name}"].location[0]'
    follow(made, "location", 2, bpy.context.scene, data_path=path, of_scene=True)
    return matrix_of(made)


OF_BONES = [child_bone, drawn_at, bent_toward, own_bone, deformed, shared_armature, expression]


def over_frames(shown: Shown) -> list[list[float]]:
    return [shown() for _ in rigs.visited(FRAMES)]


def same(before: list[list[float]], after: list[list[float]]) -> bool:
    return all(one == pytest.approx(other, abs=1e-5) for one, other in zip(before, after, strict=True))


def by_bake(ob: bpy.types.Object) -> None:
    bpy.ops.dqik.bake(frame_start=1, frame_end=2, clear_goals=True)
    assert not ob.dqik.goals


WAYS = [one_by_one, all_at_once, by_bake]


def figure_with_target(targets: str) -> tuple[bpy.types.Object, bpy.types.Object, str]:
    """A figure, and the target of its left hand, which has keys."""
    ob = rigs.set_up(rigs.figure(), False, targets=targets)
    goal = rigs.goal_of(ob, "hand.L")
    keyed(rigs.owner_of(ob, "hand.L"))
    return ob, goal.target, goal.subtarget


@pytest.mark.parametrize(("depend", "targets", "remove"), [
    *((one, targets, WAYS[(number + step) % 3]) for number, one in enumerate(DEPENDENTS)
      for step, targets in enumerate(("BONES", "EMPTIES"))),
    *((one, "BONES", WAYS[number % 2]) for number, one in enumerate(OF_BONES)),
])  # fmt: skip
def test_a_target_that_something_depends_on_stays(depend: Callable, targets: str, remove: Callable) -> None:
    """What depends on it moves as before; the other targets go."""
    ob, target, bone = figure_with_target(targets)
    shown = depend(target, bone)
    rigs.made_active(ob)
    before = over_frames(shown)
    remove(ob)
    assert same(before, over_frames(shown))
    if bone:
        assert [one.name for one in ob.data.bones if one.name.startswith("DQIK")] == [bone]
    else:
        assert [one.name for one in bpy.data.objects if one.name.endswith(" target")] == [target.name]


def test_a_control_whose_child_stays_stays_too() -> None:
    """The head's control hangs by a pivot on that of the hips: a prop of the head keeps all, with their curves."""
    ob = rigs.set_up(rigs.figure(), False)
    keyed(ob.pose.bones["DQIK hips"])
    shown = parented(ob, "DQIK head")
    before = over_frames(shown)
    bpy.ops.dqik.goals_clear()
    assert same(before, over_frames(shown))
    names = {"DQIK head", "DQIK head pivot", "DQIK hips"}
    assert {bone.name for bone in ob.data.bones if bone.name.startswith("DQIK")} == names


def test_targets_that_only_use_each_other_go() -> None:
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    first, second = ob.dqik.goals[0].target, ob.dqik.goals[1].target
    second.parent = first
    first.constraints.new("COPY_ROTATION").target = second
    ob.pose.bones["hand.L"].rotation_mode = "XYZ"
    bpy.ops.dqik.goals_clear()
    assert [one.name for one in bpy.data.objects] == ["Figure"]
    assert not bpy.data.collections


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_what_holds_or_shows_a_target_is_no_user(targets: str) -> None:
    """More collections and scenes, another figure's target of the same name, a vertex group that nothing deforms."""
    other = rigs.set_up(rigs.figure("Other"), False, targets="BONES")
    prop = rigs.child(rigs.empty((0, 0, 0), "Prop"), other, NAME)
    follow(prop, "location", 1, other, bone_target=NAME)
    ob, target, _ = figure_with_target(targets)
    extra = bpy.data.collections.new("Extra")
    bpy.context.scene.collection.children.link(extra)
    extra.objects.link(target)
    bpy.data.scenes.new("Second").collection.objects.link(target)
    rigs.mesh(name="Skin").vertex_groups.new(name=NAME)
    prop.constraints.new("COPY_LOCATION").target = ob
    names = {one.name for one in bpy.data.objects if one.name.endswith(" target")}
    assert bool(names) == (targets == "EMPTIES")
    rigs.made_active(ob)
    bpy.ops.dqik.goals_clear()
    assert not any(one.name.startswith("DQIK") for one in ob.data.bones)
    assert not any(one.name.endswith(" target") for one in bpy.data.objects)
    assert NAME in other.data.bones
    assert "Extra" in bpy.data.collections


# -- curves ------------------------------------------------------------------------------------------------------------


def another() -> bpy.types.Object:
    return rigs.set_up(rigs.figure("Other"), False)


def another_figure(ob: bpy.types.Object) -> bpy.types.Object:
    share_action(ob, other := another())
    return other


def strip_of(ob: bpy.types.Object, holder: bpy.types.Object) -> bpy.types.NlaStrip:
    track = holder.animation_data_create().nla_tracks.new()
    strip = track.strips.new("Strip", 1, ob.animation_data.action)
    if LAYERED:
        strip.action_slot = ob.animation_data.action_slot
    return strip


def in_a_strip(ob: bpy.types.Object) -> bpy.types.Object:
    strip_of(ob, other := another())
    return other


def in_a_muted_track(ob: bpy.types.Object) -> bpy.types.Object:
    other = in_a_strip(ob)
    other.animation_data.nla_tracks[0].mute = True
    return other


def by_an_action_constraint(ob: bpy.types.Object) -> bpy.types.Object:
    other = another()
    made = other.pose.bones[NAME].constraints.new("ACTION")
    made.action = ob.animation_data.action
    if LAYERED:
        made.action_slot = ob.animation_data.action_slot
    made.use_eval_time, made.eval_time, made.frame_start, made.frame_end = True, 0.7, 1, 12
    return other


SHARED = [another_figure, in_a_strip, in_a_muted_track, by_an_action_constraint]


@pytest.mark.parametrize("remove", WAYS)
@pytest.mark.parametrize("shared", SHARED)
def test_curves_that_another_object_plays_stay(shared: Callable, remove: Callable) -> None:
    ob, _, _ = figure_with_target("BONES")
    other = shared(ob)
    before = over_frames(bones_of(other))
    keys = sum(NAME in curve.data_path for curve in rigs.fcurves(ob))
    action = ob.animation_data.action
    rigs.made_active(ob)
    remove(ob)
    assert same(before, over_frames(bones_of(other)))
    assert NAME not in ob.data.bones
    ob.animation_data.action = action
    if remove != by_bake:
        assert sum(NAME in curve.data_path for curve in rigs.fcurves(ob)) == keys > 0


@pytest.mark.parametrize("shared", [*SHARED, lambda ob: strip_of(ob, ob)])
def test_a_bake_into_an_action_that_something_else_plays_is_refused(shared: Callable) -> None:
    """Nothing is changed; into a new action it goes on."""
    ob, _, _ = figure_with_target("BONES")
    shared(ob)
    rigs.made_active(ob)
    before = rigs.keys(ob)
    rigs.refuses(bpy.ops.dqik.bake, "bake into a new action", frame_start=1, frame_end=3, action="CURRENT")
    assert rigs.keys(ob) == before
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=3) == {"FINISHED"}


# -- hidden figures, and names that are the user's ---------------------------------------------------------------------


def posed(ob: bpy.types.Object, hide: Callable[[bpy.types.Object], object]) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    hide(ob)


@pytest.mark.parametrize("away", named(
    hide_posed=lambda ob: posed(ob, lambda ob: ob.hide_set(True)),
    disable_posed=lambda ob: posed(ob, lambda ob: rigs.put(ob, hide_viewport=True)),
    hide=lambda ob: ob.hide_set(True), disable=lambda ob: rigs.put(ob, hide_viewport=True),
    exclude=lambda ob: rigs.put(into_collection(ob), exclude=True),
))  # fmt: skip
def test_the_control_bones_of_a_figure_that_is_not_shown_go(away: Callable) -> None:
    ob, _, _ = figure_with_target("BONES")
    names = sorted(bone.name for bone in ob.data.bones if not bone.name.startswith("DQIK"))
    objects = {one.name for one in bpy.data.objects if one.type != "MESH"}
    away(ob)
    mode = ob.mode
    with bpy.context.temp_override(object=ob, active_object=ob):
        assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    rigs.update()
    assert ob.mode == mode
    assert sorted(bone.name for bone in ob.data.bones) == names == sorted(bone.name for bone in ob.pose.bones)
    assert {one.name for one in bpy.data.objects} == objects
    assert not any("DQIK" in curve.data_path for curve in rigs.fcurves(ob))


def test_objects_and_collections_of_the_user_stay_whatever_their_names() -> None:
    """Shapes, collections and helpers are ours by more than their names."""
    own = [bpy.data.objects.new(name, None) for name in (
        "DQIK targets hidden in renders", "DQIK targets hidden in renders.001", "DQIK box", "DQIK ring", "DQIK ball")]
    for ob in own[:2]:
        bpy.context.scene.collection.objects.link(ob)
    ob = rigs.figure()
    ob.data.collections.new("DQIK")
    mine = bpy.data.collections.new("Figure targets")
    bpy.context.scene.collection.children.link(mine)
    for targets in ("BONES", "EMPTIES"):
        bpy.ops.dqik.setup_full_body(targets=targets)
        assert all(bone.custom_shape is None or bone.custom_shape.type == "MESH" for bone in ob.pose.bones)
        bpy.ops.dqik.goals_clear()
    assert {one.name for one in bpy.data.objects} == {"Figure", *(one.name for one in own)}
    assert "Figure targets" in bpy.data.collections
    assert "DQIK" in ob.data.collections
    reopened(bpy.app.tempdir + "named.blend")
    assert {"DQIK targets hidden in renders", "DQIK targets hidden in renders.001"} <= set(bpy.data.objects.keys())


@pytest.mark.parametrize("remap", [True, False])
def test_a_target_that_is_a_prop_by_now_stays(remap: bool) -> None:
    """By Blender's own *Remap Users*, or because the user gave the empty a task."""
    ob, target, _ = figure_with_target("EMPTIES")
    prop = rigs.mesh(name="Prop") if remap else target
    if remap:
        target.user_remap(prop)
    else:
        prop.instance_type, prop.instance_collection = "COLLECTION", bpy.data.collections.new("Props")
    bpy.ops.dqik.goals_clear()
    assert {prop.name, ob.name} <= set(bpy.data.objects.keys())


def test_texts_and_images_of_the_user_are_not_overwritten() -> None:
    """The comparison writes its own, also where the user's have their names; a second one overwrites the first."""
    text = bpy.data.texts.new("DQIK comparison.csv")
    text.write("mine")
    ob = rigs.bent_arm()
    rigs.goal(ob, "b", rigs.empty((1, 0.5, 0)))
    for _ in range(2):
        bpy.ops.dqik.compare_solvers(frame_start=1, frame_end=2, solvers={"PGS"})
    assert text.as_string() == "mine"
    assert len(bpy.data.texts) == 2


def test_constraints_whose_keys_another_figure_plays_are_left_to_it() -> None:
    """Goals from IK Constraints would mute the other figure's keys."""
    ob, other = rigs.bent_arm(), rigs.bent_arm("Other")
    for one in (ob, other):
        rigs.blender_ik(one, "b", rigs.empty((1.2, -0.4, 0.3), "Aim"))
    own = ob.pose.bones["b"].constraints[0]
    rigs.key_path(own, (1, 12), (0.0, 1.0), "influence")
    share_action(ob, other)
    before = over_frames(bones_of(other))
    rigs.made_active(ob)
    assert bpy.ops.dqik.goals_from_constraints() == {"CANCELLED"}
    assert same(before, over_frames(bones_of(other)))
    assert not own.mute
