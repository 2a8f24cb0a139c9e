# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through of tails, hair, ears and spare limbs over a range of frames."""

from math import pi

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ...rig.blender import scene_state
from ...rig.clip import clip
from ...rig.controls import selection
from ...rig.motion import overlap
from ...rig.notes import Code, Note, counted
from ...solvers.motion import Spring
from ..common import Steps
from ..frames import FramesTool, shares


class DQIK_OT_overlap(FramesTool, bpy.types.Operator):
    """Let the selected bones lag behind the motion of what they hang on, swing over and come to rest. It is keyed"""

    bl_label = "Overlap"

    frequency: FloatProperty(name="Swings a Second", description="How often they would swing in a second if nothing "
                             "braked them. A high number follows closely, a low one lags more",
                             default=1.5, min=0.1, soft_max=8.0, max=100.0)  # fmt: skip
    damping: FloatProperty(name="Damping", description="How soon the swinging ends: with 1, bones do not swing over",
                           default=0.5, min=0.02, max=2.0, soft_max=1.0)  # fmt: skip
    drag: FloatProperty(name="Drag", description="How much of the damping is the air's: bones also trail behind a "
                        "steady motion", default=0.25, min=0.0, max=1.0)  # fmt: skip
    gravity: FloatProperty(name="Gravity", description="How far bones hang down instead of keeping their pose: 1 for "
                           "a rope, 0.8 for hair, 0 for ears that stand up", default=0.8, min=0.0, max=1.0)  # fmt: skip
    wind: FloatVectorProperty(name="Wind", description="Where the wind blows. With a length of 1 it holds what hangs "
                              "at 45 degrees", soft_min=-2.0, soft_max=2.0, subtype="XYZ")  # fmt: skip
    bound: FloatProperty(name="Most Turn", description="No bone turns further than this away from the motion that it "
                         "had", default=pi / 3.0, min=0.0, max=pi, subtype="ANGLE")  # fmt: skip
    keep_out: BoolProperty(name="Keep Out of the Body", description="The bones slide along limbs, trunk and head "
                           "instead of going through them", default=True)  # fmt: skip
    amount: FloatProperty(name="Amount", description="How much of the overlap the bones get: 0 leaves the motion as "
                          "it was", default=1.0, min=0.0, max=1.0)  # fmt: skip
    loop: EnumProperty(
        name="Loop", description="Whether the swinging at the end goes over into the beginning",
        items=[("AUTO", "Automatic", "If the bones end as they begin"), ("ON", "On", "The motion is a loop"),
               ("OFF", "Off", "At the first frame the bones move as they do without overlap")],
    )  # fmt: skip

    in_dialog = ("frequency", "damping", "drag", "gravity", "wind", "bound", "keep_out", "amount", "loop")
    has_step = False
    whole_motion = True

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        return super().unavailable(context, ob) or (
            None if selection.selected(context, ob) else
            Note("In Pose Mode, select the bones of a tail, of hair or ears"))

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene = context.scene
        names = overlap.in_order(ob, selection.selected(context, ob))
        overlap.check(ob, names)
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            own = yield from shares(overlap.read(ob, names, frames, visits), 0.0, 0.5)
        loop = self.loop == "ON" or (self.loop == "AUTO" and overlap.closes(own.chain))
        turned = yield from shares(overlap.follow(ob, names, own, self._spring(scene), self.rate(scene), loop,
                                                  self.amount, self.keep_out), 0.5, 1.0)  # fmt: skip
        count = clip.write(ob, turned, scene_state.times(scene, frames), still=True)
        scene_state.look_again(scene)
        self.conclude(ob, True, Note("Overlap on {}, {}", counted(len(names), Code.ONE_BONE, Code.BONES),
                                     counted(count, Code.ONE_KEY, Code.KEYS)))

    def _spring(self, scene: bpy.types.Scene) -> Spring:
        """The spring of these options; the scene says where down is."""
        down = scene.gravity.normalized()
        gravity = self.gravity if scene.use_gravity and down.length > 0.0 else 0.0
        return Spring(self.frequency, self.damping, self.drag, gravity, tuple(down), tuple(self.wind), self.bound)
