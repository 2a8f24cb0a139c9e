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
    # smooth bakes
    "Follow lags behind its targets, a smooth bake does not: choose another Start From, or Smooth 0":
        "Folgen bleibt hinter seinen Zielen zurück, geglättetes Backen nicht: ein anderes Beginnen bei wählen, oder "
        "Glätten 0",
    # overlap
    "Overlap...": "Nachschwingen ...",
    "In Pose Mode, select the bones of a tail, of hair or ears":
        "Im Posenmodus die Knochen eines Schwanzes, von Haaren oder Ohren auswählen",
    "Bone {} is moved by a goal: mute the goal, or bake first":
        "Ein Ziel bewegt den Knochen {}: das Ziel stummschalten, oder zuerst backen",
    "{} bones follow through, {} keys": "{} Knochen schwingen nach, {} Keyframes",
    # mended motion
    "Mend Motion": "Bewegung ausbessern",
    "Mend Motion...": "Bewegung ausbessern ...",
    "Plant feet that slide in a captured motion. The old action stays in the file":
        "Füße aufsetzen, die in einer aufgezeichneten Bewegung rutschen. Die alte Action bleibt in der Datei",
    "Planting feet": "Füße werden aufgesetzt",
    "{} has no two legs that are recognised: set the Role of thighs, shins and feet in the Bone panel":
        "{} hat keine zwei erkannten Beine: die Rolle von Oberschenkeln, Unterschenkeln und Füßen im Panel setzen",
    "The bones of a leg of {} do not hang on each other: set the Role of its thigh, shin and foot":
        "Die Knochen eines Beins von {} hängen nicht aneinander: Rollen von Oberschenkel, Schienbein, Fuß setzen",
    "{} has no action to mend: bake its motion first": "{} hat keine Action zum Ausbessern: die Bewegung zuerst backen",
    "No foot of {} stands on these frames, so nothing was changed":
        "Auf diesen Frames steht kein Fuß von {}, also wurde nichts geändert",
    "{} contacts: planted feet slid by {} % of the height a second, now by {} %; knees change by up to {} degrees":
        "{} Kontakte: stehende Füße rutschten {} % der Höhe je Sekunde, jetzt {} %; Knie ändern sich um bis zu {} Grad",
    # retarget
    "Retarget": "Übertragen",
    "Retarget...": "Übertragen ...",
    "The armature whose motion this one gets": "Das Skelett, dessen Bewegung dieses bekommt",
    "Give this figure the motion of another one, whatever their sizes and rest poses. It is a new action":
        "Dieser Figur die Bewegung einer anderen geben, wie groß beide auch sind und wie sie auch ruhen. Es ist eine "
        "neue Action",
    "Carrying the motion over": "Bewegung wird übertragen",
    "Choose the armature whose motion this one gets": "Das Skelett auswählen, dessen Bewegung dieses bekommt",
    "{} is this armature itself: choose another as the source":
        "{} ist dieses Skelett selbst: ein anderes als Quelle wählen",
    "{} has no hips, thighs, shins and feet that are recognised: set their Role in the Bone panel":
        "{} hat keine Hüfte, Ober- und Unterschenkel und Füße, die erkannt werden: ihre Rolle im Bedienfeld Knochen "
        "festlegen",
    "{} does not move on frames {} to {}": "{} bewegt sich in den Frames {} bis {} nicht",
    "No bone of {} carries all the others and can be moved: disconnect its hips":
        "Kein Knochen von {} trägt alle anderen und kann bewegt werden: die Verbindung seiner Hüfte lösen",
    "{} bones on {} frames, {} keys": "{} Knochen in {} Frames, {} Keyframes",
}
