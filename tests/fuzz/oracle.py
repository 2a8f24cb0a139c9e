# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold whatever a user did, judged by Blender's own evaluation and the public properties alone.

`Watch` looks on after each step and changes nothing. The `check_...` functions are steps of a walk themselves: they
visit frames, bake or undo, and compare.
"""

from collections.abc import Callable, Container, Mapping
from math import degrees, hypot, pi

import bpy
import goals
import numpy as np
import rigs
from mathutils import Matrix, Quaternion
from outside import turns_bones
from relations import couplings_hold, floor_holds, kind_is_met
from rigs import at_frame, evaluated, update
from vocabulary import BrokenError, armatures, forget, shown

__all__ = ["check_frame", "check_off_and_on", "check_scenes", "check_undo"]

ANGLE = 0.02  # [deg] by which two evaluations of one pose may differ
LENGTH = 1e-4  # of the rig's size
LIMIT = 2e-3  # [rad] by which a bone may be outside its limits
QUIET = ("frame", "target", "goal", "setting", "live", "check")  # groups of steps that pose no bone by themselves
NO_HAND = (*QUIET, "handlers", "sims", "scenes", "nla", "export")
"""Groups of steps that hold no bone and release none."""


# -- comparing ---------------------------------------------------------------------------------------------------------


def poses(but: Mapping[goals.Key, Container[str]] | None = None) -> dict[goals.Key, np.ndarray]:
    """The evaluated matrices of all armatures in the view layer. but : bones of armatures that do not count."""
    found = {goals.key_of(ob): rigs.matrices(ob) for ob in shown() if len(ob.data.bones)}
    for key, names in (but or {}).items():
        counting = [one.name not in names for ob in shown() if goals.key_of(ob) == key for one in ob.pose.bones]
        found |= {key: found[key][np.array(counting)]} if key in found else {}
    return found


def poses_that_stay() -> dict[goals.Key, np.ndarray]:
    """As above without armatures on which bones are animated and not solved: Blender takes these to other frames."""
    stay = {goals.key_of(ob) for ob in shown() if animated_bones(ob) <= goals.solved_bones(ob)}
    return {key: pose for key, pose in poses().items() if key in stay}


def difference(before: dict[goals.Key, np.ndarray], after: dict[goals.Key, np.ndarray]) -> tuple[float, float, str]:
    """The largest turn [deg], the largest move as a share of the size, and the armature with the largest of them."""
    worst = (0.0, 0.0, "")
    for ob in shown():
        a, b = before.get(goals.key_of(ob)), after.get(goals.key_of(ob))
        if a is None or b is None or a.shape != b.shape:
            continue
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            continue
        lengths = np.linalg.norm(a[:, :3, :3], axis=1)
        whole = (lengths > 1e-4).all(1) & (np.linalg.norm(b[:, :3, :3], axis=1) > 1e-4).all(1)
        turn = degrees(rigs.turn(a[whole], b[whole])) if whole.any() else 0.0
        moved = float(np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=1).max()) / goals.size(ob)
        if moved < 1e-5 * float(np.abs(a[:, :3, 3]).max()) / goals.size(ob):
            moved = 0.0  # rounding of bones that stand far away
        worst = max(worst, (turn, moved, ob.name), key=lambda item: item[0] / ANGLE + item[1] / LENGTH)
    return worst


def same(kind: str, before: dict, after: dict[goals.Key, np.ndarray], words: str, times: float = 1.0) -> None:
    """Raise where two poses differ by more than so many times the room that there is."""
    turn, moved, name = difference(before, after)
    if turn > times * ANGLE or moved > times * LENGTH:
        raise BrokenError(kind, f"{words}: {name!r} differs by {turn:.3g} degrees, {moved:.3g} of its size")


def all_channels(ob: bpy.types.Object) -> np.ndarray:
    """Every channel (N, 17) of the original bones."""
    return np.hstack([rigs.channels(ob), np.array([tuple(one.scale) for one in ob.pose.bones])])


def holds(ob: bpy.types.Object) -> dict[str, float]:
    """The hold of each bone."""
    return {one.name: one.dqik_hold for one in ob.pose.bones}


def animated_paths(ob: bpy.types.Object) -> list[str]:
    """What keys, also those in tracks, and drivers may set."""
    data = ob.animation_data
    if data is None:
        return []
    actions = [data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)]
    paths = [curve.data_path for curve in data.drivers]
    return paths + [path for action in actions if action is not None for path in action_paths(action)]


def action_paths(action: bpy.types.Action) -> list[str]:
    """What the keys of an action set, in all of its slots."""
    if not hasattr(action, "layers"):
        return [curve.data_path for curve in action.fcurves]
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve.data_path for bag in bags for curve in bag.fcurves]


def animated_bones(ob: bpy.types.Object) -> set[str]:
    """Names of the bones whose channels keys or drivers may set."""
    paths = animated_paths(ob)
    return {one.name for one in ob.pose.bones if any(f'bones["{one.name}"]' in path for path in paths)}


def live_is_keyed(ob: bpy.types.Object) -> bool:
    return any("dqik.live" in path for path in animated_paths(ob))


def settle(frame: float) -> None:
    """Go to a frame with everything evaluated afresh: what a removed driver left behind is gone then."""
    for ob in bpy.data.objects:
        ob.update_tag()
    update()
    at_frame(frame)


# -- looking on --------------------------------------------------------------------------------------------------------


class Watch:
    """Looks at the file after each step."""

    def __init__(self) -> None:
        self.live: dict[goals.Key, bool] = {}
        self.moved: dict[goals.Key, set[str]] = {}
        self.channels: dict[goals.Key, dict[str, np.ndarray]] = {}
        self.holds: dict[goals.Key, dict[str, float]] = {}

    def before(self) -> None:
        """Note what the next step must not change."""
        self.live = {goals.key_of(ob): ob.dqik.live for ob in armatures()}
        self.channels = {}
        with_goals = [ob for ob in armatures() if ob.pose is not None and len(ob.dqik.goals)]
        self.holds = {goals.key_of(ob): holds(ob) for ob in with_goals}  # others are not looked after
        for ob in armatures():
            if ob.pose is not None and len(ob.pose.bones):
                names = [one.name for one in ob.pose.bones]
                self.channels[goals.key_of(ob)] = dict(zip(names, all_channels(ob), strict=True))
                self.moved.setdefault(goals.key_of(ob), set()).update(goals.chains(ob))

    def after(self, group: str) -> None:
        """Raise where something does not hold."""
        for ob in armatures():
            if ob.pose is None:
                continue
            self._finite(ob)
            if group in NO_HAND and not turns_bones():
                self._held_alike(ob)
            if group in QUIET:
                if not turns_bones():
                    self._left_alone(ob)
                self._still_live(ob, group)
        for ob in shown():
            if ob.mode != "EDIT" and len(ob.data.bones):
                if group != "files" or not any("dqik.goals" in path for path in animated_paths(ob)):
                    report_is_true(ob)  # after loading, Blender shows keyed settings as they were saved
                limits_hold(ob)
                couplings_hold(ob)
                floor_holds(ob)
        for ob in armatures():
            if ob.pose is not None and not ob.dqik.live:
                self.moved[goals.key_of(ob)] = set()
            elif ob.pose is not None and group not in QUIET:  # undone, loaded, edited: whatever it was, it may be ours
                self.moved[goals.key_of(ob)] = {one.name for one in ob.pose.bones}

    @staticmethod
    def _finite(ob: bpy.types.Object) -> None:
        if len(ob.pose.bones) and not np.isfinite(all_channels(ob)).all():
            raise BrokenError("nan", f"{ob.name!r} has a channel that is no number")

    def _held_alike(self, ob: bpy.types.Object) -> None:
        """A hold changes by a hand only; that of a keyed bone also goes with the frame on which it was posed."""
        before, animated = self.holds.get(goals.key_of(ob), {}), animated_bones(ob)
        for name, hold in holds(ob).items():
            if name not in animated and before.get(name, hold) != hold:
                raise BrokenError("hold", f"{name!r} of {ob.name!r} had hold {before[name]:g} and has {hold:g} though "
                                          "no hand posed it")  # fmt: skip

    def _still_live(self, ob: bpy.types.Object, group: str) -> None:
        keyed = live_is_keyed(ob)
        silent = self.live.get(goals.key_of(ob)) and not ob.dqik.live and not ob.dqik.status.message
        if silent and not keyed and group not in ("live", "check"):
            raise BrokenError("off", f"{ob.name!r} is live no longer, without a message")

    def _left_alone(self, ob: bpy.types.Object) -> None:
        """Bones that no goal has moved since live solving went on have the channels that they had."""
        own = goals.key_of(ob)
        before, moved = self.channels.get(own, {}), self.moved.get(own, set()) | goals.chains(ob)
        animated = animated_bones(ob)
        for one, now in zip(ob.pose.bones, all_channels(ob) if len(ob.pose.bones) else (), strict=True):
            was = before.get(one.name)
            if was is None or one.name in moved or one.name in animated:
                continue
            if not np.array_equal(was, now):
                raise BrokenError("outside", f"{one.name!r} of {ob.name!r} is in no chain and was changed by "
                                             f"{np.abs(was - now).max():.3g}")  # fmt: skip


def report_is_true(ob: bpy.types.Object) -> None:
    """Where the report says that all goals are met, Blender's evaluation says so too, except for wishes."""
    settings = ob.dqik
    if not settings.status.converged or settings.status.message or not goals.is_live(ob):
        return
    shape = evaluated(ob)
    if not goals.finite(shape.matrix_world) or abs(shape.matrix_world.determinant()) < 1e-9 or goals.follows_itself():
        return
    into, (*_, scale) = shape.matrix_world.inverted(), shape.matrix_world.decompose()
    rolls = goals.rolled(ob)
    even_object = min(scale) > 0.0 and max(scale) < 1.0001 * min(scale) and ob.parent is None
    for goal, matrix in goals.active_goals(ob):
        if goal.influence < 1.0 or goal.priority < 0 or goal.bone in rolls:
            continue
        one, wanted = shape.pose.bones[goal.bone], into @ matrix
        if goal.kind != "REACH":
            if even_object and evenly_scaled(one.matrix) and goal.position_weight and goal.rotation_weight:
                kind_is_met(shape, goal, wanted)
            continue
        end = one.tail if goal.use_tail else one.head
        miss = (end - wanted.translation).length
        far = max(wanted.translation.length, end.length, shape.matrix_world.translation.length / min(map(abs, scale)))
        room = 1.2 * settings.tolerance * goals.size(ob) + 5e-5 * goals.size(ob) + 1e-5 * far
        if goal.use_position and goal.position_weight > 0.0 and not miss <= room:
            raise BrokenError("met", f"{ob.name!r} says that its goals are met; {goal.bone!r} misses by {miss:.3g}, "
                                     f"{miss / goals.size(ob):.3g} of the size")  # fmt: skip
        even = even_object and all(evenly_scaled(part) for part in (wanted, one.matrix, *carriers_of(shape, goal)))
        if goal.use_rotation and goal.rotation_weight > 0.0 and even:
            turn = rigs.turn(np.array(one.matrix)[None], np.array(carried(shape, goal, wanted))[None])
            if turn > 1.2 * settings.rotation_tolerance + 2e-3:
                raise BrokenError("met", f"{ob.name!r} says that its goals are met; {goal.bone!r} is turned "
                                         f"{degrees(turn):.3g} degrees off")  # fmt: skip


def carriers_of(shape: bpy.types.Object, goal: bpy.types.PropertyGroup) -> list[Matrix]:
    """The matrices of the bones that carry a goal's rotation, if it follows."""
    bones = [shape.pose.bones.get(name) for name in (goal.bone, goal.subtarget)] if goal.rotation_follows else []
    return [one.parent.matrix for one in bones if one is not None and one.parent is not None]


def carried(shape: bpy.types.Object, goal: bpy.types.PropertyGroup, wanted: Matrix) -> Matrix:
    """A target in armature space, turned with the limb above its goal's bone as far as its rotation follows."""
    above, share = shape.pose.bones[goal.bone].parent, goal.rotation_follows
    control = shape.pose.bones.get(goal.subtarget) if goals.key_of(goal.target) == goals.key_of(shape) else None
    own = control.parent if control is not None and control.bone.use_inherit_rotation else None
    turn = Quaternion().slerp(_from_rest(above), share) @ Quaternion().slerp(_from_rest(own), share).inverted()
    return turn.to_matrix().to_4x4() @ wanted


def _from_rest(bone: bpy.types.PoseBone | None) -> Quaternion:
    if bone is None:
        return Quaternion()
    return bone.matrix.to_quaternion() @ bone.bone.matrix_local.to_quaternion().inverted()


def evenly_scaled(matrix: Matrix) -> bool:
    """Whether a matrix only turns and scales alike in all directions."""
    axes = np.array(matrix)[:3, :3]
    lengths = np.linalg.norm(axes, axis=0)
    if lengths.min() < 1e-6 or lengths.max() > 1.0001 * lengths.min():
        return False
    unit = axes / lengths
    return bool(np.allclose(unit.T @ unit, np.eye(3), atol=1e-4) and np.linalg.det(unit) > 0.0)


def outside_limits(one: bpy.types.PoseBone) -> float:
    """How far [rad] a bone's own rotation is outside the box of its limits; 0 where no rotation could be inside."""
    twist, x, z = np.radians(rigs.twist_and_swing(rigs.channel_rotation(one)))
    ranges = [
        (getattr(one, f"dqik_{part}_min"), getattr(one, f"dqik_{part}_max")) for part in ("twist", "swing_x", "swing_z")
    ]
    if any(hi < lo for lo, hi in ranges) or hypot(*(max(lo, -hi, 0.0) for lo, hi in ranges[1:])) > pi - 0.1:
        return 0.0
    angle = hypot(x, z)
    if abs(angle - pi) < 1e-3:
        return 0.0  # at half a turn of swing the twist is not determined
    around = 1.0 - 2.0 * pi / angle if angle > 1e-6 else 1.0  # the same swing, the long way round
    ways = [(twist + 2.0 * pi * k, x * way, z * way) for k in (-1, 0, 1) for way in (1.0, around)]
    return min(max(_excess(angle, *ends) for angle, ends in zip(angles, ranges, strict=True)) for angles in ways)


def _excess(angle: float, lo: float, hi: float) -> float:
    return 0.0 if hi - lo >= 2.0 * pi - 1e-6 else max(lo - angle, angle - hi, 0.0)


def limits_hold(ob: bpy.types.Object) -> None:
    """Every bone that a goal moves is inside its limits."""
    status = ob.dqik.status
    solved = goals.is_live(ob) and (status.converged or status.iterations > 0) and not status.message
    if not solved or ob.data.pose_position == "REST":
        return
    driven = [curve.data_path for curve in ob.animation_data.drivers] if ob.animation_data else []
    left = goals.carriers(ob)
    for goal, _ in goals.active_goals(ob):
        for one in goals.turned(ob, goal):
            ours = not one.dqik_lock and not len(one.constraints) and one.name not in left
            ours = ours and not any(f'bones["{one.name}"]' in path for path in driven)
            if ours and one.dqik_use_limits and outside_limits(one) > LIMIT:
                raise BrokenError("limits", f"{one.name!r} of {ob.name!r} is {degrees(outside_limits(one)):.3g} "
                                            "degrees outside its limits")  # fmt: skip


# -- checks that are steps of a walk -----------------------------------------------------------------------------------


def check_frame(frame: float, other: float) -> None:
    """A frame looks the same to a fresh session, and by whatever way it was reached."""
    at_frame(frame)
    if goals.history_matters() or turns_bones():
        return
    here = poses()
    forget()
    at_frame(frame)
    same("fresh", poses(), here, f"Frame {frame:g} is not what a fresh session makes of it")
    at_frame(other)
    at_frame(frame)
    same("order", here, poses(), f"Frame {frame:g} depends on whether frame {other:g} was visited before")


def check_off_and_on(ob_of: Callable[[], bpy.types.Object], frames: tuple[float, ...]) -> None:
    """Live on, some frames, and live off again gives every channel back."""
    frame = bpy.context.scene.frame_current_final
    ob = ob_of()
    if live_is_keyed(ob) or ob not in bpy.context.view_layer.objects.values():  # such a one stands still
        return
    ob.dqik.live = False
    update()
    at_frame(frame)
    before = all_channels(ob)
    animated = [one.name in animated_bones(ob) for one in ob.pose.bones]
    ob.dqik.live = True
    update()
    for other in (*frames, frame):
        at_frame(other)
    ob.dqik.live = False
    update()
    off = np.abs(all_channels(ob) - before)
    off = off[[not x for x in animated]]
    if off.size and off.max() > 0.0:
        raise BrokenError("back", f"Live on and off changed a channel of {ob.name!r} by {off.max():.3g}")
    at_frame(frame)
    off = np.abs(all_channels(ob) - before)
    if off.max() > 1e-5:
        raise BrokenError("back", f"Live on and off changed a keyed channel of {ob.name!r} by {off.max():.3g}")


def check_undo(change: Callable[[], None]) -> None:
    """Undo after a change gives back the pose before it."""
    frame = bpy.context.scene.frame_current_final
    settle(frame)
    bpy.ops.ed.undo_push(message="before")
    skip = goals.history_matters()
    before, was = poses(), {goals.key_of(ob): ob.dqik.live for ob in armatures()}
    change()
    update()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    update()
    if {goals.key_of(ob): ob.dqik.live for ob in armatures()} != was:
        raise BrokenError("undo", "Undo left live solving switched otherwise than before")
    if not skip:
        settle(frame)
        same("undo", before, poses(), "Undo does not give the pose back")


def _places() -> list[Matrix]:
    """Where all objects are; those that the scene does not show are where their channels say."""
    there = bpy.context.scene.objects
    return [(evaluated(ob).matrix_world if ob.name in there else ob.matrix_basis).copy() for ob in bpy.data.objects]


def check_scenes(other: str, frame: float, elsewhere: float) -> None:
    """A frame change in one scene leaves the pose in another scene as it is."""
    at_frame(frame)
    if goals.history_matters() or turns_bones() or other == bpy.context.scene.name:
        return
    here, places = poses_that_stay(), _places()
    bpy.data.scenes[other].frame_set(int(elsewhere))
    for ob in bpy.context.scene.objects:
        ob.update_tag()
    update()
    if places != _places():
        return  # Blender itself has taken keyed targets along, or an add-on one that this scene does not show
    same("scenes", here, poses_that_stay(), f"A frame change in {other!r} changes this scene")
