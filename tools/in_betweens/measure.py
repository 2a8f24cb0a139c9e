# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures in-betweens on clips of people who were left out of the learning (bpy).

    python measure.py cmu_poses.npz [--every 1] [--frames 1000000]

Every twelfth frame is a key. Printed are mean distances of 28 points from the captured ones on the frames between, in
millimetres: of Blender's Bezier curves (auto-clamped handles), of the spline, with what is learnt, planted, and planted
where the captured feet stand; and how far heel and ball go while the captured ones stand (slower than 0.1 m a second),
in millimetres a second: as captured, with Bezier curves, planted, planted where the captured feet stand, and if they
went straight from key to key there, which is the least that leaves the keyed poses as they are.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import captured
import learn
import learn_contacts
import network
import numpy as np
from captured import between, contacts_between, motion, quaternion

STEP, STANDS = 12, 0.1
FOLDS = (
    ("01", "walk 13-17", "soccer", "walk 35-36"), ("02", "basketball", "walk 2-3", "walk 27-34"),
    ("03", "jumping", "te walk", "washwindow", "walk 48-52"),
    ("running", "walk 37-47", "directing_traffic", "walk 22-26", "basketball_signal", "walk 18-21", "walk 4-5"),
)  # fmt: skip
"""Who is left out together. The walks are told apart by how alike their mean poses are."""
_WALKS = ((1, 1), (2, 3), (4, 5), (13, 17), (18, 21), (22, 26), (27, 34), (35, 36), (37, 47), (48, 52))


def person(name: str) -> str:
    """Who, or which kind of motion, a clip belongs to."""
    if not name.startswith("x_"):
        return name[:2]
    part, kind, number = name[2:4], *name[5:].rsplit("_", 1)
    if kind != "walking":
        return kind
    if part == "te":
        return "te walk"
    first, last = next(ends for ends in _WALKS if ends[0] <= int(number) <= ends[1])
    return "02" if last == 1 else f"walk {first}-{last}"


class Curve:
    """An F-curve with Bezier keys and auto-clamped handles, as Blender makes them."""

    def __init__(self) -> None:
        ob = bpy.data.objects.new("Curve", None)
        bpy.context.scene.collection.objects.link(ob)
        ob.keyframe_insert("location", index=0, frame=1)
        action = ob.animation_data.action
        bags = [action] if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags
        self._curve = bags[0].fcurves[0]

    def __call__(self, frames: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """The values at frames of a curve through keys."""
        points = self._curve.keyframe_points
        points.clear()
        points.add(len(frames))
        points.foreach_set("co", np.stack([frames, values], -1).ravel().astype(np.float32))
        for point in points:
            point.interpolation, point.handle_left_type, point.handle_right_type = "BEZIER", *["AUTO_CLAMPED"] * 2
        self._curve.update()
        return np.array([self._curve.evaluate(frame) for frame in at])


def bezier(curve: Curve, body: captured.Body, own: Any, keys: np.ndarray, frames: np.ndarray) -> Any:
    """Turns and hips on frames, by Bezier curves through the channels of the keys."""
    parents = body.parents
    local = own.turns[keys].copy()
    local[:, 1:] = quaternion.relative(own.turns[keys][:, parents[1:]], local[:, 1:])
    for row in range(1, len(keys)):
        local[row] *= np.where((local[row] * local[row - 1]).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    flat = np.concatenate([local.reshape(len(keys), -1), own.hips[keys]], 1)
    shown = np.stack([curve(keys, column, frames) for column in flat.T], -1)
    turns = quaternion.normalize(shown[:, :-3].reshape(len(frames), -1, 4))
    for part, above in list(enumerate(parents.tolist()))[1:]:
        turns[:, part] = quaternion.product(turns[:, above], turns[:, part])
    return turns, shown[:, -3:]


def legs(body: captured.Body, found: Any) -> list[motion.Leg]:
    """Both legs of in-betweens."""
    places = body.places(found.turns, found.hips)
    return [motion.Leg(*places[:, hip : hip + 3].swapaxes(0, 1), found.turns[:, hip : hip + 3], *body.feet[side])
            for side, hip in enumerate((11, 19))]  # fmt: skip


def planted(body: captured.Body, keys: np.ndarray, found: Any, stands: np.ndarray) -> Any:
    """Turns and hips of in-betweens whose feet are planted where they stand (F, 2, 2)."""
    turns = found.turns.copy()
    times = motion.fine_time.finer_mask(stands, motion.fine_time.steps(captured.RATE))
    answer = motion.plant_feet(legs(body, found), list(times.swapaxes(0, 1)), captured.RATE, kept=keys,
                               hips_cost=contacts_between.HIPS_COST)  # fmt: skip
    for hip, new in zip((11, 19), answer.turns, strict=True):
        toes = quaternion.relative(turns[:, hip + 2], turns[:, hip + 3])
        turns[:, hip : hip + 3] = new
        turns[:, hip + 3] = quaternion.product(new[:, 2], toes)
    return turns, found.hips + answer.hips


def straight(feet: np.ndarray, contacts: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The places (F, 2, 2, 3) of heels and balls that go straight from key to key where they stand (F, 2, 2)."""
    found = feet.copy()
    for side, k in np.ndindex(2, 2):
        for begin, end in motion.runs(contacts[:, side, k]):
            own = keys[(keys >= begin) & (keys < end)]
            for axis in range(3):
                at = np.interp(np.arange(begin, end), own, feet[own, side, k, axis]) if len(own) else 0.0
                found[begin:end, side, k, axis] = at
    return found


class Weights(NamedTuple):
    """What is learnt without some people: in-betweens, and when feet stand."""

    between: dict[str, np.ndarray]
    contacts: dict[str, np.ndarray]

    @classmethod
    def of(cls, examples: Sequence[learn.Example]) -> "Weights":
        """Learn from examples of clips, and take what is stored of it."""
        own = network.stored(learn.learnt(examples), learn.LAYERS)
        contacts = network.stored(learn_contacts.learnt([one.feet for one in examples]), learn_contacts.LAYERS)
        return cls(*({name: array.astype(float) for name, array in each.items()} for each in (own, contacts)))


def measured(curve: Curve, body: captured.Body, clip: Any, weights: Weights, most: int) -> list[float]:
    """The numbers of a clip, as printed."""
    own = captured.key_poses(body, clip)
    frames = np.arange((min(len(own.times), most) - 1) // STEP * STEP + 1)
    keys = frames[::STEP]
    told = own._replace(**{name: getattr(own, name)[keys] for name in ("times", "turns", "hips", "lines", "feet")})
    without = weights.between | {name: np.zeros_like(weights.between[name]) for name in ("last", "last_add")}
    spline, learnt = (between.in_betweens(told, own.times[frames], one) for one in (without, weights.between))
    odds = contacts_between.contact_odds(told, own.times[frames], weights.contacts)
    contacts = captured.contacts(body, own)[frames]
    feet = captured.of(body, own.times[frames], *learnt).feet
    stances = contacts_between.stances(odds, feet, keys, body.leg, captured.RATE)
    stances = contacts_between.in_reach(stances, legs(body, learnt), keys)
    ways = [(own.turns[frames], own.hips[frames]), bezier(curve, body, own, keys, frames), spline, learnt,
            planted(body, keys, learnt, stances), planted(body, keys, learnt, contacts)]  # fmt: skip
    feet = [captured.of(body, own.times[frames], *way).feet for way in ways]
    feet.append(straight(feet[0], contacts, keys))
    steps = [np.linalg.norm(np.diff(one[..., :2], axis=0), axis=-1) * captured.RATE for one in feet]
    stands = contacts[1:] & contacts[:-1] & (steps[0] < STANDS)
    places = [body.places(*way) for way in ways]
    off = [np.linalg.norm(place - places[0], axis=-1)[frames % STEP > 0].mean() for place in places[1:]]
    slides = [step[stands].mean() if stands.any() else np.nan for step in (steps[0], steps[1], *steps[4:])]
    return [1000.0 * float(value) for value in (*off, *slides)]


def main() -> None:
    """Learn without each fold, and measure it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("poses", type=Path)
    parser.add_argument("--every", type=int, default=1, help="takes each so-manieth clip of a person")
    parser.add_argument("--frames", type=int, default=1_000_000, help="the most frames of a clip")
    options = parser.parse_args()
    path = options.poses
    bpy.ops.wm.read_factory_settings(use_empty=True)
    skeletons, clips = captured.poses.load(path)
    bodies = {name: captured.body_of(skeleton) for name, skeleton in skeletons.items()}
    examples, curve, found = learn.examples(path), Curve(), dict[str, list[float]]()
    print(f"{'':20}clips Bezier spline learnt planted (told) ratio | slides: captured Bezier planted (told) straight")
    for fold in FOLDS:
        weights = Weights.of([examples[clip.name] for clip in clips if person(clip.name) not in fold])
        for who in fold:
            for clip in [one for one in clips if person(one.name) == who][:: options.every]:
                found[clip.name] = measured(curve, bodies[clip.skeleton], clip, weights, options.frames)
        for who in fold:
            show(who, [row for name, row in found.items() if person(name) == who])
    show("all", list(found.values()))
    rows = np.array(list(found.values()))
    print("mean of the clips' ratios:", *(f"{ratio:.3f}" for ratio in (rows[:, 1:4] / rows[:, :1]).mean(0)))


def show(who: str, rows: list[list[float]]) -> None:
    """Print the means of some clips."""
    values = np.nanmean(rows, axis=0)
    print(f"{who:20}{len(rows):5}", *(f"{value:6.1f}" for value in values[:5]), f"{values[3] / values[0]:6.3f} |",
          *(f"{value:6.0f}" for value in values[5:]), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
