# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides in a captured motion is planted: feet, knees, seats, backs, and hands that hold on to something."""

from collections.abc import Generator, Sequence

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...rig.blender import originals, scene_state
from ...rig.blender.words import iface_
from ...rig.clip import clip, contact_ranges, frame_rate, lineage, standing
from ...rig.clip.contact_ranges import Touching
from ...rig.clip.ground import LEVEL, LOWEST, MESH, Ground
from ...rig.keys import keyable
from ...rig.motion import mend_motion
from ...rig.notes import Code, Note, Refused, counted
from ...solvers.motion import fine_time, likely_rate
from ..common import Steps, armature, chosen_object, name_of, refuse
from ..frames import FramesTool, shares

_REPORTS = Touching(
    feet="{} of feet: they slid by {} % of the height a second, now {} %; knees bend up to {} degrees "
         "more or less",
    knees="{} of knees: they slid by {} % of the height a second, now {} %; knees bend up to {} degrees "
          "more or less",
    seat="{} of the seat: it slid by {} % of the height a second, now {} %; hips move by up to {} % of the "
         "height",
    back="{} of the back: it slid by {} % of the height a second, now {} %; the spine turns by up to {} "
         "degrees",
    hands="{} of hands: they slid by {} % of the height a second, now {} %; elbows bend up to {} degrees "
          "more or less",
)
_DEGREES = float(np.degrees(1.0))
_UNITS = Touching(feet=_DEGREES, knees=_DEGREES, seat=100.0, back=_DEGREES, hands=_DEGREES)  # of the largest changes
_GRAVITY = 9.81  # [m/s^2]
_LEFT = 0.1  # of the slide: where more is left, limits or lengths of legs keep feet from their places
_STANDS = 5e-4  # heights a second: what slides by less stands, as it may have done before
_SEEN = 2e-3  # heights a second: by how much more contacts may slide where feet are put on another ground


def _meshes(tool: object, context: bpy.types.Context, typed: str) -> list[str]:
    """The names of all meshes; Blender leaves out those that do not have what is typed."""
    del tool, typed
    return [name_of(context, ob) for ob in context.view_layer.objects if ob.type == "MESH"]


class GroundOptions:
    """Options for the place of the ground."""

    ground: EnumProperty(
        name="Ground", description="Where feet can stand",
        items=[
            (LOWEST, "Lowest Places", "Where the feet are lowest at about that time. Steps and slopes are found too"),
            (LEVEL, "Level", "At one height. Feet that stand are put on it, as high as they stand mostly"),
            (MESH, "Mesh", "On a mesh, which may move as a whole. Feet that stand are put on it, as high as they "
             "stand mostly, and go with it"),
        ],
        default=LOWEST,
    )  # fmt: skip
    ground_height: FloatProperty(name="Height", description="Height of the level ground in the world", default=0.0,
                                 subtype="DISTANCE")  # fmt: skip
    ground_object: StringProperty(name="Ground Mesh", description="The mesh on which the figure moves",
                                  search=_meshes, search_options={"SORT"})  # fmt: skip

    def draw_ground(self) -> None:
        """The options, in a dialog."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "ground")
        if self.ground == LEVEL:
            layout.prop(self, "ground_height")
        elif self.ground == MESH:
            layout.prop(self, "ground_object", icon="MESH_DATA")

    def chosen_ground(self, context: bpy.types.Context) -> Ground:
        """The ground that is chosen. Raises `Refused` if no mesh is."""
        mesh = chosen_object(context, self.ground_object) if self.ground == MESH else None
        if self.ground == MESH and (mesh is None or mesh.type != "MESH"):
            raise Refused(Note("Choose the mesh on which the figure moves"))
        return Ground(self.ground, self.ground_height, mesh)


class DQIK_OT_mend_motion(GroundOptions, FramesTool, bpy.types.Operator):
    """Plant what slides in captured motion: feet, knees, seat, back, held hands. The old action stays in the file"""

    bl_label = "Mend Motion"

    find: BoolProperty(name="Find Contacts Again", description="Find the contacts anew, in place of those in the list",
                       options={"SKIP_SAVE"})  # fmt: skip
    original: BoolProperty(name="From the Original", description="Where this motion was mended before, start from the "
                           "motion before that. What was edited since then is in the old action only",
                           default=True, options={"SKIP_SAVE"})  # fmt: skip

    ballistic: BoolProperty(name="Flights", description="A body that is in the air for longer than 0.15 seconds goes "
                            "along the curve on which gravity takes it, where some of its frames have left it",
                            options={"SKIP_SAVE"})  # fmt: skip

    doing = Note("Planting contacts")
    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_range()
        self.draw_ground()
        ob, layout = armature(context), self.layout
        number = len(contact_ranges.shown(ob))
        if number:
            words = iface_("Contacts of the list, which are planted: {}").format(number)
            layout.label(text=iface_("Finds new contacts") if self.find else words, icon="INFO", translate=False)
            layout.prop(self, "find")
        if originals.of(ob, originals.MEND) is not None:
            layout.prop(self, "original")
        layout.prop(self, "ballistic")

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        ground = self.chosen_ground(context)
        done = yield from steps(context, ob, frames, self.step, self.find, self.original, ground, self.ballistic)
        limbs = [each for each in zip(_REPORTS, _UNITS, done.limbs, strict=True) if each[2].contacts]
        planted = all(one.after <= max(_LEFT * one.before, _STANDS) for _, _, one in limbs)
        notes = [Note(words, counted(one.contacts, Code.ONE_CONTACT, Code.CONTACTS), f"{100.0 * one.before:.1f}",
                      f"{100.0 * one.after:.1f}", f"{unit * one.change:.1f}")
                 for words, unit, one in limbs]  # fmt: skip
        if self.ballistic and not done.flights:
            notes.append(Note("No flight was changed"))
        elif self.ballistic:
            notes.append(Note("{} flights follow gravity: in them the hips move by up to {} % of the height",
                              done.flights, f"{100.0 * done.hips:.1f}"))  # fmt: skip
        if done.others:
            notes.append(Note("{} spans without contacts stay as they are, since most of their frames do not fall as "
                              "gravity has it", done.others))  # fmt: skip
        notes += [] if done.other_rate is None else [done.other_rate]
        self.conclude(ob, planted and done.other_rate is None, *notes)


def steps(
    context: bpy.types.Context, ob: bpy.types.Object, frames: Sequence[int], step: int = 1, find: bool = False,
    original: bool = True, ground: Ground | None = None, ballistic: bool = False,
) -> Generator[float, None, mend_motion.MendReport]:  # fmt: skip
    """Read the motion, find contacts, key what plants feet, knees and hands, and look at what Blender shows.

    Yields the progress from 0 to 1; nothing has changed until it ends. step : frames from one to the next. find : also
    where the object has contacts. original : start from the motion as it was before it was mended, if it was. ground :
    by default the lowest places. ballistic : what is in the air falls as gravity has it. Raises `Refused`, and
    `scene_state.Disturbed`.
    """
    scene = context.scene
    rate = scene_state.rate(scene) / step
    refuse(keyable.of_object(ob))
    own = mend_motion.figure(ob)
    find = find or not contact_ranges.shown(ob)
    if not find:
        contact_ranges.check(ob, own.names)
    with lineage.instead(ob, originals.of(ob, originals.MEND) if original else None):
        action = ob.animation_data.action
        mesh = None if ground is None else ground.ob
        with scene_state.restored(scene, context.view_layer, ob, [mesh]) as visits:
            own = mend_motion.figure(ob, standing.armature(ob, frames, visits))
            before = yield from shares(mend_motion.read(ob, own, frames, visits, mesh), 0.0, 0.5)
            played = frame_rate.keys_a_second(scene) / step
            likely = likely_rate(before.points, before.hips, before.length, played) if step == 1 else None
            heights = mend_motion.ground_heights(context, before, ground or Ground())
            found = mend_motion.contacts(before, rate, heights)
            touching = mend_motion.on_frames(found, rate)
            if not find:
                touching = contact_ranges.masks(ob, own.names, frames)
            if not any(one.any() for one in touching):
                raise Refused(Note("No foot of {} stands on these frames, and no hand holds on, so nothing was changed",
                                   repr(ob.name)))
            count = fine_time.steps(rate)
            times = Touching(*(fine_time.finer_mask(one, count, own_times)
                               for one, own_times in zip(touching, found, strict=True)))  # fmt: skip
            gravity = _GRAVITY / scene.unit_settings.scale_length if ballistic else None
            new, in_air = mend_motion.mended(ob, own, before, times, rate, heights, gravity)
            with lineage.new_actions([ob], originals.MEND):
                clip.write(ob, new, scene_state.times(scene, frames))
                after = yield from shares(mend_motion.read(ob, own, frames, visits, mesh), 0.5, 1.0)
                done = mend_motion.report(own, before, after, touching, rate, in_air)
                _check(ob, done)
    if find:
        contact_ranges.store(ob, contact_ranges.of_masks(own.names, frames, touching), action)
    scene_state.look_again(scene)
    return done._replace(other_rate=frame_rate.of_rate(likely, played))


def _check(ob: bpy.types.Object, done: mend_motion.MendReport) -> None:
    """Raise `Refused` if what is in contact slides more than before."""
    before, after = done.slides
    if after > before + _SEEN:
        raise Refused(Note("Contacts of {} would slide by {} % of the height a second in place of {} %, so nothing was "
                           "changed: switch off the limits of its limbs, or take contacts out of the list",
                           repr(ob.name), f"{100.0 * after:.1f}", f"{100.0 * before:.1f}"))
