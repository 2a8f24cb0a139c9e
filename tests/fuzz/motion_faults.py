# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in the mathematics of whole motions and in the tools of a shot, to put in on purpose.

As those of `faults.py`, but it is tests that have to notice them.
"""

from faults import Fault

_LOCK, _CONTACTS, _TAILS = "solvers/clip/foot_lock.py", "solvers/clip/contacts.py", "solvers/clip/follow_through.py"
_KEYS, _SPARE, _CUBICS = "solvers/clip/fewer_keys.py", "solvers/clip/spare_keys.py", "solvers/clip/cubics.py"
_LOCK_TESTS, _KEY_TESTS = "../solvers/test_foot_lock", "../solvers/test_fewer_keys"
_TAIL_TESTS, _CLIP_TESTS = "../solvers/test_follow_through", "../solvers/test_clip"

MOTION_FAULTS = [
    # -- feet that stand -----------------------------------------------------------------------------------------------
    Fault(
        "contact-cut-at-start", _CONTACTS, "+ 1e-6 and begin > 0 and end < len(mask):", "+ 1e-6 and end < len(mask):",
        "a contact that the clip's first frame cuts is dropped", _LOCK_TESTS,
    ),
    Fault(
        "contact-cut-at-end", _CONTACTS, "+ 1e-6 and begin > 0 and end < len(mask):", "+ 1e-6 and begin > 0:",
        "a contact that the clip's last frame cuts is dropped", _LOCK_TESTS,
    ),
    Fault(
        "lock-edge-acceleration", _LOCK, "last = len(slope) - 2", "last = len(slope) - 3",
        "knees may jerk on the last frame of a clip that is mended", _LOCK_TESTS,
    ),
    Fault(
        "lock-edge-fade", _LOCK, "blocks[i : frames - 2 + i, 2 + j - i] +=",
        "blocks[i + 1 : frames - 2 + i, 2 + j - i] +=",
        "corrections of feet may jump on the first frames of a clip", _LOCK_TESTS,
    ),
    Fault(
        "lock-signs", _LOCK, "    turns[1:][flips] *= -1.0\n", "",
        "a quaternion of the other sign turns a leg that shakes inside out", _LOCK_TESTS,
    ),
    Fault(
        "lock-hips-share", _LOCK, "np.nan_to_num(own) - hips, move)", "np.nan_to_num(own), move)",
        "planted feet are off by what the hips give", _LOCK_TESTS,
    ),
    Fault(
        "knee-side", _LOCK, "np.where(straight <= 0.0, bend, -bend)", "np.where(straight <= 0.0, -bend, bend)",
        "mended knees bend to the other side", _LOCK_TESTS,
    ),
    Fault(
        "stance-length", _LOCK, "other[3] + apart * (length / max(float(_long(apart)), _LEAST))", "other[3] + apart",
        "heel and ball of a foot stand nearer to each other than the foot is long", _LOCK_TESTS,
    ),
    Fault(
        "shared-slide", _CONTACTS, "    velocity[..., :2] -= (slide.share", "    velocity[..., :2] += (slide.share",
        "feet that slide with the hips' way are not found to stand", _LOCK_TESTS,
    ),
    Fault(
        "held-at-rest", _CONTACTS, "or _wide(root) > _LED * leg", "or True",
        "a hand that hangs from a body at rest counts as holding on", _LOCK_TESTS,
    ),
    Fault(
        "lowest-ground", _CONTACTS, "around, lowest = round(_AROUND * rate), _LOWEST * width(rate)",
        "around, lowest = len(height), _LOWEST * width(rate)",
        "feet on stairs and slopes stand on their lowest step only", _LOCK_TESTS,
    ),
    Fault(
        "smooth-ends", _CONTACTS, "2.0 * values[:1] - values[wide:0:-1]", "values[wide:0:-1]",
        "a figure that runs when its clip begins stands on the first frame", _LOCK_TESTS,
    ),
    Fault(
        "stands-in-the-air", _CONTACTS, "runs((_long(velocity) < raised * _MAY) & (height < _HEIGHT[1])):",
        "runs(_long(velocity) < raised * _MAY):", "a foot that is held still in the air stands", _LOCK_TESTS,
    ),
    # -- tails ---------------------------------------------------------------------------------------------------------
    Fault(
        "tail-carried", _TAILS, "carried = quaternion.product(turn, carried) if chain.carried[bone] else carried",
        "carried = quaternion.product(turn, carried)",
        "Overlap turns bones with the rotation of a parent that they do not inherit", _TAIL_TESTS,
    ),
    Fault(
        "tail-heads", _TAILS,
        "heads[:, parent] + quaternion.rotate(turn, chain.heads[:, bone] - chain.heads[:, parent])",
        "heads[:, parent] + chain.heads[:, bone] - chain.heads[:, parent]",
        "bones of a tail lag behind a place where their parent is not", _TAIL_TESTS,
    ),
    Fault(
        "tail-seam", _TAILS, "period = len(motion) - 1", "period = len(motion)",
        "a tail jumps where a loop begins again", _TAIL_TESTS,
    ),
    # -- few keys ------------------------------------------------------------------------------------------------------
    Fault(
        "keys-end", _KEYS, "free = 1 if end == len(values) - 1 else 0", "free = 0",
        "the last key of a reduced motion is off the motion", _KEY_TESTS,
    ),
    Fault(
        "keys-shared-error", _KEYS,
        "        errors[:, part.vectors] += part.off(own.shown(times))\n        keys.append", "        keys.append",
        "bones that lead one hand each take the whole of its bound", _KEY_TESTS,
    ),
    Fault(
        "keys-slope-order", _CUBICS, "self.slopes[first, 1, channel], self.slopes[last, 0, channel]]",
        "self.slopes[first, 0, channel], self.slopes[last, 1, channel]]",
        "reduced keys have the handles of their other side", _KEY_TESTS,
    ),
    Fault(
        "keys-joined", _SPARE, "if ((after * after).sum(-1) <= self.squares[at]).all():", "if True:",
        "handles are made even where the bound forbids it", _KEY_TESTS,
    ),
    Fault(
        "keys-must", _SPARE, "left = free[number] & ~np.isin(own.samples, list(part.must))[:, None]",
        "left = free[number]", "keys that have to be there are taken away", _KEY_TESTS,
    ),
    # -- all frames as one motion --------------------------------------------------------------------------------------
    Fault(
        "clip-window-held", "solvers/clip/windows.py", "problem((begin - first, 0))", "problem((0, 0))",
        "a smooth bake jumps where two windows of frames meet", _CLIP_TESTS,
    ),
    Fault(
        "clip-limits-model", "solvers/clip/bounds.py", "felt = (excess != 0.0) & self._boxed",
        "felt = (excess > 0.0) & self._boxed",
        "a smooth bake is rough at lower limits", _CLIP_TESTS,
    ),
    Fault(
        "clip-unmet-keys", "solvers/clip/keys.py",
        "keeps[begin:end] = begin == 0 or end == len(met) or end - begin > FEW", "keeps[begin:end] = end - begin > FEW",
        "the first and the last frame of a smooth bake may be left out", _CLIP_TESTS,
    ),
    Fault(
        "clip-wraps", "solvers/clip/keys.py",
        "    way[:, wraps] -= FULL_TURN * np.round(way[:, wraps] / FULL_TURN)\n", "",
        "a free hinge goes the long way round between two frames", _CLIP_TESTS,
    ),
]  # fmt: skip
"""Faults that tests have to notice."""
