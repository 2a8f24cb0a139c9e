# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures Mend Motion: slides are put into captured clips, and the clips are mended.

    python tests/characters/mended.py cmu_poses.npz [--clips NAME ...] [--every 5] [--frames 400] [--kinds x1.1 ...]
        [--rate 30] [--slower 1]

The data are those of tools/natural_pose. Kinds of slides: `x` and a number scales the way of the hips, `drift` and
`back` push the figure by 5 and 10 cm a second, `turn` turns its way by 2 degrees a second, `noise` and `tremble` shake
thighs and shins by 0.7 and 0.3 degrees (5 mm at the ankle). For each clip and kind of slide it prints:

contacts: the share of frames on the ground, and F1 against the contacts found before the slide was put in. slide: how
far heels and balls on the ground move, before and after [mm a second]. knee: the change of the knees, median and
largest [degrees]. far: the largest change of a joint of a leg beyond 6 frames from its contacts. pop: by how much a
knee's step from frame to frame is larger than all of its steps within 3 frames, with the slide or without [degrees].
leg, hips: the acceleration of the legs' joints and of the hips' place against the clip before the slide. start: the
least share of contacts that stay if the clip is cut at its beginning.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools" / "natural_pose"), str(ROOT / "tests" / "solvers")]

from poses import Clip, Skeleton, load  # noqa: E402
from walking import moved, sliding  # noqa: E402

from solvers.algebra import quaternion  # noqa: E402
from solvers.motion import Leg, bends, find_contacts, fine_time, plant_feet  # noqa: E402

RATE = 30.0  # of the data
KINDS = ("none", "x0.9", "x1.1", "drift", "noise")
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from Y up to Z up
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle
_LEAST = 0.05  # of all frames on the ground: clips with fewer do not count in the summary
_FAR, _CUTS = 6, (1, 5, 10, 20, 33)  # frames; at most half of a clip is cut off


def resampled(clip: Clip, times: float, frames: int) -> Clip:
    """A clip with so many times the frames, of its first ones."""
    at = np.arange(0.0, min(frames, len(clip.root)) - 1.0, 1.0 / times)
    low, share = at.astype(int), at % 1.0
    between = quaternion.log(quaternion.relative(clip.turns[low], clip.turns[low + 1]))
    turns = quaternion.product(clip.turns[low], quaternion.exp(share[:, None, None] * between))
    root = clip.root[low] + share[:, None] * (clip.root[low + 1] - clip.root[low])
    return Clip(clip.name, clip.skeleton, turns, root)


def legs_of(skeleton: Skeleton, clip: Clip) -> list[Leg]:
    """The two legs of a clip, Z up."""
    places = np.zeros((*clip.turns.shape[:2], 3))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent < 0:
            places[:, joint] = clip.root
            continue
        way = np.broadcast_to(skeleton.offsets[joint], clip.root.shape)
        places[:, joint] = places[:, parent] + quaternion.rotate(clip.turns[:, parent], way)
    places, turns = places @ _UP.T, quaternion.product(quaternion.from_matrix(_UP), clip.turns)
    legs = list[Leg]()
    for side in "LR":
        joints = [skeleton.joint(name, side) for name in ("thigh", "shin", "foot")]
        ball = skeleton.offsets[skeleton.joint("toes", side)]
        drop = ball * (0.0, 1.0, 0.0)
        heel = drop - _BEHIND * (ball - drop)
        legs.append(Leg(*(places[:, joint] for joint in joints), turns[:, joints], heel, ball))
    return legs


def middle(legs: list[Leg]) -> np.ndarray:
    return 0.5 * (legs[0].hip + legs[1].hip)


def points(legs: list[Leg]) -> np.ndarray:
    return np.stack([leg.points for leg in legs], 1)


def times(legs: list[Leg], rate: float = RATE) -> np.ndarray:
    """The contacts (G, 2, 2) on the fine grid."""
    return find_contacts(points(legs), middle(legs), rate, float(np.mean([leg.length for leg in legs])))


def contacts(legs: list[Leg], rate: float = RATE) -> np.ndarray:
    """The contacts (F, 2, 2) of the frames."""
    return fine_time.on_frames(times(legs, rate), rate)


def mended(legs: list[Leg], rate: float = RATE) -> list[Leg]:
    found = times(legs, rate)
    planted = plant_feet(legs, [found[:, 0], found[:, 1]], rate)
    return [moved(leg, planted.hips, turns) for leg, turns in zip(legs, planted.turns, strict=True)]


def slide(legs: list[Leg], on_ground: np.ndarray, rate: float) -> float:
    """In the mean while on the ground [mm a second]."""
    steps = np.linalg.norm(np.diff(points(legs)[..., :2], axis=0), axis=-1)
    both = on_ground[1:] & on_ground[:-1]
    return 1e3 * rate * float(steps[both].sum() / max(both.sum(), 1))


def joints(leg: Leg) -> np.ndarray:
    """The turns (F, 3, 4) of hip, knee and ankle; the pelvis does not turn."""
    return np.concatenate([leg.turns[:, :1], quaternion.relative(leg.turns[:, :-1], leg.turns[:, 1:])], 1)


def acceleration(legs: list[Leg]) -> float:
    """The root mean square over the joints of the legs [degrees a frame, squared]."""
    found = []
    for leg in legs:
        turns = joints(leg)
        found.append(np.diff(quaternion.log(quaternion.relative(turns[:-1], turns[1:])), axis=0))
    return float(np.degrees(np.sqrt((np.array(found) ** 2).sum(-1).mean())))


def pop(original: Leg, before: Leg, after: Leg) -> float:
    steps = [np.degrees(np.abs(np.diff(bends(leg)))) for leg in (original, before, after)]
    usual = np.pad(np.maximum(*steps[:2]), 3)
    usual = np.max([usual[k : k + len(steps[2])] for k in range(7)], axis=0)
    return float((steps[2] - usual).max())


def same_start(legs: list[Leg], on_ground: np.ndarray, rate: float) -> float:
    least = 1.0
    for first in (cut for cut in _CUTS if 2 * cut < len(on_ground)):
        cut = [leg._replace(**{name: getattr(leg, name)[first:] for name in ("hip", "knee", "ankle", "turns")})
               for leg in legs]  # fmt: skip
        least = min(least, float((contacts(cut, rate) == on_ground[first:])[4:].mean()))
    return least


def measured(original: list[Leg], kind: str, rate: float = RATE) -> dict[str, float]:
    """The figures of one clip."""
    true, legs = contacts(original, rate), sliding(original, kind, rate, 0)
    on_ground = contacts(legs, rate)
    after = mended(legs, rate)
    knees = np.degrees([np.abs(bends(a) - bends(b)) for a, b in zip(legs, after, strict=True)])
    far = [0.0]
    for k, (a, b) in enumerate(zip(legs, after, strict=True)):
        near = np.convolve(on_ground[:, k].any(-1), np.ones(2 * round(_FAR * rate / RATE) + 1), "same") > 0.0
        far.append(float(np.degrees(quaternion.angle(joints(a), joints(b))[~near]).max(initial=0.0)))
    hips = [np.sqrt((np.diff(middle(one), 2, 0) ** 2).mean()) for one in (original, after)]
    return {
        "contacts": float(on_ground.mean()),
        "f1": 2.0 * (true & on_ground).sum() / max(true.sum() + on_ground.sum(), 1),
        "slid": slide(legs, on_ground, rate), "slides": slide(after, on_ground, rate),
        "knee": float(np.median(knees)), "knee_most": float(knees.max()), "far": max(far),
        "pop": max(map(pop, original, legs, after)), "leg": acceleration(after) / acceleration(original),
        "hips": float(hips[1] / max(hips[0], 1e-9)), "start": same_start(legs, on_ground, rate),
    }  # fmt: skip


def summary(rows: list[dict[str, float]]) -> str:
    """What is asked of all clips, and how many are off."""
    every = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    left = every["slides"] / every["slid"]

    def spread(name: str) -> str:
        low, middle_one, high = np.percentile(every[name], (0, 50, 100))
        return f"{name} {middle_one:.3f} ({low:.3f} to {high:.3f})"

    return "; ".join([
        f"{len(rows)} clips", f"mean F1 {every['f1'].mean():.3f}",
        f"slide left {100.0 * every['slides'].sum() / every['slid'].sum():.3f} % (most {100.0 * left.max():.2f} %)",
        *map(spread, ("f1", "knee", "far", "pop", "leg", "hips", "start")),
        f"far over 3: {(every['far'] > 3.0).sum()}", f"pop over 5: {(every['pop'] > 5.0).sum()}",
        f"leg over 1 %: {(every['leg'] > 1.01).sum()}, over 10 %: {(every['leg'] > 1.1).sum()}",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--clips", nargs="*", default=[])
    parser.add_argument("--every", type=int, default=5, help="takes each so-manieth clip, if no clips are named")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--frames", type=int, default=400, help="the most frames of a clip")
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--rate", type=float, default=RATE, help="frames a second")
    parser.add_argument("--slower", type=float, default=1.0, help="plays the clips so many times slower")
    parser.add_argument("--quiet", action="store_true", help="only the summary")
    wanted = parser.parse_args()
    skeletons, clips = load(wanted.data)
    named = [clip for clip in clips if clip.name in wanted.clips]
    for kind in wanted.kinds:
        rows = list[dict[str, float]]()
        for clip in named or clips[wanted.first :: wanted.every]:
            cut = resampled(clip, wanted.rate / RATE * wanted.slower, wanted.frames)
            row = measured(legs_of(skeletons[clip.skeleton], cut), kind, wanted.rate)
            if row["contacts"] > _LEAST:
                rows.append(row)
            if not wanted.quiet:
                print(f"{clip.name:26s} {kind:5s}", *(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
        if rows:
            print(f"== {kind}: {summary(rows)}", flush=True)


if __name__ == "__main__":
    main()
