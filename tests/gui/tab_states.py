# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of the DQIK tab that are drawn and measured, and pictures of its sidebar."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import rigs
from clothed_person import FIGURE, person
from window import SHOTS, Steps, in_view, picture, region, view

ROOT = Path(__file__).resolve().parents[2]
_ALIKE = 0.05  # how far a pixel may be from the colour behind the panels
_BEHIND = (0.75, 0.82, 0.95)  # a colour that panels do not have
_NO_PANEL = 40  # pixels at the right of the sidebar that have its tabs, at scale 1

State = Callable[[], None]


def figure() -> bpy.types.Object:
    """The armature of the person."""
    return bpy.data.objects[FIGURE]


def show_tab() -> Steps:
    """A person in front of a plain colour, with the sidebar on the tab."""
    person()
    space = view().spaces[0]
    space.show_region_ui, space.overlay.show_overlays = True, False
    space.shading.background_type, space.shading.background_color = "VIEWPORT", _BEHIND
    yield 1.0
    region("UI").active_panel_category = "DQIK"


def take(state: State) -> Steps:
    """Bring the scene into a state."""
    state()
    bpy.context.view_layer.update()
    yield 0.8


# -- the states, in the order in which they follow from each other -----------------------------------------------------


def _select(ob: bpy.types.Object | None) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob


def _set_up() -> None:
    with in_view():
        bpy.ops.dqik.setup_full_body("INVOKE_DEFAULT")


def _live(on: bool) -> None:
    figure().dqik.live = on


def _pick(*bones: str) -> None:
    rigs.select(figure(), *bones)


def _move_hand(*by: float) -> None:
    figure().pose.bones["DQIK hand.L"].location = by


def _turn_chest() -> None:
    _move_hand(0.0, 0.0, 0.0)
    _pick("chest")
    figure().pose.bones["chest"].rotation_quaternion = (0.98, 0.0, 0.2, 0.0)


def _mode(mode: str) -> None:
    with in_view():
        bpy.ops.object.mode_set(mode=mode)


def _captured() -> None:
    _mode("OBJECT")
    _select(None)
    with in_view():
        bpy.ops.import_anim.bvh(filepath=str(ROOT / "examples" / "cmu_01_01.bvh"), global_scale=0.056444)


def _linked() -> None:
    """A figure that is linked from a file, as a studio's shot has it."""
    path = Path(tempfile.mkdtemp()) / "person.blend"
    bpy.data.libraries.write(str(path), {figure()})
    with bpy.data.libraries.load(str(path), link=True) as (_, own):
        own.objects = [FIGURE]
    bpy.context.scene.collection.objects.link(own.objects[0])
    _select(own.objects[0])


STATES: dict[str, State] = {
    "nothing selected": lambda: _select(None),
    "not set up": lambda: _select(figure()),
    "Live off": lambda: (_set_up(), _live(False)),
    "nothing picked": lambda: (_live(True), _pick()),
    "a hand": lambda: _pick("DQIK hand.L"),
    "a foot": lambda: _pick("DQIK foot.L"),
    "the chest": lambda: _pick("chest"),
    "a missed goal": lambda: (_pick("DQIK hand.L"), _move_hand(0.4, 0.4, 0.0)),
    "a held bone": _turn_chest,
    "Object Mode": lambda: _mode("OBJECT"),
    "captured": _captured,
    "linked": _linked,
}


# -- pictures ----------------------------------------------------------------------------------------------------------


def pixels_of(name: str, regions: list[bpy.types.Region]) -> list[np.ndarray]:
    """The pixels (H, W, 4) of regions, from their upper edges down. A picture of the window is left with the others."""
    picture(name)
    image = bpy.data.images.load(str(Path(SHOTS).resolve() / f"{name}.png"))
    pixels = np.empty((image.size[1], image.size[0], 4), np.float32)
    image.pixels.foreach_get(pixels.ravel())
    bpy.data.images.remove(image)
    return [pixels[own.y : own.y + own.height, own.x : own.x + own.width][::-1] for own in regions]


def height(pixels: np.ndarray, scale: float) -> int:
    """The height of the panels in pixels: down to the last row that shows less than half of what is behind them."""
    own = pixels[:, 10 : -int(_NO_PANEL * scale), :3]
    behind = np.abs(own - own[-1, 0]).max(-1) < _ALIKE
    return int(np.flatnonzero(behind.mean(1) < 0.5).max(initial=0))


def save_sheet(pictures: list[np.ndarray], path: Path, scale: float) -> None:
    """Pictures side by side, down to the longest panels in them."""
    most = max(height(one, scale) for one in pictures) + 12
    pixels = np.concatenate([one[:most] for one in pictures], 1)
    image = bpy.data.images.new("Sheet", pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(pixels[::-1].astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
