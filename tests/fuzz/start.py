# SPDX-License-Identifier: GPL-3.0-or-later
"""How walks begin: one or two random armatures, targets with keys, goals."""

from draw import MODES, Draw
from mathutils import Vector

NAMES = "abcdefghijkl"


def beginning(draw: Draw) -> list[str]:
    """Scripts that make a small scene."""
    steps = []
    rigs: list[tuple[str, list[str]]] = []
    for name in ("Rig", "Other")[: 1 + draw.chance(0.35)]:
        line, names = _armature(draw, name)
        steps.append(line)
        rigs.append((name, names))
        if draw.chance(0.35):
            steps.append(_transform(draw, name))
    if len(rigs) > 1 and draw.chance(0.15):
        steps.append("thing('Rig').parent = thing('Other')")
    steps += [_target(draw, f"Target{k}") for k in range(draw.random.randint(1, 3))]
    if len(rigs) > 1 and draw.chance(0.5):
        steps.append(f"make_empty('Carried', {draw.vector(0.3)}, 'Other', {draw.one(rigs[1][1])!r})")
    steps += [_goal(draw, rigs) for _ in range(draw.random.randint(1, 3))]
    if draw.chance(0.8):
        steps.append("thing('Rig').dqik.live = True")
    return steps


def _armature(draw: Draw, name: str) -> tuple[str, list[str]]:
    """A tree of 2 to 12 bones, some connected, some free, some hardly longer than nothing."""
    count = draw.random.randint(2, 12) if draw.chance(0.4) else draw.random.randint(2, 5)
    bones: list[tuple] = []
    for k in range(count):
        above = bones[-1 if draw.chance(0.75) else draw.random.randrange(k)] if k and draw.chance(0.95) else None
        connected = above is not None and draw.chance(0.7)
        head = Vector(above[2]) if above else Vector(draw.vector(0.3))
        if not connected and above:
            head += Vector(draw.vector(0.3))
        along = Vector(above[2]) - Vector(above[1]) if above else Vector((0, 0, 1))
        length = 2e-4 if draw.chance(0.03) else draw.number(0.2, 1.2)
        way = along.normalized() + Vector(draw.vector(0.0 if draw.chance(0.2) else 0.8))
        tail = head + length * (way.normalized() if way.length > 1e-3 else Vector((0, 0, 1)))
        roll = draw.number(-3.1, 3.1) if draw.chance(0.3) else 0.0
        bones.append((NAMES[k], _rounded(head), _rounded(tail), above[0] if above else "", connected, roll))
    modes = tuple(draw.one(MODES) for _ in range(draw.random.randint(1, 4))) if draw.chance(0.5) else MODES[:1]
    unturned = tuple(one[0] for one in bones if draw.chance(0.1)) if draw.chance(0.3) else ()
    return f"make_rig({name!r}, {bones!r}, {modes!r}, {unturned!r})", [one[0] for one in bones]


def _rounded(point: Vector) -> tuple[float, ...]:
    return tuple(round(x, 4) for x in point)


def _transform(draw: Draw, name: str) -> str:
    lines = [f"thing({name!r}).location = {draw.vector(2.0)}", f"thing({name!r}).rotation_euler = {draw.vector(3.0)}"]
    if draw.chance(0.5):
        scale = draw.number(0.05, 5.0)
        lines.append(f"thing({name!r}).scale = {(scale,) * 3 if draw.chance(0.6) else draw.vector(2.0)}")
    return "\n".join(lines)


def _target(draw: Draw, name: str) -> str:
    lines = [f"make_empty({name!r}, {draw.place()})"]
    if draw.chance(0.8):
        keys = {frame: draw.place() for frame in draw.frames(draw.random.randint(2, 4))}
        lines.append(f"key(thing({name!r}), 'location', {keys})")
    if draw.chance(0.3):
        turns = {frame: draw.vector(1.0, 4) for frame in draw.frames(2)}
        lines.append(f"key(thing({name!r}), 'rotation_quaternion', {turns})")
    return "\n".join(lines)


def _goal(draw: Draw, rigs: list[tuple[str, list[str]]]) -> str:
    rig, names = rigs[0] if draw.chance(0.7) else draw.one(rigs)
    target = "Carried" if rig == "Rig" and len(rigs) > 1 and draw.chance(0.3) else "Target0"
    settings = {"chain_length": draw.random.randint(0, 4), "use_rotation": draw.chance(0.3)}
    if draw.chance(0.15):
        settings["pole_target"] = "Target0"
    if draw.chance(0.1) and len(rigs) > 1 and rig == "Rig":
        target, settings["subtarget"] = "Other", draw.one(rigs[1][1])
    words = "".join(f", {name}={value!r}" for name, value in settings.items())
    if draw.chance(0.15):
        words += f", priority={draw.random.randint(-1, 2)}"
    if draw.chance(0.4):
        target = draw.one(["Target0", "Target1"]) if target == "Target0" else target
    return f"make_goal(thing({rig!r}), {draw.one(names[-3:])!r}, {target!r}{words})"
