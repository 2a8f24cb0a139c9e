# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that a solve starts from and is pulled to: the animator's, carried with its root, and shaped. NumPy only.

The root of a body is a bone that may move as well as turn and has a goal, such as the hips. Where its target is far
from the base pose, a body that walks or turns round for example, a solve from the base pose would begin with limbs that
point anywhere, and end in another local minimum on the next frame. A rigid motion takes the root to its target first,
and the limbs along. The natural pose then shapes them.
"""

import numpy as np

from ....solvers import FrameArrays, Pose
from ....solvers.algebra import dual_quaternion, quaternion
from ....solvers.model import Targets
from ...skeleton.rig import Rig
from .natural_pose import Shaping


def complete(arrays: FrameArrays, rig: Rig, shaping: Shaping | None) -> Pose | None:
    """Carry and shape the animator's poses that stand in the start poses of all frames, in place.

    The natural pose also moves the targets of hips that give. Returns the carried poses, before they are shaped; None
    if no root carries them.
    """
    posed = Pose(arrays.start_rotations, arrays.start_translations)
    targets = Targets(arrays.positions, arrays.orientations, arrays.poles, points=arrays.points)
    turned = posed.rotations
    if shaping is not None:
        turned, arrays.positions[:] = shaping.shape(posed, arrays.links, targets)
    start = carried = _carried(rig, posed, arrays.links, targets)
    if turned is not posed.rotations:
        for _, joint, *_ in rig.root_goals:
            turned[:, joint] = carried.rotations[:, joint]
        start = Pose(turned, carried.translations)
        arrays.home_rotations[:] = carried.rotations
    if start is not posed:
        arrays.start_rotations[:], arrays.start_translations[:] = start
    return None if carried is posed else carried


def _carried(rig: Rig, posed: Pose, links: np.ndarray, targets: Targets) -> Pose:
    """Poses (F, J, ...) with their roots at their targets; in arrays of their own if there are any.

    links : (F, J, 8). targets : of F frames.
    """
    if not rig.root_goals:
        return posed
    rotations, translations = posed.rotations.copy(), posed.translations.copy()
    for number, joint, slide, frame, free, path in rig.root_goals:
        above = links[:, path[0]]
        for step in path[1:]:
            above = dual_quaternion.product(above, links[:, step])
        back = quaternion.conjugate(above[:, :4])
        place = targets.positions[:, number] - dual_quaternion.translation(above)
        moved = frame.T * (quaternion.rotate(back, place) @ frame)[..., None]
        translations[:, slide : slide + 3][:, free] = moved[:, free]
        turn = quaternion.relative(above[:, :4], targets.rotations[:, number])
        rotations[:, joint] = quaternion.relative(links[:, joint, :4], turn)
    return Pose(rotations, translations)
