# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting the feet of the example clip, whose hips go too far or not far enough: *Mend Motion* and other ways.

The other ways lead each ankle along its captured path, moved to one place while the foot stands and back within a few
frames, as an animator does by hand: Blender's *IK* constraint with `nla.bake`, and DQIK's goals frame by frame with
*Bake*. When feet stand, which *Mend Motion* has to find out, is given to them.
"""

import contextlib
import io
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
from report import Result, Row, number

import solvers.motion

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
from clips import clip  # noqa: E402

CLIP = ROOT / "examples" / "cmu_01_01.bvh"
METRES = 0.056444  # in one unit of the clip
RATE = 30  # frames a second
STRETCHED = (0.9, 1.1)  # by which the way of the hips is scaled
SIDES = ("Left", "Right")
LEG = ("UpLeg", "Leg", "Foot", "ToeBase")
BLEND = 5  # frames in which an ankle comes to its place


def run(arguments: Namespace) -> Result:
    """Plant the feet in all ways, and draw them."""
    measure.load()
    rows = [_row(factor, name, way, arguments.frames) for factor in STRETCHED for name, way in WAYS.items()]
    draw(arguments.pictures / "mend.png")
    return Result(rows, [
        ("hips", number("factor", ".1f")),
        ("way", lambda row: str(row["way"])),
        ("slide while planted", number("slide", ".4f", 1e3 * METRES, " mm/frame")),
        ("worst", number("slide_worst", ".3f", 1e3 * METRES, " mm")),
        ("knee, step added", number("pop", ".1f", 1.0, " deg")),
        ("changed, median", number("knee", ".2f", 1.0, " deg")),
        ("worst", number("knee_worst", ".1f", 1.0, " deg")),
        ("CPU s", number("seconds", ".2f")),
    ])  # fmt: skip


def _row(factor: float, name: str, way: Callable[[bpy.types.Object, np.ndarray], None], frames: int) -> Row:
    ob = _clip(factor, frames)
    before = _film(ob)
    stands = _stands(before)
    began = time.process_time()
    way(ob, stands)
    took = time.process_time() - began
    after = _film(ob)
    inside = stands.copy()
    inside[1:-1] &= stands[:-2] & stands[2:]
    steps = np.linalg.norm(np.diff(after[:, :, 3, :2], axis=0), axis=-1)[inside[1:] & inside[:-1]]
    own, knees = _knees(before), _knees(after)
    changed = np.abs(knees - own)
    more = np.abs(np.diff(knees, axis=0)) - np.abs(np.diff(own, axis=0))
    return {
        "factor": factor, "way": name, "slide": float(steps.mean()), "slide_worst": float(steps.max()),
        "pop": float(more.max()), "knee": float(np.median(changed)),
        "knee_worst": float(changed.max()), "seconds": took if way is not _nothing else None,
    }  # fmt: skip


def _clip(factor: float, frames: int) -> bpy.types.Object:
    """The clip alone in the file, its hips' way over the ground scaled."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with contextlib.redirect_stdout(io.StringIO()):  # the importer prints a lot
        ob = clip(str(CLIP)).add()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    scene.frame_end = frames or scene.frame_end
    hips = ob.pose.bones["Hips"]
    rest = hips.bone.matrix_local.to_3x3()
    first = None
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        way = rest @ hips.location
        first = first or way.copy()
        way.xy = first.xy + factor * (way.xy - first.xy)
        hips.location = rest.inverted() @ way
        hips.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def _film(ob: bpy.types.Object) -> np.ndarray:
    """World places (F, 2, 4, 3) of the joints of both legs, as Blender shows them."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([[shown.matrix_world @ shown.pose.bones[side + part].head for part in LEG] for side in SIDES])
    return np.array(found)


def _knees(film: np.ndarray) -> np.ndarray:
    """The bends (F, 2) of the knees in degrees."""
    upper, lower = film[:, :, 1] - film[:, :, 0], film[:, :, 2] - film[:, :, 1]
    cosine = (upper * lower).sum(-1) / np.linalg.norm(upper, axis=-1) / np.linalg.norm(lower, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _stands(film: np.ndarray) -> np.ndarray:
    """The frames (F, 2) on which ankle and ball of a foot both stand, as Mend Motion finds contacts."""
    leg = float(np.linalg.norm(np.diff(film[0, 0, :3], axis=0), axis=-1).sum())
    found = solvers.motion.find_contacts(film[:, :, 2:], film[:, :, 0].mean(1), RATE, leg)
    return solvers.motion.fine_time.on_frames(found, RATE).all(-1)


# -- the picture -------------------------------------------------------------------------------------------------------

SHOWN = slice(60, 300)  # frames


def draw(path: Path) -> None:
    """Draw how far balls are from their mean place in each stance and how knees bend, before and after."""
    import plots
    from matplotlib import pyplot as plt  # imported here because the rest works without matplotlib

    ob = _clip(max(STRETCHED), 0)
    before = _film(ob)
    _mended(ob, np.zeros(0))
    films, stands = (before, _film(ob)), _stands(before)
    frames = np.arange(len(before))[SHOWN]
    with plots.style():
        figure, panels = plt.subplots(2, 2, figsize=(11.0, 5.0), sharex=True, sharey="row", layout="constrained")
        for foot, (top, bottom) in enumerate(panels.T):
            top.set_title(f"{SIDES[foot]} foot")
            for film, look in zip(films, ({"color": "0.55"}, {"color": "#1f77b4"}), strict=True):
                top.plot(frames, 1e3 * METRES * _from_mean(film[:, foot, 3, :2], stands[:, foot])[SHOWN], **look)
                bottom.plot(frames, _knees(film)[SHOWN, foot], **look)
            for panel in (top, bottom):
                for first, last in solvers.motion.runs(stands[SHOWN, foot]):
                    panel.axvspan(frames[first], frames[last - 1], color="#d9a441", alpha=0.25, lw=0)
            bottom.set_xlabel("frame")
        panels[0, 0].set_ylabel("ball from its place [mm]")
        panels[1, 0].set_ylabel("knee [degrees]")
        panels[0, 0].legend(["it slides", "mended", "stands"])
        plots.save(figure, path)


def _from_mean(places: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """How far (F,) places (F, 2) are from the mean of their stance; not a number between stances."""
    far = np.full(len(places), np.nan)
    for first, last in solvers.motion.runs(stands):
        far[first:last] = np.linalg.norm(places[first:last] - places[first:last].mean(0), axis=-1)
    return far


# -- the ways ----------------------------------------------------------------------------------------------------------


def _nothing(ob: bpy.types.Object, stands: np.ndarray) -> None:
    del ob, stands


def _mended(ob: bpy.types.Object, stands: np.ndarray) -> None:
    del stands
    ob.select_set(True)
    _done(bpy.ops.dqik.mend_motion())


def _legacy(ob: bpy.types.Object, stands: np.ndarray) -> None:
    for side, target in zip(SIDES, _targets(ob, stands), strict=True):
        leads = ob.pose.bones[side + "Leg"].constraints.new("IK")
        leads.target, leads.chain_count = target, 2
        turns = ob.pose.bones[side + "Foot"].constraints.new("COPY_ROTATION")
        turns.target = target
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = any(part in bone.name for part in ("Leg", "Foot"))
    scene = bpy.context.scene
    _done(bpy.ops.nla.bake(
        frame_start=scene.frame_start, frame_end=scene.frame_end, only_selected=True, visual_keying=True,
        clear_constraints=True, use_current_action=True, bake_types={"POSE"},
    ))  # fmt: skip


def _frame_by_frame(ob: bpy.types.Object, stands: np.ndarray) -> None:
    for side, target in zip(SIDES, _targets(ob, stands), strict=True):
        goal = ob.dqik.goals.add()
        goal.name = goal.bone = side + "Foot"
        goal.target, goal.use_rotation, goal.use_tail, goal.chain_length = target, True, False, 3
    scene = bpy.context.scene
    _done(bpy.ops.dqik.bake(frame_start=scene.frame_start, frame_end=scene.frame_end))
    ob.dqik.goals.clear()


def _done(result: set[str]) -> None:
    if result != {"FINISHED"}:
        raise RuntimeError("an operator did not finish")


def _targets(ob: bpy.types.Object, stands: np.ndarray) -> list[bpy.types.Object]:
    """Objects with keys that lead the ankles: each still while its foot stands, elsewhere beside the captured path."""
    scene, targets = bpy.context.scene, []
    for foot, side in enumerate(SIDES):
        target = bpy.data.objects.new(side, None)
        target.rotation_mode = "QUATERNION"
        scene.collection.objects.link(target)
        matrices = []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            matrices.append(shown.matrix_world @ shown.pose.bones[side + "Foot"].matrix)
        places = np.array([matrix.translation[:] for matrix in matrices])
        moved, kept = _still(places, stands[:, foot]), 0
        for row in range(len(matrices)):
            if not (row and stands[row, foot] and stands[row - 1, foot]):
                kept = row  # the first frame of a stance turns all of it
            target.location = moved[row]
            target.rotation_quaternion = matrices[kept].to_quaternion()
            for channel in ("location", "rotation_quaternion"):
                target.keyframe_insert(channel, frame=scene.frame_start + row)
        targets.append(target)
    return targets


def _still(places: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """Places (F, 3), in each stance its mean place; what that adds fades linearly within `BLEND` frames beside it."""
    added, far = np.zeros_like(places), np.full(len(places), np.inf)
    frames = np.arange(len(places))
    for first, last in solvers.motion.runs(stands):
        distance = np.maximum(np.maximum(first - frames, frames - (last - 1)), 0)
        mean = places[first:last].mean(0)
        share = np.clip(1.0 - distance / BLEND, 0.0, 1.0)[:, None]
        own = np.where((distance == 0)[:, None], mean - places, 0.0)
        own += np.where((distance > 0)[:, None], share * np.where((frames < first)[:, None], mean - places[first],
                                                                  mean - places[last - 1]), 0.0)  # fmt: skip
        nearer = distance < far
        added[nearer], far[nearer] = own[nearer], distance[nearer]
    return places + added


WAYS = {
    "as it is": _nothing, "dqik.mend_motion": _mended, "dqik goals frame by frame, bake": _frame_by_frame,
    "IK constraint, nla.bake": _legacy,
}  # fmt: skip
