# SPDX-License-Identifier: GPL-3.0-or-later
"""German for the words of notes (`rig/notes.py`) and for the solvers' refusals."""

GERMAN_NOTES = {
    "{} controls added": "{} Steuerknochen hinzugefügt",
    "they lead nothing yet, so that the body stays as it is: raise the Influence of their goals, or switch Use Pole "
    "on, where they should":
        "sie führen noch nichts, damit der Körper bleibt, wie er ist: den Einfluss ihrer Ziele erhöhen oder Pol "
        "verwenden einschalten, wo sie es sollen",
    "No control was added: those are there already": "Kein Steuerknochen wurde hinzugefügt: diese sind schon da",
    "More controls are bones, and no bone can be added to {}": "Zu {} können keine Steuerknochen hinzukommen",
    "{} has no controls: press Set Up Full Body": "{} hat keine Steuerknochen: Ganzen Körper einrichten drücken",
    "All controls of {} are hidden": "Alle Steuerknochen von {} sind ausgeblendet",
    "{} controls keyed at frame {}": "{} Steuerknochen bei Frame {} mit Keyframes versehen",
    "{} cannot be keyed: {}": "{} können keine Keyframes bekommen: {}",
    # what the panel warns of
    "Goal {}: {}": "Ziel {}: {}",
    "it has no bone: choose one": "es hat keinen Knochen: einen auswählen",
    "the armature has no bone {}: choose another": "das Skelett hat keinen Knochen {}: einen anderen auswählen",
    "it has no target: choose an object": "es hat kein Zielobjekt: ein Objekt auswählen",
    "its target is this armature: also choose one of its bones":
        "sein Zielobjekt ist dieses Skelett: auch einen Knochen davon auswählen",
    "its pole is this armature: also choose one of its bones":
        "sein Pol ist dieses Skelett: auch einen Knochen davon auswählen",
    "it has no effect: switch on Position or Rotation": "es bewirkt nichts: Position oder Rotation einschalten",
    "Coupling of {}: the armature has no bone {}: choose another":
        "Kopplung von {}: das Skelett hat keinen Knochen {}: einen anderen auswählen",
    "Coupling of {}: a target is bone {} or follows it, so it has no effect: couple other bones":
        "Kopplung von {}: ein Zielobjekt ist der Knochen {} oder folgt ihm, sie wirkt daher nicht: andere koppeln",
    "Select the bones that follow, then the one that they follow, in Pose Mode":
        "Im Pose-Modus die Knochen auswählen, die folgen, dann den, dem sie folgen",
    "{} has too few bones that are recognised as {}: set their Role in the Bone panel":
        "{} hat zu wenige Knochen, die erkannt werden als {}: ihre Rolle im Knochen-Bereich setzen",
    "fingers": "Finger",
    "parts of a spine": "Teile einer Wirbelsäule",
    "collar bones and upper arms": "Schlüsselbeine und Oberarme",
    "twist bones of forearms": "Drehknochen von Unterarmen",
    "Coupled {} axes of bones": "{} Achsen von Knochen gekoppelt",
    "Uncoupled {} axes of bones": "{} Achsen von Knochen entkoppelt",
    "{} couplings belong to the library file, so their stiffness is 0 instead":
        "{} Kopplungen gehören zur Bibliotheksdatei, also ist stattdessen ihre Steifigkeit 0",
    "No bone of {} that is selected is coupled": "Kein ausgewählter Knochen von {} ist gekoppelt",
    "its target is no curve: choose a curve object":
        "sein Zielobjekt ist keine Kurve: ein Kurvenobjekt auswählen",
    "the place of {} is not a number: reset its transform":
        "der Ort von {} ist keine Zahl: die Transformation zurücksetzen",
    "{} has no bone {}": "{} hat keinen Knochen {}",
    "Bone {}: {} is not a number: set it again": "Knochen {}: {} ist keine Zahl: neu einstellen",
    "Keys of bone {}{} are no numbers and were left out":
        "Keys des Knochens {}{} sind keine Zahlen und wurden ausgelassen",
    "The base pose that bone {} had stored was damaged: its present pose is used":
        "Die gespeicherte Grundpose des Knochens {} war beschädigt: seine jetzige Pose gilt",
    "it follows {}, which follows this armature: a cycle": "es folgt {}, das diesem Skelett folgt: ein Zyklus",
    "Goal {}: its pole is its target and is left out: choose another pole":
        "Ziel {}: sein Pol ist sein Zielobjekt und bleibt außer Acht: einen anderen wählen",
    "Goal {}: there is no bone above {} to move: switch on Use Tail":
        "Ziel {}: über {} ist kein Knochen zu bewegen: Bis zum Ende einschalten",
    "Goal {}: no goal carries weight: switch on Carries Weight for the feet":
        "Ziel {}: kein Ziel trägt Gewicht: bei den Füßen Trägt Gewicht einschalten",
    "Goal {}: its target or pole follows bone {}, which is solved":
        "Ziel {}: sein Zielobjekt oder Pol folgt dem Knochen {}, der gelöst wird",
    "Goal {} is left out: its target follows bone {} of a goal that moves with it: shorten its chain":
        "Ziel {} ist ausgelassen: sein Zielobjekt folgt dem Knochen {} eines Ziels, das sich mit ihm bewegt: "
        "seine Kette kürzen",
    "Goal {}: {} stands still {}; hide it with the eye instead":
        "Ziel {}: {} steht still, {}; stattdessen mit dem Auge ausblenden",
    "{} stands still {}: hide it with the eye instead": "{} steht still, {}: stattdessen mit dem Auge ausblenden",
    "Obstacle {}: it stands still {}; hide it with the eye instead":
        "Hindernis {}: es steht still, {}; stattdessen mit dem Auge ausblenden",
    "Obstacle {}: it follows bone {}, which is solved":
        "Hindernis {}: es folgt dem Knochen {}, der gelöst wird",
    "Obstacle {}: it has no faces: choose a mesh or an empty":
        "Hindernis {}: es hat keine Flächen: ein Mesh oder ein Empty auswählen",
    "No bone of {} has a body: set its Role in the Bone panel":
        "Kein Knochen von {} hat einen Körper: ihre Rolle im Knochen-Bereich setzen",
    "Measured {} bones": "{} Knochen gemessen",
    "Obstacle {} belongs to the library file, so it has no object instead of being removed":
        "Hindernis {} gehört zur Bibliotheksdatei, also hat es kein Objekt mehr, statt entfernt zu sein",
    "Choose an obstacle in the list": "Ein Hindernis in der Liste auswählen",
    "while it is disabled in the viewport": "solange es in der Ansicht abgeschaltet ist",
    "while it is not in the view layer": "solange es nicht im View Layer ist",
    "where it is disabled in the viewport": "wo es in der Ansicht abgeschaltet ist",
    "Add a goal: choose a bone and the object that it should reach":
        "Ein Ziel hinzufügen: einen Knochen auswählen und das Objekt, das er erreichen soll",
    "Every bone of the goals' chains is locked, constrained or driven: free one":
        "Alle Knochen der Ziele sind gesperrt oder folgen Constraints oder Treibern: einen freigeben",
    "{} left to constraints": "{} den Constraints überlassen",
    "{} left to drivers": "{} den Treibern überlassen",
    "An NLA track of {} is solo, which hides its action: switch Solo off first":
        "Eine NLA-Spur von {} ist auf Solo, was ihre Action verbirgt: Solo zuerst ausschalten",
    "Learnt from {} frames of {}": "Gelernt aus {} Frames von {}",
    "There is no action {}": "Es gibt keine Action {}",
    "The action {} turns none of the bones that the goals move":
        "Die Action {} dreht keinen der Knochen, die die Ziele bewegen",
    "No action turns most of the bones that the goals move":
        "Keine Action dreht die meisten der Knochen, die die Ziele bewegen",
    "The target of {} cannot be turned: constraints or another file set its place":
        "Das Zielobjekt von {} lässt sich nicht drehen: Constraints oder eine andere Datei bestimmen seinen Ort",
    "This figure has more than two pairs of limbs, so Human Limits does not fit it: set limits bone by bone":
        "Diese Figur hat mehr als zwei Paar Glieder, daher passen die Grenzen eines Menschen nicht: "
        "Grenzen Knochen für Knochen einstellen",
    "taken for {}": "erkannt: {}",
    "Swapped the sides of {} bones": "Seiten von {} Knochen getauscht",
    "No bone of {} is known as a part of a left or a right side":
        "Kein Knochen von {} ist als Teil einer linken oder rechten Seite erkannt",
    "Natural Pose knows people only": "Die natürliche Pose kennt nur Menschen",
    "The natural pose needs both thighs or both arms, and what is above or below them":
        "Die natürliche Pose braucht beide Oberschenkel oder beide Arme, und was über oder unter ihnen ist",
    "The natural pose is that of people: this figure does not rest on two straight legs":
        "Die natürliche Pose ist die von Menschen: diese Figur steht in Ruhe nicht auf zwei geraden Beinen",
    "The natural pose needs goals on whole arms or legs, and arms that do not point forward at rest":
        "Die natürliche Pose braucht Ziele an ganzen Armen oder Beinen, und Arme, die in Ruhe nicht nach vorn zeigen",
    "{} left to IK constraints: mute these, or make goals of them":
        "{} den IK-Constraints überlassen: diese stumm schalten oder zu Zielen machen",
    "{} cannot slide while connected: disconnect in Edit Mode":
        "{} verbunden und daher nicht zu verschieben: im Bearbeitungsmodus trennen",
    "This armature is linked, so its goals and its pose are not saved here: make a library override first":
        "Dieses Skelett ist verknüpft, daher werden seine Ziele und seine Pose hier nicht gespeichert: "
        "zuerst eine Bibliotheksüberschreibung anlegen",
    "{} cannot move: unlock an axis of its location, or switch Translate off":
        "{} kann sich nicht verschieben: eine Achse der Position entsperren, oder Verschieben ausschalten",
    "Locked outside its limits: {}": "Außerhalb der Grenzen gesperrt: {}",
    "Bone {}: {} Min ({}) is above {} Max ({})": "Knochen {}: {} Min ({}) liegt über {} Max ({})",
    "Switched off after an error: {}": "Nach einem Fehler abgeschaltet: {}",
    "The armature is shown in Rest Position: choose Pose Position to solve":
        "Das Skelett wird in der Ruheposition gezeigt: zum Lösen die Pose-Position wählen",
    "The armature's place, or a bone's pose, is not a number: reset it and switch Live on again":
        "Der Ort des Skeletts oder die Pose eines Knochens ist keine Zahl: zurücksetzen und Live wieder einschalten",
    "Bones such as {} follow the controls of this rig, so goals cannot move them: set up the rig that it was made "
    "from, or add goals for its FK controls":
        "Knochen wie {} folgen den Steuerknochen dieses Rigs, daher können Ziele sie nicht bewegen: das Rig "
        "einrichten, aus dem es erzeugt wurde, oder Ziele für die FK-Steuerknochen hinzufügen",
    "This figure has wings, paws or hooves, so Human Limits does not fit it: set limits bone by bone":
        "Diese Figur hat Flügel, Pfoten oder Hufe, daher passen Grenzen eines Menschen nicht: "
        "die Grenzen Knochen für Knochen setzen",
    "This figure stands on four legs or leans like a bird, so Human Limits does not fit it: set limits bone by bone":
        "Diese Figur steht auf vier Beinen oder vorgebeugt wie ein Vogel, daher passen Grenzen eines Menschen nicht: "
        "die Grenzen Knochen für Knochen setzen",
    "This figure stands still: action {} moves nothing until its slot is chosen in the Action Editor":
        "Diese Figur steht still: Die Action {} bewegt nichts, bis im Action-Editor ihr Slot gewählt ist",
    "This figure stands still: no keys of action {} move its bones":
        "Diese Figur steht still: Keine Keyframes der Action {} bewegen ihre Knochen",
    "of the selected armatures only {}, the active one, was set up: press again with another one active":
        "von den ausgewählten Skeletten wurde nur das aktive, {}, eingerichtet: mit einem anderen als aktivem nochmals "
        "drücken",
    "At rest this figure is folded or lies down, but here it stands: press Use Pose as Rest first":
        "In Ruhe ist diese Figur gefaltet oder liegt, aber hier steht sie: zuerst „Pose als Ruhepose“ drücken",
    "This is the target of {}: select a bone of the body":
        "Das ist das Zielobjekt von {}: einen Knochen des Körpers auswählen",
    # before a command
    "Select an armature first": "Zuerst ein Skelett auswählen",
    "Leave Edit Mode first": "Zuerst den Bearbeitungsmodus verlassen",
    "This armature has no bones: add some in Edit Mode":
        "Dieses Skelett hat keine Knochen: im Bearbeitungsmodus welche hinzufügen",
    "Add a goal first": "Zuerst ein Ziel hinzufügen",
    # the rest pose
    "Remove the goals first": "Zuerst die Ziele entfernen",
    "This pose is the rest pose now; the keys of {} bones are counted from it":
        "Diese Pose ist nun die Ruhepose; die Keyframes von {} Knochen zählen von ihr aus",
    "The bones of {} cannot be edited: it is hidden, or linked from another file":
        "Die Knochen von {} lassen sich nicht bearbeiten: es ist ausgeblendet oder aus einer anderen Datei verknüpft",
    "Other objects share the armature {}: make it a single-user copy first":
        "Andere Objekte benutzen das Skelett {} mit: es zuerst zum Einzelnutzer machen",
    "The NLA moves {}, and its strips would not fit a new rest pose: bake them to an action first":
        "Das NLA bewegt {}, und seine Streifen passten nicht zu einer neuen Ruhepose: sie zuerst in eine Action backen",
    "{} is bound to the rest pose and would be deformed: unbind it first":
        "{} ist an die Ruhepose gebunden und würde verformt: zuerst die Bindung lösen",
    "Keys of {} are no numbers: delete them first": "Keyframes von {} sind keine Zahlen: sie zuerst löschen",
    "Bone {} has drivers, which would not fit a new rest pose: remove them first":
        "Der Knochen {} hat Treiber, die nicht zu einer neuen Ruhepose passten: sie zuerst entfernen",
    "Bone {} has constraints, so its pose is not its own: apply or mute them first":
        "Der Knochen {} hat Constraints, daher ist seine Pose nicht seine eigene: sie zuerst anwenden oder stumm "
        "schalten",
    "Bone {} is scaled in this pose: clear its scale first":
        "Der Knochen {} ist in dieser Pose skaliert: zuerst seine Skalierung zurücksetzen",
    "The limits of bone {} are counted from the rest pose: clear the limits first":
        "Die Grenzen des Knochens {} zählen von der Ruhepose aus: zuerst die Grenzen entfernen",
    # goals and targets
    "{} has no active IK constraints": "{} hat keine aktiven IK-Constraints",
    "The IK constraint of {} has no target: choose an object":
        "Der IK-Constraint von {} hat kein Zielobjekt: ein Objekt auswählen",
    "The IK constraint of {} stays: {}": "Der IK-Constraint von {} bleibt: {}",
    "Added {} goals, and limits for {} bones": "{} Ziele hinzugefügt, und Grenzen für {} Knochen",
    "There is no object {}: choose another target": "Es gibt kein Objekt {}: ein anderes Zielobjekt auswählen",
    "In Pose Mode, select the bones that should reach a target":
        "Im Posenmodus die Knochen auswählen, die ein Ziel erreichen sollen",
    "There is no goal {}: {} has {}, counted from 0": "Es gibt kein Ziel {}: {} hat {}, von 0 an gezählt",
    "Goal {} belongs to the library file, so it was muted instead of removed":
        "Das Ziel {} gehört zur Bibliotheksdatei, daher wurde es nicht entfernt, sondern stumm geschaltet",
    "Goal {} has no target: choose an object": "Das Ziel {} hat kein Zielobjekt: ein Objekt auswählen",
    "{} is hidden or not in this view layer: show it first":
        "{} ist ausgeblendet oder nicht in diesem View Layer: zuerst einblenden",
    "Bone {} is hidden: show it or its bone collection first":
        "Der Knochen {} ist ausgeblendet: zuerst ihn oder seine Knochensammlung einblenden",
    "The targets of {} stay: only those of Reach goals belong at their bones":
        "Die Zielobjekte von {} bleiben: nur die von Zielen der Art Reichweite gehören an ihre Knochen",
    "The targets of {} are not at their bones: give each goal a target of its own, without constraints, drivers and "
    "animated parents":
        "Die Zielobjekte von {} sind nicht an ihren Knochen: jedem Ziel ein eigenes Zielobjekt geben, ohne "
        "Constraints, Treiber und animierte Eltern",
    "The keys of the targets of {} have no effect: unmute and unlock their curves and groups, and mute the NLA above "
    "them":
        "Die Keyframes der Zielobjekte von {} wirken nicht: ihre Kurven und Gruppen einschalten und entsperren, und "
        "das NLA darüber stumm schalten",
    "The targets of {} go back to their keys: switch Auto Keying on, or key them":
        "Die Zielobjekte von {} gehen zu ihren Keyframes zurück: Auto-Keying einschalten oder Keyframes setzen",
    "Action {} also moves {}: make it a single user first":
        "Die Action {} bewegt auch {}: sie zuerst zum Einzelnutzer machen",
    "In Pose Mode, select the bones to hold": "Im Posenmodus die Knochen auswählen, die bleiben sollen",
    "Choose Position, Rotation or both": "Position, Rotation oder beides wählen",
    "None of the selected bones is pinned at this frame":
        "Keiner der ausgewählten Knochen ist bei diesem Frame festgesteckt",
    "Held until the frame changes, then their keys come back: {}":
        "Gehalten, bis der Frame wechselt, dann kommen ihre Keyframes zurück: {}",
    "Pinned on all frames: {}": "Auf allen Frames festgesteckt: {}",
    "Pinned from frame {} on: {}": "Ab Frame {} festgesteckt: {}",
    "Not pinned any more, on no frame: {}": "Auf keinem Frame mehr festgesteckt: {}",
    "Not pinned any more from frame {} on: {}": "Ab Frame {} nicht mehr festgesteckt: {}",
    "The pin {} has keys: switch Auto Keying on to pin its bone from this frame on":
        "{} hat Keyframes: automatische Keyframes einschalten, um den Knochen ab diesem Frame festzustecken",
    "Kept target {}: {}": "Das Zielobjekt {} bleibt: {}",
    "Kept control bone {}: {}": "Der Steuerknochen {} bleibt: {}",
    "Kept {} control bones: they belong to another file, so remove them there":
        "{} Steuerknochen bleiben: sie gehören zu einer anderen Datei und sind dort zu entfernen",
    "Kept {} control bones: leave Edit Mode and delete them there":
        "{} Steuerknochen bleiben: den Bearbeitungsmodus verlassen oder sie dort löschen",
    "Kept the curves of {} control bones: {}": "Die Kurven von {} Steuerknochen bleiben: {}",
    "and {} more": "und {} weitere",
    "{} is parented to it": "{} ist ihm untergeordnet",
    "a constraint of {} uses it": "ein Constraint von {} verwendet es",
    "goal {} of {} uses it": "das Ziel {} von {} verwendet es",
    "a driver of {} reads it": "ein Treiber von {} liest es",
    "{} bends toward it": "{} biegt sich nach ihm",
    "{} is drawn at it": "{} wird an ihm gezeichnet",
    "{} is deformed by it": "{} wird von ihm verformt",
    "{} animates it": "{} animiert es",
    "{} uses it": "{} verwendet es",
    "it does more than being a target": "es ist mehr als ein Zielobjekt",
    "{} plays them too": "{} spielt sie auch ab",
    "an NLA track plays them too": "eine NLA-Spur spielt sie auch ab",
    "There are no {} to mirror, or no bones named as the other side":
        "Es gibt keine {} zu spiegeln, oder keine Knochen, die nach der anderen Seite benannt sind",
    "Mirrored the {} of {} bones": "Gespiegelt: die {} von {} Knochen",
    "without a mirror image: {}": "ohne Spiegelbild: {}",
    "goals": "Ziele",
    "limits": "Grenzen",
    "couplings": "Kopplungen",
    # the full body
    "No bone of {} is named as a hand, a foot or a head: name them as Rigify, Mixamo or VRM does, or use Add Goal":
        "Kein Knochen von {} heißt wie eine Hand, ein Fuß oder ein Kopf: wie Rigify, Mixamo oder VRM benennen, "
        "oder Ziel hinzufügen verwenden",
    "Name a file to write": "Eine Datei nennen, die geschrieben werden soll",
    "{} cannot be written: choose another place": "{} kann nicht geschrieben werden: einen anderen Ort wählen",
    "{} has {} objects and {} bones, without meshes and names: look at it before you send it":
        "{} hat {} Objekte und {} Knochen, ohne Meshes und Namen: vor dem Senden ansehen",
    "{} is selected: press G to move it, or Shift Alt G to drag any part of the body":
        "{} ist ausgewählt: mit G bewegen, oder mit Umschalt Alt G einen beliebigen Teil des Körpers ziehen",
    "Select a control, and press G to move it": "Einen Steuerknochen auswählen und mit G bewegen",
    "Added goals for {} bones": "Ziele für {} Knochen hinzugefügt",
    "Added no goals": "Keine Ziele hinzugefügt",
    "this armature's bones cannot be edited, so their targets are empties":
        "die Knochen dieses Skeletts lassen sich nicht bearbeiten, daher sind die Zielobjekte Empties",
    "{} bones had goals already": "{} Knochen hatten schon Ziele",
    "keyed their controls on frames {} to {}": "ihre Steuerknochen haben Keyframes von Frame {} bis {}",
    "Action {} moves the body, but has no keys on its controls, so it is not seen: press Key Controls from Motion":
        "Die Action {} bewegt den Körper, hat aber keine Keyframes auf seinen Steuerknochen und ist daher nicht zu "
        "sehen: Keys aus der Bewegung drücken",
    "Action {} has keys on the controls of {} already, or does not move its body":
        "Die Action {} hat schon Keyframes auf den Steuerknochen von {}, oder sie bewegt seinen Körper nicht",
    "their controls are not keyed": "ihre Steuerknochen haben keine Keyframes",
    "Action {} is linked, so keys would be lost: make it local first":
        "Action {} ist verknüpft, Keyframes gingen verloren: sie erst lokal machen",
    "Action {} is blended with the NLA, so keys would not count: set it to Replace, Influence 1, first":
        "Action {} wird mit dem NLA gemischt, Keyframes zählten nicht: sie erst auf Ersetzen, Einfluss 1, stellen",
    "{} may move": "{} darf sich bewegen",
    "{} stays on its keys: raise the Influence of its goal to move it by its target":
        "{} bleibt auf den Keyframes: den Einfluss seines Ziels erhöhen, um ihn mit dem Zielobjekt zu bewegen",
    "not found: {}": "nicht gefunden: {}",
    # limits and holds
    "the bones": "den Knochen",
    "the selected bones": "den ausgewählten Knochen",
    "None of {} has IK limits": "Keiner von {} hat IK-Grenzen",
    "Set the limits of {} bones": "Die Grenzen von {} Knochen gesetzt",
    "The action of {} turns none of {}": "Die Action von {} dreht keinen von {}",
    "None of {} is known as a part of a human figure: set their Role in the Bone panel":
        "Keiner von {} ist als Teil eines Menschen bekannt: im Feld Knochen ihre Rolle angeben",
    "Set the limits of {} of {} bones": "Die Grenzen von {} der {} Knochen gesetzt",
    "the others did not change": "die anderen sind wie zuvor",
    "left alone: {}, whose direction is not known": "ausgelassen: {}, deren Richtung unbekannt ist",
    "None of the selected bones is held": "Keiner der ausgewählten Knochen wird gehalten",
    "None of the bones is held": "Kein Knochen wird gehalten",
    "Cleared the holds of {} bones": "{} Knochen werden nicht mehr gehalten",
    "In Pose Mode, select bones that the goals move": "Im Posenmodus Knochen auswählen, die die Ziele bewegen",
    # solving, baking, checking
    "Live is off already": "Live ist schon aus",
    "Not met at frame {}: {}, by {}": "Verfehlt bei Frame {}: {}, um {}",
    "Baked {} frames, {} keys": "{} Frames gebacken, {} Keyframes",
    "goals missed on {}, most at frame {}: {} by {}": "Ziele verfehlt auf {}, am meisten bei Frame {}: {} um {}",
    "1 frame": "1 Frame",
    "{} frames": "{} Frames",
    "{} and {} more": "{} und {} weitere",
    "Checked {} frames": "{} Frames geprüft",
    "Checked {} frames: all met": "{} Frames geprüft: alle erreicht",
    "Checked {} frames: none missed, on {} of them the bones lag behind":
        "{} Frames geprüft: keiner verfehlt, auf {} davon bleiben die Knochen zurück",
    "At frame {} the bones lag behind their targets, as Follow has them":
        "Bei Frame {} bleiben die Knochen hinter ihren Zielen zurück, wie Folgen es vorsieht",
    "There is nothing to check": "Es gibt nichts zu prüfen",
    "There is no further frame that misses a goal": "Kein weiterer Frame verfehlt ein Ziel",
    "The range ends at frame {}, before it starts at {}": "Der Bereich endet bei Frame {}, bevor er bei {} beginnt",
    "Bake stopped, nothing was changed": "Backen abgebrochen, nichts wurde geändert",
    "Check stopped, the marks are as before": "Prüfung abgebrochen, die Markierungen sind wie zuvor",
    "Comparison stopped": "Vergleich abgebrochen",
    "Stopped": "Abgebrochen",
    "{} was removed meanwhile": "{} wurde inzwischen entfernt",
    "an object was removed meanwhile": "ein Objekt wurde inzwischen entfernt",
    "the view layer was removed meanwhile": "der View Layer wurde inzwischen entfernt",
    "the bones of {} were edited meanwhile": "die Knochen von {} wurden inzwischen bearbeitet",
    "another frame was set meanwhile": "inzwischen wurde ein anderer Frame eingestellt",
    "undo was called meanwhile": "inzwischen wurde rückgängig gemacht",
    "Nothing was keyed": "Keine Keyframes wurden gesetzt",
    "The keys are written, but the missed frames are not known":
        "Die Keyframes sind gesetzt, aber die verfehlten Frames sind nicht bekannt",
    "The active goal is muted or incomplete": "Das aktive Ziel ist stumm oder unvollständig",
    "{} reaches no place in half of all orientations": "{} erreicht keinen Ort in der Hälfte aller Orientierungen",
    "Working": "In Arbeit",
    "Baking": "Backen läuft",
    "Keying the controls": "Die Steuerknochen erhalten Keyframes",
    "Checking": "Prüfung läuft",
    "Comparing solvers": "Verfahren werden verglichen",
    "Computing the reach": "Reichweite wird berechnet",
    "{}: Esc to cancel": "{}: Esc bricht ab",
    "{}: {} %, Esc to cancel": "{}: {} %, Esc bricht ab",
    "{}: {} %, {} left, Esc to cancel": "{}: {} %, noch {}, Esc bricht ab",
    "Stopped, nothing was changed": "Abgebrochen, nichts wurde geändert",
    # the comparison of solvers
    "Compared {} solvers on {} frames": "{} Verfahren auf {} Frames verglichen",
    "the table is in the panel and in the text {}": "die Tabelle steht im Feld und im Text {}",
    "the picture needs a Blender with a window": "das Bild braucht ein Blender mit Fenster",
    "the picture is in the Image Editor": "das Bild ist im Bildeditor",
    "the picture is the image {}": "das Bild ist das Image {}",
    "Choose the solvers to compare": "Die Verfahren auswählen, die verglichen werden sollen",
    "{} is linked, so keys would be lost: make a library override first":
        "{} ist verknüpft, daher gingen Keyframes verloren: zuerst eine Bibliotheksüberschreibung anlegen",
    "Follow moves bones from each frame to the next: bake with Step 1":
        "Folgen bewegt Knochen von jedem Frame zum nächsten: mit Schritt 1 backen",
    "Renders do not show how {} lags behind its targets: bake it first":
        "Beim Rendern ist nicht zu sehen, wie {} hinter seinen Zielen zurückbleibt: zuerst backen",
    "Bake these simulations before you render: {}": "Diese Simulationen vor dem Rendern backen: {}",
    "Enable these targets in renders, or they stand still there: {}":
        "Diese Ziele fürs Rendern einschalten, sonst stehen sie dort still: {}",
    "{} is an override that is not editable: make it editable (Object > Library Override > Make)":
        "{} ist eine Überschreibung, die nicht bearbeitet werden kann: bearbeitbar machen (Objekt > "
        "Bibliotheksüberschreibung > Erstellen)",
    "Leave the NLA tweak mode of {} first": "Zuerst den NLA-Bearbeitungsmodus von {} verlassen",
    "Action {} also plays in the NLA of {}: mute its track, or make the action a single user first":
        "Die Action {} läuft auch im NLA von {}: zuerst ihre Spur stumm schalten oder die Action zum Einzelnutzer "
        "machen",
    "{}, or bake into a new action": "{}, oder in eine neue Action backen",
    # refusals of the solvers
    "goal {} (joint {!r}) has no position, which TWO_BONE needs: give it one or take PGS":
        "Ziel {} (Gelenk {!r}) hat keine Position, die TWO_BONE braucht: sie einschalten oder PGS wählen",
    "TWO_BONE moves two joints, and a third that turns the end; goal {} (joint {!r}) has {} to move in its chain:"
    " set its chain length to 2, or to 3 with the one that turns the end, or take PGS":
        "TWO_BONE bewegt zwei Gelenke, und ein drittes, das das Ende dreht; Ziel {} (Gelenk {!r}) hat in der "
        "Kette {} zu bewegen: die Kettenlänge auf 2 setzen, oder auf 3 mit dem, das das Ende dreht, oder PGS "
        "wählen",
    "goal {} (joint {!r}) asks for a rotation, and TWO_BONE needs the two joints of its chain for the position: "
    "set its chain length to 3, leave the rotation out or take PGS":
        "Ziel {} (Gelenk {!r}) will eine Rotation, und TWO_BONE braucht beide Gelenke der Kette für die "
        "Position: die Kettenlänge auf 3 setzen, die Rotation weglassen oder PGS wählen",
    "TWO_BONE points a limb by a ball joint, or moves it in a plane by two parallel hinges; goal {} (joint {!r}) "
    "has the hinge {!r} at the root of its limb: take PGS":
        "TWO_BONE richtet ein Glied mit einem Kugelgelenk aus, oder bewegt es mit zwei parallelen Scharnieren"
        " in einer Ebene; Ziel {} (Gelenk {!r}) hat das Scharnier {!r} an der Wurzel des Glieds: PGS wählen",
    "TWO_BONE moves no slides; goal {} (joint {!r}) has {!r} in its chain: take PGS":
        "TWO_BONE verschiebt keine Knochen; Ziel {} (Gelenk {!r}) hat {!r} in der Kette: PGS wählen",
    "TWO_BONE moves each joint for one goal; goal {} (joint {!r}) shares {!r} with goal {} (joint {!r}): shorten "
    "their chains, remove one of them or take PGS":
        "TWO_BONE bewegt jedes Gelenk für ein einziges Ziel; Ziel {} (Gelenk {!r}) teilt {!r} mit Ziel {} "
        "(Gelenk {!r}): die Ketten kürzen, eins davon entfernen oder PGS wählen",
    "TWO_BONE turns bones with those above them; goal {} (joint {!r}) has {!r} in its limb, which does not "
    "inherit rotation: take PGS":
        "TWO_BONE dreht Knochen mit denen darüber; Ziel {} (Gelenk {!r}) hat {!r} im Glied, der keine "
        "Rotation erbt: PGS wählen",
    "FABRIK solves positions only; goal {} (joint {!r}) asks for a rotation: take PGS or leave the rotation out":
        "FABRIK löst nur Positionen; Ziel {} (Gelenk {!r}) will eine Rotation: PGS wählen oder die Rotation "
        "weglassen",
    "FABRIK keeps the lengths of bones; goal {} (joint {!r}) has the slide {!r} in its chain: take PGS or shorten"
    " the chain":
        "FABRIK behält die Längen der Knochen; Ziel {} (Gelenk {!r}) hat den verschiebbaren Knochen {!r} in "
        "der Kette: PGS wählen oder die Kette kürzen",
    "{} cannot solve joints that move together; joint {!r} is coupled to another: take PGS":
        "{} kann keine Gelenke lösen, die sich gemeinsam bewegen; Gelenk {!r} ist an ein anderes gekoppelt: PGS wählen",
    "{} solves positions and rotations only; goal {} (joint {!r}) is a {} goal: take PGS":
        "{} löst nur Positionen und Rotationen; Ziel {} (Gelenk {!r}) ist ein Ziel der Art {}: PGS wählen",
    "The keys of these actions are no numbers: correct them in the Graph Editor":
        "Die Keyframes dieser Actions sind keine Zahlen: im Graph-Editor berichtigen",
    "What was learnt from actions is damaged and left out: run Learn from Actions again":
        "Was aus Actions gelernt wurde, ist beschädigt und bleibt außer Acht: „Aus Actions lernen“ wiederholen",
    " and of {} more": " und von {} weiteren",
}  # fmt: skip
