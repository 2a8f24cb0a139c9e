# SPDX-License-Identifier: GPL-3.0-or-later
"""A solve with one goal more, for as long as the animator drags a point of a bone: prepared once, solved per move.

The goal is never stored. It comes after all others, so it moves what these leave free. Each solve starts from the pose
before the drag, so that the pose depends on where the point is and not on the way there.
"""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...solvers import Pose
from ...solvers.algebra import dual_quaternion
from ..blender import animation, bulk, channels
from ..blender.armature import Armature
from ..blender.channels import Channels
from ..figure.character import Character
from ..notes import Note, Refused
from ..skeleton.build import build
from ..skeleton.goal_facts import GoalFacts
from ..skeleton.plan import chain_of
from .read import question as frame
from .read import targets
from .read.question import check_numbers
from .read.targets import GoalsRead, TargetPlace
from .read.view import View
from .sessions import sessions
from .step import write

_STILL = 1e-4  # radians, or of the armature's size: bones that a drag moves by less stay exactly where they are
_POSED = 3e-4  # the same, for bones that count as posed by hand
_ROUNDS = 5  # of solves, each nearer, until a point that is out of reach pulls no other goal away
_SLIDES = 8  # of solves, each for a place in another depth of the view
_AGAIN, _NEARER = 6, 0.9  # more solves, each from where the last one ended, while the point comes nearer by this
_TRUNK = {"hips", "spine", "neck", "head"}  # of which each goes along with those below it


class Drag:
    """A drag of a point of a bone.

    Attributes
    ----------
    carried : the numbers of goals that do not count, because their bones go along with the dragged part of the trunk.
    unpoled : of goals whose poles do not count, because the drag says where their limb bends to.
    """

    def __init__(self, ob: bpy.types.Object, bone: str, point: Vector, depsgraph: bpy.types.Depsgraph) -> None:
        """Prepare the solve. point : of the original object's bone, in the world.

        Raises `Refused` if the bone cannot be moved.
        """
        evaluated = ob.evaluated_get(depsgraph)
        matrix = evaluated.matrix_world @ evaluated.pose.bones[bone].matrix
        own, live = matrix.inverted_safe() @ point, ob.dqik.live
        with sessions.busy:
            view = View.now(depsgraph)
            sessions.armatures.levels(view, sessions.suspended)
            found = targets.read(evaluated, view, GoalsRead(), edited=True)
            number = len(found.facts)
            facts = [_without_place(fact) if fact.bone == bone else fact for fact in found.facts]
            self.carried = _carried(evaluated, facts, bone)
            facts = [fact._replace(active=False) if k in self.carried else fact for k, fact in enumerate(facts)]
            serves = _serves(evaluated, facts)
            dragged = serves[ob.pose.bones.find(bone)]
            self.unpoled = [k for k in dragged if len(dragged) == 1 and facts[k].has_pole]
            facts = [
                fact._replace(pole=0, pole_subtarget="", pole_problem=None) if k in self.unpoled or not live else fact
                for k, fact in enumerate(facts)
            ]
            places = [*found.places[:number], TargetPlace(Matrix.Translation(point), None), *found.places[number:]]
            influences = [*(share if live else 0.0 for share in found.influences), 1.0]  # else they stay where they are
            self._is_trunk, self._about = len(dragged) > 1, _about(Character.of(evaluated).armature, serves, bone)
            pose, driven = evaluated.pose.bones, animation.animation(ob).driven
            moves = self._about | self._is_trunk
            stays = frozenset(one.name for one, is_free in zip(pose, moves, strict=True) if not is_free)
            placed = {fact.bone for fact in facts if fact.active and fact.use_position}
            own_place = np.array([one.name in placed for one in ob.pose.bones])  # hips: their target places them
            self._about &= ~own_place
            facts.append(_goal(bone, own, min((fact.priority for fact in facts), default=0) - 1))
            gains = bulk.read(pose, "dqik_gain")
            lengths = frozenset(pose.keys())  # what is dragged stays as long as it is
            rig = build(evaluated, tuple(facts), driven | stays, np.zeros(len(pose)), gains, scaled=lengths)
            if isinstance(rig, Note):
                raise Refused(rig)
            self._before = channels.read(evaluated.pose.bones)
            led = found.led if live else {}
            read = GoalsRead(tuple(facts), places, influences, led=led)
            self._input = frame.read(evaluated, rig, self._before, read)
        indices = [goal.number for goal in rig.goals]
        solved = set(rig.solved_bones.tolist())
        if number not in indices or solved.isdisjoint(rig.armature.above(rig.armature.index[bone])):
            raise Refused(Note("{} cannot be dragged: it and the bones above it are locked, constrained or driven",
                               repr(bone)))
        self._row, self._arrays = indices.index(number), self._input.prepared.arrays()
        self._first = channels.read(ob.pose.bones)
        self._answer, self._shown = self._first.copy(), self._first.copy()
        self._posed = np.zeros(len(ob.pose.bones), dtype=bool)
        self._bones = np.union1d(rig.solved_bones, sessions.of(ob).pose.rows if live else rig.solved_bones)
        self._state = sessions.of(ob).pose.kept(ob) if live else None
        self._solve()
        self._misses = self._arrays.position_errors[0].copy()

    def solve(self, ob: bpy.types.Object, to: Vector, along: Vector | None = None) -> Vector:
        """Solve with the point at a place in the world, or as near as it comes without pulling other goals away.

        along : a direction in which another place is as good, as that of the view; None if there is none. Returns the
        place that the point was then to go to.
        """
        inverse, place = ob.matrix_world.inverted_safe(), self._input.targets.positions[0]
        place[self._row] = inverse @ to
        if along is not None:
            self._slide(place, np.array((inverse.to_3x3() @ along).normalized()))
        aimed = ob.matrix_world @ Vector(place[self._row])
        for _ in range(_ROUNDS):
            reached = self._solve()
            if not self._pulls():
                break
            place[self._row] = reached
        arrays = self._arrays
        new = write.answer(arrays.rotations[0], arrays.translations[0], self._before, self._input)
        new.put(self._first, ~self._differs(new, _STILL))
        self._answer, self._shown = new, channels.read(ob.pose.bones)
        return aimed

    def show(self, ob: bpy.types.Object) -> None:
        """Write the whole answer."""
        self._write(ob, self._answer)

    def pose(self, ob: bpy.types.Object) -> None:
        """Write what of the answer counts as posed by hand, and all else as it was, for Live to solve."""
        posed = self._differs(self._answer, _POSED) & self._about
        if self._is_trunk and posed.any():  # it is held as a whole, or what is not held gives way
            posed = self._differs(self._answer, 0.0) & self._about
        new = self._shown.copy()
        new.put(self._first, self._posed & ~posed)
        new.put(self._answer, posed)
        self._posed |= posed
        self._write(ob, new)

    def may_move(self, ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
        """The bones that can be among those that have `moved`."""
        may = np.zeros(len(ob.pose.bones), dtype=bool)
        may[self._bones] = True
        may &= self._about | (not ob.dqik.live)
        return [bone for bone, one in zip(ob.pose.bones, may.tolist(), strict=True) if one]

    def moved(self, ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
        """The bones that were posed; if Live is off, all that have moved."""
        moved = self._posed if ob.dqik.live else self._differs(self._answer, _STILL)
        return [bone for bone, one in zip(ob.pose.bones, moved.tolist(), strict=True) if one]

    def put_back(self, ob: bpy.types.Object) -> None:
        """Write the pose from before the drag; Live solves from what it knew then."""
        self._write(ob, self._first)
        if self._state is not None:
            sessions.of(ob).pose.take_back(ob, self._state, self._first)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _solve(self) -> np.ndarray:
        """Solve; where the point has come to (3,), in armature space."""
        frame_input, arrays = self._input, self._arrays
        frame_input.ask(arrays)
        frame_input.prepared.solve_into(arrays)
        for _ in range(0 if self._is_trunk else _AGAIN):  # a limb between two places swivels by small steps
            miss, here = self._miss(), Pose(arrays.rotations.copy(), arrays.translations.copy())
            if miss <= frame_input.prepared.options.tolerance:
                break
            arrays.ask(frame_input.targets, here, frame_input.links, None, slice(0, 1))
            frame_input.prepared.solve_into(arrays)
            if self._miss() > _NEARER * miss:
                break
        check_numbers(arrays.rotations)
        world = frame_input.rig.skeleton.transforms(arrays.rotations, arrays.translations, frame_input.links)
        goal = frame_input.prepared.goals[self._row]
        return dual_quaternion.transform(world[0, goal.joint], np.asarray(goal.offset, dtype=float))

    def _miss(self) -> float:
        """How far the point is from its place."""
        return float(self._arrays.position_errors[0][self._row])

    def _slide(self, place: np.ndarray, way: np.ndarray) -> None:
        """Move the place of the point along a direction, to where the point can come nearest to that line."""
        near = self._input.prepared.options.tolerance
        for _ in range(_SLIDES):
            by = (self._solve() - place[self._row]) @ way
            if abs(by) < near or self._miss() < near:
                return
            place[self._row] += by * way

    def _pulls(self) -> bool:
        """Whether the point is out of reach and pulls others away from where they were."""
        errors, near = self._arrays.position_errors[0], self._input.prepared.options.tolerance
        others = np.delete(errors - self._misses, self._row)
        return self._miss() > near and bool((others > 0.5 * near).any())

    def _differs(self, pose: Channels, most: float) -> np.ndarray:
        """Whether bones (N,) are turned by more than `most` in a pose, or moved by as much of the armature's size."""
        turned = pose.away(self._first, most).rotations
        moved = pose.away(self._first, most * self._input.rig.armature.size).locations
        return np.array([turned.any(-1), moved.any(-1)]).max(0)

    def _write(self, ob: bpy.types.Object, new: Channels) -> None:
        """Write the channels of all bones that the goals or the drag move."""
        now = channels.read(ob.pose.bones)
        write.apply(ob, new, self._bones, now, now)


def _without_place(fact: GoalFacts) -> GoalFacts:
    """The goal of the dragged bone, which only turns it now."""
    if fact.kind != "REACH":
        return fact
    return fact._replace(use_position=False, active=fact.active and fact.use_rotation)


def _goal(bone: str, point: Vector, priority: int) -> GoalFacts:
    """The goal of a drag: a point in the frame of a bone."""
    x, y, z = point
    return GoalFacts(
        name="", bone=bone, active=True, target=0, subtarget="", target_problem=None, chain_length=0,
        use_position=True, use_rotation=False, position_weight=1.0, rotation_weight=0.0, rotation_follows=0.0,
        priority=priority, use_tail=True, pole=0, pole_subtarget="", pole_problem=None, pole_angle=0.0,
        point=(x, y, z),
    )  # fmt: skip


def _carried(ob: bpy.types.Object, facts: Sequence[GoalFacts], bone: str) -> list[int]:
    """The numbers of the goals of chest, neck and head whose bones are above a bone of the trunk, as in a lean."""
    found, pose = Character.of(ob).figure.roles, ob.pose.bones
    names = {pose[number].name: role.name for number, role in found.items()}
    return [
        number for number, fact in enumerate(facts)
        if fact.active and fact.kind == "REACH" and names.get(fact.bone) in _TRUNK and names.get(bone) in _TRUNK
        and any(above.name == bone for above in pose[fact.bone].parent_recursive)
    ]  # fmt: skip


def _serves(ob: bpy.types.Object, facts: Sequence[GoalFacts]) -> list[set[int]]:
    """The numbers of the goals that each bone moves for, which are not about weight."""
    armature, pose = Character.of(ob).armature, ob.pose.bones
    serves: list[set[int]] = [set() for _ in pose]
    for number, fact in enumerate(facts):
        own = armature.index.get(fact.bone)
        if own is not None and fact.active and not fact.weighs:
            for other in chain_of(fact, armature.above(own), pose[own].dqik_translate):
                serves[other].add(number)
    return serves


def _about(armature: Armature, serves: list[set[int]], bone: str) -> np.ndarray:
    """The bones (N,) bool that a drag of a bone moves.

    A limb is dragged with what is below it. What serves no goal, as fingers, moves up to what does. The trunk is
    dragged as a whole, and limbs follow. serves : as `_serves` has it.
    """
    dragged = armature.index[bone]
    own = serves[dragged]
    if len(own) > 1:
        return np.array([len(some) > 1 for some in serves])
    about = np.array([bool(some) and some == own for some in serves])
    about[[k for k in armature.above(dragged) if serves[k] <= own]] = True
    return about
