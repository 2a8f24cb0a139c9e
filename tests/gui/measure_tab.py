# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints how high the DQIK tab is in each state, at three widths of the sidebar and two scales of the interface.

Run by Blender itself (README.md, beside this file). `DQIK_SHOTS` is the folder of the pictures, which it needs: a sheet
of all states for each width and scale. Fails where the tab is too high, or where its lines change their places.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

from tab_states import STATES, height, pixels_of, save_sheet, show_tab, take
from window import SHOTS, Steps, drag_to, in_region, move, printed, run, window, window_middle

SCALES = (1.0, 1.5)
WIDTHS = (180, 280, 400)  # of the sidebar, in pixels at scale 1; each has a view of its own
USUAL = (1.0, 280)
HIGHEST = 700  # pixels, at the usual width and scale
NEAR = 3  # pixels by which a width may differ
STEADY = ("Live off", "nothing picked", "a hand", "a foot", "the chest", "a missed goal", "a held bone", "Object Mode")

Setting = tuple[float, int]  # scale and width


def measure_tab() -> Steps:
    """Go through the states, and take a picture of each at all widths and scales."""
    assert SHOTS, "DQIK_SHOTS names no folder for the pictures"
    pictures: dict[Setting, dict[str, np.ndarray]] = {(s, w): {} for s in SCALES for w in WIDTHS}
    yield from show_tab()
    yield from _three_views()
    for name, state in STATES.items():
        yield from take(state)
        for scale in SCALES:
            yield from _scale(scale)
            own = pixels_of(f"{name} {scale:g}", [_sidebar(area) for area in _views()])
            pictures |= {(scale, w): {**pictures[scale, w], name: one} for w, one in zip(WIDTHS, own, strict=True)}
        assert not printed.trouble, f"Blender printed an error by {name!r}"
    for (scale, width), one in pictures.items():
        save_sheet([*one.values()], Path(SHOTS) / f"tab {scale:g} {width}.png", scale)
    _tell({setting: {k: height(p, setting[0]) for k, p in one.items()} for setting, one in pictures.items()})


def _scale(scale: float) -> Steps:
    """Scale the interface. Panels take their places in two drawings."""
    bpy.context.preferences.view.ui_scale = scale
    for _ in range(3):
        yield 0.4
        for area in _views():
            area.tag_redraw()
    yield 0.4


def _views() -> list[bpy.types.Area]:
    """The 3D views, from left to right."""
    return sorted((area for area in window().screen.areas if area.type == "VIEW_3D"), key=lambda area: area.x)


def _sidebar(area: bpy.types.Area) -> bpy.types.Region:
    return next(region for region in area.regions if region.type == "UI")


def _three_views() -> Steps:
    """Give the whole window to three views, and each of their sidebars its width."""
    for area in [area for area in window().screen.areas if area.type != "VIEW_3D"]:
        with bpy.context.temp_override(window=window(), area=area):
            bpy.ops.screen.area_close()
        yield 0.2
    for share in (0.25, 0.4):
        area = _views()[-1]
        with in_region(area, next(region for region in area.regions if region.type == "WINDOW")):
            bpy.ops.screen.area_split(direction="VERTICAL", factor=share)
        yield 0.4
    for number, width in enumerate(WIDTHS):
        _sidebar(_views()[number]).active_panel_category = "DQIK"
        yield 0.4
        yield from _set_width(number, width)
    yield from move(window_middle())


def _set_width(number: int, width: int) -> Steps:
    """Drag the edge of a view's sidebar until it has a width."""
    for _ in range(5):
        own = _sidebar(_views()[number])
        if abs(own.width - width) <= NEAR:
            return
        yield from _widen(own, width - own.width)
    raise AssertionError(f"a sidebar is {_sidebar(_views()[number]).width} wide, not {width}")


def _widen(own: bpy.types.Region, by: int) -> Steps:
    """Drag a sidebar's edge beside the first panel. Blender sees it only once the pointer has rested on it."""
    x, y = own.x, own.y + own.height - 30
    for ahead in (40, 3, 0):
        yield from move((x - ahead, y))
        yield 0.1
    yield from drag_to((x, y), (x - by, y))


def _tell(heights: dict[Setting, dict[str, int]]) -> None:
    """Print the table, and check it."""
    print("| state | " + " | ".join(f"{width} px, scale {scale:g}" for scale, width in heights) + " |")
    print("|---|" + "---:|" * len(heights))
    for name in STATES:
        print(f"| {name} | " + " | ".join(str(own[name]) for own in heights.values()) + " |", flush=True)
    assert max(heights[USUAL].values()) <= HIGHEST, "the tab is too high"
    for setting, own in heights.items():
        assert len({own[name] for name in STEADY}) == 1, f"lines change their places at {setting}"


if __name__ == "__main__":
    run(measure_tab, SCALES[0])
