# SPDX-License-Identifier: GPL-3.0-or-later
"""Mends made motions whose contacts are known, at 24, 30, 60 and 120 frames a second.

    python benchmarks/motions/mend_made.py [--rates 24 30 60 120]

A walk on level ground, up and down stairs of 9 cm, a kneel, and a sit on a chair and on the floor, each with three
slides put in: the way of the hips times 0.9, or 3 cm a second where they stay; thighs and shins that shake by 0.7
degrees; both. The figures have legs of 0.87 m. The table has the worst of the three for each motion and rate:

F1 : the contacts found against the true ones, of all parts together; a heel that is still in the air over a knee that
rests does not count. slide : of heels, balls, knees and the seat while they truly rest, before and after mending, in
the mean [mm/s]. hips, knee : the largest step from a frame to the next, of the motion without the slide, with it and
mended.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests" / "solvers")]

import walking  # noqa: E402
from mend_rates import RATES, steps  # noqa: E402
from report import Result, Row, number  # noqa: E402

from solvers.motion import (  # noqa: E402
    FOOT_POINT,
    KNEE_POINT,
    Leg,
    TrunkPlaces,
    find_contacts,
    find_seats,
    fine_time,
    plant_feet,
    rested,
)

LENGTH = walking.UPPER + walking.LOWER
SEAT = np.array([0.0, -0.05, -0.1])  # below and behind the hips
KINDS = (FOOT_POINT, FOOT_POINT, KNEE_POINT)


class Made(NamedTuple):
    """Legs, the true contacts (F, 2, 3) of heels, balls and knees, and when the seat rests (F,)."""

    legs: list[Leg]
    touches: np.ndarray
    sits: np.ndarray


def walk(rate: float, rise: float = 0.0) -> Made:
    """A walk, on stairs that rise for each step of a foot."""
    legs, feet = walking.walk(rate=rate, rise=rise)
    return Made(legs, np.pad(feet, ((0, 0), (0, 0), (0, 1))), np.zeros(len(feet), dtype=bool))


def kneel(rate: float) -> Made:
    """A kneel on both knees."""
    legs, touches = walking.kneel(rate=rate)
    return Made(legs, touches, np.zeros(len(touches), dtype=bool))


def sit(rate: float, height: float, back: float) -> Made:
    """A body that sits down behind its feet, which stay, and rises."""
    times = np.arange(round(5.0 * rate)) / rate
    down = np.clip(np.minimum(times, times[-1] - times) - 0.5, 0.0, 1.0)
    down = down * down * (3.0 - 2.0 * down)
    hips = np.stack([0.0 * times, -back * down, 0.87 - (0.77 - height) * down], -1)
    legs = [walking.standing(hips, side) for side in (0.1, -0.1)]
    touches = np.broadcast_to([True, True, False], (len(times), 2, 3))
    return Made(legs, touches, down >= 1.0)


MOTIONS = {
    "walk": walk,
    "stairs up": lambda rate: walk(rate, 0.18),
    "stairs down": lambda rate: walk(rate, -0.18),
    "kneel": kneel,
    "sit on a chair": lambda rate: sit(rate, 0.45, 0.4),
    "sit on the floor": lambda rate: sit(rate, 0.05, 0.6),
}


def slid(made: Made, kind: str, rate: float) -> list[Leg]:
    """The legs with a slide."""
    legs = made.legs
    if kind != "noise":
        stays = np.ptp(legs[0].hip[:, 1]) < 1.0
        legs = walking.sliding(legs, "slow drift" if stays else "x0.9", rate)
    return legs if kind == "drift" else walking.sliding(legs, "noise", rate)


def points(legs: list[Leg]) -> np.ndarray:
    """The places (F, 2, 3, 3) of heels, balls, and what is lowest of knees."""
    knees = [leg.knee - [0.0, 0.0, walking.KNEE] for leg in legs]
    return np.stack([np.concatenate([leg.points, knee[:, None]], 1) for leg, knee in zip(legs, knees, strict=True)], 1)


def seat(legs: list[Leg]) -> np.ndarray:
    """The place (F, 3) of the seat."""
    return 0.5 * (legs[0].hip + legs[1].hip) + SEAT


def mended(legs: list[Leg], rate: float) -> tuple[list[Leg], np.ndarray, np.ndarray]:
    """The legs with what rests planted, and the contacts (F, 2, 3) and (F,) that were found."""
    hips, own = seat(legs) - SEAT, points(legs)
    found = find_contacts(own, hips, rate, LENGTH, None, KINDS)
    weight = seat(legs) + np.array([0.0, 0.15, 0.3])
    sits = find_seats(seat(legs), weight, own.reshape(len(hips), -1, 3), found.reshape(len(found), -1), rate, LENGTH)
    count = fine_time.steps(rate)
    trunk = TrunkPlaces(fine_time.finer(seat(legs), count), *2 * [fine_time.finer(hips, count)])
    held, _ = rested(trunk, trunk.spine, sits, np.zeros_like(sits), rate * count, LENGTH)
    planted = plant_feet(legs, [found[:, 0], found[:, 1]], rate, hips=held)
    after = [walking.moved(leg, planted.hips, turns) for leg, turns in zip(legs, planted.turns, strict=True)]
    return after, fine_time.on_frames(found, rate), fine_time.on_frames(sits, rate)


def resting(touches: np.ndarray, sits: np.ndarray) -> np.ndarray:
    """Contacts of both legs and of the seat, side by side (F, 7)."""
    return np.concatenate([touches.reshape(len(sits), -1), sits[:, None]], 1)


def slide(legs: list[Leg], made: Made, rate: float) -> float:
    """How far what truly rests moves over the ground, in the mean [mm/s]."""
    places = np.concatenate([points(legs).reshape(len(made.sits), -1, 3), seat(legs)[:, None]], 1)
    rests = resting(made.touches, made.sits)
    moves = np.linalg.norm(np.diff(places[..., :2], axis=0), axis=-1)
    return 1e3 * rate * float(moves[rests[1:] & rests[:-1]].mean())


def measured(name: str, rate: float) -> Row:
    """The figures of a motion at a rate."""
    made, rows = MOTIONS[name](rate), list[Row]()
    hips, knee = (float(one.max()) for one in steps(made.legs))
    for kind in ("drift", "noise", "both"):
        legs = slid(made, kind, rate)
        after, touches, sits = mended(legs, rate)
        touches[:, :, 0] &= ~made.touches[:, :, 2]
        true, found = resting(made.touches, made.sits), resting(touches, sits)
        (hips_slid, knee_slid), (hips_after, knee_after) = steps(legs), steps(after)
        rows.append({
            "f1": 2.0 * (true & found).sum() / (true.sum() + found.sum()),
            "slid": slide(legs, made, rate), "slides": slide(after, made, rate),
            "hips_slid": float(hips_slid.max()), "hips_after": float(hips_after.max()),
            "knee_slid": float(knee_slid.max()), "knee_after": float(knee_after.max()),
        })  # fmt: skip
    worst = {key: float(np.max([row[key] for row in rows])) for key in rows[0]}
    worst["f1"] = float(min(row["f1"] for row in rows))
    return {"motion": name, "rate": rate, **worst, "hips": hips, "knee": knee}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", nargs="*", type=float, default=RATES)
    rows = [measured(name, rate) for name in MOTIONS for rate in parser.parse_args().rates]
    print(Result(rows, [
        ("motion", lambda row: str(row["motion"])),
        ("frames a second", number("rate", ".0f")),
        ("F1", number("f1", ".3f")),
        ("slide before", number("slid", ".1f", 1.0, " mm/s")),
        ("after", number("slides", ".1f", 1.0, " mm/s")),
        ("hips' step", number("hips", ".1f", 1e3, " mm")),
        ("slid", number("hips_slid", ".1f", 1e3, " mm")),
        ("mended", number("hips_after", ".1f", 1e3, " mm")),
        ("knee's step", number("knee", ".1f", np.degrees(1.0), " deg")),
        ("slid", number("knee_slid", ".1f", np.degrees(1.0), " deg")),
        ("mended", number("knee_after", ".1f", np.degrees(1.0), " deg")),
    ]).table())  # fmt: skip


if __name__ == "__main__":
    main()
