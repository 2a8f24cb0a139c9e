# SPDX-License-Identifier: GPL-3.0-or-later
"""Shakes taken out of a captured motion."""

from collections.abc import Generator
from contextlib import ExitStack

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ...rig.blender import originals, scene_state
from ...rig.clip import clip, lineage, standing
from ...rig.figure import character
from ...rig.motion import mend_motion, shakes
from ...rig.notes import Code, Note, Refused, counted
from ..common import Steps, armature
from ..frames import FramesTool, shares


class DQIK_OT_remove_shakes(FramesTool, bpy.types.Operator):
    """Take shakes and single frames that jump out of a captured motion. Accents and the old action stay"""

    bl_label = "Remove Shakes"

    amount: FloatProperty(name="Amount", description="How much counts as shaking: 1 is as much as the motion shakes "
                          "where it is quietest. More also calms fast parts", default=1.0, min=0.0, max=10.0,
                          soft_max=3.0)  # fmt: skip
    plant: BoolProperty(name="Plant Feet and Hands", description="Feet that stand and hands that hold on do not slide "
                        "afterwards, as after Mend Motion", default=True)  # fmt: skip
    only_selected: BoolProperty(name="Only Selected Bones", description="Leave the keys of other bones as they are")
    original: BoolProperty(name="From the Original", description="Where shakes were removed before, start from the "
                           "motion before that. What was edited since then is in the old action only",
                           default=True, options={"SKIP_SAVE"})  # fmt: skip

    doing = Note("Removing shakes")
    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_range()
        ob = armature(context)
        self.layout.prop(self, "amount")
        self.draw_only_selected(context)
        if not self.only_selected:
            self.layout.prop(self, "plant")
        if ob is not None and originals.of(ob, originals.SHAKES) is not None:
            self.layout.prop(self, "original")

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene = context.scene
        owners = self.owners(context, ob)
        sources = {one: originals.of(one, originals.SHAKES) if self.original else None for one in owners}
        with ExitStack() as stack:
            for one, source in sources.items():
                stack.enter_context(lineage.instead(one, source))
            wide, inside = shakes.around(ob, frames, self.rate(scene))
            times, every = scene_state.times(scene, wide), list[shakes.Channel]()
            for one, names in owners.items():
                every += yield from shares(shakes.channels(one, names, times), 0.0, 0.1)
            shakes.check(every, ob.name, frames)
            size = character.scaled_size(ob)
            quiet, report = yield from shares(shakes.quiet(every, self.rate(scene), self.amount, size), 0.1, 0.5)
            stack.enter_context(lineage.new_actions(dict.fromkeys(one.ob for one in every), originals.SHAKES))
            shakes.write(every, quiet, inside, times[inside])
            contacts = 0
            if self.plant and not self.only_selected:
                contacts = yield from shares(self._planted(context, ob, frames), 0.5, 1.0)
            if not (contacts or any(sources.values()) or report.is_seen):
                raise Refused(Note("Nothing was changed: the motion of {} does not shake, or Amount is too low",
                                   repr(ob.name)))
        scene_state.look_again(scene)
        self._report(ob, report, contacts)

    def _planted(
        self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]
    ) -> Generator[float, None, int]:  # fmt: skip
        """Plant feet and hands, as *Mend Motion* does; the number of contacts, 0 on figures that it does not mend."""
        scene, rate = context.scene, self.rate(context.scene)
        try:
            mend_motion.figure(ob)
        except Refused:
            return 0
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            own = mend_motion.figure(ob, standing.armature(ob, frames, visits))
            now = yield from mend_motion.read(ob, own, frames, visits)
            found = mend_motion.contacts(now, rate)
            touching = mend_motion.on_frames(found, rate)
            if not any(one.any() for one in touching):
                return 0
            planted, _ = mend_motion.mended(ob, own, now, found, rate, None)
            clip.write(ob, planted, scene_state.times(scene, frames))
        return sum(limb.contacts for limb in mend_motion.report(own, now, now, touching, rate, None).limbs)

    def _report(self, ob: bpy.types.Object, report: shakes.Report, contacts: int) -> None:
        size = character.scaled_size(ob)
        share = 100.0 * report.way / size if size else 0.0
        notes = [Note("Shakes of up to {} degrees and {} % of the size taken out of {}",
                      f"{np.degrees(report.turn):.1f}", f"{share:.2g}",
                      counted(report.channels, Code.ONE_CHANNEL, Code.CHANNELS))]  # fmt: skip
        notes += [Note("{} had jumped", counted(report.jumped, Code.ONE_FRAME, Code.FRAMES))] if report.jumped else []
        notes += [Note("{} planted", counted(contacts, Code.ONE_CONTACT, Code.CONTACTS))] if contacts else []
        self.conclude(ob, True, *notes)
