# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the tools: declares, refuses and reports; and finds the armature that they work on."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from time import perf_counter
from types import ModuleType
from typing import ClassVar, TypeAlias, TypeVar

import bpy
import numpy as np
from bpy.props import IntProperty

from ..rig.blender import scene_state
from ..rig.blender.dependencies import aims
from ..rig.blender.words import iface_
from ..rig.clip import last_report
from ..rig.figure.short_names import called
from ..rig.keys import keyable
from ..rig.notes import Code, Note, Refused, joined, note_of
from ..solvers import DqikError
from . import playback

_BEAT = 0.01  # seconds between the parts of the work of a tool that was started from the panel
_AT_ONCE = (0.05, 1.0)  # least and most seconds that a part takes, after which Blender answers the user
_SURE = 2.0  # seconds after which the time that is left is shown

_Result = TypeVar("_Result")

Said: TypeAlias = Note | Sequence[Note] | None
"""The notes that a tool reports in one line when it is done."""
Steps: TypeAlias = Generator[float, None, Said]
"""The work of a tool in steps: yields the progress from 0 to 1."""


def declared(*modules: ModuleType) -> tuple[type, ...]:
    """The classes that modules declare for Blender, in their order."""
    every = [(module, cls) for module in modules for cls in vars(module).values() if isinstance(cls, type)]
    return tuple(
        cls for module, cls in every if cls.__module__ == module.__name__ and issubclass(cls, bpy.types.bpy_struct)
    )


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature object, or the armature of the active mesh or target."""
    ob = context.object if hasattr(context, "object") else context.view_layer.objects.active
    if ob is None or ob.type == "ARMATURE":
        return ob
    return ob.find_armature() or _reaching_for(context, ob)


def _reaching_for(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that has an object as a target or pole target."""
    if ob.users < 2:  # only its collection uses it
        return None
    for other in context.view_layer.objects:
        if other.type == "ARMATURE" and any(ob == aim for goal in other.dqik.goals for aim, _ in aims(goal)):
            return other
    return None


def object_named(context: bpy.types.Context, name: str) -> bpy.types.Object | None:
    """The object of that name in the view layer, this file's own before a linked one; None if there is none.

    name : alone, or as Blender's `name_full` with the library: `Cup [props.blend]`.
    """
    found = [ob for ob in context.view_layer.objects if name in (ob.name, ob.name_full)]
    return min(found, key=lambda ob: ob.library is not None, default=None)


def chosen_object(context: bpy.types.Context, name: str) -> bpy.types.Object | None:
    """The object of a name in an option; None for an empty name. Raises `Refused` if there is no such object."""
    found = object_named(context, name)
    if name and found is None:
        raise Refused(Note(Code.NO_OBJECT, repr(name)))
    return found


def name_of(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """The name by which `object_named` finds an object: with its library where another one has the same name."""
    if ob.library is None:  # no other one of this file has it
        return ob.name
    return ob.name if object_named(context, ob.name) == ob else ob.name_full


def begin_posing(ob: bpy.types.Object, control: str) -> Note:
    """What to do next with a control that was selected: nothing follows it while Live is off."""
    return Note(Code.BEGIN_POSING if ob.dqik.live else Code.BEGIN_WITH_LIVE, called(ob, control))


class NotDone(Exception):
    """Ends a tool that has changed nothing; `kind` of the report, ERROR or WARNING, and what it says, if anything."""

    def __init__(self, kind: str, *notes: Note) -> None:
        super().__init__(joined(notes))
        self.kind, self.notes = kind, notes


REFUSALS = (NotDone, DqikError, scene_state.Disturbed, ReferenceError)
"""The exceptions with which `run`, `ask` and the steps of a tool end where nothing was done."""


def refuse(note: Note | None, kind: str = "ERROR") -> None:
    """End the tool if there is a reason."""
    if note is not None:
        raise NotDone(kind, note)


class Tool:
    """An operator on the active armature. Its class declares all of it; `operators/__init__.py` registers it.

    The docstring is the tooltip, the name of the class gives `bl_idname`, annotations are the options, `unavailable`
    says when it cannot be pressed, `ask` what the panel does before, and `run` does it and returns what is to be said.
    If `run` is a generator, a script runs it at once; from the panel or a dialog it runs in steps, which Esc stops. If
    it is closed before its end, everything must be as before.

    stores : whether it stores something on the armature, which is refused where that would be gone with the file.
    on_goals : whether it needs goals. doing : shown in the status bar meanwhile. stopped : reported after Esc, and said
    first if other add-ons or scripts disturb it.
    """

    stores: ClassVar[bool] = True
    on_goals: ClassVar[bool] = False
    doing: ClassVar[Note] = Note("Working")
    stopped: Note | None = None
    _in_steps = False
    _steps: Generator[float, None, set[str]] | None = None  # that are left, while it runs in steps

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        cls.bl_idname = cls.__name__.replace("DQIK_OT_", "dqik.")
        cls.bl_options = vars(cls).get("bl_options", {"REGISTER", "UNDO"})

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said | Steps:
        """Do the work: at once, or as a generator of the progress. Raises `NotDone` or `Refused` if nothing changed."""
        raise NotImplementedError

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: work, or show a dialog before."""
        del event
        self._in_steps = True
        return self.execute(context)

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        """Returns the reason why the tool cannot be used now; None if it can."""
        del context
        if ob is None:
            return Note("Select an armature first")
        if ob.mode == "EDIT":
            return Note("Leave Edit Mode first")
        if ob.pose is None or not ob.pose.bones:
            return Note("This armature has no bones: add some in Edit Mode")
        return Note("Add a goal first") if cls.on_goals and not ob.dqik.goals else None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        note = cls.unavailable(context, armature(context))
        if note is not None:
            cls.poll_message_set(note.words(iface_))
        return note is None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            return {"CANCELLED"} if self._loses(context) else self.ask(context, event)
        except REFUSALS as error:
            return self.refused(error)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if self._loses(context):
            return {"CANCELLED"}
        steps, in_steps, self._in_steps = self.steps(context), self._in_steps, False
        if not in_steps:
            result = finished(steps)
            playback.go_on(context)
            return result
        self._began = perf_counter()
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        self._steps, self._paused = steps, perf_counter()
        self._timer = context.window_manager.event_timer_add(_BEAT, window=context.window)
        context.window_manager.progress_begin(0, 100)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(Note("{}: Esc to cancel", self.doing).words(iface_))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Do some steps at each timer event."""
        if event.type == "ESC":
            self._steps.close()
            self.tell({"INFO"}, self.stopped)
            return self._leave(context, {"CANCELLED"})
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        began = perf_counter()
        until = began + min(max(began - self._paused, _AT_ONCE[0]), _AT_ONCE[1])  # at least as long as the window takes
        try:
            while True:
                share = next(self._steps)
                if perf_counter() > until:
                    break
        except StopIteration as end:
            return self._leave(context, end.value)
        except Exception:
            self._leave(context, {"CANCELLED"})
            raise
        context.window_manager.progress_update(int(100 * share))
        context.workspace.status_text_set(self._state(share, perf_counter() - self._began).words(iface_))
        self._paused = perf_counter()
        return {"RUNNING_MODAL"}

    def _state(self, share: float, seconds: float) -> Note:
        """Returns the share of the work that is done and, as soon as it can be told, the time that is left."""
        percent = f"{100 * share:.0f}"
        if seconds < _SURE or share <= 0.0:
            return Note("{}: {} %, Esc to cancel", self.doing, percent)
        minutes, left = divmod(round(seconds * (1.0 - share) / share), 60)
        return Note("{}: {} %, {} left, Esc to cancel", self.doing, percent, f"{minutes}:{left:02}")

    def cancel(self, context: bpy.types.Context) -> None:
        """The dialog was left, or Blender stops the operator, for example when it quits."""
        if self._steps is not None:
            self._steps.close()
            self._leave(context, {"CANCELLED"})

    def _leave(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        self._steps = None
        return result

    def tell(self, kinds: set[str], *notes: Note) -> None:
        """Report notes in one line, in the language of the interface. Blender lets no class override `report`."""
        self.report(kinds, joined(notes, iface_))

    def steps(self, context: bpy.types.Context) -> Generator[float, None, set[str]]:
        """Do the work and report what came of it; returns how the operator ends."""
        try:
            refuse(self._no_number())
            said = self.run(context, armature(context))
            if isinstance(said, Generator):
                self.stopped = self.stopped or Note("Stopped, nothing was changed")
                said = yield from said
        except REFUSALS as error:
            return self.refused(error)
        if said:
            self.tell({"INFO"}, *([said] if isinstance(said, Note) else said))
        return {"FINISHED"}

    def refused(self, error: Exception) -> set[str]:
        """Report one of `REFUSALS`; returns how the operator ends."""
        kind, notes = "ERROR", [note_of(error)]
        if isinstance(error, NotDone):
            kind, notes = error.kind, error.notes
        elif not isinstance(error, DqikError):
            note = error.note if isinstance(error, scene_state.Disturbed) else Note(Code.OBJECT_REMOVED)
            notes = [note] if self.stopped is None else [self.stopped, note]
        if notes:
            self.tell({kind}, *notes)
        return {"CANCELLED"}

    def conclude(self, ob: bpy.types.Object, is_fine: bool, *notes: Note) -> None:
        """Report what was done to the motion of an armature; the panel keeps showing it."""
        self.tell({"INFO"} if is_fine else {"WARNING"}, *notes)
        last_report.remember(ob, notes, is_fine)

    def column(self, *names: str) -> bpy.types.UILayout:
        """Options close below each other in the dialog; returns where they are."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        column = self.layout.column(align=True)
        for name in names:
            column.prop(self, name)
        return column

    def dialog(self, context: bpy.types.Context, button: str = "") -> set[str]:
        """Ask for the options, then work in steps. button : the words of the button, if they are not the label."""
        self._in_steps = True
        title = iface_(button or self.bl_label).rstrip(". ")
        return context.window_manager.invoke_props_dialog(self, title=title, confirm_text=title)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The frames of `frame_start` and `frame_end`; the given ones for Start 0, End -1, and for an end not set."""
        start, end = self.frame_start, self.frame_end
        if (start, end) == (0, -1):
            return first, last
        return start if self.is_set("frame_start") else first, end if self.is_set("frame_end") else last

    def is_set(self, *names: str) -> bool:
        """Whether any of these options has a value from a script, a shortcut or the panel."""
        return any(map(self.properties.is_property_set, names))

    def _no_number(self) -> Note | None:
        """A note about an option that is not a number: a script can set it so, and Blender's bounds let it pass."""
        for option in self.properties.bl_rna.properties:
            if option.type == "FLOAT" and not np.isfinite(getattr(self, option.identifier)).all():
                return Note("{} is not a number: set it again", Note(option.name))
        return None

    def _loses(self, context: bpy.types.Context) -> bool:
        """Whether what the tool stores would be gone with the file; says so."""
        ob = armature(context)
        note = keyable.of_settings(ob) if self.stores and ob is not None else None
        if note is not None:
            self.tell({"WARNING"}, note)
        return note is not None


class OneGoalTool(Tool):
    """A tool that works on one goal."""

    on_goals = True
    index: IntProperty(name="Goal", description="Number of the goal, -1 for the active one", default=-1, min=-1)

    def goal(self, ob: bpy.types.Object) -> int:
        """The number of the goal."""
        number, count = ob.dqik.active_goal if self.index < 0 else self.index, len(ob.dqik.goals)
        if number >= count:
            raise Refused(Note("There is no goal {}: {} has {}, counted from 0", number, repr(ob.name), count))
        return number


def finished(steps: Generator[float, None, _Result]) -> _Result:
    """Do all steps; returns their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@contextmanager
def live_on(ob: bpy.types.Object) -> Generator[None]:
    """Have Live on meanwhile."""
    was_live, ob.dqik.live = ob.dqik.live, True
    try:
        yield
    finally:
        if not was_live:
            ob.dqik.live = False
