# SPDX-License-Identifier: GPL-3.0-or-later
"""A person with the names, controls and switches of Auto-Rig Pro, and as little else as they need.

The body, without a prefix, copies bones that go along with the FK controls or those of IK, as switches say. Arms and
head do not turn with what they hang on: constraints put them there.
"""

from itertools import pairwise

import bpy
import rigs

_TRUNK = """
c_traj : 0 0 0, 0 0.2 0
c_root_master.x < c_traj : 0 0 1, 0 0 1.1
c_root.x < c_root_master.x : 0 0 1, 0 0 0.9
root.x < c_root.x : 0 0 1, 0 0 1.1
c_spine_01.x < c_root_master.x : 0 0 1.1, 0 0 1.25
c_spine_02.x < c_spine_01.x : 0 0 1.25, 0 0 1.45
c_neck.x < c_spine_02.x : 0 0 1.45, 0 0 1.55
c_head_scale_fix.x < c_traj : 0 0 1.55, 0 0 1.6
c_head.x < c_head_scale_fix.x : 0 0 1.55, 0 0 1.75
c_shoulder.{side} < c_spine_02.x : 0.03 0 1.4, 0.2 0 1.42
c_thigh_b.{side} < root.x : 0.1 0 1, 0.1 0 0.95
"""
_LIMBS = {  # the bones that FK controls and bodies hang on, and the joints from there
    "hand": ("c_spine_02.x", "c_shoulder.{}",
             "arm 0.2 0 1.42 forearm 0.45 0.02 1.4 hand 0.7 0 1.38 end 0.8 0 1.38"),
    "foot": ("c_thigh_b.{}", "c_thigh_b.{}",
             "thigh 0.1 0 0.95 leg 0.1 -0.02 0.5 foot 0.1 0.02 0.08 toes 0.1 -0.1 0.02 end 0.1 -0.16 0.02"),
}  # fmt: skip
_PLACED = {"c_head_scale_fix.x": "c_neck.x", "c_arm_fk.l": "c_shoulder.l", "c_arm_fk.r": "c_shoulder.r"}


def made() -> bpy.types.Object:
    """The rig, with its switches at IK."""
    bones, copies = dict[str, rigs.Bone](), list[tuple[str, str, str]]()
    for side, sign in (("l", 1.0), ("r", -1.0)):
        for line in _TRUNK.format(side=side).strip().splitlines():
            names, _, places = line.partition(" : ")
            name, _, parent = names.partition(" < ")
            head, tail = (_place(place.split(), sign) for place in places.split(", "))
            bones[name] = rigs.Bone(name, head, tail, parent)
        for end, (above, over, words) in _LIMBS.items():
            words = words.split()
            joints = [(words[k], _place(words[k + 1 : k + 4], sign)) for k in range(0, len(words), 4)]
            fk, body = above.format(side), over.format(side)
            ik = body
            for (part, head), (_, tail) in pairwise(joints):
                parents = {f"c_{part}_fk": fk, f"{part}_fk": f"c_{part}_fk.{side}", f"{part}_ik": ik, part: body}
                fk, ik, body = f"c_{part}_fk.{side}", f"{part}_ik.{side}", f"{part}.{side}"
                for name, parent in parents.items():
                    bones[f"{name}.{side}"] = rigs.Bone(f"{name}.{side}", head, tail, parent)
                copies.append((part, end, side))
            bones[f"c_{end}_ik.{side}"] = rigs.Bone(f"c_{end}_ik.{side}", joints[2][1], joints[3][1], "c_traj")
    ob = rigs.armature(bones.values())
    for bone in ob.data.bones:
        bone.use_deform = not bone.name.startswith("c_") and "k." not in bone.name
    for owner, led in _PLACED.items():
        _constrain(ob, owner, "COPY_LOCATION", led).head_tail = 1.0
    for part, end, side in copies:
        switch = f"c_{end}_ik.{side}"
        ob.pose.bones[switch]["ik_fk_switch"] = 0.0
        for source, expression in (("fk", "x"), ("ik", "1 - x")):
            constraint = _constrain(ob, f"{part}.{side}", "COPY_TRANSFORMS", f"{part}_{source}.{side}")
            driver = constraint.driver_add("influence").driver
            driver.expression, variable = expression, driver.variables.new()
            variable.name = "x"
            variable.targets[0].id, variable.targets[0].data_path = ob, f'pose.bones["{switch}"]["ik_fk_switch"]'
        if part in ("forearm", "leg"):
            _constrain(ob, f"{part}_ik.{side}", "IK", switch).chain_count = 2
        elif part in ("hand", "foot"):
            _constrain(ob, f"{part}_ik.{side}", "COPY_ROTATION", switch)
    rigs.update()
    return ob


def _place(words: list[str], sign: float) -> tuple[float, float, float]:
    x, y, z = map(float, words)
    return sign * x, y, z


def _constrain(ob: bpy.types.Object, owner: str, kind: str, led: str) -> bpy.types.Constraint:
    return rigs.constrain(ob.pose.bones[owner], kind, ob, subtarget=led)
