# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations of the interface. Texts that Blender translates itself, such as "Bone", are left to it."""

import bpy

from ..operators.pins import CONTEXT as PINS
from .german_motion import GERMAN_MOTION, GERMAN_MOTION_OPERATORS
from .german_notes import GERMAN_NOTES
from .german_shot import GERMAN_SHOT

_ANY, _OPERATOR = "*", "Operator"

_GERMAN_OPERATORS = {
    "Add Goal": "Ziel hinzufügen",
    "Remove Goal": "Ziel entfernen",
    "Remove All Goals": "Alle Ziele entfernen",
    "Select Target": "Zielobjekt auswählen",
    "Set Up Full Body": "Ganzen Körper einrichten",
    "Goals from IK Constraints": "Ziele aus IK-Constraints",
    "Solve": "Lösen",
    "Learn from Actions": "Aus Actions lernen",
    "Reset Pose": "Pose zurücksetzen",
    "Keep Pose": "Pose behalten",
    "Rotation Space": "Bezug der Rotation",
    "With Forearm": "Mit Unterarm",
    "With World": "Mit der Welt",
    "To FK": "Zu FK",
    "To IK": "Zu IK",
    "Forearm": "Unterarm",
    "World": "Welt",
    "Swap Sides": "Seiten tauschen",
    "Use Pose as Rest": "Pose als Ruhepose",
    "Couple Bones": "Knochen koppeln",
    "Uncouple Bones": "Knochen entkoppeln",
    "Fit Capsules": "Körper messen",
    "Add Obstacle": "Hindernis hinzufügen",
    "Remove Obstacle": "Hindernis entfernen",
    "Hold Here": "Hier halten",
    "Plant": "Aufsetzen",
    "Motion Paths": "Bewegungspfade",
    "Read Motion": "Bewegung lesen",
    "Grab Body": "Körper anfassen",
    "Select Controls": "Alle auswählen",
    "Key Controls": "Key für alle",
    "Key Controls from Motion": "Keys aus der Bewegung",
    "Key the controls from the motion of an action that has keys on the body only, so that Live shows this motion":
        "Steuerknochen aus der Bewegung einer Action mit Keys versehen, die nur auf dem Körper Keys hat, damit Live "
        "diese Bewegung zeigt",
    "Attach": "Anhängen",
    "Attach...": "Anhängen ...",
    "Put in Hand...": "In die Hand geben ...",
    "Detach": "Abhängen",
    "Targets to Pose": "Zielobjekte zur Pose",
    "Limb to FK": "Glied zu FK",
    "Limb to IK": "Glied zu IK",
    "Report a Problem": "Problem melden",
    "Write a small file with this figure, its goals, targets and keys, without meshes and names, to show a fault":
        "Eine kleine Datei mit dieser Figur, ihren Zielen, Zielobjekten und Keys schreiben, ohne Meshes und Namen, um "
        "einen Fehler zu zeigen",
    "Where the file goes": "Wohin die Datei kommt",
    "Switch Limb": "Glied umschalten",
    "Key the Body Too": "Auch den Körper mit Keys versehen",
    "Key and hold the rest of the body on the frames on which a limb was just switched, so that it stays":
        "Den übrigen Körper auf den Frames, auf denen gerade ein Glied umgeschaltet wurde, mit Keys versehen und "
        "halten, damit er bleibt",
    "Keep Body": "Körper behalten",
    "Where the rest of the body would move without the goal, or by it, key and hold its bones on the switched frames "
    "too":
        "Wo sich der übrige Körper ohne das Ziel oder durch es bewegen würde, auch seine Knochen auf den "
        "umgeschalteten Frames mit Keys versehen und halten",
    "Mirror Goals": "Ziele spiegeln",
    "Mirror Limits": "Grenzen spiegeln",
    "Mirror Couplings": "Kopplungen spiegeln",
    "Bake": "Backen",
    "Bake...": "Backen ...",
    "Check Range": "Bereich prüfen",
    "Check Range...": "Bereich prüfen ...",
    "Go to Missed Frame": "Zum verfehlten Frame gehen",
    "Clear Marks": "Markierungen entfernen",
    "Compare Solvers": "Verfahren vergleichen",
    "Compare Solvers...": "Verfahren vergleichen ...",
    "Limits from IK Limits": "Grenzen aus IK-Grenzen",
    "From IK Limits": "Aus IK-Grenzen",
    "From Action": "Aus Action",
    "Compute Reach": "Reichweite berechnen",
    "Limits from Action": "Grenzen aus Action",
    "Clear Limits": "Grenzen löschen",
    "Human Limits": "Grenzen eines Menschen",
    "Show Reach": "Reichweite zeigen",
    "Hide Reach": "Reichweite ausblenden",
    "Lock Interface": "Oberfläche sperren",
    "Lock Interface for DQIK": "Oberfläche für DQIK sperren",
    "Show the Pose": "Pose anzeigen",
    "Switch Translate Off": "Verschieben ausschalten",
    "Switch Use Tail On": "Bis zum Ende einschalten",
    "Enable It": "Einschalten",
    "Make Goals of Them": "Zu Zielen machen",
    "Make Library Override": "Bibliotheksüberschreibung anlegen",
    "Make It Editable": "Bearbeitbar machen",
}

_GERMAN_PINS = {"Pin": "Festhalten", "Unpin": "Loslassen"}
"""In a context of their own: Blender's dictionary has these words for the pins of textures."""

_GERMAN = {
    "Controls": "Steuerknochen",
    "Show Controls Only": "Nur Steuerknochen",
    "Chest": "Brust",
    "Elbows": "Ellbogen",
    "Knees": "Knie",
    "Toes": "Zehen",
    "Or select bones in Pose Mode and give them goals":
        "Oder im Posenmodus Knochen auswählen und ihnen Ziele geben",
    "Live": "Live",
    "Goals": "Ziele",
    "Attached": "Angehängt",
    "See Motion": "Bewegung sehen",
    "Ghosts": "Geister",
    "Frames Before": "Frames davor",
    "Frames After": "Frames danach",
    "Arcs": "Bögen",
    "Into Hand": "In die Hand",
    "{} to {}, from {}": "{} an {}, ab {}",
    "{} to {}, {} to {}": "{} an {}, {} bis {}",
    "Goal": "Ziel",
    "Chain": "Kette",
    "Chain Length": "Kettenlänge",
    "Use Tail": "Bis zum Ende",
    "Use Pole": "Pol verwenden",
    "Targets Follow Armature": "Zielobjekte folgen dem Skelett",
    "Kind": "Art",
    "Couplings": "Kopplungen",
    "Fingers": "Finger",
    "Spine": "Wirbelsäule",
    "Shoulders": "Schultern",
    "Forearms": "Unterarme",
    "Selected to Active": "Ausgewählte an aktiven",
    "Leader": "Führender",
    "Leader Axis": "Achse des Führenden",
    "Factor": "Faktor",
    "Look At": "Anblicken",
    "Distance": "Abstand",
    "Plane": "Ebene",
    "Balance": "Gleichgewicht",
    "Curve": "Kurve",
    "Parallel": "Parallel",
    "Target Axis": "Achse des Zielobjekts",
    "Self": "Eigener Körper",
    "Floor": "Boden",
    "Overlap: {}": "Überschneidung: {}",
    "Carries Weight": "Trägt Gewicht",
    "Within": "Innerhalb",
    "Beyond": "Jenseits",
    "Above": "Darüber",
    "Side": "Seite",
    "Follow Limb": "Dem Glied folgen",
    "Lead Body": "Körper führen",
    "Hold": "Halten",
    "Keep Keyed Poses": "Posen mit Keyframes behalten",
    "Priority": "Vorrang",
    "Overlay": "Einblendung",
    "Natural Pose": "Natürliche Pose",
    "Own Motion": "Eigene Bewegung",
    "Handles": "Griffe",
    "At Limits": "Am Anschlag",
    "Holds": "Gehalten",
    "Roles": "Rollen",
    "Bodies": "Körper",
    "Reach": "Reichweite",
    "Limits": "Grenzen",
    "Twist about Y": "Drehung um Y",
    "Swing about X": "Schwenk um X",
    "Swing about Z": "Schwenk um Z",
    "Selected Bones": "Ausgewählte Knochen",
    "Stiffness": "Steifigkeit",
    "Gain": "Rückstellkraft",
    "Preferred": "Bevorzugt",
    "Lock": "Sperren",
    "Translate": "Verschieben",
    "Solver": "Verfahren",
    "Method": "Methode",
    "Start From": "Beginnen bei",
    "Previous Frame": "Vorheriger Frame",
    "Follow": "Folgen",
    "Runs In": "Läuft in",
    "Balanced (PGS)": "Ausgewogen (PGS)",
    "Fast (DLS)": "Schnell (DLS)",
    "Joint by Joint (CCD)": "Gelenk für Gelenk (CCD)",
    "Thorough (SQP)": "Gründlich (SQP)",
    "Comparison": "Vergleich",
    "Solvers (Shift-click for several)": "Verfahren (Umschalt-Klick für mehrere)",
    "worst": "größter",
    "mean": "Mittel",
    "met": "erreicht",
    "time": "Zeit",
    "iterations": "Schritte",
    "Joint step": "Gelenkschritt",
    "largest": "größter",
    "All goals met": "Alle Ziele erreicht",
    "Following the targets": "Folgt den Zielen",
    "Not met at frame {}": "Verfehlt bei Frame {}",
    "left out": "ausgelassen",
    "Goals left out: {}": "Ausgelassene Ziele: {}",
    "Not solved yet": "Noch nicht gelöst",
    "Live is off": "Live ist aus",
    "Nothing is held": "Nichts wird gehalten",
    "No missed frames": "Keine verfehlten Frames",
    "Warnings": "Warnungen",
    "No warnings": "Keine Warnungen",
    "Nothing is attached": "Nichts ist angehängt",
    "Select a control or a bone": "Steuerknochen oder Knochen auswählen",
    "Go to Pose Mode to change a motion": "Für Bewegungen in den Posenmodus",
    "Go to Pose Mode to pose": "Zum Posieren in den Posenmodus",
    "Press G or R, or drag the control": "G oder R drücken, oder ziehen",
    "Set up the body, or give bones goals, first": "Zuerst den Körper einrichten, oder Knochen Ziele geben",
    "Pose": "Pose",
    "Motion": "Bewegung",
    "Body": "Körper",
    "Rig": "Rig",
    "Collision": "Kollision",
    "Off by {}": "Abstand {}",
    "Behind by {}": "Rückstand {}",
    "{} gave way by {}": "{} weicht um {} ab",
    "At limits: {}": "Am Anschlag: {}",
    "Missed: {}": "Verfehlt: {}",
    "More warnings: {}": "Weitere Warnungen: {}",
    "{} iterations, {:.1f} ms": "{} Schritte, {:.1f} ms",
    "Shortcuts": "Tastenkürzel",
    "Select an armature, or the target of one of its goals":
        "Ein Skelett auswählen, oder das Zielobjekt eines seiner Ziele",
    "Leave Edit Mode to set goals and solve": "Für Ziele den Bearbeitungsmodus verlassen",
    "Select a bone in Pose Mode": "Im Posenmodus einen Knochen auswählen",
    "Key a Range": "Bereich mit Keyframes",
    "Key from Motion": "Keyframes aus der Bewegung",
    "Where the body moves, key the targets from its motion, on every frame. Live shows the same motion then, and "
    "follows what you change of the targets":
        "Wo sich der Körper bewegt, den Zielobjekten auf jedem Frame Keyframes aus seiner Bewegung geben. Live zeigt "
        "dann dieselbe Bewegung und folgt dem, was an den Zielobjekten geändert wird",
    "DQIK is live: lock the interface before you render": "DQIK ist live: vor dem Rendern die Oberfläche sperren",
    "Solve on every change of frame, and whenever a target or a bone moves. "
    "Switching it off returns the bones to their pose from before":
        "Bei jedem Framewechsel lösen, und wenn sich ein Zielobjekt oder ein Knochen bewegt. "
        "Ausgeschaltet kehren die Knochen zu ihrer früheren Pose zurück",
    "Solve a range of frames and key the solved bones. Esc stops the bake and changes nothing":
        "Einen Bereich von Frames lösen und die Knochen mit Keyframes versehen. Esc bricht ab und ändert nichts",
    "Measure on every frame of a range how far the goals are missed, and mark these frames in the timeline":
        "Auf jedem Frame eines Bereichs messen, wie weit die Ziele verfehlt werden, und diese Frames markieren",
}  # fmt: skip


def german() -> dict[tuple[str, str], str]:
    """The German texts by context and English text."""
    labels = _GERMAN_OPERATORS | GERMAN_MOTION_OPERATORS
    operators = {(_OPERATOR, key): text for key, text in labels.items()}
    others = labels | _GERMAN | GERMAN_NOTES | GERMAN_SHOT | GERMAN_MOTION
    operators |= {(PINS, key): text for key, text in _GERMAN_PINS.items()}
    return operators | {(_ANY, key): text for key, text in others.items()}


def start() -> None:
    """Tell Blender the translations."""
    bpy.app.translations.register(__name__, {"de_DE": german()})


def stop() -> None:
    """Take the translations away."""
    bpy.app.translations.unregister(__name__)
