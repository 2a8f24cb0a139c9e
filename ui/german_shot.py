# SPDX-License-Identifier: GPL-3.0-or-later
"""German for the words of notes about shots: planting, attaching, switching limbs, and holds in time."""

GERMAN_SHOT = {
    # planting and motion paths
    "Select the controls of the feet or hands to plant":
        "Die Steuerknochen der Füße oder Hände auswählen, die stehen sollen",
    "Goal {}: its target moves on this frame: go to a frame on which it stands, or give a range":
        "Ziel {}: sein Zielobjekt bewegt sich in diesem Frame: zu einem Frame gehen, in dem es steht, oder einen "
        "Bereich angeben",
    "In Pose Mode, select the bones whose motion to show":
        "Im Posenmodus die Knochen auswählen, deren Bewegung gezeigt werden soll",
    "Switch Ghosts or Arcs on first": "Erst Geister oder Bögen einschalten",
    "The motion has changed": "Die Bewegung hat sich geändert",
    "Another add-on or a script changes the frames while they are read":
        "Ein anderes Add-on oder ein Skript ändert die Frames, während sie gelesen werden",
    "Blender made no motion paths for {}": "Blender hat für {} keine Bewegungspfade erstellt",
    "Planted {} from {} to {}": "{} steht von {} bis {}",
    # attaching
    "In Pose Mode, select the controls to attach, or in Object Mode the objects":
        "Im Posenmodus die Steuerknochen auswählen, die angehängt werden sollen, oder im Objektmodus die Objekte",
    "Select the objects to put in the hand, and the hand's bone or control in Pose Mode":
        "Die Objekte auswählen, die in die Hand sollen, und im Posenmodus den Knochen oder Steuerknochen der Hand",
    "Choose the object to attach to": "Das Objekt wählen, an das angehängt werden soll",
    "Attached {} to {}": "{} an {} angehängt",
    "{} was moved beside its keys: key it at this frame, or it moves back with the next frame":
        "{} wurde neben seinen Keyframes bewegt: in diesem Frame einen setzen, sonst springt es im nächsten "
        "zurück",
    "Keys of {} on up to {} later frames are set aside, and count again after Detach":
        "Keyframes von {} auf bis zu {} späteren Frames sind beiseitegelegt und zählen nach dem Abhängen wieder",
    "Let go {}": "{} abgehängt",
    "None of what is selected is attached at frame {}": "Nichts Ausgewähltes ist bei Frame {} angehängt",
    "{} has no size at this frame: scale it up first": "{} hat bei diesem Frame keine Größe: zuerst vergrößern",
    "Constraints or drivers move {}: mute them first": "Constraints oder Treiber bewegen {}: zuerst stummschalten",
    "The NLA moves {}: bake its strips to an action first": "Das NLA bewegt {}: seine Strips zuerst backen",
    "Curves of {} are locked or muted: free them first": "Kurven von {} sind gesperrt oder stumm: zuerst freigeben",
    "Goals move bone {}: select its control instead": "Ziele bewegen den Knochen {}: seinen Steuerknochen auswählen",
    "{} cannot be attached to {}, which follows it: attach it to something that does not":
        "{} kann nicht an {} angehängt werden, das ihm folgt: an etwas anhängen, das ihm nicht folgt",
    # grabbing the body
    "{} cannot be dragged: it and the bones above it are locked, constrained or driven":
        "{} lässt sich nicht ziehen: er und die Knochen darüber sind gesperrt oder haben Constraints oder Treiber",
    "The target of {} cannot be moved: constraints or another file set its place":
        "Das Zielobjekt von {} lässt sich nicht bewegen: Constraints oder eine andere Datei bestimmen seinen Ort",
    "There is no body under the pointer: press on the skin or a bone of a character in Pose Mode":
        "Unter dem Mauszeiger ist kein Körper: auf die Haut oder einen Knochen einer Figur im Posenmodus drücken",
    "Drag a part of the body, or click it to select it (Shift extends). Esc cancels":
        "Einen Körperteil ziehen, oder anklicken, um ihn auszuwählen (Umschalt erweitert). Esc bricht ab",
    "Go to Pose Mode to grab the body": "Zum Anfassen des Körpers in den Posenmodus wechseln",
    # limbs to FK and back
    "Switching the limbs": "Die Glieder werden umgeschaltet",
    "Select the control or bones of a limb that has a goal":
        "Den Steuerknochen oder Knochen eines Glieds auswählen, das ein Ziel hat",
    "Follows its goal already, nothing was changed: {}": "Folgt seinem Ziel schon, nichts wurde geändert: {}",
    "The figure has moved by {}: bones of these limbs are locked, driven or constrained":
        "Die Figur hat sich um {} bewegt: Knochen dieser Glieder sind gesperrt, haben Treiber oder Constraints",
    "The pasted pose switches {} between goal and bones at this frame only, without a key: {}":
        "Die eingefügte Pose schaltet {} nur in diesem Bild zwischen Ziel und Knochen um, ohne Schlüsselbild: {}",
    "The pasted pose is not the mirror image of what was copied, at {}: give both sides the same goals and pins, with "
    "bones as targets":
        "Die eingefügte Pose ist an {} nicht das Spiegelbild der kopierten: gib beiden Seiten dieselben Ziele und "
        "Fixierungen, mit Knochen als Zielobjekten",
    "Switched {}, with keys at frames {} to {} and beside them":
        "{} umgeschaltet, mit Keyframes auf den Frames {} bis {} und daneben",
    "The rest of the body moves by {}: it stays if {} other bones are keyed and held there too":
        "Der übrige Körper bewegt sich um {}: er bleibt, wenn {} weitere Knochen dort auch Keyframes haben und "
        "gehalten werden",
    "Press Limb to FK or Limb to IK first: this keys the body where these have just switched a limb":
        "Zuerst Glied zu FK oder Glied zu IK drücken: dies setzt Keyframes des Körpers dort, wo gerade ein Glied "
        "umgeschaltet wurde",
    "{} other bones are keyed and held there too, or the body would have moved":
        "{} weitere Knochen haben dort auch Keyframes und werden gehalten, sonst hätte sich der Körper bewegt",
    # generated rigs
    "{} of {} would switch back from FK: delete its keys, strips or driver first":
        "{} von {} würde von FK zurückschalten: zuerst Keyframes, Strips oder Treiber davon löschen",
    "goals move the FK controls now, and {} switches are set to FK":
        "die Ziele bewegen jetzt die FK-Steuerknochen, und {} Schalter stehen auf FK",
    # holds in time
    "Keyed the holds of {}": "Das Halten von {} hat Keyframes",
    "The holds of {} cannot be keyed: unlink their action, or leave the NLA's tweak mode":
        "Das Halten von {} nimmt keine Keyframes an: eigene Action verwenden, oder den NLA-Tweak-Modus verlassen",
    "Switch Live on first: bones are held while it is on":
        "Erst Live einschalten: Knochen werden gehalten, solange es an ist",
    "Held on all frames: {}": "Auf allen Frames gehalten: {}",
}
