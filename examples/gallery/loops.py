# SPDX-License-Identifier: GPL-3.0-or-later
"""The loops of the gallery: each makes a scene, and returns what moves it."""

from collections.abc import Callable
from math import cos, pi, sin

import bpy
from hair import hair
from mathutils import Matrix, Vector
from people import fingertips, fist, person, turn
from stage import Motion, Point, armature, ball, box, clear, light, look, ring, rod, shell
from walk import bodies, mend

_WOOD, _STEEL, _DARK = (0.50, 0.33, 0.18), (0.62, 0.66, 0.72), (0.16, 0.18, 0.22)


def handle(target: bpy.types.Object, radius: float = 0.075) -> None:
    """Show a target as a ring around its bone."""
    made = ring(radius, 0.012)
    made.parent, made.rotation_euler = target, (0.5 * pi, 0.0, 0.0)


def between(places: list[Point], share: float) -> Vector:
    """A place on a closed way through places, on which each is reached with a pause."""
    at = (share % 1.0) * len(places)
    number, rest = int(at), at % 1.0
    eased = 0.5 - 0.5 * cos(pi * min(max(1.4 * rest - 0.2, 0.0), 1.0))
    return Vector(places[number]).lerp(Vector(places[(number + 1) % len(places)]), eased)


# -- loops -------------------------------------------------------------------------------------------------------------


def reach() -> Motion:
    """A hand reaches up, forward, and down to the floor; the body goes along, and the feet stand."""
    ob, targets, _ = person()
    for goal in ob.dqik.goals:
        goal.mute = goal.bone == "head"
    hand, other = targets["hand.R"], targets["hand.L"]
    handle(hand)
    rest, beside = hand.location.copy(), other.location.copy()
    places = [rest, (-0.35, -0.35, 1.95), (-0.1, -0.75, 1.15), (-0.25, -0.55, 0.12)]
    look((-0.05, -0.15, 1.02), 6.3, -38.0, 9.0)

    def move(share: float) -> None:
        hand.location = between(places, share)
        other.location = between([beside, beside, beside, (0.3, -0.1, 0.62)], share)

    return move


def grab() -> Motion:
    """The hips are dragged around; hands, head and feet keep their places as long as they can."""
    _, targets, _ = person()
    hips, head = targets["hips"], targets["head"]
    rest, top = hips.location.copy(), head.location.copy()
    handle(hips, 0.27)
    look((0.0, 0.0, 0.88), 4.9, 30.0, 12.0)

    def move(share: float) -> None:
        turn = 2.0 * pi * share
        away = Vector((0.2 * sin(turn), 0.06 * sin(2.0 * turn), -0.19 + 0.19 * cos(turn)))
        hips.location, head.location = rest + away, top + Vector((0.6 * away.x, away.y - 0.2 * away.z, away.z))

    return move


def chest() -> Motion:
    """A hand is led into the chest and stays on it; the other is led through a table top and stays above it."""
    ob, targets, _ = person()
    top = box((1.3, 0.7, 0.05), (-0.1, -0.62, 0.93), _WOOD)
    for x, y in ((-0.68, -0.9), (-0.68, -0.34), (0.48, -0.9), (0.48, -0.34)):
        box((0.06, 0.06, 0.9), (x, y, 0.45), _WOOD)
    ob.dqik.avoid.add().object = top
    ob.dqik.avoid_self = True
    bpy.context.view_layer.objects.active = ob
    left, right = targets["hand.L"], targets["hand.R"]
    handle(left)
    handle(right)
    start, other, over = left.location.copy(), right.location.copy(), (-0.3, -0.42, 1.25)
    look((-0.05, -0.25, 1.08), 4.2, 38.0, 16.0)

    def move(share: float) -> None:
        left.location = between([start, (0.02, 0.0, 1.32), (0.02, 0.0, 1.32)], share)
        right.location = between([other, over, (-0.32, -0.5, 0.9), (-0.1, -0.5, 0.9), over], share)

    return move


def staff() -> Motion:
    """Two hands hold on to a staff that turns."""
    ob, targets, _ = person()
    held = rod(1.5, 0.016, _WOOD)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        target = targets[f"hand.{side}"]
        turn(ob, target, Matrix.Rotation(-sign * 0.5 * pi, 3, "Z"))
        target.parent, target.matrix_parent_inverse = held, Matrix()
        target.location = (0.26 * sign, 0.085, 0.032)
        fist(ob, side, 1.25)
    look((0.0, -0.1, 0.97), 5.0, 24.0, 10.0)

    def move(share: float) -> None:
        swing = 2.0 * pi * share
        held.location = (0.12 * sin(swing), -0.42 - 0.06 * cos(swing), 1.22 + 0.22 * sin(swing))
        held.rotation_euler = (0.0, 0.6 * sin(swing), 0.5 * cos(swing))

    return move


def planted() -> Motion:
    """The body sways over feet that stand; the heel of one is lifted by its roll."""
    _, targets, _ = person()
    hips = targets["hips"]
    rest, head = hips.location.copy(), targets["head"].location.copy()
    hands = {name: targets[name].location.copy() for name in ("hand.L", "hand.R")}
    foot = targets["foot.R"]
    for side in (1.0, -1.0):
        mark = ball((side * 0.092, -0.045, 0.0), 1.0, (0.85, 0.85, 0.8))
        mark.scale = (0.075, 0.175, 0.002)
    look((0.0, -0.1, 0.84), 4.9, 38.0, 17.0)

    def move(share: float) -> None:
        turn = 2.0 * pi * share
        away = Vector((0.17 * sin(turn), 0.06 * sin(2.0 * turn), -0.12 - 0.07 * cos(2.0 * turn)))
        hips.location = rest + away
        targets["head"].location = head + Vector((0.7 * away.x, away.y, 0.9 * away.z))
        for name, place in hands.items():
            targets[name].location = place + Vector((0.9 * away.x, -0.12 * sin(turn), away.z))
        foot.dqik_roll = 0.8 * max(sin(turn), 0.0) ** 1.5

    return move


def hand() -> Motion:
    """The tips of five fingers go to their targets, one after the other."""
    ob, targets, _ = person()
    fingers = ("thumb", "index", "middle", "ring", "little")
    fingertips(ob)
    hand = targets["hand.L"]
    turn(ob, hand, Matrix.Rotation(-0.5 * pi, 3, "Z") @ Matrix.Rotation(-0.5 * pi, 3, "Y"))
    hand.location = (0.36, -0.3, 1.3)
    bpy.context.view_layer.update()
    palm = ob.matrix_world @ ob.pose.bones["f_middle.01.L"].head
    tips = {}
    for name in fingers:
        bone = ob.pose.bones[f"f_{name}.03.L"]
        target = bpy.data.objects.new(name, None)
        bpy.context.scene.collection.objects.link(target)
        target.location = place = ob.matrix_world @ bone.tail
        ball((0.0, 0.0, 0.0), 0.011).parent = target
        bpy.context.view_layer.objects.active = ob
        bpy.ops.dqik.goal_add(bone=bone.name, target=target.name, chain_length=3)
        tips[name] = (target, place.copy())
    look(palm + Vector((-0.02, 0.0, 0.0)), 0.7, 30.0, 6.0)

    def move(share: float) -> None:
        for number, (target, place) in enumerate(tips.values()):
            closing = 0.5 - 0.5 * cos(2.0 * pi * min(max(1.6 * share - 0.15 * number, 0.0), 1.0))
            inward = Vector((palm.x + 0.6 * (place.x - palm.x), palm.y - 0.04, palm.z - 0.005))
            target.location = place.lerp(inward, 0.8 * closing) + 0.2 * closing * (1.0 - closing) * Vector((0, -1, 0))

    return move


def robot() -> Motion:
    """An arm of hinges follows a part, inside the limits of its joints."""
    clear()
    ob = armature({
        "base": ("", (0, 0, 0), (0, 0, 0.35)), "shoulder": ("base", (0, 0, 0.35), (0, 0, 0.95)),
        "elbow": ("shoulder", (0, 0, 0.95), (0.55, 0, 1.05)), "wrist": ("elbow", (0.55, 0, 1.05), (0.8, 0, 1.05)),
        "tool": ("wrist", (0.8, 0, 1.05), (0.95, 0, 1.05)),
    })  # fmt: skip
    shell(ob, {"base": (0.17, 0.15), "shoulder": (0.12, 0.1), "elbow": (0.1, 0.075), "wrist": (0.07, 0.055),
               "tool": (0.045, 0.03)}, {"": (0.92, 0.42, 0.06), "base": _DARK, "tool": _STEEL})  # fmt: skip
    hinges = {"base": "twist", "shoulder": "swing_x", "elbow": "swing_x", "wrist": "swing_x", "tool": "twist"}
    for name, axis in hinges.items():
        bone = ob.pose.bones[name]
        bone.dqik_use_limits = True
        for part in ("twist", "swing_x", "swing_z"):
            most = 2.4 if part == axis else 0.0
            setattr(bone, f"dqik_{part}_min", -most)
            setattr(bone, f"dqik_{part}_max", most)
    part = box((0.12, 0.12, 0.12), (0.7, 0.2, 0.4), (0.15, 0.45, 0.75))
    bpy.context.view_layer.objects.active = ob
    bpy.ops.dqik.goal_add(bone="tool", target=part.name, chain_length=5)
    ob.dqik.live = True
    look((0.15, 0.0, 0.6), 4.0, 20.0, 12.0)

    def move(share: float) -> None:
        turn = 2.0 * pi * share
        angle = 1.5 * sin(turn) - 0.5
        part.location = (0.72 * cos(angle), 0.72 * sin(angle), 0.55 + 0.3 * cos(2.0 * turn))
        part.rotation_euler = (0.0, 0.0, angle)

    return move


def spider() -> Motion:
    """Eight feet step in turn, and the body goes over them; the camera goes along."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    floor = light(0.27)
    bones: dict[str, tuple[str, Point, Point]] = {"body": ("", (0, 0.12, 0.42), (0, -0.16, 0.42)),
                                                  "abdomen": ("body", (0, 0.12, 0.42), (0, 0.5, 0.5))}  # fmt: skip
    feet: dict[str, Vector] = {}
    for number in range(4):
        for side, name in ((1.0, "L"), (-1.0, "R")):
            angle = (-55.0 + 38.0 * number) * pi / 180.0
            out = Vector((side * cos(angle), sin(angle), 0.0))
            root = Vector((0.0, -0.02, 0.42)) + 0.11 * out
            knee, ankle, tip = root + 0.3 * out + Vector((0, 0, 0.24)), root + 0.56 * out, root + 0.68 * out
            ankle.z, tip.z = 0.3, 0.0
            leg = f"leg{number}.{name}"
            bones |= {f"upper {leg}": ("body", root, knee), f"middle {leg}": (f"upper {leg}", knee, ankle),
                      f"lower {leg}": (f"middle {leg}", ankle, tip)}  # fmt: skip
            feet[leg] = tip
    ob = armature(bones)
    radii = {"body": (0.12, 0.11), "abdomen": (0.13, 0.19)}
    radii |= {name: (0.028, 0.022) if name.startswith("upper") else (0.022, 0.012) for name in bones if " leg" in name}
    shell(ob, radii, {"": (0.23, 0.16, 0.22), "body": (0.35, 0.14, 0.16), "abdomen": (0.45, 0.16, 0.14)})
    targets = {}
    for leg, tip in feet.items():
        target = bpy.data.objects.new(leg, None)
        bpy.context.scene.collection.objects.link(target)
        target.location = tip
        bpy.context.view_layer.objects.active = ob
        bpy.ops.dqik.goal_add(bone=f"lower {leg}", target=target.name, chain_length=3)
        targets[leg] = target
    eyes = [ball((side * 0.05, -0.27, 0.46), 0.028, (0.02, 0.02, 0.02), 0.0) for side in (1.0, -1.0)]
    for eye in eyes:
        matrix = eye.matrix_world.copy()
        eye.parent, eye.parent_type, eye.parent_bone = ob, "BONE", "body"
        bpy.context.view_layer.update()
        eye.matrix_world = matrix
    ob.dqik.live = True
    look((0.0, 0.05, 0.25), 3.5, 35.0, 20.0)

    def move(share: float) -> None:
        for number, (leg, target) in enumerate(targets.items()):
            step = (3.0 * share + (0.5 if (number // 2 + number) % 2 else 0.0)) % 1.0
            lifted = step < 0.5
            along = -0.09 + 0.36 * step if lifted else 0.09 - 0.36 * (step - 0.5)
            target.location = feet[leg] + Vector((0.0, -along, 0.12 * sin(2.0 * pi * step) if lifted else 0.0))
        floor.location.y = 1.08 * share
        turn = 6.0 * pi * share
        ob.location.z = 0.015 * sin(2.0 * turn)
        ob.rotation_euler = (0.03 * sin(turn), 0.02 * cos(turn), 0.0)

    return move


LOOPS: dict[str, Callable[[], Motion]] = {
    "reach": reach, "grab": grab, "chest": chest, "staff": staff, "planted": planted, "hand": hand, "robot": robot,
    "spider": spider, "mend": mend, "bodies": bodies, "hair": hair,
}  # fmt: skip
