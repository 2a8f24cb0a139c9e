# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments that the sources printed, repeated: Soch & Lorencz's ellipse, Amino's arm, Kenwright's hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import judge
import numpy as np
import planar
import workload_suite
import workloads
from report import Row
from scipy.optimize import least_squares

import solvers as ik

SEED = 11
FIRST = 7  # steps; Soch & Lorencz show the first several
SHOWN = (0, 2, 3, 4, 5, 10)  # steps after which the chain is drawn, as in their figure 5
STEPS = (200, 100, 50)  # targets in a turn of the ellipse; the paper does not say how many it has
SMALL = 1e-4  # a weight of the pairs so small that they hardly count

ARM_SOLVERS = ("PGS", "DLS", "SQP", "EXTENDED")
ARM_TARGETS = 1000
ARM_RESTARTS = (0, 8, 40)
ARM_SHARE = 0.999

HAND_SOLVERS = ("PGS", "DLS")
HAND_TOLERANCE, HAND_ROTATION = 2e-4, 1e-2  # [m], [rad]
HAND_STEPS = 40  # frames from one pose to the next
TWICE = (
    2.0  # factor on a pose's distances from the wrist: most targets are out of reach, those of bent fingers may not be
)
BEYOND = 1.5  # factor on the length of the straight finger with the palm: all targets are out of reach
UNREACHABLE = 20
UNREACHABLE_FRAMES = 15
SETTLED = 3  # frames after which the pose for a still target must be still
STILL, CALM = 1e-3, 1.0  # [degrees] per frame: bounds of a still pose, and of a stable one for trembling targets
TREMBLE = 1e-9  # of its distance: how far a trembling target moves
NEAREST = 1.01  # of the least distance: a reach within it counts as the best
RIVALS = 3  # starts of SciPy's search for the nearest that can be reached


@dataclass(frozen=True)
class Claim:
    """A source's claim, our result, and whether it is as good; None if there is nothing to compare with."""

    source: str
    case: str
    solver: str
    printed: str
    measured: float
    unit: str
    met: bool | None = None

    def row(self) -> Row:
        """As a row of the table."""
        return {"source": self.source, "case": self.case, "solver": self.solver, "printed": self.printed,
                "measured": self.measured, "unit": self.unit, "met": self.met}  # fmt: skip


# -- Soch & Lorencz, figure 4 -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """A method's turn around the ellipse, one step for each target: distances (F,) and joint angles (F + 1, n)."""

    errors: np.ndarray
    angles: np.ndarray


PlanarStep = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Changes of the angles (n,) for a displacement (2,)."""

LENGTHS = np.array(workload_suite.SEGMENTS)
BASE = np.array([workload_suite.ELLIPSE[0] - LENGTHS.sum(), 0.0])


def pseudo_inverse(angles: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """Eq. 4, the pseudo-inverse by singular values, because J J^T is singular at the start."""
    return np.linalg.pinv(planar.main_link(LENGTHS, angles)) @ displacement


def extended_jacobian(weight: float) -> PlanarStep:
    """Eq. 9 and 10; the constraint keeps the pairs of joints as they are."""
    return lambda angles, displacement: planar.step(LENGTHS, angles, displacement, weight)


def led_round(step: PlanarStep, count: int) -> Turn:
    """Lead the straight chain once around the ellipse, with one step to each target."""
    turn = 2.0 * np.pi * np.arange(1, count + 1) / count
    targets = np.stack([workload_suite.ELLIPSE[0] * np.cos(turn), workload_suite.ELLIPSE[1] * np.sin(turn)], -1) - BASE
    angles, errors = [np.zeros(len(LENGTHS))], []
    for target in targets:
        away = target - planar.effector(LENGTHS, angles[-1])
        angles.append(angles[-1] + step(angles[-1], away))
        errors.append(np.linalg.norm(target - planar.effector(LENGTHS, angles[-1])))
    return Turn(np.array(errors), np.array(angles))


def soch_and_lorencz() -> dict[tuple[str, int], Turn]:
    """The turns of the methods by name and number of targets."""
    methods = {"pseudo-inverse": pseudo_inverse, "w = 1": extended_jacobian(1.0), "w small": extended_jacobian(SMALL)}
    return {(name, count): led_round(step, count) for name, step in methods.items() for count in STEPS}


def ellipse_claims(turns: dict[tuple[str, int], Turn]) -> list[Claim]:
    """Errors of the first steps, ranks of the straight chain, and errors of the rest of the turn."""
    source, claims = "Soch & Lorencz", []

    def add(case: str, solver: str, printed: str, measured: float, unit: str, met: bool | None) -> None:
        claims.append(Claim(source, case, solver, printed, float(measured), unit, met))

    for count in STEPS:
        case = f"ellipse in {count}, worst of the first {FIRST}"
        jump, calm = (turns[name, count].errors[:FIRST].max() for name in ("pseudo-inverse", "w = 1"))
        add(case, "pseudo-inverse", "over 200", jump, "units", bool(jump > 200.0))
        add(case, "Extended Jacobian", "below 7", calm, "units", bool(calm < 7.0))
    small = turns["w small", STEPS[0]].errors[:FIRST].max()
    case = f"ellipse in {STEPS[0]}, w = {SMALL}, worst of the first {FIRST}"
    add(case, "Extended Jacobian", "does not recover", small, "units", bool(small > 200.0))
    straight = np.zeros(len(LENGTHS))
    rank = np.linalg.matrix_rank(planar.jacobian(LENGTHS, straight))
    add("rank of the straight chain's Jacobian", "Extended Jacobian", "6", rank, "", bool(rank == len(LENGTHS)))
    plain = np.linalg.matrix_rank(planar.main_link(LENGTHS, straight))
    add("rank of the straight chain's Jacobian", "pseudo-inverse", "singular", plain, "", bool(plain < 2))
    worst = turns["w = 1", STEPS[0]].errors.max()
    add(f"ellipse in {STEPS[0]}, worst of the turn", "Extended Jacobian", "not shown", worst, "units", None)
    lap = workload_suite.ellipse(STEPS[0])
    options = ik.Options(tolerance=lap.tolerance)
    found = ik.solve_frames(lap.skeleton, lap.goals, lap.positions, lap.rotations, lap.start, "EXTENDED", options)
    verdict = judge.judged(lap, [solution.pose for solution in found], range(len(found)))
    add(f"ellipse in {STEPS[0]}, worst of the turn", "EXTENDED", "not shown", verdict.distances.max(), "units", None)
    return claims


# -- Amino's arm ------------------------------------------------------------------------------------------------------


def amino() -> dict[str, list[float]]:
    """Shares of targets met by the solvers, for each number of restarts: judged by SciPy, limits included."""
    arm, goals = workload_suite.seven_joint_arm(wide=False)
    generator = np.random.default_rng(SEED)
    drawn, seeds = (workloads.coordinates(arm, generator, ARM_TARGETS) for _ in range(2))
    places, turns = workloads.targets(arm, goals, drawn)
    poses = [workloads.posed(arm, x) for x in seeds]
    start = ik.Pose(*(np.array(part) for part in zip(*poses, strict=True)))
    workload = workload_suite.Workload("A tight", arm, goals, 1e-3, 1e-2, poses[0], places, turns)
    shares = {}
    for solver in [name for name in ARM_SOLVERS if name in ik.SOLVERS]:
        shares[solver] = []
        for restarts in ARM_RESTARTS:
            options = ik.Options(100, workload.tolerance, workload.rotation_tolerance, restarts=restarts, seed=SEED)
            prepared = ik.prepare(arm, goals, solver, options)
            batch = prepared.solve_batch(prepared.targets(places, turns), start)
            found = [ik.Pose(*pose) for pose in zip(batch.rotations, batch.translations, strict=True)]
            shares[solver].append(float(judge.judged(workload, found, range(ARM_TARGETS)).met.mean()))
    return shares


def arm_claims(shares: dict[str, list[float]]) -> list[Claim]:
    """Amino's claims, without restarts and with all of them."""
    case = f"7 joints, {ARM_TARGETS} poses, {{}} restarts: met"
    alone = [
        Claim("Amino", case.format(ARM_RESTARTS[0]), name, "no number", 100.0 * found[0], "%")
        for name, found in shares.items()
    ]
    return alone + [
        Claim("Amino", case.format(ARM_RESTARTS[-1]), name, "no number; 99.9 % asked", 100.0 * found[-1], "%",
              found[-1] >= ARM_SHARE)
        for name, found in shares.items()
    ]  # fmt: skip


# -- Kenwright's hand -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hand:
    """A solver's results on the hand: iterations of each frame by case, and motion and reach for targets out of reach.

    `still` and `trembling` (U, F - 1), by targets: the largest turn of a joint from frame to frame [rad]. `stretch` and
    `alone` (U,): distances from targets that are all out of reach over the least that SciPy finds, of all fingers
    together (root mean square) and of one finger without the others' goals.
    """

    iterations: dict[str, np.ndarray]
    still: dict[str, np.ndarray]
    trembling: dict[str, np.ndarray]
    stretch: np.ndarray
    alone: np.ndarray


CASES = ("at rest", "coherent", "jump")


def kenwright() -> dict[str, Hand]:
    """The hand at rest, in motion, jumping from pose to pose, and reaching for targets out of reach."""
    hand, goals = workloads.hand()
    generator = np.random.default_rng(SEED)
    moving = workloads.motion(workloads.coordinates(hand, generator, 4, share=workload_suite.MOTION_SHARE), HAND_STEPS)
    rest = moving[:1] + np.radians(1.0) * generator.uniform(-1, 1, (HAND_STEPS, len(hand)))
    jump = workloads.coordinates(hand, generator, HAND_STEPS)
    cases = dict(zip(CASES, (rest, moving, jump), strict=True))
    start = workloads.posed(hand, moving[0])
    tips = workloads.targets(hand, goals, workloads.coordinates(hand, generator, UNREACHABLE))[0]
    away = tips / np.linalg.norm(tips, axis=-1, keepdims=True)
    far = {"some": TWICE * tips, "all": BEYOND * lengths(hand, goals)[:, None] * away}
    reaching = [replace(goal, rotation=None) for goal in goals]
    fingers = [index % len(goals) for index in range(UNREACHABLE)]
    least = [nearest(hand, goals, targets) for targets in far["all"]]
    least_alone = [nearest(hand, [goals[f]], targets[[f]]) for f, targets in zip(fingers, far["all"], strict=True)]
    found = {}
    for solver in HAND_SOLVERS:
        lead = partial(follow, hand, start=start, solver=solver)
        iterations = {
            case: np.array([s.iterations for s in lead(goals, *workloads.targets(hand, goals, x))])
            for case, x in cases.items()
        }
        still, trembling, ends, ends_alone = {}, {}, [], []
        for which, places in far.items():
            still_targets = [np.repeat(targets[None], UNREACHABLE_FRAMES, axis=0) for targets in places]
            shaken = [lap * (1.0 + TREMBLE * generator.uniform(-1, 1, lap.shape)) for lap in still_targets]
            still[which] = np.array([_steps(lead(reaching, lap, _unturned(lap))) for lap in still_targets])
            reached = [lead(reaching, lap, _unturned(lap)) for lap in shaken]
            trembling[which] = np.array([_steps(lap) for lap in reached])
            if which == "all":
                ends = [np.sqrt((lap[-1].position_errors ** 2).mean()) for lap in reached]
                for finger, lap in zip(fingers, shaken, strict=True):
                    one = lead([reaching[finger]], lap[:, [finger]], _unturned(lap[:, [finger]]))
                    ends_alone.append(one[-1].position_errors[0])
        found[solver] = Hand(iterations, still, trembling, np.divide(ends, least), np.divide(ends_alone, least_alone))
    return found


def lengths(hand: ik.Skeleton, goals: Sequence[ik.Goal]) -> np.ndarray:
    """The largest distance (G,) of each effector from the root."""
    offsets = np.linalg.norm([joint.offset for joint in hand.joints], axis=-1)
    return np.array([offsets @ hand.ancestors[goal.joint] + np.linalg.norm(goal.offset) for goal in goals])


def _steps(solutions: Sequence[ik.Solution]) -> np.ndarray:
    """The largest turn (F - 1,) of a joint from frame to frame [rad]."""
    return judge.joint_steps(np.array([solution.pose.rotations for solution in solutions])).max(-1)


def _unturned(places: np.ndarray) -> np.ndarray:
    return np.tile([1.0, 0, 0, 0], (*places.shape[:2], 1))


def follow(
    hand: ik.Skeleton, goals: Sequence[ik.Goal], places: np.ndarray, turns: np.ndarray, *, start: ik.Pose, solver: str
) -> list[ik.Solution]:
    """Solve frames one at a time, each from the one before."""
    options = ik.Options(tolerance=HAND_TOLERANCE, rotation_tolerance=HAND_ROTATION)
    return ik.solve_frames(hand, goals, places, turns, start, solver, options)


def nearest(hand: ik.Skeleton, goals: Sequence[ik.Goal], targets: np.ndarray) -> float:
    """The least root mean square distance from targets (G, 3) inside the limits, by SciPy from several starts."""
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in hand.joints]).T

    def away(x: np.ndarray) -> np.ndarray:
        return (workloads.targets(hand, list(goals), x[None])[0][0] - targets).ravel()

    def slopes(x: np.ndarray) -> np.ndarray:
        pose = workloads.posed(hand, x)
        return np.concatenate([ik.velocity_jacobian(hand, pose, goal.joint, goal.offset)[3:] for goal in goals])

    starts = workloads.coordinates(hand, np.random.default_rng(SEED), RIVALS, share=0.9)
    best = min(least_squares(away, x, slopes, bounds=(lo, hi)).cost for x in starts)
    return float(np.sqrt(2.0 * best / len(targets)))


def hand_claims(found: dict[str, Hand]) -> list[Claim]:
    """Claims on iterations, on how far the hand stretches and on how still it is."""
    claims = []
    for solver, hand in found.items():

        def add(case: str, printed: str, measured: float, unit: str, met: bool | None, solver: str = solver) -> None:
            claims.append(Claim("Kenwright", case, solver, printed, float(measured), unit, met))

        rest, moving, jump = (hand.iterations[case][1:] for case in CASES)
        add("hand at rest, most", "1 to 2 at most", rest.max(), "iterations", bool(rest.max() <= 2))
        add("hand in motion, mean", "2 or 3 on average", moving.mean(), "iterations", bool(moving.mean() <= 3.0))
        add("hand jumping, mean", "about 10 or more", jump.mean(), "iterations", bool(jump.mean() <= 10.0))
        for which in hand.still:
            settled = np.degrees(hand.still[which][:, SETTLED - 1 :].max())
            add(f"{which} out of reach, still: largest step", "stable", settled, "degrees", bool(settled < STILL))
            shaken = np.degrees(hand.trembling[which][:, SETTLED - 1 :].max(-1))
            for what, step in (("median", np.median(shaken)), ("worst", shaken.max())):
                case = f"{which} out of reach, trembling by 1e-9: largest step, {what} pose"
                add(case, "stable", step, "degrees", bool(step < CALM))
        for who, reach in (("one finger", hand.alone), ("five fingers", hand.stretch)):
            for what, share in (("median", np.median(reach)), ("worst", reach.max())):
                case = f"all out of reach, {who}: distance / least, {what} pose"
                add(case, "best reach", share, "", bool(share < NEAREST))
    return claims
