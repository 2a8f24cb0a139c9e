# SPDX-License-Identifier: GPL-3.0-or-later
"""What DQIK has to say to the user: notes, which are a code and values, and the words of each code.

A note is made where its fact is found. Its words are only here. Panel, operators and command line show them, in the
language of the interface where this is another one. Code compares codes and never reads words.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, unique
from typing import TypeAlias

from ..solvers import DqikError

_NAMED = 3  # most names that a note lists


@unique
class Code(Enum):
    """The words of each note, with `{}` for each of its values."""

    GOAL = "Goal {}: {}"
    NO_BONE = "it has no bone: choose one"
    BONE_MISSING = "the armature has no bone {}: choose another"
    NO_TARGET = "it has no target: choose an object"
    TARGET_IS_ARMATURE = "its target is this armature: also choose one of its bones"
    POLE_IS_ARMATURE = "its pole is this armature: also choose one of its bones"
    NO_EFFECT = "it has no effect: switch on Position or Rotation"
    COUPLING_WITHOUT_BONE = "Coupling of {}: the armature has no bone {}: choose another"
    COUPLING_OF_TARGET = "Coupling of {}: a target is bone {} or follows it, so it has no effect: couple other bones"
    SELECT_COUPLED = "Select the bones that follow, then the one that they follow, in Pose Mode"
    TOO_FEW_TO_COUPLE = "{} has too few bones that are recognised as {}: set their Role in the Bone panel"
    FINGERS = "fingers"
    SPINE_PARTS = "parts of a spine"
    COLLARS_AND_ARMS = "collar bones and upper arms"
    FOREARM_TWISTS = "twist bones of forearms"
    COUPLED = "Coupled {} axes of bones"
    UNCOUPLED = "Uncoupled {} axes of bones"
    COUPLINGS_LOOSENED = "{} couplings belong to the library file, so their stiffness is 0 instead"
    NOT_COUPLED = "No bone of {} that is selected is coupled"
    NO_CURVE = "its target is no curve: choose a curve object"
    PLACE_NO_NUMBER = "the place of {} is not a number: reset its transform"
    HAS_NO_BONE = "{} has no bone {}"
    LIMIT_NO_NUMBER = "Bone {}: {} is not a number: set it again"
    KEYS_LEFT_OUT = "Keys of bone {}{} are no numbers and were left out"
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
    NO_BODIES = "No bone of {} has a body: set its Role in the Bone panel"
    BODIES_MEASURED = "Measured {} bones"
    OBSTACLE_OF_LIBRARY = "Obstacle {} belongs to the library file, so it has no object instead of being removed"
    CHOOSE_OBSTACLE = "Choose an obstacle in the list"
    TARGET_DISABLED = "while it is disabled in the viewport"
    TARGET_NOT_IN_LAYER = "while it is not in the view layer"
    TARGET_DISABLED_BY_KEYS = "where it is disabled in the viewport"
    ADD_GOAL = "Add a goal: choose a bone and the object that it should reach"
    ALL_LOCKED = "Every bone of the goals' chains is locked, constrained or driven: free one"
    LEFT_TO_CONSTRAINTS = "{} left to constraints"
    LEFT_TO_DRIVERS = "{} left to drivers"
    SOLO_TRACK = "An NLA track of {} is solo, which hides its action: switch Solo off first"
    LEARNT = "Learnt from {} frames of {}"
    NO_ACTION = "There is no action {}"
    ACTION_TURNS_NONE = "The action {} turns none of the bones that the goals move"
    NO_ACTION_TURNS_MOST = "No action turns most of the bones that the goals move"
    TARGET_NOT_TURNED = "The target of {} cannot be turned: constraints or another file set its place"
    MORE_LIMBS = (
        "This figure has more than two pairs of limbs, so Human Limits does not fit it: set limits bone by "
        "bone"
    )
    TAKEN_FOR = "taken for {}"
    SIDES_SWAPPED = "Swapped the sides of {} bones"
    NO_SIDES = "No bone of {} is known as a part of a left or a right side"
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
    SWITCHED_OFF = "Switched off after an error: {}"
    REST_POSITION = "The armature is shown in Rest Position: choose Pose Position to solve"
    POSE_NO_NUMBER = "The armature's place, or a bone's pose, is not a number: reset it and switch Live on again"
    CONTROLLED = (
        "Bones such as {} follow the controls of this rig, so goals cannot move them: set up the rig that it "
        "was made from, or add goals for its FK controls"
    )
    SWITCH_ANIMATED = "{} of {} would switch back from FK: delete its keys, strips or driver first"
    SWITCHED_TO_FK = "goals move the FK controls now, and {} switches are set to FK"
    WINGS_OR_HOOVES = "This figure has wings, paws or hooves, so Human Limits does not fit it: set limits bone by bone"
    FOUR_LEGS = (
        "This figure stands on four legs or leans like a bird, so Human Limits does not fit it: set limits "
        "bone by bone"
    )
    FOLDED = "At rest this figure is folded or lies down, but here it stands: press Use Pose as Rest first"
    NO_SLOT = "This figure stands still: action {} moves nothing until its slot is chosen in the Action Editor"
    FIGURE_STILL = "This figure stands still: no keys of action {} move its bones"
    ONLY_ACTIVE = "of the selected armatures only {}, the active one, was set up: press again with another one active"
    IS_TARGET_OF = "This is the target of {}: select a bone of the body"
    SELECT_ARMATURE = "Select an armature first"
    LEAVE_EDIT_MODE = "Leave Edit Mode first"
    NO_BONES = "This armature has no bones: add some in Edit Mode"
    ADD_GOAL_FIRST = "Add a goal first"
    REMOVE_GOALS_FIRST = "Remove the goals first"
    POSE_IS_REST = "{} stands in its rest pose already: go to the frame that has the wanted pose"
    REST_POSE_MADE = "This pose is the rest pose now; the keys of {} bones are counted from it"
    BONES_NOT_EDITABLE = "The bones of {} cannot be edited: it is hidden, or linked from another file"
    SHARED_ARMATURE = "Other objects share the armature {}: make it a single-user copy first"
    NLA_MOVES = "The NLA moves {}, and its strips would not fit a new rest pose: bake them to an action first"
    BOUND_TO_REST = "{} is bound to the rest pose and would be deformed: unbind it first"
    KEYS_NO_NUMBERS = "Keys of {} are no numbers: delete them first"
    BONE_DRIVEN = "Bone {} has drivers, which would not fit a new rest pose: remove them first"
    BONE_CONSTRAINED = "Bone {} has constraints, so its pose is not its own: apply or mute them first"
    BONE_SCALED = "Bone {} is scaled in this pose: clear its scale first"
    BONE_LIMITED = "The limits of bone {} are counted from the rest pose: clear the limits first"
    NO_IK_CONSTRAINTS = "{} has no active IK constraints"
    IK_WITHOUT_TARGET = "The IK constraint of {} has no target: choose an object"
    IK_STAYS = "The IK constraint of {} stays: {}"
    GOALS_AND_LIMITS_ADDED = "Added {} goals, and limits for {} bones"
    NO_OBJECT = "There is no object {}: choose another target"
    SELECT_BONES = "In Pose Mode, select the bones that should reach a target"
    NO_GOAL = "There is no goal {}: {} has {}, counted from 0"
    GOAL_MUTED = "Goal {} belongs to the library file, so it was muted instead of removed"
    GOAL_WITHOUT_TARGET = "Goal {} has no target: choose an object"
    TARGET_HIDDEN = "{} is hidden or not in this view layer: show it first"
    BONE_HIDDEN = "Bone {} is hidden: show it or its bone collection first"
    TARGETS_NOT_THERE = (
        "The targets of {} are not at their bones: give each goal a target of its own, without constraints, "
        "drivers and animated parents"
    )
    TARGETS_OF_OTHER_KINDS = "The targets of {} stay: only those of Reach goals belong at their bones"
    KEYS_WITHOUT_EFFECT = (
        "The keys of the targets of {} have no effect: unmute and unlock their curves and groups, and mute "
        "the NLA above them"
    )
    TARGETS_GO_BACK = "The targets of {} go back to their keys: switch Auto Keying on, or key them"
    ACTION_SHARED = "Action {} also moves {}: make it a single user first"
    SELECT_TO_ATTACH = "In Pose Mode, select the controls to attach, or in Object Mode the objects"
    SELECT_PROPS = "Select the objects to put in the hand, and the hand's bone or control in Pose Mode"
    CHOOSE_TARGET = "Choose the object to attach to"
    ATTACHED = "Attached {} to {}"
    TARGET_UNKEYED = "{} was moved beside its keys: key it at this frame, or it moves back with the next frame"
    KEYS_ASIDE = "Keys of {} on up to {} later frames are set aside, and count again after Detach"
    LET_GO = "Let go {}"
    NONE_ATTACHED = "None of what is selected is attached at frame {}"
    NO_SIZE = "{} has no size at this frame: scale it up first"
    PLACE_NOT_OWN = "Constraints or drivers move {}: mute them first"
    MOVED_BY_NLA = "The NLA moves {}: bake its strips to an action first"
    CURVES_LOCKED = "Curves of {} are locked or muted: free them first"
    MOVED_BY_GOALS = "Goals move bone {}: select its control instead"
    ATTACH_CYCLE = "{} cannot be attached to {}, which follows it: attach it to something that does not"
    SELECT_TO_PLANT = "Select the controls of the feet or hands to plant"
    DOES_NOT_STAND = "Goal {}: its target moves on this frame: go to a frame on which it stands, or give a range"
    SELECT_TO_EDIT = "In Pose Mode, select the controls or bones that you have moved"
    NOTHING_MOVED = "Nothing that is selected has keys and was moved on this frame: move it first, then press this"
    CURVES_SAMPLED = "Curves of {} are samples, which take no keys: convert them to keyframes first"
    CURVES_MODIFIED = "Curves of {} have modifiers, which carry a change to other frames: bake the motion first"
    RANGE_EDITED = "Changed {} controls or bones over a radius of {} frames"
    UNBAKING = "Replacing keys"
    NOTHING_TO_UNBAKE = "Nothing of {} has dense keys in this range"
    UNBAKED_TO = "{} keys in place of {}; differences up to {} degrees and {} % of the size"
    SELECT_TO_OVERLAP = "In Pose Mode, select the bones of a tail, of hair or ears"
    OVERLAP_SOLVED = "Bone {} is moved by a goal: mute the goal, or bake first"
    RETARGETING = "Carrying the motion over"
    CHOOSE_SOURCE = "Choose the armature whose motion this one gets"
    SOURCE_IS_SELF = "{} is this armature itself: choose another as the source"
    NO_LEGS_TO_RETARGET = "{} has no hips, thighs, shins and feet that are recognised: set their Role in the Bone panel"
    LEGS_DIFFER = "{} goes on four legs and {} on two: Retarget needs two figures that go alike"
    SCALED_UNEVENLY = "{} is mirrored or scaled unevenly: apply its scale (Object > Apply > Scale)"
    NO_MOTION = "{} does not move on frames {} to {}"
    NOTHING_CARRIES = "No bone of {} carries all the others and can be moved: disconnect its hips"
    NEVER_STANDS = "{} is folded at rest and stands nowhere in its motion: choose one in which it stands for a moment"
    FOLDED_BODY = "{} is folded at rest: on a frame on which it stands, press Use Pose as Rest first"
    SCALE_NOT_CARRIED = "the keys of the scale of {} are left out"
    RETARGETED = "{} bones on {} frames, {} keys"
    OVERLAPPED = "{} bones follow through, {} keys"
    LOOSE_FEET = (
        "{} has feet that are bones of their own, so legs and feet cannot be mended as one: parent the feet to the "
        "shins, or retarget the motion to a body whose legs are whole"
    )
    NO_FEET = "{} has no two legs that are recognised: set the Role of thighs, shins and feet in the Bone panel"
    LEG_BROKEN = "The bones of a leg of {} do not hang on each other: set the Role of its thigh, shin and foot"
    NOTHING_TO_MEND = "{} has no action to mend: bake its motion first"
    CHOOSE_GROUND = "Choose the mesh on which the figure moves"
    NO_GROUND = "There is no mesh {} in the scene to move on"
    GROUND_EMPTY = "{} has no faces to stand on: choose another mesh as the ground"
    NO_CONTACTS = "No foot of {} stands on these frames, and no hand holds on, so nothing was changed"
    CONTACT_NOT_PLANTED = "Contacts of {} cannot be planted: mute what moves its arm, set its Role, or remove them"
    CONTACT_THERE = "{} has a contact at or beside frame {} already: drag its bar, or go to another frame"
    NO_LIMB_TO_ADD = "{} is no foot or hand that is recognised: set its Role in the Bone panel"
    OTHER_RATE = (
        "This motion moves as if made for {} frames a second, but the scene plays {}: set the scene's Frame Rate, or "
        "import the motion again at its rate"
    )
    MENDED = "{} contacts: planted feet slid by {} % of the height a second, now {} %; knees change up to {} degrees"
    MENDED_HANDS = "{} contacts of hands: slide {} % of the height a second, now {} %; elbows change up to {} degrees"
    MENDING = "Planting feet and hands"
    CONTACTS_FOUND = "{} contacts found"
    NO_CONTACT = "{} has {} contacts: there is none with the number {}"
    SELECT_FOR_PATHS = "In Pose Mode, select the bones whose motion to show"
    SHOW_GHOSTS_FIRST = "Switch Ghosts or Arcs on first"
    NO_PATHS = "Blender made no motion paths for {}"
    PLANTED = "Planted {} from {} to {}"
    NOT_TO_DRAG = "{} cannot be dragged: it and the bones above it are locked, constrained or driven"
    NOT_TO_MOVE = "The target of {} cannot be moved: constraints or another file set its place"
    NO_BODY_THERE = "There is no body under the pointer: press on the skin or a bone of a character in Pose Mode"
    GRAB_HOW = "Drag a part of the body, or click it to select it (Shift extends). Esc cancels"
    GRAB_IN_POSE_MODE = "Go to Pose Mode to grab the body"
    SELECT_BONES_TO_HOLD = "In Pose Mode, select the bones to hold"
    CHOOSE_POSITION_OR_ROTATION = "Choose Position, Rotation or both"
    NONE_PINNED = "None of the selected bones is pinned at this frame"
    PINNED = "Pinned on all frames: {}"
    PINNED_FROM = "Pinned from frame {} on: {}"
    UNPINNED = "Not pinned any more, on no frame: {}"
    UNPINNED_FROM = "Not pinned any more from frame {} on: {}"
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
    NOTHING_TO_MIRROR = "There are no {} to mirror, or no bones named as the other side"
    MIRRORED = "Mirrored the {} of {} bones"
    NO_MIRROR_IMAGE = "without a mirror image: {}"
    GOALS = "goals"
    LIMITS = "limits"
    COUPLINGS = "couplings"
    NO_NAMED_ENDS = (
        "No bone of {} is named as a hand, a foot or a head: name them as Rigify, Mixamo or VRM does, or use "
        "Add Goal"
    )
    NAME_A_FILE = "Name a file to write"
    CANNOT_WRITE = "{} cannot be written: choose another place"
    PROBLEM_WRITTEN = "{} has {} objects and {} bones, without meshes and names: look at it before you send it"
    BEGIN_POSING = "{} is selected: press G to move it, or Shift Alt G to drag any part of the body"
    BEGIN_WITH_CONTROLS = "Select a control, and press G to move it"
    GOALS_ADDED = "Added goals for {} bones"
    NO_GOALS_ADDED = "Added no goals"
    TARGETS_ARE_EMPTIES = "this armature's bones cannot be edited, so their targets are empties"
    CONTROLS_ADDED = "{} controls added"
    NO_CONTROL_ADDED = "No control was added: those are there already"
    CONTROLS_LIE = (
        "they lead nothing yet, so that the body stays as it is: raise the Influence of their goals, or switch Use "
        "Pole on, where they should"
    )
    CONTROLS_NEED_BONES = "More controls are bones, and no bone can be added to {}"
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
    CONTROLS_HIDDEN = "All controls of {} are hidden"
    CONTROLS_KEYED = "{} controls keyed at frame {}"
    CONTROLS_WITHOUT_KEYS = "{} cannot be keyed: {}"
    HAD_GOALS = "{} bones had goals already"
    MAY_MOVE = "{} may move"
    KEYED_FROM_MOTION = "keyed their controls on frames {} to {}"
    CONTROLS_UNKEYED = (
        "Action {} moves the body, but has no keys on its controls, so it is not seen: press Key Controls from Motion"
    )
    CONTROLS_HAVE_KEYS = "Action {} has keys on the controls of {} already, or does not move its body"
    TARGETS_HAVE_ACTIONS = (
        "The targets of {} are objects with actions of their own: give them new ones, switch Live off, and press "
        "Targets to Pose for the frames"
    )
    CONTROLS_NOT_KEYED = "their controls are not keyed"
    ACTION_OF_LIBRARY = "Action {} is linked, so keys would be lost: make it local first"
    ACTION_BLENDED = "Action {} is blended with the NLA, so keys would not count: set it to Replace, Influence 1, first"
    STAYS_ON_KEYS = "{} stays on its keys: raise the Influence of its goal to move it by its target"
    NOT_FOUND = "not found: {}"
    THE_BONES = "the bones"
    SELECTED_BONES = "the selected bones"
    NO_IK_LIMITS = "None of {} has IK limits"
    LIMITS_SET = "Set the limits of {} bones"
    ACTION_TURNS_NO_BONES = "The action of {} turns none of {}"
    NOT_OF_A_FIGURE = "None of {} is known as a part of a human figure: set their Role in the Bone panel"
    LIMITS_SET_OF = "Set the limits of {} of {} bones"
    OTHERS_UNCHANGED = "the others did not change"
    LEFT_ALONE = "left alone: {}, whose direction is not known"
    NONE_SELECTED_HELD = "None of the selected bones is held"
    NONE_HELD = "None of the bones is held"
    HOLDS_CLEARED = "Cleared the holds of {} bones"
    HOLDS_KEYED = "Keyed the holds of {}"
    HOLDS_NOT_KEYED = "The holds of {} cannot be keyed: unlink their action, or leave the NLA's tweak mode"
    HOLD_NEEDS_LIVE = "Switch Live on first: bones are held while it is on"
    SELECT_SOLVED = "In Pose Mode, select bones that the goals move"
    HELD = "Held on all frames: {}"
    HELD_HERE = "Held until the frame changes, then their keys come back: {}"
    LIVE_IS_OFF = "Live is off already"
    NOT_MET = "Not met at frame {}: {}, by {}"
    BAKED = "Baked {} frames, {} keys"
    GOALS_MISSED = "goals missed on {}, most at frame {}: {} by {}"
    ONE_FRAME = "1 frame"
    FRAMES = "{} frames"
    AND_MORE = "{} and {} more"
    CHECKED = "Checked {} frames"
    CHECKED_ALL_MET = "Checked {} frames: all met"
    CHECKED_LAGGING = "Checked {} frames: none missed, on {} of them the bones lag behind"
    NOTHING_TO_CHECK = "There is nothing to check"
    NO_FURTHER_FRAME = "There is no further frame that misses a goal"
    RANGE_REVERSED = "The range ends at frame {}, before it starts at {}"
    BAKE_STOPPED = "Bake stopped, nothing was changed"
    CHECK_STOPPED = "Check stopped, the marks are as before"
    COMPARISON_STOPPED = "Comparison stopped"
    STOPPED = "Stopped"
    REMOVED = "{} was removed meanwhile"
    OBJECT_REMOVED = "an object was removed meanwhile"
    LAYER_REMOVED = "the view layer was removed meanwhile"
    BONES_EDITED = "the bones of {} were edited meanwhile"
    OTHER_FRAME = "another frame was set meanwhile"
    UNDONE = "undo was called meanwhile"
    NOTHING_KEYED = "Nothing was keyed"
    MISSES_UNKNOWN = "The keys are written, but the missed frames are not known"
    GOAL_NOT_ACTIVE = "The active goal is muted or incomplete"
    REACHES_NOWHERE = "{} reaches no place in half of all orientations"
    WORKING = "Working"
    BAKING = "Baking"
    KEYING_CONTROLS = "Keying the controls"
    SWITCHING = "Switching the limbs"
    SELECT_LIMB = "Select the control or bones of a limb that has a goal"
    LIMB_IN_IK = "Follows its goal already, nothing was changed: {}"
    LIMB_MOVED = "The figure has moved by {}: bones of these limbs are locked, driven or constrained"
    LIMB_KEYED = "Switched {}, with keys at frames {} to {} and beside them"
    SWITCH_NOT_KEYED = "The pasted pose switches {} between goal and bones at this frame only, without a key: {}"
    PASTED_OTHERWISE = (
        "The pasted pose is not the mirror image of what was copied, at {}: give both sides the same goals and pins, "
        "with bones as targets"
    )
    BODY_MOVES = "The rest of the body moves by {}: it stays if {} other bones are keyed and held there too"
    SWITCH_LIMB = "Press Limb to FK or Limb to IK first: this keys the body where these have just switched a limb"
    BODY_KEYED = "{} other bones are keyed and held there too, or the body would have moved"
    CHECKING = "Checking"
    COMPARING = "Comparing solvers"
    COMPUTING_REACH = "Computing the reach"
    ESC = "{}: Esc to cancel"
    ESC_AT = "{}: {} %, Esc to cancel"
    ESC_LEFT = "{}: {} %, {} left, Esc to cancel"
    STOPPED_UNCHANGED = "Stopped, nothing was changed"
    COMPARED = "Compared {} solvers on {} frames"
    TABLE_IN = "the table is in the panel and in the text {}"
    NO_PICTURE = "the picture needs a Blender with a window"
    PICTURE_IN_EDITOR = "the picture is in the Image Editor"
    PICTURE_IN = "the picture is the image {}"
    CHOOSE_SOLVERS = "Choose the solvers to compare"
    LINKED_KEYS = "{} is linked, so keys would be lost: make a library override first"
    MOTION_NO_NUMBERS = "The motion of {} has values that are no numbers: reset its place and its pose"
    SMOOTH_LAG = "Follow lags behind its targets, a smooth bake does not: choose another Start From, or Smooth 0"
    SMOOTH_ORDER = "Goals follow what other goals move, which a smooth bake does not: choose Smooth 0"
    LAG_STEP = "Follow moves bones from each frame to the next: bake with Step 1"
    LAG_UNBAKED = "Renders do not show how {} lags behind its targets: bake it first"
    UNBAKED = "Bake these simulations before you render: {}"
    HIDDEN_IN_RENDER = "Enable these targets in renders, or they stand still there: {}"
    SYSTEM_OVERRIDE = "{} is an override that is not editable: make it editable (Object > Library Override > Make)"
    TWEAK_MODE = "Leave the NLA tweak mode of {} first"
    ACTION_IN_NLA = "Action {} also plays in the NLA of {}: mute its track, or make the action a single user first"
    OR_NEW_ACTION = "{}, or bake into a new action"
    ALL_MET = "All goals met"
    LAGS = "At frame {} the bones lag behind their targets, as Follow has them"
    LEARNT_NO_NUMBERS = "The keys of these actions are no numbers: correct them in the Graph Editor"
    OWN_MOTION_DAMAGED = "What was learnt from actions is damaged and left out: run Learn from Actions again"
    AND_OF_MORE = " and of {} more"
    QUOTED = "{}"


Value: TypeAlias = "str | int | float | Note | DqikError"
"""What stands in a field: a name or a number, another note, or an error of the solvers."""


class Note:
    """A fact to tell the user. Equal facts are equal notes."""

    __slots__ = ("code", "values")

    def __init__(self, code: Code, *values: Value) -> None:
        self.code, self.values = code, values

    def codes(self) -> list[Code]:
        """The codes of the note and of all notes in its fields."""
        inner = (value for value in self.values if isinstance(value, Note))
        return [self.code, *(code for note in inner for code in note.codes())]

    def words(self, translate: Callable[[str], str] = str) -> str:
        """The note as text. translate : gives the words of a code, with its fields, in another language."""
        return translate(self.code.value).format(*(_word(value, translate) for value in self.values))

    def __str__(self) -> str:
        return self.words()

    def __repr__(self) -> str:
        return f"Note({self.code.name}, {', '.join(map(repr, self.values))})"

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
    return Note(Code.AND_MORE, text, len(names) - _NAMED) if len(names) > _NAMED else text


def joined(notes: Iterable[Note], translate: Callable[[str], str] = str) -> str:
    """Notes as the clauses of one line."""
    return "; ".join(note.words(translate) for note in notes)


def _word(value: Value, translate: Callable[[str], str]) -> str:
    if isinstance(value, Note):
        return value.words(translate)
    if isinstance(value, DqikError):
        return translate(value.template).format(*value.values) if value.values else translate(value.template)
    return str(value)
