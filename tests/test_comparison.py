# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge and the tables of the comparison, tested on answers whose errors are set by the test."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import workloads
from scipy import stats
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, wxyz

sys.path.extend(str(Path(__file__).resolve().parents[1] / "benchmarks" / folder) for folder in (".", "parts"))

import comparison_part
import judge
import workload_suite
from contest import Answer, Ours, Refused
from peer import Tree

import solvers as ik

pytestmark = pytest.mark.newest

TARGETS = 6


def tight_arm(x: np.ndarray, **settings: object) -> workload_suite.Workload:
    """The arm with tight limits, asked to be where coordinates (F, 7) put it, from the middle of its limits."""
    skeleton, goals = workload_suite.seven_joint_arm(wide=False)
    middle = workloads.posed(skeleton, np.array([0, 0, 0, 1.3, 0, 0, 0]))
    places, turns = workloads.targets(skeleton, goals, x)
    return workload_suite.Workload("A tight", skeleton, goals, 1e-3, 1e-2, middle, places, turns, **settings)


def drawn(count: int = TARGETS) -> np.ndarray:
    skeleton, _ = workload_suite.seven_joint_arm(wide=False)
    return workloads.coordinates(skeleton, np.random.default_rng(3), count)


class Given:
    """Answers with poses that it was given."""

    def __init__(self, poses: list[ik.Pose]) -> None:
        self._poses = poses

    def solve(self, frame: int) -> ik.Pose:
        return self._poses[frame]

    follow = solve

    def read(self, answer: ik.Pose) -> Answer:
        return Answer(answer, 0)


def entrants(workload: workload_suite.Workload, x: np.ndarray) -> dict:
    """What stays where it is, what knows the answers, a solver, and one that refuses."""

    def refuses(_: object) -> None:
        raise Refused("not today")

    return {
        "still": lambda _: Given([workload.start] * len(x)),
        "knowing": lambda _: Given([workloads.posed(workload.skeleton, row) for row in x]),
        "DLS": lambda given: Ours("DLS", given),
        "refusing": refuses,
    }


@pytest.mark.parametrize("coherent", [False, True])
def test_doing_nothing_meets_nothing_and_the_answers_meet_everything(coherent: bool) -> None:
    """A row for each: 0 % for staying put, 100 % for the poses that the targets come from, the reason for a refusal."""
    x = drawn() * (0.3 if coherent else 1.0)
    workload = tight_arm(x, coherent=coherent)
    rows = {r["solver"]: r for r in comparison_part.measured(workload, entrants(workload, x), seconds=5.0)}
    assert rows["still"]["met"] == 0.0
    assert rows["knowing"]["met"] == 1.0
    assert rows["refusing"]["refused"] == "not today"
    assert "met" not in rows["refusing"]
    assert rows["still"]["solves"] == rows["knowing"]["solves"] == rows["DLS"]["solves"] == TARGETS
    if coherent:
        assert rows["still"]["turn_max_deg"] == 0.0
        largest = np.degrees(np.abs(np.diff(x, axis=0)).max())
        assert rows["knowing"]["turn_max_deg"] == pytest.approx(largest)


def test_a_solvers_row_agrees_with_what_it_says_of_itself() -> None:
    """As many are met as the solver says have converged, one by one or in a batch, in as many steps."""
    x = drawn(20)
    workload = tight_arm(x)
    options = ik.Options(iterations=200, tolerance=1e-3, rotation_tolerance=1e-2, warm_start=False)
    places, turns = workload.positions, workload.rotations
    solutions = ik.solve_frames(workload.skeleton, workload.goals, places, turns, workload.start, "DLS", options)
    (row,) = comparison_part.measured(workload, {"DLS": lambda given: Ours("DLS", given)}, seconds=0.02)
    first = solutions[: row["solves"]]
    assert row["met"] == pytest.approx(np.mean([solution.converged for solution in first]))
    assert row["steps_median"] == np.median([solution.iterations for solution in first])
    assert row["outside_max"] <= 1e-9


def test_outside_its_limits_an_answer_does_not_count() -> None:
    """The elbow's least angle is 0; at -0.1 the hand is where it should be, and the answer is none."""
    x = drawn(1)
    x[0, 3] = -0.1
    workload = tight_arm(x)
    verdict = judge.judged(workload, [workloads.posed(workload.skeleton, x[0])], [0])
    assert verdict.distances.max() < 1e-9
    assert verdict.outside[0] == pytest.approx(0.1)
    assert not verdict.met[0]


@pytest.mark.parametrize(("share", "met"), [(0.99, True), (1.01, False)])
def test_a_target_is_met_up_to_its_tolerance(share: float, met: bool) -> None:
    """A target moved by 99 % of the tolerance is met, and by 101 % it is not; so with turns."""
    x = drawn(1)
    workload = tight_arm(x)
    pose = workloads.posed(workload.skeleton, x[0])
    workload.positions[0, 0, 1] += share * workload.tolerance
    assert judge.judged(workload, [pose], [0]).met[0] == met
    workload = tight_arm(x)
    turn = Rotation.from_rotvec([0, 0, share * workload.rotation_tolerance])
    workload.rotations[0, 0] = wxyz(Rotation.from_quat(workload.rotations[0, 0], scalar_first=True) * turn)
    assert judge.judged(workload, [pose], [0]).met[0] == met


def test_the_judges_kinematics_are_those_of_the_solvers() -> None:
    """SciPy's products joint by joint and the solvers' dual quaternions put a body's joints in the same places."""
    skeleton, _ = workloads.body()
    generator = np.random.default_rng(5)
    poses = [random_pose(skeleton, generator) for _ in range(3)]
    positions, rotations = judge.forward(skeleton, poses)
    for pose, places, turns in zip(poses, positions, rotations, strict=True):
        world = ik.forward(skeleton, pose)
        np.testing.assert_allclose(places, world.positions, atol=1e-12)
        np.testing.assert_allclose(np.abs((turns * world.rotations).sum(-1)), 1.0, atol=1e-12)


@pytest.mark.parametrize(("met", "of"), [(0, 10), (7, 12), (200, 200)])
def test_the_likely_share_is_wilsons(met: int, of: int) -> None:
    interval = stats.binomtest(met, of).proportion_ci(method="wilson")
    np.testing.assert_allclose(judge.likely_share(met, of), interval, atol=1e-4)


def test_growth_finds_a_power() -> None:
    assert comparison_part.growth([50, 100, 400], [3 * 50**1.5, 3 * 100**1.5, 3 * 400**1.5]) == pytest.approx(1.5)


def test_a_run_ends_when_its_work_or_its_seconds_do() -> None:
    """A run without end is stopped, and one with an end is run to it."""
    done: list[int] = []

    def endless():
        while True:
            yield

    def counted():
        for number in range(5):
            done.append(number)
            yield

    comparison_part.take_turns({"endless": endless(), "counted": counted()}, seconds=0.05)
    assert done == list(range(5))


def test_a_workload_can_be_reached() -> None:
    """The ellipse's ends lie at the chain's full stretch at most, a chain's targets within its reach."""
    assert np.linalg.norm(workload_suite.ellipse().positions - (-230, 0, 0), axis=-1).max() <= 630.0 + 1e-9
    for size in (10, 400):
        away = np.linalg.norm(workload_suite.balls(size).positions, axis=-1)
        assert away.min() >= 0.3
        assert away.max() <= 0.9
        assert workload_suite.balls(size).skeleton.length == pytest.approx(1.0 - 1.0 / size)


def test_a_peers_tree_has_the_skeletons_poses() -> None:
    """A ball as three hinges: coordinates make a pose, and are found again from it."""
    generator = np.random.default_rng(2)
    for skeleton in (chain(4), workloads.hand()[0], workloads.body()[0]):
        tree = Tree(skeleton)
        q = generator.uniform(-1.0, 1.0, len(tree))
        np.testing.assert_allclose(tree.coordinates(tree.pose(q)), q, atol=1e-9)
    assert len(Tree(chain(4))) == 12


def test_tables_and_plots_come_from_the_rows(tmp_path: Path) -> None:
    """What is measured ends up in the page between its marks, and in five pictures."""
    workload = tight_arm(x := drawn())
    rows = comparison_part.measured(workload, entrants(workload, x), seconds=1.0)
    rows += comparison_part.measured(workload_suite.balls(10).head(5), {"DLS": lambda w: Ours("DLS", w)}, seconds=1.0)
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- cold -->\nstale\n<!-- end -->\nafter <!-- growth -->\n<!-- end -->\n", encoding="utf-8"
    )
    comparison_part.publish(comparison_part.shown(rows), tmp_path, page, "here")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- cold -->\n|")
    assert "stale" not in text
    assert "N = 10" in text
    assert re.search(r"\| DLS +\| 100 \(n=5\) %, [\d.]+ ms \(n=5\) \|", text)
    assert any("knowing" in line and "100 (n=6) → - %" in line for line in text.splitlines())
    assert len(list(tmp_path.glob("comparison-*.png"))) == 5
