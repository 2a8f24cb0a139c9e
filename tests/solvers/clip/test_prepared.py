# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared solve: its arrays and motions, shared by threads, copied and pickled, with the kernel and with NumPy."""

import copy
import pickle
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem, drawn, moving
from measures import both_solvers
from numpy.testing import assert_allclose, assert_array_equal
from skeletons import chain

import solvers as ik
from solvers.compiled import library
from solvers.group.stages import HOLD_AFTER
from solvers.model.frames import ANSWERS, QUESTIONS, FrameArrays, asking

WAYS = ["numpy"] if library.load() is None else ["numpy", "compiled"]
Prepare = Callable[..., ik.Prepared]


@pytest.fixture(params=WAYS)
def prepare(request: pytest.FixtureRequest) -> Prepare:
    """`ik.prepare` for one of the two implementations."""

    def prepared(*arguments: object, **keywords: object) -> ik.Prepared:
        one = ik.prepare(*arguments, **keywords)
        if request.param == "numpy":
            one.compiled = None
        assert (one.compiled is None) == (request.param == "numpy")
        return one

    return prepared


def answers(arrays: FrameArrays) -> list[np.ndarray]:
    return [np.array(getattr(arrays, name)) for name in ANSWERS]


def assert_same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for name, a, b in zip(ANSWERS, one, other, strict=True):
        assert_array_equal(a, b, err_msg=name)


def reach(prepared: ik.Prepared, count: int, seed: int = 0) -> FrameArrays:
    """Frames with targets on a smooth path."""
    arrays, generator = prepared.arrays(count), np.random.default_rng(seed)
    goals = len(prepared.goals)
    path = generator.normal(size=(1, goals, 3)) + 0.03 * generator.normal(size=(count, goals, 3)).cumsum(0)
    arrays.positions[:] = path
    return arrays


def problems() -> list[Problem]:
    """Drawn problems that are moderate enough to be solved many times."""
    return [replace(drawn(seed, most=5), options=ik.Options(iterations=12, restarts=seed % 2)) for seed in range(4)]


# -- arrays -----------------------------------------------------------------------------------------------------------


def test_new_arrays_ask_for_the_rest_pose_with_the_skeletons_links_and_the_goals_poles(prepare: Prepare) -> None:
    skeleton = chain(3)
    goals = [ik.Goal(2, (0, 1, 1), pole=(1, 2, 3)), ik.Goal(1, (0, 1, 0))]
    for shared in (False, True):
        arrays = prepare(skeleton, goals).arrays(4, shared)
        assert [len(getattr(arrays, name)) for name in QUESTIONS] == [4, 4, 4, 4, *[1 if shared else 4] * 4]
        assert_array_equal(arrays.poles, [[(1, 2, 3), (0, 0, 0)]] * 4)
        assert_array_equal(arrays.links[0], skeleton.links)
        assert_array_equal(arrays.start_rotations[-1], skeleton.rest_pose().rotations)
        assert_array_equal(arrays.orientations[2], [(1, 0, 0, 0)] * 2)


@both_solvers
def test_the_arrays_are_answered_as_a_call_answers(solver: str, prepare: Prepare) -> None:
    skeleton = chain(4)
    prepared = prepare(skeleton, [ik.Goal(3, (0, 1, 1), (1, 0, 0, 0))], solver)
    arrays = reach(prepared, 20)
    prepared.solve_into(arrays)
    for frame in (0, 7, 19):
        solution = prepared(arrays.positions[frame], arrays.orientations[frame])
        other = arrays.solution(frame, 0.0)
        assert_array_equal(solution.pose.rotations, other.pose.rotations)
        assert_array_equal(solution.position_errors, other.position_errors)
        assert (solution.iterations, solution.converged) == (other.iterations, other.converged)


def test_shared_starts_and_links_are_the_same_as_many_alike(prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))])
    many = reach(prepared, 20)
    one = prepared.arrays(20, shared=True)
    one.positions[:] = many.positions
    for arrays in (many, one):
        prepared.solve_into(arrays)
    assert_same(answers(one), answers(many))
    motion, other = prepared.motion(), prepared.motion()
    motion.solve_into(many)
    other.solve_into(one)
    assert_same(answers(one), answers(many))


def test_arrays_of_another_problem_are_refused(prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))])
    other = prepare(chain(5), [ik.Goal(3, (0, 1, 1))])
    for solve in (prepared.solve_into, prepared.motion().solve_into):
        message = "arrays for 1 goals, 5 joints and 0 points; expected 1 goals, 4 joints and 0 points"
        with pytest.raises(ValueError, match=message):
            solve(other.arrays())


@pytest.mark.parametrize("change", [
    {"positions": np.zeros((3, 1, 3))}, {"links": np.zeros((1, 4, 8), dtype=np.float32)},
    {"rotations": np.zeros((1, 4, 4))}, {"orientations": np.zeros((2, 1, 8))[..., ::2]},
])  # fmt: skip
def test_arrays_that_the_kernel_could_not_read_are_refused(change: dict[str, np.ndarray]) -> None:
    arrays = ik.prepare(chain(4), [ik.Goal(3, (0, 1, 1))]).arrays(2)
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(arrays, **change)


def test_copies_of_arrays_have_memory_of_their_own(prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))])
    arrays = reach(prepared, 3)
    prepared.solve_into(arrays)
    expected = answers(arrays)
    for other in (copy.deepcopy(arrays), pickle.loads(pickle.dumps(arrays))):
        other.positions[:] = 0.3
        prepared.solve_into(other)
        assert_same(answers(arrays), expected)
        assert not np.array_equal(other.rotations, arrays.rotations)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(("bad", "solver"), [(np.nan, "PGS"), (np.inf, "DLS")])
def test_questions_that_are_not_finite_get_nan(name: str, bad: float, solver: str, prepare: Prepare) -> None:
    """Non-finite input gives NaN output, never a pose; other frames and the motion are not affected."""
    goals = [ik.Goal(2, (0.5, 1.5, 0.5), (1, 0, 0, 0), pole=(0, 0, 5))]
    curve = ik.Goal(1, kind="CURVE", points=[(0.1, 1.0, 0.0), (0.1, 1.0, 0.0)])
    prepared = prepare(chain(3), [*goals, curve] if name == "points" else goals, solver)
    arrays = reach(prepared, 4)
    getattr(arrays, name)[2, 0, 0] = bad
    kept = prepared.arrays(3)
    for each in QUESTIONS:
        getattr(kept, each)[:] = getattr(arrays, each)[[0, 1, 3]]
    for solve, alone in [(prepared.solve_into, prepared.solve_into),
                         (prepared.motion().solve_into, prepared.motion().solve_into)]:  # fmt: skip
        solve(arrays)
        alone(kept)
        assert np.isnan(arrays.rotations[2]).all() and np.isnan(arrays.position_errors[2]).all()
        assert not arrays.converged[2] and not arrays.at_limit[2].any()
        assert_same([part[[0, 1, 3]] for part in answers(arrays)], answers(kept))


def test_what_no_goal_asks_for_may_be_anything(prepare: Prepare) -> None:
    """Inputs that no goal uses may be NaN: the position of a goal with a rotation only, and poles where there
    are none."""
    prepared = prepare(chain(3), [ik.Goal(2, rotation=(1, 0, 0, 0))])
    arrays = prepared.arrays()
    arrays.orientations[:] = (0.8, 0.6, 0, 0)
    prepared.solve_into(arrays)
    expected = answers(arrays)
    arrays.positions[:], arrays.poles[:] = np.nan, np.inf
    prepared.solve_into(arrays)
    assert arrays.converged[0]
    assert_same(answers(arrays), expected)


# -- motions ----------------------------------------------------------------------------------------------------------


@both_solvers
def test_motions_do_not_know_of_each_other_nor_of_other_solves(solver: str, prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))], solver)
    paths = [reach(prepared, 8, seed) for seed in range(2)]
    expected: list[list[np.ndarray]] = []
    for path in paths:
        prepared.motion().solve_into(path)
        expected.append(answers(path))
    motions = [prepared.motion() for _ in paths]
    for frame in range(8):
        for motion, path in zip(motions, paths, strict=True):
            motion.solve_into(path.part(frame, frame + 1))
            prepared(paths[0].positions[7 - frame], paths[0].orientations[frame])
    for path, each in zip(paths, expected, strict=True):
        assert_same(answers(path), each)


def test_a_motion_begins_afresh_and_can_be_restarted(prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))])
    path, fresh = reach(prepared, 5), reach(prepared, 5)
    prepared.solve_into(fresh)
    motion = prepared.motion()
    assert motion.pose is None
    motion.solve_into(path)
    expected = answers(path)
    assert_same([part[:1] for part in expected], [part[:1] for part in answers(fresh)])
    assert_array_equal(motion.pose.rotations, path.rotations[-1])
    motion.restart()
    assert motion.pose is None
    motion.solve_into(path)
    assert_same(answers(path), expected)


def test_a_motion_begun_from_a_pose_goes_on_as_if_that_were_the_answer_before(prepare: Prepare) -> None:
    prepared = prepare(chain(4), [ik.Goal(3, (0, 1, 1))])
    path = reach(prepared, 6)
    motion = prepared.motion()
    motion.solve_into(path)
    expected = answers(path)
    other = prepared.motion()
    other.begin(ik.Pose(path.rotations[0], path.translations[0]))
    rest = path.part(1, 6)
    other.solve_into(rest)
    assert_same(answers(rest), [part[1:] for part in expected])


def test_an_unchanged_question_is_held_after_some_frames(prepare: Prepare) -> None:
    """Out of reach each frame moves the pose a little, until the answer is held. Any change of the input ends that."""
    prepared = prepare(chain(4), [ik.Goal(3, (9, 1, 1))], options=ik.Options(iterations=20))
    arrays = prepared.arrays(8)
    arrays.positions[:] = (9, 1, 1)
    arrays.positions[6:] = (0.5, 1.5, 1)
    prepared.motion().solve_into(arrays)
    held = [bool(np.array_equal(arrays.rotations[i], arrays.rotations[i - 1])) for i in range(1, 8)]
    assert held[HOLD_AFTER:5] == [True] * (5 - HOLD_AFTER) and not held[5]
    assert_array_equal(arrays.iterations[HOLD_AFTER + 1 : 6], 0)
    assert arrays.iterations[6] > 0


def test_what_the_caller_writes_to_its_arrays_later_changes_no_answer(prepare: Prepare) -> None:
    """Goals given as arrays are copied when a solve is prepared, in whichever way it is called and copied."""
    position, offset, pole, chain_ = np.array([0.4, 1.5, 0.3]), np.array([0, 0.5, 0]), np.array([0, 1, 5.0]), [0, 1, 2]
    goal = ik.Goal(2, position, offset=offset, pole=pole, chain=chain_)
    prepared = prepare(chain(3), [goal], "PGS", ik.Options())
    place = position[None].copy()
    expected = prepared(place)
    for array in (position, offset, pole):
        array[:] = 3.0
    chain_.clear()
    for answer in (prepared(place), prepared(place.tolist())):
        assert_array_equal(answer.pose.rotations, expected.pose.rotations)
    assert_allclose(copy.deepcopy(prepared)(place).pose.rotations, expected.pose.rotations, atol=1e-6)
    batch = prepared.solve_batch(prepared.targets(place[None]), prepared.start(None))
    assert_array_equal(batch.rotations[0], expected.pose.rotations)


# -- threads, copies, pickles -----------------------------------------------------------------------------------------


def test_threads_may_share_a_prepared_solve(prepare: Prepare) -> None:
    """Single frames, batches and motions in four threads at once: each answer is the same to the bit as in one
    thread."""
    cases: list[tuple[ik.Prepared, FrameArrays, list[np.ndarray], list[np.ndarray]]] = []
    for seed, problem in enumerate(problems()):
        prepared = prepare(problem.skeleton, problem.goals, problem.solver, problem.options)
        targets, links = moving(problem, 4, seed)
        arrays = asking(targets, ik.Pose(*(part[None] for part in problem.start)), links)
        prepared.solve_into(arrays)
        afresh = answers(arrays)
        prepared.motion().solve_into(arrays)
        cases.append((prepared, arrays, afresh, answers(arrays)))
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(2):
                prepared, arrays, afresh, followed = cases[(number + turn) % len(cases)]
                own = copy.deepcopy(arrays)
                prepared.solve_into(own)
                assert_same(answers(own), afresh)
                motion = prepared.motion()
                for frame in range(len(own)):
                    motion.solve_into(own.part(frame, frame + 1))
                assert_same(answers(own), followed)
                start = ik.Pose(own.start_rotations[0], own.start_translations[0])
                first = prepared(own.positions[0], own.orientations[0], start)
                again = prepared(own.positions[0], own.orientations[0], start)
                assert_array_equal(first.pose.rotations, again.pose.rotations)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],
                         ids=["copy", "deepcopy", "pickle"])  # fmt: skip
def test_copies_of_a_prepared_solve_answer_the_same(copied: Callable) -> None:
    """Also in another thread, and after the original is deleted."""
    for problem in problems():
        prepared = ik.prepare(problem.skeleton, problem.goals, problem.solver, problem.options)
        targets, links = moving(problem, 3, 1)
        arrays = asking(targets, ik.Pose(*(part[None] for part in problem.start)), links)
        prepared.solve_into(arrays)
        expected, other = answers(arrays), copied(prepared)
        assert (other.solver, other.options) == (prepared.solver, prepared.options)
        del prepared
        other.solve_into(arrays)
        assert_same(answers(arrays), expected)


def test_a_frames_bytes_do_not_depend_on_how_many_frames_the_arrays_have(prepare: Prepare) -> None:
    """One frame of many has the question that it has alone, and its answer can be given to either."""
    problem = problems()[0]
    prepared = prepare(problem.skeleton, problem.goals, problem.solver, problem.options)
    many = reach(prepared, 4)
    prepared.solve_into(many)
    for frame in range(4):
        alone, other = prepared.arrays(1), prepared.arrays(4)
        for name in QUESTIONS:
            getattr(alone, name)[0] = getattr(many, name)[frame if len(getattr(many, name)) > 1 else 0]
        assert alone.questions() == many.questions()[frame : frame + 1] == many.part(frame, frame + 1).questions()
        alone.positions[0, 0, 2] += 1e-12
        assert alone.questions()[0] != many.questions()[frame]
        again = prepared.arrays(1)
        again.home_rotations[:] = 1.0
        again.ask_again(alone)
        for name in QUESTIONS:
            assert_array_equal(getattr(again, name), getattr(alone, name), err_msg=name)
        again.poles[0, -1, 2] = np.nan  # of a target, unlike what follows
        again.links[:] = np.inf
        assert np.isnan(again.requests).sum() == 1 and not np.isinf(again.requests).any()
        alone.answer_again(many.answers()[frame])
        other.answer_again(alone.answers()[0], frame)
        for name in ANSWERS:
            assert_array_equal(getattr(alone, name)[0], getattr(many, name)[frame], err_msg=name)
            assert_array_equal(getattr(other, name)[frame], getattr(many, name)[frame], err_msg=name)
