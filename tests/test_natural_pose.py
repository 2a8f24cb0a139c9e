# SPDX-License-Identifier: GPL-3.0-or-later
"""The mathematics of the natural pose, on a figure drawn here by hand, without Blender."""

import importlib
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.newest

ROOT = Path(__file__).resolve().parents[1]


def module(name: str) -> Any:
    """A module of the extension, whose own __init__ needs Blender."""
    if "dqik_arrays" not in sys.modules:
        package = ModuleType("dqik_arrays")
        package.__path__ = [str(ROOT)]
        sys.modules["dqik_arrays"] = package
    return importlib.import_module(f"dqik_arrays.{name}")


figures, own_motion = module("solvers.figure.figure"), module("solvers.figure.own_motion")
Prior, NumpyPrior = module("solvers.compiled.figure").CompiledPrior, module("solvers.figure.prior").Prior
ik = module("solvers")
Targets = module("solvers.model.goals").Targets

# role, parent's role, head in metres: Y up, facing +Z, the left at +X; the right side is the mirror image
BODY = (
    ("hips", "", (0.0, 0.95, 0.0)), ("spine", "hips", (0.0, 1.05, 0.0)), ("spine2", "spine", (0.0, 1.2, 0.0)),
    ("neck", "spine2", (0.0, 1.46, 0.0)), ("head", "neck", (0.0, 1.56, 0.0)),
    ("collar L", "spine2", (0.03, 1.42, 0.0)), ("arm L", "collar L", (0.17, 1.42, 0.0)),
    ("forearm L", "arm L", (0.44, 1.42, 0.0)), ("hand L", "forearm L", (0.69, 1.42, 0.0)),
    ("thigh L", "hips", (0.09, 0.92, 0.0)), ("shin L", "thigh L", (0.09, 0.5, 0.01)),
    ("foot L", "shin L", (0.09, 0.08, -0.02)), ("toes L", "foot L", (0.09, 0.02, 0.11)),
)  # fmt: skip
ENDS = ("hand L", "hand R", "foot L", "foot R", "head")
TOES = ("hand L", "hand R", "toes L", "toes R", "head")
MIRROR = np.array([-1.0, 1.0, 1.0])


@dataclass
class Rig:
    """A figure as the solver has it: its prior's figure, and the places and orientations of joints at rest."""

    figure: Any
    skeleton: Any
    names: list[str]
    heads: np.ndarray
    axes: Rotation
    goals: list[str]

    def pose(self, rotations: np.ndarray) -> Any:
        """A pose (F, J, ...)."""
        return ik.Pose(rotations, np.zeros((*rotations.shape[:2], 3)))

    @property
    def rest(self) -> Any:
        """The rest pose of one frame."""
        return self.pose(np.tile([1.0, 0.0, 0.0, 0.0], (1, len(self.names), 1)))

    @property
    def links(self) -> np.ndarray:
        """Of one frame."""
        return self.skeleton.links[None]

    def targets(self, moved: dict[str, np.ndarray], turned: dict[str, Rotation] | None = None) -> Any:
        """Targets of one frame at rest, but some moved by (3,) and turned."""
        rows = [self.names.index(goal) for goal in self.goals]
        places = self.heads[rows] + [moved.get(goal, np.zeros(3)) for goal in self.goals]
        turns = [(turned or {}).get(goal, Rotation.identity()) * self.axes[row]
                 for goal, row in zip(self.goals, rows, strict=True)]  # fmt: skip
        quaternions = np.array([turn.as_quat(scalar_first=True) for turn in turns])
        return Targets(places[None], quaternions[None], np.zeros((1, len(rows), 3)))

    def places(self, rotations: np.ndarray) -> np.ndarray:
        """Of all joints (F, J, 3)."""
        return ik.forward(self.skeleton, self.pose(rotations)).positions

    def turns(self, rotations: np.ndarray) -> Rotation:
        """World turns away from rest of the joints of one frame."""
        world = ik.forward(self.skeleton, self.pose(rotations)).rotations[0]
        return Rotation.from_quat(world, scalar_first=True) * self.axes.inv()

    def at(self, rotations: np.ndarray) -> Any:
        """Targets where the effectors are in poses."""
        world = ik.forward(self.skeleton, self.pose(rotations))
        rows = [self.names.index(goal) for goal in self.goals]
        return Targets(world.positions[:, rows], world.rotations[:, rows], np.zeros((len(rotations), len(rows), 3)))


def rig(
    axes: Rotation | None = None, place: Rotation | None = None, size: float = 1.0, lowered: float = 0.0,
    turned: bool = True, goals: tuple[str, ...] = ENDS, bodies: tuple = BODY,
) -> Rig:  # fmt: skip
    """The figure with bones of any axes, placed, scaled, with arms lowered by degrees at rest."""
    rows = []
    for name, parent, head in bodies:
        for side, sign in (("L", np.ones(3)), ("R", MIRROR)) if name.endswith("L") else (("", np.ones(3)),):
            point = np.array(head)
            if name.startswith(("forearm", "hand")):
                shoulder = np.array([0.17, 1.42, 0.0])
                point = shoulder + Rotation.from_euler("z", -lowered, degrees=True).apply(point - shoulder)
            right = side == "R"
            rows.append((name[:-1] + "R" if right else name, parent[:-1] + "R" if right and parent.endswith("L")
                         else parent, sign * point))  # fmt: skip
    names = [name for name, *_ in rows]
    axes = Rotation.identity(len(rows)) if axes is None else axes
    place = Rotation.identity() if place is None else place
    heads, axes = size * place.apply(np.array([head for *_, head in rows])), place * axes
    joints, bones = [], {}
    for number, (name, parent, _) in enumerate(rows):
        above = names.index(parent) if parent else -1
        back = axes[above].inv() if above >= 0 else Rotation.identity()
        offset = heads[number] - (heads[above] if above >= 0 else 0.0)
        joints.append(ik.Joint(name, above, "ball" if parent or name in goals else "fixed", back.apply(offset),
                               rest=(back * axes[number]).as_quat(scalar_first=True)))  # fmt: skip
        role, _, side = name.partition(" ")
        bones.setdefault((role.rstrip("2"), side), []).append(figures.Bone(number, heads[number]))
    skeleton = ik.Skeleton(joints)
    asked = [ik.Goal(names.index(name), position=(0, 0, 0), rotation=(1, 0, 0, 0) if turned or name == "hips" else None,
                     priority=-int(name == "hips")) for name in goals]  # fmt: skip
    motions = np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))
    found = figures.of(skeleton, asked, bones, skeleton.links, motions)
    return Rig(found, skeleton, names, heads, axes, list(goals))


REACH = {"hand L": np.array([-0.3, -0.4, 0.4]), "hand R": np.array([0.35, -0.1, 0.35]),
         "foot L": np.array([0.05, 0.3, 0.25])}  # fmt: skip
TURN = {"hand L": Rotation.from_euler("xyz", [30, -60, -20], degrees=True),
        "hand R": Rotation.from_euler("xyz", [-20, 50, 40], degrees=True)}  # fmt: skip
vectors = st.tuples(*[st.floats(-0.5, 0.5)] * 3).map(np.array)


@pytest.mark.parametrize("turned", [True, False])
def test_other_axes_of_bones_give_the_same_pose(turned: bool) -> None:
    """The axes and rolls of the rest bones do not matter: all joints come to the same places."""
    plain, other = rig(turned=turned), rig(turned=turned, axes=Rotation.random(len(rig().names), rng=3))
    bases = [Prior(one.figure).shaped(one.rest, one.targets(REACH, TURN), one.links, 1.0)[0] for one in (plain, other)]
    assert np.abs(plain.places(bases[0]) - plain.heads).max() > 0.1
    np.testing.assert_allclose(plain.places(bases[0]), other.places(bases[1]), atol=1e-9)
    assert (plain.turns(bases[0]) * other.turns(bases[1]).inv()).magnitude().max() < 1e-7


def test_a_figure_that_is_turned_and_scaled_takes_the_same_pose() -> None:
    """As seen from its own frame."""
    place, size = Rotation.from_euler("xyz", [40, 70, -150], degrees=True), 37.0
    plain, other = rig(), rig(place=place, size=size)
    moved = {name: size * place.apply(away) for name, away in REACH.items()}
    turned = {name: place * turn * place.inv() for name, turn in TURN.items()}
    base = Prior(plain.figure).shaped(plain.rest, plain.targets(REACH, TURN), plain.links, 1.0)[0]
    same = Prior(other.figure).shaped(other.rest, other.targets(moved, turned), other.links, 1.0)[0]
    np.testing.assert_allclose(size * place.apply(plain.places(base)[0]), other.places(same)[0], atol=1e-8 * size)


@pytest.mark.parametrize("turned", [True, False])
def test_mirrored_targets_give_the_mirrored_pose(turned: bool) -> None:
    """Left and right change places, up to the weights' rounding."""
    one, swap = rig(turned=turned), {"L": "R", "R": "L"}

    def swapped(name: str) -> str:
        return name[:-1] + swap[name[-1]] if name[-1] in swap else name

    moved = {swapped(name): MIRROR * away for name, away in REACH.items()}
    turns = {swapped(name): Rotation.from_rotvec(turn.as_rotvec() * -MIRROR) for name, turn in TURN.items()}
    prior = Prior(one.figure)
    base, other = (one.places(prior.shaped(one.rest, asked, one.links, 1.0)[0])[0]
                   for asked in (one.targets(REACH, TURN), one.targets(moved, turns)))  # fmt: skip
    order = [one.names.index(swapped(name)) for name in one.names]
    np.testing.assert_allclose(other[order] * MIRROR, base, atol=2e-3)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.booleans())
def test_the_animators_pose_stays_where_the_targets_are_in_it(seed: int, turned: bool) -> None:
    """Whatever pose it is."""
    one, random = rig(turned=turned, axes=Rotation.random(len(rig().names), rng=seed)), np.random.default_rng(seed)
    turns = Rotation.from_rotvec(random.normal(scale=0.4, size=(len(one.names), 3)))
    pose = turns.as_quat(scalar_first=True)[None]
    pose[0, 0] = (1.0, 0.0, 0.0, 0.0)  # the root is fixed
    base = Prior(one.figure).shaped(one.pose(pose), one.at(pose), one.links, 1.0)[0]
    assert np.abs(np.abs((base * pose).sum(-1)) - 1.0).max() < 1e-12


def test_amount_zero_is_the_start_itself() -> None:
    """Bit for bit, and the start is never written to."""
    one = rig()
    start, prior = one.rest, Prior(one.figure)
    before = start.rotations.copy()
    assert prior.shaped(start, one.targets(REACH, TURN), one.links, 0.0)[0] is start.rotations
    prior.shaped(start, one.targets(REACH, TURN), one.links, 1.0)[0]
    assert (start.rotations == before).all()


def test_half_an_amount_turns_joints_half_way() -> None:
    """Between the start and the whole prior."""
    one = rig()
    prior, asked = Prior(one.figure), one.targets(REACH, TURN)
    angles = [2.0 * np.arccos(np.clip(np.abs(prior.shaped(one.rest, asked, one.links, amount)[0][0, :, 0]), 0.0, 1.0))
              for amount in (0.5, 1.0)]  # fmt: skip
    np.testing.assert_allclose(2.0 * angles[0], angles[1], atol=1e-6)


@pytest.mark.parametrize("prior", [Prior, NumpyPrior])
def test_hips_go_with_no_head_where_the_trunk_is_held(prior: Any) -> None:
    """As far as it is: half held, they go half as far."""
    one = rig(goals=("hips", *ENDS))
    asked, ways = one.targets({"head": np.array([0.0, -0.2, 0.0])}), []
    for free in (1.0, 0.5, 0.0):
        freedom = np.ones(len(one.names))
        freedom[one.figure.spine[0]] = free
        moved = prior(one.figure, None, freedom).shaped(one.rest, asked, one.links, 1.0)[1]
        ways.append(moved[0, 0] - asked.positions[0, 0])
    assert ways[0][1] < -0.1
    np.testing.assert_allclose(ways[1:], [0.5 * ways[0], np.zeros(3)], atol=1e-12)


@pytest.mark.parametrize("prior", [Prior, NumpyPrior])
def test_targets_stay_where_hips_have_no_goal(prior: Any) -> None:
    """However far hips are to go with the head."""
    one = rig()
    own, asked = prior(one.figure), one.targets({"head": np.array([0.0, -0.2, 0.0])})
    own.giving = 1.0
    np.testing.assert_array_equal(own.shaped(one.rest, asked, one.links, 1.0)[1], asked.positions)


@pytest.mark.parametrize("prior", [Prior, NumpyPrior])
def test_hips_go_with_a_lowered_head_until_the_trunk_has_its_length(prior: Any) -> None:
    """Down and back, by half the amount half as far; they stay for a head that is raised. Head and feet do not move."""
    one = rig(goals=("hips", *ENDS))
    own, thighs = prior(one.figure), [one.names.index(name) for name in ("thigh L", "thigh R")]
    middle = one.heads[thighs].mean(0)
    before = one.targets({}).positions[0]
    head = one.goals.index("head")
    for down, ahead in ((0.03, 0.0), (0.2, 0.0), (0.2, 0.1), (0.5, 0.2)):
        asked = one.targets({"head": np.array([0.0, -down, ahead])})
        hips = own.shaped(one.rest, asked, one.links, 1.0)[1][0]
        way = hips[0] - before[0]
        others = [one.goals.index(name) for name in ("foot L", "foot R", "head")]
        np.testing.assert_array_equal(hips[others], asked.positions[0, others])
        assert way[0] == pytest.approx(0.0, abs=1e-12) and way[1] < 1.5 * way[2] < 0.0
        length = np.linalg.norm(hips[head] - middle - way)
        assert length == pytest.approx(np.linalg.norm(before[head] - middle), abs=1e-4)
        half = own.shaped(one.rest, asked, one.links, 0.5)[1][0, 0] - before[0]
        np.testing.assert_allclose(half, 0.5 * way, atol=1e-12)
    for moved in ({"head": np.array([0.1, 0.05, 0.0])}, {"hips": np.array([0.0, 0.1, 0.0])}, REACH):
        asked = one.targets(moved)
        np.testing.assert_allclose(own.shaped(one.rest, asked, one.links, 1.0)[1], asked.positions, atol=1e-12)


@pytest.mark.parametrize("prior", [Prior, NumpyPrior])
def test_hips_do_not_jump_wherever_the_head_is_led(prior: Any) -> None:
    """On straight ways through the whole body, as far as below the feet, hips go ten times as far at most."""
    one, random = rig(goals=("hips", *ENDS)), np.random.default_rng(4)
    own, steps = prior(one.figure), np.linspace(0.0, 1.0, 2001)[:, None]
    for _ in range(20):
        begin, end = random.uniform((-0.6, -1.8, -0.6), (0.6, 0.3, 0.6), (2, 3))
        ways = begin + steps * (end - begin)
        asked = one.targets({})
        places = np.tile(asked.positions, (len(ways), 1, 1))
        places[:, one.goals.index("head")] += ways
        turns, poles = (np.tile(part, (len(ways), 1, 1)) for part in (asked.rotations, asked.poles))
        hips = own.shaped(one.rest, Targets(places, turns, poles), one.links, 1.0)[1][:, 0]
        moved = np.linalg.norm(np.diff(hips, axis=0), axis=-1)
        assert moved.max() < 10.0 * np.linalg.norm(end - begin) / 2000


def test_joints_without_freedom_keep_the_start() -> None:
    """A forearm that may not turn leaves its arm alone."""
    one = rig()
    freedom = np.ones(len(one.names))
    freedom[one.names.index("forearm L")] = 0.0
    base = Prior(one.figure, freedom=freedom).shaped(one.rest, one.targets(REACH, TURN), one.links, 1.0)[0]
    still = [one.names.index(name) for name in ("arm L", "forearm L")]
    assert (base[0, still] == [1.0, 0.0, 0.0, 0.0]).all()
    assert base[0, one.names.index("arm R"), 0] < 0.99


@pytest.mark.parametrize("lowered", [0.0, 50.0])
@pytest.mark.parametrize("turned", [True, False])
def test_limbs_bend_as_those_of_people(turned: bool, lowered: float) -> None:
    """A hand comes before the chest with its elbow below or behind; a foot is lifted with its knee in front."""
    one = rig(turned=turned, lowered=lowered)
    wrist = one.heads[one.names.index("hand L")]
    moved = {"hand L": np.array([0.1, 1.25, 0.35]) - wrist, "foot L": np.array([0.0, 0.35, 0.1])}
    places = one.places(Prior(one.figure).shaped(one.rest, one.targets(moved), one.links, 1.0)[0])[0]
    arm, elbow, hand, thigh, knee, foot = (
        places[one.names.index(name)] for name in ("arm L", "forearm L", "hand L", "thigh L", "shin L", "foot L")
    )
    middle, half = (elbow - (arm + hand) / 2.0), (knee - (thigh + foot) / 2.0)
    assert middle[1] - middle[2] > 0.05 or middle[1] < -0.05
    assert half[2] > 0.1 and abs(half[0]) < 0.1


def reach_of(one: Rig, goal: str, random: np.random.Generator) -> np.ndarray:
    """A place (3,) anywhere in a limb's reach or slightly out of it, or within 0.25 m of the head's."""
    if goal == "head":
        return one.heads[one.names.index("head")] + random.uniform(-0.25, 0.25, 3)
    parts = ("arm", "forearm", "hand") if goal.startswith("hand") else ("thigh", "shin", "foot")
    places = one.heads[[one.names.index(f"{name} {goal[-1]}") for name in parts]]
    size = np.linalg.norm(np.diff(places, axis=0), axis=-1).sum()
    line = random.normal(size=3)
    return places[0] + size * random.uniform(0.0, 1.1) * line / np.linalg.norm(line)


def largest_step(one: Rig, prior: Any, start: Any, rest: Any, goal: str, begin: np.ndarray, end: np.ndarray) -> float:
    """The largest turn [deg] of a joint of the base pose while a goal goes a millimetre along a line."""
    share = np.linspace(0.0, 1.0, int(np.linalg.norm(end - begin) / 1e-3) + 2)[:, None]
    places, turns = (np.repeat(part, len(share), 0) for part in (rest.positions, rest.rotations))
    places[:, one.goals.index(goal)] = begin + share * (end - begin)
    base = prior.shaped(start, Targets(places, turns, np.zeros_like(places)), one.links, 1.0)[0]
    chords = np.minimum(np.linalg.norm(base[1:] - base[:-1], axis=-1), np.linalg.norm(base[1:] + base[:-1], axis=-1))
    return float(np.degrees(4.0 * np.arcsin(0.5 * chords)).max())


@pytest.mark.parametrize(("goals", "turned", "lowered"), [
    (ENDS, True, 0.0), (ENDS, False, 50.0), (TOES, False, 0.0), (TOES, True, 50.0)])  # fmt: skip
def test_steps_of_a_millimetre_make_no_jumps(goals: tuple[str, ...], turned: bool, lowered: float) -> None:
    """Goals go along lines through the whole reach, and no joint turns by more than 2 degrees a step.

    Also beside the limbs' roots and inside the trunk, from the rest pose and from one that the animator set.
    """
    one, random = rig(goals=goals, turned=turned, lowered=lowered), np.random.default_rng(5)
    turns = Rotation.from_rotvec(random.normal(scale=0.3, size=(len(one.names), 3)))
    pose = turns.as_quat(scalar_first=True)[None]
    pose[0, 0] = (1.0, 0.0, 0.0, 0.0)  # the root is fixed
    for start, others in ((one.rest, {}), (one.pose(pose), REACH)):
        prior, rest = Prior(one.figure), one.targets(others)
        for goal in goals:
            for _ in range(6):
                line = reach_of(one, goal, random), reach_of(one, goal, random)
                assert largest_step(one, prior, start, rest, goal, *line) < 2.0, (goal, line)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(-3.0, 6.0), st.booleans())
def test_absurd_targets_give_unit_quaternions(seed: int, power: float, turned: bool) -> None:
    """However far away and however turned."""
    one, random = rig(turned=turned), np.random.default_rng(seed)
    places, turns = 10.0**power * random.normal(size=(9, 5, 3)), random.normal(size=(9, 5, 4))
    base = Prior(one.figure).shaped(one.rest, Targets(places, turns, np.zeros_like(places)), one.links, 1.0)[0]
    assert np.abs(np.linalg.norm(base, axis=-1) - 1.0).max() < 1e-9


def test_targets_out_of_any_reach_leave_the_limb() -> None:
    """A hand ten lengths away does not move its arm."""
    one = rig(turned=False, goals=("hand L",))
    base = Prior(one.figure).shaped(one.rest, one.targets({"hand L": np.array([0.0, 0.0, 6.0])}), one.links, 1.0)[0]
    assert np.abs(base - one.rest.rotations).max() < 1e-6


def test_any_goals_will_do() -> None:
    """Each choice of goals on hands, feet and head that has a limb gives a pose, and limbs without a goal stay."""
    for count in (1, 2, 3):
        for goals in combinations(ENDS, count):
            one = rig(goals=goals)
            if goals == ("head",):
                assert isinstance(one.figure, figures.NoFigure)
                continue
            base = Prior(one.figure).shaped(one.rest, one.targets(REACH), one.links, 1.0)[0]
            assert np.isfinite(base).all()
            for name, upper in (("hand L", "arm L"), ("hand R", "arm R"), ("foot L", "thigh L")):
                joint = one.names.index(upper)
                assert (np.abs(base[0, joint] - [1, 0, 0, 0]).max() > 1e-3) == (name in goals), (goals, name)


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("goals", [ENDS, TOES, ("hips", *ENDS)], ids=["feet", "toes", "hips"])
def test_frames_together_are_those_one_by_one(goals: tuple[str, ...], turned: bool) -> None:
    """With the same start, which is posed, and with the same links; in NumPy and, if there is one, in the kernel.

    Some frames are far out of reach; with what was learnt from a character and without, of bones half held too.
    """
    one, random = rig(goals=goals, turned=turned), np.random.default_rng(2)
    turns = Rotation.from_rotvec(random.normal(scale=0.3, size=(len(one.names), 3)))
    pose = turns.as_quat(scalar_first=True)[None]
    pose[0, 0] = (1.0, 0.0, 0.0, 0.0)  # the root is fixed
    asked, spread = one.targets(REACH, TURN), np.array([0.0, 0.05, 0.05, 0.05, 0.2, 0.6, 3.0])[:, None, None]
    places = asked.positions + spread * random.normal(size=(7, len(goals), 3))
    targets = Targets(places, np.repeat(asked.rotations, 7, 0), np.zeros_like(places))
    learnt = own_motion.fit(Prior(one.figure), own_frames(one, 40, random)[1], one.links)
    held = np.where(np.arange(len(one.names)) % 4 == 1, 0.4, 1.0)
    for start in (one.rest, one.pose(pose)):
        starts = ik.Pose(*(np.repeat(part, 7, 0) for part in start))
        for more, amount, share in (((), 1.0, 0.0), ((None, held, learnt), 0.3, 0.6)):
            prior = Prior(one.figure, *more)
            together = NumpyPrior(one.figure, *more).shaped(start, targets, one.links, amount, share)
            alone = [prior.shaped(start, Targets(*(part[k : k + 1] for part in targets[:3])), one.links, amount, share)
                     for k in range(7)]  # fmt: skip
            for found in (prior.shaped(start, targets, one.links, np.full(7, amount), share),
                          prior.shaped(starts, targets, one.links, amount, share),
                          map(np.concatenate, zip(*alone, strict=True))):  # fmt: skip
                for part, of_numpy in zip(found, together, strict=True):
                    np.testing.assert_allclose(part, of_numpy, atol=1e-11)


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("goals", [ENDS, TOES], ids=["feet", "toes"])
def test_the_priors_own_pose_meets_goals_of_hands_and_feet(goals: tuple[str, ...], turned: bool) -> None:
    """Nearly in place, for the bend of a limb is softened, and exactly in rotation."""
    one = rig(goals=goals, turned=turned)
    moved = {"hand L": np.array([-0.35, -0.2, 0.35]), "hand R": np.array([0.3, -0.3, 0.3])}
    moved |= {goals[2]: np.array([0.0, 0.25, 0.2]), goals[3]: np.array([0.0, 0.2, -0.25])}
    turns = TURN | {goals[3]: Rotation.from_euler("xyz", [35, 10, 5], degrees=True)}
    prior, asked = Prior(one.figure), one.targets(moved, turns)
    view = prior.viewer.of_targets(asked.positions, asked.rotations, one.rest, one.links)
    pose = one.rest.rotations
    pose[:, prior.joints] = prior.body.motions(view, None, 0.0)[0]
    found = one.at(pose)
    assert np.linalg.norm(found.positions - asked.positions, axis=-1)[0, :4].max() < 0.01
    if turned:
        apart = 1.0 - np.abs((found.rotations * asked.rotations).sum(-1))
        assert apart[0, :4].max() < 1e-9


def test_figures_that_do_not_stand_are_refused() -> None:
    """With the reason: legs that point forward at rest, no limb that has a goal, or no limbs."""
    lying = tuple(
        (name, parent, (head[0], 0.9, 0.95 - head[1]) if name.startswith(("shin", "foot", "toes")) else head)
        for name, parent, head in BODY
    )
    trunk = tuple(row for row in BODY if not row[0].endswith("L"))
    assert rig(bodies=trunk, goals=("head",)).figure is figures.NoFigure.NO_PAIRS
    assert rig(bodies=lying).figure is figures.NoFigure.NOT_UPRIGHT
    assert rig(goals=("head",)).figure is figures.NoFigure.NO_WHOLE_LIMBS


def own_frames(one: Rig, count: int, random: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Targets of frames, and poses of a character that holds its left elbow and its spine in its own way."""
    asked = one.targets(REACH, TURN)
    places = asked.positions + random.normal(scale=0.06, size=(count, len(one.goals), 3))
    targets = Targets(places, np.repeat(asked.rotations, count, 0), np.zeros_like(places))
    poses = Prior(one.figure).shaped(one.rest, targets, one.links, 1.0)[0]
    for name, turn in (("forearm L", (0.3, 0.0, 0.0)), ("spine2", (0.15, 0.1, 0.0)), ("thigh L", (0.0, 0.2, 0.0))):
        joint = one.names.index(name)
        turned = Rotation.from_quat(poses[:, joint], scalar_first=True) * Rotation.from_rotvec(turn)
        poses[:, joint] = turned.as_quat(scalar_first=True)
    return one.at(poses), poses


def test_own_motion_comes_nearer_to_the_character() -> None:
    """Fitted to some frames, it lowers the difference on others by a quarter at least; share 0 leaves it out."""
    one, random = rig(), np.random.default_rng(4)
    _, poses = own_frames(one, 300, random)
    targets, truth = own_frames(one, 60, random)
    fitted = own_motion.from_text(own_motion.to_text(own_motion.fit(Prior(one.figure), poses, one.links)))
    plain, own = Prior(one.figure), Prior(one.figure, own=fitted)

    def difference(base: np.ndarray) -> float:
        return float(np.arccos(np.clip(np.abs((base * truth).sum(-1)), 0.0, 1.0)).mean())

    before = plain.shaped(one.rest, targets, one.links, 1.0)[0]
    assert difference(own.shaped(one.rest, targets, one.links, 1.0, 1.0)[0]) < 0.75 * difference(before)
    np.testing.assert_array_equal(own.shaped(one.rest, targets, one.links, 1.0, 0.0)[0], before)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 2}', '{"version": 1, "features": 3, "arrays": ["x"]}'])
def test_texts_that_hold_no_own_motion_are_none(text: str) -> None:
    """Such as those of a newer version."""
    assert own_motion.from_text(text) is None
