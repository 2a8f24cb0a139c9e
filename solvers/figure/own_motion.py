# SPDX-License-Identifier: GPL-3.0-or-later
"""A character's own way of moving: corrections of the prior, fitted to its own frames by ridge regression."""

import base64
import json
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..algebra import by_row, quaternion
from ..model.numbers import is_whole
from .body import Predictor
from .view import View

_VERSION = 1
CLIP = 3.0  # standard deviations of the character's own frames, beyond which features tell no more
_LEAST_SCALE = 0.05  # of features: lengths of the limb, or parts of unit vectors
_RIDGE = 0.2  # of the frames' number
_LARGEST = 1e3  # [rad] and lengths of the limb, of stored numbers: larger ones are damage
_LONGEST = 10**8  # characters of a text


@dataclass(frozen=True)
class OwnMotion:
    """Corrections (K, 3) of a prior's motions, linear in what is told about the effectors.

    As it is learnt and stored, it has all joints that the prior could turn in the figure.

    mean, scale : (n,) of the features. map : (n + 1, 3 K), the last row a constant.
    """

    mean: np.ndarray
    scale: np.ndarray
    map: np.ndarray

    def fits(self, features: int, joints: int) -> bool:
        """Whether it was made for so many features and joints."""
        return self.mean.shape == self.scale.shape == (features,) and self.map.shape == (features + 1, 3 * joints)

    def of(self, joints: np.ndarray) -> "OwnMotion":
        """The corrections of some of the joints (K,) alone."""
        return OwnMotion(self.mean, self.scale, self._parts()[:, joints].reshape(len(self.map), -1))

    def among(self, joints: np.ndarray, count: int) -> "OwnMotion":
        """The same with `count` joints, where its own are `joints` (K,) and the others have no corrections."""
        parts = np.zeros((len(self.map), count, 3))
        parts[:, joints] = self._parts()
        return OwnMotion(self.mean, self.scale, parts.reshape(len(self.map), -1))

    def _parts(self) -> np.ndarray:
        return self.map.reshape(len(self.map), -1, 3)

    def correction(self, features: np.ndarray) -> np.ndarray:
        """Rotation vectors (F, K, 3) of features (F, n)."""
        inputs = np.clip((features - self.mean) / self.scale, -CLIP, CLIP)
        return (by_row(inputs, self.map[:-1]) + self.map[-1]).reshape(len(features), -1, 3)


class Posed(Protocol):
    """The part of a prior that `fit` reads."""

    body: Predictor
    joints: np.ndarray

    def view(self, rotations: np.ndarray, links: np.ndarray) -> tuple[View, np.ndarray | None]:
        """See `Prior`."""
        ...


def fit(prior: Posed, poses: np.ndarray, links: np.ndarray) -> OwnMotion:
    """Fit a character's own motion to some hundred of its poses.

    Parameters
    ----------
    prior : of the character, as it is without its own motion. poses : (F, J, 4) rotations. links : (F or 1, J, 8).
    """
    view, chest = prior.view(poses, links)
    features, (motions, _) = prior.body.features(view), prior.body.motions(view, chest, 0.0)
    answers = quaternion.log(quaternion.relative(motions, poses[:, prior.joints])).reshape(len(poses), -1)
    mean, scale = features.mean(0), np.maximum(features.std(0), _LEAST_SCALE)
    inputs = np.clip((features - mean) / scale, -CLIP, CLIP)
    centre = answers.mean(0)
    linear = _by_ridge_regression(inputs, answers - centre)
    own = OwnMotion(mean, scale, np.concatenate([linear, (centre - inputs.mean(0) @ linear)[None]]))
    return own.among(prior.body.among, prior.body.whole)


def _by_ridge_regression(inputs: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The map (n, m) from inputs (F, n) to answers (F, m)."""
    square = inputs.T @ inputs + _RIDGE * len(inputs) * np.eye(inputs.shape[1])
    return np.linalg.solve(square, inputs.T @ answers)


def to_text(own: OwnMotion) -> str:
    """An own motion as text that a .blend can hold."""
    arrays = (own.mean, own.scale, own.map)
    parts = [base64.b64encode(array.astype("<f4").tobytes()).decode() for array in arrays]
    return json.dumps({"version": _VERSION, "features": len(own.mean), "arrays": parts})


def from_text(text: str) -> OwnMotion | None:
    """The own motion of a text; None for a text that holds none, for example of a newer version or a damaged one."""
    if len(text) > _LONGEST:
        return None
    try:
        stored = json.loads(text)
        count = stored["features"]
        if stored["version"] != _VERSION or not is_whole(count, 1):
            return None
        mean, scale, flat = (
            np.frombuffer(base64.b64decode(part, validate=True), "<f4").astype(float) for part in stored["arrays"]
        )
        own = OwnMotion(mean, scale, flat.reshape(count + 1, -1))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):  # whatever a damaged text leads to
        return None
    numbers = np.abs(np.concatenate([mean, scale, flat]))
    sound = own.fits(count, own.map.shape[1] // 3) and (numbers < _LARGEST).all()
    return own if sound and (scale >= 0.5 * _LEAST_SCALE).all() else None
