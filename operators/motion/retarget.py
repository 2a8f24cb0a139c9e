# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of another figure for the active one."""

import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty

from ...properties import retarget as options
from ...rig.blender import originals, scene_state, views
from ...rig.clip import person_frames, standing
from ...rig.controls import switches
from ...rig.figure.character import Character
from ...rig.keys import keyable
from ...rig.motion import retarget, retargeted_keys, root_motion, same_names
from ...rig.notes import Code, Note, Refused, listed
from ...rig.overlay import preview
from ..common import Steps, Tool, armature, refuse
from ..frames import FramesTool, shares

_READ, _SOLVED = 0.4, 0.95  # of the progress, once motions are read, and once the new one is found


class DQIK_OT_retarget(options.RetargetOptions, FramesTool, bpy.types.Operator):
    """Give this figure the motion of another one, whatever their sizes and rest poses. It is a new action"""

    bl_label = "Retarget"

    source: StringProperty(name="Source", description="The armature whose motion this one gets",
                           options={"SKIP_SAVE"})  # fmt: skip
    preview: BoolProperty(name="Preview Only", description="Show the new motion as lines in the 3D view, play it and "
                          "change the options in the panel that adjusts the last operation. Nothing is keyed",
                          default=False, options={"SKIP_SAVE"})  # fmt: skip

    doing = Note("Carrying the motion over")
    has_step = False
    whole_motion = True

    _asked = False  # whether its dialog was shown

    def draw(self, context: bpy.types.Context) -> None:
        self.column().prop_search(self, "source", context.view_layer, "objects", icon="ARMATURE_DATA")
        self.draw_range()
        self.column("stance", "own_speed", "root", "by_name")
        limbs = self.column()
        for limb, own in self.limbs.each():
            limbs.prop(own, "places", text=limb.name)
            limbs.row(align=True).prop(own, "offset", text="Offset")
        self.column("preview")

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: propose another selected armature, or the only other one."""
        if not self.is_set("source"):
            others = [ob for ob in context.view_layer.objects if ob.type == "ARMATURE" and ob != armature(context)]
            chosen = [ob for ob in others if ob.select_get()] or others
            self.source = chosen[0].name if len(chosen) == 1 else ""
        options.copy(armature(context).dqik.retarget, self.properties, only_left_out=True)
        self._asked = True
        return super().ask(context, event)

    def _keep(self, ob: bpy.types.Object) -> None:
        """What was chosen in the dialog, or in the panel that adjusts the last operation, is kept with the figure."""
        if self._asked or self.options.is_repeat:
            options.copy(self.properties, ob.dqik.retarget)

    def _moved(self, context: bpy.types.Context) -> bpy.types.Object | None:
        return context.view_layer.objects.get(self.source)

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        options.copy(ob.dqik.retarget, self.properties, only_left_out=True)
        scene, source = context.scene, self._source(context, ob)
        with scene_state.restored(scene, context.view_layer, source) as visits:
            bones = standing.armature(source, frames, visits)
            people = {source: person_frames.of(source, bones), ob: person_frames.of(ob)}
            person_frames.check_alike(people)
            if self.by_name:
                people = dict(zip(people, same_names.known(source, ob, people), strict=True))
            mover = retarget.carrier(ob, people[ob])
            if self.root == root_motion.BONE:
                root_motion.root(ob, people[ob], mover)
            fit = retarget.RetargetFit(self.stance, self.own_speed, self.root, self.limbs.fits(), self.by_name)
            reading = retarget.take(source, ob, people, frames, self.rate(scene), fit.own_speed, visits)
            taken = yield from shares(reading, 0.0, _READ)
        answer = yield from shares(retarget.transfer(taken, ob, people[ob], fit), _READ, _SOLVED)
        self._keep(ob)
        if self.preview:
            asked = frames[0], frames[-1]
            preview.show(ob, source.name, asked, taken.frames, answer.posed, taken.space.scale)
            views.redraw()
            return Note("A preview on {} frames: nothing is keyed", len(taken.frames))
        ob.dqik.live = False
        switches.to_fk(ob)
        data = source.animation_data
        name = f"{source.name if data is None or data.action is None else data.action.name} {ob.name}"
        times = scene_state.times(scene, taken.frames)
        count = retargeted_keys.write(ob, name, np.array(times), answer)
        carried = set[str]()
        if self.by_name:
            both, looks = [people[source], people[ob]], scene_state.times(scene, taken.looks)
            count += same_names.key_visibility(source, ob, both, looks, times)
            count += same_names.key_shapes(source, ob, name, looks, times)
            carried = {source.pose.bones[bone].name for bone in same_names.pairs(*both)}
        preview.hide(ob)
        scene_state.look_again(scene)
        originals.name_source(ob, source)
        scaled = retarget.scaled(source, carried)
        left = [Note(Code.SCALE_NOT_CARRIED, listed(scaled))] if scaled else []
        self.conclude(ob, not scaled, Note("{} bones on {} frames, {} keys",
                                           len(answer.bones), len(taken.frames), count), *left)
        return None

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
        if self.root == root_motion.OBJECT:
            root_motion.check_object(ob)
        return source


class DQIK_OT_preview_hide(Tool, bpy.types.Operator):
    """Hide the motion that Retarget would give this figure"""

    bl_label = "Hide Preview"
    stores = False
    bl_options = {"REGISTER"}

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        usual = super().unavailable(context, ob)
        return Note("Preview a motion with Retarget first") if usual is None and preview.of(ob) is None else usual

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        preview.hide(ob)
        views.redraw()
