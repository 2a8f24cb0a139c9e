# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds on every rig, tried on random ones: trees of any bones, modes, limits, keys, constraints and goals."""

import random
from math import degrees, pi

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion, Vector

SEEDS = range(16)
FRAMES = range(1, 7)
SAME = 5e-5  # measured offsets of moved and scaled bones are single precision, and goals that conflict multiply that
CLOSE = 5e-3  # a solve ends when a step is shorter than 1e-3 rad, and solves of many frames at once round differently


class AnyRig:
    """A random armature with random goals on moving targets, all of it from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ob = rigs.made_active(rigs.armature(self.bones()))
        self.ob.location, self.ob.rotation_euler = self.vector(), self.vector()
        self.ob.scale = (self.random.choice((1.0, 0.1, 7.0)),) * 3
        self.limited: set[str] = set()
        for bone in self.ob.pose.bones:
            self.furnish(bone)
        rigs.at_frame(FRAMES[0])
        tips = [bone for bone in self.ob.pose.bones if not bone.children]
        for bone in self.random.sample(tips, min(self.random.randint(1, 4), len(tips))):
            self.goal(bone)
        self.ob.dqik.start_from = self.random.choice(("POSE", "POSE", "REST"))
        self.ob.dqik.solver = self.random.choice(("PGS", "PGS", "DLS"))
        rigs.at_frame(FRAMES[0])

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def vector(self, size: float = 1.0) -> Vector:
        return Vector([self.random.uniform(-size, size) for _ in range(3)])

    def turn(self, size: float) -> Quaternion:
        return Quaternion(self.vector().normalized(), self.random.uniform(-size, size))

    def bones(self) -> list[rigs.Bone]:
        made: list[rigs.Bone] = []
        for number in range(self.random.randint(3, 11)):
            parent = None if not made or self.maybe(0.05) else made[-1] if self.maybe(0.7) else self.random.choice(made)
            connected = parent is not None and self.maybe(0.7)
            head = Vector(parent.tail) if parent else self.vector(0.3)
            head = head if connected else head + self.vector(0.2)
            way = self.vector().normalized() if self.maybe(0.7) else Vector((0, 0, 1))
            tail = head + way * self.random.uniform(0.2, 0.7)
            above, roll = parent.name if parent else "", self.random.uniform(-3, 3)
            made.append(rigs.Bone(f"b{number}", head, tail, above, connected, roll))
        return made

    def furnish(self, bone: bpy.types.PoseBone) -> None:
        """Rotation mode, pose, keys, limits, lock, constraint and so on of a bone, most of them now and then."""
        bone.rotation_mode = self.random.choice(rigs.ROTATION_MODES) if self.maybe(0.5) else "QUATERNION"
        if self.maybe(0.4):
            rigs.posed(bone, self.turn(0.7))
        if self.maybe(0.15):
            bone.location = self.vector(0.1)
        if self.maybe(0.1):
            bone.scale = (self.random.uniform(0.6, 1.5),) * 3
        bone.bone.use_inherit_rotation = not self.maybe(0.1)
        bone.bone.use_local_location = not self.maybe(0.1)
        bone.dqik_translate = not bone.bone.use_connect and self.maybe(0.15)
        bone.dqik_lock = self.maybe(0.1)
        bone.dqik_stiffness = self.random.uniform(0.0, 0.9) if self.maybe(0.2) else 0.0
        if self.maybe(0.3):
            middle = self.random.uniform(-40, 40) if self.maybe(0.3) else 0.0
            spans = [sorted(self.random.uniform(-70, 70) for _ in range(2)) for _ in range(3)]
            spans[1] = [middle + span for span in spans[1]]
            if self.maybe(0.4):
                spans[0] = spans[2] = (0.0, 0.0)
            rigs.limit(bone, *spans)
            self.limited.add(bone.name)
        if self.maybe(0.1):
            source = rigs.empty(self.vector(), f"Source {bone.name}")
            source.rotation_quaternion = self.turn(1.0)
            rigs.constrain(bone, "COPY_ROTATION", source)
        if self.maybe(0.25):
            path = rigs.ROTATION_PATHS[bone.rotation_mode]
            for frame in (FRAMES[0], FRAMES[-1]):
                rigs.posed(bone, self.turn(0.6))
                bone.keyframe_insert(path, index=-1 if self.maybe(0.7) else 0, frame=frame)

    def goal(self, bone: bpy.types.PoseBone) -> None:
        """A goal for a tip, with a target that moves; where there are several, they are not for the same bone."""
        target = rigs.empty((0, 0, 0), f"Target {bone.name}")
        start, size = rigs.tail(self.ob, bone.name), self.ob.scale.x
        ends = [start + size * self.vector(0.4) for _ in range(2)]
        rigs.key_path(target, (FRAMES[0], FRAMES[-1]), ends)
        target.rotation_quaternion = self.turn(pi)
        made = rigs.goal(
            self.ob, bone.name, target, use_rotation=self.maybe(0.3), use_tail=self.maybe(0.8),
            chain_length=self.random.choice((0, 0, 1, 2, 3)), priority=self.random.choice((0, 0, 1)),
        )  # fmt: skip
        if self.maybe(0.2):
            made.influence = self.random.uniform(0.1, 1.0)
        if self.maybe(0.3):
            made.pole_target = rigs.empty(start + size * self.vector(3.0), f"Pole {bone.name}")
            made.pole_angle = self.random.uniform(-pi, pi)
        if self.maybe(0.1):
            for frame in (FRAMES[0], FRAMES[-1]):
                rigs.keyed(made, frame, position_weight=self.random.uniform(0.2, 2.0))

    def play(self, frames) -> dict[int, np.ndarray]:
        return {frame: rigs.matrices(self.ob) for frame in rigs.visited(frames)}


def apart(before: np.ndarray, after: np.ndarray) -> float:
    """The largest turn [rad], or way [armature units] where that is larger, of a bone."""
    return max(rigs.turn(before, after), float(np.abs(before - after)[:, :3, 3].max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_on_any_rig(seed: int) -> None:
    """Nothing is raised, frames are the same in any order, bones stay inside their limits, a bake shows the same, and
    live off gives back every channel."""
    rig = AnyRig(seed)
    ob = rig.ob
    before = rigs.channels(ob)
    rigs.live(ob, at=FRAMES[-1])
    solved = rig.play(FRAMES)
    assert ob.dqik.live, rigs.message(ob)
    order = list(FRAMES)
    rig.random.shuffle(order)
    for frame, pose in rig.play(order).items():
        assert apart(solved[frame], pose) < SAME, f"frame {frame}"
    assert np.isfinite(rigs.channels(ob)).all()
    if ob.dqik.status.iterations:
        keep_limits(rig)
    rigs.live(ob, False, at=FRAMES[0])
    np.testing.assert_allclose(rigs.channels(ob), before, atol=1e-6)
    if not ob.dqik.status.iterations:
        return
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
    for frame, pose in rig.play(FRAMES).items():
        assert apart(solved[frame], pose) < CLOSE, f"baked frame {frame}"


def keep_limits(rig: AnyRig) -> None:
    """Every solved bone with limits is inside them, by twist and swing worked out here."""
    moved = {bone.name for bone in rig.ob.pose.bones if not bone.dqik_lock and not bone.constraints}
    for name in rig.limited & moved & in_chains(rig.ob):
        bone = rig.ob.pose.bones[name]
        for path, value in zip(
            ("twist", "swing_x", "swing_z"), rigs.twist_and_swing(rigs.channel_rotation(bone)), strict=True
        ):
            lo, hi = (degrees(getattr(bone, f"dqik_{path}_{end}")) for end in ("min", "max"))
            assert lo - 0.01 <= value <= hi + 0.01, f"{name} {path}"


def in_chains(ob: bpy.types.Object) -> set[str]:
    """Names of the bones that some goal may move."""
    found = set()
    for goal in ob.dqik.goals:
        chain = [ob.pose.bones[goal.bone]]
        chain += chain[0].parent_recursive
        if not goal.use_tail and not goal.use_rotation:
            chain = chain[1:]
        found |= {bone.name for bone in chain[: goal.chain_length or None]}
    return found


@pytest.mark.parametrize("place", [(1.2, 0.9, 1.4), (0.9, 1.2, 0.6)])
@pytest.mark.parametrize("link", [1e-4, 1e-3])
def test_a_tiny_bone_before_a_long_one_leaves_the_pose_steady(link: float, place: tuple[float, float, float]) -> None:
    """A target out of reach that moves by a millionth of the long bone turns neither of the two."""
    ob, target = rigs.chain([(0, 0.1, 1), (0, 0.1 + link, 1), (0.4, 0.3, 1.6)]), rigs.empty(place)
    rigs.reach(ob, "b", target)
    before = rigs.matrices(ob)
    for axis in range(3):
        target.location[axis] += 1e-6
        assert rigs.turn(before, rigs.matrices(ob)) < np.radians(0.02)


@pytest.mark.parametrize("seed", range(12))
def test_joints_in_one_place_are_read_and_solved(seed: int) -> None:
    """Bones that begin where the one above begins, as a thigh in its pelvis: roles, Set Up, Live and *Solve* work."""
    draw = random.Random(seed)
    names = ["thigh", "shin", "b", "c", "d"] if draw.random() < 0.7 else ["spine", "thigh.L", "thigh.R", "shin.L", "b"]
    made = [rigs.Bone(("pelvis", "hips")[seed % 2], (0, 0, 1), (0, 0, 1.2))]
    for number, name in enumerate(draw.sample(names, draw.randint(2, 5))):
        above = made[-1] if draw.random() < 0.8 else draw.choice(made)
        head = Vector(above.head if not number or draw.random() < 0.3 else above.tail)
        way = Vector([draw.uniform(-1, 1) for _ in range(3)]) if number % 2 else Vector((0, -0.05, -1))
        made.append(rigs.Bone(name, head, head + 0.5 * way.normalized(), above.name))
    ob = rigs.made_active(rigs.armature(made))
    target = rigs.empty(rigs.tail(ob, made[-1].name))
    rigs.reach(ob, made[-1].name, target, chain_length=2)
    target.location += Vector((0.1, -0.1, 0.05))
    rigs.update()
    assert ob.dqik.live and ob.dqik.status.message == ""
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    rigs.made_active(rigs.armature(made, "Other"))
    try:
        bpy.ops.dqik.setup_full_body()
    except RuntimeError as refusal:
        assert "Traceback" not in str(refusal)
