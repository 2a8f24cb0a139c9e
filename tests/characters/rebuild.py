# SPDX-License-Identifier: GPL-3.0-or-later
"""Rebuilds the motions of characters from hands, feet, head and hips alone, with DQIK and with Blender's legacy IK.

    python tests/characters/rebuild.py [--ways native,fbx] [--motions walk,reach] [--natural 1] [--jobs 2]
        [character or BVH file ...]

Run it with a Python that has bpy. A motion (`motions`), or that of a BVH file with the names of the Carnegie Mellon
database, is played, the places of hands, feet, head and hips are
recorded, and the pose is rebuilt from them: by DQIK after Set Up Full Body, with Human Limits and without, and by
legacy IK constraints on the same bones. Printed are, over all frames, the mean angle between the rebuilt bones and the
true ones, pops (a bone turns by more than 20 degrees in a frame), and knees and elbows that are bent backward by more
than 8 degrees or sideways by more than 60.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import jobs  # noqa: E402
import measure  # noqa: E402
import poses  # noqa: E402
from clips import clip  # noqa: E402
from film import angle  # noqa: E402
from motions import FRAMES, MOTIONS, Puppet  # noqa: E402
from person import Figure  # noqa: E402

import build  # noqa: E402

POP = 20.0
PARTS = ("spine", "neck", "head", "collar", "arm", "forearm", "hand", "thigh", "shin", "foot", "hips")
ENDS = (("hips", ""), ("head", ""), ("hand", "L"), ("hand", "R"), ("foot", "L"), ("foot", "R"))
METHODS = ("DQIK", "DQIK, limits", "legacy limbs", "legacy body")


@dataclass
class Record:
    """A motion of F frames: armature-space matrices of all N bones (F, N, 4, 4), and wrong bends in all frames."""

    matrices: np.ndarray
    wrong: int = 0

    def turns(self, parents: Sequence[int]) -> np.ndarray:
        """Rotations (F, N, 3, 3) of bones against their parents."""
        own = _rotations(self.matrices)
        above = np.array(parents)
        return np.where((above >= 0)[:, None, None], np.swapaxes(own[:, above], -1, -2) @ own, own)


def recorded(ob: bpy.types.Object, limbs: list, names: list[str], frames: Sequence, act: Callable) -> Record:
    """Act on each frame, and record the pose."""
    matrices, wrong = [], 0
    for frame in frames:
        act(frame)
        bpy.context.view_layer.update()
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrices.append([np.array(shown.pose.bones[name].matrix) for name in names])
        for limb in limbs:
            bent, side = poses.bend(shown, limb)
            wrong += bent < -measure.BACKWARD or abs(side) > measure.SIDEWAYS
    return Record(np.array(matrices), wrong)


def played(ob: bpy.types.Object, figure: Figure, motion: str) -> tuple[Sequence, Callable]:
    """The frames of a motion, and what shows one of them; the armature's own action if `motion` is empty."""
    if motion:
        return [MOTIONS[motion](frame / FRAMES) for frame in range(FRAMES)], Puppet(figure).take
    first, last = map(int, ob.animation_data.action.frame_range)
    return range(first, last + 1), bpy.context.scene.frame_set


def rebuilt(name: str, way: str, motion: str, method: str, natural: float) -> dict[str, float]:
    """One motion, rebuilt with one method: mean degrees, pops, wrong bends and their true number, and misses.

    name : of a character, or a file of captured motion. natural : the amount of the natural pose.
    """
    character = clip(name) if name.endswith(".bvh") else measure.BY_NAME[name]
    ob = measure.made(character, way)
    figure = Figure(ob, build.truth(character))
    limbs = poses.limbs(character, figure.roles, ob)
    bones = [(bone.name, figure.roles.get(bone.name)) for bone in ob.pose.bones]
    names = [name for name, role in bones if role is not None and role[0] in PARTS]
    parents = [next((names.index(above.name) for above in ob.data.bones[name].parent_recursive if above.name in names),
                    -1) for name in names]  # fmt: skip
    true = recorded(ob, limbs, names, *played(ob, figure, motion))
    ends = [figure.bone(*end) for end in ENDS]
    goals = [{end: ob.matrix_world @ Matrix(own[names.index(end)].tolist()) for end in ends} for own in true.matrices]
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
    bpy.context.view_layer.update()
    targets = _dqik(ob, method, natural) if method.startswith("DQIK") else _legacy(ob, figure, method)

    def aim(places: dict[str, Matrix]) -> None:
        for bone, place in places.items():
            targets[bone].matrix_world = place

    answer = recorded(ob, limbs, names, goals, aim)
    away = angle(_rotations(answer.matrices), _rotations(true.matrices))
    steps = angle(*(answer.turns(parents)[part] for part in (slice(1, None), slice(None, -1))))
    true_steps = angle(*(true.turns(parents)[part] for part in (slice(1, None), slice(None, -1))))
    numbers = [names.index(end) for end in ends if end != figure.bone("hips")]
    misses = np.linalg.norm((answer.matrices - true.matrices)[:, numbers, :3, 3], axis=-1).max(-1)
    size = figure.size / ob.matrix_world.to_scale().x
    popped = (steps > POP) & (true_steps < POP)
    joints = {names[bone]: int(count) for bone, count in enumerate(popped.sum(0)) if count}
    return {"degrees": float(away.mean()), "pops": int(popped.sum()), "popped": joints,
            "frames": (1 + np.flatnonzero(popped.any(-1))).tolist(),
            "worst": float(steps.max()), "wrong": answer.wrong, "true wrong": true.wrong,
            "miss": float(misses.max() / size)}  # fmt: skip


def _rotations(matrices: np.ndarray) -> np.ndarray:
    own = matrices[:, :, :3, :3]
    return own / np.linalg.norm(own, axis=-2, keepdims=True)


def _dqik(ob: bpy.types.Object, method: str, natural: float) -> dict[str, bpy.types.Object]:
    """Targets by bone, of goals as Set Up Full Body makes them."""
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    for goal in ob.dqik.goals:  # captured hands are turned in the world
        goal.rotation_follows = 0.0
    if "limits" in method:
        bpy.ops.dqik.limits_preset()
    ob.dqik.natural_pose = natural
    ob.dqik.live = True
    return {goal.bone: goal.target for goal in ob.dqik.goals}


def _legacy(ob: bpy.types.Object, figure: Figure, method: str) -> dict[str, bpy.types.Object]:
    """Targets by bone, of legacy IK.

    "limbs": arms and legs are chains of two bones, the head's chain is the trunk, and hips are held by a constraint, as
    riggers set it up. "body": all chains lead up to the hips, as those of Set Up Full Body do.
    """
    targets = {}
    for role, side in ENDS:
        bone = ob.pose.bones[figure.bone(role, side)]
        target = targets[bone.name] = bpy.data.objects.new(bone.name, None)
        bpy.context.scene.collection.objects.link(target)
        target.rotation_mode = "QUATERNION"
        target.matrix_world = ob.matrix_world @ bone.matrix
        turn = bone.constraints.new("COPY_ROTATION")
        turn.target = target
        if role == "hips":
            bone.constraints.new("COPY_LOCATION").target = target
            continue
        top = figure.bone("hips") if role == "head" or method == "legacy body" else figure.bone(
            *{"hand": ("arm", side), "foot": ("thigh", side)}[role])  # fmt: skip
        above = [other.name for other in bone.parent_recursive]
        ik = bone.parent.constraints.new("IK") if bone.bone.use_connect else bone.constraints.new("IK")
        ik.target = target
        if ik.id_data and not bone.bone.use_connect:
            ik.use_tail = False
        ik.chain_count = above.index(top) + (0 if top == figure.bone("hips") else 1)
    return targets


def main() -> None:
    """Rebuild and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("characters", nargs="*", help="characters, or BVH files of captured motion")
    parser.add_argument("--ways", default="native,fbx")
    parser.add_argument("--motions", default=",".join(MOTIONS))
    parser.add_argument("--methods", default=";".join(METHODS))
    parser.add_argument("--natural", type=float, default=1.0, help="amount of the natural pose")
    parser.add_argument("--jobs", type=int, default=jobs.usual(), help="number of processes")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    chosen = arguments.characters or [
        name for name, one in measure.BY_NAME.items() if one.human and set(ENDS) <= set(build.truth(one).values())
    ]
    methods = arguments.methods.split(";")
    print("| character | way | " + " | ".join(methods) + " |", file=sys.stderr)
    print("|" + "---|" * (len(methods) + 2), file=sys.stderr)
    tasks = [
        (name, way, motion, method, arguments.natural)
        for name in chosen
        for way in (["native"] if name.endswith(".bvh") else arguments.ways.split(","))
        for method in methods
        for motion in ([""] if name.endswith(".bvh") else arguments.motions.split(","))
    ]
    answers = zip(tasks, jobs.each(rebuilt, tasks, measure.load, arguments.jobs), strict=True)
    for (name, way), of_character in groupby(answers, lambda answer: answer[0][:2]):
        cells = []
        for method, rows in groupby(of_character, lambda answer: answer[0][3]):
            found = {task[2]: row for task, row in rows}
            for motion, row in found.items() if arguments.verbose else ():
                print(method, motion, row, file=sys.stderr)
            mean = sum(row["degrees"] for row in found.values()) / len(found)
            pops, wrong = (sum(row[part] for row in found.values()) for part in ("pops", "wrong"))
            cells.append(f"{mean:.1f}, {pops}, {wrong}")
        print(f"| {Path(name).stem} | {way} | {' | '.join(cells)} |", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
