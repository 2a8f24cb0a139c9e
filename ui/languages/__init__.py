# SPDX-License-Identifier: GPL-3.0-or-later
"""The languages of the interface: a `.po` file each, as translators' tools read and write them.

What a file leaves out stays English.
"""

import re
from pathlib import Path

import bpy

from ...rig.blender import words

LOCALES = {"de": "de_DE", "fr": "fr_FR", "es": "es_ES", "ja": "ja_JP", "zh": "zh_HANS"}
"""Blender's names of the languages, by the names of the files."""

CONTEXTS = (words.CONTEXT, "*", "Operator")
"""Where Blender looks texts up: DQIK's own, sentences and tooltips, and new texts on Blender's own operators."""

_ENTRY = re.compile(r'^(msgid|msgstr)?\s*"(.*)"$')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def read(name: str) -> dict[str, str]:
    """The words of a language, by English text."""
    found: dict[str, str] = {}
    for entry in (Path(__file__).parent / f"{name}.po").read_text(encoding="utf-8").split("\n\n"):
        parts = {"msgid": "", "msgstr": ""}
        word = ""
        for line in entry.splitlines():
            if (match := _ENTRY.match(line)) is not None:
                word = match[1] or word
                text = match[2]
                parts[word] += _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], text) if "\\" in text else text
        if parts["msgid"] and parts["msgstr"]:
            found[parts["msgid"]] = parts["msgstr"]
    return found


def register(name: str) -> None:
    """Give Blender the words of all languages. name : under which they are registered."""
    bpy.app.translations.register(name, {
        locale: {(context, text): word for text, word in read(language).items() for context in CONTEXTS}
        for language, locale in LOCALES.items()
    })  # fmt: skip
