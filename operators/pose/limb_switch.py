# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching limbs between their goals and keys of their bones."""

from collections.abc import Sequence

import bpy
from bpy.props import BoolProperty, IntProperty

from ...rig.blender import scene_state, units
from ...rig.blender.words import iface_
from ...rig.controls import selection
from ...rig.figure.character import Character
from ...rig.figure.short_names import called
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import limb_switch
from ..common import NotDone, Said, Steps, Tool, live_on, refuse

_JUMP = 1e-4  # of the figure's size


class LimbSwitchTool(Tool):
    """A tool that switches the limbs of the selected bones and targets at the current frame, or over a range."""

    on_goals = True
    frame_start: IntProperty(name="Start", description="First frame of a range. An End before it means from the "
                             "current frame on", default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1, options={"SKIP_SAVE"})
    keep_body: BoolProperty(
        name="Keep Body", description="Where the rest of the body would move without the goal, or by it, key and hold "
        "its bones on the switched frames too", default=True,
    )  # fmt: skip

    doing = Note("Switching the limbs")
    to_ik = False

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: ask for the frames where there is a preview range, and before other bones are keyed."""
        if not self.is_set("keep_body"):
            self.keep_body = False
        if not context.scene.use_preview_range:
            return self.execute(context)
        if not self.is_set("frame_start", "frame_end"):
            self.frame_start, self.frame_end = scene_state.shown_range(context.scene)
        return self.dialog(context)

    def draw(self, context: bpy.types.Context) -> None:
        del context
        self.column("frame_start", "frame_end")
        self.column("keep_body")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        """Read the frames, key, and look whether anything moved."""
        scene, objects = context.scene, getattr(context, "selected_objects", None) or ()
        numbers = limb_switch.of_selection(ob, selection.selected(context, ob), objects)
        if not numbers:
            raise Refused(Note("Select the control or bones of a limb that has a goal"))
        refuse(limb_switch.refusal(ob, numbers, self.to_ik))
        onward, own = self.frame_end < self.frame_start, range(self.frame_start, self.frame_end + 1)
        if self.to_ik:
            times = [scene.frame_current_final] if onward else scene_state.times(scene, own)
            already = [number for number in numbers if limb_switch.is_in_ik(ob, number, times)]
            if already:
                self.tell({"INFO"}, Note("Follows its goal already, nothing was changed: {}",
                                         listed([called(ob, ob.dqik.goals[number].bone) for number in already])))
            numbers = [number for number in numbers if number not in already]
            if not numbers:
                raise NotDone("INFO")
            refuse(limb_switch.muted(ob, numbers, times))
        if onward and limb_switch.is_still(ob):
            self._report(ob, limb_switch.switch_still(context, ob, numbers, self.to_ik), numbers, [], None)
            return
        frames = [scene.frame_current + scene.frame_subframe] if onward else own
        with live_on(ob):
            away, rest = yield from limb_switch.switch(context, ob, numbers, frames, self.to_ik, onward)
            if rest is not None and self.keep_body:
                away = limb_switch.keep(context, ob, rest)
        self._report(ob, away, numbers, frames, rest)

    def _report(
        self, ob: bpy.types.Object, away: float, numbers: Sequence[int], frames: Sequence[float],
        rest: limb_switch.RestOfBody | None,
    ) -> None:
        """Say what was switched, ask whether more shall be, and warn if the figure has moved."""
        what = Note("To IK" if self.to_ik else "To FK")
        names = listed([called(ob, ob.dqik.goals[number].bone) for number in numbers])
        if not frames:
            self.tell({"INFO"}, Note("{} on all frames: {}", what, names))
        elif self.frame_end < self.frame_start:
            self.tell({"INFO"}, Note("{} from frame {} on: {}", what, f"{frames[0]:g}", names))
        else:
            self.tell({"INFO"}, Note("{} on frames {} to {}: {}", what, f"{frames[0]:g}", f"{frames[-1]:g}", names))
        if rest is not None and self.keep_body:
            self.tell({"INFO"}, Note(Code.BODY_KEYED, len(rest.bones)))
        if away > _JUMP * Character.of(ob).size:
            by = units.miss(bpy.context.scene, ob, away, 0.0)
            if rest is not None and not self.keep_body:
                question = Note("The rest of the body moves by {}: it stays if {} other bones are keyed and held there "
                                "too", by, len(rest.bones))
                _asked[ob.session_uid] = rest
                self.tell({"WARNING"}, question)
                if not bpy.app.background:
                    _ask(question)
            else:
                self.tell({"WARNING"}, Note(Code.LIMB_MOVED, by))


_asked: dict[int, limb_switch.RestOfBody] = {}  # by `session_uid`, until the answer


def _ask(question: Note) -> None:
    """Ask in a menu whether the rest of the body shall be keyed."""

    def draw(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
        del context
        menu.layout.label(text=question.words(iface_), translate=False)
        menu.layout.operator("dqik.limb_keep_body", icon="KEY_HLT")

    bpy.context.window_manager.popup_menu(draw, title="Switch Limb", icon="QUESTION")


class DQIK_OT_limb_keep_body(Tool, bpy.types.Operator):
    """Key and hold the rest of the body on the frames on which a limb was just switched, so that it stays"""

    bl_label = "Key the Body Too"
    on_goals = True
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        rest = _asked.pop(ob.session_uid, None)
        if rest is None:
            raise Refused(Note("Press Limb to FK or Limb to IK first: this keys the body where these have just "
                               "switched a limb"))
        with live_on(ob):
            away = limb_switch.keep(context, ob, rest)
        self.tell({"INFO"}, Note(Code.BODY_KEYED, len(rest.bones)))
        if away > _JUMP * Character.of(ob).size:
            self.tell({"WARNING"}, Note(Code.LIMB_MOVED, units.miss(context.scene, ob, away, 0.0)))


class DQIK_OT_limb_to_fk(LimbSwitchTool, bpy.types.Operator):
    """Pose the limbs of the selected controls or bones by their own keys, from this frame on; the pose stays"""

    bl_label = "Limb to FK"


class DQIK_OT_limb_to_ik(LimbSwitchTool, bpy.types.Operator):
    """Let the limbs of the selected controls or bones follow their controls, from this frame on; the pose stays"""

    bl_label = "Limb to IK"
    to_ik = True
