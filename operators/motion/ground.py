# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of operators that have to know where the ground is."""

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ...rig.clip.ground import LEVEL, LOWEST, MESH, Ground
from ...rig.notes import Note, Refused


class GroundOptions:
    """Where the ground is."""

    ground: EnumProperty(
        name="Ground", description="Where feet can stand",
        items=[
            (LOWEST, "Lowest Places", "Where the feet are lowest at about that time. Steps and slopes are found too"),
            (LEVEL, "Level", "At one height. Feet that stand are put on it, as high as they stand mostly"),
            (MESH, "Mesh", "On a mesh, as it is at the present frame. Feet that stand are put on it, as high as they "
             "stand mostly"),
        ],
        default=LOWEST,
    )  # fmt: skip
    ground_height: FloatProperty(name="Height", description="Height of the level ground in the world", default=0.0,
                                 subtype="DISTANCE")  # fmt: skip
    ground_object: StringProperty(name="Ground Mesh", description="The mesh on which the figure moves")

    def draw_ground(self, context: bpy.types.Context) -> None:
        """The options, in a dialog."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "ground")
        if self.ground == LEVEL:
            layout.prop(self, "ground_height")
        elif self.ground == MESH:
            layout.prop_search(self, "ground_object", context.view_layer, "objects", icon="MESH_DATA")

    def chosen_ground(self, context: bpy.types.Context) -> Ground:
        """The ground that is chosen. Raises `Refused` if no mesh is."""
        mesh = context.view_layer.objects.get(self.ground_object) if self.ground == MESH else None
        if self.ground == MESH and (mesh is None or mesh.type != "MESH"):
            raise Refused(Note("Choose the mesh on which the figure moves"))
        return Ground(self.ground, self.ground_height, mesh)
