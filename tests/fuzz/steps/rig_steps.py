# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on the rigs themselves: frames, keys, drivers, tracks, constraints, Edit Mode, limits, bakes."""

from draw import Draw, bone_named, named, step
from vocabulary import SLOTS, curves


@step("frame", 2)
def play(draw: Draw) -> str:
    first, count, by = draw.random.randint(1, 9), draw.random.randint(2, 5), draw.one([1, 1, 1, -1])
    return f"for frame in {[first + by * k for k in range(count)]}: at_frame(frame)"


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


@step("nla", 1)
def new_track(draw: Draw) -> str:
    """Keys of a bone, in a track of their own."""
    one = draw.bone(draw.rig(local=True))
    path, _ = draw.rotation_value(one.rotation_mode)
    keys = {f: draw.rotation_value(one.rotation_mode)[1] for f in draw.frames(2)}
    return f"key({bone_named(one)}, {path!r}, {keys})\npush_down({named(one.id_data)})"


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


# -- limits, bakes -----------------------------------------------------------------------------------------------------


@step("limits", 2)
def limit_bone(draw: Draw) -> str:
    one = bone_named(draw.bone(draw.rig()))
    lines = []
    for part in ("twist", "swing_x", "swing_z"):
        lo, hi = draw.one([(0.0, 0.0), (-0.5, 0.5), (0.2, 1.0), (-1.0, -0.3), (-3.2, 3.2), (0.5, -0.5),
                           (draw.number(-3, 0), draw.number(0, 3))])  # fmt: skip
        lines.append(f"made.dqik_{part}_min, made.dqik_{part}_max = {lo}, {hi}")
    return "\n".join([f"made = {one}", *lines, "made.dqik_use_limits = True"])


@step("bake", 0.7)
def bake(draw: Draw) -> str:
    start = draw.random.randint(-1, 6)
    action, step_by = draw.one(["NEW", "CURRENT"]), draw.one([1, 2])
    words = f"frame_start={start}, frame_end={start + draw.random.randint(-1, 4)}, step={step_by}, action={action!r}"
    words += f", reduce={draw.one([0.0, 0.01])}, clear_goals={draw.chance(0.1)}"
    return f"run('bake', {named(draw.scene_rig())}, {words})"
