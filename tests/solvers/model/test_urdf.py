# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots read from URDF: kinematics against SciPy's, limits, names, and errors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation, seeds

import solvers as ik

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating")
SIZES = {"revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0, "floating": 6}


def joint(name: str = "j", kind: str = "fixed", parent: str = "base", child: str = "tip", inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts: str, links: tuple[str, ...] = ("base", "tip")) -> str:
    return "<robot name='r'>" + "".join(f'<link name="{link}"/>' for link in links) + "".join(parts) + "</robot>"


def words(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


class Drawn:
    """A robot drawn from a seed: its text, with joints in any order, and its kinematics by SciPy."""

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self.count = int(generator.integers(1, 8))
        self.kinds = [str(generator.choice(TYPES)) for _ in range(self.count)]
        self.parents = [int(generator.integers(0, link + 1)) for link in range(self.count)]  # link numbers; 0 is root
        self.xyz, self.axes = generator.normal(size=(2, self.count, 3))
        self.rpy = generator.uniform(-3, 3, (self.count, 3))
        self.values = [generator.uniform(-1, 1, SIZES[kind]) for kind in self.kinds]
        elements = [
            joint(f"j{k}", kind, f"l{self.parents[k]}", f"l{k + 1}",
                  f'<origin xyz="{words(self.xyz[k])}" rpy="{words(self.rpy[k])}"/>'
                  f'<axis xyz="{words(self.axes[k])}"/><limit lower="-1" upper="1" effort="9" velocity="9"/>')
            for k, kind in enumerate(self.kinds)
        ]  # fmt: skip
        order = generator.permutation(self.count)
        self.text = robot(*[elements[k] for k in order], links=tuple(f"l{k}" for k in range(self.count + 1)))

    def world(self) -> list[tuple[np.ndarray, Rotation]]:
        """Position (3,) and rotation of each joint's child link."""
        placed = [(np.zeros(3), Rotation.identity())]
        for k, kind in enumerate(self.kinds):
            place, turn = placed[self.parents[k]]
            place, turn = place + turn.apply(self.xyz[k]), turn * Rotation.from_euler("xyz", self.rpy[k])
            axis, q = self.axes[k] / np.linalg.norm(self.axes[k]), self.values[k]
            if kind in ("revolute", "continuous"):
                turn = turn * Rotation.from_rotvec(q[0] * axis)
            elif kind == "prismatic":
                place = place + turn.apply(q[0] * axis)
            elif kind == "floating":
                place, turn = place + turn.apply(q[:3]), turn * Rotation.from_rotvec(q[3:])
            placed.append((place, turn))
        return placed[1:]


@given(seeds)
def test_kinematics_are_those_of_the_specification(seed: int) -> None:
    """Trees of all types of joints, with origins, roll, pitch and yaw, any axes: by SciPy, link by link."""
    drawn = Drawn(seed)
    skeleton = ik.skeleton_from_urdf(drawn.text)
    order = [int(name[1:]) for name in skeleton.names if " " not in name]
    q = np.concatenate([drawn.values[k] for k in order])
    world = ik.forward(skeleton, ik.pose_from_angles(skeleton, q))
    assert sorted(order) == list(range(drawn.count))
    for k, (place, turn) in enumerate(drawn.world()):
        index = skeleton.index(f"j{k}")
        assert_allclose(world.positions[index], place, atol=1e-12)
        assert (turn.inv() * scipy_rotation(world.rotations[index])).magnitude() < 1e-7


@given(seeds)
def test_parents_come_before_their_children(seed: int) -> None:
    skeleton = ik.skeleton_from_urdf(Drawn(seed).text)
    assert all(parent < index for index, parent in enumerate(skeleton.parent))


def test_limits_are_those_of_the_file() -> None:
    """A revolute joint's in radians, a prismatic one's in metres; none for a continuous one; a full turn is kept."""
    inside = '<axis xyz="0 0 1"/><limit lower="-0.5" upper="1.5"/>'
    free = '<limit lower="-6.2832" upper="6.2832"/>'
    endless = '<limit lower="-1e16" upper="1e16"/>'
    infinite = '<limit lower="-inf" upper="inf"/>'
    links = ("base", "a", "b", "c", "d", "e", "f")
    skeleton = ik.skeleton_from_urdf(robot(
        joint("turn", "revolute", "base", "a", inside), joint("slide", "prismatic", "a", "b", inside),
        joint("spin", "continuous", "b", "c", inside), joint("wrist", "revolute", "c", "d", free),
        joint("wheel", "revolute", "d", "e", endless), joint("rail", "prismatic", "e", "f", infinite), links=links,
    ))  # fmt: skip
    limits = {joint.name: joint.limits for joint in skeleton.joints}
    assert limits["turn"] == limits["slide"] == ik.Range(-0.5, 1.5)
    assert limits["wrist"] == ik.Range(-6.2832, 6.2832)
    assert limits["spin"] is limits["wheel"] is limits["rail"] is None


@pytest.mark.parametrize(("lower", "upper"), [(-6.2832, 6.2832), (0.5, 7.5), (-12.0, 1.0)])
def test_a_joint_with_limits_wider_than_a_turn_has_its_angle_inside_them(lower: float, upper: float) -> None:
    """It turns freely, and of the angles that are full turns apart the one returned is inside."""
    limit = f'<limit lower="{lower}" upper="{upper}"/><axis xyz="0 0 1"/>'
    end = joint("end", "fixed", "tip", "hand", '<origin xyz="1 0 0"/>')
    arm = robot(joint("j", "revolute", inside=limit), end, links=("base", "tip", "hand"))
    skeleton = ik.skeleton_from_urdf(arm)
    for way in np.linspace(-3.1, 3.1, 9):
        solution = ik.solve(skeleton, [ik.Goal("end", position=(np.cos(way), np.sin(way), 0.0))])
        (angle,) = ik.angles_from_pose(skeleton, solution.pose)
        assert solution.converged
        assert lower <= angle <= upper


REVOLUTE = '<limit lower="0" upper="1"/>'
MIMICS = [
    (f'{REVOLUTE}<mimic joint="gone"/>', "revolute", "no joint is called 'gone'"),
    (f'{REVOLUTE}<mimic joint="still"/>', "revolute", "'still' does not move"),
    (f'{REVOLUTE}<mimic joint="b"/>', "revolute", "it cannot follow itself"),
    ('<mimic joint="a"/>', "fixed", "it does not move itself"),
]


@pytest.mark.parametrize(("inside", "kind", "problem"), MIMICS)
def test_a_mimic_that_cannot_hold_is_left_out_with_a_warning(inside: str, kind: str, problem: str) -> None:
    """The robot loads with all of its joints, and those mimics that hold."""
    text = robot(
        joint("a", "revolute", "base", "m", REVOLUTE), joint("still", "fixed", "m", "n"),
        joint("b", kind, "n", "e", inside), joint("c", "revolute", "e", "f", f'{REVOLUTE}<mimic joint="a"/>'),
        links=("base", "m", "n", "e", "f"),
    )  # fmt: skip
    with pytest.warns(UserWarning, match=f"joint 'b': <mimic> is left out, because {problem}"):
        skeleton = ik.skeleton_from_urdf(text)
    assert skeleton.names == ("a", "still", "b", "c")
    assert [(one.joint, one.leader) for one in skeleton.couplings] == [(3, 0)]


def test_mimics_in_a_circle_are_left_out_where_they_close_it() -> None:
    """Of three joints that follow each other round, two do."""
    names = ("a", "b", "c")
    links = ("base", "l", "m", "n")
    text = robot(*(
        joint(name, "revolute", *links[k : k + 2], f'{REVOLUTE}<mimic joint="{names[(k + 1) % 3]}"/>')
        for k, name in enumerate(names)
    ), links=links)  # fmt: skip
    with pytest.warns(UserWarning, match="joint 'c': <mimic> is left out, because 'a' follows it"):
        skeleton = ik.skeleton_from_urdf(text)
    assert [(one.joint, one.leader) for one in skeleton.couplings] == [(0, 1), (1, 2)]

def test_without_origin_and_axis_the_defaults_of_the_specification_hold() -> None:
    """No offset, no turn, the X axis; `lower` alone leaves `upper` at 0."""
    skeleton = ik.skeleton_from_urdf(robot(joint("j", "revolute", inside='<limit lower="-1"/>')))
    assert skeleton.joints[0].limits == ik.Range(-1, 0)
    assert_allclose(skeleton.axis[0], (1, 0, 0))
    assert_allclose(skeleton.links[0], (1, 0, 0, 0, 0, 0, 0, 0))


def test_a_robot_solves() -> None:
    """An arm of six hinges meets a position and a rotation of some pose."""
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
    links = tuple(f"l{k}" for k in range(7))
    skeleton = ik.skeleton_from_urdf(robot(*[
        joint(f"j{k}", "revolute", links[k], links[k + 1],
              f'<origin xyz="0.1 0 0.3"/><axis xyz="{axis}"/><limit lower="-2" upper="2"/>')
        for k, axis in enumerate(axes)
    ], links=links))  # fmt: skip
    reached = ik.forward(skeleton, ik.pose_from_angles(skeleton, [0.5, -0.4, 0.8, 0.2, 0.6, -0.3]))
    goal = ik.Goal("j5", reached.positions[5], reached.rotations[5])
    assert ik.solve(skeleton, [goal], options=ik.Options(restarts=10)).converged


def test_a_file_and_its_text_are_the_same(tmp_path: Path) -> None:
    """By path or as a string, with a declaration, a byte order mark, comments and spaces in front."""
    text = "\n  <?xml version='1.0' encoding='utf-8'?><!-- é -->" + robot(joint("j", "continuous"))
    path = tmp_path / "robot.urdf"
    path.write_text("\ufeff" + text.strip(), encoding="utf-8")
    for source in (text, path, str(path)):
        assert ik.skeleton_from_urdf(source).names == ("j",)


def test_a_robot_of_one_link_is_one_fixed_joint_and_loose_links_are_left_out() -> None:
    """A single link has no joints of its own; other links without joints are ignored."""
    alone = ik.skeleton_from_urdf(robot(links=("box",)))
    assert (alone.names, alone.kinds) == (("box",), ("fixed",))
    assert ik.skeleton_from_urdf(robot(joint(), links=("base", "tip", "loose"))).names == ("j",)


def test_what_other_tools_put_in_a_file_is_ignored() -> None:
    """Transmissions with joints of their own, Gazebo's tags, and a namespace that is declared and not used."""
    text = robot(
        joint("j", "continuous", inside="<dynamics damping='1'/><safety_controller k_velocity='1'/>"),
        "<transmission name='t'><joint name='j'><hardwareInterface/></joint></transmission><gazebo reference='j'/>",
    ).replace("<robot ", "<robot xmlns:xacro='http://www.ros.org/wiki/xacro' ")
    assert ik.skeleton_from_urdf(text).names == ("j",)


@pytest.mark.parametrize(("text", "message"), [
    ("<robot><link", "not well-formed XML"),
    ("<sdf><model/></sdf>", "expected <robot>, got <sdf>"),
    ("no_such_file.urdf", r"expected text or the path of a file, got 'no_such_file.urdf'"),
    ("<!DOCTYPE r [<!ENTITY a 'b'>]><robot>&a;</robot>", "declares XML entities"),
    ("<robot><xacro:macro name='leg'/></robot>", "this is xacro.*expand it first"),
    ("<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:property name='a'/></robot>", "this is xacro"),
    (robot(joint(inside='<origin xyz="0 0 ${height}"/>')), r"joint 'j': xyz = .*\$\{height\}.*this is xacro"),
    (robot(joint(kind="planar")), "joint 'j': type 'planar' is not supported; the types are "),
    (robot(joint(kind="revolut")), "type 'revolut' is not supported; the types are revolute, "),
    (robot('<joint name="j" type="fixed"><parent link="base"/></joint>'), "joint 'j': <child> has no link"),
    (robot('<joint type="fixed"/>'), "a joint has no name"),
    (robot('<joint name="j"/>'), "joint 'j' has no type"),
    (robot("<link/>"), "a link has no name"),
    (robot(joint(inside='<origin xyz="0 0"/>')), "joint 'j': xyz = '0 0'; expected 3 numbers"),
    (robot(joint(inside='<origin xyz="0 0 nan"/>')), "joint 'j' offset: expected finite numbers"),
    (robot(joint(kind="continuous", inside='<axis xyz="0 0 0"/>')), "joint 'j' axis: expected a direction"),
    (robot(joint(child="tpi")), "joint 'j': no link is called 'tpi'; the links are 'tip', 'base'"),
    (robot(joint(), joint(child="base", parent="tip")), "several joints are called 'j'"),
    (robot(joint("a"), joint("b")), "link 'tip' hangs from two joints, 'a' and 'b'"),
    (robot(joint("a"), joint("b", parent="tip", child="base")), "expected one root link, got none.*circle"),
    (robot(joint("a"), joint("b", parent="x", child="y"), links=("base", "tip", "x", "y")), "got 'base', 'x'"),
    (robot(joint("a"), joint("b", parent="x", child="y"), joint("c", parent="y", child="x"),
           links=("base", "tip", "x", "y")), "circle"),
    (robot(links=("tip", "tip")), "several links are called 'tip'"),
    (robot(links=("base", "tip")), "expected joints, got none between 2 links"),
])  # fmt: skip
def test_what_is_no_robot_is_refused_in_a_sentence(text: object, message: str) -> None:
    """The error names the joint and what was expected."""
    with pytest.raises(ik.InvalidSkeleton, match=message):
        ik.skeleton_from_urdf(text)


@pytest.mark.parametrize(("inside", "kind", "message"), [
    ("", "revolute", "joint 'j': a revolute joint needs <limit.*continuous"),
    ("", "prismatic", "joint 'j': a prismatic joint needs <limit"),
    ('<limit lower="1" upper="-1"/>', "revolute", "joint 'j': Range: lo = 1.0 is above hi = -1.0"),
    ('<limit lower="-inf" upper="0"/>', "prismatic", "joint 'j': Range: expected finite limits"),
    ('<limit lower="-90" upper="90"/>', "revolute", r"joint 'j': limits: .*degrees.*\(-1\.571, 1\.571\)"),
    ('<limit lower="30" upper="60"/>', "revolute", "joint 'j': limits: .*if these are degrees"),
])  # fmt: skip
def test_bad_limits_are_refused_with_the_joints_name(inside: str, kind: str, message: str) -> None:
    """Missing, reversed and infinite limits, and degrees."""
    with pytest.raises(ik.InvalidLimits, match=message):
        ik.skeleton_from_urdf(robot(joint("j", kind, inside=inside)))


def test_a_limit_that_is_no_number_is_refused() -> None:
    with pytest.raises(ik.InvalidSkeleton, match="joint 'j': upper = 'far'; expected a number"):
        ik.skeleton_from_urdf(robot(joint("j", "revolute", inside='<limit upper="far"/>')))
