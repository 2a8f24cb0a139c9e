# SPDX-License-Identifier: GPL-3.0-or-later
"""A clothed person for pictures and for the window tests: an armature, and a mesh that it deforms.

The pieces of the body (shirt, trousers, shoes, hands, head, hair) are unions of rounded cones and ellipsoids, which
blend into each other. Each solid belongs to a bone. A vertex follows the bones whose solids are near.

The tables are in metres for the left side at +X, with the arms straight to the side; the figure faces -Y.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "characters"))

from bodies import ARM, HUMAN
from conventions import Character, fingers

import build

FIGURE = "Person"
ARMS_DOWN = 50.0  # degrees below the horizontal, at rest

_SKELETON = Character(FIGURE, f"""
root = root : -
 pelvis = hips : hips
  spine1 = spine / spine2 = spine.001 / spine3 = chest
     neck = neck / head = head
     collar = shoulder.{{}} / arm = upper_arm.{{}} / forearm = forearm.{{}} / hand = hand.{{}}
{fingers(9, "f_{finger}.0{part}.{{}}")}
  thigh = thigh.{{}} / shin = shin.{{}} / foot = foot.{{}} / toes = toe.{{}}
""", arms=ARMS_DOWN)  # fmt: skip


@dataclass(frozen=True)
class Solid:
    """A rounded cone from `a` to `b`, or an ellipsoid around `a` with half axes `radii` if there is no `b`.

    joint : of the bone that it belongs to. radii : at both ends, or the half axes.
    """

    joint: str
    a: tuple[float, float, float]
    b: tuple[float, float, float] | None
    radii: tuple[float, ...]


def _cone(joint: str, a: tuple, b: tuple, *radii: float) -> Solid:
    return Solid(joint, a, b, radii if len(radii) == 2 else radii * 2)


def _ball(joint: str, at: tuple, *radii: float) -> Solid:
    return Solid(joint, at, None, radii if len(radii) == 3 else radii * 3)


@dataclass(frozen=True)
class Piece:
    """A part of the body's surface.

    colour : of its material. solids : of the middle. sided : solids of both sides. cell : of the grid [m]. blend : how
    far solids run into each other [m]. spread : how far the pull of a bone reaches beyond its solids [m]. apart :
    whether the sides are two pieces. floor : height below which it is cut off.
    """

    colour: tuple[float, float, float]
    solids: tuple[Solid, ...] = ()
    sided: tuple[Solid, ...] = ()
    cell: float = 0.012
    blend: float = 0.03
    spread: float = 0.02
    apart: bool = False
    floor: float = -1.0


def _finger(name: str, radius: float) -> Iterator[Solid]:
    """The three solids of a finger."""
    points = [np.array(HUMAN[f"{name}{part}"]) for part in (1, 2, 3)]
    points.append(points[2] + 0.9 * (points[2] - points[1]))
    for part in range(3):
        a, b = (tuple(point) for point in points[part : part + 2])
        yield _cone(f"{name}{part + 1}", a, b, radius * (1.0 - 0.09 * part), radius * (0.91 - 0.09 * part))


_SKIN, _HAIR = (0.80, 0.52, 0.38), (0.10, 0.055, 0.035)
_WHITE, _DARK = (0.9, 0.9, 0.88), (0.03, 0.02, 0.02)

PIECES = (
    Piece(  # shirt
        (0.11, 0.36, 0.46),
        (
            _ball("spine3", (0, 0.005, 1.30), 0.150, 0.100, 0.175),
            _ball("spine3", (0, 0.045, 1.36), 0.135, 0.070, 0.100),
            _ball("spine2", (0, 0.002, 1.16), 0.128, 0.090, 0.120),
            _ball("spine1", (0, 0.000, 1.05), 0.132, 0.096, 0.090),
            _ball("pelvis", (0, 0.012, 0.978), 0.152, 0.122, 0.072),
            _cone("neck", (0, 0.022, 1.42), (0, 0.018, 1.475), 0.070, 0.060),
        ),
        (
            _ball("spine3", (0.07, -0.050, 1.345), 0.080, 0.046, 0.062),
            _ball("spine3", (0.085, 0.062, 1.32), 0.066, 0.038, 0.120),
            _cone("collar", (0.03, 0.025, 1.448), (0.14, 0.03, 1.425), 0.040, 0.052),
            _ball("arm", (0.188, 0.03, 1.412), 0.066, 0.064, 0.060),
            _cone("arm", (0.19, 0.03, 1.415), (0.44, 0.04, 1.42), 0.053, 0.043),
            _ball("arm", (0.31, 0.012, 1.422), 0.085, 0.036, 0.040),
            _ball("arm", (0.30, 0.060, 1.418), 0.090, 0.034, 0.038),
            _cone("forearm", (0.44, 0.04, 1.42), (0.662, 0.031, 1.42), 0.044, 0.033),
            _ball("forearm", (0.505, 0.030, 1.424), 0.075, 0.042, 0.038),
        ),
    ),
    Piece(  # trousers
        (0.13, 0.14, 0.20),
        (_ball("pelvis", (0, 0.0, 0.97), 0.142, 0.104, 0.075), _ball("pelvis", (0, 0.005, 0.885), 0.10, 0.085, 0.06)),
        (
            _ball("pelvis", (0.072, 0.050, 0.925), 0.082, 0.074, 0.085),
            _cone("thigh", (0.092, 0.0, 0.89), (0.09, -0.008, 0.5), 0.088, 0.058),
            _ball("thigh", (0.100, -0.022, 0.72), 0.068, 0.066, 0.165),
            _ball("shin", (0.09, -0.028, 0.49), 0.046, 0.040, 0.055),
            _cone("shin", (0.09, -0.008, 0.5), (0.09, 0.018, 0.13), 0.056, 0.046),
            _ball("shin", (0.095, 0.032, 0.37), 0.050, 0.050, 0.120),
            _cone("shin", (0.09, 0.018, 0.15), (0.09, 0.016, 0.105), 0.048, 0.054),
        ),
    ),
    Piece(  # shoes
        (0.62, 0.16, 0.09),
        (),
        (
            _cone("foot", (0.09, 0.02, 0.12), (0.09, 0.022, 0.07), 0.040, 0.044),
            _ball("foot", (0.09, 0.048, 0.035), 0.042, 0.048, 0.045),
            _cone("foot", (0.09, 0.01, 0.065), (0.093, -0.09, 0.035), 0.042, 0.042),
            _ball("toes", (0.096, -0.13, 0.024), 0.048, 0.070, 0.038),
        ),
        cell=0.006, floor=0.004, spread=0.012, apart=True,
    ),
    Piece(  # hands
        _SKIN,
        (),
        (
            _cone("forearm", (0.60, 0.032, 1.42), (0.69, 0.03, 1.42), 0.025),
            _ball("hand", (0.735, 0.028, 1.419), 0.058, 0.040, 0.016),
            *(_cone("hand", (0.70, 0.3 * HUMAN[f"{name}1"][1] + 0.02, 1.42), HUMAN[f"{name}1"], 0.014, 0.0115)
              for name in ("index", "middle", "ring", "little")),
            _cone("hand", (0.70, 0.02, 1.416), (0.722, -0.012, 1.412), 0.017, 0.014),
            *(solid for name, radius in (("thumb", 0.0118), ("index", 0.0092), ("middle", 0.0095), ("ring", 0.0092),
                                         ("little", 0.0084)) for solid in _finger(name, radius)),
        ),
        cell=0.0036, blend=0.006, spread=0.005, apart=True,
    ),
    Piece(  # head
        _SKIN,
        (
            _cone("neck", (0, 0.022, 1.43), (0, 0.010, 1.56), 0.056, 0.054),
            _ball("head", (0, 0.012, 1.662), 0.073, 0.092, 0.088),
            _ball("head", (0, -0.028, 1.595), 0.054, 0.060, 0.062),
            _ball("head", (0, -0.068, 1.552), 0.025, 0.022, 0.018),
            _cone("head", (0, -0.088, 1.650), (0, -0.103, 1.618), 0.008, 0.012),
            _ball("head", (0, -0.084, 1.580), 0.020, 0.009, 0.007),
        ),
        (
            _ball("head", (0.076, 0.018, 1.632), 0.010, 0.020, 0.032),
            _cone("head", (0.014, -0.076, 1.668), (0.048, -0.062, 1.670), 0.011, 0.009),
            _ball("head", (0.042, -0.044, 1.612), 0.022, 0.026, 0.020),
            _ball("head", (0.010, -0.095, 1.616), 0.008, 0.008, 0.007),
        ),
        cell=0.005, blend=0.018,
    ),
    Piece(  # hair
        _HAIR,
        (
            _ball("head", (0, 0.030, 1.684), 0.080, 0.088, 0.082),
            _ball("head", (0, 0.062, 1.640), 0.066, 0.052, 0.070),
            _cone("head", (-0.040, -0.050, 1.722), (0.035, -0.058, 1.726), 0.024, 0.016),
        ),
        (_ball("head", (0.068, 0.020, 1.675), 0.014, 0.028, 0.032),),
        cell=0.006, blend=0.022,
    ),
    Piece(_WHITE, (), (_ball("head", (0.031, -0.0645, 1.648), 0.0155),), cell=0.003, blend=0.001, apart=True),
    Piece(_DARK, (), (_ball("head", (0.0315, -0.0760, 1.648), 0.0068),), cell=0.002, blend=0.001, apart=True),
    Piece(_HAIR, (), (_cone("head", (0.015, -0.0900, 1.680), (0.047, -0.0745, 1.678), 0.0045, 0.003),),
          cell=0.0025, blend=0.001, apart=True),  # eyebrows
    Piece((0.58, 0.26, 0.22), (), (_cone("head", (0, -0.0915, 1.5785), (0.018, -0.0885, 1.5835), 0.0045, 0.003),),
          cell=0.0025, blend=0.001),  # mouth
)  # fmt: skip


def person(name: str = FIGURE) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Make the armature and the mesh in the scene; both stand at rest at the origin."""
    ob = skeleton(name)
    rows = build.lines(_SKELETON)
    body = _mesh(f"{name} body", [row.name for row in rows], [row.parent for row in rows],
                 {(row.joint, row.side): number for number, row in enumerate(rows)})  # fmt: skip
    body.parent = ob
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_deform_preserve_volume = ob, True
    body.hide_select = True
    return ob, body


def skeleton(name: str = FIGURE) -> bpy.types.Object:
    """Make the armature alone."""
    ob = build.native(_SKELETON, name)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["root"].tail = (0.0, 0.2, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.show_in_front = True
    ob.data.display_type = "STICK"
    ob.data.bones["root"].use_deform = False
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    _into_collections(ob)
    return ob


def _into_collections(ob: bpy.types.Object) -> None:
    """Put fingers into a bone collection that is hidden, and the other bones into one that is shown."""
    body, hidden = ob.data.collections.new("Body"), ob.data.collections.new("Fingers")
    for bone in ob.data.bones:
        (hidden if bone.name.startswith("f_") else body).assign(bone)
    hidden.is_visible = False


def _mesh(name: str, bones: list[str], parents: list[int], numbers: dict[tuple[str, str], int]) -> bpy.types.Object:
    """The mesh object of all pieces with a vertex group for each bone. `numbers`: of bones, by joint and side."""
    points, quads, weights, materials = [], [], [], []
    near = np.eye(len(bones), dtype=bool)
    for bone, parent in enumerate(parents):
        if parent >= 0:
            near[bone, parent] = near[parent, bone] = True
    mesh = bpy.data.meshes.new(name)
    count = 0
    for number, (piece, solids) in enumerate(_shells()):
        corners, faces = _surface(solids, piece)
        owners = [numbers.get((solid.joint, side), numbers.get((solid.joint, ""), 0)) for solid, side in solids]
        pull = _pull(corners, faces, solids, owners, near, piece.spread)
        points.append(corners)
        quads.append(faces + count)
        weights.append(pull)
        materials += [number] * len(faces)
        count += len(corners)
        material = bpy.data.materials.new(f"{name} {number}")
        material.diffuse_color, material.roughness = (*piece.colour, 1.0), 0.6
        mesh.materials.append(material)
    mesh.from_pydata(np.concatenate(points).tolist(), [], np.concatenate(quads).tolist())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.polygons.foreach_set("material_index", materials)
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    pulls = np.concatenate(weights)
    for bone, bone_name in enumerate(bones):
        group = ob.vertex_groups.new(name=bone_name)
        for vertex in np.flatnonzero(pulls[:, bone] > 0.01).tolist():
            group.add([vertex], float(pulls[vertex, bone]), "REPLACE")
    return ob


def _shells() -> Iterator[tuple[Piece, list[tuple[Solid, str]]]]:
    """Each closed surface with its solids and their sides."""
    for piece in PIECES:
        left, right = ([(solid, side) for solid in piece.sided] for side in "LR")
        middle = [(solid, "") for solid in piece.solids]
        if piece.apart:
            yield piece, left
            yield piece, right
        else:
            yield piece, middle + left + right


def _at_rest(solid: Solid, side: str, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) of space in the coordinates of a solid's table: left side, arms to the side."""
    points = points * np.array([-1.0 if side == "R" else 1.0, 1.0, 1.0])
    if solid.joint.startswith(ARM):
        turn = np.array(Matrix.Rotation(radians(ARMS_DOWN), 3, "Y"))
        points = (points - HUMAN["arm"]) @ turn + HUMAN["arm"]  # the inverse of the turn, since rows are multiplied
    return points


def _distance(solid: Solid, side: str, points: np.ndarray) -> np.ndarray:
    """Signed distances (...) of points (..., 3) from the surface of a solid; approximate for ellipsoids."""
    points, a = _at_rest(solid, side, points), np.array(solid.a)
    if solid.b is None:
        scaled = (points - a) / solid.radii
        length = np.linalg.norm(scaled, axis=-1)
        steepness = np.linalg.norm(scaled / solid.radii, axis=-1)
        return length * (length - 1.0) / np.maximum(steepness, 1e-9)
    line = np.array(solid.b) - a
    along = np.clip((points - a) @ line / (line @ line), 0.0, 1.0)
    radius = solid.radii[0] + along * (solid.radii[1] - solid.radii[0])
    return np.linalg.norm(points - a - along[..., None] * line, axis=-1) - radius


def _box(solid: Solid, side: str) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest corner of a box around a solid."""
    ends = np.array([solid.a, solid.a if solid.b is None else solid.b])
    if solid.joint.startswith(ARM):
        turn = Matrix.Rotation(radians(ARMS_DOWN), 3, "Y")
        pivot = Vector(HUMAN["arm"])
        ends = np.array([pivot + turn @ (Vector(end) - pivot) for end in ends])
    if side == "R":
        ends = ends * [-1.0, 1.0, 1.0]
    return ends.min(0) - max(solid.radii), ends.max(0) + max(solid.radii)


def _surface(solids: list[tuple[Solid, str]], piece: Piece) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) and quads (F, 4) of the union of solids, by surface nets (Gibson 1998)."""
    cell, blend = piece.cell, piece.blend
    boxes = [_box(*one) for one in solids]
    low = np.min([box[0] for box in boxes], axis=0) - blend - 3 * cell
    shape = np.ceil((np.max([box[1] for box in boxes], axis=0) + blend + 3 * cell - low) / cell).astype(int)
    field = np.full(shape, 1.0, dtype=np.float32)
    for (solid, side), (bottom, top) in zip(solids, boxes, strict=True):
        first = np.maximum(((bottom - low - blend) / cell).astype(int) - 2, 0)
        last = np.minimum(((top - low + blend) / cell).astype(int) + 3, shape)
        part = tuple(slice(a, b) for a, b in zip(first, last, strict=True))
        grid = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(first, last, strict=True)), indexing="ij"), -1)
        field[part] = _blended(field[part], _distance(solid, side, low + grid * cell), blend)
    if piece.floor >= 0.0:
        heights = low[2] + cell * np.arange(shape[2])
        field = np.maximum(field, (piece.floor - heights)[None, None, :]).astype(np.float32)
    points, quads = _surface_nets(field)
    return low + points * cell, quads


def _blended(one: np.ndarray, other: np.ndarray, blend: float) -> np.ndarray:
    """The smaller of two distances, rounded off where they are equal."""
    overlap = np.maximum(blend - np.abs(one - other), 0.0) / blend
    return np.minimum(one, other) - 0.25 * blend * overlap**2


def _surface_nets(field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices, in cells, and quads where a field (X, Y, Z) changes sign."""
    cells = np.array(field.shape) - 1
    total, crossings = np.zeros((*cells, 3)), np.zeros(cells)
    corners = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), -1).astype(float)
    for axis in range(3):
        for u, v in np.ndindex(2, 2):
            start = np.zeros(3, dtype=int)
            start[[k for k in range(3) if k != axis]] = u, v
            end = start.copy()
            end[axis] = 1
            a, b = (field[tuple(slice(s, s + n) for s, n in zip(at, cells, strict=True))] for at in (start, end))
            crossed = (a < 0.0) != (b < 0.0)
            share = np.where(crossed, a / np.where(crossed, a - b, 1.0), 0.0)
            place = corners + start + share[..., None] * (end - start)
            total += np.where(crossed[..., None], place, 0.0)
            crossings += crossed
    used = crossings > 0
    index = np.full(cells, -1)
    index[used] = np.arange(used.sum())
    points = total[used] / crossings[used][:, None]
    quads = []
    inside = field < 0.0
    for axis in range(3):
        one, two = (k for k in range(3) if k != axis)
        a = inside[tuple(slice(1, n) if k != axis else slice(0, n) for k, n in enumerate(cells))]
        b = inside[tuple(slice(1, n) if k != axis else slice(1, n + 1) for k, n in enumerate(cells))]
        at = np.argwhere(a != b)
        at[:, [one, two]] += 1
        out = a[a != b]
        ring = []
        for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)):
            shift = at.copy()
            shift[:, one] -= p
            shift[:, two] -= q
            ring.append(index[tuple(shift.T)])
        faces = np.stack(ring, -1)
        flip = out if axis != 1 else ~out
        faces[flip] = faces[flip][:, ::-1]
        quads.append(faces)
    return points, np.concatenate(quads)


def _pull(
    points: np.ndarray, quads: np.ndarray, solids: list[tuple[Solid, str]], owners: list[int], near: np.ndarray,
    spread: float,
) -> np.ndarray:  # fmt: skip
    """The weights (V, B) of the bones: those of the nearest solid, its parent and its children, by distance."""
    count = len(near)
    distances = np.full((len(points), count), np.inf)
    for (solid, side), owner in zip(solids, owners, strict=True):
        distances[:, owner] = np.minimum(distances[:, owner], _distance(solid, side, points))
    nearest = distances.argmin(1)
    away = distances - distances.min(1, keepdims=True)
    weights = np.where(near[nearest], np.exp(-np.minimum(away / spread, 50.0)), 0.0)
    weights /= weights.sum(1, keepdims=True)
    edges = np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)])
    degree = np.bincount(edges[:, 0], minlength=len(points))[:, None]
    for _ in range(3):
        sums = np.zeros_like(weights)
        np.add.at(sums, edges[:, 0], weights[edges[:, 1]])
        weights = 0.5 * weights + 0.5 * sums / np.maximum(degree, 1)
    return weights / weights.sum(1, keepdims=True)
