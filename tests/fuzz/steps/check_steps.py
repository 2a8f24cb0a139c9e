# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that check what is remembered: poses by hand, the pose before Live, keys, frames before, deleted figures."""

import bpy
from draw import MODES, Draw, bone_named, named, step
from outside import strip_curves


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


@step("previous", 1)
def play_by_two(draw: Draw) -> str:
    first = draw.random.randint(1, 6)
    return f"jump({[first + 2 * k for k in range(draw.random.randint(2, 4))]})"


@step("late", 1)
def check_at_once(draw: Draw) -> str:
    ob, k = draw.goal()
    target = draw.one([
        target for target in (ob.dqik.goals[k].target, ob.dqik.goals[k].pole_target)
        if target is not None and target.type == "EMPTY" and target.library is None
    ])  # fmt: skip
    return f"check_at_once(lambda: {named(ob)}, lambda: {named(target)}, {draw.place()}, {draw.frame():g})"


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
