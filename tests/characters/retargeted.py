# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures Retarget: captured clips for the test characters, and back.

    python tests/characters/retargeted.py [--clips examples/cmu_01_01.bvh poses.npz:02_01,x_te_jumping_1] [--rate 120]
        [--most 150] [--free] [--skins target] [--pictures FOLDER] [character ...]

Run it with a Python that has bpy. It prints a table as Markdown, with a row for each character and clip. Slide: how far
the ball of a foot goes a second while the source's stands on it, beyond what that one goes, in percent of the leg's
length (median and largest of all stands). Wrong: the share of frames on which a knee bends forward by more than 8
degrees, beyond the source's. Elbows: by how much the plane of an elbow that is bent differs at most, in degrees (beyond
90 it bends backward). Steps: the largest turn of a part from a frame to the next, beyond that of the source's on
this frame, in degrees. Off: by how much the world's turns of hips, chest, head and feet, and the lines and turns of
arms, differ from the source's, in degrees. Hands: by how much the distances between the hands and from hands to the
head differ, in percent of the arm's length. Back: by how much joints of the source differ after there and back, in
degrees: the largest of parts of which the character has as many bones, and of the total turns of necks and spines.
"""

import argparse
import contextlib
import io
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import person  # noqa: E402
import sketch  # noqa: E402
from bodies import BODIES  # noqa: E402
from clips import Clip, clip, poses  # noqa: E402
from film import ALONG, STANDS, Film, angle, between  # noqa: E402
from names import NAMINGS  # noqa: E402

import build  # noqa: E402

FIGURES = measure.BY_NAME | {one.name: one for one in NAMINGS}
FIGURES["bones across"] = replace(FIGURES["mixamo"], name="bones across", axes="x")
FIGURES["robot"] = replace(FIGURES["mech"], name="robot", body="robot", arms=0.0)
FIGURES["child"] = replace(FIGURES["toon"], name="child", body="child")
USUAL = ("mixamo", "vroid", "bones across", "toon", "child", "gorilla", "robot", "unreal", "smpl", "daz", "arms down",
         "no names in centimetres", "mmd", "rigify human", "rigify basic human")  # fmt: skip
_BENT = 15.0  # degrees from which an elbow has a plane
_WRONG = np.sin(np.radians(measure.BACKWARD))


def hands(film: Film) -> np.ndarray:
    """Distances (F, 3) of both hands and from each to the head, in arm lengths."""
    left, right, head = film.at("hand", "L"), film.at("hand", "R"), film.at("head")
    arm = film.length("arm", "forearm", "hand")
    return np.stack([np.linalg.norm(a - b, axis=-1) for a, b in ((left, right), (left, head), (right, head))], -1) / arm


def slides(source: Film, other: Film, rate: float) -> np.ndarray:
    """By how much faster (percent of a leg a second) feet go than the source's, on frames on which these stand."""
    found = []
    for side in "LR":
        own, new = (np.linalg.norm(np.diff(film.ball(side, source)[:, :2], axis=0), axis=-1) / film.leg() * rate
                    for film in (source, other))  # fmt: skip
        high = source.ball(side, source)[:, 2]
        stands = (own < STANDS) & (high[1:] < high.min() + 0.02 * source.leg())
        found.append((new - own)[stands])
    return 100.0 * np.concatenate(found)


def elbow_turns(source: Film, other: Film) -> np.ndarray:
    """By how much (2, F) the plane of each elbow that is bent differs from the source's, in degrees; else 0."""
    found = []
    for side in "LR":
        normals = [np.cross(film.direction("arm", side), film.direction("forearm", side)) for film in (source, other)]
        sizes = [np.linalg.norm(normal, axis=-1) for normal in normals]
        units = [normal / np.maximum(size, 1e-9)[:, None] for normal, size in zip(normals, sizes, strict=True)]
        found.append(np.where(np.min(sizes, axis=0) > np.sin(np.radians(_BENT)), between(*units), 0.0))
    return np.array(found)


def steps(source: Film, other: Film) -> dict[str, np.ndarray]:
    """By how much further (F - 1,) parts turn from frame to frame than the source's do there, in degrees."""
    found = {}
    for (name, side), rows in source.rows.items():
        if not other.has(name, side) or name in ("finger", "twist", "hip_joint", "toes", "collar"):
            continue
        chain = [*rows, *source.rows["head", ""]] if name == "neck" and source.has("head") else rows
        own = np.max([angle(source.axes[1:, row], source.axes[:-1, row]) for row in chain], axis=0)
        new = other.axes[:, other.rows[name, side][-1]]
        found[f"{name} {side}"] = angle(new[1:], new[:-1]) - own
    return found


def off(source: Film, other: Film) -> dict[str, np.ndarray]:
    """By how much (F,) a figure's parts are turned otherwise in the world than the source's, in degrees."""
    found = {}
    for name, side in (("hips", ""), ("spine", ""), ("head", ""), ("foot", "L"), ("foot", "R")):
        if source.has(name, side) and other.has(name, side):
            number = -1 if name == "spine" else 0
            found[f"{name} {side}"] = angle(*(film.turned(film.row(name, side, number)) for film in (source, other)))
    for side in "LR":
        for name in ("arm", "forearm", "thigh", "shin"):
            if all(film.has(name, side) and film.has(ALONG[name], side) for film in (source, other)):
                found[f"{name} {side}"] = between(*(film.direction(name, side) for film in (source, other)))
        if source.has("hand", side) and other.has("hand", side):
            found[f"hand {side}"] = angle(*(film.turned_hand(side) for film in (source, other)))
    return found


def back(before: Film, after: Film, other: Film) -> dict[str, np.ndarray]:
    """By how much (F,) joints of a figure differ, where the other one has as many, and the turns of trunk and neck."""
    joints, found = angle(before.joints(), after.joints()), {}
    counts = Counter(), Counter()
    for film, count in zip((before, other), counts, strict=True):
        for (name, side), rows in film.rows.items():
            count[name.replace("head", "neck"), side] += len(rows)
    for (name, side), rows in before.rows.items():
        chain = name.replace("head", "neck"), side
        if counts[1][chain] >= counts[0][chain] and name not in ("finger", "twist", "hip_joint"):
            found[f"{name} {side}"] = joints[:, rows].max(-1)
    ends = {"chest": ("hips", "spine"), "neck": ("spine", "head")}
    for name, (low, high) in ends.items():
        if before.has(low) and before.has(high):
            whole = [np.swapaxes(film.axes[:, film.rows[low, ""][-1]], 1, 2) @ film.axes[:, film.rows[high, ""][-1]]
                     for film in (before, after)]  # fmt: skip
            found[f"whole {name}"] = angle(*whole)
    return found


def retarget(source: bpy.types.Object, ob: bpy.types.Object, frames: range) -> None:
    for one in bpy.context.view_layer.objects:
        one.select_set(one == ob)
    bpy.context.view_layer.objects.active = ob
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.dqik.retarget(source=source.name, frame_start=frames[0], frame_end=frames[-1])


def _worst(parts: dict[str, np.ndarray]) -> str:
    name, values = max(parts.items(), key=lambda part: part[1].max())
    return f"{values.max():.2f} {name} {values.argmax() + 1}"


def row(name: str, captured: Clip, pictures: Path | None, skins: str = "") -> str:
    """A row of the table. skins : which figures have a mesh, of "source" and "target"."""
    character = FIGURES[name]
    ob = measure.made(character, "native")
    truths = captured.truth(), build.truth(character)
    with contextlib.redirect_stdout(io.StringIO()):
        source = captured.add()
    for word, one, truth in zip(("source", "target"), (source, ob), truths, strict=True):
        if word in skins:
            person.body(one, truth)
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    rate = scene.render.fps / scene.render.fps_base
    label = f"| {name} | {captured.name} |"
    try:
        retarget(source, ob, frames)
    except RuntimeError as refused:
        return f"{label} {refused} |".replace("\n", " ")
    before, new = Film(source, truths[0], frames), Film(ob, truths[1], frames, BODIES[character.body])
    if pictures is not None:
        for frame in np.linspace(frames[0], frames[-1], 5).astype(int).tolist():
            scene.frame_set(frame)
            for one, other in ((source, "source"), (ob, name)):
                sketch.draw(one, pictures / f"{name}-{captured.name}-{frame}-{other}.png".replace(" ", "-"))
    slid = slides(before, new, rate)
    slid = slid if len(slid) else np.zeros(1)
    wrong = np.mean([new.bend("thigh", "shin", "foot", side) < -_WRONG for side in "LR"])
    wrong -= np.mean([before.bend("thigh", "shin", "foot", side) < -_WRONG for side in "LR"])
    elbows = elbow_turns(before, new).max() if new.has("hand", "L") and before.has("hand", "L") else 0.0
    there = new.has("head") and new.has("hand", "L")
    apart = 100.0 * np.abs(hands(new) - hands(before)) if there else np.zeros((1, 1))
    differ = off(before, new)
    trunk = {part: values for part, values in differ.items() if part[:4] in ("hips", "spin", "head", "foot")}
    arms = {part: values for part, values in differ.items() if part not in trunk and "thigh" not in part
            and "shin" not in part}  # fmt: skip
    retarget(ob, source, frames)
    returned = back(before, Film(source, truths[0], frames), new)
    return (f"{label} {np.median(slid):.2f} / {slid.max():.2f} | {100.0 * wrong:.2f} | {elbows:.1f} | "
            f"{_worst(steps(before, new))} | {_worst(trunk)} | {_worst(arms)} | "
            f"{np.median(apart):.1f} / {apart.max():.1f} | {_worst(returned)} |")


def clips_of(words: list[str], most: int, rate: int) -> Iterator[Clip]:
    """The clips that are named: paths of BVH files, or of arrays with the names of their clips after a colon."""
    for word in words:
        path, _, names = word.partition(":")
        for name in names.split(",") if names else ():
            own, _, start = name.partition("@")
            first = int(start or 0)
            yield poses(path, own, slice(first, first + most), rate)
        if not names:
            yield clip(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("characters", nargs="*")
    parser.add_argument("--clips", nargs="+", default=[str(HERE.parent.parent / "examples" / "cmu_01_01.bvh")])
    parser.add_argument("--most", type=int, default=150, help="so many captured frames of each clip of arrays")
    parser.add_argument("--rate", type=int, default=30, help="frames a second of clips of arrays")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--skins", nargs="*", default=[], help="which figures get a mesh: source, target")
    parser.add_argument("--free", action="store_true", help="hands go by their arms alone, whatever they touch")
    options = parser.parse_args()
    measure.load()
    if options.free:
        sys.modules["dqik.rig.motion.hand_contacts"].keep = lambda *_: ()
    print("| figure | clip | slide %/s | wrong % | elbows | steps | off: trunk | off: arms | hands % | back |")
    print("|" + "---|" * 10)
    for name in options.characters or USUAL:
        for captured in clips_of(options.clips, options.most, options.rate):
            print(row(name, captured, options.pictures, " ".join(options.skins)), flush=True)


if __name__ == "__main__":
    main()
