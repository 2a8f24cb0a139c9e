# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures Retarget: a captured clip for the test characters, and back.

    python tests/characters/retargeted.py [--clip examples/cmu_01_01.bvh] [--pictures FOLDER] [character ...]

Run it with a Python that has bpy. It prints a table as Markdown. Slide: how far ball or heel of a foot goes a second
while the same point of the source's foot stands, beyond what it goes there, in percent of the leg's length (median and
largest of all stands). Wrong: the share of frames on which a knee bends forward by more than 8 degrees. Pops: the
largest step of a thigh or a shin from frame to frame, beyond that of the source, in degrees. Hands: by how much
the distances between the hands and from hands to the head differ from the source's, in percent of the arm's length.
Back: by how much the joints of the source differ after there and back, in degrees: the largest of parts of which the
character has as many bones, and median and largest of the others.
"""

import argparse
import contextlib
import io
import sys
from collections import Counter
from pathlib import Path

import bpy
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import sketch  # noqa: E402
from clips import clip  # noqa: E402

import build  # noqa: E402

USUAL = ("mixamo", "vroid", "unreal", "smpl", "daz", "toon", "gorilla", "arms down", "no names in centimetres",
         "rigify human", "rigify basic human")  # fmt: skip
_STANDS = 0.15  # leg lengths a second


class Film:
    """What Blender shows of a figure: heads and tails (F, N, 3) and axes (F, N, 3, 3) by the bones' roles."""

    def __init__(self, ob: bpy.types.Object, truth: dict, frames: range) -> None:
        names = ob.pose.bones.keys()
        by_role = {}
        for name, role in truth.items():
            if role is not None and name in names:
                by_role.setdefault(tuple(role), names.index(name))
        self.row = by_role
        heads, axes = [], []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            world = np.array([shown.matrix_world @ bone.matrix for bone in shown.pose.bones])
            heads.append(world[:, :3, 3])
            axes.append(world[:, :3, :3] / np.linalg.norm(world[:, :3, :3], axis=1, keepdims=True))
        self.heads, self.axes = np.array(heads), np.array(axes)
        scale = max(ob.matrix_world.to_scale())
        length = np.array([scale * bone.length for bone in ob.data.bones])[None, :, None]
        self.tails = self.heads + self.axes[..., 1] * length
        self.parents = [-1 if bone.parent is None else names.index(bone.parent.name) for bone in ob.pose.bones]
        self.rest = np.array([ob.matrix_world @ bone.bone.matrix_local.translation for bone in ob.pose.bones])

    def at(self, name: str, side: str = "") -> np.ndarray:
        return self.heads[:, self.row[name, side]]

    def length(self, *names: str, side: str = "L") -> float:
        points = [self.rest[self.row[name, side]] for name in names]
        return float(sum(np.linalg.norm(a - b) for a, b in zip(points, points[1:], strict=False)))

    def foot(self, side: str) -> np.ndarray:
        """The joint of the toes (F, 3)."""
        return self.tails[:, self.row["foot", side]] if ("toes", side) not in self.row else self.at("toes", side)

    def knee(self, side: str) -> np.ndarray:
        """How far (F,) a knee is before the line from hip to ankle, as the sine of its bend; behind is wrong."""
        hip, knee, ankle = (self.at(name, side) for name in ("thigh", "shin", "foot"))
        left = self.at("thigh", "L") - self.at("thigh", "R")
        normal = np.cross(knee - hip, ankle - knee)
        size = np.linalg.norm(knee - hip, axis=-1) * np.linalg.norm(ankle - knee, axis=-1)
        return (normal * left).sum(-1) / np.linalg.norm(left, axis=-1) / size

    def joints(self) -> np.ndarray:
        """(F, N, 3, 3) against their parents."""
        each = zip(np.moveaxis(self.axes, 1, 0), self.parents, strict=True)
        return np.stack([axes if above < 0 else np.swapaxes(self.axes[:, above], 1, 2) @ axes
                         for axes, above in each], 1)  # fmt: skip


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(np.arccos(np.clip((np.einsum("...ij,...ij", a, b) - 1.0) / 2.0, -1.0, 1.0)))


def hands(film: Film) -> np.ndarray:
    """Distances (F, 3) of both hands and from each to the head, in arm lengths."""
    left, right, head = film.at("hand", "L"), film.at("hand", "R"), film.at("head")
    arm = film.length("arm", "forearm", "hand")
    return np.stack([np.linalg.norm(a - b, axis=-1) for a, b in ((left, right), (left, head), (right, head))], -1) / arm


def slides(source: Film, other: Film, rate: float) -> np.ndarray:
    """By how much faster (percent of a leg a second) feet go than the source's, on frames on which these stand."""
    found = []
    legs = [film.length("thigh", "shin", "foot") for film in (source, other)]
    for side in "LR":
        own, new = (np.linalg.norm(np.diff(film.foot(side)[:, :2], axis=0), axis=-1) / leg * rate
                    for film, leg in zip((source, other), legs, strict=True))  # fmt: skip
        high = source.foot(side)[:, 2]
        stands = (own < _STANDS) & (high[1:] < high.min() + 0.05 * legs[0])
        found.append((new - own)[stands])
    return 100.0 * np.concatenate(found)


def retarget(source: bpy.types.Object, ob: bpy.types.Object, frames: range) -> None:
    for one in bpy.context.view_layer.objects:
        one.select_set(one == ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.dqik.retarget(source=source.name, frame_start=frames[0], frame_end=frames[-1])


def row(name: str, path: str, pictures: Path | None) -> str:
    character = measure.BY_NAME[name]
    ob = measure.made(character, "native")
    captured = clip(path)
    with contextlib.redirect_stdout(io.StringIO()):
        source = captured.add()
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    rate = scene.render.fps / scene.render.fps_base
    retarget(source, ob, frames)
    before, new = Film(source, captured.truth(), frames), Film(ob, build.truth(character), frames)
    slid = slides(before, new, rate)
    wrong = np.mean([new.knee(side) < -np.sin(np.radians(8.0)) for side in "LR"])
    steps = [max(angle(film.axes[1:, film.row[part, side]], film.axes[:-1, film.row[part, side]]).max()
                 for part in ("thigh", "shin") for side in "LR") for film in (before, new)]  # fmt: skip
    apart = 100.0 * np.abs(hands(new) - hands(before))
    if pictures is not None:
        for frame in np.linspace(frames[0], frames[-1], 5).astype(int).tolist():
            scene.frame_set(frame)
            for one, other in ((source, "source"), (ob, name)):
                sketch.draw(one, pictures / f"{name}-{frame}-{other}.png".replace(" ", "-"))
    retarget(ob, source, frames)
    back = angle(before.joints(), Film(source, captured.truth(), frames).joints())
    counts = [Counter(role and ("neck" if role[0] == "head" else role[0], role[1]) for role in one.values())
              for one in (captured.truth(), build.truth(character))]  # fmt: skip
    names = source.pose.bones.keys()
    kept, lost = ([names.index(name) for name, (part, side) in captured.truth().items()
                   if (counts[0]["neck" if part == "head" else part, side]
                       <= counts[1]["neck" if part == "head" else part, side]) == is_kept] for is_kept in (True, False))
    lost = back[:, lost] if lost else np.zeros(1)
    pops = steps[1] - steps[0]
    return (f"| {name} | {np.median(slid):.2f} / {slid.max():.2f} | {100.0 * wrong:.2f} | {pops:.2f} | "
            f"{np.median(apart):.1f} / {apart.max():.1f} | {back[:, kept].max():.2f} | "
            f"{np.median(lost):.1f} / {lost.max():.1f} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("characters", nargs="*")
    parser.add_argument("--clip", default=str(HERE.parent.parent / "examples" / "cmu_01_01.bvh"))
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    measure.load()
    print("| | slide %/s | wrong % | pops | hands % | back | lost |\n|---|---|---|---|---|---|---|")
    for name in options.characters or USUAL:
        print(row(name, options.clip, options.pictures), flush=True)


if __name__ == "__main__":
    main()
