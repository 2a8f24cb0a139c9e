# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations belong to texts of the interface, and shortcuts to operators that exist."""

import ast
import re
import string
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import bpy
import language
import numpy as np
import pytest
import rigs
from shown_words import Drawn

pytestmark = pytest.mark.newest

LANGUAGES = sorted(path.stem for path in (Path(__file__).parents[3] / "ui/languages").glob("*.po"))


@pytest.fixture
def languages() -> ModuleType:
    return rigs.part("ui.languages")


def source(extension: str) -> dict[str, ast.Module]:
    """The installed extension's files by path, of the solvers what users read, without the translations."""
    root = Path(sys.modules[extension].__file__ or "").parent
    read = ("solvers/methods/", "solvers/papers/")
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if name.startswith("solvers/") == name.startswith(read)
    }


def test_every_file_is_a_language_of_blender(languages: ModuleType) -> None:
    """It has its line in `LOCALES` of `ui/languages/__init__.py`, without which nobody sees it."""
    assert sorted(languages.LOCALES) == LANGUAGES


def test_a_language_is_begun_with_all_that_german_has(languages: ModuleType) -> None:
    """What is translated already stays, and nothing is added twice."""
    german = (Path(languages.__file__ or "").parent / "de.po").read_text(encoding="utf-8")
    begun, count = language.completed('msgid ""\nmsgstr ""\n\nmsgid "Role"\nmsgstr "Rol"\n', german)
    assert f"\n{begun}".count("\nmsgid ") == german.count("\nmsgid ") == count + 2
    assert 'msgid "Role"\nmsgstr "Rol"\n' in begun
    assert language.completed(begun, german) == (begun, 0)


def text_of(node: ast.AST | None) -> str | None:
    """A string constant, or the template of an f-string with {} for each field; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return None


@cache
def texts_of_the_source(extension: str) -> set[str]:
    """All strings of the extension: constants, f-strings as templates, and the clauses of these."""
    texts = {text_of(node) for tree in source(extension).values() for node in ast.walk(tree)} - {None}
    return texts | {clause for text in texts for clause in text.split("; ")}


@cache
def sentences(extension: str) -> set[str]:
    """The words of all notes, and what refusals of the solvers say."""
    notes = rigs.part("rig.notes")
    found = {text for name, text in vars(notes.Code).items() if name.isupper()}
    for tree in source(extension).values():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
            if getattr(call.func, "id", "") in ("Note", "InvalidGoal"):
                found |= {text_of(node) for node in ast.walk(call.args[0])} | {text_of(call.args[0])}
    return {text for text in found if text and any(letter.isalpha() for letter in text)}


def test_no_words_are_made_where_facts_are_found(extension: str) -> None:
    """Operators report notes, and what `rig` raises carries one, so that nothing has to read words."""
    wrong = []
    for path, tree in source(extension).items():
        for node in ast.walk(tree):
            said = []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("report", "tell"):
                said = node.args[1:] if path.startswith("operators") and path != "operators/common.py" else []
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and path.startswith("rig"):
                said = node.exc.args
            wrong += [f"{path}:{node.lineno}" for one in said if text_of(one) is not None]
    assert not wrong


def to_translate(name: str, texts: Iterable[str]) -> str:
    """What to add to a language's file, anywhere in it."""
    quoted = (text.replace("\\", r"\\").replace('"', r"\"") for text in sorted(texts))
    entries = (f'msgid "{text}"\nmsgstr ""\n' for text in quoted)
    return "\n".join([f"add to ui/languages/{name}.po, and translate:\n", *entries])


def fields(text: str) -> list[str]:
    """The fields of a format string."""
    return [f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None]


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_translated_text_is_in_the_source(name: str, extension: str, languages: ModuleType) -> None:
    parts = rigs.part("rig.figure.parts")
    texts = texts_of_the_source(extension) | {role.label for role in parts.ROLES}
    words = languages.read(name)
    assert len(words) > 50
    assert words.keys() - texts == set(), "nothing shows these"


@pytest.mark.parametrize("name", LANGUAGES)
def test_translations_have_the_fields_of_their_texts(name: str, languages: ModuleType) -> None:
    for key, text in languages.read(name).items():
        assert fields(key) == fields(text), key
        assert text
        assert not text.endswith(".") or text.endswith("...")


def situations() -> Iterator[None]:
    """Yields in turn, so that each part of the tab is there at least once."""
    names = ("compare", "notes", "clip.last_report", "controls.selection", "clip.clip", "overlay.preview")
    compare, notes, last_report, selection, clip, preview = (rigs.part(f"rig.{name}") for name in names)
    yield
    ob = rigs.figure()
    yield
    rigs.blender_ik(ob, "hand.L", rigs.empty((0, 0, 1)))
    bpy.ops.dqik.goal_add(bone="hand.R")
    goal = ob.dqik.goals[0]
    for kind in goal.bl_rna.properties["kind"].enum_items:
        goal.kind = kind.identifier
        yield
    goal.kind, goal.use_rotation, goal.influence, goal.pole_target = "REACH", True, 0.0, ob
    bpy.ops.object.mode_set(mode="POSE")
    yield
    ob.dqik.goals.clear()
    bpy.ops.dqik.setup_full_body()
    for bone in ("DQIK hand.L", "DQIK foot.R", "DQIK hips", "head"):
        selection.select_only(ob, bone)
        yield
    ob.dqik.live = ob.dqik.ghosts = ob.dqik.arcs = ob.dqik.use_floor = True
    for method in ob.dqik.bl_rna.properties["solver"].enum_items:
        ob.dqik.solver = method.identifier
        yield
    ob.dqik.start_from = "SHOT"
    yield
    ob.dqik.start_from, ob.dqik.own_motion = "FOLLOW", "learnt"
    ob.dqik.couplings.add().bone = "head"
    for mute in (False, True):
        contact = ob.dqik.contacts.add()
        contact.bone, contact.part, contact.mute = "foot.L", "HEEL", mute
    ob.dqik.avoid.add()
    bpy.ops.dqik.reach_show(postures=1000)
    compare.compared.keep(ob.session_uid, [compare.Row("PGS"), compare.Row("DLS", notes.Note("Stopped"))])
    made, ob.dqik.contacts_of = bpy.data.actions.new("Made"), bpy.data.actions.new("Other")
    ob.animation_data_create().action = made
    made.dqik_original = bpy.data.actions.new("Original")
    ob.dqik.show_original = True
    last_report.remember(ob, [notes.Note("Nothing was keyed")], False)
    count = len(ob.pose.bones)
    preview.show(ob, "Source", "", (1, 1), [1], clip.BodyMotion(np.zeros((1, count, 3)), np.ones((1, count, 4))), 1.0)
    for live in (True, False):
        ob.dqik.live = live
        yield


@cache
def shown(extension: str) -> Drawn:
    """What the tab draws in all situations, with the menu of the right button, the pie, and what mends warnings."""
    drawn, ui = Drawn(extension), rigs.part("ui")
    for _ in situations():
        for width in (300, 120):
            drawn.tab(ui.PANELS, width)
        drawn.menus("DQIK_MT_tools", "DQIK_MT_pie")
    for operator, _, text in rigs.part("operators.live.mend").MENDED_BY.values():
        drawn.operator(operator, text)
    return drawn


@cache
def literals(extension: str) -> set[str]:
    """The labels and sentences written in the tab, also for what no situation shows, and all that are looked up."""
    found: set[str | None] = set()
    for path, tree in source(extension).items():
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in (node for node in ast.walk(tree) if id(node) not in docstrings):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("iface_", "tip_"):
                found.add(text_of(node.args[0]))
            elif path.startswith("ui/tab/") and isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if re.match("[A-Z][a-z]", node.value) else set()
    return {text for text in found - {None} if any(letter.islower() for letter in text)}


@cache
def blenders_own() -> set[str]:
    """The names of Blender's own properties and menu items, which it translates itself."""
    types = (getattr(bpy.types, name) for name in dir(bpy.types))
    properties = [prop for cls in types if hasattr(cls, "bl_rna") for prop in cls.bl_rna.properties]
    properties = [prop for prop in properties if not prop.is_runtime]
    items = [item for prop in properties if prop.type == "ENUM" for item in prop.enum_items_static]
    return {one.name for one in (*properties, *items)}


@pytest.mark.parametrize("name", LANGUAGES)
def test_all_words_and_tooltips_of_the_tab_are_translated(name: str, extension: str, languages: ModuleType) -> None:
    words, drawn = languages.read(name), shown(extension)
    assert len(drawn.texts) > 500
    missing = {text for _, text in drawn.texts} | literals(extension)
    missing -= words.keys()
    assert not missing, to_translate(name, missing)


def test_no_word_is_looked_up_among_blenders_own(extension: str) -> None:
    """Blender's own translation of a word would be shown there, such as that of language for a bone's *Translate*."""
    drawn = shown(extension).texts
    assert ("DQIK", "Translate") in drawn
    taken = {text: place for (context, text), place in drawn.items() if context == "*" and text in blenders_own()}
    assert not taken


def test_the_situations_show_every_operator_of_the_tab(extension: str) -> None:
    named = {node.value for path, tree in source(extension).items() if path.startswith("ui/tab/")
             for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
             and re.fullmatch(r"dqik\.\w+", node.value)}  # fmt: skip
    assert len(named) > 40
    assert named - shown(extension).operators == set()


def test_parts_of_the_body_have_german_names(languages: ModuleType) -> None:
    parts, german = rigs.part("rig.figure.parts"), languages.read("de")
    assert {role.label for role in parts.ROLES} - german.keys() == set()


def test_buttons_are_translated_as_blender_looks_them_up(extension: str, languages: ModuleType) -> None:
    """The texts of operators, and those that panels give them, in the context of their operator."""
    kinds = [getattr(bpy.ops.dqik, name).get_rna_type() for name in dir(bpy.ops.dqik)]
    assert {kind.translation_context for kind in kinds} == {"DQIK"}
    buttons = {kind.name for kind in kinds}
    for tree in (tree for path, tree in source(extension).items() if path.startswith("ui/")):
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = text_of(node.args[0]) if getattr(node.func, "attr", "") == "operator" and node.args else None
            if name is not None and name.startswith("dqik."):
                buttons |= {text_of(one.value) for one in node.keywords if one.arg == "text"} - {None, ""}
    assert "Retarget..." in buttons
    missing = buttons - languages.read("de").keys()
    assert not missing, to_translate("de", missing)


def test_named_texts_are_used_and_exist(extension: str) -> None:
    named = {name for name in vars(rigs.part("rig.notes").Code) if name.isupper()}
    assert {
        node.attr for tree in source(extension).values() for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Code"
    } == named


@pytest.mark.parametrize("name", LANGUAGES)
def test_sentences_for_the_user_are_translated(name: str, extension: str, languages: ModuleType) -> None:
    words = languages.read(name).keys()
    found = sentences(extension)
    assert len(found) > 50
    assert found <= words, to_translate(name, found - words)


def note_of(notes: ModuleType, *parts: object) -> object:
    """A note from a text and values; values that are tuples are notes too."""
    text, *values = parts
    return notes.Note(text, *(note_of(notes, *one) if isinstance(one, tuple) else one for one in values))


SENTENCES = [
    (("Goal {}: {}", "'hand.L'", ("it has no target: choose an object",)),
     "Goal 'hand.L': it has no target: choose an object",
     "Ziel 'hand.L': es hat kein Zielobjekt: ein Objekt auswählen"),
    (("Goal {}: its target or pole follows bone {}, which is solved", "'hips'", "'spine'"),
     "Goal 'hips': its target or pole follows bone 'spine', which is solved",
     "Ziel 'hips': sein Zielobjekt oder Pol folgt dem Knochen 'spine', der gelöst wird"),
    (("Goal {}: {}", "'mixamorig:Hips'", ("the armature has no bone {}: choose another", "'a: b'")),
     "Goal 'mixamorig:Hips': the armature has no bone 'a: b': choose another",
     "Ziel 'mixamorig:Hips': das Skelett hat keinen Knochen 'a: b': einen anderen auswählen"),
    (("{} left to drivers", ("{} and {} more", "'a', 'b', 'c'", 2)), "'a', 'b', 'c' and 2 more left to drivers",
     "'a', 'b', 'c' und 2 weitere den Treibern überlassen"),
    (("goals missed on {}, most at frame {}: {} by {}", ("1 frame",), 3, "hand", "2 cm"),
     "goals missed on 1 frame, most at frame 3: hand by 2 cm",
     "Ziele verfehlt auf 1 Frame, am meisten bei Frame 3: hand um 2 cm"),
    (("{}: {} %, Esc to cancel", ("Comparing solvers",), "30"), "Comparing solvers: 30 %, Esc to cancel",
     "Verfahren werden verglichen: 30 %, Esc bricht ab"),
    (("{}", "something that nobody translated"),) + 2 * ("something that nobody translated",),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "english", "german"), SENTENCES)
def test_notes_with_names_and_numbers_translate(languages: ModuleType, parts: tuple, english: str, german: str) -> None:
    """Names stay; notes in fields are translated too."""
    notes = rigs.part("rig.notes")
    words = languages.read("de")
    note = note_of(notes, *parts)
    assert str(note) == english
    assert note.words(lambda key: words.get(key, key)) == german
    assert note == note_of(notes, *parts)
    assert note != note_of(notes, *parts, "another value")


def test_lines_of_notes_and_refusals_of_solvers_are_translated(languages: ModuleType) -> None:
    notes, ik = (rigs.part(name) for name in ("rig.notes", "solvers"))
    words = languages.read("de")
    arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand.L", 0, "ball", (0, 1, 0))])
    with pytest.raises(ik.InvalidGoal) as refused:
        ik.prepare(arm, [ik.Goal("hand.L", position=(0, 0, 0), rotation=(1, 0, 0, 0))], "FABRIK")
    compared = note_of(notes, "Compared {} solvers on {} frames", 4, 24)
    made = [compared, note_of(notes, "the picture is in the Image Editor")]
    line = [*made, notes.note_of(refused.value)]
    assert notes.joined(line) == (
        "Compared 4 solvers on 24 frames; the picture is in the Image Editor; FABRIK solves positions only; "
        "goal 0 (joint 'hand.L') asks for a rotation: take PGS or leave the rotation out"
    )
    assert notes.joined(line, lambda key: words.get(key, key)) == (
        "4 Verfahren auf 24 Frames verglichen; das Bild ist im Bildeditor; FABRIK löst nur Positionen; "
        "Ziel 0 (Gelenk 'hand.L') will eine Rotation: PGS wählen oder die Rotation weglassen"
    )


def test_the_extension_goes_off_and_on_twice(extension: str) -> None:
    """Every part undoes its registration, so that nothing is left and nothing is there twice."""
    import addon_utils

    for _ in range(2):
        addon_utils.disable(extension)
        assert not hasattr(bpy.types.WindowManager, "dqik_overlay")
        assert not hasattr(bpy.types, "DQIK_PT_live")
        addon_utils.enable(extension, default_set=True)
        assert hasattr(bpy.types.WindowManager, "dqik_overlay")
    ui = rigs.part("ui")
    advice = [draw for draw in bpy.types.RENDER_PT_output._dyn_ui_initialize() if draw.__module__ == ui.render.__name__]
    assert len(advice) == 1


def test_shortcuts_are_of_operators_that_exist_and_differ() -> None:
    keymap = rigs.part("ui.keymap")
    shortcuts = keymap.SHORTCUTS
    assert {"dqik.goal_add", "dqik.solve", "dqik.bake"} <= {shortcut.operator for shortcut in shortcuts}
    assert len({shortcut.key for shortcut in keymap.SHORTCUTS}) == len(keymap.SHORTCUTS)
    for shortcut in shortcuts:
        assert shortcut.path or getattr(bpy.ops.dqik, shortcut.operator.partition(".")[2]).get_rna_type()
