# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that slide in a captured motion are planted."""

from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ..rig.bake import keys
from ..rig.blender import scene_state
from ..rig.clip import mend_motion
from ..rig.clip.copied_actions import copied_actions
from ..rig.clip.ground import Ground
from ..rig.notes import Code, Note, Refused
from .common import armature
from .frames import FramesOperator, Steps, shares
from .ground import GroundOptions

_LEFT = 0.1  # of the slide: where more is left, limits or lengths of legs keep feet from their places


class DQIK_OT_mend_motion(GroundOptions, FramesOperator, bpy.types.Operator):
    """Plant feet that slide in a captured motion. The old action stays in the file"""

    bl_idname = "dqik.mend_motion"
    bl_label = "Mend Motion"
    bl_options = {"REGISTER", "UNDO"}

    doing = Note(Code.MENDING)

    def draw(self, context: bpy.types.Context) -> None:
        """The range, in the dialog and in the panel that adjusts the last operation."""
        self.draw_range()
        self.draw_ground(context)

    def _run(self, context: bpy.types.Context) -> Steps:
        """Mend the motion, and report what has changed."""
        frames = self._frames(context.scene)
        if not frames:
            return {"CANCELLED"}
        try:
            done = yield from steps(context, armature(context), frames, self.step, self.chosen_ground(context))
        except Refused as refused:
            self.tell({"ERROR"}, refused.note)
            return {"CANCELLED"}
        planted = done.after <= _LEFT * done.before
        self.tell({"INFO"} if planted else {"WARNING"}, Note(
            Code.MENDED, done.contacts, f"{100.0 * done.before:.2g}", f"{100.0 * done.after:.2g}",
            f"{np.degrees(done.knees):.2g}"))  # fmt: skip
        return {"FINISHED"}


def steps(
    context: bpy.types.Context, ob: bpy.types.Object, frames: Sequence[int], step: int = 1, ground: Ground | None = None
) -> Generator[float, None, mend_motion.Report]:  # fmt: skip
    """Read the motion, find contacts, key what plants the feet, and look at what Blender shows.

    Yields the progress from 0 to 1; nothing has changed until it ends. step : frames from one to the next. ground :
    by default the lowest places. Raises `Refused`, and `scene_state.Disturbed`.
    """
    scene = context.scene
    rate = scene.render.fps / scene.render.fps_base / step
    keys.check(ob, "NEW")
    own = mend_motion.figure(ob)
    with scene_state.restored(scene, context.view_layer, ob) as visits:
        before = yield from shares(mend_motion.read(context, ob, own, frames, visits), 0.0, 0.5)
        heights = mend_motion.ground_heights(context, before, ground or Ground())
        on_ground = mend_motion.contacts(before, rate, heights)
        if not on_ground.any():
            raise Refused(Note(Code.NO_CONTACTS, repr(ob.name)))
        new = mend_motion.mended(ob, own, before, on_ground, rate, heights, mend_motion.holds(before, rate))
        with copied_actions([ob]):
            mend_motion.key(ob, own, scene_state.times(scene, frames), new)
            after = yield from shares(mend_motion.read(context, ob, own, frames, visits), 0.5, 1.0)
    scene_state.visit(scene, scene.frame_current + scene.frame_subframe)
    return mend_motion.report(own, before, after, on_ground, rate)


CLASSES = (DQIK_OT_mend_motion,)
