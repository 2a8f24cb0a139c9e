# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a solve, carried along with the target of its root.

The root of a body is a bone that may move as well as turn and has a goal, such as the hips. Where its target is far
from the base pose, a body that walks or turns round for example, a solve from the base pose would begin with limbs that
point anywhere, and end in another local minimum on the next frame. A rigid motion takes the root to its target first,
and the limbs along. NumPy only.
"""

import numpy as np

from ...solvers import Pose
from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.model.goals import Targets
from ..setup.build import Rig


def carried(rig: Rig, start: Pose, links: np.ndarray, targets: Targets) -> Pose:
    """The start pose (1, J, ...) with its roots at their targets; arrays of its own if there are any.

    links : (1, J, 8). targets : of one frame.
    """
    if not rig.root_goals:
        return start
    rotations, translations = start.rotations.copy(), start.translations.copy()
    for number, joint, slide, frame, path in rig.root_goals:
        above = links[0, path[0]]
        for step in path[1:]:
            above = dual_quaternion.product(above, links[0, step])
        back = quaternion.conjugate(above[:4])
        place = targets.positions[0, number] - dual_quaternion.translation(above)
        translations[0, slide : slide + 3] = frame.T * (frame.T @ quaternion.rotate(back, place))[:, None]
        turn = quaternion.product(back, targets.rotations[0, number])
        rotations[0, joint] = quaternion.product(quaternion.conjugate(links[0, joint, :4]), turn)
    return Pose(rotations, translations)
