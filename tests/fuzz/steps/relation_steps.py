# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on bones that move together, on bodies that keep apart, and on human figures with both."""

import bpy
from draw import Draw, bone_named, named, require_undo, step
from scripts import PRESETS
from vocabulary import armatures

COUPLED = "XYZ"

# -- couplings ---------------------------------------------------------------------------------------------------------


def _coupling(draw: Draw) -> dict[str, object]:
    return {
        "axis": draw.one(COUPLED), "leader_axis": draw.one(COUPLED),
        "factor": draw.one([1.0, -0.5, draw.number(-2, 2)]),
        "offset": draw.one([0.0, 0.0, draw.number(-1, 1)]), "stiffness": draw.one([1.0, 1.0, 0.5, 0.0]),
    }  # fmt: skip


def _a_coupling(draw: Draw) -> tuple[bpy.types.Object, int]:
    """An armature, and the number of one of its couplings."""
    ob = draw.rig()
    return ob, draw.one(range(len(ob.dqik.couplings)))


@step("couplings", 3)
def couple(draw: Draw) -> str:
    ob = draw.rig()
    leader = draw.bone(ob).name if draw.chance(0.95) else "nobody"
    words = "".join(f", {name}={value!r}" for name, value in _coupling(draw).items())
    return f"couple({named(ob)}, {draw.bone(ob).name!r}, {leader!r}{words})"


@step("couplings", 3)
def change_coupling(draw: Draw) -> str:
    ob, k = _a_coupling(draw)
    values = _coupling(draw) | {"bone": draw.bone(ob).name, "leader": draw.bone(ob).name}
    name = draw.one(list(values))
    return f"{named(ob)}.dqik.couplings[{k}].{name} = {values[name]!r}"


@step("couplings", 1.5)
def couple_by_operator(draw: Draw) -> str:
    ob = draw.scene_rig()
    if draw.chance(0.4):
        return f"run('couple', {named(ob)}, preset={draw.one(PRESETS)!r})"
    names = [one.name for one in draw.some(ob.pose.bones, 3)]
    active = f"{named(ob)}.data.bones.active = {named(ob)}.data.bones[{draw.one(names)!r}]"
    return f"select({named(ob)}, {names})\n{active}\nrun('couple', {named(ob)}, preset='CUSTOM')\nactive({named(ob)})"


@step("couplings", 1)
def check_undo_of_couplings(draw: Draw) -> str:
    require_undo()
    ob = draw.rig(local=True)
    words = "".join(f", {name}={value!r}" for name, value in _coupling(draw).items())
    change = draw.one([
        f"couple({named(ob)}, {draw.bone(ob).name!r}, {draw.bone(ob).name!r}{words})",
        f"{named(ob)}.dqik.couplings.clear()",
    ])  # fmt: skip
    return f"check_undo(lambda: {change})"


# -- contact -----------------------------------------------------------------------------------------------------------


@step("contact", 2)
def add_obstacle(draw: Draw) -> str:
    """A box, a wedge, a plate, a line or nothing, or an empty."""
    ob, name = draw.rig(), draw.new_name("Obstacle")
    if draw.chance(0.25):
        return f"avoid({named(ob)}, {draw.target().name!r})"
    half = draw.number(0.1, 0.6)
    box = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    some = [draw.vector(half) for _ in range(draw.random.randint(0, 9))]
    corners = draw.one([box, box, some, [(x, y, 0.0) for x, y, z in box[::2]]])
    return f"make_mesh({name!r}, {corners}, {draw.vector(1.2)})\navoid({named(ob)}, {name!r})"


@step("bodies", 3)
def change_obstacle(draw: Draw) -> str:
    other, ob = named(draw.obstacle()), draw.rig()
    return draw.one([
        f"{other}.location = {draw.vector(1.2)}", f"{other}.rotation_euler = {draw.vector(3)}",
        f"{other}.scale = {draw.vector(1.5)}", f"{other}.scale = (0, 0, 0)",
        f"key({other}, 'location', { ({f: draw.vector(1.0) for f in draw.frames(2)}) })",
        f"for one in {other}.data.vertices: one.co.x *= {draw.number(-1, 2)}\n{other}.data.update()",
        f"{other}.parent = {named(ob)}; {other}.parent_type = 'BONE'; {other}.parent_bone = {draw.bone(ob).name!r}",
        f"{other}.parent = {named(ob)}; {other}.parent_type = 'OBJECT'", f"{other}.parent = None",
        f"{other}.hide_viewport = {draw.chance(0.5)}", f"{other}.location.x = nan", f"{other}.location.x = 0.5",
    ])  # fmt: skip


@step("bodies", 1)
def obstacle_out_of_list(draw: Draw) -> str:
    ob = draw.scene_rig()
    k = draw.one(range(len(ob.dqik.avoid)))
    return draw.one([
        f"{named(ob)}.dqik.avoid.remove({k})\n{named(ob)}.update_tag()", f"{named(ob)}.dqik.avoid[{k}].object = None",
        f"{named(ob)}.dqik.active_obstacle = {k}\nrun('avoid_remove', {named(ob)})",
    ])  # fmt: skip


@step("bodies", 0.7)
def cover(draw: Draw) -> str:
    """A mesh that a bone carries, from which its body is measured."""
    ob, name = draw.rig(local=True), draw.new_name("Skin")
    one = draw.bone(ob).name
    corners = [draw.vector(0.2) for _ in range(12)]
    return (
        f"make_mesh({name!r}, {corners}, (0, 0, 0))\nmade = thing({name!r})\nmade.parent = {named(ob)}\n"
        f"made.vertex_groups.new(name={one!r}).add(list(range(12)), 1.0, 'REPLACE')\n"
        f"made.modifiers.new('Armature', 'ARMATURE').object = {named(ob)}"
    )


# -- figures -----------------------------------------------------------------------------------------------------------


@step("figure", 3)
def make_figure(draw: Draw) -> str:
    """A standing figure with the goals of Set Up Full Body, live."""
    draw.one([1] if not any("arm.L" in ob.data.bones for ob in armatures()) else [])
    name = draw.new_name("Figure")
    place, targets = draw.one([(0, 0, 0), draw.vector(1.0)]), draw.one(["EMPTIES", "EMPTIES", "BONES"])
    return f"make_figure({name!r}, {place}, {draw.chance(0.7)}, {targets!r})\nthing({name!r}).dqik.live = True"


@step("figure", 3)
def move_control(draw: Draw) -> str:
    """The target of a hand, a foot, the head or the hips goes some way."""
    ob = draw.figure()
    k = draw.one([k for k, goal in enumerate(ob.dqik.goals) if goal.target is not None])
    goal = f"{named(ob)}.dqik.goals[{k}]"
    own = ob.dqik.goals[k]
    what = f"{goal}.target" if own.target.type == "EMPTY" else f"bone({own.subtarget!r}, {named(ob)})"
    if draw.chance(0.3):
        return f"key({what}, 'location', { ({f: draw.vector(0.5) for f in draw.frames(2)}) })"
    return f"made = {what}.location\nmade.x, made.y, made.z = made.x + {draw.number(-0.4, 0.4)}, " \
           f"made.y + {draw.number(-0.4, 0.4)}, made.z + {draw.number(-0.4, 0.4)}\n{what}.location = made"  # fmt: skip


@step("figure", 1)
def keyed_figure(draw: Draw) -> str:
    """Some bones keyed, as in a character that is animated already."""
    ob = draw.figure()
    lines = [
        f"key({bone_named(one)}, 'rotation_quaternion', { ({f: (1.0, *draw.vector(0.4)) for f in draw.frames(2)}) })"
        for one in draw.some(ob.pose.bones, 5) if one.rotation_mode == "QUATERNION"
    ]  # fmt: skip
    return "\n".join(lines) or f"at_frame({draw.frame():g})"
