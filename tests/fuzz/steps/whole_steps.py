# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on whole motions: a figure that moves, and the buttons of the panel Whole Motion."""

from draw import Draw, NothingToDrawError, named, require_undo, step
from vocabulary import armatures


def _range(draw: Draw) -> tuple[int, int]:
    first = draw.one([1, 1, draw.random.randint(1, 6)])
    return first, draw.one([12, 12, draw.random.randint(first, 12)])


@step("whole", 2)
def make_walker(draw: Draw) -> str:
    if sum("arm.L" in ob.data.bones for ob in armatures()) > 1:
        raise NothingToDrawError
    place = draw.one([(0, 0, 0), draw.vector(1.0)])
    scale = draw.one([1.0, draw.number(0.3, 3.0)])
    return f"make_walker({draw.new_name('Walker')!r}, {place}, {scale}, {draw.number(0.0, 0.4)})"


@step("whole", 2)
def check_mend(draw: Draw) -> str:
    first, last = _range(draw)
    return f"check_mend(lambda: {named(draw.scene_rig())}, {first}, {last})"


@step("whole", 2)
def check_retarget(draw: Draw) -> str:
    first, last = _range(draw)
    return f"check_retarget(lambda: {named(draw.scene_rig())}, {draw.scene_rig().name!r}, {first}, {last})"


@step("whole", 3)
def check_fewer_keys(draw: Draw) -> str:
    ob, (first, last) = draw.scene_rig(), _range(draw)
    names = [one.name for one in draw.some(ob.pose.bones, 2)] if draw.chance(0.3) else []
    return f"check_fewer_keys(lambda: {named(ob)}, {first}, {last}, {draw.one([0.01, 0.1])}, {names})"


@step("whole", 3)
def check_edit_range(draw: Draw) -> str:
    ob = draw.scene_rig()
    names = [one.name for one in draw.some(ob.pose.bones, draw.one([1, 2]))]
    frame, radius = draw.random.randint(1, 12), draw.one([1, 3, 6])
    return f"check_edit_range(lambda: {named(ob)}, {names}, {draw.vector(0.4)}, {frame}, {radius})"


@step("whole", 2)
def check_overlap(draw: Draw) -> str:
    ob, (first, last) = draw.scene_rig(), _range(draw)
    names = [one.name for one in draw.some(ob.pose.bones, draw.one([1, 2, 3]))]
    amount, loop = draw.one([0.0, 0.0, 1.0]), draw.one(["AUTO", "ON", "OFF"])
    return f"check_overlap(lambda: {named(ob)}, {names}, {first}, {last}, {amount}, {loop!r})"


@step("whole", 1)
def check_smooth_bake(draw: Draw) -> str:
    first, last = draw.random.randint(1, 3), draw.random.randint(4, 8)
    return f"check_smooth_bake(lambda: {named(draw.scene_rig(local=True))}, {first}, {last}, {draw.one([0.2, 1.0])})"


@step("whole", 2)
def check_whole_again(draw: Draw) -> str:
    """Undo and redo of the buttons."""
    require_undo()
    ob, other, (first, last) = draw.scene_rig(local=True), draw.scene_rig(), _range(draw)
    words = f"frame_start={first}, frame_end={last}"
    press = draw.one([
        f"press('mend_motion', {words})", f"press('retarget', source={other.name!r}, {words})",
        f"press('unbake', {words})", f"press('overlap', {words})", f"press('bake', smooth=1.0, {words})",
    ])  # fmt: skip
    names = [one.name for one in draw.some(ob.pose.bones, 2)]
    return f"check_again(lambda: (select({named(ob)}, {names}), {press}), {draw.random.randint(1, 12)})"
