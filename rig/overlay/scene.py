# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of an armature in a view: read in bulk, and turned into lines, faces and points on demand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion, twist_swing
from ...solvers.space import limit_curves
from ..blender import bulk, channels, limit_frame
from ..blender.armature import matrices
from ..blender.places import converted
from ..figure import capsules
from ..figure.capsules import BoneCapsule
from ..figure.character import Character
from ..figure.parts import LEFT, MIDDLE, RIGHT, Role
from ..frame.read import targets
from ..frame.read.targets import TargetPlace
from ..frame.read.view import View
from ..skeleton import foot_roll, obstacles
from ..skeleton.goal_facts import GoalFacts
from ..skeleton.limits import PARTS, at_limit, is_swing_limited, is_twist_limited

BORDER = 64  # points of a swing's border
ARC = 33  # points of a path or an arc
_RIBS = 8  # lines from a joint to the border of its swing
_ARC_WIDTH, _ARC_PLACE = 0.25, 0.4  # radius and place of a twist's arc, as shares of the bone's length
_ACROSS = 0.5  # a limb that leaves its bone's axis by more than this share of its length lies across the bone
_MARK = 0.08  # size of a mark, as a share of the bone's length
_CROSS = 0.02  # half the size of a cross, as a share of the figure's
_SIDES = {LEFT: "left", RIGHT: "right", MIDDLE: "middle"}  # the kinds of lines of bones with a role
_UNNAMED = ("finger", "twist")
_OCTAHEDRON = np.array([(a, b) for a in range(6) for b in range(a + 1, 6) if a // 2 != b // 2])
_AXES = np.stack([-np.eye(3), np.eye(3)], 1)  # lines along the axes
_CORNERS = np.concatenate([np.eye(3), -np.eye(3)])[[0, 3, 1, 4, 2, 5]]
_TURNS = 24  # points of a circle


@dataclass(frozen=True)
class OverlayParts:
    """Which parts are shown. misses : goals that are missed, where other goals are not shown."""

    goals: bool = True
    limits: bool = True
    at_limit: bool = True
    holds: bool = True
    roles: bool = False
    bodies: bool = True
    misses: bool = True


ONLY_MISSES = OverlayParts(goals=False, limits=False, at_limit=False, holds=False, bodies=False)


@dataclass
class Drawing:
    """The overlay in world space: by kind, lines (N, 2, 3), faces (N, 3, 3); `misses` are places (3,), errors, kinds.

    `roles` are places (3,), names of roles and their kinds. The kinds are: goal, miss and lag (from a bone to its
    target: met, missed, and not reached yet), swing and twist (limits), use (the part in use), limit (what is at its
    limit), held, body (of bones that keep apart), and left, right and middle (bones with a role).
    """

    lines: dict[str, list[np.ndarray]] = field(default_factory=dict)
    faces: dict[str, list[np.ndarray]] = field(default_factory=dict)
    misses: list[tuple[Vector, float, str]] = field(default_factory=list)
    roles: list[tuple[Vector, str, str]] = field(default_factory=list)

    def add_lines(self, kind: str, lines: np.ndarray) -> None:
        """Add lines (..., 2, 3)."""
        if lines.size:
            self.lines.setdefault(kind, []).append(lines.reshape(-1, 2, 3))

    def add_curves(self, kind: str, curves: np.ndarray) -> None:
        """Add open curves (..., K, 3)."""
        self.add_lines(kind, np.stack([curves[..., :-1, :], curves[..., 1:, :]], -2))

    def add_faces(self, kind: str, faces: np.ndarray) -> None:
        """Add triangles (..., 3, 3)."""
        if faces.size:
            self.faces.setdefault(kind, []).append(faces.reshape(-1, 3, 3))


@dataclass
class Scene:
    """The data of an armature that the overlay shows, in one view. `contents` shows by comparison what has changed.

    ob : the evaluated object. world : of all bones, in armature space. lo, hi : (N, 3) limits. frames :
    as `limit_frame.read` returns them. limited : (N,).
    holds : (N,) 0 to 1. selected : the numbers of the selected bones. facts, places : of the goals. roles : of bones,
    empty if they are not shown. bodies : (C, 4, K, 3) closed curves about bones that keep apart, if they are shown.
    lags : whether the bones are on their way to their targets.
    """

    ob: bpy.types.Object
    shown: OverlayParts
    world: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    frames: tuple[np.ndarray, np.ndarray]
    limited: np.ndarray
    holds: np.ndarray
    selected: list[int]
    facts: tuple[GoalFacts, ...]
    places: list[TargetPlace]
    roles: dict[int, Role]
    bodies: np.ndarray
    lags: bool

    @property
    def contents(self) -> tuple:
        """Everything that the drawing depends on."""
        place = np.array(self.ob.matrix_world).tobytes()
        return (
            self.ob.original.session_uid, self.shown, place, self.world.tobytes(), self.ob.dqik.tolerance,
            self.lo.tobytes(), self.hi.tobytes(),
            *(part.tobytes() for part in self.frames), self.limited.tobytes(), self.holds.tobytes(), *self.selected,
            *self.roles.items(), self.bodies.tobytes(), self.lags, self.facts,
            *(None if place.target is None else (*place.target.translation, place.roll) for place in self.places),
        )  # fmt: skip


def read(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, selected: Sequence[bpy.types.PoseBone], shown: OverlayParts
) -> Scene:
    """Read an original armature object and its goals as a depsgraph evaluates them."""
    evaluated = ob.evaluated_get(depsgraph)
    pose = evaluated.pose.bones
    goals = targets.read(evaluated, View.now(depsgraph), targets.GoalsRead(), edited=True)
    lo, hi = (np.stack([bulk.read(pose, f"dqik_{part}_{end}") for part in PARTS], -1).astype(float)
              for end in ("min", "max"))  # fmt: skip
    numbers = {bone.name: number for number, bone in enumerate(pose)} if selected else {}
    return Scene(
        evaluated, shown, matrices(pose, "matrix"), lo, hi, limit_frame.read(pose),
        bulk.read(pose, "dqik_use_limits", kind=bool),
        bulk.read(pose, "dqik_hold").astype(float) if shown.holds else np.zeros(len(pose)),
        [numbers[bone.name] for bone in selected if bone.id_data == ob],
        goals.facts, list(goals.places[: len(goals.facts)]),
        Character.of(ob).figure.roles if shown.roles else {},
        _bodies(evaluated) if shown.bodies and obstacles.settings(ob) else np.zeros((0, 4, 2, 3)),
        ob.dqik.live and ob.dqik.status.lags,
    )  # fmt: skip


def _bodies(evaluated: bpy.types.Object) -> np.ndarray:
    """As `Scene.bodies`: of each body a circle about each end, and its outline in two planes."""
    own, world = Character.of(evaluated), matrices(evaluated.pose.bones, "matrix")
    return np.array([_outline(one, world[one.bone] @ np.linalg.inv(own.armature.rest[one.bone]))
                     for one in capsules.of(evaluated, own)])  # fmt: skip


def draw(scene: Scene) -> Drawing:
    """The geometry of a scene."""
    drawing, shown = Drawing(), scene.shown
    if shown.at_limit or shown.limits:
        at = _at_limit(scene)
        if shown.at_limit:
            _draw_bones(drawing, "limit", scene, np.flatnonzero(at))
    if shown.limits:
        chosen = [bone for bone in scene.selected if scene.limited[bone]]
        if chosen:
            _draw_limits(drawing, scene, chosen)
    if shown.holds:
        _draw_marks(drawing, "held", scene, np.flatnonzero(scene.holds > 0.0))
    if scene.roles:
        _draw_roles(drawing, scene)
    if shown.goals or shown.misses:
        _draw_goals(drawing, scene)
    drawing.add_curves("body", scene.bodies)
    _to_world(drawing, scene.ob.matrix_world)
    return drawing


def frame(bone: bpy.types.PoseBone) -> Matrix:
    """The armature-space matrix of the axes of an evaluated bone's limits, at their zero, by Blender's own rules."""
    zero = Quaternion(limit_frame.of(bone).start).to_matrix().to_4x4()
    return converted(bone.bone, zero, bone.parent and bone.parent.matrix)


def coordinates(bones: Sequence[bpy.types.PoseBone], own: Sequence[Matrix]) -> np.ndarray:
    """The twist-swing coordinates (B, 3) of evaluated bones. own : their `frame`s."""
    q = [
        matrix.to_quaternion().inverted() @ bone.matrix.to_quaternion() @ Quaternion(limit_frame.of(bone).axes)
        for bone, matrix in zip(bones, own, strict=True)
    ]
    return twist_swing.coordinates(np.array(q))


def tip(bone: bpy.types.PoseBone, children: Sequence[bpy.types.PoseBone]) -> np.ndarray:
    """The point (3,) of an evaluated bone that shows its direction, from its head and in the axes of its limits.

    It is the bone's tail, or the next joint of the limb if the limb leaves the bone's axis, as it does in rigs whose
    bones lie across their limbs.
    """
    axes, length = Quaternion(limit_frame.of(bone).axes), bone.length * bone.matrix.to_scale().y
    along = axes.inverted() @ Vector((0.0, length, 0.0))
    if children:
        away = max((child.head - bone.head for child in children), key=lambda vector: vector.length)
        joint = bone.matrix.to_quaternion().inverted() @ away
        if np.hypot(joint.x, joint.z) > _ACROSS * joint.length:
            along = axes.inverted() @ joint
    elif axes.angle > _ACROSS:  # the limb goes on along the limits' Y
        along = Vector((0.0, length, 0.0))
    return np.array(along)


def _at_limit(scene: Scene) -> np.ndarray:
    """Whether each bone (N,) is at a limit."""
    own = channels.read(scene.ob.pose.bones)
    bones = np.flatnonzero(scene.limited)
    at = np.zeros(len(scene.limited), dtype=bool)
    if bones.size:
        start, axes = (part[bones] for part in scene.frames)
        x = twist_swing.coordinates(limit_frame.motions(own.quaternions()[bones], start, axes))
        twist, swing = at_limit(x, scene.lo[bones], scene.hi[bones])
        at[bones] = twist | swing
    return at


def _draw_limits(drawing: Drawing, scene: Scene, chosen: list[int]) -> None:
    """The limits of some bones, and what their present rotation uses of them."""
    bones = [scene.ob.pose.bones[number] for number in chosen]
    own = [frame(bone) for bone in bones]
    frames = quaternion.to_matrix(np.array([matrix.to_quaternion() for matrix in own]))
    x = coordinates(bones, own)
    below: dict[str, list[bpy.types.PoseBone]] = {bone.name: [] for bone in scene.ob.pose.bones}
    for bone in scene.ob.pose.bones:  # in Blender, each bone's `children` is a search through all bones
        if bone.parent is not None:
            below[bone.parent.name].append(bone)
    heads = np.array([bone.head for bone in bones])
    tips = np.array([tip(bone, below[bone.name]) for bone in bones])
    lo, hi = scene.lo[chosen], scene.hi[chosen]
    at_twist, at_swing = at_limit(x, lo, hi)

    swings = is_swing_limited(lo, hi)
    border = limit_curves.places(frames, heads, tips, limit_curves.swing_border(x[:, 0], lo, hi, BORDER))[swings]
    border = np.concatenate([border, border[:, :1]], 1)
    drawing.add_curves("swing", border)
    apex = np.broadcast_to(heads[swings][:, None], border[:, :-1].shape)
    drawing.add_faces("swing", np.stack([apex, border[:, :-1], border[:, 1:]], -2))
    drawing.add_lines("swing", np.stack([apex, border[:, :-1]], -2)[:, :: BORDER // _RIBS])
    path = limit_curves.places(frames, heads, tips, limit_curves.swing_path(x, ARC))
    for kind, which in (("use", swings & ~at_swing), ("limit", swings & at_swing)):
        drawing.add_curves(kind, path[which])
        drawing.add_lines(kind, np.stack([heads, path[:, -1]], -2)[which])

    twists, on_rims = is_twist_limited(lo, hi), rims(tips)
    neutral = np.clip(0.0, lo[:, 0], hi[:, 0])
    centres = heads + _on_axis(frames, x, on_rims)

    def arc(begin: np.ndarray, end: np.ndarray, which: np.ndarray) -> np.ndarray:
        return limit_curves.places(frames, heads, on_rims, limit_curves.twist_path(x, begin, end, ARC))[which]

    whole = arc(lo[:, 0], hi[:, 0], twists)
    drawing.add_curves("twist", whole)
    drawing.add_lines("twist", np.stack([np.repeat(centres[twists][:, None], 2, 1), whole[:, [0, -1]]], -2))
    for kind, which in (("use", twists & ~at_twist), ("limit", twists & at_twist)):
        part = arc(neutral, x[:, 0], which)
        drawing.add_curves(kind, part)
        drawing.add_lines(kind, np.stack([centres[which], part[:, -1]], -2))
        apex = np.broadcast_to(centres[which][:, None], part[:, :-1].shape)
        drawing.add_faces(kind, np.stack([apex, part[:, :-1], part[:, 1:]], -2))


def rims(tips: np.ndarray) -> np.ndarray:
    """Points (B, 3) whose circle about the bone's axis shows the twist: the limb's if it lies across the bone."""
    length = np.linalg.norm(tips, axis=-1, keepdims=True)
    beside = np.hypot(tips[:, :1], tips[:, 2:]) > _ACROSS * length
    return np.where(beside, tips, length * np.array([_ARC_WIDTH, _ARC_PLACE, 0.0]))


def _on_axis(frames: np.ndarray, x: np.ndarray, on_rims: np.ndarray) -> np.ndarray:
    """The centres (B, 3) of the circles of points on rims (B, 3), from the heads."""
    axis = on_rims * np.array([0.0, 1.0, 0.0])
    return limit_curves.places(frames, np.zeros_like(axis), axis, x[:, None])[:, 0]


def _draw_goals(drawing: Drawing, scene: Scene) -> None:
    """A line from each goal's bone to its target, with the distance and a cross at the target where they are apart."""
    pose, back = scene.ob.pose.bones, scene.ob.matrix_world.inverted_safe()
    size = max(float(np.ptp(scene.world[:, :3, 3], axis=0).max()), 1e-6) if len(scene.world) else 1.0
    ends: list[int] = []
    for index, (goal, place) in enumerate(zip(scene.facts, scene.places, strict=True)):
        number = pose.find(goal.bone)
        if not goal.active or place.target is None or number < 0 or scene.ob.dqik.goals[index].influence == 0.0:
            continue
        matrix = back @ place.target
        if place.roll:
            matrix = foot_roll.rolled(scene.ob, scene.ob.dqik.goals[index], matrix)
        ends.append(number)
        point = pose[number].tail if goal.use_tail else pose[number].head
        target = matrix.translation
        distance = (target - point).length
        missed = goal.use_position and goal.priority >= 0 and distance > scene.ob.dqik.tolerance * size
        missed_as = "lag" if scene.lags else "miss"
        if missed or scene.shown.goals:
            drawing.add_lines(missed_as if missed else "goal", np.array([point, target]))
        if missed:
            drawing.add_lines(missed_as, np.array(target) + _CROSS * size * _AXES)
            drawing.misses.append((scene.ob.matrix_world @ target, distance, missed_as))
    if scene.shown.goals:
        _draw_marks(drawing, "goal", scene, np.array(ends, dtype=int))


def _draw_roles(drawing: Drawing, scene: Scene) -> None:
    """Bones with a role in the colour of their side, and the roles' names but those of fingers and twist bones."""
    for side, kind in _SIDES.items():
        bones = [bone for bone, role in scene.roles.items() if role.side == side]
        _draw_bones(drawing, kind, scene, np.array(bones, dtype=int))
    for number, role in scene.roles.items():
        if role.name not in _UNNAMED:
            bone = scene.ob.pose.bones[number]
            place = scene.ob.matrix_world @ (0.5 * (bone.head + bone.tail))
            drawing.roles.append((place, role.label, _SIDES[role.side]))


def _draw_bones(drawing: Drawing, kind: str, scene: Scene, bones: np.ndarray) -> None:
    """Lines along bones."""
    pose = [scene.ob.pose.bones[int(number)] for number in bones]
    drawing.add_lines(kind, np.array([(bone.head, bone.tail) for bone in pose]).reshape(-1, 2, 3))


def _draw_marks(drawing: Drawing, kind: str, scene: Scene, bones: np.ndarray) -> None:
    """An octahedron around the middle of each bone."""
    for bone in (scene.ob.pose.bones[int(number)] for number in bones):
        corners = np.array(0.5 * (bone.head + bone.tail)) + _MARK * bone.length * _CORNERS
        drawing.add_lines(kind, corners[_OCTAHEDRON])


def _to_world(drawing: Drawing, matrix: Matrix) -> None:
    """Move a drawing from armature space to the world."""
    world = np.array(matrix)
    for parts in (drawing.lines, drawing.faces):
        for kind, pieces in parts.items():
            parts[kind] = [np.concatenate(pieces) @ world[:3, :3].T + world[:3, 3]]


def _outline(capsule: BoneCapsule, moved: np.ndarray) -> np.ndarray:
    line = capsule.end - capsule.start
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    beside = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    beside /= np.linalg.norm(beside)
    across = np.cross(along, beside)
    turn = np.linspace(0.0, 2.0 * np.pi, _TURNS + 1)[:, None]
    co, si, r = np.cos(turn), np.sin(turn), capsule.radius
    circles = [end + r * (co * beside + si * across) for end in (capsule.start, capsule.end)]
    at = np.where(si >= 0.0, 1.0, 0.0) * line  # the upper half of a circle lies at the end, the lower at the start
    planes = [capsule.start + at + r * (co * side + si * along) for side in (beside, across)]
    return np.stack([*circles, *planes]) @ moved[:3, :3].T + moved[:3, 3]
