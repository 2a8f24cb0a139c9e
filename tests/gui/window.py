# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a real Blender window with a simulated mouse and keyboard, as a user would.

A walk is a generator of steps. Buttons are found by hovering over the sidebar and asking Blender what is under the
pointer, so nothing here knows where the panels put them. The first step that does not do what it should ends Blender
with a traceback and exit code 1. DQIK_SHOTS=folder saves a picture of the window after every step.
"""

import io
import os
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

ROOT = Path(__file__).resolve().parents[2]
SHOTS = os.environ.get("DQIK_SHOTS")
PATIENCE = 60.0  # seconds for anything to happen

_KEYS = dict(zip(
    "0123456789.-",
    ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "PERIOD", "MINUS"), strict=True,
))  # fmt: skip

Steps = Generator[float, None, None]  # what is yielded: seconds to leave to Blender
Point = tuple[float, float]

presses: Counter[str] = Counter()  # of keys and mouse buttons, by the part of the walk
_parts: list[str] = [""]  # the part that counts now; empty counts nothing


def part(name: str) -> None:
    """Count presses for a part of the walk from now on."""
    _parts[:] = [name]


def count(number: int) -> None:
    """Count presses; a modifier that is held is one, too."""
    presses[_parts[-1]] += number


@contextmanager
def not_counted() -> Generator[None]:
    """What an animator would not do, or would do without missing, counts no presses."""
    _parts.append("")
    try:
        yield
    finally:
        _parts.pop()


# -- the window --------------------------------------------------------------------------------------------------------


def window() -> bpy.types.Window:
    """The only window."""
    return bpy.context.window_manager.windows[0]


def view() -> bpy.types.Area:
    """The 3D view."""
    return next(area for area in window().screen.areas if area.type == "VIEW_3D")


def region(kind: str) -> bpy.types.Region:
    """The 3D view's region of a kind: UI is the sidebar, WINDOW the view itself."""
    return next(region for region in view().regions if region.type == kind)


def in_view(kind: str = "WINDOW") -> object:
    """A context in which operators run as if called there."""
    return in_region(view(), region(kind))


def in_region(area: bpy.types.Area, region: bpy.types.Region) -> object:
    """A context in which operators run as if called in a region of an area."""
    return bpy.context.temp_override(window=window(), area=area, region=region)


def event(kind: str, value: str, at: Point, **more: object) -> None:
    """Give Blender an event as if from the mouse or the keyboard."""
    if value == "PRESS" and not kind.startswith("WHEEL"):
        count(1 + sum(more.get(held) is True for held in ("shift", "ctrl", "alt") if held not in kind.lower()))
    window().event_simulate(type=kind, value=value, x=int(at[0]), y=int(at[1]), **more)


_pointer: list[Point] = [(0, 0)]  # where it is


def move(at: Point) -> Steps:
    """Move the pointer; two turns of the event loop until what is under it is active."""
    at = int(at[0]), int(at[1])
    if at != _pointer[0]:
        event("MOUSEMOVE", "NOTHING", at)
        _pointer[0] = at
        yield 0.02
        yield 0.02


def click(at: Point, shift: bool = False) -> Steps:
    """Press and release the left mouse button."""
    yield from move(at)
    if shift:
        with not_counted():
            event("LEFT_SHIFT", "PRESS", at, shift=True)
        yield 0.05
    event("LEFTMOUSE", "PRESS", at, shift=shift)
    yield 0.1
    event("LEFTMOUSE", "RELEASE", at, shift=shift)
    yield 0.1
    if shift:
        event("LEFT_SHIFT", "RELEASE", at)
    yield 0.4


def drag_to(at: Point, to: Point, let_go: bool = True) -> Steps:
    """Press the left mouse button, move the pointer in steps, and release it. let_go : False keeps it pressed."""
    yield from move(at)
    event("LEFTMOUSE", "PRESS", at)
    yield 0.1
    yield from trace(between(at, to))
    if let_go:
        event("LEFTMOUSE", "RELEASE", to)
        yield 0.4


def between(at: Point, to: Point) -> list[Point]:
    """Places on the way from one to another."""
    return [tuple(a + share * (b - a) for a, b in zip(at, to, strict=True)) for share in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)]


def trace(places: Sequence[Point]) -> Steps:
    """Move the pointer from place to place."""
    for at in places:
        yield from move(at)
        yield 0.08


def lead(key: str, at: Point, places: Sequence[Point]) -> Steps:
    """Press a key somewhere, move the pointer from place to place, and click at the last one."""
    yield from press(key, at)
    yield from trace(places)
    yield from click(places[-1])


def press(key: str, at: Point, **held: bool) -> Steps:
    """Press and release a key with the pointer somewhere."""
    yield from move(at)
    event(key, "PRESS", at, **held)
    yield 0.05
    event(key, "RELEASE", at)
    yield 0.4


def type_text(text: str, at: Point) -> Steps:
    """Type a number."""
    for letter in text:
        event(_KEYS[letter], "PRESS", at, unicode=letter)
        event(_KEYS[letter], "RELEASE", at)
    yield 0.05


def on_screen(place: Vector) -> Point:
    """Where a point of the scene is in the window."""
    main = region("WINDOW")
    at = location_3d_to_region_2d(main, view().spaces[0].region_3d, place)
    return int(main.x + at.x), int(main.y + at.y)


def window_middle() -> Point:
    """The middle of the 3D view."""
    main = region("WINDOW")
    return main.x + main.width // 2, main.y + main.height // 2


def under_pointer(override: object | None = None) -> str:
    """The property path or the operator call of the button under the pointer; empty if there is none.

    override : the context of the region that the button is in; by default that of the sidebar.
    """
    with override or in_view("UI"):
        bpy.context.window_manager.clipboard = ""
        for copy in (bpy.ops.ui.copy_data_path_button, bpy.ops.ui.copy_python_command_button):
            if copy.poll():
                copy()
        return bpy.context.window_manager.clipboard


def rows(top: float, bottom: float, step: float = 14) -> range:
    """Heights in the window, close enough to each other to meet every button of the sidebar (20 high)."""
    return range(int(top), int(bottom), -int(step * bpy.context.preferences.system.ui_scale))


_found: dict[str, Point] = {}  # where buttons were


def find(name: str, top: float | None = None, bottom: float | None = None) -> Generator[float, None, Point | None]:
    """Where the sidebar has a button, by its property's path or its operator; None if it has none."""
    sidebar = region("UI")
    if name in _found and top is bottom is None:  # it mostly is where it was
        yield from move(_found[name])
        if name in under_pointer():
            return _found[name]
    for y in rows(top or sidebar.y + sidebar.height - 5, bottom or sidebar.y):
        for share in (0.2, 0.5, 0.75, 0.8, 0.85):  # the last meet the small buttons at the end of a row
            at = int(sidebar.x + share * sidebar.width), y
            yield from move(at)
            if name in under_pointer():
                _found[name] = at
                return at
    return None


def click_button(name: str) -> Steps:
    """Look for a button in the sidebar and click it; scroll down where the tab is longer than the window."""
    sidebar = region("UI")
    middle = sidebar.x + sidebar.width // 3, sidebar.y + sidebar.height // 2
    for scrolled in range(4):
        at = yield from find(name)
        if at:
            yield from click(at)
            yield from scroll("WHEELUPMOUSE", middle, 8 * scrolled)
            return
        yield from scroll("WHEELDOWNMOUSE", middle, 8)
    raise AssertionError(f"there is no button {name!r} in the DQIK tab")


def scroll(wheel: str, at: Point, notches: int) -> Steps:
    """Turn the mouse's wheel."""
    yield from move(at)
    for _ in range(notches):
        event(wheel, "PRESS", at)
        yield 0.05
    yield 0.3


def click_in_editor(kind: str, name: str) -> Steps:
    """Look for a button in the bars of an editor of a kind, and click it."""
    area = next(area for area in window().screen.areas if area.type == kind)
    for bar in (bar for bar in area.regions if bar.type in {"HEADER", "FOOTER"} and bar.height > 1):
        for x in range(bar.x + 5, bar.x + bar.width, 12):
            at = x, bar.y + bar.height // 2
            yield from move(at)
            if name in under_pointer(in_region(area, bar)):
                yield from click(at)
                return
    raise AssertionError(f"there is no button {name!r} in the bars of {kind}")


def click_frame(frame: int) -> Steps:
    """Go to a frame by a click on the numbers of the timeline."""
    area = next(area for area in window().screen.areas if area.type == "DOPESHEET_EDITOR")
    main = next(region for region in area.regions if region.type == "WINDOW")
    for extra in (0.0, 0.3, -0.3):
        x = main.view2d.view_to_region(frame + extra, 0.0, clip=False)[0]
        with not_counted() if extra else nullcontext():
            yield from click((main.x + x, main.y + main.height - 12))
        if bpy.context.scene.frame_current == frame:
            return
    raise AssertionError(f"no click on the timeline goes to frame {frame}")


def open_panel(above: str, inside: str) -> Steps:
    """Open the closed panel below a button that has a certain button, by clicking on headers."""
    at = yield from find(above)
    assert at, f"there is no button {above!r} in the DQIK tab"
    sidebar, scale = region("UI"), bpy.context.preferences.system.ui_scale
    x, top = int(sidebar.x + 0.6 * sidebar.width), at[1]
    for y in rows(top, max(top - 420 * scale, sidebar.y), 9):
        yield from move((x, y))
        if under_pointer():
            continue
        yield from click((x, y))
        yield 0.6  # it slides open
        if (yield from find(inside, y - 10 * scale, max(y - 160 * scale, sidebar.y))):
            return
        yield from click((x, y))  # it was another one
        yield 0.6
    raise AssertionError(f"no panel with {inside!r} opens below {above!r}")


def until(true: Callable[[], bool], what: str) -> Steps:
    """Wait for something to become true."""
    for _ in range(int(PATIENCE / 0.1)):
        if true():
            return
        yield 0.1
    raise AssertionError(f"not within {PATIENCE:.0f} s: {what}")


def shot(name: str) -> Steps:
    """End a step: nothing went wrong unseen, and a picture."""
    yield 0.6  # panels slide into place
    assert not printed.trouble, f"Blender printed an error by {name!r}"
    print("step:", name, flush=True)
    picture(name)


def picture(name: str) -> None:
    """Save a picture of the window, where pictures are wanted."""
    if not SHOTS:
        return
    path = Path(SHOTS).resolve() / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    if shutil.which("import"):  # ImageMagick's: Blender's own pictures are black without a graphics card
        subprocess.run(["import", "-window", "root", str(path)], check=True)
    else:
        with bpy.context.temp_override(window=window()):
            bpy.ops.screen.screenshot(filepath=str(path))


class Printed(io.TextIOBase):
    """Standard error, and whether Blender printed a traceback to it, as it does where a panel cannot be drawn."""

    def __init__(self) -> None:
        self.trouble = False

    def write(self, text: str) -> int:
        self.trouble |= "Traceback" in text
        return sys.__stderr__.write(text)

    def flush(self) -> None:
        sys.__stderr__.flush()


printed = Printed()


# -- running -----------------------------------------------------------------------------------------------------------


def install() -> None:
    """Install the newest zip of dist/ for all platforms, unless the extension is enabled already."""
    if hasattr(bpy.types.Object, "dqik"):
        return
    zips = [path for path in (ROOT / "dist").glob("dqik-*.zip") if path.stem.count("-") == 1]
    zips.sort(key=lambda path: path.stat().st_mtime)
    if not zips:
        raise FileNotFoundError("DQIK is not enabled and there is no zip in dist/: run `make zip` first")
    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=str(zips[-1]), repo="user_default", enable_on_install=True)


def stop(code: int) -> None:
    """End Blender at once, with an exit code and without saving anything."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def open_panels(names: Collection[str]) -> None:
    """Open panels of the tab, by the names of their classes, before it is shown first: clicks on headers take long."""
    tab = next(module for name, module in sys.modules.items() if name.endswith(".dqik.ui.tab"))
    panels = [cls for cls in tab.PANELS if issubclass(cls, bpy.types.Panel)]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        if cls.__name__ in names:
            cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
        bpy.utils.register_class(cls)


def run(walk: Callable[[], Steps], scale: float, panels: Collection[str] = ()) -> None:
    """Go through a walk once the window is there.

    scale : of the interface; at 0.6 all panels fit. panels : those of the tab that are open from the start, beside
    those that are so by themselves.
    """
    try:
        bpy.context.preferences.view.show_splash = False
        bpy.context.preferences.view.ui_scale = scale
        bpy.context.preferences.use_preferences_save = False
        install()
        open_panels(panels)
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    except Exception:
        traceback.print_exc()
        stop(1)
    sys.stderr = printed
    steps = walk()

    def turn() -> float:
        try:
            return next(steps)
        except StopIteration:
            print("All steps did what they should.")
            stop(0)
        except Exception:
            traceback.print_exc()
            picture("failed")
            stop(1)
        return 0.0

    bpy.app.timers.register(turn, first_interval=2.0, persistent=True)
