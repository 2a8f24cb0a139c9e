# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys on bones and controls in place of a key on each frame."""

from collections.abc import Generator

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ...rig.blender import scene_state
from ...rig.clip import clip, lineage
from ...rig.figure import character
from ...rig.keys import keyable
from ...rig.motion import key_stretches, reduce_keys
from ...rig.notes import Code, Note, Refused
from ...rig.shot import attachable
from ..common import Steps, refuse
from ..frames import FramesTool, shares


class DQIK_OT_unbake(FramesTool, bpy.types.Operator):
    """Replace dense keys of bones and controls by few ones that can be edited. The old action stays in the file"""

    bl_label = "Fewer Keys"

    angle: FloatProperty(name="Angle", description="The most that a joint may turn away from the motion as it was",
                         subtype="ANGLE", default=np.radians(0.5), min=np.radians(0.001), max=np.radians(90.0),
                         soft_max=np.radians(5.0))  # fmt: skip
    distance: FloatProperty(
        name="Distance", description="The most that hands, feet and other ends may leave their ways, as a share of the "
        "figure's size: 0.002 is some 3 mm on a grown-up", default=0.002, min=1e-6, max=1.0, soft_max=0.02, precision=4,
    )  # fmt: skip
    only_selected: BoolProperty(name="Only Selected Bones", description="Leave the keys of other bones as they are")
    whole: BoolProperty(
        name="Whole Limbs", description="Key all channels of a limb on the same frames, so that an edit of one key "
        "stays between its neighbours. Without it each channel has as few keys as it needs", default=True,
    )  # fmt: skip

    doing = Note("Replacing keys")
    whole_motion = True
    in_dialog = ("angle", "distance", "only_selected", "whole")
    has_step = False

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        """Read the motion, replace its keys, look at what Blender shows, and again with less where it is off."""
        scene = context.scene
        halves = sorted([*frames, *(frame + 0.5 for frame in frames[:-1])])
        times = np.array(scene_state.times(scene, halves))
        every = yield from shares(self._dense(context, ob, times), 0.0, 0.05)
        size = character.scaled_size(ob)
        if not size:
            raise Refused(Note(Code.HAS_NO_SIZE, repr(ob.name)))
        bounds = reduce_keys.Bounds(self.angle, self.distance * size)
        reduce_keys.find_moving(every, bounds)
        own = {one.bone for one in every if one.ob == ob}
        ends = reduce_keys.effectors(ob, [bone.name for bone in ob.pose.bones if bone.name in own])
        objects = list(dict.fromkeys(one.ob for one in every))
        with scene_state.restored(scene, context.view_layer, ob) as visits, lineage.new_actions(objects) as copies:
            reduce_keys.untwist(every, times)
            first = _read(scene, ob, every, ends, halves, visits)
            before, is_plain = yield from shares(first, 0.05, 0.3)
            figure = key_stretches.DenseFigure(ob, every, ends, times, before, size, bounds, is_plain)
            stretches = key_stretches.split(figure)
            for number, one in enumerate(stretches):
                fitting = shares(one.fit(), number / len(stretches), (number + 1) / len(stretches))
                yield from shares(fitting, 0.3, 0.5)
            kept = reduce_keys.write(every, key_stretches.joined(stretches), times, copies)
            start = 0.5
            while left := [one for one in stretches if len(one.unseen)]:
                length = 0.6 * (1.0 - start) / len(left)
                for one in left:
                    reading = clip.read([ob], [halves[row] for row in one.rows()], visits)
                    read = yield from shares(reading, start, start + 0.5 * length)
                    one.see(reduce_keys.motion(ob, ends, {ob.name: read[0]}))
                    yield from shares(one.improve(), start + 0.5 * length, start + length)
                    start += length
                if any(len(one.unseen) for one in left):
                    kept = reduce_keys.write(every, key_stretches.joined(stretches), times, copies)
            count = sum(one.keys for one in every)
            if kept >= count:
                raise Refused(Note(Code.NOTHING_TO_UNBAKE, repr(ob.name)))
            for one in every:
                visits.leave(one.ob, one.bone or None)
            for name in attachable.solved_bones(ob) if ob.dqik.live else ():
                visits.leave(ob, name)  # they follow what has changed
        scene_state.look_again(scene)
        angle, distance = np.max([one.worst() for one in stretches], axis=0).tolist()
        within = angle <= bounds.angle and distance <= bounds.distance
        self.conclude(ob, within, Note("{} keys in place of {}; differences up to {} degrees and {} % of the size",
                                       kept, count, f"{np.degrees(angle):.2g}", f"{100.0 * distance / size:.2g}"))

    def _dense(
        self, context: bpy.types.Context, ob: bpy.types.Object, times: np.ndarray
    ) -> Generator[float, None, list[reduce_keys.Dense]]:  # fmt: skip
        """The object, its bones and the targets of its goals that have keys in the range."""
        refuse(keyable.of_object(ob))
        every, owners = list[reduce_keys.Dense](), self.owners(context, ob)
        for number, (one, names) in enumerate(owners.items()):
            found = reduce_keys.dense(one, names, times)
            every += yield from shares(found, number / len(owners), (number + 1) / len(owners))
        if self.whole:
            reduce_keys.number_limbs(ob, every)
        if not every:
            raise Refused(Note(Code.NOTHING_TO_UNBAKE, repr(ob.name)))
        reduce_keys.check(every)
        return every


def _read(
    scene: bpy.types.Scene, ob: bpy.types.Object, every: list[reduce_keys.Dense], ends: list[str],
    halves: list[float], visits: scene_state.Visits,
) -> Generator[float, None, tuple[reduce_keys.DenseMotion, bool]]:  # fmt: skip
    """The motion at all times, and whether the figure is plain; finds the frames on which feet need keys."""
    shown = list(dict.fromkeys([ob, *(one.ob for one in every)]))
    is_plain = all(reduce_keys.is_plain(one) for one in shown)
    step = 1 if is_plain else 2
    read = yield from clip.read(shown, halves[:: 3 - step], visits)
    reduce_keys.key_stances(ob, every, read[0], step, scene_state.rate(scene))
    motion = reduce_keys.motion(ob, ends, {one.name: one for one in read}, every)
    return motion.doubled() if is_plain else motion, is_plain
