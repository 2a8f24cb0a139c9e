# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose with the compiled kernel: packs the prior of one rig, and calls it."""

import operator
from ctypes import addressof
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import quaternion
from ..figure.prior import Prior
from ..figure.weights import LimbNetworks
from ..model.goals import Targets
from ..model.skeleton import Pose
from .declare import Packer
from .library import Kernel, load
from .pack import of_skeleton
from .structures import EFFECTOR, FIGURE, FIGURE_LIMB, FIGURE_START, NETWORK


class CompiledPrior(Prior):
    """A `Prior` whose base poses the kernel makes, where there is one."""

    @cached_property
    def compiled(self) -> "PackedPrior | None":
        """The prior packed for the kernel; None where NumPy makes its poses."""
        kernel = load()
        return None if kernel is None else PackedPrior(kernel, self)

    def __getstate__(self) -> dict[str, object]:
        """Without what only this process has."""
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}

    def base(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float = 0.0
    ) -> np.ndarray:
        """See `Prior`."""
        if self.compiled is None or not self.counts(amount):
            return super().base(start, targets, links, amount, share)
        return self.compiled.base(start, targets, links, amount, share)


class PackedPrior:
    """A prior as the kernel reads it, and what follows from the animator's pose, which it remembers."""

    def __init__(self, kernel: Kernel, prior: Prior) -> None:
        self._base, self._packer = kernel.figure_base, Packer()
        self._figure = addressof(_figure(self._packer, prior))
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

    def base(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float
    ) -> np.ndarray:
        """`Prior.base`."""
        frames = len(targets.positions)
        arrays = *start, links, targets.positions, targets.rotations, self._amounts(amount, frames)
        if not self._arrays or any(map(operator.is_not, arrays, self._arrays)):
            self._arrays = tuple(np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
            counts = frames, len(start.rotations), len(links), targets.positions.shape[1]
            self._arguments = [*counts, *(array.ctypes.data for array in self._arrays)]
        found = np.empty((frames, *start.rotations.shape[1:]))
        self._base(self._figure, self._start, *self._arguments, share, found.ctypes.data)
        return found

    def _amounts(self, amount: float | np.ndarray, frames: int) -> np.ndarray:
        """An amount (F,) for each frame; for one frame always in the same array, whose address is known."""
        if isinstance(amount, np.ndarray) or frames > 1:
            return np.broadcast_to(amount, frames)
        self._amount[0] = amount
        return self._amount


def _figure(packer: Packer, prior: Prior) -> Any:
    """The structure of a prior."""
    figure, own, parts, viewer = prior.figure, prior.own, prior.body, prior.viewer
    hips, effectors = figure.hips, len(viewer.goals)
    chest = figure.spine[-1] if prior.keeps_chest else -1
    return packer.fill(
        FIGURE,
        skeleton=of_skeleton(packer, figure.skeleton),
        effectors=effectors,
        limbs=len(figure.limbs),
        arms=parts.arms,
        turned=len(prior.joints),
        features=len(parts.select),
        lines=len(figure.spine_lines),
        columns=len(parts.mirror),
        effector=[_effector(packer, prior, number) for number in range(effectors)],
        limb=[_limb(packer, prior, k) for k in range(len(figure.limbs))],
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
        spine=len(parts.spine),
        neck=len(parts.neck),
        keeps_chest=prior.keeps_chest,
        chest_joint=chest,
        chest_from_rest=_from_rest(prior, chest),
        spine_line=figure.spine_lines,
        fraction=parts.chest.fractions,
        joint=prior.joints,
        column=parts.columns,
        mirror=parts.mirror,
        map=parts.maps,
        freedom=prior.freedom,
        at_rest=prior.at_rest,
        bend=parts.bends,
        serves=parts.serves,
        follows=parts.follows,
        inner=np.isin(np.arange(len(figure.skeleton)), parts.inner),
        own_mean=None if own is None else own.mean,
        own_scale=None if own is None else own.scale,
        own_map=None if own is None else own.map,
    )


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


def _limb(packer: Packer, prior: Prior, k: int) -> Any:
    figure, parts = prior.figure, prior.body
    limb, arm = figure.limbs[k], k < prior.body.arms
    nothing = np.zeros(3)
    place = None if limb.turned else int(np.flatnonzero(parts.ends.rows == k)[0])
    own_end, own_lower = (parts.row_of(part * len(figure.limbs) + k) for part in (2, 1))
    return packer.fill(
        FIGURE_LIMB,
        turned=limb.turned,
        placed_arm=k in parts.placed_arms,
        on_toes=k in parts.on_toes,
        eased=place is not None and place in parts.ends.eased,
        own_end=own_end,
        own_lower=own_lower,
        size=limb.size,
        bend=parts.bend[k],
        end_moves=0.0 if place is None else parts.ends.moves[place, 0],
        doubt=parts.ends.doubt[k],
        collar_share=parts.collars.shares[k, 0] if arm else 1.0,
        sign=parts.signs[k],
        root=limb.root,
        shoulder=parts.shoulders[k] if arm else nothing,
        collar_gain=parts.collars.gain[k] if arm else nothing,
        collar_line=parts.collars.lines[k] if arm else nothing,
        toe_line=limb.toe,
        end_tip=nothing if place is None else parts.ends.tips[place],
        along=parts.forearms[k],
        mirror=parts.mirror[parts.first + k],
        end_frame=quaternion.IDENTITY if place is None else parts.ends.frames[place],
        end_back=parts.turn_from(own_end).ravel(),
        lower_back=parts.turn_from(own_lower).ravel(),
        length=limb.lengths,
        beyond=[np.linalg.norm(limb.tip) / limb.size, 0.0, 0.0, 0.0, 0.0, 0.0],
        axes=parts.axes[k].ravel(),
        bones=parts.frames_of_bones[k].ravel(),
        back=parts.back[k].ravel(),
        network=_network(packer, parts.networks, k),
    )


def _network(packer: Packer, networks: LimbNetworks, k: int) -> Any:
    return packer.fill(
        NETWORK, inputs=networks.first.shape[1], first=networks.first.shape[2],
        second=networks.second.shape[2], outputs=networks.last.shape[2], scale=networks.scale[k],
        shift=networks.shift[k], first_weight=networks.first[k], first_bias=networks.first_bias[k],
        second_weight=networks.second[k], second_bias=networks.second_bias[k], last_weight=networks.last[k],
        last_bias=networks.last_bias[k],
    )  # fmt: skip
