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
def translations(extension: str) -> ModuleType:
    return importlib.import_module(f"{extension}.ui.translations")


def source(extension: str) -> dict[str, ast.Module]:
    """The installed extension's files by path, of the solvers what users read, without the translations."""
    root = Path(sys.modules[extension].__file__ or "").parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if path.name not in ("translations.py", "messages.py")
        and name.startswith("solvers/") == name.startswith(("solvers/methods/", "solvers/model/kinds"))
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


def returns_text(function: ast.FunctionDef) -> bool:
    """Whether a function is annotated to return text."""
    return isinstance(function.returns, ast.Name) and function.returns.id == "str"


def sentences(extension: str) -> set[str]:
    """Sentences that operators report, those that `rig` notes, raises or returns, and refusals of the solvers."""
    found: set[str | None] = set()
    for path, tree in source(extension).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "report" and path.startswith("operators"):
                    shown = node.args[1]
                    branches = (shown.body, shown.orelse) if isinstance(shown, ast.IfExp) else (shown,)
                    found.update(text_of(branch) for branch in branches)
                elif ast.unparse(node.func) == "notes.append":
                    found.add(text_of(node.args[0]))
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and (
                path.startswith("rig") or ast.unparse(node.exc.func) == "InvalidGoal"
            ):
                found.add(text_of(node.exc.args[0]) if node.exc.args else None)
            elif path.startswith("rig") and isinstance(node, ast.FunctionDef) and returns_text(node):
                found.update(text_of(one.value) for one in ast.walk(node) if isinstance(one, ast.Return))
    return {text for text in found if text and " " in text.strip()}


def fields(text: str) -> list[str]:
    """The fields of a format string."""
    return [f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None]


def test_every_translated_text_is_in_the_source(extension: str, translations: ModuleType) -> None:
    texts = texts_of_the_source(extension)
    german = translations.german()
    assert len(german) > 50
    for context, key in german:
        assert key in texts, f"nothing shows {key!r}"
        assert context in ("*", "Operator")


def test_translations_have_the_fields_of_their_texts(translations: ModuleType) -> None:
    for (_, key), text in translations.german().items():
        assert fields(key) == fields(text), key
        assert text
        assert not text.endswith(".") or text.endswith(" ...")


def test_labels_of_all_panels_and_operators_in_the_sidebar_are_translated(
    extension: str, translations: ModuleType
) -> None:
    """But for those that Blender translates itself, because it uses the same word."""
    german, ui = translations.german(), sys.modules[f"{extension}.ui"]
    blenders_own = {"Bone", "Pole", "Mend"}
    labels = {cls.bl_label for cls in ui.PANELS if issubclass(cls, bpy.types.Panel)}
    missing = {label for label in labels if ("*", label) not in german} - blenders_own
    assert not missing


def test_sentences_for_the_user_are_translated(extension: str, translations: ModuleType) -> None:
    german = {key for _, key in translations.german()}
    found = sentences(extension)
    assert len(found) > 50
    assert not {text for text in found if text not in german and not set(text.split("; ")) <= german | {"{}"}}


GERMAN_SENTENCES = {
    "Goal 'hand.L': it has no target: choose an object": "Ziel 'hand.L': es hat kein Zielobjekt: ein Objekt auswählen",
    "Goal 'hips': its target or pole follows bone 'spine', which is solved":
        "Ziel 'hips': sein Zielobjekt oder Pol folgt dem Knochen 'spine', der gelöst wird",
    "Goal 'mixamorig:Hips': the armature has no bone 'a: b': choose another":
        "Ziel 'mixamorig:Hips': das Skelett hat keinen Knochen 'a: b': einen anderen auswählen",
    "'a', 'b', 'c' and 2 more left to drivers": "'a', 'b', 'c' und 2 weitere den Treibern überlassen",
    "Checked 9 frames; goals missed on 1 frame, most at frame 3: hand by 2 cm":
        "9 Frames geprüft; Ziele verfehlt auf 1 Frame, am meisten bei Frame 3: hand um 2 cm",
    "FABRIK solves positions only; goal 0 (joint 'hand.L') asks for a rotation: take PGS or leave the rotation out":
        "FABRIK löst nur Positionen; Ziel 0 (Gelenk 'hand.L') will eine Rotation: PGS wählen oder "
        "die Rotation weglassen",
    "Compared 4 solvers on 24 frames; the table is in the panel and in the text 'DQIK comparison.csv'; "
    "the picture is in the Image Editor":
        "4 Verfahren auf 24 Frames verglichen; die Tabelle steht im Feld und im Text 'DQIK comparison.csv'; "
        "das Bild ist im Bildeditor",
    "Comparing solvers: 30 %, Esc to cancel": "Verfahren werden verglichen: 30 %, Esc bricht ab",
    "something that nobody translated": "something that nobody translated",
}  # fmt: skip


@pytest.mark.parametrize("text", GERMAN_SENTENCES)
def test_sentences_with_names_and_numbers_are_translated(extension: str, text: str, monkeypatch) -> None:
    """Names stay; parts that are sentences are translated too."""
    messages = importlib.import_module(f"{extension}.operators.messages")
    german = {key: value for (_, key), value in importlib.import_module(
        f"{extension}.ui.translations").german().items()}  # fmt: skip
    assert messages.translated(text) == text  # in English
    monkeypatch.setattr(messages, "iface_", lambda key: german.get(key, key))  # a bpy module has no languages
    assert messages.translated(text) == GERMAN_SENTENCES[text]


def test_the_extension_goes_off_and_on_twice(extension: str) -> None:
    """Every part undoes its registration, so that nothing is left and nothing is there twice."""
    import addon_utils

    for _ in range(2):
        addon_utils.disable(extension)
        assert not hasattr(bpy.types.WindowManager, "dqik_overlay")
        assert not hasattr(bpy.types, "DQIK_PT_main")
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
        assert getattr(bpy.ops.dqik, shortcut.operator.partition(".")[2]).get_rna_type()
