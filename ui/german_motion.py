# SPDX-License-Identifier: GPL-3.0-or-later
"""German for the words of operators, panels and notes about whole motions."""

GERMAN_MOTION = {
    "Whole Motion": "Ganze Bewegung",
    "What is done to all frames of a motion at once": "Was mit allen Frames einer Bewegung zugleich geschieht",
    # editing a range
    "Edit Range": "Bereich bearbeiten",
    "In Pose Mode, select the controls or bones that you have moved":
        "Im Posenmodus die Steuerknochen oder Knochen auswählen, die bewegt wurden",
    "Nothing that is selected has keys and was moved on this frame: move it first, then press this":
        "Nichts Ausgewähltes hat Keyframes und wurde in diesem Frame bewegt: zuerst bewegen, dann hier drücken",
    "Changed {} controls or bones over a radius of {} frames":
        "{} Steuerknochen oder Knochen über {} Frames zu beiden Seiten geändert",
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
