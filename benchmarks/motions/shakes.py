# SPDX-License-Identifier: GPL-3.0-or-later
"""Add noise to captured motions, take it out in several ways, and compare what is left with the motions as they were.

    python benchmarks/motions/shakes.py [CLIP.bvh ...] [--degrees 1] [--metres 0.003] [--jumps 0.002] [--frames 300]
                                [--picture FILE.png]

Without clips, that of the examples. All lengths are scaled to a figure of 1.8 m. It needs Blender's bpy, and SciPy. The
table has the mean of the clips:

turns, places : how far bones are turned against their parents [degrees], and joints in the world [mm], away from the
clip, as root mean squares. slide : of ankles on frames on which they stand in the clip [mm/s]. rest : the acceleration
of joints where the clip is calmest, the fifth of all, against the clip's. height : by how much the greatest speeds of
hands and feet against the hips are off, in the mean and at most, and how many of them by more than 5 %. late : how many
come more than a frame early or late.
"""

import argparse
import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from scipy.signal import butter, filtfilt

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "characters"), str(ROOT / "tests" / "blender")]

import measure  # noqa: E402
import rigs  # noqa: E402

from solvers.algebra import quaternion  # noqa: E402
from solvers.motion import fine_time  # noqa: E402

HEIGHT = 1.8  # metres
ENDS = (("LeftHand", "Hand_L", "lhand"), ("RightHand", "Hand_R", "rhand"),
        ("LeftFoot", "Foot_L", "lfoot"), ("RightFoot", "Foot_R", "rfoot"))  # fmt: skip
CUTOFF = 6.0  # a second
FAST = 2.0  # metres a second: what is slower is no strike
STANDS, LOW = 0.15, 0.06  # metres a second, and metres over the lowest place
SHAKING, REMOVED = "with shakes", "Remove Shakes"
LINES = (("0.6", 4.0), ("tab:red", 0.8), ("tab:blue", 1.6))
CALM = 0.2  # the share of all accelerations
Film = tuple[np.ndarray, np.ndarray]
"""Places (F, N, 3) of joints in the world, in metres, and turns (F, N, 4) of bones against their parents."""
Curves = dict[tuple[str, int], np.ndarray]


def load(path: Path, most: int) -> tuple[bpy.types.Object, range, float]:
    """A clip in an empty scene, its frames, and the metres of its unit."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    with contextlib.redirect_stdout(io.StringIO()):  # the importer prints a lot
        bpy.ops.import_anim.bvh(filepath=str(path), rotate_mode="QUATERNION", frame_start=1, update_scene_fps=True)
    ob = bpy.context.object
    last = min(int(ob.animation_data.action.frame_range[1]), most)
    heights = [(ob.matrix_world @ end).z for bone in ob.data.bones for end in (bone.head_local, bone.tail_local)]
    bpy.ops.object.mode_set(mode="POSE")
    return ob, range(1, last + 1), HEIGHT / (max(heights) - min(heights))


def ends(ob: bpy.types.Object) -> list[int]:
    """The numbers of hands, then of feet."""
    return [ob.pose.bones.find(name) for names in ENDS for name in names if name in ob.pose.bones]


def film(ob: bpy.types.Object, frames: range, unit: float) -> Film:
    """What Blender shows."""
    places, turns = [], []
    for _ in rigs.visited(frames):
        places.append([(ob.matrix_world @ bone.head)[:] for bone in rigs.evaluated(ob).pose.bones])
        turns.append([bone.matrix_basis.to_quaternion()[:] for bone in rigs.evaluated(ob).pose.bones])
    return unit * np.array(places), np.array(turns)


def values(ob: bpy.types.Object) -> Curves:
    """The values of all keys of the curves."""
    return {(one.data_path, one.array_index): np.array([key.co[1] for key in one.keyframe_points])
            for one in rigs.fcurves(ob)}  # fmt: skip


def put(ob: bpy.types.Object, new: Curves) -> None:
    """Give keys these values."""
    for curve in rigs.fcurves(ob):
        for key, value in zip(curve.keyframe_points, new[curve.data_path, curve.array_index], strict=True):
            key.co_ui = (key.co[0], value)
        curve.update()


def shaken(clean: Curves, degrees: float, length: float, jumps: float, rng: np.random.Generator) -> Curves:
    """Curves with noise: in the mean so many degrees at each bone and lengths at the hips; a share of keys jumps."""
    found = dict(clean)
    for path in dict.fromkeys(path for path, _ in clean):
        rows = [key for key in clean if key[0] == path]
        own = np.stack([clean[key] for key in rows], -1)
        if path.endswith("rotation_quaternion"):
            if np.ptp(own, axis=0).max() < 1e-4:
                continue
            by = np.radians(degrees) / np.sqrt(3.0) * rng.normal(size=(len(own), 3))
            by *= np.where(rng.random(len(own)) < jumps, 20.0, 1.0)[:, None]
            own = quaternion.product(fine_time.one_sign(own), quaternion.exp(by))
        elif path.endswith("location") and np.ptp(own, axis=0).max() > length:
            own = own + length / np.sqrt(3.0) * rng.normal(size=own.shape)
        found.update(zip(rows, own.T, strict=True))
    return found


def in_graph_editor(ob: bpy.types.Object, press: Callable[[], object]) -> None:
    """Press an operator of the Graph Editor on all keys."""
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "GRAPH_EDITOR"
    region = next(one for one in area.regions if one.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        area.spaces.active.dopesheet.show_only_selected = False
        for curve in rigs.fcurves(ob):
            curve.select = True
            for key in curve.keyframe_points:
                key.select_control_point = True
        press()


def filtered(ob: bpy.types.Object, rate: float) -> None:
    """A Butterworth filter of the second order, forward and back, as biomechanics uses it."""
    b, a = butter(2, CUTOFF / (0.5 * rate))
    put(ob, {key: filtfilt(b, a, own) if len(own) > 9 else own for key, own in values(ob).items()})


def ways(ob: bpy.types.Object, frames: range, rate: float) -> dict[str, Callable[[], object]]:
    """What is compared."""
    whole = {"frame_start": frames[0], "frame_end": frames[-1]}
    return {
        SHAKING: lambda: None,
        "Gaussian Smooth": lambda: in_graph_editor(ob, bpy.ops.graph.gaussian_smooth),
        "Butterworth Smooth": lambda: in_graph_editor(ob, bpy.ops.graph.butterworth_smooth),
        "Butterworth Smooth, 6 Hz": lambda: in_graph_editor(
            ob, lambda: bpy.ops.graph.butterworth_smooth(cutoff_frequency=CUTOFF)),
        "filtfilt, 2nd order, 6 Hz": lambda: filtered(ob, rate),
        "Remove Shakes, not planted": lambda: bpy.ops.dqik.remove_shakes(plant=False, **whole),
        REMOVED: lambda: bpy.ops.dqik.remove_shakes(**whole),
    }  # fmt: skip


def strikes(ob: bpy.types.Object, clean: np.ndarray, found: np.ndarray, rate: float) -> list[tuple[float, int]]:
    """By how much the greatest speeds of hands and feet are off, as shares, and by how many frames."""
    off, middle = [], 0
    for number in ends(ob):
        before, after = (rate * np.linalg.norm(np.diff(one[:, number] - one[:, middle], axis=0), axis=-1)
                         for one in (clean, found))  # fmt: skip
        top = int(before.argmax())
        if before[top] < FAST:
            continue
        first = max(top - 3, 0)
        own = first + int(after[first : top + 4].argmax())
        off.append((float(after[own] / before[top] - 1.0), abs(own - top)))
    return off


def row(ob: bpy.types.Object, clean: Film, found: Film, rate: float) -> tuple[list[float], list[tuple[float, int]]]:
    """Turns, places, slide and rest of a clip, and its strikes."""
    places, before = found[0], clean[0]
    feet = ends(ob)[2:]
    speed = rate * np.linalg.norm(np.diff(before[:, feet], axis=0), axis=-1)
    height = before[:-1, feet, 2] - before[:, feet, 2].min(0)
    stands = (speed < STANDS) & (height < LOW)
    slid = rate * np.linalg.norm(np.diff(places[:, feet], axis=0)[..., :2], axis=-1)
    accelerations = [np.linalg.norm(np.diff(one, 2, axis=0), axis=-1) for one in (before, places)]
    calm = accelerations[0] <= np.quantile(accelerations[0], CALM)
    moving = np.ptp(clean[1], axis=0).max(-1) > 1e-4
    turns = np.degrees(quaternion.angle(found[1], clean[1])[:, moving])
    figures = [np.sqrt((turns**2).mean()), 1e3 * np.sqrt(((places - before) ** 2).sum(-1).mean()),
               1e3 * slid[stands].mean() if stands.any() else np.nan,
               accelerations[1][calm].mean() / accelerations[0][calm].mean()]  # fmt: skip
    return [float(one) for one in figures], strikes(ob, before, places, rate)


def draw(path: Path, ob: bpy.types.Object, films: dict[str, Film], rate: float) -> None:
    """How fast the hand or foot goes that is fastest in the first of films, a second before and after."""
    figure, ax = plt.subplots(figsize=(9.0, 3.2), layout="constrained")
    numbers = ends(ob)
    speeds = [rate * np.linalg.norm(np.diff(one[0][:, numbers], axis=0), axis=-1) for one in films.values()]
    top, end = np.unravel_index(int(speeds[0].argmax()), speeds[0].shape)
    first, last = max(int(top - rate), 0), min(int(top + rate), len(speeds[0]))
    for name, speed, (color, width) in zip(films, speeds, LINES, strict=True):
        ax.plot(np.arange(first, last) / rate, speed[first:last, end], color=color, lw=width, label=name)
    ax.set(xlabel="seconds", ylabel=f"speed of {ob.pose.bones[numbers[end]].name} [m/s]")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Compare all ways on all clips."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", nargs="*", type=Path, default=[ROOT / "examples" / "cmu_01_01.bvh"])
    parser.add_argument("--degrees", type=float, default=1.0)
    parser.add_argument("--metres", type=float, default=0.003)
    parser.add_argument("--jumps", type=float, default=0.002)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--picture", type=Path, help="of the fastest moment of the first clip")
    options = parser.parse_args()
    measure.load()
    table, tops = dict[str, list[list[float]]](), dict[str, list[tuple[float, int]]]()
    for number, path in enumerate(options.clips):
        ob, frames, unit = load(path, options.frames)
        rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
        clean, curves = film(ob, frames, unit), values(ob)
        rough = shaken(curves, options.degrees, options.metres / unit, options.jumps, np.random.default_rng(number))
        action = ob.animation_data.action
        films = dict[str, Film]()
        for name, work in ways(ob, frames, rate).items():
            ob.animation_data.action = action
            put(ob, rough)
            work()
            films[name] = film(ob, frames, unit)
            figures, own = row(ob, clean, films[name], rate)
            table.setdefault(name, []).append(figures)
            tops.setdefault(name, []).extend(own)
        if options.picture and not number:
            chosen = {"as captured": clean, SHAKING: films[SHAKING], REMOVED: films[REMOVED]}
            draw(options.picture, ob, chosen, rate)
        print(path.stem, f"{rate:g} frames a second", flush=True)
    print("| way | turns | places | slide | rest | height, mean | most | over 5 % | late |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, rows in table.items():
        turns, places, slide, rest = np.nanmean(rows, axis=0)
        height, late = np.array(tops[name] or [(0.0, 0)]).T
        height = np.abs(height)
        off = f"{100.0 * height.mean():.1f} % | {100.0 * height.max():.0f} % | {(height > 0.05).sum()} of {len(height)}"
        print(f"| {name} | {turns:.2f} | {places:.1f} | {slide:.0f} | {rest:.1f} | {off} | {(late > 1).sum()} |")


if __name__ == "__main__":
    main()
