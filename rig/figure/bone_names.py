# SPDX-License-Identifier: GPL-3.0-or-later
"""What the name of a bone says about its part and side of a figure, alone, and the same name on the other side.

A name is split into words, also where they run together ("lefthand"), and these are English, Latin, those of
MikuMikuDance, or of the languages in `bone_languages`. A few words mean different parts in different
rigs: "shoulder" is a collar bone or an upper arm, "leg" a whole leg's upper or lower bone. Such names have several
parts with weights, and the bones above and below decide.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ...solvers.rest import Tree
from .bone_languages import ENGLISH, SIDES
from .parts import LEFT, MIDDLE, RIGHT

_PAIRS = (("left", "right"), ("l", "r"), ("lft", "rgt"), ("lt", "rt"), ("左", "右"), *SIDES)
_SIDES = {word: side for pair in _PAIRS for word, side in zip(pair, (LEFT, RIGHT), strict=True)}
_FLIPPED = {word: other for pair in reversed(_PAIRS) for word, other in (pair, pair[::-1])}


def _set(words: str) -> set[str]:
    return set(words.split())


_NOISE = _set("""mixamorig bip biped j c def org character ccbase cc base bone bones joint jnt skel skin rig b m x sk bn
    stretch bend valve valvebiped bind deform main armature mid of the 半""")
_HELPERS = _set("""ik fk mch pole target ctrl control tweak helper end nub site tip heel parent master footsteps
    prop weapon sword shield holster attachment socket breast bust boob pectoral hair ponytail braid skirt cape cloth
    jaw eye eyes ear tongue brow lip cheek nose
    teeth sec adj face facial muscle handle vis d p ex phys jiggle cancel anim rotation transform tail beak muzzle
    親 先 目 髪 胸 キャンセル""")
_WORN = _set("""weapon sword shield prop holster hair hairs ponytail braid skirt cape cloak cloth hat helmet gun rifle
    bow staff axe spear scarf robe coat 髪""")
_SHORT = 3  # letters: shorter words are none
_EYES = {"eye", "eyes", "目", "眼"}
_TWISTS = {"twist", "roll", "part", "捩", "捩れ", "捻", "捻り"}
_FINGERS = _set("""thumb index middle ring pinky pinkie little finger fingers metacarpal metacarpals carpal palm
    proximal intermediate distal cup 親指 人指 人差指 中指 薬指 小指 指""")
_QUALIFIERS = {"upper": "up", "up": "up", "lower": "low", "low": "low", "lo": "low", "top": "up", "bottom": "low",
               "fore": "fore", "in": "", "front": "front", "back": "back", "rear": "back", "hind": "back"}  # fmt: skip
_WINGS = {"wing", "wings", "翼", "羽"}
ANIMAL = _set("""wing wings hoof paw hock stifle fetlock pastern antler antlers pincer pincers withers foreleg hindleg
    翼 羽""")

_TRUNK = {
    "hips": "hips hip pelvis 下半身 センター グルーブ 腰 cog",
    "spine": "spine chest back torso abdomen waist belly stomach lumbar thorax ribcage sternum 上半身",
    "neck": "neck cervical 首",
    "head": "head skull cranium 頭",
}
_LIMBS = {  # the parts that a word may stand for, the likeliest first; "x+y" is a word with a qualifier
    "collar": {"collar": 3.0}, "clavicle": {"collar": 3.0}, "collarbone": {"collar": 3.0}, "scapula": {"collar": 3.0},
    "clav": {"collar": 3.0},
    "肩": {"collar": 3.0}, "shoulder": {"collar": 2.0, "arm": 1.5}, "shldr": {"arm": 3.0, "collar": 1.0},
    "arm": {"arm": 2.0}, "arm+up": {"arm": 3.0}, "arm+low": {"forearm": 3.0}, "arm+fore": {"forearm": 3.0},
    "humerus": {"arm": 3.0}, "腕": {"arm": 3.0}, "bicep": {"arm": 1.0},
    "elbow": {"forearm": 3.0}, "radius": {"forearm": 3.0}, "ulna": {"forearm": 1.0}, "ひじ": {"forearm": 3.0},
    "肘": {"forearm": 3.0}, "palm": {"hand": 1.0, "finger": 1.0},
    "hand": {"hand": 3.0, "finger": 1.0}, "wrist": {"hand": 3.0}, "手首": {"hand": 3.0}, "手": {"hand": 2.0},
    "hip": {"thigh": 2.0, "hip_joint": 2.0}, "pelvis": {"hip_joint": 2.0}, "buttock": {"hip_joint": 2.0},
    "hips": {"thigh": 2.0, "hip_joint": 2.0},
    "thigh": {"thigh": 3.0}, "femur": {"thigh": 3.0}, "足": {"thigh": 3.0, "foot": 1.5}, "leg+up": {"thigh": 3.0},
    "leg": {"shin": 2.0, "thigh": 1.5}, "leg+low": {"shin": 3.0}, "shin": {"shin": 3.0}, "calf": {"shin": 3.0},
    "knee": {"shin": 3.0}, "tibia": {"shin": 3.0}, "ひざ": {"shin": 3.0}, "膝": {"shin": 3.0},
    "ankle": {"foot": 3.0}, "foot": {"foot": 3.0, "toes": 2.0}, "足首": {"foot": 3.0},
    "toe": {"toes": 2.0}, "toes": {"toes": 2.0}, "ball": {"toes": 2.0}, "metatarsal": {"toes": 2.0},
    "metatarsals": {"toes": 2.0}, "つま先": {"toes": 2.0},
    "wing": {"arm": 2.0, "forearm": 1.0, "hand": 0.5},
    "wing+up": {"arm": 3.0}, "wing+low": {"forearm": 3.0}, "wing+fore": {"forearm": 3.0},
    "paw": {"foot": 2.0, "hand": 2.0}, "hoof": {"toes": 2.0, "finger": 2.0},
}  # fmt: skip
_FOUR, _LEG = {"front", "back"}, {"leg", "thigh", "shin", "calf", "knee", "foot", "ankle", "hip"}
_FRONT = {"thigh": "arm", "shin": "forearm", "foot": "hand", "toes": "finger", "hip_joint": "collar"}
_TRUNK_OF = {word: part for part, words in _TRUNK.items() for word in words.split()}
_PARTS = set(_TRUNK_OF) | {word for word in _LIMBS if "+" not in word} | _FINGERS
_VOCABULARY = (
    _PARTS | set(_SIDES) | _HELPERS | _TWISTS | set(_QUALIFIERS) | ANIMAL | {"body", "joint", "base"} | set(ENGLISH)
)  # fmt: skip
_GROUPS = {"arm", "leg", "wing"}  # in names such as "leg_foot" and "wing_hand" they are the limb, and no bone of it
_ACCENTS = {chr(code) for code in range(0x300, 0x370)}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[左右]|[^\W\d_a-zA-Z左右]+")
_REPEATED = re.compile(r"(?<=\w)\s*\[.*?\]")  # as in "NPC L Foot [Lft ]"


@dataclass(frozen=True)
class BoneName:
    """What a name says. parts : {part: weight}, empty if it names no part or a helper's.

    helper : it names a control, an end or something that a figure wears. twist : a bone that only twists.
    """

    side: str = MIDDLE
    parts: dict[str, float] = field(default_factory=dict)
    helper: bool = False
    twist: bool = False
    animal: bool = False
    words: tuple[str, ...] = ()


class NamedTree(Tree):
    """The hierarchy of another tree, with what the names of its bones say."""

    def __init__(self, tree: Tree, names: Iterable[BoneName]) -> None:
        vars(self).update(vars(tree))
        self.names = list(names)


def read(names: Sequence[str]) -> list[BoneName]:
    """What the names of all bones of an armature say; words that most of them share mean nothing."""
    words = [_words(name) for name in names]
    shared = Counter(word for own in words for word in set(own))
    common = {word for word, count in shared.items() if 2 * count > len(names) > 3} - _VOCABULARY
    return [_read(tuple(word for word in own if word not in common)) for own in words]


def without_helpers(name: BoneName) -> BoneName:
    """What a name says apart from its words for helpers: "foot_ik" names a foot."""
    return _read(tuple(word for word in name.words if word not in _HELPERS))


def unsided(name: BoneName) -> tuple[str, ...]:
    """The words of a name without those for its side."""
    return tuple(word for word in name.words if word not in _SIDES)


def are_alike(one: BoneName, other: BoneName) -> bool:
    """Whether two names differ in one word alone: in Polish "udo.L" and "udo.P" are thighs."""
    pairs = list(zip(one.words, other.words, strict=False))
    return len(one.words) == len(other.words) > 1 and sum(a != b for a, b in pairs) == 1


def is_wing(name: BoneName) -> bool:
    """Whether a bone is that of a wing."""
    return not _WINGS.isdisjoint(name.words)


def is_eye(name: BoneName) -> bool:
    """Whether a name is that of an eyeball: neither that of lids and brows, nor that of a target or a control."""
    words = set(unsided(name))
    return not _EYES.isdisjoint(words) and words <= _EYES | _NOISE | {"ball", "adj", "face", "facial"}


def is_meaningless(name: BoneName) -> bool:
    """Whether a name says nothing but a side: it has no words, as "bone_71" or "J_3"."""
    return all(word in _NOISE or (len(word) < _SHORT and word.isascii()) for word in unsided(name))


def is_worn_bone(name: BoneName) -> bool:
    """Whether a bone carries hair, clothes or what a figure holds."""
    return not _WORN.isdisjoint(name.words)


def is_worn(name: str) -> bool:
    """Whether something is named as hair, as clothes that hang, or as what a figure holds."""
    return not _WORN.isdisjoint(_words(name))


def side_of(name: str) -> str:
    """The side that a name says; `MIDDLE` if it says none, or both."""
    return _side(_words(name))


def flipped(name: str) -> str:
    """A name with its words for sides turned round, in their own case and language."""
    def other(text: str) -> str:
        found = _FLIPPED[text.lower()]
        return found.upper() if text.isupper() else found.capitalize() if text[0].isupper() else found

    return _with_sides(name, other)


def without_side(name: str) -> str:
    """A name without its words for sides."""
    return _with_sides(name, lambda _: "").strip(" ._-")


def _with_sides(name: str, other: Callable[[str], str]) -> str:
    """A name with others instead of its words for sides."""

    def changed(token: re.Match[str]) -> str:
        left, found = token[0], ""
        for word in _split(left.lower()) or (left,):
            text, left = left[: len(word)], left[len(word) :]
            found += other(text) if word in _SIDES else text
        return found

    return _WORD.sub(changed, name)


def _side(words: Sequence[str]) -> str:
    told = [word for word in words if word in _SIDES]
    sides = {_SIDES[word] for word in told}
    if len(sides) > 1 and set(told[:-1]) == {"r"} and words[-1] in _SIDES:  # "r_toe.L" is rear, "PalmR.L" of the ring
        return _SIDES[words[-1]]
    return next(iter(sides)) if len(sides) == 1 else MIDDLE


@lru_cache(maxsize=4096)
def _words(name: str) -> list[str]:
    """The words of a name in lower case and in English, those that run together split.

    What follows in square brackets is a short form of the name, and left out.
    """
    letters = unicodedata.normalize("NFKD", _REPEATED.sub("", name).replace("ß", "ss"))
    plain = "".join(letter for letter in letters if letter not in _ACCENTS)
    tokens = [token.lower() for token in _WORD.findall(unicodedata.normalize("NFKC", plain))]
    words = [word for token in tokens for word in (_split(token) or (token,))]
    return [english for word in words for english in ENGLISH.get(word, (word,))]


@lru_cache(maxsize=4096)
def _split(token: str) -> tuple[str, ...] | None:
    """A token as words of the vocabulary, as few as possible; None if it is none."""
    if token in _VOCABULARY or token in _NOISE:
        return (token,)
    best: tuple[str, ...] | None = None
    for end in range(len(token) - 1, 0, -1):
        head = token[:end]
        long = len(head) > 1 or head in ("l", "r") or not head.isascii()
        if not long or head not in _VOCABULARY or head in ("p", "d", "ex"):
            continue
        rest = _split(token[end:])
        if rest is None or (len(head) == 1 and head.isascii() and rest[0] not in _PARTS | set(_QUALIFIERS)):
            continue
        if all(len(word) > 1 or not word.isascii() for word in rest) and (best is None or len(rest) + 1 < len(best)):
            best = (head, *rest)
    return best


@lru_cache(maxsize=4096)
def _read(words: tuple[str, ...]) -> BoneName:
    side, sided = _side(words), any(word in _SIDES for word in words)
    japanese = any(not word.isascii() for word in words)
    helpers = _HELPERS if japanese else _HELPERS - {"p", "d", "ex"}
    twist, animal = bool(_TWISTS & set(words)), bool(ANIMAL & set(words))
    helper = bool(helpers & set(words)) or (japanese and "c" in words)
    named = BoneName(side, {}, helper, twist, animal, words)
    if helper or (sided and not side):  # both sides
        return named
    rest = [word for word in words if word not in _SIDES and word not in _TWISTS]
    if _FINGERS & set(rest) and not (side and _FINGERS & set(rest) == {"palm"}):  # a palm may be the whole hand
        return BoneName(side, {"finger": 3.0} if side else {}, False, twist, animal, words)
    qualifiers = {_QUALIFIERS[word] for word in rest if word in _QUALIFIERS} - {""}
    bases = [word for word in rest if word not in _QUALIFIERS and word not in _NOISE]
    if side and not bases and "main" in rest:
        bases = ["hand"]  # in French
    parts = _limb_parts(bases, qualifiers, "joint" in rest) if side else _trunk_parts(bases, qualifiers)
    animal = animal or (not _FOUR.isdisjoint(qualifiers) and not _LEG.isdisjoint(bases))  # front and hind legs
    if twist:
        parts = {part: 0.25 * weight for part, weight in parts.items()}
    return BoneName(side, parts, False, twist, animal, words)


def _limb_parts(bases: list[str], qualifiers: set[str], joint: bool) -> dict[str, float]:
    """The parts of a limb that words on one side stand for."""
    if len(set(bases)) == 2:
        bases = [base for base in bases if base not in _GROUPS]
    if len(set(bases)) != 1:
        return {}
    base = bases[0]
    if base == "hip" and joint:
        return {"hip_joint": 3.0}
    ways = [f"{base}+{word}" for word in ("up", "low", "fore") if word in qualifiers]
    parts = next((_LIMBS[way] for way in ways if way in _LIMBS), _LIMBS.get(base, {}))
    if "front" in qualifiers or ("fore" in qualifiers and base not in ("arm", "wing")):
        parts = {_FRONT.get(part, part): weight for part, weight in parts.items()}
    return parts


def _trunk_parts(bases: list[str], qualifiers: set[str]) -> dict[str, float]:
    """The parts of the trunk that words on no side stand for."""
    if not bases and qualifiers == {"back"}:
        return {"spine": 3.0}
    if set(bases) == {"body"} or (set(bases) == {"torso"} and "low" in qualifiers):
        return {"hips": 2.0} if "low" in qualifiers else {"spine": 2.0}
    parts = {_TRUNK_OF.get(base) for base in bases}
    part = next(iter(parts)) if len(parts) == 1 else None
    return {} if part is None else {part: 3.0}
