# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary reaches of a person, measured and drawn: up, across, behind, to the floor and to a table.

    python tests/characters/ordinary_reaches.py [--sheet docs/images/reaches.png] [--limits] [--rest]
        [--natural docs/images/natural-pose.png] [--only up ...] [character ...]

Run it with a Python that has bpy. Set Up Full Body is pressed on a standing figure, or with `--rest` on one at rest,
Live goes on, and the hands' targets are moved. They turn as the arms swing, or with `--rest` not at all. For the floor,
the targets of hips and head, and that of the other hand, go to where a squatting figure has them. Printed are how far
hands miss, how far wrists, collar bones and the spine's joints turn, how far feet, head and hips move, and how many
knees and elbows are bent the wrong way; in degrees, and in millimetres of a person. The sheet shows the first
character. With
`--natural` another sheet shows it without the natural pose, and below with it.
"""

import argparse
import contextlib
import io
import sys
from dataclasses import dataclass
from math import degrees
from pathlib import Path

import bpy
from mathutils import Matrix, Quaternion, Vector

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import person  # noqa: E402
import poses  # noqa: E402
import sketch  # noqa: E402
from conventions import Character  # noqa: E402
from metarigs import Metarig  # noqa: E402
from motions import Puppet, squat, stand  # noqa: E402
from person import Figure  # noqa: E402

import build  # noqa: E402

SIZE = (330, 400)  # of a picture [pixels]
COLUMNS = 5
MILLIMETRES = 1750.0  # the height of a person


@dataclass(frozen=True)
class Reach:
    """A reach: how far hands go from a joint, to the left hand's side, forward and up, in heights; the right mirrored.

    joint : role and side that the left hand's place is measured from. hands : "L", or "LR" for both. turn : degrees by
    which the camera is turned to the figure's left from its front. low : the targets of hips and head, and of
    the hand that does not reach, go to where a squatting figure has them.
    """

    name: str
    joint: tuple[str, str]
    to: tuple[float, float, float]
    hands: str = "L"
    turn: float = 35.0
    low: bool = False


REACHES = (
    Reach("up", ("arm", "L"), (0.02, 0.06, 0.29)),
    Reach("across", ("arm", "R"), (-0.02, 0.13, -0.03)),
    Reach("behind", ("thigh", ""), (0.03, -0.085, 0.03), turn=140.0),
    Reach("floor", ("toes", "L"), (0.03, 0.07, 0.045), "L", 65.0, low=True),
    Reach("table", ("arm", "L"), (-0.03, 0.26, -0.2), turn=50.0),
    Reach("up, both", ("arm", "L"), (0.02, 0.06, 0.29), "LR"),
    Reach("across, both", ("arm", "R"), (0.06, 0.13, -0.07), "LR"),
    Reach("behind, both", ("thigh", ""), (0.05, -0.085, 0.03), "LR", 140.0),
    Reach("floor, both", ("toes", "L"), (0.0, 0.07, 0.045), "LR", 65.0, low=True),
    Reach("table, both", ("arm", "L"), (-0.03, 0.26, -0.2), "LR", 50.0),
)


FAR = (
    Reach("far ahead", ("arm", "L"), (0.0, 0.6, 0.0)),
    Reach("far out", ("arm", "L"), (0.6, 0.0, 0.0)),
    Reach("far up", ("arm", "L"), (0.0, 0.1, 0.6)),
    Reach("far down", ("toes", "L"), (0.03, 0.1, 0.03)),
    Reach("far across", ("arm", "R"), (-0.4, 0.3, -0.1)),
    Reach("far down, both", ("toes", "L"), (0.03, 0.1, 0.03), "LR"),
    Reach("far ahead, both", ("arm", "L"), (0.0, 0.6, 0.0), "LR"),
)


NATURAL = (
    Reach("face", ("arm", "L"), (-0.03, 0.1, 0.09), "L", 25.0),
    Reach("up", ("arm", "L"), (-0.04, 0.1, 0.26), "LR", 25.0),
    Reach("shoulder", ("arm", "R"), (0.0, 0.08, 0.03), "L", 25.0),
    Reach("table, both", ("arm", "L"), (-0.03, 0.22, -0.14), "LR", 50.0),
    Reach("floor, both", ("toes", "L"), (0.0, 0.07, 0.045), "LR", 65.0, low=True),
)
"""Reaches for the picture of the natural pose."""


def place(figure: Figure, reach: Reach, side: str) -> Vector:
    """Where a hand goes."""
    role, of = reach.joint
    joint = figure.at(role, of) if of else 0.5 * (figure.at(role, "L") + figure.at(role, "R"))
    if (role, of or "L") == ("toes", "L") and side:
        joint = joint - figure.up * (joint.dot(figure.up) - ground(figure))
    centre = 0.5 * (figure.at("thigh", "L") + figure.at("thigh", "R"))
    out, forward, up = reach.to
    spot = joint + figure.size * (figure.left * out + figure.forward * forward + figure.up * up)
    return spot if side == "L" else spot - figure.left * 2.0 * (spot - centre).dot(figure.left)


def ground(figure: Figure) -> float:
    """How high the ground is."""
    return min(figure.at(role, side).dot(figure.up) for role in ("foot", "toes") for side in "LR") - 0.01 * figure.size


def targets(ob: bpy.types.Object) -> dict[str, bpy.types.PoseBone]:
    """What is moved for each goal, by its bone."""
    return {goal.bone: ob.pose.bones[goal.subtarget] for goal in ob.dqik.goals}


def move(ob: bpy.types.Object, target: bpy.types.PoseBone, spot: Vector, rotation: Quaternion) -> None:
    """Move a target to a place and a rotation in the world."""
    bpy.context.view_layer.update()
    target.matrix = ob.matrix_world.inverted() @ Matrix.LocRotScale(spot, rotation, ob.matrix_world.to_scale())


Places = dict[str, Matrix]


def set_up(
    character: Character | Metarig, way: str, limited: bool, rest: bool
) -> tuple[bpy.types.Object, Figure, Places]:  # fmt: skip
    """The character with goals, live, and where in the world its bones are in a squat."""
    ob = measure.made(character, way)
    figure = Figure(ob, build.truth(character))
    puppet = Puppet(figure)
    puppet.take(squat())
    bpy.context.view_layer.update()
    low = {bone.name: measure.place(ob, bone.name) for bone in ob.pose.bones}
    puppet.rest() if rest else puppet.take(stand())
    bpy.context.view_layer.update()
    bpy.ops.dqik.setup_full_body()
    if limited:
        bpy.ops.dqik.limits_preset()
    ob.dqik.live = True
    bpy.context.view_layer.update()
    return ob, figure, low


def turned(ob: bpy.types.Object, bone: str) -> float:
    """How far a bone is turned from rest against its parent, in degrees."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    own = shown.parent.matrix.inverted() @ shown.matrix
    rest = shown.bone.parent.matrix_local.inverted() @ shown.bone.matrix_local
    angle = (rest.to_quaternion().inverted() @ own.to_quaternion()).angle
    return degrees(min(angle, 6.283185307179586 - angle))


def make(ob: bpy.types.Object, figure: Figure, reach: Reach, low: Places, turns: bool) -> None:
    """Move the targets of a reach; those of hands turn as the arms swing if `turns` is set."""
    aims = targets(ob)
    hands = {figure.bone("hand", side): (side, place(figure, reach, side)) for side in reach.hands}
    turn = {bone: measure.place(ob, bone).to_quaternion() for bone in hands}
    if turns:
        turn = {bone: _swing(ob, figure, *hands[bone]) @ before for bone, before in turn.items()}
    others = [figure.bone("hips"), figure.bone("head"), *(figure.bone("hand", side) for side in "LR")]
    for bone in others if reach.low else ():
        if bone not in hands:
            move(ob, aims[bone], low[bone].translation, low[bone].to_quaternion())
    for bone, (_, spot) in hands.items():
        move(ob, aims[bone], spot, turn[bone])


def _swing(ob: bpy.types.Object, figure: Figure, side: str, spot: Vector) -> Quaternion:
    """How an arm swings about its shoulder for its hand to go to a place."""
    shoulder, hand = (measure.place(ob, figure.bone(role, side)).translation for role in ("arm", "hand"))
    return (hand - shoulder).rotation_difference(spot - shoulder)


def measured(
    ob: bpy.types.Object, figure: Figure, character: Character | Metarig, reach: Reach, low: Places, turns: bool
) -> dict[str, float]:  # fmt: skip
    """Make a reach and measure it: degrees, and millimetres of a person."""
    aims = targets(ob)
    before = {bone: measure.place(ob, bone).translation for bone in aims}
    rests = {bone: target.matrix_basis.copy() for bone, target in aims.items()}
    spots = {figure.bone("hand", side): place(figure, reach, side) for side in reach.hands}
    make(ob, figure, reach, low, turns)
    bpy.context.view_layer.update()
    scale = MILLIMETRES / figure.size
    after = {bone: measure.place(ob, bone) for bone in aims}
    feet = [figure.bone("foot", side) for side in "LR"]
    limbs = poses.limbs(character, figure.roles, ob)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bends = [poses.bend(shown, limb) for limb in limbs]
    result = {
        "miss": max(scale * (after[bone].translation - spot).length for bone, spot in spots.items()),
        "wrist": max(turned(ob, bone) for bone in spots),
        "collar": max(turned(ob, bone) for side in "LR" for bone in figure.bones.get(("collar", side), [])),
        "spine": max(turned(ob, bone) for bone in figure.bones["spine", ""]),
        "feet": max(scale * (after[bone].translation - before[bone]).length for bone in feet),
        "head": scale * (after[figure.bone("head")].translation - before[figure.bone("head")]).length,
        "hips": scale * (after[figure.bone("hips")].translation - before[figure.bone("hips")]).length,
        "wrong": sum(bent < -measure.BACKWARD or abs(side) > measure.SIDEWAYS for bent, side in bends),
    }
    for bone, target in aims.items():
        target.matrix_basis = rests[bone]
    return result


# -- pictures ----------------------------------------------------------------------------------------------------------


def draw(ob: bpy.types.Object, figure: Figure, reach: Reach, low: Places, path: Path) -> None:
    """Make a reach, draw it, and put it back."""
    aims = targets(ob)
    rests = {bone: target.matrix_basis.copy() for bone, target in aims.items()}
    spots = [place(figure, reach, side) for side in reach.hands]
    make(ob, figure, reach, low, turns=True)
    bpy.context.view_layer.update()
    things = [_ball(spot, 0.022 * figure.size) for spot in spots]
    things.append(_slab(figure, 0.9, 0.9, 0.01, Vector(), ground(figure), (0.72, 0.72, 0.7)))
    if "table" in reach.name:
        ahead = figure.forward * 0.33 * figure.size
        things.append(_slab(figure, 0.3, 0.16, 0.02, ahead, spots[0].dot(figure.up) - 0.02 * figure.size,
                            (0.55, 0.4, 0.26)))  # fmt: skip
    _photograph(figure, reach.turn, path)
    for thing in things:
        bpy.data.objects.remove(thing)
    for bone, target in aims.items():
        target.matrix_basis = rests[bone]


def _ball(spot: Vector, radius: float) -> bpy.types.Object:
    """A red ball at a target."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius, location=spot)
    return _painted(bpy.context.object, (0.9, 0.15, 0.1))


def _slab(
    figure: Figure, wide: float, deep: float, thick: float, shift: Vector, top: float, colour: tuple[float, ...]
) -> bpy.types.Object:  # fmt: skip
    """A flat box below the height `top`; its half sizes are of the figure's height."""
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    slab = bpy.context.object
    middle = 0.5 * (figure.at("foot", "L") + figure.at("foot", "R")) + shift
    middle += figure.up * (top - thick * figure.size - middle.dot(figure.up))
    ways = Matrix((figure.left, figure.forward, figure.up)).transposed()
    half = figure.size * Vector((wide, deep, thick))
    slab.matrix_world = Matrix.LocRotScale(middle, ways.to_quaternion(), half)
    return _painted(slab, colour)


def _painted(thing: bpy.types.Object, colour: tuple[float, ...]) -> bpy.types.Object:
    material = bpy.data.materials.new("Colour")
    material.diffuse_color = (*colour, 1.0)
    thing.data.materials.append(material)
    return thing


def _photograph(figure: Figure, around: float, path: Path) -> None:
    """Render the scene."""
    middle = 0.5 * (figure.at("foot", "L") + figure.at("foot", "R"))
    middle += figure.up * (ground(figure) + 0.57 * figure.size - middle.dot(figure.up))
    sketch.photograph(path, SIZE, middle, person.facing(figure, around, 14.0), 1.3 * figure.size, clear=True,
                      color_type="MATERIAL", show_shadows=True, show_cavity=True, shadow_intensity=0.25)  # fmt: skip


def draw_sheet(ob: bpy.types.Object, figure: Figure, rows: list, low: Places, path: Path) -> None:
    """Draw rows of reaches, each with an amount of the natural pose."""
    folder, pictures = Path(bpy.app.tempdir), list[Path]()
    for amount, reaches in rows:
        ob.dqik.natural_pose = amount
        for reach in reaches:
            pictures.append(folder / f"{len(pictures)}.png")
            draw(ob, figure, reach, low, pictures[-1])
    sketch.sheet([pictures[k : k + COLUMNS] for k in range(0, len(pictures), COLUMNS)], SIZE, path)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser()
    parser.add_argument("characters", nargs="*", default=["rigify basic human"])
    parser.add_argument("--way", default="native")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--natural", type=Path)
    parser.add_argument("--only", nargs="+", default=[one.name for one in (*REACHES, *FAR, *NATURAL)], help="reaches")
    arguments = parser.parse_args()
    reaches, far, natural = (
        tuple(one for one in some if one.name in arguments.only) for some in (REACHES, FAR, NATURAL)
    )
    measure.load()
    for number, name in enumerate(arguments.characters):
        character = measure.BY_NAME[name]
        with contextlib.redirect_stdout(io.StringIO()):
            ob, figure, low = set_up(character, arguments.way, arguments.limits, arguments.rest)
        for reach in (*reaches, *far):
            row = measured(ob, figure, character, reach, low, not arguments.rest)
            print(f"{name:20} {reach.name:14}", "  ".join(f"{key} {value:6.1f}" for key, value in row.items()),
                  file=sys.stderr)  # fmt: skip
        if (arguments.sheet or arguments.natural) and not number:
            ob.dqik.live = False
            person.body(ob, figure.roles)
            ob.dqik.live = True
            if arguments.sheet:
                draw_sheet(ob, figure, [(1.0, reaches)], low, arguments.sheet)
            if arguments.natural:
                draw_sheet(ob, figure, [(0.0, natural), (1.0, natural)], low, arguments.natural)


if __name__ == "__main__":
    main()
