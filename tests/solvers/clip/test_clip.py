# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole clips: goals and limits hold as frame by frame, and the joints move more smoothly."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import workloads
from hypothesis import given, settings
from measures import EXACT, chain_of, outside_limits
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons, torso, wxyz

import solvers as ik
from solvers.clip import slow_into, solve_into
from solvers.clip import solve as whole
from solvers.clip.answers import answers
from solvers.clip.bounds import Bounds
from solvers.clip.keys import between, kept
from solvers.clip.problem import Clip
from solvers.clip.rows import NumpyRows, rows_of
from solvers.clip.smoothness import Smoothness
from solvers.clip.speed import Speed, forced
from solvers.compiled.clip import compiled_stage
from solvers.model.frames import FrameArrays
from solvers.motion import banded
from solvers.space import JointSpace, State
from solvers.space.tasks.setup import ROTATION_LENGTH

FRESH = ik.Options(warm_start=False)
SHOT = 0.3**4  # the smoothness of a shot, as it is first


def planar(*limits: ik.Range | None) -> ik.Skeleton:
    """Hinges about Z, 1 apart along Y at rest, and a tip."""
    hinges = [ik.Joint(f"joint {k}", k - 1, "hinge", (0, min(k, 1), 0), axis=(0, 0, 1), limits=own)
              for k, own in enumerate(limits)]  # fmt: skip
    return ik.Skeleton([*hinges, ik.Joint("tip", len(limits) - 1, "fixed", (0, 1, 0))])


def mixed() -> ik.Skeleton:
    """A slide, a free ball, a limited ball and a hinge, one above the other."""
    limits = ik.TwistSwing((-0.3, 0.4), (-0.5, 0.3), (-0.2, 0.6))
    return ik.Skeleton([
        ik.Joint("slide", -1, "prismatic", (0, 0, 0), axis=(1, 2, 0), limits=ik.Range(-0.5, 0.5)),
        ik.Joint("free", 0, "ball", (0, 1, 0)),
        ik.Joint("limited", 1, "ball", (0, 1, 0), axis=(1, 1, 0), limits=limits),
        ik.Joint("hinge", 2, "hinge", (0, 1, 0), axis=(0, 0, 1), limits=ik.Range(0.1, 0.9)),
    ])  # fmt: skip


def space_of(skeleton: ik.Skeleton) -> JointSpace:
    """All its degrees of freedom."""
    return JointSpace(skeleton, np.ones(len(skeleton), dtype=bool))


def states(space: JointSpace, count: int, generator: np.random.Generator, size: float = 0.3) -> State:
    """Random states of some frames, which may be outside the limits a little."""
    poses = [random_pose(space.skeleton, generator, size) for _ in range(count)]
    state = space.state(ik.Pose(*map(np.stack, zip(*poses, strict=True))), count)
    return space.step(state, 0.05 * generator.normal(size=state.x.shape))


def differences(space: JointSpace, state: State, of: Callable[[State], np.ndarray], step: float = 1e-5) -> np.ndarray:
    """The derivatives (F, n, ...) of what is found of a state, by each coordinate of each frame."""
    found = []
    for place in np.ndindex(*state.x.shape):
        d = np.zeros(state.x.shape)
        d[place] = step
        found.append((of(space.step(state, d)) - of(space.step(state, -d))) / (2 * step))
    return np.reshape(found, (*state.x.shape, *np.shape(found[0])))


def body_motion(seed: int, frames: int = 24, turns: bool = False) -> tuple:
    """Skeleton, goals, positions, rotations and first pose of a body with limits, led from posture to posture."""
    skeleton, goals = workloads.body()
    if not turns:
        goals = [ik.Goal(goal.joint, (0, 0, 0), offset=goal.offset) for goal in goals]
    knots = workloads.coordinates(skeleton, np.random.default_rng(seed), 2, 0.6)
    x = workloads.motion(knots, frames)
    return skeleton, goals, *workloads.targets(skeleton, goals, x), workloads.posed(skeleton, x[0])


def led_hands() -> tuple[ik.Prepared, np.ndarray]:
    """A torso with goals for both hands, and their places (100, 2, 3)."""
    t = np.linspace(0.0, 6.0, 100)
    left = 0.5 + 0.1 * np.sin(t), 0.7 + 0.2 * np.cos(1.3 * t), 0.2 * np.sin(2 * t)
    right = -0.5 + 0.1 * np.cos(t), 0.6 + 0.1 * np.sin(1.7 * t), 0.2 * np.cos(2 * t)
    goals = [ik.Goal(joint, (0, 0, 0)) for joint in (4, 7)]
    return ik.prepare(torso(), goals), np.stack([np.stack(left, -1), np.stack(right, -1)], 1)


def asked(prepared: ik.Prepared, start: ik.Pose | None, *targets: np.ndarray) -> FrameArrays:
    """Frames that are not solved yet, with their targets, from a pose of each or of all."""
    arrays = prepared.arrays(len(targets[0]))
    arrays.ask(prepared.targets(*targets), start or prepared.start(None))
    return arrays


def accelerations(poses: list[ik.Pose]) -> np.ndarray:
    """Accelerations (F - 2, J, 3) of the joints' turns, by SciPy [rad per frame^2]."""
    turned = [
        (scipy_rotation(one.rotations).inv() * scipy_rotation(other.rotations)).as_rotvec()
        for one, other in pairwise(poses)
    ]
    return np.diff(turned, axis=0)


def fastest(rotations: np.ndarray) -> np.ndarray:
    """The largest turn (F - 1,) of a joint from each frame of rotations (F, J, 4) to the next [rad], by SciPy."""
    every = [scipy_rotation(one) for one in rotations]
    return np.array([(one.inv() * other).magnitude().max() for one, other in pairwise(every)])


def roughness(solutions: list[ik.Solution]) -> float:
    """The mean squared acceleration."""
    return float((accelerations([one.pose for one in solutions]) ** 2).sum(-1).mean())


def worst(solutions: list[ik.Solution]) -> np.ndarray:
    """The largest distance and angle from any goal."""
    return np.array([max(one.position_errors.max() for one in solutions),
                     max(one.rotation_errors.max() for one in solutions)])  # fmt: skip


def inside(skeleton: ik.Skeleton, solutions: list[ik.Solution], goals: list[ik.Goal]) -> bool:
    """Whether all joints that goals may move are inside their limits in all frames."""
    moved = np.flatnonzero(np.any([chain_of(skeleton, goal) for goal in goals], axis=0))
    return all(outside_limits(skeleton, one.pose, int(joint)) <= EXACT for one in solutions for joint in moved)


def same(one: list[ik.Solution], other: list[ik.Solution]) -> float:
    """The largest difference of any joint's turn [rad]."""
    return max(
        float((scipy_rotation(a.pose.rotations).inv() * scipy_rotation(b.pose.rotations)).magnitude().max())
        for a, b in zip(one, other, strict=True)
    )


# -- the parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frames", [1, 2, 3, 9, 30])
def test_a_band_is_solved_as_if_it_were_dense(frames: int) -> None:
    """For a random positive definite band, by `numpy.linalg.solve`."""
    n, generator = 4, np.random.default_rng(frames)
    lower = np.zeros((frames, n, frames, n))
    for f in range(frames):
        for below in range(f, min(f + 3, frames)):
            lower[below, :, f] = generator.normal(size=(n, n))
    dense = lower.reshape(frames * n, -1)
    dense = dense @ dense.T + np.eye(frames * n)
    blocks = dense.reshape(frames, n, frames, n).transpose(0, 2, 1, 3)
    own = [np.array([blocks[f + away, f] for f in range(frames - away)]).reshape(-1, n, n) for away in range(3)]
    right = generator.normal(size=(frames, n))
    for solve in (banded.solve, banded.solve_with_numpy):
        assert_allclose(solve(*own, right).ravel(), np.linalg.solve(dense, right.ravel()), atol=1e-9)
    own[0][-1] = -np.eye(n)
    for solve in (banded.solve, banded.solve_with_numpy):
        with pytest.raises(np.linalg.LinAlgError):
            solve(*own, right)


@pytest.mark.parametrize("corrects", [False, True])
def test_smoothness_has_the_gradient_and_curvature_of_its_cost(corrects: bool) -> None:
    """By differences: the gradient of the cost, and the Hessian's blocks from the accelerations' derivatives."""
    generator, frames = np.random.default_rng(2), 5
    space = space_of(mixed())
    state, base = states(space, frames, generator), states(space, frames, generator)
    near = np.repeat([0.7, 0.2, 0.5, 0.3], [1, 3, 3, 1])
    smooth, alone = (Smoothness(space, 1.3, weights, corrects, base) for weights in (near, 0.0 * near))
    rows = [(joint, column) for joint, block in enumerate(space.blocks) for column in range(block.stop - block.start)]
    derivative = differences(space, state, alone.accelerations).reshape(frames, space.n, -1)
    terms = smooth.terms(state)
    gradient = np.array([terms.gradient[:, j, c] for j, c in rows]).T
    assert_allclose(gradient, differences(space, state, smooth.cost), atol=1e-7)
    hessian, plain = 1.3 * np.einsum("fka,gla->fgkl", derivative, derivative), alone.terms(state)
    for away, part in enumerate((plain.diagonal, plain.first, plain.second)):
        for f in range(frames - away):
            block = np.zeros((space.n, space.n))
            for i, (joint, column) in enumerate(rows):
                for j, (other, last) in enumerate(rows):
                    block[i, j] = part[f, joint, column, last] if joint == other else 0.0
            assert_allclose(block, hessian[f + away, f], atol=1e-6)


def test_speed_has_the_gradient_of_its_cost() -> None:
    """By differences, where some joints turn faster than is allowed and others do not; the Hessian is symmetric."""
    generator, frames = np.random.default_rng(5), 5
    space = space_of(mixed())
    state = states(space, frames, generator)
    smooth = Smoothness(space, 1.0, np.zeros(space.n), False, state)
    fast = np.linalg.norm(smooth.steps(state.take(slice(0, -1)), state.take(slice(1, None))), axis=-1)
    speed = Speed(smooth, 1.3, np.full(frames, float(np.median(fast))))
    gradient = np.zeros((frames, space.n))
    blocks = [np.zeros((frames - away, space.n, space.n)) for away in range(3)]
    speed.add(state, gradient, blocks)
    assert np.abs(gradient).max() > 0.1
    assert_allclose(gradient, differences(space, state, speed.cost, 1e-6), atol=1e-6)
    assert_allclose(blocks[0], np.swapaxes(blocks[0], 1, 2), atol=1e-12)
    whole = np.zeros((frames, space.n, frames, space.n))
    for f in range(frames):
        whole[f, :, f] = blocks[0][f]
    for f in range(frames - 1):
        whole[f + 1, :, f], whole[f, :, f + 1] = blocks[1][f], blocks[1][f].T
    assert np.linalg.eigvalsh(whole.reshape(frames * space.n, -1)).min() > -1e-9


def test_a_jump_of_what_is_missed_forces_no_speed() -> None:
    """An arm that its elbow's limit keeps away from a target, and that misses it to other sides on other frames.

    While the target stands still nothing has to turn. Where it moves on, the shoulder turns as its angle has it.
    """
    arm = planar(None, ik.Range(-0.9, 0.9))
    prepared, bend, turned = ik.prepare(arm, [ik.Goal("tip", (0, 0, 0))]), np.array([-0.9, -0.9, 0.9, 0.9]), 0.05
    angle = np.array([0.0, 0.0, 0.0, turned])
    targets = prepared.targets(1.5 * np.stack([-np.sin(angle), np.cos(angle), 0.0 * angle], axis=-1)[:, None])
    (stage,) = prepared.stages
    pose = ik.pose_from_angles(arm, np.stack([-0.5 * bend + 0.1 * np.sign(bend), bend], axis=-1))
    state = stage.space.state(pose, 4)
    wanted = NumpyRows(stage.tasks, targets, None).at(state)
    smoothness = Smoothness(stage.space, 1.0, np.zeros(stage.space.n), False, state)
    bounds, targets = Bounds(stage.space), targets._replace(wanted=wanted)
    steps = forced(Clip(stage.tasks, stage.space, smoothness, bounds, targets, None, None), state)
    assert np.abs(np.diff(wanted, axis=0)).max() > 0.1
    assert_allclose(steps[[0, 1, 3]], 0.0, atol=1e-9)
    assert 0.5 * turned < steps[2] < 2.0 * turned


def test_bounds_have_the_gradient_of_their_cost() -> None:
    """By differences, at states inside and outside of boxes and ellipses."""
    space, generator, step = space_of(mixed()), np.random.default_rng(3), 1e-6
    bounds, none = Bounds(space), np.zeros((20, space.n))
    y = generator.normal(size=(20, space.n))
    gradient, _ = bounds.model(y, none, bounds.excess(y))
    for k in range(space.n):
        d = np.zeros(space.n)
        d[k] = step
        ends = [bounds.costs(bounds.excess(y + sign * d)) for sign in (1, -1)]
        assert_allclose(gradient[:, k], (ends[0] - ends[1]) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("turns", [False, True])
def test_the_rows_of_a_clip_are_those_of_its_frames(turns: bool) -> None:
    """With the kernel, where there is one, and with NumPy: of goals of several kinds."""
    generator, frames = np.random.default_rng(4), 40
    skeleton, turn = torso(), (1, 0, 0, 0) if turns else None
    goals = [ik.Goal(4, (0, 0, 0), turn), ik.Goal(7, (0, 0, 0), pole=(0, 0, 2)),
             ik.Goal(3, (0, 0, 0), kind="LOOK_AT"),
             ik.Goal(6, (0, 0, 0), turn or (1, 0, 0, 0), kind="PLANE")]  # fmt: skip
    prepared = ik.prepare(skeleton, goals)
    places, rotations = generator.normal(size=(frames, 4, 3)), generator.normal(size=(frames, 4, 4))
    targets = prepared.targets(places, rotations)
    for number, stage in enumerate(prepared.stages):
        own, state = targets.of_goals(stage.indices), states(stage.space, frames, generator)
        plain = NumpyRows(stage.tasks, own, None)
        compiled = compiled_stage(prepared, number)
        found = rows_of(stage.tasks, own, None, compiled)
        for one, other in zip(found.linear(state), plain.linear(state), strict=True):
            assert_allclose(one, other, atol=1e-12)
        assert_allclose(found.at(state), plain.at(state), atol=1e-12)


@pytest.mark.compiled
def test_frames_met_on_the_way_there_are_met_on_the_way_back() -> None:
    """Of a motion whose last frame, solved afresh, ends in a posture from which the goals cannot be met."""
    skeleton, goals = workloads.body()
    x = workloads.motion(workloads.coordinates(skeleton, np.random.default_rng(0), 3, 0.7), 30)
    targets = workloads.targets(skeleton, goals, x)
    prepared = ik.prepare(skeleton, goals)
    start = prepared.start(workloads.posed(skeleton, x[0]))
    poses, _, met = answers(prepared, asked(prepared, start, *targets))
    assert met.all()
    for pose in poses[1:]:
        for f, wanted in enumerate(targets[0]):
            world = ik.forward(skeleton, ik.Pose(pose.rotations[f].astype(float), pose.translations[f].astype(float)))
            for goal, place in zip(goals, wanted, strict=True):
                turned = scipy_rotation(world.rotations[goal.joint]).apply(goal.offset)
                assert np.linalg.norm(world.positions[goal.joint] + turned - place) < 1e-3


def test_a_few_frames_that_nothing_meets_are_passed() -> None:
    """Between frames that are met; not at the ends, and not many in a row."""
    met = np.array([0, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=bool)
    assert kept(met).tolist() == [True, True, False, False, True, True, True, True, True, True]


# -- the promises -----------------------------------------------------------------------------------------------------


def test_without_smoothing_it_is_solve_frames_to_the_bit() -> None:
    """Warm-started as asked for."""
    skeleton, goals, places, turns, start = body_motion(1, 10)
    for options in (None, FRESH):
        clip = ik.solve_clip(skeleton, goals, places, turns, start, options=options, smooth=0.0)
        frames = ik.solve_frames(skeleton, goals, places, turns, start, options=options)
        for one, other in zip(clip, frames, strict=True):
            assert np.array_equal(one.pose.rotations, other.pose.rotations)
            assert np.array_equal(one.pose.translations, other.pose.translations)


@pytest.mark.compiled
@pytest.mark.parametrize(("seed", "turns"), [(1, False), (2, True)])
def test_a_body_moves_more_smoothly_and_misses_nothing(seed: int, turns: bool) -> None:
    """Goals, limits and accelerations beside both ways of solving frame by frame."""
    skeleton, goals, places, rotations, start = body_motion(seed, turns=turns)
    clip = ik.solve_clip(skeleton, goals, places, rotations, start)
    fresh = ik.solve_frames(skeleton, goals, places, rotations, start, options=FRESH)
    follow = ik.solve_frames(skeleton, goals, places, rotations, start)
    assert inside(skeleton, clip, goals)
    assert all(one.converged for one in clip)
    assert (worst(clip) <= np.maximum(worst(fresh), worst(follow)) + 1e-9).all()
    assert roughness(clip) < 0.55 * roughness(fresh)
    assert roughness(clip) < 0.95 * roughness(follow)
    again = ik.solve_clip(skeleton, goals, places, rotations, start)
    assert all(np.array_equal(a.pose.rotations, b.pose.rotations) for a, b in zip(clip, again, strict=True))


def test_joints_that_turn_too_fast_are_slowed_and_none_faster() -> None:
    """An arm whose hand is led to where it is straight and back. Held frames stay, and all others meet their goals."""
    generator = np.random.default_rng(7)
    knots = generator.normal(size=(4, 3))
    knots *= (1.2 + 0.8 * generator.random((4, 1))) / np.linalg.norm(knots, axis=1, keepdims=True)
    places = CubicSpline(np.linspace(0.0, 1.0, 4), knots)(np.linspace(0.0, 1.0, 40))[:, None]
    places /= np.maximum(np.linalg.norm(places, axis=-1, keepdims=True) / 1.98, 1.0)
    prepared, arrays = smooth_arm(places)
    begun, fast = arrays.rotations.copy(), fastest(arrays.rotations)
    slow_into(prepared, arrays, SHOT, held=(0, 2))
    assert arrays.converged.all()
    assert (arrays.rotations[-2:] == begun[-2:]).all()
    slower = fastest(arrays.rotations)
    assert (slower < fast + np.radians(2.5)).all()
    assert slower.max() < 0.9 * fast.max()


def test_a_punch_is_not_slowed() -> None:
    """A hand that goes 30 times as fast for a frame or two: its joints turn fast because it does."""
    way = np.cumsum(0.012 + 0.3 * np.exp(-((np.arange(40) - 20.0) ** 2)))
    far, angle = 1.2 + 0.5 * np.minimum(way, 1.0), 0.3 + 1.5 * way
    places = np.stack([far * np.cos(angle), far * np.sin(angle), 0.1 * way], axis=-1)[:, None]
    prepared, arrays = smooth_arm(places)
    begun = arrays.rotations.copy()
    slow_into(prepared, arrays, SHOT)
    assert (arrays.rotations == begun).all()


def smooth_arm(places: np.ndarray) -> tuple[ik.Prepared, FrameArrays]:
    """The smooth motion of an arm of two bones whose hand is led along places (F, 1, 3)."""
    joints = [ik.Joint(f"ball {k}", k - 1, "ball", (0, min(k, 1), 0)) for k in range(2)]
    prepared = ik.prepare(ik.Skeleton([*joints, ik.Joint("hand", 1, "fixed", (0, 1, 0))]), [ik.Goal("hand", (0, 0, 0))])
    arrays = asked(prepared, None, places)
    solve_into(prepared, prepared, arrays, SHOT)
    return prepared, arrays


def test_more_smoothing_moves_more_smoothly() -> None:
    skeleton, goals, places, turns, start = body_motion(3, 12)
    found = [roughness(ik.solve_clip(skeleton, goals, places, turns, start, smooth=s)) for s in (0.1, 1.0, 10.0)]
    assert found[0] > found[1] > found[2]


def test_windows_do_not_show() -> None:
    """A clip in windows equals the whole one, but for what the last step of the descent leaves."""
    prepared, places = led_hands()
    found = []
    for window in (1000, 75):
        arrays = asked(prepared, None, places)
        solve_into(prepared, prepared, arrays, window=window)
        found.append(arrays.batch().solutions(0.0))
    assert same(*found) < 1e-3


@pytest.mark.parametrize(("begin", "end"), [(0, 42), (30, 100), (30, 72)])
def test_a_part_of_a_motion_goes_into_the_frames_that_are_held_beside_it(begin: int, end: int) -> None:
    """As the whole motion does: two frames are held at each end inside it, as far as an acceleration reaches."""
    prepared, places = led_hands()
    all_frames, part = asked(prepared, None, places), asked(prepared, None, places[begin:end])
    solve_into(prepared, prepared, all_frames)
    held = 2 if begin else 0, 2 if end < 100 else 0
    part.rotations[:], part.translations[:] = all_frames.rotations[begin:end], all_frames.translations[begin:end]
    free = slice(held[0], end - begin - held[1])
    part.rotations[free] = (1.0, 0.0, 0.0, 0.0)
    solve_into(prepared, prepared, part, held=held)
    turned = scipy_rotation(part.rotations).inv() * scipy_rotation(all_frames.rotations[begin:end])
    beside = np.r_[0:4] if end == 100 else np.r_[-4:0] if begin == 0 else np.r_[0:4, -4:0]
    assert turned.magnitude().reshape(end - begin, -1)[beside].max() < 1.5e-3


@pytest.mark.compiled
@pytest.mark.parametrize("beside", [(20, 20), (0, 30), (0, 0)])
def test_frames_beside_others_change_none_of_these(beside: tuple[int, int]) -> None:
    """Those that are asked for meet their goals, as if the frames beside them were asked for too."""
    skeleton, goals, places, turns, start = body_motion(2, 60)
    prepared, found = ik.prepare(skeleton, goals), []
    for ends in ((0, 0), beside):
        arrays = prepared.arrays(60, shared=True)
        arrays.ask(prepared.targets(places, turns), prepared.start(start))
        solve_into(prepared, prepared, arrays, 0.01, beside=ends)
        found.append(arrays.part(beside[0], 60 - beside[1]))
    assert found[1].converged.all()
    assert_allclose(found[1].rotations, found[0].rotations, atol=1e-12)


def test_two_slides_share_a_way_without_accelerating() -> None:
    """A point that moves evenly is carried by two slides, of which one reaches its limit: frame by frame it stops there
    at once. Both can go evenly all the way, and do."""
    limits = ik.Range(-1.0, 0.3)
    skeleton = ik.Skeleton([
        ik.Joint("first", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), limits=limits),
        ik.Joint("second", 0, "prismatic", (0, 1, 0), axis=(1, 0, 0)),
    ])  # fmt: skip
    places = np.array([[(x, 1.0, 0.0)] for x in np.linspace(0.0, 1.2, 41)])
    ends = {}
    for name, solve in (("frames", ik.solve_frames), ("clip", ik.solve_clip)):
        found = solve(skeleton, [ik.Goal("second", (0, 0, 0))], places)
        x = np.array([one.pose.translations[:, 0] for one in found])
        assert_allclose(x.sum(1), places[:, 0, 0], atol=1e-4)
        assert x[:, 0].max() <= 0.3 + EXACT
        ends[name] = np.abs(np.diff(x[:, 0], 2)).max()
    assert ends["frames"] > 0.005
    assert ends["clip"] < 0.1 * ends["frames"]


class AtRest:
    """A term: the first coordinate is at 0, at `weight / 2` of its square."""

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def part(self, _: slice) -> "AtRest":
        """The term of some frames."""
        return self

    def cost(self, state: State) -> float:
        """The costs of all frames."""
        return 0.5 * self.weight * float((state.x[:, 0] ** 2).sum())

    def add(self, state: State, gradient: np.ndarray, blocks: Sequence[np.ndarray]) -> None:
        """Add gradient and Hessian."""
        gradient[:, 0] += self.weight * state.x[:, 0]
        blocks[0][:, 0, 0] += self.weight


def with_term(term: AtRest, *parts: object, **named: object) -> Clip:
    """A clip with one term more."""
    clip = Clip(*parts, **named)
    return replace(clip, terms=(*clip.terms, term))


def test_another_term_counts_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point that two slides carry: one of them is to rest, although both together would accelerate less.

    Frame by frame they share the way, and that answer, which has the smaller accelerations, does not win in the end.
    """
    skeleton = ik.Skeleton([
        ik.Joint("first", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0)),
        ik.Joint("second", 0, "prismatic", (0, 1, 0), axis=(1, 0, 0)),
    ])  # fmt: skip
    places = np.array([[(x, 1.0, 0.0)] for x in (0.0, 0.3, -0.2, 0.4, 0.1, -0.3, 0.2, 0.0)])
    shares = []
    for weight in (0.0, 10.0):
        monkeypatch.setattr(whole, "Clip", partial(with_term, AtRest(weight)))
        found = ik.solve_clip(skeleton, [ik.Goal("second", (0, 0, 0))], places)
        x = np.array([one.pose.translations[:, 0] for one in found])
        assert_allclose(x.sum(1), places[:, 0, 0], atol=1e-4)
        shares.append(np.abs(x[:, 0]).max())
    assert shares[0] > 0.1
    assert shares[1] < 0.01


@pytest.mark.parametrize("frames", [0, 1, 2, 3])
def test_short_clips_are_solved(frames: int) -> None:
    """Also those that are too short for an acceleration."""
    places = [[(0.3, 1.2, 0.1 * frame)] for frame in range(frames)]
    found = ik.solve_clip(chain(4), [ik.Goal(3, (0, 0, 0))], np.reshape(places, (frames, 1, 3)))
    assert [one.converged for one in found] == [True] * frames


def test_targets_that_jump_are_met() -> None:
    """There and back at once, so that the goals force a jump."""
    places = np.array([[(1.0, 1.0, 0.0) if 8 <= f < 16 else (-1.0, 1.5, 0.5)] for f in range(24)])
    found = ik.solve_clip(chain(4), [ik.Goal(3, (0, 0, 0))], places)
    assert all(one.converged for one in found)


@pytest.mark.parametrize(("smooth", "priority", "more"), [(1.0, 1, 1e-3), (0.3**4, 1, 1e-3), (0.3**4, 0, 3e-3)])
def test_what_is_out_of_reach_is_missed_no_more_than_frame_by_frame(smooth: float, priority: int, more: float) -> None:
    """By the hand that reaches for it and by the other, which can meet its target: equal goals share what is missed."""
    goals = [ik.Goal(4, (0, 0, 0)), ik.Goal(7, (0, 0, 0), priority=priority)]
    t = np.linspace(0.0, 1.0, 25)
    left, right = (0.6 + 1.5 * t, 0.8 + 0.2 * t, 0 * t), (-0.5 + 0 * t, 0.6 + 0 * t, 0.3 * t)
    places = np.stack([np.stack(left, 1), np.stack(right, 1)], 1)
    frames = ik.solve_frames(torso(), goals, places, options=FRESH)
    clip = ik.solve_clip(torso(), goals, places, smooth=smooth)
    missed, own = (np.array([one.position_errors for one in found]) for found in (frames, clip))
    assert missed[-1, 0] > 0.3
    assert (own <= missed + more).all()


def test_goals_that_come_later_do_not_move_the_joints_of_earlier_ones() -> None:
    """The end of a chain reaches out of reach at times, with its own joints, while another goal leads its middle."""
    skeleton, t = chain(7), np.linspace(0.0, 1.0, 20)
    goals = [ik.Goal(3, (0, 0, 0)), ik.Goal(6, (0, 0, 0), chain=[4, 5, 6])]
    middle = np.stack([0.5 + t, 2.0 + 0 * t, 0.5 * np.sin(6 * t)], 1)
    end = middle + np.stack([1 + 0 * t, 1 + 3 * np.sin(3 * t), 0 * t], 1)
    places = np.stack([middle, end], 1)
    clip, frames = (solve(skeleton, goals, places) for solve in (ik.solve_clip, ik.solve_frames))
    missed = [np.array([one.position_errors for one in found]).max(0) for found in (clip, frames)]
    assert missed[0][0] < 1e-4
    assert 0.1 < missed[0][1] < 1.05 * missed[1][1]  # from where the other goal's joints leave the root of its own


def test_a_motion_that_meets_the_goals_is_kept() -> None:
    """The correction to a reference is nothing where it needs none, however roughly the reference moves."""
    skeleton, generator = torso(), np.random.default_rng(5)
    poses = [random_pose(skeleton, generator, 0.4) for _ in range(12)]
    reference = ik.Pose(*map(np.stack, zip(*poses, strict=True)))
    places = np.array([ik.forward(skeleton, pose).positions[[4, 7]] for pose in poses])
    goals = [ik.Goal(joint, (0, 0, 0)) for joint in (4, 7)]
    found = ik.solve_clip(skeleton, goals, places, reference=reference)
    assert_allclose(accelerations([one.pose for one in found]), accelerations(poses), atol=1e-6)


def test_a_correction_is_smooth_and_the_motion_keeps_its_accents() -> None:
    """A motion with a twitch, whose hand is asked to be elsewhere: the twitch stays."""
    skeleton = torso()
    rotations = np.tile([1.0, 0, 0, 0], (30, len(skeleton), 1))
    rotations[15, 2] = wxyz(Rotation.from_rotvec([0, 0, 0.3]))
    reference = ik.Pose(rotations, np.zeros((30, len(skeleton), 3)))
    poses = [ik.Pose(*parts) for parts in zip(*reference, strict=True)]
    places = np.array([[ik.forward(skeleton, pose).positions[4] + (-0.1, 0.05, 0.1)] for pose in poses])
    found = ik.solve_clip(skeleton, [ik.Goal(4, (0, 0, 0))], places, reference=reference)
    assert all(one.converged for one in found)
    here = [one.pose.rotations[2] for one in found[14:16]]
    twitch = (scipy_rotation(here[0]).inv() * scipy_rotation(here[1])).magnitude()
    assert twitch > 0.2


def test_coupled_joints_stay_coupled() -> None:
    """A finger whose tip follows its knuckle."""
    hinges = [ik.Joint(f"hinge {i}", i - 1, "hinge", (0, float(i > 0), 0), axis=(1, 0, 0)) for i in range(3)]
    hinges[0] = replace(hinges[0], limits=ik.Range(-0.2, 1.0))
    finger = ik.Skeleton([*hinges, ik.Joint("tip", 2, "fixed", (0, 1, 0))],
                         couplings=[ik.Coupling("hinge 2", "X", "hinge 1", factor=0.5)])  # fmt: skip
    poses = [ik.pose_from_angles(finger, [0.3, a, 0.5 * a]) for a in 0.7 + 0.4 * np.sin(np.linspace(0, 6, 30))]
    places = np.array([[ik.forward(finger, pose).positions[3]] for pose in poses])
    goals = [ik.Goal(3, (0, 0, 0))]
    found = ik.solve_clip(finger, goals, places)
    angles = np.array([ik.angles_from_pose(finger, one.pose) for one in found])
    assert all(one.converged for one in found)
    assert inside(finger, found, goals)
    assert_allclose(angles[:, 2], 0.5 * angles[:, 1], atol=1e-9)


@given(skeleton=skeletons(most=5), seed=seeds)
@settings(max_examples=15)
def test_any_clip_keeps_limits_and_misses_no_more_than_frame_by_frame(skeleton: ik.Skeleton, seed: int) -> None:
    """On skeletons of any shape and limits, with targets that wander about a reachable place."""
    generator = np.random.default_rng(seed)
    joints = generator.integers(len(skeleton), size=2)
    middle = ik.forward(skeleton, random_pose(skeleton, generator)).positions[joints]
    places = middle + 0.05 * generator.normal(size=(6, 2, 3)).cumsum(0)
    goals = [ik.Goal(int(joint), (0, 0, 0)) for joint in joints]
    clip = ik.solve_clip(skeleton, goals, places)
    frames = [ik.solve_frames(skeleton, goals, places, options=options) for options in (None, FRESH)]
    assert inside(skeleton, clip, goals)
    assert (worst(clip) <= np.maximum(worst(frames[0]), worst(frames[1])) + 1e-3).all()


# -- bad input --------------------------------------------------------------------------------------------------------


def test_what_it_cannot_do_is_said() -> None:
    arm, goals, places = chain(3), [ik.Goal(2, (0, 0, 0))], np.ones((4, 1, 3))
    with pytest.raises(ik.InvalidOptions, match="smooth = -1; expected a finite number, 0 or more"):
        ik.solve_clip(arm, goals, places, smooth=-1)
    short = ik.Pose(np.tile([1.0, 0, 0, 0], (3, 3, 1)), np.zeros((3, 3, 3)))
    with pytest.raises(ik.InvalidPose, match=r"reference.rotations: expected shape \(4, 3, 4\), got \(3, 3, 4\)"):
        ik.solve_clip(arm, goals, places, reference=short)


@pytest.mark.parametrize("angle", [3.0, -3.0, 2.0 * np.pi - 0.4])
def test_a_free_hinge_goes_the_short_way_from_key_to_key(angle: float) -> None:
    """Between two keys it turns evenly, by less than half a turn."""
    space = space_of(ik.Skeleton([ik.Joint("wheel", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))]))
    start = space.state(space.skeleton.rest_pose(), 5)
    ends = np.array([[0.2], [0.2 + angle]])
    keyed = space.step(State(start.rotations[:2].copy(), start.x[:2].copy()), ends)
    found = between(space, np.array([0, 4]), keyed, start, corrects=False)
    turns = Rotation.from_quat(found.rotations[:, 0], scalar_first=True)
    short = Rotation.from_rotvec([0.0, 0.0, angle]).magnitude()
    assert (turns[:-1].inv() * turns[1:]).magnitude() == pytest.approx(short / 4.0, abs=1e-9)
    assert np.abs(np.diff(found.x[:, 0])) == pytest.approx(short / 4.0, abs=1e-9)




@pytest.mark.parametrize("way", [0.01, 0.03])
def test_an_arm_does_not_sweep_around_where_its_hand_hardly_moves(way: float) -> None:
    """The poses that frames start from lead the elbow around within a few frames, while the hand goes evenly.

    Frame by frame the elbow sweeps around. As one motion it takes more frames, to the same side, and the hand is where
    it is to be.
    """
    arm = ik.Skeleton([
        ik.Joint("upper", -1, "ball", (0, 0, 0)), ik.Joint("lower", 0, "ball", (0, 1, 0)),
        ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ])  # fmt: skip
    frames, bend = 60, np.arccos(0.8)  # [rad] of the upper arm from the hand's direction: sides 1, 1 and 1.6
    angle = way * np.arange(frames)
    share = np.clip((np.arange(frames) - 22.0) / 16.0, 0.0, 1.0)
    side = np.pi * share**2 * (3.0 - 2.0 * share)
    places = 1.6 * np.stack([np.sin(angle), np.cos(angle), np.zeros(frames)], axis=-1)[:, None]
    start = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 3, 1))
    around = Rotation.from_euler("YX", np.stack([side, np.full(frames, bend)], axis=-1))
    start[:, 0] = np.array([wxyz(one) for one in Rotation.from_euler("z", -angle[:, None]) * around])
    start[:, 1] = wxyz(Rotation.from_rotvec([-2.0 * bend, 0.0, 0.0]))
    prepared = ik.prepare(arm, [ik.Goal("hand", (0, 0, 0))])
    arrays = asked(prepared, ik.Pose(start, np.zeros((frames, 3, 3))), places)
    fastest = []
    for solve in (prepared.solve_into, partial(solve_into, prepared, prepared, smooth=SHOT)):
        solve(arrays)
        cosine = np.abs((arrays.rotations[1:] * arrays.rotations[:-1]).sum(-1)).clip(0.0, 1.0)
        fastest.append(float((2.0 * np.arccos(cosine)).max()))
        assert arrays.converged.all()
    assert fastest[1] < 0.6 * fastest[0]
    assert np.abs((arrays.rotations[[0, -1]] * start[[0, -1]]).sum(-1)).min() > np.cos(np.radians(5.0))


def both_ways(prepared: ik.Prepared, arrays: FrameArrays, length: float = 0.0) -> tuple[list[float], list[np.ndarray]]:
    """The largest pop of a hinge about Z, and the misses (F, G), turns as ways of a length: frame by frame, as one."""
    pops, misses = [], []
    for solve in (prepared.solve_into, partial(solve_into, prepared, prepared, smooth=SHOT)):
        solve(arrays)
        turned = np.unwrap(2.0 * np.arctan2(arrays.rotations[..., 3], arrays.rotations[..., 0]), axis=0)
        pops.append(float(np.abs(np.diff(turned, 3, axis=0)).max()))
        misses.append(np.hypot(arrays.position_errors, length * arrays.rotation_errors))
    return pops, misses


def led_leg(further: float, frames: int) -> tuple[ik.Prepared, FrameArrays]:
    """A planar leg whose foot is led out of reach and back, and turns further than its ankle can."""
    leg = ik.Skeleton([
        ik.Joint("hip", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=ik.Range(-1.5, 1.5)),
        ik.Joint("knee", 0, "hinge", (0, 1, 0), axis=(0, 0, 1), limits=ik.Range(0.0, 2.4)),
        ik.Joint("ankle", 1, "hinge", (0, 1, 0), axis=(0, 0, 1), limits=ik.Range(-0.3, 0.3)),
    ])  # fmt: skip
    t = np.linspace(0.0, 2.0 * np.pi, frames)
    away, angle, half = 1.75 + further * np.sin(t), 0.4 * np.sin(t + 0.5), 0.25 * np.sin(2.0 * t)
    places = np.stack([away * np.sin(angle), away * np.cos(angle), 0.0 * t], axis=-1)[:, None]
    turns = np.stack([np.cos(half), 0.0 * t, 0.0 * t, np.sin(half)], axis=-1)[:, None]
    prepared = ik.prepare(leg, [ik.Goal("ankle", (0, 0, 0), (1, 0, 0, 0))])
    return prepared, asked(prepared, ik.pose_from_angles(leg, np.tile([0.0, 0.5, 0.0], (frames, 1))), places, turns)


@pytest.mark.parametrize("further", [0.2, 0.4])
def test_what_cannot_be_met_is_missed_without_a_pop(further: float) -> None:
    """Frame by frame the knee of a leg pops where another pose misses hardly less.

    As one motion it does not, and misses no more in the worst frame, and hardly more on average.
    """
    prepared, arrays = led_leg(further, 40)
    pops, misses = both_ways(prepared, arrays, ROTATION_LENGTH * prepared.skeleton.length)
    assert np.mean(misses[0] > 0.03) > 0.5
    assert pops[1] < 0.5 * pops[0]
    assert misses[1].max() < 1.001 * misses[0].max()
    assert misses[1].mean() < 1.03 * misses[0].mean()


@pytest.mark.parametrize(("further", "frames"), [(0.3, 40), (0.4, 16), (0.5, 24)])
def test_a_joint_that_is_slowed_where_goals_are_missed_misses_hardly_more(further: float, frames: int) -> None:
    """The leg led faster: its knee straightens within a frame or two, though hardly less is missed for it."""
    prepared, arrays = led_leg(further, frames)
    solve_into(prepared, prepared, arrays, smooth=SHOT)
    before, fast = arrays.batch(), fastest(arrays.rotations)
    slow_into(prepared, arrays, SHOT)
    assert fastest(arrays.rotations).max() < 0.85 * fast.max()
    assert arrays.position_errors.sum() < 1.04 * before.position_errors.sum()
    assert arrays.rotation_errors.sum() < 1.04 * before.rotation_errors.sum()


@pytest.mark.parametrize("seed", [219, 341, 474])
def test_a_frame_that_would_pop_to_be_exact_misses_a_little_instead(seed: int) -> None:
    """A planar arm with random limits, whose tip is led from one reachable place to another, and aside on the way.

    Limits leave no short way for a frame or two. Frame by frame the arm pops to meet the goal there, or miss it less.
    """
    random = np.random.default_rng(seed)
    ranges = [np.sort(random.uniform(-2.5, 2.5, 2)) for _ in range(3)]
    arm = planar(*(ik.Range(*limits) for limits in ranges))
    begin, end = (np.array([random.uniform(*limits) for limits in ranges]) for _ in range(2))
    frames, t = 20, np.linspace(0.0, 1.0, 20)[:, None]
    angles = np.cumsum(begin + (end - begin) * (3.0 * t**2 - 2.0 * t**3), axis=1)
    places = np.stack([-np.sin(angles).sum(1), np.cos(angles).sum(1), np.zeros(frames)], axis=-1)
    places += np.sin(np.pi * t) ** 2 * random.normal(0.0, 0.3, 3) * [1.0, 1.0, 0.0]
    prepared = ik.prepare(arm, [ik.Goal("tip", (0, 0, 0))])
    middle = ik.pose_from_angles(arm, np.tile([limits.mean() for limits in ranges], (frames, 1)))
    pops, misses = both_ways(prepared, asked(prepared, middle, places[:, None]))
    assert pops[1] < 0.65 * pops[0]
    assert misses[1].max() < 1.001 * misses[0].max()
    assert misses[1].mean() < 1.05 * misses[0].mean()


@pytest.mark.parametrize("swing", [0.8, 1.4])
def test_a_goal_that_yields_is_not_left_behind_in_fast_motion(swing: float) -> None:
    """Hips that slide, and yield to a hand that sweeps around them in a second, partly out of the arm's reach."""
    body = ik.Skeleton([
        ik.Joint("hips", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0)),
        ik.Joint("shoulder", 0, "hinge", (0, 0, 0), axis=(0, 0, 1)),
        ik.Joint("elbow", 1, "hinge", (0, 1, 0), axis=(0, 0, 1), limits=ik.Range(0.0, 2.6)),
        ik.Joint("hand", 2, "fixed", (0, 1, 0)),
    ])  # fmt: skip
    goals = [ik.Goal("hand", (0, 0, 0), priority=1), ik.Goal("hips", (0, 0, 0), position_weight=0.3)]
    frames, t = 24, np.linspace(0.0, 2.0 * np.pi, 24)
    away, angle = 1.9 + 0.15 * np.sin(2.0 * t), swing * np.sin(t)
    places = np.zeros((frames, 2, 3))
    places[:, 0, :2] = np.stack([away * np.sin(angle), away * np.cos(angle)], axis=-1)
    prepared = ik.prepare(body, goals)
    start = ik.pose_from_angles(body, np.tile([0.0, -0.2, 0.4], (frames, 1)))
    misses = both_ways(prepared, asked(prepared, start, places))[1]
    assert misses[0][:, 1].max() > 0.05
    assert misses[1][:, 0].max() < 1e-4
    assert misses[1][:, 1].max() < 1.05 * misses[0][:, 1].max()
    assert misses[1][:, 1].mean() < 1.15 * misses[0][:, 1].mean()


def test_a_limb_misses_what_the_way_that_it_goes_misses() -> None:
    """A target too near for an elbow that bends less far to one side, where some frames' own answers have it.

    The arm stays bent to the other side, and misses on all frames what it has to there, by the law of cosines.
    """
    arm = planar(None, ik.Range(-1.0, 0.8))
    frames, least = 30, 2.0 * np.cos(0.5)
    angle = 0.02 * np.arange(frames)
    places = 1.5 * np.stack([np.sin(angle), np.cos(angle), np.zeros(frames)], axis=-1)[:, None]
    bend = np.where((np.arange(frames) >= 13) & (np.arange(frames) < 17), 0.8, -1.0)
    prepared = ik.prepare(arm, [ik.Goal("tip", (0, 0, 0))])
    arrays = asked(prepared, ik.pose_from_angles(arm, np.zeros((frames, 2))), places)
    arrays.rotations[:], arrays.translations[:] = ik.pose_from_angles(arm, np.stack([-angle - 0.5 * bend, bend], 1))
    answered = SimpleNamespace(motion=prepared.motion, solve_into=lambda arrays: None)  # leaves them as they are
    solve_into(prepared, answered, arrays, smooth=SHOT)
    assert arrays.position_errors == pytest.approx(least - 1.5, abs=2e-3)
    assert arrays.rotations[:, 1, 3] == pytest.approx(-np.sin(0.5), abs=5e-3)
