# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are put into F-curves without changing their shape."""

from bisect import bisect_left

import bpy

from .. import curves

_AUTOMATIC = {"AUTO", "AUTO_CLAMPED"}
_ROUNDS = 60  # of halving

Point = tuple[float, float]


def split(curve: bpy.types.FCurve, time: float) -> bpy.types.Keyframe:
    """The key of a curve at a time; one that leaves the curve as it is, if there was none.

    The handles of this key and of those beside it stay as they are when other keys change.
    """
    points = curve.keyframe_points
    number = bisect_left(points, time - curves.SAME_FRAME, key=lambda key: key.co[0])
    around = points[max(number - 1, 0) : number + 2]
    for key in around:
        _fix(key)
    if number < len(points) and abs(points[number].co[0] - time) <= curves.SAME_FRAME:
        return points[number]
    value = curve.evaluate(time)
    inside = 0 < number < len(points)
    pieces = _pieces(points[number - 1], points[number], time) if inside else None
    points.insert(time, value, options={"FAST"})
    key = points[number]
    if number:
        for name in ("interpolation", "easing", "back", "amplitude", "period"):
            setattr(key, name, getattr(points[number - 1], name))
    key.handle_left_type = key.handle_right_type = "ALIGNED" if pieces else "FREE"
    if pieces:
        points[number - 1].handle_right, points[number + 1].handle_left = pieces[0], pieces[3]
        key.handle_left, key.handle_right = pieces[1], pieces[2]
    else:
        _straighten(points, number)
    curve.update()
    return points[number]


def level(curve: bpy.types.FCurve, time: float) -> None:
    """Let a curve begin without slope after its key at a time; what is before stays."""
    points = curve.keyframe_points
    number = next(number for number, key in enumerate(points) if abs(key.co[0] - time) <= curves.SAME_FRAME)
    key = points[number]
    key.handle_left_type = key.handle_right_type = "FREE"
    if number + 1 < len(points):
        key.handle_right = (key.co[0] + (points[number + 1].co[0] - key.co[0]) / 3.0, key.co[1])
    curve.update()


def _fix(key: bpy.types.Keyframe) -> None:
    """Let the handles of a key stay where they are."""
    kinds = (key.handle_left_type, key.handle_right_type)
    free = "VECTOR" in kinds or "FREE" in kinds
    key.handle_left_type = key.handle_right_type = "FREE" if free else "ALIGNED"


def _straighten(points: bpy.types.FCurveKeyframePoints, number: int) -> None:
    """Make a key before the first or after the last one, and what is between them, a straight line."""
    key = points[number]
    for other in ([points[number - 1]] if number else list(points[1:2])):
        other.handle_left_type = other.handle_right_type = "FREE"
        step = ((other.co[0] - key.co[0]) / 3.0, (other.co[1] - key.co[1]) / 3.0)
        key.handle_left = (key.co[0] - abs(step[0]), key.co[1] + (step[1] if number else -step[1]))
        key.handle_right = (key.co[0] + abs(step[0]), key.co[1] - (step[1] if number else -step[1]))
        end = (other.co[0] - step[0], other.co[1] - step[1])
        if number:
            other.handle_right = end
        else:
            other.handle_left = end


def _pieces(left: bpy.types.Keyframe, right: bpy.types.Keyframe, time: float) -> tuple[Point, ...] | None:
    """The inner points of the two Bezier curves that one is divided into at a time; None if it is none (de Casteljau).

    They are the left key's right handle, the two handles of the key between, and the right key's left handle.
    """
    if left.interpolation != "BEZIER":
        return None
    a, d = (left.co[0], left.co[1]), (right.co[0], right.co[1])
    span = d[0] - a[0]
    b, c = (_between(end, handle, min(span / max(abs(handle[0] - end[0]), 1e-9), 1.0))  # as Blender shortens handles
            for end, handle in ((a, left.handle_right), (d, right.handle_left)))  # fmt: skip
    lo, hi = 0.0, 1.0
    for _ in range(_ROUNDS):
        half = 0.5 * (lo + hi)
        lo, hi = (half, hi) if _divide(a, b, c, d, half)[2][0] < time else (lo, half)
    ab, abc, middle, bcd, cd = _divide(a, b, c, d, lo)
    del middle
    return ab, abc, bcd, cd


def _divide(a: Point, b: Point, c: Point, d: Point, s: float) -> tuple[Point, Point, Point, Point, Point]:
    ab, bc, cd = _between(a, b, s), _between(b, c, s), _between(c, d, s)
    abc, bcd = _between(ab, bc, s), _between(bc, cd, s)
    return ab, abc, _between(abc, bcd, s), bcd, cd


def _between(a: Point, b: Point, s: float) -> Point:
    return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])
