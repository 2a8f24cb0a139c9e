# SPDX-License-Identifier: GPL-3.0-or-later
"""Stub."""
import numpy as np

from ...solvers.algebra import dual_quaternion, quaternion


class Prior:
    def __init__(self, figure, weights, freedom=None, own=None):
        self.figure, self.own = figure, own
        self.freedom = np.ones(len(figure.rig.skeleton)) if freedom is None else freedom

    def base(self, start, targets, links, amount, share=0.0):
        if amount == 0.0:
            return start.rotations
        rig = self.figure.rig
        world = rig.skeleton.transforms(start.rotations, start.translations, links)
        away = 0.0
        for g, goal in enumerate(rig.prepared.goals):
            place = dual_quaternion.transform(world[0, goal.joint], np.asarray(goal.offset, float))
            away += float(np.linalg.norm(place - targets.positions[0, g]))
        angle = amount * 0.5 * np.tanh(5 * max(away / rig.size - 1e-4, 0))
        out = start.rotations.copy()
        for joint in self.figure.elbows:
            turn = quaternion.exp(np.array([angle * self.freedom[joint], 0.0, 0.0]))
            out[0, joint] = quaternion.product(out[0, joint], turn)
        return out
