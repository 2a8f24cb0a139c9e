# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep every twelfth pose of captured motions, make the frames between, and compare them with the captured ones.

    python benchmarks/motions/in_betweens.py [CLIP.bvh or FOLDER ...] [--step 12] [--frames 300] [--picture FILE.png]

Without clips, that of the examples. All lengths are scaled to a figure of 1.8 m. It needs Blender's bpy. Each figure is
keyed twice: its bones, and the controls of *Set Up Full Body* while Live solves. The table has the mean of the clips:

joints : how far joints are from the captured ones on the frames between [mm]. keys : how far they are on keyed frames
from where they were before, at most [mm]. slide : of heels and balls that stand in the clip [mm/s].
"""

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import bpy
import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from shakes import ROOT, ends, load  # finds the modules below

import measure  # isort: skip
import rigs  # isort: skip

from solvers.motion import find_contacts, fine_time  # isort: skip

STANDS = 0.1  # metres a second
CAPTURED, BEZIER, MADE = "as captured", "Bezier", "In-Betweens"
COLORS = {CAPTURED: "tab:green", BEZIER: "tab:red", MADE: "tab:blue"}


class Film(NamedTuple):
    """Places (F, N, 3) of captured joints, of heels and balls (F, 2, 2, 3), and of the middle of the hips (F, 3)."""

    joints: np.ndarray
    feet: np.ndarray
    hips: np.ndarray


class Figure:
    """A captured figure: its object, the frames, the length of the scene's unit [m], and its legs."""

    def __init__(self, path: Path, most: int, step: int) -> None:
        self.ob, whole, self.unit = load(path, most)
        self.frames = range(1, (len(whole) - 1) // step * step + 2)
        self.names = [bone.name for bone in self.ob.pose.bones]
        character = _rig("figure.character").Character.of(self.ob)
        self._armature, self._legs = character.armature, _rig("clip.rest_legs").of(self.ob, character)
        self.leg = self.unit * float(np.mean([leg.length for leg in self._legs]))

    @property
    def rate(self) -> float:
        """Frames a second."""
        return bpy.context.scene.render.fps / bpy.context.scene.render.fps_base

    def film(self) -> Film:
        """What Blender shows."""
        poses = []
        for _ in rigs.visited(self.frames):
            bones = rigs.evaluated(self.ob).pose.bones
            poses.append([np.array(self.ob.matrix_world @ bones[name].matrix) for name in self.names])
        shown = np.array(poses)
        feet, hips = _rig("clip.rest_legs").marks(self._armature, self._legs, lambda bone: shown[:, bone])
        return Film(self.unit * shown[..., :3, 3], self.unit * feet, self.unit * hips)


def _rig(name: str):
    """A module of the extension."""
    return importlib.import_module(f"dqik.rig.{name}")


def thinned(ob: bpy.types.Object, step: int) -> None:
    """Leave every so-manieth key of all curves, with Blender's usual handles."""
    for curve in rigs.fcurves(ob):
        kept = [key.co[:] for key in curve.keyframe_points if round(key.co[0] - 1) % step == 0]
        curve.keyframe_points.clear()
        for time, value in kept:
            point = curve.keyframe_points.insert(time, value)
            point.interpolation, point.handle_left_type, point.handle_right_type = "BEZIER", *["AUTO_CLAMPED"] * 2
        curve.update()


def films(path: Path, most: int, step: int) -> Iterator[tuple[str, str, Figure, Film]]:
    """What is keyed and how, of one clip, with what is shown."""
    for keyed in ("bones", "controls"):
        figure = Figure(path, most, step)
        ob, span = figure.ob, {"frame_start": figure.frames[0], "frame_end": figure.frames[-1]}
        if keyed == "bones":
            yield keyed, CAPTURED, figure, figure.film()
        else:
            rigs.set_up(ob, on=False, from_animation=True)
            _rig("curves").remove_bones(ob, figure.names)
            for name in figure.names:
                ob.pose.bones[name].matrix_basis.identity()
            rigs.live(ob)
            yield keyed, f"{CAPTURED}, all frames keyed", figure, figure.film()
        thinned(ob, step)
        yield keyed, BEZIER, figure, figure.film()
        assert bpy.ops.dqik.in_betweens(**span) == {"FINISHED"}
        yield keyed, MADE, figure, figure.film()


def slide(figure: Figure, true: Film, found: Film) -> float:
    """How fast heels and balls go that stand in the clip [m/s]."""
    on = fine_time.on_frames(find_contacts(true.feet, true.hips, figure.rate, figure.leg), figure.rate)
    before, after = (figure.rate * np.linalg.norm(np.diff(one.feet[..., :2], axis=0), axis=-1) for one in (true, found))
    stands = on[1:] & on[:-1] & (before < STANDS)
    return float(after[stands].mean()) if stands.any() else np.nan


def draw(path: Path, figure: Figure, shown: dict[str, Film], step: int) -> None:
    """The poses at the keys and half way between them from the side, with the ways of hands and feet."""
    _, panels = plt.subplots(len(shown), 1, figsize=(8.0, 2.4 * len(shown)), layout="constrained")
    way = shown[CAPTURED].hips[-1] - shown[CAPTURED].hips[0]
    along = way[:2] / max(float(np.linalg.norm(way[:2])), 1e-9)
    bones, ankles = figure.ob.pose.bones, ends(figure.ob)
    pairs = [(figure.names.index(bones[name].parent.name), number) for number, name in enumerate(figure.names)
             if bones[name].parent is not None]  # fmt: skip
    for ax, (name, one) in zip(panels, shown.items(), strict=True):
        points = np.stack([one.joints[..., :2] @ along, one.joints[..., 2]], -1)
        for number in ankles:
            ax.plot(*points[:, number].T, color=COLORS[name], lw=1.2)
        for frame in range(0, len(points), step // 2):
            color, width = ("0.15", 1.8) if frame % step == 0 else (COLORS[name], 1.4)
            for pair in pairs:
                ax.plot(*points[frame, pair].T, color=color, lw=width, solid_capstyle="round")
        ax.set_aspect("equal")
        ax.set_title(name, loc="left", fontsize=10)
        ax.axis("off")
    plt.savefig(path, dpi=100, bbox_inches="tight")


def main() -> None:
    """Compare all ways on all clips."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", nargs="*", type=Path, default=[ROOT / "examples" / "cmu_01_01.bvh"])
    parser.add_argument("--step", type=int, default=12)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--picture", type=Path, help="of the first clip")
    options = parser.parse_args()
    measure.load()
    table = dict[tuple[str, str], list[list[float]]]()
    clips = [one for path in options.clips for one in (sorted(path.glob("*.bvh")) if path.is_dir() else [path])]
    for number, path in enumerate(clips):
        shown = dict[str, Film]()
        for keyed, way, figure, film in films(path, options.frames, options.step):
            shown = {**shown, way: film} if way != CAPTURED else {way: film}
            true, between = shown[CAPTURED], np.arange(len(film.joints)) % options.step > 0
            off = np.linalg.norm(film.joints - true.joints, axis=-1)
            keyed_film = shown[BEZIER] if way == MADE else film
            kept = np.linalg.norm(film.joints - keyed_film.joints, axis=-1)[~between]
            row = [1e3 * off[between].mean(), 1e3 * kept.max(), 1e3 * slide(figure, true, film)]
            table.setdefault((keyed, way), []).append(row)
            print(path.stem, keyed, way, *(f"{one:.1f}" for one in row), flush=True)
            if options.picture and not number and (keyed, way) == ("bones", MADE):
                draw(options.picture, figure, shown, options.step)
    print("| keyed | frames between | joints | keys | slide |")
    print("|---|---|--:|--:|--:|")
    for (keyed, way), rows in table.items():
        joints, keys, slid = np.nanmean(rows, axis=0)
        print(f"| {keyed} | {way} | {joints:.1f} | {keys:.2f} | {slid:.0f} |")


if __name__ == "__main__":
    main()
