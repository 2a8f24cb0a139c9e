# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that check what is remembered: poses by hand, the pose before Live, keys, frames before, deleted figures."""

import bpy
from draw import MODES, Draw, bone_named, named, require_undo, step
from outside import strip_curves


@step("remembered", 1)
def check_off_here(draw: Draw) -> str:
    way = draw.one(["", "forget", "forget", "load"])
    frame = draw.frame() if draw.chance(0.6) else draw.random.randint(1, 11) + draw.number(0.1, 0.9, 1)
    return f"check_off_here(lambda: {named(draw.rig())}, {frame:g}, {way!r})"


@step("remembered", 1)
def check_kept(draw: Draw) -> str:
    ob = draw.rig(local=True)
    first = f"bone({draw.bone(ob).name!r}, {named(ob)}).dqik_hold = 1.0\n" if draw.chance(0.4) else ""
    way = draw.one(["forget", "load", "undo"])
    if way == "undo":
        require_undo()
    return first + f"check_kept(lambda: {named(ob)}, {draw.frame():g}, {way!r})"


@step("mode", 0.7)
def kept_in_other_mode(draw: Draw) -> str:
    """Blender itself keeps the pose only where another channel turns the bone, not from one Euler order to another."""
    one = draw.bone(draw.rig(local=True))
    path, _ = draw.rotation_value(one.rotation_mode)
    mode = draw.one([mode for mode in MODES if draw.rotation_value(mode)[0] != path])
    way = f"{bone_named(one)}.rotation_mode = {mode!r}"
    return f"check_kept(lambda: {named(one.id_data)}, {draw.frame():g}, {way!r})"


@step("edit", 0.7)
def kept_in_other_order(draw: Draw) -> str:
    """Another parent gives the bones another order."""
    ob = draw.scene_rig(local=True)
    name, other = draw.bone(ob).name, draw.bone(ob).name
    change = draw.one([
        f"bones[{name!r}].use_connect = False; bones[{name!r}].parent = bones[{other!r}]",
        f"bones[{name!r}].use_connect = False; bones[{name!r}].parent = None",
    ])  # fmt: skip
    way = f"edit({named(ob)}, {change!r})"
    return f"check_kept(lambda: {named(ob)}, {draw.frame():g}, {way!r})"


@step("hand", 1.5)
def check_hand(draw: Draw) -> str:
    one = draw.bone(draw.rig(local=True))
    path, value = draw.rotation_value(one.rotation_mode)
    return f"check_hand(lambda: {named(one.id_data)}, {one.name!r}, {path!r}, {value}, {draw.frame():g})"


@step("hand", 0.5)
def hold_bone(draw: Draw) -> str:
    one = draw.bone(draw.rig(local=True))
    return f"bone({one.name!r}, {named(one.id_data)}).dqik_hold = {draw.one([0.0, 0.5, 1.0])}"


@step("hand", 0.7)
def clear_bone(draw: Draw) -> str:
    """Alt R under Live releases a bone."""
    one = draw.bone(draw.rig(local=True))
    return f"check_cleared(lambda: {named(one.id_data)}, {one.name!r}, {draw.frame():g})"


@step("muted", 0.7)
def check_muted(draw: Draw) -> str:
    return f"check_muted(lambda: {named(draw.rig())}, {draw.frame():g})"


@step("previous", 1)
def check_previous(draw: Draw) -> str:
    jump = draw.one([-2, -2, -1.5, 1, 2, 5])
    return f"check_previous(lambda: {named(draw.rig())}, {draw.random.randint(3, 12)}, {jump})"


@step("previous", 1)
def play_by_two(draw: Draw) -> str:
    first = draw.random.randint(1, 6)
    return f"jump({[first + 2 * k for k in range(draw.random.randint(2, 4))]})"


@step("previous", 0.7)
def previous_and_bake(draw: Draw) -> str:
    ob = named(draw.scene_rig(local=True))
    return (
        f"{ob}.dqik.start_from = 'PREVIOUS'\ncheck_bake(lambda: {ob}, 'NEW', {draw.random.randint(3, 5)})\n"
        f"{ob}.dqik.start_from = 'POSE'"
    )


@step("late", 1)
def check_at_once(draw: Draw) -> str:
    ob, k = draw.goal()
    target = draw.one([
        target for target in (ob.dqik.goals[k].target, ob.dqik.goals[k].pole_target)
        if target is not None and target.type == "EMPTY" and target.library is None
    ])  # fmt: skip
    return f"check_at_once(lambda: {named(ob)}, lambda: {named(target)}, {draw.place()}, {draw.frame():g})"


@step("late", 0.7)
def check_pole_at_once(draw: Draw) -> str:
    ob, place = draw.rig(local=True), draw.place()
    k = draw.one(range(len(ob.dqik.goals)))
    lines = f"make_empty('Pole', {draw.place()})\n{named(ob)}.dqik.goals[{k}].pole_target = thing('Pole')\n"
    return lines + f"check_at_once(lambda: {named(ob)}, lambda: thing('Pole'), {place}, {draw.frame():g})"


@step("keyed_pose", 0.7)
def check_keyed_pose(draw: Draw) -> str:
    ob = draw.rig(local=True)
    return f"check_keyed_pose(lambda: {named(ob)}, {draw.random.randint(1, 12)}, False)"


@step("keyed_missed", 0.7)
def check_keyed_missed(draw: Draw) -> str:
    ob = draw.rig(local=True)
    return f"check_keyed_pose(lambda: {named(ob)}, {draw.random.randint(1, 12)}, True)"


@step("targets_to_pose", 0.7)
def check_targets_to_pose(draw: Draw) -> str:
    return f"check_targets_to_pose(lambda: {named(draw.scene_rig(local=True))}, {draw.one([0, 0, 3])})"


@step("targets_to_pose", 0.7)
def drive_target(draw: Draw) -> str:
    target = draw.target()
    return f"drive({named(target)}, 'location', {tuple(f'{x}' for x in draw.vector(1.0))})"


@step("targets_to_pose", 0.5)
def mute_target(draw: Draw) -> str:
    target = named(draw.target())
    return f"for curve in curves({target}): curve.mute = {draw.chance(0.7)}"


@step("sessions", 0.15)
def check_sessions(draw: Draw) -> str:
    ob = draw.rig(local=True)
    draw.one(ob.dqik.goals)
    return f"check_sessions(lambda: {named(ob)}, 12)"


@step("nla", 1)
def mute_in_strips(draw: Draw) -> str:
    ob = draw.rig()
    tracks = ob.animation_data.nla_tracks if ob.animation_data else ()
    found = [curve for track in tracks for strip in track.strips for curve in strip_curves(strip)]
    word = draw.one(found).data_path.split(".rotation")[0].split(".location")[0]
    return f"mute_in_strips({named(ob)}, {word!r}, {draw.chance(0.7)})"


@step("nla", 1)
def off_in_strips(draw: Draw) -> str:
    """Live off, or a new session, where tracks animate bones."""
    ob = draw.rig(local=True)
    draw.one(ob.animation_data.nla_tracks if ob.animation_data else ())
    if draw.chance(0.5):
        return f"check_off_here(lambda: {named(ob)}, {draw.frame():g}, {draw.one(['', 'forget'])!r})"
    return f"check_off_and_on(lambda: {named(ob)}, {tuple(draw.frames(2))})"


@step("objects", 0.5)
def second_live(draw: Draw) -> str:
    """A goal between two live figures."""
    ob, other = draw.rig(local=True), draw.rig()
    draw.one([1] if ob != other and len(bpy.data.objects) else [])
    return (
        f"make_goal({named(ob)}, {draw.bone(ob).name!r}, {other.name!r}, subtarget={draw.bone(other).name!r}, "
        f"chain_length={draw.random.randint(0, 3)})\n{named(ob)}.dqik.live = {named(other)}.dqik.live = True"
    )
