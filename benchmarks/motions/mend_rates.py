# SPDX-License-Identifier: GPL-3.0-or-later
"""Mends the same captured motions at 24, 30, 60 and 120 frames a second, and compares them with those at 120.

    python benchmarks/motions/mend_rates.py cmu_poses.npz [--clips NAME ...] [--every 8] [--frames 300]

The data are those of tools/natural_pose, at 30 frames a second; splines through them are seen at each rate. All places
are scaled to a figure of 1.8 m. The table has, for each rate, over all clips:

F1, off : the contacts against those at 120, and the share of frames that differ from these by more than one frame.
apart : how far hips, knees and ankles are from those at 120; median, 99th percentile and largest, in the mean of the
clips. slide : of heels and balls on the ground, before and after. hips, knee : the largest step from a frame to the
next, before and after, and the largest that was added to a step. shake : the accelerations of hips and of knees, after
mending against before.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import mended  # noqa: E402
from report import Result, Row, number  # noqa: E402

from solvers.motion import Leg, bends, fine_time  # noqa: E402

RATES = (24, 30, 60, 120)
LEG = 0.47 * 1.8  # metres: of a figure of 1.8 m


def seen(clip: mended.Clip, rate: float, frames: int) -> mended.Clip:
    """A clip at another rate, of its first frames: splines through its places and turns."""
    count = min(frames, len(clip.root))
    own = np.arange(count) / mended.RATE
    at = np.arange(int(own[-1] * rate + 1e-6) + 1) / rate
    turns = CubicSpline(own, fine_time.one_sign(clip.turns[:count]))(at)
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return mended.Clip(clip.name, clip.skeleton, turns, CubicSpline(own, clip.root[:count])(at))


def joints(legs: list[Leg]) -> np.ndarray:
    """The places (F, 2, 3, 3) of hips, knees and ankles."""
    return np.stack([np.stack([leg.hip, leg.knee, leg.ankle], 1) for leg in legs], 1)


def steps(legs: list[Leg]) -> tuple[np.ndarray, np.ndarray]:
    """How far the hips (F - 1,) move [m], and the knees bend more or less (F - 1,), from frame to frame."""
    hips = np.linalg.norm(np.diff(mended.middle(legs), axis=0), axis=-1)
    return hips, np.max([np.abs(np.diff(bends(leg))) for leg in legs], axis=0)


def shakes(legs: list[Leg]) -> tuple[float, float]:
    """The root mean squares of the second differences of the hips' place and of the knees' bends."""
    places = mended.middle(legs), np.stack([bends(leg) for leg in legs], 1)
    hips, knees = (float(np.sqrt((np.diff(one, 2, axis=0) ** 2).mean())) for one in places)
    return hips, knees


def rows_of(skeleton: mended.Skeleton, clip: mended.Clip, frames: int) -> list[Row]:
    """The figures of a clip at each rate."""
    found, reference, rows = {}, max(RATES), list[Row]()
    for rate in RATES:
        legs = mended.legs_of(skeleton, seen(clip, rate, frames))
        found[rate] = legs, mended.contacts(legs, rate), mended.mended(legs, rate)
    scale = LEG / found[reference][0][0].length
    path = joints(found[reference][2])
    for rate, (legs, contacts, after) in found.items():
        each = reference // rate
        count = min(len(contacts), -(-len(path) // each))
        true = found[reference][1][::each][:count]
        differs = true != contacts[:count]
        apart = scale * np.linalg.norm(joints(after)[:count] - path[::each][:count], axis=-1)
        (hips, knees), (hips_after, knees_after) = steps(legs), steps(after)
        (shake, knee_shake), (shake_after, knee_shake_after) = shakes(legs), shakes(after)
        rows.append({
            "clip": clip.name, "rate": rate,
            "f1": 2.0 * (true & contacts[:count]).sum() / max(true.sum() + contacts[:count].sum(), 1),
            "off": float((differs[1:] & differs[:-1]).mean()),
            "apart": float(np.median(apart)), "apart_99": float(np.quantile(apart, 0.99)), "most": float(apart.max()),
            "slid": scale * mended.slide(legs, contacts, rate), "slides": scale * mended.slide(after, contacts, rate),
            "hips": scale * float(hips.max()), "hips_after": scale * float(hips_after.max()),
            "hips_added": scale * float((hips_after - hips).max()),
            "knee": float(knees.max()), "knee_after": float(knees_after.max()),
            "knee_added": float((knees_after - knees).max()),
            "shake": shake_after / max(shake, 1e-12), "knee_shake": knee_shake_after / max(knee_shake, 1e-12),
        })  # fmt: skip
    return rows


def summary(rows: list[Row], rate: int) -> Row:
    """The means of all clips at a rate; of steps the largest."""
    own = [row for row in rows if row["rate"] == rate]
    largest = ("hips", "hips_after", "hips_added", "knee", "knee_after", "knee_added")
    found = {name: float((np.max if name in largest else np.mean)([row[name] for row in own]))
             for name in own[0] if name not in ("clip", "rate")}  # fmt: skip
    return {"rate": rate, **found}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--clips", nargs="*", default=[])
    parser.add_argument("--every", type=int, default=8, help="takes each so-manieth clip, if no clips are named")
    parser.add_argument("--frames", type=int, default=300, help="the most frames of a clip, at 30 a second")
    wanted = parser.parse_args()
    skeletons, clips = mended.load(wanted.data)
    named = [clip for clip in clips if clip.name in wanted.clips] or clips[:: wanted.every]
    rows = [row for clip in named for row in rows_of(skeletons[clip.skeleton], clip, wanted.frames)]
    print(f"{len(named)} clips")
    print(Result([summary(rows, rate) for rate in RATES], [
        ("frames a second", number("rate", ".0f")),
        ("F1", number("f1", ".3f")),
        ("off", number("off", ".2f", 100.0, " %")),
        ("apart, median", number("apart", ".2f", 1e3, " mm")),
        ("99 %", number("apart_99", ".1f", 1e3, " mm")),
        ("largest", number("most", ".1f", 1e3, " mm")),
        ("slide before", number("slid", ".1f", 1.0, " mm/s")),
        ("after", number("slides", ".1f", 1.0, " mm/s")),
        ("hips before", number("hips", ".1f", 1e3, " mm")),
        ("after", number("hips_after", ".1f", 1e3, " mm")),
        ("added", number("hips_added", ".1f", 1e3, " mm")),
        ("knee before", number("knee", ".1f", np.degrees(1.0), " deg")),
        ("after", number("knee_after", ".1f", np.degrees(1.0), " deg")),
        ("added", number("knee_added", ".1f", np.degrees(1.0), " deg")),
        ("shake of hips", number("shake", ".2f")),
        ("of knees", number("knee_shake", ".2f")),
    ]).table())  # fmt: skip


if __name__ == "__main__":
    main()
