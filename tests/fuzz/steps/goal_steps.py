# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on what DQIK offers: targets, goals, settings, limits, operators."""

import bpy
from draw import Draw, bone_named, named, step

SOLVERS = ("PGS", "DLS", "CCD", "SQP", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "FABRIK",
           "TWO_BONE", "NEWTON", "BROYDEN", "GAUSS_SEIDEL")  # fmt: skip

# -- goals -------------------------------------------------------------------------------------------------------------


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


@step("bake", 0.7)
def bake(draw: Draw) -> str:
    start = draw.random.randint(-1, 6)
    action, step_by = draw.one(["NEW", "CURRENT"]), draw.one([1, 2])
    words = f"frame_start={start}, frame_end={start + draw.random.randint(-1, 4)}, step={step_by}, action={action!r}"
    words += f", reduce={draw.one([0.0, 0.01])}, clear_goals={draw.chance(0.1)}"
    return f"run('bake', {named(draw.scene_rig())}, {words})"
