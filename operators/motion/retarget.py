# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of another figure for the active one, which may touch a partner."""

from collections.abc import Generator

import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty

from ...properties import retarget as options
from ...rig import curves
from ...rig.blender import originals, scene_state, units, views
from ...rig.blender.words import iface_
from ...rig.clip import person_frames, standing
from ...rig.controls import switches
from ...rig.figure.character import Character
from ...rig.keys import keyable
from ...rig.motion import hand_contacts, retarget, retargeted_keys, root_motion, same_names
from ...rig.notes import Code, Note, Refused, counted, listed
from ...rig.overlay import preview
from ..common import Steps, Tool, armature, chosen_object, name_of, object_named, refuse
from ..frames import FramesTool, shares

_READ, _SOLVED = 0.4, 0.95  # of the progress, once motions are read, and once the new one is found


def _sources(tool: object, context: bpy.types.Context, typed: str = "") -> list[str]:
    """The names of the armatures whose motion the active one may get."""
    del tool, typed
    own = armature(context)
    return [name_of(context, ob) for ob in context.view_layer.objects if ob.type == "ARMATURE" and ob != own]


def _partners(tool: "DQIK_OT_retarget", context: bpy.types.Context, typed: str = "") -> list[str]:
    """The names of those that have the motion of another source."""
    others = [name for name in _sources(tool, context, typed) if name != tool.source]
    sources = [_partner_source(context, object_named(context, name)) for name in others]
    return [name for name, source in zip(others, sources, strict=True)
            if source is not None and name_of(context, source) != tool.source]  # fmt: skip


def _partner_source(context: bpy.types.Context, ob: bpy.types.Object | None) -> bpy.types.Object | None:
    """Whose motion a figure has from *Retarget*, or None if that is not there: then it can be no partner."""
    source = None if ob is None else originals.source(ob)
    return source if source is not None and object_named(context, source.name_full) else None


class DQIK_OT_retarget(options.RetargetOptions, FramesTool, bpy.types.Operator):
    """Give this figure the motion of another one, whatever their sizes and rest poses. It is a new action"""

    bl_label = "Retarget"

    source: StringProperty(name="Source", description="The armature whose motion this one gets", search=_sources,
                           search_options={"SORT"}, options={"SKIP_SAVE"})  # fmt: skip
    partner: StringProperty(name="Partner", description="A figure that has the motion of another source by Retarget. "
                            "Hands touch it where those of the sources touch each other, and both go together",
                            search=_partners, search_options={"SORT"}, options={"SKIP_SAVE"})  # fmt: skip
    preview: BoolProperty(name="Preview Only", description="Show the new motion as lines in the 3D view, play it and "
                          "change the options in the panel that adjusts the last operation. Nothing is keyed",
                          default=False, options={"SKIP_SAVE"})  # fmt: skip

    doing = Note("Carrying the motion over")
    has_step = False
    whole_motion = True

    _asked = False  # whether its dialog was shown

    def draw(self, context: bpy.types.Context) -> None:
        self.column().prop(self, "source", icon="ARMATURE_DATA")
        self.draw_range()
        if self.partner or _partners(self, context):
            self.column().prop(self, "partner", icon="ARMATURE_DATA")
        if self.partner:
            self.column("both_give")
        self.column("stance", "own_speed", "root", "by_name")
        self._draw_limbs()
        self.column("preview")

    def _draw_limbs(self) -> None:
        """How each limb is fitted, on two lines: its place and its pole, and the offset left, forward and up."""
        limbs = self.column()
        limbs.label(text="Limbs by Angles (0) or Places (1)")

        def line(text: str) -> bpy.types.UILayout:
            words, values = (whole := limbs.split(factor=0.4, align=True)).row(), whole.row(align=True)
            words.alignment = "RIGHT"
            words.label(text=iface_(text), translate=False)
            values.use_property_split = False
            return values

        for limb, own in self.limbs.each():
            values = line(limb.name)
            values.prop(own, "places", text="")
            values.prop(own, "pole")
            values = line("Offset")
            for axis in range(3):
                values.prop(own, "offset", index=axis, text="")

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: propose another selected armature, or the only other one.

        Of several that are selected, the one that has its motion from another source is the partner.
        """
        others = [ob for name in _sources(self, context) if (ob := object_named(context, name)) is not None]
        if not others:
            raise Refused(Note("Bring the figure that has the motion into this scene first"))
        chosen = [ob for ob in others if ob.select_get()] or others
        partners = [ob for ob in chosen if ob.select_get() and _partner_source(context, ob) is not None]
        if not self.is_set("partner") and len(chosen) > 1 and len(partners) == 1:
            self.partner = name_of(context, partners[0])
        if not self.is_set("source"):
            chosen = [ob for ob in chosen if name_of(context, ob) != self.partner]
            self.source = name_of(context, chosen[0]) if len(chosen) == 1 else ""
        options.copy(armature(context).dqik.retarget, self.properties, only_left_out=True)
        self._asked = True
        return super().ask(context, event)

    def _keep(self, ob: bpy.types.Object) -> None:
        """What was chosen in the dialog, or in the panel that adjusts the last operation, is kept with the figure."""
        if self._asked or self.options.is_repeat:
            options.copy(self.properties, ob.dqik.retarget)

    def _moved(self, context: bpy.types.Context) -> bpy.types.Object | None:
        return object_named(context, self.source)

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        options.copy(ob.dqik.retarget, self.properties, only_left_out=True)
        scene, source = context.scene, self._source(context)
        self._check(ob, source, self.properties)
        partner, theirs = self._partner(context, ob, source)
        wanted = [(source, ob, options.fit(self))]
        if partner is not None and self.both_give:
            self._check(partner, theirs, partner.dqik.retarget)
            wanted.append((theirs, partner, options.fit(partner.dqik.retarget)))
        count = len(wanted) if partner is None else 2
        stays = None
        with scene_state.restored(scene, context.view_layer, source) as visits:
            figures = list[retarget.RetargetTask]()
            for number, one in enumerate(wanted):
                reading = self._read(*one, frames, visits)
                figures.append((yield from shares(reading, _READ * number / count, _READ * (number + 1) / count)))
            if partner is not None and not self.both_give:
                people = _people(theirs, partner, frames, visits)
                reading = retarget.stays(theirs, partner, people, frames, visits)
                stays = yield from shares(reading, 0.5 * _READ, _READ)
        answers, touches = yield from shares(retarget.transfer(figures, stays), _READ, _SOLVED)
        self._keep(ob)
        if self.preview:
            asked = frames[0], frames[-1]
            for (one, other, _), figure, answer in zip(wanted, figures, answers, strict=True):
                taken, with_ = figure.taken, name_of(context, ob) if other == partner else self.partner
                preview.show(other, name_of(context, one), with_, asked, taken.frames, answer.posed, taken.space.scale)
            views.redraw()
            return Note("A preview on {}: nothing is keyed",
                        counted(len(figures[0].taken.frames), Code.ONE_FRAME, Code.FRAMES))
        scaled = list[str]()
        for (one, other, _), figure, answer in reversed([*zip(wanted, figures, answers, strict=True)]):
            count, scaled = _keyed(scene, one, other, figure, answer)
        left = [Note(Code.SCALE_NOT_CARRIED, listed(scaled))] if scaled else []
        lost = partner is not None and touches.kept < max(touches.count, 1)
        if partner is not None:
            left.append(_said(scene, source, theirs, touches))
        self.conclude(ob, not scaled and not lost, Note("Retargeted {} on {}, {}",
                      counted(len(answers[0].bones), Code.ONE_BONE, Code.BONES),
                      counted(len(figures[0].taken.frames), Code.ONE_FRAME, Code.FRAMES),
                      counted(count, Code.ONE_KEY, Code.KEYS)), *left)  # fmt: skip
        return None

    def _read(
        self, source: bpy.types.Object, ob: bpy.types.Object, fit: retarget.RetargetFit, frames: list[int],
        visits: scene_state.Visits,
    ) -> Generator[float, None, retarget.RetargetTask]:  # fmt: skip
        """Read a source's motion for a figure. Raises `Refused` if it cannot get it."""
        people = _people(source, ob, frames, visits)
        if fit.by_name:
            people = dict(zip(people, same_names.known(source, ob, people), strict=True))
        mover = retarget.carrier(ob, people[ob])
        if fit.root == root_motion.BONE:
            root_motion.root(ob, people[ob], mover)
        rate = self.rate(bpy.context.scene)
        taken = yield from retarget.take(source, ob, people, frames, rate, fit.own_speed, visits)
        return retarget.RetargetTask(ob, people[ob], taken, fit)

    def _source(self, context: bpy.types.Context) -> bpy.types.Object:
        """The source. Raises `Refused` if it is none."""
        source = chosen_object(context, self.source)
        if source is None or source.type != "ARMATURE":
            raise Refused(Note("Choose as Source the armature whose motion this one gets"))
        return source

    def _partner(
        self, context: bpy.types.Context, ob: bpy.types.Object, source: bpy.types.Object
    ) -> tuple[bpy.types.Object, bpy.types.Object] | tuple[None, None]:
        """The partner, if one was chosen, and its source. Raises `Refused` if they are none."""
        if not self.partner:
            return None, None
        partner = chosen_object(context, self.partner)
        theirs = None if partner in (ob, source) else _partner_source(context, partner)
        if partner is None or theirs is None:
            raise Refused(Note("Choose as Partner a figure that has the motion of another source by Retarget"))
        if theirs == source:
            raise Refused(Note("{} has the motion of {} too: choose the source that touches it",
                               repr(partner.name), repr(source.name)))
        return partner, theirs

    def _check(self, ob: bpy.types.Object, source: bpy.types.Object, given: bpy.types.bpy_struct) -> None:
        """Raise `Refused` if keys of a figure would not count, or its options leave no touches."""
        if source == ob:
            raise Refused(Note("{} is this armature itself: choose another as the source", repr(ob.name)))
        refuse(keyable.of_object(ob))
        refuse(Character.of(ob).figure.controlled)
        if switches.others(ob):
            refuse(switches.refusal(ob))
        if given.root == root_motion.OBJECT:
            root_motion.check_object(ob)
        if self.partner and (given.own_speed or given.root == root_motion.IN_PLACE):
            raise Refused(Note("Figures that touch go on together: switch off Own Speed and In Place of {}",
                               repr(ob.name)))


def _people(
    source: bpy.types.Object, ob: bpy.types.Object, frames: list[int], visits: scene_state.Visits
) -> dict[bpy.types.Object, person_frames.Person]:  # fmt: skip
    """A source and a figure, measured. Raises `Refused` if they do not go alike."""
    people = {one: person_frames.of(one, standing.armature(one, frames, visits)) for one in (source, ob)}
    person_frames.check_alike(people)
    return people


def _keyed(
    scene: bpy.types.Scene, source: bpy.types.Object, ob: bpy.types.Object, figure: retarget.RetargetTask,
    answer: retargeted_keys.BodyChannels,
) -> tuple[int, list[str]]:  # fmt: skip
    """Key a figure's motion; the number of keys, and whose keys of scale were left out."""
    taken = figure.taken
    ob.dqik.live = False
    switches.to_fk(ob)
    name = f"{(curves.action_of(source) or source).name} {ob.name}"
    times = scene_state.times(scene, taken.frames)
    count = retargeted_keys.write(ob, name, np.array(times), answer)
    carried = set[str]()
    if figure.fit.by_name:
        both, looks = [taken.source.person, figure.person], scene_state.times(scene, taken.looks)
        count += same_names.key_visibility(source, ob, both, looks, times)
        count += same_names.key_shapes(source, ob, name, looks, times)
        carried = {source.pose.bones[bone].name for bone in same_names.pairs(*both)}
    preview.hide(ob)
    scene_state.look_again(scene)
    originals.name_source(ob, source)
    return count, retarget.scaled(source, carried)


def _said(
    scene: bpy.types.Scene, source: bpy.types.Object, other: bpy.types.Object, touches: hand_contacts.KeptTouches
) -> Note:  # fmt: skip
    """What became of touches."""
    if not touches.count:
        return Note("No hand of {} or {} touches the other one on these frames", repr(source.name), repr(other.name))
    gap = units.length(scene, touches.gap)
    return Note("{} of {} touches are kept, the largest gap is {}", touches.kept, touches.count, gap)


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
        preview.drop(ob)
        views.redraw()
