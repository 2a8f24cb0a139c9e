# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations belong to texts of the interface, and shortcuts to operators that exist."""

import ast
import importlib
import string
import sys
from pathlib import Path
from types import ModuleType

import bpy
import pytest


@pytest.fixture
def languages(extension: str) -> ModuleType:
    return importlib.import_module(f"{extension}.ui.languages")


def source(extension: str) -> dict[str, ast.Module]:
    """The installed extension's files by path, of the solvers what users read, without the translations."""
    root = Path(sys.modules[extension].__file__ or "").parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if name.startswith("solvers/") == name.startswith(("solvers/methods/", "solvers/model/kinds"))
    }


def text_of(node: ast.AST | None) -> str | None:
    """A string constant, or the template of an f-string with {} for each field; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return None


def texts_of_the_source(extension: str) -> set[str]:
    """All strings of the extension: constants, f-strings as templates, and the clauses of these."""
    texts = {text_of(node) for tree in source(extension).values() for node in ast.walk(tree)} - {None}
    return texts | {clause for text in texts for clause in text.split("; ")}


def sentences(extension: str) -> set[str]:
    """The words of all notes, and what refusals of the solvers say."""
    notes = importlib.import_module(f"{extension}.rig.notes")
    found = {code.value for code in notes.Code}
    for tree in source(extension).values():
        for node in ast.walk(tree):
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "InvalidGoal":
                found.add(text_of(call.args[0]))
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


def fields(text: str) -> list[str]:
    """The fields of a format string."""
    return [f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None]


def test_every_translated_text_is_in_the_source(extension: str, languages: ModuleType) -> None:
    parts = sys.modules[f"{extension}.rig.figure.parts"]
    texts = texts_of_the_source(extension) | {role.label for role in parts.ROLES}
    german = languages.read("de")
    assert len(german) > 50
    for context, key in german:
        assert key in texts, f"nothing shows {key!r}"
        assert context in ("*", "Operator", "DQIK")


@pytest.mark.parametrize("name", ["de", "fr", "es", "ja", "zh"])
def test_translations_have_the_fields_of_their_texts(name: str, languages: ModuleType) -> None:
    for (_, key), text in languages.read(name).items():
        assert fields(key) == fields(text), key
        assert text
        assert not text.endswith(".") or text.endswith("...")


@pytest.mark.parametrize("name", ["fr", "es", "ja", "zh"])
def test_the_other_languages_have_the_words_of_the_tab(name: str, extension: str, languages: ModuleType) -> None:
    """Panels, the tools of posing, and the lines of the first panel; and none that German has not."""
    words, german = languages.read(name), languages.read("de")
    ui = sys.modules[f"{extension}.ui"]
    wanted = {("*", cls.bl_label) for cls in ui.PANELS if issubclass(cls, bpy.types.Panel)}
    wanted -= {("*", "Bone"), ("*", "Pole")}  # Blender's own words
    for tool in (tool for row in sys.modules[f"{extension}.ui.tab.tools"].ROWS for tool in row):
        kind = getattr(bpy.ops.dqik, tool.operator.removeprefix("dqik.")).get_rna_type()
        wanted.add(("*", tool.text) if tool.text else (kind.translation_context, kind.name))
    assert {key for key in wanted if key not in words} == set()
    assert {key for _, key in words} <= {key for _, key in german} | {"Roll", "Clear Holds"}


def test_parts_of_the_body_have_german_names(extension: str, languages: ModuleType) -> None:
    parts, german = sys.modules[f"{extension}.rig.figure.parts"], languages.read("de")
    assert {role.label for role in parts.ROLES if ("*", role.label) not in german} == set()


def test_labels_of_all_panels_and_operators_in_the_sidebar_are_translated(
    extension: str, languages: ModuleType
) -> None:
    """But for those that Blender translates itself, because it uses the same word."""
    german, ui = languages.read("de"), sys.modules[f"{extension}.ui"]
    blenders_own = {"Bone", "Pole", "Mend"}
    labels = {cls.bl_label for cls in ui.PANELS if issubclass(cls, bpy.types.Panel)}
    missing = {label for label in labels if ("*", label) not in german} - blenders_own
    assert not missing


def test_buttons_are_translated_as_blender_looks_them_up(extension: str, languages: ModuleType) -> None:
    """The texts of operators, and those that panels give them, in the context of their operator."""
    kinds = {name: getattr(bpy.ops.dqik, name).get_rna_type() for name in dir(bpy.ops.dqik)}
    buttons = {(kind.translation_context, kind.name) for kind in kinds.values()}
    for tree in (tree for path, tree in source(extension).items() if path.startswith("ui/")):
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = text_of(node.args[0]) if getattr(node.func, "attr", "") == "operator" and node.args else None
            if name is not None and name.startswith("dqik."):
                texts = {text_of(one.value) for one in node.keywords if one.arg == "text"} - {None, ""}
                buttons |= {(kinds[name.removeprefix("dqik.")].translation_context, text) for text in texts}
    assert ("Operator", "Retarget...") in buttons
    blenders_own = {"All", "Mend", "Clear Holds"}
    missing = {text for context, text in buttons if (context, text) not in languages.read("de")} - blenders_own
    assert not missing


def test_sentences_for_the_user_are_translated(extension: str, languages: ModuleType) -> None:
    german = {key for _, key in languages.read("de")}
    found = sentences(extension)
    assert len(found) > 50
    assert found <= german


def note_of(notes: ModuleType, *parts: object) -> object:
    """A note from a code's name and values; values that are tuples are notes too."""
    code, *values = parts
    return notes.Note(notes.Code[code], *(note_of(notes, *one) if isinstance(one, tuple) else one for one in values))


SENTENCES = [
    (
        ("GOAL", "'hand.L'", ("NO_TARGET",)),
        "Goal 'hand.L': it has no target: choose an object",
        "Ziel 'hand.L': es hat kein Zielobjekt: ein Objekt auswählen",
    ),
    (
        ("CYCLE", "'hips'", "'spine'"), "Goal 'hips': its target or pole follows bone 'spine', which is solved",
        "Ziel 'hips': sein Zielobjekt oder Pol folgt dem Knochen 'spine', der gelöst wird",
    ),
    (
        ("GOAL", "'mixamorig:Hips'", ("BONE_MISSING", "'a: b'")),
        "Goal 'mixamorig:Hips': the armature has no bone 'a: b': choose another",
        "Ziel 'mixamorig:Hips': das Skelett hat keinen Knochen 'a: b': einen anderen auswählen",
    ),
    (
        ("LEFT_TO_DRIVERS", ("AND_MORE", "'a', 'b', 'c'", 2)), "'a', 'b', 'c' and 2 more left to drivers",
        "'a', 'b', 'c' und 2 weitere den Treibern überlassen",
    ),
    (
        ("GOALS_MISSED", ("ONE_FRAME",), 3, "hand", "2 cm"), "goals missed on 1 frame, most at frame 3: hand by 2 cm",
        "Ziele verfehlt auf 1 Frame, am meisten bei Frame 3: hand um 2 cm",
    ),
    (
        ("ESC_AT", ("COMPARING",), "30"), "Comparing solvers: 30 %, Esc to cancel",
        "Verfahren werden verglichen: 30 %, Esc bricht ab",
    ),
    (("QUOTED", "something that nobody translated"),) + 2 * ("something that nobody translated",),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "english", "german"), SENTENCES)
def test_notes_with_names_and_numbers_are_translated(
    extension: str, languages: ModuleType, parts: tuple, english: str, german: str
) -> None:
    """Names stay; notes in fields are translated too."""
    notes = importlib.import_module(f"{extension}.rig.notes")
    words = {key: value for (_, key), value in languages.read("de").items()}
    note = note_of(notes, *parts)
    assert str(note) == english
    assert note.words(lambda key: words.get(key, key)) == german
    assert note == note_of(notes, *parts)
    assert note != note_of(notes, *parts, "another value")


def test_lines_of_notes_and_refusals_of_solvers_are_translated(extension: str, languages: ModuleType) -> None:
    notes, ik = (importlib.import_module(f"{extension}.{name}") for name in ("rig.notes", "solvers"))
    words = {key: value for (_, key), value in languages.read("de").items()}
    arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand.L", 0, "ball", (0, 1, 0))])
    with pytest.raises(ik.InvalidGoal) as refused:
        ik.prepare(arm, [ik.Goal("hand.L", position=(0, 0, 0), rotation=(1, 0, 0, 0))], "FABRIK")
    made = [note_of(notes, "COMPARED", 4, 24), note_of(notes, "PICTURE_IN_EDITOR")]
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
    ui = sys.modules[f"{extension}.ui"]
    advice = [draw for draw in bpy.types.RENDER_PT_output._dyn_ui_initialize() if draw.__module__ == ui.render.__name__]
    assert len(advice) == 1


def test_shortcuts_are_of_operators_that_exist_and_differ(extension: str) -> None:
    keymap = importlib.import_module(f"{extension}.ui.keymap")
    shortcuts = keymap.SHORTCUTS
    assert {"dqik.goal_add", "dqik.solve", "dqik.bake"} <= {shortcut.operator for shortcut in shortcuts}
    assert len({shortcut.key for shortcut in keymap.SHORTCUTS}) == len(keymap.SHORTCUTS)
    for shortcut in shortcuts:
        assert shortcut.path or getattr(bpy.ops.dqik, shortcut.operator.partition(".")[2]).get_rna_type()
