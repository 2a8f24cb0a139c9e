# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that other tools generate: a body under controls of several sorts, of which goals move those of FK.

A new kind of rig is one entry of `KINDS`.
"""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of generated rigs, by the names of its bones.

    words : its name. signs : bones that such a rig has, by patterns that names match from their start.
    others : bones that are no FK controls, by a pattern that is found in their names. noise : what does not tell the
    part of a control in its name. named : what controls are, by name, where their names say something else.
    switches : custom properties of bones, and their values with which the body follows the FK controls alone.
    """

    words: str
    signs: tuple[str, ...]
    others: str
    noise: str
    named: Mapping[str, str]
    switches: Mapping[str, float]

    def name(self, bone: str) -> str | None:
        """What the name of an FK control says about its part; None for other bones."""
        if re.search(self.others, bone):
            return None
        return self.named.get(bone) or re.sub(self.noise, "", bone)


KINDS = (
    Kind(
        "Rigify",
        signs=("ORG-", "MCH-", "DEF-", r".*_fk\b"),
        others=r"^(ORG|MCH|DEF|VIS|WGT)[-_]|_ik\b|_ik_|tweak|_parent\b|_master\b|^(root|hips|chest)$",
        noise=r"_fk\b",
        named={"torso": "hips"},
        switches={"IK_FK": 1.0, "neck_follow": 1.0, "head_follow": 1.0},
    ),
    Kind(
        "Auto-Rig Pro",
        signs=("c_traj", r"c_root_master\.", r"c_(arm|thigh)_fk\."),
        others=r"^(?!c_)|_ik\b|_ik_|_bend|_pole|_scale_fix|_offset|_free|^c_thigh_b\b|^c_(pos|traj|root|root_bend)\b(?!_)",
        noise=r"^c_|_fk\b",
        named={"c_root_master.x": "hips"},
        switches={"ik_fk_switch": 1.0},
    ),
)  # fmt: skip


def kind_of(names: Collection[str]) -> Kind | None:
    """The kind of a rig with bones of some names; None if no known tool has generated it."""
    return next((kind for kind in KINDS if all(any(map(re.compile(sign).match, names)) for sign in kind.signs)), None)
