# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the pictures of docs/goal-kinds.md and follow.md: small figures in a plane, solved by the package.

Run `python benchmarks/pictures.py [FOLDER]`; it needs NumPy and matplotlib.
"""

import argparse
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import solvers as ik  # noqa: E402

_parser = argparse.ArgumentParser(description="Draw the pictures of docs/goal-kinds.md and follow.md.")
_parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images", help="docs/images if left out")
IMAGES = _parser.parse_args().folder
BEFORE, AFTER, TARGET = "0.75", "tab:blue", "tab:red"
UP = (0.5**0.5, -(0.5**0.5), 0.0, 0.0)  # a target whose Z axis is the picture's vertical


def chain(count: int, limits: ik.Range | None = None) -> ik.Skeleton:
    """Hinges in the plane of the picture, one above the other, with a tip."""
    joints = [
        ik.Joint(f"{k}", k - 1, "hinge", (0, 1.0 if k else 0.0, 0), axis=(0, 0, 1), limits=limits) for k in range(count)
    ]
    return ik.Skeleton([*joints, ik.Joint("tip", count - 1, "fixed", (0, 1.0, 0))])


def line(skeleton: ik.Skeleton, pose: ik.Pose) -> np.ndarray:
    """The joints (J, 2) in the picture."""
    return ik.forward(skeleton, pose).positions[:, :2]


def draw(ax: Axes, points: np.ndarray, color: str, width: float = 3.0) -> None:
    """A chain of bones."""
    ax.plot(*points.T, "-o", color=color, lw=width, ms=5, solid_capstyle="round")


def ready(ax: Axes, title: str) -> None:
    """A panel without axes."""
    ax.set_title(title, fontsize=11)
    ax.set_aspect("equal")
    ax.axis("off")


def goal_kinds() -> None:
    """One panel for each kind of goal: grey before, blue after, red what is asked."""
    _, panels = plt.subplots(1, 6, figsize=(18, 3.6))
    skeleton = chain(4)
    start = ik.pose_from_angles(skeleton, [-0.3, 0.3, 0.3, -0.2])
    before = line(skeleton, start)

    def solved(ax: Axes, title: str, goal: ik.Goal) -> np.ndarray:
        pose = ik.solve(skeleton, [goal], start).pose
        draw(ax, before, BEFORE, 2)
        draw(ax, line(skeleton, pose), AFTER)
        ready(ax, title)
        return line(skeleton, pose)

    ax = panels[0]
    after = solved(ax, "Look At", ik.Goal("3", kind="LOOK_AT", position=(3, 2, 0)))
    ax.plot([after[3, 0], 3], [after[3, 1], 2], ":", color=TARGET)
    ax.plot(3, 2, "*", color=TARGET, ms=14)
    ax = panels[1]
    solved(ax, "Distance: within", ik.Goal("tip", kind="DISTANCE", position=(2.5, 2, 0), distance=1, side="WITHIN"))
    ax.add_patch(plt.Circle((2.5, 2), 1, fill=False, color=TARGET, ls=":"))
    ax.plot(2.5, 2, "*", color=TARGET, ms=14)
    ax = panels[2]
    slope = np.array([np.cos(0.2), np.sin(0.2)])
    turn = (np.cos(np.pi / 4), -np.sin(np.pi / 4), 0, 0)
    tilted = (turn[0] * np.cos(0.1), turn[1] * np.cos(0.1), turn[1] * np.sin(0.1), turn[0] * np.sin(0.1))
    solved(ax, "Plane: on", ik.Goal("tip", kind="PLANE", position=(0, 2.4, 0), rotation=tilted))
    ax.plot(*(np.array([0, 2.4]) + np.outer([-1.5, 2.5], slope)).T, color=TARGET, lw=1.5)
    ax = panels[3]
    edges = [(-0.2, 0.0, -0.1), (0.4, 0.0, -0.1), (0.4, 0.0, 0.1), (-0.2, 0.0, 0.1)]
    lean = ik.Goal("0", kind="BALANCE", position=(0, 0, 0), rotation=UP, side="WITHIN", points=edges)
    hand = ik.Goal("tip", position=(1.6, 2.2, 0))
    for goals, color in (([hand], BEFORE), ([hand, lean], AFTER)):
        points = line(skeleton, ik.solve(skeleton, goals, start).pose)
        draw(ax, points, color)
        ax.plot(np.mean(points[:-1] + points[1:], axis=0)[0] / 2, -0.25, "^", color=color, ms=9)
    ax.plot([-0.2, 0.4], [-0.1, -0.1], color=TARGET, lw=4)
    ax.plot(1.6, 2.2, "*", color=TARGET, ms=14)
    ready(ax, "Balance: within")
    ax = panels[4]
    sloping = (np.cos(0.6), 0, 0, -np.sin(0.6))
    after = solved(ax, "Parallel", ik.Goal("3", kind="PARALLEL", rotation=sloping))
    along = np.array([np.sin(1.2), np.cos(1.2)])
    ax.plot(*(after[3] + [0.3, -0.6] + np.outer([-0.8, 1.8], along)).T, color=TARGET, lw=1.5)
    ax = panels[5]
    t = np.linspace(0, 4.2, 200)
    curve = np.column_stack([np.sin(1.2 * t), t, 0 * t]) - [0, 0, 0]
    goal = ik.Goal("3", kind="CURVE", offset=(0, 1, 0), points=ik.along_curve(curve, [1, 1, 1, 1]))
    ax.plot(*curve[:, :2].T, color=TARGET, lw=1.5)
    solved(ax, "Curve", goal)
    plt.tight_layout()
    plt.savefig(IMAGES / "goal-kinds.png", dpi=80)


def follow() -> None:
    """An arm behind a target that goes round a circle, and how a cart comes to a target that moves and stops."""
    _, panels = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 1.4])
    ax, frames = panels[0], 49
    skeleton = chain(3)
    turned = np.linspace(0.0, 1.9 * np.pi, frames)
    places = np.column_stack([1.3 + 0.9 * np.cos(turned), 1.3 + 0.9 * np.sin(turned), 0 * turned])
    motion = ik.TrackedMotion(ik.prepare(skeleton, [ik.Goal("tip", position=(0, 0, 0))]), 6.0, 1 / 24)
    answer, points = motion.prepared.arrays(), list[np.ndarray]()
    answer.start_rotations[0] = ik.pose_from_angles(skeleton, [-1.0, 0.4, 0.4]).rotations
    for place in places:
        answer.positions[:] = place
        motion.solve_into(answer)
        points.append(line(skeleton, ik.Pose(answer.rotations[0], answer.translations[0])))
    ax.plot(*places[:, :2].T, ":", color=TARGET)
    ax.plot(*np.array(points)[:, -1].T, color=AFTER, lw=1)
    for frame in (0, 16, 32, 48):
        draw(ax, points[frame], AFTER if frame == frames - 1 else BEFORE, 3 if frame == frames - 1 else 2)
        ax.plot(*places[frame, :2], "*", color=TARGET, ms=14)
    ready(ax, "Gain 6")
    ax = panels[1]
    rail = ik.Skeleton([ik.Joint("cart", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0))])
    time = np.arange(frames) / 24
    wanted = np.clip((time - 0.25) / 0.75, 0.0, 1.0)
    ax.plot(time, wanted, ":", color=TARGET, label="target")
    for gain, color in ((2.0, "0.75"), (5.0, "tab:cyan"), (15.0, AFTER)):
        motion = ik.TrackedMotion(ik.prepare(rail, [ik.Goal("cart", position=(0, 0, 0))]), gain, 1 / 24)
        carts = motion.prepared.arrays(frames)
        carts.positions[:, 0, 0] = wanted
        motion.solve_into(carts)
        ax.plot(time, carts.translations[:, 0, 0], color=color, label=f"gain {gain:.0f}")
    ax.set_xlabel("seconds")
    ax.set_ylabel("place")
    ax.legend(frameon=False)
    plt.tight_layout()
    plt.savefig(IMAGES / "follow.png", dpi=80)


def closed_loops() -> None:
    """A four-bar linkage through a turn, a delta robot, two arms with a bar; what leads them is red."""
    _, panels = plt.subplots(1, 3, figsize=(13, 3.8))
    _four_bar(panels[0])
    _delta(panels[1])
    _bar(panels[2])
    plt.tight_layout()
    plt.savefig(IMAGES / "closed-loops.png", dpi=80)


def _four_bar(ax: Axes) -> None:
    turning = {"kind": "hinge", "axis": (0, 0, 1)}
    skeleton = ik.Skeleton([
        ik.Joint("crank", -1, offset=(0, 0, 0), **turning),
        ik.Joint("coupler", 0, offset=(1, 0, 0), inherit_rotation=False, **turning),
        ik.Joint("rocker", -1, offset=(4, 0, 0), **turning),
    ])  # fmt: skip
    pin = ik.Goal("coupler", offset=(3.5, 0, 0), position=(3, 0, 0), target_joint="rocker", chain=["coupler", "rocker"])
    for crank in np.linspace(2 * np.pi, 0.6, 12):
        pose = ik.solve(skeleton, [pin], ik.pose_from_angles(skeleton, [crank, 1.0, 1.9])).pose
        world, last = ik.forward(skeleton, pose), crank == 0.6
        along = _turn(world.rotations[1])
        end = world.positions[1] + 3.5 * np.array([np.cos(along), np.sin(along), 0.0])
        color, width = (AFTER, 3) if last else (BEFORE, 1)
        draw(ax, np.array([world.positions[1], end, world.positions[2]])[:, :2], color, width)
        draw(ax, world.positions[:2, :2], TARGET if last else BEFORE, width)
    ready(ax, "Four bars: the crank is turned")


def _turn(q: np.ndarray) -> float:
    """The angle of a rotation about Z."""
    return 2.0 * np.arctan2(q[3], q[0])


def _delta(ax: Axes) -> None:
    goals, outs = list[ik.Goal](), [np.array([np.cos(a), np.sin(a), 0.0]) for a in 2 * np.pi * np.arange(3) / 3]
    joints = [ik.Joint(axis, k - 1, "prismatic", (0, 0, 0 if k else -1.0), axis=np.eye(3)[k])
              for k, axis in enumerate("xyz")]  # fmt: skip
    joints.append(ik.Joint("platform", 2, "ball", (0, 0, 0)))
    for k, out in enumerate(outs):
        side = np.cross([0, 0, 1], out)
        joints.append(ik.Joint(f"motor {k}", -1, "hinge", 0.5 * out, axis=side))
        for sign in (0.1, -0.1):
            rod = ik.Joint(f"rod {k}{sign}", 4 + 3 * k, "ball", 0.6 * out + sign * side)
            joints.append(rod)
            tip = np.array([-0.6 * out[0], -0.6 * out[1], -np.sqrt(1.2**2 - 0.6**2)])
            goals.append(ik.Goal(rod.name, offset=tip, position=0.2 * out + sign * side, target_joint="platform"))
    skeleton = ik.Skeleton(joints)
    view = np.array([[0.9, 0.44, 0.0], [-0.13, 0.27, 0.95]])
    for turn in (0.4, 2.5, 4.6):
        place = np.array([0.3 * np.cos(turn), 0.3 * np.sin(turn), -0.95])
        pose = ik.solve(skeleton, [*goals, ik.Goal("platform", position=place, priority=-1)]).pose
        world, color = ik.forward(skeleton, pose).positions @ view.T, AFTER if turn == 0.4 else BEFORE
        sockets = np.array([place + np.array(goal.position) for goal in goals]) @ view.T
        for k in range(3):
            for rod, socket in ((5 + 3 * k, 2 * k), (6 + 3 * k, 2 * k + 1)):
                draw(ax, np.array([world[4 + 3 * k], world[rod], sockets[socket]]), color, 2)
        ax.fill(*sockets.T, color=color, alpha=0.5)
        ax.plot(*(view @ place), "*", color=TARGET, ms=12)
    ready(ax, "Delta robot: the platform is led")


def _bar(ax: Axes) -> None:
    turning = {"kind": "hinge", "axis": (0, 0, 1)}
    joints = [ik.Joint("x", -1, "prismatic", (0, 1.2, 0), axis=(1, 0, 0)),
              ik.Joint("y", 0, "prismatic", (0, 0, 0), axis=(0, 1, 0)),
              ik.Joint("bar", 1, offset=(0, 0, 0), **turning)]  # fmt: skip
    for side in (1, -1):
        joints += [ik.Joint(f"upper {side}", -1, offset=(0.5 * side, 0, 0), **turning),
                   ik.Joint(f"fore {side}", len(joints), offset=(0.6 * side, 0.5, 0), **turning)]  # fmt: skip
    skeleton = ik.Skeleton(joints)
    hands = [ik.Goal(f"fore {side}", offset=(-0.5 * side, 0.7, 0), position=(0.6 * side, 0, 0), target_joint="bar",
                     priority=1) for side in (1, -1)]  # fmt: skip
    for place in ((0.3, 0.9), (0.7, 2.2)):
        pose = ik.solve(skeleton, [*hands, ik.Goal("bar", position=(*place, 0))]).pose
        world, color = ik.forward(skeleton, pose), AFTER if place[1] > 2 else BEFORE
        turn = _turn(world.rotations[2])
        ends = [world.positions[2, :2] + 0.6 * side * np.array([np.cos(turn), np.sin(turn)]) for side in (1, -1)]
        draw(ax, np.array(ends), color, 5)
        for k, end in zip((3, 5), ends, strict=True):
            draw(ax, np.array([*world.positions[k : k + 2, :2], end]), color)
        ax.plot(*place, "*", color=TARGET, ms=14)
    ready(ax, "A bar in two hands: within reach, and beyond")


if __name__ == "__main__":
    goal_kinds()
    closed_loops()
    follow()
