# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of Blender's own operators, exporters, simulations and other add-ons, on figures with goals."""

import bpy
from draw import Draw, NothingToDrawError, named, step
from goals import key_of
from oracle import animated_bones
from vocabulary import SLOTS, armatures, curves


def _two(draw: Draw) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two armatures that can be made active."""
    one = draw.scene_rig(local=True)
    there = {ob.session_uid for ob in bpy.context.view_layer.objects if not ob.hide_viewport}
    others = [ob for ob in armatures() if ob != one and ob.session_uid in there and ob.library is None]
    return one, draw.one([ob for ob in others if ob.override_library is None])


# -- copying and joining -----------------------------------------------------------------------------------------------


@step("paste", 2)
def paste_between(draw: Draw) -> str:
    """A pose copied from one figure to another, or to itself; the other may have Live off, or be of another file."""
    if len(armatures()) > 1 and draw.chance(0.8):
        one, other = _two(draw)
    else:
        one = other = draw.scene_rig(local=True)
    names = [bone.name for bone in one.pose.bones]
    names = names if draw.chance(0.7) else draw.some(names, 2)
    lines = [f"copy_pose({named(one)}, {names})"]
    if draw.chance(0.3):
        lines.append(f"{named(other)}.dqik.live = {draw.chance(0.3)}")
    if draw.chance(0.2):
        lines.append("save_and_load()")
    lines.append(f"paste_pose({named(other)}, flipped={draw.chance(0.25)})")
    return "\n".join(lines)


@step("paste", 2)
def paste_and_look(draw: Draw) -> str:
    """A figure whose Live is off gets the pose of a live one; what it has of its own must survive."""
    one, other = _two(draw)
    names = [bone.name for bone in one.pose.bones]
    first = ""
    if draw.chance(0.5):
        first = f"make_goal({named(other)}, {draw.bone(other).name!r}, {draw.target().name!r}, chain_length=1)\n"
    return (
        f"{first}{named(one)}.dqik.live = True; {named(other)}.dqik.live = False; update()\n"
        f"copy_pose({named(one)}, {names})\npaste_pose({named(other)})\n"
        f"check_kept(lambda: {named(other)}, {draw.frame():g}, {draw.one(['forget', 'load', 'undo'])!r})"
    )


@step("paste", 1)
def another_figure(draw: Draw) -> str:
    """A second figure with bones of the same names, a goal and a target."""
    draw.one([1] if len(armatures()) < 4 else [])
    ob = draw.scene_rig(local=True)
    return (
        f"made = {named(ob)}.copy()\nmade.data = made.data.copy()\nmade.animation_data_clear()\n"
        f"bpy.context.scene.collection.objects.link(made)\nmade.location.x += 1.5\nmade.dqik.live = {draw.chance(0.5)}"
        f"\nif {draw.chance(0.5)}: made.dqik.goals.clear()"
    )


def _to_join(draw: Draw) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two armatures to join, one without keys: Blender takes these along, and they move bones of the same names."""
    one, other = _two(draw)
    draw.one([] if animated_bones(other) else [1])
    return one, other


@step("join", 1)
def join(draw: Draw) -> str:
    one, other = _to_join(draw)
    words = f"join({named(one)}, {named(other)})"
    return words + ("\nsave_and_load()" if draw.chance(0.4) else "")


@step("join", 0.7)
def join_and_look(draw: Draw) -> str:
    one, other = _to_join(draw)
    return (
        f"join({named(one)}, {named(other)})\ncheck_kept(lambda: {named(one)}, {draw.frame():g}, "
        f"{draw.one(['forget', 'load'])!r})"
    )


# -- scripts and exporters ---------------------------------------------------------------------------------------------


@step("export", 0.7)
def second_action(draw: Draw) -> str:
    ob = draw.rig(local=True)
    keys = {}
    for one in draw.some(ob.pose.bones, 3):
        path, _ = draw.rotation_value(one.rotation_mode)
        keys[one.name] = path, {f: draw.rotation_value(one.rotation_mode)[1] for f in draw.frames(2)}
    return f"second_action({named(ob)}, {keys})"


@step("export", 0.7)
def check_export(draw: Draw) -> str:
    """Objects have to be seen by the exporters, which go through the view layer."""
    draw.scene_rig()
    kind = draw.one(["fbx", "fbx", "glb", "usdc", "abc", "bvh"])
    lines = [f"active({named(draw.scene_rig(local=True))})"] if kind == "bvh" else []
    lines.append(f"check_put_back(lambda: export({kind!r}), 'Export to {kind}')")
    return "\n".join(lines)


# -- simulations -------------------------------------------------------------------------------------------------------


@step("cloth", 2)
def check_cloth(draw: Draw) -> str:
    ob, k = draw.goal()
    name = draw.new_name("Sim")
    words = f"check_cloth({name!r}, lambda: {named(ob)}, {ob.dqik.goals[k].bone!r})"
    return f"make_cloth({name!r}, {named(ob)}, {ob.dqik.goals[k].bone!r})\n{words}"


# -- what hangs on targets ---------------------------------------------------------------------------------------------


def _owned(draw: Draw) -> tuple[bpy.types.Object, int]:
    """An armature that can be made active, and a goal with a target that was made for it."""
    ob = draw.scene_rig(local=True)
    return ob, draw.one([k for k, goal in enumerate(ob.dqik.goals) if goal.own_target and goal.target is not None])


@step("hang", 2)
def hang(draw: Draw) -> str:
    ob, k = _owned(draw)
    goal = ob.dqik.goals[k]
    way = draw.one(["child", "constraint", "driver"])
    return f"hang({draw.new_name('Hung')!r}, {named(goal.target)}, {goal.subtarget!r}, {way!r})"


@step("hang", 1.5)
def check_hung(draw: Draw) -> str:
    ob, k = _owned(draw)
    change = draw.one([
        f"run('goal_remove', {named(ob)}, index={k})", f"run('goals_clear', {named(ob)})",
        f"run('bake', {named(ob)}, frame_start=1, frame_end=2, clear_goals=True)",
    ])  # fmt: skip
    return f"check_hung(lambda: {change})"


# -- other figures -----------------------------------------------------------------------------------------------------


@step("shared", 1)
def share_action(draw: Draw) -> str:
    """Another figure gets the same action, in the same slot."""
    one, other = _two(draw)
    draw.one(curves(one))
    lines = [f"{named(other)}.animation_data_create().action = {named(one)}.animation_data.action"]
    if SLOTS:
        lines.append(f"{named(other)}.animation_data.action_slot = {named(one)}.animation_data.action_slot")
    return "\n".join(lines)


@step("shared", 0.7)
def share_by_copy(draw: Draw) -> str:
    draw.one([1] if len(armatures()) < 4 else [])
    ob = draw.scene_rig(local=True)
    own = draw.one(["", "made.data = made.data.copy()\n"])
    return (
        f"made = {named(ob)}.copy()\n{own}bpy.context.scene.collection.objects.link(made)\n"
        f"made.location.x += 1.5\nmade.dqik.live = {draw.chance(0.5)}"
    )


@step("shared", 1)
def share_controls(draw: Draw) -> str:
    """Two figures with control bones whose keys are in one action; the goals of one are removed."""
    draw.one([1] if len(armatures()) < 4 else [])
    ob = draw.scene_rig(local=True)
    word, name = named(ob), draw.bone(ob).name
    values = {frame: draw.vector(0.5) for frame in draw.frames(2)}
    lines = [
        f"select({word}, [{name!r}])\nrun('pin', {word})",
        f"control = {word}.dqik.goals[-1].subtarget",
        f"key(bone(control, {word}), 'location', {values})",
        f"duplicate({word})\nmade = bpy.context.active_object\nmade.location.x += 1.0",
        f"made.animation_data.action = {word}.animation_data.action",
        f"made.animation_data.action_slot = {word}.animation_data.action_slot" if SLOTS else "",
        f"made.dqik.live = {draw.chance(0.7)}",
        f"check_others(lambda: {word}, lambda: run('goals_clear', {word}), {tuple(draw.frames(2))})",
    ]
    return "\n".join(line for line in lines if line)


@step("shared", 2)
def check_others(draw: Draw) -> str:
    ob = draw.scene_rig(local=True)
    if len(armatures()) < 2 or key_of(ob) is None:
        raise NothingToDrawError
    one = draw.bone(ob)
    path, value = draw.rotation_value(one.rotation_mode)
    word = named(ob)
    change = draw.one([
        f"run('goals_clear', {word})", f"run('goals_clear', {word})", f"run('reset_pose', {word})",
        f"run('bake', {word}, frame_start=1, frame_end=3)", f"run('setup_full_body', {word})",
        f"run('bake', {word}, frame_start=1, frame_end=3, action='CURRENT')",
        f"setattr({word}.dqik, 'live', {not ob.dqik.live})", f"setattr(bone({one.name!r}, {word}), {path!r}, {value})",
    ])  # fmt: skip
    return f"check_others(lambda: {word}, lambda: {change}, {tuple(draw.frames(2))})"
