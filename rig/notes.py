# SPDX-License-Identifier: GPL-3.0-or-later
"""What DQIK has to say to the user: notes, which are a text with fields and their values.

A note is made where its fact is found, and its text stands there. Panel, operators and command line show it, in the
language of the interface where this is another one. The text, in English, is also the note's code, which is compared.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ..solvers import DqikError

_NAMED = 3  # most names that a note lists


class Code:
    """The texts that are compared, or used in several places, with `{}` for each value."""

    HAS_NO_BONE = "{} has no bone {}"
    HAS_NO_SIZE = "{} has no size at this frame: scale it up first"
    NOTHING_TO_MOVE = "Goal {}: there is no bone above {} to move: switch on Use Tail"
    CYCLE = "Goal {}: its target or pole follows bone {}, which is solved"
    CYCLE_OF_GOALS = "Goal {} is left out: its target follows bone {} of a goal that moves with it: shorten its chain"
    TARGET_DISABLED = "while it is disabled in the viewport"
    TARGET_DISABLED_BY_KEYS = "where it is disabled in the viewport"
    ADD_GOAL = "Add a goal: choose a bone and the object that it should reach"
    NO_GOAL_COUNTS = "No goal moves anything: all are muted, or their Influence is 0"
    MORE_LIMBS = (
        "This figure has more than two pairs of limbs, so Human Limits does not fit it: set limits bone by "
        "bone"
    )
    NOT_HUMAN = "Natural Pose knows people only"
    LEFT_TO_IK = "{} left to IK constraints: mute these, or make goals of them"
    CANNOT_SLIDE = "{} cannot slide while connected: disconnect in Edit Mode"
    MAY_MOVE = "{} may move"
    SHEARED = "{} does not stretch, because it would shear {}: set the Inherit Scale of that bone to None"
    LINKED = "This armature is linked, so its goals and its pose are not saved here: make a library override first"
    REST_POSITION = "The armature is shown in Rest Position: choose Pose Position to solve"
    FOLDED = "At rest this figure is folded or lies down, but here it stands: press Use Pose as Rest first"
    NO_OBJECT = "There is no object {}: choose another"
    BONE_HIDDEN = "Bone {} is hidden: show it or its bone collection first"
    TARGETS_NOT_THERE = (
        "The targets of {} are not at their bones: give each goal a target of its own, without constraints, "
        "drivers and animated parents"
    )
    SELECT_TO_ATTACH = "In Pose Mode, select the controls to attach, or in Object Mode the objects"
    PLACE_NOT_OWN = "Constraints or drivers move {}: mute them first"
    MOVED_BY_NLA = "The NLA moves {}: bake its strips to an action first"
    NO_ACTION = "{} has no action: give it one first"
    NOTHING_TO_UNBAKE = "Nothing of {} has dense keys in this range"
    SCALE_NOT_CARRIED = "the keys of the scale of {} are left out"
    LOOSE_ENDS = (
        "{} has feet or hands that are bones of their own, so its limbs do not move as one: parent feet to shins and "
        "hands to forearms, or retarget the motion to a body whose limbs are whole"
    )
    NO_FEET = "{} has no two legs that are recognised: set the Role of thighs, shins and feet in the Bone panel"
    LEG_BROKEN = "The bones of a leg of {} do not hang on each other: set the Role of its thigh, shin and foot"
    PARENTED = "{} is parented to it"
    USES = "{} uses it"
    BEGIN_POSING = "{} is selected: press G to move it, or Shift Alt G to drag any part of the body"
    BEGIN_WITH_LIVE = "{} is selected: press Live, then G to move it"
    BEGIN_WITH_CONTROLS = "Select a control, and press G to move it"
    ONE_CONTROL_ADDED, CONTROLS_ADDED = "1 control added", "{} controls added"
    NO_CONTROLS = "{} has no controls: press Set Up Full Body"
    KEYED_FROM_MOTION = "keyed their controls on frames {} to {}"
    CONTROLS_UNKEYED = (
        "Action {} moves the body, but has no keys on its controls, so it is not seen: press Key Controls from Motion"
    )
    CONTROLS_NOT_KEYED = "their controls are not keyed"
    STAYS_ON_KEYS = "{} stays on its keys: raise the Influence of its goal to move it by its target"
    NOT_FOUND = "not found: {}"
    LIMITS_SET = "Set the limits of {}"
    ONE_BONE, BONES = "1 bone", "{} bones"
    ONE_CHANNEL, CHANNELS = "1 channel", "{} channels"
    NO_CONTACTS = "{} has no contacts"
    ONE_CONTACT, CONTACTS = "1 contact", "{} contacts"
    ONE_FRAME, FRAMES = "1 frame", "{} frames"
    ONE_GOAL, GOALS = "1 goal", "{} goals"
    ONE_KEY, KEYS = "1 key", "{} keys"
    NONE_HELD = "None of the bones is held"
    HELD = "Held on all frames: {}"
    HELD_HERE = "Held until the frame changes, then their keys come back: {}"
    RANGE_REVERSED = "The range ends at frame {}, before it starts at {}"
    REMOVED = "{} was removed meanwhile"
    OBJECT_REMOVED = "an object was removed meanwhile"
    NOTHING_KEYED = "Nothing was keyed"
    KEYING_CONTROLS = "Keying the controls"
    LIMB_MOVED = "The figure has moved by {}: bones are locked, driven or constrained, or their curves have modifiers"
    SWITCH_NOT_KEYED = "The pasted pose switches {} between goal and bones at this frame only, without a key: {}"
    PASTED_OTHERWISE = (
        "The pasted pose is not the mirror image of what was copied, at {}: give both sides the same goals and pins, "
        "with bones as targets"
    )
    BODY_KEYED = "{} other bones are keyed and held there too, or the body would have moved"
    SYSTEM_OVERRIDE = "{} is an override that is not editable: make it editable (Object > Library Override > Make)"
    QUOTED = "{}"


Value: TypeAlias = "str | int | float | Note | DqikError"
"""What stands in a field: a name or a number, another note, or an error of the solvers."""


class Note:
    """A fact to tell the user: a text with `{}` for each value. Equal facts are equal notes."""

    __slots__ = ("code", "values")

    def __init__(self, code: str, *values: Value) -> None:
        self.code, self.values = code, values

    def codes(self) -> list[str]:
        """The texts of the note and of all notes in its fields."""
        inner = (value for value in self.values if isinstance(value, Note))
        return [self.code, *(code for note in inner for code in note.codes())]

    def words(self, translate: Callable[[str], str] = str) -> str:
        """The note with its values. translate : gives a text, with its fields, in another language."""
        return translate(self.code).format(*(_word(value, translate) for value in self.values))

    def __str__(self) -> str:
        return self.words()

    def __repr__(self) -> str:
        return f"Note({', '.join(map(repr, (self.code, *self.values)))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Note) and (self.code, self.values) == (other.code, other.values)

    def __hash__(self) -> int:
        return hash((self.code, self.values))


class Refused(DqikError):
    """Something that cannot be done; `note` says why."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note


def note_of(error: Exception) -> Note:
    """The note that an error carries, or one that quotes it."""
    if isinstance(error, Refused):
        return error.note
    return Note(Code.QUOTED, error if isinstance(error, DqikError) else str(error))


def counted(number: int, one: str, more: str) -> Note:
    """A number with its noun, as a value of a note."""
    return Note(one) if number == 1 else Note(more, number)


def listed(names: Sequence[str]) -> Note | str:
    """Names as one value of a note: the first few, and how many more there are."""
    text = ", ".join(names[:_NAMED])
    return Note("{} and {} more", text, len(names) - _NAMED) if len(names) > _NAMED else text


def joined(notes: Iterable[Note], translate: Callable[[str], str] = str) -> str:
    """Notes as the clauses of one line."""
    return "; ".join(note.words(translate) for note in notes)


def _word(value: Value, translate: Callable[[str], str]) -> str:
    if isinstance(value, Note):
        return value.words(translate)
    if isinstance(value, DqikError):
        return translate(value.template).format(*value.values) if value.values else translate(value.template)
    return str(value)
