# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a dense motion of many parts: cubics from key to key that stay within bounds at all samples.

What is bounded are vectors, such as the turn of a joint or the way of a hand. A part changes one or several: all bones
from the hips to a hand lead it. What a part does to them is taken as linear in its channels. Limb by limb, each as far
as the errors of those before it allow, the parts get keys, which have the motion's own values (`key_spans`). Then the
slopes before and after a key are made one, where the bounds allow it.
"""

from collections.abc import Generator, Sequence

import numpy as np

from .cubics import Keys, Part, between
from .key_spans import KeyedLimb, best_keys, extremes, vectors_of

_Members = list[tuple[Part, slice]]


def few_keys(times: np.ndarray, parts: Sequence[Part], step: int = 1) -> list[Keys]:
    """Keys of each part, whose cubics are within the bounds on all samples.

    times : (F,), increasing. step : keys lie on every `step`th sample.
    """
    count = 1 + max(int(part.vectors.max(initial=-1)) for part in parts)
    steps = fit_keys(times, parts, np.ones((len(times), count)), step)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def fit_keys(
    times: np.ndarray, parts: Sequence[Part], limits: np.ndarray, step: int = 1
) -> Generator[float, None, list[Keys]]:  # fmt: skip
    """As `few_keys`; yields the progress from 0 to 1. limits : (F, V) of the vectors.

    Of N limbs that change a vector, the first n stay within a share of the square root of n / N, as errors add up that
    do not depend on each other.
    """
    limbs, errors = _limbs(parts), np.zeros((*limits.shape, 3))
    acting, done = np.zeros((2, limits.shape[1]))
    for limb in limbs:
        acting[vectors_of([(parts[part], own) for part, own in limb])] += 1.0
    found = [list[Keys]() for _ in parts]
    for number, limb in enumerate(limbs):
        members = [(parts[part], own) for part, own in limb]
        vectors = vectors_of(members)
        done[vectors] += 1.0
        allowed = limits * np.sqrt(done / np.maximum(acting, 1.0))
        keys, after = _keys_of(KeyedLimb(times, members, errors, allowed), members, step)
        errors[:, vectors] = after
        first = 0
        for part, own in limb:
            columns = slice(first, first := first + len(range(parts[part].values.shape[1])[own]))
            found[part].append(Keys(keys.samples, keys.values[:, columns], keys.slopes[..., columns],
                                    keys.kept[:, columns]))  # fmt: skip
        yield (number + 1) / len(limbs)
    return [_side_by_side(own) for own in found]


def total_errors(times: np.ndarray, parts: Sequence[Part], keys: Sequence[Keys], count: int) -> np.ndarray:
    """The errors (F, `count`, 3) of the vectors with the keys of all parts."""
    errors = np.zeros((len(times), count, 3))
    for part, own in zip(parts, keys, strict=True):
        errors[:, part.vectors] += part.off(own.shown(times))
    return errors


def _limbs(parts: Sequence[Part]) -> list[list[tuple[int, slice]]]:
    """What is keyed together: numbers of parts, each with the channels."""
    found = dict[object, list[tuple[int, slice]]]()
    for number, part in enumerate(parts):
        if part.limb is not None:
            found.setdefault(part.limb, []).append((number, slice(None)))
            continue
        for channel in range(max(part.values.shape[1], 1)):
            found[number, channel] = [(number, slice(channel, channel + 1))]
    return list(found.values())


def _keys_of(limb: KeyedLimb, members: _Members, step: int) -> tuple[Keys, np.ndarray]:
    """The keys of all channels of a limb, and the errors (F, R, 3) of its vectors with them."""
    last = (len(limb.times) - 1) // step
    must = {one // step for part, _ in members for one in part.must if one % step == 0 and 0 < one // step < last}
    likely = np.zeros(last + 1, dtype=bool)
    likely[extremes(limb.values[:, ::step].T)] = True
    likely[[one // step for part, _ in members for one in part.likely]] = True
    samples = step * best_keys(*limb.spans(step, np.array(sorted(must | {last}))), likely)
    values = limb.values[:, samples].T
    kept = np.ones(values.shape, dtype=bool)
    has_two = np.zeros(len(samples), dtype=bool)
    while True:
        keys = Keys(samples, values, _slopes(limb, samples, has_two), kept)
        errors, is_off = limb.with_values(keys.shown(limb.times).T)
        spans = np.searchsorted(samples, np.flatnonzero(is_off), side="right").clip(1, max(len(samples) - 1, 1)) - 1
        beside = np.union1d(spans, spans + 1)
        beside = beside[beside < len(samples)]
        if has_two[beside].all():
            return keys, errors
        has_two[beside] = True


def _slopes(limb: KeyedLimb, samples: np.ndarray, has_two: np.ndarray) -> np.ndarray:
    """The slopes (K, 2, C) of least squares between keys. has_two : (K,), which keys have one on each side.

    The unknowns of a key are the slope before it and, if it has two, the one after it.
    """
    count, width = len(samples), len(limb.values)
    if count < 2:
        return np.zeros((count, 2, width))
    two = has_two & (np.arange(count) % (count - 1) > 0)
    after = np.where(two[:, None], (0.0, 1.0), (1.0, 0.0))  # which of the unknowns the slope after a key is
    number, cubics = between(limb.times, samples)

    def total(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, samples[:-1], axis=-1)

    begin, end, both = cubics.normal(total)
    values, times = limb.values[:, samples], limb.times[samples]
    chord = np.diff(values) / np.diff(times)
    rest = limb.values - cubics.through(values[:, number], values[:, number + 1], chord[:, number], chord[:, number])
    diagonal, right, below = np.zeros((count, 2, 2)), np.zeros((count, 2, width)), np.zeros((count - 1, 2, 2))
    diagonal[:-1] = begin[:, None, None] * after[:-1, :, None] * after[:-1, None]
    diagonal[1:, 0, 0] += end
    below[:, 0] = both[:, None] * after[:-1]
    right[:-1] = after[:-1, :, None] * (total(rest * cubics.before) + (begin + both) * chord).T[:, None]
    right[1:, 0] += (total(rest * cubics.after) + (end + both) * chord).T
    diagonal[~two, 1, 1] = 1.0
    found = _solved(diagonal, below, right)
    return np.stack([found[:, 0], np.where(two[:, None], found[:, 1], found[:, 0])], 1)


def _solved(diagonal: np.ndarray, below: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution (K, 2, C) of a symmetric system of blocks (K, 2, 2), and (K - 1, 2, 2) below them."""
    found, inverse = right, np.empty_like(diagonal)
    for key, block in enumerate(below):
        inverse[key] = np.linalg.inv(diagonal[key])
        diagonal[key + 1] -= block @ inverse[key] @ block.T
        found[key + 1] -= block @ inverse[key] @ found[key]
    inverse[-1] = np.linalg.inv(diagonal[-1])
    for key in range(len(found) - 1, -1, -1):
        if key < len(below):
            found[key] -= below[key].T @ found[key + 1]
        found[key] = inverse[key] @ found[key]
    return found


def _side_by_side(every: Sequence[Keys]) -> Keys:
    """Keys of channels one after the other as keys of all of these."""
    if len(every) == 1:
        return every[0]
    samples = np.unique(np.concatenate([own.samples for own in every]))
    count = sum(own.values.shape[1] for own in every)
    whole = Keys(samples, np.zeros((len(samples), count)), np.zeros((len(samples), 2, count)),
                 np.zeros((len(samples), count), dtype=bool))  # fmt: skip
    first = 0
    for own in every:
        rows, columns = np.searchsorted(samples, own.samples), slice(first, first := first + own.values.shape[1])
        whole.values[rows, columns], whole.slopes[rows, :, columns], whole.kept[rows, columns] = own[1:]
    return whole
