# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures Retarget on humanoids that are drawn by seed, as importers leave them, against clean copies of them.

    python tests/characters/strangers.py [--seeds 1-30] [--clips poses.npz:02_01,x_te_jumping_1@40] [--most 40]
        [--pictures FOLDER]

Run it with a Python that has bpy. A stranger has drawn proportions, names, tails, rest pose, stance and axes, with or
without toes, and may have a skin, hair, a skirt, a cape, a weapon, helper bones of an engine, and feet that are bones
of their own. Its clean copy has the same joints, standard names, tails at the next joint, and none of what it wears.
Both get the same motions: five by default, the example's clip and four that are drawn by hand.

It prints a table as Markdown with a row for each stranger. Roles: how many bones have another role than they were drawn
with. Limbs, turns: by how much the lines of arms and legs, and the turns of hips, chest, head, hands and feet, differ
at most from the clean copy's, in degrees. Arms, legs: by how much their lines differ at most from the source's, and the
clean copy's in brackets. Torn: how far a foot goes from the end of its shin. Helpers: how far a helper bone goes from
the bone that it mirrors; both in percent of the height.
"""

import argparse
import contextlib
import io
import sys
from dataclasses import replace
from math import radians
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import person  # noqa: E402
import retargeted  # noqa: E402
import sketch  # noqa: E402
from bodies import ARM, BODIES, HUMAN, LEG  # noqa: E402
from film import Film, between  # noqa: E402
from motions import MOTIONS, Puppet  # noqa: E402

import build  # noqa: E402

Truth = dict[str, tuple[str, str] | None]

NAMES = (
    "mixamo", "unreal", "vroid", "unity", "valve", "biped", "mmd", "makehuman", "daz", "no names", "second life",
    "auto-rig pro", "words run together", "parts first", "skyrim", "cat", "numbered", "sides alone", "japanese",
    "kinect", "xps", "latin", "top and bottom", "mocopi", "smpl", "character creator", "motion builder", "prefixed",
)  # fmt: skip
PROPORTIONS = {  # legs, trunk, head, hips' width, shoulders' width, arms, all
    "usual": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0), "stocky": (0.6, 1.0, 1.3, 2.2, 1.5, 0.8, 0.8),
    "long legs": (1.35, 0.9, 0.9, 0.9, 0.9, 1.1, 1.1), "child": (0.6, 0.75, 1.7, 0.9, 0.8, 0.7, 0.7),
    "giant head": (0.45, 0.6, 3.5, 1.2, 0.9, 0.6, 0.6), "giant": (1.1, 1.2, 0.8, 1.3, 1.4, 1.2, 3.0),
}  # fmt: skip
TAILS = ("proper", "far", "along an axis", "one unit", "up", "leaves as their parents", "leaves of 7 heights")
RESTS = {"T": 0.0, "A": 45.0, "down": 80.0, "forward": 0.0}
HELPERS = (("ik_foot_root", "", ""), ("ik_foot_l", "foot", "L"), ("ik_foot_r", "foot", "R"), ("ik_hand_root", "", ""),
           ("ik_hand_gun", "hand", "R"), ("ik_hand_l", "hand", "L"), ("ik_hand_r", "hand", "R"))  # fmt: skip
"""Bones of game engines, and the role that each mirrors."""
_STANDARD = {"hips": "Hips", "spine": "Spine", "neck": "Neck", "head": "Head", "collar": "Shoulder", "arm": "Arm",
             "forearm": "ForeArm", "hand": "Hand", "thigh": "UpLeg", "shin": "Leg", "foot": "Foot", "toes": "ToeBase",
             "finger": "HandThumb"}  # fmt: skip
_ENDS = {"head": "crown", "hand": "fingertip", "foot": "toes", "toes": "toetip"}
_PARTS = ("arm", "forearm", "thigh", "shin")


class Stranger(NamedTuple):
    """What is drawn for a seed. character : names, hierarchy and joints. worn : what is put on."""

    seed: int
    proportions: str
    rest: str
    tails: str
    character: measure.Character
    scaled: bool
    worn: tuple[str, ...]

    def __str__(self) -> str:
        """Everything that makes it strange."""
        facing = f"{self.character.facing:.0f} deg"
        words = (self.character.name, self.proportions, self.rest, self.tails, facing, *self.worn)
        return ", ".join([*words, *(["0.01"] if self.scaled else []), *([] if ": toes" in self.character.table else
                                                                        ["no toes"])])  # fmt: skip


def drawn(seed: int) -> Stranger:
    """The stranger of a seed."""
    random = np.random.default_rng(seed)
    proportions, rest, tails = (list(kinds)[int(random.integers(len(kinds)))] for kinds in (PROPORTIONS, RESTS, TAILS))
    own = (retargeted.FIGURES | {one.name: one for one in measure.CHARACTERS})[str(random.choice(NAMES))]
    body = f"stranger {seed}"
    BODIES[body] = joints(np.array(PROPORTIONS[proportions]) * random.uniform(0.92, 1.08, 7), rest == "forward",
                          float(random.choice([0.8, 1.0, 1.0, 1.8])))  # fmt: skip
    lines = own.table.strip("\n").splitlines()
    if random.random() < 0.3:
        lines = [line for line in lines if not line.strip().startswith("toe")]
    scaled = bool(random.random() < 0.4)
    character = replace(
        own, table="\n".join(lines), body=body, arms=RESTS[rest], unit=100.0 if scaled else 1.0, turned=False,
        axes=str(random.choice(["along", "x", "world"])) if tails == "proper" else "along", feet=0.0,
        facing=float(random.choice([0.0, 0.0, 90.0, 180.0, -90.0, 37.0])),
    )  # fmt: skip
    chances = {"skin": 0.5, "hair": 0.4, "skirt": 0.25, "cape": 0.25, "weapon": 0.25, "helpers": 0.3,
               "feet apart": 0.15}  # fmt: skip
    worn = tuple(name for name, chance in chances.items() if random.random() < chance)
    return Stranger(seed, proportions, rest, tails, character, scaled, worn)


def joints(sizes: np.ndarray, forward: bool, stance: float) -> dict[str, tuple[float, float, float]]:
    """The joints of a human of other proportions. stance : how far the feet are apart, of the hips' width."""
    legs, trunk, head, hips, shoulders, arms, size = sizes.tolist()
    base = legs * 0.92
    found = {}
    for joint, (x, y, z) in HUMAN.items():
        high = legs * z if z <= 0.92 else base + trunk * (min(z, 1.56) - 0.92) + head * max(z - 1.56, 0.0)
        if joint.startswith(ARM):
            line = np.array([x, y, z]) - HUMAN["arm"]
            x, y, high = arms * line + (shoulders * 0.17, 0.03, base + trunk * (1.42 - 0.92))
        elif joint.startswith(("thigh", "hip", *LEG)) or joint in ("toes", "toetip", "heel"):
            x = hips * 0.09 * (1.0 + (stance - 1.0) * min(max((0.92 - z) / 0.84, 0.0), 1.0)) + (x - 0.09) * 0.5
            y *= (base + trunk * (1.56 - 0.92)) / 1.56  # feet are as long as the figure is high
        elif joint.startswith("collar"):
            x *= shoulders
        found[joint] = size * x, size * y, size * high
    if forward:
        pivot = Vector(found["arm"])
        turn = Matrix.Rotation(radians(-75.0), 3, "Z")
        found.update({joint: tuple(pivot + turn @ (Vector(point) - pivot)) for joint, point in found.items()
                      if joint.startswith(ARM)})  # fmt: skip
    return found


# -- building ----------------------------------------------------------------------------------------------------------


def made(stranger: Stranger, clean: bool) -> tuple[bpy.types.Object, Truth]:
    """The figure or its clean copy, and its true roles."""
    character = stranger.character
    if clean:
        character = replace(character, axes="along", unit=1.0, facing=0.0)
    truth = build.truth(character)
    ob = build.native(character, "Clean" if clean else "Stranger")
    if stranger.scaled and not clean:
        ob.scale = (0.01,) * 3
    bpy.context.view_layer.update()
    if clean:
        truth = _cleaned(ob, truth, character)
    if "skin" in stranger.worn:
        person.body(ob, truth).name = f"Skin of {ob.name}"
        bpy.context.view_layer.update()
    if not clean:
        _dressed(ob, truth, stranger)
        _ended(ob, stranger)
    bpy.context.view_layer.update()
    for one in bpy.context.view_layer.objects:
        one.select_set(False)
    return ob, truth


@contextlib.contextmanager
def _edited(ob: bpy.types.Object):
    build._select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    yield ob.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def _cleaned(ob: bpy.types.Object, truth: Truth, character: measure.Character) -> Truth:
    """Remove all bones without a role, name the others as usual, and let the last bones of limbs end where these do."""
    known = {name for name, role in truth.items() if role is not None and role[0] in _STANDARD}
    kept = known | {bone.name for bone in ob.data.bones if bone.name not in truth and known & {
        below.name for below in bone.children_recursive}}  # fmt: skip
    for bone in {*ob.data.bones.keys()} - kept:
        with _edited(ob) as bones:
            for child in bones[bone].children:
                child.parent = bones[bone].parent
            bones.remove(bones[bone])
    with _edited(ob) as bones:
        for bone in bones:
            end = _ENDS.get((truth.get(bone.name) or ("",))[0], "")
            if end and not bone.children:
                bone.tail = build._head(character, end, -1.0 if bone.head.x < -1e-6 else 1.0)
    found, counts = {}, {}
    for bone in (one for one in ob.data.bones if one.name in known):
        role = truth[bone.name]
        counts[role] = counts.get(role, 0) + 1
        number = str(counts[role]) if counts[role] > 1 else ""
        found[bone.name] = {"L": "Left", "R": "Right", "": ""}[role[1]] + _STANDARD[role[0]] + number, role
    for old, (new, _) in found.items():  # no two have one name meanwhile
        ob.data.bones[old].name = f"{new}~"
    for bone in ob.data.bones:
        bone.name = bone.name.removesuffix("~")
    return dict(found.values())


def _dressed(ob: bpy.types.Object, truth: Truth, stranger: Stranger) -> None:
    """Put on what a stranger wears: bones, and meshes that follow them."""
    figure = person.Figure(ob, truth)
    size, left, up, ahead = figure.size, figure.left, figure.up, figure.forward
    head, hips = figure.at("head"), figure.at("thigh", "L").lerp(figure.at("thigh", "R"), 0.5)
    chest = figure.at("arm", "L").lerp(figure.at("arm", "R"), 0.5)
    chains = {
        "hair": [("hair_{}", "head", head + 0.08 * size * up + k * 0.06 * size * left - 0.03 * size * ahead,
                  -0.14 * up + k * 0.05 * left - 0.02 * ahead) for k in (-1, 0, 1)],
        "skirt": [("skirt_{}", "hips", hips + 0.02 * size * up + 0.08 * size * (a * left + b * ahead),
                   -0.12 * up + 0.05 * (a * left + b * ahead)) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))],
        "cape": [("cape_{}", "spine", chest - 0.08 * size * ahead + k * 0.1 * size * left,
                  -0.16 * up - 0.03 * ahead + k * 0.03 * left) for k in (-1, 1)],
    }  # fmt: skip
    for kind in ("hair", "skirt", "cape"):
        if kind in stranger.worn:
            _hung(ob, figure, kind, chains[kind])
    if "weapon" in stranger.worn:
        blade = _blade(figure.at("hand", "R"), ahead, 0.5 * size)
        blade.parent, blade.parent_type, blade.parent_bone = ob, "BONE", figure.bone("hand", "R")
        bpy.context.view_layer.update()
        blade.matrix_world = Matrix()
    with _edited(ob) as bones:
        top = next((bone for bone in bones if bone.parent is None), None)
        if {"helpers", "feet apart"} & {*stranger.worn} and truth.get(top.name) is not None:
            root = bones.new("Root")
            root.tail = (0.0, 0.0, 0.1 * top.length)
            top.parent, top = root, root
        if "helpers" in stranger.worn:
            for name, part, side in HELPERS:
                if name not in bones:
                    helper = bones.new(name)
                    own = bones[figure.bone(part, side)] if part else top
                    helper.head, helper.tail, helper.roll = own.head, own.tail, own.roll
                    helper.parent = bones[name.rsplit("_", 1)[0] + "_root"] if part and "gun" not in name else (
                        bones["ik_hand_root"] if part else top)  # fmt: skip
        if "feet apart" in stranger.worn:
            for side in "LR":
                foot = bones[figure.bone("foot", side)]
                foot.use_connect, foot.parent = False, top


def _hung(ob: bpy.types.Object, figure: person.Figure, kind: str, chains: list) -> None:
    """Chains of three bones, and a strip of faces along each of them."""
    inverse, names = ob.matrix_world.inverted(), list[list[str]]()
    with _edited(ob) as bones:
        for number, (pattern, part, start, way) in enumerate(chains):
            above, own = bones[figure.bones.get((part, ""), [figure.bone(part) or bones[0].name])[-1]], list[str]()
            for k in range(3):
                bone = bones.new(pattern.format(f"{number}_{k}"))
                bone.head, bone.tail = (inverse @ (start + (k + j) * way * figure.size) for j in (0, 1))
                bone.parent = above
                above = bone
                own.append(bone.name)
            names.append(own)
    points, faces, owners = list[Vector](), list[tuple[int, ...]](), list[str]()
    for (_, _, start, way), own in zip(chains, names, strict=True):
        across = way.cross(figure.forward if abs(way.normalized().dot(figure.forward)) < 0.7 else figure.left)
        across = across.normalized() * 0.06 * figure.size
        for k in range(13):
            base = start + way * figure.size * k / 4.0
            points += [base - across, base + across]
            owners += [own[min(k // 4, 2)]] * 2
            if k:
                faces.append((len(points) - 4, len(points) - 3, len(points) - 1, len(points) - 2))
    mesh = bpy.data.meshes.new(kind)
    mesh.from_pydata([tuple(point) for point in points], [], faces)
    worn = bpy.data.objects.new(f"{kind} of {ob.name}", mesh)
    bpy.context.scene.collection.objects.link(worn)
    for number, name in enumerate(owners):
        group = worn.vertex_groups.get(name) or worn.vertex_groups.new(name=name)
        group.add([number], 1.0, "REPLACE")
    worn.modifiers.new("Armature", "ARMATURE").object = ob


def _blade(place: Vector, way: Vector, length: float) -> bpy.types.Object:
    blade = sketch.stick(place - 0.1 * length * way, place + length * way, 0.04 * length, (0.5, 0.5, 0.5, 1.0))
    blade.name = "weapon"
    return blade


def _ended(ob: bpy.types.Object, stranger: Stranger) -> None:
    """Give all bones tails as an importer does, and any rolls."""
    kind, random = stranger.tails, np.random.default_rng(stranger.seed + 1000)
    axis = Vector([(1, 0, 0), (0, 1, 0), (0, 0, 1)][int(random.integers(3))])
    if kind == "proper":
        return
    with _edited(ob) as bones:
        height = max(bone.head.z for bone in bones) - min(bone.head.z for bone in bones)
        for bone in bones:
            bone.use_connect = False
        lines = {bone.name: bone.tail - bone.head for bone in bones}
        for bone in bones:
            line, leaf = lines[bone.name], not bone.children or all(
                "finger" in child.name.lower() for child in bone.children)  # fmt: skip
            if kind == "far" and (leaf or random.random() < 0.3):
                line = Vector(random.normal(size=3)).normalized() * height * random.uniform(1.0, 8.0)
            elif kind == "along an axis":
                line = axis * line.length
            elif kind == "one unit":
                line = line.normalized()
            elif kind == "up":
                line = Vector((0.0, 0.0, 0.06 * height))
            elif kind == "leaves as their parents" and leaf and bone.parent:
                line = line.normalized() * lines[bone.parent.name].length
            elif kind == "leaves of 7 heights" and leaf:
                line = line.normalized() * 7.0 * height
            bone.tail = bone.head + line
            bone.roll = random.uniform(-3.1, 3.1)


# -- sources -----------------------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """A figure with a motion, and its true roles."""

    name: str
    ob: bpy.types.Object
    truth: Truth
    frames: range


def by_hand(name: str, frames: int = 24) -> Source:
    """A motion that is drawn by hand."""
    character = measure.BY_NAME["motion builder"]
    ob, truth = build.native(character, f"Source {name}"), build.truth(character)
    puppet = Puppet(person.Figure(ob, truth))
    for frame in range(1, frames + 1):
        puppet.take(MOTIONS[name]((frame - 1) / (frames - 1)))
        for bone in ob.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            bone.keyframe_insert("location", frame=frame)
    return Source(name, ob, truth, range(1, frames + 1))


def sources(words: list[str], most: int) -> list[Source]:
    """The sources of some clips, or by default those that come with the tests."""
    found = list[Source]()
    if not words:
        words = [str(HERE.parent.parent / "examples" / "cmu_01_01.bvh")]
        found = [by_hand(name) for name in ("walk", "reach", "crouch", "wave")]
    for captured in retargeted.clips_of(words, most, 30):
        with contextlib.redirect_stdout(io.StringIO()):
            ob = captured.add()
        start = 150 if captured.name == "cmu_01_01" else 1
        found.append(Source(captured.name, ob, captured.truth(), range(start, start + most)))
    return found


# -- measuring ---------------------------------------------------------------------------------------------------------


class Worst:
    """The largest of values, and where it is."""

    def __init__(self) -> None:
        self.value, self.place = 0.0, ""

    def add(self, values: np.ndarray, place: str) -> None:
        """Take some values into account."""
        most = float(np.max(values, initial=0.0))
        if not most <= self.value:
            self.value, self.place = most, place

    def __str__(self) -> str:
        return f"{self.value:.1f} {self.place}".strip()


class Row(NamedTuple):
    """What is measured of a stranger; `refused` says why it got no motion."""

    stranger: Stranger
    wrong: list[str]
    limbs: Worst
    turns: Worst
    arms: tuple[Worst, Worst]
    legs: tuple[Worst, Worst]
    torn: Worst
    helpers: Worst
    refused: str = ""

    def __str__(self) -> str:
        arms, legs = (f"{one} ({clean.value:.0f})" for one, clean in (self.arms, self.legs))
        roles = str(len(self.wrong)) + (f" {self.wrong[0]}" if self.wrong else "")
        values = [self.limbs, self.turns, arms, legs, self.torn, self.helpers]
        parts = [f"{self.stranger.seed} {self.stranger}", roles, *([self.refused] if self.refused else values)]
        return "| " + " | ".join(map(str, parts)) + " |"


def measured(stranger: Stranger, motions: list[Source], pictures: Path | None = None) -> Row:
    """The row of a stranger; afterwards it is removed."""
    before = {*bpy.data.objects}
    (clean, clean_truth), (ob, truth) = made(stranger, True), made(stranger, False)
    try:
        return _measured(stranger, motions, (clean, clean_truth), (ob, truth), pictures)
    finally:
        bpy.data.batch_remove({*bpy.data.objects} - before)


def _measured(stranger, motions, copy, own, pictures) -> Row:
    (clean, clean_truth), (ob, truth) = copy, own
    character = next(module for name, module in sys.modules.items() if name.endswith(".rig.figure.character"))
    found = character.Character.of(ob).figure
    names = ob.pose.bones.keys()
    roles = {names[bone]: tuple(role) for bone, role in {**found.loose, **found.roles}.items()}
    wrong = [f"{name}: {roles.get(name)}" for name, role in truth.items() if roles.get(name) != role]
    row = Row(stranger, wrong, Worst(), Worst(), (Worst(), Worst()), (Worst(), Worst()), Worst(), Worst())
    for source in motions:
        try:
            for one in (clean, ob):
                retargeted.retarget(source.ob, one, source.frames)
        except RuntimeError as refused:
            return row._replace(refused=f"{source.name}: {one.name}: {refused}".strip().replace("\n", " "))
        films = Film(source.ob, source.truth, source.frames), Film(clean, clean_truth, source.frames), Film(
            ob, truth, source.frames)  # fmt: skip
        _compare(row, source, *films)
        _helpers(row, source, ob, films[2], person.Figure(ob, truth).size)
        if pictures is not None:
            frame = source.frames[len(source.frames) // 2]
            bpy.context.scene.frame_set(frame)
            for one, word in ((source.ob, "source"), (clean, "clean"), (ob, "stranger")):
                sketch.draw(one, pictures / f"{stranger.seed}-{source.name}-{frame}-{word}.png")
    return row


def _compare(row: Row, source: Source, before: Film, clean: Film, new: Film) -> None:
    for side in "LR":
        for part in _PARTS:
            lines = [film.direction(part, side) for film in (before, clean, new)]
            label = f"{part} {side} {source.name}"
            row.limbs.add(between(lines[1], lines[2]), label)
            kind = row.arms if part in ("arm", "forearm") else row.legs
            kind[0].add(between(lines[0], lines[2]), label)
            kind[1].add(between(lines[0], lines[1]), label)
        knee, ankle = new.at("shin", side), new.at("foot", side)
        long = new.length("shin", "foot", side=side)
        row.torn.add(100.0 * abs(np.linalg.norm(ankle - knee, axis=-1) - long) / (2.0 * new.leg()), source.name)
    for part, values in retargeted.off(clean, new).items():
        if part.partition(" ")[0] not in _PARTS:
            row.turns.add(values, f"{part} {source.name}")


def _helpers(row: Row, source: Source, ob: bpy.types.Object, film: Film, size: float) -> None:
    names = ob.pose.bones.keys()
    for name, part, side in HELPERS:
        if part and name in names:
            mirrors = film.row(part, side)
            own = names.index(name)
            line = np.einsum("fij,kj,k->fi", film.axes[:, mirrors], film.rest_axes[mirrors].T,
                             film.rest[own] - film.rest[mirrors])  # fmt: skip
            away = film.heads[:, own] - film.heads[:, mirrors] - line
            row.helpers.add(100.0 * np.linalg.norm(away, axis=-1) / size, f"{name} {source.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-30", help="a range of seeds, or one")
    parser.add_argument("--clips", nargs="*", default=[], help="as of retargeted.py")
    parser.add_argument("--most", type=int, default=24, help="so many captured frames of each clip")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    measure.load()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    motions = sources(options.clips, options.most)
    print("| stranger | roles | limbs | turns | arms | legs | torn | helpers |")
    print("|" + "---|" * 8)
    first, _, last = options.seeds.partition("-")
    for seed in range(int(first), int(last or first) + 1):
        print(measured(drawn(seed), motions, options.pictures), flush=True)


if __name__ == "__main__":
    main()
