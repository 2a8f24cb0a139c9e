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


def texts_of_the_source(extension: str) -> set[str]:
    """All string constants of the installed extension, but for those of the translations."""
    root = Path(sys.modules[extension].__file__ or "").parent
    paths = [path for path in root.rglob("*.py") if path.name != "translations.py" and "solvers" not in path.parts]
    return {
        node.value
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


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
    shortcuts = list(keymap.available())
    assert {"dqik.goal_add", "dqik.solve", "dqik.bake"} <= {shortcut.operator for shortcut in shortcuts}
    assert len({shortcut.key for shortcut in keymap.SHORTCUTS}) == len(keymap.SHORTCUTS)
    for shortcut in shortcuts:
        assert getattr(bpy.ops.dqik, shortcut.operator.partition(".")[2]).get_rna_type()
