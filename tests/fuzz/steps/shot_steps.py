# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on a shot: attach, detach, hold here, pin, plant, switch limbs, key controls, and set up from motion."""

import bpy
from draw import Draw, named, require_undo, step
from shots import attachments
from vocabulary import armatures

CONTROLS = ("CHEST", "SHOULDERS", "ELBOWS", "KNEES", "TOES", "MASTER")
BODY = ("spine", "chest", "head", "arm.L", "arm.R", "forearm.L", "forearm.R", "thigh.L", "shin.L", "foot.R", "hips")

Owner = tuple[str, str]


def _local(ob: bpy.types.Object) -> bool:
    return ob.library is None and ob.session_uid in {one.session_uid for one in bpy.context.view_layer.objects}


def _bodies() -> list[bpy.types.Object]:
    """Armatures of the scene that have control bones."""
    return [ob for ob in armatures() if _local(ob) and not ob.hide_viewport and _controls(ob)]


def _controls(ob: bpy.types.Object) -> list[str]:
    return [goal.subtarget for goal in ob.dqik.goals if goal.target == ob and goal.subtarget in ob.data.bones]


def _owners(draw: Draw) -> list[Owner]:
    """Control bones of one armature, or objects that are empties."""
    bodies = _bodies()
    if bodies and draw.chance(0.7):
        ob = draw.one(bodies)
        return [(ob.name, name) for name in draw.some(_controls(ob), draw.one([1, 1, 2]))]
    empties = sorted(ob.name for ob in bpy.data.objects if ob.type == "EMPTY" and _local(ob) and not ob.hide_viewport)
    draw.one(empties)
    return [(name, "") for name in draw.some(empties, draw.one([1, 1, 2]))]


def _anything(draw: Draw) -> Owner:
    """An object of the scene, or a bone of it."""
    names = sorted(ob.name for ob in bpy.data.objects if ob.type in ("EMPTY", "MESH", "ARMATURE") and _local(ob))
    ob = bpy.data.objects[draw.one(names)]
    return ob.name, draw.bone(ob).name if ob.type == "ARMATURE" and ob.pose.bones and draw.chance(0.8) else ""


def _attached() -> list[list[Owner]]:
    found = []
    for ob in armatures():
        if _local(ob) and not ob.hide_viewport:
            found += [[(ob.name, one.name)] for one in ob.pose.bones if attachments((ob.name, one.name))]
    others = sorted(ob.name for ob in bpy.data.objects if ob.type != "ARMATURE" and _local(ob) and not ob.hide_viewport
                    and attachments((ob.name, "")))  # fmt: skip
    return found + [[(name, "")] for name in others]


@step("attach", 4)
def check_attach(draw: Draw) -> str:
    return f"check_attach({_owners(draw)}, {_anything(draw)}, {draw.frame():g})"


@step("attach", 2)
def check_into_hand(draw: Draw) -> str:
    ob = draw.scene_rig()
    empties = sorted(one.name for one in bpy.data.objects if one.type in ("EMPTY", "MESH") and _local(one))
    return f"check_attach([({draw.one(empties)!r}, '')], ({ob.name!r}, {draw.bone(ob).name!r}), {draw.frame():g}, True)"


@step("attach", 3)
def check_detach(draw: Draw) -> str:
    return f"check_detach({draw.one(_attached())}, {draw.frame():g}, {draw.chance(0.3)})"


@step("attach", 2)
def move_attached(draw: Draw) -> str:
    """What is attached gets keys of its own, on later or earlier frames."""
    (name, part), = draw.one(_attached())
    held = f"bone({part!r}, thing({name!r}))" if part else f"thing({name!r})"
    return f"key({held}, 'location', { ({f: draw.vector(0.5) for f in draw.frames(draw.one([1, 2]))}) })"


@step("attach", 1)
def check_attach_again(draw: Draw) -> str:
    """Undo and redo of attaching and letting go."""
    require_undo()
    owners, target = _owners(draw), _anything(draw)
    change = f"(choose({owners}), press('attach', object={target[0]!r}, bone={target[1]!r}))"
    if _attached() and draw.chance(0.5):
        change = f"(choose({draw.one(_attached())}), press('detach', remove={draw.chance(0.3)}))"
    return f"check_again(lambda: {change}, {draw.frame():g})"


@step("shot", 3)
def check_hold_here(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    path, value = draw.rotation_value(one.rotation_mode, 0.6)
    value = (1.0, *value[1:]) if path == "rotation_quaternion" else value
    frame = draw.random.randint(1, 12)
    return f"check_hold_here(lambda: {named(one.id_data)}, {one.name!r}, {path!r}, {value}, {frame})"


@step("shot", 2)
def check_limb(draw: Draw) -> str:
    ob = draw.scene_rig(local=True)
    goal = draw.one(ob.dqik.goals)
    name = goal.subtarget if goal.target == ob and draw.chance(0.5) else goal.bone
    first = draw.random.randint(2, 9)
    last = 0 if draw.chance(0.5) else first + draw.random.randint(0, 3)
    return f"check_limb(lambda: {named(ob)}, {name!r}, {draw.chance(0.5)}, {first}, {last})"


@step("shot", 2)
def check_plant(draw: Draw) -> str:
    ob = draw.scene_rig()
    goal = draw.one([goal for goal in ob.dqik.goals if goal.target is not None])
    owner = (goal.target.name, goal.subtarget if goal.target.type == "ARMATURE" else "")
    draw.one([1] if goal.target == ob or not owner[1] else [])
    first = draw.random.randint(3, 8)
    return f"check_plant(lambda: {named(ob)}, {owner}, {first}, {first + draw.random.randint(0, 4)})"


@step("shot", 1.5)
def check_shot_again(draw: Draw) -> str:
    """Undo and redo of the others."""
    require_undo()
    ob = draw.scene_rig(local=True)
    goal = draw.one(ob.dqik.goals)
    choice = f"select({named(ob)}, [{goal.bone!r}])"
    if goal.target == ob:
        choice = f"select({named(ob)}, [{goal.subtarget!r}])"
    press = draw.one([
        "press('hold_here')", "press('pin')", "press('unpin')", "press('key_controls')",
        "press('limb_to_fk', frame_start=3, frame_end=5)", "press('limb_to_ik', frame_start=3, frame_end=5)",
        "press('plant', frame_start=4, frame_end=7)", "press('key_from_motion')", "press('keep_pose')",
        "press('holds_clear')", f"press('holds_clear', here={draw.chance(0.7)}, only_selected={draw.chance(0.5)})",
        f"press('rotation_space', index={draw.whole(0, 3)}, space={draw.one(['FOREARM', 'WORLD'])!r})",
        "press('eyes_add')", "press('learn_from_actions')", "press('pose_to_rest')", "press('swap_sides')",
        "press('couplings_mirror')", "press('limb_keep_body')",
    ])  # fmt: skip
    return f"check_again(lambda: ({choice}, {press}), {draw.random.randint(1, 12)})"


@step("motion", 2)
def check_from_motion(draw: Draw) -> str:
    """A figure that moves, and controls from its motion."""
    draw.one([1] if sum("arm.L" in ob.data.bones for ob in armatures()) < 2 else [])
    turns = {name: {f: draw.vector(0.5) for f in draw.some((1, 3, 6), draw.one([2, 3]))} for name in draw.some(BODY, 5)}
    controls = set(draw.some(CONTROLS, draw.one([0, 1, 3])))
    words = f"{{{', '.join(map(repr, sorted(controls)))}}}" if controls else "set()"
    place = draw.one([(0, 0, 0), draw.vector(1.0)])
    return f"check_from_motion({draw.new_name('Mover')!r}, {turns}, {words}, {place})"


@step("motion", 1)
def more_controls(draw: Draw) -> str:
    ob = draw.one(_bodies())
    return f"run('setup_full_body', {named(ob)}, controls={{{draw.one(CONTROLS)!r}}})"
