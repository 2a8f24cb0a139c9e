# SPDX-License-Identifier: GPL-3.0-or-later
"""The prior of one rig in the compiled kernel, for single frames; many frames at once are for NumPy."""

import operator
from ctypes import addressof
from typing import TYPE_CHECKING, Any

import numpy as np

from ...solvers import Pose
from ...solvers.algebra import quaternion
from ...solvers.compiled import contract, pack
from ...solvers.compiled.library import Kernel
from ...solvers.compiled.packer import Packer
from ...solvers.model.goals import Targets
from . import body, limbs, own_motion, weights

if TYPE_CHECKING:
    from .prior import Prior


class CompiledPrior:
    """A `Prior` as the kernel reads it, and what follows from the animator's pose, which it remembers."""

    def __init__(self, library: Kernel, prior: "Prior", fading: dict[str, float]) -> None:
        """Fading : by which distances the animator's pose counts less."""
        self._library, self._packer = library, Packer()
        self._figure = addressof(_figure(self._packer, prior, fading))
        joints, effectors, turned = len(prior.figure.skeleton), len(prior._viewer._goals), len(prior.joints)
        networks = prior.body._networks
        hidden = networks._first.shape[-1] + networks._second.shape[-1]
        size = 7 * joints + 32 * effectors + len(prior.body._select) + 4 * len(prior.body._mirror) + 4 * turned + hidden
        self._start = addressof(self._packer.fill(
            contract.FIGURE_START, known=False, share=0.0, rotations=np.zeros((joints, 4)), links=np.zeros((joints, 8)),
            places=np.zeros((effectors, 3)), turns=np.zeros((effectors, 4)), fade=np.zeros(effectors),
            apart=np.zeros((turned, 3)), bent=np.zeros((turned, 3)), ends=np.zeros((len(prior.figure.limbs), 3)),
            chest=np.zeros(3), memory=np.zeros(size),
        ))  # fmt: skip
        self._last: tuple[np.ndarray, ...] = ()
        self._addresses: list[int] = []

    def base(self, start: Pose, targets: Targets, links: np.ndarray, amount: float, share: float) -> np.ndarray:
        """`Prior.base` for one frame."""
        arrays = start.rotations, start.translations, links, targets.positions, targets.rotations
        if len(self._last) != len(arrays) or any(map(operator.is_not, arrays, self._last)):
            if not all(array.flags.c_contiguous and array.dtype == np.float64 for array in arrays):
                arrays = tuple(np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
            self._last, self._addresses = arrays, [array.ctypes.data for array in arrays]
        found = np.empty_like(start.rotations)
        self._library.figure_base(self._figure, self._start, *self._addresses, amount, share, found.ctypes.data)
        return found


def _figure(packer: Packer, prior: "Prior", fading: dict[str, float]) -> Any:
    """The structure of a prior. fading : `near_rest`, `near_pose`, `posed`."""
    figure, own, parts, viewer = prior.figure, prior.own, prior.body, prior._viewer
    hips, effectors = figure.hips, len(viewer._goals)
    chest = figure.spine[-1] if prior._keeps_chest else -1
    network_of = {  # both sides share one
        (limb.kind, limb.turned): _network(packer, parts._networks, k) for k, limb in enumerate(figure.limbs)
    }
    return packer.fill(
        contract.FIGURE,
        skeleton=pack.of_skeleton(packer, figure.skeleton),
        effectors=effectors,
        limbs=len(figure.limbs),
        arms=parts._arms,
        turned=len(prior.joints),
        features=len(parts._select),
        lines=len(figure.spine_lines),
        columns=len(parts._mirror),
        effector=[_effector(packer, prior, number) for number in range(effectors)],
        limb=[_limb(packer, prior, k, network_of[limb.kind, limb.turned]) for k, limb in enumerate(figure.limbs)],
        hips_goal=hips.goal,
        hips_link=hips.link,
        hips_joint=-1 if hips.link >= 0 else viewer._hips_joint,
        hips_point=hips.point,
        hips_offset=hips.offset,
        hips_from_rest=viewer._hips_from_rest,
        hips_inverse=viewer._inverse,
        select=parts._select,
        trunk_scale=parts._trunk._scale,
        trunk_shift=parts._trunk._shift,
        trunk_map=parts._trunk._map,
        trunk_mean=parts._trunk._mean,
        spine_root=figure.spine_root,
        has_spine=bool(figure.spine),
        spine=len(parts._spine),
        neck=len(parts._neck),
        keeps_chest=prior._keeps_chest,
        chest_joint=chest,
        chest_from_rest=_from_rest(prior, chest),
        spine_line=figure.spine_lines,
        fraction=parts._fractions,
        joint=prior.joints,
        column=parts._columns,
        mirror=parts._mirror,
        map=parts._maps,
        freedom=prior._freedom,
        at_rest=prior._at_rest,
        bend=parts.bends,
        serves=parts.serves,
        follows=parts.follows,
        inner=np.isin(np.arange(len(figure.skeleton)), parts.inner),
        own_mean=None if own is None else own.mean,
        own_scale=None if own is None else own.scale,
        own_map=None if own is None else own.map,
        clip=weights.CLIP,
        most_turn=body._MOST_TURN,
        near=body._NEAR,
        collar_rest=body._COLLAR_REST,
        steady=limbs._STEADY,
        soft=limbs._SOFT,
        folded=limbs._FOLDED,
        **fading,
        own_clip=own_motion._CLIP,
    )


def _from_rest(prior: "Prior", joint: int) -> np.ndarray:
    """(4,) from a joint's orientation to the turn from canonical axes; the identity for no joint."""
    if joint < 0:
        return quaternion.IDENTITY
    return quaternion.product(quaternion.conjugate(prior.figure.rest[joint]), prior.figure.axes)


def _effector(packer: Packer, prior: "Prior", number: int) -> Any:
    viewer, parts = prior._viewer, prior.body
    return packer.fill(
        contract.EFFECTOR, goal=viewer._goals[number], joint=viewer._joints[number], turned=parts._turned[number],
        size=parts._sizes[number, 0], reach=parts._reaches[number, 0], offset=viewer._offsets[number], tip=parts._tips[number], root=parts._roots[number],
        frame=parts._frames[number].ravel(), from_rest=viewer._from_rest[number],
    )  # fmt: skip


def _limb(packer: Packer, prior: "Prior", k: int, network: Any) -> Any:
    figure, parts, networks = prior.figure, prior.body, prior.body._networks
    limb, arm = figure.limbs[k], k < prior.body._arms
    nothing = np.zeros(3)
    place = None if limb.turned else int(np.flatnonzero(parts.placed == k)[0])
    ends = np.flatnonzero(parts._columns == parts._first + 2 * len(figure.limbs) + k)
    own = int(ends[0]) if ends.size else -1
    return packer.fill(
        contract.FIGURE_LIMB,
        turned=limb.turned,
        placed_arm=k in parts._placed_arms,
        on_toes=k in parts._on_toes,
        own_end=own,
        size=limb.size,
        bend=parts._bend[k, 0],
        end_moves=0.0 if place is None else parts._end_moves[place, 0],
        collar_share=parts._shares[k, 0] if arm else 1.0,
        sign=parts._signs[k],
        root=limb.root,
        shoulder=parts._shoulders[k] if arm else nothing,
        collar_gain=parts._collar_gain[k] if arm else nothing,
        collar_line=parts._collar_lines[k] if arm else nothing,
        toe_line=limb.toe,
        end_tip=nothing if place is None else parts._end_tips[place],
        usual=networks.usual[k],
        straight=networks.straight[k],
        mirror=parts._mirror[parts._first + k],
        end_frame=quaternion.IDENTITY if place is None else parts._end_frames[place],
        end_back=np.linalg.inv(parts._maps[own]).ravel() if own >= 0 else np.zeros(16),
        length=limb.lengths,
        beyond=[np.linalg.norm(limb.tip) / limb.size, 0.0, 0.0, 0.0, 0.0, 0.0],
        back=parts._back[k].ravel(),
        network=network,
    )


def _network(packer: Packer, networks: weights.LimbNetworks, k: int) -> Any:
    return packer.fill(
        contract.NETWORK, inputs=networks._first.shape[1], first=networks._first.shape[2],
        second=networks._second.shape[2], outputs=networks._last.shape[2], scale=networks._scale[k],
        shift=networks._shift[k], first_weight=networks._first[k], first_bias=networks._first_bias[k],
        second_weight=networks._second[k], second_bias=networks._second_bias[k], last_weight=networks._last[k],
        last_bias=networks._last_bias[k],
    )  # fmt: skip
