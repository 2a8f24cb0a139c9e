# SPDX-License-Identifier: GPL-3.0-or-later
"""The languages of the interface: a `.po` file each, as translators' tools read and write them.

What a file leaves out stays English. Words that Blender translates itself, such as "Bone", are left to it.
"""

import re
from pathlib import Path

LOCALES = {"de": "de_DE", "fr": "fr_FR", "es": "es_ES", "ja": "ja_JP", "zh": "zh_HANS"}
"""Blender's names of the languages, by the names of the files."""

_ANY, _OPERATOR = "*", "Operator"
_ENTRY = re.compile(r'^(msgctxt|msgid|msgstr)?\s*"(.*)"$')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def read(name: str) -> dict[tuple[str, str], str]:
    """The words of a language, by context and English text. Without a context they are for buttons too."""
    found: dict[tuple[str, str], str] = {}
    for entry in (Path(__file__).parent / f"{name}.po").read_text(encoding="utf-8").split("\n\n"):
        parts = {"msgctxt": "", "msgid": "", "msgstr": ""}
        word = ""
        for line in entry.splitlines():
            if (match := _ENTRY.match(line)) is not None:
                word = match[1] or word
                text = match[2]
                parts[word] += _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], text) if "\\" in text else text
        if parts["msgid"] and parts["msgstr"]:
            for context in [parts["msgctxt"]] if parts["msgctxt"] else [_ANY, _OPERATOR]:
                found[context, parts["msgid"]] = parts["msgstr"]
    return found
