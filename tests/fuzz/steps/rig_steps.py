# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on the rigs themselves: frames, poses, keys, drivers, tracks, constraints, Edit Mode."""

from draw import MODES, Draw, bone_named, named, step
from vocabulary import SLOTS, curves


@step("frame", 6)
def frame(draw: Draw) -> str:
    return f"at_frame({draw.frame():g})"


@step("frame", 2)
def play(draw: Draw) -> str:
    first, count, by = draw.random.randint(1, 9), draw.random.randint(2, 5), draw.one([1, 1, 1, -1])
    return f"for frame in {[first + by * k for k in range(count)]}: at_frame(frame)"


@step("check", 4)
def check_frame(draw: Draw) -> str:
    return f"check_frame({draw.frame():g}, {draw.frame():g})"


# -- poses -------------------------------------------------------------------------------------------------------------


@step("pose", 3)
def pose_bone(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    path, value = draw.rotation_value(one.rotation_mode)
    return f"{bone_named(one)}.{path} = {value}"


@step("pose", 1)
def move_bone(draw: Draw) -> str:
    return f"{bone_named(draw.bone(draw.rig()))}.location = {draw.vector(0.5)}"


@step("pose", 1)
def rest_bone(draw: Draw) -> str:
    return f"{bone_named(draw.bone(draw.rig()))}.matrix_basis.identity()"


@step("scale", 1)
def scale_bone(draw: Draw) -> str:
    scale = (draw.number(0.5, 1.6),) * 3 if draw.chance(0.6) else tuple(draw.number(0.4, 1.6) for _ in range(3))
    return f"{bone_named(draw.bone(draw.rig()))}.scale = {scale}"


@step("mode", 1)
def rotation_mode(draw: Draw) -> str:
    return f"{bone_named(draw.bone(draw.rig()))}.rotation_mode = {draw.one(MODES)!r}"


@step("pose", 0.3)
def rest_position(draw: Draw) -> str:
    return f"{named(draw.rig(local=True))}.data.pose_position = {draw.one(['REST', 'POSE', 'POSE'])!r}"


# -- keys --------------------------------------------------------------------------------------------------------------


def _keys(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    if draw.chance(0.2):
        return f"key({bone_named(one)}, 'location', { ({f: draw.vector(0.5) for f in draw.frames(2)}) })"
    frames = draw.frames(draw.random.randint(1, 3))
    path, _ = draw.rotation_value(one.rotation_mode)
    return f"key({bone_named(one)}, {path!r}, { ({f: draw.rotation_value(one.rotation_mode)[1] for f in frames}) })"


@step("keys", 2)
def key_bone(draw: Draw) -> str:
    return _keys(draw)


@step("keys", 1)
def unkey_bone(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    return f"unkey({named(one.id_data)}, {('[' + chr(34) + one.name + chr(34))!r})"


@step("keys", 1)
def swap_keys(draw: Draw) -> str:
    """Keys move from one bone to another between two evaluations."""
    return f"{unkey_bone(draw)}\n{_keys(draw)}"


@step("keys", 1)
def mute_curves(draw: Draw) -> str:
    ob = draw.rig()
    one = draw.one(curves(ob))
    word = one.data_path.split(".rotation")[0].split(".location")[0]
    return f"for curve in curves({named(ob)}, {word!r}): curve.mute = not curve.mute"


@step("keys", 0.5)
def mute_groups(draw: Draw) -> str:
    ob = draw.rig()
    draw.one(curves(ob))
    return f"for curve in curves({named(ob)}):\n    if curve.group: curve.group.mute = {draw.chance(0.6)}"


@step("keys", 0.5)
def curve_modifier(draw: Draw) -> str:
    ob = draw.rig()
    draw.one(curves(ob))
    return f"for curve in curves({named(ob)}): curve.modifiers.new('NOISE').strength = {draw.number(0.1, 0.4)}"


@step("keys", 0.5)
def no_action(draw: Draw) -> str:
    return f"{named(draw.rig())}.animation_data.action = None"


@step("keys", 0.4)
def clear_animation(draw: Draw) -> str:
    return f"{named(draw.rig())}.animation_data_clear()"


@step("nla", 0.7)
def action_blend(draw: Draw) -> str:
    ob = draw.rig()
    draw.one([1] if ob.animation_data else [])
    ob = named(ob)
    blend = draw.one(["REPLACE", "COMBINE", "ADD"])
    return (
        f"{ob}.animation_data.action_blend_type = {blend!r}\n"
        f"{ob}.animation_data.action_influence = {draw.number(0, 1, 1)}"
    )


@step("nla", 1)
def new_track(draw: Draw) -> str:
    """Keys of a bone, in a track of their own."""
    one = draw.bone(draw.rig(local=True))
    path, _ = draw.rotation_value(one.rotation_mode)
    keys = {f: draw.rotation_value(one.rotation_mode)[1] for f in draw.frames(2)}
    return f"key({bone_named(one)}, {path!r}, {keys})\npush_down({named(one.id_data)})"


@step("nla", 1)
def push_down(draw: Draw) -> str:
    ob = draw.rig()
    draw.one(curves(ob))
    return f"push_down({named(ob)}, {draw.one(['REPLACE', 'REPLACE', 'COMBINE', 'ADD'])!r})"


@step("nla", 1)
def tracks(draw: Draw) -> str:
    ob = draw.rig()
    track = draw.one(range(len(ob.animation_data.nla_tracks) if ob.animation_data else 0))
    words = f"{named(ob)}.animation_data.nla_tracks[{track}]"
    on = draw.chance(0.5)
    return draw.one([
        f"{words}.mute = {on}", f"{words}.mute = True", f"{words}.strips[0].mute = {on}",
        f"{named(ob)}.animation_data.use_nla = {on}",
        f"{words}.strips[0].extrapolation = {draw.one(['HOLD', 'NOTHING', 'HOLD_FORWARD'])!r}",
        f"{words}.strips[0].frame_end = {draw.random.randint(3, 12)}",
        f"{named(ob)}.animation_data.nla_tracks.remove({words})",
    ])  # fmt: skip


@step("slots", 1)
def slots(draw: Draw) -> str:
    ob = draw.rig()
    draw.one(curves(ob) if SLOTS else ())
    count = len(ob.animation_data.action.slots)
    words = f"{named(ob)}.animation_data"
    if count < 2 or draw.chance(0.3):
        return f"new_slot({named(ob)})\n{_keys(draw)}"
    return f"{words}.action_slot = {words}.action.slots[{draw.random.randrange(count)}]"


# -- drivers -----------------------------------------------------------------------------------------------------------


@step("drivers", 1)
def drive_bone(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    path, value = draw.rotation_value(one.rotation_mode)
    words = tuple(draw.one([f"{x}", f"{x} + frame / 20", f"sin(frame) * {x}"]) for x in value)
    return f"drive({bone_named(one)}, {path!r}, {words})"


@step("drivers", 0.7)
def mute_drivers(draw: Draw) -> str:
    ob = draw.rig()
    draw.one(ob.animation_data.drivers if ob.animation_data else ())
    return f"for curve in {named(ob)}.animation_data.drivers: curve.mute = {draw.chance(0.5)}"


@step("drivers", 0.5)
def remove_driver(draw: Draw) -> str:
    """Tagged as Blender's menu does; until then Blender itself evaluates the other drivers of the object wrongly."""
    ob = draw.rig()
    draw.one(ob.animation_data.drivers if ob.animation_data else ())
    words = f"{named(ob)}.animation_data.drivers"
    return f"{words}.remove({words}[0])\n{named(ob)}.update_tag()"


# -- constraints -------------------------------------------------------------------------------------------------------


@step("constraints", 1.5)
def constrain(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    kind = draw.one(["COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "COPY_LOCATION", "IK", "COPY_SCALE"])
    lines = [f"made = {bone_named(one)}.constraints.new({kind!r})"]
    if kind == "LIMIT_ROTATION":
        lines += [f"made.use_limit_x = made.use_limit_z = True; made.max_x = {draw.number(0, 0.5)}",
                  "made.owner_space = 'LOCAL'"]  # fmt: skip
    else:
        lines += [f"made.target = {named(draw.target())}", f"made.influence = {draw.one([1, 1, 0.5, 0])}"]
    return "\n".join(lines)


@step("constraints", 1)
def change_constraint(draw: Draw) -> str:
    one = draw.one([one for one in draw.rig().pose.bones if len(one.constraints)])
    words = f"{bone_named(one)}.constraints"
    return draw.one([
        f"{words}[0].mute = not {words}[0].mute", f"{words}[0].influence = {draw.number(0, 1)}",
        f"{words}.remove({words}[0])", f"key({words}[0], 'influence', {({2: 0.0, 8: 1.0})})",
    ])  # fmt: skip


# -- Edit Mode ---------------------------------------------------------------------------------------------------------


@step("edit", 2)
def edit_bone(draw: Draw) -> str:
    ob = draw.scene_rig(local=True)
    name, other = draw.bone(ob).name, draw.bone(ob).name
    words = f"bones[{name!r}]"
    return f"edit({named(ob)}, " + repr(draw.one([
        f"{words}.length *= {draw.number(0.3, 2)}", f"{words}.roll += {draw.number(-3, 3)}",
        f"{words}.tail.x += {draw.number(-0.5, 0.5)}", f"{words}.head.z += {draw.number(-0.5, 0.5)}",
        f"{words}.parent = None", f"{words}.parent = bones[{other!r}]", f"{words}.use_connect = {draw.chance(0.5)}",
        f"{words}.use_inherit_rotation = {draw.chance(0.5)}", f"bones.remove({words})",
        f"{words}.name = {draw.new_name('bone')!r}",
        f"new = bones.new({draw.new_name('bone')!r}); new.head = {words}.tail; "
        f"new.tail = {words}.tail + {words}.vector; new.parent = {words}",
    ])) + ")"  # fmt: skip


@step("edit", 0.7)
def rename_bone(draw: Draw) -> str:
    ob = draw.rig(local=True)
    return f"{named(ob)}.data.bones[{draw.bone(ob).name!r}].name = {draw.new_name('bone')!r}"


@step("edit", 0.5)
def inherit(draw: Draw) -> str:
    ob = draw.rig(local=True)
    words = f"{named(ob)}.data.bones[{draw.bone(ob).name!r}]"
    scale = draw.one(["FULL", "NONE", "ALIGNED", "AVERAGE", "FIX_SHEAR", "NONE_LEGACY"])
    return draw.one([
        f"{words}.use_inherit_rotation = not {words}.use_inherit_rotation", f"{words}.inherit_scale = {scale!r}",
        f"{words}.use_local_location = {draw.chance(0.5)}",
    ])  # fmt: skip


@step("edit", 0.4)
def only_mode(draw: Draw) -> str:
    """In and out of a mode, with a frame between."""
    ob = draw.scene_rig(local=True)
    return f"active({named(ob)}, {draw.one(['EDIT', 'POSE'])!r})\nat_frame({draw.frame():g})\nactive({named(ob)})"
