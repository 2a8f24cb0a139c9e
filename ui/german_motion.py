# SPDX-License-Identifier: GPL-3.0-or-later
"""German for the words of operators, panels and notes about whole motions."""

GERMAN_MOTION_OPERATORS = {
    "Edit Range": "Bereich bearbeiten",
    "Fewer Keys": "Weniger Keyframes",
    "Fewer Keys...": "Weniger Keyframes ...",
    "Overlap": "Nachschwingen",
    "Overlap...": "Nachschwingen ...",
    "Mend Motion": "Bewegung ausbessern",
    "Mend Motion...": "Bewegung ausbessern ...",
    "Retarget": "Übertragen",
    "Retarget...": "Übertragen ...",
    "Find Contacts": "Kontakte suchen",
    "Find Contacts...": "Kontakte suchen ...",
    "Add Contact": "Kontakt hinzufügen",
    "Remove Contact": "Kontakt entfernen",
    "Clear Contacts": "Kontakte entfernen",
    "Drag Contact": "Kontakt ziehen",
}
"""Labels of operators."""

GERMAN_MOTION = {
    "What is done to all frames of a motion at once": "Was mit allen Frames einer Bewegung zugleich geschieht",
    "The motion of {} has values that are no numbers: reset its place and its pose":
        "Die Bewegung von {} hat Werte, die keine Zahlen sind: Ort und Pose zurücksetzen",
    # editing a range
    "In Pose Mode, select the controls or bones that you have moved":
        "Im Posenmodus die Steuerknochen oder Knochen auswählen, die bewegt wurden",
    "Nothing that is selected has keys and was moved on this frame: move it first, then press this":
        "Nichts Ausgewähltes hat Keyframes und wurde in diesem Frame bewegt: zuerst bewegen, dann hier drücken",
    "Curves of {} are samples, which take no keys: convert them to keyframes first":
        "Kurven von {} sind Samples, die keine Keyframes aufnehmen: zuerst in Keyframes umwandeln",
    "Curves of {} have modifiers, which carry a change to other frames: bake the motion first":
        "Kurven von {} haben Modifikatoren, die eine Änderung in andere Frames tragen: zuerst die Bewegung backen",
    "Changed {} controls or bones over a radius of {} frames":
        "{} Steuerknochen oder Knochen über {} Frames zu beiden Seiten geändert",
    # fewer keys
    "Whole Keys": "Ganze Keyframes",
    "Replacing keys": "Keyframes werden ersetzt",
    "Nothing of {} has dense keys in this range": "Nichts von {} hat in diesem Bereich dichte Keyframes",
    "{} keys in place of {}; differences up to {} degrees and {} % of the size":
        "{} Keyframes statt {}; Abweichungen bis {} Grad und {} % der Größe",
    # smooth bakes
    "Follow lags behind its targets, a smooth bake does not: choose another Start From, or Smooth 0":
        "Folgen bleibt hinter seinen Zielen zurück, geglättetes Backen nicht: ein anderes Beginnen bei wählen, oder "
        "Glätten 0",
    "Goals follow what other goals move, which a smooth bake does not: choose Smooth 0":
        "Ziele folgen dem, was andere Ziele bewegen, geglättetes Backen nicht: Glätten 0 wählen",
    # overlap
    "In Pose Mode, select the bones of a tail, of hair or ears":
        "Im Posenmodus die Knochen eines Schwanzes, von Haaren oder Ohren auswählen",
    "Bone {} is moved by a goal: mute the goal, or bake first":
        "Ein Ziel bewegt den Knochen {}: das Ziel stummschalten, oder zuerst backen",
    "{} bones follow through, {} keys": "{} Knochen schwingen nach, {} Keyframes",
    # mended motion
    "Plant feet that slide in a captured motion, and hands that hold on. The old action stays in the file":
        "Füße aufsetzen, die in einer aufgezeichneten Bewegung rutschen, und Hände, die sich halten. Die alte Action "
        "bleibt in der Datei",
    "Planting feet and hands": "Füße und Hände werden aufgesetzt",
    "{} has feet that are bones of their own, so legs and feet cannot be mended as one: parent the feet to the shins, "
    "or retarget the motion to a body whose legs are whole":
        "{} hat Füße, die eigene Knochen sind, so dass sich Beine und Füße nicht zusammen ausbessern lassen: die Füße "
        "den Unterschenkeln unterordnen, oder die Bewegung auf einen Körper mit ganzen Beinen übertragen",
    "{} has no two legs that are recognised: set the Role of thighs, shins and feet in the Bone panel":
        "{} hat keine zwei erkannten Beine: die Rolle von Oberschenkeln, Unterschenkeln und Füßen im Panel setzen",
    "The bones of a leg of {} do not hang on each other: set the Role of its thigh, shin and foot":
        "Die Knochen eines Beins von {} hängen nicht aneinander: Rollen von Oberschenkel, Schienbein, Fuß setzen",
    "{} has no action to mend: bake its motion first": "{} hat keine Action zum Ausbessern: die Bewegung zuerst backen",
    "No foot of {} stands on these frames, and no hand holds on, so nothing was changed":
        "Auf diesen Frames steht kein Fuß von {}, und keine Hand hält sich, also wurde nichts geändert",
    "Contacts of {} cannot be planted: mute what moves its arm, set its Role, or remove them":
        "Die Kontakte von {} können nicht aufgesetzt werden: stummschalten, was seinen Arm bewegt, seine Rolle "
        "festlegen, oder seine Kontakte entfernen",
    "{} has a contact at or beside frame {} already: drag its bar, or go to another frame":
        "{} hat an oder neben Frame {} schon einen Kontakt: seinen Balken ziehen, oder zu einem anderen Frame gehen",
    "{} is no foot or hand that is recognised: set its Role in the Bone panel":
        "{} ist kein erkannter Fuß und keine Hand: seine Rolle im Bedienfeld Knochen festlegen",
    "This motion moves as if made for {} frames a second, but the scene plays {}: set the scene's Frame Rate, or "
    "import the motion again at its rate":
        "Diese Bewegung verläuft wie für {} Frames in der Sekunde gemacht, die Szene spielt {}: Framerate der Szene "
        "einstellen oder die Bewegung mit dieser Framerate neu importieren",
    "{} contacts: planted feet slid by {} % of the height a second, now {} %; knees change up to {} degrees":
        "{} Kontakte: stehende Füße rutschten {} % der Höhe je Sekunde, jetzt {} %; Knie ändern sich um bis zu {} Grad",
    "{} contacts of hands: slide {} % of the height a second, now {} %; elbows change up to {} degrees":
        "{} Kontakte der Hände: sie rutschten {} % der Höhe je Sekunde, jetzt {} %; Ellbogen ändern sich um bis zu {} "
        "Grad",
    "Plants the {} contacts of the list": "Die {} Kontakte der Liste werden aufgesetzt",
    "Finds new contacts": "Neue Kontakte werden gesucht",
    "Find Contacts Again": "Kontakte neu suchen",
    "Find the contacts anew, in place of those in the list":
        "Die Kontakte neu suchen, anstelle derer in der Liste",
    "From the Original": "Vom Original aus",
    # the original
    "Show the Original": "Original zeigen",
    "Show the motion from which this one was made as lines along its bones, while Live is off":
        "Die Bewegung, aus der diese entstand, als Linien entlang ihrer Knochen zeigen, während Live aus ist",
    "Beside": "Daneben",
    "The original is shown while Live is off": "Das Original wird gezeigt, während Live aus ist",
    # contacts of feet and hands
    "Contacts": "Kontakte",
    "Find the frames on which feet are on the ground and hands hold on, and list them in place of others":
        "Die Frames suchen, auf denen Füße am Boden sind und Hände sich halten, und sie anstelle anderer auflisten",
    "In the Timeline": "In der Zeitleiste",
    "Show the contacts as bars in the timeline and the dope sheet, while the armature is in Pose Mode. Drag their ends "
    "or their middle":
        "Die Kontakte als Balken in Zeitleiste und Dope Sheet zeigen, während das Skelett im Posenmodus ist. Enden "
        "oder Mitte lassen sich ziehen",
    "Heel": "Ferse",
    "Ball": "Ballen",
    "Wrist": "Handgelenk",
    "Knuckles": "Knöchel",
    "Mend Motion finds the contacts itself if there are none here":
        "Bewegung ausbessern sucht die Kontakte selbst, wenn hier keine sind",
    "The timeline is too low for all bars: drag its upper edge up, or choose a contact to see its bar":
        "Die Zeitleiste ist zu niedrig für alle Balken: ihre obere Kante hochziehen, oder einen Kontakt wählen, um "
        "seinen Balken zu sehen",
    "These are of another motion and do not count for this one: {}":
        "Diese gehören zu einer anderen Bewegung und zählen für diese nicht: {}",
    "Contact from frame {} to {}": "Kontakt von Frame {} bis {}",
    "{} contacts found": "{} Kontakte gefunden",
    "{} has {} contacts: there is none with the number {}": "{} hat {} Kontakte: keiner hat die Nummer {}",
    "Where feet can stand": "Wo Füße stehen können",
    "Lowest Places": "Tiefste Stellen",
    "Where the feet are lowest at about that time. Steps and slopes are found too":
        "Wo die Füße um diese Zeit am tiefsten sind. Auch Stufen und Schrägen werden gefunden",
    "Level": "Eben",
    "At one height. Feet that stand are put on it, as high as they stand mostly":
        "In einer Höhe. Stehende Füße werden darauf gesetzt, so hoch, wie sie meistens stehen",
    "On a mesh, as it is at the present frame. Feet that stand are put on it, as high as they stand mostly":
        "Auf einem Mesh, wie es im jetzigen Frame ist. Stehende Füße werden darauf gesetzt, so hoch, wie sie meistens "
        "stehen",
    "Height of the level ground in the world": "Höhe des ebenen Bodens in der Welt",
    "Ground Mesh": "Boden-Mesh",
    "The mesh on which the figure moves": "Das Mesh, auf dem die Figur sich bewegt",
    "Choose the mesh on which the figure moves": "Das Mesh auswählen, auf dem die Figur sich bewegt",
    "There is no mesh {} in the scene to move on": "In der Szene ist kein Mesh {}, auf dem man sich bewegen könnte",
    "{} has no faces to stand on: choose another mesh as the ground":
        "{} hat keine Flächen, auf denen man stehen kann: ein anderes Mesh als Boden wählen",
    # retarget
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
    "{} goes on four legs and {} on two: Retarget needs two figures that go alike":
        "{} geht auf vier Beinen und {} auf zweien: Übertragen braucht zwei Figuren, die gleich gehen",
    "{} is mirrored or scaled unevenly: apply its scale (Object > Apply > Scale)":
        "{} ist gespiegelt oder ungleich skaliert: die Skalierung anwenden (Objekt > Anwenden > Skalierung)",
    "{} does not move on frames {} to {}": "{} bewegt sich in den Frames {} bis {} nicht",
    "No bone of {} carries all the others and can be moved: disconnect its hips":
        "Kein Knochen von {} trägt alle anderen und kann bewegt werden: die Verbindung seiner Hüfte lösen",
    "{} is folded at rest and stands nowhere in its motion: choose one in which it stands for a moment":
        "{} ist in Ruhe gefaltet und steht nirgends in ihrer Bewegung: eine wählen, in der sie kurz steht",
    "{} is folded at rest: on a frame on which it stands, press Use Pose as Rest first":
        "{} ist in Ruhe gefaltet: in einem Frame, in dem sie steht, zuerst „Pose als Ruhepose“ drücken",
    "the keys of the scale of {} are left out": "die Keyframes der Skalierung von {} bleiben weg",
    "{} bones on {} frames, {} keys": "{} Knochen in {} Frames, {} Keyframes",
}
