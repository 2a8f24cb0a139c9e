# SPDX-License-Identifier: GPL-3.0-or-later
"""German for the words of operators, panels and notes about whole motions."""

GERMAN_MOTION = {
    "Whole Motion": "Ganze Bewegung",
    "What is done to all frames of a motion at once": "Was mit allen Frames einer Bewegung zugleich geschieht",
    # fewer keys
    "Fewer Keys": "Weniger Keyframes",
    "Fewer Keys...": "Weniger Keyframes ...",
    "Replacing keys": "Keyframes werden ersetzt",
    "Nothing of {} has dense keys in this range": "Nichts von {} hat in diesem Bereich dichte Keyframes",
    "{} keys in place of {}; differences up to {} degrees and {} % of the size":
        "{} Keyframes statt {}; Abweichungen bis {} Grad und {} % der Größe",
    # overlap
    "Overlap...": "Nachschwingen ...",
    "In Pose Mode, select the bones of a tail, of hair or ears":
        "Im Posenmodus die Knochen eines Schwanzes, von Haaren oder Ohren auswählen",
    "Bone {} is moved by a goal: mute the goal, or bake first":
        "Ein Ziel bewegt den Knochen {}: das Ziel stummschalten, oder zuerst backen",
    "{} bones follow through, {} keys": "{} Knochen schwingen nach, {} Keyframes",
}
