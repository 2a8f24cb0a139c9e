# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on what DQIK offers: targets, goals, settings, limits, operators."""

import bpy
from draw import Draw, bone_named, named, step

SOLVERS = ("PGS", "DLS", "CCD", "SQP", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "FABRIK",
           "TWO_BONE", "NEWTON", "BROYDEN", "GAUSS_SEIDEL")  # fmt: skip

# -- targets -----------------------------------------------------------------------------------------------------------


@step("target", 4)
def move_target(draw: Draw) -> str:
    return f"{named(draw.target())}.location = {draw.place()}"


@step("target", 1)
def turn_target(draw: Draw) -> str:
    return f"{named(draw.target())}.rotation_quaternion = {draw.vector(1.0, 4)}"


@step("target", 2)
def key_target(draw: Draw) -> str:
    keys = {frame: draw.place() for frame in draw.frames(draw.random.randint(1, 3))}
    return f"key({named(draw.target())}, 'location', {keys})"


@step("target", 0.7)
def unkey_target(draw: Draw) -> str:
    return f"{named(draw.target())}.animation_data_clear()"


@step("objects", 0.5)
def remove_target(draw: Draw) -> str:
    return f"bpy.data.objects.remove({named(draw.target())})"


@step("objects", 0.5)
def rename_target(draw: Draw) -> str:
    return f"{named(draw.target())}.name = {draw.new_name('Target_')!r}"


@step("target", 0.7)
def another_target(draw: Draw) -> str:
    ob, k = draw.goal()
    return f"{named(ob)}.dqik.goals[{k}].target = {named(draw.target()) if draw.chance(0.85) else None}"


@step("target", 0.7)
def bone_target(draw: Draw) -> str:
    ob, k = draw.goal()
    other = draw.rig()
    words = f"{named(ob)}.dqik.goals[{k}]"
    name = draw.bone(other).name if draw.chance(0.85) else draw.one(["", "nobody"])
    return f"{words}.target = {named(other)}\n{words}.subtarget = {name!r}"


@step("follow", 1)
def hang_target(draw: Draw) -> str:
    """A target on a bone, on an object, or on a constraint."""
    target, other = named(draw.target()), draw.rig()
    return draw.one([
        f"{target}.parent = {named(other)}",
        f"{target}.parent = {named(other)}; {target}.parent_type = 'BONE'; "
        f"{target}.parent_bone = {draw.bone(other).name!r}",
        f"{target}.parent = None",
        f"made = {target}.constraints.new('COPY_LOCATION'); made.target = {named(other)}; "
        f"made.subtarget = {draw.bone(other).name!r}",
        f"made = {target}.constraints.new('COPY_LOCATION'); made.target = {named(draw.target())}",
        f"{target}.constraints.clear()",
    ])  # fmt: skip


@step("odd", 1)
def no_number(draw: Draw) -> str:
    """A target at a place that is no number, for a frame, and back."""
    target = named(draw.target())
    value = draw.one(["nan", "inf", "-inf"])
    return f"{target}.location.x = {value}\nupdate()\nat_frame({draw.frame():g})"


@step("odd", 1)
def number_again(draw: Draw) -> str:
    target = named(draw.target())
    return (
        f"{target}.location = {draw.place()}\n{target}.rotation_quaternion = (1, 0, 0, 0)\n{target}.scale = (1, 1, 1)"
    )


@step("odd", 0.5)
def zero_target(draw: Draw) -> str:
    target = named(draw.target())
    return draw.one([f"{target}.scale = (0, 0, 0)", f"{target}.rotation_quaternion = (0, 0, 0, 0)",
                     f"{target}.scale = (1, -1, 1)", f"{target}.location = (1e12, 0, 0)"])  # fmt: skip


@step("odd", 0.3)
def odd_armature(draw: Draw) -> str:
    ob = named(draw.rig())
    return draw.one([f"{ob}.scale = (0, 0, 0)", f"{ob}.location.y = nan", f"{ob}.scale = (-1, 1, 1)",
                     f"{ob}.location = (0, 0, 0); {ob}.scale = (1, 1, 1)", f"{ob}.scale = (1e-5,) * 3"])  # fmt: skip


# -- goals -------------------------------------------------------------------------------------------------------------


@step("goal", 1.5)
def add_goal(draw: Draw) -> str:
    ob = draw.rig()
    chain = f", chain_length={draw.random.randint(0, 3)}, use_rotation={draw.chance(0.3)}"
    return f"make_goal({named(ob)}, {draw.bone(ob).name!r}, {draw.target().name!r}{chain})"


@step("goal", 0.6)
def remove_goal(draw: Draw) -> str:
    ob, k = draw.goal()
    return f"{named(ob)}.dqik.goals.remove({k})\n{named(ob)}.update_tag()"


@step("untold", 1)
def remove_goal_untold(draw: Draw) -> str:
    """As a script does it that says nothing to Blender."""
    ob, k = draw.goal()
    return f"{named(ob)}.dqik.goals.remove({k})\ncheck_frame({draw.frame():g}, {draw.frame():g})"


@step("goal", 6)
def change_goal(draw: Draw) -> str:
    ob, k = draw.goal()
    name, value = draw.one([
        ("mute", draw.chance(0.6)), ("influence", draw.one([0, 1, 1, draw.number(-1, 2)])),
        ("position_weight", draw.one([0, 1, draw.number(-1, 20)])), ("rotation_weight", draw.number(0, 5)),
        ("rotation_follows", draw.one([0, 0.5, 1, 1])),
        ("use_position", draw.chance(0.6)), ("use_rotation", draw.chance(0.5)), ("use_tail", draw.chance(0.5)),
        ("chain_length", draw.random.randint(-1, 5)), ("priority", draw.random.randint(-2, 3)),
        ("bone", draw.bone(ob).name if draw.chance(0.9) else "nobody"), ("pole_angle", draw.number(-4, 4)),
        ("subtarget", ""),
    ])  # fmt: skip
    return f"{named(ob)}.dqik.goals[{k}].{name} = {value!r}"


@step("goal", 0.8)
def change_pole(draw: Draw) -> str:
    ob, k = draw.goal()
    return f"{named(ob)}.dqik.goals[{k}].pole_target = {named(draw.target()) if draw.chance(0.7) else None}"


def _keyed_goal(draw: Draw) -> tuple[str, str]:
    name = draw.one(["influence", "influence", "mute", "position_weight", "rotation_weight", "rotation_follows"])
    mute = name == "mute"
    values = {f: draw.chance(0.5) if mute else draw.one([0.0, 1.0, draw.number(0, 1)]) for f in draw.frames(3)}
    return name, repr(values)


@step("keyed", 2)
def key_goal(draw: Draw) -> str:
    ob, k = draw.goal()
    name, values = _keyed_goal(draw)
    return f"key({named(ob)}.dqik.goals[{k}], {name!r}, {values})"


@step("keyed", 0.6)
def drive_goal(draw: Draw) -> str:
    ob, k = draw.goal()
    expression = draw.one(["frame / 12", "frame > 5", "sin(frame) ** 2", "0"])
    return f"drive({named(ob)}, 'dqik.goals[{k}].{draw.one(['influence', 'mute'])}', [{expression!r}])"


@step("keyed", 0.6)
def unkey_goal(draw: Draw) -> str:
    return f"unkey({named(draw.rig())}, 'dqik')"


@step("keyed", 0.6)
def key_live(draw: Draw) -> str:
    return f"key({named(draw.rig())}.dqik, 'live', { ({f: draw.chance(0.5) for f in draw.frames(3)}) })"


@step("keyed", 0.6)
def key_stiffness(draw: Draw) -> str:
    one = draw.bone(draw.rig())
    return f"key({bone_named(one)}, 'dqik_stiffness', { ({f: draw.one([0.0, 0.5, 1.0]) for f in draw.frames(2)}) })"


# -- settings ----------------------------------------------------------------------------------------------------------


@step("setting", 3)
def change_setting(draw: Draw) -> str:
    name, value = draw.one([
        ("iterations", draw.random.randint(-3, 80)), ("tolerance", draw.one([0.0, -1.0, 1e-4, 1e-3, 10.0])),
        ("rotation_tolerance", draw.one([0.0, 1e-3, 0.1, 9.0])), ("damping", draw.one([-1.0, 0.0, 0.01, 1.0, 50.0])),
        ("start_from", draw.one(["POSE", "POSE", "REST", "PREVIOUS"])), ("solver", draw.one(SOLVERS[:3])),
        ("solver", "PGS"),
    ])  # fmt: skip
    return f"{named(draw.rig())}.dqik.{name} = {value!r}"


@step("solvers", 1)
def other_solver(draw: Draw) -> str:
    """Those that NumPy solves are slow, so few walks have them."""
    return f"{named(draw.rig())}.dqik.solver = {draw.one(SOLVERS)!r}"


@step("setting", 0.5)
def optional_setting(draw: Draw) -> str:
    """Settings that came later than others."""
    ob = draw.rig()
    name, value = draw.one([
        ("order", draw.one(["TIP_TO_ROOT", "ROOT_TO_TIP"])), ("unit_angle", draw.number(0, 1)),
        ("objective", draw.one(["QV", "Q", "V"])), ("natural_pose", draw.number(0, 1)),
    ])  # fmt: skip
    draw.one([1] if hasattr(ob.dqik, name) else [])
    return f"{named(ob)}.dqik.{name} = {value!r}"


@step("slides", 1)
def let_slide(draw: Draw) -> str:
    """A bone that may move as well as turn, with a place of its own; connected bones cannot."""
    ob = draw.rig()
    one = draw.one([one for one in ob.pose.bones if not one.bone.use_connect])
    words = bone_named(one)
    return draw.one([
        f"{words}.dqik_translate = {draw.chance(0.8)}", f"{words}.location = {draw.vector(0.4)}",
        f"{words}.dqik_translate = True\ncheck_kept(lambda: {named(ob)}, {draw.frame():g}, 'forget')",
        f"{words}.dqik_translate = True\ncheck_off_and_on(lambda: {named(ob)}, {tuple(draw.frames(2))})",
    ])  # fmt: skip


@step("setting", 3)
def change_bone(draw: Draw) -> str:
    name, value = draw.one([
        ("dqik_lock", draw.chance(0.5)), ("dqik_stiffness", draw.one([0.0, 0.5, 1.0, 3.0])),
        ("dqik_translate", draw.chance(0.5)), ("dqik_preferred_angle", draw.vector(1.5)),
        ("dqik_use_limits", draw.chance(0.5)), ("dqik_gain", draw.one([0.0, 1.0, 5.0])),
    ])  # fmt: skip
    return f"{bone_named(draw.bone(draw.rig()))}.{name} = {value!r}"


@step("limits", 2)
def limit_bone(draw: Draw) -> str:
    one = bone_named(draw.bone(draw.rig()))
    lines = []
    for part in ("twist", "swing_x", "swing_z"):
        lo, hi = draw.one([(0.0, 0.0), (-0.5, 0.5), (0.2, 1.0), (-1.0, -0.3), (-3.2, 3.2), (0.5, -0.5),
                           (draw.number(-3, 0), draw.number(0, 3))])  # fmt: skip
        lines.append(f"made.dqik_{part}_min, made.dqik_{part}_max = {lo}, {hi}")
    return "\n".join([f"made = {one}", *lines, "made.dqik_use_limits = True"])


@step("limits", 0.5)
def zero_limits(draw: Draw) -> str:
    one = bone_named(draw.bone(draw.rig()))
    return f"made = {one}\nfor part in ('twist', 'swing_x', 'swing_z'):\n    for end in ('min', 'max'): " \
           "setattr(made, f'dqik_{part}_{end}', 0)\nmade.dqik_use_limits = True"  # fmt: skip


@step("live", 2)
def live_on(draw: Draw) -> str:
    return f"{named(draw.rig())}.dqik.live = True"


@step("live", 1)
def live_off(draw: Draw) -> str:
    return f"{named(draw.rig())}.dqik.live = False"


@step("check", 1)
def check_off_and_on(draw: Draw) -> str:
    ob = named(draw.rig())
    return f"check_off_and_on(lambda: {ob}, {tuple(draw.frames(2))})"


# -- operators ---------------------------------------------------------------------------------------------------------


@step("operators", 1.5)
def run_operator(draw: Draw) -> str:
    ob = draw.scene_rig()
    name = draw.one(["solve", "solve", "reset_pose", "setup_full_body", "limits_from_ik", "limits_from_action",
                     "limits_clear", "limits_preset", "goals_from_constraints", "goal_remove", "goals_clear",
                     "target_select", "goals_mirror", "limits_mirror", "pin", "unpin"])  # fmt: skip
    draw.one([1] if hasattr(bpy.types, f"DQIK_OT_{name}") else [])
    return f"run({name!r}, {named(ob)})"


@step("operators", 0.5)
def operator_on_bones(draw: Draw) -> str:
    ob = draw.scene_rig()
    names = [one.name for one in draw.some(ob.pose.bones, 2)]
    name = draw.one(["goal_add", "limits_clear", "bake", "pin"])
    draw.one([1] if hasattr(bpy.types, f"DQIK_OT_{name}") else [])
    words = {"goal_add": ", chain_length=2", "limits_clear": ", only_selected=True", "pin": "",
             "bake": ", frame_start=1, frame_end=3, only_selected=True"}[name]  # fmt: skip
    return f"select({named(ob)}, {names})\nrun({name!r}, {named(ob)}{words})\nactive({named(ob)})"


@step("operators", 0.6)
def add_goal_by_operator(draw: Draw) -> str:
    ob = draw.scene_rig()
    name = draw.bone(ob).name if draw.chance(0.9) else "nobody"
    return f"run('goal_add', {named(ob)}, bone={name!r}, chain_length={draw.random.randint(0, 3)})"


@step("bake", 0.7)
def bake(draw: Draw) -> str:
    start = draw.random.randint(-1, 6)
    action, step_by = draw.one(["NEW", "CURRENT"]), draw.one([1, 2])
    words = f"frame_start={start}, frame_end={start + draw.random.randint(-1, 4)}, step={step_by}, action={action!r}"
    words += f", reduce={draw.one([0.0, 0.01])}, clear_goals={draw.chance(0.1)}"
    return f"run('bake', {named(draw.scene_rig())}, {words})"


@step("bake", 1)
def check_bake(draw: Draw) -> str:
    ob = named(draw.scene_rig())
    return f"check_bake(lambda: {ob}, {draw.one(['NEW', 'CURRENT'])!r}, {draw.random.randint(2, 5)})"


@step("bake", 0.1)
def compare(draw: Draw) -> str:
    solvers = sorted(draw.some(SOLVERS, 2))
    return f"run('compare_solvers', {named(draw.scene_rig())}, frame_start=1, frame_end=2, " \
           f"solvers=set({solvers}))"  # fmt: skip


@step("bake", 0.4)
def targets_to_pose(draw: Draw) -> str:
    draw.one([1] if hasattr(bpy.types, "DQIK_OT_targets_to_pose") else [])
    words = draw.one(["", ", frame_start=1, frame_end=3"])
    return f"run('targets_to_pose', {named(draw.scene_rig())}, all=True{words})"
