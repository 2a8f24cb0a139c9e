# SPDX-License-Identifier: GPL-3.0-or-later
"""Options, and what a solve refuses."""

import math

import numpy as np
import pytest
from measures import UPRIGHT, both_solvers, degrees_of, goal_errors
from numpy.testing import assert_allclose
from skeletons import arm, bent, chain, pointed, pointer, pointing

import solvers as ik

NARROW = ik.TwistSwing(twist=(-0.5, 0.5), swing_x=(-1, 1), swing_z=(-1, 1))


@both_solvers
def test_random_restarts_depend_on_their_seed_alone(solver: str) -> None:
    """The same seed gives the same answer; a target that is met at once needs no restart."""
    skeleton = chain(4, limits=NARROW)
    goals = [ik.Goal(3, position=(1.0, -1.0, 0.5))]
    one, same, other = (
        ik.solve(skeleton, goals, solver=solver, options=ik.Options(restarts=4, seed=seed)) for seed in (1, 1, 2)
    )
    assert (one.pose.rotations == same.pose.rotations).all()
    assert other.position_errors[0] == pytest.approx(one.position_errors[0], abs=0.05)
    easy = [ik.Goal(3, position=(0.5, 2.5, 0.5))]
    without, with_restarts = (ik.solve(skeleton, easy, solver=solver, options=ik.Options(restarts=n)) for n in (0, 20))
    assert with_restarts.iterations == without.iterations


@both_solvers
def test_restarts_are_bounded_by_time_as_well(solver: str) -> None:
    """With no time there is no restart; too many attempts end soon; with enough time the answer is that of the
    number."""
    skeleton = pointer(ik.Range(math.radians(-170), math.radians(170)))
    goal, far = (ik.Goal(0, pointing(165), offset=(r, 0, 0)) for r in (1, 2))
    answers = [
        ik.solve(skeleton, [goal], pointed(-160), solver, ik.Options(restarts=1, restart_seconds=seconds))
        for seconds in (0.0, 3600.0, None)
    ]
    assert [answer.converged for answer in answers] == [False, True, True]
    assert_allclose(answers[1].pose.rotations, answers[2].pose.rotations, atol=1e-9)
    options = ik.Options(restarts=10**9, restart_seconds=0.01)
    assert not ik.solve(skeleton, [far], pointed(-160), solver, options).converged


@both_solvers
def test_no_iterations_bring_the_start_inside_its_limits_and_no_further(solver: str) -> None:
    """With 0 iterations a start inside its limits does not change; one outside goes to the nearest edge."""
    skeleton = pointer(ik.Range(-1.0, 1.0))
    goal = ik.Goal(0, pointing(0), offset=(1, 0, 0))
    for start, end in [(0.5, 0.5), (1.5, 1.0), (-3.0, -1.0)]:
        solution = ik.solve(skeleton, [goal], pointed(math.degrees(start)), solver, ik.Options(iterations=0))
        assert math.radians(degrees_of(solution.pose)) == pytest.approx(end, abs=1e-9)
        assert solution.iterations == 0


@both_solvers
@pytest.mark.parametrize("preferred", [None, (0.35, 0, 0)], ids=["no pull", "pull"])
@pytest.mark.parametrize("iterations", [0, 1, 7, 30])
def test_a_solve_takes_no_more_iterations_than_it_may(iterations: int, preferred: tuple | None, solver: str) -> None:
    """Counted over all stages and starts; more iterations bring a target out of reach no further away.

    With a pull, the target of a lone goal is asked for at 1.02 times the reach, and the pull has a say of 1e-5 there.
    """
    skeleton, target = arm(shoulder=NARROW, preferred=preferred), np.array([1, -2, 1.5])
    goal = ik.Goal(2, position=target)
    asked = ik.Goal(2, position=target if preferred is None else 1.02 * 2.0 * target / np.linalg.norm(target))
    options = ik.Options(iterations=iterations)
    solution = ik.solve(skeleton, [goal], solver=solver, options=options)
    assert solution.iterations <= iterations
    more = ik.solve(skeleton, [goal], solver=solver, options=ik.Options(iterations=iterations + 20))
    further = goal_errors(skeleton, more.pose, asked)[0] - goal_errors(skeleton, solution.pose, asked)[0]
    assert further <= (1e-6 if preferred is None else 1e-5)


@both_solvers
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8])
def test_a_tolerance_is_met_and_is_in_units_of_length(tolerance: float, solver: str) -> None:
    """In metres and in centimetres, from loose to tight."""
    for unit in (1.0, 100.0):
        goal = ik.Goal(4, position=(1.2 * unit, 2.0 * unit, 0.7 * unit))
        options = ik.Options(tolerance=tolerance * unit)
        solution = ik.solve(chain(5, length=unit), [goal], solver=solver, options=options)
        assert solution.converged
        assert solution.position_errors[0] <= tolerance * unit


@both_solvers
@pytest.mark.parametrize("damping", [1e-4, 1e-3, 1e-2])
def test_a_damping_that_is_held_arrives_all_the_same(damping: float, solver: str) -> None:
    """A fixed damping of usual size solves an easy reach from a bent start."""
    options = ik.Options(damping=damping, iterations=100)
    solution = ik.solve(chain(4), [ik.Goal(3, position=(1.2, 1.5, 0.6))], bent(4), solver, options)
    assert solution.position_errors[0] < 1e-3


@both_solvers
@pytest.mark.parametrize("damping", [0.0, 1e-4, 1e-2])
def test_a_damping_that_is_held_copes_with_a_straight_limb(damping: float, solver: str) -> None:
    """At a singular pose a fixed damping, including 0, neither fails nor stalls."""
    options = ik.Options(damping=damping, iterations=100)
    solution = ik.solve(chain(4), [ik.Goal(3, position=(0, 1, 0.2))], solver=solver, options=options)
    assert np.isfinite(solution.pose.rotations).all()
    assert solution.position_errors[0] < 0.5


@pytest.mark.parametrize(("settings_", "message"), [
    ({"iterations": -1}, r"iterations = -1.*0 or more"),
    ({"iterations": True}, r"iterations = True"),
    ({"iterations": 2**31}, r"iterations = 2147483648; expected at most 1000000000"),
    ({"tolerance": True}, r"tolerance = True; expected a number"),
    ({"damping": 10**400}, r"damping = 1000.*expected a number"),
    ({"warm_start": "no"}, r"warm_start = 'no'; expected True or False"),
    ({"restarts": -3}, r"restarts = -3"),
    ({"seed": "today"}, r"seed = 'today'"),
    ({"tolerance": math.nan}, r"tolerance = nan"),
    ({"rotation_tolerance": math.inf}, r"rotation_tolerance = inf"),
    ({"damping": math.nan}, r"damping = nan"),
    ({"restart_seconds": -1}, r"restart_seconds = -1.*0 or more"),
    ({"extension": "ROWS"}, r"extension = 'ROWS'.*'PAIRS' or 'SPRINGS' or 'POSTURE' or 'MANIPULABILITY'"),
    ({"objective": "dq"}, r"objective = 'dq'.*'QV' or 'DQ'"),
    ({"pull": -1e-5}, r"pull = -1e-05"),
    ({"order": "tip_to_root"}, r"order = 'tip_to_root'.*'TIP_TO_ROOT' or 'ROOT_TO_TIP'"),
    ({"bias": "middle"}, r"bias = 'middle'.*'START' or 'MIDDLE'"),
    ({"unit_angle": 0.0}, r"unit_angle = 0\.0.*above 0"),
])  # fmt: skip
def test_bad_options_are_refused_by_name(settings_: dict, message: str) -> None:
    with pytest.raises(ik.InvalidOptions, match=message):
        ik.Options(**settings_)


@pytest.mark.parametrize("value", [np.int64(5), np.float32(1e-3), np.float64(1e-3)])
def test_options_take_numpys_numbers(value: np.number) -> None:
    options = ik.Options(iterations=5, tolerance=value, rotation_tolerance=value, damping=value)
    assert ik.solve(chain(2), [ik.Goal(1, position=(0, 1, 0))], options=options).converged
    for seed in (np.int64(3), np.uint8(3), 2**130):
        options = ik.Options(iterations=np.int64(5), restarts=np.int32(2), seed=seed)
        assert not ik.solve(chain(2), [ik.Goal(1, position=(0, 3, 0))], options=options).converged


@pytest.mark.parametrize("options", [{"restarts": 2}, ik.Options, 3])
def test_options_of_another_kind_are_refused(options: object) -> None:
    """A dictionary, and the class instead of an object."""
    with pytest.raises(ik.InvalidOptions, match="options: expected Options, got"):
        ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))], options=options)


# -- what a solve refuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PGS2", "FAST", "", None, 3])
def test_an_unknown_solver_is_answered_with_the_known_ones(name: object) -> None:
    for call in (
        lambda: ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))], solver=name),
        lambda: ik.prepare(chain(2), [], name),
    ):
        with pytest.raises(ik.UnknownSolver, match="solver") as caught:
            call()
        assert repr(name) in str(caught.value)
        assert all(solver in str(caught.value) for solver in ik.SOLVERS)


@pytest.mark.parametrize(
    ("name", "meant"), [("pgs", "PGS"), ("Two-Bone", "TWO_BONE"), (" two bone ", "TWO_BONE"), ("Dls", "DLS")]
)
def test_case_hyphens_and_spaces_in_a_solvers_name_do_not_matter(name: str, meant: str) -> None:
    """`two-bone` is TWO_BONE."""
    goal = ik.Goal("joint 2", (0.4, 1.2, 0.3))
    prepared = ik.prepare(chain(3), [goal], name)
    assert prepared.solver == meant
    assert ik.solve(chain(3), [goal], solver=name).converged == ik.solve(chain(3), [goal], solver=meant).converged


def test_the_solver_most_like_an_unknown_name_comes_first() -> None:
    with pytest.raises(ik.UnknownSolver, match=r"'FABRIC' is not known; the solvers are FABRIK, "):
        ik.prepare(chain(2), [], "FABRIC")


def test_every_solver_has_a_line_about_it() -> None:
    assert {"PGS", "DLS"} <= set(ik.SOLVERS)
    assert all(line and "\n" not in line for line in ik.SOLVERS.values())


@pytest.mark.parametrize(("positions", "rotations", "message"), [
    (np.zeros((2, 3)), np.tile(UPRIGHT, (1, 1)), r"positions: expected shape \(1, 3\), got \(2, 3\)"),
    (np.zeros((1, 2)), np.tile(UPRIGHT, (1, 1)), r"positions: expected shape \(1, 3\), got \(1, 2\)"),
    (np.zeros(3), np.tile(UPRIGHT, (1, 1)), r"positions: expected shape \(1, 3\), got \(3,\)"),
    (np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1)), r"positions: expected shape \(1, 3\), got \(1, 1, 3\)"),
    ([("0", "1", "0")], None, r"positions: expected numbers of shape \(1, 3\), got \[\('0', '1', '0'\)\]"),
    ([(0, 10**400, 0)], None, r"positions of goal 0.*inf"),
    (np.zeros((1, 3)), np.zeros((1, 3)), r"rotations: expected shape \(1, 4\), got \(1, 3\)"),
    (np.array([[0, math.nan, 0]]), np.tile(UPRIGHT, (1, 1)), r"positions of goal 0.*nan"),
    (np.zeros((1, 3)), np.array([[1, 0, math.inf, 0]]), r"rotations of goal 0.*inf"),
])  # fmt: skip
def test_bad_targets_of_prepared_solves_are_refused(positions: np.ndarray, rotations: np.ndarray, message: str) -> None:
    prepared = ik.prepare(chain(2), [ik.Goal(1, (0, 1, 0))], "PGS", ik.Options())
    with pytest.raises(ik.InvalidGoal, match=message):
        prepared(positions, rotations, None)


@pytest.mark.parametrize("pose", [
    chain(3).rest_pose(), "rest", np.zeros((2, 4)), 3, (), chain(2).rest_pose()[:1], (*chain(2).rest_pose(), 1),
    ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))]),
], ids=["other joints", "string", "rotations", "number", "nothing", "one part", "three parts", "solution"])  # fmt: skip
def test_a_start_that_is_no_pose_is_refused(pose: object) -> None:
    """Every entry point checks its start, and says so in one line."""
    with pytest.raises(ik.InvalidPose, match="^pose.*expected[^\n]*$"):
        ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))], pose)
    with pytest.raises(ik.InvalidPose, match="expected"):
        ik.solve_frames(chain(2), [ik.Goal(1, (0, 1, 0))], np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1, 1)), pose)
