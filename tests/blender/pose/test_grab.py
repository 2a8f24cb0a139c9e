# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabbing a body by its skin: what a ray picks, what a drag does, and that nothing is left behind."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector
from situations import auto_keying, overridden
from test_controls import HEIGHT, control, in_centimetres, posed
from test_posing import live_figure

REACHED = 1e-4 * HEIGHT
STILL = 5e-4 * HEIGHT
ENDS = ("hand.L", "hand.R", "foot.L", "foot.R", "head", "hips")


def bent(ob: bpy.types.Object) -> bpy.types.Object:
    """A lunge with both arms bent."""
    posed(ob)
    rigs.posed(ob.pose.bones["forearm.R"], rigs.rotation((0, 0, 1), 60.0))
    rigs.pose(ob, "forearm.L", rigs.rotation((0, 0, 1), -70.0))
    return ob


def figure(live: bool = True, targets: str = "BONES") -> bpy.types.Object:
    """The figure in Pose Mode, bent, with goals."""
    ob = live_figure(bent, targets)
    ob.dqik.live = live
    bpy.ops.object.mode_set(mode="POSE")
    rigs.update()
    return ob


def skinned(ob: bpy.types.Object) -> bpy.types.Object:
    """A mesh with a thin box around each deforming bone, which follows it alone, bound by a modifier."""
    corners, faces, owners = [], [], []
    for bone in (bone for bone in ob.data.bones if bone.use_deform):
        wide = 0.12 * bone.length
        for y in (0.02 * bone.length, 0.98 * bone.length):
            corners += [bone.matrix_local @ Vector((x, y, z)) for x, z in ((-wide, -wide), (wide, -wide), (wide, wide),
                                                                          (-wide, wide))]  # fmt: skip
        first = 8 * len(owners)
        owners.append(bone.name)
        sides = [(k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k) for k in range(4)]
        faces += [tuple(first + k for k in face) for face in ((0, 1, 2, 3), (4, 5, 6, 7), *sides)]
    skin = rigs.child(rigs.mesh(corners, faces, "Skin"), ob)
    for number, name in enumerate(owners):
        skin.vertex_groups.new(name=name).add(range(8 * number, 8 * number + 8), 1.0, "REPLACE")
    rigs.skin(ob, skin)
    rigs.update()
    return skin


def on_bone(ob: bpy.types.Object, bone: str, share: float = 0.4) -> Vector:
    """A place on a bone, in the world."""
    found = rigs.evaluated(ob).pose.bones[bone]
    return ob.matrix_world @ found.head.lerp(found.tail, share)


def off_axis(ob: bpy.types.Object, bone: str) -> tuple[Vector, Callable[[], Vector]]:
    """A place on the skin of a bone, beside its middle, and where Blender has it at any time."""
    def matrix() -> Matrix:
        now = bpy.data.objects[ob.name]
        return now.matrix_world @ rigs.evaluated(now).pose.bones[bone].matrix

    place = on_bone(ob, bone) + matrix().to_3x3() @ Vector((0.03, 0.0, 0.02))
    own = matrix().inverted() @ place
    return place, lambda: matrix() @ own


def places(ob: bpy.types.Object, *but: str) -> np.ndarray:
    return np.array([rigs.head(ob, name) for name in ENDS if name not in but])


# -- picking -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prepare", [lambda ob: ob, in_centimetres, bent])
def test_a_ray_meets_the_skin_of_the_bone_behind_it(prepare) -> None:
    """At rest, posed, and in an object of 1 %; the place that is met lies on the box of that bone."""
    ob = prepare(rigs.figure())
    skinned(ob)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for name in ("hand.L", "forearm.R", "arm.L", "chest", "hips", "head", "thigh.R", "shin.L", "foot.L"):
        bone = rigs.evaluated(ob).pose.bones[name]
        middle = ob.matrix_world @ bone.center
        side = (ob.matrix_world.to_3x3() @ bone.z_axis).normalized()
        unit = ob.matrix_world.to_scale().x
        found = rigs.part("rig.shot.pick").pick([ob], middle + 0.2 * bone.length * unit * side, -side, depsgraph)
        assert found is not None, name
        assert found.bone == name
        assert (found.point - middle).length == pytest.approx(0.12 * bone.length * unit, rel=1e-3)


def test_hidden_skins_and_those_of_others_are_not_met() -> None:
    ob, other = rigs.figure(), rigs.figure("Other")
    skin, pick = skinned(ob), rigs.part("rig.shot.pick").pick
    ray = on_bone(ob, "chest") + Vector((0, -2, 0)), Vector((0, 1, 0)), bpy.context.evaluated_depsgraph_get()
    assert pick([other], *ray) is None
    assert pick([other, ob], *ray).bone == "chest"
    skin.hide_set(True)
    assert pick([ob], *ray) is None


def test_a_mesh_that_hangs_on_a_bone_and_one_without_weights() -> None:
    """The first belongs to its bone, the second to the bone that is nearest to where it is met."""
    ob = rigs.figure()
    for name, bone in (("Hat", "head"), ("Cloak", "")):
        one = rigs.mesh([(x, y, 0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], [(0, 1, 2, 3)], name)
        rigs.child(one, ob, bone).matrix_world = Matrix.Translation((0, 0, 3.0 if bone else 0.3))
        if not bone:
            rigs.skin(ob, one)
    rigs.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    pick = rigs.part("rig.shot.pick").pick
    assert pick([ob], Vector((0.5, 0.5, 5)), Vector((0, 0, -1)), depsgraph).bone == "head"
    assert pick([ob], Vector((-0.1, 0.0, -1)), Vector((0, 0, 1)), depsgraph).bone == "shin.R"


def test_without_skin_the_nearest_bone_on_the_screen_counts() -> None:
    """Seen from the front, 100 pixels a metre; hidden bones do not count."""
    ob = rigs.figure()
    near, depsgraph = rigs.part("rig.shot.pick").near, bpy.context.evaluated_depsgraph_get()

    def to_screen(place: Vector) -> Vector:
        return 100 * Vector((place.x, place.z))

    found = near([ob], Vector((60, 148)), to_screen, 10, depsgraph)
    assert found.bone == "forearm.L"
    np.testing.assert_allclose(found.point, (0.6, 0.0, 1.45), atol=1e-6)
    assert near([ob], Vector((60, 170)), to_screen, 10, depsgraph) is None
    bone = ob.pose.bones["forearm.L"]
    (bone if hasattr(bone, "hide") else bone.bone).hide = True
    assert near([ob], Vector((60, 148)), to_screen, 10, depsgraph) is None


def test_a_click_selects_the_control_that_moves_a_part_now() -> None:
    """Hands, feet, hips and head have controls; bones between are themselves, and all where Live is off."""
    ob, selects = figure(), rigs.part("rig.shot.pick").selects
    for name in ENDS:
        assert selects(ob, name) == (ob, control(ob, name).name)
    assert selects(ob, "forearm.L") == (ob, "forearm.L")
    rigs.goal_of(ob, "hand.L").mute = True
    assert selects(ob, "hand.L") == (ob, "hand.L")
    ob.dqik.live = False
    assert selects(ob, "foot.L") == (ob, "foot.L")


# -- dragging ----------------------------------------------------------------------------------------------------------


def swivel(ob: bpy.types.Object, bone: str = "forearm.L", angle: float = 0.3) -> tuple[Vector, Callable[[], Vector]]:
    """Drag a place of a limb about the line between its ends: to where it was led, and where Blender has it."""
    place, at = off_axis(ob, bone)
    limb = ("arm", "hand") if "arm" in bone else ("thigh", "foot")
    root, end = (rigs.head(ob, f"{name}.{bone[-1]}") for name in limb)
    to = root + Matrix.Rotation(angle, 3, end - root) @ (place - root)
    assert bpy.ops.dqik.grab(bone=bone, point=place, to=to) == {"FINISHED"}
    assert (to - place).length > 50 * REACHED
    assert (at() - to).length < REACHED
    return to, at


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("bone", ["forearm.L", "arm.R", "shin.L", "thigh.L"])
def test_a_point_of_a_limb_goes_to_its_place_and_the_rest_stays(bone: str, live: bool) -> None:
    """To where a swivel of the limb about its ends takes it, on Blender's own evaluation."""
    ob = figure(live)
    before, controls = places(ob), [control(ob, name).matrix_basis.copy() for name in ENDS]
    to, at = swivel(ob, bone, 0.35)
    assert np.abs(places(ob) - before).max() < STILL
    assert [goal.bone for goal in ob.dqik.goals] == sorted(ENDS, key=[goal.bone for goal in ob.dqik.goals].index)
    assert [control(ob, name).matrix_basis for name in ENDS] == controls
    for _ in rigs.visited((7, 1)):
        assert (at() - to).length < REACHED
    assert bool(ob.pose.bones[bone].dqik_hold) == live


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_a_body_whose_foot_rolls_is_dragged(targets: str) -> None:
    """The foot stays as it rolls."""
    ob = figure(targets=targets)
    rigs.owner_of(ob, "foot.L").dqik_roll = 0.4
    rigs.update()
    before = places(ob)
    swivel(ob, "forearm.R", 0.35)
    assert np.abs(places(ob) - before).max() < STILL


@pytest.mark.parametrize(("bone", "targets"), [*((bone, "BONES") for bone in ENDS), ("hand.R", "EMPTIES")])
def test_a_part_with_a_target_takes_it_along(bone: str, targets: str) -> None:
    """A point beside the bone is where it is asked for, also of hands, which turn with their forearms."""
    ob = figure(targets=targets)
    place, at = off_axis(ob, bone)
    by = Vector((0.03, -0.05, -0.04 if bone in ("head", "hips") else 0.04))
    to, before = place + by, places(ob, bone, "head", "hips")
    assert bpy.ops.dqik.grab(bone=bone, point=place, to=to) == {"FINISHED"}
    assert (at() - to).length < REACHED
    assert np.abs(places(ob, bone, "head", "hips") - before).max() < STILL
    assert not any(other.dqik_hold for other in ob.pose.bones)


@pytest.mark.parametrize("live", [True, False])
def test_a_dragged_chest_leans_with_its_head(live: bool) -> None:
    """Hands, feet and hips stay, the head goes along as it is on the chest; with Live on its control does, too."""
    ob = figure(live)
    place, at = off_axis(ob, "chest")
    before, pose = places(ob, "head"), rigs.evaluated(ob).pose.bones
    head = pose["chest"].matrix.inverted() @ pose["head"].matrix
    bpy.ops.dqik.grab(bone="chest", point=place, to=place + Vector((0.02, -0.06, -0.01)))
    assert (at() - place).length > 0.03
    assert np.abs(places(ob, "head") - before).max() < STILL
    pose = rigs.evaluated(ob).pose.bones
    np.testing.assert_allclose(pose["chest"].matrix.inverted() @ pose["head"].matrix, head, atol=3e-3)
    assert not live or (rigs.head(ob, "head") - pose[control(ob, "head").name].matrix.translation).length < STILL


def test_a_drag_of_a_scaled_and_turned_figure() -> None:
    ob = bent(rigs.figure())
    ob.matrix_world = Matrix.LocRotScale((3, 1, 2), rigs.rotation((1, 2, 3), 50.0), (0.5, 0.5, 0.5))
    rigs.set_up(ob)
    swivel(ob)


def test_an_elbow_with_a_pole_takes_the_pole_along() -> None:
    """So that the limb stays where it was dragged to; the hand's own control stays to the bit."""
    ob = figure()
    bpy.ops.dqik.setup_full_body(controls={"ELBOWS"})
    rigs.update()
    hand = control(ob, "hand.L").matrix_basis.copy()
    _, at = swivel(ob, angle=0.5)
    assert control(ob, "hand.L").matrix_basis == hand
    goal = rigs.goal_of(ob, "hand.L")
    assert ob.pose.bones[goal.pole_subtarget].location.length > 0.05
    goal.kind = "DISTANCE"  # its target does not belong at the hand
    rigs.update()
    assert bpy.ops.dqik.grab(bone="forearm.L", point=at(), to=at() + Vector((0.0, 0.0, 0.01))) == {"FINISHED"}


def test_what_is_out_of_reach_pulls_nothing_away() -> None:
    ob = figure()
    before, (place, at) = places(ob), off_axis(ob, "forearm.L")
    bpy.ops.dqik.grab(bone="forearm.L", point=place, to=place + Vector((1.0, -1.0, 0.5)))
    assert (at() - place).length > 0.01
    assert np.abs(places(ob) - before).max() < STILL


@pytest.mark.parametrize("reach", [0.05, 0.6])
@pytest.mark.parametrize("bone", ["forearm.R", "shin.L", "arm.L"])
def test_a_limb_is_dragged_alone(bone: str, reach: float) -> None:
    """Wherever it is dragged to, the trunk and the other limbs are not held; hips that sink afterwards are followed."""
    ob = figure()
    limb = ("collar", "arm", "forearm", "hand") if "arm" in bone else ("thigh", "shin", "foot", "toe")
    others = [one.name for one in ob.pose.bones if not one.name.startswith(limb) or not one.name.endswith(bone[-2:])]
    others = [name for name in others if not name.startswith("DQIK")]
    before, place = {name: rigs.head(ob, name) for name in others}, on_bone(ob, bone)
    bpy.ops.dqik.grab(bone=bone, point=place, to=place + reach * Vector((0.4, -0.8, 0.4)))
    assert ob.pose.bones[bone].dqik_hold
    assert not any(ob.pose.bones[name].dqik_hold for name in others)
    assert max(np.linalg.norm(rigs.head(ob, name) - before[name]) for name in others) < 2e-3 * HEIGHT
    place, at = off_axis(ob, "hips")
    bpy.ops.dqik.grab(bone="hips", point=place, to=place + Vector((0.0, 0.0, -0.08)))
    assert (at() - place).z < -0.06


def test_depth_is_free_along_the_view() -> None:
    """An elbow that is dragged across the view comes nearer to the pointer than with the depth that it had."""
    ob, away = figure(), []
    place, view = on_bone(ob, "forearm.L", 0.1), Vector((0.3, 0.9, -0.2)).normalized()
    root, end = (rigs.head(ob, name) for name in ("arm.L", "hand.L"))
    swivelled = root + Matrix.Rotation(0.6, 3, end - root) @ (place - root)
    to = swivelled - (swivelled - place).dot(view) * view  # in the plane of the view in which the elbow was
    for along in (None, view):
        grab = rigs.part("rig.shot.grab").Grab(ob, "forearm.L", place, bpy.context)
        aimed = grab.move(to, along)
        off = grab.at() - to
        away.append((off - off.dot(view) * view).length)
        grab.cancel()
    assert (aimed - to).cross(view).length < 1e-6
    assert away[1] < min(1e-3, 0.5 * away[0])


# -- before and after --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bone", "live", "keyed"), [
    ("forearm.L", True, False), ("chest", True, True), ("hand.L", False, False), ("chest", False, True),
    ("hand.L", True, True),
])  # fmt: skip
def test_a_cancelled_drag_never_was(live: bool, bone: str, keyed: bool) -> None:
    """Bit for bit, at once and on other frames; what is posed afterwards is what it would have been."""
    ob = figure(live)
    if keyed:
        ob.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=1)
        rigs.update()
    before, channels = rigs.matrices(ob).copy(), rigs.channels(ob).copy()
    place = on_bone(ob, bone)
    grab = rigs.part("rig.shot.grab").Grab(ob, bone, place, bpy.context)
    for step in range(1, 5):
        grab.move(place + step * Vector((0.01, -0.03, 0.02)))
    assert np.abs(rigs.matrices(ob) - before).max() > 0.01
    grab.cancel()
    ob.update_tag()
    rigs.update()  # solved once more on the same frame
    assert np.abs(rigs.matrices(ob) - before).max() == 0.0
    for _ in rigs.visited((1, 4, 1)):
        assert np.abs(rigs.matrices(ob) - before).max() == 0.0
        assert np.abs(rigs.channels(ob) - channels).max() == 0.0
    assert not any(one.dqik_hold for one in ob.pose.bones)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("bone", ["forearm.L", "chest", "hand.L"])
def test_auto_keying_keys_a_drag_on_its_frame_only(bone: str, live: bool) -> None:
    """Blocked poses on other frames stay bit for bit; this frame shows the drag again."""
    ob = figure(live)
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    blocked = [control(ob, name) for name in ENDS] if live else [ob.pose.bones[n] for n in ob.pose.bones.keys()[:18]]
    for frame in (1, 20, 40):
        for one in blocked:
            rigs.key(one, frame)
    rigs.at_frame(20)
    before, place = rigs.matrices(ob).copy(), on_bone(ob, bone)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.dqik.grab(bone=bone, point=place, to=place + Vector((0.02, -0.06, 0.02)))
    seen = rigs.matrices(ob).copy()
    assert np.abs(seen - before).max() > 0.01
    for frame in rigs.visited((1, 40)):
        assert np.abs(rigs.matrices(ob) - before).max() == 0.0, frame
    rigs.at_frame(20)
    assert np.abs(rigs.matrices(ob) - seen).max() < 5e-3


@pytest.mark.parametrize("bone", ["shin.L", "head"])
def test_a_drag_that_is_keyed_above_the_nla_shows_on_its_frame(bone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys are in a new action, which Blender 4.2 does not notice by itself.

    Where strips move what is dragged, the keys would replace their motion on all frames: that is refused.
    """
    auto_keying(monkeypatch, True, False)
    ob = figure(live=False)
    ob.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=1)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("Pushed", 1, data.action)
    data.action = None
    rigs.at_frame(1)
    place = on_bone(ob, "shin.L")
    if bone == "shin.L":
        with pytest.raises(RuntimeError, match="The NLA moves 'shin.L'"):
            bpy.ops.dqik.grab(bone="shin.L", point=place, to=place + Vector((0.04, -0.1, 0.1)))
        return
    assert bpy.ops.dqik.grab(bone="shin.L", point=place, to=place + Vector((0.04, -0.1, 0.1))) == {"FINISHED"}
    dragged = rigs.matrices(ob).copy()
    rigs.at_frame(1)
    assert np.abs(rigs.matrices(ob) - dragged).max() < 1e-5


def test_a_library_override_is_picked_and_dragged(tmp_path) -> None:
    """Its linked skin is met, and a drag of the forearm holds as in a file of its own."""
    skinned(figure())
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = rigs.made_active(overridden(tmp_path / "figure.blend"))
    rigs.update()
    place, _ = off_axis(ob, "forearm.L")
    to_skin = on_bone(ob, "forearm.L") - place
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert rigs.part("rig.shot.pick").pick([ob], place - 9 * to_skin, to_skin, depsgraph).bone == "forearm.L"
    swivel(ob)


def test_what_cannot_be_dragged_is_said() -> None:
    """No bone, a bone that is not there, a target that constraints move, and bones that are all locked."""
    ob = figure()
    rigs.refuses(bpy.ops.dqik.grab, "Name the bone to drag")
    rigs.refuses(bpy.ops.dqik.grab, "has no bone 'tail'", bone="tail", to=(0, 0, 0))
    before = rigs.matrices(ob).copy()
    control(ob, "hand.L").constraints.new("LIMIT_LOCATION")
    rigs.update()
    with pytest.raises(RuntimeError, match=r"target of 'hand\.L' cannot be moved"):
        bpy.ops.dqik.grab(bone="hand.L", point=on_bone(ob, "hand.L"), to=(0, 0, 1))
    for bone in ob.pose.bones:
        bone.dqik_lock = True
    with pytest.raises(RuntimeError, match="locked, constrained or driven"):
        bpy.ops.dqik.grab(bone="arm.R", point=on_bone(ob, "arm.R"), to=(0, 0, 1))
    assert np.abs(rigs.matrices(ob) - before).max() < STILL
