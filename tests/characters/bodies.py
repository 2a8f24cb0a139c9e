# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of the test characters are, in metres: facing -Y, Z up, the left side at +X."""

from math import cos, radians, sin

HUMAN = {
    "root": (0, 0, 0), "pelvis": (0, 0, 0.95), "groin": (0, 0, 0.9),
    "spine1": (0, 0, 1.03), "spine2": (0, 0.01, 1.13), "spine3": (0, 0.015, 1.23), "spine4": (0, 0.018, 1.33),
    "neck": (0, 0.02, 1.46), "neck2": (0, 0.015, 1.51), "head": (0, 0.01, 1.56), "crown": (0, 0, 1.75),
    "jaw": (0, -0.03, 1.6), "eye": (0.03, -0.08, 1.65), "breast": (0.08, -0.1, 1.27),
    "collar": (0.03, 0.01, 1.42), "arm": (0.17, 0.03, 1.42), "forearm": (0.44, 0.04, 1.42),
    "hand": (0.69, 0.03, 1.42), "palm": (0.72, 0.02, 1.42), "fingertip": (0.87, 0.02, 1.41),
    "thumb1": (0.71, -0.01, 1.41), "thumb2": (0.74, -0.04, 1.4), "thumb3": (0.77, -0.06, 1.39),
    "index1": (0.78, 0.0, 1.42), "index2": (0.82, 0.0, 1.42), "index3": (0.845, 0.0, 1.42),
    "middle1": (0.785, 0.02, 1.42), "middle2": (0.825, 0.02, 1.42), "middle3": (0.855, 0.02, 1.42),
    "ring1": (0.78, 0.04, 1.42), "ring2": (0.815, 0.04, 1.42), "ring3": (0.84, 0.04, 1.42),
    "little1": (0.77, 0.06, 1.42), "little2": (0.8, 0.06, 1.42), "little3": (0.82, 0.06, 1.42),
    "prop": (0.78, -0.05, 1.42), "hand_ik": (0.69, 0.03, 1.42), "elbow_pole": (0.44, 0.5, 1.42),
    "hip": (0.05, 0, 0.95), "thigh": (0.09, 0, 0.92), "shin": (0.09, -0.01, 0.5), "foot": (0.09, 0.02, 0.08),
    "toes": (0.09, -0.11, 0.02), "toetip": (0.09, -0.18, 0.02), "heel": (0.09, 0.07, 0.01),
    "foot_ik": (0.09, 0.02, 0.08), "knee_pole": (0.09, -0.5, 0.5), "hair": (0, 0.08, 1.7), "hair2": (0, 0.12, 1.5),
    "hair3": (0, 0.13, 1.25), "skirt": (0.12, 0.06, 0.9), "skirt2": (0.16, 0.08, 0.65),
    "braid": (0.03, 0.06, 1.7), "braid2": (0.2, 0.1, 1.55), "braid3": (0.22, 0.12, 1.2), "braid4": (0.22, 0.13, 0.8),
    "wing": (0.06, 0.1, 1.35), "wing2": (0.35, 0.2, 1.6), "wing3": (0.8, 0.25, 1.5), "wing4": (1.2, 0.25, 1.2),
    "tail1": (0, 0.1, 0.95), "tail2": (0, 0.3, 0.85), "tail3": (0, 0.5, 0.7), "ear": (0.07, 0, 1.75),
    "blade": (0.78, -0.4, 1.42), "knuckle": (0.71, 0, 1.42),
}  # fmt: skip

HAND = (
    "hand", "palm", "knuckle", "fingertip", "thumb", "index", "middle", "ring", "little", "prop", "blade", "hand_ik",
)  # fmt: skip
ARM = ("arm", "forearm", "elbow_pole", *HAND)  # what a turned arm at rest takes along

DOG = {
    "root": (0, 0, 0), "pelvis": (0, 0.33, 0.6), "spine1": (0, 0.2, 0.62), "spine2": (0, 0.05, 0.62),
    "chest": (0, -0.12, 0.62), "neck": (0, -0.3, 0.66), "neck2": (0, -0.38, 0.74), "head": (0, -0.46, 0.82),
    "muzzle": (0, -0.62, 0.78), "ear": (0.05, -0.46, 0.9), "tail1": (0, 0.38, 0.6), "tail2": (0, 0.5, 0.58),
    "tail3": (0, 0.62, 0.5),
    "thigh": (0.08, 0.33, 0.56), "shin": (0.09, 0.22, 0.38), "foot": (0.09, 0.38, 0.17), "toes": (0.09, 0.34, 0.03),
    "toetip": (0.09, 0.27, 0.01),
    "collar": (0.05, -0.2, 0.64), "arm": (0.08, -0.32, 0.48), "forearm": (0.08, -0.22, 0.34),
    "hand": (0.08, -0.25, 0.12), "fingers": (0.08, -0.26, 0.03), "fingertip": (0.08, -0.33, 0.01),
}  # fmt: skip

HORSE = {
    "pelvis": (0, 0.6, 1.4), "spine1": (0, 0.4, 1.45), "spine2": (0, 0.15, 1.42), "chest": (0, -0.25, 1.4),
    "neck": (0, -0.55, 1.5), "neck2": (0, -0.75, 1.75), "neck3": (0, -0.9, 1.95), "head": (0, -0.98, 2.1),
    "muzzle": (0, -1.4, 1.85), "tail1": (0, 0.75, 1.4), "tail2": (0, 0.9, 1.2), "tail3": (0, 0.95, 0.9),
    "thigh": (0.16, 0.6, 1.3), "shin": (0.18, 0.42, 0.95), "foot": (0.18, 0.72, 0.62), "toes": (0.18, 0.66, 0.2),
    "toetip": (0.18, 0.56, 0.03),
    "collar": (0.1, -0.3, 1.5), "arm": (0.15, -0.55, 1.1), "forearm": (0.16, -0.4, 0.85), "hand": (0.16, -0.45, 0.5),
    "fingers": (0.16, -0.45, 0.2), "fingertip": (0.16, -0.53, 0.03),
}  # fmt: skip

BIRD = {
    "root": (0, 0, 0), "pelvis": (0, 0.05, 0.3), "chest": (0, -0.08, 0.34), "neck": (0, -0.16, 0.38),
    "neck2": (0, -0.2, 0.43), "head": (0, -0.22, 0.48), "beak": (0, -0.3, 0.47), "tail1": (0, 0.12, 0.29),
    "tail2": (0, 0.25, 0.27), "collar": (0.02, -0.1, 0.36), "arm": (0.06, -0.08, 0.36), "forearm": (0.16, -0.02, 0.37),
    "hand": (0.28, -0.08, 0.37), "wingtip": (0.42, -0.04, 0.36), "thigh": (0.05, 0.04, 0.28),
    "shin": (0.06, -0.02, 0.2), "foot": (0.06, 0.06, 0.1), "toes": (0.06, 0.03, 0.02), "toetip": (0.06, -0.03, 0.01),
}  # fmt: skip

LEG = ("shin", "foot", "toes", "toetip", "heel", "foot_ik")


def _turned(point: tuple[float, ...], pivot: tuple[float, ...], degrees: float, axes: tuple[int, int]) -> tuple:
    """A point turned about a pivot, from one axis toward the other."""
    turned, (a, b) = list(point), axes
    cosine, sine = cos(radians(degrees)), sin(radians(degrees))
    x, y = point[a] - pivot[a], point[b] - pivot[b]
    turned[a], turned[b] = pivot[a] + cosine * x - sine * y, pivot[b] + sine * x + cosine * y
    return tuple(turned)


TOON = {
    joint: (0.9 * x, y, 0.45 * z if z <= 0.95 else 0.4275 + 0.7 * (z - 0.95))
    for joint, (x, y, z) in HUMAN.items()
} | {"crown": (0, 0, 1.5), "eye": (0.08, -0.2, 1.1)}  # fmt: skip
"""Short legs and a large head."""

SLEEPWALKER = {
    joint: _turned(point, HUMAN["arm"], -75.0, (0, 1)) if joint.startswith(ARM) else point
    for joint, point in HUMAN.items()
}
"""Arms stretched forward."""

GORILLA = {
    joint: tuple(0.15 * (joint.startswith(LEG)) * a + b for a, b in zip((1, 0, 0), point, strict=True))
    for joint, point in (
        {joint: (0.17 + 1.35 * (x - 0.17), y, z) if joint.startswith(ARM) else (x, y, z) for joint, (x, y, z) in
         HUMAN.items()}
    ).items()
}  # fmt: skip
"""Long arms, and legs that stand wide."""

CHILD = {
    joint: (0.55 * x, 0.55 * y, 0.42 * z if z <= 0.95 else 0.4 + 0.55 * (z - 0.95) if z <= 1.56 else z - 0.825)
    for joint, (x, y, z) in HUMAN.items()
}  # fmt: skip
"""A small body with a head as large as a grown-up's."""

_WIDE = {"collar": 1.5, "hip": 1.8, "thigh": 1.8} | dict.fromkeys(ARM, 1.5) | dict.fromkeys(LEG, 1.8)
_HIGHER = {"shin": 0.15, "neck": 0.1, "neck2": 0.1, "head": 0.1, "crown": 0.1}
ROBOT = {
    joint: (next((wide for part, wide in _WIDE.items() if joint.startswith(part)), 1.0) * x,
            1.4 * y if joint.startswith(LEG) else y, z + _HIGHER.get(joint, 0.0))
    for joint, (x, y, z) in HUMAN.items()
}  # fmt: skip
"""Wide, with short thighs, long shins, long arms and large feet."""

BODIES = {
    "human": HUMAN, "child": CHILD, "horse": HORSE, "dog": DOG, "bird": BIRD,
    "toon": TOON, "sleepwalker": SLEEPWALKER, "gorilla": GORILLA, "robot": ROBOT,
}  # fmt: skip
