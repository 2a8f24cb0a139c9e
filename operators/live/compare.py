# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of solvers on the animator's own rig."""

import bpy
import numpy as np
from bpy.props import EnumProperty

from ...rig import compare
from ...rig.blender import scene_state
from ...rig.compare.picture import draw_picture
from ...rig.frame import offline
from ...rig.frame.step.start_mode import Way
from ...rig.notes import Note, Refused
from ...rig.skeleton.build import solver_options
from ...rig.skeleton.menus import FIRST_SOLVERS, SOLVER_NUMBERS
from ...solvers import SOLVERS
from ..common import NotDone, Steps
from ..frames import FramesTool, read_frames, shares

NAME = "DQIK comparison"  # of the image; the text of the same name ends in .csv
_SIZE = (1400, 1050)
_READING_SOLVER = "PGS"  # reads the frames, because it accepts every kind of goal
_FEET = 1.0 / 0.3048
_MADE = "dqik_made"  # a custom property: a text or an image of the user may have the same name


class DQIK_OT_compare_solvers(FramesTool, bpy.types.Operator):
    """Measure error, time and smoothness of solvers on this rig, over a range of frames. The scene does not change"""

    bl_label = "Compare Solvers"
    on_goals = True
    stores = False

    solvers: EnumProperty(
        name="Solvers", description="The solvers to compare. Shift-click selects several", options={"ENUM_FLAG"},
        items=[(name, name, text, 1 << SOLVER_NUMBERS[name]) for name, text in SOLVERS.items()],
        default={name for name in SOLVERS if name in FIRST_SOLVERS},
    )  # fmt: skip

    doing = Note("Comparing solvers")
    stopped = Note("Comparison stopped")

    def draw(self, context: bpy.types.Context) -> None:
        del context
        self.draw_range()
        layout = self.layout.column()
        layout.use_property_split = False
        layout.label(text="Solvers (Shift-click for several)")
        grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
        for name in sorted(SOLVERS, key=SOLVER_NUMBERS.__getitem__):
            grid.prop_enum(self, "solvers", name)

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        """Read the frames once, then solve them with one solver after the other."""
        scene, names = context.scene, sorted(self.solvers, key=SOLVER_NUMBERS.__getitem__)
        if not names:
            raise Refused(Note("Choose the solvers to compare"))
        rows: list[compare.Row] = []
        with (
            offline.session(ob, _READING_SOLVER) as reading,
            scene_state.restored(scene, context.view_layer, ob) as visits,
        ):
            inputs, bases = yield from shares(read_frames(context, ob, frames, reading, visits), 0.0, 0.3)
        size = next(frame_input.rig.armature.size for frame_input in inputs if frame_input is not None)
        way = Way.of(ob, scene)
        for index, name in enumerate(names):
            options = solver_options(ob.dqik, name, size)
            measuring = compare.measure(name, options, inputs, bases, frames, way, rows)
            yield from shares(measuring, *(0.3 + 0.7 * k / len(names) for k in (index, index + 1)))
        compare.compared.keep(ob.session_uid, rows)
        refused = [row.refusal for row in rows if row.refusal is not None]
        if len(refused) == len(rows):
            raise NotDone("ERROR", *refused)
        title, tolerance = f"{ob.name}: solvers compared", ob.dqik.tolerance * size
        scale, unit = _unit(scene)
        print(f"{ob.name}, frames {frames[0]} to {frames[-1]}, errors{unit}, angles in degrees")
        print(compare.table(rows, scale))
        places = [_save_text(compare.comma_separated(title, rows, frames, tolerance, scale, unit))]
        pixels = draw_picture(title, rows, frames, tolerance, scale, unit, SOLVER_NUMBERS, _SIZE)
        places.append(Note("the picture needs a Blender with a window") if pixels is None else _show(context, pixels))
        summary = Note("Compared {} solvers on {} frames", len(rows) - len(refused), len(frames))
        self.tell({"WARNING"} if refused else {"INFO"}, summary, *places, *refused)


def _unit(scene: bpy.types.Scene) -> tuple[float, str]:
    """The factor from armature units to the scene's units, and the name of these in brackets."""
    units = scene.unit_settings
    if units.system == "IMPERIAL":
        return units.scale_length * _FEET, " (ft)"
    return units.scale_length, " (m)" if units.system == "METRIC" else ""


def _save_text(content: str) -> Note:
    """Write the CSV to its text data-block. Returns a clause that names it."""
    name = f"{NAME}.csv"
    text = next((one for one in bpy.data.texts if _MADE in one and one.library is None), None)
    if text is None:
        text = bpy.data.texts.new(name)
        text[_MADE] = True
    text.clear()
    text.write(content)
    return Note("the table is in the panel and in the text {}", repr(text.name))


def _save_image(pixels: np.ndarray) -> bpy.types.Image:
    """Write pixels (height, width, 4), bottom row first, to the comparison's image, and pack it into the file."""
    height, width = pixels.shape[:2]
    image = next((one for one in bpy.data.images if _MADE in one and one.library is None), None)
    if image is None:
        image = bpy.data.images.new(NAME, width, height)
        image[_MADE] = True
    if tuple(image.size) != (width, height):
        image.scale(width, height)
    image.use_fake_user = True  # an image without users is not saved
    image.pixels.foreach_set(pixels.ravel())
    image.update()
    image.pack()
    return image


def _show(context: bpy.types.Context, pixels: np.ndarray) -> Note:
    """Save pixels as an image, and show it in an Image Editor if one is open. Returns a clause that names the place."""
    image = _save_image(pixels)
    spaces = [
        area.spaces.active
        for window in context.window_manager.windows
        for area in window.screen.areas
        if area.ui_type == "IMAGE_EDITOR"
    ]
    if not spaces:
        return Note("the picture is the image {}", repr(image.name))
    next((space for space in spaces if space.image == image), spaces[0]).image = image
    return Note("the picture is in the Image Editor")
