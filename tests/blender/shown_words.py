# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tab draws, as texts that Blender looks up: its draw functions, with a layout that notes what they ask for.

Nothing here knows what the tab has. Lists, menus, windows and dialogs are drawn where something that is drawn opens
them, and with everything come its tooltips: of operators and their options, of properties and the items of menus.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import bpy

ANY = "*"
_LOOK_UP = ("iface_", "tip_")  # what our modules call the functions that look a text up
_CONTAINERS = ("row", "column", "box", "split", "grid_flow", "column_flow", "menu_pie")


class Drawn:
    """The texts that were drawn, by context and English words, each with where it was met first."""

    def __init__(self, extension: str) -> None:
        self.texts: dict[tuple[str, str], str] = {}
        self._extension = extension
        self._modules = [module for name, module in sys.modules.items() if name.startswith(extension)]
        self.operators: set[str] = set()
        self._place, self._width = "", 0

    def text(self, text: str | None, context: str = ANY) -> None:
        """A text. One without words, such as "{}", "-X" or "PGS", is the same in all languages."""
        if text and any(letter.islower() for letter in text):
            self.texts.setdefault((context or ANY, text), self._place)

    def tab(self, classes: tuple[type, ...], width: int) -> None:
        """Draw the panels that are shown now in a sidebar of a width in pixels."""
        self._width = width
        with self._listening():
            for cls in classes:
                of_tab = issubclass(cls, bpy.types.Panel) and cls.bl_region_type == "UI"
                if of_tab and (not hasattr(cls, "poll") or cls.poll(self.context)):
                    self.draw(cls)

    def menus(self, *names: str) -> None:
        """Draw menus as they are now."""
        with self._listening():
            for name in names:
                self.draw(getattr(bpy.types, name))

    def draw(self, cls: type) -> None:
        """Draw a panel or menu."""
        self._place = cls.__name__
        self.text(cls.bl_label, getattr(cls, "bl_translation_context", "*"))
        for method in ("draw_header", "draw"):
            if method in vars(cls):
                vars(cls)[method](SimpleNamespace(layout=_Layout(self)), self.context)

    def operator(self, name: str, text: str | None = None, translate: bool = True) -> SimpleNamespace:
        """A button: its text or label, its tooltip, and its options with theirs. Returns the options."""
        group, _, own = name.partition(".")
        kind = getattr(getattr(bpy.ops, group), own).get_rna_type()
        if translate:
            self.text(kind.name if text is None else text, kind.translation_context)
        if group == "dqik" and name not in self.operators:
            self.operators.add(name)
            self.text(kind.name, kind.translation_context)
            self.text(kind.description)
            for prop in kind.properties:
                self.setting(prop)
            self._dialog(name, kind)
        return SimpleNamespace()

    def setting(self, prop: bpy.types.Property, text: str | None = None) -> None:
        """A property: its name or other text, its tooltip, and the items of its menu. Blender's own are left to it."""
        context = prop.translation_context
        self.text(text, context)
        if prop.is_runtime and not prop.is_hidden and prop.identifier != "rna_type":
            self.text(prop.name, context)
            self.text(prop.description)
            for item in getattr(prop, "enum_items_static_ui", getattr(prop, "enum_items_static", ())):
                self.text(item.name, context)
                self.text(item.description)

    def rows(self, name: str, data: bpy.types.bpy_struct, items: str) -> None:
        """The rows of a list."""
        draw = getattr(bpy.types, name).draw_item
        for number, item in enumerate(getattr(data, items)):
            draw(SimpleNamespace(), self.context, _Layout(self), data, item, 0, data, "", number)

    @property
    def context(self) -> "_Context":
        """Blender's context in a sidebar."""
        return _Context(self._width)

    def _dialog(self, name: str, kind: bpy.types.Struct) -> None:
        """What an operator draws in its dialog; its description, where that depends on its options."""
        cls = getattr(bpy.types, kind.identifier)
        own = [base for base in reversed(cls.__mro__) if base.__module__.startswith(self._extension)]
        members = {key: value for base in own for key, value in vars(base).items() if not key.startswith("__")}
        if "draw" not in members:
            return
        place, self._place = self._place, cls.__name__
        last = bpy.context.window_manager.operator_properties_last(name)
        options = {prop.identifier: getattr(last, prop.identifier) if prop.type == "POINTER" else _default(prop)
                   for prop in kind.properties if prop.identifier != "rna_type"}  # fmt: skip
        type(cls.__name__, (), {**members, **options, "layout": _Layout(self), "bl_rna": kind})().draw(self.context)
        self._place = place

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Meanwhile note what the extension's modules look up themselves."""

        def heard(text: str) -> str:
            self.text(text, "DQIK")
            return text

        own = [(module, name, getattr(module, name)) for module in self._modules for name in _LOOK_UP
               if hasattr(module, name)]  # fmt: skip
        for module, name, _ in own:
            setattr(module, name, heard)
        try:
            yield
        finally:
            for module, name, before in own:
                setattr(module, name, before)


class _Context:
    """Blender's context, with the region and the scale that it has not in background mode."""

    def __init__(self, width: int) -> None:
        self.region = SimpleNamespace(width=width)
        self.preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))

    def __getattr__(self, name: str) -> object:
        return getattr(bpy.context, name)


class _Layout:
    """A layout that hands on what is drawn in it. Of Blender's methods it has those that are used."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self.use_property_split = False

    def __getattr__(self, name: str) -> object:
        if name in _CONTAINERS:
            return self._inner
        if name in ("separator", "context_pointer_set"):
            return lambda *_, **__: None
        raise AttributeError(name)

    def _inner(self, *, heading: str = "", translate: bool = True, **_: object) -> "_Layout":
        self._drawn.text(heading if translate else None)
        inner = _Layout(self._drawn)
        inner.use_property_split = self.use_property_split
        return inner

    def label(self, *, text: str = "", translate: bool = True, **_: object) -> None:
        if translate:
            self._drawn.text(text)

    def operator(self, name: str, *, text: str | None = None, translate: bool = True, **_: object) -> object:
        return self._drawn.operator(name, text, translate)

    def operator_menu_enum(self, name: str, _property: str, *, text: str | None = None, **_: object) -> object:
        return self._drawn.operator(name, text)

    def prop(self, data: object, name: str, *, text: str | None = None, **_: object) -> None:
        self._drawn.setting(data.bl_rna.properties[name], text)

    def prop_search(self, data: object, name: str, *_: object, text: str | None = None, **__: object) -> None:
        self._drawn.setting(data.bl_rna.properties[name], text)

    def prop_enum(self, data: object, name: str, _value: str, **_: object) -> None:
        self._drawn.setting(data.bl_rna.properties[name])

    def template_list(self, kind: str, _id: str, data: object, items: str, *_: object, **__: object) -> None:
        self._drawn.rows(kind, data, items)

    def menu(self, name: str, **_: object) -> None:
        self._drawn.text(getattr(bpy.types, name).bl_rna.description)
        self._drawn.draw(getattr(bpy.types, name))

    def popover(self, name: str, **_: object) -> None:
        self._drawn.text(getattr(bpy.types, name).__doc__)
        self._drawn.draw(getattr(bpy.types, name))


def _default(prop: bpy.types.Property) -> object:
    if prop.type == "ENUM":
        return prop.default_flag if prop.is_enum_flag else prop.default
    return getattr(prop, "default", None)
