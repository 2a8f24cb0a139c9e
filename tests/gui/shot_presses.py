# SPDX-License-Identifier: GPL-3.0-or-later
"""How many keys and mouse buttons the shot needs with DQIK, counted, beside Blender's own tools, by their steps.

A modifier that is held counts as a press, a typed number as its keys. Both have the same poses: what is typed to move
a control is counted from the same table. Blender's figure has IK and Copy Rotation on hands and feet and no poles.
"""

from collections.abc import Mapping

from shot_scene import BLOCKED, BOX, WAVES, Move

_FIELD = 4  # a number in a panel: two clicks, a digit, Return
_MODE = 6  # to Object Mode, pick the box, pick the armature, back
_HEAD = "head"  # goes along with Blender's body by itself


def of_moves(names: tuple[str, ...], steps: tuple[Move, ...]) -> int:
    """Presses that pick controls, or the box in Object Mode, and move them."""
    picks = _MODE if names == (BOX,) else 2 * len(names) - 1
    return picks + sum(3 + len(f"{value:g}") for *_, value in steps)


_MOVES = sum(of_moves(names, steps) for moves in BLOCKED.values() for names, steps in moves if names != (_HEAD,))
_FRAMES = len(BLOCKED) - 1  # clicks on the timeline
_WAVES = sum(2 + 3 + len(f"{angle:g}") for _, angle in WAVES)

BY_HAND: dict[str, tuple[tuple[str, int], ...]] = {
    "set up": (
        ("Edit Mode", 1),
        ("target bones of a hand and a foot: pick, Shift D, Return, Alt P, Clear Parent, F2, six letters, Return",
         2 * (1 + 2 + 1 + 2 + 1 + 1 + 6 + 1)),
        ("Symmetrize both: pick, menu, entry", 3 + 2),
        ("Pose Mode", 2),
        ("IK of four limbs: pick two bones, Shift I, entry, tab, chain length", 4 * (3 + 2 + 1 + 1 + _FIELD)),
        ("Copy Rotation of four ends: pick two bones, Ctrl Shift C, entry", 4 * (3 + 3 + 1)),
        ("Auto Keying; first keys of the box", 1 + _MODE + 1),
    ),
    "blocked poses": (
        ("frames", _FRAMES),
        ("the same moves, but for the head, which goes along", _MOVES),
        ("a key for all: A, I", 2 * len(BLOCKED)),
        ("chest turned and bent to the stool, and back: pick, R, axis, number, Return", 2 * (1 + 2 * 5)),
    ),
    "grip and let go": (
        ("the box keyed here, in Object Mode", _MODE + 1),
        ("two hands: pick, tab, Add Constraint, menu, Child Of, target field, box, Set Inverse", 2 * 8),
        ("their influence keyed with 0 a frame before, with 1 here: field, I, and two frame steps",
         2 * (2 * (_FIELD + 1) + 2)),
        ("to let go: pick, keys of place and rotation on the frame before", 2 * (1 + 1 + 1)),
        ("visual keys here: K, entry", 2 * 2),
        ("their influence keyed with 1 a frame before, with 0 here", 2 * (2 * (_FIELD + 1) + 2)),
    ),
    "hips on the chair": (("nothing: hands do not move the hips of such a figure", 0),),
    "chest at one pose": (("frame, pick, R, X, number, Return, with the chest keyed on all poses", 7),),
    "feet planted": (
        ("to the eye, on four frames of both rolls: pick; frame, G, click, by which the ball slides still",
         2 * (1 + 4 * 3)),
        ("flat feet: nothing, equal keys hold them", 0),
    ),
    "wave by FK": (
        ("frame; pick three bones; visual keys: K, entry", 1 + 5 + 2),
        ("influence of IK and of Copy Rotation keyed with 1 a frame before, with 0 here: pick, fields, I, frame steps",
         2 * (1 + 2 * (_FIELD + 1) + 2)),
        ("the waves", _WAVES),
    ),
    "bake and save": (
        ("frame; A; Pose, Animation, Bake Action; Visual Keying, Clear Constraints, OK", 1 + 1 + 3 + 3),
        ("Ctrl S", 2),
    ),
}  # fmt: skip


def table(presses: Mapping[str, int]) -> str:
    """The table, in Markdown. presses : counted with DQIK, by part."""
    rows = [(part, presses[part], sum(number for _, number in steps)) for part, steps in BY_HAND.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(f"| {part} | {own} | {other} |" for part, own, other in [("part", "DQIK", "Blender"), *rows])
