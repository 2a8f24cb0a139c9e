# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of posing, by what is selected: one table for the panel, the menu of the right button, and the pie menu."""

from collections.abc import Iterator
from typing import NamedTuple

import bpy

from ...operators.common import armature
from ...rig.blender.words import iface_
from ...rig.controls import selection
from ...rig.figure.short_names import called, role_of

HAND, FOOT, OTHER, NOTHING = "HAND", "FOOT", "OTHER", "NOTHING"
"""The kinds of selections; several bones are of the active one's kind."""
LIMBS = frozenset({HAND, FOOT})
ANY = frozenset({HAND, FOOT, OTHER, NOTHING})
BODY = frozenset({HAND, FOOT, OTHER})

_PARTS = {"hand": HAND, "forearm": HAND, "arm": HAND, "foot": FOOT, "toes": FOOT, "shin": FOOT, "thigh": FOOT}


class Button(NamedTuple):
    """A button: its operator with options, for which selections it is there, and its text if it is not the label."""

    operator: str
    of: frozenset[str] = BODY
    text: str = ""
    icon: str = "NONE"
    options: tuple[tuple[str, object], ...] = ()

    @property
    def words(self) -> str:
        """Its text, translated."""
        group, name = self.operator.split(".")
        return iface_(self.text or getattr(getattr(bpy.ops, group), name).get_rna_type().name)


ROWS: tuple[tuple[Button, ...], ...] = (
    (Button("dqik.grab", ANY, icon="VIEW_PAN"),),
    (Button("dqik.pin"), Button("dqik.unpin")),
    (Button("dqik.plant", LIMBS), Button("dqik.hold_here", frozenset({OTHER})), Button("dqik.holds_clear", BODY)),
    (Button("dqik.limb_to_fk", LIMBS, "To FK"), Button("dqik.limb_to_ik", LIMBS, "To IK")),
    (
        Button("dqik.attach", BODY, "Attach..."),
        Button("dqik.attach", frozenset({HAND}), "Put in Hand...", options=(("into_hand", True),)),
        Button("dqik.detach"),
    ),
    (Button("dqik.select_controls", ANY), Button("dqik.key_controls", ANY, icon="KEY_HLT")),
    (Button("dqik.targets_to_pose", ANY), Button("dqik.goals_mirror", ANY)),
)
"""The rows of buttons. Those of a row that are not for what is selected leave their place to the others."""
_PIE = ("dqik.pin", "dqik.plant", "dqik.limb_to_fk", "dqik.limb_to_ik", "dqik.unpin", "dqik.hold_here", "dqik.grab",
        "dqik.key_controls")  # fmt: skip


def kind_of_selection(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """Returns the kind of selection on an armature object: `HAND`, `FOOT`, `OTHER` or `NOTHING`."""
    bone = _active(context, ob)
    if not bone:
        return NOTHING
    number = selection.goal_of_bone(ob, bone)
    role = role_of(ob, ob.dqik.goals[number].bone if number >= 0 else bone)
    return OTHER if role is None else _PARTS.get(role.name, OTHER)


def name_of_selection(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """Returns the selection in words, as *Left Hand +1*."""
    names, target = selection.selected(context, ob), context.object
    if not names and target not in (None, ob) and target.select_get():
        return target.name
    if not names:
        return iface_("Select a control or a bone") if ob.mode == "POSE" else iface_("Go to Pose Mode")
    others = f" +{len(names) - 1}" if len(names) > 1 else ""
    return called(ob, _active(context, ob)) + others


def row_for(row: tuple[Button, ...], kind: str) -> list[tuple[Button, bool]]:
    """The tools of a row for a selection, and whether they are for it: a row without any shows two, disabled."""
    own = [tool for tool in row if kind in tool.of]
    return [(tool, True) for tool in own] or [(tool, False) for tool in row[:2]]


def place(layout: bpy.types.UILayout, tool: Button) -> None:
    """Add a tool's button."""
    button = layout.operator(tool.operator, text=tool.words, translate=False, icon=tool.icon)
    for name, value in tool.options:
        setattr(button, name, value)


def offered(kind: str) -> Iterator[Button]:
    """All tools for a selection, in the order of the panel."""
    for row in ROWS:
        yield from (tool for tool in row if kind in tool.of)


def _active(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """The active bone if it is selected, else the first selected one; "" for none."""
    names, active = selection.selected(context, ob), ob.data.bones.active
    return active.name if active is not None and active.name in names else next(iter(names), "")


class DQIK_MT_tools(bpy.types.Menu):
    """Pins, plants, switches, attaches and keys what is selected"""

    bl_label = "DQIK"

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        if ob is None:
            return
        self.layout.operator_context = "INVOKE_DEFAULT"
        for tool in offered(kind_of_selection(context, ob)):
            place(self.layout, tool)


def in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Adds the tools to the menu *Pose* of the 3D view, and to the menu of the right button in Pose Mode."""
    ob = armature(context)
    if ob is not None and ob.dqik.goals:
        menu.layout.separator()
        menu.layout.menu(DQIK_MT_tools.__name__)


class DQIK_MT_pie(bpy.types.Menu):
    """The tools that are needed most, around the mouse"""

    bl_label = "DQIK"

    def draw(self, context: bpy.types.Context) -> None:
        ob, pie = armature(context), self.layout.menu_pie()
        if ob is None:
            return
        pie.operator_context = "INVOKE_DEFAULT"
        own = {tool.operator: tool for tool in reversed([*offered(kind_of_selection(context, ob))])}
        for operator in _PIE:
            if operator in own:
                place(pie, own[operator])
            else:
                pie.separator()
