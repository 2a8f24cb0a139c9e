# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose with the compiled kernel: packs the prior of one rig, and calls it."""

import operator
from ctypes import addressof, sizeof
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..algebra import quaternion
from ..figure.prior import Prior
from ..figure.weights import LimbNetworks
from ..model.goals import Targets
from ..model.skeleton import Pose
from .declare import CLASSES, Packer
from .library import Kernel, load
from .pack import of_skeleton
from .structures import EFFECTOR, FIGURE, FIGURE_LIMB, FIGURE_START, NETWORK


class CompiledPrior(Prior):
    """A `Prior` whose base poses the kernel makes, where there is one."""

    _alike: "PackedPrior | None" = None  # of the same figure with another freedom

    @cached_property
    def compiled(self) -> "PackedPrior | None":
        """The prior packed for the kernel; None where NumPy makes its poses."""
        kernel = load()
        return None if kernel is None else PackedPrior(kernel, self, self._alike)

    def with_freedom(self, freedom: np.ndarray) -> Self:
        """See `Prior`; packed, it shares what does not depend on the freedom."""
        other = super().with_freedom(freedom)
        other._alike = self.__dict__.get("compiled", self._alike)
        return other

    def __getstate__(self) -> dict[str, object]:
        """Without what only this process has."""
        return {name: value for name, value in self.__dict__.items() if name not in {"compiled", "_alike"}}

    def shaped(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `Prior`."""
        if self.compiled is None or not self.counts(amount):
            return super().shaped(start, targets, links, amount, share)
        return self.compiled.shaped(start, targets, links, amount, share)


class PackedPrior:
    """A prior as the kernel reads it, and what follows from the animator's pose, which it remembers."""

    def __init__(self, kernel: Kernel, prior: Prior, alike: "PackedPrior | None" = None) -> None:
        """`alike` : of the same figure with another freedom."""
        self._base = kernel.figure_base
        self._whole: Packer = Packer() if alike is None else alike._whole
        self._packer = self._whole if alike is None else Packer(self._whole)
        figure = _figure(self._packer, prior) if alike is None else _refilled(self._packer, prior, alike._figure)
        self._figure = addressof(figure)
        joints, effectors, turned = len(prior.figure.skeleton), len(prior.viewer.goals), len(prior.joints)
        networks = prior.body.networks
        hidden = networks.first.shape[-1] + networks.second.shape[-1]
        size = 7 * joints + 34 * effectors + len(prior.body.select) + 4 * len(prior.body.mirror) + 4 * turned + hidden
        self._start = addressof(self._packer.fill(
            FIGURE_START, has_pose=False, share=0.0, rotations=np.zeros((joints, 4)),
            links=np.zeros((joints, 8)), places=np.zeros((effectors, 3)), turns=np.zeros((effectors, 4)),
            fade=np.zeros(effectors), apart=np.zeros((turned, 3)), bent=np.zeros((turned, 3)),
            ends=np.zeros((len(prior.figure.limbs), 4)), chest=np.zeros(3), memory=np.zeros(size),
        ))  # fmt: skip
        self._amount = np.empty(1)
        self._arrays: tuple[np.ndarray, ...] = ()
        self._arguments: list[int] = []

    def shaped(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """`Prior.shaped`."""
        frames = len(targets.positions)
        arrays = *start, links, targets.positions, targets.rotations, self._amounts(amount, frames)
        if not self._arrays or any(map(operator.is_not, arrays, self._arrays)):
            self._arrays = tuple(np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
            counts = frames, len(start.rotations), len(links), targets.positions.shape[1]
            self._arguments = [*counts, *(array.ctypes.data for array in self._arrays)]
        found, positions = np.empty((frames, *start.rotations.shape[1:])), self._arrays[3].copy()
        self._base(self._figure, self._start, *self._arguments, share, found.ctypes.data, positions.ctypes.data)
        return found, positions

    def _amounts(self, amount: float | np.ndarray, frames: int) -> np.ndarray:
        """An amount (F,) for each frame; for one frame always in the same array, whose address is known."""
        if isinstance(amount, np.ndarray) or frames > 1:
            return np.broadcast_to(amount, frames)
        self._amount[0] = amount
        return self._amount


def _figure(packer: Packer, prior: Prior) -> Any:
    """The structure of a prior."""
    figure, parts, viewer = prior.figure, prior.body, prior.viewer
    hips, effectors, limbs = figure.hips, len(viewer.goals), range(len(figure.limbs))
    return packer.fill(
        FIGURE,
        skeleton=of_skeleton(packer, figure.skeleton),
        effectors=effectors,
        limbs=len(limbs),
        arms=parts.arms,
        features=len(parts.select),
        lines=len(figure.spine_lines),
        columns=len(parts.mirror),
        effector=[_effector(packer, prior, number) for number in range(effectors)],
        limb=[packer.fill(FIGURE_LIMB, **_limb(packer, prior, k), **_free_limb(prior, k)) for k in limbs],
        hips_goal=hips.goal,
        hips_link=hips.link,
        hips_joint=-1 if hips.link >= 0 else viewer.hips_joint,
        hips_point=hips.point,
        hips_offset=hips.offset,
        hips_from_rest=viewer.hips_from_rest,
        hips_inverse=viewer.inverse,
        select=parts.select,
        trunk_scale=parts.trunk.scale,
        trunk_shift=parts.trunk.shift,
        trunk_map=parts.trunk.map,
        trunk_mean=parts.trunk.mean,
        spine_root=figure.spine_root,
        has_spine=bool(figure.spine),
        spine_line=figure.spine_lines,
        mirror=parts.mirror,
        inner=np.isin(np.arange(len(figure.skeleton)), parts.inner),
        **_free(prior),
    )


def _refilled(packer: Packer, prior: Prior, address: int) -> Any:
    """A copy of the structure at an address for a prior of the same figure with another freedom."""
    first, size = CLASSES[FIGURE.name].from_address(address).limb, sizeof(CLASSES[FIGURE_LIMB.name])
    limbs = [
        packer.refill(FIGURE_LIMB, first + size * k, **_free_limb(prior, k)) for k in range(len(prior.figure.limbs))
    ]
    return packer.refill(FIGURE, address, limb=limbs, **_free(prior))


def _free(prior: Prior) -> dict[str, Any]:
    """The fields of a figure that depend on which joints are free."""
    own, parts = prior.own, prior.body
    chest = prior.figure.spine[-1] if prior.keeps_chest else -1
    return {
        "giving": prior.giving,
        "turned": len(prior.joints),
        "spine": len(parts.spine),
        "neck": len(parts.neck),
        "keeps_chest": prior.keeps_chest,
        "chest_joint": chest,
        "chest_from_rest": _from_rest(prior, chest),
        "fraction": parts.chest.fractions,
        "joint": prior.joints,
        "column": parts.columns,
        "map": parts.maps,
        "freedom": prior.freedom,
        "at_rest": prior.at_rest,
        "bend": parts.bends,
        "serves": parts.serves,
        "follows": parts.follows,
        "own_mean": None if own is None else own.mean,
        "own_scale": None if own is None else own.scale,
        "own_map": None if own is None else own.map,
    }


def _from_rest(prior: Prior, joint: int) -> np.ndarray:
    """(4,) from a joint's orientation to the turn from canonical axes; the identity for no joint."""
    if joint < 0:
        return quaternion.IDENTITY
    return quaternion.product(quaternion.conjugate(prior.figure.rest[joint]), prior.figure.axes)


def _effector(packer: Packer, prior: Prior, number: int) -> Any:
    viewer, parts = prior.viewer, prior.body
    return packer.fill(
        EFFECTOR, goal=viewer.goals[number], joint=viewer.joints[number], turned=parts.turned[number],
        size=parts.sizes[number, 0], reach=parts.reaches[number, 0], offset=viewer.offsets[number],
        tip=parts.tips[number], root=parts.roots[number], frame=parts.frames[number].ravel(),
        from_rest=viewer.from_rest[number],
    )  # fmt: skip


def _limb(packer: Packer, prior: Prior, k: int) -> dict[str, Any]:
    """The fields of a limb that do not depend on which joints are free."""
    figure, parts = prior.figure, prior.body
    limb, nothing = figure.limbs[k], np.zeros(3)
    place = None if limb.turned else int(np.flatnonzero(parts.ends.rows == k)[0])
    return {
        "turned": limb.turned,
        "placed_arm": k in parts.placed_arms,
        "on_toes": k in parts.on_toes,
        "eased": place is not None and place in parts.ends.eased,
        "size": limb.size,
        "bend": parts.bend[k],
        "end_moves": 0.0 if place is None else parts.ends.moves[place, 0],
        "doubt": parts.ends.doubt[k],
        "sign": parts.signs[k],
        "root": limb.root,
        "toe_line": limb.toe,
        "end_tip": nothing if place is None else parts.ends.tips[place],
        "along": parts.forearms[k],
        "mirror": parts.mirror[parts.first + k],
        "end_frame": quaternion.IDENTITY if place is None else parts.ends.frames[place],
        "length": limb.lengths,
        "beyond": [np.linalg.norm(limb.tip) / limb.size, 0.0, 0.0, 0.0, 0.0, 0.0],
        "axes": parts.axes[k].ravel(),
        "bones": parts.frames_of_bones[k].ravel(),
        "back": parts.back[k].ravel(),
        "network": _network(packer, parts.networks, k),
    }


def _free_limb(prior: Prior, k: int) -> dict[str, Any]:
    """The fields of a limb that depend on which joints are free."""
    parts, arm, nothing = prior.body, k < prior.body.arms, np.zeros(3)
    own_end, own_lower = (parts.row_of(part * len(prior.figure.limbs) + k) for part in (2, 1))
    return {
        "own_end": own_end,
        "own_lower": own_lower,
        "collar_share": parts.collars.shares[k, 0] if arm else 1.0,
        "shoulder": parts.shoulders[k] if arm else nothing,
        "collar_gain": parts.collars.gain[k] if arm else nothing,
        "collar_line": parts.collars.lines[k] if arm else nothing,
        "end_back": parts.turn_from(own_end).ravel(),
        "lower_back": parts.turn_from(own_lower).ravel(),
    }


def _network(packer: Packer, networks: LimbNetworks, k: int) -> Any:
    return packer.fill(
        NETWORK, inputs=networks.first.shape[1], first=networks.first.shape[2],
        second=networks.second.shape[2], outputs=networks.last.shape[2], scale=networks.scale[k],
        shift=networks.shift[k], first_weight=networks.first[k], first_bias=networks.first_bias[k],
        second_weight=networks.second[k], second_bias=networks.second_bias[k], last_weight=networks.last[k],
        last_bias=networks.last_bias[k],
    )  # fmt: skip
