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

    GOAL = "Goal {}: {}"
    NO_BONE = "it has no bone: choose one"
    BONE_MISSING = "the armature has no bone {}: choose another"
    NO_TARGET = "it has no target: choose an object"
    TARGET_IS_ARMATURE = "its target is this armature: also choose one of its bones"
    POLE_IS_ARMATURE = "its pole is this armature: also choose one of its bones"
    NO_EFFECT = "it has no effect: switch on Position or Rotation"
    COUPLING_WITHOUT_BONE = "Coupling of {}: the armature has no bone {}: choose another"
    COUPLING_OF_TARGET = "Coupling of {}: a target is bone {} or follows it, so it has no effect: couple other bones"
    FINGERS = "fingers"
    SPINE_PARTS = "parts of a spine"
    COLLARS_AND_ARMS = "collar bones and upper arms"
    FOREARM_TWISTS = "twist bones of forearms"
    COUPLINGS_LOOSENED = "{} couplings belong to the library file, so their stiffness is 0 instead"
    NO_CURVE = "its target is no curve: choose a curve object"
    PLACE_NO_NUMBER = "the place of {} is not a number: reset its transform"
    HAS_NO_BONE = "{} has no bone {}"
    LIMIT_NO_NUMBER = "Bone {}: {} is not a number: set it again"
    BASE_DAMAGED = "The base pose that bone {} had stored was damaged: its present pose is used"
    CYCLE_OF_ARMATURES = "it follows {}, which follows this armature: a cycle"
    POLE_IS_TARGET = "Goal {}: its pole is its target and is left out: choose another pole"
    NOTHING_TO_MOVE = "Goal {}: there is no bone above {} to move: switch on Use Tail"
    NO_SUPPORT = "Goal {}: no goal carries weight: switch on Carries Weight for the feet"
    CYCLE = "Goal {}: its target or pole follows bone {}, which is solved"
    CYCLE_OF_GOALS = "Goal {} is left out: its target follows bone {} of a goal that moves with it: shorten its chain"
    TARGET_STILL = "Goal {}: {} stands still {}; hide it with the eye instead"
    STANDS_STILL = "{} stands still {}: hide it with the eye instead"
    OBSTACLE_STILL = "Obstacle {}: it stands still {}; hide it with the eye instead"
    OBSTACLE_FOLLOWS = "Obstacle {}: it follows bone {}, which is solved"
    OBSTACLE_WITHOUT_FACES = "Obstacle {}: it has no faces: choose a mesh or an empty"
    TARGET_DISABLED = "while it is disabled in the viewport"
    TARGET_NOT_IN_LAYER = "while it is not in the view layer"
    TARGET_DISABLED_BY_KEYS = "where it is disabled in the viewport"
    ADD_GOAL = "Add a goal: choose a bone and the object that it should reach"
    ALL_LOCKED = "Every bone of the goals' chains is locked, constrained or driven: free one"
    LEFT_TO_CONSTRAINTS = "{} left to constraints"
    LEFT_TO_DRIVERS = "{} left to drivers"
    SOLO_TRACK = "An NLA track of {} is solo, which hides its action: switch Solo off first"
    NO_ACTION = "There is no action {}"
    ACTION_TURNS_NONE = "The action {} turns none of the bones that the goals move"
    NO_ACTION_TURNS_MOST = "No action turns most of the bones that the goals move"
    MORE_LIMBS = (
        "This figure has more than two pairs of limbs, so Human Limits does not fit it: set limits bone by "
        "bone"
    )
    NOT_HUMAN = "Natural Pose knows people only"
    NO_LIMB_PAIRS = "The natural pose needs both thighs or both arms, and what is above or below them"
    NOT_UPRIGHT = "The natural pose is that of people: this figure does not rest on two straight legs"
    NO_WHOLE_LIMBS = "The natural pose needs goals on whole arms or legs, and arms that do not point forward at rest"
    LEFT_TO_IK = "{} left to IK constraints: mute these, or make goals of them"
    CANNOT_SLIDE = "{} cannot slide while connected: disconnect in Edit Mode"
    LINKED = "This armature is linked, so its goals and its pose are not saved here: make a library override first"
    LOCATION_LOCKED = "{} cannot move: unlock an axis of its location, or switch Translate off"
    LOCKED_OUTSIDE = "Locked outside its limits: {}"
    LIMITS_REVERSED = "Bone {}: {} Min ({}) is above {} Max ({})"
    REST_POSITION = "The armature is shown in Rest Position: choose Pose Position to solve"
    POSE_NO_NUMBER = "The armature's place, or a bone's pose, is not a number: reset it and switch Live on again"
    CONTROLLED = (
        "Bones such as {} follow the controls of this rig, so goals cannot move them: set up the rig that it "
        "was made from, or add goals for its FK controls"
    )
    SWITCH_ANIMATED = "{} of {} would switch back from FK: delete its keys, strips or driver first"
    WINGS_OR_HOOVES = "This figure has wings, paws or hooves, so Human Limits does not fit it: set limits bone by bone"
    FOUR_LEGS = (
        "This figure stands on four legs or leans like a bird, so Human Limits does not fit it: set limits "
        "bone by bone"
    )
    FOLDED = "At rest this figure is folded or lies down, but here it stands: press Use Pose as Rest first"
    NO_SLOT = "This figure stands still: action {} moves nothing until its slot is chosen in the Action Editor"
    FIGURE_STILL = "This figure stands still: no keys of action {} move its bones"
    POSE_IS_REST = "{} stands in its rest pose already: go to the frame that has the wanted pose"
    BONES_NOT_EDITABLE = "The bones of {} cannot be edited: it is hidden, or linked from another file"
    SHARED_ARMATURE = "Other objects share the armature {}: make it a single-user copy first"
    NLA_MOVES = "The NLA moves {}, and its strips would not fit a new rest pose: bake them to an action first"
    BOUND_TO_REST = "{} is bound to the rest pose and would be deformed: unbind it first"
    KEYS_NO_NUMBERS = "Keys of {} are no numbers: delete them first"
    BONE_DRIVEN = "Bone {} has drivers, which would not fit a new rest pose: remove them first"
    BONE_CONSTRAINED = "Bone {} has constraints, so its pose is not its own: apply or mute them first"
    BONE_SCALED = "Bone {} is scaled in this pose: clear its scale first"
    BONE_LIMITED = "The limits of bone {} are counted from the rest pose: clear the limits first"
    IK_WITHOUT_TARGET = "The IK constraint of {} has no target: choose an object"
    IK_STAYS = "The IK constraint of {} stays: {}"
    NO_OBJECT = "There is no object {}: choose another target"
    GOAL_MUTED = "Goal {} belongs to the library file, so it was muted instead of removed"
    BONE_HIDDEN = "Bone {} is hidden: show it or its bone collection first"
    TARGETS_NOT_THERE = (
        "The targets of {} are not at their bones: give each goal a target of its own, without constraints, "
        "drivers and animated parents"
    )
    ACTION_SHARED = "Action {} also moves {}: make it a single user first"
    SELECT_TO_ATTACH = "In Pose Mode, select the controls to attach, or in Object Mode the objects"
    NO_SIZE = "{} has no size at this frame: scale it up first"
    PLACE_NOT_OWN = "Constraints or drivers move {}: mute them first"
    MOVED_BY_NLA = "The NLA moves {}: bake its strips to an action first"
    CURVES_LOCKED = "Curves of {} are locked or muted: free them first"
    MOVED_BY_GOALS = "Goals move bone {}: select its control instead"
    ATTACH_CYCLE = "{} cannot be attached to {}, which follows it: attach it to something that does not"
    DOES_NOT_STAND = "Goal {}: its target moves on this frame: go to a frame on which it stands, or give a range"
    CURVES_SAMPLED = "Curves of {} are samples, which take no keys: convert them to keyframes first"
    CURVES_MODIFIED = "Curves of {} have modifiers, which carry a change to other frames: bake the motion first"
    NOTHING_TO_UNBAKE = "Nothing of {} has dense keys in this range"
    OVERLAP_SOLVED = "Bone {} is moved by a goal: mute the goal, or bake first"
    NO_LEGS_TO_RETARGET = "{} has no hips, thighs, shins and feet that are recognised: set their Role in the Bone panel"
    LEGS_DIFFER = "{} goes on four legs and {} on two: Retarget needs two figures that go alike"
    SCALED_UNEVENLY = "{} is mirrored or scaled unevenly: apply its scale (Object > Apply > Scale)"
    NOTHING_CARRIES = "No bone of {} carries all the others and can be moved: disconnect its hips"
    NEVER_STANDS = "{} is folded at rest and stands nowhere in its motion: choose one in which it stands for a moment"
    SCALE_NOT_CARRIED = "the keys of the scale of {} are left out"
    LOOSE_FEET = (
        "{} has feet that are bones of their own, so legs and feet cannot be mended as one: parent the feet to the "
        "shins, or retarget the motion to a body whose legs are whole"
    )
    NO_FEET = "{} has no two legs that are recognised: set the Role of thighs, shins and feet in the Bone panel"
    LEG_BROKEN = "The bones of a leg of {} do not hang on each other: set the Role of its thigh, shin and foot"
    NOTHING_TO_MEND = "{} has no action to mend: bake its motion first"
    GROUND_EMPTY = "{} has no faces to stand on: choose another mesh as the ground"
    CONTACT_NOT_PLANTED = "Contacts of {} cannot be planted: mute what moves its arm, set its Role, or remove them"
    OTHER_RATE = (
        "This motion moves as if made for {} frames a second, but the scene plays {}: set the scene's Frame Rate, or "
        "import the motion again at its rate"
    )
    MENDED = "{} contacts: planted feet slid by {} % of the height a second, now {} %; knees change up to {} degrees"
    MENDED_HANDS = "{} contacts of hands: slide {} % of the height a second, now {} %; elbows change up to {} degrees"
    NOT_TO_DRAG = "{} cannot be dragged: it and the bones above it are locked, constrained or driven"
    NOT_TO_MOVE = "The target of {} cannot be moved: constraints or another file set its place"
    PIN_KEYED = "The pin {} has keys: switch Auto Keying on to pin its bone from this frame on"
    TARGET_KEPT = "Kept target {}: {}"
    CONTROL_KEPT = "Kept control bone {}: {}"
    CONTROLS_OF_OTHER_FILE = "Kept {} control bones: they belong to another file, so remove them there"
    CONTROLS_IN_EDIT_MODE = "Kept {} control bones: leave Edit Mode and delete them there"
    CURVES_KEPT = "Kept the curves of {} control bones: {}"
    MORE = "and {} more"
    PARENTED = "{} is parented to it"
    CONSTRAINT_USES = "a constraint of {} uses it"
    GOAL_USES = "goal {} of {} uses it"
    DRIVER_READS = "a driver of {} reads it"
    BENDS_TOWARD = "{} bends toward it"
    DRAWN_AT = "{} is drawn at it"
    DEFORMED_BY = "{} is deformed by it"
    ANIMATES = "{} animates it"
    USES = "{} uses it"
    MORE_THAN_A_TARGET = "it does more than being a target"
    PLAYS_TOO = "{} plays them too"
    NLA_PLAYS_TOO = "an NLA track plays them too"
    BEGIN_POSING = "{} is selected: press G to move it, or Shift Alt G to drag any part of the body"
    BEGIN_WITH_CONTROLS = "Select a control, and press G to move it"
    CONTROLS_ADDED = "{} controls added"
    NO_EYES = (
        "No bones of {} are known as eyes: choose Left Eye and Right Eye as the Role of its eyes in the Bone panel"
    )
    EYES_OF_RIG = (
        "The eyes of {} have controls of {}: pose these, or choose Left Eye and Right Eye as the Role of bones that "
        "turn its eyes in the Bone panel"
    )
    EYES_HAVE_GOALS = "The eyes of {} have goals already: move their targets, or remove these goals in the panel Rig"
    EYE_CONSTRAINED = "The eye {} follows its constraint {}: mute that, then press Eyes again"
    EYES_NEED_BONES = (
        "No bone can be added to {}, so its eyes get no controls: show it in the view layer, or make it and its "
        "armature data local"
    )
    NO_CONTROLS = "{} has no controls: press Set Up Full Body"
    KEYED_FROM_MOTION = "keyed their controls on frames {} to {}"
    CONTROLS_UNKEYED = (
        "Action {} moves the body, but has no keys on its controls, so it is not seen: press Key Controls from Motion"
    )
    CONTROLS_NOT_KEYED = "their controls are not keyed"
    ACTION_OF_LIBRARY = "Action {} is linked, so keys would be lost: make it local first"
    ACTION_BLENDED = "Action {} is blended with the NLA, so keys would not count: set it to Replace, Influence 1, first"
    STAYS_ON_KEYS = "{} stays on its keys: raise the Influence of its goal to move it by its target"
    NOT_FOUND = "not found: {}"
    LIMITS_SET = "Set the limits of {} bones"
    NONE_HELD = "None of the bones is held"
    HELD = "Held on all frames: {}"
    HELD_HERE = "Held until the frame changes, then their keys come back: {}"
    NOT_MET = "Not met at frame {}: {}, by {}"
    GOALS_MISSED = "goals missed on {}, most at frame {}: {} by {}"
    ONE_FRAME = "1 frame"
    FRAMES = "{} frames"
    RANGE_REVERSED = "The range ends at frame {}, before it starts at {}"
    REMOVED = "{} was removed meanwhile"
    OBJECT_REMOVED = "an object was removed meanwhile"
    LAYER_REMOVED = "the view layer was removed meanwhile"
    BONES_EDITED = "the bones of {} were edited meanwhile"
    OTHER_FRAME = "another frame was set meanwhile"
    UNDONE = "undo was called meanwhile"
    NOTHING_KEYED = "Nothing was keyed"
    WORKING = "Working"
    KEYING_CONTROLS = "Keying the controls"
    LIMB_MOVED = "The figure has moved by {}: bones of these limbs are locked, driven or constrained"
    SWITCH_NOT_KEYED = "The pasted pose switches {} between goal and bones at this frame only, without a key: {}"
    PASTED_OTHERWISE = (
        "The pasted pose is not the mirror image of what was copied, at {}: give both sides the same goals and pins, "
        "with bones as targets"
    )
    BODY_KEYED = "{} other bones are keyed and held there too, or the body would have moved"
    LINKED_KEYS = "{} is linked, so keys would be lost: make a library override first"
    MOTION_NO_NUMBERS = "The motion of {} has values that are no numbers: reset its place and its pose"
    SMOOTH_LAG = "Follow lags behind its targets, a smooth bake does not: choose another Start From, or Smooth 0"
    SMOOTH_ORDER = "Goals follow what other goals move, which a smooth bake does not: choose Smooth 0"
    SYSTEM_OVERRIDE = "{} is an override that is not editable: make it editable (Object > Library Override > Make)"
    TWEAK_MODE = "Leave the NLA tweak mode of {} first"
    ACTION_IN_NLA = "Action {} also plays in the NLA of {}: mute its track, or make the action a single user first"
    OR_NEW_ACTION = "{}, or bake into a new action"
    LEARNT_NO_NUMBERS = "The keys of these actions are no numbers: correct them in the Graph Editor"
    OWN_MOTION_DAMAGED = "What was learnt from actions is damaged and left out: run Learn from Actions again"
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
