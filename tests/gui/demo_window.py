# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes `examples/window.blend`: the window in which `make demo` shows its scene, with the sidebar on the DQIK tab.

Run by Blender itself (README.md, beside this file). Blender stores a sidebar's tab only of windows that were drawn, and
`make demo` has none. `DQIK_OUT` is the file.
"""

import os
import sys
from pathlib import Path

import bpy

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

from window import Steps, region, run, view


def demo_window() -> Steps:
    """An empty file with one workspace, whose 3D view has the tab open."""
    bpy.context.scene.collection.objects.link(ob := bpy.data.objects.new("Figure", bpy.data.armatures.new("Figure")))
    bpy.context.view_layer.objects.active = ob
    view().spaces[0].show_region_ui = True
    yield 1.5
    region("UI").active_panel_category = "DQIK"
    yield 1.0
    bpy.data.batch_remove([one for one in bpy.data.workspaces if one != bpy.context.workspace])
    bpy.data.batch_remove([ob, ob.data])
    bpy.context.preferences.filepaths.save_version = 0
    yield 0.5
    bpy.ops.wm.save_as_mainfile(filepath=os.environ["DQIK_OUT"], compress=True)


if __name__ == "__main__":
    run(demo_window, 1.0)
