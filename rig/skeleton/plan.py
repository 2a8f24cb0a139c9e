# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a solve: the goals that can be solved, and the bones that they move."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solvers import GOAL_KINDS
from ...solvers.algebra import quaternion
from ...solvers.rest import GoalChain
from ..blender import bulk, leaders, limit_frame
from ..blender.armature import Armature
from ..blender.dependencies import Dependencies, acts
from ..figure import bend, capsules
from ..figure.body import RestBody
from ..figure.capsules import BoneCapsule
from ..figure.character import Character
from ..figure.parts import NONE
from ..figure.roles import Figure
from ..keys import keyable
from ..notes import Code, Note, listed
from . import couplings, goal_order, limits, obstacles, stretch
from .couplings import Link
from .goal_facts import GoalFacts
from .obstacles import Obstacle

MIN_BEND = np.radians(4.0)  # preferred bends that limits reduce below this are dropped
SIDE_BIAS = 1.2  # a bend changes sides if the limits allow this many times more on the other side


@dataclass(frozen=True)
class PlannedGoal:
    """A goal that can be solved: its number in the panel's list, its settings, its bone, and the bones that it moves.

    chain : upward from its bone; then, of a closed loop, those that carry its target.
    target_bone : the bone of the same figure that is its target and that goals move; -1 for a target of another sort.
    of_foot : the goal is that of a foot, whose number it has, and this one is for its toes.
    """

    number: int
    facts: GoalFacts
    bone: int
    chain: list[int]
    target_bone: int = -1
    of_foot: bool = False

    @property
    def supports(self) -> bool:
        """Whether the target carries weight: not one that the goals move themselves."""
        return self.facts.use_support and not self.facts.weighs and self.target_bone < 0

    @property
    def rolls(self) -> bool:
        """Whether a foot rolls on its target: not on one that the goals move themselves."""
        return self.facts.rolls and self.target_bone < 0


@dataclass
class Plan:
    """The goals of an armature that can be solved, and the bones that the solve involves.

    Attributes
    ----------
    bones : the bones of the solver's skeleton, parents before children.
    moved : (N,) bool, bones that are solved. slides : (N,) bool, solved bones that may move as well as turn.
    constrained : (N,) bool, bones that constraints or drivers move.
    bends : {bone: preferred bend, a rotation vector (3,) in its own frame}. character : the figure.
    masses : of bones, if a goal balances the figure; else empty. links : couplings of bones that are solved.
    capsules : of bones that keep apart, from each other if `avoids_self`, and from `obstacles`; empty if none does.
    notes : about what is left out. placed : (N,) bool, bones that constraints put at other bones, and that turn freely.
    free : (N, 3) bool, axes of the bones' locations that are not locked. left_out : numbers of goals that are not
        solved, because their targets follow bones that they would move. passes : how often targets are read again.
    spans : (N, 2) by how much each bone may shorten, and lengthen, as shares of its length at rest.
    """

    armature: Armature
    goals: list[PlannedGoal]
    bones: list[int]
    moved: np.ndarray
    slides: np.ndarray
    constrained: np.ndarray
    bends: dict[int, np.ndarray]
    character: Character
    masses: dict[int, float]
    links: list[Link]
    capsules: list[BoneCapsule]
    avoids_self: bool
    obstacles: list[Obstacle]
    notes: list[Note]
    placed: np.ndarray
    free: np.ndarray
    left_out: list[int]
    passes: int
    spans: np.ndarray

    @property
    def supports(self) -> list[int]:
        """The numbers, among the goals of the plan, of those whose targets carry weight."""
        return [k for k, goal in enumerate(self.goals) if goal.supports]

    def held_with(self) -> dict[int, list[int]]:
        """The bones above each bone that serves several goals, up to one with a goal of its own.

        They are held where the bone is held: else a spine would turn back what a chest is turned by hand.
        """
        chains = [goal.chain for goal in self.goals if not goal.facts.weighs]  # which moves what others move
        served = np.bincount([bone for chain in chains for bone in chain], minlength=len(self.moved))
        ends, found = {goal.bone for goal in self.goals}, dict[int, list[int]]()
        for bone in np.flatnonzero(self.moved & (served > 1)).tolist():
            above = itertools.takewhile(lambda other: other not in ends, self.armature.above(bone)[1:])
            found[bone] = [other for other in above if self.moved[other]]
        return found

    def is_held(self, pose_bone: bpy.types.PoseBone, bone: int) -> bool:
        """Whether a constraint gives a bone its orientation independently of its parent.

        Not of one in a generated rig that has that of a moved bone: `blended` keeps both together.
        """
        if self.armature.controls[bone]:
            return leaders.held_in_space(pose_bone)
        aims = leaders.aims(pose_bone, self.armature.index)
        return leaders.held_in_space(pose_bone) and not any(self.moved[self.armature.above(aim)].any() for aim in aims)


def plan(
    ob: bpy.types.Object, facts: Sequence[GoalFacts], driven: frozenset[str], scaled: frozenset[str] = frozenset()
) -> Plan | Note:
    """Plan the solve of an evaluated armature object. Returns the reason if there is nothing to solve.

    driven : names of bones whose rotation or location drivers set. scaled : of those whose scale is animated.
    """
    if keyable.is_system_override(ob.original):  # Blender lets nobody write its pose
        return Note(Code.SYSTEM_OVERRIDE, repr(ob.name))
    character, pose = Character.of(ob), ob.pose.bones
    armature, figure = character.armature, character.figure
    notes: list[Note] = []
    goals = _solvable(ob, facts, armature, notes)
    behind = _own_behind(ob, goals, armature)
    carriers = _leave_carriers(ob, goals, behind)
    links = _without_carriers(couplings.links(ob, armature.index, notes), carriers, pose, notes)
    goals, left_out, passes = _without_circles(ob, goals, behind, links, armature, notes)
    goals = _balanced(goals, notes)
    if not goals:
        return notes[0] if notes else Note(Code.NO_GOAL_COUNTS if facts else Code.ADD_GOAL)
    constrained, by_ik = _constrained(pose, armature)
    by_driver = np.array([bone.name in driven for bone in pose])
    goals += _of_toes(goals, pose, character.body, constrained | by_driver)
    moved = np.zeros(len(pose), dtype=bool)
    moved[list(couplings.together(links, (bone for goal in goals for bone in goal.chain)))] = True
    moved &= armature.controls & ~_blended(ob, armature, moved, constrained)
    placed = _placed(pose, armature)
    constrained &= ~placed
    left = _constraint_notes(pose, moved & constrained, by_ik)
    notes += left
    if (moved & by_driver).any():
        notes.append(Note("{} left to drivers", _named(pose, moved & by_driver)))
    left_to_ik = (moved & by_ik).any()
    constrained |= by_driver
    moved &= ~constrained & np.array([not bone.dqik_lock for bone in pose]) & ~_dividing(pose, figure, links)
    if not moved.any():
        locked = Note("Every bone of the goals' chains is locked, constrained or driven: free one")
        return left[-1] if left_to_ik else locked
    free = ~bulk.read(ob.original.pose.bones, "lock_location", 3, bool)  # a lock causes no evaluation
    slides = _sliding(pose, moved, free, notes)
    if ob.original.library is not None:
        notes.append(Note(Code.LINKED))
    chains = [
        GoalChain([bone for bone in goal.chain if bone in armature.above(goal.bone)], goal.bone, goal.facts.use_tail)
        for goal in goals if not goal.facts.weighs
    ]
    bends = _bends(pose, character.body, chains, moved)
    weighed = character.masses if any(goal.facts.weighs for goal in goals) else {}
    links = [link for link in links if moved[link.bone] and moved[link.leader]]
    avoids_self = ob.dqik.avoid_self
    avoided = obstacles.of(ob, {pose[int(bone)].name for bone in np.flatnonzero(moved)}, notes)
    bodies = capsules.of(ob, character) if avoids_self or avoided else []
    if not avoids_self:
        bodies = [body for body in bodies if moved[armature.above(body.bone)].any()]
    avoided = avoided if bodies else []  # without bodies there is nothing to keep out of them
    targets = [goal.target_bone for goal in goals if goal.target_bone >= 0]
    joined = (bone for link in links for bone in (link.bone, link.leader))
    others = [*weighed, *targets, *joined, *(body.bone for body in bodies)]
    bones = _skeleton_bones(goals, armature, others)
    return Plan(
        armature, goals, bones, moved, slides, constrained, bends, character, weighed, links, bodies, avoids_self,
        avoided, notes, placed, free, left_out, passes,
        stretch.spans(pose, moved, bones, armature, scaled, notes),
    )  # fmt: skip


def _solvable(
    ob: bpy.types.Object, facts: Sequence[GoalFacts], armature: Armature, notes: list[Note]
) -> list[PlannedGoal]:
    """The active goals that can be solved, by themselves; notes about the others, and about those that move nothing."""
    goals: list[PlannedGoal] = []
    for number, goal in enumerate(facts):
        if not goal.active:
            continue
        if problem := _problem(ob, goal, armature):
            notes.append(Note("Goal {}: {}", repr(goal.name), problem))
            continue
        if goal.pole_is_target:
            notes.append(Note("Goal {}: its pole is its target and is left out: choose another pole", repr(goal.name)))
        bone = armature.index[goal.bone]
        chain = chain_of(goal, armature.above(bone), ob.pose.bones[bone].dqik_translate)
        if not chain:  # the goal stays in the plan, so that it is reported as not met
            notes.append(Note(Code.NOTHING_TO_MOVE, repr(goal.name), repr(goal.bone)))
        goals.append(PlannedGoal(number, goal, bone, chain))
    return goals


def _sliding(
    pose: bpy.types.bpy_prop_collection, moved: np.ndarray, free: np.ndarray, notes: list[Note]
) -> np.ndarray:
    """The moved bones (N,) bool that may also slide; notes about those that cannot. free : as in `Plan`."""
    slides = moved & np.array([bone.dqik_translate for bone in pose])
    connected = slides & np.array([bone.bone.use_connect and bone.parent is not None for bone in pose])
    if connected.any():
        notes.append(Note(Code.CANNOT_SLIDE, _named(pose, connected)))
    locked = slides & ~connected & ~free.any(1)
    if locked.any():
        notes.append(Note("{} cannot move: unlock an axis of its location, or switch Translate off",
                          _named(pose, locked)))
    return slides & ~connected & ~locked


def _problem(ob: bpy.types.Object, goal: GoalFacts, armature: Armature) -> Note | None:
    """The reason why a goal cannot be solved and what to do about it; None if it can."""
    own = ob.original.session_uid
    if not goal.bone:
        return Note("it has no bone: choose one")
    if goal.bone not in armature.index:
        return Note("the armature has no bone {}: choose another", repr(goal.bone))
    if not goal.target and goal.needs_target:
        return Note("it has no target: choose an object")
    if GOAL_KINDS[goal.kind].target == "CURVE" and not goal.is_curve:
        return Note("its target is no curve: choose a curve object")
    if goal.target == own and not goal.subtarget:
        return Note("its target is this armature: also choose one of its bones")
    if goal.pole == own and not goal.pole_subtarget:
        return Note("its pole is this armature: also choose one of its bones")
    if goal.kind == "REACH" and not (goal.use_position or goal.use_rotation):
        return Note("it has no effect: switch on Position or Rotation")
    return goal.target_problem or goal.pole_problem


def chain_of(goal: GoalFacts | bpy.types.PropertyGroup, above: list[int], translates: bool) -> list[int]:
    """The bones that a goal moves, upward. above : those above its bone, from itself. translates : it may move.

    As in Blender's IK, the chain of a bone's head begins with the parent; with the bone itself if it may move.
    """
    by_angle = GOAL_KINDS[goal.kind].unit == "angle"
    turns = goal.use_rotation if goal.kind == "REACH" else by_angle
    counted = above if goal.use_tail or translates or by_angle else above[1:]
    chain = counted[: goal.chain_length or None]
    return chain if above[0] in chain or not turns else [above[0], *chain]


def _leave_carriers(ob: bpy.types.Object, goals: list[PlannedGoal], behind: list[set[int]]) -> set[int]:
    """Take control bones, and bones that carry them such as a root bone, out of all chains. Returns these bones.

    Bones that carry a control and that only other goals move, as the hand that another one holds on to, stay in their
    chains if the goals can be solved in order.
    """
    carriers = set[int]()
    carried_by = [
        bones if bones and not goal.facts.closes_loop and ob.original.dqik.goals[goal.number].own_target
        else set[int]()  # drags have no number
        for goal, bones in zip(goals, behind, strict=True)
    ]
    for goal, bones in zip(goals, carried_by, strict=True):
        carriers |= bones & set(goal.chain)
    while True:
        for goal in goals:
            goal.chain[:] = [bone for bone in goal.chain if bone not in carriers]
        circles = goal_order.in_circles(carried_by, [set(goal.chain) for goal in goals])
        if not circles:
            break
        carriers.update(*(carried_by[number] for number in circles))
    return set().union(*carried_by).difference(*(goal.chain for goal in goals))


def _own_behind(ob: bpy.types.Object, goals: list[PlannedGoal], armature: Armature) -> list[set[int]]:
    """The bones of the figure that each goal's target and pole depend on; -1 for bones that are not in it."""
    behind = Dependencies()

    def bones(goal: PlannedGoal) -> set[int]:
        if goal.facts.point is not None:
            return set()
        found = behind.bones_behind_goal(ob.original.dqik.goals[goal.number])
        return {armature.index.get(name, -1) for owner, name in found if owner.original == ob.original}

    return [bones(goal) for goal in goals]


def _without_carriers(
    links: list[Link], carriers: set[int], pose: bpy.types.bpy_prop_collection, notes: list[Note]
) -> list[Link]:  # fmt: skip
    """The couplings without those that would turn control bones, or what carries them; notes about these."""
    found = []
    for link in links:
        led = next((bone for bone in (link.bone, link.leader) if bone in carriers), None)
        if led is None:
            found.append(link)
        else:
            notes.append(Note("Coupling of {}: a target is bone {} or follows it, so it has no effect: couple other "
                              "bones", repr(pose[link.bone].name), repr(pose[led].name)))
    return found


def _without_circles(
    ob: bpy.types.Object, goals: list[PlannedGoal], behind: list[set[int]], links: list[Link],
    armature: Armature, notes: list[Note],
) -> tuple[list[PlannedGoal], list[int], int]:  # fmt: skip
    """The goals whose target and pole follow no bone that they would move themselves; notes about the others.

    A target that is a bone of another chain may be moved by the same goals: these close a loop. Returns also the
    numbers of the others, and how often targets are read again after the goals that they follow.
    """
    left_out = list[int]()
    targets = [_own_target(ob, goal, bones, armature) for goal, bones in zip(goals, behind, strict=True)]
    kept = [_with_carriers(ob, goal, target, armature, notes) for goal, target in zip(goals, targets, strict=True)]
    follows = list(behind)
    everything = couplings.together(links, (bone for goal in kept for bone in goal.chain))
    for number, goal in enumerate(kept):
        at_once = goal.facts.closes_loop or goal.facts.kind != "REACH"
        if at_once and targets[number] >= 0 and behind[number] & everything:
            kept[number], follows[number] = _relative(goal, targets[number], everything, armature), set()
    while True:
        moves = [couplings.together(links, goal.chain) for goal in kept]
        circles = goal_order.in_circles(follows, moves)
        if not circles:
            return kept, left_out, goal_order.depth(follows, moves)
        everything = set().union(*moves)
        loops = [number for number in circles if targets[number] >= 0]
        for number in loops:
            kept[number], follows[number] = _relative(kept[number], targets[number], everything, armature), set()
        if loops:
            continue
        for number in circles:
            goal, solved = kept[number], sorted(follows[number] & everything)
            own = sorted(follows[number] & moves[number])
            bone = repr(ob.pose.bones[(own or solved)[-1]].name)
            notes.append(Note(Code.CYCLE if own else Code.CYCLE_OF_GOALS, repr(goal.facts.name), bone))
            left_out.append(goal.number)
        stay = [number for number in range(len(kept)) if number not in circles]
        kept, targets = [kept[number] for number in stay], [targets[number] for number in stay]
        follows = [follows[number] for number in stay]


def _own_target(ob: bpy.types.Object, goal: PlannedGoal, behind: set[int], armature: Armature) -> int:
    """The bone of an armature object that is a goal's target, if the solver can know where it is; else -1.

    behind : the bones that the target depends on, which must be those above it.
    """
    facts = goal.facts
    target = armature.index.get(facts.subtarget, -1) if facts.target == ob.original.session_uid else -1
    takes = "target_joint" in GOAL_KINDS[facts.kind].takes and not facts.has_pole
    if not takes or target in (-1, goal.bone) or not behind <= {*armature.above(target), -1}:
        return -1
    if facts.kind != "REACH":
        return target
    in_line = target in armature.above(goal.bone) or goal.bone in armature.above(target)
    return -1 if in_line or facts.rotation_follows > 0.0 else target


def _relative(goal: PlannedGoal, target: int, moved: set[int], armature: Armature) -> PlannedGoal:
    """A goal whose target bone is solved with it. One that closes a loop also moves what carries its target."""
    carriers = [] if goal.facts.kind != "REACH" else [
        bone for bone in armature.above(target) if bone in moved and bone not in goal.chain
    ]  # fmt: skip
    return replace(goal, target_bone=target, chain=[*goal.chain, *carriers])


def _with_carriers(
    ob: bpy.types.Object, goal: PlannedGoal, target: int, armature: Armature, notes: list[Note]
) -> PlannedGoal:  # fmt: skip
    """A goal with *Close Loop* with the bones that carry its target, below those that carry its own bone too.

    As with the chain of a bone's head, the target bone itself is moved if it may slide, or if no other bone carries it.
    """
    if not goal.facts.closes_loop or goal.facts.kind != "REACH":
        return goal
    if target < 0:
        notes.append(Note("Goal {}: Close Loop has no effect: choose a bone of another chain of this armature as the "
                          "target, without a pole and Follow Limb", repr(goal.facts.name)))
        return goal
    shared = armature.above(goal.bone)
    carriers = [bone for bone in armature.above(target) if bone not in shared]
    own = ob.pose.bones[target].dqik_translate or len(carriers) < 2
    return replace(goal, chain=[*goal.chain, *(bone for bone in carriers[0 if own else 1 :] if bone not in goal.chain)])


def _balanced(goals: list[PlannedGoal], notes: list[Note]) -> list[PlannedGoal]:
    """The goals, those that balance the figure with the chains of all others; notes about those that cannot."""
    others = {bone: None for goal in goals if not goal.facts.weighs for bone in goal.chain}
    supported = any(goal.supports for goal in goals)
    found = []
    for goal in goals:
        if goal.facts.weighs and goal.facts.side == "WITHIN" and not supported:
            notes.append(Note("Goal {}: no goal carries weight: switch on Carries Weight for the feet",
                              repr(goal.facts.name)))
            continue
        if goal.facts.weighs and others:
            goal.chain[:] = list(others)
        found.append(goal)
    return found


def _of_toes(
    goals: Sequence[PlannedGoal], pose: bpy.types.bpy_prop_collection, body: RestBody, led: np.ndarray
) -> list[PlannedGoal]:  # fmt: skip
    """Goals for the toes of rolled feet that no goal moves: they stand to the foot as posed, until it rolls.

    led : (N,) bool, bones that constraints or drivers move.
    """
    moved, found = {bone for goal in goals for bone in goal.chain}, list[PlannedGoal]()
    for goal in goals if any(goal.rolls for goal in goals) else ():
        role = body.roles.get(goal.bone, NONE)
        toes = body.bone("toes", role.side) if goal.rolls and role.name == "foot" else None
        if toes is None or body.armature.parent[toes] != goal.bone or toes in moved or led[toes]:
            continue
        if not pose[toes].dqik_lock and pose[toes].bone.use_inherit_rotation:
            facts = goal.facts._replace(
                bone=pose[toes].name, use_position=False, use_rotation=True, rotation_follows=1.0, rotation_weight=1.0,
                priority=0, pole=0, use_support=False,
            )  # fmt: skip
            found.append(replace(goal, facts=facts, bone=toes, chain=[toes], of_foot=True))
    return found


def _constrained(pose: bpy.types.bpy_prop_collection, armature: Armature) -> tuple[np.ndarray, np.ndarray]:
    """(N,) bones that an active constraint moves, and (N,) bones that an IK constraint moves."""
    constrained, by_ik = np.zeros((2, len(pose)), dtype=bool)
    for number, bone in enumerate(pose):
        for constraint in bone.constraints:
            if not acts(constraint):
                continue
            if constraint.type in {"IK", "SPLINE_IK"}:
                above = armature.above(number)
                chain = above if getattr(constraint, "use_tail", True) else above[1:]
                by_ik[chain[: constraint.chain_count or None]] = True
            else:
                constrained[number] = True
    return constrained | by_ik, by_ik


def _constraint_notes(pose: bpy.types.bpy_prop_collection, left: np.ndarray, by_ik: np.ndarray) -> list[Note]:
    """Notes about bones of the chains that are left to their constraints."""
    notes: list[Note] = []
    if (left & ~by_ik).any():
        notes.append(Note("{} left to constraints", _named(pose, left & ~by_ik)))
    if (left & by_ik).any():
        notes.append(Note(Code.LEFT_TO_IK, _named(pose, left & by_ik)))
    return notes


def _named(pose: bpy.types.bpy_prop_collection, bones: np.ndarray) -> Note | str:
    """The names of some bones (N,)."""
    return listed([repr(pose[int(bone)].name) for bone in np.flatnonzero(bones)])


def _skeleton_bones(goals: Sequence[PlannedGoal], armature: Armature, others: Iterable[int]) -> list[int]:
    """The bones of the chains, of the goals, those that rotations follow, `others`, and all between.

    Parents come before children.
    """
    members = {bone for goal in goals for bone in (goal.bone, *goal.chain)} | set(others)
    following = [goal.bone for goal in goals if goal.facts.use_rotation and goal.facts.rotation_follows > 0.0]
    members.update(int(armature.parent[bone]) for bone in following if armature.parent[bone] >= 0)
    for bone in sorted(members):
        between: list[int] = []
        for above in armature.above(bone)[1:]:
            if above in members:
                members.update(between)
                break
            between.append(above)
    return sorted(members, key=lambda bone: (len(armature.above(bone)), bone))


def _dividing(pose: bpy.types.bpy_prop_collection, figure: Figure, links: Sequence[Link]) -> np.ndarray:
    """(N,) bones that divide a limb's upper or lower bone to twist: alone, and without limits, they do not turn."""
    followers = {link.bone for link in links}
    return np.array([
        figure.roles.get(number, NONE).name == "twist" and not bone.dqik_use_limits and number not in followers
        for number, bone in enumerate(pose)
    ], dtype=bool)  # fmt: skip


def _bends(
    pose: bpy.types.bpy_prop_collection, body: RestBody, chains: list[GoalChain], moved: np.ndarray
) -> dict[int, np.ndarray]:
    """Preferred bends: those of the user, and of the elbows and knees of straight limbs."""
    bends: dict[int, np.ndarray] = {}
    for limb in bend.find_limbs(body, chains):
        if moved[limb.lower] and moved[limb.upper]:
            own = body.armature.rest[limb.lower, :3, :3].T @ limb.axis * limb.angle
            inside = _inside_limits(pose[limb.lower], own)
            if inside is not None:
                bends[limb.lower] = inside
    for bone in map(int, np.flatnonzero(moved)):
        preferred = np.array(pose[bone].dqik_preferred_angle)
        if preferred.any():
            bends[bone] = preferred
    return bends


def _inside_limits(bone: bpy.types.PoseBone, vector: np.ndarray) -> np.ndarray | None:
    """A preferred bend, clipped to the bone's limits; to the other side if the limits allow more there."""
    if not bone.dqik_use_limits:
        return vector
    axes = limit_frame.of(bone).axes
    vector = quaternion.rotate(quaternion.conjugate(axes), vector)
    lo, hi = (ends[[1, 0, 2]] for ends in limits.of(bone))  # about X, Y and Z
    same, other = (np.clip(side * vector, np.minimum(lo, hi), hi) for side in (1.0, -1.0))
    best = other if np.linalg.norm(other) > SIDE_BIAS * np.linalg.norm(same) else same
    return quaternion.rotate(axes, best) if np.linalg.norm(best) > MIN_BEND else None


def _placed(pose: bpy.types.bpy_prop_collection, armature: Armature) -> np.ndarray:
    """(N,) bool, FK controls of a generated rig that constraints put at other bones, and that turn freely."""
    found = np.zeros(len(pose), dtype=bool)
    for bone in np.flatnonzero(armature.controls).tolist() if armature.kind else ():
        acting = [constraint for constraint in pose[bone].constraints if acts(constraint)]
        found[bone] = bool(acting) and all(leaders.copies_place(constraint) for constraint in acting)
    return found


def _blended(
    ob: bpy.types.Object, armature: Armature, moved: np.ndarray, constrained: np.ndarray
) -> np.ndarray:  # fmt: skip
    """(N,) bool, bones of a generated rig that do not move, so that a bone that follows two of them in part stays.

    Such a bone is below moved bones, and its constraints follow another one than the bones above it.
    constrained : (N,) bool, with controls that constraints put at other bones.
    """
    still, pose = np.zeros(len(moved), dtype=bool), ob.pose.bones
    if armature.kind is None:
        return still
    members = {above for bone in np.flatnonzero(moved).tolist() for above in armature.above(bone)}
    for bone in sorted(members):
        if not constrained[bone] or armature.follows[bone] or armature.placed[bone]:
            continue
        own = set(armature.above(bone))
        for other in (set(armature.above(led)) for led in leaders.aims(pose[bone], armature.index)):
            if moved[list(other)].any() or not leaders.held_in_space(pose[bone]):
                still[list((own ^ other) - {bone})] = True
    return still
