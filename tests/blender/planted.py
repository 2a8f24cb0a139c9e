# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure with hands and feet at targets, to pose the bones between them by hand."""

from math import degrees

import bpy
import rigs

PLANTED = ("forearm.L", "forearm.R", "shin.L", "shin.R")
TURNED = rigs.rotation((0.3, 1, 0.2), 53.0)


def planted_figure(live: bool = True, **settings: object) -> bpy.types.Object:
    """A figure with bent arms and knees, hips that may move, and targets at its wrists and ankles."""
    ob = rigs.figure()
    rigs.rotate_by(ob, "QUATERNION")
    for side, sign in (("L", 1.0), ("R", -1.0)):
        pose = {"arm": ((0, 0, 1), -50.0 * sign), "forearm": ((0, 0, 1), -50.0 * sign), "thigh": ((1, 0, 0), 20.0),
                "shin": ((1, 0, 0), -40.0)}  # fmt: skip
        for name, (axis, angle) in pose.items():
            rigs.posed(ob.pose.bones[f"{name}.{side}"], rigs.rotation(axis, angle))
    rigs.update()
    for name in PLANTED:
        rigs.goal(ob, name, rigs.empty(rigs.tail(ob, name), name))
    ob.pose.bones["hips"].dqik_translate = True
    for name, value in settings.items():
        setattr(ob.dqik, name, value)
    rigs.live(ob, live)
    return ob


def off(ob: bpy.types.Object, name: str, wanted=TURNED) -> float:
    """Degrees by which the evaluated bone is turned from a rotation."""
    return degrees(rigs.local_rotation(ob, name).rotation_difference(wanted).angle)


def assert_planted(ob: bpy.types.Object) -> None:
    """All goals are met."""
    for name in PLANTED:
        assert rigs.miss(ob, name, bpy.data.objects[name]) < 3e-4, name
