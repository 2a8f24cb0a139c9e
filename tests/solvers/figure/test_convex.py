# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex polyhedra as obstacles, measured by sampled segments and an optimiser of its own."""

import numpy as np
import pytest
from drawn import WEDGE, WEDGE_FACES

import solvers as ik
from solvers.algebra import quaternion
from solvers.space.contacts import closest
from solvers.space.convex import nearest


def wedge():
    return ik.Convex(WEDGE, WEDGE_FACES)


def placed(generator):
    """Points (4, 3) that move, turn, scale unevenly and mirror."""
    turn = quaternion.exp(generator.normal(size=3))
    axes = quaternion.rotate(turn, np.diag(generator.uniform(0.5, 2.0, 3) * generator.choice([-1.0, 1.0], 3)))
    origin = 0.2 * generator.normal(size=3)
    return np.concatenate([origin[None], origin + axes])


def brute(points, corners, faces):
    """Signed distances (N,) of points: by planes inside, and outside by projecting on to the half-spaces in turn."""
    middle, normals, levels = corners.mean(0), [], []
    for face in faces:
        a, b, c = corners[list(face[:3])]
        normal = np.cross(b - a, c - a)
        normal *= np.sign(normal @ (a - middle)) / np.linalg.norm(normal)
        normals.append(normal)
        levels.append(normal @ a)
    height = (points @ np.array(normals).T - np.array(levels)).max(-1)
    at, corrections = points.copy(), [np.zeros_like(points) for _ in normals]
    for _ in range(400):  # Dykstra's projections lead to the nearest point of the body
        for k, (normal, level) in enumerate(zip(normals, levels, strict=True)):
            before = at + corrections[k]
            at = before - np.maximum(before @ normal - level, 0.0)[:, None] * normal
            corrections[k] = before - at
    return np.where(height > 0.0, np.linalg.norm(points - at, axis=-1), height)


def _lowest(start, end, corners):
    """The least signed distances of points all along segments (N, 3)."""
    points = start[:, None] + np.linspace(0.0, 1.0, 151)[:, None] * (end - start)[:, None]
    return brute(points.reshape(-1, 3), corners, WEDGE_FACES).reshape(len(start), -1).min(-1)


def test_distances_of_segments_match_a_fine_search():
    """Outside; and inside, moved by the distance along the normal they touch, and in no other direction sooner."""
    generator, body = np.random.default_rng(7), wedge()
    inside, pierced = 0, 0
    for _ in range(12):
        places = placed(generator)
        start, end = 0.5 * generator.normal(size=(2, 6, 3)) + places[0]
        corners = places[0] + WEDGE @ (places[1:] - places[0])
        found = nearest(body, corners[None], start[None], end[None], closest)
        fine, distance = _lowest(start, end, corners), found.distance[0]
        slack = np.linalg.norm(end - start, axis=-1) / 150
        out = fine > 0.0
        assert (np.abs(distance - fine) < slack)[out].all()
        assert np.allclose(np.linalg.norm(found.normals[0], axis=-1), 1.0)
        for k in np.flatnonzero(~out):
            way = -distance[k] * found.normals[0, k]
            assert abs(_lowest(start[k : k + 1] + way, end[k : k + 1] + way, corners)[0]) < slack[k]
            others = generator.normal(size=(8, 3))
            ways = 0.97 * -distance[k] * others / np.linalg.norm(others, axis=-1, keepdims=True)
            assert (_lowest(start[k] + ways, end[k] + ways, corners) < slack[k]).all()
            inside += 1
            pierced += (brute(np.stack([start[k], end[k]]), corners, WEDGE_FACES) > 0.0).all()
    assert 10 < inside < 62, "both kinds are met"
    assert pierced > 3


def test_a_capsule_stays_out_of_a_wedge_that_moves_and_a_frame_alone_is_that_of_the_batch():
    skeleton = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("fore", 0, "ball", (0, 1, 0)),
                            ik.Joint("tip", 1, "fixed", (0, 1, 0))])  # fmt: skip
    capsules = [ik.Capsule(name, (0, 0, 0), (0, 1, 0), 0.05) for name in ("arm", "fore")]
    points = np.array([wedge().points() + np.array([0.1 * step, 1.6, 0.0]) for step in range(4)])
    goal, places = [ik.Goal("tip", position=(0, 0, 0))], np.tile([[0.3, 1.6, 0.1]], (4, 1, 1))
    contacts, afresh = ik.Contacts(capsules, [wedge()]), ik.Options(warm_start=False)
    kept = ik.solve_frames(skeleton, goal, places, options=afresh, contacts=contacts, points=points)
    free = ik.solve_frames(skeleton, goal, places, options=afresh)
    depth = []
    for one in (free, kept):
        for place, solution in zip(points, one, strict=True):
            positions = ik.forward(skeleton, solution.pose).positions
            share = np.linspace(0.0, 1.0, 101)[:, None, None]
            axis = (positions[:-1] + share * (positions[1:] - positions[:-1])).reshape(-1, 3)
            depth.append(brute(axis, place[0] + WEDGE, WEDGE_FACES).min())
    assert min(depth[:4]) < 0.0, "without contacts it is met"
    assert min(depth[4:]) > 0.05 - 2e-3
    for place, goals_at, solution in zip(points, places, kept, strict=True):
        alone = ik.solve_frames(skeleton, goal, goals_at[None], options=afresh, contacts=contacts, points=place[None])
        assert np.array_equal(alone[0].pose.rotations, solution.pose.rotations)


def test_what_is_no_convex_body_is_refused():
    with pytest.raises(ik.InvalidOptions, match="not closed"):
        ik.Convex(WEDGE, WEDGE_FACES[:-1])
    dented = np.concatenate([WEDGE, [(0.0, 0.0, 0.1)]])
    with pytest.raises(ik.InvalidOptions, match="not convex"):
        ik.Convex(dented, [*WEDGE_FACES[1:], (0, 1, 6), (1, 2, 6), (2, 0, 6)])
    with pytest.raises(ik.InvalidOptions, match="flat"):
        ik.Convex(WEDGE * (1, 1, 0), WEDGE_FACES)
    with pytest.raises(ik.InvalidOptions, match="different numbers"):
        ik.Convex(WEDGE, [(0, 1, 9)])
    with pytest.raises(ik.InvalidOptions, match="finite points"):
        ik.Convex(WEDGE[:, :2], WEDGE_FACES)
