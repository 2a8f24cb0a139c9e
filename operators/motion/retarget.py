# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of another figure for the active one."""

import bpy
import numpy as np
from bpy.props import StringProperty

from ...rig.blender import originals, scene_state
from ...rig.clip import person_frames, standing
from ...rig.controls import switches
from ...rig.figure.character import Character
from ...rig.keys import keyable
from ...rig.motion import retarget
from ...rig.notes import Code, Note, Refused, listed
from ..common import Steps, armature, refuse
from ..frames import FramesTool, shares

_READ, _SOLVED = 0.4, 0.95  # of the progress, once motions are read, and once the new one is found


class DQIK_OT_retarget(FramesTool, bpy.types.Operator):
    """Give this figure the motion of another one, whatever their sizes and rest poses. It is a new action"""

    bl_label = "Retarget"

    source: StringProperty(name="Source", description="The armature whose motion this one gets",
                           options={"SKIP_SAVE"})  # fmt: skip

    doing = Note("Carrying the motion over")
    has_step = False
    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        self.column().prop_search(self, "source", context.view_layer, "objects", icon="ARMATURE_DATA")
        self.draw_range()

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: propose another selected armature, or the only other one."""
        if not self.is_set("source"):
            others = [ob for ob in context.view_layer.objects if ob.type == "ARMATURE" and ob != armature(context)]
            chosen = [ob for ob in others if ob.select_get()] or others
            self.source = chosen[0].name if len(chosen) == 1 else ""
        return super().ask(context, event)

    def _moved(self, context: bpy.types.Context) -> bpy.types.Object | None:
        return context.view_layer.objects.get(self.source)

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene, source = context.scene, self._source(context, ob)
        with scene_state.restored(scene, context.view_layer, source) as visits:
            bones = standing.armature(source, frames, visits)
            people = {source: person_frames.of(source, bones), ob: person_frames.of(ob)}
            person_frames.check_alike(people)
            retarget.carrier(ob, people[ob])
            own, other = yield from shares(retarget.read(people, frames, visits), 0.0, _READ)
        if retarget.still(own[0]):
            raise Refused(Note("{} does not move on frames {} to {}", repr(source.name), frames[0], frames[-1]))
        scale = retarget.size(people[source], own[0])
        given = retarget.placed(people[source], (*own, scale), retarget.carriers(source))
        space = retarget.own_space(ob, other[1])
        ground = retarget.placed(people[ob], (other[0], space, space.scale), retarget.carriers(ob.parent)).start
        moved = retarget.transfer(given, ob, people[ob], space, ground)
        answer = yield from shares(moved, _READ, _SOLVED)
        ob.dqik.live = False
        switches.to_fk(ob)
        data = source.animation_data
        name = source.name if data is None or data.action is None else data.action.name
        count = retarget.write(ob, f"{name} {ob.name}", np.array(scene_state.times(scene, frames)), answer)
        scene_state.look_again(scene)
        originals.name_source(ob, source)
        scaled = retarget.scaled(source)
        left = [Note(Code.SCALE_NOT_CARRIED, listed(scaled))] if scaled else []
        self.conclude(ob, not scaled, Note("{} bones on {} frames, {} keys",
                                           len(answer.bones), len(frames), count), *left)

    def _source(self, context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object:
        """The source. Raises `Refused` if it is none, or if keys of the active armature would not count."""
        source = context.view_layer.objects.get(self.source)
        if source is None or source.type != "ARMATURE":
            raise Refused(Note("Choose the armature whose motion this one gets"))
        if source == ob:
            raise Refused(Note("{} is this armature itself: choose another as the source", repr(ob.name)))
        refuse(keyable.of_object(ob))
        figure = Character.of(ob).figure
        refuse(figure.controlled)
        if figure.folded:
            raise Refused(Note("{} is folded at rest: on a frame on which it stands, press Use Pose as Rest first",
                               repr(ob.name)))
        if switches.others(ob):
            refuse(switches.refusal(ob))
        return source
