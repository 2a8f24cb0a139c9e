# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts and arcs: the arrays that 3D views draw, against what Blender evaluates on each frame."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector
from situations import linked_from, reopened

FRAMES = range(1, 13)
FAR = 9  # from this frame on the left hand's control is out of reach
NEAR = 1e-5


@pytest.fixture
def seen() -> SimpleNamespace:
    """What is known of motions, and the arrays made of it."""
    return SimpleNamespace(motion=rigs.part("rig.clip.seen_motion"), arrays=rigs.part("rig.overlay.motion"))


def moving() -> bpy.types.Object:
    """A live figure in a turned and scaled armature, with a skin, whose left hand is keyed and goes out of reach."""
    ob = rigs.set_up(rigs.figure(), False)
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 0), (0, 0, 0.6), (1.5, 1.5, 1.5)
    corners = [(0.5, 0, 1.4), (0.8, 0, 1.4), (0.8, 0, 1.5), (0.1, 0, 0.9)]
    skin = rigs.skin(ob, rigs.mesh(corners, [(0, 1, 2), (0, 2, 3)], "Skin"))
    for number, name in enumerate(("arm.L", "forearm.L", "hand.L", "thigh.L")):
        skin.vertex_groups.new(name=name).add([number], 1.0, "REPLACE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    ob.dqik.live = True
    bpy.ops.object.mode_set(mode="POSE")
    hand = control(ob)
    ways = (0, 0, 0), (-0.2, -0.3, 0.1), (0, 0, 0), (1.0, 0, 0), (1.5, 0, 0)
    rigs.key_path(hand, (1, 5, FAR - 1, FAR, 12), [hand.location + Vector(way) for way in ways])
    rigs.interpolate(ob, "LINEAR")
    rigs.select(ob, hand.name, at=5)
    return ob


def control(ob: bpy.types.Object) -> bpy.types.PoseBone:
    """The control of the left hand."""
    return rigs.owner_of(ob, "hand.L")


def shown(ob: bpy.types.Object, frame: int) -> tuple[dict[str, tuple[Vector, Vector]], np.ndarray]:
    """Heads and tails of bones, and the skin's vertices in the world, as Blender shows them at a frame."""
    rigs.at_frame(frame)
    skin = rigs.evaluated(bpy.data.objects["Skin"])
    vertices = np.array([skin.matrix_world @ vertex.co for vertex in skin.data.vertices])
    return {bone.name: (rigs.head(ob, bone.name), rigs.tail(ob, bone.name)) for bone in ob.pose.bones}, vertices


def assert_ghosts_are_right(seen: SimpleNamespace, ob: bpy.types.Object, frames: list[int], now: int = 5) -> None:
    """They are those of these frames, and each is as Blender shows it there."""
    scene = bpy.context.scene
    rigs.at_frame(now)
    ghosts = {ghost.frame: ghost for ghost in seen.arrays.ghosts(ob, scene)}
    assert sorted(ghosts) == frames
    body = [bone.name for bone in ob.pose.bones if ob.data.bones[bone.name].use_deform]
    for frame, ghost in ghosts.items():
        bones, vertices = shown(ob, frame)
        assert ghost.away == frame - now
        assert np.abs(ghost.bones - np.array([bones[name] for name in body])).max() < NEAR
        assert np.abs(ghost.meshes[0].vertices - vertices).max() < NEAR
    rigs.at_frame(now)


def test_ghosts_are_what_live_shows_on_their_frames(seen: SimpleNamespace) -> None:
    """Frame and pose stay as they were; ghosts end with the range that the timeline plays."""
    ob = moving()
    before = rigs.matrices(ob)
    settings = ob.dqik
    settings.ghosts, settings.ghosts_of = True, {"BONES", "MESH"}
    settings.ghosts_before, settings.ghosts_after, settings.ghosts_step = 6, 7, 3
    assert bpy.ops.dqik.see_motion() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 5
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-5
    assert_ghosts_are_right(seen, ob, [2, 8, 11])
    assert_ghosts_are_right(seen, ob, [3, 6, 12], now=9)
    settings.ghosts_of = {"BONES"}
    rigs.update()
    bpy.ops.dqik.see_motion()
    assert not any(ghost.meshes for ghost in seen.arrays.ghosts(ob, bpy.context.scene))


def test_a_mesh_has_the_normals_and_triangles_of_blender(seen: SimpleNamespace) -> None:
    ob = moving()
    ob.dqik.ghosts, ob.dqik.ghosts_of, ob.dqik.ghosts_step = True, {"MESH"}, 2
    bpy.ops.dqik.see_motion()
    ghost = next(ghost for ghost in seen.arrays.ghosts(ob, bpy.context.scene) if ghost.frame == 7)
    assert not len(ghost.bones)
    rigs.at_frame(7)
    skin = rigs.evaluated(bpy.data.objects["Skin"])
    turn = skin.matrix_world.to_3x3().inverted().transposed()
    normals = ghost.meshes[0].normals
    for vertex, normal in zip(skin.data.vertices, normals, strict=True):
        assert Vector(normal).angle(turn @ vertex.normal) < 1e-3
    skin.data.calc_loop_triangles()
    assert ghost.meshes[0].triangles.tolist() == [list(one.vertices) for one in skin.data.loop_triangles]


@pytest.mark.parametrize("part", ["control", "bone", "empty"])
def test_an_arc_is_the_way_of_what_is_selected(seen: SimpleNamespace, part: str) -> None:
    """With its keys, and the frames on which the status says that its goal is missed."""
    ob = moving()
    name = {"control": control(ob).name, "bone": "hand.L", "empty": ""}[part]
    empty = rigs.empty((2, 2, 1))
    objects = []
    if part == "empty":
        goal = rigs.goal_of(ob, "hand.L")
        goal.target, goal.subtarget, objects = empty, "", [ob, empty]
        rigs.key_path(empty, (1, 12), [(1.6, 1.8, 2.0), (4, 4, 4)])
    ob.dqik.arcs = True
    rigs.update()
    bpy.ops.dqik.see_motion()
    arcs = seen.arrays.arcs(ob, bpy.context.scene, [name] if name else [], objects)
    goal = rigs.goal_of(ob, "hand.L")
    missed, places, reached = [], [], []
    for _ in rigs.visited(FRAMES):
        missed.append(goal.missed)
        reached.append((rigs.tail if goal.use_tail else rigs.head)(ob, "hand.L"))
        ways = {"control": rigs.head(ob, control(ob).name) if name else None, "bone": reached[-1]}
        places.append(ways.get(part) or rigs.place(empty))
    (arc,) = arcs
    assert arc.frames.tolist() == list(FRAMES)
    assert arc.is_missed.tolist() == missed
    assert set(missed) == {False, True}
    assert np.abs(arc.places - np.array(places)).max() < NEAR
    assert np.abs(arc.reached - np.array(reached)).max() < NEAR
    keyed = {"control": [1, 5, FAR - 1, FAR, 12], "bone": [], "empty": [1, 12]}[part]
    assert arc.frames[arc.is_keyed].tolist() == keyed


def changes(ob: bpy.types.Object) -> dict:
    """What an animator may do at the present frame, by name."""

    def key() -> None:
        rigs.keyed(control(ob), 5, location=control(ob).location + Vector((0, 0, 0.2)))

    def move_without_key() -> None:
        rigs.owner_of(ob, "hand.R").location.z += 0.2

    def curve() -> None:
        one = next(curve for curve in rigs.fcurves(ob) if control(ob).name in curve.data_path)
        one.keyframe_points[1].co.y += 0.3
        one.update()

    def setting() -> None:
        ob.dqik.goals[0].influence = 0.3

    def live_off() -> None:
        ob.dqik.live = False

    def place() -> None:
        ob.location.x += 1.0

    def skin() -> None:
        bpy.data.objects["Skin"].modifiers.new("Simple", "CAST").factor = 1.0

    return {one.__name__: one for one in (key, move_without_key, curve, setting, live_off, place, skin)}


@pytest.mark.parametrize("name", ["key", "move_without_key", "curve", "setting", "live_off", "place", "skin"])
def test_after_a_change_they_are_old_until_they_are_read_again(seen: SimpleNamespace, name: str) -> None:
    """An arc is not shown meanwhile. Read again, all is as Blender shows it after the change."""
    ob = moving()
    scene = bpy.context.scene
    settings = ob.dqik
    settings.ghosts, settings.arcs, settings.ghosts_step, settings.ghosts_of = True, True, 3, {"BONES", "MESH"}
    rigs.update()
    bpy.ops.dqik.see_motion()
    rigs.update()
    assert not seen.motion.known(ob).is_old
    assert seen.arrays.arcs(ob, scene, ["hand.L"], [])
    changes(ob)[name]()
    rigs.update()
    assert seen.motion.known(ob).is_old
    assert not seen.arrays.arcs(ob, scene, ["hand.L"], [])
    bpy.ops.dqik.see_motion()
    assert not seen.motion.known(ob).is_old
    assert_ghosts_are_right(seen, ob, [2, 8, 11])


def test_frames_and_selections_change_nothing(seen: SimpleNamespace) -> None:
    """Going through frames, as playback does, and selecting bones leave what is known up to date."""
    ob = moving()
    ob.dqik.ghosts = True
    rigs.update()
    bpy.ops.dqik.see_motion()
    known = seen.motion.known(ob)
    for _ in rigs.visited((6, 7, 3, 12, 5)):
        rigs.update()
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "hand.R"
    rigs.update()
    assert seen.motion.known(ob) is known
    assert not known.is_old
    assert sorted(known.frames) == list(FRAMES)
    assert seen.motion.missing(ob, bpy.context.scene)[0] == []


def test_what_is_changed_and_not_keyed_yet_is_kept(seen: SimpleNamespace) -> None:
    """Of a goal, a shape key and a node, all animated; what was read stays up to date."""
    ob = moving()
    skin = bpy.data.objects["Skin"]
    skin.shape_key_add(name="Basis")
    shape, material = skin.shape_key_add(name="Smile"), bpy.data.materials.new("Skin")
    if bpy.app.version < (5, 0, 0):  # from then on all materials do
        material.use_nodes = True
    socket = material.node_tree.nodes["Principled BSDF"].inputs["Roughness"]
    for owner, name, first, last in (
        (ob.dqik.goals[0], "influence", 1.0, 0.5), (shape, "value", 0.0, 1.0), (socket, "default_value", 0.0, 1.0)
    ):  # fmt: skip
        rigs.key_path(owner, (1, 12), (first, last), name)
    rigs.at_frame(5)
    hand = control(ob)
    ob.dqik.goals[0].influence, shape.value, socket.default_value, hand.location.z = 0.2, 0.9, 0.8, 1.1
    ob.dqik.ghosts = True
    rigs.update()
    bpy.ops.dqik.see_motion()
    kept = ob.dqik.goals[0].influence, shape.value, socket.default_value, hand.location.z
    assert kept == pytest.approx((0.2, 0.9, 0.8, 1.1))
    rigs.update()
    assert not seen.motion.known(ob).is_old
    rigs.at_frame(12)
    assert (ob.dqik.goals[0].influence, shape.value) == pytest.approx((0.5, 1.0))


def test_parts_are_read_ghosts_first(seen: SimpleNamespace) -> None:
    """A part ends when its time is over, after one frame at least; the nearest ghosts come first."""
    ob = moving()
    ob.dqik.ghosts, ob.dqik.ghosts_step = True, 2
    rigs.update()
    order, more = [], True
    while more:
        before = set(seen.motion.known(ob).frames)
        more = seen.motion.refresh(ob, bpy.context, 0.0)
        order += sorted(set(seen.motion.known(ob).frames) - before)
    assert len(order) == len(FRAMES)
    assert set(order[:2]) == {3, 7}
    assert set(order[:5]) == {3, 7, 1, 9, 11}
    assert_bones_of(seen, ob)


def assert_bones_of(seen: SimpleNamespace, ob: bpy.types.Object) -> None:
    """Every known frame is as Blender shows it."""
    for frame, one in seen.motion.known(ob).frames.items():
        rigs.at_frame(frame)
        places = np.array([rigs.head(ob, bone.name) for bone in ob.pose.bones])
        assert np.abs(one.heads - places).max() < NEAR


def test_in_a_slow_scene_frames_are_read_on_demand_only(seen: SimpleNamespace) -> None:
    """After three parts, of which the fastest counts: no frame takes no time at all, and none takes a minute."""
    ob = moving()
    scene = bpy.context.scene
    ob.dqik.ghosts = True
    for _ in range(3):
        assert seen.motion.is_cheap(ob, scene, 0.0)
        seen.motion.refresh(ob, bpy.context, 0.0)
    assert not seen.motion.is_cheap(ob, scene, 0.0)
    assert seen.motion.is_cheap(ob, scene, 60.0)


@pytest.mark.parametrize("start_from", ["PREVIOUS", "FOLLOW"])
def test_motion_that_depends_on_the_way_is_that_of_playback(seen: SimpleNamespace, start_from: str) -> None:
    """It is read in one go from the first frame on, however little time there is."""
    ob = moving()
    ob.dqik.start_from, ob.dqik.gain, ob.dqik.ghosts = start_from, 3.0, True
    rigs.update()
    assert not seen.motion.refresh(ob, bpy.context, 0.0)
    known = seen.motion.known(ob)
    rigs.at_frame(20)
    for frame in rigs.visited(FRAMES):
        assert (rigs.head(ob, "hand.L") - Vector(known.frames[frame].heads[ob.pose.bones.find("hand.L")])).length < 1e-4


def test_nothing_is_kept_when_it_is_off_removed_undone_or_loaded(seen: SimpleNamespace, tmp_path: Path) -> None:
    """The settings are saved, what was read is not."""
    ob = moving()
    bpy.ops.ed.undo_push(message="before")
    settings = ob.dqik

    def read() -> None:
        settings.ghosts = True
        rigs.update()
        bpy.ops.dqik.see_motion()
        assert seen.motion.known(ob).frames

    read()
    settings.ghosts = False
    assert not seen.motion.known(ob).frames
    read()
    settings.ghosts_step, settings.arcs = 4, True
    reopened(tmp_path / "ghosts.blend")
    ob = bpy.data.objects["Figure"]
    assert (ob.dqik.ghosts, ob.dqik.ghosts_step, ob.dqik.arcs) == (True, 4, True)
    assert not seen.motion.known(ob).frames
    settings = ob.dqik
    read()
    bpy.ops.ed.undo_push(message="one")
    bpy.ops.ed.undo_push(message="two")
    bpy.ops.ed.undo()
    assert not seen.motion.known(bpy.data.objects["Figure"]).frames
    ob = bpy.data.objects["Figure"]
    settings = ob.dqik
    read()
    bpy.ops.object.mode_set(mode="OBJECT")
    uid = ob.session_uid
    bpy.data.objects.remove(ob)
    rigs.update()
    assert uid not in seen.motion.uids()


def test_an_override_of_a_linked_figure_has_ghosts_of_its_own(seen: SimpleNamespace, tmp_path: Path) -> None:
    moving()
    bpy.ops.object.mode_set(mode="OBJECT")
    linked, _ = linked_from(tmp_path / "library.blend", ("Figure", "Skin"))
    ob = rigs.made_active(linked.override_create(remap_local_usages=True))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    ob.dqik.ghosts, ob.dqik.ghosts_step = True, 3
    rigs.at_frame(5)
    bpy.ops.dqik.see_motion()
    assert [ghost.frame for ghost in seen.arrays.ghosts(ob, bpy.context.scene)] == [11, 8, 2]
    assert_bones_of(seen, ob)


def test_when_it_is_off_frames_are_not_looked_at(seen: SimpleNamespace) -> None:
    """And the button says what to switch on."""
    ob = moving()
    for _ in rigs.visited(FRAMES):
        rigs.update()
    assert not seen.motion.uids()
    rigs.refuses(bpy.ops.dqik.see_motion, "Switch Ghosts or Arcs on first")
    assert not seen.motion.known(ob).frames
