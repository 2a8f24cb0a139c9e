# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames between keyed poses."""

from contextlib import ExitStack

import bpy
from bpy.props import BoolProperty

from ...rig.blender import originals, scene_state
from ...rig.clip import clip, lineage
from ...rig.motion import in_betweens
from ...rig.notes import Code, Note, Refused, counted
from ..common import Steps, armature
from ..frames import FramesTool, shares


class DQIK_OT_in_betweens(FramesTool, bpy.types.Operator):
    """Key the frames between keyed poses as people move. The poses stay, and the old action stays in the file"""

    bl_label = "In-Betweens"

    plant: BoolProperty(name="Plant Feet", description="Feet stand where they stand at the keys, and do not slide",
                        default=True)  # fmt: skip
    original: BoolProperty(name="From the Keys", description="Where in-betweens were made before, start from the keyed "
                           "poses again. What was edited since then is in the old action only", default=True,
                           options={"SKIP_SAVE"})  # fmt: skip

    has_step = False
    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        again = ob is not None and originals.of(ob, originals.IN_BETWEENS) is not None
        self.column("frame_start", "frame_end", "plant", *(["original"] if again else []))

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene = context.scene
        with ExitStack() as stack:
            for each in [ob, *in_betweens.figure(ob).objects]:
                source = originals.of(each, originals.IN_BETWEENS) if self.original else None
                stack.enter_context(lineage.instead(each, source))
            own = in_betweens.figure(ob)
            every = list(dict.fromkeys([ob, *own.objects]))
            keyed = [frame for frame in in_betweens.key_frames(ob, own) if frames[0] <= frame <= frames[-1]]
            if len(keyed) < 2 or keyed[-1] - keyed[0] < len(keyed):
                raise Refused(Note("There is no frame between two keyed poses of {} in this range: leave keys on poses "
                                   "that are some frames apart", repr(ob.name)))
            whole = list(range(keyed[0], keyed[-1] + 1))
            with scene_state.restored(scene, context.view_layer, ob) as visits:
                shown = yield from shares(clip.read(every, whole, visits), 0.0, 0.9)
            found = in_betweens.between(ob, own, dict(zip(every, shown, strict=True)), whole, keyed, scene, self.plant)
            stack.enter_context(lineage.new_actions(found.values, originals.IN_BETWEENS))
            for each, values in found.values.items():
                clip.write(each, values, scene_state.times(scene, whole))
        scene_state.look_again(scene)
        notes = [Note("{} between {} keyed poses",
                      counted(len(whole) - len(keyed), Code.ONE_FRAME, Code.FRAMES), len(keyed))]
        notes += [Note("Times a foot was planted: {}", found.stances)] if self.plant else []
        self.conclude(ob, True, *notes)
