# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks up DQIK's words in a context of their own: in Blender's contexts Blender's own translation of a word counts."""

import bpy
from bpy.app.translations import pgettext_iface

CONTEXT = "DQIK"


def iface_(text: str) -> str:
    """A text in the language of the interface."""
    return pgettext_iface(text, CONTEXT)


def in_context(prop: object) -> object:
    """Look up the name and the menu items of a property in DQIK's context. Returns the property."""
    prop.keywords["translation_context"] = CONTEXT
    return prop


def register_class(cls: type) -> None:
    """Register a class whose words, those of its properties too, are looked up in DQIK's context."""
    if issubclass(cls, (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu)):
        cls.bl_translation_context = CONTEXT
    for base in cls.__mro__:
        for prop in vars(base).get("__annotations__", {}).values():
            if hasattr(prop, "keywords"):
                in_context(prop)
    bpy.utils.register_class(cls)
