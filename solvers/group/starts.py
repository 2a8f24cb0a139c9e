# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses that a stage starts from, and the request of frames with the base pose of their pull."""

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space import arc, limb
from ..space.joint_space import State
from ..space.point import Point, Request
from ..space.tasks import Kinematics, turned_to_pole
from .stage import Stage


def begin(
    stage: Stage, pose: Pose, start: Pose, targets: Targets, links: np.ndarray | None = None
) -> tuple[Point, Request]:
    """The point of frames in a pose, and their request if the pull leads to the pose `start`."""
    links = with_still_slides(stage, start, links)
    state = stage.space.state(pose, len(targets.positions))
    kinematics = stage.tasks.kinematics(state, links)
    frames = request(stage, start, targets, links, kinematics.positions)
    return Point(state, kinematics, stage.tasks.errors(kinematics, frames.targets)), frames


def request(stage: Stage, start: Pose, targets: Targets, links: np.ndarray | None, positions: np.ndarray) -> Request:
    """The request of frames: targets out of reach yield, and the base pose is turned to the poles.

    positions : (F, J, 3) of the joints in any pose.
    """
    own_links = stage.skeleton.links if links is None else links
    frames = Request(_base(stage, start, targets, links), targets, links)
    if stage.settings.pull:
        frames.base = swivelled(stage, frames.base, frames)
    frames.targets = stage.yielding.targets(positions, own_links, targets)
    return frames


def folded(stage: Stage, frames: Request, swivels: np.ndarray) -> State:
    """Start states: the base pose with its limbs folded, for one swivel after the other (S F frames)."""
    base = frames.base
    if not stage.limbs and not stage.poles:
        return base
    kinematics = stage.tasks.kinematics(base, frames.links)
    carried = stage.tasks.carry.carried(kinematics.rotations, frames.targets.rotations)
    targets = frames.targets._replace(rotations=carried)
    angles = swivels if stage.limbs else swivels[:1]
    rotations = base.rotations[None]
    if stage.limbs:
        rotations = limb.fold(stage.limbs, stage.goals, base.rotations, kinematics, targets, angles)
    tried = np.tile(np.arange(len(base.rotations)), len(angles))
    state = stage.space.turned(base.take(tried), rotations.reshape(-1, *rotations.shape[-2:]))
    return swivelled(stage, state, frames.take(tried)) if stage.poles else state


def arched(
    stage: Stage, state: State, targets: Targets, links: np.ndarray | None, shares: np.ndarray | None = None
) -> State:
    """`state` with its straight chains bent to arcs that point at their targets.

    shares : (F,) of the way to their arcs by which the chains bend; None for all of it.
    """
    if not stage.arcs:
        return state
    kinematics = stage.tasks.kinematics(state, links)
    if shares is None:
        shares = np.ones(len(targets.positions))
    rotations = arc.bend(state.rotations, kinematics, targets, stage.arcs, stage.skeleton.axis, shares)
    return stage.space.turned(state, rotations)


def swivelled(stage: Stage, state: State, frames: Request) -> State:
    """`state` with each pole's chain turned about its line so that its middle points at the pole."""
    for pole in stage.tasks.poles.swivelling if stage.tasks.poles else ():
        kinematics = stage.tasks.kinematics(state, frames.links)
        hold, tolerance = stage.pole_hold(pole), stage.options.tolerance
        state = turned_to_pole(stage.space, state, kinematics, frames.targets, pole, hold, tolerance)
    return state


def _base(stage: Stage, start: Pose, targets: Targets, links: np.ndarray | None) -> State:
    """The base pose of the pull: the start or the middle of the limits.

    Limbs are bent by their preferred bend, or further for near targets, and other straight chains to an arc that points
    at the target; less for targets near the start (`_bend_shares`).
    """
    state = stage.space.state(start, len(start.rotations))
    if not stage.settings.pull:
        return state
    kinematics = stage.tasks.kinematics(state, links)
    shares = _bend_shares(stage, kinematics, targets)
    if stage.options.bias == "MIDDLE":
        state = stage.space.middle(state, stage.settings.weights > 0.0)
        kinematics = stage.tasks.kinematics(state, links)
    if stage.limbs:
        bent = limb.bend_base(stage.limbs, state.rotations, kinematics, targets.positions, shares[:, None])
        state = stage.space.turned(state, bent)
    return arched(stage, state, targets, links, shares)


def _bend_shares(stage: Stage, start: Kinematics, targets: Targets) -> np.ndarray:
    """The share (F,) of their bends that limbs and straight chains get in the base pose.

    It falls to 0 as the targets approach the effectors of the start pose: a start that meets all goals is the answer
    for any preferred bend.
    """
    away = stage.tasks.misses(start, targets)
    return np.minimum(away.max(-1, initial=0.0) / limb.EASE, 1.0)


def with_still_slides(stage: Stage, start: Pose, links: np.ndarray | None) -> np.ndarray | None:
    """Links that include the translations, in the start pose, of slides that this stage does not move."""
    if not stage.still_slides.size:
        return links
    links = np.array(stage.skeleton.links[None] if links is None else links)
    count = max(len(links), len(start.translations))
    links = np.array(np.broadcast_to(links, (count, *links.shape[1:])))
    moved = dual_quaternion.from_parts(quaternion.IDENTITY, start.translations[:, stage.still_slides])
    links[:, stage.still_slides] = dual_quaternion.product(links[:, stage.still_slides], moved)
    return links
