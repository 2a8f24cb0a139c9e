# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws examples for the learning: captured frames seen through figures of random proportions.

Some frames are composed: the trunk of one, the arms and legs of others. The rest poses are slightly off, as those of
rigs are.
"""

from dataclasses import dataclass, replace

import numpy as np
import poses
from package import module

figures = module("solvers.figure.figure")
bodies = module("solvers.figure.body")
views = module("solvers.figure.view")
weights = module("solvers.figure.weights")
quaternion = module("solvers.algebra.quaternion")
dual_quaternion = module("solvers.algebra.dual_quaternion")
solvers = module("solvers")

CHUNK = 250  # frames that are seen through the same figure
COMPOSED = 0.45  # share of the chunks with composed frames
PLANE = np.radians(30.0)  # by which the captured elbows' hinges are turned about the arm
HAND, HANDS = np.radians(8.0), np.radians(8.0)  # mean and spread of the same for hands, drawn for each figure
OFF, SHAKEN = np.radians(3.0), np.radians(1.5)  # of targets' rotations: by figure, and by frame
PLACE_OFF, PLACE_SHAKEN = 0.006, 0.003  # of targets' places [m]
CHEST_OFF, REACH_OFF = np.radians(6.0), 0.03  # of the chest's turn, and of the limbs' roots in lengths of the limb
SIDES = (("L", 1.0), ("R", -1.0))


@dataclass
class Examples:
    """What is told, and what is to be said, all read as the left side and mirrored.

    trunk : (N, 78) in the order of `Weights`. limbs : for arm and leg, turned and placed, features (N, 13) and answers
    (N, 7): the hinge, the turn from toes to foot or the bend of the ankle, and the bend of elbow or knee. NaN where
    there is nothing to answer.
    """

    trunk: np.ndarray
    limbs: dict[str, tuple[np.ndarray, np.ndarray]]


def examples(skeletons: dict[str, poses.Skeleton], clips: list[poses.Clip], count: int, seed: int) -> Examples:
    """`count` frames, and as many mirrored."""
    random = np.random.default_rng(seed)
    trunk: list[np.ndarray] = []
    limbs: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    shares = {kind: sum(np.sqrt(len(clip.turns)) for clip in clips if clip.skeleton == kind) for kind in skeletons}
    for kind, share in shares.items():
        pool = [clip for clip in clips if clip.skeleton == kind]
        if not pool:
            continue
        turns = np.concatenate([clip.turns for clip in pool])
        likely = np.cumsum(np.concatenate([np.full(len(c.turns), 1.0 / np.sqrt(len(c.turns))) for c in pool]))
        for _ in range(int(np.ceil(count * share / sum(shares.values()) / CHUNK))):
            picks = np.minimum(np.searchsorted(likely, random.random((4, CHUNK)) * likely[-1]), len(turns) - 1)
            skeleton = scaled(skeletons[kind], random)
            frames = turns[picks[0]]
            if random.random() < COMPOSED:
                frames = composed(skeleton, turns, picks, random)
            _see(skeleton, frames, random, trunk, limbs)
    return Examples(
        np.concatenate(trunk),
        {name: tuple(np.concatenate(part) for part in zip(*chunks, strict=True)) for name, chunks in limbs.items()},
    )


def below(skeleton: poses.Skeleton, top: int) -> list[int]:
    """A joint and all below it."""
    inside = {top}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in inside:
            inside.add(joint)
    return sorted(inside)


def between(skeleton: poses.Skeleton, top: int, end: int) -> list[int]:
    """The joints below `top` down to `end`."""
    path = [end]
    while skeleton.parents[path[-1]] != top:
        path.append(int(skeleton.parents[path[-1]]))
    return path


def scaled(skeleton: poses.Skeleton, random: np.random.Generator) -> poses.Skeleton:
    """A skeleton with random proportions and joints slightly off."""
    offsets, tails = skeleton.offsets.copy(), skeleton.tails.copy()

    def factor(most: float) -> float:
        return float(random.uniform(1.0 - most, 1.0 + most))

    trunk, shoulders, arm, leg, hips, upper = (factor(most) for most in (0.15, 0.2, 0.15, 0.15, 0.22, 0.05))
    for joint, (name, _) in skeleton.roles.items():
        if name in ("spine", "neck", "head"):
            offsets[joint] *= trunk
        if name in ("collar", "arm"):
            offsets[joint] *= shoulders
        if name == "thigh":
            offsets[joint] *= hips
    shoulder_off, hip_off = random.normal(0.0, 0.025, 3), random.normal(0.0, 0.02, 2)
    hand, foot = random.uniform(0.4, 1.6), factor(0.2)
    for side, sign in SIDES:
        for above, name, size in (("arm", "forearm", arm * upper), ("forearm", "hand", arm / upper),
                                  ("thigh", "shin", leg * upper), ("shin", "foot", leg / upper)):  # fmt: skip
            for joint in between(skeleton, skeleton.joint(above, side), skeleton.joint(name, side)):
                offsets[joint] *= size
        offsets[skeleton.joint("arm", side)] += shoulder_off * [sign, 1.0, 1.0]
        offsets[skeleton.joint("thigh", side)] += [0.0, *hip_off]
        end = skeleton.joint("hand", side)
        tails[end] *= max(np.linalg.norm(tails[end]), 0.08) * hand / max(np.linalg.norm(tails[end]), 1e-3)
        tails[skeleton.joint("toes", side)] *= foot
    tails[skeleton.joint("head")] *= random.uniform(0.3, 1.8)
    return poses.Skeleton(skeleton.names, skeleton.parents, offsets, tails, skeleton.roles)


def composed(
    skeleton: poses.Skeleton, turns: np.ndarray, picks: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Frames with the trunk of the first picks, and limbs of others against chest and hips."""
    first, legs = turns[picks[0]].copy(), picks[3]
    hips, chest = skeleton.joint("hips"), [j for j, (name, _) in skeleton.roles.items() if name == "spine"][-1]
    for pick, (side, _) in zip(picks[1:3], SIDES, strict=True):
        _carry(first, turns[pick], chest, below(skeleton, skeleton.joint("collar", side)), picks[0], turns)
        legs = pick if random.random() < 0.5 else legs
        _carry(first, turns[legs], hips, below(skeleton, skeleton.joint("hip_joint", side)), picks[0], turns)
    return first


def _carry(
    frames: np.ndarray, others: np.ndarray, base: int, joints: list[int], own: np.ndarray, turns: np.ndarray
) -> None:
    """Write the turns of `joints` against `base` in other frames into frames, in place."""
    turn = quaternion.product(turns[own][:, base], quaternion.conjugate(others[:, base]))
    frames[:, joints] = quaternion.product(turn[:, None], others[:, joints])


def figure_of(
    skeleton: poses.Skeleton, turned: bool, on_toes: bool, longer_hand: bool
) -> tuple[figures.RestFigure, "solvers.Skeleton"]:
    """The figure of a captured skeleton, with goals at the tails of hands, feet or toes, and head."""
    joints = [
        solvers.Joint(f"{number} {name}", int(parent), "ball", offset)
        for number, (name, parent, offset) in enumerate(
            zip(skeleton.names, skeleton.parents, skeleton.offsets, strict=True)
        )
    ]  # fmt: skip
    body, heads = solvers.Skeleton(joints), skeleton.heads()
    goals = []
    for name in ("hand", "toes" if on_toes else "foot", "head"):
        for side in ("",) if name == "head" else ("L", "R"):
            joint = skeleton.joint(name, side)
            offset = skeleton.tails[joint]
            if name == "hand" and longer_hand:
                offset = offset * 1.8
            goals.append(solvers.Goal(
                joint, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0) if turned else None,
                offset=tuple(offset),
            ))  # fmt: skip
    bones: dict[tuple[str, str], list[figures.Bone]] = {}
    for joint, role in sorted(skeleton.roles.items()):
        bones.setdefault(role, []).append(figures.Bone(joint, heads[joint]))
    motions = np.tile(quaternion.IDENTITY, (len(body), 1))
    return figures.of(body, goals, bones, body.links, motions), body


def _see(
    skeleton: poses.Skeleton, turns: np.ndarray, random: np.random.Generator, trunk: list[np.ndarray],
    limbs: dict[str, list[tuple[np.ndarray, np.ndarray]]],
) -> None:  # fmt: skip
    """Add what is told of frames (F, J, 4) of world turns, with and without rotations."""
    on_toes, longer = bool(random.integers(2)), bool(random.integers(2))
    parents = np.maximum(skeleton.parents, 0)
    local = quaternion.relative(turns[:, parents], turns)
    local[:, skeleton.parents < 0] = turns[:, skeleton.parents < 0]
    tilt, hand_turn = random.normal(0.0, OFF, (1, 5, 3)), random.normal(HAND, HANDS)
    shake = random.normal(0.0, SHAKEN, (len(turns), 5, 3))
    off = random.normal(0.0, PLACE_OFF, (1, 5, 3)) + random.normal(0.0, PLACE_SHAKEN, (len(turns), 5, 3))
    chest_off = random.normal(0.0, CHEST_OFF, (len(turns), 3))
    told = []
    for turned in (True, False):
        figure, body = figure_of(skeleton, turned, on_toes, longer)
        if not isinstance(figure, figures.RestFigure) or len(figure.limbs) != 4:
            return
        figure = replace(figure, limbs=tuple(
            replace(limb, end_frame=_twisted(limb.frames[1], hand_turn)[:, :2]) if limb.kind == "arm" else limb
            for limb in figure.limbs
        ))  # fmt: skip
        seer = bodies.Predictor(figure, weights.constant(), np.ones(len(body)))
        viewer = views.Viewer(figure)
        world = body.transforms(local, None)
        view = viewer.of_pose(world, body.links[None])
        view = views.View(view.places + off, view.turns)
        if turned:
            view = view._replace(turns=quaternion.product(view.turns, quaternion.exp(tilt + shake)))
        chest = viewer.chest(world, body.links[None])
        told.append(seer.features(view))
        noisy = quaternion.product(chest, quaternion.exp(chest_off))
        _, _, matrix, place = seer.chest.turned(quaternion.log(noisy))
        seen = seer.seen_by_limbs(seer.vectors(view), matrix, place)
        off_root = random.normal(0.0, REACH_OFF, seen[:, :, 0].shape)
        seen[:, :, 0] += off_root * np.array([[limb.size] for limb in figure.limbs])
        inputs, _ = seer.told_of_limbs(seen)
        answers = _answers(figure, viewer, world, chest)
        for k, limb in enumerate(figure.limbs):
            name = f"{limb.kind}/{'turned' if turned else 'placed'}"
            limbs.setdefault(name, []).append((inputs[:, k], answers[:, k]))
    both = [np.split(part, 5, axis=1) for part in told]
    rows = [part for pair in zip(*both, strict=True) for part in pair]
    row = np.concatenate([*rows, quaternion.log(chest)], 1)
    trunk += [row, mirrored(row)]


def _twisted(frame: np.ndarray, angle: float) -> np.ndarray:
    """A limb's frame turned about the limb, as `body` does with the plane of arms."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return frame @ np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])


def _answers(figure: "figures.RestFigure", viewer: "views.Viewer", world: np.ndarray, chest: np.ndarray) -> np.ndarray:
    """The answers (F, L, 7) in the captured pose."""
    hips = viewer.turns(world, np.array([figure.hips.joint]))
    answers = np.zeros((len(world), len(figure.limbs), 7))
    places = dual_quaternion.translation(world)
    for k, limb in enumerate(figure.limbs):
        mirror = np.ones(4) if limb.side == "L" else bodies.MIRROR
        joints = np.array([limb.upper, limb.end, limb.toes, limb.lower])
        turns = quaternion.relative(hips, viewer.turns(world, joints)) * mirror
        upper = quaternion.relative(chest * mirror, turns[:, 0]) if limb.kind == "arm" else turns[:, 0]
        frame = _twisted(limb.frames[0], PLANE) if limb.kind == "arm" else limb.frames[0]
        answers[:, k, :3] = quaternion.rotate(upper, frame[:, 2])
        lines = np.diff(places[:, [limb.upper, limb.lower, limb.end]], axis=1)
        across = np.linalg.norm(np.cross(lines[:, 0], lines[:, 1]), axis=-1)
        answers[:, k, 6] = np.arctan2(across, (lines[:, 0] * lines[:, 1]).sum(-1))
        if limb.kind == "leg" and not limb.turned:  # how far the foot is bent
            answers[:, k, 5] = quaternion.log(quaternion.relative(turns[:, 3], turns[:, 1])) @ limb.frames[1][:, 2]
        if limb.toe.any():
            answers[:, k, 3:6] = quaternion.log(quaternion.relative(turns[:, 2], turns[:, 1]))
        elif limb.kind == "leg" and limb.turned:
            answers[:, k, 3:6] = np.nan
    return answers


def mirrored(rows: np.ndarray) -> np.ndarray:
    """The mirror image of the trunk's rows: x changes its sign, and sides change places."""
    each = weights.TURNED + weights.PLACED
    sign = np.tile([-1.0, 1.0, 1.0], each // 3)
    order = [1, 0, 3, 2, 4]
    parts = [rows[:, each * number : each * (number + 1)] * sign for number in order]
    return np.concatenate([*parts, rows[:, -3:] * [1.0, -1.0, -1.0]], 1)
