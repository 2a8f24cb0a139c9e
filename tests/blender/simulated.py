# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes for the tests of simulations: each hangs something that Blender simulates on the crane's jib."""

from collections.abc import Callable, Iterable

import bpy
import numpy as np
import rigs
from situations import reaching

LAST = 16
FRAMES = range(1, LAST + 1)


def grid(name: str, count: int = 6, size: float = 0.6, at: tuple = (1.4, -0.2, 1.2)) -> bpy.types.Object:
    """A flat square mesh of `count` times `count` vertices."""
    steps = np.linspace(-size / 2, size / 2, count)
    corners = [(x + at[0], y + at[1], at[2]) for y in steps for x in steps]
    rows = [(j * count + i, count) for j in range(count - 1) for i in range(count - 1)]
    return rigs.mesh(corners, [(k, k + 1, k + n + 1, k + n) for k, n in rows], name)


def box(name: str, size: float, at: tuple = (0, 0, 0)) -> bpy.types.Object:
    sides = (-size, size)
    corners = [(x + at[0], y + at[1], z + at[2]) for x in sides for y in sides for z in sides]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return rigs.mesh(corners, faces, name)


def skin(mesh: bpy.types.Object, ob: bpy.types.Object) -> bpy.types.Object:
    """Have the jib deform a mesh."""
    return rigs.skin(ob, mesh, "jib")


def held(child: bpy.types.Object, ob: bpy.types.Object) -> bpy.types.Object:
    """Parent an object to the jib."""
    return rigs.child(child, ob, "jib")


def make_cloth(mesh: bpy.types.Object, pinned: Iterable[int] = range(6)) -> bpy.types.Object:
    pins = list(pinned)
    cloth = mesh.modifiers.new("Cloth", "CLOTH")
    if pins:
        mesh.vertex_groups.new(name="pins").add(pins, 1.0, "REPLACE")
        cloth.settings.vertex_group_mass = "pins"
    return mesh


def cloth(ob: bpy.types.Object) -> list[bpy.types.Object]:
    return [make_cloth(skin(grid("Cloth"), ob))]


def hooked_cloth(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Its pins follow an empty that follows a bone."""
    mesh = grid("Cloth")
    hook = mesh.modifiers.new("Hook", "HOOK")
    hook.object = held(rigs.empty((0, 0, 0), "Hook"), ob)
    hook.vertex_indices_set(range(6))
    return [make_cloth(mesh)]


def collider(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """A body that the jib deforms, under a falling cloth that follows nothing itself."""
    skin(box("Body", 0.25, (1.2, -0.2, 1.2)), ob).modifiers.new("Collision", "COLLISION")
    return [make_cloth(grid("Cloth", 10, 1.6, (1.0, 0.0, 1.7)), [])]


def soft_body(ob: bpy.types.Object) -> list[bpy.types.Object]:
    mesh = skin(grid("Soft Body"), ob)
    mesh.modifiers.new("Soft Body", "SOFT_BODY").settings.goal_default = 0.6
    return [mesh]


def particles(ob: bpy.types.Object) -> list[bpy.types.Object]:
    mesh = skin(grid("Emitter"), ob)
    settings = mesh.modifiers.new("Particles", "PARTICLE_SYSTEM").particle_system.settings
    settings.count, settings.frame_start, settings.frame_end, settings.lifetime = 100, 1, LAST, 50
    return [mesh]


def hair(ob: bpy.types.Object) -> list[bpy.types.Object]:
    mesh = skin(grid("Head"), ob)
    system = mesh.modifiers.new("Hair", "PARTICLE_SYSTEM").particle_system
    system.settings.type, system.settings.count, system.settings.hair_length = "HAIR", 20, 0.5
    system.use_hair_dynamics = True
    return [mesh]


def force_field(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """A cloth in the field of an empty that the jib holds."""
    field = held(rigs.empty((0, 0, 0), "Field"), ob)
    rigs.made_active(field)
    bpy.ops.object.forcefield_toggle()
    field.field.strength = -100.0
    return [make_cloth(grid("Cloth", at=(1.2, -0.2, 1.7)))]


def dynamic_paint(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Waves on a surface that a brush on the jib makes."""
    brush, canvas = held(box("Brush", 0.3), ob), grid("Canvas", 20, 3.0, (0.9, 0.0, 1.2))
    for made, kind in ((brush, "BRUSH"), (canvas, "CANVAS")):
        rigs.made_active(made)
        modifier = made.modifiers.new("Dynamic Paint", "DYNAMIC_PAINT")
        modifier.ui_type = kind
        bpy.ops.dpaint.type_toggle(type=kind)
    brush.modifiers[0].brush_settings.paint_source = "VOLUME"
    canvas.modifiers[0].canvas_settings.canvas_surfaces[0].surface_type = "WAVE"
    return [canvas]


def make_rigid(ob: bpy.types.Object, kind: str) -> bpy.types.Object:
    rigs.made_active(ob)
    bpy.ops.rigidbody.object_add(type=kind)
    ob.rigid_body.collision_shape = "BOX"
    ob.rigid_body.kinematic = kind == "PASSIVE"
    return ob


def rigid_bodies(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Boxes that fall on one that the jib holds."""
    bpy.ops.rigidbody.world_add()
    make_rigid(held(box("Held", 0.2), ob), "PASSIVE")
    falling = [box(f"Falling {k}", 0.1) for k in range(3)]
    for k, made in enumerate(falling):
        made.location = (0.6 + 0.4 * k, -0.1, 1.6)
        make_rigid(made, "ACTIVE")
    return falling


def simulation_zone(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Points that move on each frame by where the jib's box is."""
    tree = bpy.data.node_groups.new("Drift", "GeometryNodeTree")
    for side in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    into, out, start, end, info, move, scale = map(tree.nodes.new, (
        "NodeGroupInput", "NodeGroupOutput", "GeometryNodeSimulationInput", "GeometryNodeSimulationOutput",
        "GeometryNodeObjectInfo", "GeometryNodeSetPosition", "ShaderNodeVectorMath",
    ))  # fmt: skip
    start.pair_with_output(end)
    info.transform_space, info.inputs[0].default_value = "RELATIVE", held(box("Held", 0.1), ob)
    scale.operation, scale.inputs["Scale"].default_value = "SCALE", 0.1
    for one, other in (
        (into.outputs[0], start.inputs["Geometry"]), (start.outputs["Geometry"], move.inputs["Geometry"]),
        (info.outputs["Location"], scale.inputs[0]), (scale.outputs[0], move.inputs["Offset"]),
        (move.outputs[0], end.inputs["Geometry"]), (end.outputs["Geometry"], out.inputs[0]),
    ):  # fmt: skip
        tree.links.new(one, other)
    mesh = grid("Drifting")
    mesh.modifiers.new("Drift", "NODES").node_group = tree
    return [mesh]


def free_cloth(_: bpy.types.Object) -> list[bpy.types.Object]:
    """It follows no bone."""
    return [make_cloth(grid("Cloth"))]


KINDS = (
    cloth, hooked_cloth, collider, soft_body, particles, hair, force_field, dynamic_paint, rigid_bodies,
    simulation_zone, free_cloth,
)  # fmt: skip


def built(kind: Callable[[bpy.types.Object], list[bpy.types.Object]], live: bool) -> list[bpy.types.Object]:
    """What is simulated on a crane that is live, or whose motion is baked to keys."""
    rigs.new_file()
    ob, _ = reaching()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.frame_set(1)
    if live:
        ob.dqik.live = True
    else:
        assert bpy.ops.dqik.bake(frame_start=1, frame_end=LAST) == {"FINISHED"}
    scene.frame_set(1)
    found = kind(ob)
    for cache in caches():
        cache.frame_start, cache.frame_end = 1, LAST
    rigs.made_active(ob)
    scene.frame_set(1)
    rigs.update()
    return found


def caches() -> list[bpy.types.PointCache]:
    """The point caches of the scene."""
    scene = bpy.context.scene
    modifiers = [modifier for ob in scene.objects for modifier in ob.modifiers]
    found = [modifier.point_cache for modifier in modifiers if hasattr(modifier, "point_cache")]
    found += [system.point_cache for ob in scene.objects for system in ob.particle_systems]
    return found if scene.rigidbody_world is None else [*found, scene.rigidbody_world.point_cache]


def shown(objects: Iterable[bpy.types.Object], depsgraph: bpy.types.Depsgraph | None = None) -> np.ndarray:
    """Matrices, vertices, living particles and hair of objects as a depsgraph evaluates them, in one line."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    found = []
    for ob in objects:
        evaluated = ob.evaluated_get(depsgraph)
        found.append(np.array(evaluated.matrix_world).ravel())
        vertices = np.empty(3 * len(evaluated.data.vertices), np.float32)
        evaluated.data.vertices.foreach_get("co", vertices)
        found.append(vertices)
        for system in evaluated.particle_systems:
            found += [np.array(one.location) for one in system.particles if one.alive_state == "ALIVE"]
            found += [np.array(key.co) for one in system.particles for key in one.hair_keys]
    return np.concatenate(found)


def played(objects: Iterable[bpy.types.Object]) -> list[np.ndarray]:
    """What each frame shows, in playback from the first."""
    return [shown(objects) for _ in rigs.visited(FRAMES)]


def apart(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """The largest difference; infinite if there is not the same number of particles."""
    return max(float(np.abs(a - b).max()) if a.shape == b.shape else np.inf for a, b in zip(one, other, strict=True))
