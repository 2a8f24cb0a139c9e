# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on goals of other kinds than Reach: their settings, bones as their targets, curves."""

import bpy
from draw import Draw, named, require_undo, step

KINDS = ("REACH", "LOOK_AT", "DISTANCE", "PLANE", "BALANCE", "CURVE")
AXES = ("X", "Y", "Z", "NEG_X", "NEG_Y", "NEG_Z")
SIDES = ("AT", "WITHIN", "BEYOND", "ON", "ABOVE")
SPLINES = ("POLY", "BEZIER", "NURBS")


def _settings(draw: Draw) -> dict[str, object]:
    """Values of what other kinds read."""
    return {
        "kind": draw.one(KINDS[1:5]), "axis": draw.one(AXES), "side": draw.one(SIDES),
        "distance": draw.one([0.0, 0.3, draw.number(-1, 3)]), "use_support": draw.chance(0.4),
    }  # fmt: skip


def _words(settings: dict[str, object]) -> str:
    return "".join(f", {name}={value!r}" for name, value in settings.items())


@step("kinds", 3)
def add_goal_of_kind(draw: Draw) -> str:
    ob = draw.rig()
    settings = {"chain_length": draw.random.randint(0, 4), "use_tail": draw.chance(0.6), **_settings(draw)}
    target = draw.target().name if draw.chance(0.93) else ""
    return f"make_goal({named(ob)}, {draw.bone(ob).name!r}, {target!r}{_words(settings)})"


@step("kinds", 3)
def change_kind(draw: Draw) -> str:
    ob, k = draw.goal()
    settings = _settings(draw) | {"kind": draw.one(KINDS)}
    name = draw.one([*settings, "kind"])
    return f"{named(ob)}.dqik.goals[{k}].{name} = {settings[name]!r}"


@step("kinds", 2)
def own_bone_as_target(draw: Draw) -> str:
    """A bone of the same figure, solved or not, at which another one looks, that it keeps away from, or comes to."""
    ob = draw.rig()
    settings = _settings(draw) | {"kind": draw.one(["LOOK_AT", "DISTANCE", "REACH"]), "subtarget": draw.bone(ob).name}
    if settings["kind"] == "REACH":
        settings |= {"close_loop": draw.chance(0.8), "use_rotation": draw.chance(0.3)}
    settings["chain_length"] = draw.random.randint(0, 4)
    return f"make_goal({named(ob)}, {draw.bone(ob).name!r}, {ob.name!r}{_words(settings)})"


@step("kinds", 1.5)
def add_curve(draw: Draw) -> str:
    """A curve that begins where its chain does."""
    ob = draw.scene_rig()
    end = draw.one([one for one in ob.pose.bones if one.parent is not None])
    line = [end, *end.parent_recursive]
    length = draw.random.randint(1, len(line))
    start = ob.matrix_world @ line[length - 1].head
    points = [(0.0, 0.0, 0.0), *(draw.vector(1.2) for _ in range(draw.random.randint(1, 3)))]
    name = draw.new_name("Curve")
    return (
        f"make_curve({name!r}, {points}, {draw.one(SPLINES)!r}, {tuple(round(x, 4) for x in start)})\n"
        f"make_goal({named(ob)}, {end.name!r}, {name!r}, kind='CURVE', chain_length={draw.one([0, length])})"
    )


def _curve(draw: Draw) -> str:
    return named(draw.one([ob for ob in bpy.data.objects if ob.type == "CURVE" and ob.library is None]))


@step("kinds", 2)
def change_curve(draw: Draw) -> str:
    curve = _curve(draw)
    points = [draw.vector(1.2) for _ in range(draw.random.randint(1, 4))]
    return draw.one([
        f"reshape({curve}, {points}, {draw.one(SPLINES)!r})", f"{curve}.location = {draw.vector(1.0)}",
        f"key({curve}, 'location', { ({f: draw.vector(0.6) for f in draw.frames(2)}) })",
        f"{curve}.rotation_euler = {draw.vector(1.0)}", f"{curve}.scale = ({draw.number(0.3, 2.0)},) * 3",
        f"{curve}.data.splines.clear()", f"{curve}.data.splines[0].use_cyclic_u = True",
        f"for point in {curve}.data.splines[0].points: point.co.x += {draw.number(-0.4, 0.4)}",
    ])  # fmt: skip


@step("objects", 0.3)
def remove_curve(draw: Draw) -> str:
    return f"bpy.data.objects.remove({_curve(draw)})"


@step("kinds", 1)
def check_undo_of_kind(draw: Draw) -> str:
    require_undo()
    ob, k = draw.goal()
    settings = _settings(draw) | {"kind": draw.one(KINDS)}
    name = draw.one([*settings, "kind"])
    return f"check_undo(lambda: setattr({named(ob)}.dqik.goals[{k}], {name!r}, {settings[name]!r}))"
