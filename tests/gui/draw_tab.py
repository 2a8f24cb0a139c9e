# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the DQIK tab in eight states side by side, and prints how high it is in each.

Run by Blender itself (README.md, beside this file). `DQIK_SHOTS` is the folder of the pictures; `tab.png` there is the
sheet that `docs/images/tab.png` shows.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clothed_person import person
from window import SHOTS, Steps, in_view, region, run, shot, view

SCALE = float(os.environ.get("DQIK_SCALE", "1.0"))
_ALIKE = 0.05  # how far a pixel may be from the colour behind the panels
_BEHIND = (0.75, 0.82, 0.95)  # a colour that panels do not have


def draw_tab() -> Steps:
    """Go through the states, and put their pictures together."""
    ob, _ = person()
    pictures, heights = [], {}
    space = view().spaces[0]
    space.show_region_ui, space.overlay.show_overlays = True, False
    space.shading.background_type, space.shading.background_color = "VIEWPORT", _BEHIND
    yield 1.0
    region("UI").active_panel_category = "DQIK"
    for name, change in STATES.items():
        change(ob)
        bpy.context.view_layer.update()
        yield 1.0
        yield from shot(name)
        if SHOTS:
            picture = _sidebar(Path(SHOTS) / f"{name}.png")
            heights[name] = _height(picture)
            pictures.append(picture)
    for name, height in heights.items():
        print(f"| {name} | {height} |")
    if pictures:
        most = max(heights.values()) + 12
        _save(np.concatenate([one[:most] for one in pictures], 1), Path(SHOTS or ".") / "tab.png")


def _nothing(ob: bpy.types.Object) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    bpy.context.view_layer.objects.active = None
    del ob


def _armature(ob: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)


def _set_up(ob: bpy.types.Object) -> None:
    with in_view():
        bpy.ops.dqik.setup_full_body("INVOKE_DEFAULT")
    ob.dqik.live = True


def _selected(bone: str) -> Callable[[bpy.types.Object], None]:
    def change(ob: bpy.types.Object) -> None:
        for one in ob.pose.bones:
            (one if hasattr(one, "select") else one.bone).select = one.name == bone
        ob.data.bones.active = ob.data.bones[bone]

    return change


def _missed(ob: bpy.types.Object) -> None:
    _selected("DQIK hand.L")(ob)
    ob.pose.bones["DQIK hand.L"].location += Vector((0.4, 0.4, 0.0))


def _held(ob: bpy.types.Object) -> None:
    ob.pose.bones["DQIK hand.L"].location = (0.0, 0.0, 0.0)
    _selected("chest")(ob)
    ob.pose.bones["chest"].rotation_quaternion = (0.98, 0.0, 0.2, 0.0)


def _object_mode(ob: bpy.types.Object) -> None:
    with in_view():
        bpy.ops.object.mode_set(mode="OBJECT")
    del ob


STATES: dict[str, Callable[[bpy.types.Object], None]] = {
    "nothing selected": _nothing, "not set up": _armature, "set up": _set_up, "foot": _selected("DQIK foot.L"),
    "chest": _selected("chest"), "missed": _missed, "held": _held, "Object Mode": _object_mode,
}  # fmt: skip


def _sidebar(path: Path) -> np.ndarray:
    """The pixels (H, W, 4) of the sidebar, from its upper edge down."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.array(image.pixels[:]).reshape(height, width, 4)
    own = region("UI")
    return pixels[own.y : own.y + own.height, own.x : own.x + own.width][::-1]


def _height(picture: np.ndarray) -> int:
    """The height of the panels in pixels: down to the last row that shows less than half of what is behind them."""
    own = picture[:, 10:-40, :3]
    behind = np.abs(own - own[-1, 0]).max(-1) < _ALIKE
    return int(np.flatnonzero(behind.mean(1) < 0.5).max(initial=0))


def _save(pixels: np.ndarray, path: Path) -> None:
    height, width = pixels.shape[:2]
    image = bpy.data.images.new("Sheet", width, height)
    image.pixels.foreach_set(pixels[::-1].astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


if __name__ == "__main__":
    run(draw_tab, SCALE)
