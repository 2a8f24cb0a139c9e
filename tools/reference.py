# SPDX-License-Identifier: GPL-3.0-or-later
"""Write `docs/reference.md`: every operator and property of the extension, from the texts that Blender shows.

    python tools/reference.py

Needs a Python with the bpy package, and installs nothing: the extension is registered from its source.
"""

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from math import degrees
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference.md"
_HEAD = """<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!-- Made by tools/reference.py from the texts in operators/ and properties/: change them there. -->
# Operators and properties

Everything that a script or a driver can use. Angles are in radians; this page gives their defaults in degrees. Lengths
are in the armature's units. Properties marked *keyed* can have keyframes and drivers. Operators act on the active
armature, or on the armature of the active target.
"""
_GROUPS = (
    ("Object.dqik", "", "The settings of an armature object."),
    ("Object.dqik.goals[...]", "goals", "A goal."),
    ("Object.dqik.status", "status", "The report of the last solve. Read only, and not saved."),
    ("Object.dqik.missed_frames[...]", "missed_frames", "A frame that the last bake or check found to miss goals."),
    ("Object.dqik.retarget", "retarget", "The options of Retarget that are kept with a figure."),
    ("Object.dqik.contacts[...]", "contacts", "A contact of a foot or hand, which Mend Motion plants."),
)
_SKIPPED = {"rna_type", "bl_rna"}


def made() -> str:
    """The page, from the registered extension."""
    return "\n".join([_HEAD, *_operators(), *_properties()])


def _operators() -> Iterator[str]:
    """The operators by name, each with its options."""
    yield "## Operators\n"
    for name in sorted(dir(bpy.ops.dqik)):
        kind = getattr(bpy.ops.dqik, name).get_rna_type()
        yield f"### bpy.ops.dqik.{name}()\n\n*{kind.name}*: {_sentence(kind.description)}\n"
        own = [prop for prop in kind.properties if prop.identifier not in _SKIPPED and not prop.is_hidden]
        yield from _table("argument", [_row(prop) for prop in own])


def _properties() -> Iterator[str]:
    """The properties of objects, goals and pose bones."""
    yield "## Properties\n"
    settings = bpy.types.Object.bl_rna.properties["dqik"].fixed_type
    for path, part, text in _GROUPS:
        kind = settings.properties[part].fixed_type if part else settings
        own = [prop for prop in kind.properties if prop.identifier not in {*_SKIPPED, "name"} or _is_ours(prop)]
        yield f"### {path}\n\n{text}\n"
        yield from _table("property", [_row(prop, keyed=True) for prop in own if not prop.is_hidden])
    yield "### PoseBone\n\nThe settings of a pose bone.\n"
    bones = bpy.types.PoseBone.bl_rna.properties
    own = [prop for prop in bones if prop.identifier.startswith("dqik_") and not prop.is_hidden]
    yield from _table("property", [_row(prop, keyed=True) for prop in own])
    yield "### Action\n\nFrom what an action was made.\n"
    yield from _table("property", [
        _row(bpy.types.Action.bl_rna.properties[name]) for name in ("dqik_original", "dqik_source")
    ])  # fmt: skip
    yield "### Object\n\nThe setting of an object that is the target of a goal.\n"
    yield from _table("property", [_row(bpy.types.Object.bl_rna.properties["dqik_roll"], keyed=True)])


def _is_ours(prop: bpy.types.Property) -> bool:
    """Whether a property called `name` is declared by the extension, not inherited from Blender."""
    return prop.identifier == "name" and prop.is_runtime


def _table(title: str, rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield f"| {title} | default | |\n|---|---|---|"
        yield from (f"| `{name}` | {default} | {text} |" for name, default, text in rows)
        yield ""


def _row(prop: bpy.types.Property, keyed: bool = False) -> tuple[str, str, str]:
    """A property's name, default, and description with its choices. keyed : say whether it can have keys."""
    text = _sentence(prop.description or prop.name)
    if prop.type == "ENUM":
        told = [f" `{item.identifier}`: {_sentence(item.description)}" for item in prop.enum_items if item.description]
        plain = [f"`{item.identifier}`" for item in prop.enum_items if not item.description]
        text += "".join(told) + (f" Others: {', '.join(plain)}." if plain else "")
    if keyed and prop.is_animatable and not prop.is_readonly:
        text += " *Keyed.*"
    return prop.identifier, _default(prop), text.replace("|", "\\|").strip()


def _default(prop: bpy.types.Property) -> str:
    if prop.type in {"POINTER", "COLLECTION"} or prop.is_readonly:
        return ""
    if prop.type == "ENUM":
        chosen = sorted(prop.default_flag) if prop.is_enum_flag else [prop.default]
        return ", ".join(f"`{name}`" for name in chosen)
    if getattr(prop, "is_array", False):
        return ", ".join(f"{value:g}" for value in prop.default_array)
    if prop.type == "FLOAT":
        return f"{degrees(prop.default):.4g}°" if prop.subtype == "ANGLE" else f"{prop.default:.4g}"
    return f"`{prop.default!r}`"


def _sentence(text: str) -> str:
    """A tooltip as a sentence: Blender's have no full stop."""
    text = text.replace("\n", " ").strip()
    return text + "." if text and not text.endswith((".", ":")) else text


def _register() -> None:
    spec = importlib.util.spec_from_file_location("dqik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    sys.modules["dqik"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()


if __name__ == "__main__":
    _register()
    PAGE.write_text(made(), encoding="utf-8", newline="\n")
    print(f"{PAGE} written", flush=True)
    os._exit(0)  # Blender 4.2 crashes in its own clean-up
