# SPDX-License-Identifier: GPL-3.0-or-later
"""Stub."""
from dataclasses import dataclass

from ..blender.armature import Armature
from ..setup.build import Rig
from ..setup.roles import Role


@dataclass
class Figure:
    rig: Rig
    elbows: list[int]


def figure(rig: Rig, roles: dict[int, Role], armature: Armature) -> "Figure | str":
    if Role("hips") not in roles.values():
        return "Natural Pose needs hips"
    main = dict(zip(rig.bones.tolist(), rig.main.tolist()))
    elbows = [main[b] for b, role in roles.items() if role.name in ("forearm", "shin") and b in main]
    return Figure(rig, elbows) if elbows else "Natural Pose needs a whole arm or leg"
