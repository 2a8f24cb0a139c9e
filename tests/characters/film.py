# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender shows of a figure over frames, by the true roles of its bones, and how two such films differ."""

import bpy
import numpy as np
from mathutils import Vector

STANDS = 0.15  # leg lengths a second
ALONG = {"arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
"""The parts of limbs, and what they lead to."""


class Film:
    """Heads and tails (F, N, 3) and axes (F, N, 3, 3) of all bones in the world.

    truth : their true (role, side). body : the joints of the body of which a figure is made, as those of `bodies`.
    """

    def __init__(self, ob: bpy.types.Object, truth: dict, frames: range, body: dict | None = None) -> None:
        self.joints_at_rest = body
        names = ob.pose.bones.keys()
        self.rows: dict[tuple[str, str], list[int]] = {}
        for bone in ob.pose.bones:  # parents first
            if truth.get(bone.name) is not None:
                self.rows.setdefault(tuple(truth[bone.name]), []).append(names.index(bone.name))
        heads, axes = [], []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            world = np.array([shown.matrix_world @ bone.matrix for bone in shown.pose.bones])
            heads.append(world[:, :3, 3])
            axes.append(_unit_axes(world))
        self.heads, self.axes = np.array(heads), np.array(axes)
        scale = max(ob.matrix_world.to_scale())
        self.lengths = scale * np.array([bone.length for bone in ob.data.bones])
        self.tails = self.heads + self.axes[..., 1] * self.lengths[None, :, None]
        self.parents = [-1 if bone.parent is None else names.index(bone.parent.name) for bone in ob.pose.bones]
        rest = np.array([bone.bone.matrix_local for bone in ob.pose.bones])
        self.rest, self.rest_axes = scale * rest[:, :3, 3], _unit_axes(rest)
        skins, inverse = [bpy.data.objects.get(f"Skin of {ob.name}")], ob.matrix_world.inverted()
        self.skin = scale * np.array([inverse @ one.matrix_world @ point.co for one in filter(None, skins)
                                      for point in one.data.vertices])  # fmt: skip

    def row(self, name: str, side: str = "", number: int = 0) -> int:
        return self.rows[name, side][number]

    def has(self, name: str, side: str = "") -> bool:
        return (name, side) in self.rows

    def at(self, name: str, side: str = "") -> np.ndarray:
        return self.heads[:, self.row(name, side)]

    def length(self, *names: str, side: str = "L") -> float:
        points = [self.rest[self.row(name, side)] for name in names]
        return float(sum(np.linalg.norm(a - b) for a, b in zip(points, points[1:], strict=False)))

    def leg(self) -> float:
        return self.length("thigh", "shin", "foot")

    def ball(self, side: str, source: "Film") -> np.ndarray:
        """The ball of a foot (F, 3): the joint of the toes, on the sole of a skin, or as low as the tips of paws.

        Of feet without toes it is where the body of which the figure is made has it, or where another figure has it,
        whose feet end there if they have no toes either.
        """
        row, own, body = self.row("foot", side), self if self.has("toes", side) else source, self.body()
        ankle, up, foot = self.rest[row], body[:, 2], own.row("foot", side)
        end = own.rest_axes[foot, :, 1] * own.lengths[foot]
        line = own.at_rest("toes", side) - own.rest[foot] if own.has("toes", side) else end
        line = body @ (own.body().T @ line) * self.leg() / own.leg()
        if own is source and self.joints_at_rest is not None:
            thigh, foot, toes = (np.array(self.joints_at_rest[joint]) for joint in ("thigh", "foot", "toes"))
            line = body @ ((toes - foot) * (1.0, -1.0, 1.0)) * ((self.at_rest("thigh", side) - ankle) @ up)
            line /= thigh[2] - foot[2]
        if len(self.skin):  # it is on the sole
            line = line + up * ((self.skin @ up).min() - (ankle + line) @ up)
        elif -line @ up > np.linalg.norm(line - up * (up @ line)):  # it stands on its toes
            below = [one for one in range(len(self.rest)) if row in self._above(one)]
            ends = self.rest[below] + self.rest_axes[below, :, 1] * self.lengths[below][:, None]
            line = line + up * min((ends @ up).min() - (ankle + line) @ up, 0.0)
        return self.heads[:, row] + self.axes[:, row] @ self.rest_axes[row].T @ line

    def at_rest(self, name: str, side: str = "") -> np.ndarray:
        return self.rest[self.row(name, side)]

    def _above(self, row: int) -> list[int]:
        """The bones on which one hangs."""
        found = []
        while self.parents[row] >= 0:
            row = self.parents[row]
            found.append(row)
        return found

    def bend(self, upper: str, lower: str, end: str, side: str) -> np.ndarray:
        """How a knee is bent (F,) backward, as the sine; below zero it is wrong."""
        a, b, c = (self.at(name, side) for name in (upper, lower, end))
        normal = np.cross(b - a, c - b)
        size = np.linalg.norm(b - a, axis=-1) * np.linalg.norm(c - b, axis=-1)
        left = self.at("thigh", "L") - self.at("thigh", "R")
        return (normal * left).sum(-1) / np.linalg.norm(left, axis=-1) / size

    def body(self) -> np.ndarray:
        """Left, forward and up (3, 3) of the figure at rest, as columns."""
        thighs = self.rest[[self.row("thigh", side) for side in "LR"]]
        line = thighs.mean(0) - np.mean([self.rest[self.row("foot", side)] for side in "LR"], axis=0)
        up = np.eye(3)[int(np.abs(line).argmax())] * np.sign(line[np.abs(line).argmax()])
        left = thighs[0] - thighs[1]
        left = left - up * (up @ left)
        left = left / np.linalg.norm(left)
        return np.stack([left, np.cross(left, up), up], -1)

    def turned(self, row: int) -> np.ndarray:
        """The turns (F, 3, 3) of a bone from rest, in the figure's own directions."""
        return self.axes[:, row] @ self.rest_axes[row].T @ self.body()

    def turned_hand(self, side: str) -> np.ndarray:
        """The turns (F, 3, 3) of a hand from where it is with its forearm stretched out to the side, palm down."""
        row, body = self.row("hand", side), self.body()
        line = self.rest[row] - self.rest[self.row("forearm", side)]
        out = Vector(body[:, 0] * (1.0 if side == "L" else -1.0))
        lowered = np.array(out.rotation_difference(Vector(line)).to_matrix())
        return self.axes[:, row] @ self.rest_axes[row].T @ lowered @ body

    def direction(self, upper: str, side: str) -> np.ndarray:
        line = self.at(ALONG[upper], side) - self.at(upper, side)
        return line / np.linalg.norm(line, axis=-1, keepdims=True)

    def joints(self) -> np.ndarray:
        """(F, N, 3, 3) against their parents."""
        each = zip(np.moveaxis(self.axes, 1, 0), self.parents, strict=True)
        return np.stack([axes if above < 0 else np.swapaxes(self.axes[:, above], 1, 2) @ axes
                         for axes, above in each], 1)  # fmt: skip


def _unit_axes(matrices: np.ndarray) -> np.ndarray:
    return matrices[:, :3, :3] / np.linalg.norm(matrices[:, :3, :3], axis=1, keepdims=True)


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between rotations (..., 3, 3), in degrees."""
    return np.degrees(2.0 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8.0), 0.0, 1.0)))


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between unit vectors (..., 3), in degrees."""
    return np.degrees(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(a - b, axis=-1), 0.0, 1.0)))
