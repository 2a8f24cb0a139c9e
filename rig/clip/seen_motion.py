# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of an armature as Live shows it, frame by frame: read by visiting frames, and known until it changes."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import bpy
import numpy as np

from ..blender import animation, bulk, scene_state
from ..blender.places import world_matrix
from ..frame.sessions import sessions

_ROOM = 200e6  # bytes: the meshes of frames that are not shown now are only kept within this
_PARTS = 3  # so many parts are read before their cost counts: the first is slow, and the computer may be busy
_SHAPES = (bpy.types.Armature, bpy.types.Mesh, bpy.types.Curve, bpy.types.Key, bpy.types.Lattice)
_KINDS = (
    "scenes", "objects", "armatures", "meshes", "shape_keys", "curves", "lattices", "cameras", "lights", "materials",
    "worlds", "node_groups", "textures", "speakers", "lightprobes", "metaballs", "collections", "particles", "masks",
)  # fmt: skip
_WITH_NODES = ("scenes", "lights", "materials", "worlds", "textures")

_Place = tuple[bpy.types.ID, str, int]


class Mesh(NamedTuple):
    """A mesh in the world: vertices, normals (V, 3) and triangles (T, 3), numbers of vertices."""

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True, eq=False)
class SeenFrame:
    """An armature at one frame, in the world.

    heads, tails : (N, 3) of all bones. targets : (G, 3) of all goals, NaN for a goal without one. missed : the numbers
    of the goals that are missed; none while Live is off. meshes : that it deforms or carries; None if not read.
    """

    heads: np.ndarray
    tails: np.ndarray
    targets: np.ndarray
    missed: frozenset[int]
    meshes: tuple[Mesh, ...] | None


@dataclass(eq=False)
class SeenMotion:
    """What is known of an armature's motion. is_old : whether something has changed since.

    costs : seconds that a frame took, in each of the last parts that were read. failed : whether the frames could not
    be read, until the next change.
    """

    frames: dict[int, SeenFrame] = field(default_factory=dict)
    is_old: bool = False
    costs: tuple[float, ...] = ()
    failed: bool = False

    def size(self) -> int:
        """Bytes of the meshes."""
        meshes = (mesh for shown in self.frames.values() for mesh in shown.meshes or ())
        return sum(mesh.vertices.nbytes + mesh.normals.nbytes for mesh in meshes)


class _Visiting:
    now = False  # whether frames are being visited


_known: dict[int, SeenMotion] = {}  # by the `session_uid` of the armature object


def read(
    ob: bpy.types.Object, frames: Iterable[int], context: bpy.types.Context, has_meshes: bool = False,
    seconds: float = np.inf,
) -> dict[int, SeenFrame]:  # fmt: skip
    """Visit frames, in their order, until so many seconds are over; the first one is always read.

    Raises `scene_state.Disturbed`.
    """
    found: dict[int, SeenFrame] = {}
    until, was_reading, _Visiting.now = perf_counter() + seconds, _Visiting.now, True
    try:
        seen = _skins(ob, context.view_layer) if has_meshes else []
        with _animated_values_kept(), scene_state.restored(context.scene, context.view_layer, ob, seen) as visits:
            for frame in frames:
                found[frame] = _shown(ob, visits.visit(frame), has_meshes)
                if perf_counter() > until:
                    break
        context.view_layer.update()  # what this evaluates is no change of the motion
    finally:
        _Visiting.now = was_reading
    return found


def _shown(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, has_meshes: bool) -> SeenFrame:
    evaluated = ob.evaluated_get(depsgraph)
    bones, world = evaluated.pose.bones, np.array(evaluated.matrix_world)
    heads, tails = (bulk.read(bones, end, 3) @ world[:3, :3].T + world[:3, 3] for end in ("head", "tail"))
    targets = np.full((len(ob.dqik.goals), 3), np.nan)
    for number, goal in enumerate(ob.dqik.goals):
        if goal.target is not None:
            place = world_matrix(goal.target, goal.subtarget, depsgraph)
            if place is not None:
                targets[number] = place.translation
    errors = sessions.status(ob).goals if ob.dqik.live else ()
    missed = frozenset(error.goal for error in errors if error.missed)
    skins = _skins(ob, bpy.context.view_layer) if has_meshes else ()
    meshes = tuple(_mesh(one.evaluated_get(depsgraph)) for one in skins)
    return SeenFrame(heads, tails, targets, missed, meshes if has_meshes else None)


def _skins(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """The meshes of an armature object that are shown."""
    shown = (one for one in layer.objects if one.type == "MESH" and one.visible_get(view_layer=layer))
    return [one for one in shown if ob in (one.find_armature(), one.parent)]


def _mesh(evaluated: bpy.types.Object) -> Mesh:
    world = np.array(evaluated.matrix_world)
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        triangles = bulk.read(mesh.loop_triangles, "vertices", 3, np.int32)
        vertices = bulk.read(mesh.vertices, "co", 3) @ world[:3, :3].T + world[:3, 3]
        turn = np.linalg.pinv(world[:3, :3])  # a normal's transform is the inverse transpose; flat objects have none
        normals = bulk.read(mesh.vertex_normals, "vector", 3) @ turn
    finally:
        evaluated.to_mesh_clear()
    return Mesh(vertices.astype(np.float32), normals.astype(np.float32), triangles)


# -- what is shown in 3D views -----------------------------------------------------------------------------------------


def is_asked(ob: bpy.types.Object) -> bool:
    """Whether ghosts or arcs of an armature object are switched on."""
    return ob.dqik.ghosts or ob.dqik.arcs


def ghost_frames(ob: bpy.types.Object, scene: bpy.types.Scene) -> list[int]:
    """The frames of the ghosts around the present one, within the range that the timeline plays, the nearest first."""
    settings, now = ob.dqik, scene.frame_current
    if not settings.ghosts:
        return []
    first, last = scene_state.shown_range(scene)
    step = settings.ghosts_step
    before = range(now - step, now - settings.ghosts_before - 1, -step)
    after = range(now + step, now + settings.ghosts_after + 1, step)
    return sorted((f for f in (*before, *after) if first <= f <= last), key=lambda frame: abs(frame - now))


def known(ob: bpy.types.Object) -> SeenMotion:
    """What is known of an armature's motion."""
    return _known.get(ob.session_uid) or SeenMotion()


def missing(ob: bpy.types.Object, scene: bpy.types.Scene) -> tuple[list[int], bool]:
    """The frames that are to be read next, and whether with meshes: first the ghosts, then the range that plays."""
    motion = known(ob)
    frames = {} if motion.is_old else motion.frames
    has_meshes = ob.dqik.ghosts and "MESH" in ob.dqik.ghosts_of
    bare = {frame for frame, shown in frames.items() if shown.meshes is None} if has_meshes else set()
    lacking = [frame for frame in ghost_frames(ob, scene) if frame not in frames or frame in bare]
    has_room = not bare or motion.size() < _ROOM
    first, last = scene_state.shown_range(scene)
    rest = [f for f in range(first, last + 1) if f not in frames or (f in bare and has_room)]
    if _depends_on_way(ob):  # each frame is shown as it is after the one before
        return (list(range(first, last + 1)) if lacking or rest else []), has_meshes
    return (lacking, has_meshes) if lacking else (rest, has_meshes and has_room)


def _depends_on_way(ob: bpy.types.Object) -> bool:
    """Whether what a frame shows depends on the frames that were shown before."""
    return ob.dqik.live and ob.dqik.start_from in {"PREVIOUS", "FOLLOW"}


def is_cheap(ob: bpy.types.Object, scene: bpy.types.Scene, seconds: float) -> bool:
    """Whether a part of the missing frames, or all if they belong together, can be read in this time.

    Never where simulations follow a live armature: these step with the frames.
    """
    if sessions.simulations.unbaked(scene):
        return False
    first, last = scene_state.shown_range(scene)
    costs, count = known(ob).costs, last - first + 1 if _depends_on_way(ob) else 1
    return len(costs) < _PARTS or min(costs) * count < seconds


def refresh(ob: bpy.types.Object, context: bpy.types.Context, seconds: float = np.inf) -> bool:
    """Read frames that are missing, for about so long; whether there are more. Raises `scene_state.Disturbed`."""
    uid, scene = ob.session_uid, context.scene
    frames, has_meshes = missing(ob, scene)
    if not frames:
        return False
    motion = known(ob)
    if motion.is_old:
        motion = SeenMotion(costs=motion.costs)
    start = perf_counter()
    try:
        found = read(ob, frames, context, has_meshes, np.inf if _depends_on_way(ob) else seconds)
    except scene_state.Disturbed:
        _known[uid] = SeenMotion(failed=True)
        raise
    motion.costs = (*motion.costs, (perf_counter() - start) / (len(found) + 1))[-_PARTS:]
    motion.frames.update(found)
    _known[uid] = motion
    if motion.size() > 2.0 * _ROOM:
        shown = set(ghost_frames(ob, scene))
        for frame in motion.frames.keys() - shown:
            motion.frames[frame] = replace(motion.frames[frame], meshes=None)
    return bool(missing(ob, scene)[0])


def note_change(depsgraph: bpy.types.Depsgraph, asked: bool) -> bool:
    """What is known is out of date if an update changes anything that moves or is keyed; returns whether it does.

    Costs nothing if nothing is known and it is not `asked` either.
    """
    if not (_known or asked) or _Visiting.now or not _is_change(depsgraph):
        return False
    there = {ob.session_uid for ob in bpy.data.objects}
    for uid in list(_known):
        if uid in there:
            _known[uid].is_old, _known[uid].failed = True, False
        else:
            del _known[uid]
    return True


def outdate(ob: bpy.types.Object) -> None:
    """What is known of an armature object's motion is out of date."""
    if ob.session_uid in _known:
        _known[ob.session_uid].is_old = True


def _is_change(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an update changes more than what is selected, which Blender reports as geometry of the object alone."""
    moved, reshaped = False, set()
    for update in depsgraph.updates:
        data = update.id
        if isinstance(data, bpy.types.Object):
            moved |= update.is_updated_transform
            if update.is_updated_geometry:
                reshaped.add(data.type)
        elif isinstance(data, bpy.types.Action) or (isinstance(data, _SHAPES) and update.is_updated_geometry):
            return True
    return moved or (bool(reshaped) and "ARMATURE" not in reshaped)  # what an armature deforms is reported with it


def keep_asked(ob: bpy.types.Object) -> None:
    """Forget the motion of an armature object whose ghosts and arcs are off."""
    if not is_asked(ob):
        _known.pop(ob.session_uid, None)


def uids() -> set[int]:
    """`session_uid` of the armature objects of whose motion anything is known."""
    return set(_known)


def forget() -> None:
    """Know nothing of any motion."""
    _known.clear()


def places(shown: Sequence[SeenFrame], bones: Sequence[int], tails: bool) -> np.ndarray:
    """Places (N, F, 3) of the heads or tails of bones, by their numbers, over frames."""
    ends = np.array([one.tails if tails else one.heads for one in shown])
    return ends[:, bones].transpose(1, 0, 2)


def show_paths(ob: bpy.types.Object, names: Sequence[str], first: int, places: np.ndarray) -> list[str]:
    """Put places (N, F, 3) on frames from `first` on into the motion paths of bones; the names of those without one.

    Blender itself computes them without handlers, so that solved bones rest.
    """
    left = []
    for name, path in zip(names, places, strict=True):
        own = ob.pose.bones[name].motion_path
        if own is None or own.frame_start > first or len(own.points) < len(path) + first - own.frame_start:
            left.append(name)
            continue
        for point, place in zip(own.points[first - own.frame_start :], path.tolist(), strict=False):
            point.co = place
    return left


@contextmanager
def _animated_values_kept() -> Generator[None]:
    """Give all animated values back at the end that they have at the beginning, on the same frame."""
    before = dict(_values())
    try:
        yield
    finally:
        now = dict(_values())
        for place, value in before.items():
            if place in now and now[place] != value:
                with suppress(ReferenceError, AttributeError, TypeError, ValueError):  # removed, or not to be written
                    animation.set_value(*place, value)


def _values() -> Iterator[tuple[_Place, object]]:
    for owner in _owners():
        for path, index, value in animation.present_values(owner):
            if path.rpartition(".")[2] not in scene_state.TRANSFORM:
                yield (owner, path, index), value


def _owners() -> Iterator[bpy.types.ID]:
    """All that has curves of its own and can be written."""
    for kind in _KINDS:
        for one in getattr(bpy.data, kind):
            tree = getattr(one, "node_tree", None) if kind in _WITH_NODES else None
            for owner in (one, tree):
                if owner is not None and owner.library is None and getattr(owner, "animation_data", None) is not None:
                    yield owner
