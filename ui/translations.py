# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells Blender the translations of the interface."""

import bpy

from .languages import LOCALES, read


def start() -> None:
    """Tell Blender the words of all languages."""
    words = {locale: read(name) for name, locale in LOCALES.items()}
    bpy.app.translations.register(__name__, words)


def stop() -> None:
    """Forget them."""
    bpy.app.translations.unregister(__name__)
