# SPDX-License-Identifier: GPL-3.0-or-later
"""The metarigs that Rigify ships with Blender, with the roles of their bones written by hand."""

from dataclasses import dataclass

import addon_utils
import bpy


@dataclass(frozen=True)
class Metarig:
    """A metarig of Rigify, with what `conventions.Character` says about characters.

    operator : of `bpy.ops.object` that adds it. roles : its bones by role, `{}` for a side.
    """

    name: str
    operator: str
    roles: dict[str, str]
    human: bool = False
    feet: float = 0.0

    def truth(self) -> dict[str, tuple[str, str] | None]:
        """The true role of each bone that has one, by name."""
        found: dict[str, tuple[str, str] | None] = {}
        for role, names in self.roles.items():
            for name in names.split():
                for side in "LR" if "{}" in name else ("",):
                    found[name.format(side)] = None if role == "-" else (role, side)
        return found

    def add(self) -> bpy.types.Object:
        """The metarig as Rigify adds it."""
        addon_utils.enable("rigify", default_set=True)
        getattr(bpy.ops.object, f"armature_{self.operator}_metarig_add")()
        return bpy.context.object


_HUMAN = {
    "hips": "spine", "spine": "spine.001 spine.002 spine.003", "neck": "spine.004 spine.005", "head": "spine.006",
    "collar": "shoulder.{}", "arm": "upper_arm.{}", "forearm": "forearm.{}", "hand": "hand.{}", "thigh": "thigh.{}",
    "shin": "shin.{}", "foot": "foot.{}", "toes": "toe.{}", "-": "breast.{} pelvis.{} heel.02.{}",
}  # fmt: skip
_HIND = {"thigh": "thigh.{}", "shin": "shin.{}", "foot": "foot.{}", "toes": "toe.{}"}
_WOLF = {
    **_HIND, "collar": "shoulder.{}", "arm": "front_thigh.{}", "forearm": "front_shin.{}", "hand": "front_foot.{}",
    "-": "breast.{}",
}  # fmt: skip
_FACE = " face jaw tongue teeth.T teeth.B nose"
_CAT = {
    "head": "spine.006", "collar": "shoulder.{}", "arm": "upper_arm.{}", "forearm": "forearm.{}", "hand": "hand.{}",
    "thigh": "thigh.{}", "shin": "shin.{}", "foot": "foot.{}", "toes": "r_toe.{}",
    "-": "tail.001 tail.002 tail.003 tail.004 Breast.C belly.C" + _FACE,
}  # fmt: skip
_HORSE = {
    "collar": "shoulder.{}", "arm": "upper_arm.{}", "forearm": "forearm.{}", "hand": "forefoot.{}",
    "thigh": "thigh.{}", "shin": "lower_leg.{}", "foot": "hind_foot.{}", "toes": "r_toe.{}",
    "-": "tail.001 tail.002 tail.003 tail.004 tail.005 breast.{} mane_top.03 mane_top.04 mane_top.05",
}  # fmt: skip
_BIRD = {
    "head": "head", "collar": "shoulder.{}", "arm": "Wing.{}", "forearm": "Wing.001.{}", "hand": "Wing.002.{}", **_HIND,
    "-": "t_feather.{} beak.001.T eye.{}",
}  # fmt: skip

METARIGS = (
    Metarig("rigify human", "human", {**_HUMAN, "-": _HUMAN["-"] + _FACE, "finger": "palm.01.{} thumb.01.{}"}, True),
    Metarig("rigify basic human", "basic_human", _HUMAN, True),
    Metarig("rigify basic quadruped", "basic_quadruped", _WOLF),
    Metarig("rigify wolf", "wolf", {**_WOLF, "-": "breast.{}" + _FACE}),
    Metarig("rigify cat", "cat", _CAT),
    Metarig("rigify horse", "horse", _HORSE),
    Metarig("rigify bird", "bird", _BIRD),
    Metarig("rigify shark", "shark", {"-": "back_fin.T.Bk top_fin jaw"}),
)
