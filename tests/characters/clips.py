# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured clips as characters: a BVH file with the skeleton of the Carnegie Mellon motion capture database."""

from dataclasses import dataclass
from pathlib import Path

import addon_utils
import bpy
from metarigs import Metarig

_ROLES = {
    "hips": "Hips", "spine": "LowerBack Spine Spine1", "neck": "Neck Neck1", "head": "Head", "collar": "{}Shoulder",
    "arm": "{}Arm", "forearm": "{}ForeArm", "hand": "{}Hand", "thigh": "{}UpLeg", "shin": "{}Leg", "foot": "{}Foot",
    "toes": "{}ToeBase",
}  # fmt: skip


@dataclass(frozen=True)
class Clip(Metarig):
    """A figure with its captured motion. `operator` is the path of its file."""

    def truth(self) -> dict[str, tuple[str, str] | None]:
        """The true role of each bone that has one, by name."""
        sides = {"L": "Left", "R": "Right"}
        return {
            name.format(sides.get(side)): (role, side)
            for role, names in self.roles.items() for name in names.split()
            for side in (sides if "{}" in name else [""])
        }  # fmt: skip

    def add(self) -> bpy.types.Object:
        """The figure, and its action."""
        addon_utils.enable("io_anim_bvh", default_set=True)
        bpy.ops.import_anim.bvh(filepath=self.operator, rotate_mode="QUATERNION", update_scene_duration=True)
        return bpy.context.object


def clip(path: str) -> Clip:
    """The clip of a file."""
    return Clip(Path(path).stem, str(Path(path).resolve()), _ROLES, human=True)
