# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing solvers on the animator's own rig."""

import bpy
import numpy as np
from bpy.props import EnumProperty

from .. import live
from ..properties import FIRST_SOLVERS, SOLVER_NUMBERS
from ..rig import compare
from ..rig.blender import scene_state
from ..rig.setup.build import solver_options
from ..solvers import SOLVERS, DqikError
from .common import armature
from .frames import FramesOperator, Steps, read_frames, shares

IMAGE = "DQIK comparison"
_SIZE = (1400, 1050)
_FEET = 1.0 / 0.3048


class DQIK_OT_compare_solvers(FramesOperator, bpy.types.Operator):
    """Measure solvers on this rig over a range of frames: error, time, smoothness. Nothing in the scene changes"""

    bl_idname = "dqik.compare_solvers"
    bl_label = "Compare Solvers"
    bl_options = {"REGISTER", "UNDO"}

    solvers: EnumProperty(
        name="Solvers", description="Which to compare; Shift-click for several", options={"ENUM_FLAG"},
        items=[(name, name, text, 1 << SOLVER_NUMBERS[name]) for name, text in SOLVERS.items()],
        default={name for name in SOLVERS if name in FIRST_SOLVERS},
    )  # fmt: skip

    doing = "Comparing solvers"
    stopped = "Comparison stopped"

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the dialog and in the panel that adjusts the last operation."""
        del context
        self.draw_range()
        layout = self.layout.column()
        layout.use_property_split = False
        layout.label(text="Solvers (Shift-click for several)")
        grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
        for name in self._named(SOLVERS):
            grid.prop_enum(self, "solvers", name)

    def _run(self, context: bpy.types.Context) -> Steps:
        """Read the frames once, then solve them with one solver after the other."""
        scene, ob = context.scene, armature(context)
        names, frames = self._named(self.solvers), self._frames(scene)
        if not names:
            self.report({"ERROR"}, "Choose the solvers to compare")
        if not names or not frames:
            return {"CANCELLED"}
        rows: list[compare.Row] = []
        try:
            with (
                live.aside(ob, live.COMPARING_SOLVER) as reading,
                scene_state.kept(scene, context.view_layer, ob),
            ):
                inputs, bases = yield from shares(read_frames(context, ob, frames, reading), 0.0, 0.3)
            size = next(given.rig.size for given in inputs if given is not None)
            follow = ob.dqik.start_from == "PREVIOUS"
            for index, name in enumerate(names):
                options = solver_options(ob.dqik, name, size)
                measuring = compare.measure(name, options, inputs, bases, frames, follow, rows)
                start, end = (0.3 + 0.7 * k / len(names) for k in (index, index + 1))
                yield from shares(measuring, start, end)
        except DqikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        live.note_comparison(ob, rows)
        refused = [row.message for row in rows if row.message]
        if len(refused) == len(rows):
            self.report({"ERROR"}, ". ".join(refused))
            return {"CANCELLED"}
        scale, unit = _unit(scene)
        print(f"{ob.name}, frames {frames[0]} to {frames[-1]}, errors{unit}, angles in degrees")
        print(compare.table(rows, scale))
        tolerance = ob.dqik.tolerance * size
        title = f"{ob.name}: solvers compared"
        pixels = compare.picture(title, rows, frames, tolerance, scale, unit, SOLVER_NUMBERS, _SIZE)
        shown = _show(context, _image(pixels))
        place = "the Image Editor" if shown else f"the image {IMAGE!r}"
        text = f"Compared {len(rows) - len(refused)} solvers on {len(frames)} frames: see the panel and {place}"
        self.report({"WARNING"} if refused else {"INFO"}, ". ".join([text, *refused]))
        return {"FINISHED"}

    @staticmethod
    def _named(names: set[str]) -> list[str]:
        """Names of solvers in the order of the menu."""
        return sorted(names, key=SOLVER_NUMBERS.__getitem__)


def _unit(scene: bpy.types.Scene) -> tuple[float, str]:
    """From armature units to lengths as the scene shows them, and their unit in brackets."""
    units = scene.unit_settings
    if units.system == "IMPERIAL":
        return units.scale_length * _FEET, " (ft)"
    return units.scale_length, " (m)" if units.system == "METRIC" else ""


def _image(pixels: np.ndarray) -> bpy.types.Image:
    """The image of comparisons with these pixels (height, width, 3), the top row first; packed into the file."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.get(IMAGE)
    if image is None or image.library is not None:
        image = bpy.data.images.new(IMAGE, width, height)
    if tuple(image.size) != (width, height):
        image.scale(width, height)
    rgba = np.ones((height, width, 4), dtype=np.float32)
    rgba[..., :3] = np.clip(pixels[::-1], 0.0, 1.0)  # Blender's images begin at the bottom
    image.pixels.foreach_set(rgba.ravel())
    image.update()
    image.pack()
    return image


def _show(context: bpy.types.Context, image: bpy.types.Image) -> bool:
    """Show an image in an Image Editor, one that shows it already before any other; whether there is one."""
    manager = context.window_manager
    spaces = [
        area.spaces.active
        for window in (manager.windows if manager else ())
        for area in window.screen.areas
        if area.ui_type == "IMAGE_EDITOR"
    ]
    if not spaces:
        return False
    next((space for space in spaces if space.image == image), spaces[0]).image = image
    return True


CLASSES = (DQIK_OT_compare_solvers,)
